//! arXiv's Atom feeds as papers. Source: the arXiv API user's manual, and what the service has sent since.

use jiff::civil::Date;
use scholar_core::paper::ABSTRACT_HEADING;
use scholar_core::{Notice, Paper, PaperId, PaperMeta, Section};

use crate::parse::{ReplyError, add_id, day, rows};
use crate::xml::{self, Element};

/// A paper on arXiv.
#[derive(Debug, Clone, PartialEq)]
pub struct ArxivEntry {
    /// Metadata and abstract. The day is that of the first version.
    pub paper: Paper,
    /// Number of the version described, from 1.
    pub version: Option<u32>,
    /// Subjects, the primary one first.
    pub categories: Vec<String>,
    /// Where the authors say it was published, in their words.
    pub journal_ref: Option<String>,
    /// The authors' comment, such as page counts and venues.
    pub comment: Option<String>,
}

/// One page of entries.
#[derive(Debug, Clone, PartialEq)]
pub struct ArxivPage {
    /// The entries that could be read, in order.
    pub entries: Vec<ArxivEntry>,
    /// How many match in all.
    pub total: u64,
    /// Entries that could not be read.
    pub notices: Vec<Notice>,
}

/// Reads a feed.
///
/// # Errors
/// [`ReplyError::Refused`] for errors, which arXiv sends as entries of a feed; [`ReplyError::Shape`] for anything that
/// is not a feed of papers.
pub fn feed(bytes: &[u8]) -> Result<ArxivPage, ReplyError> {
    let tree = xml::parse(bytes)?;
    let root = xml::document(&tree);
    if root.name() != "feed" {
        return Err(ReplyError::Shape(format!(
            "the root element is {:?}, not a feed",
            root.name()
        )));
    }
    let total = root
        .text_of("totalResults")
        .and_then(|total| total.parse().ok())
        .ok_or_else(|| ReplyError::shape("the feed's `totalResults` is missing or no number"))?;
    let entries: Vec<Element<'_>> = root.all("entry").collect();
    for entry in &entries {
        let id = entry.text_of("id").unwrap_or_default();
        if id.contains("/api/errors") {
            let summary = entry.text_of("summary");
            return Err(ReplyError::Refused(summary.unwrap_or_else(|| "an error".to_owned())));
        }
    }
    let (entries, notices) = rows("arXiv", entries, paper)?;
    Ok(ArxivPage { entries, total, notices })
}

fn paper(entry: Element<'_>) -> Result<ArxivEntry, String> {
    let address = entry.text_of("id").ok_or("an entry has no `id`")?;
    let (_, id) = address
        .split_once("/abs/")
        .ok_or_else(|| format!("the field `id`: {address:?} is not an arXiv paper"))?;
    let (id, version) =
        PaperId::arxiv_with_version(id).map_err(|error| format!("the field `id`: {error}"))?;
    let title =
        entry.text_of("title").ok_or_else(|| format!("the entry {address:?} has no `title`"))?;
    let mut meta = PaperMeta::new(id.clone(), title);
    // Authors may name several DOIs; the journal's goes first, arXiv's own last.
    for doi in entry.text_of("doi").unwrap_or_default().split_whitespace() {
        if let Ok(doi) = PaperId::doi(doi) {
            add_id(&mut meta, doi);
        }
    }
    add_id(&mut meta, id);
    meta.authors = entry.all("author").filter_map(|author| author.text_of("name")).collect();
    meta.published = entry.text_of("published").and_then(|text| day(&text));
    if meta.published.is_none() {
        return Err(format!("the field `published` of {address:?} is missing or no date"));
    }
    meta.year = meta.published.map(Date::year);
    meta.venue = Some("arXiv".to_owned());
    let mut categories: Vec<String> = Vec::new();
    for category in entry.all("primary_category").chain(entry.all("category")) {
        let term = category.attribute("term").unwrap_or_default();
        if !term.is_empty() && !categories.iter().any(|known| known == term) {
            categories.push(term.to_owned());
        }
    }
    let text = entry.text_of("summary");
    let sections = text.into_iter().map(|text| Section::new(ABSTRACT_HEADING, text)).collect();
    Ok(ArxivEntry {
        paper: Paper { meta, sections, references: Vec::new(), records: Vec::new() },
        version,
        categories,
        journal_ref: entry.text_of("journal_ref"),
        comment: entry.text_of("comment"),
    })
}
