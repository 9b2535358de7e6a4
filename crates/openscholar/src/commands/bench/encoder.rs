//! Speed of the encoder, as a ratio to sentence-transformers in the same run.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Instant;

use scholar_bench::performance::encoder::{EncoderReport, EncoderSpeed, PeerEncoder};
use scholar_bench::performance::{best_of, percentile};
use scholar_core::text::PassageRules;
use scholar_core::text::passages::cut;
use scholar_core::{Encoder as _, Side};
use scholar_models::{EncoderOptions, LocalEncoder, Precision};
use serde::de::DeserializeOwned;

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
    let peer: Option<PeerEncoder> = peer_python
        .map(|python| peer(PEER_SCRIPT, python, &folder, &texts, &[], app))
        .transpose()?;
    let json = serde_json::json!({"schema": "openscholar.bench-encoder/1", "model": model, "passages": texts.len(), "ours": ours, "peer": peer});
    let report = EncoderReport {
        model,
        passages: texts.len(),
        words: FULL_WORDS,
        rounds: ROUNDS,
        ours: &ours,
        peer: peer.as_ref(),
        machine: &super::machine(app),
    };
    super::publish(&format!("encoder-{model}"), &report.markdown(), &json, out, app)
}

fn time(encoder: &LocalEncoder, texts: &[String]) -> Result<EncoderSpeed, CommandError> {
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let (best, _) = best_of(ROUNDS, || encoder.encode(Side::Passage, &texts))?;
    let mut queries = Vec::with_capacity(QUERIES);
    for _ in 0..QUERIES {
        let began = Instant::now();
        encoder.encode(Side::Query, &[QUERY])?;
        queries.push(began.elapsed().as_secs_f64() * 1e3);
    }
    queries.sort_by(f64::total_cmp);
    Ok(EncoderSpeed {
        engine: encoder.engine().to_owned(),
        passages_per_s: texts.len() as f64 / best,
        query_ms: percentile(&queries, 50),
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
