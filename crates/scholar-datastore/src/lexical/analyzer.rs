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

/// Words that questions are asked with and that say nothing of their subject, beside those that the analyzer drops. The index keeps
/// them, and in abstracts they are rare: `how` or `can` would count as much as a word of the subject. Lower case, sorted.
/// Fewer than `scholar_core::text::words::is_stop_word` knows: that `paper` or `report` is no subject, a search cannot tell.
#[rustfmt::skip]
const QUESTION_WORDS: &[&str] = &[
    "about", "am", "any", "because", "been", "being", "can", "could", "did", "do", "does", "doing", "each", "from", "had", "has",
    "have", "having", "he", "her", "here", "him", "his", "how", "i", "its", "itself", "just", "m", "may", "me", "might", "more",
    "most", "much", "must", "my", "nor", "only", "our", "ours", "s", "she", "should", "so", "some", "t", "than", "them", "those",
    "too", "us", "very", "we", "were", "what", "when", "where", "whether", "which", "while", "who", "whom", "whose", "why", "would",
    "you", "your",
];

/// The terms of a query with how often each occurs, without [`QUESTION_WORDS`] unless it has no others. `WHO` and `US` are names.
pub fn query_terms(query: &str) -> Vec<(String, u32)> {
    let is_name = |word: &str| word.chars().count() > 1 && word.chars().all(char::is_uppercase);
    let is_subject = |word: &&str| {
        is_name(word) || QUESTION_WORDS.binary_search(&word.to_lowercase().as_str()).is_err()
    };
    let subject: Vec<&str> =
        query.split(|c: char| !c.is_alphanumeric()).filter(is_subject).collect();
    let terms = term_counts(&subject.join(" "));
    if terms.is_empty() { term_counts(query) } else { terms }
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
    fn a_query_is_its_subject() {
        let terms = |query: &str| -> Vec<String> {
            query_terms(query).into_iter().map(|(term, _)| term).collect()
        };
        assert_eq!(
            terms("How can I tell vitamin C from placebo?"),
            terms("tell vitamin C placebo")
        );
        assert_eq!(terms("What were the IL-6 levels"), terms("IL-6 levels"));
        assert_eq!(terms("Who follows WHO in the US?"), terms("follows WHO in the US"));
        assert_eq!(terms("how much"), ["how", "much"], "nothing else is asked for");
        assert!(terms("").is_empty());
        assert!(QUESTION_WORDS.is_sorted());
    }

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
