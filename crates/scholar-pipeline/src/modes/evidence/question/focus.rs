//! The things a question names, in its own words: headings and searches are made of them.

use scholar_core::text::words::{is_stop_word, words};

use super::super::terms::{joined_compounds, stems};
use super::is_generic;

/// Most words of a phrase.
const LONGEST: usize = 7;
/// Small words that may stand inside a phrase.
const INSIDE: &[&str] =
    &["of", "for", "in", "on", "with", "without", "to", "by", "from", "as", "the", "a", "an"];
/// Verbs and adjectives that link what a question names, as folded stems.
#[rustfmt::skip]
const LINKING: &[&str] = &[
    "address", "aid", "allevi", "appli", "associ", "avoid", "boost", "build", "contribut", "control", "correl", "creat",
    "cure", "decreas", "detect", "determin", "develop", "diagnos", "effect", "emerg", "enabl", "enhanc", "evalu", "explain", "extract",
    "fail", "generat", "get", "give", "harm", "hurt", "includ", "induc", "involv", "know", "known", "learn", "lower", "make", "manag", "mean",
    "measur", "mitig", "need", "occur", "predict", "preserv", "prevent", "produc", "promot", "propos", "protect", "provid", "quantifi", "rais",
    "report", "requir", "safe", "solv", "speed", "stop", "studi", "success", "support", "train", "treat", "tri", "us", "use", "util", "valid", "verifi",
];

/// Phrases of the question, in order: runs of words that no question word, auxiliary or linking verb parts.
pub(crate) fn phrases(question: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for clause in question.split(['?', ',', ';', ':', '(', ')', '"', '“', '”']) {
        let mut run: Vec<&str> = Vec::new();
        for word in clause.split_whitespace() {
            let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
            if bare.is_empty() {
                continue;
            }
            let small = INSIDE.contains(&bare.to_lowercase().as_str());
            let goes_on = small || NOUNS.contains(&bare);
            if (goes_on && !run.is_empty()) || (!small && carries(bare)) {
                run.push(bare);
            } else {
                close(&mut run, &mut found);
            }
        }
        close(&mut run, &mut found);
    }
    found
}

fn close(run: &mut Vec<&str>, found: &mut Vec<String>) {
    while run.last().is_some_and(|word| INSIDE.contains(&word.to_lowercase().as_str())) {
        run.pop();
    }
    if !run.is_empty() && run.len() <= LONGEST {
        found.push(run.join(" "));
    }
    run.clear();
}

/// Words that any question may use and that belong to what is named behind another word: `muscle strength`.
#[rustfmt::skip]
const NOUNS: &[&str] =
    &[
        "strength", "risk", "risks", "outcomes", "outcome", "performance", "problems", "states", "relation", "relations",
    ];

/// Whether a word names something.
fn carries(word: &str) -> bool {
    !is_stop_word(word) && !is_generic(word) && !is_linking(word)
}

/// Whether a word links what a question names, as `lower` does in `lower blood pressure`.
pub(super) fn is_linking(word: &str) -> bool {
    let joined = joined_compounds(word);
    let Some(stem) = stems(&joined).into_iter().next() else { return true };
    words(word).first().is_some_and(|word| word.chars().next().is_some_and(char::is_lowercase))
        && LINKING.binary_search(&stem.as_str()).is_ok()
        // `training` and `evaluation` are things; `trained` and `evaluate` are not.
        && !["ing", "tion", "ment", "ty"].iter().any(|end| word.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phrases_are_what_the_question_names() {
        assert!(LINKING.is_sorted());
        let check = |question: &str, expected: &[&str]| assert_eq!(phrases(question), expected);
        check(
            "Does vitamin D supplementation improve muscle strength or prevent falls?",
            &["vitamin D supplementation", "muscle strength", "falls"],
        );
        check(
            "How can hallucinations of large language models be detected?",
            &["hallucinations of large language models"],
        );
        check(
            "What are the side effects of peginterferon and ribavirin in hepatitis C?",
            &["peginterferon", "ribavirin in hepatitis C"],
        );
    }
}
