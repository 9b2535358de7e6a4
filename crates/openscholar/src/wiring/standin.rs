//! How the stand-in for the services that papers come from is asked, by the program's tests of itself.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use scholar_clients::fetch::{FetchConfig, Pace, Provider};
use scholar_core::PortError;
use scholar_testing::StandIn;

/// A configuration whose every address is the stand-in's, with these keys, which open nothing else, as fast as it goes.
pub(crate) fn config(server: &StandIn, keys: &[&str]) -> Result<FetchConfig, PortError> {
    let mut config = FetchConfig::interactive(Arc::new(jiff::Timestamp::now));
    let mut settings: BTreeMap<String, String> = server.settings();
    for name in keys {
        settings.insert((*name).to_owned(), "self-test".to_owned());
    }
    settings.insert("OPENSCHOLAR_EMAIL".to_owned(), "self-test@localhost".to_owned());
    config.read_settings(&|name| settings.get(name).cloned())?;
    let pace = Pace { interval: Duration::ZERO, burst: 1, concurrency: 4 };
    config.paces = Provider::ALL.into_iter().map(|provider| (provider, pace)).collect();
    config.retry.base = Duration::from_millis(1);
    config.idle_timeout = Duration::from_secs(2);
    Ok(config)
}
