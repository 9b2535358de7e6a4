//! Size and speed of the citation graph, and what they mean for a large one.

use std::path::Path;
use std::process::ExitCode;

use scholar_bench::performance::graph::{GraphReport, GraphTimings};
use scholar_core::PaperId;
use scholar_datastore::graph::{Direction, GraphSize, Limits, RELATED_LIST};
use scholar_datastore::{Datastore, Graph};

use crate::app::App;
use crate::error::CommandError;

/// Relatives asked for.
const RELATIVES: usize = 10;
/// A neighbourhood as the command line's defaults give it, two references away.
const LIMITS: Limits = Limits { hops: 2, links: 100, papers: 200 };

pub(super) fn run(
    name: &str,
    papers: usize,
    out: Option<&Path>,
    app: &App,
) -> Result<ExitCode, CommandError> {
    let store = Datastore::open(&app.existing_datastore(name)?)?;
    let graph = store.graph()?;
    let size = graph.size()?;
    if size.edges == 0 {
        return Err(CommandError::user(format!("no paper of {name} has references"))
            .with_hint("add papers with references, for example OpenAlex works"));
    }
    let ids = sample(&store, papers)?;
    let timed = [
        GraphTimings::measure("references", &ids, |id| references(&graph, id))?,
        GraphTimings::measure("citing papers", &ids, |id| cited_by(&graph, id))?,
        GraphTimings::measure("2 hops, ≤ 200 papers", &ids, |id| neighbours(&graph, id))?,
        GraphTimings::measure("10 related", &ids, |id| related(&graph, id))?,
    ];
    let json = serde_json::json!({"schema": "openscholar.bench-graph/1", "datastore": name, "sampled": ids.len(), "size": size, "timed": timed});
    let GraphSize {
        papers: stored,
        edges,
        inner_edges,
        dictionary_bytes,
        postings_bytes,
        references_bytes,
        papers_bytes,
    } = size;
    let text = GraphReport {
        name,
        machine: &super::machine(app),
        sampled: ids.len(),
        papers: stored,
        edges,
        inner_edges,
        parts: &[
            ("dictionary of cited identifiers", dictionary_bytes),
            ("lists of citing papers", postings_bytes),
            ("column of cited identifiers", references_bytes),
            ("column of own identifiers", papers_bytes),
        ],
        related_list: RELATED_LIST,
        timings: &timed,
    }
    .markdown();
    super::publish("graph", &text, &json, out, app)
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
