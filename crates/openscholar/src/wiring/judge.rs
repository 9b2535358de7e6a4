//! Opens judges of support: the lexical one, a language model, or a classifier trained for it.

use std::path::Path;
use std::sync::Arc;

use scholar_core::{Attributor, Encoder, Generator, GeneratorStrength, Notice, NoticeKind};
use scholar_models::catalog::Purpose;
use scholar_models::gguf::GgufGenerator;
use scholar_models::{
    CrossEncoderOptions, Precision, T5Attributor, T5Precision, TrainedAttributor,
};
use scholar_pipeline::proof::ensemble::{FORMER_JUDGE_ENSEMBLE_FILE, JUDGE_ENSEMBLE_FILE};
use scholar_pipeline::proof::{
    EnsembleAttributor, GeneratorAttributor, JudgeEnsemble, LexicalAttributor, SectionAttributor,
};

use super::models;
use crate::app::App;
use crate::config::{DEFAULT_GENERATOR, DEFAULT_JUDGE};
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
/// model, `judge_model` another model of its server that shall judge. Unless something else is named, a capable model of a
/// server judges, with the default one beside it. A notice says when the default's model could not be had and words judge instead.
pub(crate) async fn open(
    app: &App,
    named: Option<&str>,
    generator: Option<&Arc<dyn Generator>>,
    judge_model: Option<&Arc<dyn Generator>>,
) -> Result<(Arc<dyn Attributor>, Option<Notice>), CommandError> {
    let configured = app.config.judge.as_deref().filter(|_| judge_model.is_none());
    let judge: Arc<dyn Attributor> = match named.or(configured).unwrap_or(AUTO) {
        AUTO => {
            let (small, notice): (Arc<dyn Attributor>, _) = match without_generator(app, AUTO).await
            {
                Ok(judge) => (judge, None),
                Err(error) if error.is_final() => return Err(error),
                Err(error) => (Arc::new(LexicalAttributor::new()), Some(without(&error))),
            };
            let capable = |generator: &&Arc<dyn Generator>| {
                let info = generator.info();
                !info.local && info.strength == GeneratorStrength::Strong
            };
            // The writing model judges too where it can; the small judge reads what it leaves open.
            return Ok(match judge_model.or(generator.filter(capable)) {
                Some(model) => (Arc::new(SectionAttributor::new(Arc::clone(model), small)), notice),
                None => (small, notice),
            });
        }
        name @ (EMBEDDED | SERVER) => {
            let wants_local = name == EMBEDDED;
            let fitting = generator.filter(|generator| generator.info().local == wants_local);
            let generator = fitting.ok_or_else(|| {
                CommandError::user(format!("--judge {name} needs the {name} generator"))
                    .with_hint(format!("pass --generator {name}, or --judge lexical"))
            })?;
            Arc::new(GeneratorAttributor::new(Arc::clone(generator)))
        }
        name => without_generator(app, name).await?,
    };
    Ok((judge, None))
}

fn without(error: &CommandError) -> Notice {
    let text = format!("judged by word overlap instead of {DEFAULT_JUDGE}: {error}");
    Notice::new(NoticeKind::Skipped, text).with_hint(format!(
        "openscholar models pull {DEFAULT_JUDGE}, or write judge = \"{LEXICAL}\" into the config file"
    ))
}

/// The judge `name` for measuring it: one that needs no run.
pub(crate) async fn alone(app: &App, name: &str) -> Result<Arc<dyn Attributor>, CommandError> {
    match name {
        EMBEDDED => {
            let path = models::gguf(app, DEFAULT_GENERATOR).await?;
            let options = models::gguf_options(app, DEFAULT_GENERATOR);
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
        AUTO => DEFAULT_JUDGE,
        name => name,
    };
    app.resident.or_open(name, open_anew(app, name)).await
}

async fn open_anew(app: &App, name: &str) -> Result<Arc<dyn Attributor>, CommandError> {
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
    let model = Arc::new(TrainedAttributor::open(&folder, name, judging(app.threads()))?);
    Ok(match ensemble(&folder)? {
        Some(ensemble) => {
            let encoder = max_sim_encoder(app, ensemble.encoder.as_deref()).await?;
            Arc::new(EnsembleAttributor::new(model, encoder, ensemble))
        }
        None => model,
    })
}

/// How a trained judge is run, also where its weights are fitted.
pub(crate) fn judging(threads: usize) -> CrossEncoderOptions {
    CrossEncoderOptions { precision: Precision::Fastest, ..CrossEncoderOptions::project(threads) }
}

/// The encoder `name` that computes `MaxSim` of sentence and evidence for a judge ensemble.
pub(crate) async fn max_sim_encoder(
    app: &App,
    name: Option<&str>,
) -> Result<Option<Arc<dyn Encoder>>, CommandError> {
    let Some(name) = name else { return Ok(None) };
    let folder = models::ensure(app, name).await?;
    Ok(Some(models::reader(app, &folder, name)?))
}

/// The ensemble that the model in `folder` is part of; `None`: it judges alone.
fn ensemble(folder: &Path) -> Result<Option<JudgeEnsemble>, CommandError> {
    let names = [JUDGE_ENSEMBLE_FILE, FORMER_JUDGE_ENSEMBLE_FILE];
    let Some(path) = names.map(|name| folder.join(name)).into_iter().find(|path| path.is_file())
    else {
        return Ok(None);
    };
    let text =
        fs_err::read_to_string(&path).user(|| format!("{} is unreadable", path.display()))?;
    JudgeEnsemble::parse(&text).map(Some).map_err(|problem| {
        CommandError::user(format!(
            "{} has no valid weights of a judge ensemble: {problem}",
            path.display()
        ))
        .with_hint(
            "`openscholar train fit-weights` rewrites it; without it the model's score is used alone",
        )
    })
}
