//! How far a small judge's scores hold on sources that they were not calibrated on.
//!
//! The judge's score goes through a logistic curve of its log-odds (Platt scaling), fitted on all sources and on all but
//! the one measured. The first says what calibration can reach, the second what it is worth on texts of another kind.
//! Source: Platt 1999.

use std::path::Path;

use scholar_core::{Attributor, Encoder};
use serde::Serialize;

use super::data::{Truth, judged};
use crate::attribution::data::{Case, CaseSet, Label, Split, claim_sets};
use crate::attribution::statistics::{Scored, calibration_by_chance, ece};
use crate::attribution::{AttributionError, judge_set};
use crate::statistics::logistic::{Observation, fit, probability, ridge};

/// Calibration of one judge.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CalibrationReport {
    /// Name of the judge.
    pub judge: String,
    /// By source; those of one corpus are left out together.
    pub sources: Vec<SourceCalibration>,
    /// Over all pairs.
    pub pooled: SourceCalibration,
}

/// Expected calibration errors on one source: mean distance of score and observed share over ten bins.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SourceCalibration {
    /// Its name.
    pub name: String,
    /// Pairs of a sentence and its evidence.
    pub n: usize,
    /// Of which are supported.
    pub supported: usize,
    /// Of the score as the judge gives it.
    pub as_given: f64,
    /// Refitted on all sources, this one included.
    pub in_sample: f64,
    /// Refitted on the sources of other corpora.
    pub left_out: f64,
    /// What 95 of 100 perfectly calibrated judges with these scores stay below.
    pub by_chance: f64,
}

/// Penalty of the slope: a normal prior wide beside any slope seen.
const PENALTY: f64 = 0.01;
/// Scores nearer to 0 and 1 have no finite log-odds.
const NEAREST: f64 = 1e-4;

/// Calibration of `judge` on the development claims and the judged sentences below `dir`.
///
/// # Errors
/// [`AttributionError`] when a file is missing or malformed, or the judge fails.
pub async fn calibration(
    judge: &dyn Attributor,
    encoder: Option<&dyn Encoder>,
    dir: &Path,
) -> Result<CalibrationReport, AttributionError> {
    let mut sets = claim_sets(dir, Split::Dev).map_err(AttributionError::Data)?;
    sets.push(judged_set(dir)?);
    let mut scored: Vec<(String, Vec<Scored>)> = Vec::new();
    for set in sets {
        let judgements = judge_set(judge, encoder, &set)
            .await
            .map_err(|source| AttributionError::Judge { set: set.name.clone(), source })?;
        let pairs = set.cases.iter().zip(judgements).map(|(case, judgement)| {
            let truth = case.label == Label::Supported;
            Scored { score: f64::from(judgement.score), called: truth, truth }
        });
        let pairs = pairs.collect();
        scored.push((set.name, pairs));
    }
    Ok(report(judge.name(), &scored))
}

fn judged_set(dir: &Path) -> Result<CaseSet, AttributionError> {
    let source = judged(dir).map_err(AttributionError::Data)?;
    let cases = source.cases.into_iter().map(|case| {
        let label = if case.label == Truth::Full { Label::Supported } else { Label::Unrelated };
        Case { sentence: case.sentence, passage: case.source.join(" "), label }
    });
    Ok(CaseSet { name: source.name, cases: cases.collect() })
}

/// The corpus that a set is of: its name up to the first comma.
fn corpus(name: &str) -> &str {
    name.split(',').next().unwrap_or(name)
}

fn report(judge: &str, scored: &[(String, Vec<Scored>)]) -> CalibrationReport {
    let every = |skipped: Option<&str>| -> Vec<Scored> {
        let kept = scored.iter().filter(|(name, _)| Some(corpus(name)) != skipped);
        kept.flat_map(|(_, pairs)| pairs).copied().collect()
    };
    let all = every(None);
    let curve_of_all = curve(&all);
    let mut sources = Vec::new();
    let (mut fitted, mut unseen) = (Vec::new(), Vec::new());
    for (name, pairs) in scored {
        let seen = refitted(pairs, &curve_of_all);
        let left_out = refitted(pairs, &curve(&every(Some(corpus(name)))));
        sources.push(source(name, pairs, &seen, &left_out));
        fitted.extend(seen);
        unseen.extend(left_out);
    }
    let pooled = source("all", &all, &fitted, &unseen);
    CalibrationReport { judge: judge.to_owned(), sources, pooled }
}

fn source(name: &str, given: &[Scored], seen: &[Scored], unseen: &[Scored]) -> SourceCalibration {
    SourceCalibration {
        name: name.to_owned(),
        n: given.len(),
        supported: given.iter().filter(|one| one.truth).count(),
        as_given: ece(given),
        in_sample: ece(seen),
        left_out: ece(unseen),
        by_chance: calibration_by_chance(unseen).1,
    }
}

fn features(score: f64) -> [f64; 2] {
    let score = score.clamp(NEAREST, 1.0 - NEAREST);
    [1.0, (score / (1.0 - score)).ln()]
}

fn curve(pairs: &[Scored]) -> [f64; 2] {
    let rows: Vec<Observation<2>> = pairs
        .iter()
        .map(|one| Observation {
            x: features(one.score),
            y: f64::from(u8::from(one.truth)),
            weight: 1.0,
        })
        .collect();
    fit(&rows, &ridge(PENALTY))
}

fn refitted(pairs: &[Scored], curve: &[f64; 2]) -> Vec<Scored> {
    let score = |one: &Scored| probability(curve, &features(one.score));
    pairs.iter().map(|one| Scored { score: score(one), ..*one }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pairs whose true share is `share`, all scored `score`.
    fn set(name: &str, score: f64, share: f64) -> (String, Vec<Scored>) {
        let one = |n: usize| {
            let truth = (n as f64) < share * 100.0;
            Scored { score, called: truth, truth }
        };
        (name.to_owned(), (0..100).map(one).collect())
    }

    #[test]
    fn a_curve_of_another_corpus_fits_worse() {
        let sets = [set("a, dev", 0.3, 0.3), set("a, more", 0.8, 0.8), set("b, dev", 0.8, 0.4)];
        let report = report("judge", &sets);
        let b = &report.sources[2];
        assert!((b.as_given - 0.4).abs() < 1e-9, "{b:?}");
        assert!(b.in_sample < b.left_out, "{b:?}");
        assert!((b.left_out - 0.4).abs() < 0.02, "both sets of a are left in: {b:?}");
        assert_eq!((report.pooled.n, report.pooled.supported), (300, 150));
    }
}
