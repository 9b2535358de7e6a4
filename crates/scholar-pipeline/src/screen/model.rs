//! From signs to a probability, and from that to a finding.

use super::decision::Finding;
use super::signs::CriterionSigns;
use crate::proof::ensemble::log_odds;

/// Intercept and weights of a logistic regression over [`CriterionSigns`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CriterionModel {
    /// In log-odds.
    pub intercept: f32,
    /// Of [`CriterionSigns::paper_similarity`].
    pub paper_similarity: f32,
    /// Of [`CriterionSigns::sentence_similarity`].
    pub sentence_similarity: f32,
    /// Of the log-odds of [`CriterionSigns::support`].
    pub support: f32,
    /// Of [`CriterionSigns::coverage`].
    pub coverage: f32,
    /// Of [`CriterionSigns::design`].
    pub design: f32,
}

impl CriterionModel {
    /// The project's. Source: `tests/screen/fit_criteria.py` over the development half of
    /// `crates/scholar-bench/data/screening/screening-pairs.jsonl`.
    pub const FITTED: Self = Self {
        intercept: -2.0,
        paper_similarity: 2.0,
        sentence_similarity: 2.0,
        support: 0.5,
        coverage: 2.0,
        design: 1.5,
    };

    /// Probability, in `[0, 1]`, that a criterion with these signs is met.
    pub fn probability(&self, signs: &CriterionSigns) -> f32 {
        let Self { intercept, paper_similarity, sentence_similarity, support, coverage, design } =
            *self;
        let sum = intercept
            + paper_similarity * signs.paper_similarity
            + sentence_similarity * signs.sentence_similarity
            + support * log_odds(signs.support)
            + coverage * signs.coverage
            + design * signs.design;
        1.0 / (1.0 + (-sum).exp())
    }
}

/// Probabilities between which a criterion is unclear.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Thresholds {
    /// From here on it is met.
    pub met: f32,
    /// Up to here it is not met where the design says otherwise.
    pub contrary: f32,
    /// Up to here it is not met although nothing says otherwise: there is no sign of it.
    pub no_sign: f32,
}

impl Thresholds {
    /// The project's. Source: as [`CriterionModel::FITTED`].
    pub const FITTED: Self = Self { met: 0.7, contrary: 0.3, no_sign: 0.1 };

    /// What a criterion of this probability is.
    pub fn finding(&self, probability: f32, signs: &CriterionSigns) -> Finding {
        let lowest = if signs.design < 0.0 { self.contrary } else { self.no_sign };
        if probability >= self.met {
            Finding::Met
        } else if probability <= lowest {
            Finding::NotMet
        } else {
            Finding::Unclear
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_speaks_for_a_criterion_raises_its_probability() {
        let model = CriterionModel::FITTED;
        let signs = CriterionSigns {
            paper_similarity: 0.4,
            sentence_similarity: 0.4,
            support: 0.4,
            coverage: 0.4,
            design: 0.0,
        };
        let more = [
            CriterionSigns { support: 0.8, ..signs },
            CriterionSigns { design: 1.0, ..signs },
        ];
        let p = model.probability(&signs);
        assert!(more.iter().all(|better| model.probability(better) > p));
    }

    #[test]
    fn without_a_contrary_statement_only_a_low_probability_is_not_met() {
        let limits = Thresholds { met: 0.8, contrary: 0.3, no_sign: 0.05 };
        let signs = CriterionSigns {
            paper_similarity: 0.0,
            sentence_similarity: 0.0,
            support: 0.1,
            coverage: 0.0,
            design: 0.0,
        };
        let contrary = CriterionSigns { design: -1.0, ..signs };
        assert_eq!(limits.finding(0.2, &signs), Finding::Unclear);
        assert_eq!(limits.finding(0.2, &contrary), Finding::NotMet);
        assert_eq!(limits.finding(0.05, &signs), Finding::NotMet);
        assert_eq!(limits.finding(0.8, &contrary), Finding::Met);
    }
}
