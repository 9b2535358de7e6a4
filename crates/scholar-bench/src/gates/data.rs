//! Sentences with what they rest on, from sets that people labelled.

use std::path::Path;

use scholar_core::text::markers::strip_citations;
use scholar_core::text::sentences::sentence_texts;
use scholar_pipeline::proof::content::SourceText;
use serde::Deserialize;

use crate::attribution::data::{CaseSet, DataError, Label, Split, claim_sets, read};

/// A sentence, the texts it may draw on, and whether they support it.
#[derive(Debug, Clone)]
pub struct Case {
    /// Stable name within its set.
    pub id: String,
    /// The sentence.
    pub sentence: String,
    /// Passages, titles and abstracts.
    pub source: Vec<String>,
    /// Its label: `full`, `partial`, `none` or `contradicted`.
    pub label: Truth,
}

impl Case {
    /// What the checks read.
    pub fn source_text(&self) -> SourceText {
        let texts: Vec<&str> = self.source.iter().map(String::as_str).collect();
        SourceText::of(&texts)
    }
}

/// What people say of a sentence beside its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Truth {
    /// Supported as a whole.
    Full,
    /// A part of it is.
    Partial,
    /// The source does not say it.
    None,
    /// The source says otherwise, or the citation is wrong.
    Contradicted,
}

/// Cases of one origin.
#[derive(Debug, Clone)]
pub struct Source {
    /// Name in reports.
    pub name: String,
    /// What a reader must know of the labels.
    pub remark: &'static str,
    /// What its supported sentences say was written from the texts shown.
    pub is_clean: bool,
    /// Its other sentences are listed one by one.
    pub is_listed: bool,
    /// In the order of the file.
    pub cases: Vec<Case>,
}

#[derive(Deserialize)]
struct JudgedRow {
    id: u64,
    sentence: String,
    cited_passages: Vec<String>,
    support: String,
}

#[derive(Deserialize)]
struct PubMedQaRow {
    pmid: String,
    #[serde(rename = "QUESTION")]
    question: String,
    #[serde(rename = "CONTEXTS")]
    contexts: Vec<String>,
    #[serde(rename = "LONG_ANSWER")]
    conclusion: String,
}

#[derive(Deserialize)]
struct BioAsqRow {
    id: String,
    snippets: Vec<SnippetRow>,
    ideal_answer: serde_json::Value,
}

#[derive(Deserialize)]
struct SnippetRow {
    text: String,
}

/// All sources of a split below `dir`. The judged sentences are few and belong to both.
///
/// # Errors
/// [`DataError`] with file and line.
pub fn sources(dir: &Path, split: Split) -> Result<Vec<Source>, DataError> {
    let mut sources = vec![judged(dir)?];
    let sets = claim_sets(dir, split)?;
    for set in sets {
        let remark = match set.name.as_str() {
            name if name.starts_with("SciFact, cited") => {
                "claims that people wrote, beside abstracts"
            }
            name if name.starts_with("citation") => {
                "citing sentences of papers beside a passage of the cited one; they say more than that passage does"
            }
            _ => continue,
        };
        sources.push(of_claims(set, remark));
    }
    sources.push(conclusions(dir, split)?);
    sources.push(ideal_answers(dir, split)?);
    Ok(sources)
}

fn of_claims(set: CaseSet, remark: &'static str) -> Source {
    let decided = set.cases.into_iter().enumerate();
    let cases = decided.filter_map(|(n, case)| {
        let label = match case.label {
            Label::Supported => Truth::Full,
            Label::Contradicted => Truth::Contradicted,
            Label::Unrelated => return None,
        };
        Some(Case { id: n.to_string(), sentence: case.sentence, source: vec![case.passage], label })
    });
    let (is_clean, is_listed) = (false, false);
    Source { name: set.name, remark, is_clean, is_listed, cases: cases.collect() }
}

/// The judged sentences that cite something.
pub(super) fn judged(dir: &Path) -> Result<Source, DataError> {
    let rows: Vec<JudgedRow> = read(&dir.join("judged/sentences.jsonl"))?;
    let cases = rows.into_iter().filter_map(|row| {
        let label = match row.support.as_str() {
            "full" => Truth::Full,
            "partial" => Truth::Partial,
            "none" => Truth::None,
            "contradicted" => Truth::Contradicted,
            _ => return None,
        };
        let source =
            row.cited_passages.iter().map(|text| without_number(text).to_owned()).collect();
        Some(Case {
            id: row.id.to_string(),
            sentence: strip_citations(&without_suffix(&row.sentence)),
            source,
            label,
        })
    });
    let remark = "generated sentences, judged by large language models; passages without the paper's abstract";
    let name = "judged sentences of answers".to_owned();
    Ok(Source { name, remark, is_clean: true, is_listed: true, cases: cases.collect() })
}

/// The passage behind its `[3]`.
fn without_number(text: &str) -> &str {
    text.strip_prefix('[')
        .and_then(|rest| rest.split_once(']'))
        .map_or(text, |(_, text)| text.trim())
}

/// Earlier versions of the program wrote verdicts into sentences.
fn without_suffix(sentence: &str) -> String {
    let marks = [
        "(disputed: the cited passage says otherwise)",
        "(partly supported by the cited passage)",
        "(unverified: no passage found that supports this)",
    ];
    marks.iter().fold(sentence.to_owned(), |text, mark| text.replace(mark, ""))
}

fn conclusions(dir: &Path, split: Split) -> Result<Source, DataError> {
    let rows: Vec<PubMedQaRow> = read(&dir.join("qa/qa_pubmedqa_dev500.jsonl"))?;
    let mut cases = Vec::new();
    for row in rows.into_iter().filter(|row| of_split(&row.pmid, split)) {
        for (n, sentence) in sentence_texts(&row.conclusion).into_iter().enumerate() {
            let source = row.contexts.iter().chain([&row.question]).cloned().collect();
            let id = format!("{}.{n}", row.pmid);
            cases.push(Case { id, sentence: sentence.to_owned(), source, label: Truth::Full });
        }
    }
    let remark = "authors' conclusions beside the rest of their abstract and title; nobody checked that they follow from it";
    let name = format!("PubMedQA conclusions, {}", name_of(split));
    Ok(Source { name, remark, is_clean: true, is_listed: false, cases })
}

fn ideal_answers(dir: &Path, split: Split) -> Result<Source, DataError> {
    let rows: Vec<BioAsqRow> = read(&dir.join("qa/qa_bioasq.jsonl"))?;
    let mut cases = Vec::new();
    for row in rows.into_iter().filter(|row| of_split(&row.id, split)) {
        let answer = match &row.ideal_answer {
            serde_json::Value::Array(all) => all.first().and_then(|one| one.as_str()),
            serde_json::Value::String(text) => Some(text.as_str()),
            _ => None,
        };
        for (n, sentence) in sentence_texts(answer.unwrap_or_default()).into_iter().enumerate() {
            let source = row.snippets.iter().map(|one| one.text.clone()).collect();
            let id = format!("{}.{n}", row.id);
            cases.push(Case { id, sentence: sentence.to_owned(), source, label: Truth::Full });
        }
    }
    let remark = "experts' answers beside their snippets; experts also wrote what they knew";
    let name = format!("BioASQ ideal answers, {}", name_of(split));
    Ok(Source { name, remark, is_clean: true, is_listed: false, cases })
}

fn name_of(split: Split) -> &'static str {
    match split {
        Split::Train => "tuning half",
        Split::Dev => "held-out half",
    }
}

/// Halves by a hash of the identifier (FNV-1a), so that files may grow.
fn of_split(id: &str, split: Split) -> bool {
    let hash = id.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    (hash >> 20).is_multiple_of(2) == (split == Split::Train)
}
