//! The dense index by itself: recall against exact search, latency, size, time to build, beside other libraries.

pub(super) mod data;
mod peers;
mod plot;
mod report;

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use rayon::prelude::*;
use scholar_datastore::dense::StandaloneIndex;
use scholar_datastore::dense::ivf::{Bits, IvfOptions, IvfStage};
use scholar_datastore::{Datastore, Probe};
use serde::Serialize;

use crate::app::App;
use crate::args::BenchIndexArgs;
use crate::error::{CommandError, ErrorKind};
use crate::progress;
use crate::runs;

/// Lists probed, for the curve.
const PROBES: [usize; 8] = [8, 16, 32, 64, 128, 256, 512, 1_024];
/// Queries of the exact scan on one thread.
const SCANNED_QUERIES: usize = 15;
/// Rows rescored, as a multiple of the results wanted.
const RESCORED: [usize; 3] = [2, 4, 8];

/// One setting of one engine on one set.
#[derive(Debug, Clone, Serialize, serde::Deserialize)]
pub(super) struct Point {
    engine: String,
    setting: String,
    build_s: f64,
    bytes_per_vector: f64,
    recall: f64,
    p50_ms: f64,
    p99_ms: f64,
}

/// Seconds of the stages of a build.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub(super) struct Stages {
    training: f64,
    assigning: f64,
    encoding: f64,
}

/// Everything measured on one set.
#[derive(Debug, Serialize)]
pub(super) struct Measured {
    label: String,
    rows: usize,
    dim: usize,
    queries: usize,
    lists: usize,
    stages: Stages,
    exact_ms: f64,
    resident_bytes: Option<u64>,
    points: Vec<Point>,
    missing: Vec<String>,
}

impl Measured {
    /// File name of its plot.
    fn plot_name(&self, report: &str) -> String {
        format!("{report}-{}-{}x{}.svg", self.label, self.rows, self.dim)
    }
}

pub(super) fn run(args: &BenchIndexArgs, app: &App) -> Result<ExitCode, CommandError> {
    let made = args.made.iter().map(|text| parse_made(text)).collect::<Result<Vec<_>, _>>()?;
    let stores = args
        .stores
        .iter()
        .map(|name| Ok(Datastore::open(&app.home.datastore(name)?)?))
        .collect::<Result<Vec<_>, CommandError>>()?;
    let real = data::Real::read(&stores)?;
    if real.count() < args.queries * 4 {
        return Err(CommandError::user(format!(
            "{} vectors are too few to measure on",
            real.count()
        )));
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
    if !args.only_made {
        let folder = folder()?;
        let (index, queries) = real.hold_out(args.queries, folder.path())?;
        sets.push(measure("real", index, &queries, folder.path(), args, app)?);
    }
    for (rows, dim) in made {
        if dim != real.dim && dim != real.dim * 2 {
            return Err(CommandError::user(format!(
                "vectors can be made with {} or {} numbers, not {dim}",
                real.dim,
                real.dim * 2
            )));
        }
        let folder = folder()?;
        let mut queries = vec![vec![0.0; dim]; args.queries];
        let mut source = real.made(7);
        queries.iter_mut().for_each(|query| source.fill(query));
        let index = real.made(1).index(rows, dim, folder.path())?;
        sets.push(measure("made", index, &queries, folder.path(), args, app)?);
    }
    if let Some(out) = &args.out {
        for set in &sets {
            let name = set.plot_name(&args.report);
            fs_err::create_dir_all(out).map_err(|source| CommandError::unwritable(out, source))?;
            runs::write_atomic(&out.join(name), plot::recall_latency(set)?.as_bytes())?;
        }
    }
    let json = serde_json::json!({"schema": "openscholar.bench-index/1", "sets": sets});
    let text = report::markdown(&sets, real.count(), args, &super::machine(app));
    super::publish(&args.report, &text, &json, args.out.as_deref(), app)
}

fn parse_made(text: &str) -> Result<(usize, usize), CommandError> {
    let parsed = text
        .split_once('x')
        .and_then(|(rows, dim)| Some((rows.replace('_', "").parse().ok()?, dim.parse().ok()?)));
    parsed
        .filter(|(rows, dim)| *rows > 0 && *dim > 0)
        .ok_or_else(|| CommandError::user(format!("--made {text:?} is not like 2000000x768")))
}

fn measure(
    label: &str,
    mut index: StandaloneIndex,
    queries: &[Vec<f32>],
    folder: &Path,
    args: &BenchIndexArgs,
    app: &App,
) -> Result<Measured, CommandError> {
    let dim = queries.first().map_or(0, Vec::len);
    let started = Instant::now();
    let truth: Vec<Vec<u32>> = index
        .exact(queries, args.top_k)
        .into_iter()
        .map(|found| found.into_iter().map(|(row, _)| row).collect())
        .collect();
    let exact_ms = milliseconds(started) / queries.len().max(1) as f64;
    let mut points = vec![exact_scan(&index, queries, &truth, args.top_k)];
    let bits = Bits::of_count(args.bits)
        .ok_or_else(|| CommandError::user(format!("--bits {} is neither 1 nor 4", args.bits)))?;
    let options = IvfOptions { bits, ..IvfOptions::for_rows(index.rows()) };
    let stages = build(&mut index, options, app)?;
    let build_s = stages.training + stages.assigning + stages.encoding;
    let bytes_per_vector = index.index_bytes() as f64 / index.rows() as f64;
    for lists in PROBES.into_iter().filter(|lists| *lists <= options.nlist) {
        for factor in RESCORED {
            let probe = Probe { nprobe: lists, rescored: factor * args.top_k };
            let (recall, p50_ms, p99_ms) = time(&index, queries, &truth, args.top_k, probe);
            points.push(Point {
                engine: "ours".to_owned(),
                setting: format!("{lists} lists, {} rescored", probe.rescored),
                build_s,
                bytes_per_vector,
                recall,
                p50_ms,
                p99_ms,
            });
            if app.until_stopped().is_break() {
                return Err(CommandError::new(ErrorKind::Interrupted, "interrupted"));
            }
        }
    }
    if let Some(probe) = index.default_probe(args.top_k) {
        let (recall, p50_ms, p99_ms) = time(&index, queries, &truth, args.top_k, probe);
        let setting = format!("default: {} lists, {} rescored", probe.nprobe, probe.rescored);
        let engine = "ours".to_owned();
        points.push(Point { engine, setting, build_s, bytes_per_vector, recall, p50_ms, p99_ms });
    }
    // Mapped files are not in it.
    let resident_bytes = super::status_bytes("RssAnon:");
    let (rows, lists) = (index.rows(), options.nlist);
    let mut missing = Vec::new();
    match &args.peer_python {
        Some(python) if rows <= args.peer_rows => {
            let asked = peers::Asked { index: &index, queries, truth: &truth, folder, lists };
            peers::measure(python, &asked, args, app, &mut points, &mut missing)?;
        }
        Some(_) => missing.push(format!("peers: more than {} rows", args.peer_rows)),
        None => missing.push("peers: no --peer-python".to_owned()),
    }
    let (label, queries) = (label.to_owned(), queries.len());
    Ok(Measured {
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
) -> Result<Stages, CommandError> {
    let bar = progress::counted(&app.printer, "rows", Some(index.rows() as u64));
    let mut stages = Stages::default();
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
) -> Point {
    let few = queries.len().min(SCANNED_QUERIES);
    let all = Probe { nprobe: 0, rescored: 0 };
    let (recall, p50_ms, p99_ms) = time(index, &queries[..few], &truth[..few], top_k, all);
    Point {
        engine: "ours, exact".to_owned(),
        setting: "every row".to_owned(),
        build_s: 0.0,
        bytes_per_vector: 0.0,
        recall,
        p50_ms,
        p99_ms,
    }
}

/// Recall, median and 99th percentile in milliseconds, one query at a time on one thread.
fn time(
    index: &StandaloneIndex,
    queries: &[Vec<f32>],
    truth: &[Vec<u32>],
    top_k: usize,
    probe: Probe,
) -> (f64, f64, f64) {
    // Once before, so that every page is where it will be.
    let found: Vec<_> = queries.par_iter().map(|query| index.search(query, top_k, probe)).collect();
    let hits: usize = found
        .iter()
        .zip(truth)
        .map(|(found, truth)| found.iter().filter(|(row, _)| truth.contains(row)).count())
        .sum();
    let mut times: Vec<f64> = queries
        .iter()
        .map(|query| {
            let started = Instant::now();
            let found = index.search(query, top_k, probe);
            std::hint::black_box(found);
            milliseconds(started)
        })
        .collect();
    times.sort_by(f64::total_cmp);
    let at = |share: usize| times.get(times.len() * share / 100).copied().unwrap_or_default();
    let wanted: usize = truth.iter().map(Vec::len).sum();
    (hits as f64 / wanted.max(1) as f64, at(50), at(99))
}

fn milliseconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1_000.0
}
