//! One row of each format as a [`Paper`]. Texts are NFC with single spaces; an identifier is taken or refused, never made up.

use std::borrow::Cow;

use jiff::civil::Date;
use scholar_core::paper::ABSTRACT_HEADING;
use scholar_core::text::normalise::nfc_single_spaced;
use scholar_core::{Paper, PaperId, PaperMeta, Section};
use serde::Deserialize;
use serde_json::Value;

/// Our own format. Section texts are brought to the promised form, so that spans fit whoever wrote the file.
pub(crate) fn own(row: &[u8]) -> Result<Paper, String> {
    let mut paper: Paper = serde_json::from_slice(row).map_err(|error| error.to_string())?;
    for section in &mut paper.sections {
        section.text = nfc_single_spaced(&section.text);
    }
    paper.meta.title = nfc_single_spaced(&paper.meta.title);
    Ok(paper)
}

#[derive(Deserialize)]
struct Pes2oRow<'a> {
    #[serde(borrow)]
    id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    text: Option<Cow<'a, str>>,
    #[serde(borrow)]
    source: Option<Cow<'a, str>>,
    #[serde(borrow)]
    created: Option<Cow<'a, str>>,
    /// Of version 3.
    metadata: Option<Pes2oMetadata>,
}

#[derive(Deserialize)]
struct Pes2oMetadata {
    year: Option<Value>,
    title: Option<String>,
    oa_license: Option<String>,
    external_ids: Option<Vec<Pes2oExternalId>>,
}

#[derive(Deserialize)]
struct Pes2oExternalId {
    source: Option<String>,
    id: Option<String>,
}

/// Longest first line of a text without title that is taken for one, in bytes: a longer one is a paragraph.
const LONGEST_TITLE: usize = 300;

/// The title and the rest of peS2o's text: what stands before the first blank line is the title; else the row's own; else
/// the first of several lines. The title is not repeated in the rest.
fn title_and_text<'a>(text: &'a str, stated: Option<&'a str>) -> (&'a str, &'a str) {
    let text = text.trim_start_matches(['\n', '\r', ' ']);
    let stated = stated.filter(|title| !title.trim().is_empty());
    match (text.split_once("\n\n"), stated, text.split_once('\n')) {
        (Some((title, rest)), None, _) if title.len() <= LONGEST_TITLE => (title, rest),
        (Some((title, rest)), Some(_), _) => (title, rest),
        (None, Some(stated), _) => (stated, text),
        (_, None, Some((title, rest))) if title.len() <= LONGEST_TITLE => (title, rest),
        (_, None, _) => ("", text),
    }
}

/// peS2o: see [`title_and_text`]; then the abstract up to a blank line, then the body.
pub(crate) fn pes2o(row: &[u8]) -> Result<Paper, String> {
    let row: Pes2oRow<'_> = serde_json::from_slice(row).map_err(|error| error.to_string())?;
    let id = row.id.filter(|id| !id.is_empty()).ok_or("no \"id\"")?;
    let number: u64 = id.parse().map_err(|_| format!("id {id:?} is not a corpus id"))?;
    let text = row.text.filter(|text| !text.is_empty()).ok_or("no \"text\"")?;
    let source = row.source.unwrap_or_default();
    let metadata = row.metadata.unwrap_or(Pes2oMetadata {
        year: None,
        title: None,
        oa_license: None,
        external_ids: None,
    });
    let (title, rest) = title_and_text(&text, metadata.title.as_deref());
    let mut paper = paper(PaperId::CorpusId(number), title);
    // Values differ between versions (`s2ag`, `s2ag/train`, `pes2o/s2ag`), so they are searched.
    if source.contains("s2ag") {
        push_section(&mut paper, ABSTRACT_HEADING, rest);
    } else {
        let (summary, body) = rest.split_once("\n\n").unwrap_or((rest, ""));
        push_section(&mut paper, ABSTRACT_HEADING, summary);
        push_section(&mut paper, "", body);
    }
    let created = row.created.as_deref().and_then(|day| day.get(..10)).and_then(day);
    // An unknown date is written as year 1, a date known to the year as 1 January.
    let created = created.filter(|day| day.year() > 1);
    paper.meta.year = year(metadata.year.as_ref()).or_else(|| created.map(Date::year));
    paper.meta.published = created
        .filter(|day| (day.month(), day.day()) != (1, 1) && paper.meta.year == Some(day.year()));
    paper.meta.licence = metadata.oa_license.filter(|licence| !licence.is_empty());
    for Pes2oExternalId { source, id } in metadata.external_ids.into_iter().flatten() {
        let (Some(source), Some(id)) = (source, id) else { continue };
        let registry = match source.to_lowercase().as_str() {
            "doi" => "doi",
            "arxiv" => "arxiv",
            "pubmed" | "pmid" => "pmid",
            "pubmedcentral" | "pmcid" => "pmcid",
            "acl" => "acl",
            _ => continue,
        };
        paper.meta.external_ids.extend(format!("{registry}:{id}").parse::<PaperId>());
    }
    Ok(paper)
}

/// BEIR: the document's name is kept as a local identifier, beside what it says as a registry's.
pub(crate) fn beir(row: &Value) -> Result<Paper, String> {
    let id = match row.get("_id") {
        Some(Value::String(id)) if !id.is_empty() => id.clone(),
        Some(Value::Number(id)) => id.to_string(),
        _ => return Err("no \"_id\"".to_owned()),
    };
    let mut paper = paper(PaperId::Local(id.clone()), string(row, "title").unwrap_or_default());
    paper
        .meta
        .external_ids
        .extend(id.parse::<PaperId>().ok().filter(|other| *other != paper.meta.id));
    push_section(&mut paper, ABSTRACT_HEADING, string(row, "text").unwrap_or_default());
    if let Some(metadata) = row.get("metadata") {
        paper.meta.year = year(metadata.get("year"));
        paper.meta.venue = string(metadata, "venue").map(ToOwned::to_owned);
        paper.meta.authors = strings(metadata.get("authors"));
        paper.meta.citation_count = metadata
            .get("citation_count")
            .and_then(Value::as_u64)
            .and_then(|count| count.try_into().ok());
    }
    Ok(paper)
}

/// ACL Anthology.
pub(crate) fn acl(row: &Value) -> Result<Paper, String> {
    let id = string(row, "id").ok_or("no \"id\"")?;
    let mut paper = paper(PaperId::Acl(id.to_owned()), string(row, "title").ok_or("no \"title\"")?);
    paper.meta.external_ids.extend(doi_of(row));
    push_section(&mut paper, ABSTRACT_HEADING, string(row, "abstract").unwrap_or_default());
    paper.meta.authors = strings(row.get("authors"));
    paper.meta.year = year(row.get("year"));
    paper.meta.venue = string(row, "booktitle")
        .or_else(|| string(row, "journal"))
        .map(ToOwned::to_owned)
        .or_else(|| strings(row.get("venues")).first().cloned());
    Ok(paper)
}

/// arXiv metadata: authors are one text with commas.
pub(crate) fn arxiv(row: &Value) -> Result<Paper, String> {
    let id = string(row, "id").ok_or("no \"id\"")?;
    let id = PaperId::arxiv(id).map_err(|error| error.to_string())?;
    let mut paper = paper(id, string(row, "title").ok_or("no \"title\"")?);
    paper.meta.external_ids.extend(doi_of(row));
    push_section(&mut paper, ABSTRACT_HEADING, string(row, "abstract").unwrap_or_default());
    paper.meta.authors = match row.get("authors") {
        Some(Value::String(names)) => names
            .replace(" and ", ", ")
            .split(',')
            .map(nfc_single_spaced)
            .filter(|name| !name.is_empty())
            .collect(),
        other => strings(other),
    };
    paper.meta.published = string(row, "created").and_then(day);
    paper.meta.year = year(row.get("year")).or_else(|| paper.meta.published.map(Date::year));
    paper.meta.venue = Some("arXiv".to_owned());
    Ok(paper)
}

/// `PubMed` Central full text.
pub(crate) fn pmc(row: &Value) -> Result<Paper, String> {
    let id = string(row, "id").ok_or("no \"id\"")?;
    let id: PaperId =
        format!("pmcid:{id}").parse().map_err(|_| format!("{id:?} is not a PMC id"))?;
    let mut paper = paper(id, string(row, "title").ok_or("no \"title\"")?);
    paper.meta.external_ids.extend(doi_of(row));
    paper.meta.external_ids.extend(pmid_of(row));
    push_section(&mut paper, ABSTRACT_HEADING, string(row, "abstract").unwrap_or_default());
    for section in row.get("sections").and_then(Value::as_array).into_iter().flatten() {
        let heading = string(section, "title").unwrap_or_default();
        push_section(&mut paper, heading, string(section, "text").unwrap_or_default());
    }
    for cited in row.get("references").and_then(Value::as_array).into_iter().flatten() {
        paper.references.extend(doi_of(cited).or_else(|| pmid_of(cited)));
    }
    paper.meta.authors = strings(row.get("authors"));
    paper.meta.year = year(row.get("year"));
    paper.meta.venue = string(row, "journal").map(ToOwned::to_owned);
    paper.meta.licence = string(row, "license").map(ToOwned::to_owned);
    Ok(paper)
}

fn paper(id: PaperId, title: &str) -> Paper {
    let meta = PaperMeta::new(id, nfc_single_spaced(title));
    Paper { meta, sections: Vec::new(), references: Vec::new(), records: Vec::new() }
}

pub(crate) fn push_section(paper: &mut Paper, heading: &str, text: &str) {
    let text = nfc_single_spaced(text);
    if !text.is_empty() {
        paper.sections.push(Section::new(nfc_single_spaced(heading), text));
    }
}

fn string<'a>(row: &'a Value, key: &str) -> Option<&'a str> {
    row.get(key).and_then(Value::as_str).filter(|text| !text.is_empty())
}

fn strings(value: Option<&Value>) -> Vec<String> {
    value
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .map(nfc_single_spaced)
        .filter(|text| !text.is_empty())
        .collect()
}

fn doi_of(row: &Value) -> Option<PaperId> {
    string(row, "doi").and_then(|doi| PaperId::doi(doi).ok())
}

fn pmid_of(row: &Value) -> Option<PaperId> {
    string(row, "pmid").and_then(|pmid| pmid.parse().ok()).map(PaperId::Pmid)
}

/// A year as number or text.
pub(crate) fn year(value: Option<&Value>) -> Option<i16> {
    let year = match value? {
        Value::Number(number) => number.as_i64()?,
        Value::String(text) => text.trim().parse().ok()?,
        _ => return None,
    };
    valid_year(year)
}

/// A year within what calendars and typing errors allow.
pub(crate) fn valid_year(year: i64) -> Option<i16> {
    i16::try_from(year).ok().filter(|year| (1000..3000).contains(year))
}

pub(crate) fn day(text: &str) -> Option<Date> {
    text.parse().ok()
}
