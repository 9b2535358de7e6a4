//! From a question to the run that answers it, whoever attends it: a person at a terminal or a server.

use std::io::Read as _;
use std::sync::Arc;
use std::time::Instant;

use scholar_core::{Answer, Notice, Paper, Question};
use scholar_pipeline::budget::Estimate;
use scholar_pipeline::config::AskConfig;
use scholar_pipeline::record::{Journal, PortsInfo, Recorder, Replayer};
use scholar_pipeline::{AskError, Event, Meter, Observer, Outcome, Ports, estimate};
use serde::Serialize;

use super::settings;
use super::watch::Watch;
use crate::app::App;
use crate::args::AskArgs;
use crate::error::{CommandError, Context as _, ErrorKind};
use crate::output::document::{AnswerDocument, Usage};
use crate::printer::Printer;
use crate::proof::derive::{self, Facts, Recorded};
use crate::runs::{
    ANSWER_FILE, EVENTS_FILE, FOUND_FILE, MARKDOWN_FILE, PROOF_FILE, REQUESTS_FILE, RUN_FILE,
    RUN_SCHEMA, RunFolder, RunRecord, RunStatus, Verb,
};
use crate::stop::unless_stopped;
use crate::wiring::{self, OpenDatastore, PortsWanted, Wired};

/// Most bytes read from standard input: far above the longest accepted question or idea.
const MAX_INPUT_BYTES: u64 = 1_000_000;

/// Who attends a run, and what is there for it.
pub(crate) struct Attended {
    /// Where it is told what happens.
    pub(crate) printer: Printer,
    /// When the question was taken.
    pub(crate) began: Instant,
    /// Sees every event, beside the record.
    pub(crate) observer: Option<Arc<dyn Observer>>,
    /// The folder that is kept for it, with its name; without one it gets a new one.
    pub(crate) folder: Option<(RunFolder, String)>,
}

impl Attended {
    /// By whoever started the program.
    pub(crate) fn at_the_terminal(app: &App) -> Self {
        Self { printer: app.printer.clone(), began: app.began, observer: None, folder: None }
    }
}

/// What is to be answered, how, from what; and what is known already.
pub(crate) struct Task {
    question: Question,
    config: AskConfig,
    pub(crate) datastore: String,
    /// The run that it follows up on.
    follows: Option<String>,
    journal: Option<Journal>,
}

impl Task {
    /// What its run is to do.
    fn asked(&self) -> Asked<'_, AskConfig> {
        Asked {
            verb: Verb::Ask,
            question: self.question.as_str(),
            follows: self.follows.clone(),
            datastore: &self.datastore,
            config: &self.config,
        }
    }

    /// What is asked.
    pub(crate) fn question(&self) -> &Question {
        &self.question
    }

    /// The resolved settings.
    pub(crate) fn config(&self) -> &AskConfig {
        &self.config
    }

    /// From the arguments, or from the interrupted run they name; the arguments come back with that run's wiring.
    pub(crate) fn of(args: AskArgs, app: &App) -> Result<(AskArgs, Self), CommandError> {
        let Some(run) = &args.resume else {
            let question = read_question(args.question.as_deref().unwrap_or_default())?;
            let mut config = settings::resolve(&args, &app.config.settings())?;
            let mut named = app.datastore_name(args.answer.datastore.as_deref());
            let mut follows = None;
            if let Some(run) = &args.follow_up {
                let (thread, earlier) = crate::commands::runs::thread::of(run, app)?;
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
        let journal = crate::commands::runs::replay::journal_so_far(&folder)?;
        let answer = settings::rewire(args.answer, record.wiring)?;
        let args = AskArgs { mode: config.mode, answer, ..args };
        let (datastore, follows) = (record.datastore, record.follows);
        Ok((args, Self { question, config, datastore, follows, journal }))
    }
}

/// What an earlier run was told.
pub(crate) fn reused(run: &str, app: &App) -> Result<Option<Journal>, CommandError> {
    let journal = crate::commands::runs::replay::journal_so_far(&RunFolder::find(&app.home, run)?)?;
    Ok(journal.map(Journal::without_clock))
}

/// Replies of other models must not pass for those of this run's.
pub(crate) fn check_reused(
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

/// What stands on standard input.
pub(crate) fn stdin() -> Result<Vec<u8>, CommandError> {
    let mut bytes = Vec::new();
    std::io::stdin()
        .lock()
        .take(MAX_INPUT_BYTES)
        .read_to_end(&mut bytes)
        .user(|| "cannot read standard input".to_owned())?;
    Ok(bytes)
}

fn read_question(argument: &str) -> Result<Question, CommandError> {
    let mut text = argument.to_owned();
    if argument == "-" {
        text = String::from_utf8(stdin()?)
            .user(|| "standard input is not UTF-8 text".to_owned())
            .map_err(|error| {
            error.with_hint("pass the question as text, not as a file's bytes")
        })?;
    }
    Question::new(&text).map_err(|error| {
        CommandError::user(error.to_string())
            .with_hint("openscholar ask \"What is known about …?\"")
    })
}

/// The answer, and whether its run folder could be written.
pub(crate) async fn answer(
    args: &AskArgs,
    task: &Task,
    app: &App,
    attended: Attended,
    stop: impl Future<Output = ()>,
) -> Result<(AnswerDocument, Result<(), CommandError>), CommandError> {
    let Task { question, config, datastore, follows: _, journal } = task;
    let Attended { printer, began, observer, folder } = attended;
    let opened = OpenDatastore::open(app, datastore).await?;
    // Before anything is read: a datastore at this commit has what was read.
    let commit = opened.commit()?;
    if let Some(notice) = check_filter(&opened, args, config, datastore, app)? {
        printer.notice(&notice);
    }
    let meter = Meter::start_with(config.budget, app.clock(), Some(App::alarm()));
    let wired =
        wiring::ports(app, &opened, PortsWanted::of_ask(args), question, config, &meter).await?;
    let ports = &wired.ports;
    let info = ports.generator.as_ref().map(|generator| generator.info());
    announce(&estimate(config, info), config, (app, &printer))?;
    if let (Some(run), Some(journal)) = (&args.reuse, journal) {
        check_reused(journal, ports, run)?;
    }
    let live = match journal {
        Some(journal) => Replayer::with_live(journal, Some(ports.clone()))
            .user(|| "the journal cannot be used".to_owned())?
            .ports(),
        None => ports.clone(),
    };
    let (folder, mut record) = begin(task.asked(), &wired, folder, app)?;
    let open_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    let watch = Watch::new(&printer, args.stream, began, open_ms).and(observer);
    let recorder = Recorder::with_sink(&live, Some(folder.journal_sink()?));
    let work = scholar_pipeline::ask(recorder.ports(), question, config, &watch);
    let outcome = unless_stopped(stop, work).await;
    let (events, timings) = watch.finish();
    let kept = keep(&folder, &recorder, &events).and_then(|()| match &wired.sources.fetcher {
        Some(fetcher) => folder.write_lines(REQUESTS_FILE, &fetcher.journal()),
        None => Ok(()),
    });
    let outcome: Outcome<Answer> = match settle(outcome, &record.id, args, app).await {
        Ok(outcome) => outcome,
        Err(error) => return Err(ended_badly(&folder, &mut record, kept, error)),
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

/// What was done, before it is known how it ended.
pub(crate) fn keep(
    folder: &RunFolder,
    recorder: &Recorder,
    events: &[Event],
) -> Result<(), CommandError> {
    folder.write_journal(&recorder.journal().to_json_lines())?;
    folder.write_lines(EVENTS_FILE, events)
}

/// What a run is to do, and of what.
pub(crate) struct Asked<'a, C> {
    pub(crate) verb: Verb,
    pub(crate) question: &'a str,
    pub(crate) follows: Option<String>,
    pub(crate) datastore: &'a str,
    pub(crate) config: &'a C,
}

/// Writes down what was asked, before anything can go wrong, in the folder that is kept for it or a new one.
pub(crate) fn begin<C: Serialize>(
    asked: Asked<'_, C>,
    wired: &Wired,
    kept: Option<(RunFolder, String)>,
    app: &App,
) -> Result<(RunFolder, RunRecord), CommandError> {
    let Asked { verb, question, follows, datastore, config } = asked;
    let started = App::now();
    let (folder, id) = match kept {
        Some(kept) => kept,
        None => RunFolder::create(&app.home, &started, question)?,
    };
    let record = RunRecord {
        schema: RUN_SCHEMA.to_owned(),
        id,
        started,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        status: RunStatus::Running,
        error: None,
        verb,
        question: question.to_owned(),
        follows,
        datastore: datastore.to_owned(),
        models: wired.models.clone(),
        wiring: wired.record.clone(),
        config: serde_json::to_value(config).map_err(|source| {
            CommandError::new(ErrorKind::Bug, "cannot write the settings").with_source(source)
        })?,
    };
    folder.write_json(RUN_FILE, &record)?;
    Ok((folder, record))
}

/// Writes down why a run has no result, and that its record is incomplete where it is: the first failure is the one to tell.
pub(crate) fn ended_badly(
    folder: &RunFolder,
    record: &mut RunRecord,
    kept: Result<(), CommandError>,
    error: CommandError,
) -> CommandError {
    let interrupted = error.kind == ErrorKind::Interrupted;
    record.status = if interrupted { RunStatus::Interrupted } else { RunStatus::Failed };
    record.error = Some(error.to_string());
    match kept.and_then(|()| folder.write_json(RUN_FILE, record)) {
        Ok(()) => error,
        Err(unkept) => error.with_hint(format!("its run folder is incomplete: {unkept}")),
    }
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
pub(crate) fn announce(
    estimate: &Estimate,
    config: &AskConfig,
    shown: (&App, &Printer),
) -> Result<(), CommandError> {
    announce_between([estimate, estimate], config, shown)
}

/// The same of an estimate that is a range.
pub(crate) fn announce_between(
    [least, most]: [&Estimate; 2],
    config: &AskConfig,
    (app, printer): (&App, &Printer),
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
        printer.say(&format!(
            "expected: {} model calls, {} tokens{paid}{unknown}",
            range(least.calls.to_string(), calls.to_string()),
            range(least.usage.total().to_string(), usage.total().to_string()),
        ));
    }
    Ok(())
}
