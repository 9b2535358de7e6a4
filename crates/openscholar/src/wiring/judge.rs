//! Who judges support: rules, a writing model, or a model trained for it.

use std::path::Path;
use std::sync::Arc;

use scholar_core::{Attributor, Generator};
use scholar_models::catalog::Purpose;
use scholar_models::gguf::{GgufGenerator, GgufOptions};
use scholar_models::{CrossEncoderOptions, T5Attributor, T5Precision, TrainedAttributor};
use scholar_pipeline::proof::weighed::WEIGHING_FILE;
use scholar_pipeline::proof::{
    GeneratorAttributor, LexicalAttributor, WeighedAttributor, Weighing,
};

use super::models;
use crate::app::App;
use crate::config::{DEFAULT_GENERATOR, SHIPPED_ATTRIBUTOR};
use crate::error::{CommandError, Context as _};

/// Name of the judge without a model.
const LEXICAL: &str = "lexical";
/// Name of the embedded generator as a judge.
const EMBEDDED: &str = "embedded";
/// Name of the server's model as a judge.
const SERVER: &str = "server";
/// Name for what is used when none is named.
const AUTO: &str = "auto";

/// The judge `named` on the command line, else by the config, else the default one; `generator` is the run's writing
/// model.
pub(crate) async fn open(
    app: &App,
    named: Option<&str>,
    generator: Option<&Arc<dyn Generator>>,
) -> Result<Arc<dyn Attributor>, CommandError> {
    match named.or(app.config.judge.as_deref()).unwrap_or(AUTO) {
        name @ (EMBEDDED | SERVER) => {
            let wants_local = name == EMBEDDED;
            let fitting = generator.filter(|generator| generator.info().local == wants_local);
            let generator = fitting.ok_or_else(|| {
                CommandError::user(format!("--judge {name} needs the {name} generator"))
                    .with_hint(format!("pass --generator {name}, or --judge lexical"))
            })?;
            Ok(Arc::new(GeneratorAttributor::new(Arc::clone(generator))))
        }
        name => without_generator(app, name).await,
    }
}

/// The judge `name` for measuring it: one that needs no run.
pub(crate) async fn alone(app: &App, name: &str) -> Result<Arc<dyn Attributor>, CommandError> {
    match name {
        EMBEDDED => {
            let path = models::gguf(app, DEFAULT_GENERATOR).await?;
            let options =
                GgufOptions { name: Some(DEFAULT_GENERATOR.to_owned()), ..GgufOptions::laptop() };
            let generator = Arc::new(GgufGenerator::open(&path, options)?);
            Ok(Arc::new(GeneratorAttributor::new(generator)))
        }
        SERVER => Err(CommandError::user("the server's model judges within a run only")
            .with_hint("name lexical, embedded, a judge of the catalog or a model folder")),
        name => without_generator(app, name).await,
    }
}

async fn without_generator(app: &App, name: &str) -> Result<Arc<dyn Attributor>, CommandError> {
    let name = match name {
        AUTO => SHIPPED_ATTRIBUTOR.unwrap_or(LEXICAL),
        name => name,
    };
    if name == LEXICAL {
        return Ok(Arc::new(LexicalAttributor::new()));
    }
    if models::local(name)?.is_none() {
        let entry = models::catalog(app)?.find(name).cloned();
        if entry.is_ok_and(|entry| entry.purpose == Purpose::Attributor) {
            // Fetched below.
        } else {
            return Err(CommandError::user(format!("there is no judge {name:?}")).with_hint(
                "the judges are lexical, embedded, server, those of openscholar models list, and model folders",
            ));
        }
    }
    let folder = models::ensure(app, name).await?;
    if T5Attributor::is_t5(&folder)? {
        return Ok(Arc::new(T5Attributor::open(&folder, name, T5Precision::Auto)?));
    }
    let options = CrossEncoderOptions::project(app.threads());
    let model = Arc::new(TrainedAttributor::open(&folder, name, options)?);
    Ok(match weighing(&folder)? {
        Some(weighing) => Arc::new(WeighedAttributor::new(model, weighing)),
        None => model,
    })
}

/// How the model in `folder` is weighed against words; `None`: it judges alone.
fn weighing(folder: &Path) -> Result<Option<Weighing>, CommandError> {
    let path = folder.join(WEIGHING_FILE);
    if !path.is_file() {
        return Ok(None);
    }
    let text =
        fs_err::read_to_string(&path).user(|| format!("{} is unreadable", path.display()))?;
    Weighing::parse(&text).map(Some).map_err(|problem| {
        CommandError::user(format!("{} holds no weights of a judge: {problem}", path.display()))
            .with_hint(
                "`openscholar train weigh` writes it anew; without it the model judges alone",
            )
    })
}
