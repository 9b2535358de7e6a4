//! Grades from 1 to 5 for organisation, coverage and relevance, given by a judge with a rubric and a reference answer.
//!
//! The judge writes feedback, then `[RESULT]` and the grade. [`grade`] reads it tolerantly and never guesses.
//!
//! Source: Kim et al. 2024 (Prometheus) as used by ScholarQABench.

use std::collections::BTreeMap;

use scholar_core::text::normalise::single_spaced;
use serde::{Deserialize, Serialize};

use super::Column;
use crate::judge::Judged;

/// Marks the grade.
pub(crate) const MARKER: &str = "[RESULT]";

/// One criterion with its five levels, as ScholarQABench publishes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GradingRubric {
    /// Aspect that is graded: `organization`, `coverage` or `relevance`.
    pub aspect: String,
    /// What is graded, as the prompt says it.
    pub criteria_description: String,
    /// What an answer of grade 1 is like.
    pub score1_description: String,
    /// What an answer of grade 2 is like.
    pub score2_description: String,
    /// What an answer of grade 3 is like.
    pub score3_description: String,
    /// What an answer of grade 4 is like.
    pub score4_description: String,
    /// What an answer of grade 5 is like.
    pub score5_description: String,
    /// Upstream's wish to show titles, which its code never grants.
    #[serde(default)]
    pub use_title: bool,
    /// Upstream's wish to show passages, which its code never grants.
    #[serde(default)]
    pub use_docs: bool,
}

impl GradingRubric {
    /// The five descriptions, from grade 1.
    pub fn levels(&self) -> [&str; 5] {
        [
            &self.score1_description,
            &self.score2_description,
            &self.score3_description,
            &self.score4_description,
            &self.score5_description,
        ]
    }
}

/// Reads a published list of rubrics; `file` is named in the error.
///
/// # Errors
/// When it is not such a list; the error names the line.
pub fn read_rubrics(text: &str, file: &str) -> Result<Vec<GradingRubric>, GradingError> {
    serde_json::from_str(text).map_err(|source| GradingError {
        file: file.to_owned(),
        line: source.line(),
        source,
    })
}

/// A file that holds no grading rubrics.
#[derive(Debug, thiserror::Error)]
#[error("{file}: line {line} is not a grading rubric")]
pub struct GradingError {
    file: String,
    line: usize,
    source: serde_json::Error,
}

/// The grade behind the last `[RESULT]`: one digit from 1 to 5 behind blanks, brackets, colons or asterisks.
///
/// `4</s>`, `4 ` and `(4)` are 4; `4/5` is 4; `4.5`, `45` and `6` are no grade.
pub fn grade(reply: &str) -> Option<u8> {
    let (_, after) = reply.rsplit_once(MARKER)?;
    let after = after.trim_start_matches(|c: char| c.is_whitespace() || "([{*:_".contains(c));
    let mut chars = after.chars();
    let grade = chars.next()?.to_digit(10).filter(|grade| (1..=5).contains(grade))?;
    let rest = chars.as_str();
    let part_of_number = rest.starts_with(|c: char| c.is_ascii_digit())
        || rest
            .strip_prefix(['.', ','])
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    if part_of_number { None } else { u8::try_from(grade).ok() }
}

/// Several grades of one answer: the one most given, the lowest of equals; `None` without grades.
pub fn majority(grades: &[u8]) -> Option<u8> {
    let mut counts: BTreeMap<u8, usize> = BTreeMap::new();
    for grade in grades {
        *counts.entry(*grade).or_default() += 1;
    }
    let most = counts.values().max()?;
    counts.iter().find(|(_, count)| *count == most).map(|(grade, _)| *grade)
}

/// The column of one aspect; replies without a grade are left out and counted.
pub fn column(aspect: &str, grades: &[(String, Judged<u8>)]) -> Column {
    let mut column = Column::new(aspect);
    for (item, grade) in grades {
        match grade {
            Judged::Read(grade) => column.push(item, f64::from(*grade)),
            Judged::Unreadable(_) => column.leave_out(item, "no grade in the judge's reply"),
        }
    }
    column
}

/// Answers and references of the same questions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alignment {
    /// Places of an answer and of its reference, in the order of the answers.
    pub pairs: Vec<(usize, usize)>,
    /// Answers to questions without a reference.
    pub without_reference: Vec<usize>,
    /// References that no answer belongs to.
    pub unanswered: Vec<usize>,
}

/// Aligns answers with references by their questions, blanks and case aside. A question asked several times is matched
/// in order. The reference code aligns by position alone.
pub fn align<'a>(
    answers: impl IntoIterator<Item = &'a str>,
    references: impl IntoIterator<Item = &'a str>,
) -> Alignment {
    let key = |question: &str| single_spaced(question).to_lowercase();
    let mut open: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (n, question) in references.into_iter().enumerate() {
        open.entry(key(question)).or_default().push(n);
    }
    for places in open.values_mut() {
        places.reverse();
    }
    let mut alignment =
        Alignment { pairs: Vec::new(), without_reference: Vec::new(), unanswered: Vec::new() };
    for (n, question) in answers.into_iter().enumerate() {
        match open.get_mut(&key(question)).and_then(Vec::pop) {
            Some(reference) => alignment.pairs.push((n, reference)),
            None => alignment.without_reference.push(n),
        }
    }
    alignment.unanswered = open.into_values().flatten().collect();
    alignment.unanswered.sort_unstable();
    alignment
}

#[cfg(test)]
mod tests;
