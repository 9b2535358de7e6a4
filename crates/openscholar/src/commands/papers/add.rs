//! `openscholar papers add`.

pub(crate) mod files;
mod watch;

use std::process::ExitCode;

use super::intake::inputs::{self, EmptyFolder, Sorted};
use super::intake::walk::Links;
use crate::app::App;
use crate::args::{IntakeArgs, SourceArgs};
use crate::error::CommandError;
use files::Intake;

pub(super) fn run(
    name: &str,
    sources: SourceArgs,
    args: &IntakeArgs,
    app: &App,
) -> Result<ExitCode, CommandError> {
    let links = if args.follow_links { Links::Everywhere } else { Links::Inside };
    let watched = watch::folders(&sources.files, args.watch, links)?;
    let empty = if args.watch { EmptyFolder::Accepted } else { EmptyFolder::Refused };
    let Sorted { rows, inputs, notices } = inputs::sorted(&sources.files, empty, links)?;
    for notice in &notices {
        app.printer.notice(notice);
    }
    let others = args.watch || !inputs.is_empty();
    let mut code = files::add_rows(name, rows, &sources, others, app)?;
    if !inputs.is_empty() {
        let limits = app.config.read_limits(&sources.limits);
        let intake = Intake {
            args,
            limits,
            keep_lost_spaces: sources.keep_lost_spaces,
            skip_check: sources.skip_check,
            is_sent: false,
        };
        match app.block_on_to_the_end(files::add(name, inputs, &intake, app))? {
            Ok(done) if done != ExitCode::SUCCESS => code = done,
            Ok(_) => {}
            // One broken file must not keep the watch from beginning.
            Err(error) if args.watch && !app.stop.requested() => code = app.printer.error(&error),
            Err(error) => return Err(error),
        }
    }
    match watched {
        Some(watched) => watch::run(name, watched, &sources, args, app),
        None => Ok(code),
    }
}
