//! `openscholar papers …`.

mod add;
mod export;
mod graph;
mod graph_remote;
pub(crate) mod intake;
pub(crate) mod keep;
mod table;

use std::process::ExitCode;
use std::sync::Arc;

use scholar_core::text::untrusted;
use scholar_core::{Paper, PaperId, PaperMeta, Passage};
use scholar_datastore::Datastore;
use scholar_datastore::graph::Limits;

use crate::app::App;
use crate::args::{PapersArgs, PapersCommand};
use crate::error::CommandError;
use crate::output::table::Table;
use crate::printer::{Style, Styled};
use crate::wiring::{self, store_writer};
use export::Selection;
use graph_remote::{Question, Relation};

pub(crate) fn run(args: PapersArgs, app: &App) -> Result<ExitCode, CommandError> {
    let PapersArgs { datastore, command } = args;
    let name = app.datastore_name(datastore.as_deref());
    match command {
        PapersCommand::List { limit } => list(&name, limit, app),
        PapersCommand::Show { id } => show(&name, &id, app),
        PapersCommand::Add { sources, intake } => add::run(&name, sources, &intake, app),
        PapersCommand::Export { ids, run, format, output } => {
            let selection = run.as_deref().map_or(Selection::Papers(&ids), Selection::Run);
            export::run(&name, &selection, format, output.as_deref(), app)
        }
        PapersCommand::Table(args) => table::run(&name, *args, app),
        PapersCommand::Remove { ids } => remove(&name, &ids, app),
        PapersCommand::References { id, limit, graph_sources }
            if graph_sources.sources.is_empty() =>
        {
            graph::references(&name, &id, limit, app)
        }
        PapersCommand::References { id, limit, graph_sources } => {
            let question = Question { relation: Relation::References, id: &id, limit };
            graph_remote::run(&name, question, &graph_sources, app)
        }
        PapersCommand::CitedBy { id, limit, graph_sources } if graph_sources.sources.is_empty() => {
            graph::citers(&name, &id, limit, app)
        }
        PapersCommand::CitedBy { id, limit, graph_sources } => {
            let question = Question { relation: Relation::CitedBy, id: &id, limit };
            graph_remote::run(&name, question, &graph_sources, app)
        }
        PapersCommand::Related { id, limit, graph_sources } if graph_sources.sources.is_empty() => {
            graph::related(&name, &id, limit, app)
        }
        PapersCommand::Related { id, limit, graph_sources } => {
            let question = Question { relation: Relation::Related, id: &id, limit };
            graph_remote::run(&name, question, &graph_sources, app)
        }
        PapersCommand::Neighbours { id, hops, direction, links, limit } => {
            let limits = Limits { hops, links, papers: limit };
            graph::neighbours(&name, &id, direction.into(), limits, app)
        }
    }
}

fn open(name: &str, app: &App) -> Result<Arc<Datastore>, CommandError> {
    if name == crate::starter::NAME && !app.home.datastore(name)?.is_dir() {
        app.block_on(wiring::starter(app))??;
    }
    Ok(Arc::new(Datastore::open(&app.existing_datastore(name)?)?))
}

fn list(name: &str, limit: usize, app: &App) -> Result<ExitCode, CommandError> {
    let store = open(name, app)?;
    let mut papers: Vec<PaperMeta> = Vec::new();
    let mut total = 0_usize;
    store.each_paper(|paper| {
        total += 1;
        if papers.len() < limit {
            papers.push(paper);
        }
        Ok(())
    })?;
    if app.printer.json {
        app.printer.json(&serde_json::json!({"schema": "openscholar.papers/1", "total": total, "papers": papers}))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut table = Table::with_header(["id", "year", "title"]);
    for paper in &papers {
        let title: String = paper.display_title().chars().take(80).collect();
        table.add_row([
            paper.id.to_string(),
            paper.year.map(|year| year.to_string()).unwrap_or_default(),
            title,
        ]);
    }
    app.printer.out(&table.to_string())?;
    app.printer.say(&format!("{} of {total} papers in {name}", papers.len()));
    Ok(ExitCode::SUCCESS)
}

fn show(name: &str, id: &PaperId, app: &App) -> Result<ExitCode, CommandError> {
    let store = open(name, app)?;
    let Some(paper) = store.paper(id)? else {
        return Err(CommandError::user(format!("{name} has no paper {id}"))
            .with_hint("openscholar papers list"));
    };
    let passages = store.passages_of(id)?;
    let cited_by = store.citing(id)?;
    if app.printer.json {
        app.printer.json(&serde_json::json!({
            "schema": "openscholar.paper/1", "paper": paper, "passages": passages, "cited_by": cited_by,
        }))?;
        return Ok(ExitCode::SUCCESS);
    }
    app.printer.out_styled(&shown(&paper, &passages, cited_by.len()))?;
    Ok(ExitCode::SUCCESS)
}

/// A paper for people: each of its fields on one line, whatever it holds.
fn shown(paper: &Paper, passages: &[Passage], n_cited_by: usize) -> Styled {
    let meta = &paper.meta;
    let line = |text: &str| untrusted(text).line().to_string();
    let mut lines = vec![line(&meta.authors.join(", "))];
    lines.push(format!(
        "{} {} {}",
        meta.year.map(|year| year.to_string()).unwrap_or_default(),
        line(meta.venue.as_deref().unwrap_or_default()),
        line(&meta.id.to_string())
    ));
    lines.extend(meta.link().map(|link| line(&link)));
    lines.extend(meta.licence.as_ref().map(|licence| format!("licence: {}", line(licence))));
    lines.push(format!("{} references, cited by {n_cited_by} papers here", paper.references.len()));
    let mut text = Styled::new();
    text.styled(Style::Strong, line(&meta.display_title()))
        .plain(format!("\n{}", lines.join("\n")));
    for passage in passages {
        let kind = match passage.kind {
            kind if kind.is_prose() => String::new(),
            kind => format!(" [{}]", kind.name()),
        };
        let place = line(&format!("{} {}{kind}", passage.id, passage.section));
        text.plain("\n\n").styled(Style::Cyan, place).plain(format!("\n{}", line(&passage.text)));
    }
    text
}

fn remove(name: &str, ids: &[PaperId], app: &App) -> Result<ExitCode, CommandError> {
    let store = open(name, app)?;
    let mut writer = store_writer::open(name, &store, false, app)?;
    let removed = writer.remove(ids)?;
    writer.commit()?;
    app.printer.say(&format!("removed {removed} of {} papers from {name}", ids.len()));
    if app.printer.json {
        app.printer
            .json(&serde_json::json!({"schema": "openscholar.removed/1", "removed": removed}))?;
    }
    Ok(if removed == ids.len() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}
