//! The exact sign test.

/// Two-sided p of `wins` against `losses` when both are equally likely; ties are left out by the caller.
///
/// 1 without any decision. Exact for any count: the binomial tail is summed in logarithms.
pub fn sign_test(wins: usize, losses: usize) -> f64 {
    let n = wins + losses;
    let fewer = wins.min(losses);
    if 2 * fewer == n {
        return 1.0;
    }
    // log of C(n, k) / 2^n, from one k to the next.
    let mut log = -super::ratio(n, 1) * std::f64::consts::LN_2;
    let mut tail = log.exp();
    for k in 1..=fewer {
        log += (super::ratio(n - k + 1, 1) / super::ratio(k, 1)).ln();
        tail += log.exp();
    }
    (2.0 * tail).min(1.0)
}
