//! The `OpenAPI` document, against the file in docs and against what the server answers.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use scholar_server::Access;
use scholar_testing::http::{get, post};
use serde_json::{Value, json};

use super::corpus;
use super::site::Running;

fn document() -> Value {
    serde_json::from_str(scholar_server::openapi_json()).expect("JSON")
}

#[test]
fn the_file_in_docs_is_the_document() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/openapi.json");
    let kept = fs_err::read_to_string(&file).unwrap_or_default();
    assert!(
        kept == scholar_server::openapi_json(),
        "make it anew: cargo run -p scholar-server --example openapi > docs/openapi.json"
    );
    assert_eq!(document()["openapi"].as_str().map(|version| &version[..4]), Some("3.1."));
}

#[test]
fn every_described_route_answers_and_the_document_is_served() {
    let server = corpus();
    let document: Value =
        serde_json::from_str(scholar_server::search_openapi_json()).expect("JSON");
    every_route_answers(&document, server.address);
    assert_eq!(get(server.address, "/openapi.json").json(), document);
}

#[test]
fn every_described_route_of_a_site_answers_and_its_document_is_served() {
    let (backend, folder) = (Arc::default(), tempfile::tempdir().expect("a folder"));
    let site = Running::start(&backend, folder.path(), Access::Everybody);
    let document = document();
    every_route_answers(&document, site.address);
    assert_eq!(get(site.address, "/openapi.json").json(), document);
    site.join();
}

/// A parameter in the path is one of its address, and the others are not.
#[test]
fn parameters_are_where_they_are_said_to_be() {
    let document = document();
    let mut n_in_queries = 0;
    for (path, operations) in document["paths"].as_object().expect("paths") {
        for (method, operation) in operations.as_object().expect("operations") {
            let parameters = operation["parameters"].as_array().cloned().unwrap_or_default();
            let of = |place: &str| -> BTreeSet<String> {
                let found = parameters.iter().filter(|parameter| parameter["in"] == place);
                found.filter_map(|one| one["name"].as_str().map(str::to_owned)).collect()
            };
            let named: BTreeSet<String> = path
                .split('{')
                .skip(1)
                .filter_map(|part| part.split_once('}').map(|(name, _)| name.to_owned()))
                .collect();
            assert_eq!(of("path"), named, "{method} {path}");
            n_in_queries += of("query").len();
        }
    }
    assert!(n_in_queries >= 8, "{n_in_queries}");
}

fn every_route_answers(document: &Value, address: SocketAddr) {
    let paths = document["paths"].as_object().expect("paths");
    assert!(paths.len() >= 10, "{}", paths.len());
    for (path, operations) in paths {
        let reply = match operations.get("post") {
            Some(_) => post(address, path, "{}"),
            None => get(address, path),
        };
        // What a name stands for is not there; that is an answer of its own.
        let is_there = reply.status != 404 || path.contains('{');
        assert!(is_there && reply.status != 405, "{path}: {}", reply.status);
        assert!(
            !operations[if operations.get("post").is_some() { "post" } else { "get" }]["responses"]
                [reply.status.to_string()]
            .is_null(),
            "{path} answers {}",
            reply.status
        );
    }
}

/// Whether `reply` is what the document says of it.
fn check(path: &str, method: &str, status: u16, reply: &Value) {
    let document = document();
    let content = format!(
        "/paths/{}/{method}/responses/{status}/content/application~1json/schema",
        path.replace('/', "~1")
    );
    let mut schema =
        document.pointer(&content).unwrap_or_else(|| panic!("{content} is described")).clone();
    schema["components"] = document["components"].clone();
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    let wrong: Vec<String> = validator
        .iter_errors(reply)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert!(wrong.is_empty(), "{path}: {wrong:#?}");
}

#[test]
fn replies_have_the_shapes_that_are_described() {
    let server = corpus();
    for (path, body, status) in [
        ("/v1/search", json!({"query": "translation", "top_k": 20, "explain": true}), 200),
        ("/v1/search", json!({"queries": ["translation", "retrieval"], "mode": "lexical"}), 200),
        ("/v1/search", json!({"query": " "}), 400),
        ("/search", json!({"query": "translation", "n_docs": 5, "domains": "pes2o"}), 200),
        ("/search", json!({}), 400),
    ] {
        let reply = post(server.address, path, &body.to_string());
        assert_eq!(reply.status, status, "{path} {body}");
        check(path, "post", status, &reply.json());
    }
    for path in ["/health", "/queue_size", "/current_search"] {
        check(path, "get", 200, &get(server.address, path).json());
    }
}
