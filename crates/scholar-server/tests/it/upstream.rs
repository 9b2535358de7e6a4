//! The original's interface.

use std::sync::Arc;

use parking_lot::Mutex;
use scholar_core::{PaperId, PaperMeta, Passage};
use scholar_server::ServerConfig;
use scholar_testing::MemoryRetriever;
use scholar_testing::http::{get, post, request};
use serde_json::{Value, json};

use super::{Running, config, corpus};

const QUERY: &str = "dense passage retrieval";

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().expect("an object").keys().map(String::as_str).collect()
}

#[test]
fn the_reply_has_the_originals_shape_and_numbers_beside_it() {
    let server = corpus();
    let body = json!({"query": QUERY, "n_docs": 3, "domains": "pes2o"}).to_string();
    let reply = post(server.address, "/search", &body);
    assert_eq!(reply.status, 200, "{reply:?}");
    let document = reply.json();
    assert_eq!(keys(&document), ["message", "query", "n_docs", "results"]);
    assert_eq!((&document["query"], &document["n_docs"]), (&json!(QUERY), &json!(3)));
    let results = &document["results"];
    let ours = ["numeric_scores", "passage_ids", "paper_ids", "titles"];
    assert_eq!(keys(results), [&["pes2o IDs", "scores", "passages"][..], &ours].concat());
    for array in keys(results) {
        assert_eq!(results[array].as_array().expect("an array").len(), 3, "{array}");
    }
    for at in 0..3 {
        let text = results["scores"][at].as_str().expect("the original sends strings");
        let number = results["numeric_scores"][at].as_f64().expect("ours are numbers");
        assert!((text.parse::<f64>().expect("a number") - number).abs() < 1e-6);
        assert!(text.contains('.'), "{text}");
        assert!(results["passages"][at].as_str().is_some_and(|text| text.contains(' ')));
    }
}

#[test]
fn what_the_original_demands_may_be_left_out() {
    let server = corpus();
    let reply = post(server.address, "/search", &json!({"query": QUERY}).to_string());
    assert_eq!((reply.status, &reply.json()["n_docs"]), (200, &json!(10)));
    assert_eq!(reply.json()["results"]["scores"].as_array().map(Vec::len), Some(10));
    for domain in ["pes2o", "forty"] {
        let body = json!({"query": QUERY, "domains": domain, "n_docs": 1}).to_string();
        assert_eq!(post(server.address, "/search", &body).status, 200, "{domain}");
    }
}

#[test]
fn its_oddities_are_there_when_asked_for() {
    let server = Running::start(
        Arc::new(MemoryRetriever::corpus()),
        ServerConfig { upstream_exact: true, ..config() },
    );
    let body = json!({"query": QUERY, "n_docs": 2, "domains": "pes2o"}).to_string();
    let reply = post(server.address, "/search", &body);
    assert_eq!(keys(&reply.json()["results"]), ["pes2o IDs", "scores", "passages"]);
    assert_eq!(reply.header("access-control-allow-origin"), Some("*"));
    for missing in [json!({"query": QUERY}), json!({"query": QUERY, "n_docs": 2})] {
        assert_eq!(post(server.address, "/search", &missing.to_string()).status, 400);
    }
    let preflight = request(server.address, "OPTIONS", "/search", "");
    assert_eq!(preflight.status, 204);
    assert_eq!(preflight.header("access-control-allow-headers"), Some("content-type"));
}

#[test]
fn papers_of_the_original_are_named_by_their_corpus_id() {
    let (passage, paper) = scholar_testing::corpus::passages().remove(0);
    let with = |id: PaperId, external_ids| {
        let paper = PaperMeta { id: id.clone(), external_ids, ..PaperMeta::clone(&paper) };
        let id = scholar_core::PassageId { paper: id, ..passage.id.clone() };
        (Passage { id, ..passage.clone() }, Arc::new(paper))
    };
    let papers = [
        with(PaperId::CorpusId(7), Vec::new()),
        with(PaperId::Pmid(8), vec![PaperId::CorpusId(9)]),
        with(PaperId::Pmid(10), Vec::new()),
    ];
    let server = Running::start(Arc::new(MemoryRetriever::new(papers)), config());
    let body = json!({"query": passage.title}).to_string();
    let reply = post(server.address, "/search", &body).json();
    assert_eq!(reply["results"]["pes2o IDs"], json!(["7", "9", "pmid:10"]));
}

#[test]
fn the_small_routes_answer() {
    let server = corpus();
    let get = |path: &str| get(server.address, path);
    assert_eq!(get("/queue_size").json(), json!({"queue_size": 0}));
    assert!(get("/current_search").json()["message"].is_string());
    assert!(get("/").json().as_str().is_some_and(|text| text.contains("forty")));
    assert_eq!((get("/health").status, get("/health/live").status), (200, 200));
    assert_eq!(get("/health/ready").status, 200);
    let health = get("/health").json();
    assert_eq!((&health["ready"], &health["papers"]), (&json!(true), &json!(40)));
}

#[test]
fn bad_requests_are_told_what_is_wrong() {
    let server = corpus();
    for (path, body, says) in [
        ("/search", "", "EOF"),
        ("/search", "{", "EOF"),
        ("/search", "query=x", "expected"),
        ("/search", "{\"n_docs\": 3}", "query"),
        ("/search", "{\"query\": 3}", "invalid type"),
        ("/search", "{\"query\": \"\"}", "empty"),
        ("/search", "{\"query\": \"?!\"}", "no word"),
        ("/search", "{\"query\": \"x\", \"n_docs\": 0}", "n_docs is 0"),
        ("/search", "{\"query\": \"x\", \"n_docs\": -1}", "integer `-1`"),
        ("/search", "{\"query\": \"x\", \"n_docs\": 1000000}", "n_docs is 1000000"),
        ("/search", "{\"query\": \"x\", \"domains\": \"mars\"}", "no domain \"mars\""),
        ("/search", "{\"query\": \"a\\u0000b\"}", "control character"),
    ] {
        let reply = post(server.address, path, body);
        let error = &reply.json()["error"];
        assert_eq!((reply.status, &error["code"]), (400, &json!("bad_request")), "{body}");
        let message = error["message"].as_str().expect("a message");
        assert!(message.contains(says), "{body}: {message}");
    }
    let long = json!({"query": "x".repeat(3 << 20)}).to_string();
    let reply = post(server.address, "/search", &long);
    assert_eq!((reply.status, &reply.json()["error"]["code"]), (413, &json!("too_large")));
    assert_eq!(get(server.address, "/search").status, 405);
    assert_eq!(get(server.address, "/nothing").json()["error"]["code"], "not_found");
    assert_eq!(post(server.address, "/search", &json!({"query": QUERY}).to_string()).status, 200);
}

#[test]
fn queries_are_shown_to_nobody_unless_the_owner_listens() {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let listener = {
        let heard = Arc::clone(&heard);
        Arc::new(move |query: &scholar_core::Query| heard.lock().push(query.as_str().to_owned()))
    };
    let server = Running::observed(Arc::new(MemoryRetriever::corpus()), config(), Some(listener));
    post(server.address, "/search", &json!({"query": QUERY}).to_string());
    let metrics = get(server.address, "/metrics").body;
    assert!(metrics.contains("route=\"/search\",status=\"200\"} 1"), "{metrics}");
    assert!(!metrics.contains("dense"), "{metrics}");
    assert_eq!(*heard.lock(), [QUERY]);
}
