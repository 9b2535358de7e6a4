//! The conditions of a request.

use std::collections::BTreeSet;

use jiff::civil::Date;
use scholar_core::licence::licence_key;
use scholar_core::text::normalise::title_key;
use scholar_core::{PaperId, SearchFilter};
use serde::Deserialize;
use utoipa::ToSchema;

/// What an entry of a list takes in memory beside its text.
const ENTRY_BYTES: usize = 64;

/// Conditions on papers; all must hold, and an unknown value of a paper fails the condition on it, unless `include_unknown`.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[schema(as = SearchFilter)]
#[serde(deny_unknown_fields, default)]
pub(super) struct FilterBody {
    /// Strictly before this day; a paper with only a year counts as published on its 31 December.
    #[schema(value_type = Option<String>, format = Date)]
    published_before: Option<Date>,
    /// The first year.
    year_from: Option<i16>,
    /// The last year.
    year_to: Option<i16>,
    /// The venue must contain one of these, in any case.
    venues: Vec<String>,
    /// Fewest citations.
    min_citations: Option<u32>,
    /// Names of licences, with or without a version.
    licences: BTreeSet<String>,
    /// Whether a paper of which a value is unknown meets the condition on it.
    include_unknown: bool,
    /// Refuses papers known as retracted.
    without_retracted: bool,
    /// The only papers that may come back.
    #[schema(value_type = Option<Vec<String>>)]
    papers: Option<BTreeSet<PaperId>>,
    /// Papers that never come back.
    #[schema(value_type = Vec<String>)]
    exclude: BTreeSet<PaperId>,
    /// The same by whole titles, in any case and punctuation.
    exclude_titles: BTreeSet<String>,
}

impl From<FilterBody> for SearchFilter {
    fn from(body: FilterBody) -> Self {
        let FilterBody {
            published_before,
            year_from,
            year_to,
            venues,
            min_citations,
            licences,
            include_unknown,
            without_retracted,
            papers,
            exclude,
            exclude_titles,
        } = body;
        Self {
            published_before,
            year_from,
            year_to,
            venues,
            min_citations,
            licences: licences.iter().map(|licence| licence_key(licence)).collect(),
            include_unknown,
            without_retracted,
            papers,
            exclude,
            exclude_titles: exclude_titles.iter().map(|title| title_key(title)).collect(),
        }
    }
}

impl FilterBody {
    /// About what a copy takes in memory.
    pub(super) fn bytes(&self) -> usize {
        let texts = self.venues.iter().chain(&self.licences).chain(&self.exclude_titles);
        let papers = self.papers.iter().flatten().chain(&self.exclude);
        let lengths = texts.map(String::len).chain(papers.map(|paper| paper.to_string().len()));
        lengths.map(|length| length + ENTRY_BYTES).sum()
    }
}
