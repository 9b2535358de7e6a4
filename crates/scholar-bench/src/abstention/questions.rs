//! Questions with the passages that people chose for them.

use std::collections::BTreeMap;
use std::path::Path;

use scholar_core::Question;

use super::{Asked, Fitted};
use crate::retrieval::Collection;
use crate::scholarqa::{BenchTask, Context, DataError, load};

/// The items of `task` that come with passages, at most `passages` of each; `data` is the benchmark's folder or file.
///
/// # Errors
/// As [`load()`].
pub fn of_task(task: BenchTask, data: &Path, passages: usize) -> Result<Vec<Asked>, DataError> {
    let known = Fitted::read();
    let asked = load(task, data)?.items.into_iter().filter(|item| item.duplicate_of.is_none());
    let asked = asked.filter_map(|item| {
        let mut evidence = item.contexts;
        evidence.retain(|context| !context.text.trim().is_empty());
        evidence.truncate(passages);
        let question = Question::new(&item.question).ok()?;
        let fitted = known.contains(task.title(), &item.id);
        (!evidence.is_empty()).then_some(Asked { id: item.id, question, evidence, fitted })
    });
    Ok(asked.collect())
}

/// The queries of `collection` with at most `passages` of their relevant `documents`, best grade first, ties by name.
pub fn of_collection(
    collection: &Collection,
    documents: &BTreeMap<String, Context>,
    passages: usize,
) -> Vec<Asked> {
    let known = Fitted::read();
    let asked = collection.queries.iter().filter_map(|query| {
        let grades = collection.grades.get(&query.id)?;
        let mut relevant: Vec<(&String, _)> =
            grades.iter().filter(|(_, grade)| **grade > 0).collect();
        relevant.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
        let evidence: Vec<Context> = relevant
            .into_iter()
            .filter_map(|(name, _)| documents.get(name))
            .filter(|context| !context.text.trim().is_empty())
            .take(passages)
            .cloned()
            .collect();
        let question = Question::new(query.query.as_str()).ok()?;
        let fitted = known.contains(&collection.name, &query.id);
        (!evidence.is_empty()).then(|| Asked { id: query.id.clone(), question, evidence, fitted })
    });
    asked.collect()
}
