//! Words, stems, stop words and inverse document frequency.

use std::collections::{HashMap, HashSet};

use rust_stemmers::{Algorithm, Stemmer};
use unicode_normalization::UnicodeNormalization as _;
use unicode_segmentation::UnicodeSegmentation as _;

/// The words of `text` in order, as Unicode (UAX 29) sees them: `state-of-the-art` is four, `3.5` and `p53` are one.
pub fn words(text: &str) -> Vec<&str> {
    text.unicode_words().collect()
}

/// Compatibility form, lower case.
pub fn fold(word: &str) -> String {
    word.nfkc().flat_map(char::to_lowercase).collect()
}

/// The Snowball English stem of the folded word.
pub fn stem(word: &str) -> String {
    Stemmer::create(Algorithm::English).stem(&fold(word)).into_owned()
}

/// Whether a word (in any case) says nothing about a topic: function words, question words, and the verbs and nouns
/// that every scientific text uses about itself.
pub fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.binary_search(&fold(word).as_str()).is_ok()
}

/// The words of `text` that are not stop words, in order, repetitions kept.
pub fn content_words(text: &str) -> Vec<&str> {
    text.unicode_words().filter(|word| !is_stop_word(word)).collect()
}

/// The stems of the words of `text` that are not stop words, in order, repetitions kept.
pub fn content_stems(text: &str) -> Vec<String> {
    let stemmer = Stemmer::create(Algorithm::English);
    text.unicode_words()
        .map(fold)
        .filter(|word| STOP_WORDS.binary_search(&word.as_str()).is_err())
        .map(|word| stemmer.stem(&word).into_owned())
        .collect()
}

/// Sorted, lower case.
#[rustfmt::skip]
const STOP_WORDS: &[&str] = &[
    "a", "about", "above", "across", "after", "again", "against", "all", "almost", "along", "already", "also",
    "although", "always", "am", "among", "amongst", "an", "and", "another", "any", "are", "aren't", "around",
    "as", "at", "based", "be", "became", "because", "become", "been", "before", "being", "below", "between",
    "both", "but", "by", "can", "can't", "cannot", "could", "describe", "described", "describes", "did",
    "didn't", "do", "does", "doesn't", "doing", "don't", "done", "due", "during", "each", "either", "especially",
    "et", "etc", "even", "ever", "every", "explain", "few", "finally", "find", "finding", "findings", "first",
    "for", "found", "from", "further", "furthermore", "get", "give", "given", "had", "has", "have", "having",
    "he", "hence", "her", "here", "his", "how", "however", "i", "if", "in", "including", "indeed", "indicate",
    "indicated", "indicates", "instead", "into", "is", "isn't", "it", "its", "itself", "just", "know", "known",
    "last", "like", "made", "mainly", "make", "many", "may", "me", "might", "more", "moreover", "most", "much",
    "must", "my", "namely", "nevertheless", "new", "nor", "now", "of", "often", "on", "once", "one", "only",
    "or", "other", "others", "our", "out", "over", "own", "paper", "papers", "particularly", "per", "perhaps",
    "possible", "present", "presented", "presents", "previous", "previously", "propose", "proposed", "quite",
    "rather", "recent", "recently", "regarding", "report", "reported", "respectively", "result", "results",
    "s", "same", "see", "several", "shall", "she", "should", "show", "showed", "shown", "shows", "since", "so",
    "some", "still", "studies", "study", "such", "suggest", "suggested", "suggests", "t", "tell", "than",
    "that", "the", "their", "them", "then", "there", "therefore", "these", "they", "this", "those", "though",
    "through", "thus", "to", "together", "too", "toward", "towards", "under", "until", "up", "upon", "us",
    "use", "used", "uses", "using", "various", "very", "via", "was", "we", "well", "were", "what", "when",
    "where", "whereas", "whether", "which", "while", "who", "whom", "whose", "why", "will", "with", "within",
    "would", "yet", "you", "your",
];

/// How rare each stem is among a set of texts.
#[derive(Debug, Clone)]
pub struct Idf {
    weights: HashMap<String, f32>,
    unknown: f32,
}

impl Idf {
    /// Counts in how many of `texts` each content stem occurs; `ln(1 + (n - df + 0.5) / (df + 0.5))` as in BM25.
    pub fn of_texts<'a>(texts: impl IntoIterator<Item = &'a str>) -> Self {
        let mut counts: HashMap<String, u32> = HashMap::new();
        let mut n_texts = 0_u32;
        for text in texts {
            n_texts += 1;
            let distinct: HashSet<String> = content_stems(text).into_iter().collect();
            #[expect(clippy::iter_over_hash_type, reason = "counting does not depend on order")]
            for stem in distinct {
                *counts.entry(stem).or_default() += 1;
            }
        }
        Self::of_counts(n_texts, 0, counts)
    }

    /// From counts made earlier: `(stem, texts that have it)` among `n_texts`. Stems left out of the counts are taken
    /// to be in `unknown_count` texts.
    pub fn of_counts(
        n_texts: u32,
        unknown_count: u32,
        counts: impl IntoIterator<Item = (String, u32)>,
    ) -> Self {
        let weight = |count: u32| weight(n_texts, count.min(n_texts));
        Self {
            weights: counts.into_iter().map(|(stem, count)| (stem, weight(count))).collect(),
            unknown: weight(unknown_count),
        }
    }

    /// The weight of a stem, positive; a stem that no text had gets the largest.
    pub fn weight(&self, stem: &str) -> f32 {
        self.weights.get(stem).copied().unwrap_or(self.unknown)
    }
}

fn weight(n_texts: u32, count: u32) -> f32 {
    (1.0 + (f64::from(n_texts - count) + 0.5) / (f64::from(count) + 0.5)).ln() as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stop_list_can_be_searched() {
        assert!(STOP_WORDS.is_sorted());
        assert!(is_stop_word("The") && is_stop_word("results") && is_stop_word("HOW"));
        assert!(!is_stop_word("not") && !is_stop_word("retrieval") && !is_stop_word("no"));
    }

    #[test]
    fn content_is_stemmed_in_order() {
        assert_eq!(
            content_stems("How do retrieval-augmented models use the ﬁltered Passages?"),
            ["retriev", "augment", "model", "filter", "passag"]
        );
        assert_eq!(words("p53 and 3.5% of IL-6"), ["p53", "and", "3.5", "of", "IL", "6"]);
        assert_eq!(stem("Generalizations"), "general");
    }

    #[test]
    fn rarer_is_heavier_and_unknown_heaviest() {
        let idf = Idf::of_texts(["cells grow", "cells die", "cells divide and grow"]);
        let (cells, grow, unknown) = (idf.weight("cell"), idf.weight("grow"), idf.weight("zebra"));
        assert!(0.0 < cells && cells < grow && grow < unknown, "{cells} {grow} {unknown}");
        assert!(Idf::of_texts([]).weight("x") > 0.0);
    }
}
