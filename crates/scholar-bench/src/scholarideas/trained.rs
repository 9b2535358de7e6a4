//! Coverage without a judge: how near a reviewer's point is to the sentences of a report, by the small trained models, turned into a
//! grade by a function that was calibrated on a judge's grades.
//!
//! It costs milliseconds a rubric and no dollars. It is no judge: it sees that the same things are spoken of, hardly ever that the
//! opposite is said of them. Its agreement with a judge on ideas that were not used for calibration stands beside it ([`agreement`]), and
//! a number of it is called measured, never judged.
//!
//! Steps: [`sentences_of`] takes the prose out of the Markdown; [`measure`] compares each point with its sentences ([`Features`]);
//! [`Calibration`] makes an expected grade of them.
//!
//! Source: ours.

pub mod agreement;
pub mod calibration;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::sync::Arc;

use scholar_core::text::sentences::sentence_texts;
use scholar_core::text::words::content_stems;
use scholar_core::{
    Attributor, EmbeddedText, Encoder, PassageKind, PortError, SentenceClassifier,
    SentenceInContext, Side,
};
use serde::{Deserialize, Serialize};

use super::coverage::{Grade, GradeOutcome};
use super::model::Dataset;
use super::reports::Reports;
use crate::statistics::ratio;

pub use calibration::{Calibration, CalibrationError, CalibrationRow};

/// Sentences around one that are read with it, on either side: a point and its reason are rarely one sentence.
const AROUND: usize = 1;
/// Windows that the judge of support reads for a point, the nearest first.
const JUDGED: usize = 6;
/// Nearest sentences whose mean is a feature.
const NEAREST: usize = 3;

/// The models that compare.
#[derive(Clone)]
pub struct CoverageModels {
    /// Gives vectors of points and sentences.
    pub encoder: Arc<dyn Encoder>,
    /// Says how far sentences support a point.
    pub attributor: Arc<dyn Attributor>,
    /// Says how far a sentence answers a point taken as a question; reads vectors of `encoder`.
    pub classifier: Arc<dyn SentenceClassifier>,
}

/// Names of the models, as they stand in a calibration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelNames {
    /// Name of the encoder.
    pub encoder: String,
    /// Name of the judge of support.
    pub attributor: String,
    /// Name of the sentence classifier.
    pub classifier: String,
}

impl CoverageModels {
    /// Names of the models.
    pub fn names(&self) -> ModelNames {
        ModelNames {
            encoder: self.encoder.info().name.clone(),
            attributor: self.attributor.name().to_owned(),
            classifier: self.classifier.info().name.clone(),
        }
    }
}

/// What speaks for it that a report makes a point; each grows with nearness.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Features {
    /// Highest cosine of the point with a sentence, −1 to 1.
    pub nearest: f64,
    /// Mean of the three highest.
    pub nearest_three: f64,
    /// Largest share of the point's content stems in one window of sentences, 0 to 1.
    pub words: f64,
    /// Highest probability that one of the nearest windows supports the point, 0 to 1.
    pub support: f64,
    /// Highest probability that a sentence answers the point taken as a question, 0 to 1.
    pub answers: f64,
}

impl Features {
    /// Number of features.
    pub const COUNT: usize = 5;
    /// Their names, in order.
    pub const NAMES: [&'static str; Self::COUNT] =
        ["nearest", "nearest_three", "words", "support", "answers"];

    /// The values in the order of [`Features::NAMES`].
    pub fn all(&self) -> [f64; Self::COUNT] {
        let Self { nearest, nearest_three, words, support, answers } = *self;
        [nearest, nearest_three, words, support, answers]
    }
}

/// Features of a point with the sentence that is nearest to it.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// What speaks for it.
    pub features: Features,
    /// The nearest sentence of the report.
    pub sentence: String,
}

/// The sentences of a report: no headings, links as their words, no list of references.
pub fn sentences_of(markdown: &str) -> Vec<String> {
    let mut sentences = Vec::new();
    for line in markdown.lines().map(str::trim) {
        let heading = line.trim_start_matches('#');
        if heading.len() < line.len() {
            if heading.trim().to_lowercase().starts_with("references") {
                break;
            }
            continue;
        }
        let line = line.trim_start_matches(['-', '*', '>', '+', ' ']);
        let prose = without_links(line).replace("**", "");
        sentences.extend(
            sentence_texts(&prose)
                .into_iter()
                .filter(|one| one.split_whitespace().count() >= 3)
                .map(str::to_owned),
        );
    }
    sentences
}

/// `[words](address)` without brackets and address; citations in brackets are no words.
fn without_links(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some((before, after)) = rest.split_once('[') {
        out.push_str(before);
        let link = after.split_once("](").and_then(|(words, tail)| {
            let close = address_end(tail)?;
            (!words.contains('[')).then(|| (words, &tail[close + 1..]))
        });
        match link {
            Some((words, tail)) => {
                // `[(Li et al., 2020-01)](…)` and `[3](…)` cite.
                let cites =
                    words.starts_with('(') || words.bytes().all(|byte| byte.is_ascii_digit());
                if !cites {
                    out.push_str(words);
                }
                rest = tail;
            }
            None => {
                out.push('[');
                rest = after;
            }
        }
    }
    out.push_str(rest);
    out
}

/// Place of the bracket that closes an address.
fn address_end(tail: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, c) in tail.char_indices() {
        match c {
            '(' => depth += 1,
            ')' if depth == 0 => return Some(at),
            ')' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// Features of each of `statements` in `report`; `None` of a report without sentences.
///
/// # Errors
/// When a model cannot run.
pub async fn measure(
    models: &CoverageModels,
    report: &str,
    statements: &[&str],
) -> Result<Option<Vec<Measured>>, PortError> {
    let sentences = sentences_of(report);
    if sentences.is_empty() || statements.is_empty() {
        return Ok(None);
    }
    let texts: Vec<&str> = sentences.iter().map(String::as_str).collect();
    let vectors = models.encoder.encode(Side::Passage, &texts)?.unit_rows();
    let asked = models.encoder.encode(Side::Query, statements)?.unit_rows();
    let windows: Vec<String> = (0..sentences.len())
        .map(|at| {
            let end = (at + AROUND + 1).min(sentences.len());
            sentences[at.saturating_sub(AROUND)..end].join(" ")
        })
        .collect();
    let stems: Vec<BTreeSet<String>> =
        windows.iter().map(|text| content_stems(text).into_iter().collect()).collect();
    let in_context = in_context(&texts, &vectors);
    let mut measured = Vec::with_capacity(statements.len());
    for (statement, vector) in statements.iter().zip(&asked) {
        let mut near: Vec<(usize, f32)> =
            vectors.iter().map(|other| dot(vector, other)).enumerate().collect();
        near.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let pairs: Vec<(&str, &str)> =
            near.iter().take(JUDGED).map(|(at, _)| (*statement, windows[*at].as_str())).collect();
        let support = models.attributor.judge(&pairs).await?;
        let question = EmbeddedText { text: statement, vector };
        let answers = models.classifier.classify(question, &in_context)?;
        let three: Vec<f64> =
            near.iter().take(NEAREST).map(|(_, cosine)| f64::from(*cosine)).collect();
        let features = Features {
            nearest: three[0],
            nearest_three: crate::statistics::mean(&three),
            words: shared(statement, &stems),
            support: highest(support.iter().map(|one| one.score)),
            answers: highest(answers.iter().map(|one| one.answers)),
        };
        measured.push(Measured { features, sentence: sentences[near[0].0].clone() });
    }
    Ok(Some(measured))
}

fn in_context<'a>(texts: &[&'a str], vectors: &'a [Vec<f32>]) -> Vec<SentenceInContext<'a>> {
    let beside = |at: Option<usize>| at.and_then(|at| vectors.get(at)).map(Vec::as_slice);
    (0..texts.len())
        .map(|at| SentenceInContext {
            sentence: EmbeddedText { text: texts[at], vector: &vectors[at] },
            before: beside(at.checked_sub(1)),
            after: beside(Some(at + 1)),
            title: None,
            kind: PassageKind::Body,
            section: "",
            nth: at,
            of: texts.len(),
        })
        .collect()
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn highest(values: impl Iterator<Item = f32>) -> f64 {
    values.map(f64::from).fold(0.0, f64::max)
}

/// Largest share of the statement's stems in one window.
fn shared(statement: &str, windows: &[BTreeSet<String>]) -> f64 {
    let wanted: BTreeSet<String> = content_stems(statement).into_iter().collect();
    let most = windows.iter().map(|window| window.intersection(&wanted).count()).max();
    if wanted.is_empty() { 0.0 } else { ratio(most.unwrap_or(0), wanted.len()) }
}

/// What a calibration is fitted to: every grade with a score, measured on its report. The order is that of `grades`.
///
/// # Errors
/// When a model cannot run.
pub async fn calibration_rows(
    models: &CoverageModels,
    grades: &[Grade],
    reports: &Reports,
    progress: &mut (dyn FnMut() + Send),
) -> Result<Vec<CalibrationRow>, PortError> {
    let mut rows = Vec::new();
    for (idea, report) in reports {
        let of: Vec<(&Grade, f64)> = grades
            .iter()
            .filter(|grade| grade.idea == *idea)
            .filter_map(|grade| Some((grade, grade.score()?)))
            .collect();
        let statements: Vec<&str> =
            of.iter().map(|(one, _)| one.rubric.statement.as_str()).collect();
        if let Some(measured) = measure(models, &report.text, &statements).await? {
            rows.extend(of.iter().zip(measured).map(|((grade, score), measured)| CalibrationRow {
                idea: *idea,
                rubric: grade.rubric.clone(),
                features: measured.features,
                score: *score,
            }));
        }
        progress();
    }
    Ok(rows)
}

/// Measures every rubric of every idea with a report, in the order of the dataset. The feedback is the nearest sentence.
///
/// # Errors
/// When a model cannot run.
pub async fn grade_all(
    models: &CoverageModels,
    calibration: &Calibration,
    dataset: &Dataset,
    reports: &Reports,
    progress: &mut (dyn FnMut() + Send),
) -> Result<Vec<Grade>, PortError> {
    let mut grades = Vec::new();
    for idea in &dataset.ideas {
        let Some(report) = reports.get(&idea.id) else { continue };
        let statements: Vec<&str> =
            idea.rubrics.iter().map(|rubric| rubric.statement.as_str()).collect();
        let measured = measure(models, &report.text, &statements).await?;
        for (nth, rubric) in idea.rubrics.iter().enumerate() {
            let outcome = match measured.as_ref().and_then(|list| list.get(nth)) {
                Some(one) => GradeOutcome::Graded {
                    score: calibration.grade(&one.features),
                    feedback: format!("measured; nearest: {}", one.sentence),
                },
                None => GradeOutcome::Missing("the report has no sentences".to_owned()),
            };
            grades.push(Grade { idea: idea.id, rubric: rubric.clone(), outcome });
        }
        progress();
    }
    Ok(grades)
}
