//! Shares with their intervals.

use serde::Serialize;

/// A share with its 95 % interval by Wilson.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Share {
    /// How many.
    pub hits: usize,
    /// Of how many.
    pub n: usize,
    /// Bounds of the interval; 0 and 1 of nothing.
    pub low: f64,
    /// See `low`.
    pub high: f64,
}

impl Share {
    /// The share of `hits` in `n`. Source: Wilson 1927, z = 1.96.
    pub fn of(hits: usize, n: usize) -> Self {
        if n == 0 {
            return Self { hits, n, low: 0.0, high: 1.0 };
        }
        let (z, size) = (1.96_f64, n as f64);
        let p = hits as f64 / size;
        let middle = p + z * z / (2.0 * size);
        let half = z * (p * (1.0 - p) / size + z * z / (4.0 * size * size)).sqrt();
        let scale = 1.0 + z * z / size;
        Self {
            hits,
            n,
            low: ((middle - half) / scale).max(0.0),
            high: ((middle + half) / scale).min(1.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_holds_its_share() {
        let share = Share::of(3, 300);
        assert!(share.low < 0.01 && 0.01 < share.high && share.high < 0.03, "{share:?}");
        assert!(Share::of(0, 100).high < 0.04);
        assert_eq!((Share::of(0, 0).low, Share::of(0, 0).high), (0.0, 1.0));
    }
}
