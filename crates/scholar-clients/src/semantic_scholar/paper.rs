//! From Semantic Scholar's papers to ours.

use std::ops::Range;

use jiff::civil::Date;
use scholar_core::paper::ABSTRACT_HEADING;
use scholar_core::text::normalise::single_spaced;
use scholar_core::{Notice, NoticeKind, Paper, PaperId, PaperMeta, Section};
use serde_json::Value;

use super::wire::{Named, WireAuthor, WireEdge, WireOpenAccess, WirePaper, WireSnippetHit};

/// A paper as Semantic Scholar knows it.
#[derive(Debug, Clone, PartialEq)]
pub struct S2Paper {
    /// Semantic Scholar's own identifier, 40 hexadecimal digits.
    pub paper_id: String,
    /// Metadata, and the abstract as a section where it may be shown.
    pub paper: Paper,
    /// How many papers it cites.
    pub reference_count: Option<u32>,
    /// By how many papers it is cited in an important place.
    pub influential_citation_count: Option<u32>,
    /// Where it can be read freely, if anything is said about that.
    pub open_access: Option<OpenAccess>,
    /// How well it matches a title; title match only.
    pub match_score: Option<f64>,
}

/// What is said about free copies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenAccess {
    /// Address of a PDF or landing page.
    pub url: Option<String>,
    /// `GOLD`, `GREEN`, `HYBRID`, `BRONZE`, `CLOSED`.
    pub status: Option<String>,
    /// Licence as the source writes it, for example `CCBY`.
    pub licence: Option<String>,
    /// Addresses in the disclaimer: where the address itself is withheld, they tell it.
    pub disclaimer_urls: Vec<String>,
}

/// One edge of the citation graph, seen from the paper that was asked about.
#[derive(Debug, Clone, PartialEq)]
pub struct S2Edge {
    /// The paper at the other end.
    pub paper: S2Paper,
    /// Whether the citation is an important one.
    pub influential: bool,
    /// The citing sentences, where known.
    pub contexts: Vec<String>,
    /// Why it cites: `background`, `methodology` or `result`; empty where not classified.
    pub intents: Vec<String>,
}

/// Where a snippet was cut from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SnippetKind {
    /// The title.
    Title,
    /// The abstract.
    Abstract,
    /// The text below title and abstract.
    Body,
}

/// A citation within a snippet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mention {
    /// Characters of the snippet's text.
    pub range: Range<usize>,
    /// The cited paper, where it was recognised.
    pub paper: Option<PaperId>,
}

/// A passage found by snippet search.
#[derive(Debug, Clone, PartialEq)]
pub struct Snippet {
    /// The passage, about 500 words at most.
    pub text: String,
    /// Where it was cut from.
    pub kind: SnippetKind,
    /// Heading, for bodies that have headings.
    pub section: Option<String>,
    /// Characters of the source text.
    pub offset: Option<Range<usize>>,
    /// Sentences as characters of `text`; empty when nothing is said.
    pub sentences: Vec<Range<usize>>,
    /// Citations as characters of `text`; empty when nothing is said.
    pub mentions: Vec<Mention>,
    /// Higher is better; comparable within one search only.
    pub score: f64,
    /// Its paper. Snippets state no counts, dates and other identifiers: ask for those in a batch.
    pub paper: PaperMeta,
}

/// Reads one paper. `None`, with a notice, for an entry without any identifier.
pub(super) fn read(wire: WirePaper, notices: &mut Vec<Notice>) -> Option<S2Paper> {
    let title = single_spaced(wire.title.as_deref().unwrap_or_default());
    let mut ids = identifiers(&wire, &title, notices);
    let paper_id = wire.paper_id.unwrap_or_default();
    if ids.is_empty() && !paper_id.is_empty() {
        ids.push(PaperId::Local(format!("s2-{paper_id}")));
    }
    if ids.is_empty() {
        let message =
            format!("left out an entry of Semantic Scholar without identifiers, titled {title:?}");
        notices.push(Notice::new(NoticeKind::Skipped, message));
        return None;
    }
    let mut meta = PaperMeta::new(ids.remove(0), title);
    meta.external_ids = ids;
    meta.authors = names(wire.authors.into_iter().flatten());
    meta.year = wire.year;
    meta.published = wire.publication_date.and_then(|text| match text.parse::<Date>() {
        Ok(date) => Some(date),
        Err(_) => {
            let message = format!(
                "Semantic Scholar gives {text:?} as `publicationDate` of {:?}, which is no date",
                meta.title
            );
            notices.push(Notice::new(NoticeKind::Skipped, message));
            None
        }
    });
    let venues = [
        wire.venue,
        wire.publication_venue.and_then(|v| v.name),
        wire.journal.and_then(|j| j.name),
    ];
    meta.venue = venues.into_iter().flatten().map(|v| single_spaced(&v)).find(|v| !v.is_empty());
    meta.url = wire.url.filter(|url| !url.is_empty());
    meta.citation_count = wire.citation_count;
    let open_access = wire.open_access_pdf.and_then(open_access);
    meta.licence = open_access.as_ref().and_then(|open| open.licence.clone());
    let text = wire.r#abstract.map(|text| single_spaced(&text)).filter(|text| !text.is_empty());
    let sections = text.map(|text| Section::new(ABSTRACT_HEADING, text)).into_iter().collect();
    Some(S2Paper {
        paper_id,
        paper: Paper { meta, sections, references: Vec::new(), records: Vec::new() },
        reference_count: wire.reference_count,
        influential_citation_count: wire.influential_citation_count,
        open_access,
        match_score: wire.match_score,
    })
}

/// Every identifier we know the registry of, the corpus id first. What is none is left out with a notice.
fn identifiers(wire: &WirePaper, title: &str, notices: &mut Vec<Notice>) -> Vec<PaperId> {
    let mut ids: Vec<PaperId> = wire.corpus_id.map(PaperId::CorpusId).into_iter().collect();
    for (registry, value) in wire.external_ids.iter().flatten() {
        let prefix = match registry.as_str() {
            "CorpusId" => "corpusid",
            "DOI" => "doi",
            "ArXiv" => "arxiv",
            "PubMed" => "pmid",
            "PubMedCentral" => "pmcid",
            "ACL" => "acl",
            // MAG, DBLP, Medline and what may come: registries this program does not ask.
            _ => continue,
        };
        let text = match value {
            Value::Null => continue,
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        match format!("{prefix}:{text}").parse::<PaperId>() {
            Ok(id) if ids.contains(&id) => {}
            Ok(id) if matches!(id, PaperId::CorpusId(_)) => ids.insert(0, id),
            Ok(id) => ids.push(id),
            Err(_) => {
                let message = format!(
                    "Semantic Scholar gives {text:?} as `externalIds.{registry}` of {title:?}, which is none"
                );
                notices.push(Notice::new(NoticeKind::Skipped, message));
            }
        }
    }
    ids
}

fn names(authors: impl Iterator<Item = Named>) -> Vec<String> {
    let names = authors.filter_map(|author| author.name);
    names.map(|name| single_spaced(&name)).filter(|name| !name.is_empty()).collect()
}

fn open_access(wire: WireOpenAccess) -> Option<OpenAccess> {
    let stated = |text: Option<String>| text.filter(|text| !text.trim().is_empty());
    let open = OpenAccess {
        url: stated(wire.url),
        status: stated(wire.status),
        licence: stated(wire.license),
        disclaimer_urls: wire.disclaimer.as_deref().map(addresses).unwrap_or_default(),
    };
    let nothing = open.url.is_none()
        && open.status.is_none()
        && open.licence.is_none()
        && open.disclaimer_urls.is_empty();
    (!nothing).then_some(open)
}

/// The web addresses in a sentence, without the punctuation behind them.
fn addresses(text: &str) -> Vec<String> {
    text.split_whitespace()
        .filter(|word| word.starts_with("http://") || word.starts_with("https://"))
        .map(|word| word.trim_end_matches([',', '.', ';', ')', ']', '"', '\'']).to_owned())
        .collect()
}

/// Reads one edge; `None` as in [`read`].
pub(super) fn read_edge(wire: WireEdge, notices: &mut Vec<Notice>) -> Option<S2Edge> {
    Some(S2Edge {
        paper: read(wire.paper?, notices)?,
        influential: wire.is_influential.unwrap_or(false),
        contexts: wire.contexts.unwrap_or_default(),
        intents: wire.intents.unwrap_or_default(),
    })
}

/// Reads one snippet; the error quotes the field that is wrong.
pub(super) fn read_snippet(wire: WireSnippetHit) -> Result<Snippet, String> {
    let WireSnippetHit { snippet, score, paper } = wire;
    let kind = match snippet.snippet_kind.as_str() {
        "title" => SnippetKind::Title,
        "abstract" => SnippetKind::Abstract,
        "body" => SnippetKind::Body,
        other => return Err(format!("`snippet.snippetKind` is {other:?}")),
    };
    if !score.is_finite() {
        return Err(format!("`score` is {score}"));
    }
    let id = paper.corpus_id.ok_or("`paper.corpusId` is missing")?;
    let mut meta =
        PaperMeta::new(PaperId::CorpusId(id), single_spaced(paper.title.as_deref().unwrap_or("")));
    meta.authors = names(paper.authors.into_iter().flatten().map(|author| match author {
        WireAuthor::Name(name) => Named { name: Some(name) },
        WireAuthor::Object(named) => named,
    }));
    meta.licence = paper.open_access_info.and_then(open_access).and_then(|open| open.licence);
    let length = snippet.text.chars().count();
    let within = |start: usize, end: usize| (start < end && end <= length).then_some(start..end);
    let (sentences, mentions) = match snippet.annotations {
        Some(notes) => {
            (notes.sentences.unwrap_or_default(), notes.ref_mentions.unwrap_or_default())
        }
        None => (Vec::new(), Vec::new()),
    };
    Ok(Snippet {
        kind,
        section: snippet.section.filter(|section| !section.trim().is_empty()),
        offset: snippet.snippet_offset.map(|span| span.start..span.end),
        sentences: sentences.iter().filter_map(|span| within(span.start, span.end)).collect(),
        mentions: mentions
            .into_iter()
            .filter_map(|mention| {
                let paper = mention.matched_paper_corpus_id.map(PaperId::CorpusId);
                Some(Mention { range: within(mention.start, mention.end)?, paper })
            })
            .collect(),
        score,
        paper: meta,
        text: snippet.text,
    })
}
