//! One entry of a list before it is a paper: what every format's reader fills in.

use std::path::{Path, PathBuf};

use jiff::civil::Date;
use scholar_core::paper::ABSTRACT_HEADING;
use scholar_core::text::hex;
use scholar_core::text::normalise::{nfc_single_spaced, title_key};
use scholar_core::{Paper, PaperId, PaperMeta, Retraction, Section};
use sha2::{Digest as _, Sha256};

use super::{Attachment, AttachmentPlace, LibraryEntry, ids};
use crate::names::Name;

/// Hexadecimal digits of the digest in a `local:` identifier without a key of its own, and beside a key.
const DIGEST_ALONE: usize = 16;
const DIGEST_BESIDE: usize = 8;

/// What a list says about one paper.
#[derive(Debug, Clone, Default)]
pub(crate) struct Record {
    pub(crate) key: Option<String>,
    /// The key is unique beyond this list, so that no digest is needed beside it.
    pub(crate) key_is_global: bool,
    pub(crate) ids: Vec<PaperId>,
    /// The identifier the paper was filed under where it came from, if that is known.
    pub(crate) filed_under: Option<PaperId>,
    pub(crate) title: String,
    pub(crate) authors: Vec<Name>,
    /// The list ends in `and others`.
    pub(crate) authors_cut: bool,
    pub(crate) year: Option<i16>,
    pub(crate) published: Option<Date>,
    pub(crate) venue: Option<String>,
    pub(crate) url: Option<String>,
    pub(crate) licence: Option<String>,
    pub(crate) abstract_text: Option<String>,
    pub(crate) retracted: bool,
    pub(crate) collections: Vec<String>,
    pub(crate) tags: Vec<String>,
    pub(crate) attachments: Vec<Attachment>,
    pub(crate) odd: Vec<String>,
}

impl Record {
    /// Adds an identifier that is not there yet.
    pub(crate) fn add_id(&mut self, id: PaperId) {
        if let Some(arxiv) = ids::arxiv_of_doi(&id) {
            self.add_id(arxiv);
        }
        if !self.ids.contains(&id) {
            self.ids.push(id);
        }
    }

    /// Adds identifiers that are not there yet.
    pub(crate) fn add_ids(&mut self, ids: impl IntoIterator<Item = PaperId>) {
        ids.into_iter().for_each(|id| self.add_id(id));
    }

    /// Adds what `parsed` holds, or says that field `field` holds no identifier.
    pub(crate) fn add_parsed(&mut self, parsed: Option<PaperId>, field: &str, value: &str) {
        match parsed {
            Some(id) => self.add_id(id),
            None => self.odd(format!("{field} {:?} is not an identifier", shortened(value))),
        }
    }

    /// Adds a DOI as lists write it: bare, with resolver, with `doi:`.
    pub(crate) fn add_doi(&mut self, field: &str, value: &str) {
        self.add_parsed(ids::doi(value), field, value);
    }

    /// An address: an identifier where it is one of a registry, else the paper's address. The first of several stays.
    pub(crate) fn add_url(&mut self, url: &str) {
        let url = url.trim();
        if !url.starts_with("http://") && !url.starts_with("https://") {
            if !url.is_empty() {
                self.odd(format!("address {:?} is not one of the web", shortened(url)));
            }
            return;
        }
        if let Some(id) = PaperId::from_url(url) {
            self.add_id(id);
        }
        if self.url.is_none() {
            self.url = Some(url.to_owned());
        }
    }

    /// Takes the date from a text, and notes when there is none in it.
    pub(crate) fn set_date(&mut self, field: &str, text: &str) {
        let when = super::dates::parse(text);
        if when.year.is_none() && !text.trim().is_empty() {
            self.odd(format!("{field} {:?} has no year", shortened(text)));
        }
        self.year = self.year.or(when.year);
        self.published = self.published.or(when.day);
    }

    /// Notes what could not be used.
    pub(crate) fn odd(&mut self, clause: String) {
        if self.odd.len() < 16 {
            self.odd.push(clause);
        }
    }

    /// The paper, or why there is none.
    ///
    /// # Errors
    /// The reason as a clause: the entry has neither a title nor an identifier.
    pub(crate) fn into_entry(mut self) -> Result<LibraryEntry, String> {
        let title = nfc_single_spaced(&self.title);
        if title.is_empty() && self.ids.is_empty() {
            return Err("it has neither a title nor an identifier".to_owned());
        }
        if title.is_empty() {
            self.odd("it has no title".to_owned());
        }
        let key = self.key.take().map(|key| nfc_single_spaced(&key)).filter(|key| !key.is_empty());
        let stated = key.as_deref().and_then(|key| key.parse().ok());
        for id in stated.iter().chain(&self.filed_under.clone()) {
            self.add_id(id.clone());
        }
        let mut known = std::mem::take(&mut self.ids);
        known.sort_by_key(rank);
        // Our own exports say under which identifier the paper was filed.
        let first = self.filed_under.take().or(stated);
        if let Some(at) = known.iter().position(|id| Some(id) == first.as_ref()) {
            known[..=at].rotate_right(1);
        }
        let mut known = known.into_iter();
        let id = known.next().unwrap_or_else(|| self.local_id(key.as_deref(), &title));
        let text = self.abstract_text.as_deref().map(nfc_single_spaced).unwrap_or_default();
        let filled = |text: Option<String>| {
            text.map(|text| nfc_single_spaced(&text)).filter(|text| !text.is_empty())
        };
        let mut meta = PaperMeta::new(id, title);
        meta.external_ids = known.collect();
        meta.authors = self.authors.iter().map(|name| nfc(&name.to_printed())).collect();
        meta.year = self.year;
        meta.published = self.published.filter(|day| self.year.is_none_or(|y| y == day.year()));
        meta.venue = filled(self.venue);
        meta.url = self.url;
        meta.licence = filled(self.licence);
        if self.retracted {
            meta.retraction = Retraction::Retracted;
        }
        let sections =
            if text.is_empty() { Vec::new() } else { vec![Section::new(ABSTRACT_HEADING, text)] };
        Ok(LibraryEntry {
            authors_cut: self.authors_cut,
            paper: Paper { meta, sections, references: Vec::new(), records: Vec::new() },
            entry_key: key,
            collections: self.collections,
            tags: self.tags,
            attachments: self.attachments,
            odd: self.odd,
        })
    }

    fn local_id(&self, key: Option<&str>, title: &str) -> PaperId {
        if let (Some(key), true) = (key, self.key_is_global) {
            return PaperId::Local(key.to_owned());
        }
        let year = self.year.map(|year| year.to_string()).unwrap_or_default();
        let first = self.authors.first().map(|name| title_key(&name.family)).unwrap_or_default();
        let mut hasher = Sha256::new();
        hasher.update(format!("{}\n{year}\n{first}", title_key(title)));
        let hex = hex(&hasher.finalize());
        PaperId::Local(match key {
            Some(key) => format!("{}-{}", key.replace(' ', "_"), &hex[..DIGEST_BESIDE]),
            None => hex[..DIGEST_ALONE].to_owned(),
        })
    }
}

/// Normal form C, keeping the no-break spaces that hold a name together.
fn nfc(text: &str) -> String {
    use unicode_normalization::UnicodeNormalization as _;
    text.nfc().collect()
}

/// Which identifier a paper is filed under: the registries that name most papers first. A DOI that an arXiv number
/// was made into says less than that number.
pub(crate) fn rank(id: &PaperId) -> u8 {
    match id {
        PaperId::Doi(_) if ids::arxiv_of_doi(id).is_some() => 2,
        PaperId::Doi(_) => 0,
        PaperId::Arxiv(_) => 1,
        PaperId::Pmid(_) => 3,
        PaperId::Pmcid(_) => 4,
        PaperId::Acl(_) => 5,
        PaperId::CorpusId(_) => 6,
        PaperId::OpenAlex(_) => 7,
        PaperId::Local(_) => 8,
    }
}

impl Attachment {
    /// An attachment at an address or a path; the media type is told by the name's ending where it is not stated.
    pub(crate) fn at(place: &str, mime: Option<&str>) -> Option<Self> {
        let place = place.trim();
        if place.is_empty() {
            return None;
        }
        let mime = mime
            .map(str::trim)
            .filter(|mime| mime.contains('/'))
            .map(str::to_ascii_lowercase)
            .or_else(|| mime_of(place).map(str::to_owned));
        let lower = place.to_ascii_lowercase();
        let place = if lower.starts_with("http://") || lower.starts_with("https://") {
            AttachmentPlace::Url(place.to_owned())
        } else if lower.starts_with("file://") {
            AttachmentPlace::Path(path_of_file_url(place))
        } else {
            AttachmentPlace::Path(PathBuf::from(place))
        };
        Some(Self { place, mime })
    }
}

/// Media type by the ending of a name.
fn mime_of(name: &str) -> Option<&'static str> {
    let name = name.split(['?', '#']).next().unwrap_or(name);
    let ending = Path::new(name).extension()?.to_str()?.to_ascii_lowercase();
    Some(match ending.as_str() {
        "pdf" => "application/pdf",
        "html" | "htm" => "text/html",
        "xml" | "nxml" => "application/xml",
        "txt" => "text/plain",
        "md" => "text/markdown",
        "epub" => "application/epub+zip",
        _ => return None,
    })
}

/// The path of `file:///a%20b`; the part of a drive (`/C:/x`) loses its slash.
fn path_of_file_url(url: &str) -> PathBuf {
    let rest = &url["file://".len()..];
    let rest = rest.strip_prefix("localhost").unwrap_or(rest);
    let mut bytes = Vec::with_capacity(rest.len());
    let mut left = rest.as_bytes();
    while let [first, tail @ ..] = left {
        let escaped = (*first == b'%')
            .then(|| std::str::from_utf8(tail.get(..2)?).ok())
            .flatten()
            .and_then(|hex| u8::from_str_radix(hex, 16).ok());
        bytes.push(escaped.unwrap_or(*first));
        left = if escaped.is_some() { &tail[2..] } else { tail };
    }
    let path = String::from_utf8_lossy(&bytes).into_owned();
    match path.as_bytes() {
        [b'/', drive, b':', ..] if drive.is_ascii_alphabetic() => PathBuf::from(&path[1..]),
        _ => PathBuf::from(path),
    }
}

/// A value as it is quoted in a clause.
pub(crate) fn shortened(value: &str) -> String {
    let mut text: String = value.trim().chars().take(60).collect();
    if text.len() < value.trim().len() {
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attachments_tell_paths_from_addresses() {
        let at = |place| Attachment::at(place, None).expect("a place");
        assert_eq!(
            at("file:///C:/My%20Papers/a.pdf").place,
            AttachmentPlace::Path("C:/My Papers/a.pdf".into())
        );
        assert_eq!(at("files/1/a.PDF").mime.as_deref(), Some("application/pdf"));
        assert_eq!(at("https://x.y/a.pdf?x=1").mime.as_deref(), Some("application/pdf"));
        assert_eq!(at("file:///a%2").place, AttachmentPlace::Path("/a%2".into()));
        assert_eq!(Attachment::at(" ", None), None);
    }

    #[test]
    fn local_identifiers_are_stable_and_distinct() {
        let record = |key: Option<&str>, title: &str| Record {
            key: key.map(str::to_owned),
            title: title.to_owned(),
            year: Some(2020),
            ..Record::default()
        };
        let id = |record: Record| record.into_entry().expect("an entry").paper.meta.id;
        assert_eq!(id(record(Some("a"), "T")), id(record(Some("a"), "t.")));
        assert_ne!(id(record(Some("a"), "T")), id(record(Some("a"), "U")));
        assert!(id(record(Some("smith 2020"), "T")).to_string().starts_with("local:smith_2020-"));
        assert!(record(Some("a"), " ").into_entry().is_err());
    }
}
