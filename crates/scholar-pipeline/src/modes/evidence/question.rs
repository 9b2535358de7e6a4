//! What a question asks, read in code: weighted terms, the aspects wanted, and the parts it names itself.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use regex::Regex;
use scholar_core::text::words::{is_stop_word, words};

use super::direction::{Direction, claims};
use super::pattern::pattern;
use super::synonyms::synonyms;
use super::terms::{Abbreviations, joined_compounds, stems, weight};

mod broad;
mod focus;
mod kind;
mod parts;
mod topic;

pub(crate) use focus::phrases;
pub(crate) use kind::Kind;
pub(crate) use topic::Topic;

use broad::asks_broadly;
use parts::parts;

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
    "advantag", "affect", "approach", "art", "avail", "benefici", "benefit", "best", "better", "caus", "challeng", "chang",
    "choic", "common", "compar", "comparison", "current", "deal", "describ", "differ", "disadvantag", "discuss", "effect",
    "evid", "exist", "good", "handl", "help", "identifi", "impact", "import", "improv", "increas", "influenc", "issu", "kind",
    "lead", "limit", "literatur", "main", "method", "open", "outcom", "outlin", "overview", "peopl", "perform", "play",
    "practic", "problem", "purpos", "reduc", "relat", "relev", "reliabl", "research", "review", "risk", "role", "say", "show",
    "side", "state", "strategi", "strength", "techniqu", "term", "topic", "type", "understand", "way", "weak", "work",
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
    /// What kind of answer it wants.
    pub(crate) kind: Kind,
    /// What it names, in its own words and order.
    pub(crate) phrases: Vec<String>,
    /// Terms, heaviest first.
    pub(crate) terms: Vec<Term>,
    /// Aspects asked for, in the order of [`Aspect`].
    pub(crate) aspects: Vec<Aspect>,
    /// Parts it names: none or at least two.
    pub(crate) parts: Vec<Part>,
    /// What sentences have to be about.
    pub(crate) topic: Topic,
    /// What has the effect: the first of the topic's stems in such a question.
    pub(crate) subject: Option<String>,
    /// Whether it asks for side effects: only sentences about harm answer it.
    pub(crate) asks_harm: bool,
    /// What it asks to go up or down.
    pub(crate) claims: BTreeMap<String, Direction>,
    /// Whether it wants to know on which side a study stands: a yes or no, or an effect of something.
    pub(crate) wants_sides: bool,
    /// Whether it asks for an overview of many papers rather than for what one of them finds.
    pub(crate) is_broad: bool,
    /// Stems of what each `or` joins, each without those of the others: groups of at least two.
    alternatives: Vec<Vec<BTreeSet<String>>>,
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
                alternatives.extend(others);
                let word = word.to_owned();
                terms.push(Term { stem, word, weight, generic, act, alternatives });
            }
        }
        add_synonyms(&mut terms, &stems(&joined));
        terms.sort_by(|a, b| b.weight.total_cmp(&a.weight).then_with(|| a.stem.cmp(&b.stem)));
        terms.truncate(MAX_TERMS);
        let aspects: Vec<Aspect> =
            Aspect::ALL.into_iter().filter(|aspect| aspect.asked().is_match(question)).collect();
        let asks_effect = asks_effect(question);
        let kind = Kind::of(question, asks_effect);
        let parts = parts(question, &aspects, kind);
        let alternatives = parts::alternatives(question);
        let topic = Topic::of(&terms, &groups(&parts, &alternatives), asks_effect);
        let is_effect = kind == Kind::Effect;
        let subject = stems(question).into_iter().find(|stem| topic.names(stem));
        let subject = subject.filter(|_| is_effect);
        let phrases = phrases(question);
        let claims = claims(question.trim_end_matches(['?', ' ']));
        let asks_harm = asks_harm(question, kind);
        Self {
            kind,
            phrases,
            terms,
            aspects,
            parts,
            topic,
            subject,
            asks_harm,
            claims,
            is_broad: asks_broadly(question, kind, asks_harm),
            wants_sides: kind == Kind::Effect && (asks_effect || names_effect(question)),
            alternatives,
        }
    }

    /// Whether a text with the stems `said` speaks of `stem`, by another name if it is a term of the question.
    pub(crate) fn is_said(&self, stem: &str, said: &BTreeSet<String>) -> bool {
        let term = self.terms.iter().find(|term| term.stem == stem);
        term.map_or_else(|| said.contains(stem), |term| term.is_in(said))
    }

    /// Share of the terms' weight, each counted as far as `credit` says. Of alternatives, `compression or reranking`, the best
    /// one counts: no paper has to speak of both.
    pub(crate) fn share(&self, credit: impl Fn(&Term) -> f32) -> f32 {
        let group_of = |term: &Term| {
            let has =
                |group: &Vec<BTreeSet<String>>| group.iter().any(|one| one.contains(&term.stem));
            self.alternatives.iter().position(has)
        };
        let sums = |wanted: &dyn Fn(&Term) -> bool| {
            let terms = self.terms.iter().filter(|term| wanted(term));
            terms.fold((0.0, 0.0), |(found, total), term| {
                (found + term.weight * credit(term), total + term.weight)
            })
        };
        let (mut found, mut total) = sums(&|term| group_of(term).is_none());
        for group in &self.alternatives {
            let of = |one: &BTreeSet<String>| sums(&|term| one.contains(&term.stem));
            let share = |(found, total): (f32, f32)| if total > 0.0 { found / total } else { 0.0 };
            let best = group.iter().map(of).max_by(|a, b| share(*a).total_cmp(&share(*b)));
            let (of_best, weight) = best.unwrap_or_default();
            found += of_best;
            total += weight;
        }
        if total > 0.0 { found / total } else { 0.0 }
    }

    /// Whether it asks for more than a number, a side or what is better: many papers may answer it.
    pub(crate) fn is_open(&self) -> bool {
        let open = [Kind::Limits, Kind::Data, Kind::Methods, Kind::General, Kind::ProsAndCons];
        open.contains(&self.kind) && !self.asks_harm && !self.wants_sides
    }

    /// Whether `or` joins the part to another.
    pub(crate) fn is_alternative(&self, part: &Part) -> bool {
        self.alternatives.iter().flatten().any(|stems| !stems.is_disjoint(&part.stems))
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

/// What a sentence has to speak of one of: what the question joins by `or`, and the parts it names, if they are others.
fn groups(parts: &[Part], alternatives: &[Vec<BTreeSet<String>>]) -> Vec<Vec<BTreeSet<String>>> {
    let of_parts: Vec<BTreeSet<String>> = parts.iter().map(|part| part.stems.clone()).collect();
    let shares = |group: &Vec<BTreeSet<String>>| {
        group.iter().any(|one| of_parts.iter().any(|part| !part.is_disjoint(one)))
    };
    let others = alternatives.iter().filter(|group| !shares(group)).cloned();
    others.chain((!of_parts.is_empty()).then(|| of_parts.clone())).collect()
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

/// `What are the side effects of …?`, `Is … safe?`; of pros and cons, harm is one part only.
fn asks_harm(question: &str, kind: Kind) -> bool {
    static HARM: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"(?i)\bside[- ]effects?\b|\badverse (?:events?|effects?|reactions?)\b|\bsafety\b|\bsafe\b|\btolerab|\bunwanted effects\b",
        )
    });
    kind != Kind::ProsAndCons && HARM.is_match(question)
}

/// Other names of what the question names, for every word of the name.
fn add_synonyms(terms: &mut [Term], words: &[String]) {
    for (name, others) in synonyms(words) {
        for term in terms.iter_mut().filter(|term| name.contains(&term.stem)) {
            let new = others.iter().filter(|other| !other.contains(&term.stem));
            term.alternatives.extend(new.cloned());
        }
    }
}

/// Whether any question may use `word`.
fn is_generic(word: &str) -> bool {
    stems(word).first().is_none_or(|stem| GENERIC.binary_search(&stem.as_str()).is_ok())
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

/// `What is the effect of X on Y?`
fn names_effect(question: &str) -> bool {
    static OF: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"(?i)\b(?:effects?|impact|influence|efficacy|effectiveness) of\b|^how (?:does|do|did) .*\b(?:affect|influence|impact)\b",
        )
    });
    OF.is_match(question)
}

#[cfg(test)]
mod tests;
