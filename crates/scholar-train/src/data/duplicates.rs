//! Near-duplicates among rows: `MinHash` proposes, the exact Jaccard similarity of shingles decides.

use std::collections::{HashMap, HashSet};

use super::wording::{hash, shingles, tokens};

/// Words in a shingle of a row. Ours: 13 would never see two short claims.
const WORDS: usize = 4;

/// Bands of the signature, of [`ROWS`] minima each: two texts of similarity 0.8 share a band with probability 0.9998.
const BANDS: usize = 16;
const ROWS: usize = 4;

/// From this similarity on, the later of two rows is left out. Ours: a printing of the same sentence, not a neighbour.
pub const NEAR_DUPLICATE: f64 = 0.8;

/// Finds texts nearly equal to an earlier one.
#[derive(Debug, Default)]
pub struct Duplicates {
    bands: HashMap<(usize, u64), Vec<usize>>,
    sets: Vec<HashSet<u64>>,
}

impl Duplicates {
    /// Whether a text nearly equal to `text` was seen; if none was, `text` is remembered.
    pub fn is_repeated(&mut self, text: &str) -> bool {
        let set = runs(text);
        let bands = bands(&set);
        let mut candidates: Vec<usize> =
            bands.iter().filter_map(|band| self.bands.get(band)).flatten().copied().collect();
        candidates.sort_unstable();
        candidates.dedup();
        if candidates.iter().any(|seen| similarity(&set, &self.sets[*seen]) >= NEAR_DUPLICATE) {
            return true;
        }
        for band in bands {
            self.bands.entry(band).or_default().push(self.sets.len());
        }
        self.sets.push(set);
        false
    }
}

fn runs(text: &str) -> HashSet<u64> {
    let runs: HashSet<u64> = shingles(text, WORDS).into_iter().collect();
    if !runs.is_empty() {
        return runs;
    }
    let words = tokens(text);
    [hash(words.iter().map(String::as_str))].into()
}

fn similarity(a: &HashSet<u64>, b: &HashSet<u64>) -> f64 {
    let common = a.intersection(b).count();
    common as f64 / (a.len() + b.len() - common).max(1) as f64
}

fn bands(set: &HashSet<u64>) -> [(usize, u64); BANDS] {
    let mut minima = [u64::MAX; BANDS * ROWS];
    #[expect(clippy::iter_over_hash_type, reason = "a minimum does not depend on order")]
    for run in set {
        for (minimum, salt) in minima.iter_mut().zip(1_u64..) {
            *minimum = (*minimum).min(mixed(*run, salt));
        }
    }
    std::array::from_fn(|band| {
        let rows = &minima[band * ROWS..(band + 1) * ROWS];
        (band, rows.iter().fold(0, |state, minimum| mixed(state ^ minimum, 7)))
    })
}

/// The finaliser of `SplitMix64` as a family of hash functions.
fn mixed(value: u64, salt: u64) -> u64 {
    let mut x = value ^ salt.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printings_of_one_text_are_one() {
        let mut seen = Duplicates::default();
        let text = "Randomised trials of statins in older adults show fewer strokes but no longer life, \
                    and the effect is the same in both sexes after five years of treatment.";
        assert!(!seen.is_repeated(text));
        assert!(seen.is_repeated(&text.to_uppercase()));
        assert!(seen.is_repeated(&text.replace("treatment", "therapy")));
        assert!(!seen.is_repeated("Randomised trials of statins in children show nothing so far."));
        assert!(!seen.is_repeated("cells"));
        assert!(seen.is_repeated("Cells!"));
        assert!(!seen.is_repeated("cell"));
    }
}
