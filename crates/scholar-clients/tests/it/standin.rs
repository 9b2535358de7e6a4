//! Fetchers that ask the stand-in, in virtual time: the clock stands while bytes are under way and jumps when all wait.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use scholar_clients::fetch::{
    Attempt, AttemptOutcome, Broken, CacheConfig, Clock, FetchConfig, Incoming, Outgoing, Transport,
};
use scholar_clients::{Fetcher, HttpClient};
use scholar_testing::StandIn;

/// A key that must not appear anywhere but in requests to its owner.
pub(crate) const KEY: &str = "K3Y-that+nobody/may=see";
/// As [`KEY`].
pub(crate) const EMAIL: &str = "reader@inbox.example";

/// A time of day that tests set.
#[derive(Clone, Default)]
pub(crate) struct Day(Arc<AtomicI64>);

impl Day {
    pub(crate) fn pass(&self, time: Duration) {
        self.0.fetch_add(i64::try_from(time.as_secs()).expect("short"), Ordering::SeqCst);
    }

    pub(crate) fn clock(&self) -> Clock {
        let day = self.clone();
        Arc::new(move || {
            jiff::Timestamp::from_second(1_000_000 + day.0.load(Ordering::SeqCst))
                .expect("in range")
        })
    }
}

/// The real client; virtual time stands still while it works.
struct Still(HttpClient);

#[async_trait]
impl Transport for Still {
    async fn send(&self, request: Outgoing) -> Result<Incoming, Broken> {
        // The runtime moves its paused clock only when nothing at all is going on.
        let (done, waiting) = std::sync::mpsc::channel::<()>();
        let busy = tokio::task::spawn_blocking(move || waiting.recv());
        let result = self.0.send(request).await;
        drop(done);
        let _ended = busy.await;
        result
    }
}

/// Settings that lead to `server`, with no key.
pub(crate) fn config(server: &StandIn, day: &Day) -> FetchConfig {
    let mut config = FetchConfig::interactive(day.clock());
    let settings = server.settings();
    config.read_settings(&|name| settings.get(name).cloned()).expect("addresses are addresses");
    config
}

/// As [`config`], with [`KEY`] and [`EMAIL`] for everybody who takes one, and a cache in `folder`.
pub(crate) fn known_config(server: &StandIn, day: &Day, folder: &std::path::Path) -> FetchConfig {
    let mut config = config(server, day);
    config
        .read_settings(&|name| match name {
            "OPENSCHOLAR_EMAIL" => Some(EMAIL.to_owned()),
            _ => name.ends_with("_API_KEY").then(|| KEY.to_owned()),
        })
        .expect("keys are keys");
    config.cache = Some(CacheConfig::new(folder));
    config
}

/// A fetcher in virtual time.
pub(crate) fn fetcher(config: FetchConfig) -> Fetcher {
    let http = HttpClient::new().expect("an HTTP client");
    Fetcher::with_transport(Arc::new(Still(http)), config)
}

/// When requests were sent, in milliseconds since the first.
pub(crate) fn moments(fetcher: &Fetcher) -> Vec<u128> {
    let journal = fetcher.journal();
    let sent = |attempt: &&Attempt| {
        matches!(attempt.outcome, AttemptOutcome::Status(_) | AttemptOutcome::Failed(_))
    };
    let sent: Vec<Duration> = journal.iter().filter(sent).map(|attempt| attempt.at).collect();
    sent.iter().map(|at| (*at - sent[0]).as_millis()).collect()
}
