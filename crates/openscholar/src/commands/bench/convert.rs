//! `openscholar bench convert`: predictions from one shape into another.

use std::process::ExitCode;

use scholar_bench::scholarqa::convert::{Imported, Shape, align, read_predictions, render};
use scholar_bench::scholarqa::journal::{JOURNAL_FILE, read_journal};
use scholar_bench::scholarqa::load;

use super::run::task_named;
use crate::app::App;
use crate::args::{BenchConvertArgs, ShapeArg};
use crate::error::CommandError;
use crate::output::json::Json;
use crate::runs;

pub(super) fn run(args: &BenchConvertArgs, app: &App) -> Result<ExitCode, CommandError> {
    let BenchConvertArgs { from, to, output, task, data, skip_unknown } = args;
    let (predictions, notices) = match (task, data) {
        // A run's items have their names, and a later line of an item takes the place of an earlier one.
        _ if from.is_dir() => (read_journal(&from.join(JOURNAL_FILE))?.predictions, Vec::new()),
        (Some(task), Some(data)) => {
            let (task, imported) = (task_named(task)?, read_predictions(from)?);
            align(imported, &load(task, data)?.items, task.title(), *skip_unknown)?
        }
        _ => {
            let Imported { path: _, predictions, notices } = read_predictions(from)?;
            let predictions = predictions.into_iter().enumerate().map(|(nth, read)| {
                let mut prediction = read.prediction;
                if prediction.id.is_empty() {
                    prediction.id = format!("row_{nth}");
                }
                prediction
            });
            (predictions.collect(), notices)
        }
    };
    for notice in &notices {
        app.printer.say(&format!("note: {notice}"));
    }
    let (text, left_out) = render(&predictions, shape(*to));
    if left_out > 0 {
        app.printer.say(&format!("note: skipped {left_out} predictions that are not answers"));
    }
    match output {
        Some(path) => {
            runs::write_file(path, text.as_bytes())?;
            let written = predictions.len() - left_out;
            if app.printer.json {
                app.printer.json(&serde_json::json!({
                    "schema": "openscholar.bench-convert/1", "written": written, "left_out": left_out,
                    "notices": notices,
                }))?;
            } else {
                app.printer.say(&format!("{written} predictions written to {}", path.display()));
            }
        }
        None => app.printer.out_json(&Json::written(text.trim_end()))?,
    }
    Ok(ExitCode::SUCCESS)
}

fn shape(name: ShapeArg) -> Shape {
    match name {
        ShapeArg::Openscholar => Shape::Ours,
        ShapeArg::List => Shape::List,
        ShapeArg::Data => Shape::Data,
        ShapeArg::Lines => Shape::Lines,
        ShapeArg::Rubric => Shape::Rubric,
        ShapeArg::Prometheus => Shape::Prometheus,
    }
}
