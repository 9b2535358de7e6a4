//! Semantic Scholar's JSON, as its Swagger description and recorded replies show it. Everything may be null.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer};
use serde_json::Value;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WirePaper {
    pub(super) paper_id: Option<String>,
    #[serde(default, deserialize_with = "corpus_id")]
    pub(super) corpus_id: Option<u64>,
    pub(super) external_ids: Option<BTreeMap<String, Value>>,
    pub(super) title: Option<String>,
    pub(super) r#abstract: Option<String>,
    pub(super) year: Option<i16>,
    pub(super) publication_date: Option<String>,
    pub(super) venue: Option<String>,
    pub(super) publication_venue: Option<Named>,
    pub(super) journal: Option<Named>,
    pub(super) authors: Option<Vec<Named>>,
    pub(super) url: Option<String>,
    pub(super) citation_count: Option<u32>,
    pub(super) reference_count: Option<u32>,
    pub(super) influential_citation_count: Option<u32>,
    pub(super) open_access_pdf: Option<WireOpenAccess>,
    pub(super) match_score: Option<f64>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Named {
    pub(super) name: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct WireOpenAccess {
    pub(super) url: Option<String>,
    pub(super) status: Option<String>,
    pub(super) license: Option<String>,
    pub(super) disclaimer: Option<String>,
}

/// Relevance search, and one page of references or citations.
#[derive(Debug, Deserialize)]
pub(super) struct Page<T> {
    pub(super) total: Option<u64>,
    pub(super) next: Option<usize>,
    pub(super) token: Option<String>,
    pub(super) data: Option<Vec<T>>,
}

/// One edge of the citation graph; which paper it has depends on the direction asked for.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WireEdge {
    #[serde(alias = "citedPaper", alias = "citingPaper")]
    pub(super) paper: Option<WirePaper>,
    pub(super) is_influential: Option<bool>,
    pub(super) contexts: Option<Vec<String>>,
    pub(super) intents: Option<Vec<String>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WireRecommended {
    pub(super) recommended_papers: Option<Vec<WirePaper>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WireSnippets {
    pub(super) data: Option<Vec<WireSnippetHit>>,
    pub(super) retrieval_version: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct WireSnippetHit {
    pub(super) snippet: WireSnippet,
    pub(super) score: f64,
    pub(super) paper: WireSnippetPaper,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WireSnippet {
    pub(super) text: String,
    pub(super) snippet_kind: String,
    pub(super) section: Option<String>,
    pub(super) snippet_offset: Option<WireSpan>,
    pub(super) annotations: Option<WireAnnotations>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
pub(super) struct WireSpan {
    pub(super) start: usize,
    pub(super) end: usize,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WireAnnotations {
    pub(super) sentences: Option<Vec<WireSpan>>,
    pub(super) ref_mentions: Option<Vec<WireMention>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WireMention {
    pub(super) start: usize,
    pub(super) end: usize,
    #[serde(default, deserialize_with = "corpus_id")]
    pub(super) matched_paper_corpus_id: Option<u64>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WireSnippetPaper {
    #[serde(default, deserialize_with = "corpus_id")]
    pub(super) corpus_id: Option<u64>,
    pub(super) title: Option<String>,
    pub(super) authors: Option<Vec<WireAuthor>>,
    pub(super) open_access_info: Option<WireOpenAccess>,
}

/// The service writes names, its description shows objects.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum WireAuthor {
    Name(String),
    Object(Named),
}

/// A corpus id is a number in papers and a string in snippets.
fn corpus_id<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Either {
        Number(u64),
        Text(String),
    }
    match Option::<Either>::deserialize(deserializer)? {
        None => Ok(None),
        Some(Either::Number(number)) => Ok(Some(number)),
        Some(Either::Text(text)) => text.parse().map(Some).map_err(|_| {
            serde::de::Error::custom(format!("{text:?} is not a corpus id, which is a number"))
        }),
    }
}
