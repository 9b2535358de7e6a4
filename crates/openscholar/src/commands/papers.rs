//! `openscholar papers …`.

pub(crate) mod add;
pub(crate) mod address;
pub(crate) mod audience;
mod check;
mod export;
mod graph;
mod graph_remote;
pub(crate) mod intake;
pub(crate) mod keep;
pub(crate) mod list;
mod page;
pub(crate) mod screen;
pub(crate) mod settle;
mod shown;
pub(crate) mod table;
mod wanted;

use std::process::ExitCode;
use std::sync::Arc;

use scholar_core::{Paper, PaperId, PaperMeta};
use scholar_datastore::Datastore;

use crate::app::App;
use crate::args::{PapersArgs, PapersCommand};
use crate::error::CommandError;
use crate::wiring::{self, store_writer};
use export::Selection;
use graph_remote::{Question, Relation};

pub(crate) fn run(args: PapersArgs, app: &App) -> Result<ExitCode, CommandError> {
    let PapersArgs { datastore, command } = args;
    let name = app.datastore_name(datastore.as_deref());
    match command {
        PapersCommand::List(args) => list::run(&name, *args, app),
        PapersCommand::Show { id, page } => shown::run(&name, &id, &page, app),
        PapersCommand::Add { sources, intake } => {
            let name = added_to(datastore.as_deref(), app);
            add::run(&name, sources, &intake, app)
        }
        PapersCommand::Check { forget } => check::run(&name, forget, app),
        PapersCommand::Duplicates { limit } => settle::duplicates(&name, limit, app),
        PapersCommand::Merge { ids } => settle::merge(&name, &ids, app),
        PapersCommand::Split { id, others } => settle::split(&name, &id, &others, app),
        PapersCommand::Wanted { limit, format } => wanted::run(&name, limit, format, app),
        PapersCommand::Export { ids, run, format, output } => {
            let selection = run.as_deref().map_or(Selection::Papers(&ids), Selection::Run);
            export::run(&name, &selection, format, output.as_deref(), app)
        }
        PapersCommand::Screen(args) => screen::run(&name, *args, app),
        PapersCommand::Table(args) => table::run(&name, *args, app),
        PapersCommand::Remove { ids } => remove(&name, &ids, app),
        PapersCommand::References { id, limit, graph_sources } => {
            let id = address::any(&*open(&name, app)?, &name, &id)?;
            if graph_sources.sources.is_empty() {
                return graph::references(&name, &id, limit, app);
            }
            let question = Question { relation: Relation::References, id: &id, limit };
            graph_remote::run(&name, question, &graph_sources, app)
        }
        PapersCommand::CitedBy { id, limit, graph_sources } => {
            let id = address::any(&*open(&name, app)?, &name, &id)?;
            if graph_sources.sources.is_empty() {
                return graph::citers(&name, &id, limit, app);
            }
            let question = Question { relation: Relation::CitedBy, id: &id, limit };
            graph_remote::run(&name, question, &graph_sources, app)
        }
        PapersCommand::Related { id, limit, graph_sources } => {
            let id = address::any(&*open(&name, app)?, &name, &id)?;
            if graph_sources.sources.is_empty() {
                return graph::related(&name, &id, limit, app);
            }
            let question = Question { relation: Relation::Related, id: &id, limit };
            graph_remote::run(&name, question, &graph_sources, app)
        }
        PapersCommand::Graph(args) => {
            let id = address::any(&*open(&name, app)?, &name, &args.id)?;
            graph::around(&name, &id, &args, app)
        }
    }
}

/// The datastore that papers are added to: the one named, else the default one; never the papers that come with the program
/// unless they are named.
fn added_to(flag: Option<&str>, app: &App) -> String {
    let default = app.config.datastore.as_deref().filter(|name| *name != crate::starter::NAME);
    flag.or(default).unwrap_or(crate::config::LIBRARY_DATASTORE).to_owned()
}

/// Papers without text, as exporters take them.
pub(crate) fn bare(metas: Vec<PaperMeta>) -> Vec<Paper> {
    let bare =
        |meta| Paper { meta, sections: Vec::new(), references: Vec::new(), records: Vec::new() };
    metas.into_iter().map(bare).collect()
}

/// Two ways to print at once are a mistake.
pub(crate) fn refuse_json_with_format(has_format: bool, app: &App) -> Result<(), CommandError> {
    if has_format && app.printer.json {
        return Err(CommandError::usage("--json and --format cannot be used together").with_hint(
            "--json prints everything that is known, --format a form to read or to import",
        ));
    }
    Ok(())
}

fn open(name: &str, app: &App) -> Result<Arc<Datastore>, CommandError> {
    if name == crate::starter::NAME && !app.home.datastore(name)?.is_dir() {
        app.block_on(wiring::starter(app))??;
    }
    Ok(Arc::new(Datastore::open(&app.existing_datastore(name)?)?))
}

fn remove(name: &str, names: &[String], app: &App) -> Result<ExitCode, CommandError> {
    let store = open(name, app)?;
    let mut found: Vec<(String, PaperId)> = Vec::new();
    let mut missing: Vec<CommandError> = Vec::new();
    for text in names {
        match address::stored(&store, name, text) {
            Ok(id) => found.push((text.clone(), id)),
            Err(error) => missing.push(error),
        }
    }
    let ids: Vec<PaperId> = found.iter().map(|(_, id)| id.clone()).collect();
    let mut removed = 0;
    if !ids.is_empty() {
        let mut writer = store_writer::open(name, &store, false, app)?;
        removed = writer.remove(&ids)?;
        writer.commit()?;
    }
    for error in &missing {
        app.printer.notice(&error.notice());
    }
    app.printer.say(&format!("removed {removed} of {} papers from {name}", names.len()));
    if app.printer.json {
        let unknown: Vec<String> = missing.iter().map(|error| error.notice().message).collect();
        app.printer.json(&serde_json::json!({
            "schema": "openscholar.removed/1", "removed": removed, "papers": ids, "not_removed": unknown,
        }))?;
    }
    Ok(if missing.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}
