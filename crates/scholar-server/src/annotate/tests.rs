//! The pages over a socket, as browsers and others ask for them.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};

use scholar_testing::http::{HttpReply, get};

use super::*;

mod hostile;
mod reviews;

const SYSTEMS: [&str; 2] = ["Alpha-8B", "Beta-GPT"];
const ADA: &str = "adas-secret";
const BEN: &str = "bens-secret";

fn instances() -> Vec<Instance> {
    (0..4)
        .map(|n| {
            let authors = if n == 3 { vec!["Ben".to_owned()] } else { Vec::new() };
            let question = format!("Is <b>{n}</b> & \"more\" enough?");
            let answers = [0, 1].map(|at| Answer {
                system: SYSTEMS[at].to_owned(),
                text: format!("words of the {} answer to {n} [1] [9]", ["first", "second"][at]),
                references: vec![Reference {
                    number: 1,
                    title: "<script>alert(1)</script> title".to_owned(),
                    text: "passage ".repeat(40),
                    url: Some(["https://example.org/x", "javascript:alert(1)"][at].to_owned()),
                }],
            });
            Instance::comparison(format!("{}-vs-{n}", SYSTEMS[0]), question, authors, answers)
        })
        .collect()
}

/// Serves `store` while `work` runs.
fn serving(store: Store, work: impl FnOnce(SocketAddr)) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .expect("threads");
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).expect("a port");
    let address = listener.local_addr().expect("bound");
    let pages = AtomicUsize::new(0);
    let environment = Environment {
        now: Arc::new(|| "2030-01-01T00:00:00Z".to_owned()),
        fresh: Arc::new(move || format!("page-{}", pages.fetch_add(1, Ordering::Relaxed))),
        render: Arc::new(|text, link| {
            let unknown = link(9);
            assert_eq!(unknown, None);
            let cited = link(1).map(|to| format!("<a href=\"{to}\">1</a>")).unwrap_or_default();
            assert_eq!(link(9), None);
            format!("<p>{}</p>{cited}", scholar_core::text::untrusted::escape_html(text))
        }),
    };
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let served =
        runtime.spawn(Study::new(store, environment, Hosts::default()).serve(listener, async {
            let _dropped = stopped.await;
        }));
    work(address);
    drop(stop);
    let stopped = runtime.block_on(served).expect("no panic").expect("served");
    assert_eq!(stopped.cut_off, 0);
}

fn study(folder: &tempfile::TempDir) -> Store {
    let mut store = Store::open_or_create(&folder.path().join("study.db"), Some(2)).expect("made");
    let people = [("Ada", ADA), ("Ben", BEN)]
        .map(|(name, token)| NewAnnotator { name: name.to_owned(), token: token.to_owned() });
    store.add(&instances(), &people, None).expect("added");
    store
}

/// `POST` as a browser sends a form.
fn post(address: SocketAddr, path: &str, fields: &[(&str, &str)]) -> HttpReply {
    let encode = |text: &str| -> String {
        text.bytes()
            .map(|byte| match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' => {
                    char::from(byte).to_string()
                }
                _ => format!("%{byte:02X}"),
            })
            .collect()
    };
    let body: Vec<String> =
        fields.iter().map(|(name, value)| format!("{}={}", encode(name), encode(value))).collect();
    let body = body.join("&");
    let mut stream = TcpStream::connect(address).expect("somebody listens");
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\
         content-type: application/x-www-form-urlencoded\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).expect("taken");
    // What is too long may be refused before it is read.
    let _refused = stream.write_all(body.as_bytes());
    let mut bytes = Vec::new();
    let _reset = stream.read_to_end(&mut bytes);
    let text = String::from_utf8(bytes).expect("text");
    let (head, body) = text.split_once("\r\n\r\n").expect("a reply");
    let mut lines = head.lines();
    let status = lines.next().and_then(|line| line.split(' ').nth(1)).expect("a status line");
    let headers = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_lowercase(), value.trim().to_owned()))
        .collect();
    HttpReply { status: status.parse().expect("a number"), headers, body: body.to_owned() }
}

const RATED: [(&str, &str); 9] = [
    ("a_organization", "5"),
    ("a_coverage", "4"),
    ("a_relevance", "3"),
    ("a_usefulness", "5"),
    ("b_organization", "1"),
    ("b_coverage", "2"),
    ("b_relevance", "3"),
    ("b_usefulness", "2"),
    ("better", "a"),
];

fn with<'a>(more: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    RATED.iter().chain(more).copied().collect()
}

/// Which answer stands first on the page, as words of it.
fn first_shown(page: &str) -> &str {
    let at = |words: &str| page.find(words).expect("both answers are on the page");
    if at("first answer") < at("second answer") { "first" } else { "second" }
}

/// The original had model names in element ids, and shuffled anew at every request.
#[test]
fn no_page_tells_the_systems_and_the_order_stays() {
    let folder = tempfile::tempdir().expect("a folder");
    serving(study(&folder), |address| {
        let mut sides = Vec::new();
        for (token, count) in [(ADA, 4), (BEN, 3)] {
            let list = get(address, &format!("/a/{token}"));
            let mut pages = vec![list.body];
            for place in 1..=count {
                let path = format!("/a/{token}/{place}");
                let page = get(address, &path).body;
                let question = page.split("<h1>").nth(1).expect("a question")[..20].to_owned();
                let again = get(address, &path).body;
                assert_eq!(first_shown(&page), first_shown(&again), "stable over reloads");
                sides.push((token, question, first_shown(&page).to_owned()));
                pages.push(page);
            }
            assert_eq!(get(address, &format!("/a/{token}/{}", count + 1)).status, 404);
            for page in pages {
                let lower = page.to_lowercase();
                for name in ["alpha", "beta", "8b", "gpt", "-vs-", "flipped", "system"] {
                    assert!(!lower.contains(name), "{name} stands in\n{page}");
                }
                assert!(!page.contains("<script>") && !page.contains("javascript:"), "{page}");
                assert!(!page.contains("<b>0"), "questions are text");
            }
        }
        let of = |token: &str| -> Vec<(String, String)> {
            let mut own: Vec<(String, String)> = sides
                .iter()
                .filter(|(whose, _, _)| *whose == token)
                .map(|(_, question, side)| (question.clone(), side.clone()))
                .collect();
            own.sort();
            own
        };
        let (ada, ben) = (of(ADA), of(BEN));
        let differ = ben.iter().any(|one| !ada.contains(one));
        assert!(differ, "the other annotator sees another order: {ada:?} {ben:?}");
    });
}

#[test]
fn only_a_token_opens_pages_and_nothing_may_be_loaded() {
    let folder = tempfile::tempdir().expect("a folder");
    serving(study(&folder), |address| {
        for path in [
            "/a/wrong",
            "/a/Ada",
            "/a/wrong/1",
            "/a//1",
            "/a/adas-secret/0",
            "/a/adas-secret/x",
            "/summary",
            "/a/%27%20OR%201=1--/1",
        ] {
            let reply = get(address, path);
            assert_eq!(reply.status, 404, "{path}");
            assert!(!reply.body.contains("Is "), "{path}");
        }
        assert_eq!(
            post(address, "/a/wrong/1", &with(&[("page", "p"), ("action", "submit")])).status,
            404
        );
        assert_eq!(post(address, "/a/wrong/1/draft", &[("page", "p")]).status, 404);
        // Nobody can say who they are.
        let spoofed = with(&[("page", "p"), ("action", "submit"), ("evaluator", "Ben")]);
        let reply = post(address, &format!("/a/{ADA}/1"), &spoofed);
        assert_eq!(reply.status, 400);
        assert!(reply.body.contains("evaluator"), "{}", reply.body);
        for path in
            ["/", "/style.css", "/annotate.js", "/icon.svg", "/a/wrong", &format!("/a/{ADA}/1")]
        {
            let reply = get(address, path);
            let policy = reply.header("content-security-policy").expect(path);
            assert!(
                policy.contains("default-src 'none'") && !policy.contains("unsafe"),
                "{policy}"
            );
            assert_eq!(reply.header("referrer-policy"), Some("same-origin"));
            assert_eq!(reply.header("cache-control"), Some("no-store"));
        }
        let page = get(address, &format!("/a/{ADA}/1")).body;
        for outside in ["src=\"http", "href=\"http", "@import", "url("] {
            let found = page.matches(outside).count();
            // The one link is that of a paper.
            assert_eq!(found, usize::from(outside == "href=\"http"), "{outside}");
        }
        assert!(!page.contains("style=") && !page.contains("onclick"), "the policy forbids both");
    });
}

#[test]
fn pages_and_forms_of_other_sites_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    serving(study(&folder), |address| {
        let status = |method: &str, lines: &str| {
            let mut stream = TcpStream::connect(address).expect("somebody listens");
            let head = format!("{method} /a/{ADA}/1 HTTP/1.1\r\nconnection: close\r\n{lines}\r\n");
            stream.write_all(head.as_bytes()).expect("taken");
            let mut reply = String::new();
            stream.read_to_string(&mut reply).expect("a reply");
            assert!(reply.contains("content-security-policy"), "{reply}");
            reply.split(' ').nth(1).and_then(|status| status.parse::<u16>().ok()).expect("a status")
        };
        let own = format!("host: {address}\r\norigin: http://{address}\r\n");
        let here = "host: localhost\r\n";
        for (method, lines, expect) in [
            ("GET", here.to_owned(), 200),
            // A link in a letter that is read on a page.
            ("GET", format!("{here}sec-fetch-site: cross-site\r\n"), 200),
            ("GET", "host: rebound.example\r\n".to_owned(), 421),
            ("GET", String::new(), 400),
            // An empty form, which the page does not send, is the form's own fault.
            ("POST", own.clone(), 400),
            ("POST", format!("{own}sec-fetch-site: same-origin\r\n"), 400),
            ("POST", format!("{here}origin: https://other.example\r\n"), 403),
            ("POST", format!("{here}origin: null\r\n"), 403),
            ("POST", format!("{here}sec-fetch-site: cross-site\r\n"), 403),
            ("POST", format!("{here}content-length: 1048577\r\n"), 413),
        ] {
            assert_eq!(status(method, &lines), expect, "{method} {lines:?}");
        }
    });
}

#[test]
fn a_form_is_kept_completed_submitted_and_changed() {
    let folder = tempfile::tempdir().expect("a folder");
    serving(study(&folder), |address| {
        let path = format!("/a/{BEN}/1");
        let draft = format!("{path}/draft");
        let partly =
            [("page", "p"), ("seq", "1"), ("a_coverage", "4"), ("explanation", "A \"<b>\" is\nso")];
        let reply = post(address, &draft, &partly);
        assert_eq!((reply.status, reply.json()["revision"].clone()), (200, 1.into()));
        let page = get(address, &path).body;
        assert!(page.contains("name=\"a_coverage\" value=\"4\" required checked"), "{page}");
        assert!(page.contains("\nA &quot;&lt;b&gt;&quot; is\nso</textarea>"), "{page}");
        assert!(page.contains("name=\"base\" value=\"1\""));
        assert!(get(address, &format!("/a/{BEN}")).body.contains("begun"));

        let reply = post(
            address,
            &path,
            &[("page", "p2"), ("base", "1"), ("action", "submit"), ("a_coverage", "4")],
        );
        assert_eq!(reply.status, 422);
        assert!(
            reply.body.contains("href=\"#b_usefulness\"")
                && reply.body.contains("href=\"#better\"")
        );
        assert!(!reply.body.contains("href=\"#a_coverage\""));

        let reply =
            post(address, &path, &with(&[("page", "p3"), ("base", "2"), ("action", "submit")]));
        assert_eq!((reply.status, reply.header("location")), (303, Some(&*format!("/a/{BEN}/2"))));
        let reply = post(address, &format!("/a/{BEN}/2"), &[("page", "q"), ("action", "skip")]);
        assert_eq!(reply.status, 422);
        assert!(reply.body.contains("Not passed over yet"));
        let skip = [("page", "q2"), ("base", "1"), ("action", "skip"), ("quality", "hard")];
        let reply = post(address, &format!("/a/{BEN}/2"), &skip);
        assert_eq!(reply.header("location"), Some(&*format!("/a/{BEN}/3")));
        let reply =
            post(address, &format!("/a/{BEN}/3"), &with(&[("page", "r"), ("action", "submit")]));
        assert_eq!(reply.header("location"), Some(&*format!("/a/{BEN}")));
        assert!(get(address, &format!("/a/{BEN}")).body.contains("All done"));
        // An older window.
        let reply = post(address, &draft, &[("page", "old"), ("seq", "1"), ("base", "0")]);
        assert_eq!(reply.status, 409);
        assert!(reply.json()["error"].as_str().expect("words").contains("another window"));
        let reply =
            post(address, &path, &with(&[("page", "old"), ("base", "0"), ("action", "submit")]));
        assert_eq!(reply.status, 409);
        assert!(reply.body.contains("replaces"), "{}", reply.body);
    });
    let store = Store::open(&folder.path().join("study.db")).expect("there");
    let made = store.evaluations().expect("readable");
    assert_eq!(made.len(), 3);
    assert!(made.iter().all(|one| one.annotator == "Ben" && one.latest));
    assert_eq!(made[1].ratings, None);
    let rated = made[0].ratings.as_ref().expect("rated");
    let (a, b) = (usize::from(made[0].flipped), usize::from(!made[0].flipped));
    assert_eq!((rated.scores[a], rated.scores[b]), ([5, 4, 3, 5], [1, 2, 3, 2]));
    let preferred = if made[0].flipped { Preference::Second } else { Preference::First };
    assert_eq!(rated.preference, preferred);
    assert!(made.iter().all(|one| one.instance != "Alpha-8B-vs-3"), "Ben wrote it");
}

#[test]
fn what_cannot_be_kept_is_said_and_not_lost() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = study(&folder);
    store.limit_pages(1);
    serving(store, |address| {
        let path = format!("/a/{ADA}/1");
        let long = "much to say ".repeat(1_000);
        let sent = with(&[("page", "p"), ("action", "submit"), ("explanation", &long)]);
        let reply = post(address, &path, &sent);
        assert_eq!(reply.status, 507);
        assert!(reply.body.contains("disk is full") && reply.body.contains("much to say much"));
        assert!(reply.body.contains("name=\"a_organization\" value=\"5\" required checked"));
        assert!(!reply.body.contains("study.db"), "the server's disk is no business of theirs");
        let reply = post(address, &format!("{path}/draft"), &sent);
        assert_eq!(reply.status, 507);
        assert!(reply.json()["error"].as_str().expect("words").contains("disk is full"));
        let huge = "x".repeat(2 << 20);
        let reply = post(address, &path, &[("page", "p"), ("comment", &huge)]);
        assert_eq!(reply.status, 413);
    });
}
