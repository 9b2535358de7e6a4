//! `openscholar datastore …`.

pub(crate) mod build;
mod compact;
mod export;
mod import;
pub(crate) mod merge;
mod plan;
pub(crate) mod serve;
mod vectors;

use std::process::ExitCode;

use comfy_table::Table;
use comfy_table::presets::UTF8_HORIZONTAL_ONLY;
use scholar_core::TextPreparation;
use scholar_datastore::{Datastore, DatastoreInfo, Depth};

use self::build::Building;
use crate::app::App;
use crate::args::{BuildArgs, DatastoreArgs, DatastoreCommand, EncodingArgs, GivenArgs};
use crate::error::CommandError;
use crate::starter;
use crate::wiring::models::Reading;
use crate::wiring::{self, models};

/// Passages encoded again by `verify --deep`.
const DEEP_SAMPLE: usize = 64;

pub(crate) fn run(args: DatastoreArgs, app: &App) -> Result<ExitCode, CommandError> {
    let DatastoreArgs { command } = args;
    match command {
        DatastoreCommand::Build(args) => build(*args, app),
        DatastoreCommand::Merge { name, from } => merge::run(&name, &from, app),
        DatastoreCommand::Export { name, out, what } => export::run(&name, &out, &what, app),
        DatastoreCommand::Plan(args) => plan::run(&args, app),
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

fn build(args: BuildArgs, app: &App) -> Result<ExitCode, CommandError> {
    let BuildArgs { name, sources, encoding, given, passages, encode } = args;
    let EncodingArgs { encoder, encoder_tokens, lowercase, normalize_text } = encoding;
    let preparation = TextPreparation { lowercase, normalize_text };
    let reading = Reading { max_tokens: encoder_tokens, preparation };
    let building = Building { encoder: encoder.as_deref(), reading, passages };
    if let GivenArgs { passages_file: Some(file), vectors: Some(vectors), vector_ids } = given {
        let files =
            import::Files { passages: &file, vectors: &vectors, ids: vector_ids.as_deref() };
        return import::run(&name, &files, sources.rejects.as_deref(), building, app);
    }
    if sources.files.is_empty() {
        return build_starter(&name, encode, app);
    }
    build::add_files(&name, &sources, building, app)
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
