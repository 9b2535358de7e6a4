//! What only programs ask for: searches of several datastores, threads, feedback, sharing; and who guesses tokens.

use std::sync::Arc;

use scholar_server::{Access, Tokens};
use scholar_testing::http::{get, post};
use scholar_testing::until;
use serde_json::{Value, json};

use super::{ANN, BEN, FakeBackend, Running, folder, form, named, send};
use crate::{Running as Searching, config};

#[test]
fn a_search_asks_all_datastores_or_those_it_names_and_hits_name_theirs() {
    let (backend, folder) = (Arc::new(FakeBackend::default()), folder());
    let site = Running::start(&backend, folder.path(), Access::Everybody);
    let search = |body: Value| post(site.address, "/v1/search", &body.to_string());
    let all = search(json!({"query": "translation", "top_k": 2}));
    assert_eq!(all.status, 200, "{}", all.body);
    let all = all.json();
    assert_eq!((&all["collection"], &all["left_out"]), (&json!("forty,empty"), &json!(["broken"])));
    assert_eq!(all["results"][0]["hits"][1]["datastores"], json!(["forty"]));
    let one = search(json!({"query": "translation", "datastores": ["empty"]})).json();
    assert_eq!((&one["collection"], &one["results"][0]["hits"]), (&json!("empty"), &json!([])));
    let none = search(json!({"query": "translation", "datastores": ["forty", "mars"]}));
    assert_eq!(none.status, 400);
    assert!(none.body.contains("there is no datastore \\\"mars\\\""), "{}", none.body);
    let original = |domain: &str| {
        let body = json!({"query": "translation", "domains": domain, "n_docs": 1}).to_string();
        post(site.address, "/search", &body)
    };
    assert_eq!(original("pes2o").json()["results"]["titles"].as_array().map(Vec::len), Some(1));
    assert_eq!(original("empty").json()["results"]["titles"], json!([]));
    assert!(original("mars").body.contains("no domain"));
    site.join();
}

#[test]
fn threads_feedback_and_sharing_are_there_for_programs_too() {
    let (backend, folder) = (Arc::new(FakeBackend::default()), folder());
    let site = Running::start(&backend, folder.path(), named());
    backend.open(2);
    let (ann, ben) =
        (format!("authorization: Bearer {ANN}"), format!("authorization: Bearer {BEN}"));
    let call = |method: &str, path: &str, who: &str, body: &str| {
        send(site.address, method, path, &[who, "content-type: application/json"], body)
    };
    let ask = |body: Value| {
        let taken = call("POST", "/v1/ask", &ann, &body.to_string());
        let run = taken.json()["run"].as_str().expect("a run").to_owned();
        until("the answer", || {
            let reply = call("GET", &format!("/v1/runs/{run}?wait=50"), &ann, "").json();
            (reply["state"] == "done").then_some(())
        });
        run
    };
    let first = ask(json!({"question": "Why?"}));
    let second = ask(json!({"question": "And then?", "follows": first}));
    let threads = call("GET", "/v1/threads", &ann, "").json();
    let expect = json!([{"run": second, "title": "Why?", "n_runs": 2, "state": "done"}]);
    assert_eq!(threads["threads"], expect);
    assert_eq!(call("GET", "/v1/threads", &ben, "").json()["threads"], json!([]));

    let feedback = format!("/v1/runs/{first}/feedback");
    let said = call("POST", &feedback, &ann, "{\"section\": 1, \"thumb\": \"down\"}");
    assert_eq!((said.status, &said.json()["done"]), (200, &json!(true)), "{}", said.body);
    call("POST", &feedback, &ann, "{\"section\": 1, \"comment\": \"Too short.\"}");
    let kept = call("GET", &feedback, &ann, "").json();
    let expect = json!([{"section": 1, "thumb": "down", "comment": "Too short."}]);
    assert_eq!(kept["feedback"], expect);
    assert_eq!(call("POST", &feedback, &ann, "{\"section\": 1, \"stars\": 5}").status, 400);
    assert_eq!(call("GET", &feedback, &ben, "").status, 404, "it is nobody else's");
    assert_eq!(call("POST", &feedback, &ben, "{\"section\": 1}").status, 404);

    let share = |verb: &str, who: &str| call("POST", &format!("/v1/runs/{first}/{verb}"), who, "");
    assert_eq!(share("share", &ben).status, 404);
    let path = share("share", &ann).json()["path"].as_str().expect("an address").to_owned();
    assert_eq!(get(site.address, &path).status, 200);
    assert_eq!(share("unshare", &ann).json()["path"], Value::Null);
    assert_eq!(get(site.address, &path).status, 404);
    site.join();
}

#[test]
fn who_guesses_tokens_is_made_to_wait_and_learns_nothing_meanwhile() {
    let (backend, folder) = (Arc::new(FakeBackend::default()), folder());
    let site = Running::start(&backend, folder.path(), named());
    let with = |token: &str| {
        send(site.address, "GET", "/v1/runs", &[&format!("authorization: Bearer {token}")], "")
    };
    let guess = |n: usize| format!("0123456789abcdef-{n:04}");
    // Those who know theirs never wait, however often they come.
    for _ in 0..50 {
        assert_eq!(with(ANN).status, 200);
    }
    let tried: Vec<u16> = (0..40).map(|n| with(&guess(n)).status).collect();
    assert_eq!(tried.first(), Some(&401));
    let refused = tried.iter().filter(|status| **status == 429).count();
    // A slow machine may have been given a try or two back.
    assert!(refused >= 15, "{tried:?}");
    let now = with(BEN);
    assert_eq!(now.status, 429, "the right one is not told from a wrong one");
    assert_eq!(now.json()["error"]["code"], "rate_limited");
    let wait = now.header("retry-after").and_then(|value| value.parse::<u64>().ok());
    assert!(wait.is_some_and(|seconds| (1..=3).contains(&seconds)), "{now:?}");
    let page = form(site.address, "/sign-in", &[], &format!("token={ANN}&next=%2F"));
    assert_eq!((page.status, page.header("set-cookie")), (429, None));
    // What needs no token goes on.
    assert_eq!(get(site.address, "/health/live").status, 200);
    assert_eq!(get(site.address, "/sign-in").status, 200);
    site.join();
}

#[test]
fn the_search_service_slows_guesses_as_well() {
    let tokens = Tokens::parse(&format!("ann: {ANN}")).expect("tokens");
    let server = Searching::start(
        Arc::new(scholar_testing::MemoryRetriever::corpus()),
        scholar_server::ServerConfig { tokens: Some(tokens), ..config() },
    );
    let with = |token: &str| {
        send(server.address, "GET", "/health", &[&format!("authorization: Bearer {token}")], "")
    };
    assert_eq!(with(ANN).status, 200);
    let tried: Vec<u16> =
        (0..40).map(|n| with(&format!("0123456789abcdef-{n:04}")).status).collect();
    assert!(tried.iter().filter(|status| **status == 429).count() >= 15, "{tried:?}");
    assert_eq!(with(ANN).status, 429);
    assert_eq!(get(server.address, "/health/live").status, 200);
}
