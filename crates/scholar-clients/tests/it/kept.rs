//! What is kept on disk, and what is kept secret.

use std::time::Duration;

use scholar_clients::FetchRequest;
use scholar_clients::fetch::{CachePolicy, Provider};
use scholar_core::PortErrorKind;
use scholar_testing::{Calls, Fault, StandIn};
use serde_json::{Value, json};

use crate::fetch::{alive, server, title};
use crate::standin::{Day, KEY, fetcher, known_config};

const DAYS_7: CachePolicy = CachePolicy::days("test-v1", 7);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

#[tokio::test(start_paused = true)]
async fn replies_are_kept_confirmed_and_answered_offline() {
    let server = server();
    let folder = tempfile::tempdir().expect("a folder");
    let day = Day::default();
    let fetcher = fetcher(known_config(&server, &day, folder.path()));
    let request = title(1).cache(DAYS_7);
    let first = fetcher.fetch(&request).await.expect("answered");
    assert_eq!(first.cached, None);
    day.pass(DAY * 6);
    let second = fetcher.fetch(&request).await.expect("kept");
    assert_eq!((second.cached, &second.body), (Some(DAY * 6), &first.body));
    assert_eq!(server.log().len(), 1);
    day.pass(DAY * 2);
    let third = fetcher.fetch(&request).await.expect("confirmed");
    assert_eq!((third.status, &third.body, third.cached), (200, &first.body, None));
    let log = server.log();
    assert_eq!(log.len(), 2);
    assert!(log[0].header("if-none-match").is_none());
    assert_eq!((log[1].header("if-none-match").is_some(), log[1].status), (true, Some(304)));
    day.pass(DAY * 6);
    assert_eq!(fetcher.fetch(&request).await.expect("kept").cached, Some(DAY * 6));

    let mut config = known_config(&server, &day, folder.path());
    config.offline = true;
    config.keys.clear();
    let offline = crate::standin::fetcher(config);
    day.pass(DAY * 1000);
    let old = offline.fetch(&request).await.expect("whatever the age");
    assert_eq!(old.cached, Some(DAY * 1006));
    let error = offline.fetch(&title(2).cache(DAYS_7)).await.expect_err("never asked");
    assert_eq!(error.kind(), PortErrorKind::Unavailable);
    assert!(error.to_string().contains("--offline is on"), "{error}");
    let search = FetchRequest::get(Provider::You, "/v1/search").query("query", "x");
    assert_eq!(
        offline.fetch(&search).await.expect_err("offline").kind(),
        PortErrorKind::Unavailable
    );
    assert_eq!(server.log().len(), 2, "nobody was asked");
}

#[tokio::test(start_paused = true)]
async fn only_answers_are_kept_and_bodies_tell_them_apart() {
    let server = server();
    let folder = tempfile::tempdir().expect("a folder");
    let day = Day::default();
    let fetcher = fetcher(known_config(&server, &day, folder.path()));
    let batch = |id: &str| {
        let body = json!({"ids": [id]});
        FetchRequest::post_json(Provider::SemanticScholar, "/graph/v1/paper/batch", &body)
            .cache(DAYS_7)
    };
    for _ in 0..2 {
        let one: Value = fetcher.fetch_json(&batch("CorpusId:990000001")).await.expect("known");
        let two: Value = fetcher.fetch_json(&batch("CorpusId:990000002")).await.expect("known");
        assert_ne!(one, two);
    }
    assert_eq!(server.log().len(), 2);

    server.reset();
    let absent =
        FetchRequest::get(Provider::SemanticScholar, "/graph/v1/paper/CorpusId:1").cache(DAYS_7);
    for _ in 0..2 {
        let error = fetcher.fetch(&absent).await.expect_err("404 is a failure unless declared");
        assert_eq!(error.kind(), PortErrorKind::Rejected);
    }
    assert_eq!(server.log().len(), 2, "failures are not kept");
    let absent = absent.not_found_answers();
    for _ in 0..2 {
        assert!(fetcher.find_json::<Value>(&absent).await.expect("an answer").is_none());
    }
    assert_eq!(server.log().len(), 3, "absence is kept");
    day.pass(DAY + Duration::from_secs(1));
    assert!(fetcher.fetch(&absent).await.expect("an answer").is_not_found());
    assert_eq!(server.log().len(), 4, "for a day only");
}

#[tokio::test(start_paused = true)]
async fn replies_of_another_shape_name_the_field_and_are_not_kept() {
    #[derive(Debug, serde::Deserialize)]
    struct Page {
        #[expect(dead_code, reason = "its shape is what matters")]
        data: Vec<Titled>,
    }
    #[derive(Debug, serde::Deserialize)]
    struct Titled {
        #[expect(dead_code, reason = "its shape is what matters")]
        title: String,
    }
    let server = server();
    let folder = tempfile::tempdir().expect("a folder");
    let fetcher = fetcher(known_config(&server, &Day::default(), folder.path()));
    server.fault("/s2/", Calls::Nth(1), Fault::List(json!([{"title": "x"}, {"title": 5}])));
    let request = alive(Provider::SemanticScholar, "/graph/v1/paper/search").cache(DAYS_7);
    let error = fetcher.fetch_json::<Page>(&request).await.expect_err("5 is no title");
    assert_eq!(error.kind(), PortErrorKind::Corrupt);
    assert!(
        error.to_string().contains("`data[1].title`") && error.to_string().contains("integer `5`"),
        "{error}"
    );
    assert!(fetcher.fetch_json::<Page>(&request).await.is_ok(), "asked again");
    assert_eq!(server.log().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn keys_go_to_their_owner_and_nowhere_else() {
    let (server, other) = (server(), server());
    let folder = tempfile::tempdir().expect("a folder");
    let fetcher = fetcher(known_config(&server, &Day::default(), folder.path()));
    let mut seen: Vec<String> = Vec::new();
    let mut note = |error: &scholar_core::PortError| {
        seen.push(format!("{error} {error:?} {:?}", error.hint()));
    };
    let by_header = title(1).cache(DAYS_7);
    let by_param = FetchRequest::get(Provider::Pubmed, "/entrez/eutils/esearch.fcgi")
        .query("retmode", "json")
        .cache(DAYS_7);
    for request in [&by_header, &by_param] {
        fetcher.fetch(request).await.expect("answered");
        // A server that repeats what it was sent, and one that sends us elsewhere.
        server.fault("/", Calls::First(1), Fault::Status(400, format!("your key {KEY} is odd")));
        note(&fetcher.fetch(&request.clone().query("again", "1")).await.expect_err("400"));
        server.fault(
            "/",
            Calls::First(1),
            Fault::Redirect(other.base_url("/s2/graph/v1/paper/CorpusId:990000001")),
        );
        fetcher.fetch(&request.clone().query("again", "2")).await.expect("the other answers");
    }
    let sent = |server: &StandIn| format!("{:?}", server.log());
    let encoded: String = url_encoded(KEY);
    assert!(sent(&server).contains(KEY) && sent(&server).contains(&encoded), "the owner got it");
    seen.push(sent(&other));
    seen.push(format!("{:?} {:?}", fetcher.journal(), fetcher.config()));
    seen.push(format!("{by_header:?} {by_param:?}"));
    let mut files = 0;
    let mut folders = vec![folder.path().to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs_err::read_dir(next).expect("readable").map(|entry| entry.expect("readable"))
        {
            seen.push(entry.path().to_string_lossy().into_owned());
            if entry.path().is_dir() {
                folders.push(entry.path());
            } else {
                files += 1;
                seen.push(
                    String::from_utf8_lossy(&fs_err::read(entry.path()).expect("readable"))
                        .into_owned(),
                );
            }
        }
    }
    let seen = seen.join("\n");
    assert_eq!((files, other.log().len()), (4, 2));
    assert!(seen.contains("is odd"), "the words around the key stay");
    for secret in [KEY, &encoded, "K3Y", "reader@", "inbox.example"] {
        assert!(!seen.contains(secret), "{secret} in {seen}");
    }
}

fn url_encoded(text: &str) -> String {
    let mut url = scholar_clients::Url::parse("http://x/").expect("an address");
    url.query_pairs_mut().append_pair("k", text);
    url.query().unwrap_or_default().replace("k=", "")
}
