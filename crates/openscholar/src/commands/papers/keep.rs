//! Adds papers that are in memory: found by sources, or read from documents.

use scholar_core::{Encoder as _, Paper};
use scholar_datastore::{AddOptions, AddReport};

use crate::app::App;
use crate::commands::datastore::build;
use crate::error::CommandError;
use crate::progress;
use crate::wiring::models::Reading;
use crate::wiring::store_writer;

/// Adds `papers` to the datastore called `name`, which is made if it is absent. Papers it has under the same identifier
/// with the same content are left alone; `source` is what `info` will say of where they come from.
/// Its files are checked first, or with `skip_check` when they are rewritten.
pub(crate) async fn add(
    name: &str,
    papers: Vec<Paper>,
    source: &str,
    skip_check: bool,
    app: &App,
) -> Result<AddReport, CommandError> {
    let path = app.home.datastore(name)?;
    if name == crate::starter::NAME {
        crate::wiring::starter(app).await?;
    }
    let reading = Reading::WHOLE;
    let encoder = build::fitting_encoder(app, &path, None, reading).await?;
    app.home.create(&app.home.datastores())?;
    let store = build::open(name, &path, encoder.info(), None)?;
    let mut writer = store_writer::open(name, &store, skip_check, app)?;
    app.heed_signals()?;
    let bar = progress::counted(&app.printer, "papers", Some(papers.len() as u64));
    let papers = papers.into_iter().map(Ok::<Paper, scholar_datastore::Error>);
    let mut tell = |done: &scholar_datastore::AddProgress| {
        bar.set_position(done.papers_read);
        app.until_stopped()
    };
    let report = writer.add(papers, encoder.as_ref(), &AddOptions::standard(source), &mut tell)?;
    bar.finish_and_clear();
    Ok(report)
}
