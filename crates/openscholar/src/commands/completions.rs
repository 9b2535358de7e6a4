//! `openscholar completions SHELL`.

use std::process::ExitCode;

use clap::CommandFactory as _;

use crate::app::App;
use crate::args::{Args, CompletionsArgs};
use crate::error::CommandError;

pub(crate) fn run(args: CompletionsArgs, app: &App) -> Result<ExitCode, CommandError> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Args::command(), "openscholar", &mut script);
    app.printer.out(String::from_utf8_lossy(&script).trim_end())?;
    Ok(ExitCode::SUCCESS)
}
