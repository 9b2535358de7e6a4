//! A reranker's logit beside the score before it, the retriever's or that of late interaction, and lexical evidence.
//!
//! Every candidate of every query is read once; then all weightings of a grid rank the same features, and the one with the
//! highest nDCG@10, averaged over the collections, is written. Ties go to the smaller weights.

use std::process::ExitCode;
use std::sync::Arc;

use scholar_bench::retrieval::{Collection, RERANKED, Scores, document_name};
use scholar_core::{Reranker as _, Retrieved, SearchFilter, SearchMode, SearchRequest};
use scholar_models::{
    CrossEncoderOptions, LocalCrossEncoder, READING_FILE, ReadingWeights, SecondReadingReranker,
};
use serde_json::json;

use crate::app::App;
use crate::args::TrainWeighArgs;
use crate::commands::bench::retrieval::store;
use crate::config::DEFAULT_ENCODER;
use crate::error::{CommandError, Context as _};
use crate::wiring::{self, Shelf, models};
use crate::{progress, runs};

/// Weights of the logit that are tried; the score before counts 1.
const LOGITS: [f32; 10] = [0.0, 0.2, 0.4, 0.6, 0.8, 1.0, 1.4, 2.0, 3.0, 5.0];
/// Weights of each lexical feature that are tried.
const LEXICAL: [f32; 4] = [0.0, 0.1, 0.2, 0.4];

/// A query's candidates, the retriever's best first.
struct Asked {
    grades: scholar_bench::retrieval::Grades,
    documents: Vec<String>,
    /// Of the candidates that are read: score before, logit, title, pairs; standardised.
    features: Vec<[f32; 4]>,
}

pub(super) fn run(args: &TrainWeighArgs, app: &App) -> Result<ExitCode, CommandError> {
    let TrainWeighArgs { model, collections, depth, beside, .. } = args;
    let loaded = collections
        .iter()
        .map(|dir| Collection::load(dir).user(|| format!("{} cannot be used", dir.display())))
        .collect::<Result<Vec<_>, _>>()?;
    let name = model.display().to_string();
    let ones = ReadingWeights { depth: *depth, retrieval: 1.0, logit: 1.0, title: 1.0, pairs: 1.0 };
    let encoder = app.config.encoder.as_deref().unwrap_or(DEFAULT_ENCODER).to_owned();
    let encoder = app.block_on(models::encoder(app, &encoder, models::Reading::WHOLE))??;
    let mut asked: Vec<Vec<Asked>> = Vec::new();
    for collection in &loaded {
        let store = store(collection, &encoder, app)?;
        let shelf = Shelf::with(app, store, Arc::clone(&encoder))?;
        let options = CrossEncoderOptions::project(app.threads());
        let cross = LocalCrossEncoder::open(model, &name, options)?;
        let before = match beside {
            None => None,
            Some(beside) => Some(app.block_on(wiring::reranker::beside(app, &shelf, beside))??),
        };
        let reranker = SecondReadingReranker::new(cross, ones, before)?;
        asked.push(read(collection, &shelf, &reranker, app)?);
    }
    let found = best(&asked, *depth);
    write(args, &found, asked.iter().map(Vec::len).sum())?;
    show(args, &found, app)?;
    Ok(ExitCode::SUCCESS)
}

fn read(
    collection: &Collection,
    shelf: &Shelf,
    reranker: &SecondReadingReranker,
    app: &App,
) -> Result<Vec<Asked>, CommandError> {
    let bar = progress::counted(&app.printer, "queries", Some(collection.queries.len() as u64))
        .with_message(collection.name.clone());
    let mut asked = Vec::new();
    for bench_query in &collection.queries {
        bar.inc(1);
        let Some(grades) = collection.grades.get(&bench_query.id) else { continue };
        let request = SearchRequest {
            query: bench_query.query.clone(),
            top_k: RERANKED,
            mode: SearchMode::Hybrid,
            filter: SearchFilter::none(),
        };
        let hits = app.block_on(shelf.retriever.search(&request))??;
        let explained = app.block_on(reranker.explain(&request.query, &hits))??;
        let features = explained.iter().filter_map(|explanation| {
            let parts: Vec<f32> = explanation.details.iter().map(|part| part.value).collect();
            <[f32; 4]>::try_from(parts).ok()
        });
        let documents = hits.iter().map(|hit: &Retrieved| document_name(&hit.paper.id)).collect();
        asked.push(Asked { grades: grades.clone(), documents, features: features.collect() });
    }
    bar.finish_and_clear();
    Ok(asked)
}

/// What the best weights reach.
struct Found {
    weights: ReadingWeights,
    before: f64,
    after: f64,
}

fn best(asked: &[Vec<Asked>], depth: usize) -> Found {
    let weights = |logit: f32, title: f32, pairs: f32| ReadingWeights {
        depth,
        retrieval: 1.0,
        logit,
        title,
        pairs,
    };
    let none = weights(0.0, 0.0, 0.0);
    let before = mean(asked, &none);
    let mut found = Found { weights: none, before, after: before };
    for logit in LOGITS {
        for title in LEXICAL {
            for pairs in LEXICAL {
                let tried = weights(logit, title, pairs);
                let after = mean(asked, &tried);
                if after > found.after {
                    found = Found { weights: tried, before, after };
                }
            }
        }
    }
    found
}

/// nDCG@10 at these weights, each collection counting equally.
fn mean(asked: &[Vec<Asked>], weights: &ReadingWeights) -> f64 {
    let of = |all: &Vec<Asked>| {
        let scores =
            all.iter().filter_map(|asked| Scores::of(&ranked(asked, weights), &asked.grades));
        let gains: Vec<f64> = scores.map(|scores| scores.ndcg10).collect();
        gains.iter().sum::<f64>() / gains.len().max(1) as f64
    };
    asked.iter().map(of).sum::<f64>() / asked.len().max(1) as f64
}

/// The documents, each once: those that were read by their features, the others behind them as they were.
fn ranked(asked: &Asked, weights: &ReadingWeights) -> Vec<String> {
    let by = [weights.retrieval, weights.logit, weights.title, weights.pairs];
    let score = |row: &[f32; 4]| row.iter().zip(by).map(|(value, weight)| value * weight).sum();
    let mut head: Vec<(f32, usize)> = asked.features.iter().map(score).zip(0..).collect();
    head.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let order = head.iter().map(|(_, at)| *at).chain(asked.features.len()..asked.documents.len());
    let mut documents: Vec<String> = Vec::new();
    for at in order {
        if !documents.contains(&asked.documents[at]) {
            documents.push(asked.documents[at].clone());
        }
    }
    documents
}

fn write(args: &TrainWeighArgs, found: &Found, queries: usize) -> Result<(), CommandError> {
    let TrainWeighArgs { model, beside, collections, .. } = args;
    let ReadingWeights { depth, retrieval, logit, title, pairs } = found.weights;
    let stored = json!({
        "beside": beside, "depth": depth, "retrieval": retrieval, "logit": logit, "title": title, "pairs": pairs,
        "fitted_on": {
            "collections": collections.len(), "queries": queries,
            "ndcg@10_before": found.before, "ndcg@10": found.after,
        },
    });
    let text = serde_json::to_string_pretty(&stored)
        .user(|| "the weights cannot be written as JSON".to_owned())?;
    runs::write_atomic(&model.join(READING_FILE), format!("{text}\n").as_bytes())
}

fn show(args: &TrainWeighArgs, found: &Found, app: &App) -> Result<(), CommandError> {
    let TrainWeighArgs { model, beside, .. } = args;
    let Found { weights, before, after } = found;
    let ReadingWeights { depth, retrieval: _, logit, title, pairs } = weights;
    if app.printer.json {
        return app.printer.json(&json!({
            "schema": "openscholar.train-weigh/1",
            "model": model,
            "reading": {
                "beside": beside, "depth": depth, "retrieval": 1, "logit": logit, "title": title, "pairs": pairs,
            },
            "ndcg@10_before": before,
            "ndcg@10": after,
        }));
    }
    let first = beside.as_deref().unwrap_or("the retriever");
    app.printer.out(&format!(
        "nDCG@10 {before:.4} of {first}, {after:.4} with 1 · {first} + {logit} · logit + {title} · title + {pairs} · pairs, \
         the first {depth} read; written to {}",
        model.join(READING_FILE).display()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The retriever prefers document 0, the logit document 1, which is right.
    fn asked() -> Asked {
        Asked {
            grades: [("1".to_owned(), 1)].into(),
            documents: ["0", "1", "2"].map(str::to_owned).to_vec(),
            features: vec![[1.0, -1.0, 0.0, 0.0], [0.5, 1.0, 0.0, 0.0]],
        }
    }

    #[test]
    fn the_weight_that_ranks_best_is_the_smallest_of_its_kind() {
        let found = best(&[vec![asked()]], 2);
        assert!(found.after > found.before);
        let ReadingWeights { logit, title, pairs, .. } = found.weights;
        // 1 + w·(-1) < 0.5 + w from a quarter on.
        let near = |value: f32, expect: f32| (value - expect).abs() < 1e-6;
        assert!(near(logit, 0.4) && near(title, 0.0) && near(pairs, 0.0), "{:?}", found.weights);
    }

    #[test]
    fn what_was_not_read_stays_behind() {
        let weights =
            ReadingWeights { depth: 2, retrieval: 1.0, logit: 9.0, title: 0.0, pairs: 0.0 };
        assert_eq!(ranked(&asked(), &weights), ["1", "0", "2"]);
    }
}
