//! `openscholar bench …`: every number in docs/results comes from one of these.

mod abstention;
pub(crate) mod annotate;
mod answerable;
mod attribution;
mod convert;
mod encoder;
mod expansion;
mod formats;
#[cfg(feature = "self-test")]
mod fuzz;
mod gates;
mod generator;
mod graph;
mod index;
mod ingest;
mod judging;
#[cfg(feature = "self-test")]
mod library;
mod metadata;
mod report;
mod reranker;
pub(crate) mod retrieval;
mod run;
mod scholarideas;
mod scirag_depth;
mod score;
mod screening;
mod search;
mod sentences;
mod serve;
mod tables;

use std::path::Path;
use std::process::ExitCode;

use crate::app::App;
use crate::args::{BenchArgs, BenchCommand};
use crate::error::CommandError;
use crate::runs;

pub(crate) fn run(args: BenchArgs, app: &App) -> Result<ExitCode, CommandError> {
    let BenchArgs { command } = args;
    match command {
        BenchCommand::Run(args) => run::run(&args, app),
        BenchCommand::Score(args) => score::run(&args, app),
        BenchCommand::Report(args) => report::run(&args, app),
        BenchCommand::Convert(args) => convert::run(&args, app),
        BenchCommand::Retrieval { dirs, systems, encoder, reranker, limit, out } => {
            let encoder = encoder_name(encoder.as_deref(), app);
            let models = retrieval::Models { encoder, reranker: reranker.as_deref() };
            retrieval::run(&dirs, &systems, models, limit, out.as_deref(), app)
        }
        BenchCommand::Encoder { model, peer_python, passages, out } => {
            encoder::run(&model, peer_python.as_deref(), passages, out.as_deref(), app)
        }
        BenchCommand::Generator(args) => generator::run(&args, app),
        BenchCommand::Sentences { rows, model, headings, out } => {
            sentences::run(&rows, &model, headings, out.as_deref(), app)
        }
        BenchCommand::Reranker { model, peer_python, pairs, out } => {
            reranker::run(&model, peer_python.as_deref(), pairs, out.as_deref(), app)
        }
        BenchCommand::Graph(args) => graph::run(&args, app),
        BenchCommand::Expansion(args) => expansion::run(&args, app),
        BenchCommand::Serve(args) => serve::run(&args, app),
        BenchCommand::Ingest { files, dim, passages, out } => {
            ingest::run(&files, dim, passages.rules(), out.as_deref(), app)
        }
        BenchCommand::Abstention(args) => abstention::run(&args, app),
        BenchCommand::Tables(args) => tables::run(&args, app),
        BenchCommand::Answerable(args) => answerable::run(&args, app),
        BenchCommand::SciragDepth(args) => scirag_depth::run(&args, app),
        BenchCommand::Screening(args) => screening::run(&args, app),
        BenchCommand::Formats { paths, known, out } => {
            formats::run(&paths, known.as_deref(), out.as_deref(), app)
        }
        BenchCommand::Metadata(args) => metadata::run(&args, app),
        #[cfg(feature = "self-test")]
        BenchCommand::Fuzz(args) => fuzz::run(&args, app),
        #[cfg(not(feature = "self-test"))]
        BenchCommand::Fuzz(_) => Err(CommandError::without_self_test("bench fuzz")),
        #[cfg(feature = "self-test")]
        BenchCommand::Library { pdfs, entries, out } => {
            library::run(&library::LibrarySize { pdfs, entries }, out.as_deref(), app)
        }
        #[cfg(not(feature = "self-test"))]
        BenchCommand::Library { .. } => Err(CommandError::without_self_test("bench library")),
        BenchCommand::Annotate(args) => annotate::run(args, app),
        BenchCommand::ScholarIdeas(args) => scholarideas::run(&args.command, app),
        BenchCommand::Index(args) => index::run(&args, app),
        BenchCommand::Search(args) => search::run(&args, app),
        BenchCommand::Gates(args) => gates::run(&args, app),
        BenchCommand::Attribution { dir, judge, encoder, limit, out } => {
            let encoder = encoder_name(encoder.as_deref(), app);
            attribution::run(&dir, &judge, encoder, limit, out.as_deref(), app)
        }
    }
}

/// The encoder of the command line, of the config file, or the default, in this order.
fn encoder_name<'a>(option: Option<&'a str>, app: &'a App) -> &'a str {
    option.or(app.config.encoder.as_deref()).unwrap_or(crate::config::DEFAULT_ENCODER)
}

/// Puts a report and its numbers into `out`, and prints it.
fn publish(
    name: &str,
    markdown: &str,
    json: &serde_json::Value,
    out: Option<&Path>,
    app: &App,
) -> Result<ExitCode, CommandError> {
    if let Some(out) = out {
        fs_err::create_dir_all(out).map_err(|source| CommandError::unwritable(out, source))?;
        runs::write_atomic(&out.join(format!("{name}.md")), markdown.as_bytes())?;
        let text = format!("{json:#}\n");
        runs::write_atomic(&out.join(format!("{name}.json")), text.as_bytes())?;
        app.printer.say(&format!("written to {}", out.join(format!("{name}.md")).display()));
    }
    if app.printer.json {
        app.printer.json(json)?;
    } else {
        app.printer.out(markdown.trim_end())?;
    }
    Ok(ExitCode::SUCCESS)
}

/// What a report calls a model: a folder by its last part.
fn short(name: &str) -> &str {
    name.rsplit(['/', '\\']).find(|part| !part.is_empty()).unwrap_or(name)
}

/// CPU, threads, version and commit, for the head of a report.
fn machine(app: &App) -> String {
    let model = fs_err::read_to_string("/proc/cpuinfo").ok().and_then(|text| {
        let line = text.lines().find(|line| line.starts_with("model name"))?;
        line.split_once(':').map(|(_, name)| name.trim().to_owned())
    });
    let model = model.unwrap_or_else(|| std::env::consts::ARCH.to_owned());
    format!(
        "{model}, {} threads, openscholar {}, commit {}",
        app.threads(),
        env!("CARGO_PKG_VERSION"),
        env!("OPENSCHOLAR_COMMIT")
    )
}

/// Unit of times in `/proc`, the same on every Linux.
const TICKS_PER_SECOND: f64 = 100.0;

/// CPU time of all threads so far, where the system tells.
fn cpu_seconds() -> Option<f64> {
    let stat = fs_err::read_to_string("/proc/self/stat").ok()?;
    // The name before the last bracket may hold anything; user and system time are the 14th and 15th field of all.
    let (_, fields) = stat.rsplit_once(')')?;
    let mut times = fields.split_whitespace().skip(11).take(2).map(str::parse::<f64>);
    Some((times.next()?.ok()? + times.next()?.ok()?) / TICKS_PER_SECOND)
}

/// The load of the last minute, where the system tells: programs that were running or waiting for a core.
fn load() -> Option<f64> {
    let loads = fs_err::read_to_string("/proc/loadavg").ok()?;
    loads.split_whitespace().next()?.parse().ok()
}

/// A line of this process's status in bytes, where the system tells.
fn status_bytes(name: &str) -> Option<u64> {
    status_of("self", name)
}

/// The same of another process.
fn status_of(process: &str, name: &str) -> Option<u64> {
    let status = fs_err::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    let kilobytes: u64 = line.trim().strip_suffix(" kB")?.trim().parse().ok()?;
    Some(kilobytes << 10)
}
