//! How often a system would be preferred if the answers were equally long.
//!
//! A logistic model of the preference with the logarithm of the lengths' ratio: `P(first) = σ(a + b·z)`, where z is
//! `ln(words first / words second)` in units of its spread. `σ(a)` is the win rate at equal length, `b` says how much
//! length pays. A tie is half a win for each. So that both stay finite when one side wins everything, b has a normal
//! prior of standard deviation 2.5 and a one of 10. Beside it plain win rates by strata of the lengths.
//!
//! Ours, after the length-controlled win rates of Dubois et al. 2024 (without their terms for models and instructions,
//! which need many systems) and the weak prior of Gelman et al. 2008.

use serde::{Deserialize, Serialize};

use crate::statistics::logistic::{self, Observation};
use crate::statistics::{Estimate, SEED, estimate, estimate_by};

/// Answers count as equally long when neither has more than this many times the words of the other.
pub const SIMILAR: f64 = 1.2;
/// Standard deviations of the priors of a and b.
const PRIOR: [f64; 2] = [10.0, 2.5];

/// One judgement, for the analysis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Judged {
    /// 1 the first is preferred, 0.5 a tie, 0 the second.
    pub value: f64,
    /// Logarithm of words of the first over words of the second.
    pub log_ratio: f64,
}

impl Judged {
    /// Of answers with so many words; an empty answer counts as one word.
    pub fn new(value: f64, first: usize, second: usize) -> Self {
        let words = |n: usize| n.max(1) as f64;
        Self { value, log_ratio: (words(first) / words(second)).ln() }
    }
}

/// How far the lengths of the answers explain preferences.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LengthControl {
    /// Win rate of the first system at equal length, ties half, by the model.
    pub win_rate_at_equal_length: Option<Estimate>,
    /// Change of the log-odds when the first answer is twice as long as the second, by the model.
    pub log_odds_of_doubling: Option<Estimate>,
    /// Plain win rates, by how the lengths compare.
    pub strata: Vec<Stratum>,
}

/// Instances whose lengths compare alike.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Stratum {
    /// `shorter`, `similar` or `longer`: the first system's answer against the second's.
    pub first_is: String,
    /// Number of instances in the stratum.
    pub instances: usize,
    /// Win rate of the first system, ties half.
    pub win_rate: Option<Estimate>,
}

/// Length control of one pair of systems; each element holds the judgements of one instance.
pub fn control(instances: &[Vec<Judged>]) -> LengthControl {
    let fitted = |sample: &[&Vec<Judged>]| {
        let judged: Vec<Judged> = sample.iter().flat_map(|one| one.iter().copied()).collect();
        fit(&judged)
    };
    let strata = ["shorter", "similar", "longer"].map(|name| {
        let rates: Vec<f64> = instances
            .iter()
            .filter(|judged| judged.first().is_some_and(|one| stratum(one.log_ratio) == name))
            .map(|judged| judged.iter().map(|one| one.value).sum::<f64>() / judged.len() as f64)
            .collect();
        Stratum {
            first_is: name.to_owned(),
            instances: rates.len(),
            win_rate: estimate(&rates, SEED),
        }
    });
    LengthControl {
        win_rate_at_equal_length: estimate_by(instances, SEED, |sample| {
            fitted(sample).map(|model| sigmoid(model.intercept))
        }),
        log_odds_of_doubling: estimate_by(instances, SEED, |sample| {
            fitted(sample)?.slope.map(|slope| slope * std::f64::consts::LN_2)
        }),
        strata: strata.into(),
    }
}

fn stratum(log_ratio: f64) -> &'static str {
    if log_ratio > SIMILAR.ln() {
        "longer"
    } else if log_ratio < -SIMILAR.ln() {
        "shorter"
    } else {
        "similar"
    }
}

/// A fitted model; `slope` is per unit of the logarithm, and `None` when all lengths compare alike.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Model {
    intercept: f64,
    slope: Option<f64>,
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// The most probable coefficients; `None` without judgements.
fn fit(judged: &[Judged]) -> Option<Model> {
    if judged.is_empty() {
        return None;
    }
    let n = judged.len() as f64;
    // Not centred: 0 must stay equal length.
    let spread = (judged.iter().map(|one| one.log_ratio.powi(2)).sum::<f64>() / n).sqrt();
    let varies = spread > 1e-9;
    let row = |one: &Judged| {
        let z = if varies { one.log_ratio / spread } else { 0.0 };
        Observation { x: [1.0, z], y: one.value, weight: 1.0 }
    };
    let rows: Vec<Observation<2>> = judged.iter().map(row).collect();
    let [a, b] = logistic::fit(&rows, &PRIOR.map(|deviation| deviation.powi(-2)));
    (a.is_finite() && b.is_finite())
        .then_some(Model { intercept: a, slope: varies.then_some(b / spread) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(rows: &[(f64, usize, usize)]) -> Vec<Judged> {
        rows.iter().map(|(value, first, second)| Judged::new(*value, *first, *second)).collect()
    }

    /// Checked against the stationary point of the penalised likelihood itself.
    #[test]
    fn the_fit_is_where_the_gradient_vanishes() {
        let rows = judged(&[
            (1.0, 300, 100),
            (1.0, 250, 200),
            (0.5, 100, 100),
            (0.0, 100, 180),
            (1.0, 90, 100),
        ]);
        let model = fit(&rows).expect("rows");
        let spread = (rows.iter().map(|r| r.log_ratio.powi(2)).sum::<f64>() / 5.0).sqrt();
        let slope = model.slope.expect("lengths differ");
        let (a, b) = (model.intercept, slope * spread);
        let residual = |r: &Judged| r.value - sigmoid(a + slope * r.log_ratio);
        let ga: f64 = rows.iter().map(residual).sum::<f64>() - a / 100.0;
        let gb: f64 =
            rows.iter().map(|r| residual(r) * r.log_ratio / spread).sum::<f64>() - b / 6.25;
        assert!(ga.abs() < 1e-8 && gb.abs() < 1e-8, "{ga} {gb}");
        assert!(slope > 0.0);
    }

    #[test]
    fn a_preference_for_length_alone_vanishes_at_equal_length() {
        // Whoever is longer wins, and each is longer equally often.
        let instances: Vec<Vec<Judged>> = (0..40)
            .map(|n| {
                let longer = 100 + 10 * (n % 7) + 100;
                judged(&[if n % 2 == 0 { (1.0, longer, 100) } else { (0.0, 100, longer) }])
            })
            .collect();
        let control = control(&instances);
        let rate = control.win_rate_at_equal_length.expect("fitted");
        assert!((rate.mean - 0.5).abs() < 0.05 && rate.low < 0.5 && rate.high > 0.5, "{rate:?}");
        assert!(control.log_odds_of_doubling.expect("fitted").low > 0.5);
        let names: Vec<(&str, usize)> =
            control.strata.iter().map(|s| (s.first_is.as_str(), s.instances)).collect();
        assert_eq!(names, [("shorter", 20), ("similar", 0), ("longer", 20)]);
        assert_eq!(control.strata[1].win_rate, None);
        assert!(control.strata[2].win_rate.expect("some").mean > 0.99);
    }

    #[test]
    fn a_better_system_wins_at_equal_length_too_and_nothing_is_infinite() {
        let instances: Vec<Vec<Judged>> =
            (0..30).map(|n| judged(&[(1.0, 100 + n, 100 + 2 * n)])).collect();
        let rate = control(&instances).win_rate_at_equal_length.expect("fitted");
        assert!(rate.mean > 0.9 && rate.high < 1.0, "{rate:?}");
        let equal: Vec<Vec<Judged>> =
            (0..10).map(|n| judged(&[(f64::from(n % 2), 5, 5)])).collect();
        let control = control(&equal);
        assert!((control.win_rate_at_equal_length.expect("fitted").mean - 0.5).abs() < 1e-9);
        assert_eq!(control.log_odds_of_doubling, None);
        assert_eq!(super::control(&[]).win_rate_at_equal_length, None);
    }
}
