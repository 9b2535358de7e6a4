//! `bench fuzz`: broken inputs through everything that reads what others wrote.
//!
//! Good inputs are broken by [`mutate`], each from a number that makes it again. A reader may refuse what it is given; it
//! may not panic, take longer than [`LONGEST`], or grow. Each reader runs on a thread of its own, so that one that never
//! comes back is told and left behind.
//!
//! [`mutate`]: scholar_testing::mutate

mod files;
mod http;
mod replies;
mod runs;
mod stores;

use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use crate::app::App;
use crate::args::BenchFuzzArgs;
use crate::commands::bench::{machine, publish, status_bytes};
use crate::error::{CommandError, Context as _, ErrorKind};
use crate::progress;

/// A reader that takes longer hangs, as far as a person can tell.
const LONGEST: Duration = Duration::from_secs(5);

/// How long a reader is waited for before it is left behind.
const PATIENCE: Duration = Duration::from_secs(60);

/// Stack of a reader's thread: as much as the program's first one has.
const STACK: usize = 8 << 20;

/// Something that reads what others wrote.
trait Reader {
    /// Reads the broken input of that number; whether it could.
    fn read(&mut self, number: u64) -> bool;
}

/// A reader's name and what makes it, on the thread on which it then runs.
struct Subject {
    name: String,
    open: Box<dyn FnOnce() -> Result<Box<dyn Reader>, String> + Send>,
}

/// What a reader did.
#[derive(Default)]
struct Row {
    inputs: u64,
    readable: u64,
    time: Duration,
    slowest: (Duration, u64),
    /// Clauses, each with the number of its input.
    failures: Vec<String>,
}

enum Told {
    Opened(Result<(), String>),
    /// Number, whether it was read, and how long it took; `None` for a panic.
    Input(u64, Option<bool>, Duration),
}

/// Runs every reader over `inputs` inputs from number `seed` on.
pub(super) fn run(args: &BenchFuzzArgs, app: &App) -> Result<ExitCode, CommandError> {
    let BenchFuzzArgs { paths, inputs, seed, out } = args;
    let (inputs, seed) = (*inputs, *seed);
    let mut subjects = files::subjects(paths)?;
    subjects.extend(replies::subjects());
    subjects.extend(http::subjects());
    subjects.extend(stores::subjects());
    subjects.extend(runs::subjects());
    let total = inputs * subjects.len() as u64;
    let bar = progress::counted(&app.printer, "inputs", Some(total));
    let mut rows = Vec::new();
    for subject in subjects {
        bar.set_message(subject.name.clone());
        let name = subject.name.clone();
        let row = measured(subject, seed..seed + inputs, app, &mut || bar.inc(1))?;
        rows.push((name, row));
    }
    bar.finish_and_clear();
    let peak = status_bytes("VmHWM:");
    let failures: usize = rows.iter().map(|(_, row)| row.failures.len()).sum();
    let text = markdown(args, &rows, peak, app);
    let json = serde_json::json!({
        "schema": "openscholar.bench.fuzz/1",
        "machine": machine(app),
        "inputs_each": inputs,
        "seed": seed,
        "largest_bytes": peak,
        "readers": rows.iter().map(|(name, row)| serde_json::json!({
            "reader": name, "inputs": row.inputs, "readable": row.readable, "seconds": row.time.as_secs_f64(),
            "slowest_seconds": row.slowest.0.as_secs_f64(), "slowest_number": row.slowest.1, "failures": row.failures,
        })).collect::<Vec<_>>(),
    });
    publish("fuzz", &text, &json, out.as_deref(), app)?;
    Ok(if failures == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// One reader over all numbers.
fn measured(
    subject: Subject,
    numbers: std::ops::Range<u64>,
    app: &App,
    step: &mut dyn FnMut(),
) -> Result<Row, CommandError> {
    let Subject { name, open } = subject;
    let (send, receive) = mpsc::channel();
    let mut row = Row::default();
    let expected = numbers.clone();
    let work = move || read_all(open, numbers, &send);
    let thread = thread::Builder::new().name(format!("fuzz {name}")).stack_size(STACK).spawn(work);
    let _left_behind = thread.user(|| "a thread cannot be started".to_owned())?;
    let mut next = expected.start;
    while next < expected.end || row.inputs == 0 {
        if app.stop.requested() {
            return Err(CommandError::new(ErrorKind::Interrupted, "interrupted"));
        }
        match receive.recv_timeout(PATIENCE) {
            Ok(Told::Opened(Ok(()))) if expected.is_empty() => break,
            Ok(Told::Opened(Ok(()))) => {}
            Ok(Told::Opened(Err(why))) => {
                return Err(CommandError::user(format!("{name} cannot be tried: {why}")));
            }
            Ok(Told::Input(number, read, took)) => {
                next = number + 1;
                row.inputs += 1;
                row.time += took;
                row.slowest = row.slowest.max((took, number));
                match read {
                    Some(read) => row.readable += u64::from(read),
                    None => row.failures.push(format!("input {number} panics")),
                }
                if took > LONGEST {
                    let seconds = took.as_secs_f64();
                    row.failures.push(format!("input {number} takes {seconds:.1} s"));
                }
                step();
            }
            Err(RecvTimeoutError::Timeout) => {
                row.failures.push(format!("input {next} does not come back"));
                break;
            }
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    Ok(row)
}

fn read_all(
    open: Box<dyn FnOnce() -> Result<Box<dyn Reader>, String> + Send>,
    numbers: std::ops::Range<u64>,
    tell: &Sender<Told>,
) {
    let opened = open();
    let (told, reader) = match opened {
        Ok(reader) => (Ok(()), Some(reader)),
        Err(why) => (Err(why), None),
    };
    // Nobody listens any more once the reader was left behind, here and below.
    if tell.send(Told::Opened(told)).is_err() {
        return;
    }
    let Some(mut reader) = reader else { return };
    for number in numbers {
        let began = Instant::now();
        let read = catch_unwind(AssertUnwindSafe(|| reader.read(number))).ok();
        if tell.send(Told::Input(number, read, began.elapsed())).is_err() {
            return;
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "numbers for people")]
fn markdown(args: &BenchFuzzArgs, rows: &[(String, Row)], peak: Option<u64>, app: &App) -> String {
    let BenchFuzzArgs { paths, inputs, seed, out: _ } = args;
    let names: Vec<String> = paths
        .iter()
        .filter_map(|path| Some(path.file_name()?.to_string_lossy().into_owned()))
        .collect();
    let all: u64 = rows.iter().map(|(_, row)| row.inputs).sum();
    let failures: Vec<String> = rows
        .iter()
        .flat_map(|(name, row)| row.failures.iter().map(move |what| format!("- {name}: {what}")))
        .collect();
    let slowest = rows.iter().map(|(_, row)| row.slowest.0).max().unwrap_or_default();
    let peak = peak.map_or("unknown".to_owned(), |bytes| format!("{:.0} MB", bytes as f64 / 1e6));
    let mut text = format!(
        "# Broken input\n\nCommand: `openscholar bench fuzz {} --inputs {inputs} --seed {seed}`\n\n\
         {all} broken inputs, {} failures, slowest {:.2} s, peak memory of the process {peak}. Machine: {}.\n\n\
         A failure is a panic or more than {} s. Input that could not be read was rejected with an error.\n\n\
         | reader | inputs | readable | ms each | slowest s |\n|---|---|---|---|---|\n",
        names.join(" "),
        failures.len(),
        slowest.as_secs_f64(),
        machine(app),
        LONGEST.as_secs(),
    );
    for (name, row) in rows {
        let _infallible = writeln!(
            text,
            "| {name} | {} | {} | {:.2} | {:.2} |",
            row.inputs,
            row.readable,
            row.time.as_secs_f64() * 1e3 / row.inputs.max(1) as f64,
            row.slowest.0.as_secs_f64(),
        );
    }
    if !failures.is_empty() {
        let _infallible = write!(text, "\n{}\n", failures.join("\n"));
    }
    text
}
