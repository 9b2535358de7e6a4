//! ROUGE-1, ROUGE-2 and ROUGE-L.
//!
//! Tokens are runs of `[a-z0-9]` of the lower-cased text; those longer than three characters are stemmed. ROUGE-L is
//! the longest common subsequence of all tokens: sentences play no part in it, so neither text is split.
//!
//! Source: Lin 2004; tokens, stems and formulas as in the rouge-score package, version 0.1.2.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::{Overlap, overlap, porter};

/// Words up to this many characters keep their form.
const UNSTEMMED: usize = 3;

/// The three measures of one pair of texts.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Rouge {
    /// Overlap of single tokens.
    pub rouge_1: Overlap,
    /// Overlap of pairs of adjacent tokens.
    pub rouge_2: Overlap,
    /// Overlap by the longest common subsequence.
    pub rouge_l: Overlap,
}

/// ROUGE of `output` against `reference`; all 0 when either has no token.
pub fn rouge(output: &str, reference: &str) -> Rouge {
    let (output, reference) = (tokens(output), tokens(reference));
    let pairs = |tokens: &[String]| -> Vec<(String, String)> {
        tokens.windows(2).map(|pair| (pair[0].clone(), pair[1].clone())).collect()
    };
    let (output_pairs, reference_pairs) = (pairs(&output), pairs(&reference));
    Rouge {
        rouge_1: Overlap::of(overlap::shared(&output, &reference), output.len(), reference.len()),
        rouge_2: Overlap::of(
            overlap::shared(&output_pairs, &reference_pairs),
            output_pairs.len(),
            reference_pairs.len(),
        ),
        rouge_l: Overlap::of(
            common_subsequence(&output, &reference),
            output.len(),
            reference.len(),
        ),
    }
}

/// The tokens ROUGE counts.
pub fn tokens(text: &str) -> Vec<String> {
    let lower = text.to_lowercase();
    lower
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(|word| if word.len() > UNSTEMMED { porter::stem(word) } else { word.to_owned() })
        .collect()
}

/// Length of the longest common subsequence, 64 cells of the table at a time.
///
/// Source: Hyyrö, "Bit-parallel LCS-length computation revisited", 2004. Time `a.len() · b.len() / 64`.
fn common_subsequence(a: &[String], b: &[String]) -> usize {
    let n_words = a.len().div_ceil(64);
    let mut places: HashMap<&str, Vec<u64>> = HashMap::new();
    for (n, token) in a.iter().enumerate() {
        places.entry(token).or_insert_with(|| vec![0; n_words])[n / 64] |= 1 << (n % 64);
    }
    // A zero bit at place n: the subsequence grows there.
    let mut row = vec![u64::MAX; n_words];
    for token in b {
        let Some(matches) = places.get(token.as_str()) else { continue };
        let mut carry = false;
        for (cells, matched) in row.iter_mut().zip(matches) {
            let grown = *cells & matched;
            let (sum, first) = cells.overflowing_add(grown);
            let (sum, second) = sum.overflowing_add(u64::from(carry));
            carry = first || second;
            *cells = sum | (*cells & !matched);
        }
    }
    let zeros: usize = row.iter().map(|cells| cells.count_zeros() as usize).sum();
    zeros.min(a.len())
}
