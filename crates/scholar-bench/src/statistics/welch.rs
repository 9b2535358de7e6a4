//! Welch's t-test of two means with unequal variances.
//!
//! It takes observations for independent. Grades of several rubrics of one idea are not, so that here it stands beside tests
//! that draw or model ideas.
//!
//! Source: Welch 1947; the degrees of freedom are Satterthwaite's.

use serde::{Deserialize, Serialize};

use super::distribution::t_two_sided;
use super::{mean, ratio};

/// What the test needs of a sample.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// Number of observations.
    pub n: usize,
    /// Their mean.
    pub mean: f64,
    /// Their standard deviation, with `n − 1` in the denominator.
    pub sd: f64,
}

/// The result of the test.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Welch {
    /// Difference of the means, first minus second, over its standard error.
    pub t: f64,
    /// Degrees of freedom.
    pub df: f64,
    /// Two-sided.
    pub p: f64,
}

impl Sample {
    /// Of these values; `None` of fewer than two.
    pub fn of(values: &[f64]) -> Option<Self> {
        let n = values.len();
        let mean = mean(values);
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        (n >= 2).then(|| Self { n, mean, sd: (squares / ratio(n - 1, 1)).sqrt() })
    }
}

/// Tests whether two samples have the same mean; `None` where one has fewer than two observations or neither varies.
pub fn welch(first: Sample, second: Sample) -> Option<Welch> {
    if first.n < 2 || second.n < 2 {
        return None;
    }
    let share = |sample: Sample| sample.sd * sample.sd / ratio(sample.n, 1);
    let (a, b) = (share(first), share(second));
    let t = (first.mean - second.mean) / (a + b).sqrt();
    let df = (a + b).powi(2) / (a * a / ratio(first.n - 1, 1) + b * b / ratio(second.n - 1, 1));
    (t.is_finite() && df.is_finite()).then(|| Welch { t, df, p: t_two_sided(t, df) })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `slice, n, system, baseline, two means and deviations, published p, whether called significant, t, df, p`.
    const ROWS: &str = include_str!("../../data/scholarideas/welch.csv");

    /// Slices whose published p-values follow from the printed means, deviations and counts.
    const REPRODUCIBLE: [&str; 3] = ["overall", "ai", "ecology"];

    #[test]
    fn the_tables_of_scholareval_are_recomputed() {
        let mut reproduced = 0;
        let rows: Vec<&str> = ROWS.lines().filter(|line| !line.starts_with('#')).skip(1).collect();
        for line in &rows {
            let cells: Vec<&str> = line.split(',').collect();
            let number = |at: usize| cells[at].parse::<f64>().expect("a number");
            let n = cells[1].parse().expect("a count");
            let first = Sample { n, mean: number(4), sd: number(5) };
            let second = Sample { n, mean: number(6), sd: number(7) };
            let found = welch(first, second).expect("both vary");
            let near = |found: f64, expected: f64, share: f64| {
                assert!((found / expected - 1.0).abs() < share, "{line}: {found}");
            };
            near(found.t, number(10), 1e-6);
            near(found.df, number(11), 1e-7);
            near(found.p, number(12), 6e-4);
            // To the digits that are printed; one row of ecology is not.
            let as_printed = match cells[8].contains('e') {
                true => format!("{:.1e}", found.p) == format!("{:.1e}", number(8)),
                false => format!("{:.3}", found.p) == cells[8],
            };
            if REPRODUCIBLE.contains(&cells[0]) {
                let exception = cells[0] == "ecology" && cells[8] == "3.8e-04";
                assert_eq!(as_printed, !exception, "{line}: {}", found.p);
                reproduced += usize::from(as_printed);
            }
        }
        assert_eq!((rows.len(), reproduced), (60, 35));
    }

    #[test]
    fn what_does_not_vary_is_not_tested() {
        let flat = Sample::of(&[2.0, 2.0, 2.0]).expect("three");
        assert_eq!(welch(flat, flat), None);
        assert_eq!(Sample::of(&[1.0]), None);
        let sample = Sample::of(&[1.0, 2.0, 3.0, 4.0]).expect("four");
        assert!((sample.sd - 1.290_994_448_735_805_6).abs() < 1e-12);
        let found = welch(sample, flat).expect("one varies");
        assert!((found.df - 3.0).abs() < 1e-12 && found.t > 0.0);
    }
}
