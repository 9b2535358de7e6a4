//! `openscholar doctor`: what works here, what is missing, and what to do about it.

mod providers;
#[cfg(feature = "self-test")]
mod self_test;

use std::process::ExitCode;

use scholar_clients::Url;
use scholar_clients::download::Installed;
use scholar_clients::http::redacted;
use serde::Serialize;

use crate::app::App;
use crate::args::{AnswerArgs, DoctorArgs};
use crate::error::CommandError;
use crate::printer::{Style, Styled};
use crate::wiring::local_servers::{self, models_of, options, title};
use crate::{private, wiring};

/// One thing looked at.
#[derive(Debug, Serialize)]
pub(crate) struct Check {
    /// What it is.
    pub(crate) what: String,
    /// Whether it is as it should be.
    pub(crate) ok: bool,
    /// How it was found.
    pub(crate) found: String,
    /// The next step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) hint: Option<String>,
}

impl Check {
    fn new(what: &str, ok: bool, found: impl Into<String>, hint: &str) -> Self {
        let hint = (!ok && !hint.is_empty()).then(|| hint.to_owned());
        Self { what: what.to_owned(), ok, found: found.into(), hint }
    }
}

pub(crate) fn run(args: DoctorArgs, app: &App) -> Result<ExitCode, CommandError> {
    let DoctorArgs { offline, self_test } = args;
    let checks = if self_test { self_tests(app)? } else { all(offline, app)? };
    if app.printer.json {
        app.printer
            .json(&serde_json::json!({"schema": "openscholar.doctor/1", "checks": checks}))?;
    } else {
        for check in &checks {
            let mut text = Styled::new();
            text.styled(Style::Green, if check.ok { "ok  " } else { "" });
            let lead = if check.ok { "" } else { "    " };
            let hint =
                check.hint.as_ref().map(|hint| format!("\n      {hint}")).unwrap_or_default();
            text.plain(format!("{lead}{}: {}{hint}", check.what, check.found));
            app.printer.out_styled(&text)?;
        }
    }
    let failed = checks.iter().any(|check| !check.ok);
    Ok(if self_test && failed { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

/// Looks at everything; at providers of papers only if somebody may be asked.
pub(crate) fn all(offline: bool, app: &App) -> Result<Vec<Check>, CommandError> {
    let mut checks = vec![cpu(app), home(app), disk(app), python()];
    checks.extend(private_files(app));
    checks.extend(models(app)?);
    checks.extend(datastores(app)?);
    checks.push(server(app));
    checks.extend(model_servers(app)?);
    checks.extend(app.block_on(providers::checks(offline, app))??);
    Ok(checks)
}

#[cfg(feature = "self-test")]
fn self_tests(app: &App) -> Result<Vec<Check>, CommandError> {
    app.block_on(self_test::checks())?
}

#[cfg(not(feature = "self-test"))]
fn self_tests(_app: &App) -> Result<Vec<Check>, CommandError> {
    Err(CommandError::without_self_test("doctor --self-test"))
}

/// Room for what a first question fetches and builds.
const NEEDED_BYTES: u64 = 3 << 30;

fn disk(app: &App) -> Check {
    let data = app.home.data();
    let existing = data.ancestors().find(|path| path.exists()).unwrap_or(data);
    match fs4::available_space(existing) {
        Ok(bytes) => Check::new(
            "disk",
            bytes >= NEEDED_BYTES,
            format!("{:.1} GB free", as_gigabytes(bytes)),
            "models and datastores need 3 GB: make room, or pass --home DIR on another disk",
        ),
        Err(error) => {
            Check::new("disk", false, error.to_string(), "pass --home DIR on another disk")
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "a size for people")]
fn as_gigabytes(bytes: u64) -> f64 {
    bytes as f64 / 1e9
}

fn cpu(app: &App) -> Check {
    #[cfg(target_arch = "x86_64")]
    let features = {
        let mut found = Vec::new();
        for (name, there) in [
            ("AVX2", std::is_x86_feature_detected!("avx2")),
            ("AVX-512", std::is_x86_feature_detected!("avx512f")),
            ("AVX-512-BF16", std::is_x86_feature_detected!("avx512bf16")),
        ] {
            if there {
                found.push(name);
            }
        }
        if found.is_empty() { "no vector extensions".to_owned() } else { found.join(", ") }
    };
    #[cfg(not(target_arch = "x86_64"))]
    let features = std::env::consts::ARCH.to_owned();
    Check::new("cpu", true, format!("{} threads, {features}", app.threads()), "")
}

fn home(app: &App) -> Check {
    let data = app.home.data();
    let existing = data.ancestors().find(|path| path.exists()).unwrap_or(data);
    let probe = tempfile_probe(existing);
    let found = data.display().to_string();
    Check::new(
        "data folder",
        probe,
        found,
        "it cannot be written: pass --home DIR with a folder that can",
    )
}

/// Whether a file can be made in `folder`; leaves nothing behind.
fn tempfile_probe(folder: &std::path::Path) -> bool {
    let path = folder.join(format!(".openscholar-probe-{}", std::process::id()));
    let made = fs_err::File::create(&path).is_ok();
    // A probe that cannot be removed was not made.
    let _ignored = fs_err::remove_file(&path);
    made
}

/// What only its owner should be able to read, as earlier versions or other programs may have left it.
fn private_files(app: &App) -> Vec<Check> {
    let keys = [app.config.generator.key_file.as_ref(), app.config.sources.key_file.as_ref()];
    let runs = app.home.runs();
    let check = |what: &str, path: &std::path::Path| {
        let closed = !private::is_open(path);
        let who = if closed { "closed to other users" } else { "open to other users" };
        let hint = format!("chmod go= {}", path.display());
        Check::new(what, closed, format!("{}, {who}", path.display()), &hint)
    };
    let runs = runs.is_dir().then(|| check("run folders", &runs));
    runs.into_iter().chain(keys.into_iter().flatten().map(|key| check("key file", key))).collect()
}

fn python() -> Check {
    let output = std::process::Command::new("python3").args(["-m", "pip", "--version"]).output();
    let found = output.ok().filter(|output| output.status.success());
    let text = found.as_ref().map(|output| {
        String::from_utf8_lossy(&output.stdout)
            .split_whitespace()
            .take(2)
            .collect::<Vec<_>>()
            .join(" ")
    });
    Check::new(
        "python3 with pip",
        text.is_some(),
        text.unwrap_or_else(|| "not found".to_owned()),
        "only needed to download models where the model hub cannot be reached",
    )
}

fn models(app: &App) -> Result<Vec<Check>, CommandError> {
    crate::config::DEFAULT_MODELS
        .iter()
        .map(|name| {
            let installed = wiring::models::installed(app, name)?;
            let found = match &installed {
                Installed::Complete { .. } => "here".to_owned(),
                Installed::Missing => "not here yet".to_owned(),
                Installed::Damaged { problems } => format!("damaged: {}", problems.join("; ")),
            };
            Ok(Check::new(
                &format!("model {name}"),
                matches!(installed, Installed::Complete { .. }),
                found,
                &format!("openscholar models pull {name}"),
            ))
        })
        .collect()
}

fn datastores(app: &App) -> Result<Vec<Check>, CommandError> {
    let names = app.datastore_names()?;
    if names.is_empty() {
        return Ok(vec![Check::new(
            "datastores",
            false,
            "none yet",
            "the first question builds the starter papers",
        )]);
    }
    Ok(names
        .into_iter()
        .map(|name| {
            let info = app
                .existing_datastore(&name)
                .and_then(|path| Ok(scholar_datastore::Datastore::open(&path)?.info()?));
            match info {
                Ok(info) => Check::new(
                    &format!("datastore {name}"),
                    true,
                    format!(
                        "{} papers, {} passages, {}",
                        info.papers, info.passages, info.encoder.name
                    ),
                    "",
                ),
                Err(error) => Check::new(
                    &format!("datastore {name}"),
                    false,
                    error.to_string(),
                    "openscholar datastore verify",
                ),
            }
        })
        .collect())
}

fn server(app: &App) -> Check {
    let url = app.env.openai_base_url.as_ref().or(app.config.generator.base_url.as_ref());
    let has_key = app.env.openai_api_key.is_some() || app.config.generator.key_file.is_some();
    let key = if has_key { "with a key" } else { "without a key" };
    match url {
        Some(url) => {
            let shown =
                Url::parse(url).map_or_else(|_| "no address".to_owned(), |url| redacted(&url));
            Check::new("language model server", true, format!("{shown}, {key}"), "")
        }
        None => Check::new(
            "language model server",
            false,
            "none configured; the embedded model writes",
            "optional: set OPENAI_BASE_URL (and OPENAI_API_KEY), or pass --base-url",
        ),
    }
}

/// Model servers of this machine, as long as nothing says which model writes.
fn model_servers(app: &App) -> Result<Vec<Check>, CommandError> {
    let args = AnswerArgs::default();
    if !wiring::generator::is_unset(app, &args) {
        return Ok(Vec::new());
    }
    let found = app.block_on(local_servers::find(app, &args))?;
    let check = |server| {
        let found = format!("{}; to let it write: {}", models_of(server), options(server, None));
        Check::new(&title(server), true, found, "")
    };
    Ok(found.iter().map(check).collect())
}
