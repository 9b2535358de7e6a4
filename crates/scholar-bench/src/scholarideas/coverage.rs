//! Coverage: how far a report makes each point that reviewers made, from 1 (not at all) to 5 (wholly).
//!
//! [`judge`] asks a model; [`super::trained`] measures. Either gives [`Grade`]s: a row a rubric, a grade that could not be had
//! missing with its reason. [`summary`] has means by slice with intervals that draw ideas, because the rubrics of an idea share a report.
//!
//! Source: arXiv 2510.16234, section 4.2 and table 13; the columns of the file are those of the reference scorer.

pub mod judge;
pub mod summary;

use serde::{Deserialize, Serialize};

use super::model::{Axis, IdeaId, Rubric, RubricType, Severity};

pub use summary::{Slice, SliceSummary, summaries};

/// Columns of the file of grades. Source: the reference scorer.
pub const COLUMNS: [&str; 7] =
    ["Instance_ID", "Statement", "Type", "Axis", "Severity", "Feedback", "Score"];
/// Begins the feedback of a rubric without a grade.
const NO_GRADE: &str = "no grade: ";

/// The grade of one rubric.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Grade {
    /// The idea that the report is about.
    pub idea: IdeaId,
    /// The reviewer's point.
    pub rubric: Rubric,
    /// 1 to 5, or why there is none.
    pub outcome: GradeOutcome,
}

/// A grade with its reason, or why there is none.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GradeOutcome {
    /// It could be had.
    Graded {
        /// 1 to 5; whole numbers from a judge.
        score: f64,
        /// What the judge says, or where the point was found.
        feedback: String,
    },
    /// It could not; this is why.
    Missing(String),
}

impl Grade {
    /// The grade, if there is one.
    pub fn score(&self) -> Option<f64> {
        match self.outcome {
            GradeOutcome::Graded { score, .. } => Some(score),
            GradeOutcome::Missing(_) => None,
        }
    }

    /// In the order of [`COLUMNS`]; a missing grade is an empty cell.
    pub fn cells(&self) -> Vec<String> {
        let Rubric { statement, rubric_type, axis, severity } = &self.rubric;
        let (feedback, score) = match &self.outcome {
            GradeOutcome::Graded { score, feedback } => (feedback.clone(), score.to_string()),
            GradeOutcome::Missing(why) => (format!("{NO_GRADE}{why}"), String::new()),
        };
        vec![
            self.idea.to_string(),
            statement.clone(),
            rubric_type.name().to_owned(),
            axis.name().to_owned(),
            severity.name().to_owned(),
            feedback,
            score,
        ]
    }
}

/// A file of grades that cannot be used; lines count the header.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("row {row}: {message}")]
pub struct GradesError {
    row: usize,
    message: String,
}

/// Reads rows of cells, the header first; the columns may stand in any order, and others beside them.
///
/// # Errors
/// [`GradesError`] names the row; a score that is not from 1 to 5 is an error, an empty one is missing.
pub fn read_grades(rows: &[Vec<String>]) -> Result<Vec<Grade>, GradesError> {
    let error = |row: usize, message: String| GradesError { row, message };
    let header = rows.first().ok_or_else(|| error(1, "the file is empty".to_owned()))?;
    let mut places = [0; 7];
    for (place, column) in places.iter_mut().zip(COLUMNS) {
        let found = header.iter().position(|name| name.trim().eq_ignore_ascii_case(column));
        match found {
            Some(at) => *place = at,
            // Whoever grades by hand need not say why.
            None if column == "Feedback" => *place = usize::MAX,
            None => return Err(error(1, format!("there is no column {column}"))),
        }
    }
    let mut grades = Vec::new();
    for (nth, row) in (2..).zip(&rows[1..]) {
        let cell = |at: usize| row.get(places[at]).map(|text| unguarded(text)).unwrap_or_default();
        let wrong = |at: usize| error(nth, format!("{} is {:?}", COLUMNS[at], cell(at)));
        let idea = cell(0).parse().map_err(|_| wrong(0))?;
        let named = |at: usize| cell(at).trim().to_lowercase();
        let rubric = Rubric {
            statement: cell(1).to_owned(),
            rubric_type: RubricType::ALL
                .into_iter()
                .find(|one| one.name() == named(2))
                .ok_or_else(|| wrong(2))?,
            axis: Axis::ALL
                .into_iter()
                .find(|one| one.name() == named(3))
                .ok_or_else(|| wrong(3))?,
            severity: Severity::ALL
                .into_iter()
                .find(|one| one.name() == named(4))
                .ok_or_else(|| wrong(4))?,
        };
        let feedback = cell(5);
        let outcome = match cell(6).trim() {
            "" => {
                let why = feedback.strip_prefix(NO_GRADE).unwrap_or(feedback);
                let why = if why.is_empty() { "the file has none" } else { why };
                GradeOutcome::Missing(why.to_owned())
            }
            text => {
                let score: f64 = text.parse().map_err(|_| wrong(6))?;
                if !(1.0..=5.0).contains(&score) {
                    return Err(wrong(6));
                }
                GradeOutcome::Graded { score, feedback: feedback.to_owned() }
            }
        };
        let grade = Grade { idea, rubric, outcome };
        let same = |one: &Grade| one.idea == idea && one.rubric.statement == grade.rubric.statement;
        if grades.iter().any(same) {
            return Err(error(nth, format!("the statement came before for {idea}")));
        }
        grades.push(grade);
    }
    Ok(grades)
}

/// Without the apostrophe that keeps spreadsheets from computing a cell.
fn unguarded(text: &str) -> &str {
    text.strip_prefix('\'').filter(|rest| rest.starts_with(['=', '+', '-', '@'])).unwrap_or(text)
}

#[cfg(test)]
mod tests;
