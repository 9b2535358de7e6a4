//! The terms of a statement: what would have to stand in a paper that did the same.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;
use scholar_core::text::words::{self, content_stems, fold, is_stop_word};
use scholar_pipeline::proof::stems::science_idf;

use super::cues::pattern;

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
    "approach", "approaches", "appropriate", "art", "aspects", "assess", "associated", "away", "base", "based", "best", "better",
    "beyond", "bridge", "build", "building", "builds", "calculate", "calculates", "calculating", "called", "capable", "capture",
    "captures", "case", "cases", "center", "centers", "challenge", "challenges", "characterize", "characterizes", "characterizing",
    "combine", "combines", "combining", "compare", "compared", "comparing", "complementary", "complete", "complex", "component",
    "components", "comprehensive", "compute", "condition", "conduct", "consider", "construct", "constructing", "constructs",
    "contemporary", "content", "core", "create", "creating", "creation", "critical", "current", "define", "demonstrate", "design",
    "designed", "determine", "determined", "determines", "determining", "develop", "developing", "development", "different",
    "directly", "diverse", "down", "effect", "effective", "effectively", "effects", "efficient", "efficiently", "embrace",
    "embraces", "enable", "enables", "enabling", "engage", "enhance", "enhanced", "ensure", "ensuring", "especially", "essential",
    "establish", "establishes", "establishing", "evaluate", "evaluating", "evaluation", "example", "examples", "existing",
    "experiment", "experiments", "explicit", "explore", "extend", "extract", "extracting", "extracts", "final", "finally", "first",
    "following", "formalize", "formalized", "framework", "frameworks", "full", "fundamental", "gap", "general", "generate",
    "generated", "generating", "given", "goal", "going", "greater", "help", "high", "hypothesis", "hypothesize", "idea", "identify",
    "identifying", "impact", "implement", "important", "imposing", "improve", "improved", "improvement", "improvements", "improves",
    "improving", "include", "includes", "including", "incorporate", "incorporating", "individual", "information", "innovation",
    "input", "inputs", "insight", "insights", "integrate", "introduce", "introduces", "introducing", "investigate", "involves",
    "issue", "key", "known", "large", "lead", "leads", "learn", "learns", "level", "leverage", "leveraging", "limitations",
    "limited", "lose", "main", "maintain", "maintaining", "maintains", "manner", "measure", "measures", "measuring", "method",
    "methodology", "methods", "model", "modeling", "models", "multiple", "need", "needs", "negotiating", "next", "novel", "number",
    "objective", "off", "output", "outputs", "overall", "particular", "particularly", "people", "perform", "performance",
    "phenomenon", "potential", "predetermined", "preserve", "preserves", "preserving", "previously", "principled", "problem",
    "problems", "process", "produce", "progresses", "provide", "provides", "providing", "purely", "question", "questions", "real",
    "received", "recent", "reduce", "reducing", "relies", "rely", "relying", "require", "requirements", "requires", "requiring",
    "research", "restore", "restores", "restoring", "result", "resulting", "robust", "second", "seek", "seeks", "serve", "set",
    "setting", "settings", "significant", "significantly", "simple", "simpler", "simply", "simultaneously", "single", "small",
    "specialized", "specific", "specifically", "state", "strategies", "strategy", "studying", "support", "supporting", "supports",
    "system", "systems", "task", "tasks", "technique", "techniques", "term", "test", "three", "total", "toward", "towards",
    "traditional", "train", "two", "type", "types", "understand", "understanding", "unified", "unlike", "up", "utilize", "variety",
    "various", "versus", "way", "ways", "whereas", "while", "without", "work", "works", "world",
];

/// A term with the stems by which it is found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Term {
    /// As the statement writes it.
    pub(super) words: String,
    stems: BTreeSet<String>,
    /// Stems of the parts of each word with a hyphen, and its stem without: papers write `pre-training` and `pretraining`.
    joined: Vec<(BTreeSet<String>, String)>,
}

impl Term {
    fn of(words: String) -> Self {
        let spelt = singular(&words);
        let joined = spelt
            .split_whitespace()
            .filter_map(|word| Some((own_stems(word), joined(word)?)))
            .filter(|(parts, _)| !parts.is_empty());
        Self { stems: own_stems(&spelt), joined: joined.collect(), words }
    }

    /// Whether all its stems are among those of a text, as [`stems`] gives them.
    pub(super) fn is_in(&self, stems: &BTreeSet<String>) -> bool {
        self.stems.iter().all(|stem| {
            let in_one_word =
                |(parts, whole): &(_, _)| BTreeSet::contains(parts, stem) && stems.contains(whole);
            stems.contains(stem) || self.joined.iter().any(in_one_word)
        })
    }
}

/// Stems of a text in which terms are looked for: of its words, and of words with a hyphen as one word, too.
pub(super) fn stems(text: &str) -> BTreeSet<String> {
    let text = singular(text);
    let mut stems = own_stems(&text);
    stems.extend(text.split_whitespace().filter_map(joined));
    stems
}

fn own_stems(text: &str) -> BTreeSet<String> {
    content_stems(text).into_iter().collect()
}

/// The stem of `K-D` as `KD`; `None` of a word without a hyphen in it.
fn joined(word: &str) -> Option<String> {
    let word = word.trim_matches(|c: char| !c.is_alphanumeric());
    if !word.contains('-') {
        return None;
    }
    let whole: String = word.split('-').collect();
    whole.chars().all(char::is_alphanumeric).then(|| words::stem(&whole))
}

/// `text` with `LLM` for `LLMs`, which a stemmer leaves as it is.
fn singular(text: &str) -> String {
    static PLURAL: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b([A-Z][A-Z0-9]+)s\b"));
    PLURAL.replace_all(text, "$1").into_owned()
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
        let term = Term::of(words.join(" "));
        let stems = &term.stems;
        let rarest = stems.iter().map(|stem| idf.weight(stem)).fold(0.0, f32::max);
        let known = found.iter().any(|other| stems.is_subset(&other.stems));
        if rarest >= LEAST && !known && found.len() < MOST_TERMS {
            found.retain(|other| !other.stems.is_subset(stems));
            found.push(term);
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
        // `architectural or training details`: half a phrase is no term.
        if matches!(word, "and" | "or")
            && let Some(run) = runs.last_mut()
        {
            while run.last().is_some_and(|last| is_adjective(last)) {
                run.pop();
            }
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

/// Whether a word ends as adjectives do, and as no noun of research does.
fn is_adjective(word: &str) -> bool {
    const ENDINGS: [&str; 10] =
        ["able", "cial", "ful", "ible", "ical", "less", "onal", "ous", "tial", "ural"];
    ENDINGS.iter().any(|ending| word.ends_with(ending))
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
            ["soft weight rescaling", "plasticity"]
        );
        assert!(of("We propose a new method that improves performance.").is_empty());
        assert_eq!(
            of(
                "rather than relying on unavailable architectural or training details of LLMs and an LLM"
            ),
            ["training details", "LLMs"]
        );
    }

    #[test]
    fn a_term_is_there_when_all_its_words_are() {
        let term = &terms("soft weight rescaling")[0];
        assert!(term.is_in(&stems("Rescaling the weights in a soft way")));
        assert!(!term.is_in(&stems("Rescaling weights")));
        for (term, text) in [
            ("KD-trees", "a relaxed K-D tree"),
            ("pre-training", "pretraining on text"),
            ("pretraining", "pre-training on text"),
            ("LLM", "small LLMs"),
            ("LLMs", "an LLM's words"),
        ] {
            assert!(Term::of(term.to_owned()).is_in(&stems(text)), "{term} in {text}");
        }
        assert!(!Term::of("pre-training".to_owned()).is_in(&stems("training")));
    }
}
