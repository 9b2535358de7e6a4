//! Latency of searching a datastore, one query at a time on one thread.

mod memory;
mod synthetic;

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use scholar_bench::performance::search::{QueryTime, SearchReport, SearchRound, SearchTimings};
use scholar_bench::retrieval::Collection;
use scholar_core::{
    Embeddings, Encoder, EncoderInfo, PaperId, PortError, PortErrorKind, Query, SearchFilter,
    SearchMode, SearchRequest, Side,
};
use scholar_datastore::{Datastore, DenseSearch, HybridRetriever, SearchConfig, SearchPool};

use super::machine;
use crate::app::App;
use crate::args::BenchSearchArgs;
use crate::error::{CommandError, Context as _};
use crate::wiring::models;
use memory::compared;

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

pub(super) fn run(args: &BenchSearchArgs, app: &App) -> Result<ExitCode, CommandError> {
    let BenchSearchArgs { name, dir, limit, top_k, synthetic, out } = args;
    let collection = Collection::load(dir)?;
    let mut store = Datastore::open(&app.existing_datastore(name)?)?;
    if let Some(count) = synthetic {
        store = synthetic::store(name, &store, *count, app)?;
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
    let before = memory::resident();
    let store = Arc::new(Datastore::open(&root)?);
    let one = rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .build()
        .user(|| "a thread cannot be started".to_owned())?;
    let kinds = kinds(&store, &remembered, &queries, *top_k);
    let ask = |searches: &Searches<'_>, dense| one.install(|| searches.run(dense));
    let indexed = DenseSearch::Indexed { probe: None };
    let quick = kinds.iter().map(|kind| ask(kind, indexed)).collect::<Result<Vec<_>, _>>()?;
    let after = memory::resident();
    // Only now: it reads every vector there is.
    let mut timed = Vec::new();
    for (kind, round) in kinds.iter().zip(quick) {
        let exact = match kind.mode {
            SearchMode::Lexical => None,
            SearchMode::Dense | SearchMode::Hybrid => Some(ask(kind, DenseSearch::Exact)?),
        };
        timed.push(SearchTimings::new(kind.mode, kind.filter.0, &round, exact.as_ref()));
    }
    let described = store.info()?;
    let memory = before.zip(after).map(|(before, after)| compared(before, after, &described));
    let folder = args.dir.file_name().unwrap_or_default().to_string_lossy();
    let option = synthetic.map(|count| format!(" --synthetic {count}")).unwrap_or_default();
    let command =
        format!("openscholar bench search {name} {folder} --limit {limit} --top-k {top_k}{option}");
    let text = SearchReport {
        command: &command,
        machine: &machine(app),
        is_synthetic: synthetic.is_some(),
        papers: described.papers,
        passages: described.passages,
        dense_segments: described.dense_segments,
        index_bytes: described.index_bytes,
        lexical_bytes: described.lexical_bytes,
        timings: &timed,
        memory: memory.as_ref(),
    }
    .markdown();
    let json = serde_json::json!({"schema": "openscholar.bench-search/1", "datastore": described, "queries": queries.len(), "searches": timed, "memory": memory});
    let report = if synthetic.is_some() { "search-synthetic" } else { "search" };
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

/// Milliseconds of CPU time of this thread.
fn cpu_ms() -> Option<f64> {
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
    fn run(&self, dense: DenseSearch) -> Result<SearchRound, CommandError> {
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
            let (started, cpu) = (Instant::now(), cpu_ms());
            let hits = retriever.search_blocking(&request)?;
            let ms = started.elapsed().as_secs_f64() * 1_000.0;
            let spent = cpu.zip(cpu_ms()).map(|(before, after)| after - before);
            times.push(QueryTime { ms, cpu_ms: spent });
            found.push(hits.iter().map(|hit| hit.passage.id.to_string()).collect());
        }
        Ok(SearchRound { times, found })
    }
}
