//! The pages as browsers get them.

use std::sync::Arc;

use scholar_core::{Notice, NoticeKind};
use scholar_server::Access;
use scholar_testing::hostile;
use scholar_testing::http::get;
use scholar_testing::until;

use super::{ANN, FakeBackend, Running, folder, form, named, send};

#[test]
fn a_question_is_asked_read_and_rated_without_a_script() {
    let (backend, folder) = (Arc::new(FakeBackend::default()), folder());
    let site = Running::start(&backend, folder.path(), Access::Everybody);
    let page = get(site.address, "/");
    assert_eq!(page.status, 200, "{}", page.body);
    assert!(page.body.contains("What is attention?") && page.body.contains("action=\"/ask\""));
    let policy = page.header("content-security-policy").expect("a policy");
    assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
    assert!(!page.body.contains("<style") && !page.body.contains(" style="), "{}", page.body);
    let reference = get(site.address, "/docs").body;
    assert!(reference.contains("POST /v1/ask") && reference.contains("id=\"schema-AskRequest\""));
    for asset in ["/style.css", "/app.js", "/icon.svg"] {
        assert_eq!(get(site.address, asset).status, 200, "{asset}");
    }
    let asked = form(site.address, "/ask", &[], "question=Why%3F&mode=evidence");
    let run = asked.header("location").expect("the run's page").to_owned();
    assert_eq!((asked.status, run.as_str()), (303, "/runs/run-0"));
    // Loaded again and again as long as it changes.
    let page = until("candidates", || {
        let page = get(site.address, &run);
        page.body.contains("9 candidates").then_some(page)
    });
    assert!(page.body.contains("http-equiv=\"refresh\"") && page.body.contains("data-live"));
    backend.open(1);
    site.over("run-0");
    let page = get(site.address, &run);
    assert!(!page.body.contains("http-equiv=\"refresh\""));
    for part in [
        "<mark>",
        "popovertarget=\"c0-1\"",
        "Supported by the quotation",
        "How to read",
        "Nothing is reported on cost",
        "Why this rank",
        "id=\"ref-1\"",
    ] {
        assert!(page.body.contains(part), "{part}\n{}", page.body);
    }
    let rated = form(site.address, "/runs/run-0/feedback", &[], "section=1&thumb=up&comment=a+b");
    assert_eq!(rated.header("location"), Some("/runs/run-0#part-1"));
    let page = get(site.address, &run);
    assert!(page.body.contains("aria-pressed=\"true\"") && page.body.contains("\na b</textarea>"));
    let part = get(site.address, "/runs/run-0/parts/1/markdown");
    assert_eq!(part.body, "markdown Some(Sentences(1..2))");
    let file = get(site.address, "/runs/run-0/export/bibtex");
    assert_eq!(file.header("content-disposition"), Some("attachment; filename=\"run-0.bib\""));
    let follow = form(site.address, "/ask", &[], "question=And%3F&follows=run-0");
    assert_eq!(follow.status, 303);
    site.join();
}

#[test]
fn what_cannot_be_taken_keeps_what_was_typed_and_errors_are_pages() {
    let (backend, folder) = (Arc::new(FakeBackend::default()), folder());
    let site = Running::start(&backend, folder.path(), Access::Everybody);
    let refused = form(site.address, "/ask", &[], "question=Why+%3Cb%3E%3F&datastore=none");
    assert_eq!(refused.status, 400);
    assert!(refused.body.contains("Why &lt;b&gt;?") && refused.body.contains("no such datastore"));
    let wrong = form(site.address, "/ask", &[], "question=Why%3F&year_from=MMXX");
    assert!(wrong.body.contains("from year") && wrong.body.contains("Why?"), "{}", wrong.body);
    let estimate = form(site.address, "/estimate", &[], "question=Why%3F");
    assert!(estimate.body.contains("this costs nothing"), "{}", estimate.body);
    for path in ["/runs/none", "/nothing", "/shared/none"] {
        let page = get(site.address, path);
        assert_eq!(page.status, 404, "{path}");
        assert!(page.body.starts_with("<!DOCTYPE html>"), "{path}: {}", page.body);
    }
    assert!(get(site.address, "/v1/runs/none").body.starts_with("{\"error\""));
    site.join();
}

#[test]
fn a_source_that_is_down_never_looks_like_nothing_found() {
    let down = Notice::new(NoticeKind::SourceDown, "Semantic Scholar gave no reply");
    let other = Notice::new(NoticeKind::Skipped, "a stage was skipped: it did not answer");
    let budget = Notice::new(NoticeKind::Budget, "the budget of $0.1 is used up");
    let backend =
        Arc::new(FakeBackend { notices: vec![down, other, budget], ..FakeBackend::default() });
    let folder = folder();
    let site = Running::start(&backend, folder.path(), Access::Everybody);
    backend.open(1);
    let run = site.ask("Why?");
    site.over(&run);
    let page = get(site.address, &format!("/runs/{run}")).body;
    let (_, told) = page.split_once("Not every source could be asked").expect("told");
    let (told, rest) = told.split_once("</div>").expect("a closed panel");
    assert!(told.contains("Semantic Scholar gave no reply") && !told.contains("a stage"), "{told}");
    assert!(rest.contains("A stage was skipped") && rest.contains("Over budget."), "{rest}");
    site.join();
}

#[test]
fn a_browser_signs_in_once_and_shares_what_it_wants() {
    let (backend, folder) = (Arc::new(FakeBackend::default()), folder());
    let site = Running::start(&backend, folder.path(), named());
    backend.open(1);
    let page = get(site.address, "/runs?x=1");
    assert_eq!((page.status, page.header("location")), (303, Some("/sign-in?next=/runs%3Fx%3D1")));
    assert_eq!(get(site.address, "/sign-in").status, 200);
    let wrong = form(site.address, "/sign-in", &[], "token=nonsense&next=%2F");
    assert_eq!((wrong.status, wrong.header("set-cookie")), (401, None));
    let body = format!("token={ANN}&next=%2Fruns");
    let signed = form(site.address, "/sign-in", &[], &body);
    assert_eq!(signed.header("location"), Some("/runs"));
    let cookie = signed.header("set-cookie").expect("a cookie");
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"), "{cookie}");
    let cookie = format!("cookie: {}", cookie.split(';').next().expect("a pair"));
    let asked = form(site.address, "/ask", &[&cookie], "question=Secret%3F");
    let run = asked.header("location").expect("a run").to_owned();
    let read = |path: &str| send(site.address, "GET", path, &[&cookie], "");
    until("the answer", || read(&run).body.contains("How to read").then_some(()));
    let shared = form(site.address, &format!("{run}/share"), &[&cookie], "");
    assert_eq!(shared.status, 303);
    let page = read(&run).body;
    let at = page.find("/shared/").expect("the address");
    let address: String = page[at..].chars().take_while(|c| *c != '"').collect();
    let guest = get(site.address, &address);
    assert_eq!(guest.status, 200);
    assert!(guest.body.contains("Secret?") && !guest.body.contains("<form"), "{}", guest.body);
    assert_eq!(get(site.address, &run).status, 303, "the run itself stays closed");
    form(site.address, &format!("{run}/unshare"), &[&cookie], "");
    assert_eq!(get(site.address, &address).status, 404);
    form(site.address, "/sign-out", &[&cookie], "");
    assert_eq!(read("/runs").status, 303);
    site.join();
}

#[test]
fn nothing_of_papers_models_or_people_is_obeyed_on_any_page() {
    for one in hostile::STRINGS {
        let words = one.text();
        let backend =
            Arc::new(FakeBackend { words: Some(words.clone()), ..FakeBackend::default() });
        let folder = folder();
        let site = Running::start(&backend, folder.path(), Access::Everybody);
        let run = site.ask("Why?");
        let live = format!("/runs/{run}");
        until("candidates", || {
            get(site.address, &live).body.contains("9 candidates").then_some(())
        });
        let mut pages = vec![get(site.address, "/").body, get(site.address, &live).body];
        let mut stream = super::Stream::open(site.address, &format!("{live}/live?last=1.0"), None);
        stream.until("id: 1.3");
        backend.open(1);
        pages.push(stream.until("event: end").to_owned());
        site.over(&run);
        pages.push(get(site.address, &live).body);
        pages.push(get(site.address, "/runs").body);
        for page in pages {
            assert!(hostile::obeyed(&page).is_empty(), "{page:?}");
            assert_eq!(foreign(&page), Vec::<String>::new());
        }
        site.join();
    }
}

/// Tags and attributes that strangers would have made, and no page has. Values are no markup: quotation marks in them are escaped.
pub(super) fn foreign(page: &str) -> Vec<String> {
    let tags = page.split('<').skip(1).filter_map(|tag| tag.split('>').next());
    let is_foreign = |tag: &&str| {
        let outside: String = tag.split('"').step_by(2).collect();
        let is_script = outside.starts_with("script") && !tag.contains("src=\"/app.js\"");
        let own = ["/papers/", "/runs/", "/shared/"];
        let is_own = own.iter().any(|own| tag.contains(&format!("src=\"{own}")));
        let is_image = outside.starts_with("img") && !is_own;
        let is_event = outside.split_whitespace().skip(1).any(|name| name.starts_with("on"));
        let leads = ["href", "src", "action", "formaction"];
        let is_run = leads.iter().any(|name| tag.contains(&format!(" {name}=\"javascript:")));
        is_script || is_image || is_event || is_run
    };
    tags.filter(is_foreign).map(str::to_owned).collect()
}
