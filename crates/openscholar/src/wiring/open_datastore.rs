//! A datastore with the encoder it was built with, ready to be searched.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use scholar_core::{Encoder as _, Paper, Retriever};
use scholar_datastore::{
    AddOptions, BuildRules, Datastore, DatastoreWriter, DenseSearch, Descriptor, HybridRetriever,
    PaperVectors, SearchConfig, SearchPool,
};
use scholar_models::LocalEncoder;

use super::models;
use super::upgrade::{finish_upgrade, upgrade};
use crate::app::App;
use crate::error::{CommandError, Context as _, ErrorKind};
use crate::progress;
use crate::starter;

/// Searches that may wait in the pool.
const SEARCH_QUEUE: usize = 64;

/// Between two looks at a lock another process holds.
const LOCK_PAUSE: Duration = Duration::from_millis(200);

/// An open datastore.
pub(crate) struct OpenDatastore {
    pub(crate) encoder: Arc<LocalEncoder>,
    pub(crate) retriever: Arc<dyn Retriever>,
    pub(crate) store: Arc<Datastore>,
}

impl OpenDatastore {
    /// Opens the datastore called `name` with its encoder, which is fetched if it is absent. The starter papers are
    /// built on first use.
    pub(crate) async fn open(app: &App, name: &str) -> Result<Self, CommandError> {
        if name == starter::NAME {
            starter(app).await?;
        }
        let path = app.existing_datastore(name)?;
        let stored = Descriptor::read(&path)?.encoder;
        let encoder = models::encoder(app, &stored.name, (&stored).into()).await?;
        Self::with(app, Datastore::open(&path)?, encoder)
    }

    /// An open datastore with the encoder it was built with.
    pub(crate) fn with(
        app: &App,
        store: Datastore,
        encoder: Arc<LocalEncoder>,
    ) -> Result<Self, CommandError> {
        Self::searched(app, Arc::new(store), encoder, SearchConfig::tuned())
    }

    /// The same, comparing every vector.
    pub(crate) fn exact(self, app: &App) -> Result<Self, CommandError> {
        let Self { encoder, retriever: _, store } = self;
        let config = SearchConfig { dense: DenseSearch::Exact, ..SearchConfig::tuned() };
        Self::searched(app, store, encoder, config)
    }

    fn searched(
        app: &App,
        store: Arc<Datastore>,
        encoder: Arc<LocalEncoder>,
        config: SearchConfig,
    ) -> Result<Self, CommandError> {
        let memory_bytes = app.config.search_memory_mb.map(|megabytes| megabytes << 20);
        let config = SearchConfig { memory_bytes, ..config };
        let pool = Arc::new(SearchPool::new(app.threads(), SEARCH_QUEUE)?);
        let retriever = HybridRetriever::new(Arc::clone(&store), encoder.clone(), config, pool)?;
        Ok(Self { encoder, retriever: Arc::new(retriever), store })
    }
}

/// Builds the datastore of the starter papers where it is not whole; an interrupted build continues.
pub(crate) async fn starter(app: &App) -> Result<(), CommandError> {
    let path = app.home.datastore(starter::NAME)?;
    finish_upgrade(&path)?;
    if path.join(starter::COMPLETE_FILE).is_file() {
        return upgrade(&path, app);
    }
    let encoder = models::default_encoder(app).await?;
    build_starter(app, &encoder, false)
}

/// Adds the starter papers: with the shipped vectors if they are of this encoder and not `encode`, else encoding them.
pub(crate) fn build_starter(
    app: &App,
    encoder: &LocalEncoder,
    encode: bool,
) -> Result<(), CommandError> {
    let path = app.home.datastore(starter::NAME)?;
    app.home.create(&app.home.datastores())?;
    let store = Datastore::open_or_create(&path, encoder.info(), BuildRules::sections())?;
    let mut writer = patient_writer(app, &store)?;
    if !encode && path.join(starter::COMPLETE_FILE).is_file() {
        // Whoever held the lock has done it.
        return Ok(());
    }
    let papers = starter::papers()?;
    let total = papers.len();
    let vectors = starter::vectors(encoder.info())?.filter(|_| !encode);
    let bar = progress::counted(&app.printer, "papers", Some(total as u64))
        .with_message("building the starter papers");
    let interrupted = match vectors {
        Some(vectors) => {
            let fingerprint = encoder.info().fingerprint.clone();
            let with_vectors = starter::pair(papers, vectors)?;
            let counted = bar
                .wrap_iter(with_vectors.into_iter())
                .map(Ok::<PaperVectors, scholar_datastore::Error>);
            writer
                .add_with_vectors(
                    counted,
                    &fingerprint,
                    starter::NAME,
                    Some((encoder, starter::CHECK_EVERY)),
                )?
                .interrupted
        }
        None => {
            let papers = papers.into_iter().map(Ok::<Paper, scholar_datastore::Error>);
            writer
                .add(papers, encoder, &AddOptions::standard(starter::NAME), &mut |done| {
                    bar.set_position(done.papers_read);
                    app.until_stopped()
                })?
                .interrupted
        }
    };
    bar.finish_and_clear();
    if interrupted || app.until_stopped() == ControlFlow::Break(()) {
        return Err(CommandError::new(
            ErrorKind::Interrupted,
            "interrupted; the next start continues the build",
        ));
    }
    fs_err::write(path.join(starter::COMPLETE_FILE), format!("{total} papers\n"))
        .user(|| "cannot mark the datastore as complete".to_owned())?;
    app.printer.say(&format!("built the datastore of {total} starter papers"));
    Ok(())
}

/// The writer of `store`, as soon as another process that has it is done: two first questions at once are both answered.
fn patient_writer(app: &App, store: &Datastore) -> Result<DatastoreWriter, CommandError> {
    let mut told = false;
    loop {
        match store.writer() {
            Err(scholar_datastore::Error::Locked { holder, .. })
                if app.until_stopped().is_continue() =>
            {
                if !told {
                    app.printer.say(&format!(
                        "the starter papers are being prepared by {holder}; waiting"
                    ));
                    told = true;
                }
                // Waking early only looks early.
                std::thread::park_timeout(LOCK_PAUSE);
            }
            other => return Ok(other?),
        }
    }
}
