//! What each source says about a paper, so that metadata can be merged field by field and nothing is discarded.
//!
//! A paper of a researcher's own library has one record for each library entry, registry and file that knows it. Its
//! metadata are merged from them, its text is that of the best of them; a record that is taken away takes with it only
//! what it brought. Papers that came from one place as rows (dumps, collections) have no records.

mod merge;

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use super::{PaperMeta, Section};
use crate::ids::PaperId;
pub use merge::{FieldSource, OtherValue, put_records};

/// One entry of a paper's list of references.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PrintedReference {
    /// The entry as printed, single-spaced.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// Title, where the format tells it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Year, where the format tells it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub year: Option<i16>,
    /// Surname of the first author, where the format tells it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_author: Option<String>,
    /// DOI, arXiv id and others that the entry states, in its order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ids: Vec<PaperId>,
}

/// A field of [`PaperMeta`] that sources state apart from each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MetaField {
    /// [`PaperMeta::title`].
    Title,
    /// [`PaperMeta::authors`].
    Authors,
    /// [`PaperMeta::year`] and [`PaperMeta::published`].
    Year,
    /// [`PaperMeta::venue`].
    Venue,
    /// [`PaperMeta::id`] and [`PaperMeta::external_ids`].
    Identifiers,
}

/// Where in a document a field of its metadata was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MetaOrigin {
    /// Markup that names the field (JATS, TEI, LaTeXML's HTML, the front matter of Markdown).
    Markup,
    /// Words on the first pages.
    Page,
    /// The line above or below the text of a page: journal, volume, year.
    RunningHead,
    /// The line that arXiv prints in the margin.
    MarginStamp,
    /// XMP metadata in a PDF.
    Xmp,
    /// The document information dictionary of a PDF.
    Info,
}

/// How sure a reader of pages is of a field. docs/results/metadata.md has the share of right fields at each level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    /// One sign, and others are missing or contradict it.
    Low,
    /// The usual signs, without a second source.
    Medium,
    /// Markup that names the field, or signs that agree.
    High,
}

/// Where a field of a document's metadata comes from, and how sure that is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FieldOrigin {
    /// Where it was read.
    pub origin: MetaOrigin,
    /// How sure the reader is of it.
    pub confidence: Confidence,
}

/// Who states a record.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum RecordSource {
    /// An entry of a library that a person keeps: BibTeX, RIS, CSL-JSON, Zotero.
    Library {
        /// Path of the library's file, or `zotero`.
        library: String,
        /// Citation key or Zotero's key of the item.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        key: Option<String>,
        /// Files that the entry names, absolute, whether they were read or not.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        files: Vec<PathBuf>,
    },
    /// Registries, named as they name themselves: Crossref, OpenAlex, Semantic Scholar.
    Registry {
        /// Their names, `Crossref + OpenAlex`.
        names: String,
        /// What they were asked for.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        asked: Option<PaperId>,
    },
    /// Rows of papers that were stored without records: a dump, a collection.
    Collection {
        /// Its name, as the datastore knows it.
        name: String,
    },
    /// A document.
    File(SourceFile),
}

/// A file that a paper was read from.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SourceFile {
    /// Where it lies, absolute.
    pub path: PathBuf,
    /// SHA-256 of its bytes, in hexadecimal digits.
    pub sha256: String,
    /// Its size.
    pub bytes: u64,
    /// When it was last changed, in seconds since 1970, where the file system says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modified: Option<i64>,
    /// What it was read as: `PDF`, `JATS` …
    pub format: String,
}

/// What one source says about a paper.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SourceRecord {
    /// Who says it.
    pub source: RecordSource,
    /// The metadata as this source states them.
    pub meta: PaperMeta,
    /// Where in a document they were read.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub fields: BTreeMap<MetaField, FieldOrigin>,
    /// When the file says that it was made, which is not when the paper was published.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_date: Option<Date>,
    /// Whether the paper has the text of this record.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_text: bool,
    /// The text that this source brought; of the record whose text the paper has it is with the paper.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sections: Vec<Section>,
    /// The list of references as printed, matched or not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<PrintedReference>,
    /// References that the source identifies.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cited: Vec<PaperId>,
    /// Papers that a person said are another work than this.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub distinct_from: Vec<PaperId>,
}

impl SourceRecord {
    /// A record with metadata alone.
    pub fn new(source: RecordSource, meta: PaperMeta) -> Self {
        Self {
            source,
            meta,
            fields: BTreeMap::new(),
            file_date: None,
            has_text: false,
            sections: Vec::new(),
            references: Vec::new(),
            cited: Vec::new(),
            distinct_from: Vec::new(),
        }
    }
}

impl RecordSource {
    /// The file, if it is one.
    pub fn file(&self) -> Option<&SourceFile> {
        match self {
            Self::File(file) => Some(file),
            Self::Library { .. } | Self::Registry { .. } | Self::Collection { .. } => None,
        }
    }

    /// The citation key, if it is a library's entry that has one.
    pub fn key(&self) -> Option<&str> {
        match self {
            Self::Library { key, .. } => key.as_deref(),
            Self::File(_) | Self::Registry { .. } | Self::Collection { .. } => None,
        }
    }

    /// Paths that lead to the paper: of the file, or of those that the library's entry names.
    pub fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        let (own, named) = match self {
            Self::File(file) => (Some(&file.path), [].as_slice()),
            Self::Library { files, .. } => (None, files.as_slice()),
            Self::Registry { .. } | Self::Collection { .. } => (None, [].as_slice()),
        };
        own.into_iter().chain(named)
    }

    /// Whether both are one entry, one file or the same registries: the later of two such records takes the place of the
    /// earlier.
    pub fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::File(one), Self::File(other)) => one.path == other.path,
            (Self::Registry { asked: one, .. }, Self::Registry { asked: other, .. }) => {
                one == other
            }
            (
                Self::Library { library: one, key: one_key, .. },
                Self::Library { library: other, key: other_key, .. },
            ) => one == other && one_key.is_some() && one_key == other_key,
            (one, other) => one == other,
        }
    }
}

impl fmt::Display for RecordSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Library { library, key: Some(key), .. } => write!(f, "{library}:{key}"),
            Self::Library { library, key: None, .. } => f.write_str(library),
            Self::Registry { names, .. } => f.write_str(names),
            Self::Collection { name } => f.write_str(name),
            Self::File(file) => write!(f, "{}", file.path.display()),
        }
    }
}
