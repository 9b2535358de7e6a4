//! A small cross-encoder's logit, weighed against what the search already knew.
//!
//! A cross-encoder of the size of `MiniLM` is not a better judge than keyword and vector search together; it errs
//! elsewhere. So its logit need not replace their score, or that of a reranker without a cross-encoder that read the
//! candidates before it: the features are put on a common scale within the candidates of one query and added with the
//! weights of the model's folder ([`ReadingRules`]).

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use scholar_core::{Explanation, PortError, Query, RerankScore, Reranker, RerankerInfo, Retrieved};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::batcher::{Batcher, QUEUE_TOKENS};
use crate::cross_encoder::{LocalCrossEncoder, finite};
use crate::error::ModelError;
use crate::lexical::{Lexical, standardised};

/// Name of the file that says how a reranker's logit is weighed.
pub const READING_FILE: &str = "reading.json";
const FEATURES: usize = 4;

const NAMES: [&str; FEATURES] = [
    "score before",
    "logit of the cross-encoder",
    "query words in the title",
    "query words side by side",
];

/// Stretches scores to about the spread of a cross-encoder's logits, against which the pipeline's citation bonus is sized.
const SPREAD: f32 = 4.0;

/// What `reading.json` says; other keys in it are for people.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct ReadingRules {
    /// Who scores the candidates before the cross-encoder: an encoder by name, `own` for that of the datastore, by late
    /// interaction; left out: the retriever did.
    #[serde(default)]
    pub beside: Option<String>,
    /// How much each counts.
    #[serde(flatten)]
    pub weights: ReadingWeights,
}

/// How much each standardised feature counts, and how many candidates are read.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
pub struct ReadingWeights {
    /// Candidates that are read, the best before first; the others keep their order below them.
    pub depth: usize,
    /// Of the score before.
    pub retrieval: f32,
    /// Of the cross-encoder's logit.
    pub logit: f32,
    /// Of the share of the query's words, by rarity, that the title has.
    pub title: f32,
    /// Of the share of the query's neighbouring words that are neighbours in the passage.
    pub pairs: f32,
}

impl ReadingRules {
    /// What the folder of a cross-encoder says; `None`: its logit alone counts, as in the paper.
    ///
    /// # Errors
    /// When the file is damaged or its numbers make no sense.
    pub fn read(dir: &Path) -> Result<Option<Self>, ModelError> {
        rules(dir, |read: &Self| (read.weights.depth, read.weights.in_order()))
    }
}

/// What [`READING_FILE`] of folder `dir` says, if it is there; `numbers` are its depth and weights.
///
/// # Errors
/// When the file is damaged or its numbers make no sense.
pub(crate) fn rules<T: DeserializeOwned, const N: usize>(
    dir: &Path,
    numbers: impl Fn(&T) -> (usize, [f32; N]),
) -> Result<Option<T>, ModelError> {
    let path = dir.join(READING_FILE);
    if !path.is_file() {
        return Ok(None);
    }
    let text = fs_err::read_to_string(&path).map_err(|e| ModelError::read(&path, e))?;
    let read: T = serde_json::from_str(&text).map_err(|e| ModelError::damaged(&path, e))?;
    let (depth, weights) = numbers(&read);
    if depth > 0 && weights.iter().all(|weight| weight.is_finite()) {
        return Ok(Some(read));
    }
    Err(ModelError::damaged(&path, "a depth of at least 1 and finite weights belong in it"))
}

impl ReadingWeights {
    fn in_order(self) -> [f32; FEATURES] {
        let Self { depth: _, retrieval, logit, title, pairs } = self;
        [retrieval, logit, title, pairs]
    }
}

/// A cross-encoder's logit, the score before and lexical evidence, added.
pub struct SecondReadingReranker {
    info: RerankerInfo,
    /// Who scores before; `None`: the retriever did.
    beside: Option<Arc<dyn Reranker>>,
    reader: Arc<Reader>,
    batcher: Batcher,
}

struct Reader {
    cross_encoder: LocalCrossEncoder,
    weights: ReadingWeights,
}

impl SecondReadingReranker {
    /// A reranker on an opened cross-encoder, `beside` another that reads the candidates before it.
    ///
    /// # Errors
    /// When its thread cannot be started.
    pub fn new(
        cross_encoder: LocalCrossEncoder,
        weights: ReadingWeights,
        beside: Option<Arc<dyn Reranker>>,
    ) -> Result<Self, ModelError> {
        let model = cross_encoder.info().name.clone();
        let before = beside.as_ref().map_or("retrieval score", |beside| &beside.info().name);
        let name = format!("{model} + {before} + lexical features");
        let batcher = Batcher::start("scholar-reranker-0", &model, QUEUE_TOKENS)?;
        let info = RerankerInfo { name, cross_encoder: true };
        Ok(Self { info, beside, reader: Arc::new(Reader { cross_encoder, weights }), batcher })
    }

    /// The scores before, in input order.
    async fn before(&self, query: &Query, passages: &[Retrieved]) -> Result<Vec<f32>, PortError> {
        Ok(match &self.beside {
            None => passages.iter().map(|passage| passage.score.value()).collect(),
            Some(beside) => {
                let scores = beside.rerank(query, passages).await?;
                scores.into_iter().map(RerankScore::value).collect()
            }
        })
    }
}

#[async_trait]
impl Reranker for SecondReadingReranker {
    fn info(&self) -> &RerankerInfo {
        &self.info
    }

    async fn rerank(
        &self,
        query: &Query,
        passages: &[Retrieved],
    ) -> Result<Vec<RerankScore>, PortError> {
        let explained = self.explain(query, passages).await?;
        finite(&self.info.name, explained.iter().map(|explanation| explanation.value).collect())
    }

    async fn explain(
        &self,
        query: &Query,
        passages: &[Retrieved],
    ) -> Result<Vec<Explanation>, PortError> {
        let reader = Arc::clone(&self.reader);
        let read = passages.len().min(reader.weights.depth);
        let cost = read * reader.cross_encoder.max_tokens();
        let before = self.before(query, passages).await?;
        let (query, passages) = (query.clone(), passages.to_vec());
        let work = move || explain(&reader, &query, &passages, &before);
        Ok(self.batcher.run(cost, work).await??)
    }
}

fn explain(
    reader: &Reader,
    query: &Query,
    passages: &[Retrieved],
    before: &[f32],
) -> Result<Vec<Explanation>, ModelError> {
    let mut order: Vec<usize> = (0..passages.len()).collect();
    order.sort_by(|a, b| before[*b].total_cmp(&before[*a]).then(a.cmp(b)));
    let (head, tail) = order.split_at(reader.weights.depth.min(order.len()));
    let texts: Vec<String> = head.iter().map(|at| passages[*at].passage.encoded_text()).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let logits = reader.cross_encoder.logits(query.as_str(), &texts)?;
    let lexical = Lexical::new(query.as_str(), &texts);
    let raw: Vec<[f32; FEATURES]> = head
        .iter()
        .zip(logits)
        .zip(&texts)
        .map(|((at, logit), text)| {
            let title = lexical.coverage(&passages[*at].passage.title);
            [before[*at], logit, title, lexical.side_by_side(text)]
        })
        .collect();
    Ok(scored(&raw, reader.weights.in_order(), head, tail))
}

/// Explanations in input order: `head` by its features, `tail` below it in its order.
fn scored(
    raw: &[[f32; FEATURES]],
    weights: [f32; FEATURES],
    head: &[usize],
    tail: &[usize],
) -> Vec<Explanation> {
    let mut explanations = vec![Explanation::new(0.0, "not scored"); head.len() + tail.len()];
    let mut lowest = 0.0_f32;
    for (at, row) in head.iter().zip(standardised(raw)) {
        let parts: Vec<f32> =
            row.iter().zip(weights).map(|(value, weight)| SPREAD * weight * value).collect();
        let sum: f32 = parts.iter().sum();
        lowest = lowest.min(sum);
        explanations[*at] = NAMES.iter().zip(parts).fold(
            Explanation::new(sum, "standardised among the candidates, weighted, added"),
            |all, (name, part)| all.with(Explanation::new(part, *name)),
        );
    }
    for (rank, at) in tail.iter().enumerate() {
        let score = lowest - SPREAD * (1.0 + rank as f32);
        let reason = format!("beyond the {} candidates read: the order before", head.len());
        explanations[*at] = Explanation::new(score, reason);
    }
    explanations
}

#[cfg(test)]
mod tests {
    use super::*;

    const WEIGHTS: [f32; FEATURES] = [1.0, 0.6, 0.2, 0.2];

    #[test]
    fn a_logit_can_overturn_the_retriever_and_the_unread_stay_below() {
        // Equal but for retrieval score and logit; two candidates were not read.
        let raw = [[3.0, -1.0, 0.5, 0.0], [2.0, 9.0, 0.5, 0.0], [2.9, -1.0, 0.5, 0.0]];
        let scores = scored(&raw, WEIGHTS, &[4, 0, 2], &[1, 3]);
        let values: Vec<f32> = scores.iter().map(|score| score.value).collect();
        let read = [values[0], values[2], values[4]];
        assert!(read.iter().all(|value| *value > values[1]), "{values:?}");
        assert!(values[1] > values[3], "{values:?}");
        assert!(values[4] > values[2], "the retriever decides between equal logits: {values:?}");
        let strong = scored(&raw, [0.5, 1.0, 0.0, 0.0], &[0, 1, 2], &[]);
        assert!(strong[1].value > strong[0].value, "the logit decides where it weighs more");
        assert!(scored(&[], WEIGHTS, &[], &[]).is_empty());
    }

    #[test]
    fn the_parts_add_up() {
        let raw = [[3.0, -1.0, 0.2, 0.1], [2.0, 4.0, 0.5, 0.3], [2.9, -1.5, 0.1, 0.0]];
        for explanation in scored(&raw, WEIGHTS, &[0, 1, 2], &[]) {
            let sum: f32 = explanation.details.iter().map(|part| part.value).sum();
            assert!((sum - explanation.value).abs() < 1e-4);
            assert_eq!(explanation.details.len(), FEATURES);
        }
    }

    #[test]
    fn weights_are_the_folders_and_are_checked() {
        let dir = tempfile::tempdir().expect("a folder");
        assert_eq!(ReadingRules::read(dir.path()).expect("none"), None);
        let read = |text: &str| {
            fs_err::write(dir.path().join("reading.json"), text).expect("written");
            ReadingRules::read(dir.path())
        };
        let good = r#"{"depth": 50, "retrieval": 1, "logit": 0.6, "title": 0.2, "pairs": 0}"#;
        let rules = read(good).expect("sound").expect("there");
        assert_eq!((rules.weights.depth, rules.beside), (50, None));
        let beside = good.replace("\"depth\"", "\"beside\": \"own\", \"depth\"");
        let rules = read(&beside).expect("sound").expect("there");
        assert_eq!(rules.beside.as_deref(), Some("own"));
        for bad in [good.replace("50", "0"), good.replace("\"pairs\"", "\"pears\""), "{".to_owned()]
        {
            let error = read(&bad).expect_err("refused").to_string();
            assert!(error.contains("reading.json"), "{error}");
        }
    }
}
