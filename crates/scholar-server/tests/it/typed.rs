//! The typed interface.

use std::sync::Arc;

use scholar_core::PortErrorKind;
use scholar_testing::MemoryRetriever;
use scholar_testing::http::{get, post};
use serde_json::{Value, json};

use super::{Gated, Running, config, corpus};

fn search(server: &Running, body: &Value) -> Value {
    let reply = post(server.address, "/v1/search", &body.to_string());
    assert_eq!(reply.status, 200, "{body}: {}", reply.body);
    reply.json()
}

#[test]
fn a_query_finds_passages_with_their_papers() {
    let server = corpus();
    let reply = search(&server, &json!({"query": "neural machine translation", "top_k": 4}));
    assert_eq!(
        (&reply["schema"], &reply["collection"]),
        (&json!("openscholar.api-search/1"), &json!("forty"))
    );
    let hits = reply["results"][0]["hits"].as_array().expect("hits");
    assert_eq!(hits.len(), 4);
    for (at, hit) in hits.iter().enumerate() {
        assert_eq!(hit["rank"], json!(at + 1));
        assert!(hit["score"].is_f64() && hit["passage"]["text"].is_string(), "{hit}");
        assert!(hit["paper"]["title"].is_string() && hit.get("explanation").is_none(), "{hit}");
    }
    let explained =
        search(&server, &json!({"query": "neural machine translation", "explain": true}));
    let tree = &explained["results"][0]["hits"][0]["explanation"];
    assert!(tree["value"].is_f64() && tree["details"].is_array(), "{tree}");
}

#[test]
fn filters_hold_for_every_query_of_a_batch() {
    let server = corpus();
    let queries = ["translation", "retrieval", "language models"];
    let reply = search(
        &server,
        &json!({"queries": queries, "top_k": 5, "filter": {"year_from": 2020, "year_to": 2022}}),
    );
    let results = reply["results"].as_array().expect("results");
    assert_eq!(results.len(), 3);
    let mut n_hits = 0;
    for (result, query) in results.iter().zip(queries) {
        assert_eq!(result["query"], query);
        for hit in result["hits"].as_array().expect("hits") {
            n_hits += 1;
            let year = hit["paper"]["year"].as_i64().expect("a year");
            assert!((2020..=2022).contains(&year), "{year}");
        }
    }
    assert!(n_hits > 0);
    let all = search(&server, &json!({"query": "translation", "top_k": 20}));
    let first = all["results"][0]["hits"][0]["paper"]["id"].clone();
    let without = search(
        &server,
        &json!({"query": "translation", "top_k": 20, "filter": {"exclude": [first]}}),
    );
    assert_ne!(without["results"][0]["hits"][0]["paper"]["id"], first);
    let only = search(&server, &json!({"query": "translation", "filter": {"papers": [first]}}));
    assert_eq!(only["results"][0]["hits"].as_array().map(Vec::len), Some(1));
}

#[test]
fn what_is_misspelt_is_refused() {
    let server = corpus();
    let many = vec!["x"; 300];
    for (body, says) in [
        (json!({}), "either query or"),
        (json!({"queries": []}), "either query or"),
        (json!({"query": "x", "queries": ["y"]}), "either query or"),
        (json!({"query": "x", "topk": 3}), "unknown field `topk`"),
        (json!({"query": "x", "top_k": 0}), "top_k is 0"),
        (json!({"query": "x", "mode": "fuzzy"}), "unknown variant `fuzzy`"),
        (json!({"query": "x", "filter": {"year": 2020}}), "unknown field `year`"),
        (json!({"query": "x", "filter": {"published_before": "soon"}}), "as year"),
        (json!({"query": "x", "filter": {"papers": ["W1"]}}), "is not an identifier"),
        (json!({"queries": ["good", " "]}), "query 1: the question is empty"),
        (json!({"queries": many}), "300 queries"),
        (json!([1]), "invalid"),
    ] {
        let reply = post(server.address, "/v1/search", &body.to_string());
        assert_eq!(reply.status, 400, "{body}: {}", reply.body);
        let message = reply.json()["error"]["message"].as_str().expect("a message").to_owned();
        assert!(message.contains(says), "{body}: {message}");
    }
}

#[test]
fn a_collection_that_cannot_be_read_is_503_without_its_path() {
    let failing = MemoryRetriever::corpus()
        .failing(PortErrorKind::Unavailable, "cannot open secret/dense-000000.vec");
    let server = Running::start(Arc::new(failing), config());
    let reply = post(server.address, "/v1/search", "{\"query\": \"x\"}");
    assert_eq!((reply.status, &reply.json()["error"]["code"]), (503, &json!("unavailable")));
    assert!(!reply.body.contains("secret"), "{}", reply.body);
}

#[test]
fn a_panic_is_one_clients_error() {
    let gated = Gated::closed();
    gated.open(100);
    let server = Running::start(gated, config());
    let reply = post(server.address, "/v1/search", "{\"query\": \"panic\"}");
    assert_eq!(reply.status, 503, "{}", reply.body);
    for _ in 0..4 {
        assert_eq!(post(server.address, "/v1/search", "{\"query\": \"retrieval\"}").status, 200);
    }
    let metrics = get(server.address, "/metrics").body;
    assert!(metrics.contains("openscholar_queries_failed_total 1"), "{metrics}");
}
