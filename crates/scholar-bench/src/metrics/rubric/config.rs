//! Rubric configurations, as ScholarQABench publishes them.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// How far from 1 the weights may add up. Source: the reference scorer's assertion.
const WEIGHT_SLACK: f64 = 1e-6;

/// One annotator's rubric for one question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RubricCase {
    /// The question as given to systems.
    pub initial_prompt: String,
    /// The rubric with the name of its scorer.
    pub metric_config: MetricConfig,
    /// 32 hexadecimal digits; answers are named by it.
    pub case_id: String,
    /// Who wrote the rubric.
    pub annotator: String,
    /// Whether another annotator wrote one for the same question.
    pub agreement: bool,
}

/// A rubric with the name of its scorer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MetricConfig {
    /// Name of the scorer: `rubric_corpusqa_generic`.
    pub name: String,
    /// Weights and items of the rubric.
    pub config: RubricConfig,
}

/// Weights and items. All weights together are 1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RubricConfig {
    /// The question that the rubric is for.
    pub question: String,
    /// Up to this many words the length is right.
    pub low_length: usize,
    /// From this many it is wrong.
    pub high_length: usize,
    /// Weight of the length.
    pub length_weight: f64,
    /// Weight of the level.
    pub expertise_weight: f64,
    /// Weight of claims with citations.
    pub citations_weight: f64,
    /// Weight of citations with excerpts.
    pub excerpts_weight: f64,
    /// What the annotator wants in the answer.
    pub other_properties: Vec<RubricItem>,
}

/// One wish of the annotator.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RubricItem {
    /// Name with rank: `most_important_item_0`, `nice_to_have_item_1`.
    pub name: String,
    /// What the answer should do.
    pub criterion: String,
    /// Weight in the score, 0 to 1.
    pub weight: f64,
    /// Snippets that show it.
    #[serde(default)]
    pub evidence: Vec<String>,
}

/// Why configurations cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum RubricError {
    /// Not of the published shape.
    #[error("{file}: line {line} is not a rubric configuration")]
    Shape {
        /// Name of the file, as given to [`read`].
        file: String,
        /// The line, from 1.
        line: usize,
        /// What serde could not read, with the column.
        source: serde_json::Error,
    },
    /// Weights do not add up to 1.
    #[error("{file}: the weights of case {case} add up to {sum}, not to 1")]
    Weights {
        /// Name of the file, as given to [`read`].
        file: String,
        /// `case_id` of the first such configuration.
        case: String,
        /// What they add up to.
        sum: f64,
    },
    /// Two configurations have one name.
    #[error("{file}: case {case} occurs twice")]
    Duplicate {
        /// Name of the file, as given to [`read`].
        file: String,
        /// The `case_id` that occurs twice.
        case: String,
    },
    /// The file has no configuration.
    #[error("{file}: it contains no rubric configuration")]
    Empty {
        /// Name of the file, as given to [`read`].
        file: String,
    },
}

/// Reads configurations: one JSON list, as upstream has it, or one object a line. `file` is named in errors.
///
/// # Errors
/// [`RubricError`] with file and line or case.
pub fn read(text: &str, file: &str) -> Result<Vec<RubricCase>, RubricError> {
    let shape = |line: usize, source| RubricError::Shape { file: file.to_owned(), line, source };
    let cases: Vec<RubricCase> = if text.trim_start().starts_with('[') {
        serde_json::from_str(text).map_err(|source| shape(source.line(), source))?
    } else {
        let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        lines
            .map(|(n, line)| serde_json::from_str(line).map_err(|source| shape(n + 1, source)))
            .collect::<Result<_, _>>()?
    };
    if cases.is_empty() {
        return Err(RubricError::Empty { file: file.to_owned() });
    }
    let mut seen = BTreeSet::new();
    for case in &cases {
        if !seen.insert(&case.case_id) {
            let case = case.case_id.clone();
            return Err(RubricError::Duplicate { file: file.to_owned(), case });
        }
        let sum = case.metric_config.config.weight();
        if !sum.is_finite() || (sum - 1.0).abs() > WEIGHT_SLACK {
            let case = case.case_id.clone();
            return Err(RubricError::Weights { file: file.to_owned(), case, sum });
        }
    }
    Ok(cases)
}

impl RubricConfig {
    /// Sum of all weights.
    pub fn weight(&self) -> f64 {
        let items: f64 = self.other_properties.iter().map(|item| item.weight).sum();
        self.length_weight
            + self.expertise_weight
            + self.citations_weight
            + self.excerpts_weight
            + items
    }
}
