//! Speed and memory of everything that adding papers does beside encoding.

use scholar_core::{
    Embeddings, Encoder, EncoderInfo, PortError, Side, Similarity, TextPreparation,
};
use serde::Serialize;

use super::or_dash;

/// Gives every text the same vector, which costs nothing: what is measured is everything else.
#[derive(Debug)]
pub struct ConstantEncoder {
    info: EncoderInfo,
    value: f32,
}

impl ConstantEncoder {
    /// Vectors of length one with `dim` equal numbers.
    pub fn new(dim: usize) -> Self {
        let info = EncoderInfo {
            name: "constant".to_owned(),
            fingerprint: format!("constant-{dim}"),
            dim,
            max_tokens: usize::MAX,
            similarity: Similarity::Cosine,
            preparation: TextPreparation::NONE,
        };
        Self { info, value: (dim as f32).sqrt().recip() }
    }
}

impl Encoder for ConstantEncoder {
    fn info(&self) -> &EncoderInfo {
        &self.info
    }

    fn encode(&self, _side: Side, texts: &[&str]) -> Result<Embeddings, PortError> {
        let dim = self.info.dim;
        Ok(Embeddings { values: vec![self.value; texts.len() * dim], dim, truncated: 0 })
    }
}

/// What was measured of one file.
#[derive(Debug, Clone, Serialize)]
pub struct FileTimings {
    /// Name of the file.
    pub file: String,
    /// Number of papers added.
    pub papers: u64,
    /// Number of passages of these papers.
    pub passages: u64,
    /// Reading and parsing alone, in a run of its own.
    pub read_seconds: f64,
    /// Reading, cutting, encoding and writing together.
    pub seconds: f64,
    /// CPU time of all threads, where the system tells.
    pub cpu_seconds: Option<f64>,
}

/// What was measured of all files, into one datastore.
#[derive(Debug)]
pub struct IngestReport<'a> {
    /// The machine and the program's version.
    pub machine: &'a str,
    /// Numbers of a vector.
    pub dim: usize,
    /// One row of the table for each file.
    pub files: &'a [FileTimings],
    /// Passages of the datastore.
    pub passages: u64,
    /// Bytes of its texts and lexical index.
    pub lexical_bytes: u64,
    /// Most resident bytes of the process, where the system tells.
    pub peak_memory_bytes: Option<u64>,
}

impl IngestReport<'_> {
    fn passages_per_second(&self) -> f64 {
        let passages: u64 = self.files.iter().map(|row| row.passages).sum();
        let seconds: f64 = self.files.iter().map(|row| row.seconds).sum();
        passages as f64 / seconds.max(1e-9)
    }

    fn lexical_bytes_per_passage(&self) -> f64 {
        self.lexical_bytes as f64 / self.passages.max(1) as f64
    }

    /// The report as a Markdown document.
    pub fn markdown(&self) -> String {
        let Self { machine, dim, files, peak_memory_bytes, .. } = self;
        let names: Vec<&str> = files.iter().map(|row| row.file.as_str()).collect();
        let rows: Vec<String> = files
            .iter()
            .map(|row| {
                format!(
                    "| {} | {} | {} | {:.1} | {:.1} | {} | {:.0} |",
                    row.file,
                    row.papers,
                    row.passages,
                    row.read_seconds,
                    row.seconds,
                    or_dash(row.cpu_seconds, |cpu| format!("{cpu:.1}")),
                    row.passages as f64 / row.seconds.max(1e-9)
                )
            })
            .collect();
        let peak = peak_memory_bytes.map_or_else(
            || "not known".to_owned(),
            |bytes| format!("{:.0} MB", bytes as f64 / 1e6),
        );
        format!(
            "# Ingest without the encoder\n\nCommand: `openscholar bench ingest {} --dim {dim}`\n\n\
             Read, cut into passages, digested, looked up, tokenised, indexed, vectors written, committed. Every passage gets \
             the same vector, so the encoder costs nothing; \"read\" is reading and parsing alone, in a run of its own; \"CPU\" is the time all \
             threads of the process computed, which other work on the machine does not lengthen as it does \"all\". \
             Machine: {machine}.\n\n\
             | file | papers | passages | read s | all s | CPU s | passages/s |\n|---|---|---|---|---|---|---|\n{}\n\n\
             All files: {} passages in {:.1} s, {:.0} passages/s. Peak memory of the process: {peak}. \
             Texts and lexical index: {:.0} bytes a passage.\n",
            names.join(" "),
            rows.join("\n"),
            files.iter().map(|row| row.passages).sum::<u64>(),
            files.iter().map(|row| row.seconds).sum::<f64>(),
            self.passages_per_second(),
            self.lexical_bytes_per_passage(),
        )
    }

    /// The report as JSON of schema `openscholar.bench.ingest/1`.
    pub fn json(&self) -> serde_json::Value {
        serde_json::json!({
            "schema": "openscholar.bench.ingest/1",
            "machine": self.machine,
            "dim": self.dim,
            "files": self.files,
            "passages_per_second": self.passages_per_second(),
            "peak_memory_bytes": self.peak_memory_bytes,
            "lexical_bytes_per_passage": self.lexical_bytes_per_passage(),
        })
    }
}
