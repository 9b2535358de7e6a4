//! Hard negatives, found by the search that the reranker will stand behind.

use std::collections::{BTreeSet, HashMap};
use std::fmt::Write as _;

use scholar_core::random::SplitMix64;
use scholar_core::{
    Generator, PaperId, Query, Retrieved, Retriever, SearchFilter, SearchMode, SearchRequest,
};

use super::super::error::DataError;
use super::super::ledger::Ledger;
use super::super::rows::RerankRow;
use super::super::split::{Settings, Splits};
use super::super::wording::hash;
use super::labels::{Relevance, Rules, graded_by};
use super::{Form, Plan, Pool, Prompt};

/// Which hits become negatives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MiningRules {
    /// Best hits of a search that are looked at.
    pub depth: usize,
    /// Negatives of a group; fewer where fewer are found.
    pub negatives: usize,
    /// Of these so many are the best hits; the others are drawn from the rest, which is what a first search shows.
    pub hardest: usize,
    /// A group with fewer negatives is left out.
    pub at_least: usize,
    /// Positives of a group; drawn where there are more.
    pub positives: usize,
    /// Which indexes are asked.
    pub mode: SearchMode,
}

impl MiningRules {
    /// One positive stands beside 15 negatives in a step. Source: OpenScholar's reranker training (group size 16).
    pub fn paper() -> Self {
        Self {
            depth: 50,
            negatives: 15,
            hardest: 8,
            at_least: 7,
            positives: 5,
            mode: SearchMode::Hybrid,
        }
    }
}

/// What decides whether a hit is a negative.
#[derive(Clone, Copy)]
pub enum Grader<'a> {
    /// The rules of [`super::labels`].
    Rules,
    /// A language model, for candidates the rules let pass.
    Model(&'a dyn Generator),
}

/// A group before the split: its group name and its row.
pub type MinedRow = (String, RerankRow);

/// Name of a document in the datastore of its pool.
pub fn document_name(number: usize) -> String {
    format!("document-{number}")
}

/// The pool as BEIR's corpus, for ingestion: one document a line, in order.
pub fn corpus(pool: &Pool) -> String {
    let mut text = String::new();
    for (number, document) in pool.documents.iter().enumerate() {
        let row = serde_json::json!({
            "_id": document_name(number), "title": document.title, "text": document.text,
        });
        text.push_str(&row.to_string());
        text.push('\n');
    }
    text
}

/// Held-out queries of a pool, which go with its [`corpus`]: queries and judgements as BEIR has them, at most `most`
/// queries; `None` where none is held out.
///
/// Queries that were made of a part of their answer are not among them: the corpus shows what they were made of.
pub fn judged(
    plan: &Plan,
    pool: usize,
    held_out: &[RerankRow],
    most: usize,
) -> Option<(String, String)> {
    let held_out: BTreeSet<&str> = held_out.iter().map(|row| row.query.as_str()).collect();
    let kept = plan.prompts.iter().filter(|prompt| {
        prompt.pool == pool && prompt.form == Form::Whole && held_out.contains(&*prompt.query)
    });
    let kept: Vec<&Prompt> = kept.collect();
    // Prompts of one source follow each other: some of each are wanted.
    let step = kept.len().div_ceil(most.max(1)).max(1);
    let (mut queries, mut grades) = (String::new(), "query-id\tcorpus-id\tscore\n".to_owned());
    for (n, prompt) in kept.into_iter().step_by(step).enumerate() {
        let row = serde_json::json!({"_id": format!("query-{n}"), "text": prompt.query});
        queries.push_str(&row.to_string());
        queries.push('\n');
        for answer in prompt.positives.iter().collect::<BTreeSet<_>>() {
            let _infallible = writeln!(grades, "query-{n}\t{}\t1", document_name(*answer));
        }
    }
    (!queries.is_empty()).then_some((queries, grades))
}

/// Searches `retriever`, which holds the pool of number `pool`, for every prompt of it and makes groups.
///
/// # Errors
/// When a search or the grading model fails.
pub async fn mine(
    plan: &Plan,
    pool: usize,
    retriever: &dyn Retriever,
    rules: &MiningRules,
    grader: Grader<'_>,
    seen: &mut dyn FnMut(usize),
) -> Result<(Vec<MinedRow>, Ledger), DataError> {
    let mut miner = Miner { pool: &plan.pools[pool], rules, ledger: Ledger::default() };
    let mut rows = Vec::new();
    let prompts = plan.prompts.iter().filter(|prompt| prompt.pool == pool);
    for (n, prompt) in prompts.enumerate() {
        let Some(query) = Query::new(&prompt.query) else { continue };
        let request = SearchRequest {
            query,
            top_k: rules.depth,
            mode: rules.mode,
            filter: SearchFilter::none(),
        };
        let hits = retriever.search(&request).await.map_err(|source| DataError::Port {
            doing: format!("searching for {:?}", prompt.query),
            source,
        })?;
        if let Some(row) = miner.group(prompt, &hits, grader).await? {
            rows.push(row);
        }
        seen(n + 1);
    }
    Ok((rows, miner.ledger))
}

struct Miner<'a> {
    pool: &'a Pool,
    rules: &'a MiningRules,
    ledger: Ledger,
}

impl Miner<'_> {
    async fn group(
        &mut self,
        prompt: &Prompt,
        hits: &[Retrieved],
        grader: Grader<'_>,
    ) -> Result<Option<MinedRow>, DataError> {
        let mut negatives = self.negatives(prompt, hits);
        if let Grader::Model(generator) = grader {
            let mut kept = Vec::new();
            for passage in negatives {
                if graded_by(generator, &prompt.query, &passage).await?.is_negative() {
                    kept.push(passage);
                } else {
                    self.reject(prompt, "graded 3 or more by the model", &passage);
                }
            }
            negatives = kept;
        }
        if negatives.len() < self.rules.at_least {
            self.reject(prompt, "too few negatives", &prompt.query);
            return Ok(None);
        }
        let mut random = SplitMix64::new(hash([prompt.query.as_str()]));
        let mut rest = negatives.split_off(negatives.len().min(self.rules.hardest));
        random.shuffle(&mut rest);
        rest.truncate(self.rules.negatives.saturating_sub(negatives.len()));
        negatives.extend(rest);
        let mut pos: Vec<String> = prompt
            .positives
            .iter()
            .map(|at| self.pool.documents[*at].passage(prompt.form))
            .filter(|text| !text.is_empty())
            .collect();
        pos.sort();
        pos.dedup();
        random.shuffle(&mut pos);
        pos.truncate(self.rules.positives);
        let row = RerankRow {
            query: prompt.query.clone(),
            pos,
            neg: negatives,
            pos_scores: Vec::new(),
            neg_scores: Vec::new(),
            source: Some(format!("{}, {}", prompt.source.name(), prompt.kind)),
        };
        if let Err(problem) = row.check() {
            self.reject(prompt, &problem, &prompt.query);
            return Ok(None);
        }
        let group = prompt.positives.first().map(|at| self.pool.documents[*at].paper.clone());
        Ok(Some((group.unwrap_or_default(), row)))
    }

    /// Passages of label 1 and 2 among the hits, hardest first.
    fn negatives(&mut self, prompt: &Prompt, hits: &[Retrieved]) -> Vec<String> {
        let documents = &self.pool.documents;
        let numbers: HashMap<String, usize> = hits
            .iter()
            .filter_map(|hit| Some((hit.paper.id.to_string(), number(&hit.paper.id)?)))
            .collect();
        let positives: BTreeSet<usize> = prompt.positives.iter().copied().collect();
        let related: BTreeSet<usize> = prompt.related.iter().copied().collect();
        let answers = prompt
            .positives
            .iter()
            .take(8)
            .map(|at| (documents[*at].paper.as_str(), documents[*at].passage(Form::Whole)));
        let rules = Rules::new(&prompt.query, answers, prompt.labelled);
        let mut outranks = true;
        let (mut seen, mut out) = (BTreeSet::new(), Vec::new());
        for hit in hits {
            let Some(at) = numbers.get(&hit.paper.id.to_string()).copied() else { continue };
            if positives.contains(&at) {
                outranks = false;
                continue;
            }
            let Some(document) = documents.get(at).filter(|_| !related.contains(&at)) else {
                continue;
            };
            let whole = document.passage(Form::Whole);
            let grade = rules.grade(&document.paper, &whole, outranks);
            let passage = document.passage(prompt.form);
            if grade == Relevance::UNSURE {
                self.reject(prompt, "label 3", &passage);
            } else if passage.split_whitespace().count() >= 4 && seen.insert(passage.clone()) {
                out.push(passage);
            }
        }
        out
    }

    fn reject(&mut self, prompt: &Prompt, rule: &str, text: &str) {
        self.ledger.reject(prompt.source.name(), rule, text);
    }
}

fn number(id: &PaperId) -> Option<usize> {
    let name = match id {
        PaperId::Local(name) => name.clone(),
        other => other.to_string(),
    };
    name.strip_prefix("document-")?.parse().ok()
}

/// Puts the rows of all pools together, leaves near-duplicate queries out and splits them.
///
/// # Errors
/// [`DataError::Nothing`] when no group is left.
pub fn finish(
    mut mined: Vec<MinedRow>,
    mut ledger: Ledger,
    settings: &Settings,
) -> Result<Splits<RerankRow>, DataError> {
    let mut seen = super::super::duplicates::Duplicates::default();
    mined.retain(|(_, row)| {
        let source = row.source.as_deref().unwrap_or_default();
        let name = source.split(',').next().unwrap_or_default();
        if seen.is_repeated(&row.query) {
            ledger.reject(name, "near-duplicate query", &row.query);
            return false;
        }
        ledger.keep(name, source.split(", ").nth(1).unwrap_or_default());
        true
    });
    SplitMix64::new(settings.seed).shuffle(&mut mined);
    Splits::split(mined, ledger, settings)
}

impl Ledger {
    /// Adds the accounts of another ledger.
    pub fn merge(&mut self, other: Self) {
        for (source, kinds) in other.kept() {
            for (kind, count) in kinds {
                for _ in 0..*count {
                    self.keep(source, kind);
                }
            }
        }
        for reject in other.rejects() {
            self.reject(&reject.source, &reject.rule, &reject.text);
        }
    }
}

#[cfg(test)]
mod tests;
