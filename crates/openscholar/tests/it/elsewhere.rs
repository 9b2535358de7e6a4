//! Questions that look beyond the datastore, against the stand-in for the services that papers come from.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Output;

use scholar_core::{Paper, PaperMeta, Section};
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
    // Keywords are asked at once, in any order: each fault names the keyword that it is for, or the one could hide the other.
    server.fault("/s2/graph/v1/paper/search?query=slow+wave", Calls::Nth(1), {
        Fault::RateLimited(Some("1".to_owned()))
    });
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
    assert!(stderr.contains("skipped web") && stderr.contains("YDC_API_KEY"), "{stderr}");
}

#[test]
fn nothing_asked_is_an_error_and_says_of_every_source_why() {
    let program = Program::with_papers();
    let server = StandIn::start().expect("a loopback port");
    let mut command = Program::command(&program.path(""));
    command.envs(server.settings()).args(["search", QUESTION, "--sources", "web"]);
    let (code, _, stderr) = text(&command.output().expect("the program starts"));
    assert_eq!(code, 1, "{stderr}");
    assert!(
        stderr.contains("no source can be searched") && stderr.contains("YDC_API_KEY"),
        "{stderr}"
    );
    assert!(server.log().is_empty());

    // An answer without the promised list must not pass for one that found nothing.
    server.fault("/s2/", Calls::All, Fault::Status(200, "{}".to_owned()));
    server.fault("/openalex/", Calls::All, Fault::Html);
    let search = ["search", QUESTION, "--sources", "s2,openalex"];
    let (code, _, stderr) = text(&run(&program, &server, &search));
    assert_eq!(code, 3, "{stderr}");
    for part in
        ["s2: Semantic Scholar", "field `data`", "openalex: OpenAlex", "an HTML page", "hint:"]
    {
        assert!(stderr.contains(part), "{part} in {stderr}");
    }
    let search = ["search", QUESTION, "--sources", "datastore,s2"];
    let report = json(&program, &server, 0, &search);
    assert!(!report["hits"].as_array().expect("a list").is_empty());
    assert!(report["notices"].to_string().contains("source s2 was skipped"), "{report:#}");
}

#[test]
fn what_others_know_of_the_citation_graph_is_listed_and_kept() {
    let program = Program::with_papers();
    let server = StandIn::start().expect("a loopback port");
    let id = |key: &str| format!("corpusid:{}", world().get(key).expect("in the library").corpus);
    let doi = |key: &str| {
        let work = world().get(key).expect("in the library");
        format!("doi:{}", work.doi.as_deref().expect("a DOI"))
    };
    let papers = |report: &Value| report["papers"].as_array().expect("a list").clone();
    let cited = ["papers", "references", &id("rerank"), "--sources", "s2"];
    let cited = papers(&json(&program, &server, 0, &cited));
    assert_eq!(cited.len(), 2, "{cited:#?}");
    assert_eq!(cited[0]["citation"]["influential"], true, "{cited:#?}");

    let both = ["papers", "cited-by", &doi("sleep2"), "--sources", "s2,openalex", "--save"];
    let citers = papers(&json(&program, &server, 0, &both));
    assert_eq!(citers.len(), world().citing("sleep2").count(), "each once: {citers:#?}");
    assert!(citers.iter().any(|one| one["found_by"] == serde_json::json!(["openalex", "s2"])));
    let kept = citers[0]["paper"]["id"].as_str().expect("an identifier");
    program.succeeds(&["papers", "show", kept]);

    let like = ["papers", "related", &id("sleep1"), "--sources", "s2,openalex"];
    let report = json(&program, &server, 0, &like);
    assert!(!papers(&report).is_empty());
    assert!(report["notices"].to_string().contains("names no related papers"), "{report:#}");

    let (code, _, stderr) = text(&run(
        &program,
        &server,
        &["papers", "cited-by", "doi:10.5555/nowhere", "--sources", "s2"],
    ));
    assert!(code == 1 && stderr.contains("Semantic Scholar"), "{code} {stderr}");
    let before =
        ["papers", "cited-by", &doi("sleep2"), "--sources", "s2", "--before", "1990-01-01"];
    assert!(papers(&json(&program, &server, 0, &before)).is_empty());
    program.fails(2, &["papers", "cited-by", &doi("sleep2"), "--save"], &["--sources"]);
}

#[test]
fn passages_of_whole_texts_are_found_and_titles_name_papers() {
    let program = Program::with_papers();
    let server = StandIn::start().expect("a loopback port");
    let search = ["search", QUESTION, "--sources", "snippets"];
    let report = json(&program, &server, 0, &search);
    let hits = report["hits"].as_array().expect("a list").clone();
    assert!(!hits.is_empty());
    assert!(hits.iter().all(|hit| hit["found_by"] == serde_json::json!(["snippets"])), "{hits:#?}");
    assert!(server.asked("/s2/").iter().all(|request| request.path.contains("snippet")));

    let title = &world().get("sleep1").expect("in the library").title;
    let named = format!("title:{}", title.to_uppercase());
    let report = json(&program, &server, 0, &["papers", "add", &named]);
    assert_eq!(report["papers"][0]["title"], title.as_str(), "{report:#}");
    let half: Vec<&str> = title.split(' ').take(4).collect();
    let half = format!("title:{}", half.join(" "));
    let (code, _, stderr) = text(&run(&program, &server, &["papers", "add", &half]));
    assert_eq!(code, 1, "{stderr}");
    assert!(stderr.contains("title"), "{stderr}");
}

#[test]
fn a_pdf_that_states_no_identifier_is_completed_by_its_title() {
    let program = Program::with_papers();
    let server = StandIn::start().expect("a loopback port");
    let work = world().get("sleep1").expect("in the library");
    let print = |name: &str, title: &str| {
        let meta = PaperMeta::new("local:page".parse().expect("an identifier"), title);
        let text =
            "Adults slept in a laboratory, and remembered more words afterwards than before.";
        let sections = vec![Section::new("Abstract", text)];
        let paper = Paper { meta, sections, references: Vec::new(), records: Vec::new() };
        let path = program.path(name);
        fs_err::write(&path, scholar_testing::pdf::printed(&paper)).expect("written");
        path.to_string_lossy().into_owned()
    };
    let file = print("page.pdf", &work.title);
    let report = json(&program, &server, 0, &["papers", "add", &file]);
    let id = report["papers"][0]["paper"].as_str().expect("stored").to_owned();
    assert!(!id.starts_with("local:"), "{report:#}");
    let shown = program.json(0, &["papers", "show", &file]);
    assert!(!shown["paper"]["meta"]["authors"].as_array().expect("a list").is_empty(), "{shown:#}");
    assert!(shown.to_string().contains("laboratory"), "the page's own text stays");
    // Another title is another paper, however close a registry finds it.
    let words: Vec<&str> = work.title.split(' ').take(3).collect();
    let other = print("other.pdf", &format!("{} and something else entirely", words.join(" ")));
    let report = json(&program, &server, 0, &["papers", "add", &other]);
    let id = report["papers"][0]["paper"].as_str().expect("stored");
    assert!(id.starts_with("local:"), "{report:#}");
}

#[test]
fn many_papers_are_asked_for_at_once() {
    let program = Program::with_papers();
    let server = StandIn::start().expect("a loopback port");
    let report = json(&program, &server, 0, &["papers", "add", "bulk:sleep", "--bulk-limit", "2"]);
    let papers = report["papers"].as_array().expect("a list").clone();
    assert_eq!(papers.len(), 2, "{report:#}");
    assert!(papers.iter().all(|paper| paper["format"] == "Semantic Scholar"), "{report:#}");
    let (code, _, stderr) = text(&run(&program, &server, &["papers", "add", "bulk:zxqwv"]));
    assert!(code == 1 && stderr.contains("no paper matches"), "{code} {stderr}");

    let server = StandIn::start().expect("a loopback port");
    let ids: Vec<String> = ["sleep1", "sleep2", "rerank"]
        .iter()
        .map(|key| format!("corpusid:{}", world().get(key).expect("in the library").corpus))
        .collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let report = json(&program, &server, 0, &[&["papers", "add"], &ids[..]].concat());
    assert_eq!(report["papers"].as_array().expect("a list").len(), 3, "{report:#}");
    let asked: Vec<String> =
        server.asked("/s2/").iter().map(|request| request.path.clone()).collect();
    let batches = asked.iter().filter(|path| path.ends_with("/paper/batch")).count();
    assert_eq!((batches, asked.len()), (1, 1), "one request for all: {asked:?}");
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
        let attachments = folder.to_string_lossy();
        let args = ["papers", "add", what, "--no-lookup", "--datastore", store];
        json(&program, &server, 0, &[&args[..], &["--attachments", &attachments]].concat())
    };
    let papers = |report: &Value| report["papers"].as_array().expect("a list").clone();
    let is_read = |paper: &Value| {
        paper["format"].as_str().is_some_and(|format| format.starts_with("library + "))
    };
    let all = papers(&add("zotero:", "mine"));
    let known = world().papers.len();
    let stored: BTreeSet<String> = all.iter().map(|one| one["paper"].to_string()).collect();
    assert_eq!(
        (all.len(), stored.len()),
        (known, known - 1),
        "one paper is there twice, and stored once"
    );
    let read = all.iter().filter(|paper| is_read(paper)).count();
    assert!(read > 0 && read < all.len(), "files are read where there are any: {all:#?}");
    let inner = papers(&add("zotero:Sleep/Retracted", "inner"));
    let outer = papers(&add("zotero:sleep", "outer"));
    assert!(!inner.is_empty() && inner.len() < outer.len() && outer.len() < all.len());
}

#[cfg(feature = "self-test")]
#[test]
fn the_self_test_passes_without_a_network() {
    let program = Program::new();
    let report = program.json(0, &["doctor", "--self-test"]);
    let checks = report["checks"].as_array().expect("a list");
    assert!(checks.len() >= 9 && checks.iter().all(|check| check["ok"] == true), "{checks:#?}");
}

#[cfg(not(feature = "self-test"))]
#[test]
fn without_test_code_the_self_test_says_how_to_get_it() {
    let program = Program::new();
    let says = ["leaves doctor --self-test out", "--features self-test"];
    program.fails(1, &["doctor", "--self-test"], &says);
    program.fails(1, &["bench", "fuzz"], &["leaves bench fuzz out"]);
}
