//! The labelled sets: SciFact claims, citation-integrity claims, CL-SciSumm citing sentences.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use scholar_core::text::sentences::sentence_texts;
use scholar_core::text::words::{Idf, content_stems};
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// Why a set could not be read.
#[derive(Debug, thiserror::Error)]
pub enum DataError {
    /// The file is missing or unreadable.
    #[error("{path} could not be read")]
    Read {
        /// Path of the file.
        path: PathBuf,
        /// I/O error; text that is not UTF-8 is one too.
        source: std::io::Error,
    },
    /// A line is not what the set's format says.
    #[error("{path}, line {line}: not a record of this set")]
    Parse {
        /// Path of the file.
        path: PathBuf,
        /// Line number, from 1.
        line: usize,
        /// What is wrong, with the column within that line.
        source: serde_json::Error,
    },
}

/// Which part of the claim sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Split {
    /// Training split: weights are fitted on it.
    Train,
    /// Development split: agreement is measured on it.
    Dev,
}

/// What people say of a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Label {
    /// The passage supports the sentence.
    Supported,
    /// It says otherwise. The citation-integrity set files every wrong citation under this.
    Contradicted,
    /// It does not decide.
    Unrelated,
}

/// A sentence beside a passage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Case {
    /// Sentence or claim, without placeholders.
    pub sentence: String,
    /// Text of the passage.
    pub passage: String,
    /// Label that annotators gave the pair.
    pub label: Label,
}

/// Cases of one kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaseSet {
    /// Name that reports show.
    pub name: String,
    /// The cases, in the order of the file.
    pub cases: Vec<Case>,
}

/// A claim or citing sentence, the sentences of the cited text, and which of them people chose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SelectionCase {
    /// The claim or citing sentence.
    pub citing: String,
    /// Sentences of the cited text in reading order.
    pub sentences: Vec<String>,
    /// Indices of the chosen ones.
    pub gold: BTreeSet<usize>,
}

#[derive(Deserialize)]
struct ClaimRow {
    claim: String,
    evidence: BTreeMap<String, Vec<EvidenceRow>>,
    cited_doc_ids: Vec<u64>,
}

#[derive(Deserialize)]
struct EvidenceRow {
    label: String,
    #[serde(default)]
    sentences: Vec<usize>,
}

#[derive(Deserialize)]
struct AbstractRow {
    _id: String,
    text: String,
}

#[derive(Deserialize)]
struct CitedRow {
    doc_id: u64,
    #[serde(rename = "abstract")]
    sentences: Vec<String>,
}

#[derive(Deserialize)]
struct GoldRow {
    reference: String,
    citation_text: String,
    reference_sids: Vec<String>,
}

#[derive(Deserialize)]
struct PaperRow {
    id: String,
    #[serde(rename = "abstract")]
    opening: Vec<(String, String)>,
    sections: Vec<SectionRow>,
}

#[derive(Deserialize)]
struct SectionRow {
    sentences: Vec<(String, String)>,
}

/// The claim sets of a split: SciFact claims beside the abstracts they cite, the supported ones among them beside an
/// uncited abstract on the same topic too, and the citation-integrity claims.
///
/// # Errors
/// [`DataError`] with file and line.
pub fn claim_sets(dir: &Path, split: Split) -> Result<Vec<CaseSet>, DataError> {
    let split = match split {
        Split::Train => "train",
        Split::Dev => "dev",
    };
    let claims: Vec<ClaimRow> =
        read(&dir.join(format!("claims/claimcheck_scifact_{split}.jsonl")))?;
    let abstracts: Vec<AbstractRow> = read(&dir.join("retrieval/scifact_test300/corpus.jsonl"))?;
    let (cited, topical) = scifact(&claims, &abstracts);
    let integrity: Vec<ClaimRow> =
        read(&dir.join(format!("claims/claimcheck_citint_{split}.jsonl")))?;
    let passages: Vec<CitedRow> = read(&dir.join("claims/citint_corpus.jsonl"))?;
    let set = |name: &str, cases| CaseSet { name: format!("{name}, {split}"), cases };
    Ok(vec![
        set("SciFact, cited abstracts", cited),
        set("SciFact, supported claims beside an uncited abstract on the topic", topical),
        set("citation integrity", citation_integrity(&integrity, &passages)),
    ])
}

fn scifact(claims: &[ClaimRow], abstracts: &[AbstractRow]) -> (Vec<Case>, Vec<Case>) {
    let by_id: HashMap<&str, &str> =
        abstracts.iter().map(|row| (row._id.as_str(), row.text.as_str())).collect();
    let topics = Topics::of(abstracts);
    let (mut cited, mut topical) = (Vec::new(), Vec::new());
    for claim in claims {
        let mut supported = false;
        for id in claim.cited_doc_ids.iter().map(u64::to_string) {
            let Some(passage) = by_id.get(id.as_str()) else { continue };
            let label = label_of(claim.evidence.get(&id));
            let case =
                Case { sentence: claim.claim.clone(), passage: (*passage).to_owned(), label };
            if label == Label::Supported {
                supported = true;
                topical.push(case.clone());
            }
            cited.push(case);
        }
        if supported {
            let known: BTreeSet<String> = claim.cited_doc_ids.iter().map(u64::to_string).collect();
            if let Some(other) = topics.nearest(&claim.claim, |id| !known.contains(id)) {
                topical.push(Case {
                    sentence: claim.claim.clone(),
                    passage: other.to_owned(),
                    label: Label::Unrelated,
                });
            }
        }
    }
    (cited, topical)
}

fn citation_integrity(claims: &[ClaimRow], passages: &[CitedRow]) -> Vec<Case> {
    let by_id: HashMap<u64, &CitedRow> = passages.iter().map(|row| (row.doc_id, row)).collect();
    let mut cases = Vec::new();
    for claim in claims {
        for id in &claim.cited_doc_ids {
            let Some(row) = by_id.get(id) else { continue };
            cases.push(Case {
                sentence: without_placeholders(&claim.claim),
                passage: row.sentences.join(" "),
                label: label_of(claim.evidence.get(&id.to_string())),
            });
        }
    }
    cases
}

fn label_of(rows: Option<&Vec<EvidenceRow>>) -> Label {
    match rows.and_then(|rows| rows.first()).map(|row| row.label.as_str()) {
        Some("SUPPORT") => Label::Supported,
        Some("CONTRADICT" | "REFUTE") => Label::Contradicted,
        _ => Label::Unrelated,
    }
}

/// `<|cit|>` and its kin stand where citations stood.
fn without_placeholders(text: &str) -> String {
    let bare = ["<|multi_cit|>", "<|other_cit|>", "<|cit|>"]
        .iter()
        .fold(text.to_owned(), |text, mark| text.replace(mark, ""));
    bare.replace(" []", "").replace("[]", "").replace(" ()", "").replace("()", "")
}

/// The citing sentences of CL-SciSumm with the sentences of the papers they cite.
///
/// # Errors
/// [`DataError`] with file and line.
pub fn selection_cases(dir: &Path) -> Result<Vec<SelectionCase>, DataError> {
    let gold: Vec<GoldRow> = read(&dir.join("attribution/attribution_clscisumm_gold.jsonl"))?;
    let papers: Vec<PaperRow> =
        read(&dir.join("attribution/attribution_clscisumm_reference_papers.jsonl"))?;
    let papers: HashMap<String, Vec<(String, String)>> = papers
        .into_iter()
        .map(|paper| {
            let mut sentences = paper.opening;
            sentences.extend(paper.sections.into_iter().flat_map(|section| section.sentences));
            (paper.id, sentences)
        })
        .collect();
    let mut cases = Vec::new();
    for row in gold {
        let Some(sentences) = papers.get(&row.reference) else { continue };
        let chosen: BTreeSet<usize> = sentences
            .iter()
            .enumerate()
            .filter(|(_, (id, _))| row.reference_sids.contains(id))
            .map(|(n, _)| n)
            .collect();
        if !chosen.is_empty() {
            cases.push(SelectionCase {
                citing: row.citation_text,
                sentences: sentences.iter().map(|(_, text)| text.clone()).collect(),
                gold: chosen,
            });
        }
    }
    Ok(cases)
}

/// The claims of SciFact that an abstract supports or contradicts, with its sentences and those people chose as reasons.
///
/// The set numbers sentences by its own cut, which the abstracts here do not show: ours stands for it, and claims whose
/// reasons lie beyond our last sentence are left out (4 of 209 in dev).
///
/// # Errors
/// [`DataError`] with file and line.
pub fn rationale_cases(dir: &Path, split: Split) -> Result<Vec<SelectionCase>, DataError> {
    let split = match split {
        Split::Train => "train",
        Split::Dev => "dev",
    };
    let claims: Vec<ClaimRow> =
        read(&dir.join(format!("claims/claimcheck_scifact_{split}.jsonl")))?;
    let abstracts: Vec<AbstractRow> = read(&dir.join("retrieval/scifact_test300/corpus.jsonl"))?;
    let by_id: HashMap<&str, &str> =
        abstracts.iter().map(|row| (row._id.as_str(), row.text.as_str())).collect();
    let mut cases = Vec::new();
    for claim in &claims {
        for (id, rows) in &claim.evidence {
            let Some(text) = by_id.get(id.as_str()) else { continue };
            let sentences: Vec<String> =
                sentence_texts(text).into_iter().map(str::to_owned).collect();
            let gold: BTreeSet<usize> =
                rows.iter().flat_map(|row| row.sentences.iter().copied()).collect();
            let inside = gold.last().is_some_and(|last| *last < sentences.len());
            if inside {
                cases.push(SelectionCase { citing: claim.claim.clone(), sentences, gold });
            }
        }
    }
    Ok(cases)
}

/// Finds the abstract that shares most with a claim.
struct Topics<'a> {
    abstracts: &'a [AbstractRow],
    idf: Idf,
    postings: HashMap<String, Vec<usize>>,
}

impl<'a> Topics<'a> {
    fn of(abstracts: &'a [AbstractRow]) -> Self {
        let idf = Idf::of_texts(abstracts.iter().map(|row| row.text.as_str()));
        let mut postings: HashMap<String, Vec<usize>> = HashMap::new();
        for (n, row) in abstracts.iter().enumerate() {
            for stem in content_stems(&row.text).into_iter().collect::<BTreeSet<_>>() {
                postings.entry(stem).or_default().push(n);
            }
        }
        Self { abstracts, idf, postings }
    }

    fn nearest(&self, claim: &str, accept: impl Fn(&str) -> bool) -> Option<&'a str> {
        let mut scores = vec![0.0_f32; self.abstracts.len()];
        for stem in content_stems(claim).into_iter().collect::<BTreeSet<_>>() {
            for n in self.postings.get(&stem).into_iter().flatten() {
                scores[*n] += self.idf.weight(&stem);
            }
        }
        let (n, _) = scores
            .iter()
            .enumerate()
            .filter(|(n, _)| accept(&self.abstracts[*n]._id))
            .max_by(|a, b| a.1.total_cmp(b.1).then(b.0.cmp(&a.0)))?;
        Some(&self.abstracts[n].text)
    }
}

pub(crate) fn read<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>, DataError> {
    let text = fs_err::read_to_string(path)
        .map_err(|source| DataError::Read { path: path.to_owned(), source })?;
    text.lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty())
        .map(|(n, line)| {
            serde_json::from_str(line).map_err(|source| DataError::Parse {
                path: path.to_owned(),
                line: n + 1,
                source,
            })
        })
        .collect()
}
