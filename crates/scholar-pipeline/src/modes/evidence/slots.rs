//! What an answer to a question of a kind consists of: parts with a heading, and what is said when one stays empty.

use std::collections::BTreeSet;

use scholar_core::text::normalise::{capitalised, lower_first};

use super::candidate::Candidate;
use super::direction::claims;
use super::informative::{Role, Side, defines, speaks_of, speaks_of_harm, tells_limit};
use super::question::{Aspect, KEY_WEIGHT, Kind, Reading, Term};
use super::terms::{names_nothing, stem_set};

/// Heading of what belongs to no other part.
pub(crate) const FURTHER: &str = "Further findings";
/// Heading of what is shown beside an abstention.
const NEAREST: &str = "Nearest papers, which may answer it in part";
/// Heading of what no word of the question divides.
pub(crate) const FINDINGS: &str = "Findings";
/// Share of the question's topic that a phrase of it says to be a heading. Ours: less of it is a torn heading.
const HEADING_SHARE: f32 = 0.6;
/// Heading of sentences that speak of both things compared.
const COMPARED: &str = "Compared directly";
/// Least share of a part's stems that a sentence about it has.
const PART_SHARE: f32 = 0.5;

/// A part of the answer.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Slot {
    /// In the question's words where it can be.
    pub(crate) heading: String,
    accepts: Accepts,
    /// What is missing if nothing fills it; `None` where that means nothing.
    pub(crate) gap: Option<Gap>,
}

/// What nothing fills, as a reader would say it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Gap {
    /// A kind of content, known by many wordings: side effects, limits, a definition.
    Content(String),
    /// A part that the question names, known by its words alone.
    Words(String),
}

impl Gap {
    /// The thing, to be searched for.
    pub(crate) fn thing(&self) -> &str {
        let (Self::Content(thing) | Self::Words(thing)) = self;
        thing
    }

    /// What a reader is told. Papers may have other words for what the question names, as they mostly have where it is asked
    /// in everyday words: of six answers that said `No paper found here reports gums` and the like none was right.
    pub(crate) fn sentence(&self) -> String {
        match self {
            Self::Content(thing) => format!("No paper found here reports {thing}."),
            Self::Words(thing) => {
                format!("No paper shown here speaks of “{thing}” in these words.")
            }
        }
    }
}

/// Which sentences belong to a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Accepts {
    Definition,
    Took(EffectSide),
    BothParts,
    Part(usize),
    Aspect(Aspect),
    Harm,
    /// All of an answer of one part.
    Anything,
    /// What no other part takes.
    Further,
}

/// What a sentence reports of the effect on the outcome that was asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum EffectSide {
    /// In the direction asked about, or in any where none was.
    Effect,
    /// None, or no difference.
    NoEffect,
    /// In the other direction.
    Opposite,
}

impl EffectSide {
    pub(crate) const ALL: [Self; 3] = [Self::Effect, Self::NoEffect, Self::Opposite];

    /// The side that `text` takes; `None` where its wording is not plain or it speaks of another outcome.
    pub(crate) fn of(text: &str, reading: &Reading) -> Option<Self> {
        let side = Side::on(text, reading)?;
        let outcomes = outcomes(reading);
        let said = stem_set(text);
        // `did not improve the outcomes assessed` is said of all of them.
        let of_all = side == Side::NoEffect
            && ["outcom", "endpoint"].iter().any(|stem| said.contains(*stem));
        if !outcomes.is_empty()
            && !of_all
            && !outcomes.iter().any(|stem| reading.is_said(stem, &said))
        {
            return None;
        }
        let theirs = claims(text);
        let opposite = reading.claims.iter().any(|(thing, asked)| {
            theirs.get(thing).is_some_and(|found| found.is_opposite_of(*asked))
        });
        Some(match side {
            Side::NoEffect => Self::NoEffect,
            Side::Effect if opposite => Self::Opposite,
            Side::Effect => Self::Effect,
        })
    }

    fn heading(self, reading: &Reading) -> String {
        let on = outcome_phrase(reading).map(|on| format!(" on {on}")).unwrap_or_default();
        match self {
            Self::Effect => format!("An effect{on} is reported"),
            Self::NoEffect => format!("No effect{on}, or no difference, is reported"),
            Self::Opposite => "The opposite is reported".to_owned(),
        }
    }
}

/// Stems of what the effect is on: all that the question names behind its subject.
fn outcomes(reading: &Reading) -> BTreeSet<String> {
    reading.phrases.iter().skip(1).flat_map(|phrase| stem_set(phrase)).collect()
}

/// The same as the question writes it: `muscle strength`, and `muscle strength or falls` where it names both as its parts.
pub(crate) fn outcome_phrase(reading: &Reading) -> Option<String> {
    let outcomes = reading.phrases.get(1..).filter(|outcomes| !outcomes.is_empty())?;
    (outcomes.len() == 1 || outcomes.len() == 2 && reading.parts.len() == 2)
        .then(|| outcomes.join(" or "))
}

/// The parts of an answer to the question, in order; the last takes what no other does.
pub(crate) fn slots(reading: &Reading) -> Vec<Slot> {
    let slot = |heading: String, accepts: Accepts, gap: Option<Gap>| Slot { heading, accepts, gap };
    let named = reading.parts.iter().enumerate().map(|(at, part)| {
        let accepts = part.aspect.map_or(Accepts::Part(at), Accepts::Aspect);
        // That no sentence is told to be an advantage does not say that there is none; that of `herb or spice` one is not named
        // says nothing either: the question asks for any.
        // `later` of `later impact` names nothing either.
        let names = |stem: &String| {
            let is_it = |term: &Term| term.stem == *stem && term.weight >= KEY_WEIGHT;
            reading.terms.iter().any(|term| is_it(term) && !names_nothing(&term.word))
        };
        let is_named =
            part.aspect.is_none() && part.stems.iter().any(names) && !reading.is_alternative(part);
        let gap = is_named.then(|| Gap::Words(uncapitalised(&part.heading)));
        slot(part.heading.clone(), accepts, gap)
    });
    let mut slots: Vec<Slot> = match reading.kind {
        _ if reading.asks_harm => {
            let gap = Some(Gap::Content("side effects".to_owned()));
            vec![slot("Side effects and safety".to_owned(), Accepts::Harm, gap)]
        }
        Kind::Definition => {
            let thing = reading.phrases.first().cloned().unwrap_or_default();
            let definition = slot(
                format!("What {thing} is"),
                Accepts::Definition,
                Some(Gap::Content(format!("what {thing} is"))),
            );
            let limits = reading.wants(Aspect::Limits).then(|| {
                let gap = Some(Gap::Content("its limits".to_owned()));
                slot("Where it fails".to_owned(), Accepts::Aspect(Aspect::Limits), gap)
            });
            std::iter::once(definition).chain(limits).collect()
        }
        Kind::Effect if reading.parts.is_empty() && reading.wants_sides => {
            let side = |side: EffectSide| slot(side.heading(reading), Accepts::Took(side), None);
            EffectSide::ALL.map(side).into_iter().collect()
        }
        Kind::Comparison if reading.parts.len() == 2 => {
            std::iter::once(slot(COMPARED.to_owned(), Accepts::BothParts, None))
                .chain(named)
                .collect()
        }
        _ => named.collect(),
    };
    let (heading, accepts) = match slots.is_empty() {
        true => (only_heading(reading), Accepts::Anything),
        false => (FURTHER.to_owned(), Accepts::Further),
    };
    slots.push(slot(heading, accepts, None));
    slots
}

/// Heading of an answer of one part: the phrase that says most of what the question asks, or else what kind of thing it asks for.
fn only_heading(reading: &Reading) -> String {
    let said = |phrase: &String| {
        let stems = stem_set(phrase);
        // A heading names the thing, not what is done to it.
        reading.topic.share(|term| f32::from(u8::from(term.act || term.is_in(&stems))))
    };
    let longest = reading.phrases.iter().max_by(|a, b| said(a).total_cmp(&said(b)));
    let names = |phrase: &&String| {
        phrase.contains(' ') && said(phrase) >= HEADING_SHARE && !has_clause(phrase)
    };
    let whole = longest.filter(names);
    whole.map_or_else(|| kind_heading(reading.kind).to_owned(), |phrase| capitalised(phrase))
}

/// Whether a phrase says what is done, as `parents to send back a survey` does, rather than name something: it has a `to` that no
/// noun asks for.
fn has_clause(phrase: &str) -> bool {
    #[rustfmt::skip]
    const ASK_FOR_TO: [&str; 14] = [
        "access", "adherence", "alternative", "alternatives", "approach", "approaches", "attention", "barriers", "exposure",
        "resistance", "response", "responses", "sensitivity", "transition",
    ];
    let words: Vec<&str> = phrase.split(' ').collect();
    words.windows(2).any(|pair| pair[1] == "to" && !ASK_FOR_TO.contains(&pair[0]))
}

fn kind_heading(kind: Kind) -> &'static str {
    match kind {
        Kind::Quantity => "Figures",
        Kind::Data => "Data",
        Kind::Causes => "Causes",
        Kind::Limits => "Problems and limits",
        // What a method achieves is shown, too.
        Kind::Methods
        | Kind::Definition
        | Kind::Effect
        | Kind::Comparison
        | Kind::ProsAndCons
        | Kind::General => FINDINGS,
    }
}

/// The part of `slots` that a sentence belongs to: the first that accepts it.
pub(crate) fn slot_of(slots: &[Slot], candidate: &Candidate, reading: &Reading) -> usize {
    let text = candidate.text.as_str();
    let accepts = |slot: &Slot| match slot.accepts {
        Accepts::Definition => defines(text, reading),
        Accepts::Took(side) => EffectSide::of(text, reading) == Some(side),
        Accepts::BothParts => speaks_of_all_parts(candidate, reading),
        Accepts::Part(part) => part_of(candidate, reading) == Some(part),
        Accepts::Aspect(Aspect::Limits) => tells_limit(text),
        Accepts::Aspect(aspect) => speaks_of(text, aspect) && Role::of(text) != Role::Limit,
        Accepts::Harm => speaks_of_harm(text),
        Accepts::Anything | Accepts::Further => true,
    };
    // Limits are told with the words of effects, too: the more specific part is asked first.
    let limits = slots.iter().position(|slot| {
        slot.accepts == Accepts::Aspect(Aspect::Limits) && Role::of(text) == Role::Limit
    });
    limits.or_else(|| slots.iter().position(accepts)).unwrap_or(slots.len().saturating_sub(1))
}

impl Slot {
    /// What is shown beside an abstention.
    pub(crate) fn nearest() -> Self {
        Self::headed(NEAREST)
    }

    /// A part whose sentences are chosen elsewhere.
    pub(crate) fn headed(heading: &str) -> Self {
        Self { heading: heading.to_owned(), accepts: Accepts::Anything, gap: None }
    }

    /// Whether it is a part that the question names.
    pub(crate) fn is_part(&self) -> bool {
        matches!(self.accepts, Accepts::Part(_))
    }

    /// Whether it takes what no other does, behind parts that the question names.
    pub(crate) fn is_rest(&self) -> bool {
        self.accepts == Accepts::Further
    }

    /// Whether a text with these stems speaks of the part that the question names, under whatever heading it is shown. What is
    /// mentioned there is not missing.
    pub(crate) fn is_mentioned(&self, stems: &BTreeSet<String>, reading: &Reading) -> bool {
        let Accepts::Part(part) = self.accepts else { return false };
        reading.parts[part].stems.iter().any(|stem| reading.is_said(stem, stems))
    }
}

/// The part of the question a sentence speaks of: the one with the largest share of its stems, the first of equals.
fn part_of(candidate: &Candidate, reading: &Reading) -> Option<usize> {
    let fit = |at: usize| share(&reading.parts[at].stems, candidate);
    let mut best: Option<(f32, usize)> = None;
    for at in (0..reading.parts.len()).filter(|at| fit(*at) >= PART_SHARE) {
        if best.is_none_or(|(highest, _)| fit(at) > highest) {
            best = Some((fit(at), at));
        }
    }
    best.map(|(_, at)| at)
}

fn speaks_of_all_parts(candidate: &Candidate, reading: &Reading) -> bool {
    let about = |stems: &BTreeSet<String>| share(stems, candidate) >= PART_SHARE;
    reading.parts.iter().all(|part| about(&part.stems))
}

fn share(stems: &BTreeSet<String>, candidate: &Candidate) -> f32 {
    stems.intersection(&candidate.stems).count() as f32 / stems.len().max(1) as f32
}

/// With a lower-case first letter, unless it is an abbreviation or a name.
fn uncapitalised(text: &str) -> String {
    let plain = text.chars().skip(1).take_while(|c| c.is_alphabetic()).all(char::is_lowercase);
    if plain { lower_first(text) } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::modes::evidence::terms::Abbreviations;

    fn read(question: &str) -> Reading {
        Reading::of(question, &Abbreviations::default())
    }

    fn headings(question: &str) -> Vec<String> {
        slots(&read(question)).into_iter().map(|slot| slot.heading).collect()
    }

    #[test]
    fn what_is_done_is_no_heading() {
        assert!(has_clause("parents to send back a mailed survey") && has_clause("gum to quit"));
        assert!(!has_clause("resistance to artemisinin") && !has_clause("nut consumption"));
    }

    #[test]
    fn parts_follow_from_the_kind_in_the_questions_words() {
        assert_eq!(
            headings("Does acupuncture reduce migraine?"),
            [
                "An effect on migraine is reported",
                "No effect on migraine, or no difference, is reported",
                "The opposite is reported",
                FURTHER
            ]
        );
        assert_eq!(
            headings("What is retrieval-augmented generation and where does it fail?")[..2],
            ["What retrieval-augmented generation is", "Where it fails"]
        );
        assert_eq!(
            headings("How can hallucinations of large language models be detected?"),
            ["Hallucinations of large language models"]
        );
        assert_eq!(
            headings("How can hallucinations in translation be explained, reduced and detected?"),
            ["Hallucinations in translation"]
        );
        // No torn phrase is a heading: `take`, `LLMs`.
        assert_eq!(
            headings("How many people take up screening when they can collect samples at home?"),
            ["Figures"]
        );
        assert_eq!(
            headings(
                "Which defences stop jailbreak prompts from getting harmful answers out of LLMs?"
            ),
            [FINDINGS]
        );
        assert_eq!(
            headings("Does synthetic text help models handle mixed-language input?")[0],
            "An effect is reported",
            "`models or mixed-language input` is no outcome"
        );
    }

    #[test]
    fn sides_are_those_of_the_outcome_asked_about() {
        let reading = read("Does exercise lower blood pressure in older adults?");
        let side = |text: &str| EffectSide::of(text, &reading);
        assert_eq!(side("Exercise lowered blood pressure by 5 mmHg."), Some(EffectSide::Effect));
        assert_eq!(
            side("Exercise had no significant effect on blood pressure."),
            Some(EffectSide::NoEffect)
        );
        assert_eq!(side("Exercise increased blood pressure."), Some(EffectSide::Opposite));
        assert_eq!(side("Exercise improved sleep."), None, "another outcome");
        let none = "Exercise did not improve the outcomes that were assessed.";
        assert_eq!(side(none), Some(EffectSide::NoEffect), "all outcomes");
        assert_eq!(side("All groups improved in the outcomes that were assessed."), None);
    }
}
