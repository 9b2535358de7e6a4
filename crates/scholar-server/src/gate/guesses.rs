//! Who tries tokens that are none is made to wait, so that nobody can try many.
//!
//! Every source has a number of wrong tries, of which one comes back every few seconds. One that has used them up is refused
//! unread, right token or not: were right ones let through, refusals would tell guesses apart as well. A source is an address,
//! or the network that an IPv6 address is in; behind a reverse proxy it is the address which that saw.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;
use std::time::Duration;

use axum::extract::Request;
use axum::http::{HeaderMap, Method, header};
use parking_lot::Mutex;
use tokio::time::Instant;

use crate::connection::Link;
use crate::error::{ApiError, ErrorCode};

/// Wrong tries at once. A person who looks for the right token needs fewer.
const TRIES: u32 = 20;
/// Until one more is allowed.
const PAUSE: Duration = Duration::from_secs(3);
/// Sources that are remembered; who has so many gets no more memory.
const MOST_SOURCES: usize = 4_096;

/// Wrong tries by source.
#[derive(Debug, Default)]
pub(crate) struct Guesses(Mutex<BTreeMap<IpAddr, Tries>>);

#[derive(Debug, Clone, Copy)]
struct Tries {
    used: u32,
    /// When `used` was right.
    at: Instant,
}

impl Tries {
    fn at(self, now: Instant) -> Self {
        let pauses = now.saturating_duration_since(self.at).as_secs() / PAUSE.as_secs();
        let pauses = u32::try_from(pauses).unwrap_or(u32::MAX);
        Self { used: self.used.saturating_sub(pauses), at: self.at + PAUSE.saturating_mul(pauses) }
    }
}

impl Guesses {
    /// Refuses a source that has no try left.
    pub(crate) fn check(&self, source: IpAddr, now: Instant) -> Result<(), ApiError> {
        let sources = self.0.lock();
        let Some(tries) = sources.get(&source).map(|tries| tries.at(now)) else { return Ok(()) };
        if tries.used < TRIES {
            return Ok(());
        }
        let wait = PAUSE.saturating_sub(now.saturating_duration_since(tries.at));
        let message = "too many wrong tokens came from this address";
        Err(ApiError {
            retry_after_s: Some(wait.as_secs().max(1)),
            ..ApiError::new(ErrorCode::RateLimited, message)
        })
    }

    /// Counts a wrong token.
    pub(crate) fn wrong(&self, source: IpAddr, now: Instant) {
        let mut sources = self.0.lock();
        if sources.len() >= MOST_SOURCES && !sources.contains_key(&source) {
            sources.retain(|_, tries| tries.at(now).used > 0);
            // The one with the fewest tries has least to be held against it.
            if sources.len() >= MOST_SOURCES
                && let Some(least) =
                    sources.iter().min_by_key(|(_, tries)| tries.at(now).used).map(|(ip, _)| *ip)
            {
                sources.remove(&least);
            }
        }
        let tries = sources.entry(source).or_insert(Tries { used: 0, at: now });
        *tries = tries.at(now);
        if tries.used == 0 {
            tries.at = now;
        }
        tries.used = (tries.used + 1).min(TRIES);
    }
}

/// Whether a request brings a token to be looked at.
pub(crate) fn brings_token(request: &Request, is_sign_in: bool) -> bool {
    request.headers().contains_key(header::AUTHORIZATION)
        || is_sign_in && request.method() == Method::POST
}

/// Where a request comes from.
pub(crate) fn source_of(request: &Request, behind_proxy: bool) -> IpAddr {
    let peer = request.extensions().get::<Arc<Link>>().and_then(|link| link.peer);
    let forwarded = behind_proxy.then(|| forwarded_for(request.headers())).flatten();
    // A stream that is no socket has no address.
    network(forwarded.or(peer).unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED)))
}

/// The address that the nearest proxy saw: what stands before it may be anybody's invention.
fn forwarded_for(headers: &HeaderMap) -> Option<IpAddr> {
    let line = headers.get_all("x-forwarded-for").iter().next_back()?.to_str().ok()?;
    line.rsplit(',').next()?.trim().parse().ok()
}

/// Who has one IPv6 address has the other 2^64 of its network as well.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & (u128::MAX << 64)))
        }
        address @ IpAddr::V4(_) => address,
    }
}

#[cfg(test)]
mod tests {
    use axum::body::Body;

    use super::*;

    #[test]
    fn a_source_without_tries_waits_and_others_do_not() {
        let guesses = Guesses::default();
        let (one, other) = (IpAddr::from([192, 0, 2, 1]), IpAddr::from([192, 0, 2, 2]));
        let now = Instant::now();
        for _ in 0..TRIES {
            assert_eq!(guesses.check(one, now), Ok(()));
            guesses.wrong(one, now);
        }
        let refused = guesses.check(one, now + Duration::from_secs(1)).expect_err("no try left");
        assert_eq!((refused.code, refused.retry_after_s), (ErrorCode::RateLimited, Some(2)));
        assert_eq!(guesses.check(other, now), Ok(()));
        // One comes back, and is used up.
        assert_eq!(guesses.check(one, now + PAUSE), Ok(()));
        guesses.wrong(one, now + PAUSE);
        assert!(guesses.check(one, now + PAUSE).is_err());
        assert_eq!(guesses.check(one, now + PAUSE * 2), Ok(()));
    }

    #[test]
    fn sources_without_end_take_no_memory_without_end() {
        let guesses = Guesses::default();
        let now = Instant::now();
        let guesser = IpAddr::from([192, 0, 2, 1]);
        for _ in 0..TRIES {
            guesses.wrong(guesser, now);
        }
        for n in 0..3 * u32::try_from(MOST_SOURCES).expect("few") {
            guesses.wrong(IpAddr::V4(Ipv4Addr::from_bits(0x0a00_0000 + n)), now);
        }
        assert_eq!(guesses.0.lock().len(), MOST_SOURCES);
        assert!(guesses.check(guesser, now).is_err(), "who tried most is not forgotten");
    }

    #[test]
    fn behind_a_proxy_the_address_that_it_saw_counts_and_no_other() {
        let request = |lines: &[&str]| {
            let mut request = Request::new(Body::empty());
            for line in lines {
                request.headers_mut().append("x-forwarded-for", line.parse().expect("a value"));
            }
            let peer = Some(IpAddr::from([127, 0, 0, 1]));
            request.extensions_mut().insert(Arc::new(Link { peer, ..Link::default() }));
            request
        };
        let local = IpAddr::from([127, 0, 0, 1]);
        let invented = request(&["198.51.100.1", "203.0.113.9, 192.0.2.7"]);
        assert_eq!(source_of(&invented, true), IpAddr::from([192, 0, 2, 7]));
        assert_eq!(source_of(&invented, false), local, "without a proxy anybody could say so");
        assert_eq!(source_of(&request(&["nonsense"]), true), local);
        let [one, other] =
            ["2001:db8::1", "2001:db8::2"].map(|ip| source_of(&request(&[ip]), true));
        assert_eq!(one, other);
    }
}
