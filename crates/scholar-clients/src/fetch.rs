//! The one door to the services that papers come from.
//!
//! Whoever needs something from a [`Provider`] builds a [`FetchRequest`] and hands it to the [`Fetcher`], which adds
//! keys, keeps the provider's pace, tries again when that makes sense, leaves alone who keeps failing, keeps replies
//! on disk, and turns every surprise into a [`PortError`] that names provider and address without secrets.
//! One fetcher serves all clients of a program: limits hold for all of them together.

mod cache;
mod config;
mod exchange;
mod failure;
mod governor;
mod journal;
mod link;
mod probe;
mod provider;
mod request;
mod transport;

use std::sync::Arc;
use std::time::Duration;

use scholar_core::PortError;
use secrecy::SecretString;
use serde::de::DeserializeOwned;
use tokio::time::Instant;
use url::Url;

pub use config::{Breaker, CacheConfig, Clock, FetchConfig};
pub use journal::{Attempt, AttemptOutcome};
pub use link::{Look, Looked};
pub use provider::{EMAIL_SETTING, Pace, Provider};
pub use request::{Accept, CachePolicy, FetchRequest};
pub use transport::{Broken, Incoming, Outgoing, Transport};

use crate::http::{HttpClient, is_local};
use crate::parse::misfit;
use cache::{Cache, CacheEntry, Head, Key};
use exchange::Exchange;
use failure::Failures;
pub(crate) use failure::quote;
use governor::Governor;
use journal::Journal;
use provider::Credential;

/// The longest that the absence of something (a 404) is remembered.
const NOT_FOUND_AGE: Duration = Duration::from_secs(24 * 60 * 60);

/// Asks providers. Cheap to clone; clones share limits, cache and journal.
#[derive(Clone)]
pub struct Fetcher {
    shared: Arc<Shared>,
    deadline: Option<Instant>,
}

struct Shared {
    transport: Arc<dyn Transport>,
    config: FetchConfig,
    cache: Option<Arc<Cache>>,
    governor: Governor,
    journal: Journal,
    began: Instant,
}

/// A reply, from the provider or from the cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fetched {
    /// 200 to 299, or 404 where that is an answer.
    pub status: u16,
    /// The body, after any `Content-Encoding` was undone.
    pub body: Vec<u8>,
    /// As the server names it.
    pub content_type: Option<String>,
    /// The address that answered in the end, after redirects, without secrets.
    pub url: String,
    /// How old the answer is if it came from the cache.
    pub cached: Option<Duration>,
}

impl Fetched {
    /// Whether this is the answer that there is no such thing.
    pub fn is_not_found(&self) -> bool {
        self.status == 404
    }
}

impl Fetcher {
    /// A fetcher over the network. To be called within a tokio runtime.
    pub fn new(http: HttpClient, config: FetchConfig) -> Self {
        Self::with_transport(Arc::new(http), config)
    }

    /// A fetcher over something else: a recording, a test.
    pub fn with_transport(transport: Arc<dyn Transport>, config: FetchConfig) -> Self {
        let cache = config.cache.clone().map(|config| Arc::new(Cache::new(config)));
        let shared = Shared {
            transport,
            config,
            cache,
            governor: Governor::default(),
            journal: Journal::default(),
            began: Instant::now(),
        };
        Self { shared: Arc::new(shared), deadline: None }
    }

    /// The same fetcher for work that must be done within `time` from now, all requests together.
    #[must_use]
    pub fn within(&self, time: Duration) -> Self {
        let deadline = Instant::now() + time;
        let earliest = self.deadline.map_or(deadline, |known| known.min(deadline));
        Self { shared: Arc::clone(&self.shared), deadline: Some(earliest) }
    }

    /// How it was set up.
    pub fn config(&self) -> &FetchConfig {
        &self.shared.config
    }

    /// Every attempt so far, up to the latest ten thousand, in order.
    pub fn journal(&self) -> Vec<Attempt> {
        self.shared.journal.all()
    }

    /// The reply to `request`: from the cache if young enough, else from the provider.
    ///
    /// # Errors
    /// [`PortError`] that names provider and address. `RateLimited` and `Transient` after the attempts are spent,
    /// `Unavailable` when there is no connection, no time or only `--offline`, `Rejected` for what is refused,
    /// `Corrupt` for a reply that is not of the accepted kind.
    pub async fn fetch(&self, request: &FetchRequest) -> Result<Fetched, PortError> {
        let config = &self.shared.config;
        let request = &self.introduced(request)?;
        let base = config.base_url(request.provider);
        let url = request
            .public_url(base.as_ref())
            .ok_or_else(|| Failures::no_address(request.provider))?;
        let failures = Failures { config, request, url: &url };
        if request.is_whole() && is_local(&url) && !self.is_configured(&url) {
            return Err(failures.private());
        }
        let key = request.cache.map(|policy| (policy, request.digest(&url)));
        let key = key.map(|(policy, digest)| (policy, Key { bucket: policy.bucket, digest }));
        let exchange = Exchange { fetcher: self, request, url: &url, failures: &failures };

        let stored = match &key {
            Some((_, key)) => self.load(key).await,
            None => None,
        };
        let mut known = None;
        if let Some((entry, (policy, _))) = stored.zip(key.as_ref()) {
            let age = self.age(&entry);
            let limit = match entry.head.status {
                404 => policy.max_age.min(NOT_FOUND_AGE),
                _ => policy.max_age,
            };
            if age <= limit || config.offline {
                exchange.note_cached(age);
                return Ok(from_entry(entry, Some(age)));
            }
            known = Some(entry);
        }
        if config.offline && !request.provider.facts().local {
            return Err(failures.offline());
        }
        let answer = exchange.answer(known.as_ref().map(|entry| &entry.head)).await?;
        let now = (config.clock)();
        let entry = match (answer.status, known) {
            (304, Some(mut entry)) => {
                entry.head.confirmed = now;
                entry
            }
            _ => {
                let mut head = Head::new(answer.status, answer.url.clone(), now, &answer.body);
                head.content_type = answer.header("content-type");
                head.etag = answer.header("etag");
                head.last_modified = answer.header("last-modified");
                CacheEntry { head, body: answer.body }
            }
        };
        if let Some((_, key)) = key {
            self.store(key, entry.clone()).await;
        }
        Ok(from_entry(entry, None))
    }

    /// The reply to `request` read as JSON.
    ///
    /// # Errors
    /// As [`Fetcher::fetch`]; `Corrupt` with the path of the field where the reply has another shape. A 404 is an
    /// error here.
    pub async fn fetch_json<T: DeserializeOwned>(
        &self,
        request: &FetchRequest,
    ) -> Result<T, PortError> {
        let fetched = self.fetch(request).await?;
        self.read_json(request, &fetched).await
    }

    /// As [`Fetcher::fetch_json`], with `None` for a 404 where `request` says that it is an answer.
    ///
    /// # Errors
    /// As [`Fetcher::fetch_json`].
    pub async fn find_json<T: DeserializeOwned>(
        &self,
        request: &FetchRequest,
    ) -> Result<Option<T>, PortError> {
        let fetched = self.fetch(request).await?;
        if fetched.is_not_found() {
            return Ok(None);
        }
        self.read_json(request, &fetched).await.map(Some)
    }

    /// Reads a reply to `request`; one of another shape is not kept.
    async fn read_json<T: DeserializeOwned>(
        &self,
        request: &FetchRequest,
        fetched: &Fetched,
    ) -> Result<T, PortError> {
        let mut deserializer = serde_json::Deserializer::from_slice(&fetched.body);
        let error = match serde_path_to_error::deserialize(&mut deserializer) {
            Ok(value) => return Ok(value),
            Err(error) => error,
        };
        Err(self.unreadable(request, &misfit(&error)).await)
    }

    /// The error for a reply to `request` that is not what it should be, which is also no longer kept. `what` quotes
    /// the field.
    pub async fn unreadable(&self, request: &FetchRequest, what: &str) -> PortError {
        let config = &self.shared.config;
        let Some(url) = request.public_url(config.base_url(request.provider).as_ref()) else {
            return Failures::no_address(request.provider);
        };
        if let (Some(cache), Some(policy)) = (&self.shared.cache, request.cache) {
            let key = Key { bucket: policy.bucket, digest: request.digest(&url) };
            let cache = Arc::clone(cache);
            let _ = tokio::task::spawn_blocking(move || cache.remove(&key)).await;
        }
        Failures { config, request, url: &url }.corrupt(what)
    }

    /// The request with key and contact address where the provider wants them.
    fn introduced(&self, request: &FetchRequest) -> Result<FetchRequest, PortError> {
        let config = &self.shared.config;
        let provider = request.provider;
        let facts = provider.facts();
        let mut request = request.clone();
        if let Some((setting, place)) = facts.key {
            match config.keys.get(&provider) {
                Some(key) => introduce(&mut request, place, key),
                // Offline nobody is asked, and what is stored was paid for.
                None if facts.key_needed && !config.offline => {
                    return Err(Failures::no_key(provider, setting));
                }
                None => {}
            }
        }
        if let Some(place) = facts.contact {
            match &config.email {
                Some(email) => introduce(&mut request, place, email),
                None if facts.contact_needed && !config.offline => {
                    return Err(Failures::no_email(provider));
                }
                None => {}
            }
        }
        Ok(request)
    }

    /// Whether a setting names the server of `url`.
    fn is_configured(&self, url: &Url) -> bool {
        self.shared.config.base_urls.values().any(|base| base.origin() == url.origin())
    }

    fn age(&self, entry: &CacheEntry) -> Duration {
        let seconds = (self.shared.config.clock)().as_second() - entry.head.confirmed.as_second();
        Duration::from_secs(u64::try_from(seconds).unwrap_or(0))
    }

    async fn load(&self, key: &Key) -> Option<CacheEntry> {
        let (cache, key) = (Arc::clone(self.shared.cache.as_ref()?), key.clone());
        tokio::task::spawn_blocking(move || cache.load(&key)).await.ok().flatten()
    }

    async fn store(&self, key: Key, entry: CacheEntry) {
        let Some(cache) = self.shared.cache.clone() else { return };
        // Only a panic or the end of the runtime could come back, and neither concerns the answer.
        let _ = tokio::task::spawn_blocking(move || cache.store(&key, &entry)).await;
    }
}

fn introduce(request: &mut FetchRequest, place: Credential, secret: &SecretString) {
    match place {
        Credential::Header(name) => request.secret_headers.push((name, secret.clone())),
        Credential::Param(name) => request.secret_query.push((name, secret.clone())),
    }
}

fn from_entry(entry: CacheEntry, cached: Option<Duration>) -> Fetched {
    let CacheEntry { head, body } = entry;
    let Head { status, content_type, url, .. } = head;
    Fetched { status, body, content_type, url, cached }
}

/// Host and port: what limits hold for.
fn host_of(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    match url.port() {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    }
}
