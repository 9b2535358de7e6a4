//! `datastore use`: which datastore commands use when none is named.

use std::process::ExitCode;

use crate::app::App;
use crate::error::CommandError;

/// Makes `name` the default: a key of the config file, whose other lines stay as they are.
pub(super) fn run(name: &str, app: &App) -> Result<ExitCode, CommandError> {
    if name != crate::starter::NAME {
        app.existing_datastore(name)?;
    }
    let path = app.home.config_file();
    crate::config::set_datastore(&path, name)?;
    app.printer.say(&format!("{name} is the default datastore now ({})", path.display()));
    if app.printer.json {
        app.printer.json(
            &serde_json::json!({"schema": "openscholar.datastore-default/1", "datastore": name}),
        )?;
    }
    Ok(ExitCode::SUCCESS)
}
