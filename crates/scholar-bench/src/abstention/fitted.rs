//! Which questions the weights in use were fitted on.

use std::collections::BTreeSet;

/// Where they are named, in the repository.
pub const FITTED_FILE: &str = "crates/scholar-bench/src/abstention/fitted.tsv";

const TABLE: &str = include_str!("fitted.tsv");

/// The questions on which `scholar-pipeline/tests/evidence/fit_given.py` fitted the weights for given passages.
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
    fn the_list_is_that_of_the_table_that_was_fitted() {
        let table = include_str!("../../../scholar-pipeline/tests/evidence/given.tsv");
        let of_table: BTreeSet<(&str, &str)> = table
            .lines()
            .skip(1)
            .filter_map(|line| Some((line.split('\t').next()?, line.split('\t').nth(5)?)))
            .filter(|(set, _)| *set != "Scholar-Multi")
            .collect();
        let fitted = Fitted::read();
        assert_eq!((fitted.0.len(), &fitted.0), (250, &of_table));
        assert!(fitted.contains("PubMedQA", "pubmedqa_0"));
        assert!(!fitted.contains("Scholar-Multi", "pubmedqa_0"));
    }
}
