//! Rows of the dumps, and one work made of them.
//!
//! Source: the public schema of the Semantic Scholar datasets (`papers`, `abstracts`, `citations`, `s2orc` of both
//! versions).

use std::borrow::Cow;

use scholar_core::paper::ABSTRACT_HEADING;
use scholar_core::text::normalise::nfc_single_spaced;
use scholar_core::{Paper, PaperId, PaperMeta};
use serde::Deserialize;
use serde_json::Value;

use super::spill::Record;
use crate::ingest::Format;
use crate::ingest::rows::{day, push_section, valid_year};

/// What a row belongs to.
pub(crate) enum Keys {
    Row(u64),
    Citation {
        citing: u64,
        cited: u64,
    },
    /// A citation of or by a work without a corpus id.
    Incomplete,
}

#[derive(Deserialize)]
struct CorpusId {
    corpusid: u64,
}

#[derive(Deserialize)]
struct Citation {
    citingcorpusid: Option<u64>,
    citedcorpusid: Option<u64>,
}

/// The corpus ids of a row.
pub(crate) fn keys(format: Format, row: &[u8]) -> Result<Keys, String> {
    let wrong = |error: serde_json::Error| error.to_string();
    if format == Format::S2Citations {
        let Citation { citingcorpusid, citedcorpusid } =
            serde_json::from_slice(row).map_err(wrong)?;
        return Ok(match (citingcorpusid, citedcorpusid) {
            (Some(citing), Some(cited)) => Keys::Citation { citing, cited },
            _ => Keys::Incomplete,
        });
    }
    let CorpusId { corpusid } = serde_json::from_slice(row).map_err(wrong)?;
    Ok(Keys::Row(corpusid))
}

#[derive(Deserialize)]
struct PaperRow<'a> {
    corpusid: u64,
    #[serde(borrow, default)]
    externalids: Option<ExternalIds<'a>>,
    #[serde(borrow, default)]
    url: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    title: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    authors: Option<Vec<Author<'a>>>,
    #[serde(borrow, default)]
    venue: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    journal: Option<Author<'a>>,
    #[serde(default)]
    year: Option<i64>,
    #[serde(default)]
    citationcount: Option<u32>,
    #[serde(borrow, default)]
    publicationdate: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct Author<'a> {
    #[serde(borrow, default)]
    name: Option<Cow<'a, str>>,
}

/// The dumps write these names in more than one case.
#[derive(Deserialize)]
struct ExternalIds<'a> {
    #[serde(borrow, default, alias = "doi")]
    #[serde(rename = "DOI")]
    doi: Option<Cow<'a, str>>,
    #[serde(borrow, default, alias = "arxiv", alias = "Arxiv")]
    #[serde(rename = "ArXiv")]
    arxiv: Option<Cow<'a, str>>,
    #[serde(borrow, default, alias = "pubmed", alias = "PubMedId")]
    #[serde(rename = "PubMed")]
    pubmed: Option<Cow<'a, str>>,
    #[serde(borrow, default, alias = "pubmedcentral")]
    #[serde(rename = "PubMedCentral")]
    pubmed_central: Option<Cow<'a, str>>,
    #[serde(borrow, default, alias = "acl")]
    #[serde(rename = "ACL")]
    acl: Option<Cow<'a, str>>,
}

impl ExternalIds<'_> {
    fn ids(&self) -> impl Iterator<Item = PaperId> {
        let Self { doi, arxiv, pubmed, pubmed_central, acl } = self;
        [("doi", doi), ("arxiv", arxiv), ("pmid", pubmed), ("pmcid", pubmed_central), ("acl", acl)]
            .into_iter()
            .filter_map(|(registry, id)| format!("{registry}:{}", id.as_deref()?).parse().ok())
    }
}

/// A row of `papers`: everything but the text.
pub(crate) fn paper_row(row: &[u8]) -> Result<Paper, String> {
    let row: PaperRow<'_> = serde_json::from_slice(row).map_err(|error| error.to_string())?;
    let title = nfc_single_spaced(row.title.as_deref().unwrap_or_default());
    let mut meta = PaperMeta::new(PaperId::CorpusId(row.corpusid), title);
    meta.external_ids = row.externalids.iter().flat_map(ExternalIds::ids).collect();
    meta.authors = row
        .authors
        .into_iter()
        .flatten()
        .filter_map(|author| author.name)
        .map(|name| nfc_single_spaced(&name))
        .filter(|name| !name.is_empty())
        .collect();
    meta.published = row.publicationdate.as_deref().and_then(day);
    meta.year =
        row.year.and_then(valid_year).or_else(|| meta.published.map(jiff::civil::Date::year));
    meta.venue = row
        .venue
        .or_else(|| row.journal?.name)
        .map(|venue| nfc_single_spaced(&venue))
        .filter(|venue| !venue.is_empty());
    meta.url = row.url.map(Cow::into_owned).filter(|url| !url.is_empty());
    meta.citation_count = row.citationcount;
    Ok(Paper { meta, sections: Vec::new(), references: Vec::new(), records: Vec::new() })
}

#[derive(Deserialize)]
struct AbstractRow<'a> {
    corpusid: u64,
    #[serde(rename = "abstract", borrow, default)]
    text: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    openaccessinfo: Option<OpenAccess<'a>>,
}

#[derive(Deserialize)]
struct OpenAccess<'a> {
    #[serde(borrow, default)]
    externalids: Option<ExternalIds<'a>>,
    #[serde(borrow, default)]
    license: Option<Cow<'a, str>>,
}

/// A row of `abstracts` without one of `papers`.
pub(crate) fn abstract_alone(row: &[u8]) -> Result<Paper, String> {
    let parsed: AbstractRow<'_> = serde_json::from_slice(row).map_err(|error| error.to_string())?;
    let mut paper = nameless(parsed.corpusid);
    add_abstract(&mut paper, row)?;
    Ok(paper)
}

fn add_abstract(paper: &mut Paper, row: &[u8]) -> Result<(), String> {
    let row: AbstractRow<'_> = serde_json::from_slice(row).map_err(|error| error.to_string())?;
    if let Some(text) = row.text.filter(|text| !text.trim().is_empty()) {
        // Cleaner than the one marked in the full text.
        let mut rest = std::mem::take(&mut paper.sections);
        rest.retain(|section| section.heading != ABSTRACT_HEADING);
        push_section(paper, ABSTRACT_HEADING, &text);
        paper.sections.extend(rest);
    }
    if let Some(access) = row.openaccessinfo {
        add_access(paper, &access);
    }
    Ok(())
}

fn add_access(paper: &mut Paper, access: &OpenAccess<'_>) {
    for id in access.externalids.iter().flat_map(ExternalIds::ids) {
        if !paper.meta.external_ids.contains(&id) {
            paper.meta.external_ids.push(id);
        }
    }
    let licence = access.license.as_deref().filter(|licence| !licence.is_empty());
    if paper.meta.licence.is_none() {
        paper.meta.licence = licence.map(str::to_owned);
    }
}

fn nameless(id: u64) -> Paper {
    let meta = PaperMeta::new(PaperId::CorpusId(id), "");
    Paper { meta, sections: Vec::new(), references: Vec::new(), records: Vec::new() }
}

/// A row of `s2orc` of either version without one of `papers`.
pub(crate) fn full_text(row: &[u8]) -> Result<Paper, String> {
    let CorpusId { corpusid } = serde_json::from_slice(row).map_err(|error| error.to_string())?;
    let mut paper = nameless(corpusid);
    add_full_text(&mut paper, row)?;
    Ok(paper)
}

/// Adds the sections of a full text; the first version keeps it under `content`, the second under `body`.
fn add_full_text(paper: &mut Paper, row: &[u8]) -> Result<(), String> {
    let row: Value = serde_json::from_slice(row).map_err(|error| error.to_string())?;
    let body =
        row.get("content").or_else(|| row.get("body")).ok_or("no \"content\" or \"body\"")?;
    let text = body.get("text").and_then(Value::as_str).unwrap_or_default();
    let annotated = Annotated::new(text, body.get("annotations").unwrap_or(&Value::Null));
    if paper.meta.title.is_empty() {
        let stated = row.get("title").and_then(Value::as_str);
        let title = stated.or_else(|| annotated.spans("title").first().map(|span| span.text));
        paper.meta.title = nfc_single_spaced(title.unwrap_or_default());
    }
    let access = row.get("openaccessinfo").or_else(|| body.pointer("/source/oainfo"));
    if let Some(access) = access.and_then(|access| OpenAccess::deserialize(access).ok()) {
        add_access(paper, &access);
    }
    if paper.abstract_text().is_none() {
        let parts: Vec<&str> = annotated.spans("abstract").iter().map(|span| span.text).collect();
        push_section(paper, ABSTRACT_HEADING, &parts.join(" "));
    }
    for (heading, text) in annotated.sections() {
        push_section(paper, heading, &text);
    }
    Ok(())
}

/// A text with places marked in it.
struct Annotated<'a> {
    text: &'a str,
    /// Byte offset of each character, and of the end.
    offsets: Vec<usize>,
    annotations: &'a Value,
}

struct Span<'a> {
    start: usize,
    end: usize,
    text: &'a str,
}

impl<'a> Annotated<'a> {
    fn new(text: &'a str, annotations: &'a Value) -> Self {
        let offsets = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
        Self { text, offsets, annotations }
    }

    /// The marked places of one kind in order, in characters. The dumps write each list as JSON inside a string;
    /// places outside of the text are left out.
    fn spans(&self, kind: &str) -> Vec<Span<'a>> {
        let parsed = match self.annotations.get(kind) {
            Some(Value::String(list)) => serde_json::from_str(list).unwrap_or(Value::Null),
            Some(list) => list.clone(),
            None => Value::Null,
        };
        let place = |mark: &Value, key: &str| -> Option<usize> {
            let value = mark.get(key)?;
            let number = value.as_u64().or_else(|| value.as_str()?.parse().ok())?;
            usize::try_from(number).ok()
        };
        let mut spans: Vec<Span<'a>> = parsed
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|mark| {
                let (start, end) = (place(mark, "start")?, place(mark, "end")?);
                let text = self.text.get(*self.offsets.get(start)?..*self.offsets.get(end)?)?;
                Some(Span { start, end, text })
            })
            .collect();
        spans.sort_by_key(|span| (span.start, span.end));
        spans
    }

    /// Paragraphs under their headings, without the abstract; the whole text where no paragraph is marked.
    fn sections(&self) -> Vec<(&'a str, String)> {
        let (headings, summary) = (self.spans("sectionheader"), self.spans("abstract"));
        let paragraphs = self.spans("paragraph");
        if paragraphs.is_empty() {
            return vec![("", self.text.to_owned())];
        }
        let mut sections: Vec<(&'a str, String)> = Vec::new();
        let mut under = None;
        for paragraph in paragraphs {
            let inside =
                |other: &Span<'_>| other.start <= paragraph.start && paragraph.end <= other.end;
            if summary.iter().any(inside) {
                continue;
            }
            let heading = headings.iter().rposition(|heading| heading.start <= paragraph.start);
            match sections.last_mut() {
                Some((_, text)) if heading == under => {
                    text.push(' ');
                    text.push_str(paragraph.text);
                }
                _ => {
                    let name = heading.map_or("", |at| headings[at].text);
                    sections.push((name, paragraph.text.to_owned()));
                }
            }
            under = heading;
        }
        sections
    }
}

/// The rows of one corpus id.
#[derive(Default)]
pub(crate) struct Parts<'a> {
    paper: Option<Record<'a>>,
    summary: Option<Record<'a>>,
    full_text: Option<Record<'a>>,
    pub(crate) cited: Vec<u64>,
}

impl<'a> Parts<'a> {
    /// Files a row; a later row of the same kind replaces an earlier one, as a later release does.
    pub(crate) fn take(&mut self, record: Record<'a>) {
        match record.format {
            Format::S2Citations => {
                self.cited.extend(<[u8; 8]>::try_from(record.row).map(u64::from_le_bytes));
            }
            Format::S2Abstracts => self.summary = Some(record),
            Format::S2Orc => self.full_text = Some(record),
            _ => self.paper = Some(record),
        }
    }

    pub(crate) fn only_citations(&self) -> bool {
        self.paper.is_none() && self.summary.is_none() && self.full_text.is_none()
    }

    /// File, line and text of the row that stands for the work in the log of rejects.
    pub(crate) fn origin(&self) -> Option<(u32, u64, &'a [u8])> {
        let record = self.paper.as_ref().or(self.summary.as_ref()).or(self.full_text.as_ref())?;
        Some((record.file, record.line, record.row))
    }

    /// The work.
    pub(crate) fn paper(self, id: u64) -> Result<Paper, String> {
        let Self { paper, summary, full_text, mut cited } = self;
        let mut work = match paper {
            Some(record) => paper_row(record.row)?,
            None => nameless(id),
        };
        if let Some(record) = full_text {
            add_full_text(&mut work, record.row)?;
        }
        if let Some(record) = summary {
            add_abstract(&mut work, record.row)?;
        }
        if work.meta.title.is_empty() && work.sections.is_empty() {
            return Err("neither title nor text in any file".to_owned());
        }
        cited.sort_unstable();
        cited.dedup();
        work.references = cited.into_iter().map(PaperId::CorpusId).collect();
        Ok(work)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_texts_of_both_versions_come_in_sections() {
        let text = "Ti\u{e9} An abstract. Intro First one. Second one. Methods Third.";
        let mark = |part: &str| {
            let byte = text.find(part).expect("inside");
            let start = text[..byte].chars().count();
            serde_json::json!({"start": start.to_string(), "end": start + part.chars().count()})
        };
        let list = |parts: &[&str]| {
            Value::Array(parts.iter().map(|part| mark(part)).collect()).to_string()
        };
        let annotations = serde_json::json!({
            "title": list(&["Ti\u{e9}"]),
            "abstract": list(&["An abstract."]),
            "sectionheader": list(&["Intro", "Methods"]),
            "paragraph": list(&["An abstract.", "First one.", "Second one.", "Third."]),
            "figure": null,
        });
        let body = serde_json::json!({"text": text, "annotations": annotations});
        let expect = [
            ("Abstract", "An abstract."),
            ("Intro", "First one. Second one."),
            ("Methods", "Third."),
        ];
        for row in [
            serde_json::json!({"corpusid": 7, "content": body}),
            serde_json::json!({"corpusid": 7, "title": "Ti\u{e9}", "body": body}),
        ] {
            let paper = full_text(row.to_string().as_bytes()).expect("a paper");
            assert_eq!(paper.meta.title, "Ti\u{e9}");
            let found: Vec<(&str, &str)> =
                paper.sections.iter().map(|s| (s.heading.as_str(), s.text.as_str())).collect();
            assert_eq!(found, expect);
        }
        let bare =
            serde_json::json!({"corpusid": 7, "body": {"text": "all  of it", "annotations": {}}});
        let paper = full_text(bare.to_string().as_bytes()).expect("a paper");
        assert_eq!(paper.sections[0].text, "all of it");
        let beyond = serde_json::json!({"corpusid": 7, "body": {"text": "x", "annotations":
            {"paragraph": "[{\"start\": 0, \"end\": 99}]"}}});
        assert_eq!(
            full_text(beyond.to_string().as_bytes()).expect("a paper").sections[0].text,
            "x"
        );
    }
}
