//! Wrong input gets a clear error, the right exit code and a next step.

use crate::program::{Program, text};

fn check(args: &[&str], code: i32, says: &[&str]) {
    let program = Program::new();
    let (got, stdout, stderr) = text(&program.run(args));
    let line = args.join(" ").chars().take(60).collect::<String>();
    assert_eq!(got, code, "{line}\n{stderr}");
    for words in says {
        assert!(stderr.contains(words), "{line}: {words:?} is missing in\n{stderr}");
    }
    assert!(stdout.is_empty() || args.contains(&"--json"), "{line}: {stdout}");
    assert!(
        !program.path(".local/share/openscholar/models").exists(),
        "{line}: fetched models for wrong input"
    );
}

#[test]
fn questions_that_are_none() {
    check(&["ask", ""], 1, &["the question is empty"]);
    check(&["ask", " \n "], 1, &["the question is empty"]);
    check(&["ask", &"x ".repeat(50_000)], 1, &["more than the 20000 accepted"]);
    check(&["ask", "a\u{1}b"], 1, &["U+0001", "binary"]);
    check(&["ask", "???"], 1, &["contains no word"]);
    check(&["--json", "ask", ""], 1, &["the question is empty"]);
}

#[test]
fn wrong_usage() {
    check(&["ask", "x", "--no-such-option"], 2, &["unexpected argument '--no-such-option'"]);
    check(&["ask", "x", "--before", "yesterday"], 2, &["--before"]);
    check(&["ask", "x", "--paper", "42"], 2, &["is not an identifier"]);
    check(&["search"], 2, &["required"]);
}

#[test]
fn names_that_nobody_has() {
    check(&["ask", "What is RAG?", "--datastore", "nope"], 1, &["no datastore \"nope\"", "hint:"]);
    check(
        &["ask", "What is RAG?", "--datastore", "../x"],
        1,
        &["cannot be the name of a datastore"],
    );
    check(&["models", "pull", "all-MiniLM-L6-v3"], 1, &["all-MiniLM-L6-v3", "all-MiniLM-L6-v2"]);
    check(&["runs", "show", "last"], 1, &["there is no run \"last\""]);
    check(&["ask", "What is RAG?", "--preset", "fast"], 1, &["no preset \"fast\"", "paper"]);
}

#[test]
fn a_config_file_with_a_wrong_key() {
    let program = Program::new();
    let path = program.path("c.toml");
    fs_err::write(&path, "top_m = 3\n").expect("written");
    let output = program.run(&["--config", &path.to_string_lossy(), "runs", "list"]);
    let (code, _, stderr) = text(&output);
    assert_eq!(code, 1, "{stderr}");
    assert!(
        stderr.contains("c.toml is not a valid config file") && stderr.contains("top_m"),
        "{stderr}"
    );
}

#[test]
fn no_home_at_all() {
    let program = Program::new();
    let output =
        Program::command(&program.path("x")).env_remove("HOME").args(["runs", "list"]).output();
    let (code, _, stderr) = text(&output.expect("starts"));
    assert_eq!(code, 1, "{stderr}");
    assert!(stderr.contains("HOME is not set") && stderr.contains("--home DIR"), "{stderr}");
}
