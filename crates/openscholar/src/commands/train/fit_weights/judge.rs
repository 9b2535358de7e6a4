//! Fits the coefficients of a judge ensemble on labelled rows.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use scholar_bench::fit_weights::judge::{
    EvidenceList, FitReport, Judges, LabelledPair, check, claim_pairs, ensemble, fit_selection,
    fit_support,
};
use scholar_models::TrainedAttributor;
use scholar_pipeline::proof::ensemble::{EnsembleWeights, JUDGE_ENSEMBLE_FILE, JudgeEnsemble};
use scholar_train::data::{AttributionRow, EvidenceLabel, read_rows};
use serde_json::json;

use crate::app::App;
use crate::args::TrainFitWeightsArgs;
use crate::error::{CommandError, Context as _};
use crate::wiring::judge::{judging, max_sim_encoder};
use crate::{progress, runs};

pub(super) fn run(
    args: &TrainFitWeightsArgs,
    rows: &Path,
    app: &App,
) -> Result<ExitCode, CommandError> {
    let TrainFitWeightsArgs { model, source, bad_rows, claims, fuse, .. } = args;
    let read = read_rows(rows, *bad_rows, AttributionRow::check)?;
    let is_wanted = |row: &AttributionRow| {
        source.is_empty() || row.source.as_ref().is_some_and(|named| source.contains(named))
    };
    let wanted: Vec<AttributionRow> = read.values().filter(is_wanted).collect();
    let pairs = match claims {
        Some(dir) => {
            let held_out: BTreeSet<&str> = wanted.iter().map(|row| row.sentence.trim()).collect();
            claim_pairs(dir, &held_out).user(|| format!("{} cannot be read", dir.display()))?
        }
        None => wanted.iter().map(labelled_pair).collect(),
    };
    check(&pairs).map_err(|problem| {
        CommandError::user(format!("{}: {problem}", rows.display())).with_hint(
            "name more sources, or pass held-out rows as `train data attributor` writes them",
        )
    })?;
    let judge =
        TrainedAttributor::open(model, &model.display().to_string(), judging(app.threads()))?;
    let encoder = app.block_on(max_sim_encoder(app, fuse.as_deref()))??;
    let judges = Judges { model: Arc::new(judge), encoder };
    let lists: Vec<EvidenceList> = wanted.iter().filter_map(evidence_list).collect();
    let bar = progress::counted(&app.printer, "passages", Some(lists.len() as u64));
    let sentences = app.block_on(judges.score_sentences(&lists, &|| bar.inc(1)))??;
    bar.finish_and_clear();
    let selection = fit_selection(&sentences);
    let bar = progress::counted(&app.printer, "pairs", Some(pairs.len() as u64));
    let scores = app.block_on(judges.score_pairs(&pairs, selection, &|| bar.inc(1)))??;
    bar.finish_and_clear();
    let fitted = ensemble(fit_support(&scores), selection, fuse.clone());
    let report = FitReport::new(&scores, fitted.support);
    write(model, &fitted, &report, sentences.len())?;
    show(&fitted, &report, model, app)?;
    Ok(ExitCode::SUCCESS)
}

fn labelled_pair(row: &AttributionRow) -> LabelledPair {
    LabelledPair {
        sentence: row.sentence.clone(),
        passage: row.evidence.clone(),
        supports: row.label == EvidenceLabel::Supports,
        collection: row.source.clone().unwrap_or_default(),
    }
}

/// `None` where it is not known which of the sentences are the evidence.
fn evidence_list(row: &AttributionRow) -> Option<EvidenceList> {
    let is_known = !row.gold.is_empty() && row.gold.len() < row.sentences.len();
    is_known.then(|| EvidenceList {
        sentence: row.sentence.clone(),
        sentences: row.sentences.clone(),
        gold: row.gold.clone(),
        collection: row.source.clone().unwrap_or_default(),
    })
}

fn write(
    model: &Path,
    ensemble: &JudgeEnsemble,
    report: &FitReport,
    sentences: usize,
) -> Result<(), CommandError> {
    let mut stored = json!(ensemble);
    stored["fitted_on"] = json!(report);
    stored["sentences"] = sentences.into();
    let text = serde_json::to_string_pretty(&stored)
        .user(|| "the weights cannot be written as JSON".to_owned())?;
    runs::write_atomic(&model.join(JUDGE_ENSEMBLE_FILE), format!("{text}\n").as_bytes())
}

fn show(
    ensemble: &JudgeEnsemble,
    report: &FitReport,
    model: &Path,
    app: &App,
) -> Result<(), CommandError> {
    if app.printer.json {
        return app.printer.json(&json!({
            "schema": "openscholar.train-fit-weights/1",
            "model": model,
            "judge_ensemble": ensemble,
            "fitted_on": report,
        }));
    }
    let number = |value: Option<f64>| value.map_or("–".to_owned(), |value| format!("{value:.3}"));
    let EnsembleWeights { bias, model: of_model, lexical, max_sim } = ensemble.support;
    app.printer.out(&format!(
        "{} pairs; AUROC of support: model {}, lexical {}, MaxSim {}, ensemble {} (on the pairs the weights were fitted on)\n\
         log-odds = {bias:.2} + {of_model:.2} · model + {lexical:.2} · lexical + {max_sim:.2} · MaxSim; written to {}",
        report.pairs,
        number(report.auroc_model),
        number(report.auroc_lexical),
        number(report.auroc_max_sim),
        number(report.auroc_ensemble),
        model.join(JUDGE_ENSEMBLE_FILE).display(),
    ))
}
