//! Runs systems over a collection.

use std::collections::BTreeSet;

use scholar_core::{
    PortError, PortErrorKind, Reranker, Retrieved, Retriever, SearchFilter, SearchMode,
    SearchRequest,
};

use super::collection::{Collection, document_name};
use super::metrics::{DEEP, Scores};
use super::report::{Report, SystemReport};

/// Passages asked for per query: long documents have several, and recall looks at 100 documents.
const PASSAGES: usize = 300;
/// First passages that are reranked. Source: spec A.5, the paper reranks what it retrieves, 100.
pub const RERANKED: usize = 100;

/// One way to rank.
pub struct System<'a> {
    /// Name in the report.
    pub name: String,
    /// Which indexes are asked.
    pub mode: SearchMode,
    /// What ranks the first [`RERANKED`] passages anew.
    pub reranker: Option<&'a dyn Reranker>,
}

impl<'a> System<'a> {
    /// `bm25`, `dense` or `hybrid`, each also with `+rerank`; `None` for another name, or when there is no reranker.
    pub fn named(name: &str, reranker: Option<&'a dyn Reranker>) -> Option<Self> {
        let (mode, rerank) = match name.split_once('+') {
            None => (name, false),
            Some((mode, "rerank")) => (mode, true),
            Some(_) => return None,
        };
        let mode = match mode {
            "bm25" => SearchMode::Lexical,
            "dense" => SearchMode::Dense,
            "hybrid" => SearchMode::Hybrid,
            _ => return None,
        };
        let reranker = if rerank { Some(reranker?) } else { None };
        Some(Self { name: name.to_owned(), mode, reranker })
    }
}

/// Every query of `collection` through every system, in order. `progress` sees queries done and queries in all.
///
/// The retriever must hold the collection's corpus, each document under `PaperId::Local` of its name.
///
/// # Errors
/// The first search or reranking that fails: a measure over part of the queries is none.
pub async fn run(
    collection: &Collection,
    retriever: &dyn Retriever,
    systems: &[System<'_>],
    progress: &mut dyn FnMut(usize, usize),
) -> Result<Report, PortError> {
    let total = collection.queries.len() * systems.len();
    let mut done = 0;
    let mut reports = Vec::new();
    for system in systems {
        let mut per_query = Vec::new();
        for bench_query in &collection.queries {
            let request = SearchRequest {
                query: bench_query.query.clone(),
                top_k: PASSAGES,
                mode: system.mode,
                filter: SearchFilter::none(),
            };
            let mut hits = retriever.search(&request).await?;
            if let Some(reranker) = system.reranker {
                hits = rerank(reranker, &request, hits).await?;
            }
            let ranking = documents(&hits);
            let scores = collection
                .grades
                .get(&bench_query.id)
                .and_then(|grades| Scores::of(&ranking, grades));
            if let Some(scores) = scores {
                per_query.push((bench_query.id.clone(), scores));
            }
            done += 1;
            progress(done, total);
        }
        reports.push(SystemReport::new(&system.name, per_query));
    }
    Ok(Report::new(collection, reports))
}

/// The first [`RERANKED`] in the reranker's order, ties by passage id; the rest behind them as they were.
async fn rerank(
    reranker: &dyn Reranker,
    request: &SearchRequest,
    mut hits: Vec<Retrieved>,
) -> Result<Vec<Retrieved>, PortError> {
    let rest = hits.split_off(hits.len().min(RERANKED));
    let scores = reranker.rerank(&request.query, &hits).await?;
    if scores.len() != hits.len() {
        let message = format!("{} returned a wrong number of scores", reranker.info().name);
        return Err(PortError::new(PortErrorKind::Corrupt, message));
    }
    let mut ranked: Vec<_> = scores.into_iter().zip(hits).collect();
    ranked.sort_by(|(score_a, a), (score_b, b)| {
        score_b.cmp(score_a).then_with(|| a.passage.id.cmp(&b.passage.id))
    });
    Ok(ranked.into_iter().map(|(_, hit)| hit).chain(rest).collect())
}

/// Each document at the place of its best passage, at most 100.
fn documents(hits: &[Retrieved]) -> Vec<String> {
    let mut seen = BTreeSet::new();
    hits.iter()
        .map(|hit| document_name(&hit.paper.id))
        .filter(|name| seen.insert(name.clone()))
        .take(DEEP)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn systems_have_names() {
        let reranker = scholar_testing::FakeReranker::new();
        let check = |name: &str, expect: Option<(SearchMode, bool)>| {
            let system = System::named(name, Some(&reranker));
            assert_eq!(system.map(|s| (s.mode, s.reranker.is_some())), expect, "{name}");
        };
        check("bm25", Some((SearchMode::Lexical, false)));
        check("hybrid+rerank", Some((SearchMode::Hybrid, true)));
        check("hybrid+magic", None);
        check("", None);
        assert!(System::named("dense+rerank", None).is_none());
    }

    #[test]
    fn every_query_is_scored_and_the_report_says_so() {
        let papers = scholar_testing::corpus::papers();
        let queries = papers
            .iter()
            .take(12)
            .map(|paper| super::super::collection::BenchQuery {
                id: paper.meta.id.to_string(),
                query: scholar_core::Query::new(&paper.meta.title).expect("a title"),
            })
            .collect();
        let grades = papers
            .iter()
            .map(|paper| (paper.meta.id.to_string(), [(paper.meta.id.to_string(), 1)].into()))
            .collect();
        let collection = Collection {
            name: "titles".to_owned(),
            corpus: "unused".into(),
            queries,
            grades,
            left_out: 0,
        };
        let retriever = scholar_testing::MemoryRetriever::corpus();
        let reranker = scholar_testing::FakeReranker::new();
        let systems: Vec<System<'_>> = ["bm25", "bm25+rerank"]
            .iter()
            .map(|name| System::named(name, Some(&reranker)).expect("known"))
            .collect();
        let mut last = (0, 0);
        let report = futures::executor::block_on(run(
            &collection,
            &retriever,
            &systems,
            &mut |done, total| last = (done, total),
        ))
        .expect("ran");
        assert_eq!(last, (24, 24));
        assert_eq!(report.systems[0].per_query.len(), 12);
        // A title finds its own abstract.
        assert!(report.systems[0].recall100.mean > 0.9, "{report:?}");
        let table = super::super::markdown(&[report]);
        assert!(table.contains("| titles |") && table.contains("bm25+rerank"), "{table}");
    }
}
