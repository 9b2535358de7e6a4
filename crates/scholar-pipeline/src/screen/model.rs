//! From signs to a probability, and from that to a finding.

use super::criteria::CriterionKind;
use super::decision::Finding;
use super::signs::CriterionSigns;
use crate::proof::ensemble::log_odds;

/// Intercept and weights of a logistic regression over [`CriterionSigns`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CriterionModel {
    /// In log-odds.
    pub intercept: f32,
    /// Of [`CriterionSigns::sentence_similarity`].
    pub sentence_similarity: f32,
    /// Of the log-odds of [`CriterionSigns::support`].
    pub support: f32,
    /// Of [`CriterionSigns::design`] of a criterion that names hardly anything else.
    pub only_design: f32,
    /// Of [`CriterionSigns::design`] of one that does.
    pub partly_design: f32,
}

impl CriterionModel {
    /// The project's. Source: `tests/screen/fit_criteria.py` over the development half of
    /// `crates/scholar-bench/data/screening/screening-pairs.jsonl`.
    pub const FITTED: Self = Self {
        intercept: -0.33,
        sentence_similarity: 1.05,
        support: 0.43,
        only_design: 3.08,
        partly_design: 1.68,
    };

    /// Probability, in `[0, 1]`, that a criterion with these signs is met.
    pub fn probability(&self, signs: &CriterionSigns) -> f32 {
        let Self { intercept, sentence_similarity, support, only_design, partly_design } = *self;
        let design = if signs.only_design { only_design } else { partly_design };
        let sum = intercept
            + sentence_similarity * signs.sentence_similarity
            + support * log_odds(signs.support)
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
    /// Up to here a criterion that excludes is not met although nothing says otherwise: there is no sign of it.
    pub no_sign: f32,
}

impl Thresholds {
    /// The project's. Source: as [`CriterionModel::FITTED`], by cross-fitted probabilities: from 0.75 on 12 of 14 pairs are met, up
    /// to 0.4 all 8 with a contrary design are not met, up to 0.35 3 of 4 without one are not met by papers that it would exclude.
    pub const FITTED: Self = Self { met: 0.75, contrary: 0.4, no_sign: 0.35 };

    /// What a criterion of this probability is.
    ///
    /// A paper is never excluded because it shows no sign of what it must meet: on the development half, 3 of the 5 least
    /// probable such pairs were not met, and what an abstract leaves out the paper may have.
    pub fn finding(
        &self,
        probability: f32,
        signs: &CriterionSigns,
        kind: CriterionKind,
    ) -> Finding {
        let lowest = match kind {
            _ if signs.design < 0.0 => self.contrary,
            CriterionKind::Exclude => self.no_sign,
            CriterionKind::Include => f32::NEG_INFINITY,
        };
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
            sentence_similarity: 0.4,
            support: 0.4,
            coverage: 0.4,
            design: 0.0,
            only_design: true,
        };
        let more =
            [CriterionSigns { support: 0.8, ..signs }, CriterionSigns { design: 1.0, ..signs }];
        let p = model.probability(&signs);
        assert!(more.iter().all(|better| model.probability(better) > p));
    }

    #[test]
    fn a_paper_is_not_excluded_for_want_of_a_sign() {
        let limits = Thresholds { met: 0.8, contrary: 0.3, no_sign: 0.2 };
        let signs = CriterionSigns {
            sentence_similarity: 0.0,
            support: 0.1,
            coverage: 0.0,
            design: 0.0,
            only_design: true,
        };
        let contrary = CriterionSigns { design: -1.0, ..signs };
        let include = |p, signs| limits.finding(p, signs, CriterionKind::Include);
        assert_eq!(include(0.01, &signs), Finding::Unclear);
        assert_eq!(include(0.3, &contrary), Finding::NotMet);
        assert_eq!(include(0.8, &contrary), Finding::Met);
        assert_eq!(limits.finding(0.2, &signs, CriterionKind::Exclude), Finding::NotMet);
        assert_eq!(limits.finding(0.3, &signs, CriterionKind::Exclude), Finding::Unclear);
    }
}
