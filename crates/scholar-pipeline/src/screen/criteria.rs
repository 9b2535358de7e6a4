//! What a review asks of its papers.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::proof::canonical::sha256;

/// Longest title or text of a criterion, in characters. Ours: a sentence or two.
const LONGEST_TEXT: usize = 2_000;
/// Most criteria of a review. Ours: all of them are read in one call.
const MOST_CRITERIA: usize = 40;

/// A review's question and its criteria, as `CRITERIA.toml` states them; an unknown key is an error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Criteria {
    /// What the review asks; papers are ranked by it.
    pub title: String,
    /// The criteria in order: a paper that several exclude is counted under the first.
    #[serde(rename = "criterion", default)]
    pub criteria: Vec<Criterion>,
}

/// One condition on papers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Criterion {
    /// Short name: lower-case letters, digits, `-` and `_`.
    pub id: String,
    /// The condition as a statement about a paper: `Reports data on humans`.
    pub text: String,
    /// What follows for a paper that meets it.
    #[serde(default)]
    pub kind: CriterionKind,
}

/// What a met criterion means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CriterionKind {
    /// A paper must meet it.
    #[default]
    Include,
    /// A paper that meets it is excluded.
    Exclude,
}

/// Why criteria cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CriteriaError {
    /// No title.
    #[error("the title is empty")]
    NoTitle,
    /// No criterion.
    #[error("there is no [[criterion]]")]
    NoCriterion,
    /// More than [`MOST_CRITERIA`].
    #[error("there are {0} criteria, more than the {MOST_CRITERIA} accepted")]
    TooMany(usize),
    /// An id that would not do as the name of a column.
    #[error("criterion {0:?}: an id consists of lower-case letters, digits, - and _, at most 40")]
    Id(String),
    /// Two criteria with one id.
    #[error("criterion {0:?} is there twice")]
    Twice(String),
    /// A text that says nothing, or too much.
    #[error("criterion {0:?}: its text must have 1 to {LONGEST_TEXT} characters")]
    Text(String),
}

impl Criteria {
    /// Checks what the form of the file cannot tell.
    ///
    /// # Errors
    /// [`CriteriaError`] names the first problem.
    pub fn check(&self) -> Result<(), CriteriaError> {
        let is_text = |text: &str| {
            let chars = text.trim().chars().count();
            (1..=LONGEST_TEXT).contains(&chars)
        };
        if !is_text(&self.title) {
            return Err(CriteriaError::NoTitle);
        }
        match self.criteria.len() {
            0 => return Err(CriteriaError::NoCriterion),
            n if n > MOST_CRITERIA => return Err(CriteriaError::TooMany(n)),
            _ => {}
        }
        let mut ids = BTreeSet::new();
        for Criterion { id, text, kind: _ } in &self.criteria {
            let good =
                |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_');
            if id.is_empty() || id.len() > 40 || !id.chars().all(good) {
                return Err(CriteriaError::Id(id.clone()));
            }
            if !ids.insert(id.as_str()) {
                return Err(CriteriaError::Twice(id.clone()));
            }
            if !is_text(text) {
                return Err(CriteriaError::Text(id.clone()));
            }
        }
        Ok(())
    }

    /// The criterion called `id`.
    pub fn find(&self, id: &str) -> Option<&Criterion> {
        self.criteria.iter().find(|criterion| criterion.id == id)
    }
}

impl Criterion {
    /// Digest of what a decision depends on, 16 hexadecimal digits: its text and kind, not its id.
    pub fn digest(&self) -> String {
        let kind = match self.kind {
            CriterionKind::Include => "include",
            CriterionKind::Exclude => "exclude",
        };
        let mut digest = sha256(format!("{kind}\n{}", self.text.trim()).as_bytes());
        digest.truncate(16);
        digest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn criterion(id: &str, text: &str) -> Criterion {
        Criterion { id: id.to_owned(), text: text.to_owned(), kind: CriterionKind::Include }
    }

    #[test]
    fn criteria_are_checked_and_the_problem_is_named() {
        let check = |title: &str, criteria: &[Criterion]| {
            Criteria { title: title.to_owned(), criteria: criteria.to_vec() }.check()
        };
        let good = criterion("population", "Reports data on humans");
        assert_eq!(check("Emicizumab", std::slice::from_ref(&good)), Ok(()));
        assert_eq!(check(" ", std::slice::from_ref(&good)), Err(CriteriaError::NoTitle));
        assert_eq!(check("x", &[]), Err(CriteriaError::NoCriterion));
        let twice = check("x", &[good.clone(), good.clone()]);
        assert_eq!(twice, Err(CriteriaError::Twice("population".to_owned())));
        let spaced = check("x", &[criterion("two words", "text")]);
        assert_eq!(spaced, Err(CriteriaError::Id("two words".to_owned())));
        assert_eq!(check("x", &[criterion("a", "")]), Err(CriteriaError::Text("a".to_owned())));
    }

    #[test]
    fn a_digest_depends_on_text_and_kind_alone() {
        let one = criterion("a", "Reports data on humans");
        let renamed = Criterion { id: "b".to_owned(), ..one.clone() };
        let turned = Criterion { kind: CriterionKind::Exclude, ..one.clone() };
        assert_eq!(one.digest(), renamed.digest());
        assert_ne!(one.digest(), turned.digest());
        assert_eq!(one.digest().len(), 16);
    }
}
