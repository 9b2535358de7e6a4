//! Size and speed of the citation graph, and what they mean for a large one.

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use scholar_core::PaperId;
use scholar_datastore::graph::{Direction, GraphSize, Limits};
use scholar_datastore::{Datastore, Graph};
use serde::Serialize;

use crate::app::App;
use crate::error::CommandError;

/// Papers of the large graph.
const LARGE_PAPERS: f64 = 45e6;
/// Relatives asked for.
const RELATIVES: usize = 10;
/// A neighbourhood as the command line's defaults give it, two references away.
const LIMITS: Limits = Limits { hops: 2, links: 100, papers: 200 };

/// Times of one question over many papers.
#[derive(Debug, Serialize)]
struct Timed {
    question: &'static str,
    /// What the answers hold, on average.
    mean_found: f64,
    p50_us: f64,
    p95_us: f64,
    max_us: f64,
}

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
        time("references", &ids, |id| Ok(graph.references(id)?.unwrap_or_default().len()))?,
        time("citers", &ids, |id| Ok(graph.citers(id)?.len()))?,
        time("2 hops, ≤ 200 papers", &ids, |id| neighbours(&graph, id))?,
        time("10 related", &ids, |id| Ok(graph.related(id, RELATIVES)?.related.len()))?,
    ];
    let json = serde_json::json!({"schema": "openscholar.bench-graph/1", "datastore": name, "sampled": ids.len(), "size": size, "timed": timed});
    let text = render(name, ids.len(), size, &timed, app);
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

#[expect(clippy::cast_precision_loss, reason = "times and counts of a measurement")]
fn time(
    question: &'static str,
    ids: &[PaperId],
    ask: impl Fn(&PaperId) -> Result<usize, CommandError>,
) -> Result<Timed, CommandError> {
    let mut micros = Vec::with_capacity(ids.len());
    let mut found = 0;
    for id in ids {
        let began = Instant::now();
        found += ask(id)?;
        micros.push(began.elapsed().as_secs_f64() * 1e6);
    }
    micros.sort_by(f64::total_cmp);
    let at = |tenths: usize| {
        micros.get(micros.len().saturating_sub(1) * tenths / 100).copied().unwrap_or_default()
    };
    Ok(Timed {
        question,
        mean_found: found as f64 / ids.len().max(1) as f64,
        p50_us: at(50),
        p95_us: at(95),
        max_us: at(100),
    })
}

#[expect(clippy::cast_precision_loss, reason = "sizes for people")]
fn render(name: &str, sampled: usize, size: GraphSize, timed: &[Timed], app: &App) -> String {
    let GraphSize {
        papers,
        edges,
        inner_edges,
        dictionary_bytes,
        postings_bytes,
        references_bytes,
        papers_bytes,
    } = size;
    let edges_per_paper = edges as f64 / papers as f64;
    let parts = [
        ("dictionary of cited identifiers", dictionary_bytes),
        ("lists of citing papers", postings_bytes),
        ("column of cited identifiers", references_bytes),
        ("column of own identifiers", papers_bytes),
    ];
    let total: u64 = parts.iter().map(|(_, bytes)| bytes).sum();
    let large = |bytes: u64| bytes as f64 / papers as f64 * LARGE_PAPERS / 1e9;
    let part_rows: String = parts
        .iter()
        .chain([&("all", total)])
        .map(|(part, bytes)| {
            format!(
                "| {part} | {:.2} | {:.1} | {:.1} |\n",
                *bytes as f64 / 1e6,
                *bytes as f64 / edges as f64,
                large(*bytes)
            )
        })
        .collect();
    let time_rows: String = timed
        .iter()
        .map(|row| {
            format!(
                "| {} | {:.1} | {:.0} | {:.0} | {:.0} |\n",
                row.question, row.mean_found, row.p50_us, row.p95_us, row.max_us
            )
        })
        .collect();
    format!(
        "# Citation graph\n\nCommand: `openscholar bench graph {name} --papers {sampled}`\n\nMachine: {}.\n\n\
         {papers} papers with {edges} references, {inner_edges} of them to stored papers.\n\n\
         | part | MB here | bytes per reference | GB at 45 million papers |\n|---|---|---|---|\n{part_rows}\n\
         The last column keeps this datastore's {edges_per_paper:.1} references per paper and its bytes per reference. \
         It errs on the high side for the dictionary, whose entries are shared by ever more references as papers are added, \
         and on the low side for lists and columns, whose numbers grow by a bit whenever papers or identifiers double: \
         from {papers} to 45 million that is {:.0} bits, {:.1} bytes, per reference in each.\n\n\
         | question | found on average | p50 µs | p95 µs | max µs |\n|---|---|---|---|---|\n{time_rows}\n\
         Each question was asked for {sampled} papers at even distances, one after the other on one thread, with the files in the system's cache. \
         The times grow with what is found, not with the datastore: a question looks up one term per identifier and segment \
         (a dictionary search, logarithmic in the number of identifiers) and reads the lists it names. \
         Related papers read the citers of every reference; lists over {} papers are left out or sampled, which bounds a question \
         at 45 million papers too.\n",
        super::machine(app),
        (LARGE_PAPERS / papers as f64).log2().max(0.0),
        (LARGE_PAPERS / papers as f64).log2().max(0.0) / 8.0,
        scholar_datastore::graph::RELATED_LIST,
    )
}
