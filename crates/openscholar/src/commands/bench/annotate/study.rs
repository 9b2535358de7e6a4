//! `bench annotate create`, and what it has in common with serving: a study is made or added to, and addresses are printed.

use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use scholar_clients::Url;
use scholar_server::annotate::{Annotator, Environment, Instance, NewAnnotator, Store};

use super::{import, read};
use crate::app::App;
use crate::args::StudyArgs;
use crate::error::{CommandError, ErrorKind};
use crate::private;

/// Schema of what is printed with `--json`.
const SCHEMA: &str = "openscholar.annotate-serve/1";
/// Most annotators that are made by number.
const MOST: usize = 1_000;

/// What is to be put into a study, read and checked before the study is touched.
pub(super) struct New {
    instances: Vec<Instance>,
    annotators: Vec<NewAnnotator>,
}

impl New {
    pub(super) fn read(args: &StudyArgs) -> Result<Self, CommandError> {
        if args.per_instance == Some(0) {
            return Err(CommandError::user("--per-instance must be at least 1"));
        }
        let instances = args.instances.as_deref().map(import::instances).transpose()?;
        let annotators = args.annotators.as_deref().map(annotators).transpose()?;
        if !args.db.exists() && (instances.is_none() || annotators.is_none()) {
            return Err(CommandError::user(format!("there is no study {}", args.db.display()))
                .with_hint("a new one needs --instances FILE and --annotators FILE|N"));
        }
        let (instances, annotators) =
            (instances.unwrap_or_default(), annotators.unwrap_or_default());
        Ok(Self { instances, annotators })
    }

    /// Opens the study or makes it, and puts this into it.
    pub(super) fn put(self, args: &StudyArgs, app: &App) -> Result<Store, CommandError> {
        let Self { instances, annotators } = self;
        let mut store = Store::open_or_create(&args.db, args.seed)?;
        let added = store.add(&instances, &annotators, args.per_instance)?;
        if added.short > 0 {
            app.printer.say(&format!(
                "note: {} comparisons have fewer annotators than requested: too few are eligible",
                added.short
            ));
        }
        Ok(store)
    }
}

/// Makes a study or adds to it, and prints each annotator's address below `base`.
pub(super) fn create(args: &StudyArgs, base: &str, app: &App) -> Result<ExitCode, CommandError> {
    let base = url(base)?;
    let store = New::read(args)?.put(args, app)?;
    let base = base.as_str().trim_end_matches('/');
    announce(&store, base, base, app)?;
    Ok(ExitCode::SUCCESS)
}

/// A study that is there already, to be served.
pub(crate) fn open_existing(path: &Path) -> Result<Store, CommandError> {
    if !path.exists() {
        return Err(CommandError::user(format!("there is no study {}", path.display()))
            .with_hint("openscholar bench annotate create makes one"));
    }
    Ok(Store::open_or_create(path, None)?)
}

/// What the annotators' pages need of this program.
pub(crate) fn environment() -> Environment {
    Environment {
        now: Arc::new(App::now),
        // A page without a name of its own could not be saved; the next one may get it.
        fresh: Arc::new(|| secret().unwrap_or_default()),
        render: Arc::new(|text, link| scholar_formats::fragment::html(text, link)),
    }
}

/// The address under which annotators reach the server.
pub(super) fn url(text: &str) -> Result<Url, CommandError> {
    let url = Url::parse(text).ok().filter(Url::has_host);
    let url = url.filter(|url| ["http", "https"].contains(&url.scheme()));
    url.ok_or_else(|| {
        CommandError::user(format!("--url {text:?} is not the address of a server"))
            .with_hint("give a complete URL, such as https://compare.example.org")
    })
}

/// Prints who opens what: addresses that begin with `base`, of a server at `address`.
pub(super) fn announce(
    store: &Store,
    address: &str,
    base: &str,
    app: &App,
) -> Result<(), CommandError> {
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
        return app.printer.json(&serde_json::json!({"schema": SCHEMA, "address": address,
            "instances": instances, "annotators": list}));
    }
    let mut text = format!(
        "comparing {instances} pairs of answers on {address}\nsend each annotator their own address:\n"
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

/// What nobody can guess, for an address.
fn secret() -> Result<String, CommandError> {
    private::secret().map_err(|error| {
        CommandError::new(ErrorKind::User, "the system provides no random numbers")
            .with_source(error)
    })
}
