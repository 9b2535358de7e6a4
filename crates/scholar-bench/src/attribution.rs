//! How well a judge agrees with people on whether evidence supports a sentence, and how often the right evidence
//! sentence is selected.
//!
//! Steps: [`data`] reads the claim sets and the sentence-selection sets; every claim is paired with the evidence window
//! that the proof gates would select from the passage, or the judge itself where it can; its verdicts and scores are
//! compared with the labels ([`statistics`]). Nothing here knows which judge it measures.

pub mod data;
mod markdown;
mod memo;
pub mod statistics;

pub use markdown::markdown;

use std::path::Path;

use scholar_core::text::sentences::sentence_texts;
use scholar_core::{Attributor, Encoder, Judgement, PortError, Verdict};
use scholar_pipeline::proof::select::{
    evidence_scores, evidence_window, window_by_scores, window_text,
};
use serde::Serialize;

use data::{Case, CaseSet, DataError, Label, SelectionCase, Split};
use memo::Memo;
use statistics::{Interval, Scored};

/// Schema of the report.
pub const REPORT_SCHEMA: &str = "openscholar.attribution-report/3";

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
pub enum AttributionError {
    /// The sets could not be read.
    #[error("reading the attribution sets")]
    Data(#[source] DataError),
    /// The judge or encoder failed.
    #[error("judging {set}")]
    Judge {
        /// Name of the claim or selection set.
        set: String,
        /// Error of the judge or encoder.
        source: PortError,
    },
}

/// Agreement and selection, with 95 % intervals.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AttributionReport {
    /// Schema of the report: [`REPORT_SCHEMA`].
    pub schema: String,
    /// Name of the judge.
    pub judge: String,
    /// Which encoder helped to select sentences.
    pub encoder: Option<String>,
    /// One entry per claim set.
    pub sets: Vec<SetReport>,
    /// Selection of evidence sentences, one entry per set and selector.
    pub selections: Vec<SelectionReport>,
}

/// Agreement on one set. "Supported" is the positive class; partial support counts as none.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SetReport {
    /// Name of the set of claims.
    pub name: String,
    /// Number of pairs judged.
    pub n: usize,
    /// Of which people call supported.
    pub supported: usize,
    /// AUROC of the score, supported against the rest; `None` when a class is empty.
    pub auc: Option<Interval>,
    /// Share of pairs on which the verdict `Supported` agrees.
    pub accuracy: Interval,
    /// Mean of the shares within supported and the rest; `None` when a class is empty.
    pub balanced_accuracy: Option<Interval>,
    /// F1 of the verdict `Supported`; `None` when nothing is supported by either side.
    pub f1: Option<Interval>,
    /// Of the pairs called contradicted, the share that people call contradicted; `None` when there is none.
    pub contradicted_precision: Option<f64>,
    /// Pairs that the judge calls contradicted.
    pub contradicted: usize,
    /// Of the pairs called unsupported, the share that people do not call supported; `None` when there is none.
    pub unsupported_precision: Option<f64>,
    /// Mean distance between score and observed share over ten equal bins.
    pub calibration_error: f64,
    /// What it would be of a judge whose scores are exactly right: the mean, and what 95 of 100 such judges stay below.
    pub calibration_by_chance: (f64, f64),
}

/// How often a gold sentence is among the first selected.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SelectionReport {
    /// Set that the claims and passages are of.
    pub set: String,
    /// Name of the selector.
    pub selector: String,
    /// Claims or citing sentences.
    pub n: usize,
    /// Sentences to choose from, on average.
    pub mean_candidates: f64,
    /// The first is a gold sentence.
    pub at_1: Interval,
    /// One of the first two is.
    pub at_2: Interval,
}

const PAPERS: &str = "CL-SciSumm, whole papers";
const RATIONALES: &str = "SciFact rationales, dev";

/// What the selection of the proof gates is called in reports.
pub const GATES: &str = "the gates' word overlap";

/// Measures `judge` on the development sets below `dir` (`claims/`, `attribution/`, `retrieval/scifact_test300/`).
///
/// `limit` cuts each set to its first cases, for judges that take seconds per pair.
///
/// # Errors
/// [`AttributionError`] when a file is missing or malformed, or the judge fails.
pub async fn measure(
    judge: &dyn Attributor,
    encoder: Option<&dyn Encoder>,
    dir: &Path,
    limit: Option<usize>,
) -> Result<AttributionReport, AttributionError> {
    let memo = encoder.map(Memo::new);
    let encoder = memo.as_ref().map(|memo| memo as &dyn Encoder);
    let mut sets = Vec::new();
    for mut set in data::claim_sets(dir, Split::Dev).map_err(AttributionError::Data)? {
        set.cases.truncate(limit.unwrap_or(usize::MAX));
        let judged = judge_set(judge, encoder, &set)
            .await
            .map_err(|source| AttributionError::Judge { set: set.name.clone(), source })?;
        sets.push(report_set(&set, &judged));
    }
    let selections = selections(judge, encoder, dir, limit).await?;
    Ok(AttributionReport {
        schema: REPORT_SCHEMA.to_owned(),
        judge: judge.name().to_owned(),
        encoder: encoder.map(|encoder| encoder.info().name.clone()),
        sets,
        selections,
    })
}

/// Sentences selected by the gates from whole papers, and by gates and judge from abstracts. Reading whole papers with a
/// judge would take an hour and is not what it is for.
async fn selections(
    judge: &dyn Attributor,
    encoder: Option<&dyn Encoder>,
    dir: &Path,
    limit: Option<usize>,
) -> Result<Vec<SelectionReport>, AttributionError> {
    let failed = |set: &str, source| AttributionError::Judge { set: set.to_owned(), source };
    let mut papers = data::selection_cases(dir).map_err(AttributionError::Data)?;
    let mut rationales = data::rationale_cases(dir, Split::Dev).map_err(AttributionError::Data)?;
    papers.truncate(limit.unwrap_or(usize::MAX));
    rationales.truncate(limit.unwrap_or(usize::MAX));
    let mut reports = Vec::new();
    for (set, cases) in [(PAPERS, &papers), (RATIONALES, &rationales)] {
        let report = selection(set, cases, encoder).map_err(|source| failed(set, source))?;
        reports.push(report);
    }
    let by_judge = judge_selection(judge, &rationales).await;
    reports.extend(by_judge.map_err(|source| failed(RATIONALES, source))?);
    Ok(reports)
}

/// The evidence that the gates would show a judge for this case.
///
/// # Errors
/// When the encoder cannot run.
pub fn evidence_of(case: &Case, encoder: Option<&dyn Encoder>) -> Result<String, PortError> {
    let window = evidence_window(&case.sentence, &case.passage, encoder)?;
    Ok(window_text(&case.passage, &window))
}

/// The evidence for `sentence` that the judge itself selects from `passage`, as the gates would show it; `None` where it
/// cannot or finds none.
///
/// # Errors
/// When the judge fails.
pub async fn judged_evidence(
    judge: &dyn Attributor,
    sentence: &str,
    passage: &str,
) -> Result<Option<String>, PortError> {
    let texts = sentence_texts(passage);
    let scores = judge.evidence(sentence, &texts).await?;
    let window = scores.map(|scores| window_by_scores(passage, &scores));
    let window = window.filter(|window| !window.is_empty());
    Ok(window.map(|window| window_text(passage, &window)))
}

/// Judgements on a set's cases, each beside the evidence that the gates would show the judge.
pub(crate) async fn judge_set(
    judge: &dyn Attributor,
    encoder: Option<&dyn Encoder>,
    set: &CaseSet,
) -> Result<Vec<Judgement>, PortError> {
    let mut evidence = Vec::with_capacity(set.cases.len());
    for case in &set.cases {
        evidence.push(match judged_evidence(judge, &case.sentence, &case.passage).await? {
            Some(text) => text,
            None => evidence_of(case, encoder)?,
        });
    }
    let pairs: Vec<(&str, &str)> = set
        .cases
        .iter()
        .zip(&evidence)
        .map(|(case, evidence)| (case.sentence.as_str(), evidence.as_str()))
        .collect();
    judge.judge(&pairs).await
}

fn report_set(set: &CaseSet, judged: &[Judgement]) -> SetReport {
    let scored: Vec<Scored> = set
        .cases
        .iter()
        .zip(judged)
        .map(|(case, judgement)| Scored {
            score: f64::from(judgement.score),
            called: judgement.verdict == Verdict::Supported,
            truth: case.label == Label::Supported,
        })
        .collect();
    let of_verdict = |verdict: Verdict, right: &dyn Fn(Label) -> bool| {
        let labels: Vec<Label> = set
            .cases
            .iter()
            .zip(judged)
            .filter(|(_, judgement)| judgement.verdict == verdict)
            .map(|(case, _)| case.label)
            .collect();
        let n_right = labels.iter().filter(|label| right(**label)).count();
        (labels.len(), (!labels.is_empty()).then(|| n_right as f64 / labels.len() as f64))
    };
    let (contradicted, contradicted_precision) =
        of_verdict(Verdict::Contradicted, &|label| label == Label::Contradicted);
    let (_, unsupported_precision) =
        of_verdict(Verdict::Unsupported, &|label| label != Label::Supported);
    SetReport {
        name: set.name.clone(),
        n: scored.len(),
        supported: scored.iter().filter(|one| one.truth).count(),
        auc: statistics::interval(&scored, statistics::auroc),
        accuracy: statistics::interval(&scored, |s| Some(statistics::accuracy(s)))
            .unwrap_or(Interval::UNKNOWN),
        balanced_accuracy: statistics::interval(&scored, statistics::balanced_accuracy),
        f1: statistics::interval(&scored, statistics::f1),
        contradicted_precision,
        contradicted,
        unsupported_precision,
        calibration_error: statistics::ece(&scored),
        calibration_by_chance: statistics::calibration_by_chance(&scored),
    }
}

/// Selects as the gates do among the sentences of each case.
///
/// # Errors
/// When the encoder cannot run.
pub fn selection(
    set: &str,
    cases: &[SelectionCase],
    encoder: Option<&dyn Encoder>,
) -> Result<SelectionReport, PortError> {
    let mut counts = Selected::default();
    for case in cases {
        let texts: Vec<&str> = case.sentences.iter().map(String::as_str).collect();
        counts.add(case, &evidence_scores(&case.citing, &texts, encoder)?);
    }
    Ok(counts.report(set, GATES))
}

/// Selects as the judge does; `None` of one that cannot.
async fn judge_selection(
    judge: &dyn Attributor,
    cases: &[SelectionCase],
) -> Result<Option<SelectionReport>, PortError> {
    let mut counts = Selected::default();
    for case in cases {
        let texts: Vec<&str> = case.sentences.iter().map(String::as_str).collect();
        match judge.evidence(&case.citing, &texts).await? {
            Some(scores) => counts.add(case, &scores),
            None => return Ok(None),
        }
    }
    Ok(Some(counts.report(RATIONALES, judge.name())))
}

/// Whether the first selected sentences were gold ones, case by case.
#[derive(Default)]
struct Selected {
    first: Vec<Scored>,
    second: Vec<Scored>,
    candidates: usize,
}

impl Selected {
    fn add(&mut self, case: &SelectionCase, scores: &[f32]) {
        let mut order: Vec<usize> = (0..scores.len()).collect();
        order.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]).then(a.cmp(b)));
        self.candidates += scores.len();
        let hit = |k: usize| {
            let called = order.iter().take(k).any(|n| case.gold.contains(n));
            Scored { score: 0.0, called, truth: true }
        };
        self.first.push(hit(1));
        self.second.push(hit(2));
    }

    fn report(&self, set: &str, selector: &str) -> SelectionReport {
        let share = |hits: &[Scored]| {
            statistics::interval(hits, |s| Some(statistics::accuracy(s)))
                .unwrap_or(Interval::UNKNOWN)
        };
        let n = self.first.len();
        SelectionReport {
            set: set.to_owned(),
            selector: selector.to_owned(),
            n,
            mean_candidates: self.candidates as f64 / n.max(1) as f64,
            at_1: share(&self.first),
            at_2: share(&self.second),
        }
    }
}
