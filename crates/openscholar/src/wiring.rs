//! Puts models, datastore and clients together into the ports of a run.

pub(crate) mod built_in;
pub(crate) mod copy;
pub(crate) mod free_memory;
pub(crate) mod generator;
pub(crate) mod generator_choice;
pub(crate) mod graph;
pub(crate) mod judge;
pub(crate) mod local_servers;
pub(crate) mod models;
pub(crate) mod open_datastore;
pub(crate) mod providers;
pub(crate) mod pull;
pub(crate) mod reranker;
pub(crate) mod sentences;
pub(crate) mod sources;
#[cfg(any(test, feature = "self-test"))]
pub(crate) mod standin;
pub(crate) mod standing;
pub(crate) mod store_writer;
pub(crate) mod stored;
pub(crate) mod upgrade;

use std::collections::BTreeMap;
use std::sync::Arc;

use scholar_clients::OpenAiGenerator;
use scholar_core::{AnswerMode, Encoder as _, GeneratorInfo, Notice, Query, Question};
use scholar_pipeline::retrieve::sources::{SourcesConfig, WideRetriever};
use scholar_pipeline::{AskConfig, Meter, ModeChoice, Ports, mode_for};

use crate::app::App;
use crate::args::{AnswerArgs, AskArgs};
use crate::error::CommandError;
use crate::runs::WiringRecord;

pub(crate) use open_datastore::{OpenDatastore, starter};
pub(crate) use sources::{QuestionRetriever, Sources};

/// The ports of `ask` and `review`.
pub(crate) struct Wired {
    pub(crate) ports: Ports,
    /// The retriever, if it looks beyond the datastore.
    pub(crate) wide: Option<Arc<WideRetriever>>,
    /// Where it looks.
    pub(crate) sources: Sources,
    /// Names of what is behind them.
    pub(crate) models: BTreeMap<String, String>,
    /// What a person should know about them.
    pub(crate) notices: Vec<Notice>,
    /// What a resumed run needs to get the same ports.
    pub(crate) record: WiringRecord,
    server: Option<Arc<OpenAiGenerator>>,
}

impl Wired {
    /// [`Wired::notices`] with what was learned about the server since.
    pub(crate) fn all_notices(&self) -> Vec<Notice> {
        let learned = self.server.iter().flat_map(|server| server.notices());
        self.notices.iter().cloned().chain(learned).collect()
    }
}

/// What of a command line the ports depend on.
#[derive(Clone, Copy)]
pub(crate) struct PortsWanted<'a> {
    pub(crate) answer: &'a AnswerArgs,
    pub(crate) preset: &'a str,
    pub(crate) mode: ModeChoice,
}

impl<'a> PortsWanted<'a> {
    /// Of `ask`.
    pub(crate) fn of_ask(args: &'a AskArgs) -> Self {
        let AskArgs { answer, preset, mode, .. } = args;
        Self { answer, preset, mode: *mode }
    }
}

/// Opens the ports of `ask` and `review`.
pub(crate) async fn ports(
    app: &App,
    datastore: &OpenDatastore,
    wanted: PortsWanted<'_>,
    question: &Question,
    config: &AskConfig,
    meter: &Arc<Meter>,
) -> Result<Wired, CommandError> {
    let PortsWanted { answer, preset, mode } = wanted;
    let mut notices = Vec::new();
    let reranker = if answer.no_rerank {
        // The ranking says what that means.
        None
    } else {
        let (reranker, notice) =
            reranker::open(app, datastore, answer.reranker.as_deref(), None).await?;
        notices.extend(notice);
        Some(reranker)
    };
    // Before the embedded model, which may have to be downloaded.
    if app.printer.chatty()
        && !app.resident.is_on()
        && generator::is_unset(app, answer)
        && let Some(hint) = local_servers::hint(&local_servers::find(app, answer).await)
    {
        app.printer.hint(&hint);
    }
    let generator::Writer { generator, server, wiring: mut record } =
        generator::open(app, answer, generator::Use::answer(mode, config), &mut notices).await?;
    let generator = generator.map(|generator| meter.wrap(generator));
    let judge_model = generator::judge_model(app, answer).await?;
    let judge_model = judge_model.map(|model| meter.wrap(model));
    let (attributor, notice) =
        judge::open(app, answer.judge.as_deref(), generator.as_ref(), judge_model.as_ref()).await?;
    notices.extend(notice);
    let mut names = BTreeMap::from([
        ("encoder".to_owned(), datastore.encoder.info().name.clone()),
        ("judge".to_owned(), attributor.name().to_owned()),
    ]);
    if let Some(reranker) = &reranker {
        names.insert("reranker".to_owned(), reranker.info().name.clone());
    }
    if let Some(generator) = &generator {
        names.insert("generator".to_owned(), generator.info().model.clone());
    }
    let info = generator.as_ref().map(|generator| generator.info());
    let sources = Sources::open(app, &answer.search_sources, reach(preset, mode, info))?;
    notices.extend(sources.notices.iter().cloned());
    record.sources = sources.names();
    record.looking = (!record.sources.is_empty()).then_some(sources.config);
    let QuestionRetriever { retriever, wide } =
        sources.retriever(datastore, &Query::from(question));
    let sentence_classifier = sentences::open(app, datastore.encoder.info()).await?;
    let ports = Ports {
        graph: graph::open(&sources, datastore, wide.as_ref()),
        retriever,
        reranker,
        generator,
        encoder: Some(datastore.encoder.clone()),
        sentence_classifier,
        attributor,
        clock: app.clock(),
        meter: Some(Arc::clone(meter)),
    };
    Ok(Wired { ports, wide, sources, models: names, notices, record, server })
}

/// How far sources are asked: as published under `--preset upstream` and `nature`, else as a person waits for it.
pub(crate) fn reach(
    preset: &str,
    mode: ModeChoice,
    generator: Option<&GeneratorInfo>,
) -> SourcesConfig {
    let mut config = match preset {
        "nature" | "upstream" => SourcesConfig::paper(),
        _ => SourcesConfig::quick(),
    };
    let (mode, _) = mode_for(mode, generator);
    if mode == AnswerMode::Generative {
        // The model names keywords; the question's own words are always among the queries.
        config.keywords = 1;
    }
    config
}
