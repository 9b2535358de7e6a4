//! How titles, texts and queries become terms.

use tantivy::Index;
use tantivy::tokenizer::{
    AsciiFoldingFilter, Language, LowerCaser, RemoveLongFilter, SimpleTokenizer, Stemmer,
    StopWordFilter, TextAnalyzer,
};

/// Name under which the analyzer is registered. Changing its rules means another name and format version.
pub const ANALYZER: &str = "scholar_en_1";
/// Longer tokens are no words (sequences, hashes) and are dropped.
const LONGEST_TOKEN_BYTES: usize = 64;

/// Letters and digits, lower-case, accents folded, English stop words dropped, English stems.
pub fn analyzer() -> TextAnalyzer {
    let stop_words = StopWordFilter::new(Language::English)
        .unwrap_or_else(|| StopWordFilter::remove(Vec::new()));
    TextAnalyzer::builder(SimpleTokenizer::default())
        .filter(RemoveLongFilter::limit(LONGEST_TOKEN_BYTES))
        .filter(AsciiFoldingFilter)
        .filter(LowerCaser)
        .filter(stop_words)
        .filter(Stemmer::new(Language::English))
        .build()
}

/// Makes the analyzer known to `index`; needed after every open.
pub(crate) fn register(index: &Index) {
    index.tokenizers().register(ANALYZER, analyzer());
}

/// The terms of `text` with how often each occurs, in order of first occurrence.
pub fn term_counts(text: &str) -> Vec<(String, u32)> {
    let mut analyzer = analyzer();
    let mut stream = analyzer.token_stream(text);
    let mut counts: Vec<(String, u32)> = Vec::new();
    let mut places = std::collections::HashMap::<String, usize>::new();
    while let Some(token) = stream.next() {
        if let Some(&place) = places.get(&token.text) {
            counts[place].1 += 1;
        } else {
            places.insert(token.text.clone(), counts.len());
            counts.push((token.text.clone(), 1));
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_are_folded_stemmed_and_counted() {
        let check = |text: &str, expect: &[(&str, u32)]| {
            let counts = term_counts(text);
            let counts: Vec<(&str, u32)> = counts.iter().map(|(t, n)| (t.as_str(), *n)).collect();
            assert_eq!(counts, expect, "{text}");
        };
        check("The naïve retrievers' retrieval", &[("naiv", 1), ("retriev", 2)]);
        check("IL-6 and TNF-α", &[("il", 1), ("6", 1), ("tnf", 1), ("α", 1)]);
        check(&"x".repeat(100), &[]);
        check("", &[]);
    }
}
