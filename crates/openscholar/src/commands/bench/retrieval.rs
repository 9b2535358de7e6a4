//! Retrieval quality on folders in BEIR layout.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use scholar_bench::retrieval::{Collection, Report, System, markdown};
use scholar_core::{Encoder as _, Reranker};
use scholar_datastore::ingest::{Format, Limits, PaperReader};
use scholar_datastore::{AddOptions, BuildRules, Datastore};
use scholar_models::LocalEncoder;

use crate::app::App;
use crate::config::DEFAULT_ENCODER;
use crate::error::{CommandError, Context as _, ErrorKind};
use crate::wiring::{self, OpenDatastore, models};
use crate::{progress, runs};

/// Token states kept between queries: collections have few documents and many queries.
const BENCH_CACHE_BYTES: usize = 4 << 30;

/// The models to measure with.
#[derive(Clone, Copy)]
pub(super) struct Models<'a> {
    pub(super) encoder: &'a str,
    /// `None`: the configured or default one.
    pub(super) reranker: Option<&'a str>,
}

pub(super) fn run(
    dirs: &[PathBuf],
    systems: &[String],
    models: Models<'_>,
    limit: Option<usize>,
    out: Option<&Path>,
    app: &App,
) -> Result<ExitCode, CommandError> {
    let Models { encoder: encoder_name, reranker: named } = models;
    // A wrong folder or name is found before anything is encoded.
    let collections =
        dirs.iter().map(|dir| Collection::load(dir)).collect::<Result<Vec<_>, _>>()?;
    let encoder = app.block_on(models::encoder(app, encoder_name, models::Reading::WHOLE))??;
    let mut reports = Vec::new();
    let mut reranked_by = None;
    for mut collection in collections {
        collection.queries.truncate(limit.unwrap_or(usize::MAX));
        let store = store(&collection, &encoder, app)?;
        let datastore = OpenDatastore::with(app, store, Arc::clone(&encoder))?;
        let wants_reranker = systems.iter().any(|system| system.ends_with("+rerank"));
        let reranker = if wants_reranker { Some(reranker(&datastore, named, app)?) } else { None };
        reranked_by = reranker.as_ref().map(|reranker| reranker.info().name.clone());
        let report = measure(&collection, &datastore, systems, reranker.as_deref(), app)?;
        // At once: the next collection may take an hour, or be interrupted.
        if let Some(out) = out {
            keep(&report, out)?;
        }
        reports.push(report);
    }
    let name = super::short(encoder_name);
    let reranker = reranked_by.map(|name| format!(", reranker: {name}")).unwrap_or_default();
    let mut options =
        named.map(|name| format!(" --reranker {}", super::short(name))).unwrap_or_default();
    if encoder_name != DEFAULT_ENCODER {
        options = format!("{options} --encoder {name}");
    }
    let folders: Vec<String> = dirs
        .iter()
        .map(|dir| dir.file_name().unwrap_or_default().to_string_lossy().into_owned())
        .collect();
    let text = format!(
        "# Retrieval\n\nCommand: `openscholar bench retrieval {} --systems {}{options}`\n\nEncoder: {name} ({}){reranker}. Machine: {}.\n\n{}",
        folders.join(" "),
        systems.join(","),
        encoder.engine(),
        super::machine(app),
        markdown(&reports)
    );
    let summary: Vec<serde_json::Value> = reports.iter().map(Report::summary).collect();
    super::publish(
        "retrieval",
        &text,
        &serde_json::json!({"schema": "openscholar.bench-retrieval/1", "collections": summary}),
        out,
        app,
    )
}

/// The configured reranker and no other: a report must say what was measured.
fn reranker(
    datastore: &OpenDatastore,
    named: Option<&str>,
    app: &App,
) -> Result<Arc<dyn Reranker>, CommandError> {
    let (reranker, notice) =
        app.block_on(wiring::reranker::open(app, datastore, named, Some(BENCH_CACHE_BYTES)))??;
    match notice {
        None => Ok(reranker),
        Some(notice) => Err(CommandError::new(ErrorKind::Unavailable, notice.message)
            .with_hint(notice.hint.unwrap_or_default())),
    }
}

/// Writes the numbers per query of one collection.
fn keep(report: &Report, out: &Path) -> Result<(), CommandError> {
    let text = serde_json::to_string_pretty(report).user(|| "cannot write JSON".to_owned())?;
    let folder = out.join("retrieval");
    fs_err::create_dir_all(&folder).map_err(|source| CommandError::unwritable(&folder, source))?;
    runs::write_atomic(&folder.join(format!("{}.json", report.collection)), text.as_bytes())
}

/// The collection as a datastore, kept below the data folder so that a second measurement starts at once.
pub(crate) fn store(
    collection: &Collection,
    encoder: &LocalEncoder,
    app: &App,
) -> Result<Datastore, CommandError> {
    let fingerprint: String = encoder.info().fingerprint.chars().take(8).collect();
    let path = app.home.data().join("bench").join(format!("{}-{fingerprint}", collection.name));
    let store = Datastore::open_or_create(&path, encoder.info(), BuildRules::collection())?;
    let mut reader = PaperReader::open(&collection.corpus, Some(Format::Beir), Limits::standard())?;
    let bar = progress::counted(&app.printer, "passages", None)
        .with_message(format!("encoding {}", collection.name));
    let mut writer = store.writer()?;
    let done = writer.add(
        reader.by_ref(),
        encoder,
        &AddOptions::standard(&collection.name),
        &mut |done| {
            bar.set_position(done.passages_added);
            app.until_stopped()
        },
    )?;
    bar.finish_and_clear();
    if done.interrupted {
        return Err(CommandError::new(
            ErrorKind::Interrupted,
            "interrupted; the next start continues",
        ));
    }
    Ok(store)
}

fn measure(
    collection: &Collection,
    datastore: &OpenDatastore,
    systems: &[String],
    reranker: Option<&dyn Reranker>,
    app: &App,
) -> Result<Report, CommandError> {
    let systems = systems
        .iter()
        .map(|name| {
            System::named(name, reranker).ok_or_else(|| {
                CommandError::user(format!("there is no system {name:?}")).with_hint(
                    "the systems are bm25, dense and hybrid, each also with +queries or +raw-queries, and with +rerank",
                )
            })
        })
        .collect::<Result<Vec<_>, _>>()?;
    let bar =
        progress::counted(&app.printer, "queries", Some(0)).with_message(collection.name.clone());
    let report = app.block_on(scholar_bench::retrieval::run(
        collection,
        datastore.retriever.as_ref(),
        &systems,
        &mut |done, total| {
            bar.set_length(total as u64);
            bar.set_position(done as u64);
        },
    ))??;
    bar.finish_and_clear();
    Ok(report)
}
