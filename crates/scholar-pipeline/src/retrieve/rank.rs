//! Reranking and the citation bonus.

use std::collections::BTreeMap;

use scholar_core::{
    Explanation, Notice, NoticeKind, PaperId, PassageId, PassageKind, PortError, PortErrorKind,
    Query, Ranked, RerankScore, Reranker, Retrieved,
};

use super::Round;
use crate::config::{RankingConfig, ScoreTransform};
use crate::frame::Frame;

/// The pool best first, ties in pool order, and who ranked it.
///
/// A missing or failing reranker leaves the scores of the searches, with a notice.
pub(crate) async fn rank(
    frame: &Frame<'_>,
    query: &Query,
    pool: Vec<Retrieved>,
    round: Round,
) -> (String, Vec<Ranked>) {
    let scored = match &frame.ports.reranker {
        None => Err("no reranker is used".to_owned()),
        Some(_) if pool.is_empty() => Ok(Vec::new()),
        Some(reranker) => {
            let scores = score(frame, reranker.as_ref(), query, &pool).await;
            scores
                .map_err(|error| format!("reranking with {} failed: {error}", reranker.info().name))
        }
    };
    let (name, logits) = match (&frame.ports.reranker, &scored) {
        (Some(reranker), Ok(_)) => (reranker.info().name.clone(), reranker.info().cross_encoder),
        _ => ("scores of the searches (no reranker)".to_owned(), false),
    };
    let scores = scored.unwrap_or_else(|reason| {
        let message = format!("{reason}; passages stand in retrieval order");
        frame.notice(Notice::new(NoticeKind::Skipped, message));
        pool.iter().map(retrieval_score).collect()
    });
    // The reference code gives no bonus to passages found for feedback.
    let bonus = logits && round != Round::Feedback;
    (name, order(&frame.config.ranking, pool, scores, bonus))
}

/// Puts scores, transform and, where `bonus` allows it, citations together and sorts.
///
/// Deviation D6: the bonus is for logits of a cross-encoder only.
pub(crate) fn order(
    config: &RankingConfig,
    pool: Vec<Retrieved>,
    scores: Vec<RerankScore>,
    bonus: bool,
) -> Vec<Ranked> {
    let RankingConfig {
        top_n: _,
        max_per_paper: _,
        cap: _,
        min_citations: _,
        norm_cite,
        score_transform,
        use_abstract: _,
    } = config;
    let most = pool.iter().filter_map(|hit| hit.paper.citation_count).max();
    let most = most.filter(|most| *norm_cite && bonus && *most > 0);
    let mut ranked: Vec<Ranked> = pool
        .into_iter()
        .zip(scores)
        .map(|(hit, raw)| explained(hit, raw, *score_transform, most))
        .collect();
    ranked.sort_by_key(|ranked| std::cmp::Reverse(ranked.score));
    ranked
}

fn explained(
    retrieved: Retrieved,
    raw: RerankScore,
    transform: ScoreTransform,
    most: Option<u32>,
) -> Ranked {
    let transformed = match transform {
        ScoreTransform::None => raw.value(),
        ScoreTransform::Sigmoid => 1.0 / (1.0 + (-raw.value()).exp()),
    };
    let bonus = most.map(|most| share(retrieved.paper.citation_count.unwrap_or(0), most));
    let value = transformed + bonus.unwrap_or(0.0);
    let score = RerankScore::new(value).unwrap_or(raw);
    let mut explanation = Explanation::new(score.value(), "score the passage is ranked by");
    let mut relevance = Explanation::new(transformed, "relevance to the query");
    if transform == ScoreTransform::Sigmoid {
        relevance = relevance.with(Explanation::new(raw.value(), "raw score, before the sigmoid"));
    }
    explanation = explanation.with(relevance);
    if let Some(bonus) = bonus {
        let reason = "citations of the paper / most citations in the pool";
        explanation = explanation.with(Explanation::new(bonus, reason));
    }
    let explanation = explanation.with(retrieved.explanation.clone());
    Ranked { retrieved, score, explanation }
}

#[expect(clippy::cast_possible_truncation, reason = "a share in [0, 1] needs no more than f32")]
fn share(count: u32, most: u32) -> f32 {
    (f64::from(count) / f64::from(most)) as f32
}

fn retrieval_score(hit: &Retrieved) -> RerankScore {
    RerankScore::new(hit.score.value()).expect("a score is finite")
}

async fn score(
    frame: &Frame<'_>,
    reranker: &dyn Reranker,
    query: &Query,
    pool: &[Retrieved],
) -> Result<Vec<RerankScore>, PortError> {
    let mut passages: Vec<Retrieved> = pool.to_vec();
    if frame.config.ranking.use_abstract {
        prepend_abstracts(frame, &mut passages).await?;
    }
    let scores = reranker.rerank(query, &passages).await?;
    if scores.len() != passages.len() {
        let message = format!("{} scores for {} passages", scores.len(), passages.len());
        return Err(PortError::new(PortErrorKind::Corrupt, message));
    }
    Ok(scores)
}

/// Title, abstract and text on lines of their own, where the store has the paper's abstract.
///
/// Deviation D5: the reference code offers this and never switches it on.
async fn prepend_abstracts(frame: &Frame<'_>, passages: &mut [Retrieved]) -> Result<(), PortError> {
    let mut abstracts: BTreeMap<PaperId, Option<String>> = BTreeMap::new();
    for passage in passages {
        if passage.passage.kind == PassageKind::Abstract {
            continue;
        }
        let paper = &passage.passage.id.paper;
        if !abstracts.contains_key(paper) {
            let first = PassageId { paper: paper.clone(), ordinal: 0 };
            let stored = frame.ports.retriever.passage(&first).await?;
            let text = stored.map(|(passage, _)| passage);
            let text = text.filter(|p| p.kind == PassageKind::Abstract).map(|p| p.text);
            abstracts.insert(paper.clone(), text);
        }
        if let Some(Some(text)) = abstracts.get(paper) {
            let shown = &mut passage.passage;
            shown.text = format!("{}\n{text}\n{}", shown.title, shown.text);
            shown.title.clear();
        }
    }
    Ok(())
}
