//! Failures in the words of people: who, which address, why, and what to do.

use std::time::Duration;

use scholar_core::{PortError, PortErrorKind};
use url::Url;

use super::config::FetchConfig;
use super::governor::Refusal;
use super::provider::{EMAIL_SETTING, Provider};
use super::request::FetchRequest;
use super::transport::{Broken, Incoming};
use crate::http::redacted;
use crate::retry;

/// What helps when time ran out.
const MORE_TIME: &str =
    "ask fewer sources, or raise deadline_seconds below [sources] in the config file";

/// Longest quotation from a reply.
const QUOTED_CHARS: usize = 200;

/// Makes the errors of one request.
pub(super) struct Failures<'a> {
    pub(super) config: &'a FetchConfig,
    pub(super) request: &'a FetchRequest,
    pub(super) url: &'a Url,
}

impl Failures<'_> {
    fn provider(&self) -> Provider {
        self.request.provider
    }

    fn name(&self) -> &'static str {
        self.provider().name()
    }

    fn error(&self, kind: PortErrorKind, what: &str) -> PortError {
        let message = format!("{}: {what} ({})", self.name(), redacted(self.url));
        PortError::new(kind, self.request.scrub(&message))
    }

    /// What helps against limits, if there is something.
    fn limit_hint(&self) -> String {
        let facts = self.provider().facts();
        match facts.key {
            Some((setting, _)) if !self.config.keys.contains_key(&self.provider()) => {
                format!("set {setting} for a higher limit, or try again later")
            }
            None if facts.contact.is_some() && self.config.email.is_none() => {
                format!("set {EMAIL_SETTING} for a higher limit, or try again later")
            }
            _ => "try again later".to_owned(),
        }
    }

    pub(super) fn no_address(provider: Provider) -> PortError {
        let message = format!("{}: no address is set", provider.name());
        PortError::new(PortErrorKind::Unavailable, message)
            .with_hint(format!("set {}", provider.base_url_setting()))
    }

    pub(super) fn no_key(provider: Provider, setting: &str) -> PortError {
        let message = format!("{}: answers only with a key, and none is set", provider.name());
        PortError::new(PortErrorKind::Rejected, message).with_hint(format!("set {setting}"))
    }

    pub(super) fn no_email(provider: Provider) -> PortError {
        let message = format!("{}: requires an e-mail address", provider.name());
        PortError::new(PortErrorKind::Rejected, message)
            .with_hint(format!("set {EMAIL_SETTING} to your address"))
    }

    /// Addresses come from replies of services, and must not make this program ask what only it can reach.
    pub(super) fn private(&self) -> PortError {
        self.error(PortErrorKind::Rejected, "addresses in the local network are refused")
    }

    pub(super) fn offline(&self) -> PortError {
        self.error(PortErrorKind::Unavailable, "not stored, and --offline is on")
            .with_hint("leave out --offline once to ask and store the reply")
    }

    pub(super) fn refused(&self, refusal: Refusal) -> PortError {
        match refusal {
            Refusal::TooLate(wait) if wait.is_zero() => self
                .error(PortErrorKind::Unavailable, "its turn did not come before the deadline")
                .with_hint(MORE_TIME),
            Refusal::TooLate(wait) => {
                let wait_text = seconds(wait);
                let what =
                    format!("its pace allows the next request in {wait_text}, after the deadline");
                let kind = PortErrorKind::RateLimited { retry_after: Some(wait) };
                self.error(kind, &what).with_hint(self.limit_hint())
            }
            Refusal::LeftAlone { left, failures } => {
                let wait = seconds(left);
                let what = format!("failed {failures} times in a row and is left alone for {wait}");
                self.error(PortErrorKind::Unavailable, &what).with_hint(self.limit_hint())
            }
        }
    }

    pub(super) fn broken(&self, broken: &Broken) -> PortError {
        match broken {
            Broken::Unreachable(reason) => self
                .error(PortErrorKind::Unavailable, &format!("cannot be reached: {reason}"))
                .with_hint("check the connection, or use --offline to answer from stored data"),
            Broken::Silent(silence) => {
                let what = format!("sent nothing for {}", seconds(*silence));
                self.error(PortErrorKind::Transient, &what)
            }
            Broken::BrokeOff(reason) => {
                self.error(PortErrorKind::Transient, &format!("the connection broke off: {reason}"))
            }
            Broken::Garbled(reason) => self.error(
                PortErrorKind::Transient,
                &format!("the reply ends early or cannot be decompressed: {reason}"),
            ),
            Broken::TooLarge => {
                let limit = self.request.max_bytes >> 10;
                let what = format!("the reply is larger than {limit} KiB");
                self.error(PortErrorKind::Rejected, &what)
            }
            Broken::Unsendable(reason) => {
                self.error(PortErrorKind::Rejected, &format!("cannot be searched: {reason}"))
            }
        }
    }

    pub(super) fn too_slow(&self, limit: Duration) -> PortError {
        let what = format!("did not finish its reply within {}", seconds(limit));
        self.error(PortErrorKind::Transient, &what)
    }

    pub(super) fn past_deadline(&self) -> PortError {
        self.error(PortErrorKind::Unavailable, "the deadline passed before it answered")
            .with_hint(MORE_TIME)
    }

    pub(super) fn corrupt(&self, what: &str) -> PortError {
        self.error(PortErrorKind::Corrupt, what)
            .with_hint("try again later; if the error persists, please report this message")
    }

    /// A page for people where something else was asked for.
    pub(super) fn page(&self, wanted: &str, page: &str) -> PortError {
        let what = format!("an HTML page came instead of {wanted}: {:?}", quote(page));
        self.error(PortErrorKind::Corrupt, &what).with_hint(
            "a login page, proxy or firewall may be in the way: open the address in a browser",
        )
    }

    /// A reply whose status is no success.
    pub(super) fn status(&self, reply: &Incoming) -> PortError {
        let status = reply.status;
        let wish = reply
            .header("retry-after")
            .and_then(|value| retry::retry_after(value, reply.header("date")));
        let said = quote_reply(reply);
        let what = if said.is_empty() {
            format!("status {status}")
        } else {
            format!("status {status}, saying {said:?}")
        };
        match status {
            429 => self
                .error(PortErrorKind::RateLimited { retry_after: wish }, &what)
                .with_hint(self.limit_hint()),
            503 if wish.is_some() => self
                .error(PortErrorKind::RateLimited { retry_after: wish }, &what)
                .with_hint(self.limit_hint()),
            408 | 425 | 500..=599 => {
                self.error(PortErrorKind::Transient, &what).with_hint("try again later")
            }
            401 | 403 => {
                let error = self.error(PortErrorKind::Rejected, &what);
                match self.provider().key_setting() {
                    Some(setting) if self.config.keys.contains_key(&self.provider()) => {
                        error.with_hint(format!("check {setting}: the key may be wrong or ended"))
                    }
                    Some(setting) => error.with_hint(format!("set {setting}")),
                    None => error.with_hint("it may refuse this network: try another, or later"),
                }
            }
            404 if self.config.base_urls.contains_key(&self.provider()) => {
                let setting = self.provider().base_url_setting();
                self.error(PortErrorKind::Rejected, &what).with_hint(format!("check {setting}"))
            }
            _ => self.error(PortErrorKind::Rejected, &what),
        }
    }
}

/// The reply's own words: its `error` or `message` where it is JSON, else its beginning.
fn quote_reply(reply: &Incoming) -> String {
    let text = String::from_utf8_lossy(&reply.body);
    let json: Option<serde_json::Value> = serde_json::from_slice(&reply.body).ok();
    let said = json.as_ref().and_then(|json| {
        ["error", "message", "detail"].iter().find_map(|field| {
            let value = json.get(field)?;
            value.as_str().or_else(|| value.get("message")?.as_str()).map(str::to_owned)
        })
    });
    quote(&said.unwrap_or_else(|| text.into_owned()))
}

/// The beginning of `text`, single-spaced.
pub(crate) fn quote(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().take(QUOTED_CHARS).collect();
    let spaced = words.join(" ");
    match spaced.char_indices().nth(QUOTED_CHARS) {
        Some((at, _)) => format!("{}…", &spaced[..at]),
        None => spaced,
    }
}

fn seconds(duration: Duration) -> String {
    if duration < Duration::from_secs(10) {
        format!("{:.1} s", duration.as_secs_f64())
    } else {
        format!("{:.0} s", duration.as_secs_f64())
    }
}
