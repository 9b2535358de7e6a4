//! Jobs of the server become runs exactly as commands do: by the arguments of those commands.

use std::sync::Arc;
use std::time::Instant;

use scholar_core::Query;
use scholar_server::CancelReason;
use scholar_server::backend::{
    AskRequest, Expected, JobRequest, JobTask, Reserved, ReviewRequest, RunUsage,
};

use super::desk::Desk;
use super::{asking, past, reviewing, sheets};
use crate::app::App;
use crate::commands::ask::answering::Attended;
use crate::commands::papers::audience::Audience;
use crate::error::CommandError;
use crate::output::document::AnswerDocument;
use crate::runs::{ANSWER_FILE, RUN_FILE, RunFolder, RunStatus};

/// What a job is expected to use, without opening a model.
pub(super) fn estimate(desk: &Desk, request: &JobRequest) -> Result<Expected, CommandError> {
    match request {
        JobRequest::Ask(request) => asking::estimate(desk, request).map(Expected::exactly),
        JobRequest::Review(request) => reviewing::estimate(desk, request),
        JobRequest::Table(_) | JobRequest::Screening(_) => {
            Err(CommandError::user("what tables and screenings use is not estimated")
                .with_hint("set a limit of money instead"))
        }
    }
}

/// Checks a request as far as that goes without a model, and makes the folder of its run.
pub(super) fn reserve(desk: &Desk, request: &JobRequest) -> Result<Reserved, CommandError> {
    let (title, text) = match request {
        JobRequest::Ask(request) => {
            let (_, task) = asking::task(desk, request, None)?;
            (task.question().as_str().to_owned(), Query::from(task.question()))
        }
        JobRequest::Review(request) => {
            let (_, task) = reviewing::task(desk, request, None)?;
            (task.idea().name(), task.query()?)
        }
        JobRequest::Table(request) => {
            let (reserved, query) = sheets::reserve_table(desk, request)?;
            if let (Some(on_query), Some(query)) = (&desk.on_query, query) {
                on_query(&query);
            }
            return Ok(reserved);
        }
        JobRequest::Screening(request) => return sheets::reserve_screening(desk, request),
    };
    let (folder, run) = RunFolder::create(&desk.app.home, &App::now(), &title)?;
    desk.reserved.lock().insert(run.clone(), folder);
    if let Some(on_query) = &desk.on_query {
        on_query(&text);
    }
    Ok(Reserved { run, title })
}

/// Gives up the folder of a run that never began.
pub(super) fn release(desk: &Desk, run: &str) {
    if sheets::release(desk, run) {
        return;
    }
    drop(desk.reserved.lock().remove(run));
    RunFolder::give_up(&desk.app.home, run);
}

/// What is written into a run folder.
enum Written<'a> {
    Answer(&'a AskRequest),
    Review(&'a ReviewRequest),
}

/// Does what was asked. Called on a thread that may wait; the work itself is the runtime's.
pub(super) fn carry_out(desk: &Desk, task: JobTask) -> Result<RunUsage, CommandError> {
    let JobTask { run, request, resume, observer, cancel } = task;
    let app = &desk.app;
    let audience = || Audience {
        printer: app.printer.silent(),
        observer: Arc::clone(&observer),
        cancel: Some(cancel.clone()),
    };
    let written = match &request {
        JobRequest::Table(request) => return sheets::make_table(desk, &run, request, &audience()),
        JobRequest::Screening(request) => return sheets::screen(desk, &run, request, &audience()),
        JobRequest::Ask(request) => Written::Answer(request),
        JobRequest::Review(request) => Written::Review(request),
    };
    let reserved = desk.reserved.lock().remove(&run);
    let folder = RunFolder::at(app.home.runs().join(&run));
    let has_begun = resume && folder.file(RUN_FILE).is_file();
    if has_begun && folder.record()?.status == RunStatus::Done {
        // The server was killed after the result was kept and before that was noted.
        return Ok(past::usage(&folder.read_json::<AnswerDocument>(ANSWER_FILE)?));
    }
    let resumed = has_begun.then_some(run.as_str());
    // After the arguments were read: a folder that is taken up belongs to a run under way.
    let attend = || -> Result<Attended, CommandError> {
        let folder = match reserved {
            Some(folder) if folder.file("").is_dir() => folder,
            // The server was started anew, or somebody removed the folder of a job that waited.
            _ => RunFolder::take_up(&app.home, &run)?,
        };
        Ok(Attended {
            printer: app.printer.silent(),
            began: Instant::now(),
            observer: Some(observer),
            folder: Some((folder, run.clone())),
        })
    };
    let stop = async {
        let _reason: CancelReason = cancel.wait().await;
    };
    // Boxed: they hold everything a run needs.
    let document = match written {
        Written::Answer(request) => {
            let (args, task) = asking::task(desk, request, resumed)?;
            let attended = attend()?;
            desk.handle.block_on(Box::pin(asking::answer(&args, &task, app, attended, stop)))?
        }
        Written::Review(request) => {
            let (args, task) = reviewing::task(desk, request, resumed)?;
            let attended = attend()?;
            desk.handle.block_on(Box::pin(reviewing::review(&args, &task, app, attended, stop)))?
        }
    };
    Ok(past::usage(&document))
}
