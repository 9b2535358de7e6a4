//! What a sentence names, counts and claims that its cited paper's text does not: gates by code alone.
//!
//! Four checks read the sentence beside the cited passages, the titles and the abstracts of their papers ([`SourceText`]):
//! [`entities`] (systems, trials, data sets, species, drugs, abbreviations), [`numbers`] (with units, fractions and simple
//! arithmetic), [`direction`] (more against less, an effect against none) and [`scope`] (superlatives, generality, causes,
//! certainty, population). Each says which words it misses. None of them tells that a sentence is right: they catch what a
//! judge of meaning overlooks. Their rates of false alarms and of caught changes are measured by `openscholar bench gates`.

pub mod direction;
pub mod entities;
pub mod numbers;
pub mod quantity;
pub mod scope;
mod source;

pub use source::SourceText;

pub use scholar_core::{ContentCheck, Missing};

/// A check of one kind: what it misses of a sentence in plain form.
type Check = fn(&str, &SourceText) -> Vec<String>;

/// Everything the checks miss in `source`; empty when the sentence passes. Citation markers in `sentence` are ignored.
pub fn missing(sentence: &str, source: &SourceText) -> Vec<Missing> {
    let sentence = source::plain(sentence);
    let checks: [(ContentCheck, Check); 4] = [
        (ContentCheck::Entity, entities::missing),
        (ContentCheck::Number, numbers::missing),
        (ContentCheck::Direction, direction::missing),
        (ContentCheck::Scope, scope::missing),
    ];
    let mut all = Vec::new();
    for (check, missing) in checks {
        all.extend(missing(&sentence, source).into_iter().map(|words| Missing { check, words }));
    }
    all
}

/// Directions of `sentence` that `source` turns the other way: the sign of a contradiction.
pub fn opposite(sentence: &str, source: &SourceText) -> Vec<String> {
    direction::missing(&source::plain(sentence), source)
}

#[cfg(test)]
mod tests;
