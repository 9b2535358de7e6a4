//! Speed and memory of everything that adding papers does beside encoding.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use scholar_bench::performance::ingest::{ConstantEncoder, FileTimings, IngestReport};
use scholar_core::Encoder as _;
use scholar_datastore::ingest::{FilePart, PaperReader, ReadOptions};
use scholar_datastore::{AddOptions, BuildRules, Datastore};

use super::{machine, publish, status_bytes};
use crate::app::App;
use crate::error::{CommandError, Context as _, ErrorKind};
use crate::progress;

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
        let (began, cpu_before) = (Instant::now(), super::cpu_seconds());
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
        let cpu_seconds =
            super::cpu_seconds().zip(cpu_before).map(|(after, before)| after - before);
        bar.finish_and_clear();
        if done.interrupted {
            return Err(CommandError::new(ErrorKind::Interrupted, "interrupted"));
        }
        let (papers, passages) = (done.progress.papers_added, done.progress.passages_added);
        measured.push(FileTimings {
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
    let report = IngestReport {
        machine: &machine(app),
        dim,
        files: &measured,
        passages: info.passages,
        lexical_bytes: info.lexical_bytes,
        peak_memory_bytes: status_bytes("VmHWM:"),
    };
    publish("ingest", &report.markdown(), &report.json(), out, app)
}
