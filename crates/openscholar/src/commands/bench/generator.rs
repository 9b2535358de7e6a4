//! The embedded language model: its speed, size and agreement, beside llama-cpp-python in the same run.

mod agreement;
mod answers;
mod peer;
mod replies;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use scholar_bench::performance::generator::{
    EngineSpeed, GeneratorReport, KernelRate, PromptSpeed, Rates, Roofline,
};
use scholar_models::gguf::{GgufOptions, GgufSession, kernel_speeds, machine_limits};

use crate::app::App;
use crate::args::BenchGeneratorArgs;
use crate::error::{CommandError, Context as _};
use crate::starter;
use crate::wiring::free_memory::free_memory;
use crate::wiring::models;

use peer::Peer;

/// Tokens after which a prompt counts as long: it is read once for each number of threads.
const LONG_PROMPT: usize = 1024;
/// Rows of activations with which kernels are timed: of a token, of guesses, and of prompts.
const KERNEL_ROWS: [usize; 6] = [1, 2, 4, 8, 64, 256];
/// Tokens of a prompt that is read again with another end.
const REUSED_PROMPT: usize = 128;
/// Tokens of a re-used prompt that are new.
const NEW_TOKENS: usize = 12;

pub(super) fn run(args: &BenchGeneratorArgs, app: &App) -> Result<ExitCode, CommandError> {
    let BenchGeneratorArgs { model, peer_python, out, .. } = args;
    let path = file(model, app)?;
    let mut peer = peer_python.as_deref().map(|python| Peer::start(python, app)).transpose()?;
    let text = starter_text()?;
    let all = app.threads();
    let longest = args.prompts.iter().max().copied().unwrap_or(512);
    let context = longest.max(REUSED_PROMPT) + args.write + 8;
    let mut ours = engine(0.0);
    let mut other = peer.is_some().then(|| engine(0.0));
    let mut versions = serde_json::Value::Null;
    let mut rooflines = Vec::new();
    let threads = if all > 1 { vec![1, all] } else { vec![1] };
    for threads in threads {
        app.printer.say(&format!("measuring with {threads} of {all} threads"));
        let turn = Turn { path: &path, threads, context, text: &text };
        let limits = machine_limits(threads).user(|| "cannot start threads".to_owned())?;
        let work = measure(&turn, args, &mut ours, &mut other, &mut peer, &mut versions)?;
        rooflines.push(Roofline {
            threads,
            products: [limits.products_per_s, work.prompt_products as f64],
            bytes: [limits.bytes_per_s, work.reply_bytes as f64],
        });
    }
    app.printer.say("measuring kernels");
    let kernels = kernel_speeds(&KERNEL_ROWS).user(|| "cannot start threads".to_owned())?;
    let kernels = kernels.into_iter().map(|speed| KernelRate {
        format: speed.format,
        instructions: speed.instructions.to_owned(),
        rows: speed.rows,
        products_per_s: speed.products_per_s,
    });
    let agreement = match &mut peer {
        Some(peer) if args.text_tokens > 0 => {
            Some(agreement::measure(&path, peer, &text, args, app)?)
        }
        _ => None,
    };
    drop(peer);
    let mut lookup = answers::measure(&path, usize::from(args.questions), app)?;
    let (cells, schema) = replies::measure(&path, args.rounds, app)?;
    lookup.push(cells);
    let machine = super::machine(app);
    let report = GeneratorReport {
        model: super::short(model),
        file_bytes: path.metadata().map_or(0, |metadata| metadata.len()),
        machine: &machine,
        ours,
        peer: other,
        versions,
        rooflines,
        kernels: kernels.collect(),
        agreement,
        lookup,
        schema,
    };
    let json = serde_json::json!({"schema": "openscholar.bench-generator/1", "report": report});
    super::publish("generator", &report.markdown(), &json, out.as_deref(), app)
}

fn engine(open_s: f64) -> EngineSpeed {
    EngineSpeed { open_s, reused_s: 0.0, resident_bytes: None, speeds: Vec::new() }
}

/// The file of a model that is named by its path or by the catalog.
fn file(model: &str, app: &App) -> Result<PathBuf, CommandError> {
    if Path::new(model).is_file() {
        return Ok(PathBuf::from(model));
    }
    app.block_on(models::gguf(app, model))?
}

/// The starter papers as one text.
fn starter_text() -> Result<String, CommandError> {
    let texts: Vec<String> = starter::papers()?
        .iter()
        .map(|paper| format!("{}\n\n{}", paper.meta.title, paper.text()))
        .collect();
    Ok(texts.join("\n\n"))
}

/// What one turn measures with.
struct Turn<'a> {
    path: &'a Path,
    threads: usize,
    context: usize,
    text: &'a str,
}

fn options(threads: usize, context: usize) -> GgufOptions {
    GgufOptions {
        threads: Some(threads),
        context_tokens: context,
        kept_sequences: 1,
        memory_bytes: free_memory(),
        ..GgufOptions::laptop()
    }
}

/// Both engines by turns, with one number of threads.
fn measure(
    turn: &Turn<'_>,
    args: &BenchGeneratorArgs,
    ours: &mut EngineSpeed,
    other: &mut Option<EngineSpeed>,
    peer: &mut Option<Peer>,
    versions: &mut serde_json::Value,
) -> Result<scholar_models::gguf::TokenWork, CommandError> {
    let Turn { path, threads, context, text } = *turn;
    let began = Instant::now();
    let mut session = GgufSession::open(path, &options(threads, context))?;
    ours.open_s = began.elapsed().as_secs_f64();
    if let (Some(peer), Some(other)) = (&mut *peer, &mut *other) {
        let opened = peer.open(path, threads, context, false)?;
        (other.open_s, *versions) = (opened.seconds, opened.versions);
    }
    let beginning: String = text.chars().take(40 * context).collect();
    let tokens =
        session.encode(&beginning).map_err(|error| CommandError::user(error.to_string()))?;
    for &length in &args.prompts {
        let long = length >= LONG_PROMPT;
        if tokens.len() < length {
            continue;
        }
        let prompt = &tokens[..length];
        let (mut turns, mut other_turns) = (Vec::new(), Vec::new());
        for _ in 0..if long { 1 } else { args.rounds } {
            turns.push(time(&mut session, prompt, args.write));
            if let Some(peer) = peer {
                let times = peer.read(prompt, args.write)?;
                other_turns.push(times.seconds());
                if let Some(other) = other {
                    other.resident_bytes = Some(times.resident);
                }
            }
        }
        let load = super::load();
        let row = |turns: &[Seconds]| {
            let rates = |tokens: usize, seconds: fn(&Seconds) -> f64| {
                Rates::of(turns.iter().map(|turn| tokens as f64 / seconds(turn)).collect())
            };
            Some(PromptSpeed {
                threads,
                prompt: length,
                read: rates(length, |turn| turn.read)?,
                written: rates(args.write, |turn| turn.write)?,
                read_cpu: rates(length, |turn| turn.read_cpu)?,
                written_cpu: rates(args.write, |turn| turn.write_cpu)?,
                load,
            })
        };
        ours.speeds.extend(row(&turns));
        if let Some(other) = other {
            other.speeds.extend(row(&other_turns));
        }
    }
    reuse(&mut session, &tokens, ours, other, peer)?;
    let resident = super::status_bytes("VmRSS:");
    ours.resident_bytes = ours.resident_bytes.max(resident);
    Ok(session.work())
}

/// Seconds to read a prompt and to write after it, by the clock and of the processor.
#[derive(Debug, Clone, Copy)]
struct Seconds {
    read: f64,
    write: f64,
    read_cpu: f64,
    write_cpu: f64,
}

fn time(session: &mut GgufSession, prompt: &[u32], write: usize) -> Seconds {
    session.truncate(0);
    let began = Instant::now();
    let now = || [began.elapsed().as_secs_f64(), super::cpu_seconds().unwrap_or(f64::NAN)];
    let start = now();
    let mut logits = session.read(prompt);
    let middle = now();
    for _ in 0..write {
        let token = agreement::likeliest(&logits);
        logits = session.read(&[token]);
    }
    let end = now();
    Seconds {
        read: middle[0] - start[0],
        write: end[0] - middle[0],
        read_cpu: middle[1] - start[1],
        write_cpu: end[1] - middle[1],
    }
}

/// The first token of a prompt of which all but a few tokens were read before.
fn reuse(
    session: &mut GgufSession,
    tokens: &[u32],
    ours: &mut EngineSpeed,
    other: &mut Option<EngineSpeed>,
    peer: &mut Option<Peer>,
) -> Result<(), CommandError> {
    let prompt = &tokens[..tokens.len().min(REUSED_PROMPT)];
    let kept = prompt.len() - NEW_TOKENS;
    session.truncate(0);
    session.read(&prompt[..kept]);
    let began = Instant::now();
    session.read(&prompt[kept..]);
    ours.reused_s = began.elapsed().as_secs_f64();
    if let (Some(peer), Some(other)) = (peer, other) {
        peer.read(&prompt[..kept], 0)?;
        other.reused_s = peer.again(prompt, kept)?;
    }
    Ok(())
}
