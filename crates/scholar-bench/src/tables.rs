//! Tables of papers against what people and models say stands in them.
//!
//! - [`arms`]: intervention, comparator and outcome of trials against the prompts of Evidence Inference, by shared words;
//! - [`cells`]: labelled cells, each right, wrong, missed or made up;
//! - [`report`]: both as a page.
//!
//! Papers are divided into halves by a digest of their identifier: rules and thresholds may look at the development half only.

pub mod arms;
pub mod cells;
pub mod report;

use scholar_core::PaperId;
use sha2::{Digest as _, Sha256};

/// Which half a paper belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Half {
    /// Rules and thresholds were made with it.
    Development,
    /// Reported.
    Test,
}

impl Half {
    /// Development where the first byte of the identifier's SHA-256 is even.
    pub fn of(paper: &PaperId) -> Self {
        let digest = Sha256::digest(paper.to_string().as_bytes());
        if digest[0] % 2 == 0 { Self::Development } else { Self::Test }
    }
}

/// The words of `text` in lower case, articles left out.
fn tokens(text: &str) -> Vec<String> {
    let words = scholar_core::text::words::words(text).into_iter();
    let folded = words.map(scholar_core::text::words::fold);
    folded.filter(|word| !["a", "an", "the"].contains(&word.as_str())).collect()
}

/// F1 of the words that two texts share, repetitions counted; 0 where one has none.
///
/// Source: the answer overlap of `SQuAD` (Rajpurkar et al. 2016).
pub fn token_f1(found: &str, gold: &str) -> f64 {
    let (found, gold) = (tokens(found), tokens(gold));
    let mut left = gold.clone();
    let mut shared = 0_usize;
    for word in &found {
        if let Some(at) = left.iter().position(|other| other == word) {
            left.swap_remove(at);
            shared += 1;
        }
    }
    if shared == 0 {
        return 0.0;
    }
    2.0 * crate::statistics::ratio(shared, found.len() + gold.len())
}

/// Whether the words of `part` stand together in `whole`.
fn contains(whole: &[String], part: &[String]) -> bool {
    !part.is_empty() && whole.windows(part.len()).any(|window| window == part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlap_counts_words_and_forgives_articles() {
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-9, "{a} {b}");
        close(token_f1("the Placebo", "placebo"), 1.0);
        close(token_f1("oral zinc sulphate", "zinc"), 0.5);
        close(token_f1("zinc zinc", "zinc"), 2.0 / 3.0);
        close(token_f1("", "zinc"), 0.0);
        assert!(contains(&tokens("oral zinc daily"), &tokens("zinc daily")));
        assert!(!contains(&tokens("oral zinc daily"), &tokens("oral daily")));
    }
}
