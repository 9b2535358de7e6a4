//! Studies among the pages of a site.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use scholar_server::annotate::{Answer, Environment, Instance, NewAnnotator, Store, Studies};
use scholar_server::{Access, JobsConfig, SiteConfig};
use scholar_testing::http::get;

use super::{ANN, FakeBackend, Running, folder, form, named, send};

const NAMES: [&str; 2] = ["Alpha-8B", "Beta-GPT"];
const ADA: &str = "4f1d00aa";
const BEN: &str = "90ce11bb";

/// Two studies, of one person each.
fn studies(folder: &Path) -> Studies {
    let store = |annotator: (&str, &str), topic: &str| {
        let answers = [0, 1].map(|at| Answer {
            system: NAMES[at].to_owned(),
            text: format!("The {} answer on {topic}", ["first", "second"][at]),
            references: Vec::new(),
        });
        let question = format!("What is known about {topic}?");
        let instance = Instance::comparison(topic.to_owned(), question, Vec::new(), answers);
        let path = folder.join(format!("Alpha-8B-{topic}.db"));
        let mut store = Store::open_or_create(&path, None).expect("made");
        let (name, token) = (annotator.0.to_owned(), annotator.1.to_owned());
        store.add(&[instance], &[NewAnnotator { name, token }], None).expect("added");
        store
    };
    let pages = AtomicUsize::new(0);
    let environment = Environment {
        now: Arc::new(|| "2030-01-01T00:00:00Z".to_owned()),
        fresh: Arc::new(move || format!("page-{}", pages.fetch_add(1, Ordering::Relaxed))),
        render: Arc::new(|text, _| format!("<p>{text}</p>")),
    };
    Studies::new(vec![store(("Ada", ADA), "cats"), store(("Ben", BEN), "dogs")], environment)
}

fn site(folder: &Path, access: Access) -> Running {
    let config = SiteConfig {
        jobs: JobsConfig::local(1),
        access,
        database: folder.join("serve.db"),
        behind_tls: false,
        studies: Some(studies(folder)),
    };
    Running::of(&Arc::new(FakeBackend::default()), config)
}

/// A whole judgement.
fn judgement() -> String {
    let scores = [("a", 5), ("b", 2)].map(|(side, score)| {
        ["organization", "coverage", "relevance", "usefulness"]
            .map(|aspect| format!("{side}_{aspect}={score}"))
            .join("&")
    });
    format!("page=one&seq=1&base=0&action=submit&better=a&{}", scores.join("&"))
}

#[test]
fn annotators_find_their_pages_beneath_those_of_the_site() {
    let folder = folder();
    let site = site(folder.path(), Access::Everybody);
    let front = get(site.address, "/annotate").body;
    assert!(front.contains("1 question, 1 person: 0 of 1 judgement given"), "{front}");
    for page in ["/", "/runs", "/docs", "/nothing"] {
        assert!(get(site.address, page).body.contains("href=\"/annotate\""), "{page}");
    }
    for (token, own, other) in [(ADA, "cats", "dogs"), (BEN, "dogs", "cats")] {
        let list = get(site.address, &format!("/annotate/a/{token}"));
        assert_eq!(list.status, 200, "{}", list.body);
        assert!(list.body.contains(own) && !list.body.contains(other), "{}", list.body);
        assert!(list.header("content-security-policy").is_some_and(|csp| csp.contains("'none'")));
        assert_eq!(list.header("cache-control"), Some("no-store"));
    }
    let task = format!("/annotate/a/{ADA}/1");
    let page = get(site.address, &task).body;
    for address in [&task, &format!("{task}/draft"), "/annotate/annotate.js", "/annotate/style.css"]
    {
        assert!(page.contains(&format!("\"{address}\"")), "{address}: {page}");
    }
    assert!(!page.contains("\"/a/") && !page.contains("\"/style.css"), "{page}");
    for name in NAMES {
        assert!(!page.contains(name) && !front.contains(name), "{name}");
    }
    let draft = form(
        site.address,
        &format!("{task}/draft"),
        &[],
        "page=one&seq=1&base=0&action=save&explanation=Because",
    );
    assert_eq!((draft.status, &draft.json()["revision"]), (200, &1.into()), "{}", draft.body);
    let sent = form(
        site.address,
        &task,
        &[],
        &judgement().replace("seq=1", "seq=2").replace("base=0", "base=1"),
    );
    assert_eq!(
        sent.header("location"),
        Some(format!("/annotate/a/{ADA}").as_str()),
        "{}",
        sent.body
    );
    assert!(get(site.address, "/annotate").body.contains("1 of 1 judgement given"));
    site.join();
}

#[test]
fn the_gate_of_the_site_is_theirs_too() {
    let own = folder();
    let site = site(own.path(), named());
    let list = format!("/annotate/a/{ADA}");
    assert_eq!(get(site.address, &list).status, 303, "to where one signs in");
    let token = format!("authorization: Bearer {ANN}");
    assert_eq!(send(site.address, "GET", &list, &[&token], "").status, 200);
    let unknown = send(site.address, "GET", "/annotate/a/guessed", &[&token], "");
    assert_eq!(unknown.status, 404);
    assert!(
        unknown.body.contains("nothing at this address")
            && unknown.body.contains("/annotate/style.css"),
        "{}",
        unknown.body
    );
    let task = format!("{list}/1");
    let evil =
        ["content-type: application/x-www-form-urlencoded", "origin: http://evil.example", &token];
    assert_eq!(send(site.address, "POST", &task, &evil, &judgement()).status, 403);
    let mut stream = std::net::TcpStream::connect(site.address).expect("somebody listens");
    let head = format!("GET {list} HTTP/1.1\r\nhost: evil.example\r\n{token}\r\n\r\n");
    std::io::Write::write_all(&mut stream, head.as_bytes()).expect("taken");
    assert_eq!(scholar_testing::http::finish(stream).status, 421);
    site.join();
    let (without, own) = (Arc::new(FakeBackend::default()), folder());
    let site = Running::start(&without, own.path(), Access::Everybody);
    assert_eq!(get(site.address, "/annotate").status, 404);
    assert!(!get(site.address, "/").body.contains("/annotate"));
    site.join();
}
