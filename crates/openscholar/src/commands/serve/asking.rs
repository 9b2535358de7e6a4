//! Questions of the server become runs exactly as those of the command line do: by the arguments of `ask`.

use std::time::Instant;

use clap::Parser as _;
use scholar_core::{GeneratorInfo, GeneratorStrength};
use scholar_pipeline::budget::Estimate;
use scholar_server::CancelReason;
use scholar_server::backend::{AskRequest, AskTask, RunUsage};

use super::desk::Desk;
use super::past;
use crate::app::App;
use crate::args::{Args, AskArgs, Command};
use crate::commands::ask::answering::{Attended, Task, answer as answer_task};
use crate::error::{CommandError, ErrorKind};
use crate::output::document::AnswerDocument;
use crate::runs::{ANSWER_FILE, RUN_FILE, RunFolder, RunStatus};
use crate::wiring;

/// The words of the command line that mean the same as `request`.
fn words(request: &AskRequest) -> Vec<String> {
    let AskRequest {
        question,
        datastore,
        mode,
        length,
        sources,
        filter,
        follows,
        max_cost_usd,
        max_seconds,
    } = request;
    let mut words = vec!["openscholar".to_owned(), "ask".to_owned()];
    // With an equals sign, so that no value can be taken for an option.
    let mut option = |name: &str, value: Option<String>| {
        words.extend(value.map(|value| format!("--{name}={value}")));
    };
    option("datastore", datastore.clone());
    option("mode", mode.clone());
    option("length", length.map(|length| length.name().to_owned()));
    option("sources", (!sources.is_empty()).then(|| sources.join(",")));
    option("year-from", filter.year_from.map(|year| year.to_string()));
    option("year-to", filter.year_to.map(|year| year.to_string()));
    option("min-citations", filter.min_citations.map(|n| n.to_string()));
    for venue in &filter.venues {
        option("venue", Some(venue.clone()));
    }
    option("follow-up", follows.clone());
    option("max-cost", max_cost_usd.map(|usd| usd.to_string()));
    option("max-seconds", max_seconds.map(|seconds| seconds.to_string()));
    if filter.without_retracted {
        words.push("--without-retracted".to_owned());
    }
    if filter.include_unknown {
        words.push("--include-unknown".to_owned());
    }
    words.extend(["--".to_owned(), question.clone()]);
    words
}

fn parsed(words: Vec<String>) -> Result<AskArgs, CommandError> {
    let args = Args::try_parse_from(words).map_err(|error| {
        // The first paragraph says what is wrong, the rest how commands are typed.
        let told = error.to_string();
        let first = told.lines().next().unwrap_or_default();
        CommandError::user(first.trim_start_matches("error: ").to_owned())
    })?;
    match args.command {
        Command::Ask(args) => Ok(*args),
        _ => Err(CommandError::new(ErrorKind::Bug, "a question was read as another command")),
    }
}

/// The arguments of `request`, whose datastore is one of those that are served.
fn arguments(desk: &Desk, request: &AskRequest) -> Result<AskArgs, CommandError> {
    let mut request = request.clone();
    match &request.datastore {
        Some(name) if !desk.served().contains(name) => {
            return Err(CommandError::user(format!("there is no datastore {name:?} here"))
                .with_hint(format!("there are: {}", desk.served().join(", "))));
        }
        // A follow-up asks where the question before it was asked.
        None if request.follows.is_none() => request.datastore = desk.names.first().cloned(),
        _ => {}
    }
    parsed(words(&request))
}

/// What answering is expected to use, without opening a model.
pub(super) fn estimate(desk: &Desk, request: &AskRequest) -> Result<Estimate, CommandError> {
    let args = arguments(desk, request)?;
    let (args, task) = Task::of(args, &desk.app)?;
    let info = writer(&desk.app, &args);
    Ok(scholar_pipeline::estimate(task.config(), info.as_ref()))
}

/// What is known of the model that would write, before it is opened.
fn writer(app: &App, args: &AskArgs) -> Option<GeneratorInfo> {
    let configured = wiring::generator::configured(app, &args.answer)?;
    Some(GeneratorInfo {
        model: configured.model,
        context_tokens: 8_192,
        strength: if configured.is_strong {
            GeneratorStrength::Strong
        } else {
            GeneratorStrength::Small
        },
        local: configured.is_local,
        usd_per_million: configured.usd_per_million,
    })
}

/// Checks a request as far as that goes without a model, and makes the folder of its run.
pub(super) fn reserve(desk: &Desk, request: &AskRequest) -> Result<String, CommandError> {
    let args = arguments(desk, request)?;
    let (_, task) = Task::of(args, &desk.app)?;
    let (folder, id) = RunFolder::create(&desk.app.home, &App::now(), task.question().as_str())?;
    desk.reserved.lock().insert(id.clone(), folder);
    if let Some(on_query) = &desk.on_query {
        on_query(&scholar_core::Query::from(task.question()));
    }
    Ok(id)
}

/// Gives up the folder of a run that never began.
pub(super) fn release(desk: &Desk, run: &str) {
    drop(desk.reserved.lock().remove(run));
    RunFolder::give_up(&desk.app.home, run);
}

/// Answers. Called on a thread that may wait; the work itself is the runtime's.
pub(super) fn answer(desk: &Desk, task: AskTask) -> Result<RunUsage, CommandError> {
    let AskTask { run, request, resume, observer, cancel } = task;
    let app = &desk.app;
    let reserved = desk.reserved.lock().remove(&run);
    let folder = RunFolder::at(app.home.runs().join(&run));
    let has_begun = resume && folder.file(RUN_FILE).is_file();
    if has_begun && folder.record()?.status == RunStatus::Done {
        // The server was killed after the answer was kept and before that was noted.
        return Ok(past::usage(&folder.read_json::<AnswerDocument>(ANSWER_FILE)?));
    }
    let args = if has_begun {
        parsed(vec!["openscholar".to_owned(), "ask".to_owned(), format!("--resume={run}")])?
    } else {
        arguments(desk, &request)?
    };
    let (args, task) = Task::of(args, app)?;
    let folder = match reserved {
        Some(folder) => folder,
        None => RunFolder::take_up(&app.home, &run)?,
    };
    let attended = Attended {
        printer: app.printer.silent(),
        began: Instant::now(),
        observer: Some(observer),
        folder: Some((folder, run)),
    };
    let stop = async {
        let _reason: CancelReason = cancel.wait().await;
    };
    // Boxed: it holds everything a run needs.
    let work = Box::pin(answer_task(&args, &task, app, attended, stop));
    let (document, stored) = desk.handle.block_on(work)?;
    stored?;
    Ok(past::usage(&document))
}

#[cfg(test)]
mod tests {
    use scholar_core::AnswerMode;
    use scholar_pipeline::ModeChoice;
    use scholar_server::backend::{AskFilter, Length};

    use super::*;
    use crate::args::LengthArg;

    #[test]
    fn a_request_is_read_as_the_command_line_that_means_it() {
        let request = AskRequest {
            question: "--offline -q; what is known?".to_owned(),
            datastore: Some("library".to_owned()),
            mode: Some("scirag".to_owned()),
            length: Some(Length::Long),
            sources: vec!["datastore".to_owned(), "s2".to_owned()],
            filter: AskFilter {
                year_from: Some(-5),
                year_to: Some(2020),
                venues: vec!["--help".to_owned(), "Nature".to_owned()],
                min_citations: Some(3),
                without_retracted: true,
                include_unknown: true,
            },
            follows: Some("20260101-120000-ab12".to_owned()),
            max_cost_usd: Some(0.25),
            max_seconds: Some(30),
        };
        let args = parsed(words(&request)).expect("arguments");
        assert_eq!(args.question.as_deref(), Some("--offline -q; what is known?"));
        assert_eq!(args.answer.datastore.as_deref(), Some("library"));
        assert_eq!(args.mode, ModeChoice::Named(AnswerMode::Scirag));
        assert_eq!(args.length, Some(LengthArg::Long));
        assert_eq!(args.answer.search_sources.sources.len(), 2);
        assert_eq!((args.filter.year_from, args.filter.year_to), (Some(-5), Some(2020)));
        assert_eq!(args.filter.venue, ["--help", "Nature"]);
        assert!(args.filter.without_retracted && args.filter.include_unknown);
        assert_eq!(args.follow_up.as_deref(), Some("20260101-120000-ab12"));
        assert_eq!((args.answer.max_cost, args.answer.max_seconds), (Some(0.25), Some(30)));
        assert!(!args.answer.search_sources.offline);
        let plain = AskRequest { question: "Why?".to_owned(), ..AskRequest::default() };
        assert_eq!(words(&plain), ["openscholar", "ask", "--", "Why?"]);
        let wrong = AskRequest { sources: vec!["moon".to_owned()], ..plain };
        let error = parsed(words(&wrong)).expect_err("no such source");
        assert!(error.to_string().contains("moon"), "{error}");
    }
}
