//! From features to a grade: four logistic regressions, for the probability of at least 2, 3, 4 and 5.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{Features, ModelNames};
use crate::scholarideas::model::{IdeaId, Rubric};
use crate::statistics::logistic::{Observation, fit, probability, ridge};
use crate::statistics::mean;
use crate::statistics::welch::Sample;

/// Schema of the file.
pub const CALIBRATION_SCHEMA: &str = "openscholar.coverage-calibration/1";
/// Features and the bias.
const N: usize = Features::COUNT + 1;
/// Grades above the lowest.
const THRESHOLDS: [f64; 4] = [2.0, 3.0, 4.0, 5.0];
/// Holds coefficients near zero: a normal prior of deviation 1 on standardised features.
const PENALTY: f64 = 1.0;
/// Fewest rubrics; fewer would fit noise.
pub const FEWEST: usize = 30;

/// A judge's grade of a rubric with what was measured.
#[derive(Debug, Clone, PartialEq)]
pub struct CalibrationRow {
    /// The idea.
    pub idea: IdeaId,
    /// The reviewer's point.
    pub rubric: Rubric,
    /// What was measured.
    pub features: Features,
    /// The judge's grade, 1 to 5.
    pub score: f64,
}

/// A function from features to a grade.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// Always [`CALIBRATION_SCHEMA`].
    pub schema: String,
    /// The models that measured.
    pub models: ModelNames,
    /// Who gave the grades, as the person says that fits.
    pub judge: String,
    /// Names of the features, in order.
    pub features: Vec<String>,
    /// Mean of each feature.
    pub means: [f64; Features::COUNT],
    /// Deviation of each feature.
    pub deviations: [f64; Features::COUNT],
    /// Coefficients for at least 2, 3, 4 and 5: bias, then the standardised features.
    pub coefficients: [[f64; N]; 4],
    /// Ideas whose grades were used: nothing may be reported on them.
    pub ideas: Vec<IdeaId>,
    /// Rubrics that were used.
    pub rubrics: usize,
    /// Mean of the grades that were used.
    pub mean_grade: f64,
}

/// Grades that cannot be calibrated on, or a file that is no calibration.
#[derive(Debug, thiserror::Error)]
pub enum CalibrationError {
    /// Too few rubrics.
    #[error("{0} graded rubrics are too few: at least {FEWEST} are needed")]
    TooFew(usize),
    /// All rubrics have one grade.
    #[error("all grades are the same")]
    Constant,
    /// Not the file it should be.
    #[error("it is no calibration")]
    Malformed(#[source] serde_json::Error),
    /// Made for something else.
    #[error("it was made {0}")]
    Foreign(String),
}

impl Calibration {
    /// Fits the function to `rows`.
    ///
    /// # Errors
    /// [`CalibrationError`] when there are too few rows, or all have one grade.
    pub fn fit(
        rows: &[CalibrationRow],
        models: ModelNames,
        judge: &str,
    ) -> Result<Self, CalibrationError> {
        if rows.len() < FEWEST {
            return Err(CalibrationError::TooFew(rows.len()));
        }
        let scores: Vec<f64> = rows.iter().map(|row| row.score).collect();
        if scores.iter().all(|score| (score - scores[0]).abs() < f64::EPSILON) {
            return Err(CalibrationError::Constant);
        }
        let column = |at: usize| rows.iter().map(|row| row.features.all()[at]).collect::<Vec<_>>();
        let means: [f64; Features::COUNT] = std::array::from_fn(|at| mean(&column(at)));
        let deviations = std::array::from_fn(|at| {
            let sd = Sample::of(&column(at)).map_or(0.0, |sample| sample.sd);
            // A feature that does not vary says nothing, whatever it is divided by.
            if sd > 0.0 { sd } else { 1.0 }
        });
        let coefficients = THRESHOLDS.map(|threshold| {
            let observations: Vec<Observation<N>> = rows
                .iter()
                .map(|row| Observation {
                    x: standardised(&row.features, &means, &deviations),
                    // Half a grade below the threshold: judges' means of two may lie between.
                    y: f64::from(u8::from(row.score >= threshold - 0.5)),
                    weight: 1.0,
                })
                .collect();
            fit(&observations, &ridge(PENALTY))
        });
        let ideas: BTreeSet<IdeaId> = rows.iter().map(|row| row.idea).collect();
        Ok(Self {
            schema: CALIBRATION_SCHEMA.to_owned(),
            models,
            judge: judge.to_owned(),
            features: Features::NAMES.map(str::to_owned).to_vec(),
            means,
            deviations,
            coefficients,
            ideas: ideas.into_iter().collect(),
            rubrics: rows.len(),
            mean_grade: mean(&scores),
        })
    }

    /// Reads the text of a calibration made for `models`.
    ///
    /// # Errors
    /// [`CalibrationError`] when it is no calibration, or one for other models or features.
    pub fn parse(text: &str, models: &ModelNames) -> Result<Self, CalibrationError> {
        let read: Self = serde_json::from_str(text).map_err(CalibrationError::Malformed)?;
        if read.schema != CALIBRATION_SCHEMA || read.features != Features::NAMES {
            return Err(CalibrationError::Foreign("by another version of the program".to_owned()));
        }
        if read.models != *models {
            let ModelNames { encoder, attributor, classifier } = &read.models;
            return Err(CalibrationError::Foreign(format!(
                "with {encoder}, {attributor} and {classifier}"
            )));
        }
        Ok(read)
    }

    /// The expected grade, 1 to 5.
    pub fn grade(&self, features: &Features) -> f64 {
        let x = standardised(features, &self.means, &self.deviations);
        let mut at_least = 1.0_f64;
        let mut grade = 1.0;
        for coefficients in &self.coefficients {
            // Five cannot be likelier than four.
            at_least = at_least.min(probability(coefficients, &x));
            grade += at_least;
        }
        grade
    }
}

fn standardised(
    features: &Features,
    means: &[f64; Features::COUNT],
    deviations: &[f64; Features::COUNT],
) -> [f64; N] {
    let all = features.all();
    std::array::from_fn(|at| match at.checked_sub(1) {
        None => 1.0,
        Some(at) => (all[at] - means[at]) / deviations[at],
    })
}
