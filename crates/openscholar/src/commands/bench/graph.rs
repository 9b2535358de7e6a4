//! Size and speed of the citation graph, and what they mean for a large one.

mod synthetic;

use std::process::ExitCode;

use scholar_bench::performance::graph::{GraphReport, GraphTimings, MeasuredGraph};
use scholar_core::{CitationGraph as _, LinkDirection, NeighbourRequest, PaperId, SearchFilter};
use scholar_datastore::graph::{Direction, GraphSize, Limits, RELATED_LIST};
use scholar_datastore::{Datastore, Graph};

use crate::app::App;
use crate::args::BenchGraphArgs;
use crate::error::CommandError;

/// Relatives asked for.
const RELATIVES: usize = 10;
/// Papers whose neighbours are asked for at once.
const GROUP: usize = 10;
/// How often those of the most cited papers are.
const HUB_ROUNDS: usize = 21;
/// A neighbourhood as the command line's defaults give it, two references away.
const LIMITS: Limits = Limits { hops: 2, links: 100, papers: 200 };

pub(super) fn run(args: &BenchGraphArgs, app: &App) -> Result<ExitCode, CommandError> {
    let BenchGraphArgs { name, papers, synthetic: made, out } = args;
    let name = app.datastore_name(name.as_deref());
    let store = Datastore::open(&app.existing_datastore(&name)?)?;
    let mut graphs = vec![measured(&name, &store, *papers, None)?];
    if let Some(count) = made {
        let (store, built) = synthetic::store(*count, app)?;
        let name = format!("{count} synthetic papers");
        graphs.push(measured(&name, &store, *papers, Some(built))?);
    }
    let option = made.map(|count| format!(" --synthetic {count}")).unwrap_or_default();
    let report = GraphReport {
        command: format!("openscholar bench graph {name} --papers {papers}{option}"),
        machine: super::machine(app),
        related_list: RELATED_LIST,
        graphs: &graphs,
    };
    let json = serde_json::json!({"schema": "openscholar.bench-graph/2", "graphs": graphs});
    super::publish("graph", &report.markdown(), &json, out.as_deref(), app)
}

fn measured(
    name: &str,
    store: &Datastore,
    papers: usize,
    built: Option<String>,
) -> Result<MeasuredGraph, CommandError> {
    let graph = store.graph()?;
    let size = graph.size()?;
    if size.edges == 0 {
        return Err(CommandError::user(format!("no paper of {name} has references"))
            .with_hint("add papers with references, for example OpenAlex works"));
    }
    let ids = sample(store, papers)?;
    let groups: Vec<&[PaperId]> = ids.chunks(GROUP).collect();
    let most = most_cited(&graph, &ids)?;
    // Once before it is measured: files are in the page cache, as they are while a question is answered.
    for group in groups.iter().chain([&most.as_slice()]) {
        one_hop(store, group)?;
    }
    let hubs = vec![most.as_slice(); HUB_ROUNDS];
    let timings = vec![
        GraphTimings::measure("references", &ids, |id| references(&graph, id))?,
        GraphTimings::measure("citing papers", &ids, |id| cited_by(&graph, id))?,
        GraphTimings::measure("2 hops, ≤ 200 papers", &ids, |id| neighbours(&graph, id))?,
        GraphTimings::measure("10 related", &ids, |id| related(&graph, id))?,
        GraphTimings::measure("neighbours of 10 papers, with texts", &groups, |ids| {
            one_hop(store, ids)
        })?,
        GraphTimings::measure("the same of the 10 most cited of these", &hubs, |ids| {
            one_hop(store, ids)
        })?,
    ];
    let GraphSize {
        papers: stored,
        edges,
        inner_edges,
        dictionary_bytes,
        postings_bytes,
        references_bytes,
        papers_bytes,
    } = size;
    Ok(MeasuredGraph {
        name: name.to_owned(),
        built,
        sampled: ids.len(),
        papers: stored,
        edges,
        inner_edges,
        parts: vec![
            ("dictionary of cited identifiers", dictionary_bytes),
            ("lists of citing papers", postings_bytes),
            ("column of cited identifiers", references_bytes),
            ("column of own identifiers", papers_bytes),
        ],
        timings,
    })
}

/// The [`GROUP`] papers of `ids` that most stored papers cite.
fn most_cited(graph: &Graph<'_>, ids: &[PaperId]) -> Result<Vec<PaperId>, CommandError> {
    let mut counted = Vec::with_capacity(ids.len());
    for id in ids {
        counted.push((std::cmp::Reverse(graph.citers(id)?.len()), id.clone()));
    }
    counted.sort();
    Ok(counted.into_iter().take(GROUP).map(|(_, id)| id).collect())
}

/// Through the port, as an answer asks it.
fn one_hop(store: &Datastore, ids: &[PaperId]) -> Result<usize, CommandError> {
    let request = NeighbourRequest {
        papers: ids.to_vec(),
        directions: vec![LinkDirection::References, LinkDirection::Citations],
        per_paper: LIMITS.links,
        filter: SearchFilter::none(),
    };
    Ok(futures::executor::block_on(store.neighbours(&request))?.found.len())
}

/// `papers` stored papers at even distances in the order of storing.
fn sample(store: &Datastore, papers: usize) -> Result<Vec<PaperId>, CommandError> {
    let mut all = Vec::new();
    store.each_paper(|paper| {
        all.push(paper.id);
        Ok(())
    })?;
    let step = (all.len() / papers.max(1)).max(1);
    Ok(all.into_iter().step_by(step).take(papers).collect())
}

fn neighbours(graph: &Graph<'_>, id: &PaperId) -> Result<usize, CommandError> {
    let found = graph.neighbourhood(id, Direction::Both, LIMITS)?;
    Ok(found.map_or(0, |found| found.papers.len()))
}

fn cited_by(graph: &Graph<'_>, id: &PaperId) -> Result<usize, CommandError> {
    Ok(graph.citers(id)?.len())
}

fn references(graph: &Graph<'_>, id: &PaperId) -> Result<usize, CommandError> {
    Ok(graph.references(id)?.unwrap_or_default().len())
}

fn related(graph: &Graph<'_>, id: &PaperId) -> Result<usize, CommandError> {
    Ok(graph.related(id, RELATIVES)?.related.len())
}
