//! `openscholar papers references|cited-by|related|graph`: the citation graph.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;

use scholar_core::text::untrusted;
use scholar_core::{PaperId, PaperMeta, PrintedReference};
use scholar_datastore::graph::{Limits, Linked, Nearby, Neighbourhood};
use scholar_datastore::{Datastore, Graph};
use scholar_formats::library::printed::reference_title;
use serde_json::{Value, json};

use super::intake::matched::StoredTitles;
use crate::app::App;
use crate::args::GraphArgs;
use crate::error::CommandError;
use crate::output::graph_svg::{Drawing, DrawnPaper, svg};
use crate::output::table::Table;
use crate::printer::{Style, Styled};
use crate::runs;

/// Characters of a title shown to people.
const TITLE_CHARS: usize = 80;
/// What stands for what is not known of a work that is not stored.
const NOT_HERE: &str = "(not in this library)";

pub(super) fn references(
    name: &str,
    id: &PaperId,
    limit: usize,
    app: &App,
) -> Result<ExitCode, CommandError> {
    let store = super::open(name, app)?;
    let graph = store.graph()?;
    let Some(references) = graph.references(id)? else { return Err(unknown(name, id)) };
    let here = references.iter().filter(|linked| linked.stored).count();
    let printed = printed_only(&store, id)?;
    let total = references.len() + printed.len();
    let shown = &references[..references.len().min(limit)];
    let shown_printed = &printed[..printed.len().min(limit - shown.len())];
    if app.printer.json {
        let papers = all_described(&graph, shown)?;
        return print(
            app,
            "openscholar.references/1",
            id,
            json!({"total": total, "stored": here, "papers": papers, "printed": shown_printed}),
        );
    }
    let mut table = Table::with_header(["id", "year", "title"]);
    for linked in shown {
        table.add_row(row(&graph, linked)?);
    }
    for reference in shown_printed {
        let title = reference.title.as_deref().or_else(|| reference_title(&reference.text));
        let title = title.unwrap_or(&reference.text);
        table.add_row([
            NOT_HERE.to_owned(),
            reference.year.map(|year| year.to_string()).unwrap_or_default(),
            title.chars().take(TITLE_CHARS).collect(),
        ]);
    }
    app.printer.out(&table.to_string())?;
    let count = shown.len() + shown_printed.len();
    app.printer.say(&format!("{count} of {total} references, {here} of them in {name}"));
    Ok(ExitCode::SUCCESS)
}

/// Printed references of a paper that state no identifier and mean no stored paper.
fn printed_only(store: &Datastore, id: &PaperId) -> Result<Vec<PrintedReference>, CommandError> {
    let records = store.paper(id)?.map(|paper| paper.records).unwrap_or_default();
    let titles = StoredTitles::new(store)?;
    let mut alone = Vec::new();
    for reference in records.into_iter().flat_map(|record| record.references) {
        if reference.ids.is_empty() && titles.find(&reference)?.is_none() {
            alone.push(reference);
        }
    }
    Ok(alone)
}

pub(super) fn citers(
    name: &str,
    id: &PaperId,
    limit: usize,
    app: &App,
) -> Result<ExitCode, CommandError> {
    let store = super::open(name, app)?;
    let graph = store.graph()?;
    let citers = graph.citers(id)?;
    let total = citers.len();
    let shown: Vec<Linked> =
        citers.into_iter().take(limit).map(|id| Linked { id, stored: true }).collect();
    if app.printer.json {
        let papers = all_described(&graph, &shown)?;
        print(app, "openscholar.citers/1", id, json!({"total": total, "papers": papers}))
    } else {
        list(&graph, &shown, app)?;
        app.printer.say(&format!("{} of {total} papers in {name} that cite {id}", shown.len()));
        Ok(ExitCode::SUCCESS)
    }
}

pub(super) fn related(
    name: &str,
    id: &PaperId,
    limit: usize,
    app: &App,
) -> Result<ExitCode, CommandError> {
    let store = super::open(name, app)?;
    let graph = store.graph()?;
    let relatives = graph.related(id, limit)?;
    if app.printer.json {
        let papers = relatives
            .related
            .iter()
            .map(|related| {
                let paper = graph.meta(&related.id)?;
                Ok(json!({"score": related.score, "explanation": related.explanation, "paper": paper}))
            })
            .collect::<Result<Vec<Value>, CommandError>>()?;
        return print(
            app,
            "openscholar.related/1",
            id,
            json!({
                "common_references": relatives.common_references,
                "citers_sampled": relatives.citers_sampled,
                "papers": papers,
            }),
        );
    }
    for related in &relatives.related {
        let meta = graph.meta(&related.id)?;
        let title = meta.as_ref().map(|meta| meta.display_title()).unwrap_or_default();
        let mut text = Styled::new();
        text.styled(Style::Strong, untrusted(&title).line().to_string());
        let _infallible = writeln!(text, " {}", untrusted(&related.id.to_string()).line());
        text.styled(Style::Faint, related.explanation.to_string().trim_end());
        app.printer.out_styled(&text)?;
    }
    if relatives.related.is_empty() {
        app.printer.say(&format!("no paper in {name} shares a reference or a citer with {id}"));
    }
    if relatives.common_references > 0 {
        app.printer.say(&format!(
            "skipped {} references that very many papers cite",
            relatives.common_references
        ));
    }
    if relatives.citers_sampled {
        app.printer.say("very many papers cite it: a sample of them was read");
    }
    Ok(ExitCode::SUCCESS)
}

/// `openscholar papers graph`.
pub(super) fn around(
    name: &str,
    id: &PaperId,
    args: &GraphArgs,
    app: &App,
) -> Result<ExitCode, CommandError> {
    let GraphArgs { id: _, depth, direction, links, limit, svg } = args;
    let limits = Limits { hops: *depth, links: *links, papers: *limit };
    let store = super::open(name, app)?;
    let graph = store.graph()?;
    let Some(found) = graph.neighbourhood(id, (*direction).into(), limits)? else {
        return Err(unknown(name, id));
    };
    if let Some(file) = svg {
        draw(&graph, &found, file)?;
        app.printer.say(&format!("drawn to {}", file.display()));
    }
    if app.printer.json {
        let papers = found
            .papers
            .iter()
            .map(|paper| {
                let mut value = described(&graph, &paper.linked)?;
                value["hops"] = json!(paper.hops);
                Ok(value)
            })
            .collect::<Result<Vec<Value>, CommandError>>()?;
        return print(
            app,
            "openscholar.neighbours/1",
            id,
            json!({"cut": found.cut, "papers": papers, "edges": found.edges}),
        );
    }
    let mut table = Table::with_header(["hops", "link", "id", "year", "title"]);
    for paper in &found.papers {
        let [id, year, title] = row(&graph, &paper.linked)?;
        let link = how(&found, &paper.linked.id).to_owned();
        table.add_row([paper.hops.to_string(), link, id, year, title]);
    }
    app.printer.out(&table.to_string())?;
    app.printer.say(&format!("{} papers, {} references", found.papers.len(), found.edges.len()));
    if found.cut > 0 {
        app.printer.say(&format!(
            "not every link of {} papers was followed: raise --limit or --links for more",
            found.cut
        ));
    }
    Ok(ExitCode::SUCCESS)
}

/// How the first paper of `found` is linked to another, in a word; empty for itself and for those that are farther.
fn how(found: &Neighbourhood, id: &PaperId) -> &'static str {
    let Some(first) = found.papers.first().map(|paper| &paper.linked.id) else { return "" };
    let has = |from: &PaperId, to: &PaperId| {
        found.edges.iter().any(|edge| edge.from == *from && edge.to == *to)
    };
    match (has(first, id), has(id, first)) {
        _ if first == id => "",
        (true, true) => "cited, citing",
        (true, false) => "cited",
        (false, true) => "citing",
        (false, false) => "",
    }
}

fn draw(graph: &Graph<'_>, found: &Neighbourhood, file: &Path) -> Result<(), CommandError> {
    let mut papers = Vec::with_capacity(found.papers.len());
    let mut places: BTreeMap<&PaperId, usize> = BTreeMap::new();
    for (at, Nearby { linked, hops }) in found.papers.iter().enumerate() {
        let known = meta(graph, linked)?;
        places.insert(&linked.id, at);
        papers.push(DrawnPaper {
            id: linked.id.to_string(),
            title: known.as_ref().map(|known| known.title.clone()).unwrap_or_default(),
            year: known.and_then(|known| known.year),
            hops: *hops,
            stored: linked.stored,
        });
    }
    let place = |id: &PaperId| places.get(id).copied();
    let edges = found.edges.iter().filter_map(|edge| Some((place(&edge.from)?, place(&edge.to)?)));
    let edges: Vec<(usize, usize)> = edges.collect();
    let drawing = Drawing { papers: &papers, edges: &edges, cut: found.cut };
    runs::write_atomic(file, svg(drawing).as_bytes())
}

fn unknown(name: &str, id: &PaperId) -> CommandError {
    CommandError::user(format!("{name} has no paper {id}")).with_hint("openscholar papers list")
}

fn print(app: &App, schema: &str, id: &PaperId, fields: Value) -> Result<ExitCode, CommandError> {
    let mut document = json!({"schema": schema, "id": id});
    if let (Some(document), Value::Object(fields)) = (document.as_object_mut(), fields) {
        document.extend(fields);
    }
    app.printer.json(&document)?;
    Ok(ExitCode::SUCCESS)
}

/// Identifier, whether it is stored, and what is known of a stored one.
fn described(graph: &Graph<'_>, linked: &Linked) -> Result<Value, CommandError> {
    let mut value = json!(linked);
    if let Some(meta) = meta(graph, linked)? {
        value["title"] = json!(meta.title);
        value["year"] = json!(meta.year);
    }
    Ok(value)
}

fn all_described(graph: &Graph<'_>, papers: &[Linked]) -> Result<Vec<Value>, CommandError> {
    papers.iter().map(|linked| described(graph, linked)).collect()
}

fn meta(graph: &Graph<'_>, linked: &Linked) -> Result<Option<PaperMeta>, CommandError> {
    Ok(if linked.stored { graph.meta(&linked.id)? } else { None })
}

fn list(graph: &Graph<'_>, papers: &[Linked], app: &App) -> Result<(), CommandError> {
    let mut table = Table::with_header(["id", "year", "title"]);
    for linked in papers {
        table.add_row(row(graph, linked)?);
    }
    app.printer.out(&table.to_string())
}

fn row(graph: &Graph<'_>, linked: &Linked) -> Result<[String; 3], CommandError> {
    Ok(match meta(graph, linked)? {
        Some(meta) => [
            linked.id.to_string(),
            meta.year.map(|year| year.to_string()).unwrap_or_default(),
            meta.display_title().chars().take(TITLE_CHARS).collect(),
        ],
        None => [linked.id.to_string(), String::new(), NOT_HERE.to_owned()],
    })
}
