//! The content gates against people: false alarms on supported sentences, and what they catch.
//!
//! [`measure`] runs the checks over the sets of [`data`], and over [`swaps`] of the supported sentences that pass. Lists and
//! thresholds of the checks were tuned on the training splits; reports are of the development splits, but for the judged
//! sentences, which are too few to be divided.

pub mod calibration;
pub mod data;
mod markdown;
pub mod swaps;

pub use markdown::markdown;

use std::path::Path;

use scholar_core::{ContentCheck, Missing};
use scholar_pipeline::proof::content::missing;
use serde::Serialize;

use crate::attribution::data::{DataError, Split};
use crate::statistics::Share;
use calibration::CalibrationReport;
use data::{Case, Source, Truth, sources};

/// Schema of the report.
pub const REPORT_SCHEMA: &str = "openscholar.gates-report/2";

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

/// Measures the checks on `split` below `dir` (`claims/`, `judged/`, `qa/`, `retrieval/scifact_test300/`).
///
/// # Errors
/// [`DataError`] with file and line.
pub fn measure(dir: &Path, split: Split) -> Result<GatesReport, DataError> {
    let sources = sources(dir, split)?;
    let mut reports = Vec::new();
    let mut listed = Vec::new();
    let mut clean: Vec<Vec<Missing>> = Vec::new();
    let mut alarms = Vec::new();
    for source in &sources {
        let found: Vec<Vec<Missing>> =
            source.cases.iter().map(|case| missing(&case.sentence, &case.source_text())).collect();
        let of = |full: bool| -> Vec<Vec<Missing>> {
            let both = source.cases.iter().zip(&found);
            both.filter(|(case, _)| (case.label == Truth::Full) == full)
                .map(|(_, found)| found.clone())
                .collect()
        };
        if source.is_clean {
            clean.extend(of(true));
            alarms.extend(alarms_of(source, &found));
        }
        if source.is_listed {
            listed.extend(
                source.cases.iter().zip(&found).filter_map(|(case, found)| entry(case, found)),
            );
        }
        reports.push(SourceReport {
            name: source.name.clone(),
            remark: source.remark.to_owned(),
            supported: shares(&of(true)),
            others: shares(&of(false)),
            swaps: swapped(source, &found),
        });
    }
    Ok(GatesReport {
        schema: REPORT_SCHEMA.to_owned(),
        sources: reports,
        supported: shares(&clean),
        listed,
        alarms,
        calibration: None,
    })
}

fn alarms_of<'a>(
    source: &'a Source,
    found: &'a [Vec<Missing>],
) -> impl Iterator<Item = Alarm> + 'a {
    let both = source.cases.iter().zip(found);
    both.filter(|(case, found)| case.label == Truth::Full && !found.is_empty()).map(
        |(case, found)| Alarm {
            source: source.name.clone(),
            id: case.id.clone(),
            missing: found.clone(),
        },
    )
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

fn swapped(source: &Source, found: &[Vec<Missing>]) -> Vec<SwapReport> {
    let passing: Vec<&Case> = source
        .cases
        .iter()
        .zip(found)
        .filter(|(case, found)| case.label == Truth::Full && found.is_empty())
        .map(|(case, _)| case)
        .collect();
    let report = |check: ContentCheck| {
        let (mut n, mut own, mut any) = (0, 0, 0);
        for (at, case) in passing.iter().enumerate() {
            let others = (0..passing.len())
                .map(|step| &passing[(at + FOREIGN + step) % passing.len()].sentence);
            let changed =
                others.take(20).find_map(|other| swaps::swap(check, &case.sentence, other));
            let Some(changed) = changed else { continue };
            let missed = missing(&changed, &case.source_text());
            n += 1;
            own += usize::from(missed.iter().any(|one| one.check == check));
            any += usize::from(!missed.is_empty());
        }
        SwapReport { check, own: Share::of(own, n), any: Share::of(any, n) }
    };
    ContentCheck::ALL.into_iter().map(report).collect()
}
