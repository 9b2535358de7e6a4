//! What sentences have to be about.

use std::collections::BTreeSet;

use super::focus::is_linking;
use super::{ACT_WEIGHT, KEY_WEIGHT, MOST_TOPIC_WEIGHT, TOPIC_WEIGHT, Term};

/// What a sentence has to speak of to be about a question; see [`Topic::share`].
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Topic {
    /// All of these.
    all: Vec<(Term, f32)>,
    /// Of each group one: the parts the question names, what it joins by `or`.
    one_of: Vec<Vec<Vec<(Term, f32)>>>,
}

impl Topic {
    /// `groups` are stems of which one set each has to be said; `asks_effect`: `improve` and `reduce` then stand for any effect,
    /// and none.
    pub(super) fn of(terms: &[Term], groups: &[Vec<BTreeSet<String>>], asks_effect: bool) -> Self {
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
        let place_of = |term: &Term| {
            let in_group = |group: &Vec<BTreeSet<String>>| {
                group.iter().position(|stems| stems.contains(&term.stem))
            };
            groups.iter().enumerate().find_map(|(at, group)| Some((at, in_group(group)?)))
        };
        let mut one_of: Vec<Vec<Vec<(Term, f32)>>> =
            groups.iter().map(|group| vec![Vec::new(); group.len()]).collect();
        let mut all = Vec::new();
        for (term, weight) in weighed {
            match place_of(&term) {
                Some((group, part)) => one_of[group][part].push((term, weight)),
                None => all.push((term, weight)),
            }
        }
        for group in &mut one_of {
            group.retain(|part| !part.is_empty());
        }
        one_of.retain(|group| !group.is_empty());
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
        for group in &self.one_of {
            let parts: Vec<(f32, f32)> = group.iter().map(|part| sums(part)).collect();
            let weight = parts.iter().map(|(_, total)| total).sum::<f32>() / parts.len() as f32;
            let best = parts.iter().map(|(found, total)| found / total).fold(0.0, f32::max);
            found += best * weight;
            total += weight;
        }
        if total > 0.0 { found / total } else { 1.0 }
    }

    /// Core concepts that `is_there` does not find: rare terms of the topic that are no everyday words. Of the parts that the
    /// question names, and of what it joins by `or`, one must be whole: those that the best one lacks.
    pub(crate) fn lacks<'a>(&'a self, is_there: impl Fn(&Term) -> bool) -> Vec<&'a Term> {
        let missing = |terms: &'a [(Term, f32)]| -> Vec<&'a Term> {
            let core = |term: &&Term| {
                !term.act && !term.generic && term.weight >= KEY_WEIGHT && !is_linking(&term.word)
            };
            terms.iter().map(|(term, _)| term).filter(core).filter(|term| !is_there(term)).collect()
        };
        let mut lacking = missing(&self.all);
        for group in &self.one_of {
            let of_parts = group.iter().map(|part| missing(part));
            lacking.extend(of_parts.min_by_key(Vec::len).unwrap_or_default());
        }
        lacking
    }

    /// What the question wants done, if it names that: `detect`, `prevent`.
    pub(crate) fn acts(&self) -> impl Iterator<Item = &Term> {
        self.all.iter().map(|(term, _)| term).filter(|term| term.act && !term.generic)
    }

    /// Whether a term of the topic is said.
    pub(super) fn names(&self, stem: &str) -> bool {
        self.all.iter().any(|(term, _)| term.stem == stem)
    }
}
