//! Rows for sentence classifiers: sentences of a paper in order, some with a role, some with whether they answer a question.
//!
//! What each source gives is said in its module; every row goes through one door, [`Maker::add`]. Three splits: what is
//! measured on (`test`) is later or judged elsewhere, and no paper or question of it is in the other two; the rest is
//! split by paper into training and development.

mod claims;
mod labels;
mod nlp;
mod questions;
mod structured;
mod trials;

use std::collections::{HashMap, HashSet};

use scholar_core::SentenceRole;
use scholar_core::random::SplitMix64;
use serde::{Deserialize, Serialize};

use super::duplicates::Duplicates;
use super::error::DataError;
use super::evaluation::Evaluation;
use super::ledger::Ledger;
use super::source::{Source, SourceName};
use super::split::{Settings, Splits};
use super::wording::{hash, key};

pub use labels::{cue_role, label_role};

/// Fewer words are no sentence.
const MIN_WORDS: usize = 4;

/// More words are several sentences that ran together.
const MAX_WORDS: usize = 120;

/// Sentences of one kind of row at most: what people labelled, and what rules made.
const LABELLED_SENTENCES: usize = 10_000;
const RULE_SENTENCES: usize = 3_500;

/// A sentence with what is known of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LabelledSentence {
    /// The sentence, without the label of a structured abstract.
    pub text: String,
    /// That label, or the heading of the section; empty where there is none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub section: String,
    /// Whether text is missing between this sentence and the one before it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub apart: bool,
    /// Whether it answers the row's question; absent where nobody knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answers: Option<bool>,
    /// Its role; absent where nobody knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<SentenceRole>,
}

impl LabelledSentence {
    fn new(text: String) -> Self {
        Self { text, section: String::new(), apart: false, answers: None, role: None }
    }
}

/// Sentences of one paper, in order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SentenceRow {
    /// What is asked; empty where only roles are known.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub question: String,
    /// Name of the paper in its collection.
    pub paper: String,
    /// Title of the paper; empty where it is unknown or would give the answer away.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// Whether these are sentences of the abstract.
    pub in_abstract: bool,
    /// Whether they are the whole passage, so that places in it mean something.
    pub whole: bool,
    /// The sentences.
    pub sentences: Vec<LabelledSentence>,
    /// Collection and kind, `bioasq` or `bioasq, other paper`.
    pub source: String,
}

impl SentenceRow {
    /// Why the row cannot be used, if so.
    ///
    /// # Errors
    /// What is missing, in words.
    pub fn check(&self) -> Result<(), String> {
        if self.sentences.is_empty() {
            return Err("there is no sentence".to_owned());
        }
        if self.sentences.iter().any(|one| one.text.trim().is_empty()) {
            return Err("a sentence is empty".to_owned());
        }
        let is_asked = !self.question.trim().is_empty();
        if !is_asked && self.sentences.iter().any(|one| one.answers.is_some()) {
            return Err("a sentence answers and nothing is asked".to_owned());
        }
        let known = |one: &LabelledSentence| one.answers.is_some() || one.role.is_some();
        self.sentences.iter().any(known).then_some(()).ok_or_else(|| "nothing is known".to_owned())
    }
}

/// The three splits of sentence rows.
#[derive(Debug, Clone, PartialEq)]
pub struct SentenceSplits {
    /// For training and development.
    pub splits: Splits<SentenceRow>,
    /// For measuring.
    pub test: Vec<SentenceRow>,
}

/// Makes rows of `sources` without anything of `evaluation` in training and development.
///
/// # Errors
/// When a source cannot be read, or nothing is kept.
pub fn sentence_rows(
    sources: &[Source],
    evaluation: &Evaluation,
    settings: &Settings,
) -> Result<SentenceSplits, DataError> {
    let mut maker = Maker::new(evaluation, settings);
    for source in sources {
        maker.random = SplitMix64::stream(settings.seed, hash([source.name.name()]));
        match source.name {
            SourceName::Scifact => claims::scifact(source, &mut maker)?,
            SourceName::Bioasq => questions::bioasq(source, &mut maker)?,
            SourceName::Pubmedqa => questions::pubmedqa(source, &mut maker)?,
            SourceName::Evinf => trials::comparisons(source, &mut maker)?,
            SourceName::Pmc => structured::full_texts(source, &mut maker)?,
            SourceName::Openalex => structured::abstracts(source, &mut maker)?,
            SourceName::Acl | SourceName::Arxiv => nlp::papers(source, &mut maker)?,
            // Claims of other papers and what is made of these collections already.
            SourceName::Citint | SourceName::Clscisumm | SourceName::Starter => {}
        }
    }
    maker.finish()
}

/// Whether sentence rows are made of a source.
pub fn has_sentences(source: SourceName) -> bool {
    !matches!(source, SourceName::Citint | SourceName::Clscisumm | SourceName::Starter)
}

/// Whether a paper is kept for tests of roles: every twentieth, by its name.
pub fn is_reserved(paper: &str) -> bool {
    hash([paper]).is_multiple_of(20)
}

/// What a row is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Use {
    Train,
    Test,
}

struct Maker<'a> {
    evaluation: &'a Evaluation,
    settings: &'a Settings,
    random: SplitMix64,
    ledger: Ledger,
    rows: Vec<SentenceRow>,
    test: Vec<SentenceRow>,
}

impl<'a> Maker<'a> {
    fn new(evaluation: &'a Evaluation, settings: &'a Settings) -> Self {
        Self {
            evaluation,
            settings,
            random: SplitMix64::new(settings.seed),
            ledger: Ledger::default(),
            rows: Vec::new(),
            test: Vec::new(),
        }
    }

    /// The one door: a row for training is checked when all test rows are known, in [`Maker::finish`].
    fn add(&mut self, r#use: Use, mut row: SentenceRow) {
        let fits = |one: &LabelledSentence| {
            (MIN_WORDS..=MAX_WORDS).contains(&one.text.split_whitespace().count())
        };
        for one in &mut row.sentences {
            if !fits(one) {
                (one.answers, one.role) = (None, None);
            }
        }
        match (row.check(), r#use) {
            (Err(_), _) => self.reject(&row, "nothing is known of its sentences"),
            (Ok(()), Use::Train) => self.rows.push(row),
            (Ok(()), Use::Test) => self.test.push(row),
        }
    }

    fn reject(&mut self, row: &SentenceRow, rule: &str) {
        let text = if row.question.is_empty() { &row.title } else { &row.question };
        self.ledger.reject(source_of(row), rule, text);
    }

    fn finish(mut self) -> Result<SentenceSplits, DataError> {
        let tested: HashSet<String> = self.test.iter().map(|row| row.paper.clone()).collect();
        let mut questions = Duplicates::default();
        for row in self.test.iter().filter(|row| !row.question.is_empty()) {
            questions.is_repeated(&row.question);
        }
        let mut verdicts: HashMap<String, Option<&'static str>> = HashMap::new();
        let mut kept = Vec::new();
        for row in std::mem::take(&mut self.rows) {
            let asked = match row.question.as_str() {
                "" => None,
                question => *verdicts
                    .entry(key(question))
                    .or_insert_with(|| self.objection(question, &mut questions)),
            };
            let rule = asked.or_else(|| self.paper_objection(&row, &tested));
            match rule {
                Some(rule) => self.reject(&row, rule),
                None => kept.push(row),
            }
        }
        let mut kept = self.thinned(kept);
        SplitMix64::new(self.settings.seed).shuffle(&mut kept);
        let splits = Splits::split(kept, self.ledger, self.settings)?;
        Ok(SentenceSplits { splits, test: self.test })
    }

    /// As many rows of each kind as are wanted: those of the papers with the smallest hashes, so that another source moves no
    /// row of this one.
    fn thinned(&mut self, mut rows: Vec<SentenceRow>) -> Vec<(String, SentenceRow)> {
        rows.sort_by_cached_key(|row| hash([row.paper.as_str()]));
        let mut sizes: HashMap<String, usize> = HashMap::new();
        let mut kept = Vec::new();
        for row in rows {
            let is_labelled = ![SourceName::Acl, SourceName::Arxiv]
                .iter()
                .any(|source| source.name() == source_of(&row));
            let limit = if is_labelled { LABELLED_SENTENCES } else { RULE_SENTENCES };
            let size = sizes.entry(row.source.clone()).or_default();
            if *size >= limit {
                self.reject(&row, "more of this kind than wanted");
                continue;
            }
            *size += row.sentences.len();
            let is_asked = row.sentences.iter().any(|one| one.answers.is_some());
            let kind = if is_asked { row.source.as_str() } else { "roles" };
            self.ledger.keep(source_of(&row), kind);
            kept.push((row.paper.clone(), row));
        }
        kept
    }

    fn objection(&self, question: &str, asked: &mut Duplicates) -> Option<&'static str> {
        match self.evaluation.query(question) {
            Some(conflict) => Some(conflict.rule()),
            None => asked.is_repeated(question).then_some("near-duplicate question"),
        }
    }

    fn paper_objection(&self, row: &SentenceRow, tested: &HashSet<String>) -> Option<&'static str> {
        if tested.contains(&row.paper) {
            return Some("paper of the test split");
        }
        if !row.title.is_empty() && self.evaluation.paper(&row.title) {
            return Some("evaluation: judged paper");
        }
        let repeats = row.sentences.iter().any(|one| self.evaluation.passage(&one.text));
        repeats.then_some("evaluation: a sentence has 13 words of a query in a row")
    }
}

/// The collection of a row.
fn source_of(row: &SentenceRow) -> &str {
    row.source.split(',').next().unwrap_or_default()
}

#[cfg(test)]
mod tests;
