//! Taking questions, reviews and other jobs, and finding the runs a caller may see.

use std::sync::Arc;

use super::SiteState;
use super::caller::Caller;
use crate::backend::{Expected, JobKind, JobRequest, RunState, RunSummary, RunView};
use crate::callers::CallerLimits;
use crate::error::{ApiError, ErrorCode};
use crate::jobs::Live;
use crate::jobs::allowance::{self, Allowance};
use crate::jobs::store::{Feedback, Job};

/// Seconds of the window in which questions are counted.
const HOUR_S: i64 = 3_600;
/// Longest comment that is kept, in characters.
const MOST_COMMENT: usize = 4_000;

/// A run as its page and its reply show it.
pub(crate) struct Shown {
    /// Its list entry, with how far it came by now.
    pub(crate) summary: RunSummary,
    /// The job, where it was asked for here.
    pub(crate) job: Option<Job>,
    /// The run folder, where the run has begun.
    pub(crate) view: Option<RunView>,
    /// The run, while it waits or is under way.
    pub(crate) live: Option<Arc<Live>>,
}

/// Takes a job of `caller`; returns the name of its run.
pub(crate) async fn submit(
    state: &Arc<SiteState>,
    caller: &Caller,
    request: impl Into<JobRequest>,
) -> Result<String, ApiError> {
    let mut request: JobRequest = request.into();
    request.check()?;
    if let Some(follows) = request.follows().map(str::to_owned)
        && visible(state, caller, &follows).await?.is_none()
    {
        // One of the command line: it is there, or it is no run.
        state.blocking(move |state| state.backend.run(&follows).map(drop)).await??;
    }
    let limits = state.access.limits(&caller.name);
    let name = Arc::clone(&caller.name);
    let run = state
        .blocking(move |state| {
            if let Some(most) = left(state, &name, limits)? {
                request.spend_at_most(most);
            }
            Ok::<_, ApiError>(state.jobs.submit(&name, request)?)
        })
        .await??;
    Ok(run)
}

/// What is left of a caller's budget in US dollars; `None` where they have none.
fn left(state: &SiteState, caller: &str, limits: CallerLimits) -> Result<Option<f64>, ApiError> {
    let now = state.backend.now().as_second();
    let over = |message: String| ApiError::new(ErrorCode::OverBudget, message);
    if let Some(most) = limits.questions_per_hour {
        let (asked, _) = state.store.spent(caller, now - HOUR_S)?;
        if asked >= most {
            return Err(over(format!(
                "you have asked for {asked} runs within the last hour, of {most}"
            ))
            .with_hint("ask again later, or let the operator raise questions-per-hour"));
        }
    }
    let allowance = Allowance::of(&state.store, caller, limits, now)?;
    let left = allowance.map(Allowance::left).transpose();
    left.map_err(|message| over(message).with_hint(allowance::HINT))
}

/// What a job is expected to use.
pub(crate) async fn estimate(
    state: &Arc<SiteState>,
    request: impl Into<JobRequest>,
) -> Result<Expected, ApiError> {
    let request: JobRequest = request.into();
    request.check()?;
    Ok(state.blocking(move |state| state.backend.estimate(&request)).await??)
}

/// The job behind a run that `caller` may see; `None` for a run of the command line.
pub(crate) async fn visible(
    state: &Arc<SiteState>,
    caller: &Caller,
    run: &str,
) -> Result<Option<Job>, ApiError> {
    let name = run.to_owned();
    let job = state.blocking(move |state| state.store.job(&name)).await??;
    let is_visible = job.as_ref().map_or(caller.sees_all, |job| caller.sees(job));
    // That there is a run which is not theirs is nothing they should learn.
    if is_visible { Ok(job) } else { Err(no_run()) }
}

/// Whether a run is one that `caller` asked here, and not one that others asked or the command line.
pub(crate) async fn own(
    state: &Arc<SiteState>,
    caller: &Caller,
    run: &str,
) -> Result<(), ApiError> {
    let job = visible(state, caller, run).await?;
    job.map(drop).ok_or_else(|| {
        ApiError::bad_request("this run was made on the command line")
            .with_hint("openscholar runs export writes it into a file")
    })
}

/// Keeps what `caller` says of a section of their run.
pub(crate) async fn say(
    state: &Arc<SiteState>,
    caller: &Caller,
    run: &str,
    feedback: Feedback,
) -> Result<(), ApiError> {
    let (name, who) = (run.to_owned(), Arc::clone(&caller.name));
    let Feedback { section, thumb, comment } = feedback;
    let comment: String = comment.chars().take(MOST_COMMENT).collect();
    state
        .blocking(move |state| {
            let earlier = state.store.said(&name, &who)?;
            let earlier = earlier.into_iter().find(|one| one.section == section);
            // Saving a comment leaves the thumb as it was.
            let thumb = thumb.or(earlier.and_then(|one| one.thumb));
            let now = state.backend.now().as_second();
            state.store.say(&name, &who, &Feedback { section, thumb, comment }, now)
        })
        .await??;
    Ok(())
}

fn no_run() -> ApiError {
    ApiError::new(ErrorCode::NotFound, "there is no such run")
}

/// A run that `caller` may see.
pub(crate) async fn find(
    state: &Arc<SiteState>,
    caller: &Caller,
    run: &str,
) -> Result<Shown, ApiError> {
    let job = visible(state, caller, run).await?;
    shown(state, run, job).await
}

/// A run of that kind that `caller` may see.
pub(crate) async fn find_of(
    state: &Arc<SiteState>,
    caller: &Caller,
    run: &str,
    kind: JobKind,
) -> Result<Shown, ApiError> {
    let shown = find(state, caller, run).await?;
    match shown.summary.verb == kind {
        true => Ok(shown),
        false => Err(no_run()),
    }
}

/// The run that is shared under this secret.
pub(crate) async fn find_shared(state: &Arc<SiteState>, secret: &str) -> Result<Shown, ApiError> {
    let secret = secret.to_owned();
    let job = state.blocking(move |state| state.store.shared(&secret)).await??;
    let job = job.ok_or_else(no_run)?;
    let run = job.run.clone();
    shown(state, &run, Some(job)).await
}

async fn shown(state: &Arc<SiteState>, run: &str, job: Option<Job>) -> Result<Shown, ApiError> {
    // Looked up before its state: a run that ends meanwhile is shown as it was.
    let live = state.jobs.live(run);
    let name = run.to_owned();
    let view = match &live {
        Some(_) => None,
        None => Some(state.blocking(move |state| state.backend.run(&name)).await?),
    };
    let view = match (view, &job) {
        (Some(Err(_)), Some(_)) | (None, _) => None,
        (Some(Err(error)), None) => return Err(error.into()),
        (Some(Ok(view)), _) => Some(view),
    };
    let summary = match (&job, &view) {
        (Some(job), None)
            if live.is_none()
                && job.state == RunState::Done
                && job.request.kind().has_run_folder() =>
        {
            let gone = "its folder is no longer on the server's disk";
            let gone = Some(gone.to_owned());
            RunSummary { state: RunState::Failed, error: gone, ..of_job(state, job, false, None) }
        }
        (Some(job), _) => of_job(state, job, live.is_some(), view.as_ref()),
        (None, Some(view)) => view.summary.clone(),
        (None, None) => return Err(no_run()),
    };
    Ok(Shown { summary, job, view, live })
}

/// The list entry of a job that was asked for here.
fn of_job(state: &SiteState, job: &Job, is_live: bool, view: Option<&RunView>) -> RunSummary {
    let Job { run, request, title, submitted, error, .. } = job;
    let started = jiff::Timestamp::from_second(*submitted).unwrap_or_default().to_string();
    let named = request.datastore().unwrap_or_default().to_owned();
    RunSummary {
        id: run.clone(),
        started,
        state: match job.state {
            RunState::Queued | RunState::Running if !is_live => RunState::Interrupted,
            _ if is_live && state.jobs.ahead_of(run).is_some() => RunState::Queued,
            _ if is_live => RunState::Running,
            over => over,
        },
        verb: request.kind(),
        question: title.clone(),
        follows: request.follows().map(str::to_owned),
        datastore: view.map_or(named, |view| view.summary.datastore.clone()),
        error: error.clone(),
    }
}

/// The newest runs that `caller` may see, the newest first: those that wait, then those that have begun.
pub(crate) async fn list(
    state: &Arc<SiteState>,
    caller: &Caller,
    limit: usize,
) -> Result<Vec<RunSummary>, ApiError> {
    let only = caller.only().map(str::to_owned);
    state
        .blocking(move |state| {
            let jobs = state.store.recent(only.as_deref(), limit)?;
            let is_live = |run: &str| state.jobs.live(run).is_some();
            let mut runs: Vec<RunSummary> =
                jobs.iter().map(|job| of_job(state, job, is_live(&job.run), None)).collect();
            if only.is_none() {
                for run in state.backend.runs(limit)? {
                    match runs.iter_mut().find(|known| known.id == run.id) {
                        // The run knows its datastore.
                        Some(known) => known.datastore = run.datastore,
                        None => runs.push(run),
                    }
                }
            }
            runs.sort_by(|a, b| b.started.cmp(&a.started).then_with(|| b.id.cmp(&a.id)));
            runs.truncate(limit);
            Ok(runs)
        })
        .await?
}
