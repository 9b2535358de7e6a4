//! From queries to numbered evidence.
//!
//! Steps: every query is searched ([`search_all`]); the lists are joined in query order and duplicates removed
//! ([`dedup()`]); citation filter, reranking and citation bonus ([`rank()`]); at most `max_per_paper` passages of a paper
//! among the first `top_n` ([`cap()`]). Concurrency changes nothing: results are put back into query order.
//!
//! Source: arXiv 2411.14199 §2.1; `docs/deviations.md` D1–D6b.

use std::sync::Arc;

use futures::StreamExt as _;
use futures::stream;
use scholar_core::{
    Explanation, Notice, NoticeKind, PaperMeta, Passage, PortError, Query, Ranked, RetrievalScore,
    Retrieved, Retriever, SearchRequest, Searched,
};

use crate::config::{CapRule, RankingConfig};
use crate::error::AskError;
use crate::event::Event;
use crate::evidence::{Evidence, EvidenceRegistry};
use crate::frame::Frame;

pub(crate) mod fuse;
pub mod links;
pub mod pool;
pub mod queries;
mod rank;
pub mod sources;
#[cfg(test)]
pub(crate) mod testing;

use pool::{cap, dedup, filter_by_citations};
pub(crate) use rank::rank;

/// Which round of retrieval passages are gathered for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Round {
    /// For the question, before the draft.
    First,
    /// For the search question of a feedback item.
    Feedback,
    /// For an evidence-first answer, which reads more passages than a prompt holds.
    Digest,
}

/// Searches `queries`, ranks what comes back by `rank_by` and numbers the best. Returns the passages shown in this
/// round, best first; those shown before are not among them.
///
/// # Errors
/// When every search failed.
pub async fn gather(
    frame: &Frame<'_>,
    queries: &[Query],
    rank_by: &Query,
    round: Round,
    registry: &mut EvidenceRegistry,
) -> Result<Vec<Evidence>, AskError> {
    frame.emit(&Event::Queries { queries: queries.to_vec() });
    let lists = search_all(frame, queries, frame.config.retrieval.top_k).await?;
    let mut lists = lists;
    lists.extend(earlier(frame, round).await);
    let found: usize = lists.iter().map(Vec::len).sum();
    let mut pool = dedup(lists, frame.config.retrieval.dedup);
    // Tables, captions and lists of references are found by searching, but answers quote and cite prose.
    pool.retain(|hit| hit.passage.kind.is_prose());
    if round == Round::Feedback {
        pool.retain(|hit| !registry.contains(&hit.passage.id));
    }
    let RankingConfig {
        top_n,
        max_per_paper,
        cap: cap_rule,
        min_citations,
        norm_cite: _,
        score_transform: _,
        use_abstract: _,
    } = &frame.config.ranking;
    let shown = if round == Round::Digest { frame.config.evidence_pool } else { *top_n };
    filter_by_citations(&mut pool, *min_citations, shown);
    frame.emit(&Event::Pooled { candidates: found, kept: pool.len() });
    let (reranker, ranked) = rank(frame, rank_by, pool, round).await;
    let uncapped = round == Round::Feedback && *cap_rule == CapRule::Upstream;
    let mut ranked = match max_per_paper {
        Some(max) if !uncapped => cap(ranked, *max, *cap_rule),
        _ => ranked,
    };
    ranked.truncate(shown);
    warn_of_retractions(frame, &ranked);
    let mut evidence = Vec::new();
    for ranked in ranked {
        let number = registry.add(ranked);
        evidence.extend(registry.get(number).cloned());
    }
    frame.emit(&Event::Ranked { reranker, evidence: evidence.clone() });
    Ok(evidence)
}

/// Passages that earlier answers of the thread quote: they are candidates whatever the search finds.
async fn earlier(frame: &Frame<'_>, round: Round) -> Option<Vec<Retrieved>> {
    let thread = frame.config.thread.as_ref().filter(|_| round != Round::Feedback)?;
    let mut hits = Vec::new();
    for id in &thread.passages {
        match frame.ports.retriever.passage(id).await {
            Ok(Some((passage, paper))) => hits.extend(quoted_earlier(passage, paper)),
            Ok(None) => {
                let message = format!("{id}, which an earlier answer quotes, is no longer there");
                frame.notice(Notice::new(NoticeKind::Skipped, message));
            }
            Err(error) => frame.skipped("a passage of an earlier answer", &error),
        }
    }
    hits.retain(|hit| frame.config.retrieval.filter.accepts(&hit.paper));
    (!hits.is_empty()).then_some(hits)
}

/// A passage as a candidate that no search scored.
fn quoted_earlier(passage: Passage, paper: PaperMeta) -> Option<Retrieved> {
    Some(Retrieved {
        passage,
        paper: Arc::new(paper),
        score: RetrievalScore::new(0.0).ok()?,
        explanation: Explanation::new(0.0, "quoted by an earlier answer of the thread"),
        found_by: Vec::new(),
    })
}

/// One list per query, of at most `top_k` passages and in query order.
pub(crate) async fn search_all(
    frame: &Frame<'_>,
    queries: &[Query],
    top_k: usize,
) -> Result<Vec<Vec<Retrieved>>, AskError> {
    let retrieval = &frame.config.retrieval;
    let retriever = &frame.ports.retriever;
    let request = |query: &Query| retrieval.request(query, top_k);
    // Owned requests: futures that borrow from the iterator could not move between threads.
    let requests: Vec<SearchRequest> = queries.iter().map(request).collect();
    let searches = requests
        .into_iter()
        .enumerate()
        .map(|(nth, request)| search(Arc::clone(retriever), nth, request));
    let mut results: Vec<(usize, Result<Searched, PortError>)> =
        stream::iter(searches).buffer_unordered(retrieval.concurrency.max(1)).collect().await;
    results.sort_by_key(|(nth, _)| *nth);

    let source = retriever.name().to_owned();
    let mut lists = Vec::new();
    let mut first_failure = None;
    for (query, (_, result)) in queries.iter().zip(results) {
        match result {
            Ok(Searched { hits, notices }) => {
                notices.into_iter().for_each(|notice| frame.notice(notice));
                let (query, source, hits_n) = (query.clone(), source.clone(), hits.len());
                frame.emit(&Event::Searched { query, source, hits: hits_n });
                lists.push(hits);
            }
            Err(error) => {
                let message =
                    format!("searching {source} for \"{}\" failed: {error}", query.as_str());
                let mut notice = Notice::new(NoticeKind::SourceDown, message);
                notice.hint = error.hint().map(str::to_owned);
                frame.notice(notice);
                first_failure.get_or_insert((query, error));
            }
        }
    }
    match first_failure {
        Some((query, port)) if lists.is_empty() => Err(AskError::Search {
            retriever: source,
            query: query.as_str().to_owned(),
            source: Box::new(port),
        }),
        _ => Ok(lists),
    }
}

async fn search(
    retriever: Arc<dyn Retriever>,
    nth: usize,
    request: SearchRequest,
) -> (usize, Result<Searched, PortError>) {
    (nth, retriever.explore(&request).await)
}

fn warn_of_retractions(frame: &Frame<'_>, ranked: &[Ranked]) {
    use scholar_core::Retraction;
    for passage in ranked {
        let paper = &passage.retrieved.paper;
        let what = match paper.retraction {
            Retraction::Retracted => "is retracted",
            Retraction::Concern => "has an expression of concern",
            Retraction::Corrected => "has a published correction",
            Retraction::Clean | Retraction::Unknown => continue,
        };
        let message = format!("\"{}\" ({}) {what}", paper.display_title(), paper.id);
        frame.notice(Notice::new(NoticeKind::Retraction, message));
    }
}

#[cfg(test)]
mod tests;
