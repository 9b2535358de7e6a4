//! Encoder throughput beside sentence-transformers in the same run.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use super::or_dash;

/// One of our engines.
#[derive(Debug, Clone, Serialize)]
pub struct EncoderSpeed {
    /// Kernel and precision that computed.
    pub engine: String,
    /// Passages in a second, of the fastest round.
    pub passages_per_s: f64,
    /// Median milliseconds of one query.
    pub query_ms: f64,
}

/// What the script of the other library prints.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PeerEncoder {
    /// Passages in a second in 32 bits.
    pub f32_passages_per_s: f64,
    /// The same in bfloat16.
    pub bf16_passages_per_s: f64,
    /// Versions of its libraries.
    pub versions: serde_json::Value,
}

/// What was measured of one model.
#[derive(Debug)]
pub struct EncoderReport<'a> {
    /// Name of the model in the catalog.
    pub model: &'a str,
    /// Passages in a round.
    pub passages: usize,
    /// Fewest words of a passage.
    pub words: usize,
    /// Rounds of which the fastest counts.
    pub rounds: usize,
    /// This program's engines, one row of the table each.
    pub ours: &'a [EncoderSpeed],
    /// Measured in the same run.
    pub peer: Option<&'a PeerEncoder>,
    /// The machine and the program's version.
    pub machine: &'a str,
}

impl EncoderReport<'_> {
    /// The report as a Markdown document.
    pub fn markdown(&self) -> String {
        let Self { model, passages, words, rounds, ours, peer, machine } = self;
        let option = if peer.is_some() { " --peer-python PYTHON" } else { "" };
        let mut text = format!(
            "# Encoder speed: {model}\n\nCommand: `openscholar bench encoder --model {model} --passages {passages}{option}`. \
             {passages} starter passages of at least {words} words, all tokens, best of {rounds} rounds. Machine: {machine}.\n\n\
             | engine | passages/s | query ms | ratio to f32 peer | ratio to bf16 peer |\n|---|---|---|---|---|\n",
        );
        for engine in *ours {
            let ratio = |rate: Option<f64>| {
                or_dash(rate, |rate| format!("{:.2}", engine.passages_per_s / rate))
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
        if let Some(PeerEncoder { f32_passages_per_s, bf16_passages_per_s, versions }) = peer {
            let _infallible = writeln!(
                text,
                "| sentence-transformers f32 | {f32_passages_per_s:.1} | – | 1 | – |\n\
                 | sentence-transformers bf16 | {bf16_passages_per_s:.1} | – | – | 1 |\n\nPeer versions: `{versions}`"
            );
        }
        text
    }
}
