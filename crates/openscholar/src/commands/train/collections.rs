//! Collections in BEIR layout that a model in training is measured on.
//!
//! An encoder ranks documents of a collection, the right ones among others, by inner product. A reranker ranks what our
//! hybrid search found. Measures are those of `bench retrieval`, the first of them the mean nDCG@10 of all collections.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use scholar_bench::retrieval::{Collection, Grades, Scores, document_name};
use scholar_core::{Paper, SearchFilter, SearchMode, SearchRequest};
use scholar_datastore::ingest::{Format, Limits, PaperReader};
use scholar_train::{EvalModel, Evaluator, Measure, Settings, Task, TrainError};

use crate::app::App;
use crate::commands::bench::retrieval::store;
use crate::config::DEFAULT_ENCODER;
use crate::error::CommandError;
use crate::progress;
use crate::wiring::{OpenDatastore, models};

/// The collections that `settings` name, ready to be ranked; `None` where they name none.
pub(super) fn prepare(
    settings: &Settings,
    app: &App,
) -> Result<Option<Box<dyn Evaluator>>, CommandError> {
    if settings.collections.is_empty() {
        return Ok(None);
    }
    let mut collections = Vec::new();
    for folder in &settings.collections {
        let mut collection = Collection::load(folder)?;
        collection.queries = spread(collection.queries, settings.collection_queries);
        // The name becomes the head of a column.
        collection.name = collection.name.replace(',', "_");
        collections.push(collection);
    }
    if settings.task == Task::Encoder {
        let most = settings.collection_documents;
        let pools = collections.into_iter().map(|collection| documents(collection, most));
        return Ok(Some(Box::new(Encoding(pools.collect::<Result<_, _>>()?))));
    }
    let encoder = app.config.encoder.as_deref().unwrap_or(DEFAULT_ENCODER).to_owned();
    let encoder = app.block_on(models::encoder(app, &encoder, models::Reading::WHOLE))??;
    let mut found = Vec::new();
    for collection in collections {
        let datastore =
            OpenDatastore::with(app, store(&collection, &encoder, app)?, Arc::clone(&encoder))?;
        found.push(candidates(&collection, &datastore, settings.collection_depth, app)?);
    }
    Ok(Some(Box::new(Reading(found))))
}

/// At most `most` of them, from all over the list.
fn spread<T>(all: Vec<T>, most: usize) -> Vec<T> {
    let count = all.len();
    let kept: BTreeSet<usize> =
        (0..most.min(count)).map(|at| at * count / most.min(count)).collect();
    all.into_iter().enumerate().filter(|(at, _)| kept.contains(at)).map(|(_, one)| one).collect()
}

/// A collection whose documents are ranked.
struct Documents {
    collection: Collection,
    names: Vec<String>,
    texts: Vec<String>,
}

/// The documents that are right for a query, and as many others from the head of the corpus as `most` leaves room for.
fn documents(collection: Collection, most: usize) -> Result<Documents, CommandError> {
    let right = |grades: &Grades| -> Vec<String> {
        grades.iter().filter(|(_, grade)| **grade > 0).map(|(name, _)| name.clone()).collect()
    };
    let asked = collection.queries.iter().filter_map(|query| collection.grades.get(&query.id));
    let wanted: BTreeSet<String> = asked.flat_map(right).collect();
    let mut room = most.saturating_sub(wanted.len());
    let (mut names, mut texts) = (Vec::new(), Vec::new());
    let reader = PaperReader::open(&collection.corpus, Some(Format::Beir), Limits::standard())?;
    for paper in reader {
        let paper: Paper = paper?;
        let name = document_name(&paper.meta.id);
        if !wanted.contains(&name) {
            if room == 0 {
                continue;
            }
            room -= 1;
        }
        names.push(name);
        texts.push(format!("{} {}", paper.meta.title, paper.text()).trim().to_owned());
    }
    Ok(Documents { collection, names, texts })
}

/// Collections for encoders.
struct Encoding(Vec<Documents>);

impl Evaluator for Encoding {
    fn evaluate(&mut self, model: &mut EvalModel<'_>) -> Result<Vec<Measure>, TrainError> {
        let dim = model.dim();
        let mut all = Vec::new();
        for Documents { collection, names, texts } in &self.0 {
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            let documents = model.vectors(&texts)?;
            let queries: Vec<&str> =
                collection.queries.iter().map(|query| query.query.as_str()).collect();
            let queries = model.vectors(&queries)?;
            let rankings = queries.chunks_exact(dim).map(|query| {
                let score = |document: &[f32]| -> f32 {
                    query.iter().zip(document).map(|(a, b)| a * b).sum()
                };
                ranked(names, documents.chunks_exact(dim).map(score))
            });
            all.push((collection.name.as_str(), scores(collection, rankings)));
        }
        Ok(measures(&all, true))
    }
}

/// A query with the passages a search found for it.
struct Candidates {
    query: String,
    grades: Grades,
    documents: Vec<String>,
    passages: Vec<String>,
}

/// A collection by name with its queries.
type Found = (String, Vec<Candidates>);

/// What the search finds for every query of `collection`, `depth` passages each. Says how good that is as it stands.
fn candidates(
    collection: &Collection,
    datastore: &OpenDatastore,
    depth: usize,
    app: &App,
) -> Result<Found, CommandError> {
    let bar = progress::counted(&app.printer, "queries", Some(collection.queries.len() as u64))
        .with_message(collection.name.clone());
    let mut found = Vec::new();
    for query in &collection.queries {
        bar.inc(1);
        let Some(grades) = collection.grades.get(&query.id) else { continue };
        let request = SearchRequest {
            query: query.query.clone(),
            top_k: depth,
            mode: SearchMode::Hybrid,
            filter: SearchFilter::none(),
        };
        let hits = app.block_on(datastore.retriever.search(&request))??;
        found.push(Candidates {
            query: query.query.as_str().to_owned(),
            grades: grades.clone(),
            documents: hits.iter().map(|hit| document_name(&hit.paper.id)).collect(),
            passages: hits.iter().map(|hit| hit.passage.encoded_text()).collect(),
        });
    }
    bar.finish_and_clear();
    let as_found = found.iter().filter_map(|asked| {
        let order = (0..asked.documents.len()).map(|rank| -(rank as f32));
        Scores::of(&ranked(&asked.documents, order), &asked.grades)
    });
    let as_found: Vec<Scores> = as_found.collect();
    app.printer.say(&format!(
        "{}: {} queries, nDCG@10 {:.4} in the order of the search",
        collection.name,
        as_found.len(),
        mean(&as_found, |scores| scores.ndcg10),
    ));
    Ok((collection.name.clone(), found))
}

/// Collections for rerankers.
struct Reading(Vec<Found>);

impl Evaluator for Reading {
    fn evaluate(&mut self, model: &mut EvalModel<'_>) -> Result<Vec<Measure>, TrainError> {
        let mut all = Vec::new();
        for (name, found) in &self.0 {
            let mut scores = Vec::new();
            for asked in found {
                let query = asked.query.as_str();
                let pairs: Vec<(&str, &str)> =
                    asked.passages.iter().map(|passage| (query, passage.as_str())).collect();
                let logits = model.logits(&pairs)?;
                scores.extend(Scores::of(&ranked(&asked.documents, logits), &asked.grades));
            }
            all.push((name.as_str(), scores));
        }
        Ok(measures(&all, false))
    }
}

/// Documents by their highest score, each once; ties as they stand.
fn ranked(documents: &[String], scores: impl IntoIterator<Item = f32>) -> Vec<String> {
    let mut order: Vec<(f32, usize)> = scores.into_iter().zip(0..).collect();
    order.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let mut seen = BTreeSet::new();
    let names = order.into_iter().map(|(_, at)| &documents[at]);
    names.filter(|name| seen.insert(name.as_str())).cloned().collect()
}

fn scores(collection: &Collection, rankings: impl Iterator<Item = Vec<String>>) -> Vec<Scores> {
    let grades: &BTreeMap<String, Grades> = &collection.grades;
    let asked = collection.queries.iter().zip(rankings);
    asked.filter_map(|(query, ranking)| Scores::of(&ranking, grades.get(&query.id)?)).collect()
}

fn mean(scores: &[Scores], of: impl Fn(&Scores) -> f64) -> f64 {
    scores.iter().map(of).sum::<f64>() / scores.len().max(1) as f64
}

/// The mean over all collections, then each of them. What a search found bounds a reranker's recall: it is not told.
fn measures(all: &[(&str, Vec<Scores>)], recall: bool) -> Vec<Measure> {
    let mut values = Vec::new();
    for (name, scores) in all {
        values.push((format!("ndcg@10 {name}"), mean(scores, |scores| scores.ndcg10)));
        if recall {
            values.push((format!("recall@100 {name}"), mean(scores, |scores| scores.recall100)));
        }
    }
    let each = all.iter().map(|(_, scores)| mean(scores, |scores| scores.ndcg10));
    let of_all = each.sum::<f64>() / all.len().max(1) as f64;
    values.insert(0, ("ndcg@10 of collections".to_owned(), of_all));
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_are_taken_from_all_over_the_list() {
        assert_eq!(spread((0..10).collect(), 3), [0, 3, 6]);
        assert_eq!(spread((0..3).collect(), 10), [0, 1, 2]);
        assert!(spread(Vec::<u8>::new(), 10).is_empty());
    }

    #[test]
    fn a_document_stands_where_its_best_passage_does() {
        let documents = ["a", "b", "a", "c"].map(str::to_owned);
        assert_eq!(ranked(&documents, [0.1, 0.5, 0.9, 0.5]), ["a", "b", "c"]);
    }

    #[test]
    fn collections_count_equally_whatever_their_size() {
        let scores = |ndcg10| Scores { ndcg10, recall100: 1.0, mrr10: 0.0 };
        let all = [("one", vec![scores(0.2)]), ("two", vec![scores(0.6), scores(0.8)])];
        let found = measures(&all, false);
        assert_eq!(found.len(), 3);
        assert!((found[0].1 - 0.45).abs() < 1e-9, "{found:?}");
        assert_eq!(found[1].0, "ndcg@10 one");
        assert_eq!(measures(&all, true)[2].0, "recall@100 one");
    }
}
