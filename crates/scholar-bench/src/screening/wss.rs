//! Work saved over sampling.

use scholar_core::SplitMix64;
use scholar_pipeline::screen::Relevance;
use serde::Serialize;

use crate::statistics::{Estimate, SEED, estimate_by, mean, ratio};

/// Recall at which the work is counted.
pub const RECALL: f64 = 0.95;
/// Orders drawn for the random baseline.
const DRAWS: usize = 1_000;

/// How much reading an order saves.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Saved {
    /// WSS@95 with a 95 % interval by resampling the papers of this topic.
    pub wss: Estimate,
    /// Papers read until 95 % of the included ones are found.
    pub read: usize,
    /// Of how many.
    pub papers: usize,
    /// Included papers.
    pub included: usize,
}

/// WSS@95 of `wanted`, which says of each paper in reading order whether it is included: the share of papers that need not be read,
/// less the 5 % that a random order would save at that recall. `None` where nothing is included.
fn wss(wanted: &[bool]) -> Option<f64> {
    Some(1.0 - ratio(read_until(wanted)?, wanted.len()) - (1.0 - RECALL))
}

/// How many of the papers in order are read until [`RECALL`] of the included ones are found.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a share of a count of papers"
)]
fn read_until(wanted: &[bool]) -> Option<usize> {
    let included = wanted.iter().filter(|one| **one).count();
    if included == 0 {
        return None;
    }
    let needed = (RECALL * ratio(included, 1)).ceil() as usize;
    let mut found = 0;
    for (at, one) in wanted.iter().enumerate() {
        found += usize::from(*one);
        if found >= needed {
            return Some(at + 1);
        }
    }
    None
}

/// What reading in the order of `scores`, the highest first and ties in input order, saves; `wanted` says which papers are included.
pub fn work_saved(scores: &[f32], wanted: &[bool]) -> Option<Saved> {
    let mut order: Vec<usize> = (0..scores.len().min(wanted.len())).collect();
    order.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]).then(a.cmp(b)));
    let rows: Vec<(usize, bool)> =
        order.iter().enumerate().map(|(place, at)| (place, wanted[*at])).collect();
    let in_order = |rows: &[&(usize, bool)]| {
        let mut rows = rows.to_vec();
        rows.sort_by_key(|row| row.0);
        wss(&rows.iter().map(|row| row.1).collect::<Vec<bool>>())
    };
    let by_place: Vec<bool> = rows.iter().map(|row| row.1).collect();
    Some(Saved {
        wss: estimate_by(&rows, SEED, in_order)?,
        read: read_until(&by_place)?,
        papers: rows.len(),
        included: by_place.iter().filter(|one| **one).count(),
    })
}

/// Mean WSS@95 of random orders.
pub fn random_work_saved(wanted: &[bool]) -> f64 {
    let mut random = SplitMix64::new(SEED);
    let mut order = wanted.to_vec();
    let draws: Vec<f64> = (0..DRAWS)
        .filter_map(|_| {
            random.shuffle(&mut order);
            wss(&order)
        })
        .collect();
    mean(&draws)
}

/// Scores of the order in which papers are read with active learning; the first paper read has the highest.
///
/// The reader begins with the order of `prior`, decides on `batch` papers at a time as `wanted` says, and lets the rest be ranked
/// again.
pub fn simulate(
    texts: &[&str],
    vectors: &[Option<&[f32]>],
    prior: &[f32],
    wanted: &[bool],
    batch: usize,
) -> Vec<f32> {
    let learner = Relevance::new(texts, vectors, prior);
    let mut labels: Vec<(usize, bool)> = Vec::new();
    let mut places = vec![0.0; prior.len()];
    let mut left: Vec<usize> = (0..prior.len().min(wanted.len())).collect();
    while !left.is_empty() {
        let scores = learner.scores(&labels);
        left.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]).then(a.cmp(b)));
        for at in left.drain(..batch.clamp(1, left.len())) {
            places[at] = -(labels.len() as f32);
            labels.push((at, wanted[at]));
        }
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_perfect_order_saves_all_but_the_included_and_a_reversed_one_nothing() {
        let wanted: Vec<bool> = (0..100).map(|at| at < 20).collect();
        let scores: Vec<f32> = (0..100_u8).map(|at| -f32::from(at)).collect();
        let saved = work_saved(&scores, &wanted).expect("included papers");
        // 19 of 20 are enough.
        assert_eq!((saved.read, saved.included), (19, 20));
        assert!((saved.wss.mean - (0.81 - 0.05)).abs() < 1e-9);
        assert!(saved.wss.low <= saved.wss.mean && saved.wss.mean <= saved.wss.high);
        let reversed: Vec<f32> = scores.iter().map(|score| -score).collect();
        let worst = work_saved(&reversed, &wanted).expect("included papers");
        assert!((worst.wss.mean + 0.04).abs() < 1e-9, "{worst:?}");
        assert!(random_work_saved(&wanted).abs() < 0.05);
        assert_eq!(work_saved(&scores, &[false; 100]), None);
    }

    #[test]
    fn reading_teaches() {
        // Papers of two kinds; the prior knows nothing.
        let kinds = [[1.0_f32, 0.0], [0.0, 1.0]];
        let vectors: Vec<Option<&[f32]>> = (0..40).map(|at| Some(&kinds[at % 2][..])).collect();
        let wanted: Vec<bool> = (0..40).map(|at| at % 2 == 1).collect();
        let (prior, texts) = (vec![0.0; 40], [""; 40]);
        let learnt = simulate(&texts, &vectors, &prior, &wanted, 4);
        let saved = work_saved(&learnt, &wanted).expect("included");
        let unlearnt = work_saved(&prior, &wanted).expect("included");
        assert!(saved.read <= 23 && unlearnt.read >= 38, "{} {}", saved.read, unlearnt.read);
        assert_eq!(learnt, simulate(&texts, &vectors, &prior, &wanted, 4));
    }
}
