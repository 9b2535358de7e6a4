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
    check(&["search", ""], 1, &["the question is empty"]);
    check(&["search", &"x ".repeat(50_000)], 1, &["more than the 20000 accepted"]);
}

#[cfg(unix)]
#[test]
fn arguments_and_input_that_are_not_text() {
    use std::ffi::OsStr;
    use std::io::Write as _;
    use std::os::unix::ffi::OsStrExt as _;
    let program = Program::new();
    let junk = OsStr::from_bytes(b"What \xff\xfe is \x80?");
    for verb in ["ask", "search"] {
        let output = Program::command(&program.path("")).arg(verb).arg(junk).output();
        let (code, _, stderr) = text(&output.expect("starts"));
        assert_eq!(code, 2, "{stderr}");
        assert!(stderr.contains("invalid UTF-8"), "{stderr}");
    }
    let bare = Program::command(&program.path("")).arg(junk).output();
    assert_eq!(text(&bare.expect("starts")).0, 2);

    for (input, says) in [
        (&b"What \xff is?"[..], "not UTF-8"),
        (b"", "the question is empty"),
        (&[b'x'; 2_000_000], "more than the 20000 accepted"),
    ] {
        let mut command = Program::command(&program.path(""));
        command.args(["ask", "-"]).stdin(std::process::Stdio::piped());
        let mut child = command.stderr(std::process::Stdio::piped()).spawn().expect("starts");
        // The program stops reading where it has enough.
        let _read_in_part = child.stdin.take().expect("piped").write_all(input);
        let (code, _, stderr) = text(&child.wait_with_output().expect("ends"));
        assert_eq!(code, 1, "{stderr}");
        assert!(stderr.contains(says) && stderr.contains("hint:"), "{stderr}");
    }
}

#[test]
fn wrong_usage() {
    check(&["ask", "x", "--no-such-option"], 2, &["unexpected argument '--no-such-option'"]);
    check(&["ask", "x", "--before", "yesterday"], 2, &["--before"]);
    check(&["ask", "x", "--paper", "42"], 2, &["is not an identifier"]);
    check(&["search"], 2, &["required"]);
    check(&["ask", "x", "--format", "odt"], 2, &["odt", "bibtex"]);
    check(&["ask", "x", "--format", "docx"], 1, &["cannot be printed", "--output"]);
    check(&["ask", "x", "--sources", "scopus"], 2, &["scopus", "openalex"]);
    check(&["ask", "x", "--mode", "best"], 2, &["best", "generative"]);
    check(&["ask", "x", "--max-seconds", "soon"], 2, &["soon"]);
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
    check(
        &["search", "What is RAG?", "--datastore", "nope"],
        1,
        &["no datastore \"nope\"", "hint:"],
    );
    check(&["papers", "list", "--datastore", "nope"], 1, &["no datastore \"nope\"", "hint:"]);
    check(&["datastore", "build", "x", "/nonexistent.jsonl"], 1, &["/nonexistent.jsonl"]);
    for verb in ["show", "replay", "verify", "explain"] {
        check(&["runs", verb, "nope"], 1, &["there is no run \"nope\"", "runs list"]);
    }
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
fn a_config_file_that_is_garbage_is_named_with_the_line() {
    let program = Program::new();
    let path = program.path(".config/openscholar/config.toml");
    fs_err::create_dir_all(path.parent().expect("a folder")).expect("created");
    for (bytes, says) in [
        (&b"threads = 2\nencoder = \"unclosed\n"[..], "line 2"),
        (b"threads = \"many\"\n", "line 1"),
        (b"\xff\xfe\x00", "config.toml"),
    ] {
        fs_err::write(&path, bytes).expect("written");
        program.fails(1, &["runs", "list"], &["config.toml", says, "hint:"]);
    }
    let missing = program.path("missing.toml").to_string_lossy().into_owned();
    program.fails(1, &["--config", &missing, "runs", "list"], &["missing.toml"]);
}

#[test]
fn models_nobody_has() {
    let program = Program::with_papers();
    let model = ["--generator", "embedded", "--model", "qwen9"];
    let args = [&["ask", "What is exposure bias?"], &model[..]].concat();
    program.fails(1, &args, &["qwen9", "openscholar models list"]);
    let (papers, encoder) = (crate::program::corpus(), "all-MiniLM-L6-v9");
    let papers = papers.to_string_lossy();
    let args = ["datastore", "build", "x", &papers, "--encoder", encoder];
    program.fails(1, &args, &[encoder, "all-MiniLM-L6-v2"]);
    let no_url = ["ask", "What is exposure bias?", "--generator", "server"];
    program.fails(1, &no_url, &["no language model server is named", "--base-url"]);
    let bad_url = ["ask", "What is exposure bias?", "--base-url", "ftp://user:secret@x"];
    let stderr = program.fails(1, &bad_url, &["is not a web address", "hint:"]);
    assert!(!stderr.contains("secret"), "{stderr}");
}

#[test]
fn files_that_hold_no_papers_are_named_with_the_line() {
    let program = Program::with_papers();
    let path = program.path("papers.jsonl");
    let papers = fs_err::read(crate::program::corpus()).expect("there");
    let cut = [&papers[..papers.len() / 2], b"\n\n{\"a\": 1}\n"].concat();
    for (bytes, says) in [
        (&b"\x00\x01\x02junk"[..], "papers.jsonl"),
        (b"{\"title\": \"no paper\"}\n", "papers.jsonl"),
        (&cut, "line "),
        (b"\x1f\x8bbroken gzip", "papers.jsonl"),
    ] {
        fs_err::write(&path, bytes).expect("written");
        program.fails(
            1,
            &["papers", "add", &path.to_string_lossy()],
            &[says, "papers.jsonl", "hint:"],
        );
    }
    program.succeeds(&["datastore", "verify", crate::program::STORE]);
    assert!(!program.succeeds(&["search", "exposure bias"]).is_empty());
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
