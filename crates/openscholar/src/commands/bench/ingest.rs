//! Speed and memory of everything that adding papers does beside encoding.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use scholar_core::{
    Embeddings, Encoder, EncoderInfo, PortError, Side, Similarity, TextPreparation,
};
use scholar_datastore::ingest::{FilePart, PaperReader, ReadOptions};
use scholar_datastore::{AddOptions, BuildRules, Datastore};

use super::{machine, publish, status_bytes};
use crate::app::App;
use crate::error::{CommandError, Context as _, ErrorKind};
use crate::progress;

/// Unit of times in `/proc`, the same on every Linux.
const TICKS_PER_SECOND: f64 = 100.0;

/// Vectors that cost nothing to make: what is measured is everything else.
struct ConstantEncoder {
    info: EncoderInfo,
    value: f32,
}

impl ConstantEncoder {
    #[expect(clippy::cast_precision_loss, reason = "a dimension is small")]
    fn new(dim: usize) -> Self {
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
struct Measured {
    file: String,
    papers: u64,
    passages: u64,
    read_seconds: f64,
    seconds: f64,
    cpu_seconds: Option<f64>,
}

pub(super) fn run(
    files: &[PathBuf],
    dim: usize,
    rules: BuildRules,
    out: Option<&Path>,
    app: &App,
) -> Result<ExitCode, CommandError> {
    app.home.create(&app.home.datastores())?;
    let folder = tempfile::Builder::new()
        .prefix(".bench-ingest-")
        .tempdir_in(app.home.datastores())
        .user(|| "cannot create a folder for the datastore".to_owned())?;
    let encoder = ConstantEncoder::new(dim);
    let store = Datastore::create(&folder.path().join("store"), encoder.info(), rules)?;
    let mut writer = store.writer()?;
    let mut measured = Vec::new();
    for file in files {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let began = Instant::now();
        let part = FilePart::whole(file);
        for paper in PaperReader::with(&part, ReadOptions::standard())? {
            paper?;
        }
        let read_seconds = began.elapsed().as_secs_f64();
        let bar = progress::counted(&app.printer, "passages", None).with_message(name.clone());
        let (began, cpu_before) = (Instant::now(), cpu_seconds());
        let done = writer.add(
            PaperReader::with(&part, ReadOptions::standard())?,
            &encoder,
            &AddOptions::standard(name.as_str()),
            &mut |done| {
                bar.set_position(done.passages_added);
                app.until_stopped()
            },
        )?;
        let seconds = began.elapsed().as_secs_f64();
        let cpu_seconds = cpu_seconds().zip(cpu_before).map(|(after, before)| after - before);
        bar.finish_and_clear();
        if done.interrupted {
            return Err(CommandError::new(ErrorKind::Interrupted, "interrupted"));
        }
        let (papers, passages) = (done.progress.papers_added, done.progress.passages_added);
        measured.push(Measured {
            file: name,
            papers,
            passages,
            read_seconds,
            seconds,
            cpu_seconds,
        });
    }
    drop(writer);
    let info = store.info()?;
    report(&measured, (info.lexical_bytes, info.passages, dim), out, app)
}

#[expect(clippy::cast_precision_loss, reason = "numbers for people")]
fn report(
    measured: &[Measured],
    (lexical_bytes, passages, dim): (u64, u64, usize),
    out: Option<&Path>,
    app: &App,
) -> Result<ExitCode, CommandError> {
    let per = |count: u64, seconds: f64| count as f64 / seconds.max(1e-9);
    let files: Vec<&str> = measured.iter().map(|row| row.file.as_str()).collect();
    let total: u64 = measured.iter().map(|row| row.passages).sum();
    let seconds: f64 = measured.iter().map(|row| row.seconds).sum();
    let bytes_per_passage = lexical_bytes as f64 / passages.max(1) as f64;
    let peak = status_bytes("VmHWM:");
    let rows: Vec<String> = measured
        .iter()
        .map(|row| {
            format!(
                "| {} | {} | {} | {:.1} | {:.1} | {} | {:.0} |",
                row.file,
                row.papers,
                row.passages,
                row.read_seconds,
                row.seconds,
                row.cpu_seconds.map_or_else(|| "–".to_owned(), |cpu| format!("{cpu:.1}")),
                per(row.passages, row.seconds)
            )
        })
        .collect();
    let text = format!(
        "# Ingest without the encoder\n\nCommand: `openscholar bench ingest {} --dim {dim}`\n\n\
         Read, cut into passages, digested, looked up, tokenised, indexed, vectors written, committed. Every passage gets \
         the same vector, so the encoder costs nothing; \"read\" is reading and parsing alone, in a run of its own; \"CPU\" is the time all \
         threads of the process computed, which other work on the machine does not lengthen as it does \"all\". \
         Machine: {}.\n\n\
         | file | papers | passages | read s | all s | CPU s | passages/s |\n|---|---|---|---|---|---|---|\n{}\n\n\
         All files: {total} passages in {seconds:.1} s, {:.0} passages/s. Peak memory of the process: {}. \
         Texts and lexical index: {bytes_per_passage:.0} bytes a passage.\n",
        files.join(" "),
        machine(app),
        rows.join("\n"),
        per(total, seconds),
        peak.map_or_else(
            || "not known".to_owned(),
            |bytes| format!("{:.0} MB", bytes as f64 / 1e6)
        ),
    );
    let json = serde_json::json!({
        "schema": "openscholar.bench.ingest/1",
        "machine": machine(app),
        "dim": dim,
        "files": measured.iter().map(|row| serde_json::json!({
            "file": row.file, "papers": row.papers, "passages": row.passages,
            "read_seconds": row.read_seconds, "seconds": row.seconds, "cpu_seconds": row.cpu_seconds,
        })).collect::<Vec<_>>(),
        "passages_per_second": per(total, seconds),
        "peak_memory_bytes": peak,
        "lexical_bytes_per_passage": bytes_per_passage,
    });
    publish("ingest", &text, &json, out, app)
}

/// CPU time of all threads so far, where the system tells.
fn cpu_seconds() -> Option<f64> {
    let stat = fs_err::read_to_string("/proc/self/stat").ok()?;
    // The name before the last bracket may hold anything; user and system time are the 14th and 15th field of all.
    let (_, fields) = stat.rsplit_once(')')?;
    let mut times = fields.split_whitespace().skip(11).take(2).map(str::parse::<f64>);
    Some((times.next()?.ok()? + times.next()?.ok()?) / TICKS_PER_SECOND)
}
