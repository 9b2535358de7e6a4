//! Fits the feature weights of a reranker on collections.

use std::process::ExitCode;
use std::sync::Arc;

use scholar_bench::fit_weights::reranker::{
    CROSS_ENCODER, Candidates, Fitted, Grid, LATE_INTERACTION, fit,
};
use scholar_bench::retrieval::{Collection, RERANKED};
use scholar_core::{Reranker, SearchFilter, SearchMode, SearchRequest};
use scholar_models::{
    CrossEncoderOptions, FusionWeights, LateInteractionConfig, LateInteractionOptions,
    LateInteractionReranker, LateInteractionWeights, LocalCrossEncoder, RERANK_WEIGHTS_FILE,
    ScoreFusionReranker,
};
use serde_json::{Map, Value, json};

use crate::app::App;
use crate::args::TrainFitWeightsArgs;
use crate::commands::bench::retrieval::store;
use crate::config::DEFAULT_ENCODER;
use crate::error::{CommandError, Context as _};
use crate::wiring::{self, OpenDatastore, models};
use crate::{progress, runs};

pub(super) fn run(args: &TrainFitWeightsArgs, app: &App) -> Result<ExitCode, CommandError> {
    let TrainFitWeightsArgs { model, collections, depth, fuse, .. } = args;
    let is_cross_encoder = models::classifies(model);
    if !is_cross_encoder && fuse.is_some() {
        return Err(CommandError::user(format!(
            "{} is a late-interaction reranker: it is fused with the retriever alone",
            model.display()
        ))
        .with_hint("leave --fuse out"));
    }
    let loaded = collections
        .iter()
        .map(|dir| Collection::load(dir).user(|| format!("{} cannot be used", dir.display())))
        .collect::<Result<Vec<_>, _>>()?;
    let encoder = app.config.encoder.as_deref().unwrap_or(DEFAULT_ENCODER).to_owned();
    let encoder = app.block_on(models::encoder(app, &encoder, models::Reading::WHOLE))??;
    let mut queries: Vec<Vec<Candidates>> = Vec::new();
    for collection in &loaded {
        let store = store(collection, &encoder, app)?;
        let datastore = OpenDatastore::with(app, store, Arc::clone(&encoder))?;
        let reranker: Box<dyn Reranker> = if is_cross_encoder {
            let name = model.display().to_string();
            let options = CrossEncoderOptions::project(app.threads());
            let cross_encoder = LocalCrossEncoder::open(model, &name, options)?;
            let first_stage = match fuse {
                None => None,
                Some(name) => {
                    Some(app.block_on(wiring::reranker::first_stage(app, &datastore, name))??)
                }
            };
            Box::new(ScoreFusionReranker::new(cross_encoder, unit_weights(*depth), first_stage)?)
        } else {
            Box::new(late_interaction(args, app)?)
        };
        queries.push(candidates(collection, &datastore, &*reranker, app)?);
    }
    let grid = if is_cross_encoder { CROSS_ENCODER } else { LATE_INTERACTION };
    let fitted = fit(&queries, grid);
    write(args, grid, &fitted, queries.iter().map(Vec::len).sum())?;
    show(args, grid, &fitted, app)?;
    Ok(ExitCode::SUCCESS)
}

fn unit_weights(depth: usize) -> FusionWeights {
    FusionWeights { depth, retrieval: 1.0, logit: 1.0, title: 1.0, bigrams: 1.0 }
}

fn late_interaction(
    args: &TrainFitWeightsArgs,
    app: &App,
) -> Result<LateInteractionReranker, CommandError> {
    // A name with a separator is a folder.
    let folder = std::path::absolute(&args.model)
        .user(|| format!("{} is not a path", args.model.display()))?
        .display()
        .to_string();
    let encoder = app.block_on(models::encoder(app, &folder, models::Reading::WHOLE))??;
    let weights = LateInteractionWeights {
        retrieval: 1.0,
        max_sim: 1.0,
        pooled_cosine: 1.0,
        feedback: 1.0,
        title: 1.0,
        bigrams: 1.0,
    };
    let config = LateInteractionConfig { depth: args.depth, weights };
    Ok(LateInteractionReranker::new(encoder, LateInteractionOptions::of(config))?)
}

/// The candidates of every judged query, by hybrid search, with their features.
fn candidates(
    collection: &Collection,
    datastore: &OpenDatastore,
    reranker: &dyn Reranker,
    app: &App,
) -> Result<Vec<Candidates>, CommandError> {
    let bar = progress::counted(&app.printer, "queries", Some(collection.queries.len() as u64))
        .with_message(collection.name.clone());
    let mut all = Vec::new();
    for bench_query in &collection.queries {
        bar.inc(1);
        let Some(grades) = collection.grades.get(&bench_query.id) else { continue };
        let request = SearchRequest {
            query: bench_query.query.clone(),
            top_k: RERANKED,
            mode: SearchMode::Hybrid,
            filter: SearchFilter::none(),
        };
        let hits = app.block_on(datastore.retriever.search(&request))??;
        let explained = app.block_on(reranker.explain(&request.query, &hits))??;
        all.push(Candidates::new(&hits, &explained, grades.clone()));
    }
    bar.finish_and_clear();
    Ok(all)
}

/// What `rerank_weights.json` says of the weights.
fn weights_json(args: &TrainFitWeightsArgs, grid: Grid, fitted: &Fitted) -> Map<String, Value> {
    let mut weights: Map<String, Value> = grid
        .iter()
        .zip(&fitted.weights)
        .map(|((name, _), w)| ((*name).to_owned(), json!(w)))
        .collect();
    weights.insert("depth".to_owned(), json!(args.depth));
    if let Some(first_stage) = &args.fuse {
        weights.insert("first_stage".to_owned(), json!(first_stage));
    }
    weights
}

fn write(
    args: &TrainFitWeightsArgs,
    grid: Grid,
    fitted: &Fitted,
    queries: usize,
) -> Result<(), CommandError> {
    let mut stored = weights_json(args, grid, fitted);
    let fitted_on = json!({
        "collections": args.collections.len(),
        "queries": queries,
        "ndcg@10_before": fitted.before,
        "ndcg@10": fitted.after,
        "ndcg@10_of_the_best_weights": fitted.best,
    });
    stored.insert("fitted_on".to_owned(), fitted_on);
    let text = serde_json::to_string_pretty(&stored)
        .user(|| "the weights cannot be written as JSON".to_owned())?;
    runs::write_atomic(&args.model.join(RERANK_WEIGHTS_FILE), format!("{text}\n").as_bytes())
}

fn show(
    args: &TrainFitWeightsArgs,
    grid: Grid,
    fitted: &Fitted,
    app: &App,
) -> Result<(), CommandError> {
    let TrainFitWeightsArgs { model, fuse, depth, .. } = args;
    let Fitted { weights, before, after, best } = fitted;
    if app.printer.json {
        return app.printer.json(&json!({
            "schema": "openscholar.train-fit-weights/1",
            "model": model,
            "rerank_weights": weights_json(args, grid, fitted),
            "ndcg@10_before": before,
            "ndcg@10": after,
            "ndcg@10_of_the_best_weights": best,
        }));
    }
    let first = fuse.as_deref().unwrap_or("the retriever");
    let parts: Vec<String> =
        grid.iter().zip(weights).skip(1).map(|((name, _), w)| format!("{w} · {name}")).collect();
    app.printer.out(&format!(
        "nDCG@10 {before:.4} of {first}, {after:.4} with 1 · {first} + {} over the first {depth} candidates \
         (best of the grid {best:.4}); written to {}",
        parts.join(" + "),
        model.join(RERANK_WEIGHTS_FILE).display()
    ))
}
