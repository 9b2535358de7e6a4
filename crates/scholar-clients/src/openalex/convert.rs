//! OpenAlex's works as papers.

use scholar_core::{Notice, Paper, PaperId};
use scholar_formats::openalex::OpenAlexRecord;

use super::wire::Page;
use crate::open_access::{OpenHost, OpenLocation, web_address};
use crate::parse::{ReplyError, add_id, json, plain, rows, value};

const WHO: &str = "OpenAlex";

/// A work: the paper and where it can be read.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenAlexWork {
    /// Metadata, abstract, and references as OpenAlex ids.
    pub paper: Paper,
    /// Open copies, OpenAlex's choice first.
    pub open: Vec<OpenLocation>,
}

/// One page of a list of works.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenAlexPage {
    /// The works that could be read, in order.
    pub works: Vec<OpenAlexWork>,
    /// How many works match in all.
    pub count: u64,
    /// Where the next page begins, if there is one.
    pub next_cursor: Option<String>,
    /// Works that could not be read.
    pub notices: Vec<Notice>,
}

/// Reads a page of works.
///
/// # Errors
/// [`ReplyError::Shape`] when the page, or every work on it, does not have the promised shape.
pub fn page(bytes: &[u8]) -> Result<OpenAlexPage, ReplyError> {
    let page: Page = json(bytes)?;
    let (works, notices) =
        rows(WHO, page.results, |row| value::<OpenAlexRecord<'_>>(row).and_then(work))?;
    let next_cursor = page.meta.next_cursor.filter(|cursor| !cursor.is_empty());
    Ok(OpenAlexPage { works, count: page.meta.count, next_cursor, notices })
}

/// Reads a single work.
///
/// # Errors
/// [`ReplyError::Shape`] when it does not have the promised shape.
pub fn single(bytes: &[u8]) -> Result<OpenAlexWork, ReplyError> {
    work(json(bytes)?).map_err(ReplyError::Shape)
}

/// What a dump's reader leaves out: markup goes, and copies elsewhere name the work, too.
fn work(work: OpenAlexRecord<'_>) -> Result<OpenAlexWork, String> {
    let Paper { mut meta, mut sections, references, records: _ } = work.paper()?;
    meta.title = plain(&meta.title);
    for section in &mut sections {
        section.text = plain(&section.text);
    }
    sections.retain(|section| !section.text.is_empty());
    for id in std::mem::take(&mut meta.external_ids) {
        add_id(&mut meta, id);
    }
    // Copies in arXiv and PMC are the same work, by OpenAlex's own reckoning.
    let copies =
        work.locations().flat_map(|location| [&location.landing_page_url, &location.pdf_url]);
    for id in copies.flatten().filter_map(|address| PaperId::from_url(address)) {
        if matches!(id, PaperId::Arxiv(_) | PaperId::Pmcid(_) | PaperId::Pmid(_) | PaperId::Acl(_))
        {
            add_id(&mut meta, id);
        }
    }
    let open = open_locations(&work);
    Ok(OpenAlexWork { paper: Paper { meta, sections, references, records: Vec::new() }, open })
}

fn open_locations(work: &OpenAlexRecord<'_>) -> Vec<OpenLocation> {
    let mut open: Vec<OpenLocation> = Vec::new();
    for location in work.locations().filter(|location| location.is_oa == Some(true)) {
        let kind = location.source.as_ref().and_then(|source| source.kind.as_deref());
        let found = OpenLocation {
            pdf: location.pdf_url.as_deref().and_then(web_address),
            page: location.landing_page_url.as_deref().and_then(web_address),
            licence: location.license.as_deref().map(str::to_owned),
            version: location.version.as_deref().map(str::to_owned),
            host: match kind {
                Some("repository") => Some(OpenHost::Repository),
                Some(_) => Some(OpenHost::Publisher),
                None => None,
            },
        };
        if (found.pdf.is_some() || found.page.is_some()) && !open.contains(&found) {
            open.push(found);
        }
    }
    open
}
