//! Papers: metadata, sections, references.

pub mod record;

use std::borrow::Cow;

use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use crate::ids::PaperId;
use crate::place::Place;
use record::SourceRecord;

/// What the registries know about corrections of a paper, the worse the greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Retraction {
    /// No registry was asked.
    #[default]
    Unknown,
    /// Asked, and nothing is recorded against it.
    Clean,
    /// A correction was published.
    Corrected,
    /// An expression of concern was published.
    Concern,
    /// The paper was retracted.
    Retracted,
}

impl Retraction {
    /// What happened to the paper, as the end of a sentence about it; `None` when nothing is known against it.
    pub fn happened(self) -> Option<&'static str> {
        match self {
            Self::Unknown | Self::Clean => None,
            Self::Corrected => Some("was corrected"),
            Self::Concern => Some("has an expression of concern"),
            Self::Retracted => Some("was retracted"),
        }
    }
}

/// What is known about a paper besides its text. Every field came from a source, never from a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PaperMeta {
    /// The identifier this datastore files it under.
    pub id: PaperId,
    /// The same paper in other registries.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub external_ids: Vec<PaperId>,
    /// Title, single-spaced, empty where no source states one.
    pub title: String,
    /// Authors in order, as printed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub authors: Vec<String>,
    /// Year of publication, where a source states it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub year: Option<i16>,
    /// Day of publication where a source states one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published: Option<Date>,
    /// Journal, conference or repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub venue: Option<String>,
    /// Page about the paper, where a source states one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// How often it was cited, where a source states it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub citation_count: Option<u32>,
    /// Licence of the text, as the source names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub licence: Option<String>,
    /// What registries record against the paper, as of when they were asked.
    #[serde(default)]
    pub retraction: Retraction,
}

impl PaperMeta {
    /// Metadata with nothing but an identifier and a title.
    pub fn new(id: PaperId, title: impl Into<String>) -> Self {
        Self {
            id,
            external_ids: Vec::new(),
            title: title.into(),
            authors: Vec::new(),
            year: None,
            published: None,
            venue: None,
            url: None,
            citation_count: None,
            licence: None,
            retraction: Retraction::Unknown,
        }
    }

    /// The title as it is shown: where no source states one, the identifier in brackets.
    pub fn display_title(&self) -> Cow<'_, str> {
        display_title(&self.title, &self.id)
    }

    /// All its identifiers, the one it is filed under first.
    pub fn ids(&self) -> impl Iterator<Item = &PaperId> + Clone {
        [&self.id].into_iter().chain(&self.external_ids)
    }

    /// The DOI among the identifiers, if any.
    pub fn doi(&self) -> Option<&str> {
        self.ids().find_map(|id| match id {
            PaperId::Doi(doi) => Some(doi.as_str()),
            _ => None,
        })
    }

    /// The stated address, else the one of the first registry that has one.
    pub fn link(&self) -> Option<String> {
        self.url.clone().or_else(|| self.ids().find_map(PaperId::url))
    }

    /// The latest day the paper can have appeared: the stated day, else 31 December of the year.
    pub fn latest_day(&self) -> Option<Date> {
        self.published.or_else(|| self.year.and_then(|year| Date::new(year, 12, 31).ok()))
    }
}

/// `title`, or where it is empty the identifier of its paper in brackets: an empty title is never shown.
pub fn display_title<'a>(title: &'a str, id: &PaperId) -> Cow<'a, str> {
    if title.trim().is_empty() { Cow::Owned(format!("[{id}]")) } else { Cow::Borrowed(title) }
}

/// A headed part of a paper. The abstract is the section with heading `Abstract`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Section {
    /// Heading as printed, empty when there is none.
    pub heading: String,
    /// Text with single spaces and no line breaks.
    pub text: String,
    /// Where the text stands on the page, in order, where the format tells.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub places: Vec<Place>,
}

impl Section {
    /// A section of which no page is known.
    pub fn new(heading: impl Into<String>, text: impl Into<String>) -> Self {
        Self { heading: heading.into(), text: text.into(), places: Vec::new() }
    }
}

/// A work: metadata, text in sections, and what it cites.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Paper {
    /// Everything but the text.
    pub meta: PaperMeta,
    /// The text in reading order, abstract first.
    pub sections: Vec<Section>,
    /// Papers it cites, as far as they are identified.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<PaperId>,
    /// What each source says about it, in order of precedence; empty for papers that came as rows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub records: Vec<SourceRecord>,
}

/// Heading that marks the abstract.
pub const ABSTRACT_HEADING: &str = "Abstract";

impl Paper {
    /// The abstract's text, if the paper has one.
    pub fn abstract_text(&self) -> Option<&str> {
        self.sections.iter().find(|s| s.heading == ABSTRACT_HEADING).map(|s| s.text.as_str())
    }

    /// The canonical text that passage spans point into: section texts joined by one blank line, without headings.
    pub fn text(&self) -> String {
        let texts: Vec<&str> = self.sections.iter().map(|s| s.text.as_str()).collect();
        texts.join(SECTION_BREAK)
    }
}

/// What separates two sections in [`Paper::text`].
pub const SECTION_BREAK: &str = "\n\n";
