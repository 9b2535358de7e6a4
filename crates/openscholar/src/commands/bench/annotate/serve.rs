//! `bench annotate serve`.

use std::fmt::Write as _;
use std::net::SocketAddr;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use scholar_clients::Url;
use scholar_server::annotate::{Annotator, Environment, NewAnnotator, Store, Study};

use super::{import, read};
use crate::app::App;
use crate::args::AnnotateServeArgs;
use crate::commands::datastore::serve::listen_on;
use crate::commands::datastore::serve::reach::{self, Guard};
use crate::error::{CommandError, Context as _, ErrorKind};
use scholar_core::text::hex;

/// Schema of what is printed with `--json`.
const SCHEMA: &str = "openscholar.annotate-serve/1";
/// Bytes of a secret address.
const SECRET: usize = 16;
/// Most annotators that are made by number.
const MOST: usize = 1_000;

pub(super) fn run(args: &AnnotateServeArgs, app: &App) -> Result<ExitCode, CommandError> {
    if args.per_instance == Some(0) {
        return Err(CommandError::user("--per-instance must be at least 1"));
    }
    let url = args.url.as_deref().map(url).transpose()?;
    let hosts = reach::hosts(&args.reach.allowed_hosts, url.as_ref())?;
    let guard = match url {
        Some(url) if url.scheme() == "https" => Guard::SecretsOverTls,
        _ => Guard::Secrets { insecure: args.reach.insecure },
    };
    reach::check(args.address, guard)?;
    // Everything that can be wrong with the files is found before the study is touched.
    let instances = args.instances.as_deref().map(import::instances).transpose()?;
    let annotators = args.annotators.as_deref().map(annotators).transpose()?;
    if !args.db.exists() && (instances.is_none() || annotators.is_none()) {
        return Err(CommandError::user(format!("there is no study {}", args.db.display()))
            .with_hint("a new one needs --instances FILE and --annotators FILE|N"));
    }
    app.block_on_to_the_end(async {
        let listener = listen_on(args.address, "--address").await?;
        let address =
            listener.local_addr().user(|| format!("cannot listen on {}", args.address))?;
        let mut store = Store::open_or_create(&args.db, args.seed)?;
        let added = store.add(
            &instances.unwrap_or_default(),
            &annotators.unwrap_or_default(),
            args.per_instance,
        )?;
        if added.short > 0 {
            app.printer.say(&format!(
                "note: {} comparisons have fewer annotators than requested: too few are eligible",
                added.short
            ));
        }
        if let Some(note) = reach::note(address, guard) {
            app.printer.say(note);
        }
        // Who reads the address may end the server at once, and finds it ending in good order.
        app.stop.heed();
        announce(&store, address, args.url.as_deref(), app)?;
        let environment = Environment {
            now: Arc::new(App::now),
            // A page without a name of its own could not be saved; the next one may get it.
            fresh: Arc::new(|| secret().unwrap_or_default()),
            render: Arc::new(|text, link| scholar_formats::fragment::html(text, link)),
        };
        let stopped = Study::new(store, environment, hosts)
            .serve(listener, app.stop.wait())
            .await
            .user(|| format!("cannot serve on {address}"))?;
        if stopped.cut_off > 0 {
            app.printer.say(&format!("{} requests were cut off", stopped.cut_off));
        }
        Ok(ExitCode::SUCCESS)
    })?
}

/// The address under which annotators reach the server.
fn url(text: &str) -> Result<Url, CommandError> {
    let url = Url::parse(text).ok().filter(Url::has_host);
    let url = url.filter(|url| ["http", "https"].contains(&url.scheme()));
    url.ok_or_else(|| {
        CommandError::user(format!("--url {text:?} is not the address of a server"))
            .with_hint("give a complete URL, such as https://compare.example.org")
    })
}

/// Prints who opens what.
fn announce(
    store: &Store,
    address: SocketAddr,
    url: Option<&str>,
    app: &App,
) -> Result<(), CommandError> {
    let base =
        url.map_or_else(|| format!("http://{address}"), |url| url.trim_end_matches('/').to_owned());
    let annotators = store.annotators()?;
    let instances = store.instances()?.len();
    let link = |one: &Annotator| format!("{base}/a/{}", one.token);
    if app.printer.json {
        let list: Vec<serde_json::Value> = annotators
            .iter()
            .map(|one| {
                serde_json::json!({"name": one.name, "url": link(one), "assigned": one.assigned, "done": one.done})
            })
            .collect();
        return app
            .printer
            .json(&serde_json::json!({"schema": SCHEMA, "address": format!("http://{address}"),
            "instances": instances, "annotators": list}));
    }
    let mut text = format!(
        "comparing {instances} pairs of answers on http://{address}\nsend each annotator their own address:\n"
    );
    for one in &annotators {
        let _infallible =
            writeln!(text, "{}\t{} of {} done\t{}", one.name, one.done, one.assigned, link(one));
    }
    app.printer.out(text.trim_end())
}

/// A file of names, or so many.
fn annotators(given: &str) -> Result<Vec<NewAnnotator>, CommandError> {
    let names: Vec<String> = match given.parse::<usize>() {
        Ok(n) if (1..=MOST).contains(&n) => (1..=n).map(|n| format!("annotator-{n}")).collect(),
        Ok(n) => {
            return Err(CommandError::user(format!("--annotators {n} is not 1 to {MOST}")));
        }
        Err(_) => {
            let text = read(Path::new(given))?;
            let lines = text.lines().map(str::trim);
            lines
                .filter(|line| !line.is_empty() && !line.starts_with('#'))
                .map(str::to_owned)
                .collect()
        }
    };
    if names.is_empty() {
        return Err(CommandError::user(format!("{given} names no annotators"))
            .with_hint("write one name on each line"));
    }
    for (at, name) in names.iter().enumerate() {
        if names[..at].contains(name) {
            return Err(CommandError::user(format!("{given} names {name:?} twice"))
                .with_hint("annotators are distinguished by their names"));
        }
    }
    names.into_iter().map(|name| Ok(NewAnnotator { name, token: secret()? })).collect()
}

/// 128 bits that nobody can guess, for an address.
fn secret() -> Result<String, CommandError> {
    let mut bytes = [0_u8; SECRET];
    getrandom::fill(&mut bytes).map_err(|error| {
        CommandError::new(ErrorKind::User, "the system provides no random numbers")
            .with_source(error.to_string())
    })?;
    Ok(hex(&bytes))
}
