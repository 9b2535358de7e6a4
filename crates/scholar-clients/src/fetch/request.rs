//! One question to one provider.

use std::time::Duration;

use secrecy::{ExposeSecret as _, SecretString};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use url::Url;

use super::provider::Provider;

/// What kind of reply is asked for, and checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Accept {
    /// JSON that parses.
    Json,
    /// XML: anything but an HTML page.
    Xml,
    /// An HTML page.
    Html,
    /// A PDF file.
    Pdf,
    /// Whatever comes, unchecked.
    Bytes,
}

impl Accept {
    pub(super) fn header(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::Xml => "application/atom+xml, application/xml, text/xml;q=0.9, */*;q=0.1",
            Self::Html => "text/html, application/xhtml+xml;q=0.9",
            Self::Pdf => "application/pdf, */*;q=0.1",
            Self::Bytes => "*/*",
        }
    }
}

/// How long a reply is worth keeping.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CachePolicy {
    /// Folder name with the version of what is stored, for example `s2-v1`: a change of meaning takes another name.
    pub bucket: &'static str,
    /// An older entry is asked for again; with the server's consent (304) it becomes new.
    pub max_age: Duration,
}

impl CachePolicy {
    /// Keeps in `bucket` for `days` days.
    pub const fn days(bucket: &'static str, days: u64) -> Self {
        Self { bucket, max_age: Duration::from_secs(days * 24 * 60 * 60) }
    }
}

/// Where the request goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Target {
    /// Below the provider's address.
    Path(String),
    /// A whole address.
    Whole(Url),
}

/// A request. Keys and contact address are added by the [`Fetcher`](super::Fetcher), who knows where each goes.
#[derive(Debug, Clone)]
pub struct FetchRequest {
    pub(super) provider: Provider,
    pub(super) post: bool,
    pub(super) target: Target,
    pub(super) query: Vec<(String, String)>,
    pub(super) headers: Vec<(&'static str, String)>,
    pub(super) secret_headers: Vec<(&'static str, SecretString)>,
    pub(super) secret_query: Vec<(&'static str, SecretString)>,
    pub(super) body: Option<(String, Vec<u8>)>,
    pub(super) accept: Accept,
    pub(super) max_bytes: usize,
    pub(super) cache: Option<CachePolicy>,
    pub(super) not_found_answers: bool,
    pub(super) patience: Duration,
}

/// Semantic Scholar's largest reply is 10 MB; pages and PDFs ask for more.
const DEFAULT_MAX_BYTES: usize = 32 << 20;

impl FetchRequest {
    fn new(provider: Provider, target: Target) -> Self {
        Self {
            provider,
            post: false,
            target,
            query: Vec::new(),
            headers: Vec::new(),
            secret_headers: Vec::new(),
            secret_query: Vec::new(),
            body: None,
            accept: Accept::Json,
            max_bytes: DEFAULT_MAX_BYTES,
            cache: None,
            not_found_answers: false,
            patience: Duration::ZERO,
        }
    }

    /// `GET` of `path` (already encoded, begins with `/`) below the provider's address.
    pub fn get(provider: Provider, path: impl Into<String>) -> Self {
        Self::new(provider, Target::Path(path.into()))
    }

    /// `GET` of a whole address, for example an open-access location.
    pub fn get_url(provider: Provider, url: Url) -> Self {
        Self::new(provider, Target::Whole(url))
    }

    /// `POST` of `body` to a path below the provider's address, as `application/json`.
    pub fn post_json(provider: Provider, path: impl Into<String>, body: &Value) -> Self {
        Self::post(provider, path, "application/json", body.to_string().into_bytes())
    }

    /// `POST` of bytes of that media type to a path below the provider's address.
    pub fn post(
        provider: Provider,
        path: impl Into<String>,
        content_type: impl Into<String>,
        body: Vec<u8>,
    ) -> Self {
        let body = Some((content_type.into(), body));
        Self { post: true, body, ..Self::new(provider, Target::Path(path.into())) }
    }

    /// Appends `value` to the path, encoded. Slashes and colons stay: identifiers are made of them.
    #[must_use]
    pub fn path_value(mut self, value: &str) -> Self {
        match &mut self.target {
            Target::Path(path) => path.push_str(&encode_path(value)),
            Target::Whole(url) => {
                let path = format!("{}{}", url.path(), encode_path(value));
                url.set_path(&path);
            }
        }
        self
    }

    /// Appends to the path, which is already encoded.
    #[must_use]
    pub fn path_tail(mut self, tail: &str) -> Self {
        match &mut self.target {
            Target::Path(path) => path.push_str(tail),
            Target::Whole(url) => {
                let path = format!("{}{tail}", url.path());
                url.set_path(&path);
            }
        }
        self
    }

    /// Adds a query parameter.
    #[must_use]
    pub fn query(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.query.push((name.into(), value.into()));
        self
    }

    /// Adds a header that everybody may see.
    #[must_use]
    pub fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// Adds a query parameter that stands in no log, error, cache key or cache file.
    #[must_use]
    pub fn secret_query(mut self, name: &'static str, value: SecretString) -> Self {
        self.secret_query.push((name, value));
        self
    }

    /// Asks for another kind of reply than JSON.
    #[must_use]
    pub fn accept(mut self, accept: Accept) -> Self {
        self.accept = accept;
        self
    }

    /// Takes at most this many bytes, after decompression; 32 MiB otherwise.
    #[must_use]
    pub fn max_bytes(mut self, limit: usize) -> Self {
        self.max_bytes = limit;
        self
    }

    /// Keeps the reply. Without this nothing is kept and nothing is answered offline.
    #[must_use]
    pub fn cache(mut self, policy: CachePolicy) -> Self {
        self.cache = Some(policy);
        self
    }

    /// A 404 is an answer and not a failure.
    #[must_use]
    pub fn not_found_answers(mut self) -> Self {
        self.not_found_answers = true;
        self
    }

    /// Waits at least this long for one attempt, silence included: for servers that compute before they answer.
    #[must_use]
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// The service that is asked.
    pub fn provider(&self) -> Provider {
        self.provider
    }

    /// Whether somebody else than the settings chose the host.
    pub(super) fn is_whole(&self) -> bool {
        matches!(self.target, Target::Whole(_))
    }

    pub(super) fn method(&self) -> &'static str {
        if self.post { "POST" } else { "GET" }
    }

    /// The complete address without secrets, `None` when the provider has no address.
    pub(super) fn public_url(&self, base: Option<&Url>) -> Option<Url> {
        let mut url = match &self.target {
            Target::Whole(url) => url.clone(),
            Target::Path(path) => {
                let mut url = base?.clone();
                let joined = format!("{}{path}", url.path().trim_end_matches('/'));
                // `Url` keeps a query given with the path out of `set_path`.
                let (path, query) = joined.split_once('?').unwrap_or((&joined, ""));
                url.set_path(path);
                url.set_query((!query.is_empty()).then_some(query));
                url
            }
        };
        if !self.query.is_empty() {
            url.query_pairs_mut().extend_pairs(&self.query);
        }
        url.set_fragment(None);
        Some(url)
    }

    /// Name of the reply in the cache: everything that may change it, and no secret.
    pub(super) fn digest(&self, public_url: &Url) -> String {
        let address = without_credentials(public_url);
        let mut hash = Sha256::new();
        let headers = self.headers.iter().flat_map(|(name, value)| [*name, value.as_str()]);
        let parts = [self.method(), address.as_str(), self.accept.header()];
        for part in parts.into_iter().chain(headers) {
            hash.update(part.as_bytes());
            hash.update([0]);
        }
        if let Some((content_type, body)) = &self.body {
            hash.update(content_type.as_bytes());
            hash.update([0]);
            hash.update(body);
        }
        format!("{:x}", hash.finalize())
    }

    /// Replaces every secret of this request in `text`.
    pub(super) fn scrub(&self, text: &str) -> String {
        let mut text = text.to_owned();
        let secrets = self.secret_headers.iter().chain(&self.secret_query);
        for (_, secret) in secrets {
            let plain = secret.expose_secret();
            let encoded: String = url::form_urlencoded::byte_serialize(plain.as_bytes()).collect();
            for form in [plain, encoded.as_str()] {
                if !form.is_empty() {
                    text = text.replace(form, "***");
                }
            }
        }
        text
    }
}

/// Percent-encodes what could end or change a path.
fn encode_path(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/:@!$'()*,;=".contains(&byte) {
            out.push(char::from(byte));
        } else {
            const HEX: &[u8; 16] = b"0123456789ABCDEF";
            let digit = |nibble: u8| char::from(HEX[usize::from(nibble)]);
            out.extend(['%', digit(byte >> 4), digit(byte & 15)]);
        }
    }
    out
}

/// `url` without user and password: what may be stored.
pub(super) fn without_credentials(url: &Url) -> Url {
    let mut url = url.clone();
    // Both fail only for addresses that cannot have credentials.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url
}
