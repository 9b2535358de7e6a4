//! What a search may return.

use std::collections::BTreeSet;

use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use crate::ids::PaperId;
use crate::licence::{is_licence, licence_key};
use crate::paper::{PaperMeta, Retraction};
use crate::text::normalise::title_key;

/// Conditions on the paper of every returned passage; all must hold. An unknown value fails its condition, unless
/// [`SearchFilter::include_unknown`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SearchFilter {
    /// Strictly before this day. A paper with only a year counts as published on its 31 December.
    pub published_before: Option<Date>,
    /// First accepted year of publication, inclusive.
    pub year_from: Option<i16>,
    /// Last accepted year of publication, inclusive.
    pub year_to: Option<i16>,
    /// Accepted venues; one of them must be contained in the paper's venue, ignoring case. Empty accepts all.
    pub venues: Vec<String>,
    /// Fewest citations; a paper whose count is unknown does not pass.
    pub min_citations: Option<u32>,
    /// Accepted licences, as [`licence_key`] makes them; without a version they accept every version. Empty accepts all.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub licences: BTreeSet<String>,
    /// Whether a paper of which date, year, venue, citations or licence are unknown meets the conditions on them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub include_unknown: bool,
    /// Refuses papers known as retracted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub without_retracted: bool,
    /// The only papers accepted.
    pub papers: Option<BTreeSet<PaperId>>,
    /// Papers never accepted, for example the one under evaluation.
    pub exclude: BTreeSet<PaperId>,
    /// Titles of papers never accepted, folded by [`title_key`]: the same paper under an identifier nobody named.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub exclude_titles: BTreeSet<String>,
}

impl SearchFilter {
    /// A filter that every paper passes.
    pub fn none() -> Self {
        Self {
            published_before: None,
            year_from: None,
            year_to: None,
            venues: Vec::new(),
            min_citations: None,
            licences: BTreeSet::new(),
            include_unknown: false,
            without_retracted: false,
            papers: None,
            exclude: BTreeSet::new(),
            exclude_titles: BTreeSet::new(),
        }
    }

    /// Whether nothing is excluded.
    pub fn is_none(&self) -> bool {
        *self == Self::none()
    }

    /// Whether `paper` may be returned. Identifiers are compared with all of the paper's.
    pub fn accepts(&self, paper: &PaperMeta) -> bool {
        let Self {
            published_before,
            year_from,
            year_to,
            venues,
            min_citations,
            licences,
            include_unknown: unknown,
            without_retracted,
            papers,
            exclude,
            exclude_titles,
        } = self;
        let year = paper.year.or_else(|| paper.published.map(Date::year));
        let mut ids = paper.ids();
        let unknown = *unknown;
        let within =
            |known: Option<i16>, is_met: &dyn Fn(i16) -> bool| known.map_or(unknown, is_met);
        published_before.is_none_or(|cutoff| paper.latest_day().map_or(unknown, |day| day < cutoff))
            && year_from.is_none_or(|from| within(year, &|year| year >= from))
            && year_to.is_none_or(|to| within(year, &|year| year <= to))
            && min_citations.is_none_or(|min| paper.citation_count.map_or(unknown, |n| n >= min))
            && (licences.is_empty()
                || paper.licence.as_ref().map_or(unknown, |it| is_any_licence(it, licences)))
            && !(*without_retracted && paper.retraction == Retraction::Retracted)
            && (venues.is_empty()
                || paper.venue.as_ref().map_or(unknown, |venue| contains_any(venue, venues)))
            && papers.as_ref().is_none_or(|set| ids.clone().any(|id| set.contains(id)))
            && !ids.any(|id| exclude.contains(id))
            && (exclude_titles.is_empty() || !exclude_titles.contains(&title_key(&paper.title)))
    }
}

impl SearchFilter {
    /// Whether `paper` is left out only because something that the filter asks is not known of it.
    pub fn leaves_out_unknown(&self, paper: &PaperMeta) -> bool {
        !self.include_unknown
            && !self.accepts(paper)
            && Self { include_unknown: true, ..self.clone() }.accepts(paper)
    }

    /// The conditions as people read them: `published 2019 or later, venue ACL`; empty without any.
    pub fn describe(&self) -> String {
        let mut parts: Vec<String> = Vec::new();
        parts.extend(self.published_before.map(|day| format!("published before {day}")));
        parts.extend(self.year_from.map(|year| format!("published {year} or later")));
        parts.extend(self.year_to.map(|year| format!("published {year} or earlier")));
        if !self.venues.is_empty() {
            parts.push(format!("venue {}", self.venues.join(" or ")));
        }
        parts.extend(self.min_citations.map(|min| format!("cited {min} times or more")));
        if !self.licences.is_empty() {
            let names: Vec<&str> = self.licences.iter().map(String::as_str).collect();
            parts.push(format!("licence {}", names.join(" or ")));
        }
        if self.without_retracted {
            parts.push("not retracted".to_owned());
        }
        parts.extend(self.papers.as_ref().map(|papers| format!("{} named papers", papers.len())));
        let excluded = self.exclude.len() + self.exclude_titles.len();
        if excluded > 0 {
            parts.push(format!("without {excluded} named papers"));
        }
        parts.join(", ")
    }
}

/// Whether `licence`, as a source wrote it, is one of `wanted`, which are keys.
pub fn is_any_licence(licence: &str, wanted: &BTreeSet<String>) -> bool {
    let key = licence_key(licence);
    wanted.iter().any(|wanted| is_licence(&key, wanted))
}

fn contains_any(venue: &str, wanted: &[String]) -> bool {
    let venue = venue.to_lowercase();
    wanted.iter().any(|name| venue.contains(&name.to_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cutoff_is_strict_and_unknown_values_fail() {
        let mut paper = PaperMeta::new(PaperId::Pmid(1), "t");
        let cutoff = SearchFilter {
            published_before: Some(Date::constant(2020, 6, 1)),
            ..SearchFilter::none()
        };
        assert!(!cutoff.accepts(&paper), "unknown date");
        paper.year = Some(2020);
        assert!(!cutoff.accepts(&paper), "the year alone may reach past the cutoff");
        paper.published = Some(Date::constant(2020, 6, 1));
        assert!(!cutoff.accepts(&paper), "the day itself");
        paper.published = Some(Date::constant(2020, 5, 31));
        assert!(cutoff.accepts(&paper));
        let open = SearchFilter {
            licences: BTreeSet::from([licence_key("CC BY")]),
            ..SearchFilter::none()
        };
        assert!(!open.accepts(&paper), "unknown licence");
        paper.licence = Some("CC BY 4.0".to_owned());
        assert!(open.accepts(&paper));
        let sound = SearchFilter { without_retracted: true, ..SearchFilter::none() };
        assert!(sound.accepts(&paper), "nothing speaks against it");
        paper.retraction = Retraction::Retracted;
        assert!(!sound.accepts(&paper));
        let cited = SearchFilter { min_citations: Some(0), ..SearchFilter::none() };
        assert!(!cited.accepts(&paper), "unknown count");
        assert!(cited.leaves_out_unknown(&paper));
        let lenient = SearchFilter { include_unknown: true, ..cited };
        assert!(lenient.accepts(&paper) && !lenient.leaves_out_unknown(&paper));
        paper.citation_count = Some(3);
        let many = SearchFilter { min_citations: Some(9), include_unknown: true, ..lenient };
        assert!(!many.accepts(&paper), "a known count counts");
        assert_eq!(many.describe(), "cited 9 times or more");
    }
}
