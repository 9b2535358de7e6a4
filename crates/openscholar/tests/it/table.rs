//! Tables of papers: every cell stands in its paper, whoever filled it.

use scholar_testing::{Behaviour, ScriptedLmServer};
use serde_json::Value;
use tokio::runtime::Runtime;

use crate::program::{Program, text};

const PAPER: &str = "acl:2020.acl-main.326";

/// Checks that each filled cell is the characters of the passage that it names, and counts them.
fn located(program: &Program, document: &Value) -> usize {
    let mut filled = 0;
    for row in document["rows"].as_array().expect("rows") {
        let id = row["paper"]["id"].as_str().expect("an id");
        let shown = program.json(0, &["papers", "show", id]);
        let passages = shown["passages"].as_array().expect("passages");
        for cell in row["cells"].as_array().expect("cells").iter().filter(|cell| !cell.is_null()) {
            let passage = passages.iter().find(|one| one["id"] == cell["passage_id"]);
            let passage = passage.and_then(|one| one["text"].as_str()).expect("the passage");
            let at = |key: &str| usize::try_from(cell[key].as_u64().expect(key)).expect("small");
            let (start, end) = (at("start"), at("end"));
            let words: String = passage.chars().skip(start).take(end - start).collect();
            assert_eq!(cell["text"], words.as_str());
            filled += 1;
        }
    }
    filled
}

#[test]
fn rules_fill_located_cells_and_every_format_is_written() {
    let program = Program::with_papers();
    let columns = "method,question=What causes exposure bias?";
    let args = ["papers", "table", "--columns", columns, "--mode", "evidence"];
    let document = program.json(0, &args);
    assert_eq!(document["schema"], "openscholar.table/1");
    assert_eq!(document["columns"].as_array().map(Vec::len), Some(8));
    assert_eq!(document["rows"].as_array().map(Vec::len), Some(40));
    assert!(located(&program, &document) > 40);
    // What is kept gives the same table again.
    assert_eq!(program.json(0, &args)["rows"], document["rows"]);
    for (name, start) in
        [("t.csv", "paper,title"), ("t.md", "# 40 papers"), ("t.html", "<!DOCTYPE html>")]
    {
        let path = program.path(name).to_string_lossy().into_owned();
        program.succeeds(&[&args[..], &["--output", &path]].concat());
        let written = fs_err::read_to_string(program.path(name)).expect("written");
        assert!(written.starts_with(start), "{name}: {written:.100}");
    }
    program.fails(1, &["papers", "table", "--format", "docx"], &["cannot be printed"]);
    program.fails(1, &["papers", "table", "--columns", "n,n"], &["twice"]);
    program.fails(1, &["papers", "table", "doi:10.1/absent"], &["no paper"]);
}

#[test]
fn a_models_words_are_located_or_left_absent() {
    let program = Program::with_papers();
    let runtime = Runtime::new().expect("threads");
    let server = runtime.block_on(ScriptedLmServer::start());
    let reply = r#"{"cells": [{"column": 1, "passage": 1, "words": "exposure bias"}, {"column": 2, "passage": 1, "words": "a camel won the race"}]}"#;
    server.respond_with(move |_| Behaviour::Text(reply.to_owned()));
    let base_url = server.base_url();
    let args = [
        "--json",
        "papers",
        "table",
        PAPER,
        "--columns",
        "problem,limitation",
        "--mode",
        "generative",
        "--base-url",
        &base_url,
        "--model",
        "scripted",
    ];
    let (code, stdout, stderr) = text(&program.run(&args));
    assert_eq!(code, 0, "{stderr}");
    let document: Value = serde_json::from_str(&stdout).expect("JSON");
    assert_eq!(located(&program, &document), 1);
    let cells = &document["rows"][0]["cells"];
    assert_eq!(cells[0]["text"].as_str().map(str::to_lowercase).as_deref(), Some("exposure bias"));
    assert!(cells[1].is_null());
    let notice = &document["rows"][0]["notices"][0]["message"];
    assert!(notice.as_str().is_some_and(|text| text.contains("not in the paper")), "{document}");
    // The model is not asked again for what is known.
    let asked = server.requests().len();
    program.run(&args);
    assert_eq!(server.requests().len(), asked);
}
