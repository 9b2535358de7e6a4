//! What a review may read: papers from before a day, and never the idea's own.
//!
//! The day of a cut-off is usually that on which the idea's own paper appeared, so an inclusive bound would let that paper
//! in. One [`Guard`] makes the filter of every request and looks again at everything that comes back, because a source may
//! not obey a filter.
//!
//! Source: specification B6; the guard against leaks is ours.

use std::collections::BTreeSet;

use jiff::civil::Date;
use scholar_core::text::words::content_stems;
use scholar_core::{PaperMeta, SearchFilter};
use serde::{Deserialize, Serialize};

use crate::idea::Idea;

/// Whether papers of the very day of a cut-off are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DateBound {
    /// Only what appeared before the day.
    Strict,
    /// What appeared on the day too, as the released code does.
    Inclusive,
}

/// What happens to papers of which no date is known, where there is a cut-off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UnknownDates {
    /// They are left out, and counted.
    Drop,
    /// They are read.
    Keep,
}

/// A day with what it means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cutoff {
    /// The day.
    pub day: Date,
    /// Whether the day itself is still in.
    pub bound: DateBound,
    /// What happens to undated papers.
    pub unknown: UnknownDates,
}

impl Cutoff {
    /// Nothing on or after `day`, nothing undated.
    pub fn strict(day: Date) -> Self {
        Self { day, bound: DateBound::Strict, unknown: UnknownDates::Drop }
    }

    /// The first day on which nothing is read any more.
    pub fn first_refused(&self) -> Date {
        match self.bound {
            DateBound::Strict => self.day,
            // The last day that a date can have refuses nothing.
            DateBound::Inclusive => self.day.tomorrow().unwrap_or(self.day),
        }
    }
}

/// Why a paper is not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Refusal {
    /// It can have appeared on or after the cut-off; of a year alone its last day counts.
    TooLate,
    /// No date of it is known.
    UnknownDate,
    /// Its title is the idea's.
    SameTitle,
    /// Its abstract shares most words with the idea: the paper that the idea was taken from.
    SameText,
}

/// How many papers a route brought that were refused. A filter that a source obeys refuses more, uncounted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// Which way they came: `search`, `references`, `recommendations`, `full_text`.
    pub route: String,
    /// Why.
    pub why: Refusal,
    /// Different papers.
    pub papers: usize,
}

/// Least share of words that an abstract and an idea have in common for being of one work, as a Jaccard index of content stems.
/// Source: specification B6.
pub const SAME_TEXT: f32 = 0.6;

/// Decides what may be read for one idea.
#[derive(Debug, Clone, PartialEq)]
pub struct Guard {
    cutoff: Option<Cutoff>,
    title: Option<String>,
    /// Stems of the whole idea and of each of its parts: an abstract is about as long as a part.
    texts: Vec<BTreeSet<String>>,
}

impl Guard {
    /// The guard of `idea`.
    pub fn of(idea: &Idea, cutoff: Option<Cutoff>) -> Self {
        let parts = idea.sections.iter().map(|part| part.text.as_str());
        let texts = [idea.text.as_str()].into_iter().chain(parts).map(stems);
        let texts = texts.filter(|stems| stems.len() >= FEWEST_STEMS).collect();
        Self { cutoff, title: idea.title_key(), texts }
    }

    /// The filter of every request.
    pub fn filter(&self) -> SearchFilter {
        let cutoff = self.cutoff.as_ref();
        SearchFilter {
            published_before: cutoff.map(Cutoff::first_refused),
            include_unknown: cutoff.is_some_and(|one| one.unknown == UnknownDates::Keep),
            exclude_titles: self.title.iter().cloned().collect(),
            ..SearchFilter::none()
        }
    }

    /// Whether `paper` may be read, whose abstract is `summary` where that is known.
    ///
    /// # Errors
    /// Why not.
    pub fn admits(&self, paper: &PaperMeta, summary: Option<&str>) -> Result<(), Refusal> {
        if let Some(cutoff) = &self.cutoff {
            match (paper.latest_day(), cutoff.unknown) {
                (Some(day), _) if day >= cutoff.first_refused() => return Err(Refusal::TooLate),
                (None, UnknownDates::Drop) => return Err(Refusal::UnknownDate),
                _ => {}
            }
        }
        if !self.filter().accepts(paper) {
            return Err(Refusal::SameTitle);
        }
        match summary {
            Some(summary) if self.is_own(summary) => Err(Refusal::SameText),
            _ => Ok(()),
        }
    }

    fn is_own(&self, summary: &str) -> bool {
        let theirs = stems(summary);
        theirs.len() >= FEWEST_STEMS
            && self.texts.iter().any(|own| jaccard(own, &theirs) >= SAME_TEXT)
    }
}

/// Fewest different stems of a text that can be told from another. Ours.
const FEWEST_STEMS: usize = 8;

fn stems(text: &str) -> BTreeSet<String> {
    content_stems(text).into_iter().collect()
}

#[expect(clippy::cast_precision_loss, reason = "texts have far fewer than 2^23 words")]
fn jaccard(a: &BTreeSet<String>, b: &BTreeSet<String>) -> f32 {
    let shared = a.intersection(b).count();
    let all = a.len() + b.len() - shared;
    if all == 0 { 0.0 } else { shared as f32 / all as f32 }
}

#[cfg(test)]
mod tests;
