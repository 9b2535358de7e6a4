//! `datastore remove`: deletes a datastore.

use std::io::{BufRead as _, IsTerminal as _};
use std::process::ExitCode;

use scholar_datastore::Datastore;

use crate::app::App;
use crate::error::{CommandError, Context as _};

/// Deletes the datastore called `name`: on a terminal after a question, elsewhere with `yes` alone. Its writer must be gone, and
/// is kept out meanwhile.
pub(super) fn run(name: &str, yes: bool, app: &App) -> Result<ExitCode, CommandError> {
    let path = app.existing_datastore(name)?;
    // One that is damaged can be removed, too.
    let papers = Datastore::open(&path).and_then(|store| store.info()).map(|info| info.papers).ok();
    let what = match papers {
        Some(papers) => format!("{name} with its {papers} papers"),
        None => format!("{name}, which cannot be opened,"),
    };
    if !yes && !confirmed(&what, app)? {
        return Err(CommandError::user(format!("{name} was not removed"))
            .with_hint("pass --yes to remove it without a question"));
    }
    let lock = scholar_datastore::lock(&path)?;
    // A folder that is gone half is no datastore: first it loses its name.
    let gone = path.with_file_name(format!(".{name}.removed"));
    fs_err::rename(&path, &gone).user(|| format!("cannot remove {name}"))?;
    drop(lock);
    fs_err::remove_dir_all(&gone).user(|| format!("cannot remove all of {name}"))?;
    app.printer.say(&format!("removed {what}"));
    if app.printer.json {
        app.printer.json(&serde_json::json!({
            "schema": "openscholar.datastore-removed/1", "datastore": name, "papers": papers,
        }))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Asks on the terminal; without one nobody can agree.
fn confirmed(what: &str, app: &App) -> Result<bool, CommandError> {
    let input = std::io::stdin();
    if !input.is_terminal() {
        return Ok(false);
    }
    app.printer.say(&format!("remove {what}? type yes"));
    let mut answer = String::new();
    input.lock().read_line(&mut answer).user(|| "cannot read the answer".to_owned())?;
    Ok(answer.trim().eq_ignore_ascii_case("yes"))
}
