//! Expert evaluation: what people said of two systems' answers, and what follows from it.
//!
//! [`Record`] is one submission as it is exported; [`summary()`] turns records into means, preferences, agreement and
//! the analysis by length. An annotator's latest record for an instance counts, and instances are drawn, not records:
//! several judgements of one answer are not independent.
//!
//! [`reviews`] has the same for reports on research plans, of which each annotator sees one system's.
//!
//! Source: the paper's expert evaluation; the reference code's `compute_metrics.py`, whose definitions are in
//! [`summary::Upstream`]. Systems are told apart by their whole names: the reference counts winners by parts of names,
//! so that `OS` wins what `OS-GPT4o` won.

pub mod length;
pub mod reviews;
pub mod spreadsheet;
pub mod summary;

use serde::{Deserialize, Serialize};

pub use summary::{Summary, summary};

/// Schema identifier that [`Record::schema`] must hold.
pub const SCHEMA: &str = "openscholar.expert-evaluation/1";

/// One submission of one annotator for one instance.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// Always [`SCHEMA`]; [`read_records`] refuses anything else.
    pub schema: String,
    /// Identifier of the instance within the study.
    pub instance: String,
    /// The question that both answers are about.
    pub question: String,
    /// Name of the annotator.
    pub annotator: String,
    /// 1 for the annotator's first submission for this instance, then 2 …
    pub version: u32,
    /// Whether it is the annotator's last one for this instance.
    pub latest: bool,
    /// When the annotator's first entry was saved, UTC.
    pub started: String,
    /// When it was submitted, UTC.
    pub submitted: String,
    /// The answers as shown: A, then B.
    pub answers: [Rated; 2],
    /// Which is better, as shown; `None` when the question was passed over.
    pub preference: Option<Shown>,
    /// Reasons in the annotator's words; may be empty.
    #[serde(default)]
    pub explanation: String,
    /// Of the question: `good`, `bad`, `hard`.
    #[serde(default)]
    pub quality: Option<String>,
    /// Remarks on the question in the annotator's words; may be empty.
    #[serde(default)]
    pub comment: String,
}

/// An answer and its scores.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rated {
    /// Name of the system.
    pub system: String,
    /// Words of the answer without citations.
    pub words: usize,
    /// Number of references that the answer cites.
    pub citations: usize,
    /// `None` when the question was passed over.
    pub scores: Option<Scores>,
}

/// Scores from 1 to 5.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scores {
    /// Structure and coherence, 1 to 5.
    pub organization: u8,
    /// How much of the field, and how deep, 1 to 5.
    pub coverage: u8,
    /// Staying with the question, 1 to 5.
    pub relevance: u8,
    /// Whether one would work with it; 4 and 5 are useful, 3 is neutral.
    pub usefulness: u8,
}

impl Scores {
    /// Names of the aspects, in order.
    pub const ASPECTS: [&'static str; 4] = ["organization", "coverage", "relevance", "usefulness"];

    /// The scores in the order of [`Self::ASPECTS`].
    pub fn all(self) -> [u8; 4] {
        [self.organization, self.coverage, self.relevance, self.usefulness]
    }

    /// From scores in that order.
    pub fn new([organization, coverage, relevance, usefulness]: [u8; 4]) -> Self {
        Self { organization, coverage, relevance, usefulness }
    }
}

/// Which answer is better, by where it was shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shown {
    /// The left or upper one.
    A,
    /// Neither answer is better.
    Tie,
    /// The right or lower one.
    B,
}

/// Reads exported records.
///
/// # Errors
/// Names the line and what is wrong with it.
pub fn read_records(text: &str) -> Result<Vec<Record>, String> {
    let mut records = Vec::new();
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let record: Record =
            serde_json::from_str(line).map_err(|error| format!("line {}: {error}", at + 1))?;
        check(&record).map_err(|error| format!("line {}: {error}", at + 1))?;
        records.push(record);
    }
    Ok(records)
}

fn check(record: &Record) -> Result<(), String> {
    if record.schema != SCHEMA {
        return Err(format!("schema is {:?}, not {SCHEMA:?}", record.schema));
    }
    let [a, b] = &record.answers;
    if a.system == b.system {
        return Err(format!("both answers are by {:?}", a.system));
    }
    let rated = [a.scores.is_some(), b.scores.is_some(), record.preference.is_some()];
    if rated.iter().any(|one| *one != rated[0]) {
        return Err("scores and preference are all there or none is".to_owned());
    }
    let scores = [a, b].into_iter().filter_map(|one| one.scores).flat_map(Scores::all);
    match scores.into_iter().find(|score| !(1..=5).contains(score)) {
        Some(score) => Err(format!("{score} is not a score from 1 to 5")),
        None => Ok(()),
    }
}
