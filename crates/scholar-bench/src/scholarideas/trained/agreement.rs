//! How far measured grades agree with a judge's, on ideas that the calibration has not seen.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Serialize;

use super::calibration::{Calibration, CalibrationRow};
use crate::scholarideas::model::IdeaId;
use crate::statistics::agreement::{KappaWeights, cohen_kappa, percent};
use crate::statistics::correlation::{pearson, spearman};
use crate::statistics::{Estimate, SEED, estimate_by, mean};

/// Schema of the report.
pub const AGREEMENT_SCHEMA: &str = "openscholar.coverage-agreement/1";
/// Fewest rubrics on which an agreement is worth the name.
pub const ENOUGH: usize = 150;

/// A judge's grade and a measured one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Pair {
    /// The judge's grade.
    pub judged: f64,
    /// The measured grade.
    pub measured: f64,
}

/// Of judged and measured grades, in this order.
type Statistic = dyn Fn(&[f64], &[f64]) -> Option<f64>;

/// Agreement on one system's reports, or on all.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CoverageAgreement {
    /// Name of the system, or `all`.
    pub system: String,
    /// Rubrics.
    pub n: usize,
    /// Their ideas.
    pub ideas: usize,
    /// Mean of the judge's grades, with an interval that draws ideas.
    pub judged: Option<Estimate>,
    /// Mean of the measured grades, likewise.
    pub measured: Option<Estimate>,
    /// Pearson's r over rubrics, with an interval that draws ideas.
    pub pearson: Option<Estimate>,
    /// Spearman's rho, likewise.
    pub spearman: Option<Estimate>,
    /// Cohen's κ of whole grades with quadratic weights.
    pub kappa: Option<f64>,
    /// Share of rubrics with the same whole grade.
    pub same: Option<f64>,
    /// Share of rubrics with whole grades at most 1 apart.
    pub within_one: Option<f64>,
    /// Mean distance of the grades.
    pub error: f64,
    /// Mean distance of the judge's grades from the mean grade of the calibration: what knowing nothing gives.
    pub error_of_mean: f64,
}

/// Agreement on what was not calibrated on.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AgreementReport {
    /// Always [`AGREEMENT_SCHEMA`].
    pub schema: &'static str,
    /// Who judged, as the calibration says.
    pub judge: String,
    /// Rubrics left out because the calibration has seen their ideas.
    pub left_out: usize,
    /// Whether there are [`ENOUGH`] rubrics.
    pub enough: bool,
    /// All systems together, then each.
    pub systems: Vec<CoverageAgreement>,
}

/// Compares the grades of each named system's rows.
pub fn agreement(
    calibration: &Calibration,
    systems: &[(String, Vec<CalibrationRow>)],
) -> AgreementReport {
    let mut left_out = 0;
    let mut all: BTreeMap<(usize, IdeaId), Vec<Pair>> = BTreeMap::new();
    let mut each = Vec::new();
    for (nth, (name, rows)) in systems.iter().enumerate() {
        let mut own: BTreeMap<IdeaId, Vec<Pair>> = BTreeMap::new();
        for row in rows {
            if calibration.ideas.contains(&row.idea) {
                left_out += 1;
                continue;
            }
            let pair = Pair { judged: row.score, measured: calibration.grade(&row.features) };
            own.entry(row.idea).or_default().push(pair);
            all.entry((nth, row.idea)).or_default().push(pair);
        }
        let ideas = own.len();
        each.extend(of(name, own.into_values().collect(), ideas, calibration));
    }
    // An idea is drawn with the reports of all systems on it.
    let mut by_idea: BTreeMap<IdeaId, Vec<Pair>> = BTreeMap::new();
    for ((_, idea), pairs) in all {
        by_idea.entry(idea).or_default().extend(pairs);
    }
    let ideas = by_idea.len();
    let whole = of("all", by_idea.into_values().collect(), ideas, calibration);
    let enough = whole.as_ref().is_some_and(|whole| whole.n >= ENOUGH);
    AgreementReport {
        schema: AGREEMENT_SCHEMA,
        judge: calibration.judge.clone(),
        left_out,
        enough,
        systems: whole.into_iter().chain(each).collect(),
    }
}

/// `None` without rubrics.
fn of(
    system: &str,
    groups: Vec<Vec<Pair>>,
    ideas: usize,
    calibration: &Calibration,
) -> Option<CoverageAgreement> {
    let pairs: Vec<Pair> = groups.iter().flatten().copied().collect();
    if pairs.is_empty() {
        return None;
    }
    let whole: Vec<(usize, usize)> =
        pairs.iter().map(|pair| (whole_grade(pair.judged), whole_grade(pair.measured))).collect();
    let columns = |groups: &[&Vec<Pair>]| -> (Vec<f64>, Vec<f64>) {
        groups
            .iter()
            .flat_map(|group| group.iter())
            .map(|pair| (pair.judged, pair.measured))
            .unzip()
    };
    let by_idea = |statistic: &Statistic| {
        estimate_by(&groups, SEED, |groups| {
            let (judged, measured) = columns(groups);
            statistic(&judged, &measured)
        })
    };
    let distance = |from: &dyn Fn(&Pair) -> f64| {
        mean(&pairs.iter().map(|pair| (pair.judged - from(pair)).abs()).collect::<Vec<_>>())
    };
    let near: Vec<(bool, bool)> = whole.iter().map(|(a, b)| (a.abs_diff(*b) <= 1, true)).collect();
    Some(CoverageAgreement {
        system: system.to_owned(),
        n: pairs.len(),
        ideas,
        judged: by_idea(&|judged, _| Some(mean(judged))),
        measured: by_idea(&|_, measured| Some(mean(measured))),
        pearson: by_idea(&pearson),
        spearman: by_idea(&spearman),
        kappa: cohen_kappa(&whole, KappaWeights::Quadratic),
        same: percent(&whole),
        within_one: percent(&near),
        error: distance(&|pair| pair.measured),
        error_of_mean: distance(&|_| calibration.mean_grade),
    })
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a grade from 1 to 5")]
fn whole_grade(grade: f64) -> usize {
    grade.round() as usize
}

impl AgreementReport {
    /// As a table, with what it rests on.
    pub fn markdown(&self, calibration: &Calibration) -> String {
        let names = &calibration.models;
        let mut text = format!(
            "Measured by {}, {} and {}, calibrated on {} rubrics of {} ideas graded by {}; the rubrics below are of other ideas ({} of \
             calibrated ideas are left out). Intervals draw ideas.\n\n",
            names.encoder,
            names.attributor,
            names.classifier,
            calibration.rubrics,
            calibration.ideas.len(),
            self.judge,
            self.left_out
        );
        if !self.enough {
            let _infallible =
                write!(text, "**Fewer than {ENOUGH} rubrics: too few to rely on.**\n\n");
        }
        text.push_str(
            "| system | rubrics | ideas | judged | measured | Pearson r | Spearman ρ | κ (quadratic) | same grade | at most 1 apart | mean error | error of the mean grade |\n\
             |---|---|---|---|---|---|---|---|---|---|---|---|\n",
        );
        let interval = |value: Option<Estimate>| {
            value.map_or_else(
                || "–".to_owned(),
                |one| format!("{:.2} ({:.2}–{:.2})", one.mean, one.low, one.high),
            )
        };
        let number =
            |value: Option<f64>| value.map_or_else(|| "–".to_owned(), |one| format!("{one:.2}"));
        for one in &self.systems {
            let _infallible = writeln!(
                text,
                "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {:.2} | {:.2} |",
                one.system,
                one.n,
                one.ideas,
                interval(one.judged),
                interval(one.measured),
                interval(one.pearson),
                interval(one.spearman),
                number(one.kappa),
                number(one.same),
                number(one.within_one),
                one.error,
                one.error_of_mean
            );
        }
        text
    }
}
