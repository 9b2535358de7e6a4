//! What was kept, what was left out and by which rule.

use std::collections::BTreeMap;

use serde::Serialize;

/// Longest beginning of a rejected text that is kept.
const EXCERPT_CHARS: usize = 240;

/// A row that was left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Reject {
    /// Which source made it.
    pub source: String,
    /// Which rule left it out.
    pub rule: String,
    /// The beginning of the text.
    pub text: String,
}

/// Counts by source, and the rows that were left out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ledger {
    kept: BTreeMap<String, BTreeMap<String, usize>>,
    removed: BTreeMap<String, BTreeMap<String, usize>>,
    rejects: Vec<Reject>,
}

impl Ledger {
    /// Counts a row of `source` and `kind` that stays.
    pub fn keep(&mut self, source: &str, kind: &str) {
        *self.kept.entry(source.to_owned()).or_default().entry(kind.to_owned()).or_default() += 1;
    }

    /// Records a row that does not.
    pub fn reject(&mut self, source: &str, rule: &str, text: &str) {
        *self.removed.entry(source.to_owned()).or_default().entry(rule.to_owned()).or_default() +=
            1;
        self.rejects.push(Reject {
            source: source.to_owned(),
            rule: rule.to_owned(),
            text: text.chars().take(EXCERPT_CHARS).collect(),
        });
    }

    /// Rows that stay, by source and kind.
    pub fn kept(&self) -> &BTreeMap<String, BTreeMap<String, usize>> {
        &self.kept
    }

    /// Rows left out, by source and rule.
    pub fn removed(&self) -> &BTreeMap<String, BTreeMap<String, usize>> {
        &self.removed
    }

    /// The rows left out, in the order in which they were met.
    pub fn rejects(&self) -> &[Reject] {
        &self.rejects
    }

    /// Number of rows left out.
    pub fn removed_total(&self) -> usize {
        self.rejects.len()
    }

    /// The rule that left out most, with its count.
    pub fn commonest_rule(&self) -> Option<(String, usize)> {
        let mut rules: BTreeMap<&str, usize> = BTreeMap::new();
        for reject in &self.rejects {
            *rules.entry(&reject.rule).or_default() += 1;
        }
        rules.into_iter().max_by_key(|(_, count)| *count).map(|(rule, n)| (rule.to_owned(), n))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_add_up() {
        let mut ledger = Ledger::default();
        ledger.keep("a", "supports");
        ledger.keep("a", "supports");
        ledger.keep("b", "neither");
        ledger.reject("a", "short", "x");
        ledger.reject("b", "copy", "y");
        ledger.reject("b", "copy", &"long ".repeat(100));
        assert_eq!(ledger.removed_total(), 3);
        assert_eq!(ledger.kept()["b"]["neither"], 1);
        assert_eq!(ledger.kept()["a"]["supports"], 2);
        assert_eq!(ledger.commonest_rule(), Some(("copy".to_owned(), 2)));
        assert_eq!(ledger.rejects()[2].text.chars().count(), EXCERPT_CHARS);
    }
}
