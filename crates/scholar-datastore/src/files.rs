//! The one door to files that a person, a folder or a library names.
//!
//! What is opened is looked at through the open handle, never by a name that can change meanwhile. Only regular files are
//! read; a stream of rows may also come from a named pipe that a person names. Nothing is read beyond the bound that the
//! caller states, whatever size the file claims to have.

use std::fmt;
use std::fs::{FileType, OpenOptions};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use scholar_core::Limit;

/// What a path is, if it is not a regular file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// A folder.
    Folder,
    /// A named pipe (FIFO).
    Pipe,
    /// A character device, such as a terminal or `/dev/zero`.
    CharacterDevice,
    /// A block device.
    BlockDevice,
    /// A socket.
    Socket,
    /// A symbolic link, where none is followed.
    Link,
    /// Something this system has besides.
    Other,
}

impl fmt::Display for FileKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Folder => "a folder",
            Self::Pipe => "a named pipe",
            Self::CharacterDevice | Self::BlockDevice => "a device",
            Self::Socket => "a socket",
            Self::Link => "a link",
            Self::Other => "a special file",
        })
    }
}

/// What `kind` is, if not a regular file. Of a link this is what `kind` was asked of: the link or its target.
pub fn special(kind: FileType) -> Option<FileKind> {
    if kind.is_file() {
        return None;
    }
    if kind.is_dir() {
        return Some(FileKind::Folder);
    }
    if kind.is_symlink() {
        return Some(FileKind::Link);
    }
    Some(special_on_unix(kind))
}

#[cfg(unix)]
fn special_on_unix(kind: FileType) -> FileKind {
    use std::os::unix::fs::FileTypeExt as _;
    if kind.is_fifo() {
        FileKind::Pipe
    } else if kind.is_char_device() {
        FileKind::CharacterDevice
    } else if kind.is_block_device() {
        FileKind::BlockDevice
    } else if kind.is_socket() {
        FileKind::Socket
    } else {
        FileKind::Other
    }
}

#[cfg(not(unix))]
fn special_on_unix(_: FileType) -> FileKind {
    FileKind::Other
}

/// Why a file was not read.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The system refused.
    #[error("cannot read {}", path.display())]
    Read {
        /// File that was to be read.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// It is not made to be read to its end.
    #[error("{} is {kind}, not a file", path.display())]
    Special {
        /// What was named as a file.
        path: PathBuf,
        /// What it is instead of a file.
        kind: FileKind,
    },
    /// It goes on beyond the bound.
    #[error("{} has more than the {most} bytes that are read of a file ({})", path.display(), Limit::FileBytes)]
    TooLarge {
        /// What was named as a file.
        path: PathBuf,
        /// Most bytes that are read of such a file.
        most: usize,
    },
    /// It is no text.
    #[error("{} is not UTF-8 after {valid} bytes", path.display())]
    NotText {
        /// What was named as a file.
        path: PathBuf,
        /// How much of it is.
        valid: usize,
    },
}

impl FileError {
    /// The next step, as an imperative.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Read { .. } => None,
            Self::Special { kind: FileKind::Folder, .. } => Some("name the files in it".to_owned()),
            Self::Special { kind: FileKind::Link, .. } => {
                Some("put the file itself in its place, if it is meant".to_owned())
            }
            Self::Special { .. } => {
                Some("copy its contents to a regular file, and name that".to_owned())
            }
            Self::TooLarge { .. } => Some(Limit::FileBytes.hint()),
            Self::NotText { .. } => Some("convert it to UTF-8".to_owned()),
        }
    }

    /// Whether there is nothing of this name.
    pub fn is_absent(&self) -> bool {
        matches!(self, Self::Read { source, .. } if source.kind() == io::ErrorKind::NotFound)
    }
}

/// As an error of the system, for callers that report those with the path.
impl From<FileError> for io::Error {
    fn from(error: FileError) -> Self {
        match error {
            FileError::Read { source, .. } => source,
            FileError::TooLarge { .. } => Self::new(io::ErrorKind::FileTooLarge, error),
            FileError::Special { .. } | FileError::NotText { .. } => {
                Self::new(io::ErrorKind::InvalidInput, error)
            }
        }
    }
}

/// Opens a regular file. What is not one is told, and is never waited for.
///
/// # Errors
/// [`FileError::Read`], [`FileError::Special`].
pub fn open(path: &Path) -> Result<fs_err::File, FileError> {
    opened(path, &at_once(0), |_| false)
}

/// Opens a regular file that is itself called `path`: no link of this name is followed. For files that only this program
/// puts where they lie.
///
/// # Errors
/// [`FileError::Read`], [`FileError::Special`].
pub fn open_own(path: &Path) -> Result<fs_err::File, FileError> {
    let found = fs_err::symlink_metadata(path)
        .map_err(|source| FileError::Read { path: path.to_owned(), source })?;
    if let Some(kind) = special(found.file_type()) {
        return Err(FileError::Special { path: path.to_owned(), kind });
    }
    // A link that takes its place meanwhile is refused by the system.
    #[cfg(unix)]
    let options = at_once(libc::O_NOFOLLOW);
    #[cfg(not(unix))]
    let options = at_once(0);
    opened(path, &options, |_| false)
}

/// Opens for reading, with these flags of the system, and never waits.
fn at_once(flags: i32) -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true);
    // Opening a pipe waits for somebody to write into it, and opening a terminal may take it over.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(
        &mut options,
        libc::O_NONBLOCK | libc::O_NOCTTY | flags,
    );
    #[cfg(not(unix))]
    let _no_flags = flags;
    options
}

/// Opens a regular file, or a named pipe that a person names to stream rows through: `<(zcat …)`, `/dev/stdin`.
///
/// # Errors
/// [`FileError::Read`], [`FileError::Special`].
pub fn open_stream(path: &Path) -> Result<fs_err::File, FileError> {
    let is_pipe = |kind| special(kind) == Some(FileKind::Pipe);
    // Only what is a pipe already is waited for.
    match fs_err::metadata(path) {
        Ok(found) if is_pipe(found.file_type()) => {
            opened(path, OpenOptions::new().read(true), is_pipe)
        }
        _ => open(path),
    }
}

fn opened(
    path: &Path,
    options: &OpenOptions,
    accepts: impl Fn(FileType) -> bool,
) -> Result<fs_err::File, FileError> {
    let failed = |source| FileError::Read { path: path.to_owned(), source };
    let file = fs_err::OpenOptions::from_options(options.clone()).open(path).map_err(|source| {
        // A socket cannot be opened at all; its name says why.
        let kind = fs_err::metadata(path).ok().and_then(|found| special(found.file_type()));
        match kind {
            Some(kind) => FileError::Special { path: path.to_owned(), kind },
            None => failed(source),
        }
    })?;
    let kind = file.metadata().map_err(failed)?.file_type();
    match special(kind) {
        Some(kind_told) if !accepts(kind) => {
            Err(FileError::Special { path: path.to_owned(), kind: kind_told })
        }
        _ => Ok(file),
    }
}

/// All bytes of a regular file, unless it has more than `most`.
///
/// # Errors
/// [`FileError`].
pub fn read(path: &Path, most: usize) -> Result<Vec<u8>, FileError> {
    read_all(path, open(path)?, most)
}

/// The same of a file that is itself called `path`, as [`open_own`] has it.
///
/// # Errors
/// [`FileError`].
pub fn read_own(path: &Path, most: usize) -> Result<Vec<u8>, FileError> {
    read_all(path, open_own(path)?, most)
}

fn read_all(path: &Path, mut file: fs_err::File, most: usize) -> Result<Vec<u8>, FileError> {
    let failed = |source| FileError::Read { path: path.to_owned(), source };
    // The stated size only saves copying: files grow while they are read, and those of /proc have none.
    let stated = file.metadata().map_err(failed)?.len();
    let mut bytes = Vec::with_capacity(usize::try_from(stated).unwrap_or(most).min(most));
    let bound = u64::try_from(most).unwrap_or(u64::MAX).saturating_add(1);
    file.by_ref().take(bound).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() > most {
        return Err(FileError::TooLarge { path: path.to_owned(), most });
    }
    Ok(bytes)
}

/// The text of a regular file, unless it has more than `most` bytes; a byte order mark is left out.
///
/// # Errors
/// [`FileError`].
pub fn read_text(path: &Path, most: usize) -> Result<String, FileError> {
    let mut bytes = read(path, most)?;
    if bytes.starts_with(b"\xef\xbb\xbf") {
        bytes.drain(..3);
    }
    String::from_utf8(bytes).map_err(|error| FileError::NotText {
        path: path.to_owned(),
        valid: error.utf8_error().valid_up_to(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reading_ends_at_the_bound() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.txt");
        fs_err::write(&path, "\u{feff}abc").expect("written");
        assert_eq!(read_text(&path, 6).expect("read"), "abc");
        assert_eq!(read_own(&path, 6).expect("read").len(), 6);
        assert!(matches!(read_own(&path, 5), Err(FileError::TooLarge { most: 5, .. })));
        assert!(read_own(&folder.path().join("none"), 9).expect_err("absent").is_absent());
        let error = read(&path, 5).expect_err("too large");
        assert!(error.to_string().contains("5 bytes") && error.to_string().contains("file-bytes"));
        assert!(error.hint().is_some_and(|hint| hint.contains("--limit file-bytes=")));
        fs_err::write(&path, b"ab\xff").expect("written");
        let error = read_text(&path, 9).expect_err("no text");
        assert!(matches!(error, FileError::NotText { valid: 2, .. }));
        assert!(read(&folder.path().join("none"), 9).expect_err("absent").is_absent());
        let error = read(folder.path(), 9).expect_err("a folder").to_string();
        assert!(error.contains("is a folder, not a file"), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn what_never_ends_is_told_and_not_waited_for() {
        let folder = tempfile::tempdir().expect("a folder");
        let kind = |path: &Path| match read(path, 9) {
            Err(FileError::Special { kind, .. }) => Some(kind),
            _ => None,
        };
        assert_eq!(kind(Path::new("/dev/zero")), Some(FileKind::CharacterDevice));
        let link = folder.path().join("link.pdf");
        std::os::unix::fs::symlink("/dev/zero", &link).expect("linked");
        assert_eq!(kind(&link), Some(FileKind::CharacterDevice));
        let own = |path: &Path| match read_own(path, 9) {
            Err(FileError::Special { kind, .. }) => Some(kind),
            _ => None,
        };
        assert_eq!(own(&link), Some(FileKind::Link));
        let pipe = folder.path().join("pipe.pdf");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo");
        assert!(made.success());
        assert_eq!((kind(&pipe), own(&pipe)), (Some(FileKind::Pipe), Some(FileKind::Pipe)));
        let socket = folder.path().join("socket.pdf");
        let _bound = std::os::unix::net::UnixListener::bind(&socket).expect("bound");
        assert_eq!(kind(&socket), Some(FileKind::Socket));
        assert!(matches!(
            open_stream(Path::new("/dev/zero")),
            Err(FileError::Special { kind: FileKind::CharacterDevice, .. })
        ));
        // Rows may come through a pipe that is named.
        let writer = std::thread::scope(|scope| {
            scope.spawn(|| fs_err::write(&pipe, "{}").expect("written"));
            let mut text = String::new();
            open_stream(&pipe).expect("opened").read_to_string(&mut text).expect("read");
            text
        });
        assert_eq!(writer, "{}");
    }
}
