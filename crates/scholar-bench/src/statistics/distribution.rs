//! Tails of Student's t and of the normal distribution.
//!
//! Everything is in logarithms as long as it can be, because published p-values reach 1e-95.
//!
//! Source: Abramowitz and Stegun, 26.5.8 (incomplete beta as a continued fraction, by Lentz's method), 26.7.1 (t from it), 7.1.6
//! and 7.1.14 (error function); Lanczos 1964 with g = 7.

use std::f64::consts::PI;

/// Coefficients of Lanczos's series for g = 7.
const LANCZOS: [f64; 9] = [
    0.999_999_999_999_809_9,
    676.520_368_121_885_1,
    -1_259.139_216_722_402_8,
    771.323_428_777_653_1,
    -176.615_029_162_140_6,
    12.507_343_278_686_905,
    -0.138_571_095_265_720_12,
    9.984_369_578_019_572e-6,
    1.505_632_735_149_311_6e-7,
];
/// Most terms of a series or fraction; a few dozen are needed.
const MOST_TERMS: u32 = 10_000;
/// A term that changes less than this is the last.
const PRECISION: f64 = 1e-16;
/// Stands for 0 where Lentz's method would divide by it.
const TINY: f64 = 1e-300;

/// Logarithm of the gamma function of `x` > 0.
fn ln_gamma(x: f64) -> f64 {
    let mut sum = LANCZOS[0];
    let mut place = x - 1.0;
    for coefficient in &LANCZOS[1..] {
        place += 1.0;
        sum += coefficient / place;
    }
    let base = x + 6.5;
    0.5 * (2.0 * PI).ln() + (x - 0.5) * base.ln() - base + sum.ln()
}

/// Logarithm of the regularised incomplete beta function `I_x(a, b)`, by the fraction that converges left of the mean.
fn ln_beta_fraction(x: f64, a: f64, b: f64) -> f64 {
    let front =
        a * x.ln() + b * (-x).ln_1p() + ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) - a.ln();
    let off_zero = |value: f64| if value.abs() < TINY { TINY } else { value };
    let (mut c, mut d) = (1.0, 1.0 / off_zero(1.0 - (a + b) * x / (a + 1.0)));
    let mut fraction = d;
    for m in 1..MOST_TERMS {
        let m = f64::from(m);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut change = 1.0;
        for step in [even, odd] {
            d = 1.0 / off_zero(1.0 + step * d);
            c = off_zero(1.0 + step / c);
            change = c * d;
            fraction *= change;
        }
        if (change - 1.0).abs() < PRECISION {
            break;
        }
    }
    front + fraction.ln()
}

/// Two-sided p of Student's t with `df` > 0 degrees of freedom: the probability of a value at least as far from 0.
pub(super) fn t_two_sided(t: f64, df: f64) -> f64 {
    let (a, b) = (df / 2.0, 0.5);
    let square = t * t;
    let x = df / (df + square);
    if x < (a + 1.0) / (a + b + 2.0) {
        ln_beta_fraction(x, a, b).exp()
    } else if square > 0.0 {
        1.0 - ln_beta_fraction(square / (df + square), b, a).exp()
    } else {
        1.0
    }
}

/// Two-sided p of a standard normal `z`.
pub(super) fn normal_two_sided(z: f64) -> f64 {
    let x = z.abs() / std::f64::consts::SQRT_2;
    if x < 2.0 {
        let (mut term, mut sum) = (x, x);
        for n in 1..MOST_TERMS {
            term *= 2.0 * x * x / f64::from(2 * n + 1);
            sum += term;
            if term < PRECISION * sum {
                break;
            }
        }
        1.0 - 2.0 / PI.sqrt() * (-x * x).exp() * sum
    } else {
        // From the far end, so many terms that more change nothing right of 2.
        let fraction = (1..=200).rev().fold(x, |below, n| x + f64::from(n) / 2.0 / below);
        (-x * x).exp() / (PI.sqrt() * fraction)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: f64, expected: f64) {
        assert!((found / expected - 1.0).abs() < 1e-10, "{found} {expected}");
    }

    #[test]
    fn known_tails() {
        close(ln_gamma(5.0), 24.0_f64.ln());
        close(ln_gamma(0.5), PI.sqrt().ln());
        // With one degree of freedom t is Cauchy's, with two it is algebraic.
        close(t_two_sided(1.0, 1.0), 0.5);
        close(t_two_sided(3.0, 2.0), 1.0 - 3.0 / 11.0_f64.sqrt());
        close(t_two_sided(0.1, 1.0), 1.0 - 2.0 * 0.1_f64.atan() / PI);
        close(t_two_sided(0.0, 7.0), 1.0);
        close(normal_two_sided(1.959_963_984_540_054), 0.05);
        close(normal_two_sided(-1.0), 0.317_310_507_862_914_1);
        close(normal_two_sided(5.0), 5.733_031_437_583_866e-7);
        // Both branches meet.
        let meets = 2.0 * std::f64::consts::SQRT_2;
        close(normal_two_sided(meets - 1e-13), normal_two_sided(meets + 1e-13));
        // By mpmath with 30 digits.
        close(t_two_sided(21.0, 2_000.0), 1.213_873_167_546_284_8e-88);
    }
}
