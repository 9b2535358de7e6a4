//! `openscholar datastore …`.

mod compact;
pub(crate) mod merge;
pub(crate) mod serve;
mod vectors;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;

use comfy_table::Table;
use comfy_table::presets::UTF8_HORIZONTAL_ONLY;
use scholar_core::{Encoder as _, TextPreparation};
use scholar_datastore::ingest::{Limits, PaperReader, ReadReport};
use scholar_datastore::{AddOptions, BuildRules, Datastore, DatastoreInfo, Depth};
use scholar_models::LocalEncoder;

use super::papers::until_stopped;
use crate::app::App;
use crate::args::{DatastoreArgs, DatastoreCommand};
use crate::error::{CommandError, ErrorKind};
use crate::wiring::models::Reading;
use crate::wiring::{self, models};
use crate::{progress, runs, starter};

/// Passages encoded again by `verify --deep`.
const DEEP_SAMPLE: usize = 64;
/// Rejected lines shown.
const SHOWN_REJECTS: usize = 5;

pub(crate) fn run(args: DatastoreArgs, app: &App) -> Result<ExitCode, CommandError> {
    let DatastoreArgs { command } = args;
    match command {
        DatastoreCommand::Build {
            name,
            files,
            encoder,
            encoder_tokens,
            lowercase,
            normalize_text,
            encode,
        } => {
            if files.is_empty() {
                return build_starter(&name, encode, app);
            }
            let preparation = TextPreparation { lowercase, normalize_text };
            let reading = Reading { max_tokens: encoder_tokens, preparation };
            add_files(&name, &files, encoder.as_deref(), reading, app)
        }
        DatastoreCommand::Merge { name, from } => merge::run(&name, &from, app),
        DatastoreCommand::List => list(app),
        DatastoreCommand::Info { name } => info(&app.datastore_name(name.as_deref()), app),
        DatastoreCommand::Verify { name, deep } => {
            verify(&app.datastore_name(name.as_deref()), deep, app)
        }
        DatastoreCommand::Serve(args) => serve::run(*args, app),
        DatastoreCommand::Compact { name, lists, indexed_from, bits } => {
            compact::run(&app.datastore_name(name.as_deref()), lists, (indexed_from, bits), app)
        }
        DatastoreCommand::StarterVectors { out } => vectors::run(&out, app),
    }
}

fn build_starter(name: &str, encode: bool, app: &App) -> Result<ExitCode, CommandError> {
    if name != starter::NAME {
        return Err(CommandError::user(format!("no files to build {name} from")).with_hint(
            format!("openscholar datastore build {name} FILE…, or build {}", starter::NAME),
        ));
    }
    let encoder = app.block_on(models::default_encoder(app))??;
    wiring::shelf::build_starter(app, &encoder, encode)?;
    info(name, app)
}

/// Adds the papers of `files` to the datastore called `name`, which is created if it is absent.
pub(crate) fn add_files(
    name: &str,
    files: &[PathBuf],
    encoder: Option<&str>,
    reading: Reading,
    app: &App,
) -> Result<ExitCode, CommandError> {
    let path = app.home.datastore(name)?;
    let mut readers = open_all(files)?;
    let encoder = app.block_on(fitting_encoder(app, &path, encoder, reading))??;
    fs_err::create_dir_all(app.home.datastores())
        .map_err(|source| runs::unwritable(app.home.data(), source))?;
    let store = Datastore::open_or_create(&path, encoder.info(), BuildRules::sections())?;
    let mut writer = store.writer()?;
    let mut reports = Vec::new();
    let mut interrupted = false;
    for file in files {
        let bar = progress::counted(&app.printer, "passages", None)
            .with_message(file.display().to_string());
        let mut reader = match readers.remove(file) {
            Some(reader) => reader,
            None => PaperReader::open(file, None, Limits::standard())?,
        };
        let source = file
            .file_name()
            .map_or_else(|| name.to_owned(), |file| file.to_string_lossy().into_owned());
        let done = writer.add(
            reader.by_ref(),
            encoder.as_ref(),
            &AddOptions::standard(source),
            &mut |done| {
                bar.set_position(done.passages_added);
                until_stopped(app)
            },
        )?;
        bar.finish_and_clear();
        report_file(reader.report(), &done, app);
        reports.push(reader.report().clone());
        interrupted = done.interrupted;
        if interrupted {
            break;
        }
    }
    drop(writer);
    if interrupted {
        return Err(CommandError::new(
            ErrorKind::Interrupted,
            "interrupted; what was added is kept",
        )
        .with_hint("run the same command again: it continues where it stopped"));
    }
    let info = store.info()?;
    if app.printer.json {
        app.printer.json(&serde_json::json!({"schema": "openscholar.build/1", "files": reports, "datastore": info}))?;
    } else {
        print_info(name, &info, app)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Opens every file, so that a wrong one is found before a model is fetched. Readers of pipes are kept: what they
/// have read cannot be read again.
fn open_all(files: &[PathBuf]) -> Result<BTreeMap<PathBuf, PaperReader>, CommandError> {
    let mut kept = BTreeMap::new();
    for file in files {
        let reader = PaperReader::open(file, None, Limits::standard())?;
        if !file.is_file() {
            kept.insert(file.clone(), reader);
        }
    }
    Ok(kept)
}

/// The encoder the datastore was built with; for a new one the one asked for, the configured one, or the default. What
/// was asked for and is not what the datastore has is refused when it is opened.
async fn fitting_encoder(
    app: &App,
    path: &std::path::Path,
    asked: Option<&str>,
    mut reading: Reading,
) -> Result<std::sync::Arc<LocalEncoder>, CommandError> {
    let stored = path.is_dir().then(|| scholar_datastore::Descriptor::read(path)).transpose()?;
    let stored = stored.map(|stored| stored.encoder);
    let default = || app.config.encoder.as_deref().unwrap_or(crate::config::DEFAULT_ENCODER);
    let known = stored.as_ref().map(|stored| stored.name.as_str());
    let name = asked.or(known).unwrap_or_else(default);
    if let Some(stored) = stored.as_ref().filter(|stored| stored.name == name) {
        reading.max_tokens = reading.max_tokens.or(Some(stored.max_tokens));
        if reading.preparation.is_none() {
            reading.preparation = stored.preparation;
        }
    }
    models::encoder(app, name, reading).await
}

fn report_file(report: &ReadReport, done: &scholar_datastore::AddReport, app: &App) {
    let added = &done.progress;
    app.printer.say(&format!(
        "{}: {} papers added, {} unchanged, {} passages ({:.0}/s), {} cut at the encoder's token limit",
        report.path.display(),
        added.papers_added,
        added.papers_unchanged,
        added.passages_added,
        added.passages_per_second(),
        added.passages_truncated,
    ));
    if report.rejected > 0 {
        app.printer.say(&format!("  {} lines were not papers:", report.rejected));
        for reject in report.rejects.iter().take(SHOWN_REJECTS) {
            app.printer.say(&format!("    line {}: {}", reject.line, reject.what));
        }
    }
}

fn list(app: &App) -> Result<ExitCode, CommandError> {
    let names = app.datastore_names()?;
    if app.printer.json {
        app.printer.json(
            &serde_json::json!({"schema": "openscholar.datastores/1", "datastores": names}),
        )?;
    } else {
        for name in names {
            app.printer.out(&name)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn info(name: &str, app: &App) -> Result<ExitCode, CommandError> {
    let info = Datastore::open(&app.existing_datastore(name)?)?.info()?;
    if app.printer.json {
        app.printer.json(
            &serde_json::json!({"schema": "openscholar.datastore/1", "name": name, "info": info}),
        )?;
    } else {
        print_info(name, &info, app)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn print_info(name: &str, info: &DatastoreInfo, app: &App) -> Result<(), CommandError> {
    let mut table = Table::new();
    table.load_style(UTF8_HORIZONTAL_ONLY).set_header(["datastore", name]);
    let encoder = &info.encoder;
    let rows = [
        ("papers", info.papers.to_string()),
        ("passages", info.passages.to_string()),
        (
            "encoder",
            format!("{} ({} numbers, {} tokens)", encoder.name, encoder.dim, encoder.max_tokens),
        ),
        ("vectors", format!("{} in {} files", info.vectors, info.dense_segments)),
        (
            "on disk",
            format!(
                "{:.1} MB vectors, {:.1} MB texts and lexical index",
                mega(info.dense_bytes),
                mega(info.lexical_bytes)
            ),
        ),
        (
            "memory to search",
            format!(
                "{:.1} MB mapped, shared with the system's cache",
                mega(info.dense_bytes + info.lexical_bytes)
            ),
        ),
    ];
    for (what, value) in rows {
        table.add_row([what.to_owned(), value]);
    }
    for source in &info.sources {
        table.add_row([format!("from {}", source.source), format!("{} papers", source.papers)]);
    }
    app.printer.out(&table.to_string())
}

fn verify(name: &str, deep: bool, app: &App) -> Result<ExitCode, CommandError> {
    let path = app.existing_datastore(name)?;
    let store = Datastore::open(&path)?;
    let report = if deep {
        let stored = store.descriptor().encoder.clone();
        let encoder = app.block_on(models::encoder(app, &stored.name, (&stored).into()))??;
        store.verify(Depth::Checksums, Some((encoder.as_ref(), DEEP_SAMPLE)))?
    } else {
        store.verify(Depth::Checksums, None)?
    };
    if app.printer.json {
        app.printer.json(
            &serde_json::json!({"schema": "openscholar.verify/1", "name": name, "report": report}),
        )?;
    } else {
        let encoded = if report.encoded > 0 {
            format!(", {} encoded again: least cosine {:.5}", report.encoded, report.least_cosine)
        } else {
            String::new()
        };
        app.printer.out(&format!(
            "{name} is whole: {} passages with their vectors, {} dense files{encoded}",
            report.passages, report.dense_files
        ))?;
    }
    Ok(ExitCode::SUCCESS)
}

#[expect(clippy::cast_precision_loss, reason = "a size for people")]
fn mega(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}
