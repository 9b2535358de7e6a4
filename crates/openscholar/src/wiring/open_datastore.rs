//! A datastore with the encoder it was built with, ready to be searched.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use scholar_core::{Encoder as _, Notice, NoticeKind, Paper, Retriever, SearchFilter};
use scholar_datastore::{
    AddOptions, BuildRules, Datastore, DatastoreWriter, DenseSearch, Descriptor, FilterEffect,
    GroupMember, GroupRetriever, HybridRetriever, PaperVectors, SearchConfig, SearchPool,
};
use scholar_models::LocalEncoder;

use super::models;
use super::upgrade::{finish_upgrade, upgrade};
use crate::app::App;
use crate::error::{CommandError, Context as _, EXIT_MISSING_EVIDENCE, ErrorKind};
use crate::progress;
use crate::starter;

/// Searches that may wait in the pool.
const SEARCH_QUEUE: usize = 64;

/// Between two looks at a lock another process holds.
const LOCK_PAUSE: Duration = Duration::from_millis(200);

/// An open datastore.
#[derive(Clone)]
pub(crate) struct OpenDatastore {
    pub(crate) encoder: Arc<LocalEncoder>,
    pub(crate) retriever: Arc<dyn Retriever>,
    /// The one that is searched; of several the first.
    pub(crate) store: Arc<Datastore>,
    /// The others that are searched with it.
    pub(crate) others: Vec<Arc<Datastore>>,
    /// The threads that search.
    pub(crate) pool: Arc<SearchPool>,
}

impl OpenDatastore {
    /// Opens the datastore called `name` with its encoder, which is fetched if it is absent. The starter papers are
    /// built on first use.
    pub(crate) async fn open(app: &App, name: &str) -> Result<Self, CommandError> {
        let members = app.datastore_members(name);
        let open = async {
            match members.as_slice() {
                [] | [_] => Self::open_one(app, members.first().map_or(name, String::as_str)).await,
                _ => Box::pin(Self::open_group(app, &members)).await,
            }
        };
        // Boxed: whoever opens a datastore would otherwise hold all that opening needs.
        Box::pin(app.resident.or_open(&members.join(","), open)).await
    }

    /// Opens several datastores as one. The first one's encoder is the one that other parts of the program use.
    async fn open_group(app: &App, names: &[String]) -> Result<Self, CommandError> {
        let mut opened: Vec<(String, Self)> = Vec::new();
        for name in names {
            let one = Box::pin(app.resident.or_open(name, Self::open_one(app, name))).await?;
            opened.push((name.clone(), one));
        }
        let group = Self::group(app, opened.clone())?;
        let how = match group.is_uniform() {
            true => "by their scores: they have one encoder",
            false => "by their ranks: their encoders differ",
        };
        app.printer.say(&format!("searching {}, fused {how}", names.join(", ")));
        let mut opened = opened.into_iter().map(|(_, one)| one);
        let Some(first) = opened.next() else {
            return Err(CommandError::user("no datastore is named"));
        };
        let others = opened.map(|one| one.store).collect();
        Ok(Self { retriever: Arc::new(group), others, ..first })
    }

    /// What searches open datastores as one, on the threads that each of them has.
    pub(crate) fn group(
        app: &App,
        opened: Vec<(String, Self)>,
    ) -> Result<GroupRetriever, CommandError> {
        let mut members: Vec<GroupMember> = Vec::new();
        for (name, Self { encoder, retriever: _, store, others: _, pool }) in opened {
            let retriever = HybridRetriever::new(store, encoder, Self::config(app), pool)?;
            members.push(GroupMember { name, retriever });
        }
        Ok(GroupRetriever::new(members))
    }

    /// How datastores are searched here.
    fn config(app: &App) -> SearchConfig {
        let memory_bytes = app.config.search_memory_mb.map(|megabytes| megabytes << 20);
        SearchConfig { memory_bytes, ..SearchConfig::tuned() }
    }

    /// All datastores that are searched.
    pub(crate) fn stores(&self) -> impl Iterator<Item = &Arc<Datastore>> {
        std::iter::once(&self.store).chain(&self.others)
    }

    /// The same with the names that hits of several carry.
    pub(crate) fn named_stores(&self) -> impl Iterator<Item = (String, &Arc<Datastore>)> {
        let name = |store: &Arc<Datastore>| {
            store.root().file_name().unwrap_or_default().to_string_lossy().into_owned()
        };
        self.stores().map(move |store| (name(store), store))
    }

    /// A number that grows with every commit of any of them.
    pub(crate) fn commit(&self) -> Result<u64, CommandError> {
        let mut sum = 0_u64;
        for store in self.stores() {
            sum = sum.wrapping_add(store.commit()?);
        }
        Ok(sum)
    }

    /// What `filter` leaves of them. Nothing left is an error that blames the filter.
    pub(crate) fn check_filter(
        &self,
        filter: &SearchFilter,
        name: &str,
    ) -> Result<Option<Notice>, CommandError> {
        if filter.is_none() {
            return Ok(None);
        }
        let mut effect = FilterEffect::default();
        for store in self.stores() {
            effect = effect.and(store.filter_effect(filter)?);
        }
        let FilterEffect { papers, accepted, unknown } = effect;
        let what = filter.describe();
        let mut message =
            format!("the filter ({what}) leaves {accepted} of {papers} papers of {name}");
        if unknown > 0 {
            message = format!(
                "{message}; {unknown} are left out because what it asks is not known of them"
            );
        }
        let hint =
            "--include-unknown keeps papers of which year, venue, citations or licence are unknown";
        if accepted == 0 {
            let error = CommandError::user(message).with_code(EXIT_MISSING_EVIDENCE);
            return Err(error.with_hint(if unknown > 0 {
                hint
            } else {
                "ask with a wider filter"
            }));
        }
        let notice = Notice::new(NoticeKind::Skipped, message);
        Ok((accepted < papers).then(|| if unknown > 0 { notice.with_hint(hint) } else { notice }))
    }

    /// One datastore.
    async fn open_one(app: &App, name: &str) -> Result<Self, CommandError> {
        if name == starter::NAME {
            starter(app).await?;
        }
        let path = app.existing_datastore(name)?;
        let stored = Descriptor::read(&path)?.encoder;
        // Several datastores of a server mostly have the same one.
        let open = models::encoder(app, &stored.name, (&stored).into());
        let encoder = app.resident.or_open(&format!("encoder {stored:?}"), open).await?;
        Self::with(app, Datastore::open(&path)?, encoder)
    }

    /// An open datastore with the encoder it was built with.
    pub(crate) fn with(
        app: &App,
        store: Datastore,
        encoder: Arc<LocalEncoder>,
    ) -> Result<Self, CommandError> {
        Self::searched(app, Arc::new(store), encoder, Self::config(app))
    }

    /// The same, comparing every vector.
    pub(crate) fn exact(self, app: &App) -> Result<Self, CommandError> {
        let Self { encoder, retriever: _, store, others, pool: _ } = self;
        if !others.is_empty() {
            return Err(CommandError::usage("--exact searches one datastore"));
        }
        let config = SearchConfig { dense: DenseSearch::Exact, ..Self::config(app) };
        Self::searched(app, store, encoder, config)
    }

    fn searched(
        app: &App,
        store: Arc<Datastore>,
        encoder: Arc<LocalEncoder>,
        config: SearchConfig,
    ) -> Result<Self, CommandError> {
        let pool = Arc::new(SearchPool::new(app.threads(), SEARCH_QUEUE)?);
        let threads = Arc::clone(&pool);
        let retriever = HybridRetriever::new(Arc::clone(&store), encoder.clone(), config, threads)?;
        Ok(Self { encoder, retriever: Arc::new(retriever), store, others: Vec::new(), pool })
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
