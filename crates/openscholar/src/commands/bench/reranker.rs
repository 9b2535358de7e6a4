//! Speed of a reranker: of a cross-encoder as a ratio to `PyTorch` in the same run, and how far their logits are apart; of one
//! that reads apart by itself.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use scholar_bench::performance::best_of;
use scholar_bench::performance::reranker::{PeerReranker, RerankerReport, RerankerSpeed};
use scholar_core::text::PassageRules;
use scholar_core::text::passages::cut;
use scholar_core::{
    Explanation, Paper, Query, RerankScore, Reranker as _, RetrievalScore, Retrieved, Side,
};
use scholar_models::{
    CrossEncoderOptions, EncoderOptions, LateInteractionOptions, LateInteractionReranker,
    LocalCrossEncoder, LocalEncoder, Precision, TokenEncoder, TrainedAttributor,
};

use super::encoder::{FULL_WORDS, QUERY, peer};
use crate::app::App;
use crate::error::{CommandError, Context as _};
use crate::starter;
use crate::wiring::models;

/// The script that measures the peer.
const PEER_SCRIPT: &str = include_str!("../../../../scholar-models/scripts/peer_cross_encoder.py");
/// Timed repetitions; the best counts, for both sides.
const ROUNDS: usize = 4;

pub(super) fn run(
    model: &str,
    peer_python: Option<&Path>,
    pairs: usize,
    out: Option<&Path>,
    app: &App,
) -> Result<ExitCode, CommandError> {
    let folder = app.block_on(models::ensure(app, model))??;
    let found = passages(pairs)?;
    let texts: Vec<String> = found.iter().map(|hit| hit.passage.encoded_text()).collect();
    let read: Vec<&str> = texts.iter().map(String::as_str).collect();
    let kind = Kind::of(&folder);
    if kind != Kind::Reranker && peer_python.is_some() {
        return Err(CommandError::user(format!(
            "{model} {}, and the peer's script measures rerankers that read both together",
            if kind == Kind::Judge { "is a judge" } else { "reads query and passage apart" }
        ))
        .with_hint("leave --peer-python out; bench encoder compares encoders with it"));
    }
    let mut ours = Vec::new();
    for precision in [Precision::F32, Precision::Bf16, Precision::Int8] {
        let crossing =
            CrossEncoderOptions { precision, ..CrossEncoderOptions::project(app.threads()) };
        let encoding = EncoderOptions { precision, ..EncoderOptions::project(app.threads()) };
        let timed = match kind {
            Kind::Reranker => LocalCrossEncoder::open(&folder, model, crossing)
                .map(|reranker| time(&reranker, &read)),
            Kind::Judge => TrainedAttributor::open(&folder, model, crossing)
                .map(|judge| time_judge(&judge, &read)),
            Kind::Apart => LocalEncoder::open(&folder, model, encoding)
                .map(|encoder| time_apart(Arc::new(encoder), &found, &read, app)),
        };
        match timed {
            Ok(timed) => ours.push(timed?),
            Err(error) => app.printer.say(&format!("not measured: {error}")),
        }
    }
    if ours.is_empty() {
        return Err(CommandError::user(format!("{model} could not be opened in any precision")));
    }
    let arguments = [QUERY.as_ref()];
    let peer: Option<PeerReranker> = peer_python
        .map(|python| peer(PEER_SCRIPT, python, &folder, &texts, &arguments, app))
        .transpose()?;
    let name = super::short(model);
    let json = serde_json::json!({"schema": "openscholar.bench-reranker/1", "model": name, "pairs": texts.len(), "ours": ours, "peer": peer});
    let text = RerankerReport {
        model: name,
        pairs: texts.len(),
        words: FULL_WORDS,
        rounds: ROUNDS,
        ours: &ours,
        peer: peer.as_ref(),
        machine: &super::machine(app),
    }
    .markdown();
    super::publish(&format!("reranker-{name}"), &text, &json, out, app)
}

/// What a model makes of a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// One logit of both together.
    Reranker,
    /// Three of them.
    Judge,
    /// States of each.
    Apart,
}

impl Kind {
    fn of(folder: &Path) -> Self {
        if !models::classifies(folder) {
            Self::Apart
        } else if TrainedAttributor::is_judge(folder) {
            Self::Judge
        } else {
            Self::Reranker
        }
    }
}

/// Passages of starter papers as a search would find them.
fn passages(count: usize) -> Result<Vec<Retrieved>, CommandError> {
    let score = RetrievalScore::new(0.0).user(|| "no score".to_owned())?;
    let found = |paper: &Paper| -> Vec<Retrieved> {
        let meta = Arc::new(paper.meta.clone());
        let passages = cut(paper, PassageRules::sections()).into_iter();
        let full = passages.filter(|one| one.text.split_whitespace().count() >= FULL_WORDS);
        full.map(|passage| Retrieved {
            passage,
            paper: Arc::clone(&meta),
            score,
            explanation: Explanation::new(0.0, "not searched"),
            found_by: Vec::new(),
        })
        .collect()
    };
    Ok(starter::papers()?.iter().flat_map(found).take(count).collect())
}

/// Everything a question costs, words included; nothing that was read is kept for the next round.
fn time_apart(
    encoder: Arc<LocalEncoder>,
    found: &[Retrieved],
    texts: &[&str],
    app: &App,
) -> Result<RerankerSpeed, CommandError> {
    let specials = 2;
    let states = encoder.late_states(Side::Passage, texts)?;
    let tokens = states.iter().map(|states| states.ids.len() + specials).sum();
    let engine = encoder.engine();
    let options = LateInteractionOptions {
        depth: found.len(),
        cache_bytes: 0,
        ..LateInteractionOptions::project(TokenEncoder::Retriever)
    };
    let reranker = LateInteractionReranker::new(encoder, options)?;
    let query = Query::new(QUERY).ok_or_else(|| CommandError::user("the question is empty"))?;
    fastest(engine, tokens, || {
        let scores = app.block_on(reranker.rerank(&query, found))??;
        Ok(scores.into_iter().map(RerankScore::value).collect())
    })
}

fn time(reranker: &LocalCrossEncoder, texts: &[&str]) -> Result<RerankerSpeed, CommandError> {
    let mut tokens = 0;
    for text in texts {
        tokens += reranker.count_tokens(QUERY, text)?;
    }
    fastest(reranker.engine(), tokens, || Ok(reranker.logits(QUERY, texts)?))
}

/// The question stands for a claim.
fn time_judge(judge: &TrainedAttributor, texts: &[&str]) -> Result<RerankerSpeed, CommandError> {
    let mut tokens = 0;
    for text in texts {
        tokens += judge.count_tokens(QUERY, text)?;
    }
    let pairs: Vec<(&str, &str)> = texts.iter().map(|text| (QUERY, *text)).collect();
    fastest(judge.engine(), tokens, || {
        Ok(judge.logits(&pairs)?.into_iter().map(|[supports, ..]| supports).collect())
    })
}

/// The fastest of [`ROUNDS`] readings of `tokens` tokens.
fn fastest(
    engine: &str,
    tokens: usize,
    round: impl Fn() -> Result<Vec<f32>, CommandError>,
) -> Result<RerankerSpeed, CommandError> {
    let (seconds, logits) = best_of(ROUNDS, round)?;
    Ok(RerankerSpeed::new(engine, tokens, seconds, logits))
}
