//! `openscholar ask QUESTION`.

mod live;
pub(crate) mod settings;
mod tree;
pub(crate) mod watch;

use std::io::Read as _;
use std::process::ExitCode;

use scholar_core::{Answer, Notice, Paper, Question};
use scholar_pipeline::budget::Estimate;
use scholar_pipeline::config::AskConfig;
use scholar_pipeline::record::{Journal, PortsInfo, Recorder, Replayer};
use scholar_pipeline::{AskError, Event, Meter, Outcome, Ports, estimate};

use crate::app::App;
use crate::args::AskArgs;
use crate::error::{CommandError, Context as _, EXIT_MISSING_EVIDENCE, ErrorKind};
use crate::output::document::{AnswerDocument, Usage};
use crate::output::json::Json;
use crate::output::{export, markdown};
use crate::proof::derive::{self, Facts, Recorded};
use crate::proof::signature::Signer;
use crate::runs::{
    self, ANSWER_FILE, EVENTS_FILE, FOUND_FILE, JOURNAL_FILE, MARKDOWN_FILE, PROOF_FILE,
    REQUESTS_FILE, RUN_FILE, RUN_SCHEMA, RunFolder, RunRecord, RunStatus, Verb,
};
use crate::wiring::{self, OpenDatastore, PortsWanted, Wired};
use watch::Watch;

/// Most bytes read from standard input: far above the longest accepted question.
const MAX_INPUT_BYTES: u64 = 1_000_000;

pub(crate) fn run(args: AskArgs, app: &App) -> Result<ExitCode, CommandError> {
    super::papers::refuse_json_with_format(args.format.is_some(), app)?;
    if args.format.is_some_and(|format| !export::is_text(format)) && args.output.is_none() {
        return Err(CommandError::user("a DOCX file cannot be printed")
            .with_hint("name a file: --output answer.docx"));
    }
    // A key that cannot sign must not cost an answer.
    let key = args.sign.as_ref().or(app.config.sign.as_ref());
    let signer = key.map(|path| Signer::read(path)).transpose()?;
    let (args, task) = Task::of(args, app)?;
    let members = app.datastore_members(&task.datastore);
    for name in &members {
        app.home.datastore(name)?;
        if name != crate::starter::NAME {
            app.existing_datastore(name)?;
        }
    }
    let (document, stored) = app.block_on_to_the_end(answer(&args, &task, app))??;
    let stored = match (stored, &signer) {
        (Ok(()), Some(signer)) => sign(&document.run, signer, app),
        (stored, _) => stored,
    };
    // What was paid for is shown even where it cannot be kept.
    print(&document, &args, app)?;
    stored?;
    if let Some(into) = &args.save {
        let own = members.iter().find(|name| *name != crate::starter::NAME);
        let own = own.or(members.first()).unwrap_or(&task.datastore);
        save(&document.run, into.as_deref().unwrap_or(own), app)?;
    }
    let abstained = document.answer.abstained;
    Ok(if abstained { ExitCode::from(EXIT_MISSING_EVIDENCE) } else { ExitCode::SUCCESS })
}

/// What is to be answered, how, from what; and what is known already.
struct Task {
    question: Question,
    config: AskConfig,
    datastore: String,
    /// The run that it follows up on.
    follows: Option<String>,
    journal: Option<Journal>,
}

impl Task {
    /// From the arguments, or from the interrupted run they name; the arguments come back with that run's wiring.
    fn of(args: AskArgs, app: &App) -> Result<(AskArgs, Self), CommandError> {
        let Some(run) = &args.resume else {
            let question = read_question(args.question.as_deref().unwrap_or_default())?;
            let mut config = settings::resolve(&args, &app.config.settings())?;
            let mut named = app.datastore_name(args.answer.datastore.as_deref());
            let mut follows = None;
            if let Some(run) = &args.follow_up {
                let (thread, earlier) = super::runs::thread::of(run, app)?;
                config.thread = Some(thread);
                if args.answer.datastore.is_none() {
                    named = earlier.datastore;
                }
                follows = Some(earlier.id);
            }
            // A group is written down as what it is now.
            let datastore = app.datastore_members(&named).join(",");
            let args = AskArgs { mode: config.mode, ..args };
            let journal = args.reuse.as_deref().map(|run| reused(run, app)).transpose()?.flatten();
            return Ok((args, Self { question, config, datastore, follows, journal }));
        };
        let folder = RunFolder::find(&app.home, run)?;
        let record = folder.record()?;
        if record.verb == Verb::Review {
            return Err(CommandError::user(format!("run {} is a review", record.id))
                .with_hint(format!("openscholar review --resume {}", record.id)));
        }
        match record.status {
            RunStatus::Interrupted | RunStatus::Failed => {}
            RunStatus::Done => {
                return Err(CommandError::user(format!("run {} is done", record.id))
                    .with_hint(format!("openscholar runs show {}", record.id)));
            }
            RunStatus::Running => {
                let message = format!("run {} is being answered by another process", record.id);
                return Err(CommandError::user(message)
                    .with_hint("wait until it ends, or stop it: its progress is saved"));
            }
        }
        let question = Question::new(&record.question)
            .map_err(|error| CommandError::user(error.to_string()))?;
        let mut config: AskConfig = serde_json::from_value(record.config).user(|| {
            format!("the settings of run {} are of another version of the program", record.id)
        })?;
        settings::raise_budget(&mut config, &args)?;
        let journal = super::runs::replay::journal_so_far(&folder)?;
        let answer = settings::rewire(args.answer, record.wiring)?;
        let args = AskArgs { mode: config.mode, answer, ..args };
        let (datastore, follows) = (record.datastore, record.follows);
        Ok((args, Self { question, config, datastore, follows, journal }))
    }
}

/// What an earlier run was told.
pub(super) fn reused(run: &str, app: &App) -> Result<Option<Journal>, CommandError> {
    let journal = super::runs::replay::journal_so_far(&RunFolder::find(&app.home, run)?)?;
    Ok(journal.map(Journal::without_clock))
}

/// Replies of other models must not pass for those of this run's.
pub(super) fn check_reused(
    journal: &Journal,
    ports: &Ports,
    run: &str,
) -> Result<(), CommandError> {
    if journal.ports().is_some_and(|recorded| recorded.is_of_the_same(&PortsInfo::of(ports))) {
        return Ok(());
    }
    Err(CommandError::user(format!("run {run} had other models or sources")).with_hint(
        "name the same models, judge, reranker and sources as that run, or leave --reuse out",
    ))
}

fn read_question(argument: &str) -> Result<Question, CommandError> {
    let mut text = argument.to_owned();
    if argument == "-" {
        let mut bytes = Vec::new();
        std::io::stdin()
            .lock()
            .take(MAX_INPUT_BYTES)
            .read_to_end(&mut bytes)
            .user(|| "cannot read standard input".to_owned())?;
        text = String::from_utf8(bytes)
            .user(|| "standard input is not UTF-8 text".to_owned())
            .map_err(|error| error.with_hint("pass the question as text, not as a file's bytes"))?;
    }
    Question::new(&text).map_err(|error| {
        CommandError::user(error.to_string())
            .with_hint("openscholar ask \"What is known about …?\"")
    })
}

/// The answer, and whether its run folder could be written.
async fn answer(
    args: &AskArgs,
    task: &Task,
    app: &App,
) -> Result<(AnswerDocument, Result<(), CommandError>), CommandError> {
    let Task { question, config, datastore, follows: _, journal } = task;
    let opened = OpenDatastore::open(app, datastore).await?;
    // Before anything is read: a datastore at this commit has what was read.
    let commit = opened.commit()?;
    if let Some(notice) = check_filter(&opened, args, config, datastore, app)? {
        app.printer.notice(&notice);
    }
    let meter = Meter::start_with(config.budget, app.clock(), Some(App::alarm()));
    let wired =
        wiring::ports(app, &opened, PortsWanted::of_ask(args), question, config, &meter).await?;
    let ports = &wired.ports;
    announce(
        &estimate(config, ports.generator.as_ref().map(|generator| generator.info())),
        config,
        app,
    )?;
    if let (Some(run), Some(journal)) = (&args.reuse, journal) {
        check_reused(journal, ports, run)?;
    }
    let live = match journal {
        Some(journal) => Replayer::with_live(journal, Some(ports.clone()))
            .user(|| "the journal cannot be used".to_owned())?
            .ports(),
        None => ports.clone(),
    };
    let (folder, mut record) = begin(task, &wired, app)?;
    let watch = Watch::new(&app.printer, args.stream, app.began, app.elapsed_ms());
    let recorder = Recorder::with_sink(&live, Some(folder.journal_sink()?));
    let outcome = tokio::select! {
        outcome = scholar_pipeline::ask(recorder.ports(), question, config, &watch) => Some(outcome),
        () = app.stop.wait() => None,
    };
    let (events, timings) = watch.finish();
    let kept = keep(&folder, &recorder, &events).and_then(|()| match &wired.sources.fetcher {
        Some(fetcher) => folder.write_lines(REQUESTS_FILE, &fetcher.journal()),
        None => Ok(()),
    });
    let outcome: Outcome<Answer> = match settle(outcome, &record.id, args, app).await {
        Ok(outcome) => outcome,
        Err(error) => {
            let interrupted = error.kind == ErrorKind::Interrupted;
            record.status = if interrupted { RunStatus::Interrupted } else { RunStatus::Failed };
            record.error = Some(error.to_string());
            // The first failure is the one to tell; that its record is incomplete comes with it.
            return match kept.and_then(|()| folder.write_json(RUN_FILE, &record)) {
                Ok(()) => Err(error),
                Err(unkept) => {
                    Err(error.with_hint(format!("its run folder is incomplete: {unkept}")))
                }
            };
        }
    };
    let spent = outcome.spent;
    let notices_after = match &wired.sources.fetcher {
        Some(fetcher) => wiring::standing::notices(&outcome.value.references, fetcher).await,
        None => Vec::new(),
    };
    let recorded = Recorded {
        notices_before: wired.all_notices(),
        notices_after,
        usage: Usage {
            model: wired.models.get("generator").cloned(),
            calls: spent.calls,
            prompt_tokens: spent.usage.prompt,
            completion_tokens: spent.usage.completion,
            cost_usd: spent.usd,
        },
        timings_ms: timings,
    };
    let Outcome { value, notices, trace, spent: _ } = outcome;
    let document = recorded.document(value, &notices, &record.id);
    let found = wired.wide.as_ref().map(|wide| wide.found_papers());
    let end = End { document: &document, trace: &trace, recorded, commit, found: found.as_deref() };
    let stored = kept.and_then(|()| finish(&folder, &mut record, end));
    let stored = stored.map_err(|error| {
        error
            .with_hint("the answer is complete, but its run folder is not: save the printed answer")
    });
    Ok((document, stored))
}

/// What the filter leaves of the datastore. Where other sources are asked too, nothing left of it is no failure.
fn check_filter(
    opened: &OpenDatastore,
    args: &AskArgs,
    config: &AskConfig,
    datastore: &str,
    app: &App,
) -> Result<Option<Notice>, CommandError> {
    let configured = app.config.sources.used.iter().any(|source| source != "datastore");
    let asks_others = args.answer.search_sources.asks_others()
        || (args.answer.search_sources.sources.is_empty() && configured);
    match opened.check_filter(&config.retrieval.filter, datastore) {
        Err(error) if asks_others => Ok(Some(error.notice())),
        done => done,
    }
}

/// Adds the papers that the run's sources found to a datastore.
fn save(run: &str, datastore: &str, app: &App) -> Result<(), CommandError> {
    let found = RunFolder::find(&app.home, run)?.found_papers()?;
    if found.is_empty() {
        app.printer.say("no paper was found outside the datastore: nothing to save");
        return Ok(());
    }
    let source = format!("run {run}");
    let done =
        app.block_on_to_the_end(super::papers::keep::add(datastore, found, &source, false, app))??;
    crate::output::added::report(&format!("saved to {datastore}"), &done, app);
    Ok(())
}

/// What was done, before it is known how it ended.
pub(super) fn keep(
    folder: &RunFolder,
    recorder: &Recorder,
    events: &[Event],
) -> Result<(), CommandError> {
    folder.write_text(JOURNAL_FILE, &recorder.journal().to_json_lines())?;
    folder.write_lines(EVENTS_FILE, events)
}

/// What was asked of what, before anything can go wrong.
fn begin(task: &Task, wired: &Wired, app: &App) -> Result<(RunFolder, RunRecord), CommandError> {
    let Task { question, config, datastore, follows, journal: _ } = task;
    let started = App::now();
    let (folder, id) = RunFolder::create(&app.home, &started, question.as_str())?;
    let record = RunRecord {
        schema: RUN_SCHEMA.to_owned(),
        id,
        started,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        status: RunStatus::Running,
        error: None,
        verb: Verb::Ask,
        question: question.as_str().to_owned(),
        follows: follows.clone(),
        datastore: datastore.clone(),
        models: wired.models.clone(),
        wiring: wired.record.clone(),
        config: serde_json::to_value(config).map_err(|source| {
            CommandError::new(ErrorKind::Bug, "cannot write the settings").with_source(source)
        })?,
    };
    folder.write_json(RUN_FILE, &record)?;
    Ok((folder, record))
}

/// What a run ends with.
struct End<'a> {
    document: &'a AnswerDocument,
    trace: &'a [Event],
    recorded: Recorded,
    commit: u64,
    found: Option<&'a [Paper]>,
}

fn finish(folder: &RunFolder, record: &mut RunRecord, end: End<'_>) -> Result<(), CommandError> {
    let End { document, trace, recorded, commit, found } = end;
    if let Some(found) = found {
        folder.write_lines(FOUND_FILE, found)?;
    }
    let files = derive::file_digests(|name| folder.bytes(name).ok().flatten());
    let facts = Facts { record, commit: Some(commit), recorded, files };
    let derived = derive::files(document, trace, facts)?;
    folder.write_text(ANSWER_FILE, &derived.answer_json)?;
    folder.write_text(MARKDOWN_FILE, &derived.answer_md)?;
    folder.write_text(PROOF_FILE, &derived.proof_json)?;
    record.status = RunStatus::Done;
    folder.write_json(RUN_FILE, record)
}

/// Signs the proof of a run that is whole.
fn sign(run: &str, signer: &Signer, app: &App) -> Result<(), CommandError> {
    let folder = RunFolder::find(&app.home, run)?;
    let key = super::runs::sign::sign(&folder, signer)?;
    app.printer.say(&format!("signed with {key}"));
    Ok(())
}

async fn settle(
    outcome: Option<Result<Outcome<Answer>, AskError>>,
    run: &str,
    args: &AskArgs,
    app: &App,
) -> Result<Outcome<Answer>, CommandError> {
    match outcome {
        Some(Ok(outcome)) => Ok(outcome),
        Some(Err(error @ AskError::NoGenerator { .. }))
            if wiring::generator::base_url(app, &args.answer).is_none() =>
        {
            Err(wiring::local_servers::suggest(error.into(), app, &args.answer).await)
        }
        Some(Err(error)) => Err(CommandError::from(error)),
        None => Err(CommandError::new(
            ErrorKind::Interrupted,
            format!("interrupted; progress is saved in run {run}"),
        )
        .with_hint(format!("openscholar ask --resume {run}"))),
    }
}

/// Says what the run is expected to use, and refuses a cost limit that cannot be kept.
pub(super) fn announce(
    estimate: &Estimate,
    config: &AskConfig,
    app: &App,
) -> Result<(), CommandError> {
    announce_between([estimate, estimate], config, app)
}

/// The same of an estimate that is a range.
pub(super) fn announce_between(
    [least, most]: [&Estimate; 2],
    config: &AskConfig,
    app: &App,
) -> Result<(), CommandError> {
    let Estimate { calls, usage, usd } = *most;
    if config.budget.max_cost.is_some() && usd.is_none() && calls > 0 {
        return Err(CommandError::user(
            "--max-cost cannot be enforced: the price of the model is unknown",
        )
        .with_hint(format!("add its price to {}", app.home.price_file().display())));
    }
    let range = |least: String, most: String| {
        if least == most { most } else { format!("{least} to {most}") }
    };
    let dollars = |usd: f64| format!("{usd:.3}");
    let paid = usd
        .filter(|usd| *usd > 0.0)
        .map(|usd| format!(", about ${}", range(dollars(least.usd.unwrap_or(usd)), dollars(usd))));
    let paid = paid.unwrap_or_default();
    let unknown = if usd.is_none() && calls > 0 { ", at an unknown price" } else { "" };
    if calls > 0 && (usd.is_none_or(|usd| usd > 0.0)) {
        app.printer.say(&format!(
            "expected: {} model calls, {} tokens{paid}{unknown}",
            range(least.calls.to_string(), calls.to_string()),
            range(least.usage.total().to_string(), usage.total().to_string()),
        ));
    }
    Ok(())
}

fn print(document: &AnswerDocument, args: &AskArgs, app: &App) -> Result<(), CommandError> {
    let json = match args.format {
        None if args.stream => Some(Json::line(document)?),
        None if app.printer.json => Some(Json::pretty(document)?),
        _ => None,
    };
    // First to the reader: a file that cannot be written must not cost the answer.
    let bytes = if let Some(json) = json {
        app.printer.out_json(&json)?;
        json.into_string().into_bytes()
    } else {
        let bytes = match args.format {
            Some(format) => export::bytes(document, format, args.style.as_deref())?,
            None => markdown::render(document).into_bytes(),
        };
        if args.format.is_none_or(export::is_text) {
            app.printer.out(String::from_utf8_lossy(&bytes).trim_end())?;
        }
        bytes
    };
    if let Some(path) = &args.output {
        let whole = if bytes.ends_with(b"\n") || !args.format.is_none_or(export::is_text) {
            bytes
        } else {
            [bytes.as_slice(), b"\n"].concat()
        };
        runs::write_file(path, &whole).map_err(|error| {
            error.with_hint(format!("the answer is saved: openscholar runs show {}", document.run))
        })?;
        app.printer.say(&format!("written to {}", path.display()));
    }
    Ok(())
}
