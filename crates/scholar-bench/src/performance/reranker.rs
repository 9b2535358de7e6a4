//! Reranker throughput beside `PyTorch` in the same run, and how far their logits are apart.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use super::or_dash;

/// One of our engines.
#[derive(Debug, Clone, Serialize)]
pub struct RerankerSpeed {
    /// Kernel and precision that computed.
    pub engine: String,
    /// Pairs of query and passage in a second, of the fastest round.
    pub pairs_per_s: f64,
    /// Tokens in a second, of the same round.
    pub tokens_per_s: f64,
    /// One per pair, in the order of the pairs.
    #[serde(skip)]
    pub logits: Vec<f32>,
}

impl RerankerSpeed {
    /// `logits` of `tokens` tokens that took `seconds`.
    pub fn new(engine: &str, tokens: usize, seconds: f64, logits: Vec<f32>) -> Self {
        Self {
            engine: engine.to_owned(),
            pairs_per_s: logits.len() as f64 / seconds,
            tokens_per_s: tokens as f64 / seconds,
            logits,
        }
    }
}

/// What the script of the other library prints.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PeerReranker {
    /// Pairs in a second in 32 bits.
    pub f32_pairs_per_s: f64,
    /// The same in bfloat16.
    pub bf16_pairs_per_s: f64,
    /// Tokens of a pair.
    pub mean_tokens: f64,
    /// One per pair, in 32 bits.
    #[serde(skip_serializing)]
    pub logits: Vec<f32>,
    /// Versions of its libraries.
    pub versions: serde_json::Value,
}

/// What was measured of one model.
#[derive(Debug)]
pub struct RerankerReport<'a> {
    /// Name of the model in the catalog.
    pub model: &'a str,
    /// Pairs in a round.
    pub pairs: usize,
    /// Fewest words of a passage.
    pub words: usize,
    /// Rounds of which the fastest counts.
    pub rounds: usize,
    /// This program's engines, one row of the table each.
    pub ours: &'a [RerankerSpeed],
    /// Measured in the same run.
    pub peer: Option<&'a PeerReranker>,
    /// The machine and the program's version.
    pub machine: &'a str,
}

impl RerankerReport<'_> {
    /// The report as a Markdown document.
    pub fn markdown(&self) -> String {
        let Self { model, pairs, words, rounds, ours, peer, machine } = self;
        let option = if peer.is_some() { " --peer-python PYTHON" } else { "" };
        let mut text = format!(
            "# Reranker speed: {model}\n\nCommand: `openscholar bench reranker --model {model} --pairs {pairs}{option}`. \
             {pairs} pairs of one question and a starter passage of at least {words} words, all tokens up to 512, best of \
             {rounds} rounds. Machine: {machine}.\n\n\
             | engine | pairs/s | tokens/s | ratio to f32 peer | ratio to bf16 peer | largest difference to the peer's f32 logits |\n|---|---|---|---|---|---|\n",
        );
        for engine in *ours {
            let ratio = |rate: Option<f64>| {
                or_dash(rate, |rate| format!("{:.2}", engine.pairs_per_s / rate))
            };
            let apart = or_dash(*peer, |peer| {
                let apart = engine.logits.iter().zip(&peer.logits).map(|(a, b)| (a - b).abs());
                format!("{:.1e}", apart.fold(0.0, f32::max))
            });
            let _infallible = writeln!(
                text,
                "| ours, {} | {:.1} | {:.0} | {} | {} | {apart} |",
                engine.engine,
                engine.pairs_per_s,
                engine.tokens_per_s,
                ratio(peer.map(|peer| peer.f32_pairs_per_s)),
                ratio(peer.map(|peer| peer.bf16_pairs_per_s)),
            );
        }
        if let Some(peer) = peer {
            let PeerReranker {
                f32_pairs_per_s,
                bf16_pairs_per_s,
                mean_tokens,
                logits: _,
                versions,
            } = peer;
            let _infallible = writeln!(
                text,
                "| PyTorch f32 | {f32_pairs_per_s:.1} | {:.0} | 1 | – | 0 |\n\
                 | PyTorch bf16 | {bf16_pairs_per_s:.1} | {:.0} | – | 1 | – |\n\nPeer versions: `{versions}`",
                f32_pairs_per_s * mean_tokens,
                bf16_pairs_per_s * mean_tokens,
            );
        }
        text
    }
}
