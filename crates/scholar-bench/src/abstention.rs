//! Whether an evidence-first answer tells passages that were chosen for a question from those of another one.
//!
//! Ours: no benchmark asks it. People who hand over passages, and the gold passages of a task, are small sets: what separates
//! them from unrelated ones is measured here, on questions whose evidence is known.

use std::collections::BTreeSet;
use std::sync::Arc;

use scholar_core::text::words::content_stems;
use scholar_core::{
    Attributor, Encoder, Explanation, PortError, Query, Question, Ranked, RerankScore,
    Retriever as _, SearchFilter, SearchMode, SearchRequest, SplitMix64,
};
use scholar_pipeline::Ports;
use scholar_pipeline::modes::evidence::{self, Diagnosis, EvidenceConfig, EvidenceIs};
use scholar_pipeline::{AskConfig, Frame};
use serde::Serialize;

use crate::scholarqa::Context;
use crate::scholarqa::fixed_retriever::FixedRetriever;

pub use fitted::{FITTED_FILE, Fitted};
pub use report::markdown;

mod fitted;
pub mod questions;
mod report;

/// A question and the passages that people say answer it.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked {
    /// Its name in its set.
    pub id: String,
    /// The task's question or the collection's query.
    pub question: Question,
    /// Its gold passages, best grade first where they are graded; none is blank.
    pub evidence: Vec<Context>,
    /// Whether the weights in use were fitted on it ([`Fitted`]).
    pub fitted: bool,
}

/// Whose passages a question was asked of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Given {
    /// The question's own gold passages.
    Own,
    /// Those of the question most like it in words.
    Near,
    /// Those of any other one.
    Far,
}

/// One question asked of one set of passages.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// Identifier of the question: [`Asked::id`].
    pub id: String,
    /// Whether the weights in use were fitted on it.
    pub fitted: bool,
    /// Which question's gold passages it was asked of.
    pub given: Given,
    /// Passages in the set.
    pub passages: usize,
    /// What the decision rests on.
    pub diagnosis: Diagnosis,
    /// Sentences that would be shown if nothing were held back.
    pub sentences: usize,
}

impl Row {
    /// Whether there is an answer when there is none below `threshold`.
    pub fn is_answered(&self, threshold: f32) -> bool {
        self.sentences > 0 && self.diagnosis.probability >= threshold
    }
}

/// What was measured on one set of questions.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Measured {
    /// Name of the set: the task's title or the collection's.
    pub questions: String,
    /// Each question with each set of passages.
    pub rows: Vec<Row>,
}

/// What evidence mode asks without a generator.
#[derive(Clone)]
pub struct Models {
    /// Embeds the question and the sentences, which are ranked by similarity.
    pub encoder: Arc<dyn Encoder>,
    /// Decides whether a sentence is supported.
    pub judge: Arc<dyn Attributor>,
}

/// Asks each question of its own passages, of its nearest neighbour's and of a random other one's. Questions that share a
/// passage are no neighbours. `progress` is called after each set.
///
/// # Errors
/// When the encoder fails.
pub async fn measure(
    asked: &[Asked],
    models: &Models,
    seed: u64,
    progress: &mut (dyn FnMut() + Send),
) -> Result<Vec<Row>, PortError> {
    let stems: Vec<BTreeSet<String>> = asked
        .iter()
        .map(|one| content_stems(one.question.as_str()).into_iter().collect())
        .collect();
    let texts: Vec<BTreeSet<&str>> = asked
        .iter()
        .map(|one| one.evidence.iter().map(|context| context.text.as_str()).collect())
        .collect();
    let mut random = SplitMix64::new(seed);
    let mut rows = Vec::new();
    for (at, one) in asked.iter().enumerate() {
        let others: Vec<usize> = (0..asked.len())
            .filter(|other| *other != at && texts[*other].is_disjoint(&texts[at]))
            .collect();
        let near = others.iter().copied().max_by(|a, b| {
            let shared = |other: usize| shared(&stems[at], &stems[other]);
            // The first of equals.
            shared(*a).total_cmp(&shared(*b)).then(b.cmp(a))
        });
        let far = (!others.is_empty()).then(|| others[random.below(others.len())]);
        for (given, whose) in [(Given::Own, Some(at)), (Given::Near, near), (Given::Far, far)] {
            let Some(whose) = whose else { continue };
            rows.push(ask(one, &asked[whose].evidence, given, models).await?);
            progress();
        }
    }
    Ok(rows)
}

/// Stems that both have among those that either has.
fn shared(a: &BTreeSet<String>, b: &BTreeSet<String>) -> f64 {
    let both = u32::try_from(a.intersection(b).count()).unwrap_or(u32::MAX);
    let all = u32::try_from(a.union(b).count()).unwrap_or(u32::MAX);
    f64::from(both) / f64::from(all.max(1))
}

async fn ask(
    one: &Asked,
    passages: &[Context],
    given: Given,
    models: &Models,
) -> Result<Row, PortError> {
    let retriever = Arc::new(FixedRetriever::given(&one.id, passages));
    let request = SearchRequest {
        query: Query::from(&one.question),
        top_k: passages.len(),
        mode: SearchMode::Hybrid,
        filter: SearchFilter::none(),
    };
    let hits = retriever.search(&request).await?;
    let evidence: Vec<Ranked> = hits
        .into_iter()
        .map(|retrieved| {
            let score = f32::from(retrieved.score);
            Ranked {
                retrieved,
                score: RerankScore::new(score).expect("a score of retrieval is finite"),
                explanation: Explanation::new(score, "place in the given list"),
            }
        })
        .collect();
    let mut ports = Ports::new(retriever, Arc::clone(&models.judge));
    ports.encoder = Some(Arc::clone(&models.encoder));
    let mut digest = EvidenceConfig::digest();
    digest.evidence_is = EvidenceIs::Given;
    digest.checks.rounds = 0;
    // Nothing is held back, so that what would be shown is known.
    digest.abstain_below = 0.0;
    let config = AskConfig { evidence: digest, ..AskConfig::paper() };
    let n = evidence.len();
    let frame = Frame::new(evidence::MODE.id, &ports, &one.question, &config, &());
    let answer = evidence::digest(&frame, evidence).await?;
    Ok(Row {
        id: one.id.clone(),
        fitted: one.fitted,
        given,
        passages: n,
        diagnosis: answer.diagnosis,
        sentences: answer.answer.sentences.len(),
    })
}

#[cfg(test)]
mod tests;
