//! A review that looks beyond the datastore, against services that fail and answer badly.

use std::collections::BTreeSet;

use scholar_testing::{Calls, Fault, StandIn};
use serde_json::Value;

use super::{model, reply, with_idea};
use crate::program::{Program, text};

/// What the stand-in's library has papers on.
const IDEA: &str = "# Research Plan: Sleep and memory\n\n## Problem\nIt is unknown whether slow wave sleep improves the memory \
consolidation of adults.\n\n## Method\nWe will record slow wave sleep with polysomnography, and we will test the memory \
consolidation of adults before and after. We propose a novel measure of memory consolidation.\n";

const CUTOFF: &str = "2024-01-01";

fn review(program: &Program, server: &StandIn, code: i32, args: &[&str]) -> Value {
    let mut command = Program::command(&program.path(""));
    command.envs(server.settings()).args(["--json", "review"]).args(args);
    let (got, stdout, stderr) = text(&command.output().expect("the program starts"));
    assert_eq!(got, code, "{args:?}\n{stderr}\n{stdout}");
    serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{args:?}: {error}\n{stdout}"))
}

fn list<'a>(value: &'a Value, key: &str) -> &'a Vec<Value> {
    value[key].as_array().unwrap_or_else(|| panic!("{key}: {value}"))
}

/// Every cited paper is there once, from before the cut-off.
fn check(document: &Value) {
    let mut seen = BTreeSet::new();
    for reference in list(document, "references") {
        assert!(seen.insert(reference["paper_id"].to_string()), "twice: {reference}");
        assert!(reference["year"].as_i64().is_some_and(|year| year < 2024), "{reference}");
    }
}

#[test]
fn servers_that_time_out_null_entries_and_doubles_cost_only_themselves() {
    let (program, idea) = with_idea(IDEA);
    let common = ["--mode", "evidence", "--generator", "none", "--cutoff", CUTOFF];
    let args = [&[idea.as_str(), "--sources", "datastore,s2"][..], &common].concat();
    let server = StandIn::start().expect("a loopback port");
    let whole = review(&program, &server, 0, &args);
    check(&whole);
    let found = |document: &Value| {
        let references = list(document, "references");
        references.iter().filter(|one| one["found_by"].to_string().contains("s2")).count()
    };
    assert!(found(&whole) > 0, "{}", whole["references"]);
    for fault in [Fault::Nulls, Fault::Duplicate] {
        let server = StandIn::start().expect("a loopback port");
        server.fault("/s2/graph/v1/", Calls::All, fault.clone());
        let (fresh, _) = with_idea(IDEA);
        let document = review(&fresh, &server, 0, &args);
        check(&document);
        assert!(!list(&document, "references").is_empty(), "{fault:?}");
        assert_eq!(document["failures"], serde_json::json!([]), "{fault:?}");
    }
    // 504 once is asked again, 504 for ever is told and the datastore still answers.
    let server = StandIn::start().expect("a loopback port");
    server.fault("/s2/graph/v1/paper/search", Calls::First(1), Fault::Status(504, String::new()));
    let (fresh, _) = with_idea(IDEA);
    let once = review(&fresh, &server, 0, &args);
    check(&once);
    assert!(found(&once) > 0, "{}", once["notices"]);
    let server = StandIn::start().expect("a loopback port");
    server.fault("/s2/", Calls::All, Fault::Status(504, String::new()));
    let (fresh, _) = with_idea(IDEA);
    let without = review(&fresh, &server, 0, &args);
    check(&without);
    assert_eq!(found(&without), 0);
    let told = list(&without, "notices").iter().any(|one| one.to_string().contains("source s2"));
    assert!(told, "{}", without["notices"]);
}

#[test]
fn a_written_review_takes_the_same() {
    let (program, idea) = with_idea(IDEA);
    let model = model(reply);
    let url = model.server.base_url();
    let server = StandIn::start().expect("a loopback port");
    server.fault("/s2/graph/v1/", Calls::Nth(1), Fault::Status(504, String::new()));
    server.fault("/s2/graph/v1/", Calls::Nth(2), Fault::Nulls);
    let args = [
        idea.as_str(),
        "--mode",
        "generative",
        "--base-url",
        &url,
        "--judge",
        "lexical",
        "--sources",
        "datastore,s2",
        "--cutoff",
        CUTOFF,
    ];
    let document = review(&program, &server, 0, &args);
    check(&document);
    assert_eq!(document["failures"], serde_json::json!([]));
    let run = document["run"].as_str().expect("a name");
    // Proven and repeated without anybody.
    drop(server);
    program.succeeds(&["runs", "verify", run]);
    program.succeeds(&["runs", "replay", run]);
}

/// A service that sends a paper from after the cut-off, whatever was asked for: the paper is read only where the cut-off is later.
#[test]
fn a_leak_planted_in_a_service_is_caught() {
    let work = scholar_testing::standin::world::world().get("late").expect("of the library");
    assert!(work.date.as_deref().is_some_and(|date| date > CUTOFF));
    let server = StandIn::start().expect("a loopback port");
    let path = "/s2/graph/v1/paper/search?query=targeted%20memory%20reactivation%20at%20home&limit=20&\
                fields=title,abstract,year,publicationDate,externalIds,corpusId,url,authors,venue,citationCount";
    let reply = scholar_testing::http::get(server.address(), path).json();
    let is_late = |one: &&Value| one["title"] == work.title.as_str();
    let planted: Vec<Value> = list(&reply, "data").iter().filter(is_late).cloned().collect();
    assert_eq!(planted.len(), 1, "{reply}");
    let planted = Fault::List(Value::Array(planted));
    server.fault("/s2/graph/v1/paper/search", Calls::All, planted);
    let reads = |cutoff: &str| {
        let (program, idea) = with_idea(IDEA);
        let args = ["--mode", "evidence", "--generator", "none", "--cutoff", cutoff];
        let args = [&[idea.as_str(), "--sources", "datastore,s2"][..], &args].concat();
        review(&program, &server, 0, &args).to_string().contains(&work.title)
    };
    assert!(reads("2025-01-01"), "what is planted is near");
    assert!(!reads(CUTOFF), "a leak");
}
