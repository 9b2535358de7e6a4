//! The one door to files and folders that hold questions, answers and what was read for them: other users of the machine
//! have no business there.
//!
//! They are closed when they are created, whatever the umask, not a moment later; those that an earlier version left open
//! are closed when they are written to. Files that a person names for a result (`--output`) do not go through here: who
//! may read them is for the umask to say. Systems without such permissions keep what their folders say.

use std::io;
use std::path::Path;

use fs_err::File;

/// Permissions of everybody but the owner.
#[cfg(unix)]
const OTHERS: u32 = 0o077;

/// Creates one folder, which must not exist.
pub(crate) fn create_folder(path: &Path) -> io::Result<()> {
    builder().create(path)
}

/// Creates the folder and those above it that are missing; one that is there stays as it is.
pub(crate) fn create_missing(path: &Path) -> io::Result<()> {
    builder().recursive(true).create(path)
}

/// The same, and closes the folder if others can read it.
pub(crate) fn folder(path: &Path) -> io::Result<()> {
    create_missing(path)?;
    close(path, &fs_err::metadata(path)?)
}

/// Creates the file or empties it.
pub(crate) fn create(path: &Path) -> io::Result<File> {
    open(path, options().write(true).create(true).truncate(true))
}

/// Opens the file for appending, and creates it if it is missing.
pub(crate) fn append(path: &Path) -> io::Result<File> {
    open(path, options().append(true).create(true))
}

fn open(path: &Path, options: &fs_err::OpenOptions) -> io::Result<File> {
    let file = options.open(path)?;
    let found = file.metadata()?;
    // A pipe or a device belongs to whoever made it.
    if found.is_file() {
        close(path, &found)?;
    }
    Ok(file)
}

/// A name that nobody can guess: 128 bits in hexadecimal digits.
pub(crate) fn secret() -> io::Result<String> {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Whether others than the owner may read or write what lies at `path`; what is not there is not open.
pub(crate) fn is_open(path: &Path) -> bool {
    fs_err::metadata(path).is_ok_and(|found| others(&found) != 0)
}

#[cfg(unix)]
fn builder() -> std::fs::DirBuilder {
    use std::os::unix::fs::DirBuilderExt as _;
    let mut builder = std::fs::DirBuilder::new();
    builder.mode(0o700);
    builder
}

#[cfg(not(unix))]
fn builder() -> std::fs::DirBuilder {
    std::fs::DirBuilder::new()
}

#[cfg(unix)]
fn options() -> fs_err::OpenOptions {
    use fs_err::os::unix::fs::OpenOptionsExt as _;
    let mut options = fs_err::OpenOptions::new();
    options.mode(0o600);
    options
}

#[cfg(not(unix))]
fn options() -> fs_err::OpenOptions {
    fs_err::OpenOptions::new()
}

#[cfg(unix)]
fn others(found: &std::fs::Metadata) -> u32 {
    use std::os::unix::fs::PermissionsExt as _;
    found.permissions().mode() & OTHERS
}

#[cfg(not(unix))]
fn others(_found: &std::fs::Metadata) -> u32 {
    0
}

#[cfg(unix)]
fn close(path: &Path, found: &std::fs::Metadata) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    if others(found) == 0 {
        return Ok(());
    }
    let mode = found.permissions().mode() & !OTHERS;
    fs_err::set_permissions(path, std::fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn close(_path: &Path, _found: &std::fs::Metadata) -> io::Result<()> {
    Ok(())
}

#[cfg(all(test, unix))]
mod tests {
    use std::io::Write as _;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs_err::metadata(path).expect("there").permissions().mode() & 0o777
    }

    fn set(path: &Path, mode: u32) {
        fs_err::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("changed");
    }

    #[test]
    fn what_is_created_is_closed_from_the_beginning() {
        let scratch = tempfile::tempdir().expect("a folder");
        let nested = scratch.path().join("a/b");
        create_missing(&nested).expect("created");
        assert_eq!((mode(&nested), mode(&scratch.path().join("a"))), (0o700, 0o700));
        create_folder(&nested.join("c")).expect("created");
        assert_eq!(mode(&nested.join("c")), 0o700);
        assert!(create_folder(&nested.join("c")).is_err(), "it is there");
        let (new, log) = (nested.join("new"), nested.join("log"));
        create(&new).and_then(|mut file| file.write_all(b"x")).expect("written");
        append(&log).and_then(|mut file| file.write_all(b"x")).expect("written");
        assert_eq!((mode(&new), mode(&log)), (0o600, 0o600));
        assert!(![&nested, &new, &log].into_iter().any(|path| is_open(path)));
    }

    #[test]
    fn what_an_earlier_version_left_open_is_closed_when_it_is_written_to() {
        let scratch = tempfile::tempdir().expect("a folder");
        let (inside, log) = (scratch.path().join("runs"), scratch.path().join("log"));
        fs_err::create_dir(&inside).expect("created");
        fs_err::write(&log, "old\n").expect("written");
        set(&inside, 0o755);
        set(&log, 0o664);
        assert!(is_open(&inside) && is_open(&log));
        create_missing(&inside).expect("there already");
        assert_eq!(mode(&inside), 0o755, "a folder of the user's own choice");
        folder(&inside).expect("closed");
        append(&log).and_then(|mut file| file.write_all(b"new\n")).expect("written");
        assert_eq!((mode(&inside), mode(&log)), (0o700, 0o600));
        assert_eq!(fs_err::read_to_string(&log).expect("there"), "old\nnew\n");
    }

    #[test]
    fn a_device_keeps_its_permissions() {
        let before = mode(Path::new("/dev/null"));
        append(Path::new("/dev/null")).and_then(|mut file| file.write_all(b"x")).expect("taken");
        assert_eq!(mode(Path::new("/dev/null")), before);
    }
}
