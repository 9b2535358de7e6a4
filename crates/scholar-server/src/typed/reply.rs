//! The reply to one or many queries, written hit by hit.

use std::sync::Arc;

use scholar_core::{Explanation, PaperMeta, Passage, RetrievalScore, Retrieved};
use serde::Serialize;

use super::{EXPLAINED, Remaining};
use crate::budget::Hold;
use crate::error::ApiError;
use crate::queue::{FinishedSearch, Outcome};
use crate::reply::{Pieces, write_json};

/// One query's failure is not the others'.
pub(super) enum Found {
    Hits(std::vec::IntoIter<Retrieved>),
    Error(ApiError),
}

#[derive(Debug, Serialize)]
struct Hit {
    rank: usize,
    score: RetrievalScore,
    passage: Passage,
    paper: Arc<PaperMeta>,
    #[serde(skip_serializing_if = "Option::is_none")]
    explanation: Option<Explanation>,
    /// The datastores that have the passage.
    datastores: Vec<String>,
}

/// What stands in front of the results.
#[derive(Debug, Serialize)]
pub(super) struct Head {
    pub(super) schema: &'static str,
    pub(super) collection: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) left_out: Vec<String>,
    /// Waiting included.
    pub(super) took_ms: u64,
}

/// One query with what came of it, and the room that takes.
pub(super) struct QueryResult {
    pub(super) query: String,
    pub(super) found: Found,
    pub(super) hold: Hold,
}

impl QueryResult {
    pub(super) fn new(query: String, answered: FinishedSearch, explain: bool) -> Self {
        let FinishedSearch { outcome, hold } = answered;
        Self { query, found: Found::new(outcome, explain), hold }
    }
}

impl Found {
    fn new(outcome: Outcome, explain: bool) -> Self {
        match outcome {
            Ok(mut found) => {
                if !explain {
                    // Nobody will read them, and the reply may wait for its client.
                    for hit in &mut found {
                        hit.explanation = Explanation::new(0.0, "");
                    }
                }
                Self::Hits(found.into_iter())
            }
            Err(error) => Self::Error(error.into()),
        }
    }
}

/// `{"schema", "collection", "took_ms", "results": [{"query", "hits": […]} or {"query", "error"}, …]}`, hit by hit. A query's
/// results are let go as they are written.
pub(super) struct Reply {
    /// What is written next, where that is neither a hit nor a query.
    head: Option<Vec<u8>>,
    results: std::vec::IntoIter<QueryResult>,
    /// The query whose hits are being written, and the rank of the next.
    current: Option<(std::vec::IntoIter<Retrieved>, Hold, usize)>,
    n_written: usize,
    left: Remaining,
    done: bool,
}

impl Reply {
    pub(super) fn new(head: &Head, results: Vec<QueryResult>, left: Remaining) -> Self {
        let mut out = Vec::new();
        write_json(head, &mut out);
        // The results are one field more.
        out.pop();
        out.extend_from_slice(b",\"results\":[");
        let results = results.into_iter();
        Self { head: Some(out), results, current: None, n_written: 0, left, done: false }
    }

    /// Begins the next query's entry; `false` when there is none.
    fn next_query(&mut self, out: &mut Vec<u8>) -> bool {
        let Some(QueryResult { query, found, hold }) = self.results.next() else { return false };
        if self.n_written > 0 {
            out.push(b',');
        }
        self.n_written += 1;
        out.extend_from_slice(b"{\"query\":");
        write_json(&query, out);
        match found {
            Found::Hits(hits) => {
                out.extend_from_slice(b",\"hits\":[");
                self.current = Some((hits, hold, 1));
            }
            Found::Error(error) => {
                out.extend_from_slice(b",\"error\":");
                write_json(&error, out);
                out.push(b'}');
            }
        }
        true
    }
}

impl Pieces for Reply {
    fn append(&mut self, out: &mut Vec<u8>) -> bool {
        if let Some(head) = self.head.take() {
            out.extend_from_slice(&head);
            return true;
        }
        let Some((hits, hold, rank)) = &mut self.current else {
            if self.done {
                return false;
            }
            if self.next_query(out) {
                return true;
            }
            // Either the end, or the next window.
            self.done = self.left.queries.len() == 0;
            if self.done {
                out.extend_from_slice(b"]}");
            }
            return self.done;
        };
        let passage_cost = self.left.demand.passage_cost;
        match hits.next() {
            Some(found) => {
                if *rank > 1 {
                    out.push(b',');
                }
                let searched = &self.left.among.names;
                write_json(&Hit::new(*rank, found, passage_cost == EXPLAINED, searched), out);
                *rank += 1;
                drop(hold.split(passage_cost));
            }
            None => {
                out.extend_from_slice(b"]}");
                self.current = None;
            }
        }
        true
    }

    async fn more(&mut self) -> bool {
        if self.left.queries.len() == 0 {
            return false;
        }
        self.results = self.left.search_later().await.into_iter();
        true
    }
}

impl Hit {
    fn new(rank: usize, found: Retrieved, explain: bool, searched: &[String]) -> Self {
        let Retrieved { passage, paper, score, explanation, found_by } = found;
        // A single datastore does not name itself.
        let datastores = if found_by.is_empty() { searched.to_vec() } else { found_by };
        let explanation = explain.then_some(explanation);
        Self { rank, score, passage, paper, explanation, datastores }
    }
}

#[cfg(test)]
mod tests {
    use scholar_core::{PortError, PortErrorKind, SearchFilter, SearchMode};
    use serde_json::{Value, json};

    use super::*;
    use crate::Server;
    use crate::budget::Demand;
    use crate::typed::SCHEMA;

    /// The same document as one value, field by field.
    fn whole(queries: &[(&str, Outcome)], explain: bool) -> Value {
        let results = queries.iter().map(|(query, outcome)| match outcome {
            Ok(hits) => {
                let hits = hits.iter().enumerate();
                let hits = hits
                    .map(|(at, hit)| Hit::new(at + 1, hit.clone(), explain, &["forty".to_owned()]));
                json!({"query": query, "hits": hits.collect::<Vec<_>>()})
            }
            Err(_) => json!({"query": query, "error": ApiError::from(broken())}),
        });
        json!({"schema": SCHEMA, "collection": "forty", "took_ms": 7, "results": results.collect::<Vec<_>>()})
    }

    fn broken() -> PortError {
        PortError::new(PortErrorKind::Unavailable, "x")
    }

    fn hits(n: usize) -> Vec<Retrieved> {
        let passages = scholar_testing::corpus::passages().into_iter().take(n);
        let hit = |(passage, paper): (Passage, Arc<PaperMeta>)| Retrieved {
            passage,
            paper,
            score: RetrievalScore::new(0.5).expect("a number"),
            explanation: Explanation::new(0.5, "why").with(Explanation::new(0.25, "\"because\"")),
            found_by: Vec::new(),
        };
        passages.map(hit).collect()
    }

    fn server() -> Server {
        let probe = Arc::new(|| Ok(crate::CollectionSize { papers: 0, passages: 0 }));
        let retriever = Arc::new(scholar_testing::MemoryRetriever::corpus());
        Server::start(retriever, crate::ServerConfig::local("forty", 1), probe, None)
    }

    #[tokio::test]
    async fn a_reply_in_parts_is_the_same_document_and_lets_go_of_what_is_written() {
        let server = server();
        let budget = &server.shared.budget;
        for passage_cost in [1, EXPLAINED] {
            let explain = passage_cost == EXPLAINED;
            let queries = [
                ("a \"b\"", Ok(hits(3))),
                ("c", Err(broken())),
                ("d", Ok(hits(0))),
                ("e", Ok(hits(1))),
            ];
            let expect = whole(&queries, explain).to_string();
            let mut room = budget.reserve(200).await.expect("room");
            let results = queries.map(|(query, outcome)| {
                let n = outcome.as_ref().map_or(0, Vec::len);
                let answered = FinishedSearch { outcome, hold: room.split(n * passage_cost) };
                QueryResult::new(query.to_owned(), answered, explain)
            });
            drop(room);
            let collection = "forty".to_owned();
            let head = Head { schema: SCHEMA, collection, left_out: Vec::new(), took_ms: 7 };
            let left = Remaining {
                shared: Arc::clone(&server.shared),
                among: server.shared.searched(Vec::new()).await.expect("its own"),
                queries: Vec::new().into_iter(),
                filter: SearchFilter::none(),
                mode: SearchMode::Hybrid,
                demand: Demand { queries: 4, top_k: 3, passage_cost, filter_bytes: 0 },
                _body: None,
            };
            let mut reply = Reply::new(&head, results.into(), left);
            let mut out = Vec::new();
            let mut held = vec![budget.held()];
            while reply.append(&mut out) {
                held.push(budget.held());
            }
            assert!(!reply.more().await);
            assert_eq!(String::from_utf8(out).expect("text"), expect);
            held.dedup();
            assert_eq!(held, [4, 3, 2, 1, 0].map(|n| n * passage_cost));
        }
    }
}
