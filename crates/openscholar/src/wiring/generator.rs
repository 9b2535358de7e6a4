//! The writing model: embedded, behind a server, or none.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use clap::ValueEnum as _;
use scholar_clients::download::Installed;
use scholar_clients::{HttpClient, OpenAiConfig, OpenAiGenerator, PriceTable, SecretString, Url};
use scholar_core::{Generator, GeneratorStrength, Notice, NoticeKind};
use scholar_models::gguf::GgufGenerator;

use scholar_pipeline::modes;
use scholar_pipeline::{AskConfig, ModeChoice};

use super::free_memory::free_memory;
use super::{generator_choice, local_servers, models};
use crate::app::App;
use crate::args::{AnswerArgs, GeneratorChoice};
use crate::config::DEFAULT_GENERATOR;
use crate::error::{CommandError, Context as _};
use crate::runs::WiringRecord;

/// Under which the decision on the model that writes where none is named is kept.
const USUAL: &str = "the model that writes";

/// The writing model of a run.
pub(crate) struct Writer {
    /// `None`: evidence in code only.
    pub(crate) generator: Option<Arc<dyn Generator>>,
    /// The same, where it is a server: it learns on the way what the server does not offer.
    pub(crate) server: Option<Arc<OpenAiGenerator>>,
    /// What a resumed run asks for to get the same.
    pub(crate) wiring: WiringRecord,
}

impl Writer {
    fn none(wiring: WiringRecord) -> Self {
        Self { generator: None, server: None, wiring }
    }
}

/// What a writing model is opened for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Use {
    /// The mode that was asked for.
    pub(crate) mode: ModeChoice,
    /// Whether a small model has something to do in that mode, too.
    pub(crate) small_writes: bool,
}

impl Use {
    /// To answer by `config`.
    pub(crate) fn answer(mode: ModeChoice, config: &AskConfig) -> Self {
        Self { mode, small_writes: config.evidence.synthesis.is_some() }
    }

    /// Whether the model that comes with the program, which is small, would have nothing to do.
    fn has_no_use(self, wiring: &WiringRecord) -> bool {
        works_without_model(self.mode)
            && !self.small_writes
            && wiring.model.is_none()
            && wiring.strength.is_none()
            && wiring.judge.as_deref() != Some("embedded")
    }
}

/// Opens the writing model. A default that cannot be had is a notice; one that was asked for is an error.
pub(crate) async fn open(
    app: &App,
    args: &AnswerArgs,
    use_of: Use,
    notices: &mut Vec<Notice>,
) -> Result<Writer, CommandError> {
    let settings = &app.config.generator;
    let base_url = base_url(app, args);
    let configured = match settings.kind.as_deref() {
        None => None,
        Some(name) => Some(GeneratorChoice::from_str(name, false).map_err(|_| {
            CommandError::user(format!("generator.kind is {name:?} in the config file"))
                .with_hint("it must be embedded, server or none")
        })?),
    };
    let asked =
        args.generator.or(args.base_url.as_ref().map(|_| GeneratorChoice::Server)).or(configured);
    let default =
        if base_url.is_some() { GeneratorChoice::Server } else { GeneratorChoice::Embedded };
    let wiring = WiringRecord {
        generator: asked
            .and_then(|choice| choice.to_possible_value())
            .map(|v| v.get_name().to_owned()),
        model: args.model.clone().or_else(|| settings.model.clone()),
        base_url: None,
        strength: args.strength.clone().or_else(|| settings.strength.clone()),
        judge: args.judge.clone().or_else(|| app.config.judge.clone()),
        judge_model: args.judge_model.clone().or_else(|| app.config.judge_model.clone()),
        reranker: args.reranker.clone().or_else(|| app.config.reranker.clone()),
        no_rerank: args.no_rerank,
        sources: Vec::new(),
        offline: args.search_sources.offline || app.offline,
        looking: None,
    };
    let choice = match asked {
        None if default == GeneratorChoice::Embedded && use_of.has_no_use(&wiring) => {
            GeneratorChoice::None
        }
        asked => asked.unwrap_or(default),
    };
    match choice {
        GeneratorChoice::None => {
            let message =
                "no model writes: headings and order come from code, and there is no synthesis";
            let notice = Notice::new(NoticeKind::Skipped, message);
            notices.push(match asked {
                Some(_) => notice,
                None => notice.with_hint("for a written report, pass --base-url URL --model NAME"),
            });
            Ok(Writer::none(wiring))
        }
        GeneratorChoice::Server => {
            let server = Arc::new(named_server(app, args, base_url).await?);
            let wiring = WiringRecord {
                generator: Some("server".to_owned()),
                base_url: base_url.filter(|url| without_credentials(url)).cloned(),
                ..wiring
            };
            Ok(Writer { generator: Some(server.clone()), server: Some(server), wiring })
        }
        GeneratorChoice::Embedded => match embedded(app, args).await {
            Ok(generator) => Ok(Writer { generator: Some(generator), server: None, wiring }),
            Err(error)
                if asked.is_none()
                    && works_without_model(use_of.mode)
                    && !error.is_final()
                    && !app.stop.requested() =>
            {
                let message = format!("the embedded model is not used: {error}");
                let notice = Notice::new(NoticeKind::Skipped, message);
                let notice = match error.hints.first() {
                    Some(hint) => notice.with_hint(hint.clone()),
                    None => notice,
                };
                app.printer.notice(&notice);
                notices.push(notice);
                Ok(Writer::none(wiring))
            }
            Err(error) => Err(error),
        },
    }
}

/// The model of the configured server that shall judge, where one is named.
pub(crate) async fn judge_model(
    app: &App,
    args: &AnswerArgs,
) -> Result<Option<Arc<dyn Generator>>, CommandError> {
    let named = args.judge_model.as_ref();
    let configured = app.config.judge_model.as_ref().filter(|_| args.judge.is_none());
    let Some(name) = named.or(configured) else { return Ok(None) };
    let args = AnswerArgs { model: Some(name.clone()), ..args.clone() };
    let server = named_server(app, &args, base_url(app, &args)).await?;
    Ok(Some(Arc::new(server)))
}

/// What is known of the model that would write, before it is opened.
pub(crate) struct Configured {
    pub(crate) model: String,
    pub(crate) is_strong: bool,
    /// Whether it runs in this process.
    pub(crate) is_local: bool,
    /// US dollars per million tokens, read and written.
    pub(crate) usd_per_million: Option<(f64, f64)>,
}

/// The model that writes by configuration and `args`; `None` where none is named, and code selects.
pub(crate) fn configured(app: &App, args: &AnswerArgs) -> Option<Configured> {
    let settings = &app.config.generator;
    let is_named = |choice: GeneratorChoice| {
        args.generator == Some(choice)
            || args.generator.is_none()
                && settings
                    .kind
                    .as_deref()
                    .and_then(|name| GeneratorChoice::from_str(name, false).ok())
                    == Some(choice)
    };
    if is_named(GeneratorChoice::None) {
        return None;
    }
    if is_named(GeneratorChoice::Embedded) {
        let model = model(app, args).cloned().unwrap_or_else(|| DEFAULT_GENERATOR.to_owned());
        let usd_per_million = Some((0.0, 0.0));
        return Some(Configured { model, is_strong: false, is_local: true, usd_per_million });
    }
    let (Some(_), Some(model)) = (base_url(app, args), model(app, args)) else { return None };
    let strength = args.strength.as_deref().or(settings.strength.as_deref());
    // A price file that cannot be read is told when a run opens the model.
    let usd_per_million = price(app, model).ok().flatten();
    let is_strong = strength != Some("small");
    Some(Configured { model: model.clone(), is_strong, is_local: false, usd_per_million })
}

/// Whether neither command line nor environment nor config file says which model writes, or that none does.
pub(crate) fn is_unset(app: &App, args: &AnswerArgs) -> bool {
    let settings = &app.config.generator;
    args.generator.is_none()
        && settings.kind.is_none()
        && model(app, args).is_none()
        && base_url(app, args).is_none()
}

/// Address of the server that is configured: the command line's, else the environment's, else the config file's.
pub(crate) fn base_url<'a>(app: &'a App, args: &'a AnswerArgs) -> Option<&'a String> {
    let file = &app.config.generator.base_url;
    args.base_url.as_ref().or(app.env.openai_base_url.as_ref()).or(file.as_ref())
}

fn model<'a>(app: &'a App, args: &'a AnswerArgs) -> Option<&'a String> {
    args.model.as_ref().or(app.config.generator.model.as_ref())
}

/// Whether an address may be written into a run folder.
fn without_credentials(url: &str) -> bool {
    Url::parse(url).is_ok_and(|url| {
        url.username().is_empty() && url.password().is_none() && url.query().is_none()
    })
}

/// Whether the mode can do without a model.
fn works_without_model(mode: ModeChoice) -> bool {
    match mode {
        ModeChoice::Auto => true,
        ModeChoice::Named(mode) => !modes::of(mode).needs_generator,
    }
}

/// The model where none is named: of those that are installed the one that `models recommend` would choose, with the reason
/// where it is not the usual one. Nothing large is fetched unasked.
fn default_generator(app: &App) -> Result<String, CommandError> {
    let catalog = models::catalog(app)?;
    let (free, speed) = (free_memory(), generator_choice::remembered(app));
    let mut estimates = Vec::new();
    for entry in catalog.entries() {
        let Some(estimate) = generator_choice::Estimate::of(entry, free, speed) else { continue };
        if matches!(models::installed(app, &entry.name)?, Installed::Complete { .. }) {
            estimates.push(estimate);
        }
    }
    if estimates.is_empty() {
        return Ok(DEFAULT_GENERATOR.to_owned());
    }
    let choice = generator_choice::choose(&estimates);
    if choice.name != DEFAULT_GENERATOR {
        app.printer.say(&format!("{} writes, because {}", choice.name, choice.reason));
    }
    Ok(choice.name)
}

/// The same, which a server decides once: free memory changes, and with it would the model from one question to the next. Looks at
/// every model that is installed, and may say why it takes another.
async fn usual(app: &App) -> Result<String, CommandError> {
    app.resident.or_open(USUAL, async { default_generator(app) }).await
}

/// Decides which embedded model writes, where none is named, for as long as a server runs.
pub(crate) async fn settle(app: &App) {
    let args = AnswerArgs::default();
    let is_embedded = matches!(app.config.generator.kind.as_deref(), None | Some("embedded"));
    if is_embedded && model(app, &args).is_none() && base_url(app, &args).is_none() {
        // What is wrong with the models is told to whoever asks for one.
        let _told_later = usual(app).await;
    }
}

async fn embedded(app: &App, args: &AnswerArgs) -> Result<Arc<dyn Generator>, CommandError> {
    let asked = args.model.as_deref().or(app.config.generator.model.as_deref());
    let name = match asked {
        Some(name) => name.to_owned(),
        None => usual(app).await?,
    };
    let name = name.as_str();
    let is_file =
        Path::new(name).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("gguf"));
    let options = models::gguf_options(app, name);
    let open = async {
        let path =
            if is_file { Path::new(name).to_owned() } else { models::gguf(app, name).await? };
        Ok(Arc::new(GgufGenerator::open(&path, options)?) as Arc<dyn Generator>)
    };
    app.resident.or_open(name, open).await
}

/// The server at `base_url`. If that or its model is missing, the error says what this machine has.
async fn named_server(
    app: &App,
    args: &AnswerArgs,
    base_url: Option<&String>,
) -> Result<OpenAiGenerator, CommandError> {
    let Some(base_url) = base_url else {
        let error = CommandError::user("no language model server is named")
            .with_hint("pass --base-url URL or set OPENAI_BASE_URL");
        return Err(local_servers::suggest(error, app, args).await);
    };
    let Some(model) = model(app, args) else {
        let error = CommandError::user("no model of the server is named")
            .with_hint("pass --model NAME as the server calls it");
        return Err(local_servers::suggest_models(error, app, args, base_url).await);
    };
    server(app, args, base_url, model)
}

fn server(
    app: &App,
    args: &AnswerArgs,
    base_url: &str,
    model: &str,
) -> Result<OpenAiGenerator, CommandError> {
    let settings = &app.config.generator;
    let mut config = OpenAiConfig::new(base_url, model)?;
    let key = match &app.env.openai_api_key {
        Some(key) => Some(key.clone()),
        None => {
            if let Some(file) = &settings.key_file {
                app.warn_if_open(file);
            }
            app.config.key()?
        }
    };
    config.key = key.map(SecretString::from);
    config.strength = match args.strength.as_deref().or(settings.strength.as_deref()) {
        Some("small") => GeneratorStrength::Small,
        None | Some("strong") => GeneratorStrength::Strong,
        Some(other) => {
            return Err(CommandError::user(format!("generator.strength is {other:?}"))
                .with_hint("it must be small or strong"));
        }
    };
    if let Some(tokens) = settings.context_tokens {
        config.context_tokens = tokens;
    }
    if let Some(seconds) = settings.deadline_seconds {
        config.retry.deadline = Duration::from_secs(seconds);
    }
    if let Some(attempts) = settings.attempts {
        config.retry.attempts = attempts.max(1);
    }
    if let Some(pause) = settings.retry_pause_ms {
        config.retry.base = Duration::from_millis(pause);
    }
    config.usd_per_million = price(app, model)?;
    Ok(OpenAiGenerator::new(HttpClient::new()?, config)?)
}

/// The user's price, else the built-in one: US dollars of a million tokens read, and of a million written.
fn price(app: &App, model: &str) -> Result<Option<(f64, f64)>, CommandError> {
    let path = app.home.price_file();
    let own = match fs_err::read_to_string(&path) {
        Ok(text) => Some(
            PriceTable::parse(&text, &path.display().to_string())
                .user(|| "the price file cannot be used".to_owned())?,
        ),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        Err(error) => return Err(error).user(|| "cannot read the price file".to_owned()),
    };
    let builtin = PriceTable::builtin();
    let table = match own {
        Some(own) => own.or(builtin),
        None => builtin,
    };
    Ok(table.lookup(model).map(|price| (price.input, price.output)))
}
