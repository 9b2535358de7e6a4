//! Listed papers that do not exist: what systems without retrieval make up.
//!
//! Steps: read the papers an answer lists ([`ListedAnswer::read`]); look each title up ([`TitleLookup`], over datastore
//! and sources [`lookup::PortLookup`], once for each title [`memory::RememberedLookup`]); a paper exists if a title found
//! is the same up to small differences ([`same_title`]). A lookup that fails says nothing: such a reference is counted
//! apart. Abstracts of the papers found are what citations of answers without passages are judged by.
//!
//! Source: the paper's table 3; the threshold is its code's.

mod list;
pub mod lookup;
pub mod memory;

use std::collections::BTreeMap;

use async_trait::async_trait;
use scholar_core::PortError;
use serde::{Deserialize, Serialize};

use super::Column;
use crate::statistics::{self, Estimate};

pub use list::{Listed, ListedAnswer};

/// Similarity above which two titles are one. Source: the reference code.
const SAME_TITLE: f64 = 0.95;
/// Titles looked at per lookup. Source: the reference code.
pub const CANDIDATES: usize = 5;

/// Finds papers by title.
#[async_trait]
pub trait TitleLookup: Send + Sync {
    /// Who looks, for reports.
    fn name(&self) -> &str;

    /// The paper called `title` up to small differences ([`same_title`]), with its abstract if anybody has it.
    ///
    /// # Errors
    /// When nobody who answered has the paper, or its abstract, and somebody could not be asked.
    async fn find(&self, title: &str) -> Result<Option<FoundPaper>, PortError>;
}

/// A paper found by its title.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FoundPaper {
    /// Its title as it is known there.
    pub title: String,
    /// Its abstract; `None` where nobody who was asked has one.
    #[serde(rename = "abstract", default, skip_serializing_if = "Option::is_none")]
    pub abstract_text: Option<String>,
    /// Where it was found: a datastore or a source.
    pub place: String,
}

/// Whether a listed paper exists.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Existence {
    /// A paper of this title was found.
    Exists(FoundPaper),
    /// Nothing like it was found.
    Invented,
    /// The lookup failed; why.
    Unknown(String),
}

/// The papers that one answer lists.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListedPapers {
    /// Each entry with what was found.
    pub papers: Vec<(Listed, Existence)>,
}

/// Table 3 of the paper for one system.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Hallucination {
    /// Papers listed per answer.
    pub listed: Option<Estimate>,
    /// Of them, those that do not exist.
    pub invented: Option<Estimate>,
    /// Invented of those that could be looked up, over all answers; `None` when nothing was listed.
    pub ratio: Option<Estimate>,
    /// Answers whose lists were looked up, empty ones included.
    pub n: usize,
    /// Listed papers that could not be looked up, by reason.
    pub unknown: BTreeMap<String, usize>,
    /// Over all answers together; absent in scores of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub totals: Option<ListedTotals>,
}

impl std::fmt::Display for ListedTotals {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { listed, found, with_abstract, looked_up_in } = self;
        write!(
            f,
            "{listed} papers listed, {found} found, {with_abstract} with an abstract; looked up in {looked_up_in}"
        )
    }
}

/// What became of all listed papers of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListedTotals {
    /// Entries of all lists.
    pub listed: usize,
    /// Of them, papers that were found.
    pub found: usize,
    /// Of these, papers whose abstract is known.
    pub with_abstract: usize,
    /// Names of the sources that were asked.
    pub looked_up_in: String,
}

/// Looks the listed papers up, one after the other, each title until one is found.
///
/// A failed lookup makes a paper unknown only if no other title of it is found.
pub async fn look_up(listed: Vec<Listed>, lookup: &dyn TitleLookup) -> ListedPapers {
    let mut papers = Vec::with_capacity(listed.len());
    for one in listed {
        let mut existence = Existence::Invented;
        for title in &one.titles {
            match lookup.find(title).await {
                Ok(Some(found)) => {
                    existence = Existence::Exists(found);
                    break;
                }
                Ok(None) => {}
                Err(error) => existence = Existence::Unknown(error.to_string()),
            }
        }
        papers.push((one, existence));
    }
    ListedPapers { papers }
}

/// Whether two titles are one: trigram similarity above 0.95 of the lower-cased titles.
pub fn same_title(a: &str, b: &str) -> bool {
    trigram_similarity(a, b) > SAME_TITLE
}

/// Shared trigrams of all trigrams, each title lower-cased and with a blank at both ends; repeated trigrams count as
/// often as they occur. 0 when either has none.
pub fn trigram_similarity(a: &str, b: &str) -> f64 {
    let trigrams = |text: &str| -> Vec<[char; 3]> {
        let padded: Vec<char> = format!(" {} ", text.trim().to_lowercase()).chars().collect();
        padded.windows(3).map(|window| [window[0], window[1], window[2]]).collect()
    };
    let (a, b) = (trigrams(a), trigrams(b));
    if a.is_empty() || b.is_empty() {
        return 0.0;
    }
    let shared = super::text::overlap::shared(&a, &b);
    statistics::ratio(shared, a.len() + b.len() - shared)
}

impl ListedPapers {
    fn count(&self, which: impl Fn(&Existence) -> bool) -> usize {
        self.papers.iter().filter(|(_, existence)| which(existence)).count()
    }

    /// Papers that do not exist.
    pub fn invented(&self) -> usize {
        self.count(|existence| *existence == Existence::Invented)
    }

    /// Papers that could be looked up.
    pub fn known(&self) -> usize {
        self.count(|existence| !matches!(existence, Existence::Unknown(_)))
    }

    /// Number of listed papers that exist.
    pub fn found(&self) -> usize {
        self.count(|existence| matches!(existence, Existence::Exists(_)))
    }

    /// Papers that exist and whose abstract is known.
    pub fn with_abstract(&self) -> usize {
        self.count(|existence| matches!(existence, Existence::Exists(paper) if paper.abstract_text.is_some()))
    }
}

/// The share of invented papers per answer; answers that list none are left out.
pub fn column(answers: &[(&str, &ListedPapers)]) -> Column {
    let mut column = Column::new("invented references");
    for (item, answer) in answers {
        match answer.known() {
            0 if answer.papers.is_empty() => column.leave_out(*item, "lists no papers"),
            0 => column.leave_out(*item, "no listed paper could be looked up"),
            known => column.push(*item, statistics::ratio(answer.invented(), known)),
        }
    }
    column
}

/// The row of the paper's table 3; `asked` is who was asked.
pub fn table(answers: &[&ListedPapers], asked: &str, seed: u64) -> Hallucination {
    let numbers = |count: fn(&ListedPapers) -> usize| -> Vec<f64> {
        answers.iter().map(|&answer| statistics::ratio(count(answer), 1)).collect()
    };
    let invented = numbers(ListedPapers::invented);
    let known = numbers(ListedPapers::known);
    let pairs: Vec<(f64, f64)> = invented.iter().copied().zip(known).collect();
    let mut unknown: BTreeMap<String, usize> = BTreeMap::new();
    for (_, existence) in answers.iter().flat_map(|answer| &answer.papers) {
        if let Existence::Unknown(why) = existence {
            *unknown.entry(why.clone()).or_default() += 1;
        }
    }
    Hallucination {
        listed: statistics::estimate(&numbers(|answer| answer.papers.len()), seed),
        invented: statistics::estimate(&invented, seed),
        ratio: statistics::estimate_by(&pairs, seed, statistics::ratio_of_means),
        n: answers.len(),
        unknown,
        totals: Some(ListedTotals {
            listed: answers.iter().map(|answer| answer.papers.len()).sum(),
            found: answers.iter().map(|answer| answer.found()).sum(),
            with_abstract: answers.iter().map(|answer| answer.with_abstract()).sum(),
            looked_up_in: asked.to_owned(),
        }),
    }
}

#[cfg(test)]
mod tests;
