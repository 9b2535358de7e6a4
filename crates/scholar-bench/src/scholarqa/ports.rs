//! The ports of a run: opened once, put together anew for each item.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use jiff::civil::Date;
use scholar_core::{
    Attributor, CitationGraph, Encoder, Generator, Query, Reranker, Retriever, SentenceClassifier,
};
use scholar_pipeline::budget::Budget;
use scholar_pipeline::proof::GeneratorAttributor;
use scholar_pipeline::{Alarm, AskConfig, Clock, Meter, Ports};

use super::answer;
use super::fixed_retriever::{FixedRetriever, NoRetriever};
use super::frozen::{RetrievedSet, SavingRetriever};
use super::item::Item;
use super::prediction::{Prediction, PredictionStatus};
use super::system::{ContextSource, filter_of};

/// Which attributor judges whether passages support a sentence.
pub enum RunJudge {
    /// The writing model: of each item, so that its account counts the calls.
    Writer,
    /// One judge for all items.
    Shared(Arc<dyn Attributor>),
}

/// What searches papers for one question.
pub struct Searching {
    /// Where passages come from.
    pub retriever: Arc<dyn Retriever>,
    /// Who cites whom among the papers that are searched, where that is known.
    pub graph: Option<Arc<dyn CitationGraph>>,
}

impl Searching {
    /// Passages alone: frozen and given ones lead nowhere.
    fn without_graph(retriever: impl Retriever + 'static) -> Self {
        Self { retriever: Arc::new(retriever), graph: None }
    }
}

/// What searches papers for a question; for an empty one, stored papers alone.
pub type SearchOf = Box<dyn Fn(Option<&Query>) -> Searching + Send + Sync>;

/// What all items of a run share.
pub struct RunPorts {
    /// Where passages come from.
    pub contexts: ContextSource,
    /// What searches papers, where any are searched.
    pub search: Option<SearchOf>,
    /// Sets of an earlier run by item, served instead of a search.
    pub frozen: Option<HashMap<String, RetrievedSet>>,
    /// Keeps what is found for each item.
    pub saves: bool,
    /// Compares sentences (redundancy, evidence selection).
    pub encoder: Option<Arc<dyn Encoder>>,
    /// Tells which sentences answer the question; it reads the vectors of [`Self::encoder`].
    pub sentence_classifier: Option<Arc<dyn SentenceClassifier>>,
    /// Ranks the pool by (question, passage) pairs.
    pub reranker: Option<Arc<dyn Reranker>>,
    /// Writes; wrapped by [`Self::meter`].
    pub generator: Option<Arc<dyn Generator>>,
    /// Judges whether a passage supports a sentence.
    pub judge: RunJudge,
    /// The account of the whole run.
    pub meter: Arc<Meter>,
    /// What time is measured with.
    pub clock: Clock,
    /// Ends calls in which nothing arrives any more.
    pub alarm: Option<Alarm>,
}

/// The prediction for one item, and what was retrieved for it.
pub struct Answered {
    /// What the system answered.
    pub prediction: Prediction,
    /// What was found, where it is kept.
    pub set: Option<RetrievedSet>,
}

/// The ports of one item.
struct ItemPorts {
    ports: Ports,
    saving: Option<Arc<SavingRetriever>>,
    meter: Arc<Meter>,
}

impl RunPorts {
    /// Names of what stands behind encoder, reranker and generator.
    pub fn names(&self) -> BTreeMap<String, String> {
        let named = [
            ("encoder", self.encoder.as_ref().map(|encoder| encoder.info().name.clone())),
            ("reranker", self.reranker.as_ref().map(|reranker| reranker.info().name.clone())),
            ("generator", self.generator.as_ref().map(|one| one.info().model.clone())),
        ];
        named.into_iter().filter_map(|(what, name)| Some((what.to_owned(), name?))).collect()
    }

    /// Whether the model computes in this process: items then wait for one another.
    pub fn is_local(&self) -> bool {
        self.generator.as_ref().is_none_or(|generator| generator.info().local)
    }

    /// Names of the items of which there is no frozen set, if the run serves frozen sets.
    pub fn without_set<'a>(&self, items: &'a [Item]) -> Vec<&'a str> {
        let Some(sets) = self.frozen.as_ref().filter(|_| self.contexts == ContextSource::Retrieved)
        else {
            return Vec::new();
        };
        items.iter().map(|item| item.id.as_str()).filter(|id| !sets.contains_key(*id)).collect()
    }

    /// Why no more items should be asked after `prediction`: the budget of the run cut it.
    pub fn stops(&self, prediction: &Prediction) -> Option<String> {
        let spent = self.meter.exceeded();
        let why = spent.filter(|_| prediction.status == PredictionStatus::Cut);
        why.map(|why| why.to_string())
    }

    /// Asks `item` with `config`; `before` cuts evidence off where the item names no day. A failure is a prediction that
    /// says so.
    pub async fn answer(&self, item: &Item, config: &AskConfig, before: Option<Date>) -> Answered {
        let mut config = config.clone();
        config.retrieval.filter = filter_of(item, before);
        let Some(opened) = self.item(item) else {
            let mut prediction = Prediction::new(&item.id, &item.question, "");
            prediction.status = PredictionStatus::Failed;
            prediction.error =
                Some("the judge requires a model, and none is configured".to_owned());
            return Answered { prediction, set: None };
        };
        let mut prediction = answer::answer(&opened.ports, item, &config, &()).await;
        prediction.seconds = Some(opened.meter.spent().seconds);
        prediction.settle(self.meter.exceeded().is_some());
        Answered { prediction, set: opened.saving.map(|saving| saving.set(&item.id)) }
    }

    /// The ports for `item`, which has an account of its own beside the run's, so that its cost is known; `None` when its
    /// judge is a model and there is none.
    fn item(&self, item: &Item) -> Option<ItemPorts> {
        let meter = Meter::start_with(Budget::unlimited(), self.clock.clone(), self.alarm.clone());
        let generator = self.generator.clone().map(|generator| meter.wrap(generator));
        let attributor = match (&self.judge, &generator) {
            (RunJudge::Shared(judge), _) => Arc::clone(judge),
            (RunJudge::Writer, Some(generator)) => {
                Arc::new(GeneratorAttributor::new(Arc::clone(generator)))
            }
            (RunJudge::Writer, None) => return None,
        };
        let Searching { retriever, graph } = self.searching(item);
        let saving = self.saves.then(|| Arc::new(SavingRetriever::new(Arc::clone(&retriever))));
        let retriever = match &saving {
            Some(saving) => Arc::clone(saving) as Arc<dyn Retriever>,
            None => retriever,
        };
        let ports = Ports {
            retriever,
            graph,
            reranker: self.reranker.clone(),
            generator,
            encoder: self.encoder.clone(),
            sentence_classifier: self.sentence_classifier.clone(),
            attributor,
            clock: self.clock.clone(),
            meter: Some(Arc::clone(&meter)),
        };
        Some(ItemPorts { ports, saving, meter })
    }

    fn searching(&self, item: &Item) -> Searching {
        match (self.contexts, &self.frozen, &self.search) {
            (ContextSource::Given, ..) => {
                Searching::without_graph(FixedRetriever::given(&item.id, &item.contexts))
            }
            (ContextSource::Retrieved, Some(sets), _) => {
                let hits = sets.get(&item.id).map(|set| set.hits.clone()).unwrap_or_default();
                Searching::without_graph(FixedRetriever::frozen(hits))
            }
            (ContextSource::Retrieved, None, Some(search)) => {
                search(Query::new(&item.question).as_ref())
            }
            (ContextSource::None, ..) | (ContextSource::Retrieved, None, None) => {
                Searching::without_graph(NoRetriever)
            }
        }
    }
}
