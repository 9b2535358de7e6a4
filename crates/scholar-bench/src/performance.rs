//! Speed and size: what `bench` commands measure of encoding, indexing, searching, serving and reading, and their
//! reports.
//!
//! Measurements are taken by whoever holds the engine and handed in as values or closures; this module knows no
//! engine, no machine and no file.

pub mod encoder;
pub mod formats;
pub mod generator;
pub mod graph;
pub mod index;
pub mod ingest;
pub mod library;
pub mod reranker;
pub mod search;
pub mod serve;
pub mod synthetic;

use std::time::Instant;

/// The value below which `percent` of the values lie, nearest rank; 0 without values. `sorted` ascends.
pub fn percentile(sorted: &[f64], percent: usize) -> f64 {
    let rank = (sorted.len().saturating_sub(1) * percent + 50) / 100;
    sorted.get(rank).copied().unwrap_or_default()
}

/// Runs `round` `rounds` times, at least once; the seconds of the fastest one, and what the last one returned.
///
/// # Errors
/// The first of `round`.
pub fn best_of<T, E>(rounds: usize, round: impl Fn() -> Result<T, E>) -> Result<(f64, T), E> {
    let timed = || {
        let began = Instant::now();
        let made = round()?;
        Ok((began.elapsed().as_secs_f64(), made))
    };
    let (mut best, mut last) = timed()?;
    for _ in 1..rounds {
        let (seconds, made) = timed()?;
        best = best.min(seconds);
        last = made;
    }
    Ok((best, last))
}

/// Milliseconds since `began`.
fn milliseconds(began: Instant) -> f64 {
    began.elapsed().as_secs_f64() * 1e3
}

/// A cell for what may not be known.
fn or_dash<T>(value: Option<T>, shown: impl Fn(T) -> String) -> String {
    value.map_or_else(|| "–".to_owned(), shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_of_the_nearest_rank() {
        let sorted = [1.0, 2.0, 3.0, 4.0, 5.0];
        let at = [0, 50, 90, 100].map(|percent| percentile(&sorted, percent));
        assert_eq!(at.map(f64::to_bits), [1.0, 3.0, 5.0, 5.0].map(f64::to_bits));
        assert_eq!(percentile(&[], 50).to_bits(), 0.0_f64.to_bits());
    }

    #[test]
    fn the_first_failure_ends_the_rounds() {
        let calls = std::cell::Cell::new(0);
        let failed = best_of(3, || {
            calls.set(calls.get() + 1);
            if calls.get() == 2 { Err("no") } else { Ok(()) }
        });
        assert_eq!((failed.err(), calls.get()), (Some("no"), 2));
    }
}
