//! Whether citation links of the best hits find papers that search misses.

mod sets;

use std::process::ExitCode;
use std::sync::Arc;

use scholar_bench::expansion::{
    Engines, ExpansionQuery, Material, Measured, SetReport, Tuned, Way, Wide, gather, markdown,
    measure, rated, tune_by_seeds, tune_together,
};
use scholar_core::{CitationGraph, Encoder as _, Reranker, SplitMix64};
use scholar_models::LocalEncoder;
use scholar_pipeline::config::scirag::LEAN_LINKS;

use crate::app::App;
use crate::args::BenchExpansionArgs;
use crate::config::DEFAULT_ENCODER;
use crate::error::{CommandError, ErrorKind};
use crate::progress;
use crate::wiring::{OpenDatastore, graph, models, reranker};
use sets::ExpansionSet;

/// Token states kept between queries: there are few documents and many queries.
const CACHE_BYTES: usize = 4 << 30;
/// Orders the queries, the first half of which is for development.
const SEED: u64 = 20_251_125;

pub(super) fn run(args: &BenchExpansionArgs, app: &App) -> Result<ExitCode, CommandError> {
    let BenchExpansionArgs { works, topics, cited, others, limit, out } = args;
    let name = app.config.encoder.as_deref().unwrap_or(DEFAULT_ENCODER);
    let encoder = app.block_on(models::encoder(app, name, models::Reading::WHOLE))??;
    let mut sets: Vec<ExpansionSet> = Vec::new();
    if let Some(file) = works {
        sets.extend(sets::works(file, topics.as_deref(), &encoder, app)?);
    }
    if let Some(folder) = cited {
        sets.push(sets::cited(folder, *others, &encoder, app)?);
    }
    let mut gathered = Vec::new();
    for set in sets {
        gathered.push(Gathered::new(set, *limit, &encoder, app)?);
    }
    let dev: Vec<&[Material]> =
        gathered.iter().map(Gathered::dev).filter(|dev| !dev.is_empty()).collect();
    let tuned = Way::ALL.map(|way| tune_together(&dev, way));
    let one_hop = Way::ALL.into_iter().filter(|way| way.is_one_hop());
    let by_seeds: Vec<Tuned> = one_hop.flat_map(|way| tune_by_seeds(&dev, way)).collect();
    let lean = rated(&dev, Way::Backward, LEAN_LINKS);
    let measured: Vec<Tuned> = tuned.into_iter().chain([lean]).collect();
    let mut reports = Vec::new();
    for one in &gathered {
        reports.push(one.report(&measured, app)?);
    }
    let reranker = gathered.first().map(|one| one.reranker.info().name.clone()).unwrap_or_default();
    let text = format!(
        "# Citation links beside search\n\nCommand: `openscholar bench expansion{}`\n\n\
         Encoder: {} ({}). Reranker: {reranker}. Machine: {}.\n\n{METHOD}\n\n{}",
        options(args),
        super::short(name),
        encoder.engine(),
        super::machine(app),
        markdown(&tuned, lean, &by_seeds, &reports),
    );
    let json = serde_json::json!({
        "schema": "openscholar.bench-expansion/1", "tuned": tuned, "lean": lean, "by_seeds": by_seeds, "sets": reports,
    });
    super::publish("graph-expansion", &text, &json, out.as_deref(), app)
}

const METHOD: &str = "Every system returns 100 papers for a query. Search is hybrid, its first 30 papers reranked, as `ask` does it. \
    Links are those of the best hits in that order, at most 100 of a hit and direction, and lead backward (to what a hit cites), forward \
    (to what cites it), or both; two links far, to what is cited together with a hit or cites the same papers, from the first 10 hits. \
    *By text alone*: the first 100 hits and the neighbours of the first 10 are searched and reranked together, links do not count. \
    The other rows fuse the reranked hits with a ranking by the number of links to the seeds, by reciprocal ranks (`retrieve::links`); \
    *by citations* is a control: the same neighbours, ranked by how often they are cited instead; \
    *reranked after* fuses the hits of the search and reranks the first 30 of what comes out. \
    Recall is over the papers to be found that are stored; intervals are of a bootstrap over queries (2,000 resamples), gains are paired \
    differences from the reranked search.";

fn options(args: &BenchExpansionArgs) -> String {
    let BenchExpansionArgs { works, topics, cited, others, limit, out: _ } = args;
    let path = |name: &str, path: &Option<std::path::PathBuf>| {
        let last = path.as_ref().and_then(|path| path.file_name());
        last.map(|last| format!(" --{name} {}", last.to_string_lossy())).unwrap_or_default()
    };
    let number =
        |name: &str, n: &Option<usize>| n.map(|n| format!(" --{name} {n}")).unwrap_or_default();
    [
        path("works", works),
        path("topics", topics),
        path("cited", cited),
        number("others", others),
        number("limit", limit),
    ]
    .concat()
}

/// A set with its engines and what they said.
struct Gathered {
    set: ExpansionSet,
    graph: Arc<dyn CitationGraph>,
    reranker: Arc<dyn Reranker>,
    materials: Vec<Material>,
    /// Queries for development, the first ones.
    dev: usize,
}

impl Gathered {
    fn new(
        mut set: ExpansionSet,
        limit: Option<usize>,
        encoder: &LocalEncoder,
        app: &App,
    ) -> Result<Self, CommandError> {
        let mut random = SplitMix64::new(SEED);
        set.queries.sort_by(|a, b| a.id.cmp(&b.id));
        random.shuffle(&mut set.queries);
        set.queries.truncate(limit.unwrap_or(usize::MAX));
        let dev = if set.splits { set.queries.len() / 2 } else { 0 };
        let graph = graph::stored(&set.datastore);
        let (reranker, notice) =
            app.block_on(reranker::open(app, &set.datastore, None, Some(CACHE_BYTES)))??;
        if let Some(notice) = notice {
            return Err(CommandError::new(ErrorKind::Unavailable, notice.message)
                .with_hint(notice.hint.unwrap_or_default()));
        }
        app.printer.say(&format!(
            "{}: {} with {}",
            set.name,
            set.queries.len(),
            encoder.info().name
        ));
        let bar = progress::counted(&app.printer, "queries", Some(set.queries.len() as u64))
            .with_message(set.name.clone());
        let engines = engines(&set.datastore, graph.as_ref(), reranker.as_ref());
        let materials = app.block_on(async {
            let mut materials = Vec::with_capacity(set.queries.len());
            for query in &set.queries {
                materials.push(gather(engines, query).await?);
                bar.inc(1);
            }
            Ok::<_, CommandError>(materials)
        })??;
        bar.finish_and_clear();
        Ok(Self { set, graph, reranker, materials, dev })
    }

    fn dev(&self) -> &[Material] {
        &self.materials[..self.dev]
    }

    /// The queries that rules were not chosen with.
    fn test(&self) -> (&[ExpansionQuery], &[Material]) {
        (&self.set.queries[self.dev..], &self.materials[self.dev..])
    }

    fn report(&self, tuned: &[Tuned], app: &App) -> Result<SetReport, CommandError> {
        let (queries, materials) = self.test();
        let engines = engines(&self.set.datastore, self.graph.as_ref(), self.reranker.as_ref());
        let bar = progress::counted(&app.printer, "reranked", Some(4 * queries.len() as u64))
            .with_message(self.set.name.clone());
        let (systems, wide): (Vec<Measured>, Vec<Wide>) =
            app.block_on(measure(engines, queries, materials, tuned, &mut || bar.inc(1)))??;
        bar.finish_and_clear();
        let links = self.set.datastore.store.graph()?.size()?;
        let gold: usize = queries.iter().map(|query| query.gold.len()).sum();
        #[expect(clippy::cast_precision_loss, reason = "a mean of a few papers")]
        let gold = gold as f64 / queries.len().max(1) as f64;
        Ok(SetReport {
            name: self.set.name.clone(),
            about: self.set.about.clone(),
            papers: links.papers,
            inner_edges: links.inner_edges,
            dev: self.dev,
            test: queries.len(),
            gold,
            systems,
            wide,
        })
    }
}

fn engines<'a>(
    datastore: &'a OpenDatastore,
    graph: &'a dyn CitationGraph,
    reranker: &'a dyn Reranker,
) -> Engines<'a> {
    Engines { retriever: datastore.retriever.as_ref(), graph, reranker }
}
