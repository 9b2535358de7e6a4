//! Opening a datastore to write: every file is checked first, unless a person decided otherwise.

use scholar_datastore::{Datastore, DatastoreWriter, WriterCheck};

use crate::app::App;
use crate::error::CommandError;
use crate::progress;

/// The writer of the datastore called `name`, whose files are all compared with their checksums first, with a bar. With
/// `skip_check` they are when they are rewritten, and it is said that they were not.
pub(crate) fn open(
    name: &str,
    store: &Datastore,
    skip_check: bool,
    app: &App,
) -> Result<DatastoreWriter, CommandError> {
    if skip_check {
        let writer = store.writer_with(WriterCheck::WhenRewritten)?;
        app.printer.say(&format!(
            "the files of {name} were not checked (--skip-check): openscholar datastore verify {name} does"
        ));
        return Ok(writer);
    }
    let bar = progress::bytes(&app.printer, Some(0)).with_message(format!("checking {name}"));
    let writer = store.writer_with(WriterCheck::First(&mut |done| {
        bar.set_length(done.of_bytes);
        bar.set_position(done.bytes);
    }))?;
    bar.finish_and_clear();
    Ok(writer)
}
