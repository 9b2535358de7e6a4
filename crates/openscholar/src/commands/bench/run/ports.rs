//! The ports of a benchmark run, opened as the arguments say.

use std::collections::BTreeMap;
use std::sync::Arc;

use scholar_bench::scholarqa::frozen::read_sets;
use scholar_bench::scholarqa::ports::{RunJudge, RunPorts, Searching};
use scholar_bench::scholarqa::{ContextSource, Item, System};
use scholar_core::{AnswerMode, Encoder as _, Generator, Notice, NoticeKind};
use scholar_models::{LateInteractionOptions, LateInteractionReranker, TokenEncoder};
use scholar_pipeline::budget::Budget;
use scholar_pipeline::{AskConfig, Meter};

use crate::app::App;
use crate::args::BenchRunArgs;
use crate::config::DEFAULT_ENCODER;
use crate::error::CommandError;
use crate::wiring::{
    self, OpenDatastore, QuestionRetriever, Sources, generator, judge, models, reranker,
};

/// The ports of a run, and what its manifest says of them.
pub(super) struct Wiring {
    system: System,
    /// What items are asked with.
    pub(super) ports: RunPorts,
    /// Names of what is behind the ports.
    pub(super) models: BTreeMap<String, String>,
    /// The datastore that is asked.
    pub(super) datastore: Option<String>,
    /// What a person should know about them.
    pub(super) notices: Vec<Notice>,
}

impl Wiring {
    pub(super) async fn open(
        app: &App,
        args: &BenchRunArgs,
        system: System,
        items: &[Item],
        config: &AskConfig,
    ) -> Result<Self, CommandError> {
        let mut notices = Vec::new();
        let meter = Meter::start_with(budget(args)?, app.clock(), Some(App::alarm()));
        let generator::Writer { generator, server, wiring: _ } = generator::open(
            app,
            &args.answer,
            generator::Use::answer(system.mode.into(), config),
            &mut notices,
        )
        .await?;
        if system.server_only && server.is_none() {
            return Err(CommandError::user("model-alone asks the model of a server")
                .with_hint("pass --base-url URL --model NAME, or --system no-retrieval"));
        }
        let generator = generator.map(|generator| meter.wrap(generator));
        refuse_unkept_limit(args, generator.as_deref())?;
        let judge_model = generator::judge_model(app, &args.answer).await?;
        let judge_model = judge_model.map(|model| meter.wrap(model));
        let named = args.answer.judge.as_deref();
        let (opened, notice) =
            judge::open(app, named, generator.as_ref(), judge_model.as_ref()).await?;
        notices.extend(notice);
        let models = BTreeMap::from([("judge".to_owned(), opened.name().to_owned())]);
        let named = args.answer.judge.as_deref().or(app.config.judge.as_deref());
        let judge = match named {
            Some("embedded" | "server") => RunJudge::Writer,
            _ => RunJudge::Shared(opened),
        };
        let ports = RunPorts {
            contexts: system.contexts,
            search: None,
            frozen: args.retrieved.as_deref().map(read_sets).transpose()?,
            saves: args.save_retrieved.is_some(),
            encoder: None,
            sentence_classifier: None,
            reranker: None,
            generator,
            judge,
            meter,
            clock: app.clock(),
            alarm: Some(App::alarm()),
        };
        let mut wiring = Self { system, ports, models, datastore: None, notices };
        wiring.open_retrieval(app, args, items, config).await?;
        wiring.models.extend(wiring.ports.names());
        Ok(wiring)
    }

    async fn open_retrieval(
        &mut self,
        app: &App,
        args: &BenchRunArgs,
        items: &[Item],
        config: &AskConfig,
    ) -> Result<(), CommandError> {
        let retrieves = self.system.contexts == ContextSource::Retrieved;
        if retrieves && self.ports.frozen.is_some() {
            let missing = self.ports.without_set(items);
            if let Some(first) = missing.first() {
                return Err(CommandError::user(format!(
                    "the file of retrieved passages has none for {} of {} items, for example {first}",
                    missing.len(),
                    items.len(),
                ))
                .with_hint(
                    "make it with the same task, --limit and --seed: --save-retrieved FILE",
                ));
            }
        } else if retrieves {
            let name = app.datastore_name(args.answer.datastore.as_deref());
            app.home.datastore(&name)?;
            let opened = OpenDatastore::open(app, &name).await?;
            if !args.answer.no_rerank {
                let (reranker, notice) =
                    reranker::open(app, &opened, args.answer.reranker.as_deref(), None).await?;
                self.notices.extend(notice);
                self.ports.reranker = Some(reranker);
            }
            let info = self.ports.generator.as_ref().map(|generator| generator.info());
            let reach = wiring::reach("paper", self.system.mode.into(), info);
            let sources = Sources::open_for_many(app, &args.answer.search_sources, reach)?;
            self.notices.extend(sources.notices.iter().cloned());
            self.ports.sentence_classifier =
                wiring::sentences::open(app, opened.encoder.info()).await?;
            self.ports.encoder = Some(opened.encoder.clone());
            self.ports.search = Some(Box::new(move |question| match question {
                Some(question) => {
                    let QuestionRetriever { retriever, wide } =
                        sources.retriever(&opened, question);
                    let graph = wiring::graph::open(&sources, &opened, wide.as_ref());
                    Searching { retriever, graph }
                }
                None => Searching {
                    retriever: opened.retriever.clone(),
                    graph: Some(wiring::graph::stored(&opened)),
                },
            }));
            self.datastore = Some(name);
            return Ok(());
        }
        let shown = config.ranking.top_n;
        let chooses = match self.system.contexts {
            ContextSource::None => false,
            ContextSource::Retrieved => true,
            ContextSource::Given => items.iter().any(|item| item.contexts.len() > shown),
        };
        if args.answer.no_rerank && !chooses {
            let message = format!(
                "--no-rerank changes nothing: no item has more than the {shown} passages that are shown, so nothing is reranked"
            );
            self.notices.push(Notice::new(NoticeKind::Weak, message));
        }
        let compares = self.system.mode == AnswerMode::Evidence;
        if compares || (chooses && !args.answer.no_rerank) {
            let name = app.config.encoder.as_deref().unwrap_or(DEFAULT_ENCODER);
            let encoder = models::encoder(app, name, models::Reading::WHOLE).await?;
            if chooses && !args.answer.no_rerank {
                let options = LateInteractionOptions::project(TokenEncoder::Retriever);
                let reranker = LateInteractionReranker::new(Arc::clone(&encoder), options)?;
                self.ports.reranker = Some(Arc::new(reranker));
            }
            self.ports.encoder = Some(encoder);
        }
        Ok(())
    }
}

#[expect(clippy::cast_precision_loss, reason = "a deadline in seconds is far below 2^52")]
fn budget(args: &BenchRunArgs) -> Result<Budget, CommandError> {
    if args.answer.max_cost.is_some_and(|cost| !cost.is_finite() || cost < 0.0) {
        return Err(CommandError::user("--max-cost must be a number of dollars, 0 or more"));
    }
    Ok(Budget {
        max_cost: args.answer.max_cost,
        max_tokens: args.answer.max_tokens,
        max_seconds: args.answer.max_seconds.map(|seconds| seconds as f64),
        max_calls: args.answer.max_calls,
        reserved_calls: 0,
    })
}

fn refuse_unkept_limit(
    args: &BenchRunArgs,
    generator: Option<&dyn Generator>,
) -> Result<(), CommandError> {
    let unknown = generator.is_some_and(|generator| generator.info().usd_per_million.is_none());
    if args.answer.max_cost.is_some() && unknown {
        return Err(CommandError::user(
            "--max-cost cannot be enforced: the price of the model is unknown",
        )
        .with_hint("add its price to the price file: openscholar doctor names it"));
    }
    Ok(())
}
