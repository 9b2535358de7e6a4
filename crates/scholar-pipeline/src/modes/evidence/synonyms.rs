//! Other names of what a question asks about: a paper that uses one of them speaks of it.
//!
//! `wordnet.tsv` has the nouns that `WordNet` 3.1 holds to be one thing in their first sense (`wordnet.py` makes it; licence
//! in NOTICE); `science.tsv` is ours: what lay people and clinicians, and what two fields, call by different names. A synonym
//! keeps a paper from being disqualified; it never brings one in by itself, so a wide one costs little.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use super::terms::stems;

/// Most words of a name.
const LONGEST_NAME: usize = 5;

type Stems = BTreeSet<String>;

/// Names by their stems, with the stems of the other names of the same thing.
static NAMES: LazyLock<BTreeMap<Stems, Vec<Stems>>> = LazyLock::new(|| {
    let mut names: BTreeMap<Stems, Vec<Stems>> = BTreeMap::new();
    let tables = [include_str!("synonyms/wordnet.tsv"), include_str!("synonyms/science.tsv")];
    for line in tables.iter().flat_map(|table| table.lines()) {
        let group: Vec<Stems> =
            line.split('\t').map(|name| stems(name).into_iter().collect()).collect();
        for name in group.iter().filter(|name| !name.is_empty()) {
            let others = names.entry(name.clone()).or_default();
            for other in &group {
                if other != name && !other.is_empty() && !others.contains(other) {
                    others.push(other.clone());
                }
            }
        }
    }
    names
});

/// For each name in `words` (the stems of consecutive words, in order): the stems it covers, and those of its synonyms.
pub(crate) fn synonyms(words: &[String]) -> Vec<(Stems, Vec<Stems>)> {
    let mut found = Vec::new();
    for n in 1..=LONGEST_NAME.min(words.len()) {
        for run in words.windows(n) {
            let name: Stems = run.iter().cloned().collect();
            if let Some(others) = NAMES.get(&name) {
                found.push((name, others.clone()));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Vec<Stems> {
        synonyms(&stems(text)).into_iter().flat_map(|(_, others)| others).collect()
    }

    #[test]
    fn lay_names_are_those_of_clinicians() {
        let set = |text: &str| -> Stems { stems(text).into_iter().collect() };
        for (lay, clinical) in [
            ("heart attack", "myocardial infarction"),
            ("does baby aspirin help", "low-dose aspirin"),
            ("high blood pressure", "hypertension"),
            ("kidney failure", "renal failure"),
            ("caesarean section", "c-section"),
        ] {
            assert!(of(lay).contains(&set(clinical)), "{lay}: {:?}", of(lay));
        }
        assert!(of("zyxwv").is_empty());
    }
}
