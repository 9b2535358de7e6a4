//! The ports of a benchmark run: opened once, put together anew for each item.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use scholar_bench::scholarqa::frozen::{RetrievedSet, SavingRetriever, read_sets};
use scholar_bench::scholarqa::given::{FixedRetriever, NoRetriever};
use scholar_bench::scholarqa::{ContextSource, Item, System};
use scholar_core::{
    AnswerMode, Attributor, Encoder as _, Generator, Notice, NoticeKind, Query, Reranker, Retriever,
};
use scholar_models::{LateInteractionOptions, LateInteractionReranker, LocalEncoder, TokenEncoder};
use scholar_pipeline::budget::Budget;
use scholar_pipeline::proof::GeneratorAttributor;
use scholar_pipeline::{AskConfig, Meter, Ports};

use crate::app::App;
use crate::args::BenchRunArgs;
use crate::config::DEFAULT_ENCODER;
use crate::error::CommandError;
use crate::wiring::{self, Shelf, Sources, generator, judge, models, reranker};

/// What all items of a run share.
pub(super) struct Wiring {
    system: System,
    shelf: Option<Shelf>,
    sources: Option<Sources>,
    frozen: Option<HashMap<String, RetrievedSet>>,
    encoder: Option<Arc<LocalEncoder>>,
    reranker: Option<Arc<dyn Reranker>>,
    generator: Option<Arc<dyn Generator>>,
    judge: Judge,
    /// The account of the whole run.
    pub(super) meter: Arc<Meter>,
    /// Names of what is behind the ports.
    pub(super) models: BTreeMap<String, String>,
    /// The datastore that is asked.
    pub(super) datastore: Option<String>,
    /// What a person should know about them.
    pub(super) notices: Vec<Notice>,
}

/// Who judges support.
enum Judge {
    /// The writing model: of each item, so that its account counts the calls.
    Writer,
    /// One judge for all items.
    Shared(Arc<dyn Attributor>),
}

/// The ports of one item.
pub(super) struct Opened {
    pub(super) ports: Ports,
    /// Keeps what is found, where it shall be kept.
    pub(super) saving: Option<Arc<SavingRetriever>>,
    meter: Arc<Meter>,
}

impl Opened {
    /// Seconds since the ports were opened.
    pub(super) fn seconds(&self) -> f64 {
        self.meter.spent().seconds
    }
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
        let generator::Writer { generator, server, wiring: _ } =
            generator::open(app, &args.answer, system.mode.into(), &mut notices).await?;
        if system.server_only && server.is_none() {
            return Err(CommandError::user("model-alone asks the model of a server")
                .with_hint("pass --base-url URL --model NAME, or --system no-retrieval"));
        }
        let generator = generator.map(|generator| meter.wrap(generator));
        refuse_unkept_limit(args, generator.as_deref())?;
        let (opened, notice) =
            judge::open(app, args.answer.judge.as_deref(), generator.as_ref()).await?;
        notices.extend(notice);
        let models = BTreeMap::from([("judge".to_owned(), opened.name().to_owned())]);
        let named = args.answer.judge.as_deref().or(app.config.judge.as_deref());
        let judge = match named {
            Some("embedded" | "server") => Judge::Writer,
            _ => Judge::Shared(opened),
        };
        let mut wiring = Self {
            system,
            shelf: None,
            sources: None,
            frozen: args.retrieved.as_deref().map(read_sets).transpose()?,
            encoder: None,
            reranker: None,
            generator,
            judge,
            meter,
            models,
            datastore: None,
            notices,
        };
        wiring.open_retrieval(app, args, items, config).await?;
        wiring.name();
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
        if let Some(sets) = self.frozen.as_ref().filter(|_| retrieves) {
            if let Some(item) = items.iter().find(|item| !sets.contains_key(&item.id)) {
                let n = items.iter().filter(|item| !sets.contains_key(&item.id)).count();
                return Err(CommandError::user(format!(
                    "the file of retrieved passages has none for {n} of {} items, for example {}",
                    items.len(),
                    item.id
                ))
                .with_hint(
                    "make it with the same task, --limit and --seed: --save-retrieved FILE",
                ));
            }
        } else if retrieves {
            let name = app.datastore_name(args.answer.datastore.as_deref());
            app.home.datastore(&name)?;
            let shelf = Shelf::open(app, &name).await?;
            if !args.answer.no_rerank {
                let (reranker, notice) =
                    reranker::open(app, &shelf, args.answer.reranker.as_deref(), None).await?;
                self.notices.extend(notice);
                self.reranker = Some(reranker);
            }
            let info = self.generator.as_ref().map(|generator| generator.info());
            let reach = wiring::reach("paper", self.system.mode.into(), info);
            let sources = Sources::open(app, &args.answer.look, reach)?;
            self.notices.extend(sources.notices.iter().cloned());
            self.encoder = Some(shelf.encoder.clone());
            (self.shelf, self.sources, self.datastore) = (Some(shelf), Some(sources), Some(name));
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
                self.reranker = Some(Arc::new(reranker));
            }
            self.encoder = Some(encoder);
        }
        Ok(())
    }

    fn name(&mut self) {
        let named = [
            ("encoder", self.encoder.as_ref().map(|encoder| encoder.info().name.clone())),
            ("reranker", self.reranker.as_ref().map(|reranker| reranker.info().name.clone())),
            ("generator", self.generator.as_ref().map(|one| one.info().model.clone())),
        ];
        let named = named.into_iter().filter_map(|(what, name)| Some((what.to_owned(), name?)));
        self.models.extend(named);
    }

    /// Whether the model computes in this process: items then wait for one another.
    pub(super) fn is_local(&self) -> bool {
        self.generator.as_ref().is_none_or(|generator| generator.info().local)
    }

    /// The ports for `item`. The item has an account of its own beside the run's, so that its cost is known.
    pub(super) fn item(
        &self,
        app: &App,
        args: &BenchRunArgs,
        item: &Item,
    ) -> Result<Opened, CommandError> {
        let meter = Meter::start_with(Budget::unlimited(), app.clock(), Some(App::alarm()));
        let generator = self.generator.clone().map(|generator| meter.wrap(generator));
        let attributor = match (&self.judge, &generator) {
            (Judge::Shared(judge), _) => Arc::clone(judge),
            (Judge::Writer, Some(generator)) => {
                Arc::new(GeneratorAttributor::new(Arc::clone(generator)))
            }
            (Judge::Writer, None) => {
                return Err(CommandError::user("the judge needs a model and there is none"));
            }
        };
        let retriever = self.retriever(item);
        let saving = args
            .save_retrieved
            .as_ref()
            .map(|_| Arc::new(SavingRetriever::new(Arc::clone(&retriever))));
        let retriever = match &saving {
            Some(saving) => Arc::clone(saving) as Arc<dyn Retriever>,
            None => retriever,
        };
        let ports = Ports {
            retriever,
            reranker: self.reranker.clone(),
            generator,
            encoder: self.encoder.clone().map(|encoder| encoder as Arc<dyn scholar_core::Encoder>),
            attributor,
            clock: app.clock(),
            meter: Some(Arc::clone(&meter)),
        };
        Ok(Opened { ports, saving, meter })
    }

    fn retriever(&self, item: &Item) -> Arc<dyn Retriever> {
        match (self.system.contexts, &self.frozen) {
            (ContextSource::None, _) => Arc::new(NoRetriever),
            (ContextSource::Given, _) => Arc::new(FixedRetriever::given(&item.id, &item.contexts)),
            (ContextSource::Retrieved, Some(sets)) => {
                let hits = sets.get(&item.id).map(|set| set.hits.clone()).unwrap_or_default();
                Arc::new(FixedRetriever::frozen(hits))
            }
            (ContextSource::Retrieved, None) => match (&self.sources, &self.shelf) {
                (Some(sources), Some(shelf)) => {
                    let question = Query::new(&item.question);
                    match question {
                        Some(question) => sources.retriever(shelf, &question).retriever,
                        None => shelf.retriever.clone(),
                    }
                }
                _ => Arc::new(NoRetriever),
            },
        }
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
    })
}

fn refuse_unkept_limit(
    args: &BenchRunArgs,
    generator: Option<&dyn Generator>,
) -> Result<(), CommandError> {
    let unknown = generator.is_some_and(|generator| generator.info().usd_per_million.is_none());
    if args.answer.max_cost.is_some() && unknown {
        return Err(CommandError::user(
            "--max-cost cannot be kept: the price of the model is unknown",
        )
        .with_hint("add its price to the price file: openscholar doctor names it"));
    }
    Ok(())
}
