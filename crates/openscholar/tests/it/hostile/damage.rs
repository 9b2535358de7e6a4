//! Damaged datastores: nothing damaged is rewritten as good, and damage met while searching is an error.

use std::path::{Path, PathBuf};

use crate::program::{Program, QUESTION, STORE, copy, many_papers, said, text};

/// The largest file of the store with this ending, and its bytes.
fn file(program: &Program, ending: &str) -> (PathBuf, Vec<u8>) {
    let root = program.data("datastores").join(STORE);
    let mut found = Vec::new();
    for part in ["lexical", "dense"] {
        for entry in fs_err::read_dir(root.join(part)).expect("readable") {
            let path = entry.expect("an entry").path();
            if path.extension().is_some_and(|of_file| of_file == ending) {
                let bytes = fs_err::read(&path).expect("read");
                found.push((bytes.len(), path, bytes));
            }
        }
    }
    found.sort();
    let (_, path, bytes) = found.pop().expect("a file of this kind");
    (path, bytes)
}

fn flip(path: &PathBuf, bytes: &[u8], at: usize) {
    let mut damaged = bytes.to_vec();
    damaged[at] ^= 4;
    fs_err::write(path, damaged).expect("written");
}

fn one_more_paper(program: &Program) -> String {
    let path = program.path("more.jsonl");
    fs_err::write(&path, many_papers(1)).expect("written");
    path.to_string_lossy().into_owned()
}

#[test]
fn one_wrong_byte_in_any_file_is_refused_by_whatever_reads_or_rewrites_it() {
    let program = Program::with_papers();
    let more = one_more_paper(&program);
    let out = program.path("out").to_string_lossy().into_owned();
    let commands: [&[&str]; 12] = [
        &["search", QUESTION],
        &["search", QUESTION, "--mode", "lexical"],
        &["search", QUESTION, "--mode", "dense"],
        &["papers", "list"],
        &["papers", "add", &more],
        &["papers", "remove", "doi:10.1000/absent"],
        &["datastore", "build", STORE, &more],
        &["datastore", "verify", STORE],
        &["datastore", "info", STORE],
        &["datastore", "compact", STORE],
        &["datastore", "merge", "other", STORE],
        &["datastore", "export", STORE, &out],
    ];
    for (nth, ending) in ["store", "term", "idx", "fast", "fieldnorm", "vec"].iter().enumerate() {
        let (path, bytes) = file(&program, ending);
        flip(&path, &bytes, bytes.len() * (nth + 1) / 9);
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        for command in commands {
            let stderr =
                program.fails(1, command, &[&name, "is damaged", "datastore repair papers"]);
            assert!(stderr.contains("(commit "), "{command:?}\n{stderr}");
        }
        fs_err::write(&path, &bytes).expect("written");
    }
    program.succeeds(&["datastore", "verify", STORE]);
}

#[test]
fn lists_that_are_damaged_are_refused_before_anything_is_written() {
    let program = Program::with_papers();
    let more = one_more_paper(&program);
    let root = program.data("datastores").join(STORE);
    for (name, from) in [("lexical/meta.json", "\"max_doc\""), ("datastore.json", "\"dim\"")] {
        let path = root.join(name);
        let whole = fs_err::read_to_string(&path).expect("read");
        let broken = whole.replacen(from, &from.replace('m', "n"), 1);
        assert_ne!(broken, whole);
        fs_err::write(&path, &broken).expect("written");
        for command in [
            ["papers", "add", more.as_str()],
            ["datastore", "compact", STORE],
            ["datastore", "verify", STORE],
        ] {
            let (code, _, stderr) = text(&program.run(&command));
            said(1, &command, &["hint:"], code, &stderr);
        }
        assert_eq!(fs_err::read_to_string(&path).expect("read"), broken);
        fs_err::write(&path, &whole).expect("written");
    }
    program.succeeds(&["datastore", "verify", STORE]);
}

#[test]
fn what_can_be_saved_is_saved_and_what_is_lost_is_named() {
    let program = Program::with_papers();
    assert!(program.succeeds(&["datastore", "repair", STORE, "--to", "new"]).contains("is whole"));
    let (path, bytes) = file(&program, "store");
    flip(&path, &bytes, bytes.len() / 2);
    // The hint works when it is typed.
    let stderr = program.fails(1, &["search", QUESTION], &["hint:"]);
    let typed = stderr.split("openscholar ").find(|part| part.starts_with("datastore repair"));
    let typed: Vec<&str> =
        typed.expect("a command").lines().next().expect("it").split(' ').collect();
    let json = program.json(4, &typed);
    let report = &json["report"];
    let lost = report["lost"].as_array().expect("a list");
    let saved = report["papers_saved"].as_u64().expect("a number");
    assert!(!lost.is_empty() && saved + lost.len() as u64 == 40, "{json}");
    assert!(lost.iter().all(|lost| lost["paper"].is_string()), "{json}");
    program.succeeds(&["datastore", "verify", "papers-repaired", "--deep"]);
    let info = program.json(0, &["datastore", "info", "papers-repaired"]);
    assert_eq!(info["info"]["papers"].as_u64(), Some(saved));
    program.fails(1, &["datastore", "verify", STORE], &["is damaged"]);
    program.fails(1, &["datastore", "repair", STORE, "--to", STORE], &["hint:"]);
    fs_err::write(&path, &bytes).expect("written");
    // Vectors alone are made anew, and nothing is lost.
    let (path, bytes) = file(&program, "vec");
    flip(&path, &bytes, bytes.len() / 2);
    let said = program.succeeds(&["datastore", "repair", STORE, "--to", "encoded"]);
    assert!(said.contains("no paper is lost"), "{said}");
    program.succeeds(&["datastore", "verify", "encoded", "--deep"]);
}

#[test]
fn a_check_that_is_skipped_is_told() {
    let program = Program::with_papers();
    let more = one_more_paper(&program);
    let (_, _, stderr) = text(&program.run(&["papers", "add", &more, "--skip-check"]));
    assert!(stderr.contains("were not checked (--skip-check)"), "{stderr}");
    program.succeeds(&["datastore", "verify", STORE]);
}

/// A datastore of the first format is copied into the present one before it is read, so it is checked as any other.
#[test]
fn an_older_datastore_that_is_damaged_is_not_converted() {
    let program = Program::new();
    program.configure();
    let stored = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scholar-datastore/tests/compat/v1");
    let root = program.data("datastores").join(STORE);
    copy(&stored, &root);
    let descriptor = fs_err::read(root.join("datastore.json")).expect("read");
    for ending in ["store", "term", "idx", "fast", "fieldnorm", "vec"] {
        let (path, bytes) = file(&program, ending);
        flip(&path, &bytes, bytes.len() / 2);
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        let merge = ["datastore", "merge", "other", STORE];
        program.fails(1, &merge, &[&name, "is damaged", "hint:"]);
        assert_eq!(fs_err::read(root.join("datastore.json")).expect("read"), descriptor);
        fs_err::write(&path, &bytes).expect("written");
    }
    program.succeeds(&["datastore", "merge", "whole", STORE]);
    program.succeeds(&["datastore", "verify", "whole"]);
}
