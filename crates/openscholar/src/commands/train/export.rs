//! `openscholar train export`: rows and configs for other trainers.

use std::process::ExitCode;

use scholar_train::data::export::{Exported, Request, export};

use crate::app::App;
use crate::args::TrainExportArgs;
use crate::error::CommandError;

pub(super) fn run(args: TrainExportArgs, app: &App) -> Result<ExitCode, CommandError> {
    let TrainExportArgs { to, rows, held_out, out, model, bad_rows } = args;
    let request = Request {
        to: to.into(),
        train: rows,
        dev: held_out,
        out,
        model,
        max_rejected_fraction: bad_rows,
    };
    let Exported { train, dev, files, bad, command } = export(&request)?;
    let rows = bad.iter().map(|(path, row)| (path.as_path(), row.line, row.problem.as_str()));
    super::say_left_out(rows, app);
    if app.printer.json {
        app.printer.json(&serde_json::json!({
            "schema": "openscholar.train-export/1",
            "train": train,
            "dev": dev,
            "left_out": bad.len(),
            "files": files,
            "command": command,
        }))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut text = format!("{train} training rows, {dev} held out");
    for file in &files {
        text.push('\n');
        text.push_str(&file.display().to_string());
    }
    app.printer.out(&format!("{text}\nin that folder: {command}"))?;
    Ok(ExitCode::SUCCESS)
}
