//! Run folders: read, explained, verified, replayed, compared; good ones and damaged ones.

use serde_json::Value;

use crate::generative::{ask, assert_answer};
use crate::model::Model;
use crate::program::{Program, QUESTION, STORE, text};

/// A home with a generative run and an evidence-first run.
fn two_runs() -> (Program, [String; 2]) {
    let program = Program::with_papers();
    let model = Model::honest();
    program.succeeds(&ask(&model.base_url()));
    program.succeeds(&["ask", QUESTION, "--generator", "none"]);
    let runs = program.runs().try_into().expect("two runs");
    (program, runs)
}

#[test]
fn every_verb_reads_a_good_run() {
    let (program, [generative, evidence]) = two_runs();
    for run in [&generative, &evidence] {
        let shown = program.json(0, &["runs", "show", run]);
        assert_answer(&shown);
        assert_eq!(shown["run"], **run);
        let printed = program.succeeds(&["runs", "show", run]);
        assert!(printed.contains("[1]"), "{printed}");
        let verified = program.json(0, &["runs", "verify", run]);
        assert_eq!(
            (&verified["holds"], &verified["schema"]),
            (&true.into(), &"openscholar.proof-report/2".into())
        );
        let replayed = program.json(0, &["runs", "replay", run]);
        assert_eq!(replayed["identical"], true);
        assert_eq!(replayed["answer"], shown, "byte for byte");
        let explained = program.json(0, &["runs", "explain", run, "1"]);
        assert_eq!(explained["schema"], "openscholar.explanation/1");
        let reference = &explained["references"][0];
        assert!(!reference["passages"].as_array().expect("a list").is_empty(), "{explained}");
        assert!(!reference["sentences"].as_array().expect("a list").is_empty(), "{explained}");
        program.fails(1, &["runs", "explain", run, "99"], &["no reference [99]", "hint:"]);
    }
    let same = program.json(0, &["runs", "diff", &generative, &generative]);
    assert!(same["settings"].as_array().expect("a list").is_empty(), "{same}");
    let other = program.json(0, &["runs", "diff", &generative, &evidence]);
    assert!(!other["settings"].as_array().expect("a list").is_empty(), "{other}");
    assert!(!other["sentences_only_left"].as_array().expect("a list").is_empty(), "{other}");
    for args in [
        &["datastore", "list"][..],
        &["datastore", "info", STORE],
        &["datastore", "verify", STORE],
        &["papers", "list"],
        &["papers", "show", "acl:2020.acl-main.326"],
        &["search", "exposure bias"],
        &["models", "list"],
        &["models", "verify"],
        &["runs", "list"],
        &["doctor"],
    ] {
        let printed = program.json(0, args);
        assert!(
            printed["schema"].as_str().is_some_and(|s| s.starts_with("openscholar.")),
            "{args:?}: {printed}"
        );
    }
}

/// What a damaged `file` of a run does to every verb that needs it: exit code 1 and the file's name.
#[test]
fn damaged_files_are_named_and_hide_no_other_run() {
    let (program, [damaged, whole]) = two_runs();
    let verbs: [(&str, &[&[&str]]); 5] = [
        ("run.json", &[&["runs", "verify"], &["runs", "replay"]]),
        ("answer.json", &[&["--json", "runs", "show"], &["runs", "explain"], &["runs", "replay"]]),
        ("proof.json", &[&["runs", "verify"]]),
        ("events.jsonl", &[&["runs", "explain"]]),
        ("journal.jsonl", &[&["runs", "replay"]]),
    ];
    for (file, verbs) in verbs {
        let path = program.data("runs").join(&damaged).join(file);
        let before = fs_err::read(&path).expect("there");
        for bytes in [&before[..before.len() / 2], b"\xff\xfe{\n{}\n", b""] {
            fs_err::write(&path, bytes).expect("written");
            for verb in verbs {
                let args = [verb, &[damaged.as_str()][..]].concat();
                let (code, _, stderr) = text(&program.run(&args));
                assert_eq!(code, 1, "{args:?}, {} bytes of {file}\n{stderr}", bytes.len());
                assert!(!stderr.contains("panicked"), "{stderr}");
                let named = stderr.contains(file) || stderr.contains("that is not in the journal");
                assert!(named || stderr.contains("cites nothing"), "{args:?}: {file}\n{stderr}");
            }
            program.succeeds(&["runs", "list"]);
            program.succeeds(&["runs", "show", &whole]);
        }
        fs_err::remove_file(&path).expect("removed");
        for verb in verbs {
            let args = [verb, &[damaged.as_str()][..]].concat();
            let (code, _, stderr) = text(&program.run(&args));
            assert_eq!(code, 1, "{args:?} without {file}\n{stderr}");
        }
        fs_err::write(&path, before).expect("written");
    }
    program.succeeds(&["runs", "replay", &damaged]);
}

#[test]
fn a_changed_quotation_and_a_removed_paper_are_found() {
    let (program, [run, _]) = two_runs();
    let path = program.data("runs").join(&run).join("proof.json");
    let proof = fs_err::read_to_string(&path).expect("there");
    let changed = proof.replacen(
        "exposure bias is partially to blame",
        "exposure bias is mainly to blame",
        1,
    );
    assert_ne!(proof, changed);
    fs_err::write(&path, changed).expect("written");
    let (code, stdout, stderr) = text(&program.run(&["runs", "verify", &run]));
    assert_eq!(code, 1, "{stderr}");
    assert!(stdout.contains("mainly to blame") && stdout.contains("sentence 1"), "{stdout}");

    fs_err::write(&path, proof).expect("written");
    program.succeeds(&["papers", "remove", "acl:2020.acl-main.326"]);
    let report = program.json(1, &["runs", "verify", &run]);
    assert_eq!(report["holds"], false);
    let problems = report["report"]["problems"].to_string();
    assert!(problems.contains("acl:2020.acl-main.326#0"), "{problems}");
}

#[test]
fn an_answer_that_was_changed_does_not_replay() {
    let (program, [run, _]) = two_runs();
    let path = program.data("runs").join(&run).join("answer.json");
    let answer = fs_err::read_to_string(&path).expect("there");
    fs_err::write(&path, answer.replacen("partially", "mainly", 1)).expect("written");
    assert_eq!(program.json(1, &["runs", "replay", &run])["identical"], false);
    let done: Value = program.run_json(&run, "run.json");
    assert_eq!(done["status"], "done");
    program.fails(1, &["ask", "--resume", &run], &["is done", "openscholar runs show"]);
}
