//! Keywords of a question, made in code.

use scholar_core::Query;
use scholar_core::text::words::{content_words, is_stop_word, words};

/// Most words of one keyword query: engines that match words find little for more.
const LONGEST: usize = 8;

/// At most `most` queries: the question's content words, then its longest runs of at least two neighbouring ones. Never empty for a question
/// that has a content word; the question itself otherwise.
///
/// Ours, because evidence-first answers are made without a model that could name keywords.
pub(super) fn keywords(question: &Query, most: usize) -> Vec<Query> {
    let content = content_words(question.as_str());
    let mut runs: Vec<Vec<&str>> = Vec::new();
    let mut open: Vec<&str> = Vec::new();
    for word in words(question.as_str()) {
        if is_stop_word(word) {
            runs.push(std::mem::take(&mut open));
        } else {
            open.push(word);
        }
    }
    runs.push(open);
    runs.retain(|run| run.len() >= 2 && run.len() < content.len());
    runs.sort_by_key(|run| std::cmp::Reverse(run.len()));
    let mut texts: Vec<String> = Vec::new();
    for run in [content].into_iter().chain(runs) {
        let text = run[..run.len().min(LONGEST)].join(" ");
        if !text.is_empty() && !texts.contains(&text) {
            texts.push(text);
        }
    }
    texts.truncate(most.max(1));
    let queries: Vec<Query> = texts.iter().filter_map(|text| Query::new(text)).collect();
    if queries.is_empty() { vec![question.clone()] } else { queries }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stop_words_part_the_runs() {
        let check = |question: &str, expect: &[&str]| {
            let made = keywords(&Query::new(question).expect("a query"), 3);
            assert_eq!(made.iter().map(Query::as_str).collect::<Vec<_>>(), expect, "{question}");
        };
        check(
            "How do retrieval-augmented language models reduce hallucination?",
            &["retrieval augmented language models reduce hallucination"],
        );
        check(
            "Does vitamin D lower the risk of respiratory infection in older adults?",
            &[
                "vitamin D lower risk respiratory infection older adults",
                "vitamin D lower",
                "respiratory infection",
            ],
        );
        check("What is this?", &["What is this?"]);
    }
}
