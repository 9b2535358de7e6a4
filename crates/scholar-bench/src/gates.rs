//! The content gates against people: false alarms on supported sentences, and what they catch.
//!
//! [`check`] runs the checks over the sets of [`data`]; [`report`] counts, also over [`swaps`] of the supported sentences that
//! pass. Lists and thresholds of the checks were tuned on the training splits; reports are of the development splits, but
//! for the judged sentences, which are too few to be divided. Whether sentences taken for supported are is decided by
//! [`blind`] judges.

pub mod blind;
pub mod calibration;
pub mod data;
mod markdown;
pub mod swaps;

pub use markdown::markdown;

use std::path::Path;

use scholar_core::{ContentCheck, Missing};
use scholar_pipeline::proof::content::{SourceText, missing};
use serde::Serialize;

use crate::attribution::data::{DataError, Split};
use crate::statistics::Share;
use blind::BlindReport;
use calibration::CalibrationReport;
use data::{Case, Source, Truth, sources};

/// Schema of the report.
pub const REPORT_SCHEMA: &str = "openscholar.gates-report/3";

/// Shares by check, in the order of [`ContentCheck::ALL`], and of any.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Shares {
    /// Sentences of which this check misses something.
    pub by_check: Vec<(ContentCheck, Share)>,
    /// Of which any does.
    pub any: Share,
}

/// One source.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SourceReport {
    /// Its name.
    pub name: String,
    /// What a reader must know of its labels.
    pub remark: String,
    /// False alarms: supported sentences that are flagged.
    pub supported: Shares,
    /// Others that are flagged.
    pub others: Shares,
    /// Of supported sentences that passed, changed by one check's swap: those that this check, and any, then flags.
    pub swaps: Vec<SwapReport>,
}

/// Swaps of one kind.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SwapReport {
    /// What was changed.
    pub check: ContentCheck,
    /// Caught by the check meant.
    pub own: Share,
    /// Caught by any check.
    pub any: Share,
}

/// A judged sentence that is not fully supported.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Listed {
    /// Its number in the set.
    pub id: String,
    /// Its label.
    pub label: String,
    /// The sentence.
    pub sentence: String,
    /// What the checks miss.
    pub missing: Vec<Missing>,
}

/// The whole report.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GatesReport {
    /// [`REPORT_SCHEMA`].
    pub schema: String,
    /// By source.
    pub sources: Vec<SourceReport>,
    /// False alarms over the sources of which every supported sentence rests on the texts shown, see [`markdown()`].
    pub supported: Shares,
    /// The same after blind judges read the flagged sentences, where they did.
    pub blind: Option<BlindReport>,
    /// Every judged sentence that is not fully supported.
    pub listed: Vec<Listed>,
    /// Supported sentences of the clean sources that are flagged, by identifier.
    pub alarms: Vec<Alarm>,
    /// Calibration of a small judge, where one was asked for.
    pub calibration: Option<CalibrationReport>,
}

/// A supported sentence that is flagged.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Alarm {
    /// Name of its source.
    pub source: String,
    /// Its identifier there.
    pub id: String,
    /// What the checks miss.
    pub missing: Vec<Missing>,
}

/// A source with what the checks read and miss of each of its cases, in their order.
#[derive(Debug, Clone)]
pub struct Checked {
    /// The cases.
    pub source: Source,
    /// What the checks read of each.
    texts: Vec<SourceText>,
    /// What they miss of each.
    pub found: Vec<Vec<Missing>>,
}

impl Checked {
    /// Runs the checks over `source`.
    pub fn of(source: Source) -> Self {
        let texts: Vec<SourceText> = source.cases.iter().map(Case::source_text).collect();
        let both = source.cases.iter().zip(&texts);
        let found = both.map(|(case, text)| missing(&case.sentence, text)).collect();
        Self { source, texts, found }
    }

    /// Cases with what the checks miss of them.
    pub fn iter(&self) -> impl Iterator<Item = (&Case, &Vec<Missing>)> {
        self.source.cases.iter().zip(&self.found)
    }

    fn of_truth(&self, full: bool) -> Vec<Vec<Missing>> {
        let chosen = self.iter().filter(|(case, _)| (case.label == Truth::Full) == full);
        chosen.map(|(_, found)| found.clone()).collect()
    }
}

/// Runs the checks on `split` below `dir` (`claims/`, `judged/`, `qa/`, `retrieval/scifact_test300/`).
///
/// # Errors
/// [`DataError`] with file and line.
pub fn check(dir: &Path, split: Split) -> Result<Vec<Checked>, DataError> {
    Ok(sources(dir, split)?.into_iter().map(Checked::of).collect())
}

/// The figures of what [`check`] found.
pub fn report(all: &[Checked]) -> GatesReport {
    let mut reports = Vec::new();
    let mut listed = Vec::new();
    let mut clean: Vec<Vec<Missing>> = Vec::new();
    let mut alarms = Vec::new();
    for checked in all {
        let source = &checked.source;
        if source.is_clean {
            clean.extend(checked.of_truth(true));
            alarms.extend(alarms_of(checked));
        }
        if source.is_listed {
            listed.extend(checked.iter().filter_map(|(case, found)| entry(case, found)));
        }
        reports.push(SourceReport {
            name: source.name.clone(),
            remark: source.remark.to_owned(),
            supported: shares(&checked.of_truth(true)),
            others: shares(&checked.of_truth(false)),
            swaps: swapped(checked),
        });
    }
    GatesReport {
        schema: REPORT_SCHEMA.to_owned(),
        sources: reports,
        supported: shares(&clean),
        blind: None,
        listed,
        alarms,
        calibration: None,
    }
}

fn alarms_of(checked: &Checked) -> impl Iterator<Item = Alarm> + '_ {
    let flagged =
        checked.iter().filter(|(case, found)| case.label == Truth::Full && !found.is_empty());
    flagged.map(|(case, found)| Alarm {
        source: checked.source.name.clone(),
        id: case.id.clone(),
        missing: found.clone(),
    })
}

fn entry(case: &Case, found: &[Missing]) -> Option<Listed> {
    let label = match case.label {
        Truth::Full => return None,
        Truth::Partial => "partial",
        Truth::None => "none",
        Truth::Contradicted => "contradicted",
    };
    let (id, sentence) = (case.id.clone(), case.sentence.clone());
    Some(Listed { id, label: label.to_owned(), sentence, missing: found.to_vec() })
}

fn shares(found: &[Vec<Missing>]) -> Shares {
    let n = found.len();
    let by_check = ContentCheck::ALL.map(|check| {
        let hits = found.iter().filter(|all| all.iter().any(|one| one.check == check)).count();
        (check, Share::of(hits, n))
    });
    let any = found.iter().filter(|all| !all.is_empty()).count();
    Shares { by_check: by_check.to_vec(), any: Share::of(any, n) }
}

/// Sentences from which a swapped entity comes: this many places on.
const FOREIGN: usize = 37;

fn swapped(checked: &Checked) -> Vec<SwapReport> {
    let passing: Vec<(&Case, &SourceText)> = checked
        .iter()
        .zip(&checked.texts)
        .filter(|((case, found), _)| case.label == Truth::Full && found.is_empty())
        .map(|((case, _), text)| (case, text))
        .collect();
    let report = |check: ContentCheck| {
        let (mut n, mut own, mut any) = (0, 0, 0);
        for (at, (case, text)) in passing.iter().enumerate() {
            let others = (0..passing.len())
                .map(|step| &passing[(at + FOREIGN + step) % passing.len()].0.sentence);
            let changed =
                others.take(20).find_map(|other| swaps::swap(check, &case.sentence, other));
            let Some(changed) = changed else { continue };
            let missed = missing(&changed, text);
            n += 1;
            own += usize::from(missed.iter().any(|one| one.check == check));
            any += usize::from(!missed.is_empty());
        }
        SwapReport { check, own: Share::of(own, n), any: Share::of(any, n) }
    };
    ContentCheck::ALL.into_iter().map(report).collect()
}
