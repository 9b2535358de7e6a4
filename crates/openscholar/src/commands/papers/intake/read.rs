//! From files to papers.

use std::path::Path;
use std::time::{Duration, Instant};

use scholar_clients::fetch::{Fetcher, Provider};
use scholar_clients::zotero::ZoteroCollection;
use scholar_clients::{Grobid, Zotero};
use scholar_core::{Notice, NoticeKind};
use scholar_formats::library::zotero;
use scholar_formats::library::{Attachment, AttachmentPlace, Library, LibraryEntry, LibraryFormat};
use scholar_formats::{Document, DocumentFormat, FormatError, ReadLimits, document, library};

use super::{How, Item, Taken};

/// A document; an error is a notice.
pub(super) async fn document(path: &Path, fetcher: &Fetcher, taken: &mut Taken) {
    let origin = path.display().to_string();
    match read_document(path, fetcher).await {
        Ok(item) => {
            let Read { item, notices } = item;
            let said = notices.into_iter().map(|notice| Notice {
                message: format!("{origin}: {}", notice.message),
                ..notice
            });
            taken.notices.extend(said);
            taken.items.push(item);
        }
        Err(Failure { why, hint }) => taken.fail(&origin, &why, hint.as_deref()),
    }
}

/// A library: its entries with the text of their attached files.
pub(super) async fn library(path: &Path, how: &How<'_>, fetcher: &Fetcher, taken: &mut Taken) {
    let origin = path.display().to_string();
    let began = Instant::now();
    match read_library(path) {
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
            let folder = path.parent().unwrap_or(Path::new("."));
            add_list(list, (&origin, folder), began, fetcher, taken).await;
        }
        Err(Failure { why, hint }) => taken.fail(&origin, &why, hint.as_deref()),
    }
}

/// The library of the Zotero that runs on this machine.
pub(super) async fn zotero(collection: Option<&str>, fetcher: &Fetcher, taken: &mut Taken) {
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
            add_list(list, ("zotero", Path::new(".")), began, fetcher, taken).await;
        }
        Err(error) => taken.fail("zotero:", &error.to_string(), error.hint.as_deref()),
    }
}

/// A collection in the shape of Zotero's answers.
fn as_answered(collection: &ZoteroCollection) -> serde_json::Value {
    let ZoteroCollection { key, name, parent } = collection;
    serde_json::json!({"key": key, "data": {"key": key, "name": name, "parentCollection": parent}})
}

async fn add_list(
    list: Library,
    (origin, folder): (&str, &Path),
    began: Instant,
    fetcher: &Fetcher,
    taken: &mut Taken,
) {
    let Library { entries, loose, skipped, notices } = list;
    taken.failed += skipped;
    taken.notices.extend(
        notices
            .into_iter()
            .map(|notice| Notice { message: format!("{origin}: {}", notice.message), ..notice }),
    );
    let share = began.elapsed() / u32::try_from(entries.len().max(1)).unwrap_or(u32::MAX);
    for entry in entries {
        let item = of_entry(entry, (origin, folder), share, fetcher, taken).await;
        taken.items.push(item);
    }
    for attachment in loose {
        if let AttachmentPlace::Path(path) = attachment.place {
            document(&folder.join(path), fetcher, taken).await;
        }
    }
}

/// The entry's metadata with the text of the best of its files that can be read.
async fn of_entry(
    entry: LibraryEntry,
    (origin, folder): (&str, &Path),
    share: Duration,
    fetcher: &Fetcher,
    taken: &mut Taken,
) -> Item {
    let LibraryEntry { paper, entry_key, collections: _, tags: _, attachments, odd } = entry;
    let name = match entry_key {
        Some(key) => format!("{origin}:{key}"),
        None => format!("{origin}:{}", paper.meta.id),
    };
    for clause in odd {
        taken.note(NoticeKind::Skipped, format!("{name}: {clause}"), None);
    }
    let mut item = Item {
        origin: name,
        path: None,
        format: "library".to_owned(),
        standing: 3,
        paper,
        references: Vec::new(),
        matched: 0,
        cost: (0, share),
    };
    for Attachment { place, mime: _ } in attachments {
        let AttachmentPlace::Path(path) = place else { continue };
        let path = folder.join(path);
        match read_document(&path, fetcher).await {
            Ok(Read { item: read, notices }) => {
                taken.notices.extend(notices);
                if read.standing < item.standing {
                    item.standing = read.standing;
                    item.format = format!("library + {}", read.format);
                    item.references = read.references;
                    item.cost = (read.cost.0, read.cost.1 + share);
                    scholar_pipeline::sources::merge_meta(
                        &mut item.paper.meta,
                        without_local(read.paper.meta),
                    );
                    item.paper.sections = read.paper.sections;
                    item.paper.references = read.paper.references;
                }
            }
            Err(Failure { why, hint }) => {
                let message =
                    format!("{}: its file {} was left out: {why}", item.origin, path.display());
                taken.note(NoticeKind::Skipped, message, hint.as_deref());
            }
        }
    }
    item
}

/// A file's own `local:` name says nothing about a paper that a library names.
fn without_local(mut meta: scholar_core::PaperMeta) -> scholar_core::PaperMeta {
    use scholar_core::PaperId;
    if matches!(meta.id, PaperId::Local(_)) && !meta.external_ids.is_empty() {
        meta.id = meta.external_ids.remove(0);
    }
    meta
}

struct Read {
    item: Item,
    notices: Vec<Notice>,
}

pub(super) struct Failure {
    pub(super) why: String,
    pub(super) hint: Option<String>,
}

impl From<FormatError> for Failure {
    fn from(error: FormatError) -> Self {
        Self { why: error.to_string(), hint: error.hint }
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self { why: error.to_string(), hint: None }
    }
}

async fn read_document(path: &Path, fetcher: &Fetcher) -> Result<Read, Failure> {
    let began = Instant::now();
    let limits = ReadLimits::default();
    let bytes = bounded(path, limits)?;
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let format = DocumentFormat::sniff(&name, &bytes).ok_or_else(|| Failure {
        why: "it is no document of a known format".to_owned(),
        hint: Some("JATS, TEI, LaTeXML HTML, PDF, Markdown and plain text are read".to_owned()),
    })?;
    let size = bytes.len() as u64;
    let (document, format_name) =
        if format == DocumentFormat::Pdf && fetcher.config().base_url(Provider::Grobid).is_some() {
            through_grobid(&name, bytes, fetcher).await?
        } else {
            (blocking(format, bytes, limits).await?, format.name().to_owned())
        };
    let Document { paper, references, notices } = document;
    let standing = match format {
        DocumentFormat::Jats | DocumentFormat::Tei | DocumentFormat::LatexmlHtml => 0,
        DocumentFormat::Markdown | DocumentFormat::Text => 1,
        DocumentFormat::Pdf => 2,
    };
    let item = Item {
        origin: path.display().to_string(),
        path: Some(path.to_owned()),
        format: format_name,
        standing,
        paper,
        references,
        matched: 0,
        cost: (size, began.elapsed()),
    };
    Ok(Read { item, notices })
}

/// Parsing is work of the processor: it must not hold up the threads that speak to servers.
pub(super) async fn blocking(
    format: DocumentFormat,
    bytes: Vec<u8>,
    limits: ReadLimits,
) -> Result<Document, Failure> {
    let read = tokio::task::spawn_blocking(move || document::read(format, &bytes, limits));
    match read.await {
        Ok(result) => Ok(result?),
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
    fetcher: &Fetcher,
) -> Result<(Document, String), Failure> {
    let limits = ReadLimits::default();
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

fn read_library(path: &Path) -> Result<Library, Failure> {
    let mut head = [0_u8; 16];
    let filled = {
        use std::io::Read as _;
        fs_err::File::open(path)?.read(&mut head)?
    };
    if LibraryFormat::sniff("", &head[..filled]) == Some(LibraryFormat::ZoteroDatabase) {
        return Ok(zotero::read_database(path)?);
    }
    let bytes = bounded(path, ReadLimits::default())?;
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let format = LibraryFormat::sniff(&name, &bytes).ok_or_else(|| Failure {
        why: "it is no library of a known format".to_owned(),
        hint: Some(
            "BibTeX, RIS, CSL-JSON and Zotero's database are read; rows of papers end in .jsonl"
                .to_owned(),
        ),
    })?;
    Ok(library::read(format, &bytes)?)
}

/// The file's bytes, unless it is larger than any paper.
fn bounded(path: &Path, limits: ReadLimits) -> Result<Vec<u8>, Failure> {
    let size = fs_err::metadata(path)?.len();
    if size > limits.bytes as u64 {
        return Err(Failure {
            why: format!("its {size} bytes are more than the {} allowed", limits.bytes),
            hint: None,
        });
    }
    Ok(fs_err::read(path)?)
}
