//! Where papers are looked for: the datastore, sources beyond this machine, and the fetcher that asks them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use scholar_clients::HttpClient;
use scholar_clients::fetch::{CacheConfig, EMAIL_SETTING, FetchConfig, Fetcher, Provider};
use scholar_core::{Notice, PaperSource, Query, Retriever};
use scholar_pipeline::retrieve::sources::{SourcesConfig, WideRetriever};

use super::OpenDatastore;
use crate::app::App;
use crate::args::{SearchSourceArgs, SourceArg};
use crate::env::EMAIL_SETTINGS;
use crate::error::{CommandError, Context as _};

/// Seconds that all requests of one question may take together, unless the config file says otherwise: a person waits.
pub(crate) const DEADLINE_SECONDS: u64 = 120;

/// Where one question is looked for.
pub(crate) struct Sources {
    /// Whether the datastore is asked.
    pub(crate) datastore: bool,
    /// The sources beyond it, in the order in which they are named here.
    pub(crate) sources: Vec<Arc<dyn PaperSource>>,
    /// How far they are asked.
    pub(crate) config: SourcesConfig,
    /// Sources that cannot be used as they are set up, or not as well as they could.
    pub(crate) notices: Vec<Notice>,
    /// What asks them, if anything does.
    pub(crate) fetcher: Option<Fetcher>,
}

impl Sources {
    /// As the arguments say, else the config file; `config` is what flag and file change. To be called within the
    /// runtime.
    pub(crate) fn open(
        app: &App,
        search_sources: &SearchSourceArgs,
        config: SourcesConfig,
    ) -> Result<Self, CommandError> {
        let seconds = app.config.sources.deadline_seconds.unwrap_or(DEADLINE_SECONDS);
        Self::open_within(app, search_sources, config, Some(Duration::from_secs(seconds)))
    }

    /// The same for work of many questions, which takes as long as it takes.
    pub(crate) fn open_for_many(
        app: &App,
        search_sources: &SearchSourceArgs,
        config: SourcesConfig,
    ) -> Result<Self, CommandError> {
        Self::open_within(app, search_sources, config, None)
    }

    fn open_within(
        app: &App,
        search_sources: &SearchSourceArgs,
        mut config: SourcesConfig,
        deadline: Option<Duration>,
    ) -> Result<Self, CommandError> {
        if let Some(most) = search_sources.full_texts.or(app.config.sources.full_texts) {
            config.full_texts = most;
        }
        let used = used(app, search_sources)?;
        let datastore = used.contains(&SourceArg::Datastore);
        let mut opened =
            Self { datastore, sources: Vec::new(), config, notices: Vec::new(), fetcher: None };
        let external: Vec<SourceArg> =
            used.into_iter().filter(|source| *source != SourceArg::Datastore).collect();
        if external.is_empty() {
            return Ok(opened);
        }
        let fetcher = fetcher(app, search_sources.offline)?;
        let fetcher = deadline.map_or_else(|| fetcher.clone(), |time| fetcher.within(time));
        for source in external {
            opened.add(source, &fetcher);
        }
        opened.fetcher = Some(fetcher);
        // Nothing found and nothing asked are two things.
        if opened.sources.is_empty() && !opened.datastore {
            let notice = opened.notices.into_iter().next();
            let why = notice.as_ref().map(|notice| format!(": {}", notice.message));
            let error =
                CommandError::user(format!("no source can be searched{}", why.unwrap_or_default()));
            return Err(match notice.and_then(|notice| notice.hint) {
                Some(hint) => error.with_hint(hint),
                None => error,
            });
        }
        Ok(opened)
    }

    /// Their names, for the record of a run; empty when the datastore alone is asked.
    pub(crate) fn names(&self) -> Vec<String> {
        if self.sources.is_empty() {
            return Vec::new();
        }
        let datastore = self.datastore.then(|| SourceArg::Datastore.name().to_owned());
        datastore
            .into_iter()
            .chain(self.sources.iter().map(|source| source.name().to_owned()))
            .collect()
    }

    fn add(&mut self, source: SourceArg, fetcher: &Fetcher) {
        let opened = super::providers::source(source, fetcher);
        self.notices.extend(opened.notice);
        self.sources.extend(opened.source);
    }

    /// The retriever over the datastore and the sources for `question`; the datastore's own when nothing else is asked.
    pub(crate) fn retriever(&self, opened: &OpenDatastore, question: &Query) -> QuestionRetriever {
        if self.datastore && self.sources.is_empty() {
            return QuestionRetriever { retriever: opened.retriever.clone(), wide: None };
        }
        let store = self.datastore.then(|| opened.retriever.clone());
        let wide = WideRetriever::new(store, self.sources.clone(), question.clone(), self.config);
        let wide = Arc::new(wide);
        QuestionRetriever { retriever: wide.clone(), wide: Some(wide) }
    }
}

/// What a question is searched with.
pub(crate) struct QuestionRetriever {
    /// The port.
    pub(crate) retriever: Arc<dyn Retriever>,
    /// The same, if it looks beyond the datastore.
    pub(crate) wide: Option<Arc<WideRetriever>>,
}

/// The places to look at, sorted, each once.
fn used(app: &App, search_sources: &SearchSourceArgs) -> Result<Vec<SourceArg>, CommandError> {
    use clap::ValueEnum as _;
    let mut used = search_sources.sources.clone();
    if used.is_empty() {
        for name in &app.config.sources.used {
            let source = SourceArg::from_str(name, true).map_err(|_| {
                CommandError::user(format!("unknown source {name:?} in the config file")).with_hint(
                    "the sources are datastore, s2, snippets, web, openalex, arxiv and pubmed",
                )
            })?;
            used.push(source);
        }
    }
    if used.is_empty() {
        used.push(SourceArg::Datastore);
    }
    used.sort_unstable();
    used.dedup();
    Ok(used)
}

/// What asks providers: the config file's addresses and keys, then the environment's.
pub(crate) fn fetcher(app: &App, offline: bool) -> Result<Fetcher, CommandError> {
    let file = &app.config.sources;
    let mut settings: BTreeMap<String, String> = file.base_urls.clone();
    if let Some(unknown) = settings.keys().find(|name| !is_address_setting(name)) {
        return Err(CommandError::user(format!("unknown name {unknown:?} in [sources.base_urls]"))
            .with_hint(
                "the names are S2_BASE_URL, OPENALEX_BASE_URL and so on: docs/configuration.md",
            ));
    }
    settings.extend(keys(app)?);
    if let Some(email) = &file.email {
        settings.insert(EMAIL_SETTING.to_owned(), email.clone());
    }
    for (name, value) in &app.env.providers {
        let name = if EMAIL_SETTINGS.contains(&name.as_str()) { EMAIL_SETTING } else { name };
        settings.insert(name.to_owned(), value.clone());
    }
    let mut config = FetchConfig::interactive(Arc::new(jiff::Timestamp::now));
    config.read_settings(&|name| settings.get(name).cloned())?;
    let mut cache = CacheConfig::new(app.home.replies());
    if let Some(megabytes) = file.cache_mb {
        cache.max_bytes = megabytes << 20;
    }
    config.cache = Some(cache);
    // Of the whole program too: what a server's callers ask for goes out no more than what it does by itself.
    config.offline = offline || app.offline;
    Ok(Fetcher::new(HttpClient::new()?, config))
}

fn is_address_setting(name: &str) -> bool {
    Provider::ALL.iter().any(|provider| provider.base_url_setting() == name)
}

/// The keys of the key file, by the names the environment has for them.
fn keys(app: &App) -> Result<BTreeMap<String, String>, CommandError> {
    let Some(path) = &app.config.sources.key_file else { return Ok(BTreeMap::new()) };
    let text = fs_err::read_to_string(path).user(|| "cannot read the file of keys".to_owned())?;
    app.warn_if_open(path);
    let mut keys = BTreeMap::new();
    for (nth, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        // The line is not shown: it may hold a key.
        let wrong = || {
            CommandError::user(format!("line {} of {} is not NAME=value", nth + 1, path.display()))
                .with_hint("write one key per line, for example S2_API_KEY=…")
        };
        let (name, value) = line.split_once('=').ok_or_else(wrong)?;
        keys.insert(name.trim().to_owned(), value.trim().to_owned());
    }
    Ok(keys)
}
