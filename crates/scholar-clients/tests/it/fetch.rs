//! Pace, patience and failures, proved by what the stand-in was asked.

use std::time::Duration;

use futures::future::join_all;
use scholar_clients::fetch::{Accept, EMAIL_SETTING, FetchConfig, Provider};
use scholar_clients::{FetchRequest, Fetcher, HttpClient};
use scholar_core::PortErrorKind;
use scholar_testing::{Calls, Fault, StandIn};
use serde_json::Value;

use crate::standin::{Day, config, fetcher, known_config, moments};

pub(crate) fn server() -> StandIn {
    StandIn::start().expect("a free loopback port")
}

/// A request of Semantic Scholar that is answered.
pub(crate) fn title(number: usize) -> FetchRequest {
    FetchRequest::get(Provider::SemanticScholar, "/graph/v1/paper/")
        .path_value(&format!("CorpusId:99000000{number}"))
        .query("fields", "title")
}

pub(crate) fn alive(provider: Provider, path: &str) -> FetchRequest {
    FetchRequest::get(provider, path).query("query", "sleep").accept(Accept::Bytes)
}

#[tokio::test(start_paused = true)]
async fn every_provider_is_asked_at_its_pace() {
    let server = server();
    let folder = tempfile::tempdir().expect("a folder");
    let cases: [(Provider, &str, bool, [u128; 5]); 8] = [
        (Provider::SemanticScholar, "/graph/v1/paper/search", false, [0, 0, 0, 3000, 6000]),
        (Provider::SemanticScholar, "/graph/v1/paper/search", true, [0, 1000, 2000, 3000, 4000]),
        (Provider::Pubmed, "/entrez/eutils/esearch.fcgi", false, [0, 334, 668, 1002, 1336]),
        (Provider::Pubmed, "/entrez/eutils/esearch.fcgi", true, [0, 100, 200, 300, 400]),
        (Provider::Arxiv, "/api/query", false, [0, 3000, 6000, 9000, 12_000]),
        (Provider::Arxiv, "/api/query", true, [0, 3000, 6000, 9000, 12_000]),
        (Provider::OpenAlex, "/works", true, [0, 100, 200, 300, 400]),
        (Provider::Crossref, "/works", true, [0, 100, 200, 300, 400]),
    ];
    for (provider, path, known, expect) in cases {
        server.reset();
        let mut config = match known {
            true => known_config(&server, &Day::default(), folder.path()),
            false => config(&server, &Day::default()),
        };
        config.cache = None;
        let fetcher = fetcher(config);
        // All at once: clones of one fetcher share its limits.
        let askers: Vec<Fetcher> = (0..5).map(|_| fetcher.clone()).collect();
        let request = alive(provider, path);
        let replies = join_all(askers.iter().map(|asker| asker.fetch(&request))).await;
        assert!(replies.iter().all(Result::is_ok), "{provider:?}: {replies:?}");
        assert_eq!(moments(&fetcher), expect, "{provider:?} known: {known}");
        assert_eq!(server.log().len(), 5);
    }
}

#[tokio::test(start_paused = true)]
async fn what_passes_is_tried_again_after_the_pause_that_was_asked_for() {
    let server = server();
    let passing = [
        Fault::RateLimited(Some("7".to_owned())),
        Fault::RateLimited(None),
        Fault::Status(500, "oops".to_owned()),
        Fault::Status(504, String::new()),
        Fault::Truncated,
        Fault::BrokenGzip,
    ];
    for fault in passing {
        server.reset();
        server.fault("/s2/", Calls::First(2), fault.clone());
        let fetcher = fetcher(config(&server, &Day::default()));
        let reply: Value =
            fetcher.fetch_json(&title(1)).await.unwrap_or_else(|e| panic!("{fault:?}: {e}"));
        assert_eq!(reply["title"], "Passage Retrieval for Scientific Question Answering");
        let moments = moments(&fetcher);
        assert_eq!(moments.len(), 3, "{fault:?}");
        if fault == Fault::RateLimited(Some("7".to_owned())) {
            assert!(moments[1] >= 7000 && moments[2] >= moments[1] + 7000, "{moments:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_wish_for_a_pause_holds_for_all_requests_to_the_host() {
    let server = server();
    server.fault("CorpusId:990000001", Calls::Nth(1), Fault::RateLimited(Some("20".to_owned())));
    let fetcher = fetcher(config(&server, &Day::default()));
    let (first, other) = (title(1), title(2));
    let one = fetcher.fetch(&first);
    let later = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        fetcher.fetch(&other).await
    };
    let (one, later) = tokio::join!(one, later);
    assert!(one.is_ok() && later.is_ok());
    assert!(moments(&fetcher)[1..].iter().all(|at| *at >= 20_000), "{:?}", moments(&fetcher));
}

#[tokio::test(start_paused = true)]
async fn what_stays_broken_ends_as_the_right_error() {
    let server = server();
    let limited = PortErrorKind::RateLimited { retry_after: None };
    let cases = [
        (Fault::RateLimited(None), 4, limited, "Too Many Requests", Some("set S2_API_KEY")),
        (
            Fault::Status(500, "oops".to_owned()),
            4,
            PortErrorKind::Transient,
            "status 500, saying \"oops\"",
            None,
        ),
        (Fault::Truncated, 4, PortErrorKind::Transient, "broke off", None),
        (Fault::BrokenGzip, 4, PortErrorKind::Transient, "decompress", None),
        (Fault::Html, 1, PortErrorKind::Corrupt, "Just a moment", None),
        (Fault::RedirectLoop, 1, PortErrorKind::Corrupt, "circle", None),
        (
            Fault::Redirect("ftp://x.example/".to_owned()),
            1,
            PortErrorKind::Corrupt,
            "away from the web",
            None,
        ),
        (Fault::Padded(33 << 20), 1, PortErrorKind::Rejected, "larger than 32768 KiB", None),
        (
            Fault::Status(403, r#"{"message": "Forbidden"}"#.to_owned()),
            1,
            PortErrorKind::Rejected,
            "Forbidden",
            Some("set S2_API_KEY"),
        ),
        (
            Fault::Status(400, r#"{"error": "bad field"}"#.to_owned()),
            1,
            PortErrorKind::Rejected,
            "bad field",
            None,
        ),
        (Fault::Status(200, "{\"half\": ".to_owned()), 1, PortErrorKind::Corrupt, "not JSON", None),
        (Fault::Status(304, String::new()), 1, PortErrorKind::Corrupt, "304", None),
    ];
    for (fault, calls, kind, said, hint) in cases {
        server.reset();
        server.fault("/s2/", Calls::All, fault.clone());
        let fetcher = fetcher(config(&server, &Day::default()));
        let error = fetcher.fetch(&title(1)).await.expect_err("broken");
        let text = error.to_string();
        assert_eq!(error.kind(), kind, "{fault:?}: {text}");
        assert!(text.contains(said), "{fault:?}: {text}");
        assert!(
            text.starts_with("Semantic Scholar: ")
                && text.contains("/s2/graph/v1/paper/CorpusId:990000001)"),
            "{text}"
        );
        assert!(
            hint.is_none_or(|hint| error.hint().is_some_and(|h| h.contains(hint))),
            "{fault:?}: {:?}",
            error.hint()
        );
        assert_eq!(server.asked("/s2/").len(), calls, "{fault:?}");
    }
}

#[tokio::test]
async fn slow_and_absent_servers_end_in_time() {
    let server = server();
    let shorter = |idle: u64, attempt: u64| {
        let mut config = config(&server, &Day::default());
        config.retry.attempts = 1;
        config.idle_timeout = Duration::from_millis(idle);
        config.attempt_timeout = Duration::from_millis(attempt);
        Fetcher::new(HttpClient::new().expect("a client"), config)
    };
    server.fault("/s2/", Calls::Nth(1), Fault::Hang);
    let error = shorter(200, 60_000).fetch(&title(1)).await.expect_err("silent");
    assert_eq!(error.kind(), PortErrorKind::Transient);
    assert!(error.to_string().contains("sent nothing for 0.2 s"), "{error}");
    // Every byte comes within the idle time, and the whole never.
    server.reset();
    server.fault("/s2/", Calls::Nth(1), Fault::Drip(Duration::from_millis(50)));
    let error = shorter(60_000, 400).fetch(&title(1)).await.expect_err("slow");
    assert_eq!(error.kind(), PortErrorKind::Transient);
    assert!(error.to_string().contains("did not finish"), "{error}");

    let mut nobody = config(&server, &Day::default());
    let closed = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        listener.local_addr().expect("an address")
    };
    let address = format!("http://{closed}").parse().expect("an address");
    nobody.base_urls.insert(Provider::SemanticScholar, address);
    let fetcher = Fetcher::new(HttpClient::new().expect("a client"), nobody);
    let error = fetcher.fetch(&title(1)).await.expect_err("nobody listens");
    assert_eq!(error.kind(), PortErrorKind::Unavailable);
    assert!(error.hint().is_some_and(|hint| hint.contains("--offline")));
    assert_eq!(fetcher.journal().len(), 1, "nobody is there the second time either");
}

#[tokio::test(start_paused = true)]
async fn a_deadline_covers_pauses_and_turns() {
    let server = server();
    server.fault("/s2/", Calls::All, Fault::RateLimited(Some("60".to_owned())));
    let fetcher = fetcher(config(&server, &Day::default()));
    let start = tokio::time::Instant::now();
    let hurried = fetcher.within(Duration::from_secs(5));
    let error = hurried.fetch(&title(1)).await.expect_err("limited");
    assert!(matches!(error.kind(), PortErrorKind::RateLimited { retry_after: Some(_) }));
    let second = hurried.fetch(&title(2)).await.expect_err("still limited");
    assert!(matches!(second.kind(), PortErrorKind::RateLimited { .. }), "{second}");
    assert!(second.hint().is_some_and(|hint| hint.contains("S2_API_KEY")));
    assert!(start.elapsed() < Duration::from_secs(1), "nothing to wait for");
    assert_eq!(server.log().len(), 1, "the second was not even sent");
}

#[tokio::test(start_paused = true)]
async fn what_went_wrong_is_told_even_if_there_is_no_time_to_ask_again() {
    let server = server();
    server.fault("/arxiv/", Calls::All, Fault::Status(500, "broken".to_owned()));
    let fetcher = fetcher(config(&server, &Day::default())).within(Duration::from_secs(5));
    let request = FetchRequest::get(Provider::Arxiv, "/api/query").accept(Accept::Bytes);
    let error = fetcher.fetch(&request).await.expect_err("broken");
    assert!(error.to_string().contains("status 500"), "its pace is no reason: {error}");
    assert!(error.hint().is_some());
    let late = fetcher.fetch(&request).await.expect_err("its turn comes too late");
    assert!(late.hint().is_some(), "{late}");
}

#[tokio::test(start_paused = true)]
async fn a_provider_that_keeps_failing_is_left_alone_for_a_while() {
    let server = server();
    server.fault("/s2/", Calls::All, Fault::Status(502, String::new()));
    let fetcher = fetcher(config(&server, &Day::default()));
    for number in 1..=2 {
        fetcher.fetch(&title(number)).await.expect_err("502");
    }
    assert_eq!(server.log().len(), 8);
    // One request that fails does not keep others away: these are the ninth and tenth failure.
    fetcher.fetch(&title(3)).await.expect_err("502 and then left alone");
    let error = fetcher.fetch(&title(4)).await.expect_err("left alone");
    assert_eq!(error.kind(), PortErrorKind::Unavailable);
    assert!(error.to_string().contains("failed 10 times in a row"), "{error}");
    assert_eq!(server.log().len(), 10);
    let openalex = FetchRequest::get(Provider::OpenAlex, "/works/W9900000001");
    assert!(fetcher.fetch(&openalex).await.is_ok(), "others are not affected");
    server.reset();
    tokio::time::sleep(Duration::from_secs(61)).await;
    assert!(fetcher.fetch(&title(4)).await.is_ok(), "it is tried again");
    assert!(fetcher.fetch(&title(5)).await.is_ok());
}

#[test]
fn settings_name_every_provider_and_wrong_ones_are_refused_unseen() {
    let server = server();
    let known = server.settings();
    for provider in Provider::ALL.into_iter().filter(|provider| *provider != Provider::OpenAccess) {
        assert!(known.contains_key(&provider.base_url_setting()), "{provider:?}");
    }
    let mut config = FetchConfig::interactive(Day::default().clock());
    for (name, value) in
        [("S2_API_KEY", "two words"), ("GROBID_BASE_URL", "no address"), (EMAIL_SETTING, "")]
    {
        let error = config
            .read_settings(&|asked| (asked == name).then(|| value.to_owned()))
            .expect_err("not usable");
        assert!(error.to_string().contains(name), "{error}");
        assert!(value.is_empty() || !format!("{error:?}").contains(value));
    }
    assert!(!config.is_known_to(Provider::SemanticScholar));
}

#[tokio::test]
async fn who_needs_a_key_or_an_address_says_so() {
    let server = server();
    let fetcher = fetcher(config(&server, &Day::default()));
    for (provider, setting) in [
        (Provider::You, "YDC_API_KEY"),
        (Provider::Brave, "BRAVE_API_KEY"),
        (Provider::Unpaywall, EMAIL_SETTING),
    ] {
        let error = fetcher.fetch(&FetchRequest::get(provider, "/")).await.expect_err("unknown");
        assert_eq!(error.kind(), PortErrorKind::Rejected);
        assert!(error.hint().is_some_and(|hint| hint.contains(setting)), "{error}");
    }
    assert!(server.log().is_empty());
}

#[tokio::test(start_paused = true)]
async fn probes_tell_who_is_there_and_what_is_missing() {
    let server = server();
    let folder = tempfile::tempdir().expect("a folder");
    let known = known_config(&server, &Day::default(), folder.path());
    let asked: Vec<Provider> =
        Provider::ALL.into_iter().filter(|provider| *provider != Provider::OpenAccess).collect();
    assert!(Provider::ALL.iter().all(|provider| known.missing(*provider).is_none()));
    let fetcher = fetcher(known);
    for provider in &asked {
        fetcher.probe(*provider).await.unwrap_or_else(|e| panic!("{provider:?}: {e}"));
    }
    assert_eq!(server.log().len(), asked.len(), "the cache knows nothing of probes");
    assert!(server.log().iter().all(|request| matches!(request.status, Some(200 | 302 | 404))));

    let bare = FetchConfig::interactive(Day::default().clock());
    let missing = Provider::ALL.map(|provider| bare.missing(provider));
    let named: Vec<&str> = missing.iter().flatten().map(String::as_str).collect();
    assert_eq!(named, [EMAIL_SETTING, "YDC_API_KEY", "BRAVE_API_KEY", "GROBID_BASE_URL"]);
}

#[tokio::test(start_paused = true)]
async fn addresses_from_replies_cannot_reach_the_local_network() {
    let (server, stranger) = (server(), server());
    let fetcher = fetcher(config(&server, &Day::default()));
    let ask = |url: String| {
        let url = scholar_clients::Url::parse(&url).expect("an address");
        FetchRequest::get_url(Provider::OpenAccess, url).accept(Accept::Pdf)
    };
    let own =
        fetcher.fetch(&ask(server.base_url("/pdf/rag1.pdf"))).await.expect("named in the settings");
    assert!(own.body.starts_with(b"%PDF"));
    let private = [
        "http://10.0.0.1/",
        "http://169.254.169.254/x",
        "http://localhost:1/",
        "http://[fd00::1]/",
    ];
    let strange = stranger.base_url("/pdf/rag1.pdf");
    for address in private.into_iter().map(str::to_owned).chain([strange]) {
        let error = fetcher.fetch(&ask(address)).await.expect_err("local");
        assert_eq!(error.kind(), PortErrorKind::Rejected);
        assert!(error.to_string().contains("local network"), "{error}");
    }
    assert!(stranger.log().is_empty());
    let page = fetcher.fetch(&ask(server.base_url("/link/200"))).await.expect_err("no PDF");
    assert!(page.to_string().contains("an HTML page came instead of a PDF"), "{page}");
}
