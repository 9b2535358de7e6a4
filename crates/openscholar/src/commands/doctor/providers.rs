//! Whether the services that papers come from answer, and with which keys.

use std::time::Duration;

use futures::StreamExt as _;
use futures::stream;
use scholar_clients::fetch::{Fetcher, Provider};
use scholar_core::PortErrorKind;

use super::Check;
use crate::app::App;
use crate::error::CommandError;
use crate::wiring::sources;

/// Longest wait for an answer: a person waits for all of them.
const PATIENCE: Duration = Duration::from_secs(6);

/// One check for each service that would be asked as things are set up. With `offline` nobody is asked.
pub(super) async fn checks(offline: bool, app: &App) -> Result<Vec<Check>, CommandError> {
    let fetcher = sources::fetcher(app, offline)?.within(PATIENCE);
    let asked = Provider::ALL.into_iter().filter(|provider| is_set_up(*provider, &fetcher));
    let mut checks: Vec<Check> = stream::iter(asked)
        .map(|provider| {
            let fetcher = fetcher.clone();
            async move { check(provider, offline, &fetcher).await }
        })
        .buffered(Provider::ALL.len())
        .collect()
        .await;
    checks.extend(without_key(&fetcher));
    Ok(checks)
}

/// Whether nothing is missing to ask `provider`; open-access hosts are many, and none is asked as such.
fn is_set_up(provider: Provider, fetcher: &Fetcher) -> bool {
    provider != Provider::OpenAccess && fetcher.config().missing(provider).is_none()
}

async fn check(provider: Provider, offline: bool, fetcher: &Fetcher) -> Check {
    let what = format!("source {}", provider.name());
    let key = match provider.key_setting() {
        None => String::new(),
        Some(_) if fetcher.config().is_known_to(provider) => ", with a key".to_owned(),
        Some(name) => format!(", without a key ({name} raises the limit)"),
    };
    if offline {
        return Check::new(&what, true, format!("not checked (--offline){key}"), "");
    }
    match fetcher.probe(provider).await {
        Ok(took) => Check::new(&what, true, format!("answers in {} ms{key}", took.as_millis()), ""),
        Err(error) if matches!(error.kind(), PortErrorKind::RateLimited { .. }) => {
            Check::new(&what, true, format!("answers, and is limited just now{key}"), "")
        }
        Err(error) => {
            let optional = matches!(provider, Provider::Grobid | Provider::Zotero);
            let hint = match error.kind() {
                _ if optional => "only needed if you use it",
                PortErrorKind::Rejected => "check the key: it was refused",
                _ => "check the network; answers from the datastore work without it",
            };
            Check::new(&what, false, error.to_string(), hint)
        }
    }
}

/// What is not asked because a key or an address of the person is missing.
fn without_key(fetcher: &Fetcher) -> Vec<Check> {
    let config = fetcher.config();
    let mut checks = Vec::new();
    let web = [Provider::You, Provider::Brave];
    if !web.iter().any(|provider| config.is_known_to(*provider)) {
        checks.push(Check::new(
            "source web",
            false,
            "no key of You.com or Brave",
            "optional: set YDC_API_KEY or BRAVE_API_KEY",
        ));
    }
    if config.email.is_none() {
        checks.push(Check::new("contact address", false, "none", "optional: set OPENSCHOLAR_EMAIL; Unpaywall answers only with one, Crossref and OpenAlex are faster"));
    }
    checks
}
