//! `openscholar serve`: pages and the native interface over this program's runs, papers and models.

mod asking;
mod backend;
mod desk;
mod jobs;
mod offer;
mod past;
mod quoted;
mod reviewing;
mod searched;
mod sheets;
mod shelf;
mod upkeep;
mod words;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, OnceLock};

use scholar_server::annotate::Studies;
use scholar_server::backend::Backend;
use scholar_server::{Access, Callers, JobsConfig, Server, ServerConfig, Site, SiteConfig};

use super::bench::annotate;
use super::datastore::serve::reach::{self, Guard};
use super::datastore::serve::{listen_on, probe, query_log, to_the_end};
use crate::app::App;
use crate::args::SiteArgs;
use crate::error::{CommandError, Context as _, ErrorKind};
use crate::home::Home;
use crate::private;
use crate::wiring::{OpenDatastore, generator};
use desk::Desk;

/// File of questions, threads and feedback, below the data folder.
const DATABASE: &str = "serve.db";
/// Held by the server of a home.
const LOCK: &str = "serve.lock";

/// The data folder with its slash, which nobody who asks from elsewhere is told: errors name what is below it.
static DATA: OnceLock<String> = OnceLock::new();

pub(crate) fn run(args: SiteArgs, app: &Arc<App>) -> Result<ExitCode, CommandError> {
    let SiteArgs {
        listen,
        datastore,
        concurrency,
        threads,
        offline: _,
        log_queries,
        token_file,
        studies,
        behind_tls,
        reach,
    } = args;
    if concurrency == 0 || threads == Some(0) {
        return Err(CommandError::user("--concurrency and --threads must be at least 1"));
    }
    if let Some(threads) = threads {
        app.use_threads(threads);
    }
    DATA.get_or_init(|| format!("{}/", app.home.data().display()));
    let allowed_hosts = reach::hosts(&reach.allowed_hosts, None)?;
    let access = match token_file.as_deref() {
        Some(path) => Access::Named(callers(path)?),
        None => Access::Everybody,
    };
    let guard = match &access {
        Access::Named(_) => Guard::Tokens,
        Access::Everybody => Guard::None { insecure: reach.insecure },
    };
    reach::check(listen, guard)?;
    let names = offer::served(&datastore, app)?;
    let studies = studies_in(&studies)?;
    let on_query = log_queries.as_deref().map(query_log).transpose()?;
    let config =
        ServerConfig { allowed_hosts, ..ServerConfig::local(names.join(","), app.threads()) };
    app.block_on_to_the_end(async {
        // An address that is taken is found before a model is fetched.
        let listener = listen_on(listen, "--listen").await?;
        let address = listener.local_addr().user(|| format!("cannot listen on {listen}"))?;
        let _held = hold(&app.home)?;
        app.resident.keep();
        // What nothing can be asked without is opened first, and what was named.
        OpenDatastore::open(app, &names[0]).await?;
        let desk = Desk::new(Arc::clone(app), names.clone(), app.handle()?, on_query.clone());
        if !datastore.is_empty() {
            desk.open_among(&datastore).await?;
        }
        let all = desk.open_among(&[]).await?;
        for name in &all.searched.left_out {
            app.printer.say(&format!("{name} cannot be opened and is not searched; -v says why"));
        }
        generator::settle(app).await;
        let server = Server::start(
            Arc::clone(&all.searched.retriever),
            config,
            probe(&all.stores),
            on_query,
        );
        let desk: Arc<dyn Backend> = Arc::new(desk);
        let site = SiteConfig {
            jobs: JobsConfig::local(concurrency),
            access,
            database: app.home.data().join(DATABASE),
            behind_tls,
            studies,
        };
        let site = Site::start(server, desk, site)
            .user(|| "cannot keep questions and threads".to_owned())
            .map_err(|error| error.with_hint("check the folder, or pass --home DIR"))?;
        let serving = site.serve(listener, app.stop.wait());
        to_the_end(serving, &names.join(", "), address, guard, app).await
    })?
}

/// Takes the lock of this home's server, which ends with this process: two would answer the same questions.
fn hold(home: &Home) -> Result<fs_err::File, CommandError> {
    home.create(home.data())?;
    let path = home.data().join(LOCK);
    let lock = private::append(&path).map_err(|source| CommandError::unwritable(&path, source))?;
    match lock.file().try_lock() {
        Ok(()) => {}
        // Some network file systems have no locks; then nobody sees a second server.
        Err(std::fs::TryLockError::Error(error))
            if error.kind() == std::io::ErrorKind::Unsupported => {}
        Err(std::fs::TryLockError::WouldBlock) => {
            return Err(CommandError::user(format!(
                "another openscholar serve uses {}",
                home.data().display()
            ))
            .with_hint("stop it, or pass --home DIR"));
        }
        Err(std::fs::TryLockError::Error(source)) => {
            return Err(CommandError::unwritable(&path, source));
        }
    }
    // For a person who wonders; the lock alone counts.
    let _best_effort = (&lock).write_all(format!("{}\n", std::process::id()).as_bytes());
    Ok(lock)
}

/// The studies in these files, as pages.
fn studies_in(files: &[PathBuf]) -> Result<Option<Studies>, CommandError> {
    let stores = files.iter().map(|path| annotate::open_existing(path));
    let stores = stores.collect::<Result<Vec<_>, _>>()?;
    Ok((!stores.is_empty()).then(|| Studies::new(stores, annotate::environment())))
}

/// The callers in a file that nobody else can read.
fn callers(path: &Path) -> Result<Callers, CommandError> {
    Callers::parse(&reach::token_text(path)?).map_err(|error| {
        CommandError::user(format!("{}: {error}", path.display())).with_hint(
            "write a line NAME: TOKEN for each client, with questions-per-hour=N or usd-per-day=N behind it; \
             openssl rand -hex 16 generates a token",
        )
    })
}

/// A failure in the words of whoever reads it in a browser.
fn told(error: &CommandError) -> scholar_server::backend::BackendError {
    use scholar_server::backend::{BackendError, BackendErrorKind};
    let kind = match error.kind {
        ErrorKind::User => BackendErrorKind::Invalid,
        ErrorKind::Unavailable => BackendErrorKind::Unavailable,
        ErrorKind::Interrupted => BackendErrorKind::Interrupted,
        ErrorKind::Damaged | ErrorKind::Bug => BackendErrorKind::Internal,
    };
    let notice = error.notice();
    let here = |words: String| match DATA.get() {
        Some(data) => words.replace(data, ""),
        None => words,
    };
    BackendError { kind, message: here(notice.message), hint: notice.hint.map(here) }
}
