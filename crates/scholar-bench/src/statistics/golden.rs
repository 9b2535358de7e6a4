//! Against scipy, scikit-learn and the krippendorff package: `tests/golden/statistics_values.py`.

use serde::Deserialize;

use super::agreement::{
    KappaWeights, Level, Preference, Ties, cohen_kappa, krippendorff_alpha, percent,
    preference_agreement,
};
use super::correlation::{kendall, pearson, spearman};
use super::sign::sign_test;
use super::*;

#[derive(Deserialize)]
struct Golden {
    correlations: Vec<Correlation>,
    kappas: Vec<Kappa>,
    alphas: Vec<Alpha>,
    signs: Vec<Sign>,
    bootstraps: Bootstraps,
}

#[derive(Deserialize)]
struct Correlation {
    a: Vec<f64>,
    b: Vec<f64>,
    pearson: f64,
    spearman: f64,
    kendall: f64,
}

#[derive(Deserialize)]
struct Kappa {
    pairs: Vec<(usize, usize)>,
    none: f64,
    linear: f64,
    quadratic: f64,
}

#[derive(Deserialize)]
struct Alpha {
    units: Vec<Vec<f64>>,
    nominal: f64,
    ordinal: f64,
    interval: f64,
}

#[derive(Deserialize)]
struct Sign {
    wins: usize,
    losses: usize,
    p: f64,
}

#[derive(Deserialize)]
struct Bootstraps {
    rows: Vec<(f64, f64)>,
    seed: u64,
    mean: Drawn,
    harmonic: Drawn,
    ratio: Drawn,
    scipy: (f64, f64),
}

#[derive(Deserialize)]
struct Drawn {
    value: f64,
    low: f64,
    high: f64,
}

fn golden() -> Golden {
    serde_json::from_str(include_str!("../../tests/golden/statistics_values.json"))
        .expect("golden file")
}

fn close(found: Option<f64>, expected: f64) {
    assert!(found.is_some_and(|found| (found - expected).abs() < 1e-9), "{found:?} {expected}");
}

#[test]
fn correlations_are_those_of_scipy() {
    for case in golden().correlations {
        close(pearson(&case.a, &case.b), case.pearson);
        close(spearman(&case.a, &case.b), case.spearman);
        close(kendall(&case.a, &case.b), case.kendall);
    }
    for correlation in [pearson, spearman, kendall] {
        assert_eq!(correlation(&[1.0, 1.0], &[1.0, 2.0]), None, "constant");
        assert_eq!(correlation(&[1.0], &[1.0]), None, "too short");
        assert_eq!(correlation(&[1.0, 2.0], &[1.0]), None, "unequal");
        assert_eq!(correlation(&[1.0, f64::NAN], &[1.0, 2.0]), None, "not a number");
        assert_eq!(correlation(&[], &[]), None, "empty");
    }
}

#[test]
fn agreement_is_that_of_the_packages() {
    for case in golden().kappas {
        close(cohen_kappa(&case.pairs, KappaWeights::None), case.none);
        close(cohen_kappa(&case.pairs, KappaWeights::Linear), case.linear);
        close(cohen_kappa(&case.pairs, KappaWeights::Quadratic), case.quadratic);
    }
    assert_eq!(cohen_kappa(&[], KappaWeights::None), None);
    assert_eq!(cohen_kappa(&[(1, 1), (1, 1)], KappaWeights::None), None);
    for case in golden().alphas {
        close(krippendorff_alpha(&case.units, Level::Nominal), case.nominal);
        close(krippendorff_alpha(&case.units, Level::Ordinal), case.ordinal);
        close(krippendorff_alpha(&case.units, Level::Interval), case.interval);
    }
    assert_eq!(krippendorff_alpha(&[vec![1.0], vec![]], Level::Nominal), None);
    assert_eq!(krippendorff_alpha(&[vec![2.0, 2.0], vec![2.0, 2.0]], Level::Nominal), None);
}

#[test]
fn ties_stand_apart_count_half_or_are_merged() {
    use Preference::{A, B, Tie};
    let pairs = [(A, A), (A, Tie), (Tie, Tie), (B, A)];
    close(preference_agreement(&pairs, Ties::Apart), 0.5);
    close(preference_agreement(&pairs, Ties::Half), 0.625);
    close(preference_agreement(&pairs, Ties::Merged), 0.75);
    close(percent(&pairs), 0.5);
    assert_eq!(preference_agreement(&[], Ties::Half), None);
}

#[test]
fn the_sign_test_is_exact() {
    for Sign { wins, losses, p } in golden().signs {
        close(Some(sign_test(wins, losses)), p);
    }
    assert!(sign_test(1_000_000, 900_000) < 1e-9);
}

#[test]
fn the_seeded_bootstrap_draws_the_same_everywhere() {
    let Bootstraps { rows, seed, mean, harmonic, ratio, scipy } = golden().bootstraps;
    let same = |found: Option<Estimate>, expected: &Drawn| {
        let found = found.expect("rows");
        close(Some(found.mean), expected.value);
        close(Some(found.low), expected.low);
        close(Some(found.high), expected.high);
    };
    let firsts: Vec<f64> = rows.iter().map(|row| row.0).collect();
    same(estimate(&firsts, seed), &mean);
    same(estimate_by(&rows, seed, harmonic_of_means), &harmonic);
    same(estimate_by(&rows, seed, ratio_of_means), &ratio);
    // Another generator and ten times the draws: the same interval within the noise of 2,000 draws.
    let found = estimate(&firsts, seed).expect("rows");
    assert!((found.low - scipy.0).abs() < 0.01 && (found.high - scipy.1).abs() < 0.01, "{found:?}");
}

/// A table of two raters' labels as pairs.
fn pairs_of<const N: usize>(table: [[usize; N]; N]) -> Vec<(usize, usize)> {
    let cells = (0..N).flat_map(|row| (0..N).map(move |column| (row, column)));
    cells.flat_map(|at| std::iter::repeat_n(at, table[at.0][at.1])).collect()
}

/// The last one equals the published agreement on evidence support of `ScholarEval`'s judge with people.
#[test]
fn kappas_of_tables_are_known() {
    let check = |pairs: Vec<(usize, usize)>, observed: f64, kappa: f64| {
        assert!((percent(&pairs).expect("pairs") - observed).abs() < 5e-7);
        let found = cohen_kappa(&pairs, KappaWeights::None).expect("defined");
        assert!((found - kappa).abs() < 5e-7, "{found}");
    };
    check(pairs_of([[20, 5], [10, 15]]), 0.70, 0.40);
    check(pairs_of([[8, 1, 0], [2, 4, 1], [0, 1, 1]]), 0.722_222, 0.521_277);
    check(pairs_of([[10, 2], [4, 2]]), 0.666_667, 0.181_818);
}
