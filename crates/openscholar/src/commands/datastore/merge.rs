//! `openscholar datastore merge NEW OLD…`: joins parts, converts older formats. The same again changes nothing.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use scholar_datastore::MergeSource;

use crate::app::App;
use crate::error::CommandError;
use crate::wiring::copy;

pub(super) fn run(name: &str, from: &[String], app: &App) -> Result<ExitCode, CommandError> {
    let path = app.home.datastore(name)?;
    let sources = from
        .iter()
        .map(|from| Ok(MergeSource::open(&folder(from, app)?)?))
        .collect::<Result<Vec<_>, CommandError>>()?;
    app.home.create(&app.home.datastores())?;
    if !copy::into(&path, &sources, app)? {
        app.printer.say(&format!("nothing was new: {name} has all of it already"));
    }
    super::info(name, app)
}

/// The folder meant by a name or path.
pub(super) fn folder(from: &str, app: &App) -> Result<PathBuf, CommandError> {
    let path = Path::new(from);
    if path.components().count() > 1 || path.is_absolute() {
        return Ok(path.to_owned());
    }
    app.existing_datastore(from)
}
