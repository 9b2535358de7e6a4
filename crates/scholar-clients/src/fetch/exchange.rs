//! Attempts, redirects and checks between a request and its answer.

use std::time::Duration;

use scholar_core::PortError;
use secrecy::ExposeSecret as _;
use serde::de::IgnoredAny;
use tokio::time::Instant;
use url::Url;

use super::cache::Head;
use super::failure::{Failures, quote};
use super::governor::{Lane, Outcome};
use super::journal::{Attempt, AttemptOutcome};
use super::request::{Accept, FetchRequest, without_credentials};
use super::transport::{Broken, Incoming, Outgoing};
use super::{Fetcher, host_of};
use crate::http::{is_local, is_loopback};
use crate::retry::uniform;

/// Resolvers of DOIs need three or four.
const MAX_REDIRECTS: usize = 8;

/// One request on its way.
pub(super) struct Exchange<'a> {
    pub(super) fetcher: &'a Fetcher,
    pub(super) request: &'a FetchRequest,
    pub(super) url: &'a Url,
    pub(super) failures: &'a Failures<'a>,
}

/// What came back in the end: a success, 304, or a 404 that is an answer.
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) url: String,
    pub(super) body: Vec<u8>,
    headers: Vec<(String, String)>,
}

/// An attempt without an answer.
struct Miss {
    error: PortError,
    /// Whether a request was sent.
    was_asked: bool,
}

impl From<PortError> for Miss {
    fn from(error: PortError) -> Self {
        Self { error, was_asked: true }
    }
}

impl Answer {
    pub(super) fn header(&self, name: &str) -> Option<String> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone())
    }
}

impl Exchange<'_> {
    /// Asks until there is an answer, or until asking again is useless. `known` is what the cache has.
    pub(super) async fn answer(&self, known: Option<&Head>) -> Result<Answer, PortError> {
        let config = self.fetcher.config();
        let own = Instant::now() + config.retry.deadline.max(self.request.patience);
        let deadline = self.fetcher.deadline.map_or(own, |given| given.min(own));
        let mut failed = 0;
        let mut last: Option<PortError> = None;
        loop {
            let Miss { error, was_asked } = match self.follow(known, deadline).await {
                Ok(answer) => return Ok(answer),
                Err(miss) => miss,
            };
            // That there is no time to ask again is not why there is no answer.
            let error = match last {
                Some(last) if !was_asked => return Err(last),
                _ => error,
            };
            failed += 1;
            let remaining = deadline.saturating_duration_since(Instant::now());
            let Some(pause) = config.retry.pause(failed, &error, remaining, uniform()) else {
                return Err(error);
            };
            last = Some(error);
            tokio::time::sleep(pause).await;
        }
    }

    /// One attempt with its redirects.
    async fn follow(&self, known: Option<&Head>, deadline: Instant) -> Result<Answer, Miss> {
        let mut url = self.url.clone();
        let mut seen = vec![url.clone()];
        loop {
            let reply = self.exchange(&url, known, deadline).await?;
            let status = reply.status;
            let location = reply.header("location");
            if let (301 | 302 | 303 | 307 | 308, Some(location)) = (status, location) {
                let next = self.redirected(&url, location)?;
                if seen.contains(&next) {
                    return Err(self.failures.corrupt("its redirects go round in a circle").into());
                }
                if seen.len() > MAX_REDIRECTS {
                    let what = format!("it redirects more than {MAX_REDIRECTS} times");
                    return Err(self.failures.corrupt(&what).into());
                }
                seen.push(next.clone());
                url = next;
                continue;
            }
            return Ok(self.checked(reply, &url, known.is_some())?);
        }
    }

    /// Where a redirect leads, if it may lead there.
    fn redirected(&self, from: &Url, location: &str) -> Result<Url, PortError> {
        let wrong = |why: &str| self.failures.corrupt(&format!("it redirects {why}"));
        let mut next = from.join(location).map_err(|_| wrong("to an invalid address"))?;
        next.set_fragment(None);
        if !matches!(next.scheme(), "http" | "https") {
            return Err(wrong("away from the web"));
        }
        // What is on the web must not make this program ask machines that only it can reach.
        if !is_loopback(from) && is_local(&next) {
            return Err(wrong("into the local network"));
        }
        if self.request.post {
            return Err(wrong("a request that carries data"));
        }
        Ok(next)
    }

    /// One request to one address: waits for its turn, sends, notes.
    async fn exchange(
        &self,
        url: &Url,
        known: Option<&Head>,
        deadline: Instant,
    ) -> Result<Incoming, Miss> {
        let Fetcher { shared, .. } = self.fetcher;
        let (config, provider) = (&shared.config, self.request.provider);
        let lane =
            shared.governor.lane(provider, &host_of(url), config.pace(provider), config.breaker);
        let asked = Instant::now();
        let leave = lane.enter(deadline).await.map_err(|refusal| {
            let error = self.failures.refused(refusal);
            self.note(url, asked, asked, AttemptOutcome::NotSent(error.to_string()));
            Miss { error, was_asked: false }
        })?;
        let sent = Instant::now();
        let attempt = config.attempt_timeout.max(self.request.patience);
        let limit = attempt.min(deadline.saturating_duration_since(sent));
        let sending = shared.transport.send(self.outgoing(url, known));
        let result = tokio::time::timeout(limit, sending).await;
        let (outcome, result) = match result {
            Ok(Ok(reply)) => (AttemptOutcome::Status(reply.status), self.judge(reply, &lane)),
            Ok(Err(broken)) => {
                let error = self.failures.broken(&broken);
                let counts = !matches!(broken, Broken::TooLarge | Broken::Unsendable(_));
                (AttemptOutcome::Failed(error.to_string()), Err((error, counts)))
            }
            Err(_) => {
                let error = if limit < attempt {
                    self.failures.past_deadline()
                } else {
                    self.failures.too_slow(limit)
                };
                (AttemptOutcome::Failed(error.to_string()), Err((error, true)))
            }
        };
        self.note(url, asked, sent, outcome);
        let failed = matches!(result, Err((_, true)));
        leave.end(if failed { Outcome::Failed } else { Outcome::Answered });
        result.map_err(|(error, _)| error.into())
    }

    /// Whether the status is a failure of the host, and what the host wishes.
    fn judge(&self, reply: Incoming, lane: &Lane) -> Result<Incoming, (PortError, bool)> {
        let answers = match reply.status {
            200..=399 => true,
            404 => self.request.not_found_answers,
            _ => false,
        };
        if answers {
            return Ok(reply);
        }
        let error = self.failures.status(&reply);
        if let scholar_core::PortErrorKind::RateLimited { retry_after: Some(wish) } = error.kind() {
            lane.hold(wish);
        }
        let counts = error.is_retryable();
        Err((error, counts))
    }

    /// The request as it goes out. Secrets go to the host they were meant for and to no other.
    fn outgoing(&self, url: &Url, known: Option<&Head>) -> Outgoing {
        let request = self.request;
        let at_home = url.origin() == self.url.origin();
        let mut url = url.clone();
        let mut headers: Vec<(String, String)> =
            vec![("accept".to_owned(), request.accept.header().to_owned())];
        let public = request.headers.iter();
        headers.extend(public.map(|(name, value)| ((*name).to_owned(), value.clone())));
        if let Some((content_type, _)) = &request.body {
            headers.push(("content-type".to_owned(), content_type.clone()));
        }
        if at_home {
            for (name, secret) in &request.secret_headers {
                headers.push(((*name).to_owned(), secret.expose_secret().to_owned()));
            }
            for (name, secret) in &request.secret_query {
                url.query_pairs_mut().append_pair(name, secret.expose_secret());
            }
            let conditions = known.map(|head| {
                [("if-none-match", &head.etag), ("if-modified-since", &head.last_modified)]
            });
            for (name, value) in conditions.into_iter().flatten() {
                headers.extend(value.clone().map(|value| (name.to_owned(), value)));
            }
        }
        let config = self.fetcher.config();
        Outgoing {
            method: request.method(),
            url,
            headers,
            body: request.body.as_ref().map(|(_, bytes)| bytes.clone()),
            max_bytes: request.max_bytes,
            idle_timeout: config.idle_timeout.max(request.patience),
        }
    }

    /// The reply as an answer, if it is of the accepted kind.
    fn checked(&self, reply: Incoming, url: &Url, known: bool) -> Result<Answer, PortError> {
        match reply.status {
            200..=299 => self.check_kind(&reply)?,
            404 => {}
            304 if known => {}
            status => {
                let what = format!("status {status} without an address to go to");
                return Err(self.failures.corrupt(&what));
            }
        }
        let Incoming { status, headers, body } = reply;
        Ok(Answer {
            status,
            url: self.request.scrub(without_credentials(url).as_str()),
            body,
            headers,
        })
    }

    fn check_kind(&self, reply: &Incoming) -> Result<(), PortError> {
        let kind = reply.header("content-type").unwrap_or_default().to_ascii_lowercase();
        let start = reply.body.trim_ascii_start();
        let head = String::from_utf8_lossy(start.get(..64).unwrap_or(start)).to_lowercase();
        let html = head.starts_with("<!doctype html")
            || head.starts_with("<html")
            || (kind.starts_with("text/html") && head.starts_with('<'));
        let is_html = |wanted: &str| {
            let page = String::from_utf8_lossy(start.get(..4096).unwrap_or(start));
            self.failures.page(wanted, &page)
        };
        match self.request.accept {
            Accept::Json if html => Err(is_html("JSON")),
            Accept::Json => match serde_json::from_slice::<IgnoredAny>(&reply.body) {
                Ok(_) => Ok(()),
                Err(error) => {
                    let said = quote(&head);
                    let what = format!("its reply is not JSON: {error}, beginning {said:?}");
                    Err(self.failures.corrupt(&what))
                }
            },
            Accept::Xml if html => Err(is_html("XML")),
            Accept::Pdf if html => Err(is_html("a PDF")),
            Accept::Pdf if !start.starts_with(b"%PDF") => {
                let what = format!("its reply is not a PDF but begins {:?}", quote(&head));
                Err(self.failures.corrupt(&what))
            }
            Accept::Html | Accept::Bytes | Accept::Xml | Accept::Pdf => Ok(()),
        }
    }

    /// Notes that nobody had to be asked.
    pub(super) fn note_cached(&self, age: Duration) {
        let now = Instant::now();
        self.note(self.url, now, now, AttemptOutcome::Cached(age));
    }

    fn note(&self, url: &Url, asked: Instant, sent: Instant, outcome: AttemptOutcome) {
        let shared = &self.fetcher.shared;
        let path = match url.query() {
            Some(query) => format!("{}?{query}", url.path()),
            None => url.path().to_owned(),
        };
        shared.journal.add(Attempt {
            provider: self.request.provider,
            host: host_of(url),
            method: self.request.method(),
            path: self.request.scrub(&path),
            at: sent.saturating_duration_since(shared.began),
            waited: sent.saturating_duration_since(asked),
            outcome,
        });
    }
}
