//! Words as the fakes see them.

use std::collections::BTreeSet;

use rust_stemmers::{Algorithm, Stemmer};

/// Words that carry no topic; a fake that scores them would find everything relevant.
const STOP_WORDS: [&str; 40] = [
    "a", "an", "and", "are", "as", "at", "be", "by", "can", "do", "does", "for", "from", "has",
    "have", "how", "in", "into", "is", "it", "its", "of", "on", "or", "our", "that", "the",
    "their", "these", "they", "this", "to", "was", "we", "were", "what", "which", "with", "when",
    "why",
];

/// Lower-case English stems of the words of `text` in order, without stop words and punctuation.
pub fn stems(text: &str) -> Vec<String> {
    let stemmer = Stemmer::create(Algorithm::English);
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .filter(|word| !STOP_WORDS.contains(&word.as_str()))
        .map(|word| stemmer.stem(&word).into_owned())
        .collect()
}

/// Share of the distinct stems of `wanted` that occur in `text`, in `[0, 1]`; 0 when `wanted` has none.
pub(crate) fn coverage(wanted: &str, text: &str) -> f32 {
    let wanted: BTreeSet<String> = stems(wanted).into_iter().collect();
    let present: BTreeSet<String> = stems(text).into_iter().collect();
    if wanted.is_empty() {
        return 0.0;
    }
    #[expect(clippy::cast_precision_loss, reason = "a text has fewer than 2^24 words")]
    let share = wanted.intersection(&present).count() as f32 / wanted.len() as f32;
    share
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_become_stems_without_stop_words() {
        assert_eq!(
            stems("The models' translations, of CITING papers."),
            ["model", "translat", "cite", "paper"]
        );
        assert!((coverage("translating models", "a model") - 0.5).abs() < 1e-6);
        assert!(coverage("of the", "of the").abs() < 1e-6);
    }
}
