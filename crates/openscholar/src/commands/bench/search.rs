//! Latency of searching a datastore, one query at a time on one thread.

mod made;
mod memory;

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use scholar_bench::retrieval::Collection;
use scholar_core::{
    Embeddings, Encoder, EncoderInfo, PaperId, PortError, PortErrorKind, Query, SearchFilter,
    SearchMode, SearchRequest, Side,
};
use scholar_datastore::{Datastore, DenseSearch, HybridRetriever, SearchConfig, SearchPool};
use serde::Serialize;

use crate::app::App;
use crate::args::BenchSearchArgs;
use crate::error::{CommandError, Context as _};
use crate::wiring::models;
use memory::{Memory, Resident};

/// The vectors of known queries: what the encoder takes is measured by `bench encoder`.
struct Remembered {
    info: EncoderInfo,
    vectors: BTreeMap<String, Vec<f32>>,
}

impl Encoder for Remembered {
    fn info(&self) -> &EncoderInfo {
        &self.info
    }

    fn encode(&self, _side: Side, texts: &[&str]) -> Result<Embeddings, PortError> {
        let mut values = Vec::new();
        for text in texts {
            values.extend(self.vectors.get(*text).ok_or_else(|| {
                PortError::new(PortErrorKind::Rejected, "a query that was not encoded before")
            })?);
        }
        Ok(Embeddings { values, dim: self.info.dim, truncated: 0 })
    }
}

/// Times of one kind of search in milliseconds.
#[derive(Debug, Serialize)]
struct Timed {
    search: String,
    filter: String,
    p50_ms: f64,
    p90_ms: f64,
    p99_ms: f64,
    /// Mean time that the thread had a CPU, which others on the machine lengthen less. The system counts it in steps
    /// that may be longer than a query.
    processor_mean_ms: Option<f64>,
    /// Mean share of the results of the exact search that are found, where that was asked.
    same_as_exact: Option<f64>,
}

pub(super) fn run(args: &BenchSearchArgs, app: &App) -> Result<ExitCode, CommandError> {
    let BenchSearchArgs { name, dir, limit, top_k, made, out } = args;
    let collection = Collection::load(dir)?;
    let mut store = Datastore::open(&app.existing_datastore(name)?)?;
    if let Some(count) = made {
        store = made::store(name, &store, *count, app)?;
    }
    let info = store.descriptor().encoder.clone();
    let encoder = app.block_on(models::encoder(app, &info.name, (&info).into()))??;
    let queries: Vec<Query> =
        collection.queries.iter().take(*limit).map(|query| query.query.clone()).collect();
    let mut vectors = BTreeMap::new();
    for query in &queries {
        let found = encoder.encode(Side::Query, &[query.as_str()])?;
        vectors.insert(query.as_str().to_owned(), found.values);
    }
    drop(encoder);
    let remembered: Arc<dyn Encoder> = Arc::new(Remembered { info, vectors });
    let root = store.root().to_owned();
    drop(store);
    let before = Resident::now();
    let store = Arc::new(Datastore::open(&root)?);
    let one = rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .build()
        .user(|| "no thread can be started".to_owned())?;
    let kinds = kinds(&store, &remembered, &queries, *top_k);
    let ask = |searches: &Searches<'_>, dense| one.install(|| searches.run(dense));
    let indexed = DenseSearch::Indexed { probe: None };
    let quick = kinds.iter().map(|kind| ask(kind, indexed)).collect::<Result<Vec<_>, _>>()?;
    let after = Resident::now();
    // Only now: it reads every vector there is.
    let mut timed = Vec::new();
    for (kind, Round { times, found }) in kinds.iter().zip(quick) {
        let same = match kind.mode {
            SearchMode::Lexical => None,
            SearchMode::Dense | SearchMode::Hybrid => {
                Some(shared(&found, &ask(kind, DenseSearch::Exact)?.found))
            }
        };
        timed.push(summary(kind, times, same));
    }
    let described = store.info()?;
    let memory = before.zip(after).map(|(before, after)| Memory::new(before, after, &described));
    let text = markdown(args, &timed, (&described, memory.as_ref()), &super::machine(app));
    let json = serde_json::json!({"schema": "openscholar.bench-search/1", "datastore": described, "queries": queries.len(), "searches": timed, "memory": memory});
    let report = if made.is_some() { "search-made" } else { "search" };
    super::publish(report, &text, &json, out.as_deref(), app)
}

/// Each mode with each filter.
fn kinds<'a>(
    store: &'a Arc<Datastore>,
    encoder: &'a Arc<dyn Encoder>,
    queries: &'a [Query],
    top_k: usize,
) -> Vec<Searches<'a>> {
    let only = |from: i16, to: Option<i16>| SearchFilter {
        year_from: Some(from),
        year_to: to,
        ..SearchFilter::none()
    };
    let narrow = only(2016, Some(2016));
    let filters = [
        ("none", SearchFilter::none(), false),
        ("year ≥ 2010", only(2010, None), false),
        ("year = 2016", narrow.clone(), false),
        ("year = 2016, never asked before", narrow, true),
    ];
    let modes = [SearchMode::Lexical, SearchMode::Dense, SearchMode::Hybrid];
    let each = modes.iter().flat_map(|mode| filters.iter().map(move |filter| (*mode, filter)));
    each.map(|(mode, (label, filter, is_new))| {
        let (filter, is_new) = ((*label, filter.clone()), *is_new);
        Searches { store, encoder, queries, top_k, mode, filter, is_new }
    })
    .collect()
}

/// Milliseconds of each query, and the passages it found.
struct Round {
    times: Vec<Took>,
    found: Vec<Vec<String>>,
}

/// What a query took.
#[derive(Debug, Clone, Copy)]
struct Took {
    ms: f64,
    /// Of the CPU, where the system tells.
    processor_ms: Option<f64>,
}

/// Milliseconds for which this thread has had a CPU.
fn processor_ms() -> Option<f64> {
    let schedule = fs_err::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds: f64 = schedule.split_whitespace().next()?.parse().ok()?;
    Some(nanoseconds / 1e6)
}

/// The same queries in one way.
struct Searches<'a> {
    store: &'a Arc<Datastore>,
    encoder: &'a Arc<dyn Encoder>,
    queries: &'a [Query],
    top_k: usize,
    mode: SearchMode,
    /// With its name in the report.
    filter: (&'static str, SearchFilter),
    /// Whether each query excludes another paper, which is not there, so that no filter is remembered.
    is_new: bool,
}

impl Searches<'_> {
    /// Milliseconds and results of each query, after one round that brings pages and term figures into memory.
    fn run(&self, dense: DenseSearch) -> Result<Round, CommandError> {
        let Self { store, encoder, queries, top_k, mode, filter: (_, filter), is_new } = self;
        let config = SearchConfig { dense, ..SearchConfig::tuned() };
        let pool = Arc::new(SearchPool::new(1, 1)?);
        let retriever = HybridRetriever::new(Arc::clone(store), Arc::clone(encoder), config, pool)?;
        let request = |nth: usize, query: &Query| {
            let mut filter = filter.clone();
            if *is_new {
                filter.exclude.insert(PaperId::Pmcid(u64::MAX - nth as u64));
            }
            SearchRequest { query: query.clone(), top_k: *top_k, mode: *mode, filter }
        };
        let (mut times, mut found) = (Vec::new(), Vec::new());
        for (nth, query) in queries.iter().enumerate() {
            retriever.search_blocking(&request(nth, query))?;
        }
        for (nth, query) in queries.iter().enumerate() {
            let request = request(queries.len() + nth, query);
            let (started, processor) = (Instant::now(), processor_ms());
            let hits = retriever.search_blocking(&request)?;
            let ms = started.elapsed().as_secs_f64() * 1_000.0;
            let spent = processor.zip(processor_ms()).map(|(before, after)| after - before);
            times.push(Took { ms, processor_ms: spent });
            found.push(hits.iter().map(|hit| hit.passage.id.to_string()).collect());
        }
        Ok(Round { times, found })
    }
}

fn shared(found: &[Vec<String>], exact: &[Vec<String>]) -> f64 {
    let (mut same, mut all) = (0, 0);
    for (found, exact) in found.iter().zip(exact) {
        same += exact.iter().filter(|id| found.contains(id)).count();
        all += exact.len();
    }
    same as f64 / all.max(1) as f64
}

fn summary(kind: &Searches<'_>, times: Vec<Took>, same_as_exact: Option<f64>) -> Timed {
    let processor: Option<Vec<f64>> = times.iter().map(|took| took.processor_ms).collect();
    let mut times: Vec<f64> = times.iter().map(|took| took.ms).collect();
    times.sort_by(f64::total_cmp);
    let at = |share: usize| times.get(times.len() * share / 100).copied().unwrap_or_default();
    let search = match kind.mode {
        SearchMode::Lexical => "lexical",
        SearchMode::Dense => "dense",
        SearchMode::Hybrid => "hybrid",
    };
    Timed {
        search: search.to_owned(),
        filter: kind.filter.0.to_owned(),
        p50_ms: at(50),
        p90_ms: at(90),
        p99_ms: at(99),
        processor_mean_ms: processor
            .map(|times| times.iter().sum::<f64>() / times.len().max(1) as f64),
        same_as_exact,
    }
}

fn markdown(
    args: &BenchSearchArgs,
    timed: &[Timed],
    (store, memory): (&scholar_datastore::DatastoreInfo, Option<&Memory>),
    machine: &str,
) -> String {
    let folder = args.dir.file_name().unwrap_or_default().to_string_lossy();
    let made = args.made.map(|count| format!(" --made {count}")).unwrap_or_default();
    let how = args.made.map_or("", |_| {
        " Passages are runs of 50 words of real ones under their papers' metadata, vectors real ones moved by a share of the \
         difference of two others."
    });
    let rows: Vec<String> = timed
        .iter()
        .map(|timed| {
            let Timed { search, filter, p50_ms, p90_ms, p99_ms, processor_mean_ms, same_as_exact } =
                timed;
            let none = || "–".to_owned();
            let same = same_as_exact.map_or_else(none, |same| format!("{same:.4}"));
            let processor = processor_mean_ms.map_or_else(none, |ms| format!("{ms:.2}"));
            format!(
                "| {search} | {filter} | {p50_ms:.2} | {p90_ms:.2} | {p99_ms:.2} | {processor} | {same} |\n"
            )
        })
        .collect();
    format!(
        "# Searching a datastore\n\nCommand: `openscholar bench search {} {folder} --limit {} --top-k {}{made}`\n\nMachine: {machine}. One query at a \
         time on one thread; warm; without encoding the query. A filter is remembered, unless it was never asked before.{how}\n\n{} papers, {} passages, {} dense segments, {:.0} MB of inverted indexes, \
         {:.0} MB of lexical index.\n\n\
         | search | filter | p50 ms | p90 ms | p99 ms | mean CPU ms | results shared with exact search |\n\
         |---|---|---|---|---|---|---|\n{}{}",
        args.name,
        args.limit,
        args.top_k,
        store.papers,
        store.passages,
        store.dense_segments,
        store.index_bytes as f64 / 1e6,
        store.lexical_bytes as f64 / 1e6,
        rows.concat(),
        memory.map(Memory::markdown).unwrap_or_default(),
    )
}
