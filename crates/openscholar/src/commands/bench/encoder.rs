//! Speed of the encoder, as a ratio to sentence-transformers in the same run.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Instant;

use scholar_core::text::PassageRules;
use scholar_core::text::passages::cut;
use scholar_core::{Encoder as _, Side};
use scholar_models::{EncoderOptions, LocalEncoder, Precision};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::app::App;
use crate::error::{CommandError, Context as _};
use crate::starter;
use crate::wiring::models;

/// The script that measures the peer.
const PEER_SCRIPT: &str =
    include_str!("../../../../scholar-models/scripts/peer_sentence_transformers.py");
/// Timed repetitions; the best counts, for both sides.
const ROUNDS: usize = 4;
/// Timed queries; the median counts.
const QUERIES: usize = 41;
/// Words of a passage that counts as full.
pub(super) const FULL_WORDS: usize = 230;
pub(super) const QUERY: &str =
    "What is the effect of retrieval augmentation on the factuality of language models?";

/// One of our engines.
#[derive(Debug, Serialize)]
struct Ours {
    engine: String,
    passages_per_s: f64,
    query_ms: f64,
}

/// What the peer's script prints.
#[derive(Debug, Serialize, Deserialize)]
struct Peer {
    f32_passages_per_s: f64,
    bf16_passages_per_s: f64,
    versions: serde_json::Value,
}

pub(super) fn run(
    model: &str,
    peer_python: Option<&Path>,
    passages: usize,
    out: Option<&Path>,
    app: &App,
) -> Result<ExitCode, CommandError> {
    let folder = app.block_on(models::ensure(app, model))??;
    let texts: Vec<String> = starter::papers()?
        .iter()
        .flat_map(|paper| cut(paper, PassageRules::sections()))
        .filter(|passage| passage.text.split_whitespace().count() >= FULL_WORDS)
        .take(passages)
        .map(|passage| passage.encoded_text())
        .collect();
    let mut ours = Vec::new();
    for precision in [Precision::F32, Precision::Bf16] {
        let options = EncoderOptions {
            precision,
            ..models::encoder_options(app, model, models::Reading::WHOLE)?
        };
        match LocalEncoder::open(&folder, model, options) {
            Ok(encoder) => ours.push(time(&encoder, &texts)?),
            Err(error) => app.printer.say(&format!("not measured: {error}")),
        }
    }
    let peer: Option<Peer> = peer_python
        .map(|python| peer(PEER_SCRIPT, python, &folder, &texts, &[], app))
        .transpose()?;
    let json = serde_json::json!({"schema": "openscholar.bench-encoder/1", "model": model, "passages": texts.len(), "ours": ours, "peer": peer});
    super::publish(
        &format!("encoder-{model}"),
        &render(model, &texts, &ours, peer.as_ref(), app),
        &json,
        out,
        app,
    )
}

fn time(encoder: &LocalEncoder, texts: &[String]) -> Result<Ours, CommandError> {
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let mut best = f64::INFINITY;
    for _ in 0..ROUNDS {
        let began = Instant::now();
        encoder.encode(Side::Passage, &texts)?;
        best = best.min(began.elapsed().as_secs_f64());
    }
    let mut queries = Vec::with_capacity(QUERIES);
    for _ in 0..QUERIES {
        let began = Instant::now();
        encoder.encode(Side::Query, &[QUERY])?;
        queries.push(began.elapsed().as_secs_f64() * 1e3);
    }
    queries.sort_by(f64::total_cmp);
    #[expect(clippy::cast_precision_loss, reason = "a count of passages")]
    let count = texts.len() as f64;
    Ok(Ours {
        engine: encoder.engine().to_owned(),
        passages_per_s: count / best,
        query_ms: queries[QUERIES / 2],
    })
}

/// What `script` prints when it is run with the model, the passages and more `arguments`.
pub(super) fn peer<T: DeserializeOwned>(
    script: &str,
    python: &Path,
    model: &Path,
    texts: &[String],
    arguments: &[&OsStr],
    app: &App,
) -> Result<T, CommandError> {
    let source = script;
    let folder = app.home.data().join("bench");
    fs_err::create_dir_all(&folder).map_err(|source| CommandError::unwritable(&folder, source))?;
    let (script, passages) = (folder.join("peer.py"), folder.join("passages.jsonl"));
    let lines: String =
        texts.iter().map(|text| format!("{}\n", serde_json::json!({"text": text}))).collect();
    crate::runs::write_atomic(&script, source.as_bytes())?;
    crate::runs::write_atomic(&passages, lines.as_bytes())?;
    let output = Command::new(python)
        .args([script.as_os_str(), model.as_os_str(), passages.as_os_str()])
        .args(arguments)
        .output()
        .user(|| format!("cannot start {}", python.display()))?;
    let last = |bytes: &[u8]| {
        String::from_utf8_lossy(bytes).trim().lines().last().unwrap_or("").to_owned()
    };
    if !output.status.success() {
        return Err(CommandError::user(format!("the peer failed: {}", last(&output.stderr)))
            .with_hint(
                "--peer-python needs a Python with torch, transformers and sentence-transformers",
            ));
    }
    serde_json::from_str(&last(&output.stdout)).user(|| "the peer's report is not JSON".to_owned())
}

fn render(model: &str, texts: &[String], ours: &[Ours], peer: Option<&Peer>, app: &App) -> String {
    let mut text = format!(
        "# Encoder speed: {model}\n\nCommand: `openscholar bench encoder --model {model} --peer-python PYTHON`. \
         {} starter passages of at least {FULL_WORDS} words, all tokens, best of {ROUNDS} rounds. Machine: {}.\n\n\
         | engine | passages/s | query ms | ratio to f32 peer | ratio to bf16 peer |\n|---|---|---|---|---|\n",
        texts.len(),
        super::machine(app)
    );
    for engine in ours {
        let ratio = |rate: Option<f64>| {
            rate.map_or_else(
                || "–".to_owned(),
                |rate| format!("{:.2}", engine.passages_per_s / rate),
            )
        };
        let _infallible = writeln!(
            text,
            "| ours, {} | {:.1} | {:.2} | {} | {} |",
            engine.engine,
            engine.passages_per_s,
            engine.query_ms,
            ratio(peer.map(|peer| peer.f32_passages_per_s)),
            ratio(peer.map(|peer| peer.bf16_passages_per_s)),
        );
    }
    if let Some(Peer { f32_passages_per_s, bf16_passages_per_s, versions }) = peer {
        let _infallible =
            writeln!(text, "| sentence-transformers f32 | {f32_passages_per_s:.1} | – | 1 | – |");
        let _infallible = writeln!(
            text,
            "| sentence-transformers bf16 | {bf16_passages_per_s:.1} | – | – | 1 |\n\nPeer versions: `{versions}`"
        );
    }
    text
}
