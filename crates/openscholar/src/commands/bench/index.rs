//! The dense index by itself: recall against exact search, latency, size, time to build, beside other libraries.

mod peers;

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use rayon::prelude::*;
use scholar_bench::performance::index::{
    BuildStages, IndexMeasurement, IndexPoint, IndexReport, OURS, RecallLatency, recall_latency,
};
use scholar_bench::performance::synthetic::RealVectors;
use scholar_datastore::dense::StandaloneIndex;
use scholar_datastore::dense::ivf::{Bits, IvfOptions, IvfStage};
use scholar_datastore::{Datastore, Probe};

use crate::app::App;
use crate::args::BenchIndexArgs;
use crate::error::{CommandError, Context as _, ErrorKind};
use crate::progress;
use crate::runs;

/// Lists probed, for the curve.
const PROBES: [usize; 8] = [8, 16, 32, 64, 128, 256, 512, 1_024];
/// Queries of the exact scan on one thread.
const SCANNED_QUERIES: usize = 15;
/// Rows rescored, as a multiple of the results wanted.
const RESCORED: [usize; 3] = [2, 4, 8];

pub(super) fn run(args: &BenchIndexArgs, app: &App) -> Result<ExitCode, CommandError> {
    let synthetic =
        args.synthetic.iter().map(|text| SetSize::parse(text)).collect::<Result<Vec<_>, _>>()?;
    let stores = args
        .stores
        .iter()
        .map(|name| Ok(Datastore::open(&app.home.datastore(name)?)?))
        .collect::<Result<Vec<_>, CommandError>>()?;
    let real = read_vectors(&stores)?;
    if real.count() < args.queries * 4 {
        return Err(CommandError::user(format!("{} vectors are too few to measure", real.count())));
    }
    let work = args.work.clone().unwrap_or_else(|| app.home.data().to_owned());
    fs_err::create_dir_all(&work).map_err(|source| CommandError::unwritable(&work, source))?;
    let folder = || {
        tempfile::Builder::new()
            .prefix("bench-index-")
            .tempdir_in(&work)
            .map_err(|source| CommandError::unwritable(&work, source))
    };
    let mut sets = Vec::new();
    if !args.only_synthetic {
        let folder = folder()?;
        let (index, queries) = held_out(&real, args.queries, folder.path())?;
        sets.push(measure("real", index, &queries, folder.path(), args, app)?);
    }
    for SetSize { rows, dim } in synthetic {
        if dim != real.dim() && dim != real.dim() * 2 {
            return Err(CommandError::user(format!(
                "synthetic vectors have {} or {} dimensions here, not {dim}",
                real.dim(),
                real.dim() * 2
            )));
        }
        let folder = folder()?;
        let mut queries = vec![vec![0.0; dim]; args.queries];
        let mut source = real.synthetic(7);
        queries.iter_mut().for_each(|query| source.fill(query));
        let index = synthetic_index(&real, rows, dim, folder.path())?;
        sets.push(measure("synthetic", index, &queries, folder.path(), args, app)?);
    }
    if let Some(out) = &args.out {
        for set in &sets {
            let name = set.plot_name(&args.report);
            fs_err::create_dir_all(out).map_err(|source| CommandError::unwritable(out, source))?;
            let svg = recall_latency(set).user(|| format!("{name} cannot be drawn"))?;
            runs::write_atomic(&out.join(name), svg.as_bytes())?;
        }
    }
    let json = serde_json::json!({"schema": "openscholar.bench-index/1", "sets": sets});
    let text = IndexReport {
        command: &command(args),
        plots: args.out.is_some().then_some(args.report.as_str()),
        machine: &super::machine(app),
        real: real.count(),
        top_k: args.top_k,
        sets: &sets,
    }
    .markdown();
    super::publish(&args.report, &text, &json, args.out.as_deref(), app)
}

/// The options that change what is measured, as typed.
fn command(args: &BenchIndexArgs) -> String {
    let BenchIndexArgs { stores, synthetic, only_synthetic, queries, top_k, peers, .. } = args;
    let mut command = vec![format!("openscholar bench index {}", stores.join(" "))];
    if !synthetic.is_empty() {
        command.push(format!("--synthetic {}", synthetic.join(",")));
    }
    if *only_synthetic {
        command.push("--only-synthetic".to_owned());
    }
    if args.peer_python.is_some() {
        command.push(format!("--peer-python python3 --peers {peers}"));
    }
    command.push(format!("--queries {queries} --top-k {top_k}"));
    command.join(" ")
}

/// Rows and dimensions of a set of vectors.
#[derive(Clone, Copy)]
struct SetSize {
    rows: usize,
    dim: usize,
}

impl SetSize {
    /// As `2000000x768`; digits of the rows may be grouped by `_`.
    fn parse(text: &str) -> Result<Self, CommandError> {
        let parsed = text.split_once('x').and_then(|(rows, dim)| {
            Some(Self { rows: rows.replace('_', "").parse().ok()?, dim: dim.parse().ok()? })
        });
        parsed.filter(|size| size.rows > 0 && size.dim > 0).ok_or_else(|| {
            CommandError::user(format!("--synthetic {text:?} is not ROWSxDIM"))
                .with_hint("for example 2000000x768")
        })
    }
}

/// All vectors of the datastores, which share one encoder.
pub(super) fn read_vectors(stores: &[Datastore]) -> Result<RealVectors, CommandError> {
    let mut real =
        RealVectors::new(stores.first().map_or(0, |store| store.descriptor().encoder.dim));
    for store in stores {
        if store.descriptor().encoder.fingerprint != stores[0].descriptor().encoder.fingerprint {
            return Err(CommandError::user(format!(
                "{} has vectors of another encoder than {}",
                store.root().display(),
                stores[0].root().display()
            )));
        }
        store.each_vector(|vector| {
            real.push(vector);
            Ok(())
        })?;
    }
    Ok(real)
}

/// `count` vectors left out of the index and used as queries; and the index of the others.
fn held_out(
    real: &RealVectors,
    count: usize,
    folder: &Path,
) -> Result<(StandaloneIndex, Vec<Vec<f32>>), CommandError> {
    let held = real.hold_out(count);
    let queries = (0..real.count()).filter(|at| held.is_query(*at));
    let queries = queries.map(|at| real.row(at).collect()).collect();
    let mut next = (0..real.count()).filter(|at| !held.is_query(*at));
    let index = StandaloneIndex::create(folder, real.dim(), |row| {
        let Some(at) = next.next() else { return false };
        row.iter_mut().zip(real.row(at)).for_each(|(out, value)| *out = value);
        true
    })?;
    Ok((index, queries))
}

/// An index of `rows` synthetic vectors.
fn synthetic_index(
    real: &RealVectors,
    rows: usize,
    dim: usize,
    folder: &Path,
) -> Result<StandaloneIndex, CommandError> {
    let mut source = real.synthetic(1);
    let mut left = rows;
    Ok(StandaloneIndex::create(folder, dim, |row| {
        let more = left > 0;
        if more {
            left -= 1;
            source.fill(row);
        }
        more
    })?)
}

fn measure(
    label: &str,
    mut index: StandaloneIndex,
    queries: &[Vec<f32>],
    folder: &Path,
    args: &BenchIndexArgs,
    app: &App,
) -> Result<IndexMeasurement, CommandError> {
    let dim = queries.first().map_or(0, Vec::len);
    let started = Instant::now();
    let truth: Vec<Vec<u32>> = index
        .exact(queries, args.top_k)
        .into_iter()
        .map(|found| found.into_iter().map(|(row, _)| row).collect())
        .collect();
    let exact_ms = started.elapsed().as_secs_f64() * 1e3 / queries.len().max(1) as f64;
    let mut points = vec![exact_scan(&index, queries, &truth, args.top_k)];
    let bits = Bits::of_count(args.bits)
        .ok_or_else(|| CommandError::user(format!("--bits {} is neither 1 nor 4", args.bits)))?;
    let options = IvfOptions { bits, ..IvfOptions::for_rows(index.rows()) };
    let stages = build(&mut index, options, app)?;
    let build_s = stages.total();
    let bytes_per_vector = index.index_bytes() as f64 / index.rows() as f64;
    for lists in PROBES.into_iter().filter(|lists| *lists <= options.nlist) {
        for factor in RESCORED {
            let probe = Probe { nprobe: lists, rescored: factor * args.top_k };
            let setting = format!("{lists} lists, {} rescored", probe.rescored);
            let timed = time(&index, queries, &truth, args.top_k, probe);
            points.push(point(OURS, setting, build_s, bytes_per_vector, timed));
            if app.until_stopped().is_break() {
                return Err(CommandError::new(ErrorKind::Interrupted, "interrupted"));
            }
        }
    }
    if let Some(probe) = index.default_probe(args.top_k) {
        let setting = format!("default: {} lists, {} rescored", probe.nprobe, probe.rescored);
        let timed = time(&index, queries, &truth, args.top_k, probe);
        points.push(point(OURS, setting, build_s, bytes_per_vector, timed));
    }
    // Mapped files are not in it.
    let resident_bytes = super::status_bytes("RssAnon:");
    let (rows, lists) = (index.rows(), options.nlist);
    let mut missing = Vec::new();
    match &args.peer_python {
        Some(python) if rows <= args.peer_rows => {
            let on = peers::PeerRun { index: &index, queries, truth: &truth, folder, lists };
            peers::measure(python, &on, args, app, &mut points, &mut missing)?;
        }
        Some(_) => missing.push(format!("peers: more than {} rows", args.peer_rows)),
        None => missing.push("peers: no --peer-python".to_owned()),
    }
    let (label, queries) = (label.to_owned(), queries.len());
    Ok(IndexMeasurement {
        label,
        rows,
        dim,
        queries,
        lists,
        stages,
        exact_ms,
        resident_bytes,
        points,
        missing,
    })
}

fn build(
    index: &mut StandaloneIndex,
    options: IvfOptions,
    app: &App,
) -> Result<BuildStages, CommandError> {
    let bar = progress::counted(&app.printer, "rows", Some(index.rows() as u64));
    let mut stages = BuildStages::default();
    let mut last = Instant::now();
    let done = index.index(options, &mut |step| {
        let seconds = last.elapsed().as_secs_f64();
        last = Instant::now();
        match step.stage {
            IvfStage::Training => stages.training += seconds,
            IvfStage::Assigning => stages.assigning += seconds,
            IvfStage::Encoding => stages.encoding += seconds,
            // Rows alone are indexed here, and none are put together.
            IvfStage::Copying | IvfStage::Lexical => {}
        }
        progress::show_index(&bar, step);
        app.until_stopped()
    })?;
    bar.finish_and_clear();
    if done { Ok(stages) } else { Err(CommandError::new(ErrorKind::Interrupted, "interrupted")) }
}

/// Comparing everything on one thread, for as few queries as a median needs.
fn exact_scan(
    index: &StandaloneIndex,
    queries: &[Vec<f32>],
    truth: &[Vec<u32>],
    top_k: usize,
) -> IndexPoint {
    let few = queries.len().min(SCANNED_QUERIES);
    let all = Probe { nprobe: 0, rescored: 0 };
    let timed = time(index, &queries[..few], &truth[..few], top_k, all);
    point("ours, exact", "every row".to_owned(), 0.0, 0.0, timed)
}

fn point(
    engine: &str,
    setting: String,
    build_s: f64,
    bytes_per_vector: f64,
    timed: RecallLatency,
) -> IndexPoint {
    let RecallLatency { recall, p50_ms, p99_ms } = timed;
    let engine = engine.to_owned();
    IndexPoint { engine, setting, build_s, bytes_per_vector, recall, p50_ms, p99_ms }
}

/// One query at a time on one thread.
fn time(
    index: &StandaloneIndex,
    queries: &[Vec<f32>],
    truth: &[Vec<u32>],
    top_k: usize,
    probe: Probe,
) -> RecallLatency {
    let rows = |query: &[f32]| -> Vec<u32> {
        index.search(query, top_k, probe).into_iter().map(|(row, _)| row).collect()
    };
    // Once before, so that every page is where it will be.
    let found: Vec<Vec<u32>> = queries.par_iter().map(|query| rows(query)).collect();
    RecallLatency::measure(queries, &found, truth, |query| index.search(query, top_k, probe))
}
