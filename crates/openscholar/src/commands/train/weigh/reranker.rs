//! A reranker's features beside the score before it, the retriever's or that of late interaction: how much each counts.
//!
//! Every candidate of every query is read once; then all weightings of a grid rank the same features by nDCG@10, averaged over
//! the collections. Written is the one with the smallest weights among those that are within one standard error of the best,
//! queries paired: collections at hand are few and like what was trained on, and small weights err less on others.

use std::process::ExitCode;
use std::sync::Arc;

use scholar_bench::retrieval::{Collection, Grades, RERANKED, Scores, document_name};
use scholar_core::{Reranker, SearchFilter, SearchMode, SearchRequest};
use scholar_models::{
    CrossEncoderOptions, LateInteractionOptions, LateInteractionReranker, LateRules, LateWeights,
    LocalCrossEncoder, READING_FILE, ReadingWeights, SecondReadingReranker,
};
use serde_json::{Map, Value, json};

use crate::app::App;
use crate::args::TrainWeighArgs;
use crate::commands::bench::retrieval::store;
use crate::config::DEFAULT_ENCODER;
use crate::error::{CommandError, Context as _};
use crate::wiring::{self, Shelf, models};
use crate::{progress, runs};

/// What a kind of reranker looks at, in the order of its explanations, and the weights of each that are tried; the score
/// before counts 1.
type Grid = &'static [(&'static str, &'static [f32])];

const LEXICAL: &[f32] = &[0.0, 0.1, 0.2, 0.4];

/// Of a cross-encoder.
const TOGETHER: Grid = &[
    ("retrieval", &[1.0]),
    ("logit", &[0.0, 0.2, 0.4, 0.6, 0.8, 1.0, 1.4, 2.0, 3.0, 5.0]),
    ("title", LEXICAL),
    ("pairs", LEXICAL),
];

/// Of a reranker that reads apart.
const APART: Grid = &[
    ("retrieval", &[1.0]),
    ("tokens", &[0.0, 0.2, 0.4, 0.6, 0.8, 1.0, 1.4]),
    ("likeness", &[0.0, 0.2, 0.4, 0.6, 0.8, 1.0]),
    ("feedback", &[0.0, 0.2, 0.4, 0.6, 0.8]),
    ("title", LEXICAL),
    ("pairs", LEXICAL),
];

/// A query's candidates, those that are read first.
struct Asked {
    grades: Grades,
    documents: Vec<String>,
    /// Of the candidates that are read: what the reranker looks at, standardised.
    features: Vec<Vec<f32>>,
}

pub(super) fn run(args: &TrainWeighArgs, app: &App) -> Result<ExitCode, CommandError> {
    let TrainWeighArgs { model, collections, depth, beside, .. } = args;
    let together = models::classifies(model);
    if !together && beside.is_some() {
        return Err(CommandError::user(format!(
            "{} reads query and passage apart: it weighs against the retriever alone",
            model.display()
        ))
        .with_hint("leave --beside out"));
    }
    let loaded = collections
        .iter()
        .map(|dir| Collection::load(dir).user(|| format!("{} cannot be used", dir.display())))
        .collect::<Result<Vec<_>, _>>()?;
    let encoder = app.config.encoder.as_deref().unwrap_or(DEFAULT_ENCODER).to_owned();
    let encoder = app.block_on(models::encoder(app, &encoder, models::Reading::WHOLE))??;
    let mut asked: Vec<Vec<Asked>> = Vec::new();
    for collection in &loaded {
        let store = store(collection, &encoder, app)?;
        let shelf = Shelf::with(app, store, Arc::clone(&encoder))?;
        let reranker: Box<dyn Reranker> = if together {
            let name = model.display().to_string();
            let options = CrossEncoderOptions::project(app.threads());
            let cross = LocalCrossEncoder::open(model, &name, options)?;
            let before = match beside {
                None => None,
                Some(beside) => Some(app.block_on(wiring::reranker::beside(app, &shelf, beside))??),
            };
            Box::new(SecondReadingReranker::new(cross, ones(*depth), before)?)
        } else {
            Box::new(apart(args, app)?)
        };
        asked.push(read(collection, &shelf, &*reranker, app)?);
    }
    let grid = if together { TOGETHER } else { APART };
    let found = best(&asked, grid);
    write(args, grid, &found, asked.iter().map(Vec::len).sum())?;
    show(args, grid, &found, app)?;
    Ok(ExitCode::SUCCESS)
}

fn ones(depth: usize) -> ReadingWeights {
    ReadingWeights { depth, retrieval: 1.0, logit: 1.0, title: 1.0, pairs: 1.0 }
}

fn apart(args: &TrainWeighArgs, app: &App) -> Result<LateInteractionReranker, CommandError> {
    // A name with a separator is a folder.
    let folder = std::path::absolute(&args.model)
        .user(|| format!("{} is no path", args.model.display()))?
        .display()
        .to_string();
    let encoder = app.block_on(models::encoder(app, &folder, models::Reading::WHOLE))??;
    let weights = LateWeights {
        retrieval: 1.0,
        tokens: 1.0,
        likeness: 1.0,
        feedback: 1.0,
        title: 1.0,
        pairs: 1.0,
    };
    let options = LateInteractionOptions::ruled(LateRules { depth: args.depth, weights });
    Ok(LateInteractionReranker::new(encoder, options)?)
}

fn read(
    collection: &Collection,
    shelf: &Shelf,
    reranker: &dyn Reranker,
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
        // With every weight 1 those that are read stand before the others, which keep their order by score.
        let mut order: Vec<usize> = (0..hits.len()).collect();
        order.sort_by(|a, b| {
            let [a_unread, b_unread] = [a, b].map(|at| explained[*at].details.is_empty());
            let by_score = explained[*b].value.total_cmp(&explained[*a].value);
            a_unread.cmp(&b_unread).then(by_score).then(a.cmp(b))
        });
        let features = order.iter().map(|at| &explained[*at].details);
        let features = features.filter(|parts| !parts.is_empty());
        asked.push(Asked {
            grades: grades.clone(),
            features: features.map(|parts| parts.iter().map(|part| part.value).collect()).collect(),
            documents: order.iter().map(|at| document_name(&hits[*at].paper.id)).collect(),
        });
    }
    bar.finish_and_clear();
    Ok(asked)
}

/// Weights and what they reach.
struct Found {
    weights: Vec<f32>,
    before: f64,
    after: f64,
    /// With the weights that are best here.
    best: f64,
}

fn best(asked: &[Vec<Asked>], grid: Grid) -> Found {
    let all = weightings(grid);
    let gains: Vec<Vec<Vec<f64>>> = all.iter().map(|weights| gains(asked, weights)).collect();
    let means: Vec<f64> = gains.iter().map(|gains| mean(gains)).collect();
    // The smallest come first, so the first of equals is the smallest.
    let first = |best: usize, at: usize| if means[at] > means[best] { at } else { best };
    let best = (0..all.len()).fold(0, first);
    let near = |at: &usize| means[best] - means[*at] <= error(&gains[best], &gains[*at]);
    let chosen = (0..all.len()).find(near).unwrap_or(best);
    Found {
        weights: all[chosen].clone(),
        before: means[0],
        after: means[chosen],
        best: means[best],
    }
}

/// Every choice of one weight for each feature, those with the smallest sum first.
fn weightings(grid: Grid) -> Vec<Vec<f32>> {
    let mut all = vec![Vec::new()];
    for (_, tried) in grid {
        let longer = |start: &Vec<f32>| -> Vec<Vec<f32>> {
            tried.iter().map(|weight| [&start[..], &[*weight]].concat()).collect()
        };
        all = all.iter().flat_map(longer).collect();
    }
    all.sort_by(|a: &Vec<f32>, b| a.iter().sum::<f32>().total_cmp(&b.iter().sum()));
    all
}

/// nDCG@10 of each query of each collection at these weights.
fn gains(asked: &[Vec<Asked>], weights: &[f32]) -> Vec<Vec<f64>> {
    let gain = |asked: &Asked| Some(Scores::of(&ranked(asked, weights), &asked.grades)?.ndcg10);
    asked.iter().map(|all| all.iter().filter_map(gain).collect()).collect()
}

/// Each collection counting equally.
fn mean(gains: &[Vec<f64>]) -> f64 {
    let of = |gains: &Vec<f64>| gains.iter().sum::<f64>() / gains.len().max(1) as f64;
    gains.iter().map(of).sum::<f64>() / gains.len().max(1) as f64
}

/// Standard error of the difference between the means of two weightings of the same queries.
fn error(one: &[Vec<f64>], other: &[Vec<f64>]) -> f64 {
    let squared = |(one, other): (&Vec<f64>, &Vec<f64>)| {
        let n = one.len().max(1) as f64;
        let differences = || one.iter().zip(other).map(|(a, b)| a - b);
        let mean = differences().sum::<f64>() / n;
        differences().map(|d| (d - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0) / n
    };
    one.iter().zip(other).map(squared).sum::<f64>().sqrt() / one.len().max(1) as f64
}

/// The documents, each once: those that were read by their features, the others behind them as they were.
fn ranked(asked: &Asked, weights: &[f32]) -> Vec<String> {
    let score =
        |row: &Vec<f32>| row.iter().zip(weights).map(|(value, weight)| value * weight).sum();
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

/// What `reading.json` says of the weights.
fn rules(args: &TrainWeighArgs, grid: Grid, found: &Found) -> Map<String, Value> {
    let mut rules: Map<String, Value> = grid
        .iter()
        .zip(&found.weights)
        .map(|((name, _), w)| ((*name).to_owned(), json!(w)))
        .collect();
    rules.insert("depth".to_owned(), json!(args.depth));
    if let Some(beside) = &args.beside {
        rules.insert("beside".to_owned(), json!(beside));
    }
    rules
}

fn write(
    args: &TrainWeighArgs,
    grid: Grid,
    found: &Found,
    queries: usize,
) -> Result<(), CommandError> {
    let mut stored = rules(args, grid, found);
    let fitted_on = json!({
        "collections": args.collections.len(),
        "queries": queries,
        "ndcg@10_before": found.before,
        "ndcg@10": found.after,
        "ndcg@10_of_the_best_weights": found.best,
    });
    stored.insert("fitted_on".to_owned(), fitted_on);
    let text = serde_json::to_string_pretty(&stored)
        .user(|| "the weights cannot be written as JSON".to_owned())?;
    runs::write_atomic(&args.model.join(READING_FILE), format!("{text}\n").as_bytes())
}

fn show(args: &TrainWeighArgs, grid: Grid, found: &Found, app: &App) -> Result<(), CommandError> {
    let TrainWeighArgs { model, beside, depth, .. } = args;
    let Found { weights, before, after, best } = found;
    if app.printer.json {
        return app.printer.json(&json!({
            "schema": "openscholar.train-weigh/2",
            "model": model,
            "reading": rules(args, grid, found),
            "ndcg@10_before": before,
            "ndcg@10": after,
            "ndcg@10_of_the_best_weights": best,
        }));
    }
    let first = beside.as_deref().unwrap_or("the retriever");
    let parts: Vec<String> =
        grid.iter().zip(weights).skip(1).map(|((name, _), w)| format!("{w} · {name}")).collect();
    app.printer.out(&format!(
        "nDCG@10 {before:.4} of {first}, {after:.4} with 1 · {first} + {} (at best {best:.4}), the first {depth} read; \
         written to {}",
        parts.join(" + "),
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
            features: vec![vec![1.0, -1.0, 0.0, 0.0], vec![0.5, 1.0, 0.0, 0.0]],
        }
    }

    #[test]
    fn the_weight_that_ranks_best_is_the_smallest_of_its_kind() {
        let found = best(&[vec![asked()]], TOGETHER);
        assert!(found.after > found.before);
        // 1 + w·(-1) < 0.5 + w from a quarter on.
        scholar_testing::assert_all_close(&found.weights, &[1.0, 0.4, 0.0, 0.0], 1e-6);
    }

    #[test]
    fn a_gain_of_one_query_in_many_is_not_worth_a_larger_weight() {
        // The logit must count 0.4 for most queries; at 5 one rises from the third place and one falls to the second.
        let mut all: Vec<Asked> = (0..30).map(|_| asked()).collect();
        let row = |retrieval, logit| vec![retrieval, logit, 0.0, 0.0];
        all[0].features = vec![row(4.0, -0.1), row(0.0, 1.0), row(3.9, -0.1)];
        all[1].features = vec![row(0.0, 1.0), row(1.0, 0.5)];
        let found = best(&[all], TOGETHER);
        assert!(found.best > found.after, "{} {}", found.best, found.after);
        scholar_testing::assert_all_close(&found.weights, &[1.0, 0.4, 0.0, 0.0], 1e-6);
    }

    #[test]
    fn what_was_not_read_stays_behind() {
        assert_eq!(ranked(&asked(), &[1.0, 9.0, 0.0, 0.0]), ["1", "0", "2"]);
    }
}
