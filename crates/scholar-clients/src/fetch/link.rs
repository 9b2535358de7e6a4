//! Does a link lead anywhere? One request, no cache, no second attempt; whoever asks decides what the answer means.

use std::time::Duration;

use tokio::time::Instant;
use url::Url;

use super::governor::{Outcome, Refusal};
use super::journal::{Attempt, AttemptOutcome};
use super::provider::Provider;
use super::transport::{Broken, Incoming, Outgoing};
use super::{Fetcher, host_of};
use crate::http::{is_local, is_loopback};

/// Longest wait for a host's turn.
const TURN: Duration = Duration::from_secs(600);
/// Pages are read up to this; no page that says it is not there is as large.
const MOST_BYTES: usize = 4 << 20;
/// Publishers and resolvers send readers on a few times.
const MAX_REDIRECTS: usize = 10;

/// How a link is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// `HEAD`.
    Head,
    /// `GET` of the first byte.
    FirstByte,
    /// `GET`.
    Page,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Looked {
    /// A reply, after redirects.
    Answered {
        /// Its status.
        status: u16,
        /// Its body, where it is text and was asked for.
        page: String,
    },
    /// No reply in time.
    TimedOut,
    /// No reply, for this reason, which names no address.
    Failed(String),
}

impl Fetcher {
    /// Looks at `address` as a reader would, redirects followed. Each host is asked at its pace; machines of the local network only
    /// where a setting names them.
    pub async fn look(&self, address: &str, how: Look) -> Looked {
        let Some(mut url) = web_address(address) else {
            return Looked::Failed("it is not a web address".to_owned());
        };
        for _ in 0..=MAX_REDIRECTS {
            let reply = match self.once(&url, how).await {
                Ok(reply) => reply,
                Err(looked) => return looked,
            };
            match (reply.status, reply.header("location")) {
                (301 | 302 | 303 | 307 | 308, Some(location)) => {
                    let next = url.join(location).ok().filter(web);
                    let Some(next) = next.filter(|next| is_loopback(&url) || !is_local(next))
                    else {
                        return Looked::Failed("it redirects away from the web".to_owned());
                    };
                    url = next;
                }
                _ => return answered(&reply, how),
            }
        }
        Looked::Failed("it redirects too often".to_owned())
    }

    /// What the resolver says of `doi`, where it would send a reader not being asked.
    pub async fn resolve_doi(&self, doi: &str) -> Looked {
        let base = self.config().base_url(Provider::Doi);
        let url = base.and_then(|mut url| {
            url.path_segments_mut().ok()?.pop_if_empty().extend(doi.split('/'));
            Some(url)
        });
        let Some(url) = url else { return Looked::Failed("there is no resolver".to_owned()) };
        match self.once(&url, Look::Head).await {
            Ok(reply) => answered(&reply, Look::Head),
            Err(looked) => looked,
        }
    }

    /// One request when it is the host's turn.
    async fn once(&self, url: &Url, how: Look) -> Result<Incoming, Looked> {
        let shared = &self.shared;
        let failed = |why: &str| Looked::Failed(why.to_owned());
        if shared.config.offline {
            return Err(failed("nobody is asked offline"));
        }
        if is_local(url) && !self.is_configured(url) {
            return Err(failed("it leads into the local network"));
        }
        let provider = Provider::OpenAccess;
        let (pace, breaker) = (shared.config.pace(provider), shared.config.breaker);
        let lane = shared.governor.lane(provider, &host_of(url), pace, breaker);
        let asked = Instant::now();
        let leave = lane.enter(asked + TURN).await.map_err(|refusal| {
            failed(match refusal {
                Refusal::TooLate(_) => "its host's turn does not come",
                Refusal::LeftAlone { .. } => "its host keeps failing and is left alone",
            })
        })?;
        let sent = Instant::now();
        let sending = shared.transport.send(outgoing(url, how, shared.config.idle_timeout));
        let result = tokio::time::timeout(shared.config.attempt_timeout, sending).await;
        let (outcome, reply) = match result {
            Ok(Ok(reply)) => (AttemptOutcome::Status(reply.status), Ok(reply)),
            Ok(Err(Broken::TooLarge)) => {
                let reply = Incoming { status: 200, headers: Vec::new(), body: Vec::new() };
                (AttemptOutcome::Status(reply.status), Ok(reply))
            }
            Ok(Err(Broken::Silent(_))) | Err(_) => {
                (AttemptOutcome::Failed("no reply in time".to_owned()), Err(Looked::TimedOut))
            }
            Ok(Err(
                Broken::Unreachable(why)
                | Broken::BrokeOff(why)
                | Broken::Garbled(why)
                | Broken::Unsendable(why),
            )) => (AttemptOutcome::Failed(why.clone()), Err(Looked::Failed(why))),
        };
        let ended = if reply.is_ok() { Outcome::Answered } else { Outcome::Failed };
        leave.end(ended);
        shared.journal.add(Attempt {
            provider,
            host: host_of(url),
            method: method(how),
            path: url.path().to_owned(),
            at: sent.saturating_duration_since(shared.began),
            waited: sent.saturating_duration_since(asked),
            outcome,
        });
        reply
    }
}

fn method(how: Look) -> &'static str {
    match how {
        Look::Head => "HEAD",
        Look::FirstByte | Look::Page => "GET",
    }
}

fn web_address(text: &str) -> Option<Url> {
    let mut url = Url::parse(text).ok().filter(web)?;
    url.set_fragment(None);
    Some(url)
}

fn web(url: &Url) -> bool {
    matches!(url.scheme(), "http" | "https") && url.has_host()
}

fn outgoing(url: &Url, how: Look, idle_timeout: Duration) -> Outgoing {
    let mut headers = vec![("accept".to_owned(), "text/html, */*".to_owned())];
    if how == Look::FirstByte {
        headers.push(("range".to_owned(), "bytes=0-0".to_owned()));
    }
    Outgoing {
        method: method(how),
        url: url.clone(),
        headers,
        body: None,
        max_bytes: MOST_BYTES,
        idle_timeout,
    }
}

fn answered(reply: &Incoming, how: Look) -> Looked {
    let kind = reply.header("content-type").unwrap_or_default();
    let is_text = kind.starts_with("text/") || kind.contains("html");
    let page = match how {
        Look::Page if is_text => String::from_utf8_lossy(&reply.body).into_owned(),
        Look::Head | Look::FirstByte | Look::Page => String::new(),
    };
    Looked::Answered { status: reply.status, page }
}
