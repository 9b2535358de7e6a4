//! `openscholar review IDEA`.

mod dry;
mod input;
mod settings;

use std::process::ExitCode;

use scholar_core::{Answer, AnswerMode, GeneratorInfo, Notice, NoticeKind, Paper, Question};
use scholar_pipeline::budget::{Estimate, ExpectedCalls};
use scholar_pipeline::proof::canonical;
use scholar_pipeline::record::{Journal, Recorder, Replayer};
use scholar_pipeline::{Event, Meter, ModeChoice, Outcome};
use scholar_review::{
    Idea, ModeWanted, Review, ReviewConfig, ReviewError, ReviewMode, StepCall, artefacts, mode_for,
};

use super::ask;
use super::ask::watch::Watch;
use crate::app::App;
use crate::args::ReviewArgs;
use crate::error::{CommandError, EXIT_MISSING_EVIDENCE, ErrorKind};
use crate::output::document::{AnswerDocument, Usage};
use crate::output::export;
use crate::output::json::Json;
use crate::output::review::ReviewDocument;
use crate::proof::derive::{self, Facts, Recorded};
use crate::runs::{
    self, ANSWER_FILE, FOUND_FILE, MARKDOWN_FILE, PROOF_FILE, REQUESTS_FILE, REVIEW_FILE, RUN_FILE,
    RunFolder, RunRecord, RunStatus, Verb,
};
use crate::wiring::{self, OpenDatastore, PortsWanted};

pub(crate) fn run(args: ReviewArgs, app: &App) -> Result<ExitCode, CommandError> {
    super::papers::refuse_json_with_format(args.format.is_some(), app)?;
    if args.format.is_some_and(|format| !export::is_text(format)) && args.output.is_none() {
        return Err(CommandError::user("a DOCX file cannot be printed")
            .with_hint("name a file: --output review.docx"));
    }
    if let Some(run) = &args.dry_run {
        return dry::run(run, &args, app);
    }
    let (args, task) = Task::of(args, app)?;
    for name in &app.datastore_members(&task.datastore) {
        app.home.datastore(name)?;
        if name != crate::starter::NAME {
            app.existing_datastore(name)?;
        }
    }
    let (answer, review, stored) = app.block_on_to_the_end(weigh(&args, &task, app))??;
    // What was paid for is shown even where it cannot be kept.
    print(&review, &args, app)?;
    stored?;
    let abstained = answer.answer.abstained;
    Ok(if abstained { ExitCode::from(EXIT_MISSING_EVIDENCE) } else { ExitCode::SUCCESS })
}

/// What is to be reviewed, how, over what; and what is known already.
struct Task {
    idea: Idea,
    config: ReviewConfig,
    datastore: String,
    journal: Option<Journal>,
}

impl Task {
    /// From the arguments, or from the interrupted run they name; the arguments come back with that run's wiring.
    fn of(args: ReviewArgs, app: &App) -> Result<(ReviewArgs, Self), CommandError> {
        let Some(run) = &args.resume else {
            let idea = input::read(args.idea.as_deref().unwrap_or_default())?;
            let config = settings::resolve(&args, &App::now())?;
            let named = app.datastore_name(args.answer.datastore.as_deref());
            let datastore = app.datastore_members(&named).join(",");
            let reused = args.reuse.as_deref().map(|run| ask::reused(run, app));
            let journal = reused.transpose()?.flatten();
            return Ok((args, Self { idea, config, datastore, journal }));
        };
        let folder = RunFolder::find(&app.home, run)?;
        let record = folder.record()?;
        let refuse = |what: &str, hint: String| {
            Err(CommandError::user(format!("run {} {what}", record.id)).with_hint(hint))
        };
        match (record.verb, record.status) {
            (Verb::Ask, _) => {
                return refuse(
                    "answers a question",
                    format!("openscholar ask --resume {}", record.id),
                );
            }
            (Verb::Review, RunStatus::Interrupted | RunStatus::Failed) => {}
            (Verb::Review, RunStatus::Done) => {
                return refuse("is done", format!("openscholar runs show {}", record.id));
            }
            (Verb::Review, RunStatus::Running) => {
                let hint = "wait until it ends, or stop it: its progress is saved";
                return refuse("is under way in another process", hint.to_owned());
            }
        }
        let idea = Idea::read(&record.question)?;
        let mut config = settings::of_record(&record)?;
        settings::raise_budget(&mut config, &args.answer)?;
        let journal = super::runs::replay::journal_so_far(&folder)?;
        let answer = ask::settings::rewire(args.answer, record.wiring)?;
        let args = ReviewArgs { answer, ..args };
        Ok((args, Self { idea, config, datastore: record.datastore, journal }))
    }

    /// What its run is to do.
    fn asked(&self) -> ask::Asked<'_, ReviewConfig> {
        ask::Asked {
            verb: Verb::Review,
            question: &self.idea.text,
            follows: None,
            datastore: &self.datastore,
            config: &self.config,
        }
    }
}

type Reviewed = (AnswerDocument, ReviewDocument, Result<(), CommandError>);

/// The review, as its sentences and as a whole, and whether its run folder could be written.
async fn weigh(args: &ReviewArgs, task: &Task, app: &App) -> Result<Reviewed, CommandError> {
    let Task { idea, config, datastore, journal } = task;
    let opened = OpenDatastore::open(app, datastore).await?;
    let commit = opened.commit()?;
    let guard = scholar_review::Guard::of(idea, config.cutoff);
    let asked = config.ask(guard.filter());
    check_cutoff(&opened, args, task, app)?;
    let meter = Meter::start_with(config.budget, app.clock(), Some(App::alarm()));
    let question =
        Question::new(&idea.name()).map_err(|error| CommandError::user(error.to_string()))?;
    let wanted = PortsWanted {
        answer: &args.answer,
        preset: if args.preset == "upstream" { "upstream" } else { "report" },
        mode: choice(config.mode),
    };
    let wired = wiring::ports(app, &opened, wanted, &question, &asked, &meter).await?;
    let info = wired.ports.generator.as_ref().map(|generator| generator.info());
    match mode_for(config.mode, info).0 {
        ReviewMode::Generative => {
            let judge = wired.ports.attributor.as_ref();
            // The judge of paragraphs is a model beside a small judge, whatever its name.
            let judged = judge.finds_contradictions()
                || info.is_some_and(|info| judge.name().starts_with(&info.model));
            let expected = scholar_review::estimate(config, info, judged);
            ask::announce_between([&expected.least, &expected.most], &asked, (app, &app.printer))?;
        }
        ReviewMode::Evidence if args.points.is_some_and(|points| points > 0) => {
            let message = "no points about the plan itself: they take a capable model";
            app.printer.notice(&Notice::new(NoticeKind::Skipped, message));
        }
        ReviewMode::Evidence => {}
    }
    if let (Some(run), Some(journal)) = (&args.reuse, journal) {
        ask::check_reused(journal, &wired.ports, run)?;
    }
    let live = match journal {
        Some(journal) => Replayer::with_live(journal, Some(wired.ports.clone()))
            .map_err(|error| CommandError::user(format!("the journal cannot be used: {error}")))?
            .ports(),
        None => wired.ports.clone(),
    };
    let (folder, mut record) = ask::begin(task.asked(), &wired, None, app)?;
    let watch = Watch::new(&app.printer, false, app.began, app.elapsed_ms());
    let recorder = Recorder::with_sink(&live, Some(folder.journal_sink()?));
    let outcome = tokio::select! {
        outcome = scholar_review::review(recorder.ports(), idea, config, &watch) => Some(outcome),
        () = app.stop.wait() => None,
    };
    let (events, timings) = watch.finish();
    let kept = ask::keep(&folder, &recorder, &events).and_then(|()| match &wired.sources.fetcher {
        Some(fetcher) => folder.write_lines(REQUESTS_FILE, &fetcher.journal()),
        None => Ok(()),
    });
    let outcome = match settle(outcome, &record.id) {
        Ok(outcome) => outcome,
        Err(error) => return Err(ask::ended_badly(&folder, &mut record, kept, error)),
    };
    let notices_after = match &wired.sources.fetcher {
        Some(fetcher) => wiring::standing::notices(&outcome.value.references, fetcher).await,
        None => Vec::new(),
    };
    let Outcome { value: review, notices, trace, spent } = outcome;
    let usage = Usage {
        model: wired.models.get("generator").cloned(),
        calls: spent.calls,
        prompt_tokens: spent.usage.prompt,
        completion_tokens: spent.usage.completion,
        cost_usd: spent.usd,
    };
    let notices_before = wired.all_notices();
    let recorded = Recorded { notices_before, notices_after, usage, timings_ms: timings };
    let found = wired.wide.as_ref().map(|wide| wide.found_papers());
    let calls = calls(&trace, wired.ports.generator.as_ref().map(|one| one.info()));
    let end = End { review, notices, trace, recorded, commit, found, calls };
    let (answer, whole, stored) = finish(&folder, &mut record, end);
    let stored = kept.and(stored).map_err(|error| {
        error.with_hint("the review is complete, but its run folder is not: save what is printed")
    });
    Ok((answer, whole, stored))
}

/// What `wiring` knows of a mode of reviews.
fn choice(mode: ModeWanted) -> ModeChoice {
    match mode {
        ModeWanted::Auto => ModeChoice::Auto,
        ModeWanted::Generative => AnswerMode::Generative.into(),
        ModeWanted::Evidence => AnswerMode::Evidence.into(),
    }
}

/// That something of the datastore is left before the cut-off, where nothing else is searched.
fn check_cutoff(
    opened: &OpenDatastore,
    args: &ReviewArgs,
    task: &Task,
    app: &App,
) -> Result<(), CommandError> {
    if task.config.cutoff.is_none() {
        return Ok(());
    }
    // The title of the idea's own paper is no condition that could leave nothing.
    let filter = scholar_core::SearchFilter {
        exclude_titles: std::collections::BTreeSet::new(),
        ..scholar_review::Guard::of(&task.idea, task.config.cutoff).filter()
    };
    let asks_others = args.answer.search_sources.asks_others();
    let notice = match opened.check_filter(&filter, &task.datastore) {
        Err(error) if asks_others => Some(error.notice()),
        done => done?,
    };
    if let Some(notice) = notice {
        app.printer.notice(&notice);
    }
    Ok(())
}

fn settle(
    outcome: Option<Result<Outcome<Review>, ReviewError>>,
    run: &str,
) -> Result<Outcome<Review>, CommandError> {
    let hint = format!("openscholar review --resume {run}");
    match outcome {
        Some(Ok(outcome)) => Ok(outcome),
        Some(Err(error)) => Err(CommandError::from(error).with_hint(hint)),
        None => {
            let message = format!("interrupted; progress is saved in run {run}");
            Err(CommandError::new(ErrorKind::Interrupted, message).with_hint(hint))
        }
    }
}

/// What a run ends with.
struct End {
    review: Review,
    notices: Vec<Notice>,
    trace: Vec<Event>,
    recorded: Recorded,
    commit: u64,
    found: Option<Vec<Paper>>,
    calls: Vec<StepCall>,
}

/// The calls of the run with what they cost.
fn calls(trace: &[Event], info: Option<&GeneratorInfo>) -> Vec<StepCall> {
    let of = |event: &Event| match event {
        Event::Generated { purpose, usage } => {
            let (prompt, completion) = (usage.prompt, usage.completion);
            let one = ExpectedCalls { calls: 1, prompt, completion };
            let usd = Estimate::of(&[one], info).usd;
            Some(StepCall { purpose: purpose.clone(), usage: *usage, usd })
        }
        _ => None,
    };
    trace.iter().filter_map(of).collect()
}

fn finish(folder: &RunFolder, record: &mut RunRecord, end: End) -> Reviewed {
    let End { review, notices, trace, recorded, commit, found, calls } = end;
    let answer: Answer = review.to_answer();
    let document = recorded.document(answer, &notices, &record.id);
    let whole = derive::review_of(review, &document);
    let mut write = || -> Result<(), CommandError> {
        if let Some(found) = &found {
            folder.write_lines(FOUND_FILE, found)?;
        }
        folder.write_json(REVIEW_FILE, &whole)?;
        let settings = canonical::digest(&record.config).map_err(|source| {
            CommandError::new(ErrorKind::Bug, "cannot name the settings").with_source(source)
        })?;
        for one in artefacts(&whole.review, &calls, &settings) {
            folder.write_below(&one.path, &one.text)?;
        }
        let files = derive::file_digests(|name| folder.bytes(name).ok().flatten());
        let facts = Facts { record, commit: Some(commit), recorded: recorded.clone(), files };
        let derived = derive::files(&document, &trace, facts)?;
        folder.write_text(ANSWER_FILE, &derived.answer_json)?;
        folder.write_text(MARKDOWN_FILE, &derived.answer_md)?;
        folder.write_text(PROOF_FILE, &derived.proof_json)?;
        record.status = RunStatus::Done;
        folder.write_json(RUN_FILE, record)
    };
    let stored = write();
    (document, whole, stored)
}

fn print(review: &ReviewDocument, args: &ReviewArgs, app: &App) -> Result<(), CommandError> {
    let bytes = if args.format.is_none() && app.printer.json {
        let json = Json::pretty(review)?;
        app.printer.out_json(&json)?;
        json.into_string().into_bytes()
    } else {
        let bytes = export::review_bytes(review, args.format, args.style.as_deref())?;
        if args.format.is_none_or(export::is_text) {
            app.printer.out(String::from_utf8_lossy(&bytes).trim_end())?;
        }
        bytes
    };
    if let Some(path) = &args.output {
        runs::write_file(path, &bytes).map_err(|error| {
            error.with_hint(format!("the review is saved: openscholar runs show {}", review.run))
        })?;
        app.printer.say(&format!("written to {}", path.display()));
    }
    Ok(())
}
