//! Which questions the weights in use were fitted on.

use std::collections::BTreeSet;

/// Where they are named, in the repository.
pub const FITTED_FILE: &str = "crates/scholar-bench/src/abstention/fitted.tsv";

const TABLE: &str = include_str!("fitted.tsv");

/// The questions on which the weights in use were fitted; none since they are fitted on searched evidence
/// (`scholar-pipeline/tests/evidence/fit_papers.py`).
#[derive(Debug, Clone)]
pub struct Fitted(BTreeSet<(&'static str, &'static str)>);

impl Fitted {
    /// Reads the list that comes with the program.
    pub fn read() -> Self {
        let rows = TABLE.lines().filter(|line| !line.starts_with('#'));
        Self(rows.filter_map(|line| line.split_once('\t')).collect())
    }

    /// Whether the question called `id` in the set called `set` had a part in the fit.
    pub fn contains(&self, set: &str, id: &str) -> bool {
        self.0.contains(&(set, id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_are_named_by_set() {
        let fitted = Fitted(BTreeSet::from([("PubMedQA", "pubmedqa_0")]));
        assert!(fitted.contains("PubMedQA", "pubmedqa_0"));
        assert!(!fitted.contains("Scholar-Multi", "pubmedqa_0"));
        assert!(Fitted::read().0.is_empty(), "no weight was fitted on passages that people chose");
    }
}
