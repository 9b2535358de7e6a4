//! Questions as the arguments of `ask`.

use scholar_pipeline::budget::Estimate;
use scholar_server::backend::{AskRequest, Length};

use super::desk::Desk;
use super::words::{Words, writer};
use crate::app::App;
use crate::args::{AskArgs, Command};
use crate::commands::ask::answering::{Attended, Task, answer as answer_task};
use crate::error::{CommandError, ErrorKind};
use crate::output::document::AnswerDocument;

/// The words of the command line that mean the same as `request`.
fn words(request: &AskRequest) -> Words {
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
    let mut words = Words::of("ask");
    words.option("datastore", datastore.as_deref());
    words.option("mode", mode.as_deref());
    words.option("length", length.map(Length::name));
    words.option("sources", (!sources.is_empty()).then(|| sources.join(",")));
    words.option("year-from", filter.year_from);
    words.option("year-to", filter.year_to);
    words.option("min-citations", filter.min_citations);
    for venue in &filter.venues {
        words.option("venue", Some(venue));
    }
    words.option("follow-up", follows.as_deref());
    words.option("max-cost", *max_cost_usd);
    words.option("max-seconds", *max_seconds);
    words.flag("without-retracted", filter.without_retracted);
    words.flag("include-unknown", filter.include_unknown);
    words.last(question);
    words
}

fn parsed(words: Words) -> Result<AskArgs, CommandError> {
    match words.parse()? {
        Command::Ask(args) => Ok(*args),
        _ => Err(CommandError::new(ErrorKind::Bug, "a question was read as another command")),
    }
}

/// The arguments of `request`, whose datastore is one of those that are served.
fn arguments(desk: &Desk, request: &AskRequest) -> Result<AskArgs, CommandError> {
    let mut request = request.clone();
    // A follow-up asks where the question before it was asked.
    if request.datastore.is_some() || request.follows.is_none() {
        request.datastore = Some(desk.datastore_named(request.datastore.as_deref())?);
    }
    parsed(words(&request))
}

/// What `request` asks, or the run that goes on.
pub(super) fn task(
    desk: &Desk,
    request: &AskRequest,
    resumed: Option<&str>,
) -> Result<(AskArgs, Task), CommandError> {
    let args = match resumed {
        Some(run) => {
            let mut words = Words::of("ask");
            words.option("resume", Some(run));
            parsed(words)?
        }
        None => arguments(desk, request)?,
    };
    Task::of(args, &desk.app)
}

/// What answering is expected to use, without opening a model.
pub(super) fn estimate(desk: &Desk, request: &AskRequest) -> Result<Estimate, CommandError> {
    let (args, task) = task(desk, request, None)?;
    let info = writer(&desk.app, &args.answer);
    Ok(scholar_pipeline::estimate(task.config(), info.as_ref()))
}

/// Answers.
pub(super) async fn answer(
    args: &AskArgs,
    task: &Task,
    app: &App,
    attended: Attended,
    stop: impl Future<Output = ()>,
) -> Result<AnswerDocument, CommandError> {
    let (document, stored) = answer_task(args, task, app, attended, stop).await?;
    stored?;
    Ok(document)
}

#[cfg(test)]
mod tests {
    use scholar_core::AnswerMode;
    use scholar_pipeline::ModeChoice;
    use scholar_server::backend::AskFilter;

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
        assert_eq!(words(&plain).as_slice(), ["openscholar", "ask", "--", "Why?"]);
        let wrong = AskRequest { sources: vec!["moon".to_owned()], ..plain };
        let error = parsed(words(&wrong)).expect_err("no such source");
        assert!(error.to_string().contains("moon"), "{error}");
    }
}
