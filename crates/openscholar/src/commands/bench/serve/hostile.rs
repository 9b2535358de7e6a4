//! Memory of the search service under clients that ask for as much as one may and do not read.

use std::time::{Duration, Instant};

use scholar_bench::performance::serve::{RequestSize, StalledClients, metric};
use scholar_clients::load::{LoadReport, get_text, post_all, stall_while};
use scholar_clients::{HttpClient, Url};
use scholar_server::ServerConfig;

use super::titles;
use crate::app::App;
use crate::commands::bench::status_bytes;
use crate::commands::datastore::serve::while_serving;
use crate::error::{CommandError, Context as _};
use crate::wiring::OpenDatastore;

/// Clients of each kind.
const CLIENTS: usize = 8;
/// Between two looks at the server.
const PAUSE: Duration = Duration::from_millis(200);
/// Queries and passages of the request that once made 604 MB.
const TOO_MUCH: RequestSize = RequestSize { queries: 256, top_k: 1_000 };

pub(super) async fn measure(
    name: &str,
    datastore: &OpenDatastore,
    app: &App,
) -> Result<StalledClients<LoadReport>, CommandError> {
    app.printer.say(&format!("{CLIENTS} clients that do not read, {CLIENTS} largest requests"));
    let config = ServerConfig::local(name, app.threads());
    let (top_k, write_timeout) = (config.max_top_k, config.write_timeout);
    let queries = config.max_reply_passages / top_k;
    let titles = titles(datastore)?;
    let body = |queries: usize, explain: bool, top_k: usize| {
        let queries: Vec<&String> = titles.iter().cycle().take(queries).collect();
        serde_json::json!({"queries": queries, "top_k": top_k, "explain": explain}).to_string()
    };
    let large: Vec<String> = (0..CLIENTS).map(|_| body(queries, false, top_k)).collect();
    let too_much = [body(TOO_MUCH.queries, true, TOO_MUCH.top_k)];
    let http = HttpClient::new()?;
    // The most so far is what the measurements before left; where the system cannot forget it, the peak is theirs too.
    let _kept = fs_err::write("/proc/self/clear_refs", "5");
    let before_bytes = status_bytes("VmRSS:");
    while_serving(datastore, config, async |address| {
        let url = |path: &str| {
            Url::parse(&format!("http://{address}{path}")).user(|| "no address".to_owned())
        };
        let search = url("/v1/search")?;
        let refused = post_all(&http, &search, &too_much, 1).await;
        let numbers = url("/metrics")?;
        let work = async {
            let load = post_all(&http, &search, &large, CLIENTS).await;
            let metrics = metrics_at_rest(&http, &numbers, write_timeout * 2).await?;
            Ok::<_, CommandError>((load, metrics))
        };
        let (load, metrics) = stall_while(&http, &search, &large, work).await?;
        Ok(StalledClients {
            clients: CLIENTS,
            size: RequestSize { queries, top_k },
            refused: TOO_MUCH,
            refused_with: refused.statuses.keys().copied().next().unwrap_or_default(),
            before_bytes,
            peak_bytes: status_bytes("VmHWM:"),
            disconnected: metric(&metrics, "openscholar_stalled_connections_total"),
            answered: load.statuses.get(&200).copied().unwrap_or_default(),
            slowest_seconds: load.percentile_ms(1.0) / 1e3,
            load,
        })
    })
    .await?
}

/// What `/metrics` says when nobody holds anything any more, or when `patience` is over.
async fn metrics_at_rest(
    http: &HttpClient,
    url: &Url,
    patience: Duration,
) -> Result<String, CommandError> {
    let until = Instant::now() + patience;
    loop {
        let metrics = get_text(http, url).await?;
        if metric(&metrics, "openscholar_held_passages") < 1.0 || Instant::now() > until {
            return Ok(metrics);
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// Requests that should have been answered or refused, and were not.
pub(super) fn errors(measured: &StalledClients<LoadReport>) -> u64 {
    measured.load.errors() + u64::from(measured.refused_with != 400)
}
