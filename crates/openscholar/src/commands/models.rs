//! `openscholar models …`.

mod recommend;

use std::path::Path;
use std::process::ExitCode;

use scholar_clients::download::Installed;
use scholar_models::catalog::{CatalogEntry, ModelFile, Source};
use scholar_models::quantize::{self, Packed};

use crate::app::App;
use crate::args::{ModelsArgs, ModelsCommand};
use crate::error::CommandError;
use crate::output::table::Table;
use crate::wiring::{models, pull};

pub(crate) fn run(args: ModelsArgs, app: &App) -> Result<ExitCode, CommandError> {
    let ModelsArgs { command } = args;
    match command {
        ModelsCommand::List => list(app),
        ModelsCommand::Recommend => recommend::run(app),
        ModelsCommand::Pull { names, from } => pull_all(&names, from.as_deref(), app),
        ModelsCommand::Verify { names } => verify(&names, app),
        ModelsCommand::Pack { from, to } => pack(&from, &to, app),
    }
}

fn pack(from: &Path, to: &Path, app: &App) -> Result<ExitCode, CommandError> {
    let Packed { files, packed, kept, relative_error } = quantize::pack(from, to)?;
    if app.printer.json {
        app.printer.json(&serde_json::json!({
            "schema": "openscholar.packed/1", "files": files, "packed": packed, "kept": kept,
            "relative_error": relative_error,
        }))?;
    } else {
        app.printer.say(&format!(
            "{packed} packed and {kept} other tensors, relative error {relative_error:.4}; for a catalog:"
        ));
        let lines: Vec<String> = files
            .iter()
            .map(|ModelFile { path, size, sha256, optional: _ }| {
                let (size, sha256) = (size.unwrap_or_default(), sha256.as_deref().unwrap_or(""));
                format!("    {{ path = \"{path}\", size = {size}, sha256 = \"{sha256}\" }},")
            })
            .collect();
        app.printer.out(&format!("files = [\n{}\n]", lines.join("\n")))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn list(app: &App) -> Result<ExitCode, CommandError> {
    let catalog = models::catalog(app)?;
    if app.printer.json {
        let models = catalog
            .entries()
            .iter()
            .map(|entry| {
                let found = models::installed(app, &entry.name)?;
                let problems = match &found {
                    Installed::Damaged { problems } => problems.as_slice(),
                    Installed::Missing | Installed::Complete { .. } => &[],
                };
                let installed = matches!(found, Installed::Complete { .. });
                Ok(serde_json::json!({"installed": installed, "problems": problems, "entry": entry}))
            })
            .collect::<Result<Vec<_>, CommandError>>()?;
        app.printer
            .json(&serde_json::json!({"schema": "openscholar.models/1", "models": models}))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut table =
        Table::with_header(["model", "for", "size", "dim", "tokens", "licence", "here", "from"]);
    for entry in catalog.entries() {
        let here = match models::installed(app, &entry.name)? {
            Installed::Complete { .. } => "yes",
            Installed::Damaged { .. } => "damaged",
            Installed::Missing => "",
        };
        table.add_row([
            entry.name.clone(),
            serde_json::to_value(entry.purpose)
                .ok()
                .and_then(|v| v.as_str().map(str::to_owned))
                .unwrap_or_default(),
            entry.size().map_or_else(|| "?".to_owned(), megabytes),
            entry.dim.map(|dim| dim.to_string()).unwrap_or_default(),
            entry.max_tokens.to_string(),
            entry.licence.clone(),
            here.to_owned(),
            sources(entry),
        ]);
    }
    app.printer.out(&table.to_string())?;
    for entry in catalog.entries() {
        if let Some(note) = &entry.note {
            app.printer.say(&format!("{}: {note}", entry.name));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn sources(entry: &CatalogEntry) -> String {
    let names: Vec<&str> = entry
        .sources
        .iter()
        .map(|source| match source {
            Source::Hub { .. } => "hub",
            Source::Wheels(_) => "python packages",
            Source::BuiltIn => "this program",
        })
        .collect();
    if names.is_empty() { "server or local path".to_owned() } else { names.join(", ") }
}

fn pull_all(names: &[String], from: Option<&Path>, app: &App) -> Result<ExitCode, CommandError> {
    let defaults = crate::config::DEFAULT_MODELS.map(str::to_owned);
    let names = if names.is_empty() { &defaults } else { names };
    // A wrong name is found before anything is fetched.
    let entries =
        names.iter().map(|name| models::entry(app, name)).collect::<Result<Vec<_>, _>>()?;
    if from.is_some() && entries.len() > 1 {
        return Err(CommandError::user("--from takes one model at a time"));
    }
    for entry in &entries {
        app.block_on(pull::pull(app, entry, from))??;
    }
    if app.printer.json {
        app.printer
            .json(&serde_json::json!({"schema": "openscholar.pulled/1", "models": names}))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn verify(names: &[String], app: &App) -> Result<ExitCode, CommandError> {
    let names = if names.is_empty() {
        let mut here = Vec::new();
        for entry in models::catalog(app)?.entries() {
            if models::folder(app, &entry.name).is_dir() {
                here.push(entry.name.clone());
            }
        }
        here
    } else {
        names.to_vec()
    };
    let mut whole = true;
    let mut reports = Vec::new();
    for name in &names {
        let entry = models::entry(app, name)?;
        let problems = pull::verify(app, &entry)?;
        whole &= problems.is_empty();
        if !app.printer.json {
            let unverifiable =
                if entry.is_verifiable() { "" } else { " (some files have no published checksum)" };
            let verdict = if problems.is_empty() {
                format!("whole{unverifiable}")
            } else {
                problems.join("; ")
            };
            app.printer.out(&format!("{name}: {verdict}"))?;
        }
        reports.push(serde_json::json!({"model": name, "problems": problems, "verifiable": entry.is_verifiable()}));
    }
    if names.is_empty() {
        app.printer.say("no model is here yet");
    }
    if app.printer.json {
        app.printer.json(
            &serde_json::json!({"schema": "openscholar.models-verify/1", "models": reports}),
        )?;
    }
    Ok(if whole { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

#[expect(clippy::cast_precision_loss, reason = "a size for people")]
fn megabytes(bytes: u64) -> String {
    format!("{:.0} MB", bytes as f64 / 1e6)
}
