//! Ideas as the arguments of `review`.

use scholar_review::{Idea, ReviewEstimate};
use scholar_server::backend::{Expected, ReviewForm, ReviewHalf, ReviewPreset, ReviewRequest};

use super::desk::Desk;
use super::words::{Words, writer};
use crate::app::App;
use crate::args::{Command, ReviewArgs};
use crate::commands::ask::answering::Attended;
use crate::commands::review::reviewing::{Reviewed, Task, review_task};
use crate::error::{CommandError, ErrorKind};
use crate::output::document::AnswerDocument;

/// The words of the command line that mean the same as `request`, but for the idea.
fn words(request: &ReviewRequest) -> Words {
    let ReviewRequest {
        idea: _,
        datastore,
        module,
        mode,
        preset,
        cutoff,
        include_unknown,
        points,
        sources,
        max_cost_usd,
        max_calls,
        max_seconds,
    } = request;
    let mut words = Words::of("review");
    words.option("datastore", datastore.as_deref());
    words.option("module", module.map(ReviewHalf::name));
    words.option("mode", mode.map(ReviewForm::name));
    words.option("preset", preset.map(ReviewPreset::name));
    words.option("cutoff", *cutoff);
    words.flag("include-unknown", *include_unknown);
    words.option("points", *points);
    words.option("sources", (!sources.is_empty()).then(|| sources.join(",")));
    words.option("max-cost", *max_cost_usd);
    words.option("max-calls", *max_calls);
    words.option("max-seconds", *max_seconds);
    // The idea is in the request: nothing is read.
    words.last("-");
    words
}

fn parsed(words: Words) -> Result<ReviewArgs, CommandError> {
    match words.parse()? {
        Command::Review(args) => Ok(*args),
        _ => Err(CommandError::new(ErrorKind::Bug, "an idea was read as another command")),
    }
}

/// What `request` wants reviewed, or the run that goes on.
pub(super) fn task(
    desk: &Desk,
    request: &ReviewRequest,
    resumed: Option<&str>,
) -> Result<(ReviewArgs, Task), CommandError> {
    if let Some(run) = resumed {
        let mut words = Words::of("review");
        words.option("resume", Some(run));
        return Task::of(parsed(words)?, &desk.app);
    }
    let mut request = request.clone();
    request.datastore = Some(desk.datastore_named(request.datastore.as_deref())?);
    let args = parsed(words(&request))?;
    let task = Task::new(Idea::read(&request.idea)?, &args, &desk.app)?;
    Ok((args, task))
}

/// What a review is expected to use, without opening a model.
pub(super) fn estimate(desk: &Desk, request: &ReviewRequest) -> Result<Expected, CommandError> {
    let (args, task) = task(desk, request, None)?;
    let info = writer(&desk.app, &args.answer);
    // Sentences are judged by the model that writes where nothing else is named.
    let expected = task.estimate(info.as_ref(), args.answer.judge.is_none());
    Ok(match expected {
        Some(ReviewEstimate { least, most }) => Expected { least, most },
        None => Expected::exactly(scholar_pipeline::budget::Estimate::of(&[], info.as_ref())),
    })
}

/// Reviews; its sentences as an answer.
pub(super) async fn review(
    args: &ReviewArgs,
    task: &Task,
    app: &App,
    attended: Attended,
    stop: impl Future<Output = ()>,
) -> Result<AnswerDocument, CommandError> {
    let Reviewed { answer, review: _, stored } =
        review_task(args, task, app, attended, stop).await?;
    stored?;
    Ok(answer)
}

#[cfg(test)]
mod tests {
    use scholar_review::{ModeWanted, ModulesWanted};

    use super::*;

    #[test]
    fn a_request_is_read_as_the_command_line_that_means_it() {
        let request = ReviewRequest {
            idea: "--resume last".to_owned(),
            datastore: Some("--help".to_owned()),
            module: Some(ReviewHalf::Soundness),
            mode: Some(ReviewForm::Evidence),
            preset: Some(ReviewPreset::Upstream),
            cutoff: "2024-06-01".parse().ok(),
            include_unknown: true,
            points: Some(7),
            sources: vec!["datastore".to_owned(), "s2".to_owned()],
            max_cost_usd: Some(0.5),
            max_calls: Some(9),
            max_seconds: Some(30),
        };
        let args = parsed(words(&request)).expect("arguments");
        assert_eq!((args.idea.as_deref(), args.resume.as_deref()), (Some("-"), None));
        assert_eq!(args.answer.datastore.as_deref(), Some("--help"));
        assert_eq!(ModulesWanted::from(args.module), ModulesWanted::Soundness);
        assert_eq!(ModeWanted::from(args.mode), ModeWanted::Evidence);
        assert_eq!((args.preset.as_str(), args.points), ("upstream", Some(7)));
        assert_eq!(args.cutoff, request.cutoff);
        assert!(args.include_unknown);
        assert_eq!(args.answer.search_sources.sources.len(), 2);
        let limits = (args.answer.max_cost, args.answer.max_calls, args.answer.max_seconds);
        assert_eq!(limits, (Some(0.5), Some(9), Some(30)));
        let plain = ReviewRequest { idea: "x".to_owned(), ..ReviewRequest::default() };
        assert_eq!(words(&plain).as_slice(), ["openscholar", "review", "--", "-"]);
    }
}
