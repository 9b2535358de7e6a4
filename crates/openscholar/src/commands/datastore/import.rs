//! `openscholar datastore build NAME --passages-file FILE --vectors NPY`: passages that were cut and encoded elsewhere.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use scholar_core::Encoder as _;
use scholar_datastore::ingest::{ReadOptions, RejectLog};
use scholar_datastore::npy::Npy;
use scholar_datastore::{AddOptions, PrecomputedPassages};

use super::build::{self, Building};
use crate::app::App;
use crate::args::SourceArgs;
use crate::error::CommandError;
use crate::output::added;
use crate::progress;
use crate::wiring::store_writer;

/// Passages, their vectors, and the names of those.
pub(super) struct Files<'a> {
    pub(super) passages: &'a Path,
    pub(super) vectors: &'a Path,
    pub(super) ids: Option<&'a Path>,
}

pub(super) fn run(
    name: &str,
    files: &Files<'_>,
    sources: &SourceArgs,
    building: Building<'_>,
    app: &App,
) -> Result<ExitCode, CommandError> {
    let Files { passages: passages_file, vectors, ids } = *files;
    let path = app.home.datastore(name)?;
    let matrix = Npy::open(vectors)?;
    let ids = ids.map(Npy::open).transpose()?;
    let Building { encoder, reading, passages } = building;
    let encoder = app.block_on(build::fitting_encoder(app, &path, encoder, reading))??;
    app.home.create(&app.home.datastores())?;
    let store = build::open(name, &path, encoder.info(), passages)?;
    let beside = app.home.datastores().join(format!("{name}.rejects.jsonl"));
    let log = Arc::new(RejectLog::new(sources.rejects.as_deref().unwrap_or(&beside))?);
    let bytes = Arc::new(AtomicU64::new(0));
    let options = ReadOptions {
        rejects: Some(log.clone()),
        bytes: Some(bytes.clone()),
        ..ReadOptions::standard()
    };
    let size = fs_err::metadata(passages_file).ok().map(|metadata| metadata.len());
    let source = passages_file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let bar = progress::bytes(&app.printer, size).with_message(source.clone());
    let given =
        PrecomputedPassages { passages: passages_file, vectors: &matrix, ids: ids.as_ref() };
    let done = store_writer::open(name, &store, sources.skip_check, app)?.add_precomputed(
        &given,
        encoder.as_ref(),
        &AddOptions::standard(source.as_str()),
        &options,
        &mut |done| {
            bar.set_position(bytes.load(Ordering::Relaxed));
            bar.set_message(format!("{source}: {} passages", done.passages_added));
            app.until_stopped()
        },
    )?;
    bar.finish_and_clear();
    added::report(&source, &done, app);
    build::report_rejects(&log, app)?;
    if done.interrupted {
        return Err(CommandError::interrupted_resumable(
            "interrupted; papers added so far are saved",
        ));
    }
    super::info(name, app)
}
