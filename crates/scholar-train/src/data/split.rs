//! Rows split into training and development by group.

use std::collections::BTreeMap;

use super::error::DataError;
use super::ledger::Ledger;
use super::wording::hash;

/// How rows are made.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// Seed of every random choice: sampling, splitting, shuffling.
    pub seed: u64,
    /// Fraction of the groups that are held out for development.
    pub dev_fraction: f64,
    /// Fraction of a source's rows that may be unusable before it is refused.
    pub max_rejected_fraction: f64,
    /// At most so many papers of each collection.
    pub max_papers: usize,
}

impl Settings {
    /// For models that are shipped.
    pub fn paper() -> Self {
        Self { seed: 7, dev_fraction: 0.06, max_rejected_fraction: 0.01, max_papers: 9_000 }
    }

    /// For a minute of training.
    pub fn small() -> Self {
        Self { max_papers: 300, ..Self::paper() }
    }
}

/// Rows in two splits, with the account of how they came to be.
#[derive(Debug, Clone, PartialEq)]
pub struct Splits<T> {
    /// For training, in random order.
    pub train: Vec<T>,
    /// Held out, no group of which is in training.
    pub dev: Vec<T>,
    /// What was kept and what was not.
    pub ledger: Ledger,
}

impl<T> Splits<T> {
    /// Splits `(group, row)` by the groups' hashes, so that adding a source moves no row of another.
    ///
    /// # Errors
    /// [`DataError::Nothing`] when there is no row for training.
    pub fn split(
        rows: Vec<(String, T)>,
        ledger: Ledger,
        settings: &Settings,
    ) -> Result<Self, DataError> {
        let (mut train, mut dev) = (Vec::new(), Vec::new());
        let held_out = (settings.dev_fraction.clamp(0.0, 1.0) * 10_000.0) as u64;
        let mut sides: BTreeMap<String, bool> = BTreeMap::new();
        for (group, row) in rows {
            let is_dev = *sides
                .entry(group)
                .or_insert_with_key(|group| hash([group.as_str()]) % 10_000 < held_out);
            if is_dev { dev.push(row) } else { train.push(row) }
        }
        if train.is_empty() {
            let (rule, most) = ledger.commonest_rule().unwrap_or_default();
            return Err(DataError::Nothing {
                rows: ledger.removed_total() + dev.len(),
                most,
                rule,
            });
        }
        Ok(Self { train, dev, ledger })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_stays_together() {
        let rows: Vec<(String, usize)> = (0..1000).map(|n| (format!("g{}", n / 5), n)).collect();
        let made =
            Splits::split(rows, Ledger::default(), &Settings::paper()).expect("rows are left");
        assert!((20..=110).contains(&made.dev.len()), "{}", made.dev.len());
        assert_eq!(made.dev.len() % 5, 0);
        assert_eq!(made.train.len() + made.dev.len(), 1000);
        let nothing = Splits::<usize>::split(Vec::new(), Ledger::default(), &Settings::paper());
        assert!(matches!(nothing, Err(DataError::Nothing { .. })));
    }
}
