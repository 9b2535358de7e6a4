//! `openscholar datastore export NAME DIR`: Parquet files for other tools.

use std::ops::ControlFlow;
use std::path::Path;
use std::process::ExitCode;

use scholar_datastore::MergeSource;
use scholar_datastore::export::ExportPart;

use crate::app::App;
use crate::error::{CommandError, ErrorKind};
use crate::progress;

pub(super) fn run(
    name: &str,
    folder: &Path,
    parts: &[ExportPart],
    app: &App,
) -> Result<ExitCode, CommandError> {
    let source = MergeSource::open(&app.existing_datastore(name)?)?;
    let bar =
        progress::counted(&app.printer, "papers", Some(source.papers())).with_message("exporting");
    app.heed_signals()?;
    let exported = source.export(folder, parts, &mut |done| {
        bar.set_position(done);
        app.until_stopped()
    })?;
    bar.finish_and_clear();
    let ControlFlow::Continue(files) = exported else {
        return Err(CommandError::new(ErrorKind::Interrupted, "interrupted; nothing was written"));
    };
    if app.printer.json {
        app.printer.json(
            &serde_json::json!({"schema": "openscholar.export/1", "name": name, "files": files}),
        )?;
    } else {
        for file in files {
            app.printer.out(&format!("{} rows in {}", file.rows, file.path.display()))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
