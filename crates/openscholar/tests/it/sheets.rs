//! Tables and screenings of `openscholar serve`: what the commands make, through restarts too.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;

use parking_lot::Mutex;
use scholar_testing::http::{get, post};
use scholar_testing::{Behaviour, PATIENCE, ScriptedLmServer};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::program::{Program, text};
use crate::serve::Serving;
use crate::site::{over, page, serve, written_by};

/// What the search of every table here finds.
const QUERY: &str = "hallucinations in machine translation";

fn taken(serving: &Serving, path: &str, request: &Value) -> String {
    let reply = post(serving.address, path, &request.to_string());
    assert_eq!(reply.status, 202, "{}", reply.body);
    reply.json()["run"].as_str().expect("a name").to_owned()
}

/// The address of the first link that has `words` in it, as a browser reads it, without the place on the page.
fn link(page: &str, words: &str) -> String {
    let mut links = page.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next());
    let link = links.find(|link| link.contains(words)).expect("a link");
    link.split('#').next().expect("an address").replace("&amp;", "&")
}

#[test]
fn a_table_of_the_page_is_the_table_of_the_command_line() {
    let program = Program::with_papers();
    let toml = "[[column]]\nproperty = \"method.method\"\n[[column]]\nname = \"cause\"\nquestion = \"What causes exposure bias, and where?\"\n";
    fs_err::write(program.path("columns.toml"), toml).expect("written");
    let file = program.path("columns.toml").to_string_lossy().into_owned();
    let args = ["papers", "table", "--query", QUERY, "--top", "5", "--columns", &file];
    let expected = program.json(0, &args);
    let csv = program.succeeds(&[&args[..], &["--format", "csv"]].concat());
    let serving = serve(&program);
    let columns = ["method.method", "cause=What causes exposure bias, and where?"];
    let request = json!({"columns": columns, "query": QUERY, "top": 5, "mode": "evidence"});
    let run = taken(&serving, "/v1/tables", &request);
    assert_eq!(over(&serving, &run)["state"], "done");
    let table = get(serving.address, &format!("/v1/tables/{run}")).json();
    assert_eq!(table["table"]["rows"], expected["rows"]);
    let shown = page(&serving, &format!("/tables/{run}")).body;
    assert!(shown.contains("<mark>") && shown.contains("popovertarget="), "{shown}");
    let quoted = link(&shown, "?passage=");
    assert!(page(&serving, &quoted).body.contains("id=\"quotation\""), "{quoted}");
    let file = page(&serving, &format!("/tables/{run}/export/csv")).body;
    let rows = |csv: &str| csv.lines().skip(1).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(rows(&file), rows(&csv));
    // No name is a path of the server, and no column a file.
    let path = program.path("columns.toml").to_string_lossy().into_owned();
    let refused = post(
        serving.address,
        "/v1/tables",
        &json!({"columns": ["n"], "papers": [path]}).to_string(),
    );
    assert_eq!(refused.status, 400, "{}", refused.body);
    let column = json!({"columns": [path], "papers": ["acl:2020.acl-main.326"]});
    let run = taken(&serving, "/v1/tables", &column);
    over(&serving, &run);
    let table = get(serving.address, &format!("/v1/tables/{run}")).json();
    assert_eq!(table["table"]["columns"].as_array().map(Vec::len), Some(1), "{table}");
    serving.ends_with_0("TERM");
}

#[test]
fn a_table_that_a_kill_interrupted_asks_nothing_twice() {
    let program = Program::with_papers();
    let runtime = Runtime::new().expect("threads");
    let server = runtime.block_on(ScriptedLmServer::start());
    let (tell, told) = channel();
    let (tell, calls) = (Mutex::new(tell), AtomicUsize::new(0));
    server.respond_with(move |_| match calls.fetch_add(1, Ordering::Relaxed) {
        1 => {
            tell.lock().send(()).expect("the test listens");
            Behaviour::HangAfter(String::new())
        }
        _ => Behaviour::Text("{\"cells\": []}".to_owned()),
    });
    written_by(&program, &server.base_url());
    let serving = serve(&program);
    let request = json!({"columns": ["problem"], "query": QUERY, "top": 3, "mode": "generative"});
    let run = taken(&serving, "/v1/tables", &request);
    told.recv_timeout(PATIENCE).expect("the second paper is read");
    let under_way = page(&serving, &format!("/tables/{run}")).body;
    assert!(under_way.contains("1 of 3") && under_way.contains("data-live"), "{under_way}");
    serving.kill();
    let serving = serve(&program);
    let reply = over(&serving, &run);
    assert_eq!(reply["state"], "done", "{reply}");
    let shown = page(&serving, &format!("/tables/{run}")).body;
    assert!(
        shown.contains("0 of 3 cells filled") && shown.contains("No cell is filled."),
        "{shown}"
    );
    assert_eq!(server.requests().len(), 4, "three papers, and the call that was cut off");
    // Another column costs another column, and the model is named.
    assert!(shown.contains("scripted"), "{shown}");
    serving.ends_with_0("TERM");
}

/// What was decided on each paper and why. Scores are left out: the two documents write as many digits as their number types have.
fn decided_on(screening: &Value) -> Vec<Value> {
    let row = |row: &Value| {
        let criteria = row["criteria"].as_array().expect("criteria");
        let findings: Vec<_> = criteria
            .iter()
            .map(|one| [&one["criterion"], &one["finding"], &one["decision"], &one["quote"]])
            .collect();
        json!([row["rank"], row["paper"], row["decision"], row["by"], row["reason"], findings])
    };
    screening["papers"].as_array().expect("papers").iter().map(row).collect()
}

#[test]
fn a_screening_of_the_page_is_one_of_the_command_line_and_keeps_a_persons_decisions() {
    let program = crate::screening::program();
    let criteria = program.path("pk.toml").to_string_lossy().into_owned();
    let expected = program.json(0, &["papers", "screen", &criteria]);
    let serving = serve(&program);
    let request = json!({"title": "Emicizumab in humans", "criteria": [
        {"id": "population", "text": "The study provides data on humans"},
        {"id": "review", "text": "The paper is a review article", "excludes": true},
    ]});
    let run = taken(&serving, "/v1/screenings", &request);
    assert_eq!(over(&serving, &run)["state"], "done");
    let own = format!("/v1/screenings/{run}");
    let screening = |serving: &Serving| get(serving.address, &own).json()["screening"].clone();
    let first = screening(&serving);
    assert_eq!(decided_on(&first), decided_on(&expected));
    for part in ["flow", "duplicates"] {
        assert_eq!(first[part], expected[part], "{part}");
    }
    let decided = json!({"paper": "pmid:2", "decision": "include", "reason": "a bridging study"});
    let reply = post(serving.address, &format!("{own}/decisions"), &decided.to_string());
    assert_eq!(reply.status, 200, "{}", reply.body);
    let unknown = json!({"paper": "pmid:99", "decision": "include"}).to_string();
    assert_eq!(post(serving.address, &format!("{own}/decisions"), &unknown).status, 404);
    serving.kill();
    let serving = serve(&program);
    let kept = screening(&serving);
    let mice = |screening: &Value| {
        let papers = screening["papers"].as_array().expect("a list").clone();
        papers.into_iter().find(|row| row["paper"]["id"] == "pmid:2").expect("listed")
    };
    assert_eq!(
        (&mice(&kept)["by"], &mice(&kept)["decision"]),
        (&json!("person"), &json!("include"))
    );
    let shown = page(&serving, &format!("/screenings/{run}")).body;
    assert!(shown.contains("by you") && shown.contains("a bridging study"), "{shown}");
    assert!(shown.contains("decided by evidence/1 ") && !shown.contains("decided by evidence/1 /"));
    // It goes on with what was decided, and decides nothing twice.
    let again = post(serving.address, &format!("/v1/runs/{run}/resume"), "{}");
    assert_eq!(again.json()["done"], true, "{}", again.body);
    over(&serving, &run);
    assert_eq!(screening(&serving)["learnt_from"], 1);
    let csv = page(&serving, &format!("/screenings/{run}/export/csv")).body;
    assert!(csv.lines().any(|line| line.contains("pmid:2") && line.contains("a bridging study")));
    let svg = page(&serving, &format!("/screenings/{run}/export/prisma"));
    assert!(svg.body.starts_with("<svg"), "{}", svg.body);
    serving.ends_with_0("TERM");
    // The command line goes on in the same folder.
    let folder = program.data("screenings").join(&run);
    let lines =
        || fs_err::read_to_string(folder.join("decisions.jsonl")).expect("there").lines().count();
    let before = lines();
    let criteria = folder.join("criteria.toml").to_string_lossy().into_owned();
    let out = folder.to_string_lossy().into_owned();
    let (code, stdout, stderr) =
        text(&program.run(&["--json", "papers", "screen", &criteria, "--out", &out]));
    assert_eq!(code, 0, "{stderr}");
    let there: Value = serde_json::from_str(&stdout).expect("JSON");
    assert_eq!(mice(&there)["by"], "person");
    assert_eq!(lines(), before, "nothing is decided twice");
}
