//! Expert evaluation of review reports: one system a plan, blind, and the effect of the system.
//!
//! [`ReviewRecord`] is one submission as it is exported. [`effects`] fits for each dimension a linear mixed model: the outcome is the mean
//! of a submission's items, standardised over all submissions, the fixed effect the system, the random intercept the participant. Beside
//! it stand whether the study was blind (Pearson's r of guessed and true system) and whether plans were told alike in detail (Welch's t of
//! their words).
//!
//! Source: arXiv 2510.16234, section 5, table 4 and appendix; the published β fit a standardised outcome and a system coded 0 or 1.

mod markdown;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::statistics::correlation::{Correlation, pearson_test};
use crate::statistics::mean;
use crate::statistics::mixed_model::{Effect, Likelihood, Row, fit};
use crate::statistics::welch::{Sample, Welch, welch};

/// Schema identifier that [`ReviewRecord::schema`] must hold.
pub const REVIEW_SCHEMA: &str = "openscholar.review-evaluation/1";
/// Schema identifier of [`ReviewSummary`].
pub const REVIEW_SUMMARY_SCHEMA: &str = "openscholar.review-summary/1";
/// Dimensions in the order of the paper's table; others that records hold come behind.
const DIMENSIONS: [&str; 6] = ["Citations", "Faithful", "Useful", "Focus", "LitEngage", "Refine"];

/// One submission of one participant on one report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewRecord {
    /// Always [`REVIEW_SCHEMA`].
    pub schema: String,
    /// Identifier of the plan within the study.
    pub instance: String,
    /// Words of the plan.
    pub plan_words: usize,
    /// Name of the participant.
    pub annotator: String,
    /// 1 for the participant's first submission on this report, then 2 …
    pub version: u32,
    /// Whether it is the participant's last one on this report.
    pub latest: bool,
    /// When the participant's first entry was saved, UTC.
    pub started: String,
    /// When it was submitted, UTC.
    pub submitted: String,
    /// The system that wrote the report.
    pub system: String,
    /// Words of the report without citations.
    pub words: usize,
    /// The values; empty when the report was passed over.
    pub scores: Vec<ReviewValue>,
    /// Whether the participant takes the writer for the specialised system; `None` where they cannot tell or passed over.
    pub guessed_specialised: Option<bool>,
    /// What helped and what did not, in the participant's words.
    #[serde(default)]
    pub explanation: String,
    /// Remarks on the plan in the participant's words.
    #[serde(default)]
    pub comment: String,
}

/// The value of one item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewValue {
    /// Name of the item.
    pub item: String,
    /// What it is summed up under.
    pub dimension: String,
    /// `soundness` or `contribution`.
    pub part: String,
    /// 1 to 10, or a count.
    pub value: u8,
}

/// What a study of reports says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReviewSummary {
    /// Always [`REVIEW_SUMMARY_SCHEMA`].
    pub schema: String,
    /// The system whose effect is told.
    pub system: String,
    /// The system it is compared with.
    pub baseline: String,
    /// Latest submissions that rate.
    pub evaluations: usize,
    /// Latest submissions that pass a report over.
    pub passed_over: usize,
    /// Participants with a submission that rates.
    pub participants: usize,
    /// Each dimension.
    pub dimensions: Vec<DimensionEffect>,
    /// Pearson's r of guessed and true system over those who guess; `None` where it is undefined.
    pub blindness: Option<Correlation>,
    /// Whether plans were longer with one of the systems; `None` where it is undefined.
    pub detail: Option<Welch>,
}

/// The effect of the system on one dimension.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DimensionEffect {
    /// Name of the dimension.
    pub dimension: String,
    /// Evaluations with a value.
    pub n: usize,
    /// Mean and deviation of the system's evaluations, as they were given.
    pub system: Option<Sample>,
    /// The same of the baseline.
    pub baseline: Option<Sample>,
    /// β of the system on the standardised outcome; `None` where the model cannot be fitted.
    pub effect: Option<Effect>,
    /// Share of the variance that participants explain, τ² of τ² + σ².
    pub participants_share: Option<f64>,
}

/// Reads exported records.
///
/// # Errors
/// Names the line and what is wrong with it.
pub fn read_review_records(text: &str) -> Result<Vec<ReviewRecord>, String> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(at, line)| {
            let record: ReviewRecord =
                serde_json::from_str(line).map_err(|error| format!("line {}: {error}", at + 1))?;
            if record.schema == REVIEW_SCHEMA {
                Ok(record)
            } else {
                let schema = &record.schema;
                Err(format!("line {}: schema is {schema:?}, not {REVIEW_SCHEMA:?}", at + 1))
            }
        })
        .collect()
}

/// Whether a text holds records of reports and not of comparisons: by its first line.
pub fn is_of_reviews(text: &str) -> bool {
    text.lines().find(|line| !line.trim().is_empty()).is_some_and(|line| {
        serde_json::from_str::<serde_json::Value>(line).is_ok_and(|value| {
            value.get("schema").and_then(|one| one.as_str()) == Some(REVIEW_SCHEMA)
        })
    })
}

/// Sums the latest records up; the effect told is that of `system`.
///
/// # Errors
/// When the records are not of exactly two systems, or none of them is `system`.
pub fn effects(records: &[ReviewRecord], system: Option<&str>) -> Result<ReviewSummary, String> {
    let systems: BTreeSet<&str> = records.iter().map(|record| record.system.as_str()).collect();
    let systems: Vec<&str> = systems.into_iter().collect();
    let [first, second] = systems.as_slice() else {
        return Err(format!("the records are of {} systems, not of two", systems.len()));
    };
    let (system, baseline) = match system {
        None => (*first, *second),
        Some(name) if name == *first => (*first, *second),
        Some(name) if name == *second => (*second, *first),
        Some(name) => {
            return Err(format!("the records are of {first:?} and {second:?}, not of {name:?}"));
        }
    };
    let latest = || records.iter().filter(|record| record.latest);
    let rated: Vec<&ReviewRecord> = latest().filter(|record| !record.scores.is_empty()).collect();
    let mut names: Vec<&str> = DIMENSIONS.to_vec();
    for score in rated.iter().flat_map(|record| &record.scores) {
        if !names.contains(&score.dimension.as_str()) {
            names.push(&score.dimension);
        }
    }
    let of = |name: &str| plan_words(latest(), name);
    let participants: BTreeSet<&str> = rated.iter().map(|one| one.annotator.as_str()).collect();
    let dimensions = names.iter().map(|name| dimension(name, &rated, system));
    Ok(ReviewSummary {
        schema: REVIEW_SUMMARY_SCHEMA.to_owned(),
        system: system.to_owned(),
        baseline: baseline.to_owned(),
        evaluations: rated.len(),
        passed_over: latest().count() - rated.len(),
        participants: participants.len(),
        dimensions: dimensions.filter(|one| one.n > 0).collect(),
        blindness: blindness(&rated, system),
        detail: of(system).zip(of(baseline)).and_then(|(a, b)| welch(a, b)),
    })
}

/// Words of the plans whose reports a system wrote.
fn plan_words<'a>(records: impl Iterator<Item = &'a ReviewRecord>, system: &str) -> Option<Sample> {
    let words: BTreeMap<&str, usize> = records
        .filter(|record| record.system == system)
        .map(|record| (record.instance.as_str(), record.plan_words))
        .collect();
    let words: Vec<f64> =
        words.into_values().map(|words| crate::statistics::ratio(words, 1)).collect();
    Sample::of(&words)
}

fn blindness(rated: &[&ReviewRecord], system: &str) -> Option<Correlation> {
    let number = |yes: bool| f64::from(u8::from(yes));
    let (guessed, true_ones): (Vec<f64>, Vec<f64>) = rated
        .iter()
        .filter_map(|record| {
            Some((number(record.guessed_specialised?), number(record.system == system)))
        })
        .unzip();
    pearson_test(&guessed, &true_ones)
}

fn dimension(name: &str, rated: &[&ReviewRecord], system: &str) -> DimensionEffect {
    let outcomes: Vec<(&ReviewRecord, f64)> = rated
        .iter()
        .filter_map(|record| {
            let of = record.scores.iter().filter(|score| score.dimension == name);
            let values: Vec<f64> = of.map(|score| f64::from(score.value)).collect();
            (!values.is_empty()).then(|| (*record, mean(&values)))
        })
        .collect();
    let of = |own: bool| {
        let values = outcomes.iter().filter(|(record, _)| (record.system == system) == own);
        Sample::of(&values.map(|(_, value)| *value).collect::<Vec<_>>())
    };
    let all: Vec<f64> = outcomes.iter().map(|(_, value)| *value).collect();
    let model = Sample::of(&all).filter(|all| all.sd > 0.0).and_then(|all| {
        let mut groups: BTreeMap<&str, Vec<Row<2>>> = BTreeMap::new();
        for (record, value) in &outcomes {
            let x = [1.0, f64::from(u8::from(record.system == system))];
            let row = Row { x, y: (value - all.mean) / all.sd };
            groups.entry(&record.annotator).or_default().push(row);
        }
        fit(&groups.into_values().collect::<Vec<_>>(), Likelihood::Restricted)
    });
    DimensionEffect {
        dimension: name.to_owned(),
        n: outcomes.len(),
        system: of(true),
        baseline: of(false),
        effect: model.as_ref().and_then(|model| model.effects.get(1)).copied(),
        participants_share: model
            .map(|model| model.group_variance / (model.group_variance + model.residual_variance)),
    }
}
