//! `openscholar datastore …`.

pub(crate) mod build;
mod compact;
mod export;
mod import;
mod inspect;
pub(crate) mod merge;
pub(crate) mod plan;
mod remove;
mod repair;
mod select;
pub(crate) mod serve;
mod vectors;

use std::process::ExitCode;

use scholar_core::TextPreparation;

use self::build::Building;
use crate::app::App;
use crate::args::{BuildArgs, DatastoreArgs, DatastoreCommand, EncodingArgs, GivenArgs};
use crate::error::CommandError;
use crate::starter;
use crate::wiring::models::Reading;
use crate::wiring::{self, models};
use inspect::{info, print_info};

pub(crate) fn run(args: DatastoreArgs, app: &App) -> Result<ExitCode, CommandError> {
    let DatastoreArgs { command } = args;
    match command {
        DatastoreCommand::Build(args) => build(*args, app),
        DatastoreCommand::Merge { name, from } => merge::run(&name, &from, app),
        DatastoreCommand::Export { name, out, what } => export::run(&name, &out, &what, app),
        DatastoreCommand::Plan(args) => plan::run(&args, app),
        DatastoreCommand::Use { name } => select::run(&name, app),
        DatastoreCommand::Remove { name, yes } => remove::run(&name, yes, app),
        DatastoreCommand::List => list(app),
        DatastoreCommand::Info { name } => info(&app.datastore_name(name.as_deref()), app),
        DatastoreCommand::Verify { name, deep } => {
            inspect::verify(&app.datastore_name(name.as_deref()), deep, app)
        }
        DatastoreCommand::Repair { name, to } => repair::run(&name, &to, app),
        DatastoreCommand::Serve(args) => serve::run(*args, app),
        DatastoreCommand::Compact(args) => {
            compact::run(&app.datastore_name(args.name.as_deref()), &args, app)
        }
        DatastoreCommand::StarterVectors { out } => vectors::run(&out, app),
    }
}

fn build(args: BuildArgs, app: &App) -> Result<ExitCode, CommandError> {
    let BuildArgs { name, sources, encoding, given, passages, encode } = args;
    let EncodingArgs { encoder, encoder_tokens, lowercase, normalize_text } = encoding;
    let preparation = TextPreparation { lowercase, normalize_text };
    let reading = Reading { max_tokens: encoder_tokens, preparation, ..Reading::WHOLE };
    let building = Building { encoder: encoder.as_deref(), reading, passages };
    if let GivenArgs { passages_file: Some(file), vectors: Some(vectors), vector_ids } = given {
        let files =
            import::Files { passages: &file, vectors: &vectors, ids: vector_ids.as_deref() };
        return import::run(&name, &files, &sources, building, app);
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
    wiring::open_datastore::build_starter(app, &encoder, encode)?;
    info(name, app)
}

fn list(app: &App) -> Result<ExitCode, CommandError> {
    let names = app.datastore_names()?;
    if app.printer.json {
        app.printer.json(
            &serde_json::json!({
                "schema": "openscholar.datastores/1", "datastores": names, "default": app.datastore_name(None),
            }),
        )?;
    } else {
        let default = app.datastore_name(None);
        for name in names {
            let mark = if name == default { " (default)" } else { "" };
            app.printer.out(&format!("{name}{mark}"))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
