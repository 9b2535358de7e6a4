//! Where the papers that answers list are looked up.

use std::sync::Arc;

use scholar_bench::metrics::hallucination::TitleLookup as _;
use scholar_bench::metrics::hallucination::lookup::{PortLookup, StoredPapers};
use scholar_bench::metrics::hallucination::memory::RememberedLookup;
use scholar_bench::scholarqa::report::document::slug;
use scholar_bench::scholarqa::score::lists_papers;
use scholar_core::PaperSource;
use scholar_pipeline::retrieve::sources::SourcesConfig;

use super::Subject;
use crate::app::App;
use crate::args::BenchScoreArgs;
use crate::error::CommandError;
use crate::wiring::{OpenDatastore, Sources};

/// Who knows titles, where anybody is to be asked: because the arguments say so, or because answers list papers and the run
/// or the config file names a place. What was found is kept in the run's folder.
pub(super) async fn open(
    args: &BenchScoreArgs,
    subject: &Subject,
    app: &App,
) -> Result<Option<RememberedLookup<PortLookup>>, CommandError> {
    let told = args.titles.is_some() || !args.search_sources.sources.is_empty();
    if !told && !subject.predictions.iter().any(lists_papers) {
        return Ok(None);
    }
    let stored = stored(args, subject, app).await?;
    let sources = sources(args, app)?;
    if stored.is_none() && sources.is_empty() {
        return Ok(None);
    }
    let lookup = PortLookup::new(stored, sources);
    let path = subject.folder.join(format!("titles-{}.jsonl", slug(lookup.name())));
    let lookup = RememberedLookup::open(lookup, &path)
        .map_err(|source| CommandError::unwritable(&path, source))?;
    Ok(Some(lookup))
}

/// The datastore named by the arguments, else that of the run, else that of the config file.
async fn stored(
    args: &BenchScoreArgs,
    subject: &Subject,
    app: &App,
) -> Result<Option<StoredPapers>, CommandError> {
    let usual = subject.datastore.as_ref().or(app.config.datastore.as_ref());
    let name = match (&args.titles, usual) {
        (Some(name), _) => name,
        (None, None) => return Ok(None),
        (None, Some(name)) => {
            if let Err(error) = app.existing_datastore(name) {
                app.printer.say(&format!("note: papers are not looked up in {name}: {error}"));
                return Ok(None);
            }
            name
        }
    };
    app.home.datastore(name)?;
    let retriever = OpenDatastore::open(app, name).await?.retriever;
    Ok(Some(StoredPapers { name: name.clone(), retriever }))
}

/// The sources named by the arguments, else those of the config file.
fn sources(args: &BenchScoreArgs, app: &App) -> Result<Vec<Arc<dyn PaperSource>>, CommandError> {
    let opened = Sources::open_for_many(app, &args.search_sources, SourcesConfig::quick())?;
    opened.notices.iter().for_each(|notice| app.printer.notice(notice));
    Ok(opened.sources)
}
