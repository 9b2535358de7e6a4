//! Reviews of ideas, as browsers and programs get them.

use std::sync::Arc;

use scholar_server::Access;
use scholar_testing::hostile;
use scholar_testing::http::{HttpReply, get, post};
use scholar_testing::until;
use serde_json::{Value, json};

use super::pages::foreign;
use super::{ANN, BEN, FakeBackend, Running, Stream, folder, named, send};

const IDEA: &str = "# Retrieval against <b>hallucination</b>\n\nWe plan.";

/// The form with these fields, and a file.
fn sent(
    site: &Running,
    path: &str,
    fields: &[(&str, &str)],
    file: Option<(&str, &str)>,
) -> HttpReply {
    let field = |(name, value): &(&str, &str)| {
        format!("--limit\r\ncontent-disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n")
    };
    let mut body: String = fields.iter().map(field).collect();
    let (name, content) = file.unwrap_or_default();
    let name = name.replace('"', "%22").replace(['\r', '\n'], " ");
    let last = format!(
        "--limit\r\ncontent-disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\r\n{content}\r\n--limit--\r\n"
    );
    body.push_str(&last);
    let origin = format!("origin: http://{}", site.address);
    let headers = ["content-type: multipart/form-data; boundary=limit", origin.as_str()];
    send(site.address, "POST", path, &headers, &body)
}

/// The review when it is over.
fn over(site: &Running, run: &str) -> Value {
    until("the end of the review", || {
        let reply = get(site.address, &format!("/v1/reviews/{run}?wait=50")).json();
        let is_over = !["queued", "running"].contains(&reply["state"].as_str().expect("a state"));
        is_over.then_some(reply)
    })
}

#[test]
fn an_idea_is_pasted_or_sent_as_a_file_and_its_review_is_read_without_a_script() {
    let (backend, folder) = (Arc::new(FakeBackend::default()), folder());
    let site = Running::start(&backend, folder.path(), Access::Everybody);
    let page = get(site.address, "/review").body;
    for part in
        ["enctype=\"multipart/form-data\"", "name=\"cutoff\"", "href=\"/review\" aria-current"]
    {
        assert!(page.contains(part), "{part}: {page}");
    }
    let fields = [("idea", IDEA), ("module", "soundness"), ("cutoff", "2024-06-01")];
    let reply = sent(&site, "/review", &fields, None);
    assert_eq!((reply.status, reply.header("location")), (303, Some("/runs/run-0")));
    let page = until("candidates", || {
        let page = get(site.address, "/runs/run-0").body;
        page.contains("9 candidates").then_some(page)
    });
    assert!(page.contains("Review: Retrieval against") && page.contains("data-live"), "{page}");
    backend.open(2);
    over(&site, "run-0");
    let page = get(site.address, "/runs/run-0").body;
    for part in [
        "Method M1</h3>",
        "popovertarget=\"c0-1\"",
        "<mark>",
        "<strong class=\"label\">Failed:</strong>",
        "<img src=\"/runs/run-0/drawing.svg\" alt=\"",
        "&lt;b&gt;hallucination",
        "href=\"/review?like=run-0\"",
        "How this review came about",
    ] {
        assert!(page.contains(part), "{part}\n{page}");
    }
    assert!(!page.contains("Ask on"), "a review has no follow-up");
    let drawn = get(site.address, "/runs/run-0/drawing.svg");
    assert_eq!(drawn.header("content-type"), Some("image/svg+xml"));
    assert!(drawn.body.starts_with("<svg") && drawn.body.contains("Method M1"), "{}", drawn.body);
    let copied = get(site.address, "/runs/run-0/parts/1/plain");
    assert_eq!(copied.body, "plain Some(Report(1))");
    assert_eq!(get(site.address, "/runs/run-0/parts/2/plain").status, 404);
    let like = get(site.address, "/review?like=run-0").body;
    assert!(like.contains("&lt;b&gt;hallucination") && like.contains("value=\"2024-06-01\""));
    // A file is read in the place of the text.
    let reply = sent(&site, "/review", &[("idea", "")], Some(("plan.md", "# A sent plan\n\nWe.")));
    assert_eq!(reply.header("location"), Some("/runs/run-1"));
    over(&site, "run-1");
    let runs = get(site.address, "/runs").body;
    assert!(runs.contains("A sent plan") && runs.contains("<td>review</td>"), "{runs}");
    site.join();
}

#[test]
fn what_cannot_be_reviewed_keeps_what_was_typed_or_read() {
    let (backend, folder) = (Arc::new(FakeBackend::default()), folder());
    let site = Running::start(&backend, folder.path(), Access::Everybody);
    let refused = sent(&site, "/review", &[("idea", IDEA), ("datastore", "none")], None);
    assert_eq!(refused.status, 400);
    assert!(refused.body.contains("no such datastore") && refused.body.contains("&lt;b&gt;"));
    let wrong = sent(&site, "/review", &[("idea", IDEA), ("cutoff", "MMXX")], None);
    assert!(wrong.status == 400 && wrong.body.contains("is no date"), "{}", wrong.body);
    let estimate = sent(&site, "/review/estimate", &[], Some(("a.md", "# Of a file\n\nWe plan.")));
    assert_eq!(estimate.status, 200, "{}", estimate.body);
    assert!(estimate.body.contains("costs nothing") && estimate.body.contains("# Of a file"));
    let name = "../<img src=x onerror=alert(1)>.pdf";
    let broken = sent(&site, "/review", &[("idea", "kept")], Some((name, "%PDF-1.4 of pictures")));
    assert_eq!(broken.status, 400);
    assert!(
        broken.body.contains("&lt;img src=x onerror=alert(1)&gt;.pdf holds pictures"),
        "{}",
        broken.body
    );
    assert!(broken.body.contains("\nkept</textarea>") && !broken.body.contains("<img"));
    let large = "x".repeat(20_000_001);
    let large = sent(&site, "/review", &[("idea", "kept")], Some(("a.pdf", &large)));
    assert_eq!(large.status, 413, "{}", large.body);
    assert!(large.body.contains("20 MB"), "{}", large.body);
    site.join();
}

#[test]
fn programs_ask_for_reviews_as_for_answers() {
    let (backend, folder) = (Arc::new(FakeBackend::default()), folder());
    let site = Running::start(&backend, folder.path(), Access::Everybody);
    let asked = post(site.address, "/v1/reviews", &json!({"idea": IDEA}).to_string());
    assert_eq!(asked.status, 202, "{}", asked.body);
    let run = asked.json()["run"].as_str().expect("a name").to_owned();
    assert_eq!(asked.json()["url"], format!("/v1/reviews/{run}"));
    let mut stream = Stream::open(site.address, &format!("/v1/runs/{run}/events"), None);
    stream.until("id: 1.3");
    backend.open(1);
    stream.until("event: end");
    let reply = over(&site, &run);
    assert_eq!(
        (&reply["schema"], &reply["verb"]),
        (&json!("openscholar.api-review/1"), &json!("review"))
    );
    assert_eq!(reply["review"]["schema"], "openscholar.review/1");
    assert_eq!(reply["question"], "Retrieval against <b>hallucination</b>");
    let events = send(
        site.address,
        "GET",
        &format!("/v1/reviews/{run}"),
        &["accept: text/event-stream"],
        "",
    );
    assert!(events.body.contains("event: end"), "{}", events.body);
    backend.open(1);
    let question = site.ask("Why?");
    site.over(&question);
    assert_eq!(get(site.address, &format!("/v1/reviews/{question}")).status, 404);
    let listed = get(site.address, "/v1/reviews").json();
    assert_eq!(listed["runs"].as_array().map(Vec::len), Some(1), "{listed}");
    let expected = post(site.address, "/v1/reviews/estimate", &json!({"idea": IDEA}).to_string());
    assert_eq!(expected.json()["most"]["calls"], 0, "{}", expected.body);
    for wrong in
        [json!({}), json!({"idea": "x", "moed": 1}), json!({"idea": "x", "cutoff": "soon"})]
    {
        assert_eq!(post(site.address, "/v1/reviews", &wrong.to_string()).status, 400, "{wrong}");
    }
    site.join();
}

#[test]
fn a_review_under_way_goes_on_after_a_restart_beside_questions() {
    let (backend, folder) = (Arc::new(FakeBackend::default()), folder());
    let site = Running::start(&backend, folder.path(), Access::Everybody);
    let asked = post(site.address, "/v1/reviews", &json!({"idea": IDEA}).to_string()).json();
    let run = asked["run"].as_str().expect("a name").to_owned();
    let mut stream = Stream::open(site.address, &format!("/v1/runs/{run}/events"), None);
    stream.until("id: 1.3");
    let question = site.ask("Why?");
    site.join();
    let site = Running::start(&backend, folder.path(), Access::Everybody);
    backend.open(2);
    assert_eq!(over(&site, &run)["state"], "done");
    assert_eq!(site.over(&question)["state"], "done");
    let title = "Retrieval against <b>hallucination</b>".to_owned();
    let expect = [(title.clone(), false), (title, true), ("Why?".to_owned(), false)];
    assert_eq!(*backend.answered.lock(), expect);
    site.join();
}

#[test]
fn a_review_is_its_callers_own_and_counts_in_their_budget() {
    let (backend, folder) = (Arc::new(FakeBackend::default()), folder());
    let site = Running::start(&backend, folder.path(), named());
    backend.open(9);
    let (ann, ben) =
        (format!("authorization: Bearer {ANN}"), format!("authorization: Bearer {BEN}"));
    let body = json!({"idea": IDEA}).to_string();
    let ask = || send(site.address, "POST", "/v1/reviews", &[&ann], &body);
    let run = ask().json()["run"].as_str().expect("a name").to_owned();
    let see = |who: &str, path: &str| send(site.address, "GET", path, &[who], "").status;
    for path in
        [format!("/v1/reviews/{run}"), format!("/runs/{run}"), format!("/review?like={run}")]
    {
        assert_eq!((see(&ann, &path), see(&ben, &path)), (200, 404), "{path}");
    }
    assert_eq!((ask().status, ask().status, ask().status), (202, 202, 429), "three an hour");
    site.join();
}

#[test]
fn nothing_of_an_idea_or_its_review_is_obeyed() {
    for one in hostile::STRINGS {
        let words = one.text();
        let backend =
            Arc::new(FakeBackend { words: Some(words.clone()), ..FakeBackend::default() });
        let folder = folder();
        let site = Running::start(&backend, folder.path(), Access::Everybody);
        let idea = json!({ "idea": format!("# {words}\n\n{words}") }).to_string();
        let run = post(site.address, "/v1/reviews", &idea).json()["run"]
            .as_str()
            .expect("a run")
            .to_owned();
        let page = format!("/runs/{run}");
        until("candidates", || {
            get(site.address, &page).body.contains("9 candidates").then_some(())
        });
        let mut pages = vec![get(site.address, &page).body];
        backend.open(1);
        over(&site, &run);
        for path in [page.as_str(), "/runs", &format!("/review?like={run}")] {
            pages.push(get(site.address, path).body);
        }
        pages.push(sent(&site, "/review", &[("idea", &words), ("cutoff", "x")], None).body);
        for page in pages {
            assert!(hostile::obeyed(&page).is_empty(), "{page:?}");
            assert_eq!(foreign(&page), Vec::<String>::new());
        }
        let drawn = get(site.address, &format!("{page}/drawing.svg")).body;
        assert!(hostile::obeyed(&drawn).is_empty(), "{drawn:?}");
        assert!(!drawn.contains("<script"), "{drawn}");
        site.join();
    }
}
