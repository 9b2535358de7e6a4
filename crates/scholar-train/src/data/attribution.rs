//! Rows for attributors: statements beside evidence that supports them, contradicts them or decides nothing.
//!
//! What each source gives is said in its module; every row goes through one door, [`Maker::add`], which holds the
//! rules. Rows of one document or question carry one group, and a group is wholly in the training or wholly in the
//! development split.

mod citing;
pub(super) mod claims;
mod conclusions;
mod questions;
mod trials;

use std::collections::{BTreeMap, HashMap, HashSet};

use scholar_core::random::SplitMix64;

use super::duplicates::Duplicates;
use super::error::DataError;
use super::evaluation::Evaluation;
use super::ledger::Ledger;
use super::rows::{AttributionRow, EvidenceLabel};
use super::source::{Source, SourceName};
use super::split::{Settings, Splits};
use super::wording::{first_words, hash, key, tokens};

/// Longest evidence in words. Ours: what a model of 512 tokens reads beside a statement.
const EVIDENCE_WORDS: usize = 220;

/// How often the title stands before a window where it is known: models see both.
const TITLE_SHARE: f64 = 0.5;

/// The commonest label may have so many times the rows of the rarest.
const BALANCE: f64 = 2.0;

/// Makes rows of `sources` without anything of `evaluation`.
///
/// # Errors
/// When a source cannot be read, or nothing is kept.
pub fn attribution_rows(
    sources: &[Source],
    evaluation: &Evaluation,
    settings: &Settings,
) -> Result<Splits<AttributionRow>, DataError> {
    let mut maker = Maker::new(evaluation, settings);
    for source in sources {
        maker.random = SplitMix64::stream(settings.seed, hash([source.name.name()]));
        match source.name {
            SourceName::Scifact => claims::scifact(source, &mut maker)?,
            SourceName::Citint => claims::citation_integrity(source, &mut maker)?,
            SourceName::Clscisumm => citing::summaries(source, &mut maker)?,
            SourceName::Bioasq => questions::bioasq(source, &mut maker)?,
            SourceName::Pubmedqa => questions::pubmedqa(source, &mut maker)?,
            SourceName::Evinf => trials::comparisons(source, &mut maker)?,
            SourceName::Pmc
            | SourceName::Openalex
            | SourceName::Acl
            | SourceName::Arxiv
            | SourceName::Starter => conclusions::papers(source, &mut maker)?,
        }
    }
    maker.finish()
}

/// A row before it is checked.
#[derive(Debug, Clone, Default)]
struct Draft<'a> {
    sentence: &'a str,
    evidence: &'a str,
    label: Option<EvidenceLabel>,
    /// Put before the evidence in half of the rows.
    title: &'a str,
    /// The sentences of the evidence and those that decide, where known.
    chosen: Option<(&'a [String], &'a [usize])>,
}

impl<'a> Draft<'a> {
    fn new(sentence: &'a str, evidence: &'a str, label: EvidenceLabel) -> Self {
        Self { sentence, evidence, label: Some(label), ..Self::default() }
    }

    fn titled(self, title: &'a str) -> Self {
        Self { title, ..self }
    }

    fn choosing(self, sentences: &'a [String], gold: &'a [usize]) -> Self {
        Self { chosen: Some((sentences, gold)), ..self }
    }
}

struct Maker<'a> {
    evaluation: &'a Evaluation,
    settings: &'a Settings,
    random: SplitMix64,
    ledger: Ledger,
    rows: Vec<(String, AttributionRow)>,
    seen: HashSet<u64>,
    windows: HashMap<u64, Duplicates>,
}

impl<'a> Maker<'a> {
    fn new(evaluation: &'a Evaluation, settings: &'a Settings) -> Self {
        Self {
            evaluation,
            settings,
            random: SplitMix64::new(settings.seed),
            ledger: Ledger::default(),
            rows: Vec::new(),
            seen: HashSet::new(),
            windows: HashMap::new(),
        }
    }

    fn chance(&mut self, probability: f64) -> bool {
        self.random.unit() < probability
    }

    /// From `low` to `high`, both included.
    fn between(&mut self, low: usize, high: usize) -> usize {
        low + self.random.below(high.saturating_sub(low) + 1)
    }

    /// The one door: checks a draft by every rule and keeps it or says why not.
    fn add(&mut self, source: SourceName, group: &str, draft: &Draft<'_>) {
        let Some(label) = draft.label else { return };
        let sentence = first_words(draft.sentence, usize::MAX);
        let text = first_words(draft.evidence, EVIDENCE_WORDS);
        if let Some(rule) = self.objection(&sentence, &text, label) {
            self.ledger.reject(source.name(), rule, &sentence);
            return;
        }
        let evidence = if !draft.title.is_empty() && self.chance(TITLE_SHARE) {
            format!("{} {text}", draft.title.trim())
        } else {
            text
        };
        let (sentences, gold) = match draft.chosen {
            Some((sentences, gold)) => (sentences.to_vec(), gold.to_vec()),
            None => (Vec::new(), Vec::new()),
        };
        let source = Some(source.name().to_owned());
        let row = AttributionRow { sentence, evidence, label, sentences, gold, source };
        self.rows.push((group.to_owned(), row));
    }

    fn objection(
        &mut self,
        sentence: &str,
        evidence: &str,
        label: EvidenceLabel,
    ) -> Option<&'static str> {
        if tokens(sentence).len() < 4 || tokens(evidence).len() < 5 {
            return Some("too short");
        }
        let (said, shown) = (key(sentence), key(evidence));
        if said == shown {
            return Some("statement is its own evidence");
        }
        if let Some(conflict) = self.evaluation.query(sentence) {
            return Some(conflict.rule());
        }
        if self.evaluation.passage(evidence) {
            return Some("evaluation: evidence has 13 words of a query in a row");
        }
        if !self.seen.insert(hash([said.as_str(), shown.as_str()])) {
            return Some("duplicate");
        }
        let windows = self.windows.entry(hash([said.as_str(), label.name()])).or_default();
        windows.is_repeated(evidence).then_some("near-duplicate evidence of one statement")
    }

    fn finish(mut self) -> Result<Splits<AttributionRow>, DataError> {
        let mut counts: BTreeMap<EvidenceLabel, usize> = BTreeMap::new();
        for (_, row) in &self.rows {
            *counts.entry(row.label).or_default() += 1;
        }
        let rarest = counts.values().copied().min().unwrap_or(0);
        let limit = (BALANCE * rarest as f64) as usize;
        let mut rows = std::mem::take(&mut self.rows);
        let mut order = SplitMix64::new(self.settings.seed);
        order.shuffle(&mut rows);
        // What people labelled stays before what rules made.
        rows.sort_by_key(|(_, row)| !is_labelled(row));
        let mut taken: BTreeMap<EvidenceLabel, usize> = BTreeMap::new();
        rows.retain(|(_, row)| {
            let source = row.source.as_deref().unwrap_or_default();
            let count = taken.entry(row.label).or_default();
            *count += 1;
            if counts.len() == EvidenceLabel::ALL.len() && *count > limit {
                self.ledger.reject(source, "balance of labels", &row.sentence);
                return false;
            }
            self.ledger.keep(source, row.label.name());
            true
        });
        order.shuffle(&mut rows);
        Splits::split(rows, self.ledger, self.settings)
    }
}

fn is_labelled(row: &AttributionRow) -> bool {
    let labelled =
        [SourceName::Scifact, SourceName::Citint, SourceName::Clscisumm, SourceName::Evinf];
    labelled.iter().any(|source| row.source.as_deref() == Some(source.name()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings() -> Settings {
        Settings { seed: 1, ..Settings::paper() }
    }

    #[test]
    fn the_door_has_a_rule_for_everything() {
        let mut evaluation = Evaluation::default();
        evaluation.add_query("Tea with milk prevents winter colds in adults.");
        let settings = settings();
        let mut maker = Maker::new(&evaluation, &settings);
        let evidence = "We gave tea to forty adults. Those with tea slept longer than the others.";
        let supports = EvidenceLabel::Supports;
        let mut add = |sentence: &str, evidence: &str| {
            maker.add(SourceName::Pmc, "g", &Draft::new(sentence, evidence, supports));
        };
        add("Tea lengthens the sleep of adults.", evidence);
        add("Tea lengthens the sleep of adults.", evidence);
        add("Tea helps.", evidence);
        add(evidence, evidence);
        add("Tea with milk prevents winter colds in older adults.", evidence);
        let removed = &maker.ledger.removed()["pmc"];
        for rule in [
            "duplicate",
            "too short",
            "statement is its own evidence",
            "evaluation: nearly the same words",
        ] {
            assert_eq!(removed.get(rule), Some(&1), "{rule}: {removed:?}");
        }
        assert_eq!(maker.rows.len(), 1);
    }
}
