//! Papers in from any file, in parts and in older formats; everything out again.

use serde_json::Value;

use crate::program::{Program, STORE, copy, corpus, text};

fn papers_in(program: &Program, store: &str) -> Option<u64> {
    program.json(0, &["datastore", "info", store])["info"]["papers"].as_u64()
}

#[test]
fn parts_built_apart_are_joined() {
    let program = Program::new();
    program.configure();
    let corpus = corpus().to_string_lossy().into_owned();
    let mut sum = 0;
    for part in 0..3 {
        let (name, shard) = (format!("part{part}"), format!("{part}/3"));
        program.succeeds(&["datastore", "build", &name, &corpus, "--shard", &shard]);
        let papers = papers_in(&program, &name).expect("a number");
        assert!(papers < 40, "{papers}");
        sum += papers;
    }
    assert_eq!(sum, 40);
    program.succeeds(&["datastore", "merge", "whole", "part0", "part1", "part2"]);
    assert_eq!(papers_in(&program, "whole"), Some(40));
    program.succeeds(&["datastore", "verify", "whole", "--deep"]);
    program.fails(2, &["datastore", "build", "x", &corpus, "--shard", "3/3"], &["0 to N-1"]);
    program.fails(1, &["datastore", "merge", "whole", "absent"], &["absent"]);
}

#[test]
fn a_part_that_failed_goes_on_without_encoding_anew() {
    let program = Program::new();
    program.configure();
    let junk = format!("{}\n", "junk ".repeat(20)).repeat(4);
    let papers = fs_err::read_to_string(corpus()).expect("read");
    let (first, others) = papers.split_once('\n').expect("many lines");
    let file = program.path("papers.jsonl");
    fs_err::write(&file, format!("{first}\n{junk}{others}")).expect("written");
    let file = file.to_string_lossy().into_owned();
    let build = ["datastore", "build", "part", file.as_str(), "--shard", "0/2"];
    program.fails(1, &build, &["lines of", "are unusable", "hint:"]);
    let kept = papers_in(&program, "part").expect("a number");
    assert!(kept > 10, "{kept}");
    let log = fs_err::read_to_string(program.data("datastores/part.rejects.jsonl")).expect("there");
    assert_eq!(log.lines().count(), 4);
    let reject: Value = serde_json::from_str(log.lines().next().expect("a line")).expect("JSON");
    let place = (&Value::from(2), &Value::from(first.len() + 1));
    assert_eq!((&reject["line"], &reject["byte"]), place);
    // Repaired in place: the cuts between parts stay where they were.
    let blank = junk.replace(|c| c != '\n', " ");
    fs_err::write(&file, format!("{first}\n{blank}{others}")).expect("written");
    let (code, _, stderr) = text(&program.run(&build));
    assert_eq!(code, 0, "{stderr}");
    assert!(stderr.contains(&format!(" 0 papers added, {kept} unchanged")), "{stderr}");
    assert!(!program.data("datastores/part.rejects.jsonl").exists());
}

#[test]
fn rows_of_any_shape_come_in_by_a_map() {
    let program = Program::new();
    program.configure();
    let file = program.path("rows.jsonl");
    let rows: Vec<String> = (0..30)
        .map(|n| {
            serde_json::json!({"paper": {"name": format!("Title {n}")}, "body": format!("Text {n}"), "doi": format!("10.1/{n}")})
                .to_string()
        })
        .chain(["{\"doi\": \"10.1/31\"}".to_owned()])
        .collect();
    fs_err::write(&file, rows.join("\n")).expect("written");
    let (file, log) = (file.to_string_lossy().into_owned(), program.path("log"));
    let map = "title=/paper/name,text=/body,id=/doi";
    let log_name = log.to_string_lossy().into_owned();
    program.succeeds(&["papers", "add", &file, "--fields", map, "--rejects", &log_name]);
    assert_eq!(papers_in(&program, STORE), Some(30));
    assert!(fs_err::read_to_string(&log).expect("there").contains("neither title nor text"));
    let shown = program.json(0, &["papers", "show", "doi:10.1/7"]);
    assert_eq!(shown["paper"]["meta"]["title"], "Title 7");
    program.fails(2, &["papers", "add", &file, "--fields", "title=name"], &["JSON pointer"]);
    program.fails(1, &["papers", "add", &file], &["cannot tell the format", "--fields"]);
    let other =
        ["datastore", "build", STORE, file.as_str(), "--fields", map, "--passages", "paper"];
    program.fails(1, &other, &["other passage rules"]);
}

#[test]
fn a_datastore_of_the_first_format_is_converted_by_name() {
    let program = Program::new();
    program.configure();
    let stored = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../scholar-datastore/tests/compat/v1");
    copy(&stored, &program.data("datastores/old"));
    let hint = "openscholar datastore merge NEW old";
    program.fails(1, &["datastore", "info", "old"], &["format version 1", hint]);
    program.succeeds(&["datastore", "merge", "new", "old"]);
    assert_eq!(papers_in(&program, "new"), Some(5));
    program.succeeds(&["datastore", "verify", "new"]);
}

#[test]
fn a_datastore_is_exported_and_planned() {
    let program = Program::with_papers();
    let out = program.path("out").to_string_lossy().into_owned();
    let report = program.json(0, &["datastore", "export", STORE, &out, "--what", "papers,edges"]);
    assert_eq!(report["files"][0]["rows"], 40);
    let bytes = fs_err::read(program.path("out/papers.parquet")).expect("there");
    assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"));
    assert!(!program.path("out/vectors.parquet").exists());
    program.fails(
        2,
        &["datastore", "export", STORE, &out, "--what", "all"],
        &["cannot be exported"],
    );
    let plan = program.json(0, &["datastore", "plan", "--papers", "45e6", "--dim", "768"]);
    let passages = plan["plan"]["passages"].as_f64().expect("a number");
    assert!((235e6..237e6).contains(&passages), "{passages}");
    assert!(
        program.succeeds(&["datastore", "plan", "--papers", "1000"]).contains("memory to search")
    );
}
