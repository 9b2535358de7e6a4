//! Runs systems over a collection.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use scholar_core::text::words::{is_stop_word, words};
use scholar_core::{
    PortError, PortErrorKind, Query, Reranker, Retrieved, Retriever, SearchFilter, SearchMode,
    SearchRequest,
};

use scholar_pipeline::config::DedupRule;
use scholar_pipeline::retrieve::pool::dedup;

use super::collection::{Collection, document_name};
use super::metrics::{DEEP, Scores};
use super::report::{Report, SystemReport};

/// Passages asked for per query: long documents have several, and recall looks at 100 documents.
const PASSAGES: usize = 300;
/// First passages that are reranked. Source: arXiv 2411.14199 §2.1, which
/// reranks the 100 passages it retrieves.
pub const RERANKED: usize = 100;

/// Which queries a system searches, and what their hits are ranked by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Queries {
    /// The query of the collection.
    Own,
    /// Two more, each made of one half of the query's content words; hits are pooled as for an answer.
    Standardised,
    /// The same queries, pooled by each passage's best score as it is: what pooling is compared with.
    Raw,
}

/// One way to rank.
pub struct System<'a> {
    /// Name in the report.
    pub name: String,
    /// Which indexes are asked.
    pub mode: SearchMode,
    /// What is searched for.
    pub queries: Queries,
    /// What ranks the first [`RERANKED`] passages anew.
    pub reranker: Option<&'a dyn Reranker>,
}

impl<'a> System<'a> {
    /// `bm25`, `dense` or `hybrid`, each also with `+queries` or `+raw-queries`, with `+rerank`, or with both in this order;
    /// `None` for another name, or when there is no reranker.
    pub fn named(name: &str, reranker: Option<&'a dyn Reranker>) -> Option<Self> {
        let (mode, rerank) = match name.strip_suffix("+rerank") {
            None => (name, false),
            Some(before) => (before, true),
        };
        let (mode, queries) = if let Some(mode) = mode.strip_suffix("+queries") {
            (mode, Queries::Standardised)
        } else if let Some(mode) = mode.strip_suffix("+raw-queries") {
            (mode, Queries::Raw)
        } else {
            (mode, Queries::Own)
        };
        let mode = match mode {
            "bm25" => SearchMode::Lexical,
            "dense" => SearchMode::Dense,
            "hybrid" => SearchMode::Hybrid,
            _ => return None,
        };
        let reranker = if rerank { Some(reranker?) } else { None };
        Some(Self { name: name.to_owned(), mode, queries, reranker })
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
    let mut own_left_out = BTreeSet::new();
    for system in systems {
        let mut per_query = Vec::new();
        for bench_query in &collection.queries {
            let request = SearchRequest {
                query: bench_query.query.clone(),
                top_k: PASSAGES,
                mode: system.mode,
                filter: SearchFilter::none(),
            };
            let mut hits = match system.queries {
                Queries::Own => retriever.search(&request).await?,
                Queries::Standardised => {
                    let lists = searched(retriever, &request).await?;
                    let mut pool = dedup(lists, DedupRule::Richest);
                    pool.sort_by(by_score);
                    pool
                }
                Queries::Raw => best_of_each(searched(retriever, &request).await?),
            };
            if let Some(reranker) = system.reranker {
                hits = rerank(reranker, &request, hits).await?;
            }
            let mut ranking = documents(&hits);
            // BEIR: a query that is a document of the corpus does not find itself.
            let before = ranking.len();
            ranking.retain(|name| *name != bench_query.id);
            if ranking.len() < before {
                own_left_out.insert(&bench_query.id);
            }
            ranking.truncate(DEEP);
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
    Ok(Report::new(collection, reports, own_left_out.len()))
}

/// The hits of the query and of its halves, one list a query.
async fn searched(
    retriever: &dyn Retriever,
    request: &SearchRequest,
) -> Result<Vec<Vec<Retrieved>>, PortError> {
    let mut lists = vec![retriever.search(request).await?];
    for half in halves(&request.query) {
        let request = SearchRequest { query: half, ..request.clone() };
        lists.push(retriever.search(&request).await?);
    }
    Ok(lists)
}

/// Each passage once, with the best of its scores.
fn best_of_each(lists: Vec<Vec<Retrieved>>) -> Vec<Retrieved> {
    let mut hits: Vec<Retrieved> = lists.into_iter().flatten().collect();
    hits.sort_by(by_score);
    let mut seen = BTreeSet::new();
    hits.retain(|hit| seen.insert(hit.passage.id.clone()));
    hits
}

/// Best first, ties by passage id.
fn by_score(a: &Retrieved, b: &Retrieved) -> Ordering {
    b.score.cmp(&a.score).then_with(|| a.passage.id.cmp(&b.passage.id))
}

/// The first and the second half of a query's content words; none of a query with fewer than four.
fn halves(query: &Query) -> Vec<Query> {
    let words: Vec<&str> =
        words(query.as_str()).into_iter().filter(|word| !is_stop_word(word)).collect();
    if words.len() < 4 {
        return Vec::new();
    }
    let (first, second) = words.split_at(words.len() / 2);
    [first, second].iter().filter_map(|half| Query::new(&half.join(" "))).collect()
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

/// Each document at the place of its best passage.
fn documents(hits: &[Retrieved]) -> Vec<String> {
    let mut seen = BTreeSet::new();
    hits.iter()
        .map(|hit| document_name(&hit.paper.id))
        .filter(|name| seen.insert(name.clone()))
        .collect()
}

#[cfg(test)]
mod tests {
    use scholar_core::{PaperId, PaperMeta};

    use super::super::collection::BenchQuery;
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
        check("hybrid+queries+rerank", Some((SearchMode::Hybrid, true)));
        check("hybrid+raw-queries", Some((SearchMode::Hybrid, false)));
        check("hybrid+rerank+queries", None);
        check("hybrid+magic", None);
        check("", None);
        assert!(System::named("dense+rerank", None).is_none());
    }

    /// Titles of the first twelve papers as queries, each with its paper as the only relevant document.
    fn titles(query_id: fn(&PaperId) -> String) -> Collection {
        let papers = scholar_testing::corpus::papers();
        let papers = || papers.iter().take(12).map(|paper| &paper.meta);
        let query = |meta: &PaperMeta| BenchQuery {
            id: query_id(&meta.id),
            query: Query::new(&meta.title).expect("a title"),
        };
        let grade = |meta: &PaperMeta| (query_id(&meta.id), [(meta.id.to_string(), 1)].into());
        Collection {
            name: "titles".to_owned(),
            corpus: "unused".into(),
            queries: papers().map(query).collect(),
            grades: papers().map(grade).collect(),
            left_out: 0,
        }
    }

    fn measured(collection: &Collection, names: &[&str]) -> (Report, (usize, usize)) {
        let retriever = scholar_testing::MemoryRetriever::corpus();
        let reranker = scholar_testing::FakeReranker::new();
        let systems: Vec<System<'_>> =
            names.iter().map(|name| System::named(name, Some(&reranker)).expect("known")).collect();
        let mut last = (0, 0);
        let progress = &mut |done, total| last = (done, total);
        let report = run(collection, &retriever, &systems, progress);
        (futures::executor::block_on(report).expect("ran"), last)
    }

    #[test]
    fn every_query_is_scored_and_the_report_says_so() {
        let collection = titles(|id| format!("title of {id}"));
        let (report, last) =
            measured(&collection, &["bm25", "bm25+rerank", "bm25+raw-queries", "bm25+queries"]);
        assert_eq!(last, (48, 48));
        assert_eq!((report.systems[0].per_query.len(), report.own_documents_left_out), (12, 0));
        // A title finds its own abstract, also beside the hits of its halves.
        for system in [&report.systems[0], &report.systems[2], &report.systems[3]] {
            assert!(system.recall100.mean > 0.9, "{report:?}");
        }
        let table = super::super::markdown(&[report]);
        assert!(table.contains("| titles |") && table.contains("bm25+rerank"), "{table}");
    }

    #[test]
    fn a_query_that_is_a_document_does_not_find_itself() {
        let (report, _) = measured(&titles(ToString::to_string), &["bm25"]);
        assert_eq!(report.own_documents_left_out, 12);
        assert!(report.systems[0].recall100.mean.abs() < 1e-9, "{report:?}");
    }

    #[test]
    fn a_query_has_two_halves_of_content_words() {
        let texts = |text: &str| -> Vec<String> {
            let halves = halves(&Query::new(text).expect("words"));
            halves.iter().map(|half| half.as_str().to_owned()).collect()
        };
        let long = "Does the sleep of adults improve memory consolidation?";
        assert_eq!(texts(long), ["sleep adults", "improve memory consolidation"]);
        assert!(texts("sleep and memory").is_empty());
    }
}
