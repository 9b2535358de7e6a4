//! From files to papers.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, UNIX_EPOCH};

use scholar_clients::fetch::{Fetcher, Provider};
use scholar_clients::zotero::ZoteroCollection;
use scholar_clients::{Grobid, Zotero};
use scholar_core::text::hex;
use scholar_core::{
    Confidence, FieldOrigin, MetaField, MetaOrigin, Notice, NoticeKind, Paper, RecordSource,
    SourceFile, SourceRecord,
};
use scholar_datastore::files::{self, FileError};
use scholar_formats::library::zotero;
use scholar_formats::library::{Attachment, AttachmentPlace, Library, LibraryEntry, LibraryFormat};
use scholar_formats::{Document, DocumentFormat, ReadLimits, document, library};
use sha2::{Digest as _, Sha256};

use super::attached::Allowed;
use super::failure::Failure;
use super::{How, Item, Taken};
use crate::app::App;

/// A document; an error is a notice.
pub(super) async fn document(path: &Path, how: &How<'_>, fetcher: &Fetcher, taken: &mut Taken) {
    let origin = path.display().to_string();
    match read_document(path, how, fetcher).await {
        Ok(Read::New { record, notices, cost }) => {
            let said = notices.into_iter().map(|notice| Notice {
                message: format!("{origin}: {}", notice.message),
                ..notice
            });
            taken.notices.extend(said);
            let format = record.source.file().map(|file| file.format.clone()).unwrap_or_default();
            taken.items.extend(Item::new(origin, format, vec![*record], cost));
        }
        Ok(Read::Unchanged(path)) => taken.unchanged.push(path),
        Err(Failure { why, hint }) => taken.fail(&origin, &why, hint.as_deref()),
    }
}

/// A library: its entries with the text of their attached files.
pub(super) async fn library(path: &Path, how: &How<'_>, fetcher: &Fetcher, taken: &mut Taken) {
    let origin = path.display().to_string();
    let began = Instant::now();
    match read_library(path, how.limits).await {
        Ok(mut list) => {
            if let Some(collection) = how.collection {
                list.keep_collection(collection);
                if list.entries.is_empty() {
                    let hint = "name it as Zotero shows it, inner collections as outer/inner";
                    taken.fail(
                        &origin,
                        &format!("it has no paper in a collection {collection:?}"),
                        Some(hint),
                    );
                }
            }
            let share = share(began, &list);
            let from = ListedIn::file(&origin, path, how, share);
            add_list(list, &from, how, fetcher, taken).await;
        }
        Err(Failure { why, hint }) => taken.fail(&origin, &why, hint.as_deref()),
    }
}

/// The library of the Zotero that runs on this machine.
pub(super) async fn zotero(
    collection: Option<&str>,
    how: &How<'_>,
    fetcher: &Fetcher,
    taken: &mut Taken,
) {
    let began = Instant::now();
    let client = Zotero::new(fetcher.clone());
    let read = async {
        let items = client.items(None).await?;
        Ok::<_, scholar_core::PortError>((items, client.collections().await?))
    };
    let list = match read.await {
        Ok((items, collections)) => {
            let collections: Vec<serde_json::Value> = collections.iter().map(as_answered).collect();
            let text = |values: Vec<serde_json::Value>| serde_json::Value::from(values).to_string();
            zotero::read_json(&text(items), &text(collections))
        }
        Err(error) => {
            taken.fail("zotero:", &error.to_string(), error.hint());
            return;
        }
    };
    match list {
        Ok(mut list) => {
            if let Some(collection) = collection {
                list.keep_collection(collection);
            }
            let storage = how.zotero_storage.as_deref();
            let base = storage.unwrap_or(Path::new(""));
            let from = ListedIn {
                origin: "zotero",
                library: "zotero".to_owned(),
                folder: base.to_owned(),
                allowed: Allowed::new(storage, base, how.attachments),
                share: share(began, &list),
            };
            add_list(list, &from, how, fetcher, taken).await;
        }
        Err(error) => taken.fail("zotero:", &error.to_string(), error.hint.as_deref()),
    }
}

/// A collection in the shape of Zotero's answers.
fn as_answered(collection: &ZoteroCollection) -> serde_json::Value {
    let ZoteroCollection { key, name, parent } = collection;
    serde_json::json!({"key": key, "data": {"key": key, "name": name, "parentCollection": parent}})
}

/// Where entries come from.
struct ListedIn<'a> {
    origin: &'a str,
    /// What its entries are kept under: where the library really is.
    library: String,
    /// Where its relative paths begin.
    folder: PathBuf,
    /// Where their files may lie.
    allowed: Allowed,
    /// The time that reading the list took for each.
    share: Duration,
}

impl<'a> ListedIn<'a> {
    /// A list in a file: its files lie beside it, those of Zotero's database in its storage.
    fn file(origin: &'a str, path: &Path, how: &How<'_>, share: Duration) -> Self {
        let folder = match path.parent() {
            Some(folder) if folder != Path::new("") => folder,
            _ => Path::new("."),
        };
        let storage = folder.join("storage");
        let is_zotero = path.extension().is_some_and(|ending| ending == "sqlite");
        let own = if is_zotero { &storage } else { folder };
        let allowed = Allowed::new(Some(own), folder, how.attachments);
        let real = fs_err::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let folder = fs_err::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
        Self { origin, library: real.display().to_string(), folder, allowed, share }
    }
}

fn share(began: Instant, list: &Library) -> Duration {
    began.elapsed() / u32::try_from(list.entries.len().max(1)).unwrap_or(u32::MAX)
}

async fn add_list(
    list: Library,
    from: &ListedIn<'_>,
    how: &How<'_>,
    fetcher: &Fetcher,
    taken: &mut Taken,
) {
    let Library { entries, loose, skipped, notices } = list;
    let origin = from.origin;
    taken.failed += skipped;
    taken.notices.extend(
        notices
            .into_iter()
            .map(|notice| Notice { message: format!("{origin}: {}", notice.message), ..notice }),
    );
    let mut keys: HashMap<String, usize> = HashMap::new();
    for mut entry in entries {
        if let Some(key) = &mut entry.entry_key {
            let uses = keys.entry(key.clone()).or_default();
            *uses += 1;
            if *uses > 1 {
                let message = format!(
                    "{origin}: the key {key} is used {uses} times; each entry is a paper of its own"
                );
                taken.note(NoticeKind::Skipped, message, Some("give each entry a key of its own"));
                *key = format!("{key} ({uses})");
            }
        }
        let item = of_entry(entry, from, how, fetcher, taken).await;
        taken.items.extend(item);
    }
    for attachment in loose {
        let AttachmentPlace::Path(path) = attachment.place else { continue };
        match from.allowed.find(&path) {
            Ok(path) => document(&path, how, fetcher, taken).await,
            Err(Failure { why, hint }) => {
                let named = format!("{} of {origin}", path.display());
                taken.fail(&named, &why, hint.as_deref());
            }
        }
    }
}

/// The entry's record, and one for each of its files that can be read.
async fn of_entry(
    entry: LibraryEntry,
    from: &ListedIn<'_>,
    how: &How<'_>,
    fetcher: &Fetcher,
    taken: &mut Taken,
) -> Option<Item> {
    let LibraryEntry { paper, authors_cut, entry_key, collections: _, tags: _, attachments, odd } =
        entry;
    let ListedIn { origin, library, folder, allowed, share } = from;
    let name = match &entry_key {
        Some(key) => format!("{origin}:{key}"),
        None => format!("{origin}:{}", paper.meta.id),
    };
    for clause in odd {
        taken.note(NoticeKind::Skipped, format!("{name}: {clause}"), None);
    }
    let mut format = "library".to_owned();
    let mut cost = (0, *share);
    let mut files: Vec<PathBuf> = Vec::new();
    let mut read_files: Vec<SourceRecord> = Vec::new();
    for Attachment { place, mime: _ } in attachments {
        let AttachmentPlace::Path(path) = place else { continue };
        let found = allowed.find(&path);
        // A file that is not there yet is known by its path when it comes.
        files.push(found.as_ref().cloned().unwrap_or_else(|_| folder.join(&path)));
        let read = match found {
            Ok(found) => read_document(&found, how, fetcher).await,
            Err(outside) => Err(outside),
        };
        match read {
            Ok(Read::New { record, notices, cost: (bytes, time) }) => {
                taken.notices.extend(notices);
                if let Some(file) = record.source.file().filter(|_| read_files.is_empty()) {
                    format = format!("library + {}", file.format);
                }
                cost = (cost.0 + bytes, cost.1 + time);
                read_files.push(*record);
            }
            Ok(Read::Unchanged(path)) => taken.unchanged.push(path),
            Err(Failure { why, hint }) => {
                let message = format!("{name}: skipped its file {}: {why}", path.display());
                taken.note(NoticeKind::Skipped, message, hint.as_deref());
            }
        }
    }
    let Paper { meta, sections, references: cited, records: _ } = paper;
    let source = RecordSource::Library { library: library.clone(), key: entry_key, files };
    let mut own = SourceRecord { sections, cited, ..SourceRecord::new(source, meta) };
    if authors_cut {
        // Whoever names all of them is believed before it.
        let cut = FieldOrigin { origin: MetaOrigin::Markup, confidence: Confidence::Low };
        own.fields.insert(MetaField::Authors, cut);
    }
    Item::new(name, format, std::iter::once(own).chain(read_files).collect(), cost)
}

/// What became of a file.
enum Read {
    /// It was read: its record, what there is to say about it, its bytes and the time it took.
    New { record: Box<SourceRecord>, notices: Vec<Notice>, cost: (u64, Duration) },
    /// It is stored with these bytes.
    Unchanged(PathBuf),
}

/// Times that a file is read when it changes meanwhile.
const ATTEMPTS: usize = 3;

/// The bytes of a file that did not change while they were read, and when it was last changed.
fn stable_bytes(path: &Path, limits: ReadLimits) -> Result<(Vec<u8>, Option<i64>), Failure> {
    let stamp = || {
        let meta = fs_err::metadata(path).ok()?;
        let since = meta.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
        Some((meta.len(), since))
    };
    let (bytes, read) = unchanged(stamp, || Ok(files::read(path, limits.bytes)?))?;
    let seconds = read.and_then(|(_, since)| i64::try_from(since.as_secs()).ok());
    Ok((bytes, seconds))
}

/// What `read` brings between two equal stamps, with the stamp.
fn unchanged<S: PartialEq>(
    stamp: impl Fn() -> S,
    mut read: impl FnMut() -> Result<Vec<u8>, Failure>,
) -> Result<(Vec<u8>, S), Failure> {
    for _ in 0..ATTEMPTS {
        let before = stamp();
        let bytes = read()?;
        if stamp() == before {
            return Ok((bytes, before));
        }
    }
    Err(Failure {
        why: "it is being written while it is read".to_owned(),
        hint: Some("add it again when it is complete".to_owned()),
    })
}

async fn read_document(path: &Path, how: &How<'_>, fetcher: &Fetcher) -> Result<Read, Failure> {
    let began = Instant::now();
    let limits = how.limits;
    let (bytes, modified) = stable_bytes(path, limits)?;
    let real = fs_err::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let sha256 = hex(&Sha256::digest(&bytes));
    if let Some(store) = &how.stored
        && store.is_stored_file(&real, &sha256)?
    {
        return Ok(Read::Unchanged(real));
    }
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let format = DocumentFormat::sniff(&name, &bytes).ok_or_else(|| Failure {
        why: "it is not a document in a supported format".to_owned(),
        hint: Some("JATS, TEI, LaTeXML HTML, PDF, Markdown and plain text are read".to_owned()),
    })?;
    let size = bytes.len() as u64;
    let (document, format_name) =
        if format == DocumentFormat::Pdf && fetcher.config().base_url(Provider::Grobid).is_some() {
            through_grobid(&name, bytes, limits, fetcher).await?
        } else {
            (blocking(format, bytes, limits).await?, format.name().to_owned())
        };
    let Document { mut paper, references, mut fields, file_date, mut notices } = document;
    if let Some(year) = paper.meta.year.filter(|year| *year > App::year() + 1) {
        paper.meta.year = None;
        paper.meta.published = None;
        fields.remove(&MetaField::Year);
        let message = format!("the year {year} that it states is to come, and was not taken");
        notices.push(Notice::new(NoticeKind::Weak, message));
    }
    let file = SourceFile { path: real, sha256, bytes: size, modified, format: format_name };
    let record = SourceRecord {
        fields,
        file_date,
        sections: paper.sections,
        references,
        cited: paper.references,
        ..SourceRecord::new(RecordSource::File(file), paper.meta)
    };
    Ok(Read::New { record: Box::new(record), notices, cost: (size, began.elapsed()) })
}

/// Parsing is work of the CPU: it must not hold up the threads that speak to servers.
pub(super) async fn blocking(
    format: DocumentFormat,
    bytes: Vec<u8>,
    limits: ReadLimits,
) -> Result<Document, Failure> {
    apart(move || Ok(document::read(format, &bytes, limits)?)).await
}

/// Does work on a thread where a panic costs this work alone.
async fn apart<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(panic) => Err(Failure {
            why: format!("reading it failed: {panic}"),
            hint: Some("this is a bug of the program: please report the file".to_owned()),
        }),
    }
}

/// What GROBID makes of a PDF; when it cannot be asked, what this program makes of it, with a notice.
async fn through_grobid(
    name: &str,
    bytes: Vec<u8>,
    limits: ReadLimits,
    fetcher: &Fetcher,
) -> Result<(Document, String), Failure> {
    let (error, hint) = match Grobid::new(fetcher.clone()).document(&bytes).await {
        Ok(Some(document)) => return Ok((document, "PDF by GROBID".to_owned())),
        Ok(None) => ("it found nothing to read".to_owned(), None),
        Err(error) => (error.to_string(), error.hint().map(str::to_owned)),
    };
    let mut document = blocking(DocumentFormat::Pdf, bytes, limits).await?;
    let mut notice =
        Notice::new(NoticeKind::Skipped, format!("GROBID was not used for {name}: {error}"));
    notice.hint = hint;
    document.notices.push(notice);
    Ok((document, DocumentFormat::Pdf.name().to_owned()))
}

async fn read_library(path: &Path, limits: ReadLimits) -> Result<Library, Failure> {
    let path: PathBuf = path.to_owned();
    apart(move || open_library(&path, limits)).await
}

fn open_library(path: &Path, limits: ReadLimits) -> Result<Library, Failure> {
    let mut head = Vec::new();
    {
        use std::io::Read as _;
        let failed = |source| FileError::Read { path: path.to_owned(), source };
        files::open(path)?.take(16).read_to_end(&mut head).map_err(failed)?;
    }
    if LibraryFormat::sniff("", &head) == Some(LibraryFormat::ZoteroDatabase) {
        return Ok(zotero::read_database(path)?);
    }
    let bytes = files::read(path, limits.bytes)?;
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let format = LibraryFormat::sniff(&name, &bytes).ok_or_else(|| Failure {
        why: "it is not a library in a supported format".to_owned(),
        hint: Some(
            "BibTeX, RIS, CSL-JSON and Zotero's database are read; rows of papers end in .jsonl"
                .to_owned(),
        ),
    })?;
    Ok(library::read(format, &bytes)?)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// Reads a "file" that is replaced while it is read, the first `times` times.
    fn read(times: usize) -> Result<(Vec<u8>, usize), String> {
        let version = Cell::new(0);
        let replaced = Cell::new(0);
        unchanged(
            || version.get(),
            || {
                let bytes = format!("version {}", version.get()).into_bytes();
                if replaced.get() < times {
                    replaced.set(replaced.get() + 1);
                    version.set(version.get() + 1);
                }
                Ok(bytes)
            },
        )
        .map_err(|failure| failure.why)
    }

    #[test]
    fn a_file_that_is_replaced_while_it_is_read_is_read_again_or_refused() {
        assert_eq!(read(0), Ok((b"version 0".to_vec(), 0)));
        assert_eq!(
            read(1),
            Ok((b"version 1".to_vec(), 1)),
            "never the old bytes with the new stamp"
        );
        assert_eq!(read(ATTEMPTS - 1).map(|(_, version)| version), Ok(ATTEMPTS - 1));
        assert!(read(ATTEMPTS).is_err_and(|why| why.contains("while it is read")));
    }
}
