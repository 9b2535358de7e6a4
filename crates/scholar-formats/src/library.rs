//! Lists of papers: `BibTeX` and `BibLaTeX`, RIS, CSL-JSON, Zotero's database and the answers of its interface.
//!
//! A list is never refused for one bad entry: what could be read is read, and each entry that was skipped is a notice
//! with its place and the reason. Nothing is invented: an entry without an identifier gets a `local:` one made of its
//! key and content, the same on every run.

mod bibtex;
mod csl;
mod dates;
pub mod duplicates;
mod ids;
pub mod matching;
pub mod printed;
mod record;
mod ris;
pub mod works;
pub mod zotero;

use std::collections::BTreeMap;
use std::path::PathBuf;

use scholar_core::{Notice, NoticeKind, Paper, PaperId};

use crate::encoding;
use crate::error::FormatError;

pub(crate) use record::Record;

/// Largest list in bytes: no collection of references is larger.
const LIST_BYTES: usize = 256_000_000;

/// Most notices about single entries; the rest is counted in one more.
const NOTICES: usize = 50;

/// Most files, tags or collections of a paper whose entries are joined: each is compared with those before it.
const MOST_JOINED: usize = 1_000;

/// What a list of papers is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LibraryFormat {
    /// `BibTeX` and `BibLaTeX`.
    Bibtex,
    /// RIS.
    Ris,
    /// CSL-JSON.
    CslJson,
    /// Items as Zotero's interface answers them: an array of objects with `data`.
    ZoteroJson,
    /// Zotero's `SQLite` database, which [`zotero::read_database`] reads from its path.
    ZoteroDatabase,
}

/// Where an attached file is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AttachmentPlace {
    /// A file, absolute or relative to the list's folder, as the list states it: it may name anything.
    Path(PathBuf),
    /// Address that the library states for the file.
    Url(String),
}

/// A file that belongs to a paper.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attachment {
    /// Path or address, as the list states it.
    pub place: AttachmentPlace,
    /// Its media type, stated or told by the ending of its name.
    pub mime: Option<String>,
}

/// One paper of a list.
#[derive(Debug, Clone, PartialEq)]
pub struct LibraryEntry {
    /// Metadata, and the abstract as its only section where the list has one.
    pub paper: Paper,
    /// Whether its list of authors ends in `and others`, so that a whole one is better.
    pub authors_cut: bool,
    /// Citation key, or Zotero's key of the item.
    pub entry_key: Option<String>,
    /// Collections it lies in, nested ones as `outer/inner`.
    pub collections: Vec<String>,
    /// Its tags or keywords.
    pub tags: Vec<String>,
    /// Files that the library holds for the entry, in its order.
    pub attachments: Vec<Attachment>,
    /// What was odd: clauses about fields that could not be used.
    pub odd: Vec<String>,
}

/// A list of papers as far as it could be read.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Library {
    /// The papers, in the order of the list.
    pub entries: Vec<LibraryEntry>,
    /// Files that belong to no paper: they have no metadata but what they state themselves.
    pub loose: Vec<Attachment>,
    /// How many entries could not be read.
    pub skipped: usize,
    /// Which entries were skipped or joined, and why.
    pub notices: Vec<Notice>,
}

impl LibraryFormat {
    /// Recognises a list by its bytes; the name decides only where the bytes leave it open.
    pub fn sniff(name: &str, bytes: &[u8]) -> Option<Self> {
        if bytes.starts_with(b"SQLite format 3\0") {
            return Some(Self::ZoteroDatabase);
        }
        let head = String::from_utf8_lossy(&bytes[..bytes.len().min(65_536)]);
        let head = head.trim_start_matches('\u{feff}').trim_start();
        let name = name.to_ascii_lowercase();
        if head.starts_with("TY  -") || (name.ends_with(".ris") && head.contains("TY  -")) {
            return Some(Self::Ris);
        }
        if head.starts_with(['[', '{']) {
            if head.contains("\"itemType\"") {
                return Some(Self::ZoteroJson);
            }
            let csl = ["\"container-title\"", "\"issued\"", "\"date-parts\"", "\"family\""];
            return csl.iter().any(|field| head.contains(field)).then_some(Self::CslJson);
        }
        bibtex::looks_like(head, &name).then_some(Self::Bibtex)
    }
}

/// Reads a list of papers.
///
/// # Errors
/// When the bytes are not of this format at all or beyond every limit; single bad entries are notices.
pub fn read(format: LibraryFormat, bytes: &[u8]) -> Result<Library, FormatError> {
    let text = |name| encoding::decode(bytes, LIST_BYTES, name);
    match format {
        LibraryFormat::Bibtex => Ok(bibtex::read(&text("BibTeX")?)),
        LibraryFormat::Ris => Ok(ris::read(&text("RIS")?)),
        LibraryFormat::CslJson => csl::read(&text("CSL-JSON")?.text),
        LibraryFormat::ZoteroJson => zotero::read_json(&text("Zotero JSON")?.text, "[]"),
        LibraryFormat::ZoteroDatabase => Err(FormatError::new(
            crate::FormatErrorKind::Unsupported,
            "Zotero database",
            "a database is read from its path",
        )
        .with_hint("name the file zotero.sqlite itself")),
    }
}

impl Library {
    /// Keeps what lies in `collection` (`outer/inner`, any case) or below it.
    pub fn keep_collection(&mut self, collection: &str) {
        let wanted = collection.trim_matches('/').to_lowercase();
        let within = |path: &String| {
            path.to_lowercase()
                .strip_prefix(&wanted)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        self.entries.retain(|entry| entry.collections.iter().any(within));
        self.loose.clear();
    }
}

/// Takes records in, joins those of one paper, and keeps count of what was lost.
#[derive(Default)]
pub(crate) struct Collector {
    library: Library,
    by_id: BTreeMap<PaperId, usize>,
    unlisted: usize,
}

impl Collector {
    /// A record, and where it stands in the list.
    pub(crate) fn take(&mut self, record: Record, at: &str) {
        let entry = match record.into_entry() {
            Ok(entry) => entry,
            Err(why) => return self.skip(at, &why),
        };
        match self.by_id.get(&entry.paper.meta.id) {
            Some(&known) => {
                self.notice(format!(
                    "{at} is the same paper as an entry before it ({}); the two were joined",
                    entry.paper.meta.id
                ));
                join(&mut self.library.entries[known], entry);
            }
            None => {
                self.by_id.insert(entry.paper.meta.id.clone(), self.library.entries.len());
                self.library.entries.push(entry);
            }
        }
    }

    /// An entry that cannot be used.
    pub(crate) fn skip(&mut self, at: &str, why: &str) {
        self.library.skipped += 1;
        self.notice(format!("{at} was skipped: {why}"));
    }

    /// A file without a paper.
    pub(crate) fn loose(&mut self, attachment: Attachment) {
        self.library.loose.push(attachment);
    }

    /// Something a person should know, which is one of possibly very many.
    pub(crate) fn notice(&mut self, message: String) {
        if self.library.notices.len() < NOTICES {
            self.library.notices.push(Notice::new(NoticeKind::Skipped, message));
        } else {
            self.unlisted += 1;
        }
    }

    pub(crate) fn finish(mut self) -> Library {
        if self.unlisted > 0 {
            let message = format!("{} more entries were skipped or joined", self.unlisted);
            self.library.notices.push(Notice::new(NoticeKind::Skipped, message));
        }
        self.library
    }
}

/// The identifier a reader of a list files a paper under.
pub(crate) fn filed_first(ids: &[PaperId]) -> Option<&PaperId> {
    ids.iter().min_by_key(|id| record::rank(id))
}

/// What a second entry of the same paper knows beyond the first.
fn join(known: &mut LibraryEntry, other: LibraryEntry) {
    fn add<T: PartialEq>(into: &mut Vec<T>, more: Vec<T>) {
        for one in more {
            if into.len() < MOST_JOINED && !into.contains(&one) {
                into.push(one);
            }
        }
    }
    let (meta, more) = (&mut known.paper.meta, other.paper.meta);
    add(&mut meta.external_ids, more.external_ids);
    meta.year = meta.year.or(more.year);
    meta.published = meta.published.or(more.published);
    meta.venue = meta.venue.take().or(more.venue);
    meta.url = meta.url.take().or(more.url);
    meta.licence = meta.licence.take().or(more.licence);
    if meta.authors.is_empty() {
        meta.authors = more.authors;
    }
    if meta.title.is_empty() {
        meta.title = more.title;
    }
    if known.paper.sections.is_empty() {
        known.paper.sections = other.paper.sections;
    }
    add(&mut known.collections, other.collections);
    add(&mut known.tags, other.tags);
    add(&mut known.attachments, other.attachments);
}
