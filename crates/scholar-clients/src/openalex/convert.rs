//! OpenAlex's works as papers.

use scholar_core::paper::{ABSTRACT_HEADING, Retraction};
use scholar_core::text::normalise::nfc_single_spaced;
use scholar_core::{Notice, Paper, PaperId, PaperMeta, Section};

use super::wire::{Location, Page, Work};
use crate::open_access::{OpenHost, OpenLocation, web_address};
use crate::parse::{ReplyError, add_id, day, json, plain, rows, valid_year, value};

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
    let (works, notices) = rows(WHO, page.results, |row| value::<Work>(row).and_then(work))?;
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

fn work(work: Work) -> Result<OpenAlexWork, String> {
    let id = work_id(&work.id)
        .ok_or_else(|| format!("the field `id`: {:?} is not an OpenAlex work", work.id))?;
    let title = work.title.or(work.display_name).unwrap_or_default();
    let mut meta = PaperMeta::new(id, plain(&title));
    let all: Vec<&Location> = [&work.best_oa_location, &work.primary_location]
        .into_iter()
        .flatten()
        .chain(work.locations.iter().flatten())
        .collect();
    if let Some(doi) = work.doi.as_deref().and_then(|doi| PaperId::doi(doi).ok()) {
        add_id(&mut meta, doi);
    }
    if let Some(ids) = &work.ids {
        let last = |id: &Option<String>| {
            id.as_deref()?.trim_end_matches('/').rsplit('/').next().map(str::to_owned)
        };
        let pmid = last(&ids.pmid).and_then(|id| format!("pmid:{id}").parse().ok());
        let pmcid = last(&ids.pmcid).and_then(|id| PaperId::pmcid(&id).ok());
        for id in [pmid, pmcid].into_iter().flatten() {
            add_id(&mut meta, id);
        }
    }
    // Copies in arXiv and PMC are the same work, by OpenAlex's own reckoning.
    let copies = all.iter().flat_map(|location| [&location.landing_page_url, &location.pdf_url]);
    for id in copies.flatten().filter_map(|address| PaperId::from_url(address)) {
        if matches!(id, PaperId::Arxiv(_) | PaperId::Pmcid(_) | PaperId::Pmid(_) | PaperId::Acl(_))
        {
            add_id(&mut meta, id);
        }
    }
    meta.authors = work
        .authorships
        .into_iter()
        .flatten()
        .filter_map(|authorship| authorship.author?.display_name)
        .map(|name| nfc_single_spaced(&name))
        .filter(|name| !name.is_empty())
        .collect();
    meta.year = work.publication_year.and_then(valid_year);
    // 1 January stands for a year without a day.
    meta.published = work
        .publication_date
        .and_then(|date| day(&date))
        .filter(|day| (day.month(), day.day()) != (1, 1) && Some(day.year()) == meta.year);
    meta.citation_count = work.cited_by_count;
    meta.retraction = match work.is_retracted {
        Some(true) => Retraction::Retracted,
        Some(false) => Retraction::Clean,
        None => Retraction::Unknown,
    };
    let licence = |location: &Option<Location>| location.as_ref()?.license.clone();
    meta.licence = licence(&work.primary_location).or_else(|| licence(&work.best_oa_location));
    let open = open_locations(&all);
    meta.venue = work
        .primary_location
        .and_then(|location| location.source?.display_name)
        .map(|venue| nfc_single_spaced(&venue));
    let text = work.abstract_inverted_index.map(|inverted| plain(&inverted.0)).unwrap_or_default();
    let mut sections = Vec::new();
    if !text.is_empty() {
        sections.push(Section::new(ABSTRACT_HEADING, text));
    }
    let references =
        work.referenced_works.into_iter().flatten().filter_map(|id| work_id(&id)).collect();
    Ok(OpenAlexWork { paper: Paper { meta, sections, references }, open })
}

fn open_locations(all: &[&Location]) -> Vec<OpenLocation> {
    let mut open: Vec<OpenLocation> = Vec::new();
    for location in all.iter().filter(|location| location.is_oa == Some(true)) {
        let kind = location.source.as_ref().and_then(|source| source.kind.as_deref());
        let found = OpenLocation {
            pdf: location.pdf_url.as_deref().and_then(web_address),
            page: location.landing_page_url.as_deref().and_then(web_address),
            licence: location.license.clone(),
            version: location.version.clone(),
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

/// `https://openalex.org/W123` or `W123`.
fn work_id(text: &str) -> Option<PaperId> {
    let name = text.rsplit('/').next()?;
    name.starts_with(['W', 'w']).then(|| format!("openalex:{name}").parse().ok())?
}
