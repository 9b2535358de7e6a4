//! Models on disk: found in the catalog, fetched when they are absent, opened.

use std::path::{MAIN_SEPARATOR, Path, PathBuf};
use std::sync::{Arc, Weak};

use scholar_clients::download::Installed;
use scholar_core::{EncoderInfo, TextPreparation};
use scholar_models::catalog::{Catalog, CatalogEntry, Purpose};
use scholar_models::gguf::GgufOptions;
use scholar_models::{EncoderOptions, LocalEncoder, Precision};

use crate::app::App;
use crate::config::DEFAULT_ENCODER;
use crate::error::{CommandError, Context as _, ErrorKind};
use crate::wiring::free_memory::free_memory;

/// The built-in catalog with the user's own entries.
pub(crate) fn catalog(app: &App) -> Result<Catalog, CommandError> {
    let path = app.home.catalog_file();
    match fs_err::read_to_string(&path) {
        Ok(text) => {
            let own = Catalog::parse(&text, &path.display().to_string())
                .user(|| "your model catalog cannot be used".to_owned())?;
            Ok(Catalog::builtin().extended(own))
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Catalog::builtin()),
        Err(error) => Err(error).user(|| "cannot read your model catalog".to_owned()),
    }
}

/// The catalog entry called `name`.
pub(crate) fn entry(app: &App, name: &str) -> Result<CatalogEntry, CommandError> {
    catalog(app)?.find(name).cloned().map_err(|unknown| {
        CommandError::user(unknown.to_string()).with_hint("openscholar models list shows all")
    })
}

/// Folder of the model called `name`, whether it is there or not.
pub(crate) fn folder(app: &App, name: &str) -> PathBuf {
    app.home.models().join(name)
}

/// Whether the model is here, and whole as far as names and sizes tell. Cheap: nothing is hashed.
pub(crate) fn installed(app: &App, name: &str) -> Result<Installed, CommandError> {
    let entry = entry(app, name)?;
    match super::built_in::of(&entry)? {
        Some(shipped) => Ok(shipped.installed(&folder(app, name))),
        None => Ok(super::pull::installed(app, &entry)),
    }
}

/// The folder `name` means when it is a path, made absolute: a name with a separator in it.
pub(crate) fn local(name: &str) -> Result<Option<PathBuf>, CommandError> {
    if !name.contains(['/', MAIN_SEPARATOR]) {
        return Ok(None);
    }
    let path = std::path::absolute(Path::new(name))
        .user(|| format!("{name:?} cannot be the path of a model"))?;
    if path.is_dir() {
        return Ok(Some(path));
    }
    Err(CommandError::user(format!("there is no model folder {}", path.display())).with_hint(
        "pass a folder with config.json, tokenizer.json and weights, or a name: openscholar models list",
    ))
}

/// Folder of the model, fetched first if it is absent; a path is that folder.
///
/// A damaged model is an error: what is used is what was asked for, and nothing is fetched that nobody asked for. One that
/// the program carries is written anew.
pub(crate) async fn ensure(app: &App, name: &str) -> Result<PathBuf, CommandError> {
    if let Some(folder) = local(name)? {
        return Ok(folder);
    }
    let (entry, place) = (entry(app, name)?, folder(app, name));
    if let Some(shipped) = super::built_in::of(&entry)? {
        if let Installed::Damaged { .. } = shipped.installed(&place) {
            app.printer
                .say(&format!("{name} differs from this version's built-in model: rewritten"));
        }
        app.home.create(&app.home.models())?;
        shipped.write(&app.home.models())?;
        return Ok(place);
    }
    match super::pull::checked(app, &entry).await? {
        Installed::Complete { dir, .. } => Ok(dir),
        Installed::Damaged { problems } => Err(damaged(&entry, &place, &problems)),
        Installed::Missing if app.offline => Err(CommandError::user(format!(
            "the model {name} is not installed, and --offline forbids fetching it"
        ))
        .with_hint(format!("download it: openscholar models pull {name}"))),
        Installed::Missing => {
            super::pull::pull(app, &entry, None).await?;
            Ok(place)
        }
    }
}

fn damaged(entry: &CatalogEntry, folder: &Path, problems: &[String]) -> CommandError {
    let name = &entry.name;
    let what = problems.join("; ");
    CommandError::new(
        ErrorKind::Damaged,
        format!(
            "the model {name} in {} is damaged or of another version: {what}",
            folder.display()
        ),
    )
    .with_hint(format!("openscholar models pull {name} fetches it again"))
}

/// Whether the model in `folder` has a classifier on top: its architecture says so, or, where none is named, its classes. What
/// cannot be read is left to whoever opens it.
pub(crate) fn classifies(folder: &Path) -> bool {
    let config = fs_err::read_to_string(folder.join("config.json")).unwrap_or_default();
    let config: serde_json::Value = serde_json::from_str(&config).unwrap_or_default();
    match config["architectures"].as_array().filter(|named| !named.is_empty()) {
        Some(named) => named.iter().any(|name| {
            name.as_str().is_some_and(|name| name.ends_with("ForSequenceClassification"))
        }),
        None => ["id2label", "num_labels"].iter().any(|key| config.get(key).is_some()),
    }
}

/// How an encoder reads texts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reading {
    /// Longest input in tokens; `None`: the model's.
    pub(crate) max_tokens: Option<usize>,
    pub(crate) preparation: TextPreparation,
    pub(crate) precision: Precision,
}

impl Reading {
    /// All tokens of texts as they are.
    pub(crate) const WHOLE: Self =
        Self { max_tokens: None, preparation: TextPreparation::NONE, precision: Precision::Auto };

    /// The same as fast as can be, for candidates that are read again beside a question.
    pub(crate) const AGAIN: Self = Self { precision: Precision::Fastest, ..Self::WHOLE };
}

impl From<&EncoderInfo> for Reading {
    /// As a datastore was built.
    fn from(info: &EncoderInfo) -> Self {
        let (max_tokens, preparation) = (Some(info.max_tokens), info.preparation);
        Self { max_tokens, preparation, ..Self::WHOLE }
    }
}

/// Opens an encoder.
pub(crate) async fn encoder(
    app: &App,
    name: &str,
    reading: Reading,
) -> Result<Arc<LocalEncoder>, CommandError> {
    let folder = ensure(app, name).await?;
    encoder_in(app, &folder, name, reading)
}

/// The same of a model that lies in `folder`.
pub(crate) fn encoder_in(
    app: &App,
    folder: &Path,
    name: &str,
    reading: Reading,
) -> Result<Arc<LocalEncoder>, CommandError> {
    // A datastore keeps the name: a path must mean the same from every folder.
    let absolute = local(name)?.map(|path| path.display().to_string());
    let name = absolute.as_deref().unwrap_or(name);
    Ok(Arc::new(LocalEncoder::open(folder, name, encoder_options(app, name, reading)?)?))
}

/// The encoder that reads beside a question ([`Reading::AGAIN`]) from `folder`: one for all who ask, as the reranker of a search
/// often is what a judge sees similarity by.
pub(crate) fn reader(
    app: &App,
    folder: &Path,
    name: &str,
) -> Result<Arc<LocalEncoder>, CommandError> {
    let mut encoders = app.encoders.lock();
    if let Some(reader) = encoders.get(folder).and_then(Weak::upgrade) {
        return Ok(reader);
    }
    let reader = encoder_in(app, folder, name, Reading::AGAIN)?;
    encoders.insert(folder.to_owned(), Arc::downgrade(&reader));
    Ok(reader)
}

/// The encoder of the starter papers, reading texts whole.
pub(crate) async fn default_encoder(app: &App) -> Result<Arc<LocalEncoder>, CommandError> {
    encoder(app, DEFAULT_ENCODER, Reading::WHOLE).await
}

/// How the model is run here: all tokens, the catalog's pooling and similarity.
pub(crate) fn encoder_options(
    app: &App,
    name: &str,
    reading: Reading,
) -> Result<EncoderOptions, CommandError> {
    let Reading { max_tokens, preparation, precision } = reading;
    let project = EncoderOptions::project(app.threads());
    let project = EncoderOptions { max_tokens, preparation, precision, ..project };
    if local(name)?.is_some() {
        return Ok(project);
    }
    let entry = entry(app, name)?;
    Ok(EncoderOptions { pooling: entry.pooling, similarity: entry.similarity, ..project })
}

/// How a language model runs in this process, whichever command opens it: on the configured threads, with a context that fits
/// into free memory.
pub(crate) fn gguf_options(app: &App, name: &str) -> GgufOptions {
    GgufOptions {
        name: Some(name.to_owned()),
        threads: Some(app.threads()),
        memory_bytes: free_memory(),
        ..GgufOptions::laptop()
    }
}

/// The GGUF file of the generator called `name`, fetched first if it is absent.
pub(crate) async fn gguf(app: &App, name: &str) -> Result<PathBuf, CommandError> {
    let entry = entry(app, name)?;
    if entry.purpose != Purpose::Generator {
        return Err(CommandError::user(format!("{name} does not write text"))
            .with_hint("openscholar models list shows the use of each model"));
    }
    let file = entry.gguf().map(str::to_owned).ok_or_else(|| {
        let server = entry.server_model.as_deref().unwrap_or(name);
        CommandError::user(format!("{name} has no GGUF file, so it cannot run in this process"))
            .with_hint(format!("pass a GGUF file as --model, or run it behind a server: --base-url URL --model {server}"))
    })?;
    Ok(ensure(app, name).await?.join(file))
}
