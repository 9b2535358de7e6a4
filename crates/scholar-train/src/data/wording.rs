//! Words, shingles and overlaps: how rows are compared.

use std::collections::BTreeSet;

use scholar_core::text::words::{content_stems, fold, words};

/// Words in a row of which two texts may not share so many. Source: Brown et al. 2020, the
/// 13-grams of GPT-3's decontamination.
pub const SHINGLE_WORDS: usize = 13;

/// Words of a text, case-folded, in order.
pub fn tokens(text: &str) -> Vec<String> {
    words(text).into_iter().map(fold).collect()
}

/// Folded words joined by single spaces: equal for texts that differ in punctuation and case alone.
pub fn key(text: &str) -> String {
    tokens(text).join(" ")
}

/// Hashes of every run of `size` words; of a shorter text none.
pub fn shingles(text: &str, size: usize) -> Vec<u64> {
    tokens(text).windows(size.max(1)).map(|run| hash(run.iter().map(String::as_str))).collect()
}

/// FNV-1a over the words and the gaps between them: the same on every machine.
pub fn hash<'a>(parts: impl IntoIterator<Item = &'a str>) -> u64 {
    let mut state = 0xcbf2_9ce4_8422_2325_u64;
    for part in parts {
        for byte in part.bytes().chain([0xff]) {
            state = (state ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
    state
}

/// The content stems of a text, each once.
pub fn stems(text: &str) -> BTreeSet<String> {
    content_stems(text).into_iter().collect()
}

/// The fraction of `asked` that `text` has, 0 to 1; 0 of nothing.
pub fn coverage(asked: &BTreeSet<String>, text: &BTreeSet<String>) -> f64 {
    if asked.is_empty() {
        return 0.0;
    }
    asked.intersection(text).count() as f64 / asked.len() as f64
}

/// Jaccard similarity of two sets; 0 of two empty ones.
pub fn jaccard(a: &BTreeSet<String>, b: &BTreeSet<String>) -> f64 {
    let common = a.intersection(b).count();
    let union = a.len() + b.len() - common;
    if union == 0 { 0.0 } else { common as f64 / union as f64 }
}

/// Single spaces, at most `limit` words.
pub fn first_words(text: &str, limit: usize) -> String {
    text.split_whitespace().take(limit).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shingles_see_through_case_and_punctuation() {
        let a = shingles("The cell, a unit of life, divides.", 5);
        let b = shingles("the CELL a unit of life divides", 5);
        assert_eq!(a, b);
        assert_eq!(a.len(), 3);
        assert!(shingles("too short", 5).is_empty());
        assert_ne!(hash(["ab", "c"]), hash(["a", "bc"]));
    }

    #[test]
    fn overlaps_are_shares() {
        let (a, b) = (stems("cells divide fast"), stems("dividing cells die"));
        assert!((coverage(&a, &b) - 2.0 / 3.0).abs() < 1e-9);
        assert!((jaccard(&a, &b) - 0.5).abs() < 1e-9);
        assert!(coverage(&stems("the of"), &a).abs() < 1e-9);
        assert_eq!(first_words(" one  two\nthree ", 2), "one two");
    }
}
