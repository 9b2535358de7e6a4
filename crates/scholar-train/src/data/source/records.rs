//! Rows of the collections as they are published.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer};

use super::is_cc_by_acl;

/// A claim of SciFact or of the citation-integrity set.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct ClaimRow {
    pub claim: String,
    pub evidence: BTreeMap<String, Vec<EvidenceRow>>,
    pub cited_doc_ids: Vec<u64>,
}

/// Sentences of a cited document that decide a claim, counted from 0.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct EvidenceRow {
    pub label: String,
    pub sentences: Vec<usize>,
}

/// Sentences of a cited paper.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct CitedRow {
    pub doc_id: u64,
    #[serde(rename = "abstract")]
    pub sentences: Vec<String>,
}

/// A citing sentence of CL-SciSumm.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct SummaryRow {
    pub reference: String,
    #[serde(default)]
    pub citing: String,
    pub citation_text: String,
    pub reference_sids: Vec<String>,
}

impl SummaryRow {
    /// Whether citing and cited paper may be used commercially.
    pub(crate) fn is_commercial(&self) -> bool {
        is_cc_by_acl(&self.citing) && is_cc_by_acl(&self.reference)
    }
}

/// A reference paper of CL-SciSumm: `(number, sentence)`.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct ReferencePaperRow {
    pub id: String,
    /// Some papers have none.
    pub title: Option<String>,
    #[serde(rename = "abstract")]
    opening: Vec<(String, String)>,
    sections: Vec<SectionRow>,
}

#[derive(Debug, Clone, Deserialize)]
struct SectionRow {
    sentences: Vec<(String, String)>,
}

impl ReferencePaperRow {
    /// All sentences in reading order.
    pub(crate) fn sentences(self) -> Vec<(String, String)> {
        let mut sentences = self.opening;
        sentences.extend(self.sections.into_iter().flat_map(|section| section.sentences));
        sentences
    }
}

/// A question of `BioASQ`.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct BioAsqRow {
    pub body: String,
    #[serde(default)]
    pub documents: Vec<String>,
    #[serde(default)]
    pub snippets: Vec<SnippetRow>,
    #[serde(default, deserialize_with = "one_or_many")]
    pub ideal_answer: Vec<String>,
    /// Batch it comes from, `10B1_golden.json`.
    #[serde(default)]
    pub source_file: String,
}

/// A snippet that answers.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SnippetRow {
    pub text: String,
    pub document: String,
    #[serde(default)]
    pub begin_section: String,
    #[serde(default)]
    pub offset_in_begin_section: u64,
}

/// An abstract of PubMedQA without its conclusion, and the conclusion.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub(crate) struct PubMedQaRow {
    #[serde(rename = "pmid")]
    pub pmid: String,
    pub question: String,
    pub contexts: Vec<String>,
    /// Label of each context.
    #[serde(default)]
    pub labels: Vec<String>,
    pub long_answer: String,
}

/// A prompt of Evidence Inference.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct PromptRow {
    pub pmcid: String,
    pub outcome: String,
    pub intervention: String,
    pub comparator: String,
    pub annotations: Vec<AnnotationRow>,
}

/// What an annotator decided, and by which text.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct AnnotationRow {
    pub label: String,
    #[serde(default)]
    pub evidence: String,
}

impl PromptRow {
    /// Evidence that is prose: rows of tables are no sentences.
    pub(crate) fn prose(&self, min_words: usize) -> Vec<String> {
        let mut out: Vec<String> = Vec::new();
        for annotation in &self.annotations {
            let text = annotation.evidence.trim();
            let is_prose = !text.contains('\n') && text.split_whitespace().count() >= min_words;
            if is_prose && !out.iter().any(|seen| seen == text) {
                out.push(text.to_owned());
            }
        }
        out
    }
}

fn one_or_many<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Either {
        One(String),
        Many(Vec<String>),
    }
    Ok(match Option::<Either>::deserialize(deserializer)? {
        None => Vec::new(),
        Some(Either::One(text)) => vec![text],
        Some(Either::Many(texts)) => texts,
    })
}
