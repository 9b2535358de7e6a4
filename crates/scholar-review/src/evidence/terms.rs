//! The terms of a statement: what would have to stand in a paper that did the same.

use std::collections::BTreeSet;

use scholar_core::text::words::{self, content_stems, fold, is_stop_word};
use scholar_pipeline::proof::stems::science_idf;

/// Most terms of a statement.
const MOST_TERMS: usize = 8;
/// Most words of a term.
const MOST_WORDS: usize = 3;
/// Least weight of the rarest stem of a term: in fewer than one of 20 abstracts.
const LEAST: f32 = 3.0;

/// Words that plans use of themselves, beside the general stop words: they are nobody's subject.
#[rustfmt::skip]
const GENERIC: &[&str] = &[
    "ability", "able", "account", "accurate", "achieve", "acting", "additional", "additionally", "address", "addressing", "aim",
    "aims", "allow", "allowing", "allows", "alone", "analysis", "analyze", "application", "applications", "apply", "applying",
    "approach", "approaches", "art", "aspects", "assess", "associated", "away", "base", "based", "best", "better", "beyond",
    "bridge", "build", "building", "capable", "capture", "captures", "case", "cases", "center", "centers", "challenge",
    "challenges", "combine", "combining", "compare", "compared", "comparing", "complete", "complex", "component", "components",
    "comprehensive", "compute", "condition", "conduct", "consider", "contemporary", "content", "core", "create", "creating",
    "creation", "critical", "current", "define", "demonstrate", "design", "designed", "develop", "developing", "development",
    "different", "directly", "diverse", "down", "effect", "effective", "effectively", "effects", "efficient", "efficiently",
    "embrace", "embraces", "enable", "enables", "enabling", "engage", "enhance", "enhanced", "ensure", "ensuring", "especially",
    "essential", "evaluate", "evaluating", "evaluation", "example", "examples", "existing", "experiment", "experiments",
    "explore", "extend", "final", "finally", "first", "following", "formalize", "formalized", "framework", "frameworks", "full",
    "gap", "general", "generate", "generated", "generating", "given", "goal", "going", "greater", "help", "high", "hypothesis",
    "hypothesize", "idea", "identify", "impact", "implement", "important", "imposing", "improve", "improved", "improvement",
    "improvements", "improves", "improving", "include", "includes", "including", "incorporate", "incorporating", "individual",
    "information", "innovation", "input", "inputs", "insight", "insights", "integrate", "introduce", "introduces",
    "introducing", "investigate", "involves", "issue", "key", "known", "large", "lead", "leads", "level", "leverage",
    "leveraging", "limitations", "limited", "lose", "main", "maintain", "maintaining", "maintains", "manner", "measure",
    "measures", "measuring", "method", "methodology", "methods", "model", "modeling", "models", "multiple", "need", "needs",
    "negotiating", "next", "novel", "number", "objective", "off", "output", "outputs", "overall", "particular", "particularly",
    "people", "perform", "performance", "phenomenon", "potential", "predetermined", "previously", "principled", "problem",
    "problems", "process", "produce", "progresses", "provide", "provides", "providing", "purely", "question", "questions",
    "real", "received", "recent", "reduce", "reducing", "require", "requirements", "requires", "requiring", "research",
    "result", "resulting", "robust", "second", "seek", "seeks", "serve", "set", "setting", "settings", "significant",
    "significantly", "simple", "simpler", "simply", "simultaneously", "single", "small", "specialized", "specific",
    "specifically", "state", "strategies", "strategy", "studying", "system", "systems", "task", "tasks", "technique",
    "techniques", "term", "test", "three", "total", "toward", "towards", "traditional", "train", "two", "type", "types",
    "understand", "understanding", "unified", "unlike", "up", "utilize", "variety", "various", "versus", "way", "ways",
    "whereas", "while", "without", "work", "works", "world",
];

/// A term with the stems by which it is found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Term {
    /// As the statement writes it.
    pub(super) words: String,
    stems: BTreeSet<String>,
}

impl Term {
    /// Whether all its stems are among `stems`.
    pub(super) fn is_in(&self, stems: &BTreeSet<String>) -> bool {
        self.stems.is_subset(stems)
    }
}

/// How much of `terms` is among `stems`, by the weight of their stems, in `[0, 1]`; 0 of none.
pub(super) fn coverage(terms: &[Term], stems: &BTreeSet<String>) -> f32 {
    let idf = science_idf();
    let wanted: BTreeSet<&String> = terms.iter().flat_map(|term| &term.stems).collect();
    let weight = |stem: &&String| idf.weight(stem);
    let all: f32 = wanted.iter().map(weight).sum();
    let there: f32 = wanted.iter().filter(|stem| stems.contains(**stem)).map(weight).sum();
    if all > 0.0 { there / all } else { 0.0 }
}

/// The terms of `statement` in its order: runs of words that say something, at most three words each.
pub(super) fn terms(statement: &str) -> Vec<Term> {
    let idf = science_idf();
    let mut found: Vec<Term> = Vec::new();
    for run in runs(statement) {
        // The head of an English noun phrase stands last.
        let words = &run[run.len().saturating_sub(MOST_WORDS)..];
        let words = words.join(" ");
        let stems: BTreeSet<String> = content_stems(&words).into_iter().collect();
        let rarest = stems.iter().map(|stem| idf.weight(stem)).fold(0.0, f32::max);
        let known = found.iter().any(|other| stems.is_subset(&other.stems));
        if rarest >= LEAST && !known && found.len() < MOST_TERMS {
            found.retain(|other| !other.stems.is_subset(&stems));
            found.push(Term { words, stems });
        }
    }
    found
}

/// Neighbouring words that are neither stop words nor generic; `regret-based` is one word.
fn runs(statement: &str) -> Vec<Vec<&str>> {
    let mut runs: Vec<Vec<&str>> = vec![Vec::new()];
    let pieces = statement.split(|c: char| c.is_whitespace() || "—–/".contains(c));
    for piece in pieces.filter(|piece| !piece.is_empty()) {
        let opens = piece.starts_with(['(', '[', '"', '“', '\'']);
        let closes = piece.ends_with([',', ';', ':', '.', ')', ']', '"', '”', '?', '!']);
        let word = piece.trim_matches(|c: char| !c.is_alphanumeric());
        if opens {
            runs.push(Vec::new());
        }
        // `(SWR)`: the idea's own name for what stands in front of it.
        if opens && closes && word.chars().all(|c| !c.is_lowercase()) {
            continue;
        }
        if says_something(word) {
            if let Some(run) = runs.last_mut() {
                run.push(word);
            }
        } else {
            runs.push(Vec::new());
        }
        if closes {
            runs.push(Vec::new());
        }
    }
    runs.retain(|run| !run.is_empty());
    runs
}

fn says_something(word: &str) -> bool {
    let parts = words::words(word);
    let empty = |part: &&str| {
        let folded = fold(part);
        is_stop_word(part)
            || GENERIC.binary_search(&folded.as_str()).is_ok()
            || folded.ends_with("ly") && folded.len() > 5
    };
    word.chars().any(char::is_alphabetic)
        && word.chars().count() > 1
        && !parts.is_empty()
        && !parts.iter().all(empty)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(statement: &str) -> Vec<String> {
        terms(statement).into_iter().map(|term| term.words).collect()
    }

    #[test]
    fn generic_words_are_in_order() {
        assert!(GENERIC.is_sorted());
    }

    #[test]
    fn what_a_statement_is_about() {
        assert_eq!(
            of(
                "Our core innovation is measuring deception through regret: comparing the listener's expected reward."
            ),
            ["deception", "regret", "listener's expected reward"]
        );
        assert_eq!(
            of("We propose a novel framework of soft weight rescaling that restores plasticity."),
            ["soft weight rescaling", "restores plasticity"]
        );
        assert!(of("We propose a new method that improves performance.").is_empty());
    }

    #[test]
    fn a_term_is_there_when_all_its_words_are() {
        let term = &terms("soft weight rescaling")[0];
        let stems = |text: &str| content_stems(text).into_iter().collect();
        assert!(term.is_in(&stems("Rescaling the weights in a soft way")));
        assert!(!term.is_in(&stems("Rescaling weights")));
    }
}
