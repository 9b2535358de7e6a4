//! `openscholar datastore serve`.

pub(crate) mod reach;

use std::io::Write as _;
use std::net::SocketAddr;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use scholar_datastore::Datastore;
use scholar_server::{CollectionSize, OnQuery, Probe, QueueConfig, Server, ServerConfig, Stopped};
use tokio::net::TcpListener;

use crate::app::App;
use crate::args::ServeArgs;
use crate::error::{CommandError, Context as _, ErrorKind};
use crate::private;
use crate::wiring::OpenDatastore;
use reach::Guard;

pub(super) fn run(args: ServeArgs, app: &App) -> Result<ExitCode, CommandError> {
    let ServeArgs {
        name,
        listen,
        queue,
        threads,
        batch,
        max_passages,
        max_reply_passages,
        timeout,
        upstream_exact,
        log_queries,
        token_file,
        reach,
    } = args;
    if [queue, batch, max_passages].contains(&0) || threads == Some(0) || timeout == 0 {
        return Err(CommandError::user(
            "--queue, --threads, --batch, --max-passages and --timeout must be at least 1",
        ));
    }
    if let Some(threads) = threads {
        app.use_threads(threads);
    }
    let name = app.datastore_name(name.as_deref());
    let standard = ServerConfig::local(name.as_str(), app.threads());
    let max_reply_passages =
        max_reply_passages.unwrap_or(standard.max_reply_passages.max(max_passages));
    if max_reply_passages < max_passages {
        return Err(CommandError::user(format!(
            "one query may ask for {max_passages} passages, and all of a request for {max_reply_passages}"
        ))
        .with_hint(format!("pass --max-reply-passages {max_passages} or more")));
    }
    let allowed_hosts = reach::hosts(&reach.allowed_hosts, None)?;
    let tokens = token_file.as_deref().map(reach::tokens).transpose()?;
    let guard =
        if tokens.is_some() { Guard::Tokens } else { Guard::None { insecure: reach.insecure } };
    reach::check(listen, guard)?;
    let on_query = log_queries.as_deref().map(query_log).transpose()?;
    let config = ServerConfig {
        queue: QueueConfig { capacity: queue, batch, ..standard.queue },
        max_top_k: max_passages,
        max_reply_passages,
        // Room for three of the largest requests.
        max_held_passages: max_reply_passages.saturating_mul(3),
        timeout: Duration::from_secs(timeout),
        upstream_exact,
        allowed_hosts,
        tokens,
        ..standard
    };
    app.block_on_to_the_end(async {
        // An address that is taken is found before a model is fetched.
        let listener = listen_on(listen, "--listen").await?;
        let address = listener.local_addr().user(|| format!("cannot listen on {listen}"))?;
        let datastore = OpenDatastore::open(app, &name).await?;
        let server = Server::start(
            Arc::clone(&datastore.retriever),
            config,
            probe(&stores(&datastore)),
            on_query,
        );
        let serving = server.serve(listener, app.stop.wait());
        to_the_end(serving, &name, address, guard, app).await
    })?
}

/// Says that `what` is served at `address`, and drives `serving` until the program is stopped.
pub(crate) async fn to_the_end(
    serving: impl Future<Output = std::io::Result<Stopped>>,
    what: &str,
    address: SocketAddr,
    guard: Guard,
    app: &App,
) -> Result<ExitCode, CommandError> {
    if let Some(note) = reach::note(address, guard) {
        app.printer.say(note);
    }
    // Who reads the address may end the server at once, and finds it ending in good order.
    app.stop.heed();
    app.printer.out(&format!("serving {what} on http://{address}"))?;
    let stopped = serving.await.user(|| format!("cannot serve on {address}"))?;
    if stopped.cut_off > 0 {
        app.printer.say(&format!("{} requests took too long and were cut off", stopped.cut_off));
    }
    Ok(ExitCode::SUCCESS)
}

/// A socket at `address`, which `option` chose.
pub(crate) async fn listen_on(
    address: SocketAddr,
    option: &str,
) -> Result<TcpListener, CommandError> {
    TcpListener::bind(address).await.map_err(|source| {
        CommandError::user(format!("cannot listen on {address}")).with_source(source).with_hint(
            format!("choose another port with {option} 127.0.0.1:PORT; 0 picks a free port"),
        )
    })
}

/// Reads the newest commits' counts: what tells whether the datastores can still be read.
pub(crate) fn probe(stores: &[Arc<Datastore>]) -> Probe {
    let stores = stores.to_vec();
    Arc::new(move || {
        let mut size = CollectionSize { papers: 0, passages: 0 };
        for store in &stores {
            let (papers, passages) = store.counts()?;
            size.papers += papers;
            size.passages += passages;
        }
        Ok(size)
    })
}

/// All stores of an open datastore.
fn stores(datastore: &OpenDatastore) -> Vec<Arc<Datastore>> {
    datastore.stores().cloned().collect()
}

/// Appends queries to `path`, which only its owner can read, one line of JSON each. A line that cannot be written is reported, not fatal.
pub(crate) fn query_log(path: &Path) -> Result<OnQuery, CommandError> {
    let file = private::append(path).map_err(|source| CommandError::unwritable(path, source))?;
    let file = Mutex::new(file);
    Ok(Arc::new(move |query| {
        let line = serde_json::json!({"at": App::now(), "query": query});
        if let Err(error) = writeln!(file.lock(), "{line}") {
            tracing::error!(%error, "a query was not logged");
        }
    }))
}

/// Serves `datastore` on a free loopback port while `work` runs with its address.
pub(crate) async fn while_serving<T>(
    datastore: &OpenDatastore,
    config: ServerConfig,
    work: impl AsyncFnOnce(SocketAddr) -> T,
) -> Result<T, CommandError> {
    let listener = listen_on(([127, 0, 0, 1], 0).into(), "--listen").await?;
    let address = listener.local_addr().user(|| "cannot listen on loopback".to_owned())?;
    let server =
        Server::start(Arc::clone(&datastore.retriever), config, probe(&stores(datastore)), None);
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let serving = tokio::spawn(server.serve(listener, async {
        let _dropped = stopped.await;
    }));
    let result = work(address).await;
    drop(stop);
    serving
        .await
        .map_err(|source| {
            CommandError::new(ErrorKind::Bug, "the server broke off").with_source(source)
        })?
        .user(|| "cannot serve on loopback".to_owned())?;
    Ok(result)
}
