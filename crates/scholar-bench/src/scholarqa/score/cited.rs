//! The passages by which an answer's citations are judged: those it was shown, or the abstracts of the papers it lists.
//!
//! Source: the paper, §4: baselines without retrieval list papers, their titles are looked up, and the abstracts of those
//! that exist become the passages. A citation of a paper that was not found, or of which there is no abstract, supports
//! nothing.

use std::collections::{BTreeMap, BTreeSet};

use crate::metrics::citation::{Citable, ShownPassage};
use crate::metrics::hallucination::{Existence, ListedAnswer, ListedPapers};
use crate::scholarqa::item::Item;
use crate::scholarqa::prediction::Prediction;

/// Why answers without passages have no citation score where titles cannot be looked up.
pub(super) const NOT_LOOKED_UP: &str = "the papers it lists were not looked up";
/// The same where a lookup failed.
const FAILED: &str = "not every paper it lists could be looked up";

/// Whose passages the answers of a run cite.
#[derive(Debug, Clone, Copy)]
pub(super) struct PassageSource {
    /// An answer without passages lists papers.
    lists: bool,
    /// Somebody looks titles up.
    lookup: bool,
}

/// What citations of an answer are judged by.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct CitedPassages {
    /// The answer, without its list of papers if it is judged by that list.
    pub(super) text: String,
    /// The passages by place; those at places that nobody can cite are empty.
    pub(super) passages: Vec<ShownPassage>,
    /// The places of a list's papers; `None`: all of `passages`.
    listed: Option<BTreeSet<usize>>,
}

impl CitedPassages {
    /// The places that a citation may point to.
    pub(super) fn citable(&self) -> Citable<'_> {
        self.listed.as_ref().map_or(Citable::Shown(self.passages.len()), Citable::Listed)
    }
}

impl PassageSource {
    /// Of the answers in `pairs`; `lookup` says whether titles are looked up.
    pub(super) fn of(pairs: &[(&Item, Result<&Prediction, String>)], lookup: bool) -> Self {
        let lists =
            pairs.iter().filter_map(|(_, one)| one.as_ref().ok()).any(|one| lists_papers(one));
        Self { lists, lookup }
    }

    /// What citations of `prediction` are judged by; `Err` says why nobody can tell.
    ///
    /// All answers without passages go the same way, so that those without a list are not the only ones scored.
    pub(super) fn of_answer(
        self,
        prediction: &Prediction,
        listed: Option<&ListedPapers>,
    ) -> Result<CitedPassages, String> {
        let shown = prediction.shown_ctxs();
        if !shown.is_empty() || !self.lists {
            let passages = shown.iter().map(|context| ShownPassage {
                title: (!context.title.is_empty()).then(|| context.title.clone()),
                text: context.text.clone(),
            });
            let text = prediction.output.clone();
            return Ok(CitedPassages { text, passages: passages.collect(), listed: None });
        }
        if !self.lookup {
            return Err(NOT_LOOKED_UP.to_owned());
        }
        let none = ListedPapers { papers: Vec::new() };
        let abstracts = abstracts(listed.unwrap_or(&none))?;
        let text = ListedAnswer::read(&prediction.output).text;
        let len = abstracts.last_key_value().map_or(0, |(number, _)| number + 1);
        let mut passages = vec![ShownPassage { title: None, text: String::new() }; len];
        let places = abstracts.keys().copied().collect();
        for (number, passage) in abstracts {
            passages[number] = passage;
        }
        Ok(CitedPassages { text, passages, listed: Some(places) })
    }
}

/// Whether an answer has papers of its own instead of passages.
pub fn lists_papers(prediction: &Prediction) -> bool {
    prediction.shown_ctxs().is_empty() && !ListedAnswer::read(&prediction.output).papers.is_empty()
}

/// The abstracts of the papers found, by the numbers that the answer gave them; of equal numbers the first counts.
fn abstracts(listed: &ListedPapers) -> Result<BTreeMap<usize, ShownPassage>, String> {
    let mut abstracts = BTreeMap::new();
    for (entry, existence) in &listed.papers {
        match (existence, entry.number) {
            (Existence::Unknown(_), _) => return Err(FAILED.to_owned()),
            (Existence::Exists(paper), Some(number)) => {
                let Some(text) = paper.abstract_text.clone() else { continue };
                let passage = ShownPassage { title: Some(paper.title.clone()), text };
                abstracts.entry(number).or_insert(passage);
            }
            (Existence::Exists(_), None) | (Existence::Invented, _) => {}
        }
    }
    Ok(abstracts)
}
