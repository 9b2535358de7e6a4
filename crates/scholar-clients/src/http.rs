//! The one way out: an HTTP client with TLS set up once, and addresses fit to print.

use std::time::Duration;

use scholar_core::{PortError, PortErrorKind};
use url::{Host, Url};

/// How long a connection may take to open. A hub that is not there must not cost more than this.
pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);

/// Hubs send a download on once or twice.
const MAX_REDIRECTS: usize = 10;

/// Client name sent with every request; hosts of models and papers ask for one.
const USER_AGENT: &str = concat!("openscholar/", env!("CARGO_PKG_VERSION"));

/// A pool of connections. Cheap to clone.
#[derive(Debug, Clone)]
pub struct HttpClient {
    direct: reqwest::Client,
    proxied: reqwest::Client,
    still_direct: reqwest::Client,
    still_proxied: reqwest::Client,
}

impl HttpClient {
    /// Sets up TLS (once per process) and the pools.
    ///
    /// # Errors
    /// `Unavailable` when the system's certificates cannot be loaded.
    pub fn new() -> Result<Self, PortError> {
        // An error means that a provider is installed already, which is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let builder =
            || reqwest::Client::builder().user_agent(USER_AGENT).connect_timeout(CONNECT_TIMEOUT);
        let following = || builder().redirect(reqwest::redirect::Policy::custom(followed));
        let still = || builder().redirect(reqwest::redirect::Policy::none());
        let failed = |source: reqwest::Error| {
            PortError::new(PortErrorKind::Unavailable, "cannot set up the HTTP client")
                .with_source(source)
                .with_hint("install the system's CA certificates")
        };
        Ok(Self {
            direct: following().no_proxy().build().map_err(failed)?,
            proxied: following().build().map_err(failed)?,
            still_direct: still().no_proxy().build().map_err(failed)?,
            still_proxied: still().build().map_err(failed)?,
        })
    }

    /// The pool for downloads from `url`, whose hosts send to other hosts for the bytes: redirects are followed, and the
    /// `Authorization` header stays behind when they lead elsewhere. A proxy of the system is never used for this machine
    /// itself.
    pub(crate) fn pool(&self, url: &Url) -> &reqwest::Client {
        if is_loopback(url) { &self.direct } else { &self.proxied }
    }

    /// As [`HttpClient::pool`], for callers that follow redirects themselves: keys travel in headers of many names,
    /// and none of them may reach another host.
    pub(crate) fn still_pool(&self, url: &Url) -> &reqwest::Client {
        if is_loopback(url) { &self.still_direct } else { &self.still_proxied }
    }
}

/// Follows at most ten redirects, none of which may give up encryption or lead from the web to machines that only this one
/// can reach.
fn followed(attempt: reqwest::redirect::Attempt<'_>) -> reqwest::redirect::Action {
    let refused = match attempt.previous().last() {
        _ if attempt.previous().len() > MAX_REDIRECTS => Some("it redirects too often"),
        Some(from) if from.scheme() == "https" && attempt.url().scheme() != "https" => {
            Some("it redirects to an address without encryption")
        }
        Some(from) if !is_local(from) && is_local(attempt.url()) => {
            Some("it redirects into the local network")
        }
        _ => None,
    };
    match refused {
        Some(why) => attempt.error(why),
        None => attempt.follow(),
    }
}

/// Whether `url` names this machine.
pub fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

/// Whether `url` names this machine, an address that only a local network has, or a name without a dot, which only a local
/// network resolves.
pub(crate) fn is_local(url: &Url) -> bool {
    let local = match url.host() {
        Some(Host::Ipv4(address)) => {
            address.is_private() || address.is_link_local() || address.is_unspecified()
        }
        Some(Host::Ipv6(address)) => {
            address.is_unique_local()
                || address.is_unicast_link_local()
                || address.is_unspecified()
                || address.to_ipv4_mapped().is_some()
        }
        Some(Host::Domain(name)) => !name.contains('.'),
        None => true,
    };
    local || is_loopback(url)
}

/// `url` without user, password, query and fragment: what errors and logs may show.
pub fn redacted(url: &Url) -> String {
    let mut shown = url.clone();
    shown.set_query(None);
    shown.set_fragment(None);
    // Both fail only for addresses that cannot have credentials.
    let _ = shown.set_username("");
    let _ = shown.set_password(None);
    shown.to_string()
}

/// The innermost reason of a failed exchange, without any address: what is around it names layers, not causes.
pub(crate) fn reason(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut innermost: &dyn std::error::Error = &error;
    while let Some(inner) = innermost.source() {
        innermost = inner;
    }
    innermost.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_printed_without_secrets() {
        let url = Url::parse("http://me:pw@host.example:8000/v1?key=s3cret#x").expect("valid");
        assert_eq!(redacted(&url), "http://host.example:8000/v1");
        for (text, expect) in [
            ("http://localhost:1/", true),
            ("http://127.0.0.9/", true),
            ("http://[::1]/", true),
            ("http://example.org/", false),
        ] {
            assert_eq!(is_loopback(&Url::parse(text).expect("valid")), expect, "{text}");
        }
    }
}
