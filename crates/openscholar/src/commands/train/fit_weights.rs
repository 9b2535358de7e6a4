//! `openscholar train fit-weights`: how much a trained model counts beside what is known without it.

mod judge;
mod reranker;

use std::process::ExitCode;

use crate::app::App;
use crate::args::TrainFitWeightsArgs;
use crate::error::CommandError;

pub(super) fn run(args: &TrainFitWeightsArgs, app: &App) -> Result<ExitCode, CommandError> {
    match &args.rows {
        Some(rows) => judge::run(args, rows, app),
        None => reranker::run(args, app),
    }
}
