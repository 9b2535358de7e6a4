//! From an idea to the run that reviews it, whoever attends it: a person at a terminal or a server.

use scholar_core::{Answer, AnswerMode, GeneratorInfo, Notice, NoticeKind, Paper, Query, Question};
use scholar_pipeline::budget::{Estimate, ExpectedCalls};
use scholar_pipeline::config::AskConfig;
use scholar_pipeline::proof::canonical;
use scholar_pipeline::record::{Journal, Recorder, Replayer};
use scholar_pipeline::{Event, Meter, ModeChoice, Outcome, Ports};
use scholar_review::{
    Idea, ModeWanted, Review, ReviewConfig, ReviewError, ReviewEstimate, ReviewMode, StepCall,
    artefacts, mode_for,
};

use super::{input, settings};
use crate::app::App;
use crate::args::ReviewArgs;
use crate::commands::ask;
use crate::commands::ask::answering::Attended;
use crate::commands::ask::watch::Watch;
use crate::error::{CommandError, ErrorKind};
use crate::output::document::{AnswerDocument, Usage};
use crate::output::review::ReviewDocument;
use crate::printer::Printer;
use crate::proof::derive::{self, Facts, Recorded};
use crate::runs::{
    ANSWER_FILE, FOUND_FILE, MARKDOWN_FILE, PROOF_FILE, REQUESTS_FILE, REVIEW_FILE, RUN_FILE,
    RunFolder, RunRecord, RunStatus, Verb,
};
use crate::stop::unless_stopped;
use crate::wiring::{self, OpenDatastore, PortsWanted};

/// What is to be reviewed, how, over what; and what is known already.
pub(crate) struct Task {
    idea: Idea,
    config: ReviewConfig,
    datastore: String,
    journal: Option<Journal>,
}

impl Task {
    /// A review of `idea` by the arguments.
    pub(crate) fn new(idea: Idea, args: &ReviewArgs, app: &App) -> Result<Self, CommandError> {
        let config = settings::resolve(args, &App::now())?;
        let named = app.datastore_name(args.answer.datastore.as_deref());
        let datastore = app.datastore_members(&named).join(",");
        let reused = args.reuse.as_deref().map(|run| ask::reused(run, app));
        let journal = reused.transpose()?.flatten();
        Ok(Self { idea, config, datastore, journal })
    }

    /// What is reviewed.
    pub(crate) fn idea(&self) -> &Idea {
        &self.idea
    }

    /// What it is called, as something that can be looked for.
    pub(crate) fn query(&self) -> Result<Query, CommandError> {
        self.named().map(|question| Query::from(&question))
    }

    fn named(&self) -> Result<Question, CommandError> {
        Question::new(&self.idea.name()).map_err(|error| CommandError::user(error.to_string()))
    }

    /// What is read.
    pub(crate) fn datastore(&self) -> &str {
        &self.datastore
    }

    /// What it is expected to use with that generator; `None` where no model is asked.
    pub(crate) fn estimate(
        &self,
        info: Option<&GeneratorInfo>,
        judged_by_model: bool,
    ) -> Option<ReviewEstimate> {
        match mode_for(self.config.mode, info).0 {
            ReviewMode::Generative => {
                Some(scholar_review::estimate(&self.config, info, judged_by_model))
            }
            ReviewMode::Evidence => None,
        }
    }

    /// From the arguments, or from the interrupted run they name; the arguments come back with that run's wiring.
    pub(crate) fn of(args: ReviewArgs, app: &App) -> Result<(ReviewArgs, Self), CommandError> {
        let Some(run) = &args.resume else {
            let idea = input::read(args.idea.as_deref().unwrap_or_default())?;
            let task = Self::new(idea, &args, app)?;
            return Ok((args, task));
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
        let journal = crate::commands::runs::replay::journal_so_far(&folder)?;
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

/// A review that is over.
pub(crate) struct Reviewed {
    /// Its sentences as an answer.
    pub(crate) answer: AnswerDocument,
    /// All of it.
    pub(crate) review: ReviewDocument,
    /// Whether its run folder could be written.
    pub(crate) stored: Result<(), CommandError>,
}

/// Reviews, and keeps the run.
pub(crate) async fn review_task(
    args: &ReviewArgs,
    task: &Task,
    app: &App,
    attended: Attended,
    stop: impl Future<Output = ()>,
) -> Result<Reviewed, CommandError> {
    let Task { idea, config, datastore, journal } = task;
    let Attended { printer, began, observer, folder } = attended;
    let opened = OpenDatastore::open(app, datastore).await?;
    let commit = opened.commit()?;
    let guard = scholar_review::Guard::of(idea, config.cutoff);
    let asked = config.ask(guard.filter());
    if let Some(notice) = check_cutoff(&opened, args, task)? {
        printer.notice(&notice);
    }
    let meter = Meter::start_with(config.budget, app.clock(), Some(App::alarm()));
    let question = task.named()?;
    let wanted = PortsWanted {
        answer: &args.answer,
        preset: if args.preset == "upstream" { "upstream" } else { "report" },
        mode: choice(config.mode),
    };
    let wired = wiring::ports(app, &opened, wanted, &question, &asked, &meter).await?;
    announce(args, task, &asked, &wired.ports, (app, &printer))?;
    if let (Some(run), Some(journal)) = (&args.reuse, journal) {
        ask::check_reused(journal, &wired.ports, run)?;
    }
    let live = match journal {
        Some(journal) => Replayer::with_live(journal, Some(wired.ports.clone()))
            .map_err(|error| CommandError::user(format!("the journal cannot be used: {error}")))?
            .ports(),
        None => wired.ports.clone(),
    };
    let (folder, mut record) = ask::begin(task.asked(), &wired, folder, app)?;
    let open_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    let watch = Watch::new(&printer, false, began, open_ms).and(observer);
    let recorder = Recorder::with_sink(&live, Some(folder.journal_sink()?));
    let work = scholar_review::review(recorder.ports(), idea, config, &watch);
    let outcome = unless_stopped(stop, work).await;
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
    let Reviewed { answer, review, stored } = finish(&folder, &mut record, end);
    let stored = kept.and(stored).map_err(|error| {
        error.with_hint("the review is complete, but its run folder is not: save what is printed")
    });
    Ok(Reviewed { answer, review, stored })
}

/// Says what the review is expected to use, and refuses a cost limit that cannot be kept.
fn announce(
    args: &ReviewArgs,
    task: &Task,
    asked: &AskConfig,
    ports: &Ports,
    (app, printer): (&App, &Printer),
) -> Result<(), CommandError> {
    let info = ports.generator.as_ref().map(|generator| generator.info());
    let judge = ports.attributor.as_ref();
    // The judge of paragraphs is a model beside a small judge, whatever its name.
    let judged = judge.finds_contradictions()
        || info.is_some_and(|info| judge.name().starts_with(&info.model));
    match task.estimate(info, judged) {
        Some(expected) => {
            ask::announce_between([&expected.least, &expected.most], asked, (app, printer))?;
        }
        None if args.points.is_some_and(|points| points > 0) => {
            let message = "no points about the plan itself: they take a capable model";
            printer.notice(&Notice::new(NoticeKind::Skipped, message));
        }
        None => {}
    }
    Ok(())
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
) -> Result<Option<Notice>, CommandError> {
    if task.config.cutoff.is_none() {
        return Ok(None);
    }
    // The title of the idea's own paper is no condition that could leave nothing.
    let filter = scholar_core::SearchFilter {
        exclude_titles: std::collections::BTreeSet::new(),
        ..scholar_review::Guard::of(&task.idea, task.config.cutoff).filter()
    };
    let asks_others = args.answer.search_sources.asks_others();
    match opened.check_filter(&filter, &task.datastore) {
        Err(error) if asks_others => Ok(Some(error.notice())),
        done => done,
    }
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
    Reviewed { answer: document, review: whole, stored }
}
