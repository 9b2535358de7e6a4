use std::collections::BTreeMap;

use parking_lot::Mutex;

use super::*;
use crate::scholarideas::reports::Report;

/// Replies by address and way of asking; remembers who was asked.
struct Scripted {
    replies: BTreeMap<&'static str, LinkReply>,
    asked: Mutex<Vec<String>>,
}

#[async_trait]
impl LinkProbe for Scripted {
    async fn ask(&self, url: &str, how: Ask) -> LinkReply {
        self.asked.lock().push(format!("{how:?} {url}"));
        let first_byte = format!("{url}#get");
        let key = if how == Ask::Head { url } else { &first_byte };
        self.replies.get(key).or_else(|| self.replies.get(url)).cloned().expect("scripted")
    }

    async fn resolve(&self, doi: &str) -> LinkReply {
        self.asked.lock().push(format!("doi {doi}"));
        self.replies.get(doi).cloned().expect("scripted")
    }
}

fn status(status: u16) -> LinkReply {
    LinkReply::Answered { status, page: "<p>a page of words</p>".repeat(20) }
}

fn page(status: u16, page: &str) -> LinkReply {
    LinkReply::Answered { status, page: page.to_owned() }
}

fn scripted(replies: &[(&'static str, LinkReply)]) -> Scripted {
    Scripted { replies: replies.iter().cloned().collect(), asked: Mutex::default() }
}

fn check(probe: &Scripted, policy: Policy, url: &str) -> LinkVerdict {
    futures::executor::block_on(rules::verdict(url, policy, probe))
}

#[test]
fn the_paper_counts_what_is_surely_gone() {
    let cases = [
        (200, true),
        (301, true),
        (401, true),
        (403, true),
        (404, false),
        (410, false),
        (429, true),
        (500, false),
        (503, false),
    ];
    for (code, valid) in cases {
        let probe = scripted(&[("https://a.example", status(code))]);
        let found = check(&probe, Policy::Paper, "https://a.example");
        assert_eq!((found.valid, found.status), (valid, Some(code)), "{code}");
    }
    for reply in [LinkReply::TimedOut, LinkReply::Failed("no such host".to_owned())] {
        let found = check(&scripted(&[("u", reply)]), Policy::Paper, "u");
        assert!(found.valid && found.status.is_none(), "{found:?}");
    }
    // Whoever does not answer HEAD is asked for a byte.
    for code in [405, 501] {
        let probe = scripted(&[("u", status(code)), ("u#get", status(206))]);
        assert!(check(&probe, Policy::Paper, "u").valid);
        assert_eq!(*probe.asked.lock(), ["Head u", "FirstByte u"]);
        let probe = scripted(&[("u", status(code)), ("u#get", status(404))]);
        assert!(!check(&probe, Policy::Paper, "u").valid);
    }
}

#[test]
fn strictly_a_link_is_what_a_reader_can_open() {
    let open = |reply: LinkReply| check(&scripted(&[("u", reply)]), Policy::Strict, "u").valid;
    assert!(open(status(200)));
    for code in [400, 404, 410, 500, 503] {
        assert!(!open(status(code)), "{code}");
    }
    assert!(!open(LinkReply::TimedOut) && !open(LinkReply::Failed("broke off".to_owned())));
    assert!(!open(page(200, "<title>Oops</title><p>The page cannot be found.</p>")));
    assert!(!open(page(200, "<p>Error</p>")) && open(page(200, "<p>ok</p>")));
    assert!(open(page(200, &format!("<p>{} error bars</p>", "A paper. ".repeat(40)))));
    // Refused without a DOI, and with one that resolves or not.
    for code in [401, 403, 429] {
        assert!(!open(status(code)), "{code}");
    }
    let with_doi = |resolved: LinkReply| {
        let url = "https://pub.example/doi/10.1016/S0140-6736(20)30183-5?x=1";
        let wall = page(403, "<title>Just a moment...</title>");
        let doi = "10.1016/S0140-6736(20)30183-5";
        check(&scripted(&[(url, wall), (doi, resolved)]), Policy::Strict, url)
    };
    assert!(with_doi(status(302)).valid && with_doi(status(200)).valid);
    assert!(!with_doi(status(404)).valid && !with_doi(LinkReply::TimedOut).valid);
    let wall = page(200, "<title>Just a moment...</title><p>Verify you are human</p>");
    assert!(!open(wall), "a wall with a status of success");
}

#[test]
fn dois_are_found_in_addresses() {
    assert_eq!(
        doi_of("https://doi.org/10.1038/s41586-020-2649-2"),
        Some("10.1038/s41586-020-2649-2")
    );
    assert_eq!(doi_of("https://x.example/a?doi=10.1000/182&y=2"), Some("10.1000/182"));
    assert_eq!(doi_of("https://arxiv.org/abs/2010.12345"), None);
    assert_eq!(doi_of("https://x.example/v10.1/10.12/a"), None);
    assert_eq!(doi_of("https://doi.org/10.1038/"), None);
}

fn reports() -> Reports {
    let report = |(id, text): (&str, &str)| {
        let evidence = Some(["https://a.example/1".to_owned()].into());
        (id.parse().expect("a name"), Report { text: text.to_owned(), evidence })
    };
    [
        ("ai_1", "https://a.example/1 and https://a.example/2 and again https://a.example/1."),
        ("ai_2", "https://a.example/2"),
        ("eco_1", "no link"),
    ]
    .map(report)
    .into()
}

#[test]
fn rates_are_over_links_and_over_reports_and_a_log_resumes() {
    let probe =
        scripted(&[("https://a.example/1", status(200)), ("https://a.example/2", status(404))]);
    let kept = Mutex::new(String::new());
    let keep = |link: &CheckedLink| {
        let line = LogLine { time: "2026-01-01T00:00:00Z", link }.to_string();
        kept.lock().push_str(&(line + "\n"));
    };
    let checked = |log: &LinkLog| {
        futures::executor::block_on(check_links(&reports(), Policy::Paper, &probe, log, 2, &keep))
    };
    let found = checked(&LinkLog::default());
    assert_eq!((found.links.hits, found.links.n, found.without_links), (2, 3, 1));
    assert!(found.rate.is_some_and(|rate| (rate.mean - 2.0 / 3.0).abs() < 1e-12));
    assert!(found.per_report.is_some_and(|rate| (rate.mean - 0.75).abs() < 1e-12));
    assert_eq!(found.reasons, BTreeMap::from([("status 404".to_owned(), 2)]));
    assert_eq!(probe.asked.lock().len(), 2, "an address of two reports is asked once");

    let log = kept.lock().clone();
    assert_eq!(log.lines().count(), 3);
    assert!(
        log.contains(
            "2026-01-01T00:00:00Z | ai_2 | https://a.example/2 | 404 | invalid | status 404"
        ),
        "{log}"
    );
    let again = checked(&LinkLog::read(&log));
    assert_eq!(
        (again.checked, probe.asked.lock().len()),
        (found.checked, 2),
        "nobody is asked again"
    );
    // A torn line is asked again.
    let torn = LinkLog::read(&log[..log.len() - 25]);
    checked(&torn);
    assert_eq!(probe.asked.lock().len(), 3);
}

#[test]
fn offline_a_link_is_valid_in_the_evidence_and_nobody_is_asked() {
    let mut reports = reports();
    let found = offline(&reports).expect("all tell their evidence");
    assert_eq!((found.links.hits, found.links.n), (2, 3));
    assert!(found.percent().is_some_and(|percent| (percent - 200.0 / 3.0).abs() < 1e-9));
    let id = "eco_1".parse().expect("a name");
    reports.get_mut(&id).expect("there").evidence = None;
    assert_eq!(offline(&reports).expect_err("one does not"), id);
}
