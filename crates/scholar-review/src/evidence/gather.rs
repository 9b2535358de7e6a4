//! Which papers are read for an item: searches with its words and with its terms on the idea's topic, what the best hits cite, all
//! of it ranked by the item, each paper with its abstract.

use std::sync::Arc;

use futures::{StreamExt as _, stream};
use scholar_core::{Notice, NoticeKind, PaperId, PaperMeta, PortError, Query, Retrieved};
use scholar_pipeline::config::DedupRule;
use scholar_pipeline::retrieve::pool::dedup;

use super::items::Item;
use super::terms::terms;
use crate::config::QUERY_WORDS;
use crate::library::{Library, by_paper};
use crate::report::EvidenceOrigin;

/// Passages that are ranked for an item.
const RANKED: usize = 40;
/// Papers read for an item.
const PAPERS: usize = 12;
/// Passages of one paper that are read beside its abstract.
const PASSAGES: usize = 2;
/// Papers found first whose references are read too.
const CITING: usize = 3;

/// What was read for an item.
#[derive(Debug, Clone)]
pub(super) struct Read {
    /// What was searched for first.
    pub(super) query: String,
    /// The best ranked first.
    pub(super) papers: Vec<PaperRead>,
    /// Papers that the searches brought.
    pub(super) found: Vec<PaperId>,
}

/// A paper with what was read of it.
#[derive(Debug, Clone)]
pub(super) struct PaperRead {
    pub(super) meta: Arc<PaperMeta>,
    /// The abstract first, where there is one.
    pub(super) passages: Vec<Retrieved>,
    pub(super) origin: EvidenceOrigin,
}

impl PaperRead {
    /// Its title with its abstract, or with what else was read first.
    pub(super) fn opening(&self) -> String {
        let text = self.passages.first().map_or("", |hit| hit.passage.text.as_str());
        format!("{} {text}", self.meta.title)
    }
}

/// Reads for each of `items`, in their order whatever search ends first.
pub(super) async fn gather(
    library: &Library<'_>,
    topic: &str,
    items: &[&Item],
) -> Vec<Result<Read, PortError>> {
    let width = library.desk.config.concurrency.max(1);
    let reads: Vec<_> = items.iter().map(|item| read(library, topic, item)).collect();
    stream::iter(reads).buffered(width).collect().await
}

async fn read(library: &Library<'_>, topic: &str, item: &Item) -> Result<Read, PortError> {
    let config = &library.desk.config.soundness;
    let queries = queries(topic, item);
    let mut lists = Vec::new();
    let mut failure = None;
    for query in &queries {
        match library.search(query, config.snippets.max(1)).await {
            Ok(hits) => lists.push(hits),
            Err(error) => failure = Some(error),
        }
    }
    match failure {
        Some(error) if lists.is_empty() => return Err(error),
        Some(error) => library.desk.frame.skipped("one search", &error),
        None => {}
    }
    let mut pool = dedup(lists, DedupRule::Richest);
    let found: Vec<PaperId> = by_paper(pool.clone())
        .iter()
        .filter_map(|hits| Some(hits.first()?.paper.id.clone()))
        .collect();
    let cited = cited(library, &pool, config.references_per_hit).await;
    let origin_of = |hit: &Retrieved| {
        let citing = cited.iter().find(|(_, other)| other.paper.id == hit.paper.id);
        match citing.filter(|_| !pool.iter().any(|one| one.paper.id == hit.paper.id)) {
            Some((citing, _)) => EvidenceOrigin::ReferenceOf(citing.clone()),
            None => EvidenceOrigin::Search { query: queries[0].clone() },
        }
    };
    let origins: Vec<(PaperId, EvidenceOrigin)> = cited
        .iter()
        .map(|(_, hit)| hit)
        .chain(&pool)
        .map(|hit| (hit.paper.id.clone(), origin_of(hit)))
        .collect();
    pool.extend(cited.into_iter().map(|(_, hit)| hit));
    pool.retain(|hit| hit.passage.kind.is_prose());
    let ranked = ranked(library, &item.key, pool).await;
    let mut papers = Vec::new();
    for hits in by_paper(ranked).into_iter().take(PAPERS) {
        let Some(first) = hits.first().cloned() else { continue };
        let mut passages: Vec<Retrieved> = library.opening(&first).await.into_iter().collect();
        for hit in hits.into_iter().take(PASSAGES) {
            if passages.iter().all(|one| one.passage.id != hit.passage.id) {
                passages.push(hit);
            }
        }
        let origin = origins.iter().find(|(id, _)| *id == first.paper.id);
        let origin = origin.map(|(_, origin)| origin.clone());
        let query = queries[0].clone();
        papers.push(PaperRead {
            meta: Arc::clone(&first.paper),
            passages,
            origin: origin.unwrap_or(EvidenceOrigin::Search { query }),
        });
    }
    Ok(Read { query: queries.into_iter().next().unwrap_or_default(), papers, found })
}

/// What is searched for: the item in its own words, and its terms beside the idea's topic.
fn queries(topic: &str, item: &Item) -> Vec<String> {
    let words = |text: &str| -> String {
        text.split_whitespace().take(QUERY_WORDS).collect::<Vec<_>>().join(" ")
    };
    let own = words(&item.key);
    let terms: Vec<String> = terms(&item.key).into_iter().map(|term| term.words).collect();
    let on_topic = words(&format!("{topic} {}", terms.join(" ")));
    let mut queries = vec![own];
    if !on_topic.trim().is_empty() && !queries.contains(&on_topic) {
        queries.push(on_topic);
    }
    queries
}

/// Papers that the best hits cite. A graph that fails costs these papers, not the item.
async fn cited(
    library: &Library<'_>,
    pool: &[Retrieved],
    most: usize,
) -> Vec<(PaperId, Retrieved)> {
    let best: Vec<_> = by_paper(pool.to_vec())
        .iter()
        .take(CITING)
        .filter_map(|hits| hits.first().map(|hit| hit.paper.id.clone()))
        .collect();
    match library.references(&best, most).await {
        Ok(cited) => cited,
        Err(error) => {
            library.desk.frame.skipped("what the nearest papers cite", &error);
            Vec::new()
        }
    }
}

/// `pool` by the reranker, best first, ties in the order of the pool; without one, or where it fails, as the searches rank.
async fn ranked(library: &Library<'_>, key: &str, mut pool: Vec<Retrieved>) -> Vec<Retrieved> {
    pool.truncate(RANKED);
    let frame = library.desk.frame;
    let (Some(reranker), Some(query)) = (&frame.ports.reranker, Query::new(key)) else {
        return pool;
    };
    if pool.is_empty() {
        return pool;
    }
    match reranker.rerank(&query, &pool).await {
        Ok(scores) if scores.len() == pool.len() => {
            let mut ranked: Vec<_> = pool.into_iter().zip(scores).collect();
            ranked.sort_by_key(|(_, score)| std::cmp::Reverse(*score));
            ranked.into_iter().map(|(hit, _)| hit).collect()
        }
        Ok(scores) => {
            let message = format!("{} scores for {} passages", scores.len(), pool.len());
            frame
                .notice(Notice::new(NoticeKind::Skipped, format!("reranking left out: {message}")));
            pool
        }
        Err(error) => {
            frame.skipped("reranking", &error);
            pool
        }
    }
}
