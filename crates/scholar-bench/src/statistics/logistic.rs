//! Logistic regression on a handful of features, each held near zero by a penalty: a normal prior of that precision.
//!
//! Newton's method from zero on a strictly concave function: deterministic, and at its maximum after a few steps.

use super::linear::solve;

/// One observation: features, outcome and weight.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Observation<const N: usize> {
    /// Features; the first is the bias, 1.
    pub x: [f64; N],
    /// What was seen, from 0 to 1.
    pub y: f64,
    /// How much it counts.
    pub weight: f64,
}

/// Most steps; about six are needed.
const STEPS: usize = 50;
/// Longest step: far ones overshoot where the curve is flat.
const LONGEST: f64 = 4.0;
/// A shorter step changes nothing.
const SHORTEST: f64 = 1e-10;

/// Penalties that hold all coefficients but the bias near zero alike.
pub fn ridge<const N: usize>(penalty: f64) -> [f64; N] {
    std::array::from_fn(|i| if i == 0 { 1e-6 } else { penalty })
}

/// The coefficients that make `rows` most probable under the `penalties` of their squares' halves.
pub fn fit<const N: usize>(rows: &[Observation<N>], penalties: &[f64; N]) -> [f64; N] {
    let mut w = [0.0; N];
    for _ in 0..STEPS {
        let mut gradient = [0.0; N];
        let mut hessian = [[0.0; N]; N];
        for Observation { x, y, weight } in rows {
            let p = probability(&w, x);
            for i in 0..N {
                gradient[i] += weight * (p - y) * x[i];
                for j in 0..N {
                    hessian[i][j] += weight * p * (1.0 - p) * x[i] * x[j];
                }
            }
        }
        for i in 0..N {
            gradient[i] += penalties[i] * w[i];
            hessian[i][i] += penalties[i];
        }
        let (step, _) = solve(hessian, gradient.map(|part| [part]));
        let step = step.map(|[part]| part);
        let length: f64 = step.iter().map(|part| part.abs()).sum();
        let scale = (LONGEST / length).min(1.0);
        for i in 0..N {
            w[i] -= scale * step[i];
        }
        if length < SHORTEST {
            break;
        }
    }
    w
}

/// `1 / (1 + e^-(w·x))`.
pub fn probability<const N: usize>(w: &[f64; N], x: &[f64; N]) -> f64 {
    1.0 / (1.0 + (-x.iter().zip(w).map(|(a, b)| a * b).sum::<f64>()).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(x: f64, y: f64) -> Observation<2> {
        Observation { x: [1.0, x], y, weight: 1.0 }
    }

    #[test]
    fn the_fit_is_where_the_gradient_vanishes() {
        let rows = [row(-2.0, 0.0), row(-1.0, 1.0), row(0.5, 0.0), row(1.0, 1.0), row(3.0, 1.0)];
        let w = fit(&rows, &ridge(0.1));
        let residual = |row: &Observation<2>| row.y - probability(&w, &row.x);
        let bias: f64 = rows.iter().map(residual).sum::<f64>() - 1e-6 * w[0];
        let slope: f64 = rows.iter().map(|r| residual(r) * r.x[1]).sum::<f64>() - 0.1 * w[1];
        assert!(bias.abs() < 1e-9 && slope.abs() < 1e-9, "{bias} {slope}");
        assert!(w[1] > 0.0);
    }

    #[test]
    fn what_separates_stays_finite_and_what_weighs_nothing_changes_nothing() {
        let rows = [row(-1.0, 0.0), row(-0.5, 0.0), row(0.5, 1.0), row(1.0, 1.0)];
        let w = fit(&rows, &ridge(0.5));
        assert!(w.iter().all(|value| value.is_finite()), "{w:?}");
        let mut more = rows.to_vec();
        more.push(Observation { weight: 0.0, ..row(5.0, 0.0) });
        assert_eq!(fit(&more, &ridge(0.5)).map(f64::to_bits), w.map(f64::to_bits));
    }
}
