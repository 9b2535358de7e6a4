//! Tables and screenings, as browsers and programs get them.

use std::sync::Arc;

use scholar_server::Access;
use scholar_testing::hostile;
use scholar_testing::http::{HttpReply, get, post};
use scholar_testing::until;
use serde_json::json;

use super::pages::foreign;
use super::{ANN, BEN, FakeBackend, Running, folder, form, named, send};

/// The identifier of the first paper as a field of a form has it.
fn first(backend: &FakeBackend) -> String {
    backend.first().paper.meta.id.to_string().replace(':', "%3A").replace('/', "%2F")
}

#[test]
fn a_table_is_asked_for_and_each_cell_opens_its_quotation() {
    let (backend, folder) = (Arc::new(FakeBackend::default()), folder());
    let site = Running::start(&backend, folder.path(), Access::Everybody);
    let page = get(site.address, "/tables?paper=pmid%3A1&paper=pmid%3A2&datastore=forty").body;
    assert!(page.contains("\npmid:1\npmid:2</textarea>"), "what the library chose: {page}");
    assert!(page.contains("value=\"trial.n\"") && page.contains("href=\"/tables\""), "{page}");
    let wrong = form(site.address, "/tables", &[], "query=aspirin&own_columns=dose&top=ten");
    assert_eq!(wrong.status, 400);
    assert!(
        wrong.body.contains("“papers, at most” is") && wrong.body.contains("value=\"aspirin\""),
        "{}",
        wrong.body
    );
    let none = form(site.address, "/tables", &[], "own_columns=dose");
    assert!(none.status == 400 && none.body.contains("No papers are named"), "{}", none.body);
    let sent = form(
        site.address,
        "/tables",
        &[],
        "query=aspirin&column=trial.n&own_columns=dose+%3D+Which%3F",
    );
    assert_eq!(sent.header("location"), Some("/tables/run-0"), "{}", sent.body);
    let waiting = get(site.address, "/tables/run-0").body;
    assert!(
        waiting.contains("data-live=\"/runs/run-0/live\"")
            && waiting.contains("http-equiv=\"refresh\""),
        "{waiting}"
    );
    assert!(!waiting.contains("Answer so far"), "{waiting}");
    backend.open(1);
    site.over("run-0");
    let page = get(site.address, "/tables/run-0").body;
    for part in [
        "<caption",
        "scope=\"col\"",
        "scope=\"row\"",
        "role=\"region\" tabindex=\"0\"",
        "popovertarget=\"c0-0\"",
        "<mark>",
        "Open the paper at this place, page 2",
        "&amp;start=0&amp;end=20#quotation",
        "Nothing found",
        "1 of 2 cells filled",
        "/tables/run-0/export/csv",
    ] {
        assert!(page.contains(part), "{part}\n{page}");
    }
    let led = get(site.address, "/runs/run-0");
    assert_eq!((led.status, led.header("location")), (303, Some("/tables/run-0")));
    let file = get(site.address, "/tables/run-0/export/csv");
    assert_eq!(
        file.header("content-disposition"),
        Some("attachment; filename=\"table-run-0.csv\"")
    );
    for path in
        ["/tables/run-0/export/exe", "/tables/none", "/screenings/run-0", "/tables/..%2Frun-0"]
    {
        assert_eq!(get(site.address, path).status, 404, "{path}");
    }
    assert!(get(site.address, "/tables").body.contains("Your tables"));
    assert!(get(site.address, "/runs").body.contains("<td>table</td>"));
    site.join();
}

#[test]
fn a_screening_shows_decisions_and_takes_those_of_a_person() {
    let (backend, folder) = (Arc::new(FakeBackend::default()), folder());
    let site = Running::start(&backend, folder.path(), Access::Everybody);
    let none = form(site.address, "/screenings", &[], "title=Bleeding");
    assert!(none.status == 400 && none.body.contains("No criterion is named"), "{}", none.body);
    let body =
        "title=Bleeding&include=population%3A+reports+data+on+humans&exclude=is+a+review&limit=x";
    let wrong = form(site.address, "/screenings", &[], body);
    assert_eq!(wrong.status, 400);
    assert!(
        wrong.body.contains("\npopulation: reports data on humans</textarea>"),
        "{}",
        wrong.body
    );
    let sent = form(site.address, "/screenings", &[], &body.replace("limit=x", "limit=5"));
    assert_eq!(sent.header("location"), Some("/screenings/run-0"), "{}", sent.body);
    let early = form(
        site.address,
        "/screenings/run-0/decide",
        &[],
        &format!("paper={}&decision=include", first(&backend)),
    );
    assert_eq!(early.status, 404, "nothing to decide on yet");
    backend.open(1);
    site.over("run-0");
    let page = get(site.address, "/screenings/run-0").body;
    for part in [
        "Included for full text",
        "<caption",
        "popovertarget=\"q1-0\"",
        "Open the paper at this place",
        "no quotation",
        "Your decision on ",
        "/screenings/run-0/export/prisma",
        "action=\"/runs/run-0/resume\"",
    ] {
        assert!(page.contains(part), "{part}\n{page}");
    }
    let decided = format!("paper={}&decision=exclude&reason=animals&rank=1", first(&backend));
    let sent = form(site.address, "/screenings/run-0/decide", &[], &decided);
    assert_eq!(sent.header("location"), Some("/screenings/run-0?offset=0#p1"), "{}", sent.body);
    let page = get(site.address, "/screenings/run-0").body;
    assert!(page.contains("by you") && page.contains("value=\"animals\""), "{page}");
    assert!(page.contains("animals 1"), "the flow counts it: {page}");
    let left = get(site.address, "/screenings/run-0?only=include").body;
    assert!(left.contains("There is no such paper."), "{left}");
    let wrong = decided.replace("exclude", "perhaps");
    assert_eq!(form(site.address, "/screenings/run-0/decide", &[], &wrong).status, 400);
    // What was decided since changes the order: one that is done goes on.
    let again = form(site.address, "/runs/run-0/resume", &[], "");
    assert_eq!(again.header("location"), Some("/runs/run-0"));
    backend.open(1);
    site.over("run-0");
    assert_eq!(backend.answered.lock().len(), 2);
    site.join();
}

#[test]
fn programs_make_tables_and_screen() {
    let (backend, folder) = (Arc::new(FakeBackend::default()), folder());
    let site = Running::start(&backend, folder.path(), Access::Everybody);
    let table = json!({"columns": ["n"], "query": "aspirin"});
    let taken = post(site.address, "/v1/tables", &table.to_string());
    assert_eq!(taken.status, 202, "{}", taken.body);
    let run = taken.json()["run"].as_str().expect("a name").to_owned();
    let own = format!("/v1/tables/{run}");
    assert_eq!(get(site.address, &own).json()["table"], json!(null));
    backend.open(1);
    site.over(&run);
    let reply = get(site.address, &own).json();
    assert_eq!(
        (&reply["verb"], &reply["table"]["rows"][0]["cells"][1]),
        (&"table".into(), &json!(null))
    );
    assert_eq!(get(site.address, &format!("{own}/export/markdown")).body, "markdown");
    let listed = get(site.address, "/v1/tables").json();
    assert_eq!(listed["runs"].as_array().map(Vec::len), Some(1));
    let screening = json!({"title": "Bleeding", "criteria": [{"text": "on humans"}]});
    let taken = post(site.address, "/v1/screenings", &screening.to_string());
    assert_eq!(taken.status, 202, "{}", taken.body);
    let run = taken.json()["run"].as_str().expect("a name").to_owned();
    backend.open(1);
    site.over(&run);
    let own = format!("/v1/screenings/{run}");
    let paper = backend.first().paper.meta.id.to_string();
    let decided = json!({"paper": paper, "decision": "include"}).to_string();
    let reply = post(site.address, &format!("{own}/decisions"), &decided).json();
    let row = &reply["screening"]["papers"][0];
    assert_eq!((&row["decision"], &row["by"]), (&"include".into(), &"person".into()));
    assert_eq!(reply["screening"]["flow"]["included"], 1);
    for (path, body) in [
        ("/v1/tables", "{\"columns\": []}"),
        ("/v1/tables", "{\"columns\": [\"n\"], \"query\": \"x\", \"out\": \"/etc\"}"),
        ("/v1/screenings", "{\"title\": \"x\", \"criteria\": []}"),
        (&format!("{own}/decisions"), "{\"paper\": \"x\", \"decision\": \"no\"}"),
    ] {
        let reply = post(site.address, path, body);
        assert!([400, 404].contains(&reply.status), "{path} {body}: {}", reply.status);
    }
    assert_eq!(
        get(site.address, &format!("/v1/tables/{run}")).status,
        404,
        "a screening is no table"
    );
    site.join();
}

#[test]
fn tables_of_others_are_theirs_and_a_restart_goes_on() {
    let (backend, folder) = (Arc::new(FakeBackend::default()), folder());
    let site = Running::start(&backend, folder.path(), named());
    let (ann, ben) =
        (format!("authorization: Bearer {ANN}"), format!("authorization: Bearer {BEN}"));
    let sent = form(site.address, "/tables", &[&ann], "query=aspirin&column=trial.n");
    let at = sent.header("location").expect("its page").to_owned();
    let read = |site: &Running, path: &str, who: &str| send(site.address, "GET", path, &[who], "");
    until("its beginning", || read(&site, &at, &ann).body.contains("Under way").then_some(()));
    site.join();
    let site = Running::start(&backend, folder.path(), named());
    backend.open(1);
    until("its end", || read(&site, &at, &ann).body.contains("1 of 2 cells filled").then_some(()));
    assert_eq!(
        *backend.answered.lock(),
        [("aspirin".to_owned(), false), ("aspirin".to_owned(), true)]
    );
    for path in [at.clone(), format!("{at}/export/csv"), format!("/v1{at}")] {
        assert_eq!(read(&site, &path, &ben).status, 404, "{path}");
        assert_eq!(read(&site, &path, &ann).status, 200, "{path}");
    }
    assert!(!read(&site, "/tables", &ben).body.contains("aspirin"));
    assert_eq!(get(site.address, "/v1/tables").status, 401);
    site.join();
}

#[test]
fn nothing_of_cells_quotations_or_criteria_is_obeyed() {
    for one in hostile::STRINGS {
        let words = one.text();
        let backend =
            Arc::new(FakeBackend { words: Some(words.clone()), ..FakeBackend::default() });
        let folder = folder();
        let site = Running::start(&backend, folder.path(), Access::Everybody);
        backend.open(2);
        // As what people type and send; a flood of it is refused.
        let words: String = words.chars().take(500).collect();
        let table = json!({"columns": ["n"], "query": format!("x {words}")}).to_string();
        let screening = json!({"title": format!("x {words}"), "criteria": [{"id": "a", "text": format!("x {words}")}]});
        let mut pages: Vec<HttpReply> = Vec::new();
        for (path, body) in [("/v1/tables", table), ("/v1/screenings", screening.to_string())] {
            let taken = post(site.address, path, &body);
            assert_eq!(taken.status, 202, "{}", taken.body);
            let run = taken.json()["run"].as_str().expect("a name").to_owned();
            site.over(&run);
            let page = path.trim_start_matches("/v1");
            pages.push(get(site.address, page));
            let shown = get(site.address, &format!("{page}/{run}"));
            assert_eq!(shown.status, 200, "{}", shown.body);
            pages.push(shown);
        }
        let typed: String = words.bytes().map(|byte| format!("%{byte:02X}")).collect();
        pages.push(get(
            site.address,
            &format!("/tables?paper={typed}&query={typed}&own_columns={typed}"),
        ));
        pages.push(form(
            site.address,
            "/tables",
            &[],
            &format!("papers={typed}&own_columns={typed}&top=x{typed}"),
        ));
        pages.push(form(
            site.address,
            "/screenings",
            &[],
            &format!("title={typed}&include={typed}&exclude={typed}&limit={typed}"),
        ));
        for HttpReply { body, .. } in pages {
            assert!(hostile::obeyed(&body).is_empty(), "{body:?}");
            assert_eq!(foreign(&body), Vec::<String>::new());
        }
        site.join();
    }
}
