//! Is each file as it was written? Read before anything in it is believed.

use std::collections::BTreeMap;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use serde_json::Value;
use tantivy::directory::ManagedDirectory;
use tantivy::{Directory as _, Index, IndexMeta, IndexSettings, SegmentReader};

use super::{OnVerifyProgress, VerifyProgress};
use crate::dense::DenseSegment;
use crate::descriptor::Descriptor;
use crate::error::Error;
use crate::layout::{DENSE_FOLDER, LEXICAL_FOLDER, META_FILE};
use crate::manifest::Manifest;
use crate::schema::column;
use crate::store::checks::Checks;
use crate::store::guard::attempt;
use crate::store::{Datastore, REFRESH_ATTEMPTS, open_index};

/// tantivy's list of the files it has made and not yet removed.
const MANAGED_FILE: &str = ".managed.json";

/// Files whose checksums fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
pub struct FilesReport {
    /// Files of the lexical index.
    pub lexical_files: usize,
    /// Dense segments, each with its inverted index where it has one.
    pub dense_files: usize,
    /// Bytes read and compared so far.
    pub bytes: u64,
}

impl Datastore {
    /// Checks every file of the newest commit at `root` without opening the datastore: damage that would make opening
    /// or searching fail in strange ways is found here, and named.
    ///
    /// # Errors
    /// The first damage found, as [`Error::Corrupt`] naming the file; [`Error::Version`]; [`Error::Io`].
    pub fn check_files(root: &Path, progress: OnVerifyProgress<'_>) -> Result<FilesReport, Error> {
        let meta = || {
            let path = root.join(LEXICAL_FOLDER).join(META_FILE);
            fs_err::read(&path).map_err(Error::io("read", &path))
        };
        for _ in 0..REFRESH_ATTEMPTS {
            let before = meta();
            match check(root, &Checks::all(), progress) {
                // A commit in between removes files of the one that was being checked.
                Err(_) if before.is_ok_and(|before| meta().is_ok_and(|now| now != before)) => {}
                outcome => return outcome,
            }
        }
        check(root, &Checks::all(), progress)
    }
}

fn check(
    root: &Path,
    checks: &Checks,
    progress: OnVerifyProgress<'_>,
) -> Result<FilesReport, Error> {
    let descriptor = Descriptor::read(root)?;
    // The last resort: whatever tantivy opens is checked first, and names its file.
    attempt(|| {
        let (index, _) = open_index(root, checks)?;
        check_commit(root, &descriptor, &index, checks, progress)
    })
    .unwrap_or_else(|| Err(Error::corrupt(root, "the index cannot be opened")))
}

/// Checks every file of the commit that `index` is at; those that `checks` know to be whole are not read again.
pub(crate) fn check_commit(
    root: &Path,
    descriptor: &Descriptor,
    index: &Index,
    checks: &Checks,
    progress: OnVerifyProgress<'_>,
) -> Result<FilesReport, Error> {
    let folder = root.join(LEXICAL_FOLDER);
    let metas = check_meta(&folder, index)?;
    let of_commit = |error: Error| error.of_commit(metas.opstamp);
    check_files(root, descriptor, index, &metas, checks, progress).map_err(of_commit)
}

fn check_files(
    root: &Path,
    descriptor: &Descriptor,
    index: &Index,
    metas: &IndexMeta,
    checks: &Checks,
    progress: OnVerifyProgress<'_>,
) -> Result<FilesReport, Error> {
    let folder = root.join(LEXICAL_FOLDER);
    let manifest = Manifest::of_commit(root, metas)?;
    let lexical = living_files(&folder, metas)?;
    check_managed(&folder, index.directory(), &lexical)?;
    let dense_folder = root.join(DENSE_FOLDER);
    let dense_bytes: u64 = manifest
        .segments
        .iter()
        .flat_map(|entry| [Some(&entry.file), entry.index.as_ref()])
        .flatten()
        .map(|name| size_of(&dense_folder.join(name)))
        .sum();
    let lexical_bytes: u64 = lexical.iter().map(|name| size_of(&folder.join(name))).sum();
    let mut releases = BTreeMap::new();
    let mut done = VerifyProgress { bytes: 0, of_bytes: dense_bytes + lexical_bytes };
    for name in &lexical {
        let path = folder.join(name);
        let opened = index.directory().open_read(name);
        opened.map_err(|error| Error::unreadable(&path, error))?;
        check_release(&path, &mut releases)?;
        done.bytes += size_of(&path);
        progress(done);
    }
    check_segments(&folder, index, metas)?;
    for entry in &manifest.segments {
        let segment = DenseSegment::open(&dense_folder, entry, &descriptor.encoder, checks)?;
        done.bytes += segment.size_bytes();
        progress(done);
    }
    Ok(FilesReport {
        lexical_files: lexical.len(),
        dense_files: manifest.segments.len(),
        bytes: done.bytes,
    })
}

fn size_of(path: &Path) -> u64 {
    // What is absent is found when it is read.
    fs_err::metadata(path).map_or(0, |metadata| metadata.len())
}

/// `meta.json` has no checksum. Its text must be what its content is written as, so that a damaged name of a field is
/// not taken for a field that is absent; its values are compared with what they describe.
fn check_meta(folder: &Path, index: &Index) -> Result<IndexMeta, Error> {
    let path = folder.join(META_FILE);
    let corrupt = |what: &str| Error::corrupt(&path, what);
    let bytes = fs_err::read(&path).map_err(Error::io("read", &path))?;
    let metas = index.load_metas().map_err(Error::index("open", folder))?;
    let written = serde_json::to_vec_pretty(&metas).map_err(|e| corrupt(&e.to_string()))?;
    if bytes.strip_suffix(b"\n").unwrap_or(&bytes) != written {
        return Err(corrupt("is not as it was written"));
    }
    let IndexSettings { docstore_compression, docstore_blocksize, .. } = IndexSettings::default();
    let settings = &metas.index_settings;
    if settings.docstore_compression != docstore_compression
        || settings.docstore_blocksize != docstore_blocksize
    {
        return Err(corrupt("its settings are not this format version's"));
    }
    Ok(metas)
}

/// Checks what lists the files of the commit that `index` is at, and that they are there; not what is in them.
pub(crate) fn check_lists(root: &Path, index: &Index) -> Result<(), Error> {
    let folder = root.join(LEXICAL_FOLDER);
    let metas = check_meta(&folder, index)?;
    let lexical = living_files(&folder, &metas)?;
    check_managed(&folder, index.directory(), &lexical)
}

/// Names of the files of the commit's segments, sorted. Each must be there.
fn living_files(folder: &Path, metas: &IndexMeta) -> Result<Vec<PathBuf>, Error> {
    let mut files: Vec<PathBuf> = metas.list_segment_files().into_iter().collect();
    // A temporary store and an absent list of positions or deletions are listed though they need not exist.
    files.retain(|name| folder.join(name).exists());
    files.sort();
    for segment in &metas.segments {
        let id = segment.id().uuid_string();
        let of_it = files.iter().filter(|name| name.to_string_lossy().starts_with(&id)).count();
        let needed = REQUIRED.iter().map(|ending| format!("{id}.{ending}"));
        let deletions = segment.delete_opstamp().map(|opstamp| format!("{id}.{opstamp}.del"));
        for name in needed.chain(deletions) {
            if !files.iter().any(|file| file.as_os_str() == name.as_str()) {
                let what = format!("is absent; {of_it} other files of its segment are there");
                return Err(Error::corrupt(&folder.join(name), what));
            }
        }
    }
    Ok(files)
}

/// Endings of the files every segment has.
const REQUIRED: [&str; 6] = ["term", "idx", "pos", "fieldnorm", "fast", "store"];
/// Bytes of a footer's length and of the mark that ends each file of tantivy.
const FOOTER_END: usize = 8;

/// The checksum in a file's footer does not cover the footer. What else is in it, the release that wrote the file, is the
/// same for all files of a segment; deletions are written later.
fn check_release(path: &Path, releases: &mut BTreeMap<String, Value>) -> Result<(), Error> {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let (segment, ending) = name.split_once('.').unwrap_or((name, ""));
    if ending.ends_with("del") {
        return Ok(());
    }
    let bytes = tail(path).map_err(Error::io("read", path))?;
    let footer = bytes.len().checked_sub(FOOTER_END).and_then(|end| {
        let length = bytes.get(end..end + 4)?.try_into().ok().map(u32::from_le_bytes)?;
        bytes.get(end.checked_sub(length as usize)?..end)
    });
    let footer: Option<Value> = footer.and_then(|json| serde_json::from_slice(json).ok());
    let Some(release) = footer.as_ref().and_then(|footer| footer.get("version")) else {
        return Err(Error::corrupt(path, "its footer cannot be read"));
    };
    let known = releases.entry(segment.to_owned()).or_insert_with(|| release.clone());
    if known == release {
        return Ok(());
    }
    Err(Error::corrupt(path, "its footer names another version than its segment's files"))
}

/// The last few hundred bytes of a file.
fn tail(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut file = fs_err::File::open(path)?;
    let size = file.metadata()?.len();
    file.seek(SeekFrom::Start(size.saturating_sub(1 << 10)))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// A file that tantivy does not know as its own would never be removed.
fn check_managed(
    folder: &Path,
    directory: &ManagedDirectory,
    living: &[PathBuf],
) -> Result<(), Error> {
    let managed = directory.list_managed_files();
    match living.iter().find(|name| !managed.contains(*name)) {
        None => Ok(()),
        Some(name) => Err(Error::corrupt(
            &folder.join(MANAGED_FILE),
            format!("does not list {}", name.display()),
        )),
    }
}

/// Numbers of documents as `meta.json` has them against those the segments themselves have.
fn check_segments(folder: &Path, index: &Index, metas: &IndexMeta) -> Result<(), Error> {
    let path = folder.join(META_FILE);
    for meta in &metas.segments {
        let failed = || Error::index("open", folder);
        let reader = SegmentReader::open(&index.segment(meta.clone())).map_err(failed())?;
        check_counts(&path, &reader)?;
        let counted = reader.alive_bitset().map_or(0, |alive| {
            usize::try_from(meta.max_doc()).unwrap_or(usize::MAX) - alive.num_alive_docs()
        });
        if counted != meta.num_deleted_docs() as usize {
            return Err(Error::corrupt(&path, "counts other deletions than its segments have"));
        }
    }
    Ok(())
}

/// Documents of a segment by `meta.json` and by its own columns.
pub(crate) fn check_counts(path: &Path, reader: &SegmentReader) -> Result<(), Error> {
    let column = reader.fast_fields().u64(column::ORDINAL).map_err(Error::index("open", path))?;
    if column.num_docs() == reader.max_doc() {
        return Ok(());
    }
    Err(Error::corrupt(path, "counts other documents than its segments have"))
}
