//! Labelled cells: what a reader took out of the paper, or that it is not there.

use scholar_core::PaperId;
use scholar_pipeline::tabulate::{Cell, Property};
use serde::{Deserialize, Serialize};

use super::{Half, contains, token_f1, tokens};

/// F1 of shared words with the label from which two spans name the same, where neither contains the other. Ours.
const SAME: f64 = 0.5;

/// A labelled cell.
#[derive(Debug, Clone, PartialEq)]
pub struct LabelledCell {
    /// The paper.
    pub paper: PaperId,
    /// The property.
    pub property: Property,
    /// Words of the paper that say it, the label first; empty where the paper does not say it.
    pub values: Vec<String>,
}

#[derive(Deserialize)]
struct Row {
    paper: String,
    column: String,
    value: Option<String>,
    #[serde(default)]
    alternatives: Vec<String>,
}

/// A file of labels that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct LabelsError {
    line: usize,
    problem: String,
}

impl LabelledCell {
    /// Reads JSON lines with `paper`, `column`, `value` (null where absent) and `alternatives`.
    ///
    /// # Errors
    /// When a line has another form or names an unknown column.
    pub fn read(text: &str) -> Result<Vec<Self>, LabelsError> {
        let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        lines
            .map(|(at, line)| {
                let error = |problem: String| LabelsError { line: at + 1, problem };
                let row: Row =
                    serde_json::from_str(line).map_err(|problem| error(problem.to_string()))?;
                let property = Property::named(&row.column)
                    .ok_or_else(|| error(format!("there is no column {:?}", row.column)))?;
                let paper = match PaperId::pmcid(&row.paper) {
                    Ok(id) => id,
                    Err(_) => row
                        .paper
                        .parse()
                        .map_err(|_| error(format!("{:?} is not a paper", row.paper)))?,
                };
                let values = row.value.into_iter().chain(row.alternatives).collect();
                Ok(Self { paper, property, values })
            })
            .collect()
    }
}

/// What became of a labelled cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CellVerdict {
    /// Stated, and found.
    Right,
    /// Stated, and something else is in the cell.
    WrongSpan,
    /// Stated, and the cell is absent.
    FalseAbsent,
    /// Not stated, and the cell is absent.
    RightAbsent,
    /// Not stated, and the cell is filled.
    FalseFilled,
}

impl CellVerdict {
    /// Whether the cell is as it should be.
    pub fn is_right(self) -> bool {
        matches!(self, Self::Right | Self::RightAbsent)
    }

    /// Compares `found` with the label. A found span is right if it has the words of a value, a value its words, or both share
    /// most of their words.
    pub fn of(found: Option<&str>, values: &[String]) -> Self {
        match (found, values.is_empty()) {
            (None, true) => Self::RightAbsent,
            (None, false) => Self::FalseAbsent,
            (Some(_), true) => Self::FalseFilled,
            (Some(found), false) => {
                if values.iter().any(|value| is_same(found, value)) {
                    Self::Right
                } else {
                    Self::WrongSpan
                }
            }
        }
    }
}

fn is_same(found: &str, value: &str) -> bool {
    let (own, gold) = (tokens(found), tokens(value));
    contains(&own, &gold) || contains(&gold, &own) || token_f1(found, value) >= SAME
}

/// One labelled cell measured.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CellRow {
    /// The paper.
    pub paper: PaperId,
    /// Its half.
    pub half: Half,
    /// Key of the property.
    pub column: &'static str,
    /// What stands in the cell; `None` is absent.
    pub found: Option<String>,
    /// The label's values.
    pub values: Vec<String>,
    /// What became of it.
    pub verdict: CellVerdict,
}

impl CellRow {
    /// Compares a cell with its label.
    pub fn new(label: &LabelledCell, cell: Option<&Cell>) -> Self {
        let found = cell.map(|cell| cell.text.clone());
        let verdict = CellVerdict::of(found.as_deref(), &label.values);
        Self {
            paper: label.paper.clone(),
            half: Half::of(&label.paper),
            column: label.property.key(),
            found,
            values: label.values.clone(),
            verdict,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_verdict_is_told() {
        let label = |value: &str| {
            let text = format!(
                r#"{{"paper": "PMC7", "column": "trial.n", "value": {value}, "section": "", "alternatives": []}}"#
            );
            LabelledCell::read(&text).expect("well-formed").remove(0)
        };
        let stated = label(r#""120 patients""#);
        assert_eq!((&stated.paper, stated.property), (&PaperId::Pmcid(7), Property::SampleSize));
        let of = |found, label: &LabelledCell| CellVerdict::of(found, &label.values);
        assert_eq!(of(Some("120"), &stated), CellVerdict::Right);
        assert_eq!(of(Some("60 patients in each arm of it"), &stated), CellVerdict::WrongSpan);
        assert_eq!(of(None, &stated), CellVerdict::FalseAbsent);
        let absent = label("null");
        assert_eq!(of(None, &absent), CellVerdict::RightAbsent);
        assert_eq!(of(Some("120"), &absent), CellVerdict::FalseFilled);
        let unknown = r#"{"paper": "PMC7", "column": "trial.shoe", "value": null}"#;
        assert!(
            LabelledCell::read(unknown).expect_err("unknown").to_string().contains("trial.shoe")
        );
    }
}
