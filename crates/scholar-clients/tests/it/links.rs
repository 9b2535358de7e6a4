//! Links of reports: what each status is told as, and who is not asked.

use std::time::Duration;

use scholar_clients::fetch::{Look, Looked, Pace};
use scholar_clients::{Fetcher, HttpClient, Provider};
use scholar_testing::StandIn;
use scholar_testing::standin::{Calls, Fault};

use crate::standin::{Day, config, fetcher};

/// No wait between two requests to a host.
const FREE: Pace = Pace { interval: Duration::ZERO, burst: 1, concurrency: 1 };

fn status(looked: &Looked) -> Option<u16> {
    match looked {
        Looked::Answered { status, .. } => Some(*status),
        Looked::TimedOut | Looked::Failed(_) => None,
    }
}

#[tokio::test(start_paused = true)]
async fn every_status_is_told_and_redirects_are_followed() {
    let server = StandIn::start().expect("a port");
    let fetcher = fetcher(config(&server, &Day::default()));
    let at = |path: &str| server.base_url(&format!("/link/{path}"));
    for (path, expected) in [
        ("200", 200),
        ("301", 200),
        ("403", 403),
        ("404", 404),
        ("410", 410),
        ("429", 429),
        ("500", 500),
        ("503", 503),
        ("no-head", 405),
    ] {
        let looked = fetcher.look(&at(path), Look::Head).await;
        assert_eq!(status(&looked), Some(expected), "{path}");
    }
    assert_eq!(status(&fetcher.look(&at("no-head"), Look::FirstByte).await), Some(206));
    let asked = server.asked("/link/");
    assert!(asked.iter().take(9).all(|request| request.method == "HEAD"));
    let last = asked.last().expect("asked");
    assert!(last.headers.contains(&("range".to_owned(), "bytes=0-0".to_owned())), "{last:?}");
    let Looked::Answered { page, .. } = fetcher.look(&at("soft-404"), Look::Page).await else {
        panic!("it answers");
    };
    assert!(page.contains("cannot be found"), "{page}");
}

#[tokio::test]
async fn silence_and_what_is_no_web_address_are_no_reply() {
    let server = StandIn::start().expect("a port");
    let mut config = config(&server, &Day::default());
    config.idle_timeout = Duration::from_millis(200);
    config.paces.insert(Provider::OpenAccess, FREE);
    let fetcher = Fetcher::new(HttpClient::new().expect("a client"), config);
    let url = server.base_url("/link/200");
    server.fault("/link/", Calls::Nth(1), Fault::Hang);
    assert_eq!(fetcher.look(&url, Look::Head).await, Looked::TimedOut);
    server.fault("/link/", Calls::All, Fault::RedirectLoop);
    let looped = fetcher.look(&url, Look::Head).await;
    assert_eq!(looped, Looked::Failed("it redirects too often".to_owned()));
    for address in ["ftp://x.example", "nothing", "http://10.0.0.1/x", "http://localhost:1/x"] {
        assert!(matches!(fetcher.look(address, Look::Head).await, Looked::Failed(_)), "{address}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_doi_is_asked_of_the_resolver_alone() {
    let server = StandIn::start().expect("a port");
    let fetcher = fetcher(config(&server, &Day::default()));
    let known = scholar_testing::standin::world::world();
    let doi = known.papers.iter().find_map(|paper| paper.doi.clone()).expect("a DOI");
    let found = status(&fetcher.resolve_doi(&doi).await).expect("it answers");
    assert!((300..400).contains(&found), "{found}");
    assert_eq!(status(&fetcher.resolve_doi("10.9999/none").await), Some(404));
    assert_eq!(server.log().len(), 2, "nobody behind it is asked");
}
