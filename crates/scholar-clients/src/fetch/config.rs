//! What a person can set about how providers are asked.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use scholar_core::{PortError, PortErrorKind};
use secrecy::SecretString;
use url::Url;

use super::provider::{EMAIL_SETTING, Pace, Provider};
use crate::retry::RetryPolicy;

/// Tells the time of day, which only the ages of stored replies need.
pub type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// Where replies are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CacheConfig {
    /// Folder of the cache, made when needed. Everything in it may be deleted at any time.
    pub folder: PathBuf,
    /// The oldest entries go when the files together exceed this.
    pub max_bytes: u64,
}

impl CacheConfig {
    /// Two gibibytes: some tens of thousands of replies.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), max_bytes: 2 << 30 }
    }
}

/// When a provider that keeps failing is left alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Breaker {
    /// Failures in a row, over all requests to one host. More than one request's attempts, so that one request that
    /// always fails cannot keep others from being sent.
    pub failures: u32,
    /// How long it is left alone before one request tries again.
    pub cool_down: Duration,
}

/// How providers are asked.
#[derive(Clone)]
pub struct FetchConfig {
    /// Addresses that differ from the providers' own.
    pub base_urls: BTreeMap<Provider, Url>,
    /// API keys by provider; one without a key is asked without, if it allows that.
    pub keys: BTreeMap<Provider, SecretString>,
    /// Contact address, sent to the providers that ask for one. Treated like a key: never logged, never in the cache.
    pub email: Option<SecretString>,
    /// Paces that differ from the providers' defaults.
    pub paces: BTreeMap<Provider, Pace>,
    /// Where replies are kept; `None` keeps nothing.
    pub cache: Option<CacheConfig>,
    /// Answer from the cache only, whatever the age.
    pub offline: bool,
    /// Attempts, pauses and the deadline of one request.
    pub retry: RetryPolicy,
    /// When a provider is left alone.
    pub breaker: Breaker,
    /// Longest silence of a connection.
    pub idle_timeout: Duration,
    /// Longest duration of one attempt.
    pub attempt_timeout: Duration,
    /// Tells the time of day, from which ages of cached replies follow.
    pub clock: Clock,
}

impl FetchConfig {
    /// For a person who waits: four attempts within 90 seconds, nothing stored, no keys. `clock` tells ages.
    pub fn interactive(clock: Clock) -> Self {
        Self {
            base_urls: BTreeMap::new(),
            keys: BTreeMap::new(),
            email: None,
            paces: BTreeMap::new(),
            cache: None,
            offline: false,
            retry: RetryPolicy {
                attempts: 4,
                base: Duration::from_millis(500),
                cap: Duration::from_secs(15),
                deadline: Duration::from_secs(90),
            },
            breaker: Breaker { failures: 10, cool_down: Duration::from_secs(60) },
            idle_timeout: Duration::from_secs(15),
            attempt_timeout: Duration::from_secs(60),
            clock,
        }
    }

    /// Takes keys, addresses and the contact address from named settings, for example the environment: `S2_API_KEY`,
    /// `S2_BASE_URL`, `OPENSCHOLAR_EMAIL` and so on, as [`Provider`] names them. What is not set stays.
    ///
    /// # Errors
    /// `Rejected` when an address is not one, or when a key could not travel in a header.
    pub fn read_settings(
        &mut self,
        setting: &dyn Fn(&str) -> Option<String>,
    ) -> Result<(), PortError> {
        for provider in Provider::ALL {
            let name = provider.base_url_setting();
            if let Some(text) = setting(&name) {
                let url = Url::parse(text.trim())
                    .ok()
                    .filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
                let wrong = || {
                    PortError::new(PortErrorKind::Rejected, format!("{name} is not a web address"))
                        .with_hint(format!("set {name} to something like http://localhost:8070"))
                };
                self.base_urls.insert(provider, url.ok_or_else(wrong)?);
            }
            if let Some((name, key)) = provider.key_setting().and_then(|n| Some((n, setting(n)?))) {
                self.keys.insert(provider, secret(name, &key)?);
            }
        }
        if let Some(email) = setting(EMAIL_SETTING) {
            self.email = Some(secret(EMAIL_SETTING, &email)?);
        }
        Ok(())
    }

    /// Whether `provider` will be told who asks, by key or by contact address.
    pub fn is_known_to(&self, provider: Provider) -> bool {
        let facts = provider.facts();
        if facts.key.is_some() && self.keys.contains_key(&provider) {
            return true;
        }
        // Where keys exist, the address alone buys nothing but courtesy; OpenAlex's pool is the exception.
        let contact_counts = facts.key.is_none() || provider == Provider::OpenAlex;
        contact_counts && facts.contact.is_some() && self.email.is_some()
    }

    /// The pace `provider` is asked at.
    pub fn pace(&self, provider: Provider) -> Pace {
        let known = self.is_known_to(provider);
        self.paces.get(&provider).copied().unwrap_or_else(|| provider.pace(known))
    }

    /// The address `provider` is asked at.
    pub fn base_url(&self, provider: Provider) -> Option<Url> {
        let set = self.base_urls.get(&provider).cloned();
        set.or_else(|| provider.default_base_url().and_then(|text| Url::parse(text).ok()))
    }
}

/// A value that can travel in a header; the error does not show it.
fn secret(name: &str, value: &str) -> Result<SecretString, PortError> {
    let value = value.trim();
    if value.is_empty() || !value.bytes().all(|byte| byte.is_ascii_graphic()) {
        let message = format!("{name} is empty or has spaces or other characters that no key has");
        return Err(PortError::new(PortErrorKind::Rejected, message)
            .with_hint(format!("copy {name} again, without quotation marks and line breaks")));
    }
    Ok(SecretString::from(value))
}

impl fmt::Debug for FetchConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FetchConfig")
            .field("base_urls", &self.base_urls.keys())
            .field("keys", &self.keys.keys())
            .field("cache", &self.cache)
            .field("offline", &self.offline)
            .finish_non_exhaustive()
    }
}
