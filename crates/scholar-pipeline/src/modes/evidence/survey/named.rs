//! What a question names, and how much of it a text mentions.

use std::collections::BTreeSet;

use super::super::question::Reading;
use super::super::terms::stem_set;

/// Weight of its rarest word from which a thing is worth an introduction: `event` of `event extraction`, not `language`.
const RARE: f32 = 2.6;
/// Weight of all its words together from which it is: `event extraction`, not `text`.
const RARE_TOGETHER: f32 = 4.5;
/// Most words of what is introduced.
const LONGEST: usize = 4;
/// Most things that are introduced.
const MOST_INTRODUCED: usize = 2;

/// Stems of something that the question names, with how rare each is; words that any question may use left out.
pub(super) struct Named<'a> {
    reading: &'a Reading,
    stems: Vec<(String, f32)>,
}

impl<'a> Named<'a> {
    /// Of one thing.
    pub(super) fn one(name: &str, reading: &'a Reading) -> Self {
        Self::of(stem_set(name), reading)
    }

    /// Of all that the question names.
    pub(super) fn all(reading: &'a Reading) -> Self {
        let things = reading.phrases.iter().flat_map(|phrase| things(phrase));
        Self::of(things.flat_map(|name| stem_set(&name)).collect(), reading)
    }

    fn of(stems: BTreeSet<String>, reading: &'a Reading) -> Self {
        let weighted = |stem: String| {
            let term = reading.terms.iter().find(|term| term.stem == stem && !term.generic)?;
            Some((stem, term.weight))
        };
        Self { reading, stems: stems.into_iter().filter_map(weighted).collect() }
    }

    /// Whether there is nothing that a text could mention.
    pub(super) fn is_empty(&self) -> bool {
        self.stems.is_empty()
    }

    /// Share of the weight of the stems that a text with the stems `said` mentions, by these or other words.
    pub(super) fn share(&self, said: &BTreeSet<String>) -> f32 {
        self.there(|stem| self.reading.is_said(stem, said)).1
    }

    /// How many of the stems a text with the stems `said` has itself, and what share of their weight.
    pub(super) fn written(&self, said: &BTreeSet<String>) -> (usize, f32) {
        self.there(|stem| said.contains(stem))
    }

    fn there(&self, is_there: impl Fn(&str) -> bool) -> (usize, f32) {
        let there = self.stems.iter().filter(|(stem, _)| is_there(stem));
        let (n, weight) = there.fold((0, 0.0), |(n, sum), (_, weight)| (n + 1, sum + weight));
        let whole: f32 = self.stems.iter().map(|(_, weight)| weight).sum();
        (n, if whole > 0.0 { weight / whole } else { 0.0 })
    }

    fn is_worth_an_introduction(&self) -> bool {
        let rarest = self.stems.iter().map(|(_, weight)| *weight).fold(0.0, f32::max);
        let together: f32 = self.stems.iter().map(|(_, weight)| weight).sum();
        rarest >= RARE && together >= RARE_TOGETHER
    }
}

/// What of the question a reader new to it wants explained: `knowledge editing` of `knowledge editing of language models`.
pub(super) fn concepts(reading: &Reading) -> Vec<String> {
    let is_told = |name: &String| {
        name.split(' ').count() <= LONGEST && Named::one(name, reading).is_worth_an_introduction()
    };
    let things = reading.phrases.iter().flat_map(|phrase| things(phrase));
    things.filter(is_told).take(MOST_INTRODUCED).collect()
}

/// What a phrase names: its parts between small words, without what is done to them.
fn things(phrase: &str) -> Vec<String> {
    const BETWEEN: [&str; 12] =
        ["of", "for", "in", "on", "with", "without", "to", "by", "from", "as", "over", "via"];
    #[rustfmt::skip]
    const BEFORE: [&str; 15] = [
        "a", "an", "the", "some", "applying", "building", "evaluating", "handling", "improving",
        "processing", "test", "testing", "tests", "training", "using",
    ];
    let words: Vec<&str> = phrase.split(' ').collect();
    let is = |list: &[&str], word: &str| list.contains(&word.to_lowercase().as_str());
    let parts = words.split(|word| is(&BETWEEN, word));
    let bare = |part: &[&str]| {
        let kept: Vec<&str> = part.iter().copied().skip_while(|word| is(&BEFORE, word)).collect();
        kept.join(" ")
    };
    parts.map(bare).filter(|name| !name.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::modes::evidence::terms::Abbreviations;

    #[test]
    fn phrases_are_parted_at_small_words() {
        let parts = things("acupuncture as a treatment for pain");
        assert_eq!(parts, ["acupuncture", "treatment", "pain"]);
        assert_eq!(things("processing code-switched language"), ["code-switched language"]);
    }

    #[test]
    fn rare_words_say_more_of_what_is_named() {
        let question = "Give an overview of event extraction from text.";
        let reading = Reading::of(question, &Abbreviations::default());
        assert_eq!(concepts(&reading), ["event extraction"]);
        let named = Named::all(&reading);
        let share = |text: &str| named.share(&stem_set(text));
        assert!((share("Events are extracted from a text") - 1.0).abs() < 1e-6);
        assert!(share("the text") < 0.5 && share("events, extracted") > 0.6);
    }
}
