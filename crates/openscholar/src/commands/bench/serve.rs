//! Throughput of the search service, as a ratio to the same service answering one query after the other, and its
//! memory under clients that mean no good; and the server of pages under load ([`site`]).

mod hostile;
mod site;

use std::process::ExitCode;

use scholar_bench::performance::serve::{ServeReport, ServerTimings, metric};
use scholar_clients::load::{LoadReport, get_text, post_all};
use scholar_clients::{HttpClient, Url};
use scholar_server::ServerConfig;

use crate::app::App;
use crate::args::BenchServeArgs;
use crate::commands::datastore::serve::while_serving;
use crate::error::{CommandError, Context as _};
use crate::wiring::OpenDatastore;
use site::SiteLoad;

/// Passages asked for, as the original's default client does.
const PASSAGES: usize = 10;

pub(super) fn run(args: &BenchServeArgs, app: &App) -> Result<ExitCode, CommandError> {
    let BenchServeArgs {
        name,
        clients,
        requests,
        streams,
        rate,
        seconds,
        pages,
        dawdle_seconds,
        only_pages,
        out,
    } = args;
    let (clients, requests) = (*clients, *requests);
    if [clients, requests, *streams, *pages].contains(&0) || *seconds == 0 || *rate <= 0.0 {
        return Err(CommandError::user(
            "--clients, --requests, --streams, --rate, --seconds and --pages must be more than 0",
        ));
    }
    let name = &app.datastore_name(name.as_deref());
    let load = SiteLoad {
        streams: *streams,
        rate: *rate,
        seconds: *seconds,
        pages: *pages,
        dawdle_seconds: *dawdle_seconds,
    };
    if *only_pages {
        let site = app.block_on(async {
            let datastore = OpenDatastore::open(app, name).await?;
            site::measure(name, &datastore, load, app).await
        })??;
        let text = format!(
            "# Pages\n\nCommand: `openscholar bench serve {name} --only-pages`\n\nMachine: {}.\n{}",
            super::machine(app),
            site.markdown()
        );
        let json = serde_json::json!({"schema": "openscholar.bench-serve/2", "datastore": name, "pages": site});
        return super::publish("serve-pages", &text, &json, out.as_deref(), app);
    }
    let measured = app.block_on(async {
        let datastore = OpenDatastore::open(app, name).await?;
        let bodies = bodies(&datastore, requests)?;
        let mut config = ServerConfig::local(name, app.threads());
        config.queue.capacity = clients.max(512);
        let mut measured = Vec::new();
        let single = config.clone().one_at_a_time();
        for (server, config, clients) in [
            ("batched", &config, clients),
            ("one at a time", &single, clients),
            ("batched", &config, 1),
        ] {
            app.printer.say(&format!("{server}, {clients} clients, {requests} requests"));
            measured.push(measure(server, &datastore, config.clone(), &bodies, clients).await?);
        }
        let hostile = hostile::measure(name, &datastore, app).await?;
        let site = site::measure(name, &datastore, load, app).await?;
        Ok::<_, CommandError>((measured, hostile, site))
    })??;
    let (measured, hostile, site) = measured;
    let json = serde_json::json!({"schema": "openscholar.bench-serve/2", "datastore": name, "clients": clients, "requests": requests, "measured": measured, "hostile": hostile, "pages": site});
    let report = ServeReport {
        name,
        machine: &super::machine(app),
        clients,
        requests,
        passages: PASSAGES,
        timings: &measured,
    };
    let text = report.markdown() + &hostile.markdown() + &site.markdown();
    let published = super::publish("serve", &text, &json, out.as_deref(), app)?;
    let errors: u64 = measured.iter().map(|measured| measured.errors).sum();
    let errors = errors + hostile::errors(&hostile);
    if errors > 0 {
        return Err(CommandError::user(format!("{errors} requests failed")));
    }
    Ok(published)
}

/// Bodies of the original's requests, with titles of stored papers as queries.
fn bodies(datastore: &OpenDatastore, requests: usize) -> Result<Vec<String>, CommandError> {
    let titles = titles(datastore)?;
    let body = |title: &String| {
        serde_json::json!({"query": title, "n_docs": PASSAGES, "domains": "pes2o"}).to_string()
    };
    Ok(titles.iter().cycle().take(requests).map(body).collect())
}

/// Titles of stored papers that can be asked for; there is one at least.
fn titles(datastore: &OpenDatastore) -> Result<Vec<String>, CommandError> {
    let mut titles = Vec::new();
    datastore.store.each_paper(|paper| {
        titles.push(paper.title);
        Ok(())
    })?;
    titles.retain(|title| scholar_core::Question::new(title).is_ok());
    if titles.is_empty() {
        return Err(CommandError::user("the datastore has no titles to ask for"));
    }
    Ok(titles)
}

async fn measure(
    server: &'static str,
    datastore: &OpenDatastore,
    config: ServerConfig,
    bodies: &[String],
    clients: usize,
) -> Result<ServerTimings<LoadReport>, CommandError> {
    let http = HttpClient::new()?;
    while_serving(datastore, config, async |address| {
        let url = |path: &str| {
            Url::parse(&format!("http://{address}{path}")).user(|| "no address".to_owned())
        };
        // Not timed: the first searches map files and start threads.
        post_all(&http, &url("/search")?, &bodies[..bodies.len().min(clients)], clients).await;
        let before = batches(&http, &url("/metrics")?).await?;
        let load = post_all(&http, &url("/search")?, bodies, clients).await;
        let after = batches(&http, &url("/metrics")?).await?;
        Ok(ServerTimings {
            server,
            clients: load.clients,
            per_second: load.per_second(),
            errors: load.errors(),
            p50_ms: load.percentile_ms(0.5),
            p95_ms: load.percentile_ms(0.95),
            p99_ms: load.percentile_ms(0.99),
            queries_per_batch: (after.1 - before.1) / (after.0 - before.0).max(1.0),
            load,
        })
    })
    .await?
}

/// Batches so far, and the queries in them.
async fn batches(http: &HttpClient, url: &Url) -> Result<(f64, f64), CommandError> {
    let text = get_text(http, url).await?;
    let batches = metric(&text, "openscholar_batches_total");
    Ok((batches, metric(&text, "openscholar_batched_queries_total")))
}
