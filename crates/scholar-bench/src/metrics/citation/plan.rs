//! What there is to judge: claims and the passages they cite. No judge is asked here.

use std::collections::BTreeSet;

use scholar_core::text::markers;
use serde::{Deserialize, Serialize};

use super::{Rules, Variant};
use crate::metrics::punkt;
use crate::metrics::text::citations;

/// One sentence to be scored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sentence {
    /// As written, with its citations.
    pub text: String,
    /// What is judged: the sentence without citations.
    pub claim: String,
    /// Places of the cited passages, from 0; only places that exist.
    pub cited: Vec<usize>,
    /// The citations are those of the sentence before.
    pub inherited: bool,
    /// Numbers that no shown passage or listed paper with an abstract has, as written.
    pub out_of_range: Vec<usize>,
    /// Citations beyond the most that are looked at.
    pub ignored: usize,
}

/// The places that a citation may point to.
#[derive(Debug, Clone, Copy)]
pub enum Citable<'a> {
    /// All below this number: the passages shown.
    Shown(usize),
    /// These: the papers of an answer's own list of which there is an abstract.
    Listed(&'a BTreeSet<usize>),
}

impl From<usize> for Citable<'_> {
    fn from(shown: usize) -> Self {
        Self::Shown(shown)
    }
}

impl Citable<'_> {
    fn contains(self, place: usize) -> bool {
        match self {
            Self::Shown(n) => place < n,
            Self::Listed(places) => places.contains(&place),
        }
    }
}

/// The sentences of a long answer that are scored, in order; `None` when it has no sentence at all.
pub fn plan_long<'a>(
    output: &str,
    citable: impl Into<Citable<'a>>,
    rules: Rules,
) -> Option<Vec<Sentence>> {
    let citable = citable.into();
    let sentences = punkt::sentences(output);
    if sentences.is_empty() {
        return None;
    }
    let mut before: Vec<usize> = Vec::new();
    let mut planned = Vec::new();
    for text in sentences {
        if text.chars().count() < rules.min_chars {
            continue;
        }
        let numbers = numbers(text, rules.variant);
        let inherited = numbers.is_empty() && !before.is_empty();
        let numbers = if inherited { before.clone() } else { numbers };
        let claim = claim(text, rules.variant);
        let (sentence, in_use) = sentence(text, claim, numbers, Numbering { citable, rules });
        if let Some(in_use) = in_use {
            before = in_use;
        }
        planned.push(Sentence { inherited, ..sentence });
    }
    Some(planned)
}

/// A short answer as one sentence: the question stands before the answer in the claim.
///
/// Upstream reads citations from the question too.
pub fn plan_short<'a>(
    question: &str,
    output: &str,
    citable: impl Into<Citable<'a>>,
    rules: Rules,
) -> Sentence {
    let whole = format!("{question} {output}");
    let claim = format!("{question} {}", claim(output, rules.variant));
    let read_from = match rules.variant {
        Variant::Upstream => whole.as_str(),
        Variant::Corrected => output,
    };
    let numbers = numbers(read_from, rules.variant);
    sentence(&whole, claim, numbers, Numbering { citable: citable.into(), rules }).0
}

/// What citation numbers refer to.
#[derive(Clone, Copy)]
struct Numbering<'a> {
    /// Places that may be cited.
    citable: Citable<'a>,
    /// How numbers are read.
    rules: Rules,
}

/// The sentence, and the numbers that a sentence after it inherits; `None` when it leaves those of the one before.
fn sentence(
    text: &str,
    claim: String,
    numbers: Vec<usize>,
    numbering: Numbering<'_>,
) -> (Sentence, Option<Vec<usize>>) {
    let Numbering { citable, rules } = numbering;
    let place = |number: &usize| {
        number.checked_sub(rules.first_number).filter(|place| citable.contains(*place))
    };
    let out_of_range: Vec<usize> =
        numbers.iter().filter(|number| place(number).is_none()).copied().collect();
    let mut cited: Vec<usize> = numbers.iter().filter_map(place).collect();
    let voided = rules.variant == Variant::Upstream && !out_of_range.is_empty();
    let in_use = (!cited.is_empty() && !voided)
        .then(|| numbers.iter().filter(|number| place(number).is_some()).copied().collect());
    if voided {
        cited.clear();
    }
    let ignored = cited.len().saturating_sub(rules.most_citations);
    cited.truncate(rules.most_citations);
    let text = text.to_owned();
    (Sentence { text, claim, cited, inherited: false, out_of_range, ignored }, in_use)
}

fn numbers(text: &str, variant: Variant) -> Vec<usize> {
    match variant {
        Variant::Upstream => citations::first_numbers(text),
        Variant::Corrected => {
            let mut seen = BTreeSet::new();
            markers::citation_groups(text)
                .into_iter()
                .flat_map(|group| group.numbers)
                .filter(|number| seen.insert(*number))
                .collect()
        }
    }
}

fn claim(text: &str, variant: Variant) -> String {
    match variant {
        Variant::Upstream => citations::remove(text),
        Variant::Corrected => markers::strip_citations(text).trim().to_owned(),
    }
}
