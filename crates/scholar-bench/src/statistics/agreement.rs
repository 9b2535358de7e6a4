//! How far raters agree: percent, Cohen's kappa, Krippendorff's alpha.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::ratio;

/// Share of pairs whose two ratings are equal; `None` without pairs.
pub fn percent<T: PartialEq>(pairs: &[(T, T)]) -> Option<f64> {
    let equal = pairs.iter().filter(|(a, b)| a == b).count();
    (!pairs.is_empty()).then(|| ratio(equal, pairs.len()))
}

/// A preference between two answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Preference {
    /// The first is better.
    A,
    /// Neither answer is better.
    Tie,
    /// The second is better.
    B,
}

/// How a tie against a preference counts when two raters are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ties {
    /// As a disagreement: strict agreement.
    Apart,
    /// As half an agreement. The paper's relaxed agreement.
    Half,
    /// As an agreement: only A against B disagrees.
    Merged,
}

/// Agreement of two raters' preferences, a tie against a preference counted as `ties` says; `None` without pairs.
///
/// The paper's human agreement is 0.68 with [`Ties::Apart`] and 0.70 with [`Ties::Half`].
pub fn preference_agreement(pairs: &[(Preference, Preference)], ties: Ties) -> Option<f64> {
    let value = |(a, b): &(Preference, Preference)| match (a, b) {
        (a, b) if a == b => 1.0,
        (Preference::Tie, _) | (_, Preference::Tie) => match ties {
            Ties::Apart => 0.0,
            Ties::Half => 0.5,
            Ties::Merged => 1.0,
        },
        _ => 0.0,
    };
    (!pairs.is_empty()).then(|| pairs.iter().map(value).sum::<f64>() / ratio(pairs.len(), 1))
}

/// How far apart two categories of [`cohen_kappa`] are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KappaWeights {
    /// 1 if they differ, else 0: unweighted kappa.
    None,
    /// By the distance of their places.
    Linear,
    /// By the square of that distance.
    Quadratic,
}

/// Cohen's kappa of two raters; categories are places from 0, in their order if they have one.
///
/// `None` without pairs, and when chance alone would agree always (both raters use one category only).
pub fn cohen_kappa(pairs: &[(usize, usize)], weights: KappaWeights) -> Option<f64> {
    let n = ratio(pairs.len(), 1);
    let mut rows: BTreeMap<usize, f64> = BTreeMap::new();
    let mut columns: BTreeMap<usize, f64> = BTreeMap::new();
    for (a, b) in pairs {
        *rows.entry(*a).or_default() += 1.0;
        *columns.entry(*b).or_default() += 1.0;
    }
    let distance = |a: usize, b: usize| {
        let apart = ratio(a.abs_diff(b), 1);
        match weights {
            KappaWeights::None => f64::from(u8::from(a != b)),
            KappaWeights::Linear => apart,
            KappaWeights::Quadratic => apart * apart,
        }
    };
    let observed: f64 = pairs.iter().map(|(a, b)| distance(*a, *b)).sum();
    let mut expected = 0.0;
    for (a, in_row) in &rows {
        for (b, in_column) in &columns {
            expected += distance(*a, *b) * in_row * in_column / n;
        }
    }
    (expected > 0.0).then(|| 1.0 - observed / expected)
}

/// What the numbers of [`krippendorff_alpha`] mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Categories without order: any two differ alike.
    Nominal,
    /// Ranks: two differ by the ratings that lie between them.
    Ordinal,
    /// Amounts: two differ by their distance, squared.
    Interval,
}

/// Krippendorff's alpha. Each unit lists the ratings it has, one per rater, in any order; who rated is not needed, and
/// units with fewer than two ratings take no part.
///
/// `None` when no unit has two ratings or all ratings are the same. Linear in the ratings and quadratic in the
/// distinct values.
///
/// Source: Krippendorff, "Computing Krippendorff's alpha-reliability", 2011.
pub fn krippendorff_alpha(units: &[Vec<f64>], level: Level) -> Option<f64> {
    let rated: Vec<&Vec<f64>> = units.iter().filter(|unit| unit.len() >= 2).collect();
    let mut values: Vec<f64> = rated.iter().flat_map(|unit| unit.iter().copied()).collect();
    if values.iter().any(|value| !value.is_finite()) {
        return None;
    }
    values.sort_by(f64::total_cmp);
    values.dedup();
    let place = |value: f64| values.partition_point(|known| *known < value);

    let mut coincidences = vec![vec![0.0; values.len()]; values.len()];
    for unit in &rated {
        let weight = 1.0 / ratio(unit.len() - 1, 1);
        let mut counts: BTreeMap<usize, f64> = BTreeMap::new();
        for value in *unit {
            *counts.entry(place(*value)).or_default() += 1.0;
        }
        for (c, of_c) in &counts {
            for (k, of_k) in &counts {
                let pairs = if c == k { of_c * (of_c - 1.0) } else { of_c * of_k };
                coincidences[*c][*k] += pairs * weight;
            }
        }
    }
    let totals: Vec<f64> = coincidences.iter().map(|row| row.iter().sum()).collect();
    let n: f64 = totals.iter().sum();
    let (mut observed, mut expected) = (0.0, 0.0);
    for c in 0..values.len() {
        for k in 0..values.len() {
            let apart = level_distance(level, &values, &totals, (c, k));
            observed += coincidences[c][k] * apart;
            expected += totals[c] * totals[k] * apart;
        }
    }
    (expected > 0.0).then(|| 1.0 - (n - 1.0) * observed / expected)
}

/// Squared distance of the values at two places.
fn level_distance(level: Level, values: &[f64], totals: &[f64], places: (usize, usize)) -> f64 {
    let (low, high) = (places.0.min(places.1), places.0.max(places.1));
    if low == high {
        return 0.0;
    }
    match level {
        Level::Nominal => 1.0,
        Level::Ordinal => {
            let between: f64 = totals[low..=high].iter().sum();
            (between - f64::midpoint(totals[low], totals[high])).powi(2)
        }
        Level::Interval => (values[high] - values[low]).powi(2),
    }
}
