//! What a question asks, read in code: weighted terms, the aspects wanted, and the parts it names itself.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;
use scholar_core::text::words::{fold, is_stop_word, words};

use super::pattern::pattern;
use super::terms::{Abbreviations, joined_compounds, stems, weight};

/// Most terms of a question that are looked at, heaviest first: an abstract given as a question has hundreds.
const MAX_TERMS: usize = 24;
/// What a word that questions use about any topic counts, against its weight.
const GENERIC_SHARE: f32 = 0.25;
/// Weight from which a term is a key of the question: 1 abstract in 50 or fewer has it.
pub(crate) const KEY_WEIGHT: f32 = 3.9;

/// Weight from which a term says what the question is about: `code` and `exam`, not `model` and `language`.
const TOPIC_WEIGHT: f32 = 2.6;
/// Most that one term counts in the topic, so that one rare word is not all of it.
const MOST_TOPIC_WEIGHT: f32 = 5.5;
/// What the verb of the question counts in its topic, unless it weighs more.
const ACT_WEIGHT: f32 = 3.0;

/// Words questions use about any topic, as folded stems.
#[rustfmt::skip]
const GENERIC: &[&str] = &[
    "advantag", "affect", "approach", "art", "avail", "benefici", "benefit", "best", "better", "caus", "challeng",
    "chang", "choic", "common", "compar", "comparison", "current", "deal", "differ", "disadvantag", "effect", "evid",
    "exist", "good", "handl", "help", "identifi", "impact", "import", "improv", "increas", "influenc", "issu", "kind",
    "lead", "limit", "literatur", "main", "method", "open", "outcom", "peopl", "perform", "play", "practic", "problem", "purpos",
    "reduc", "relat", "relev", "reliabl", "research", "review", "risk", "role", "say", "show", "side", "state", "strategi", "strength",
    "techniqu", "term", "topic", "type", "understand", "way", "weak", "work",
];

/// A word of the question that says something about its topic.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Term {
    /// Stem, folded as [`super::terms`] folds.
    pub(crate) stem: String,
    /// As the question writes it.
    pub(crate) word: String,
    /// Rarity, reduced for words any question may use.
    pub(crate) weight: f32,
    /// Whether any question may use it.
    pub(crate) generic: bool,
    /// Names what is done to the problem: `reduce`, `detect`.
    pub(crate) act: bool,
    /// Other ways to say it: sets of stems that must all be there.
    pub(crate) alternatives: Vec<BTreeSet<String>>,
}

impl Term {
    /// Whether a text with these stems says it.
    pub(crate) fn is_in(&self, stems: &BTreeSet<String>) -> bool {
        stems.contains(&self.stem) || self.alternatives.iter().any(|set| set.is_subset(stems))
    }
}

/// What a reader wants to know about the topic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Aspect {
    Methods,
    Effects,
    Limits,
    Evaluation,
    Data,
    Causes,
}

impl Aspect {
    const ALL: [Self; 6] =
        [Self::Methods, Self::Effects, Self::Limits, Self::Evaluation, Self::Data, Self::Causes];

    /// Heading of a part about it.
    pub(crate) fn heading(self) -> &'static str {
        match self {
            Self::Methods => "Methods",
            Self::Effects => "Effects and benefits",
            Self::Limits => "Limits and risks",
            Self::Evaluation => "Evaluation",
            Self::Data => "Data and benchmarks",
            Self::Causes => "Causes",
        }
    }

    /// Words of a question that ask for it.
    fn asked(self) -> &'static Regex {
        static PATTERNS: LazyLock<[Regex; 6]> = LazyLock::new(|| {
            [
                r"\b(methods?|approach(es)?|techniques?|algorithms?|ways?|how (can|could|to|should|are|is|do we)|strateg(y|ies)|interventions?|models? are used|systems?|prevented|handled|detected)\b",
                r"\b(effects?|affects?|impacts?|benefits?|beneficial|effective|effectiveness|efficacy|advantages?|strengths?|improves?|reduces?|increases?|helps?|outcomes?|influences?|results?|perform|work)\b",
                r"\b(limits?|limitations?|challenges?|problems?|disadvantages?|weaknesses|drawbacks?|risks?|harms?|side effects|adverse|safe(ty)?|fail(ures?)?|open questions|bias(es)?|issues)\b",
                r"\b(evaluat(e|ed|ion|ing)|metrics?|measure[ds]?|benchmarks?|compared?|reliable|reliability|how well)\b",
                r"\b(datasets?|corpora|corpus|benchmarks?|resources?)\b",
                r"\b(why|causes?|caused|reasons?|mechanisms?|explains?|due to|factors?)\b",
            ]
            .map(|text| pattern(&format!("(?i){text}")))
        });
        &PATTERNS[self as usize]
    }
}

/// A part the question itself names.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Part {
    /// In the question's words, capitalised.
    pub(crate) heading: String,
    /// Stems that tell this part from the others; empty for a part that is an aspect.
    pub(crate) stems: BTreeSet<String>,
    /// The aspect it is, if it is one.
    pub(crate) aspect: Option<Aspect>,
}

/// A question, read.
#[derive(Debug, Clone)]
pub(crate) struct Reading {
    /// Terms, heaviest first.
    pub(crate) terms: Vec<Term>,
    /// Aspects asked for, in the order of [`Aspect`].
    pub(crate) aspects: Vec<Aspect>,
    /// Parts it names: none or at least two.
    pub(crate) parts: Vec<Part>,
    /// What sentences have to be about.
    pub(crate) topic: Topic,
    /// Whether it compares its parts.
    pub(crate) compares: bool,
    /// Whether it asks if something has an effect: `Is acupuncture effective for pain?`
    pub(crate) asks_effect: bool,
    /// What has the effect: the first of the topic's stems in such a question.
    pub(crate) subject: Option<String>,
    /// Stems of all its words.
    pub(crate) stems: BTreeSet<String>,
}

impl Reading {
    /// Reads `question` with the abbreviations of its evidence.
    pub(crate) fn of(question: &str, abbreviations: &Abbreviations) -> Self {
        let all: BTreeSet<String> = stems(question).into_iter().collect();
        let mut terms: Vec<Term> = Vec::new();
        let joined = joined_compounds(question);
        for word in words(&joined).into_iter().filter(|word| !is_stop_word(word)) {
            for stem in stems(word) {
                if terms.iter().any(|term| term.stem == stem) {
                    continue;
                }
                let generic = GENERIC.binary_search(&stem.as_str()).is_ok();
                let share = if generic { GENERIC_SHARE } else { 1.0 };
                let weight = weight(&stem) * share;
                let mut alternatives = abbreviations.alternatives(&stem, &all);
                let others = same_act(&stem);
                let act = !others.is_empty();
                alternatives.extend(others.into_iter().chain(same_thing(&stem)));
                let word = word.to_owned();
                terms.push(Term { stem, word, weight, generic, act, alternatives });
            }
        }
        terms.sort_by(|a, b| b.weight.total_cmp(&a.weight).then_with(|| a.stem.cmp(&b.stem)));
        terms.truncate(MAX_TERMS);
        let aspects: Vec<Aspect> =
            Aspect::ALL.into_iter().filter(|aspect| aspect.asked().is_match(question)).collect();
        let parts = parts(question, &aspects);
        let asks_effect = asks_effect(question);
        let topic = Topic::of(&terms, &parts, asks_effect);
        let named = |stem: &String| topic.all.iter().any(|(term, _)| term.stem == *stem);
        let subject = stems(question).into_iter().find(named).filter(|_| asks_effect);
        let compares = parts.len() == 2 && compares(question);
        Self { terms, aspects, parts, topic, compares, asks_effect, subject, stems: all }
    }

    /// Share of the terms' weight, each counted as far as `credit` says.
    pub(crate) fn share(&self, credit: impl Fn(&Term) -> f32) -> f32 {
        let total: f32 = self.terms.iter().map(|term| term.weight).sum();
        let found: f32 = self.terms.iter().map(|term| term.weight * credit(term)).sum();
        if total > 0.0 { found / total } else { 0.0 }
    }

    /// Whether `aspect` was asked for.
    pub(crate) fn wants(&self, aspect: Aspect) -> bool {
        self.aspects.contains(&aspect)
    }

    /// Terms that make the question this one and no other: rare and not generic; the heaviest one if none is rare.
    pub(crate) fn keys(&self) -> Vec<&Term> {
        let rare = |term: &&Term| !term.generic && term.weight >= KEY_WEIGHT;
        let keys: Vec<&Term> = self.terms.iter().filter(rare).collect();
        if keys.is_empty() { self.terms.iter().take(1).collect() } else { keys }
    }
}

/// What a sentence has to speak of to be about a question; see [`Topic::share`].
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Topic {
    /// All of these.
    all: Vec<(Term, f32)>,
    /// One of these: the parts the question names.
    one_of: Vec<Vec<(Term, f32)>>,
}

impl Topic {
    /// `asks_effect`: `improve` and `reduce` then stand for any effect, and none.
    fn of(terms: &[Term], parts: &[Part], asks_effect: bool) -> Self {
        let said = |term: &&Term| {
            // `vitamin D`: a letter is in every other sentence about any vitamin.
            if term.stem.chars().count() < 2 {
                return false;
            }
            if term.generic {
                term.act && !asks_effect
            } else {
                term.act || term.weight >= TOPIC_WEIGHT
            }
        };
        let mut weighed: Vec<(Term, f32)> = terms
            .iter()
            .filter(said)
            .map(|term| {
                let least = if term.act { ACT_WEIGHT } else { 0.0 };
                (term.clone(), term.weight.clamp(least, MOST_TOPIC_WEIGHT))
            })
            .collect();
        if weighed.is_empty() {
            weighed = terms.iter().take(1).map(|term| (term.clone(), term.weight)).collect();
        }
        let part_of = |term: &Term| parts.iter().position(|part| part.stems.contains(&term.stem));
        let mut one_of = vec![Vec::new(); parts.len()];
        let mut all = Vec::new();
        for (term, weight) in weighed {
            match part_of(&term) {
                Some(part) => one_of[part].push((term, weight)),
                None => all.push((term, weight)),
            }
        }
        one_of.retain(|part| !part.is_empty());
        Self { all, one_of }
    }

    /// Share of the topic's weight that is said, each term counted as far as `credit` says: of the parts, the best one.
    pub(crate) fn share(&self, credit: impl Fn(&Term) -> f32) -> f32 {
        let sums = |terms: &[(Term, f32)]| {
            terms.iter().fold((0.0, 0.0), |(found, total), (term, weight)| {
                (found + credit(term) * weight, total + weight)
            })
        };
        let (mut found, mut total) = sums(&self.all);
        let parts: Vec<(f32, f32)> = self.one_of.iter().map(|part| sums(part)).collect();
        if !parts.is_empty() {
            let weight = parts.iter().map(|(_, total)| total).sum::<f32>() / parts.len() as f32;
            let best = parts.iter().map(|(found, total)| found / total).fold(0.0, f32::max);
            found += best * weight;
            total += weight;
        }
        if total > 0.0 { found / total } else { 1.0 }
    }

    /// How many things it is made of.
    pub(crate) fn len(&self) -> usize {
        self.all.len() + usize::from(!self.one_of.is_empty())
    }
}

/// Other verbs for what is done to a problem; abstracts vary them more than their nouns.
fn same_act(stem: &str) -> Vec<BTreeSet<String>> {
    const ACTS: &[&[&str]] = &[
        &["prevent", "defend", "defens", "mitig", "protect", "safeguard", "avoid"],
        &["reduc", "mitig", "allevi", "debias", "decreas", "lower", "remov", "elimin"],
        &["detect", "identif", "identifi", "recognit", "classif", "classifi"],
        &["stop", "quit", "cessat", "abstin"],
        &["improv", "enhanc", "boost", "increas"],
        &["evalu", "assess", "measur", "metric", "judg"],
    ];
    let of = |act: &&&[&str]| act.first() == Some(&stem);
    let others = ACTS.iter().filter(of).flat_map(|act| act[1..].iter());
    others.map(|other| BTreeSet::from([(*other).to_owned()])).collect()
}

fn compares(question: &str) -> bool {
    static COMPARES: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"(?i)\b(?:compar\w+|versus|vs|differ\w*|rather than|better|worse|superior|inferior|more effective)\b",
        )
    });
    COMPARES.is_match(question)
}

/// Other words scientists have for the same thing.
fn same_thing(stem: &str) -> Vec<BTreeSet<String>> {
    const THINGS: &[&[&str]] = &[
        &["cancer", "carcinoma", "neoplasm", "tumor"],
        &["cardiac", "heart", "myocardi"],
        &["child", "children", "paediatr", "pediatr"],
        &["code", "program"],
        &["depress", "antidepress"],
        &["glycem", "glucos", "hba1c"],
        &["kidney", "nephr", "nephropathi", "renal"],
        &["pain", "analges", "analgesia"],
        &["reason", "infer"],
        &["cigarett", "nicotin", "smoke", "smoker", "tobacco"],
        &["liver", "hepat"],
        &["lung", "pulmonari"],
        &["exam", "examin"],
        &["memor", "memori"],
        &["jailbreak", "adversari"],
    ];
    let of = |things: &&&[&str]| things.contains(&stem);
    let others = THINGS.iter().filter(of).flat_map(|things| things.iter());
    let others = others.filter(|other| **other != stem);
    others.map(|other| BTreeSet::from([(*other).to_owned()])).collect()
}

/// `Does … improve …?`, `Is … effective …?`, `… reduces …` as a claim: yes and no are both to be shown.
fn asks_effect(question: &str) -> bool {
    static EFFECT: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"(?i)^(?:is|are|does|do|did|can|could|will|has|have)\b.*\b(?:effective|effects?|efficacious|beneficial|benefits?|help|improves?|enhances?|increases?|decreases?|reduces?|lowers?|raises?|prevents?|protects?|protective|affects?|impairs?|harms?|harmful|worsens?|alleviates?|mitigates?|superior|better|worse|boosts?|hurts?|outperforms?)\b",
        )
    });
    // A claim is a question of yes or no, too.
    let opener = words(question).first().map(|word| word.to_lowercase()).unwrap_or_default();
    let claim = !question.trim_end().ends_with('?')
        && !["how", "what", "which", "why", "who", "when", "where"].contains(&opener.as_str());
    EFFECT.is_match(question) || claim && EFFECT.is_match(&format!("does {question}"))
}

/// Sub-questions, else two things compared, else two aspects, else two things joined by `and` or `or`.
fn parts(question: &str, aspects: &[Aspect]) -> Vec<Part> {
    let sub_questions = distinct(sub_questions(question));
    if sub_questions.len() >= 2 {
        return sub_questions;
    }
    let joined = distinct(joined(question));
    if joined.len() >= 2 {
        return joined;
    }
    let opposed = [Aspect::Effects, Aspect::Limits];
    let named = pattern(
        r"(?i)\b(advantages|benefits|strengths|pros)\b.*\b(disadvantages|limitations|weaknesses|challenges|risks|harms|cons|drawbacks)\b",
    );
    if named.is_match(question) && opposed.iter().all(|aspect| aspects.contains(aspect)) {
        return opposed
            .into_iter()
            .map(|aspect| Part {
                heading: aspect.heading().to_owned(),
                stems: BTreeSet::new(),
                aspect: Some(aspect),
            })
            .collect();
    }
    Vec::new()
}

/// `How …? What …?` and `how … and what …`.
fn sub_questions(question: &str) -> Vec<Part> {
    static SEAM: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"(?i)\?\s+|[,;]?\s+and\s+(?:what|how|which|why|when|where|who|does|do|is|are|can)\b",
        )
    });
    SEAM.split(question).filter_map(part_of_words).collect()
}

/// The words beside the last `and`, `or`, `versus`: `cocoa or nut consumption`.
fn joined(question: &str) -> Vec<Part> {
    static SEAM: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"(?i)\s+(?:and|or|versus|vs\.?|compared? (?:to|with)|rather than|(?:better|worse|more effective) than|(?:superior|inferior) to)\s+",
        )
    });
    let Some(seam) = SEAM.find_iter(question).last() else { return Vec::new() };
    let mut before = near(question[..seam.start()].split_whitespace().rev());
    before.reverse();
    let after = near(question[seam.end()..].split_whitespace());
    [before, after].into_iter().filter_map(|words| part_of_words(&words.join(" "))).collect()
}

/// The first words up to a stop word or one that any question may use, at most three.
fn near<'a>(words: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let bare = |word: &str| is_stop_word(word.trim_matches(|c: char| !c.is_alphanumeric()));
    words.take_while(|word| !bare(word) && !is_generic(word)).take(3).collect()
}

fn is_generic(word: &str) -> bool {
    stems(word).first().is_none_or(|stem| GENERIC.binary_search(&stem.as_str()).is_ok())
}

fn part_of_words(text: &str) -> Option<Part> {
    let kept: Vec<&str> = text
        .split_whitespace()
        .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()))
        .filter(|word| !word.is_empty() && !is_stop_word(word) && !is_generic(word))
        .take(5)
        .collect();
    let stems: BTreeSet<String> = stems(&kept.join(" ")).into_iter().collect();
    (!stems.is_empty()).then(|| Part { heading: capitalised(&kept.join(" ")), stems, aspect: None })
}

/// Parts reduced to the stems only they have; those without any are dropped.
fn distinct(parts: Vec<Part>) -> Vec<Part> {
    let all: Vec<BTreeSet<String>> = parts.iter().map(|part| part.stems.clone()).collect();
    let own = |at: usize, stem: &String| {
        all.iter().enumerate().all(|(other, stems)| other == at || !stems.contains(stem))
    };
    parts
        .into_iter()
        .enumerate()
        .filter_map(|(at, mut part)| {
            part.stems.retain(|stem| own(at, stem));
            (!part.stems.is_empty()).then_some(part)
        })
        .collect()
}

/// With an upper-case first letter.
pub(crate) fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// The question's words without stop words, as a keyword query; the question itself if nothing else remains.
pub(crate) fn keywords(question: &str) -> String {
    let kept: Vec<String> =
        words(question).into_iter().filter(|word| !is_stop_word(word)).map(fold).collect();
    if kept.is_empty() { question.to_owned() } else { kept.join(" ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(question: &str) -> Reading {
        Reading::of(question, &Abbreviations::default())
    }

    #[test]
    fn generic_words_are_listed_in_order_and_weigh_little() {
        assert!(GENERIC.is_sorted());
        let reading = read("What methods reduce hallucination?");
        assert_eq!(reading.keys()[0].word, "hallucination");
        assert!(reading.terms.iter().any(|term| term.word == "methods" && term.generic));
        let share = reading.share(|term| f32::from(u8::from(term.stem == "hallucin")));
        assert!(share > 0.7);
    }

    #[test]
    fn parts_are_what_the_question_names() {
        let headings = |question: &str| -> Vec<String> {
            read(question).parts.into_iter().map(|part| part.heading).collect()
        };
        assert_eq!(
            headings("How do knowledge distillation and pruning compare for compressing models?"),
            ["Knowledge distillation", "Pruning"]
        );
        assert_eq!(
            headings("Does cocoa or nut consumption reduce inflammation or mortality?"),
            ["Inflammation", "Mortality"]
        );
        assert_eq!(
            headings("What are the advantages and limitations of chain-of-thought prompting?"),
            ["Effects and benefits", "Limits and risks"]
        );
        assert_eq!(
            headings("How is coreference resolution evaluated and what biases does it show?"),
            ["Coreference resolution evaluated", "Biases"]
        );
        assert!(headings("Is acupuncture effective for pain?").is_empty());
    }

    #[test]
    fn the_topic_is_all_that_is_asked_about_and_one_of_its_parts() {
        let share = |question: &str, said: &str| {
            let said: BTreeSet<String> = stems(said).into_iter().collect();
            read(question).topic.share(|term| f32::from(u8::from(term.is_in(&said))))
        };
        let question = "Does pretraining on code help reasoning of language models?";
        assert!(share(question, "Pre-training on code improves logical reasoning.") > 0.99);
        assert!(share(question, "Pretraining techniques for code-switched languages.") < 0.75);
        assert!(share(question, "Language models are good models of language.") < 0.01);
        assert!(
            share(question, "Training on programming languages.") > 0.3,
            "other words for code"
        );
        assert!(share(question, "Code-switched pretraining.") < 0.4, "another code");
        let vitamin = "Does vitamin D supplementation improve glycaemic control?";
        assert!(share(vitamin, "Vitamin D supplementation and bone density.") < 0.65);
        let question = "How do adapters and LoRA make fine-tuning parameter-efficient?";
        assert!(share(question, "LoRA is parameter-efficient fine-tuning.") > 0.99);
        assert!(share(question, "LoRA merges well.") < 0.7);
    }

    #[test]
    fn questions_of_yes_or_no_about_an_effect_are_known() {
        assert!(read("Is acupuncture effective for pain?").asks_effect);
        assert!(read("Does vitamin D improve glycaemic control?").asks_effect);
        assert!(
            read("Vitamin D supplementation improves glycaemic control.").asks_effect,
            "a claim"
        );
        assert!(!read("How does vitamin D improve glycaemic control?").asks_effect);
        assert!(!read("Do language models memorize their training data?").asks_effect);
    }

    #[test]
    fn keywords_leave_out_stop_words() {
        assert_eq!(keywords("How does RAG affect hallucination?"), "rag affect hallucination");
        assert_eq!(keywords("Why?"), "Why?");
    }
}
