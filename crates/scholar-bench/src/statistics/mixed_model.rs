//! A linear mixed model with one random intercept: `y = Xβ + b_group + ε`.
//!
//! The covariance of a group is `σ²(I + θ·11ᵀ)` with `θ = τ²/σ²`, so that everything but `θ` has a closed form; `ln θ` is searched by
//! golden section in `[−12, 8]`, and the maximum is compared with `θ = 0`, where groups do not differ. Time is linear in the
//! observations for each of about sixty `θ`.
//!
//! Source: Laird and Ware 1982; Pinheiro and Bates 2000, section 2.2. `ScholarEval`'s user study has a participant as group and the
//! system as fixed effect.

use serde::{Deserialize, Serialize};

use super::distribution::normal_two_sided;
use super::linear::{identity, solve};
use super::ratio;

/// Range of `ln θ` that is searched.
const RANGE: (f64, f64) = (-12.0, 8.0);
/// Steps of the search; each shortens the range by 0.618.
const STEPS: usize = 80;

/// Squares of residuals below this share of the outcome's squares are rounding.
const NO_RESIDUAL: f64 = 1e-12;

/// What is maximised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Likelihood {
    /// Restricted maximum likelihood: unbiased variances; the usual choice.
    Restricted,
    /// Maximum likelihood.
    Full,
}

/// One observation: fixed effects, of which the first is usually the intercept 1, and the outcome.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Row<const P: usize> {
    /// Row of the design matrix.
    pub x: [f64; P],
    /// The outcome.
    pub y: f64,
}

/// A fixed effect.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Effect {
    /// The coefficient, β.
    pub estimate: f64,
    /// Its standard error.
    pub se: f64,
    /// Two-sided p of Wald's z.
    pub p: f64,
}

/// The fitted model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MixedModel {
    /// One per column of the design.
    pub effects: Vec<Effect>,
    /// Variance of the random intercept over the residual's, θ.
    pub theta: f64,
    /// Variance of the residual, σ².
    pub residual_variance: f64,
    /// Variance of the random intercept, τ².
    pub group_variance: f64,
    /// Logarithm of the likelihood that was maximised, with all constants.
    pub log_likelihood: f64,
    /// Observations.
    pub n: usize,
    /// Groups with at least one.
    pub groups: usize,
}

/// The closed form at one `θ`.
struct At<const P: usize> {
    beta: [f64; P],
    /// Inverse of `Xᵀ(I + θ·11ᵀ)⁻¹X`.
    inverse: [[f64; P]; P],
    sigma2: f64,
    log_likelihood: f64,
}

/// Fits the model to `groups` of observations; `None` where there are no more observations than fixed effects, the design's columns
/// depend on each other, or the fit leaves no residual.
pub fn fit<const P: usize>(groups: &[Vec<Row<P>>], likelihood: Likelihood) -> Option<MixedModel> {
    let n: usize = groups.iter().map(Vec::len).sum();
    if n <= P {
        return None;
    }
    let value = |ln_theta: f64| {
        at(groups, ln_theta.exp(), likelihood).map_or(f64::NEG_INFINITY, |at| at.log_likelihood)
    };
    let found = golden_section(RANGE, value).exp();
    let without = at(groups, 0.0, likelihood)?;
    let (theta, best) = match at(groups, found, likelihood) {
        Some(with) if with.log_likelihood > without.log_likelihood => (found, with),
        _ => (0.0, without),
    };
    let effects = (0..P).map(|i| {
        let se = (best.inverse[i][i] * best.sigma2).sqrt();
        Effect { estimate: best.beta[i], se, p: normal_two_sided(best.beta[i] / se) }
    });
    Some(MixedModel {
        effects: effects.collect(),
        theta,
        residual_variance: best.sigma2,
        group_variance: theta * best.sigma2,
        log_likelihood: best.log_likelihood,
        n,
        groups: groups.iter().filter(|group| !group.is_empty()).count(),
    })
}

fn at<const P: usize>(groups: &[Vec<Row<P>>], theta: f64, likelihood: Likelihood) -> Option<At<P>> {
    let (mut a, mut b) = ([[0.0; P]; P], [[0.0; 1]; P]);
    let (mut ln_groups, mut squares_y, mut n) = (0.0, 0.0, 0);
    for group in groups {
        let m = ratio(group.len(), 1);
        let c = theta / (1.0 + m * theta);
        let (mut sums, mut sum_y) = ([0.0; P], 0.0);
        for Row { x, y } in group {
            for i in 0..P {
                for j in 0..P {
                    a[i][j] += x[i] * x[j];
                }
                b[i][0] += x[i] * y;
                sums[i] += x[i];
            }
            sum_y += y;
            squares_y += y * y;
        }
        for i in 0..P {
            for j in 0..P {
                a[i][j] -= c * sums[i] * sums[j];
            }
            b[i][0] -= c * sums[i] * sum_y;
        }
        ln_groups += (m * theta).ln_1p();
        n += group.len();
    }
    let (inverse, ln_det) = solve(a, identity());
    let beta: [f64; P] =
        std::array::from_fn(|i| (0..P).map(|j| inverse[i][j] * b[j][0]).sum::<f64>());
    let mut rss = 0.0;
    for group in groups {
        let residual =
            |row: &Row<P>| row.y - row.x.iter().zip(&beta).map(|(x, beta)| x * beta).sum::<f64>();
        let sum: f64 = group.iter().map(residual).sum();
        let squares: f64 = group.iter().map(|row| residual(row).powi(2)).sum();
        rss += squares - theta / (1.0 + ratio(group.len(), 1) * theta) * sum * sum;
    }
    let (d, ln_design) = match likelihood {
        Likelihood::Restricted => (ratio(n - P, 1), ln_det),
        Likelihood::Full => (ratio(n, 1), 0.0),
    };
    let sigma2 = rss / d;
    let log_likelihood =
        -0.5 * (d * (2.0 * std::f64::consts::PI * sigma2).ln() + ln_groups + d + ln_design);
    let sound = log_likelihood.is_finite()
        && rss > NO_RESIDUAL * squares_y
        && (0..P).all(|i| inverse[i][i] > 0.0 && inverse[i][i].is_finite() && beta[i].is_finite());
    sound.then_some(At { beta, inverse, sigma2, log_likelihood })
}

/// Where `value` is largest in `range`, if it has one peak there.
fn golden_section((mut low, mut high): (f64, f64), value: impl Fn(f64) -> f64) -> f64 {
    let shrink = (5.0_f64.sqrt() - 1.0) / 2.0;
    let (mut left, mut right) = (high - shrink * (high - low), low + shrink * (high - low));
    let (mut at_left, mut at_right) = (value(left), value(right));
    for _ in 0..STEPS {
        if at_left >= at_right {
            (high, right, at_right) = (right, left, at_left);
            left = high - shrink * (high - low);
            at_left = value(left);
        } else {
            (low, left, at_left) = (left, right, at_right);
            right = low + shrink * (high - low);
            at_right = value(right);
        }
    }
    f64::midpoint(low, high)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::welch::Sample;

    const Y: [&[f64]; 4] =
        [&[7.0, 8.0, 6.0], &[5.0, 6.0, 4.0], &[9.0, 8.0, 7.0, 9.0], &[6.0, 5.0, 7.0, 6.0]];
    const X: [&[f64]; 4] =
        [&[1.0, 1.0, 0.0], &[0.0, 1.0, 0.0], &[1.0, 0.0, 0.0, 1.0], &[1.0, 0.0, 1.0, 0.0]];

    fn groups(scale: impl Fn(f64) -> f64) -> Vec<Vec<Row<2>>> {
        let row = |(y, x): (&f64, &f64)| Row { x: [1.0, *x], y: scale(*y) };
        Y.iter().zip(X).map(|(y, x)| y.iter().zip(x).map(row).collect()).collect()
    }

    fn close(found: f64, expected: f64) {
        assert!((found - expected).abs() < 2e-6, "{found} {expected}");
    }

    #[test]
    fn restricted_and_full_likelihood_give_the_known_fit() {
        let fitted = fit(&groups(|y| y), Likelihood::Restricted).expect("a fit");
        close(fitted.theta, 5.338_257);
        close(fitted.residual_variance, 0.296_995);
        close(fitted.group_variance, 1.585_437);
        close(fitted.log_likelihood, -16.116_651);
        close(fitted.effects[0].estimate, 5.884_851);
        close(fitted.effects[1].estimate, 1.363_625);
        close(fitted.effects[0].se, 0.663_477);
        close(fitted.effects[1].se, 0.298_056);
        assert_eq!((fitted.n, fitted.groups), (14, 4));
        // z = 4.575.
        assert!((fitted.effects[1].p / 4.76e-6 - 1.0).abs() < 0.01, "{}", fitted.effects[1].p);

        let fitted = fit(&groups(|y| y), Likelihood::Full).expect("a fit");
        close(fitted.theta, 4.397_260);
        close(fitted.log_likelihood, -16.205_501);
        close(fitted.effects[0].estimate, 5.884_336);
        close(fitted.effects[1].estimate, 1.366_325);
        close(fitted.effects[0].se, 0.577_346);
        close(fitted.effects[1].se, 0.282_697);
    }

    #[test]
    fn a_standardised_outcome_scales_the_effect() {
        let all: Vec<f64> = Y.iter().flat_map(|group| group.iter().copied()).collect();
        let Sample { mean, sd, .. } = Sample::of(&all).expect("values");
        let fitted = fit(&groups(|y| (y - mean) / sd), Likelihood::Restricted).expect("a fit");
        close(fitted.effects[1].estimate, 0.909_639);
        close(fitted.effects[1].se, 0.198_826);
    }

    #[test]
    fn groups_that_do_not_differ_have_no_variance_and_what_cannot_be_fitted_is_none() {
        let row = |x: f64, y: f64| Row { x: [1.0, x], y };
        let alike = vec![
            vec![row(0.0, 1.0), row(1.0, 3.0)],
            vec![row(0.0, 3.0), row(1.0, 1.0)],
            vec![row(0.0, 2.0), row(1.0, 2.0)],
        ];
        let fitted = fit(&alike, Likelihood::Restricted).expect("a fit");
        assert!(fitted.theta.abs() < 1e-12 && fitted.effects[1].estimate.abs() < 1e-12);
        assert_eq!(fit(&alike[..1], Likelihood::Restricted), None, "no more rows than effects");
        let same: Vec<Vec<Row<2>>> = vec![vec![row(1.0, 1.0), row(1.0, 2.0), row(1.0, 4.0)]];
        assert_eq!(fit(&same, Likelihood::Full), None, "columns depend on each other");
        let exact = vec![vec![row(0.0, 1.0), row(1.0, 2.0), row(2.0, 3.0)]];
        assert_eq!(fit(&exact, Likelihood::Full), None, "no residual");
    }
}
