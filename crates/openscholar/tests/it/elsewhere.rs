//! Questions that look beyond the datastore, against the stand-in for the services that papers come from.

use std::path::Path;
use std::process::Output;

use scholar_testing::http::get;
use scholar_testing::standin::world::world;
use scholar_testing::{Calls, Fault, StandIn};
use serde_json::Value;

use crate::program::{Program, STORE, text};

/// What the stand-in's library answers.
const QUESTION: &str = "Does slow wave sleep improve the memory consolidation of adults?";
/// Must not be seen anywhere.
const KEY: &str = "k3y-that-nobody-may-see";

/// The program with every address leading to `server`, and a key.
fn run(program: &Program, server: &StandIn, args: &[&str]) -> Output {
    let mut command = Program::command(&program.path(""));
    command.envs(server.settings()).env("S2_API_KEY", KEY).env("YDC_API_KEY", KEY);
    command.args(args).output().expect("the program starts")
}

fn json(program: &Program, server: &StandIn, code: i32, args: &[&str]) -> Value {
    let (got, stdout, stderr) = text(&run(program, server, &[&["--json"], args].concat()));
    assert_eq!(got, code, "{args:?}\n{stderr}\n{stdout}");
    serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{args:?}: {error}\n{stdout}"))
}

fn ask<'a>(sources: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let base = ["ask", QUESTION, "--generator", "none", "--mode", "evidence", "--sources", sources];
    [&base[..], more].concat()
}

/// Whether any file below `folder` has `word`.
fn holds(folder: &Path, word: &str) -> bool {
    fs_err::read_dir(folder).expect("a folder").any(|entry| {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            holds(&path, word)
        } else {
            let bytes = fs_err::read(&path).expect("readable");
            bytes.windows(word.len()).any(|window| window == word.as_bytes())
        }
    })
}

#[test]
fn a_limited_source_and_a_failing_keyword_cost_only_themselves() {
    let program = Program::with_papers();
    let server = StandIn::start().expect("a loopback port");
    server.fault("/s2/", Calls::Nth(1), Fault::RateLimited(Some("1".to_owned())));
    server.fault("memory+consolidation&", Calls::All, Fault::Status(500, String::new()));
    let answer = json(&program, &server, 0, &ask("datastore,s2,web", &["--save"]));
    let references = answer["references"].as_array().expect("a list");
    let by = |name: &str| {
        references.iter().any(|one| {
            one["found_by"].as_array().is_some_and(|names| names.iter().any(|by| by == name))
        })
    };
    let notices = answer["notices"].as_array().expect("a list");
    assert!(by("s2") && by("web"), "{references:#?} {notices:#?}");
    let skipped = notices.iter().any(|notice| {
        notice["message"]
            .as_str()
            .is_some_and(|text| text.starts_with("source s2 was skipped for \"memory"))
    });
    assert!(skipped, "{notices:#?}");
    for sentence in answer["sentences"].as_array().expect("a list") {
        assert!(!sentence["quotes"].as_array().expect("a list").is_empty(), "{sentence}");
    }

    let run_id = answer["run"].as_str().expect("a name");
    let requests = fs_err::read_to_string(program.data("runs").join(run_id).join("requests.jsonl"));
    let requests = requests.expect("kept with the run");
    assert!(requests.contains("429") && requests.contains("500"), "{requests}");
    let s2 = server.asked("/s2/");
    assert!(s2.iter().all(|request| request.header("x-api-key") == Some(KEY)), "the key is sent");
    assert!(!holds(&program.path(""), KEY), "and kept nowhere");

    // Proven and repeated without anybody: the stand-in is gone.
    drop(server);
    program.succeeds(&["runs", "verify", run_id]);
    program.succeeds(&["runs", "replay", run_id]);
    let saved = program.json(0, &["papers", "list", "--datastore", STORE]);
    let total = saved["total"].as_u64().expect("a number");
    assert!(total > 40, "the found papers joined the forty: {total}");
}

#[test]
fn offline_answers_from_what_was_stored() {
    let program = Program::with_papers();
    let server = StandIn::start().expect("a loopback port");
    let first = json(&program, &server, 0, &ask("openalex", &[]));
    let asked = server.log().len();
    assert!(asked > 0);
    let second = json(&program, &server, 0, &ask("openalex", &["--offline"]));
    assert_eq!(server.log().len(), asked, "nobody is asked");
    assert_eq!(first["sentences"], second["sentences"]);
    let other = ["search", "mitochondria", "--sources", "arxiv", "--offline"];
    let (code, _, stderr) = text(&run(&program, &server, &other));
    assert_eq!(code, 3, "{stderr}");
    assert!(stderr.contains("--offline"), "{stderr}");
}

#[test]
fn a_source_without_its_key_is_told_and_left_out() {
    let program = Program::with_papers();
    let server = StandIn::start().expect("a loopback port");
    let mut command = Program::command(&program.path(""));
    command.envs(server.settings()).args(["search", QUESTION, "--sources", "datastore,web"]);
    let (code, _, stderr) = text(&command.output().expect("the program starts"));
    assert_eq!(code, 0, "{stderr}");
    assert!(stderr.contains("web was left out") && stderr.contains("YDC_API_KEY"), "{stderr}");
}

#[test]
fn a_running_zotero_gives_its_items_with_their_files() {
    let program = Program::with_papers();
    let server = StandIn::start().expect("a loopback port");
    let folder = program.path("storage");
    fs_err::create_dir_all(&folder).expect("made");
    let open = world().papers.iter().filter(|work| work.open_access.is_some());
    for work in open {
        let pdf = get(server.address(), &format!("/pdf/{}.pdf", work.key));
        fs_err::write(folder.join(format!("{}.pdf", work.key)), pdf.body).expect("written");
    }
    server.store_files(&folder);
    let add = |what: &str, store: &str| {
        json(&program, &server, 0, &["papers", "add", what, "--no-lookup", "--datastore", store])
    };
    let papers = |report: &Value| report["papers"].as_array().expect("a list").clone();
    let is_read = |paper: &Value| {
        paper["format"].as_str().is_some_and(|format| format.starts_with("library + "))
    };
    let all = papers(&add("zotero:", "mine"));
    let known = world().papers.len();
    assert_eq!(all.len(), known - 1, "one paper is there twice, and taken once");
    let read = all.iter().filter(|paper| is_read(paper)).count();
    assert!(read > 0 && read < all.len(), "files are read where there are any: {all:#?}");
    let inner = papers(&add("zotero:Sleep/Retracted", "inner"));
    let outer = papers(&add("zotero:sleep", "outer"));
    assert!(!inner.is_empty() && inner.len() < outer.len() && outer.len() < all.len());
}

#[test]
fn the_self_test_passes_without_a_network() {
    let program = Program::new();
    let report = program.json(0, &["doctor", "--self-test"]);
    let checks = report["checks"].as_array().expect("a list");
    assert!(checks.len() >= 9 && checks.iter().all(|check| check["ok"] == true), "{checks:#?}");
}
