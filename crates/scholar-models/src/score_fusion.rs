//! Score fusion: a small cross-encoder's logit beside the score of the first stage.
//!
//! A cross-encoder of the size of `MiniLM` ranks no better than keyword and vector search together, but its errors are
//! different ones. So its logit need not replace their score, or that of a late-interaction reranker that scored the
//! candidates before it: the features are z-scored over the candidates of one query and added with the weights of the
//! model's folder ([`FusionConfig`]).

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use scholar_core::{Explanation, PortError, Query, RerankScore, Reranker, RerankerInfo, Retrieved};
use serde::Deserialize;

use crate::batcher::{Batcher, QUEUE_TOKENS};
use crate::cross_encoder::LocalCrossEncoder;
use crate::error::ModelError;
use crate::fusion::{self, WeightedFeatures, by_first_stage, fused, read_weights};
use crate::lexical::Lexical;

const FEATURES: usize = 4;

const NAMES: [&str; FEATURES] = [
    "first-stage score",
    "logit of the cross-encoder",
    "query terms in the title",
    "query bigrams in the passage",
];

/// `rerank_weights.json` of a cross-encoder; other keys in it are for people.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct FusionConfig {
    /// First stage by late interaction: an encoder by name, or `datastore-encoder`; left out, the retriever.
    #[serde(default, alias = "beside")]
    pub first_stage: Option<String>,
    /// Weights of the features.
    #[serde(flatten)]
    pub weights: FusionWeights,
}

/// Weights of the z-scored features, and how many candidates are reranked.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
pub struct FusionWeights {
    /// Candidates that the cross-encoder scores, best of the first stage first; the others keep their order below them.
    pub depth: usize,
    /// Weight of the first stage's score.
    pub retrieval: f32,
    /// Weight of the cross-encoder's logit.
    pub logit: f32,
    /// Weight of the IDF-weighted fraction of the query's terms that the title has.
    pub title: f32,
    /// Weight of the fraction of the query's bigrams that the passage has.
    #[serde(alias = "pairs")]
    pub bigrams: f32,
}

impl FusionConfig {
    /// What the folder of a cross-encoder says; `None`: its logit alone ranks, as in the paper.
    ///
    /// # Errors
    /// When the file is damaged, its depth is 0 or a weight is not finite.
    pub fn read(dir: &Path) -> Result<Option<Self>, ModelError> {
        read_weights(dir, |read: &Self| (read.weights.depth, read.weights.in_order()))
    }
}

impl FusionWeights {
    fn in_order(self) -> [f32; FEATURES] {
        let Self { depth: _, retrieval, logit, title, bigrams } = self;
        [retrieval, logit, title, bigrams]
    }
}

/// A cross-encoder's logit, the first stage's score and lexical features, fused.
pub struct ScoreFusionReranker {
    info: RerankerInfo,
    /// First stage; `None`: the retriever.
    first_stage: Option<Arc<dyn Reranker>>,
    scorer: Arc<Scorer>,
    batcher: Batcher,
}

struct Scorer {
    cross_encoder: LocalCrossEncoder,
    weights: FusionWeights,
}

impl ScoreFusionReranker {
    /// A reranker on an opened cross-encoder; `first_stage` scores the candidates before it, else the retriever did.
    ///
    /// # Errors
    /// When its thread cannot be started.
    pub fn new(
        cross_encoder: LocalCrossEncoder,
        weights: FusionWeights,
        first_stage: Option<Arc<dyn Reranker>>,
    ) -> Result<Self, ModelError> {
        let model = cross_encoder.info().name.clone();
        let before = first_stage.as_ref().map_or("retrieval score", |first| &first.info().name);
        let name = format!("{model} + {before} + lexical features");
        let batcher = Batcher::start("scholar-reranker-0", &model, QUEUE_TOKENS)?;
        let info = RerankerInfo { name, cross_encoder: true };
        let scorer = Arc::new(Scorer { cross_encoder, weights });
        Ok(Self { info, first_stage, scorer, batcher })
    }

    /// First-stage scores, in input order.
    async fn first_stage_scores(
        &self,
        query: &Query,
        passages: &[Retrieved],
    ) -> Result<Vec<f32>, PortError> {
        Ok(match &self.first_stage {
            None => passages.iter().map(|passage| passage.score.value()).collect(),
            Some(first) => {
                let scores = first.rerank(query, passages).await?;
                scores.into_iter().map(RerankScore::value).collect()
            }
        })
    }
}

#[async_trait]
impl Reranker for ScoreFusionReranker {
    fn info(&self) -> &RerankerInfo {
        &self.info
    }

    async fn rerank(
        &self,
        query: &Query,
        passages: &[Retrieved],
    ) -> Result<Vec<RerankScore>, PortError> {
        fusion::scores(&self.info, &self.explain(query, passages).await?)
    }

    async fn explain(
        &self,
        query: &Query,
        passages: &[Retrieved],
    ) -> Result<Vec<Explanation>, PortError> {
        let scorer = Arc::clone(&self.scorer);
        let count = passages.len().min(scorer.weights.depth);
        let cost = count * scorer.cross_encoder.max_tokens();
        let first_stage = self.first_stage_scores(query, passages).await?;
        let (query, passages) = (query.clone(), passages.to_vec());
        let work = move || explain(&scorer, &query, &passages, &first_stage);
        Ok(self.batcher.run(cost, work).await??)
    }
}

fn explain(
    scorer: &Scorer,
    query: &Query,
    passages: &[Retrieved],
    first_stage: &[f32],
) -> Result<Vec<Explanation>, ModelError> {
    let order = by_first_stage(first_stage);
    let head = &order[..scorer.weights.depth.min(order.len())];
    let texts: Vec<String> = head.iter().map(|at| passages[*at].passage.encoded_text()).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let logits = scorer.cross_encoder.logits(query.as_str(), &texts)?;
    let lexical = Lexical::new(query.as_str(), &texts);
    let raw: Vec<[f32; FEATURES]> = head
        .iter()
        .zip(logits)
        .zip(&texts)
        .map(|((at, logit), text)| {
            let title = lexical.coverage(&passages[*at].passage.title);
            [first_stage[*at], logit, title, lexical.bigrams(text)]
        })
        .collect();
    let features = WeightedFeatures { names: NAMES, weights: scorer.weights.in_order() };
    Ok(fused(&order, &raw, features))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fusion::RERANK_WEIGHTS_FILE;

    #[test]
    fn weights_are_the_folders_and_are_checked() {
        let dir = tempfile::tempdir().expect("a folder");
        assert_eq!(FusionConfig::read(dir.path()).expect("none"), None);
        // As written until November 2026, and under the name of then.
        let former = include_str!("../tests/compat/1/cross-encoder/reading.json");
        fs_err::write(dir.path().join("reading.json"), former).expect("written");
        let config = FusionConfig::read(dir.path()).expect("sound").expect("there");
        assert_eq!((config.weights.depth, config.first_stage.as_deref()), (50, Some("own")));
        assert!((config.weights.bigrams - 0.1).abs() < 1e-6);
        let read = |text: &str| {
            fs_err::write(dir.path().join(RERANK_WEIGHTS_FILE), text).expect("written");
            FusionConfig::read(dir.path())
        };
        let good = r#"{"depth": 40, "retrieval": 1, "logit": 0.6, "title": 0.2, "bigrams": 0}"#;
        let config = read(good).expect("sound").expect("the new name comes first");
        assert_eq!((config.weights.depth, config.first_stage), (40, None));
        for bad in [good.replace("40", "0"), good.replace("bigrams", "pears"), "{".to_owned()] {
            let error = read(&bad).expect_err("refused").to_string();
            assert!(error.contains(RERANK_WEIGHTS_FILE), "{error}");
        }
    }
}
