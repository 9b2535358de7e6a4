//! Expert evaluation through the program. Its pages are tried in `scholar-server`, in a real browser too.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::Child;

use scholar_testing::http::get;
use serde_json::{Value, json};

use crate::program::{Program, text};
use crate::stopped::signal;

const NAMES: [&str; 2] = ["Alpha-8B", "Beta-GPT"];
/// Questions of the study.
const QUESTIONS: usize = 3;

/// Predictions of one system, as a run of the benchmark leaves them.
fn predictions(system: usize) -> String {
    let word = ["first", "second"][system];
    (0..QUESTIONS)
        .map(|n| {
            let row = json!({"schema": "openscholar.prediction/1", "id": format!("{}-{n}", NAMES[0]),
                "input": format!("What is known about topic {n}?"),
                "output": format!("## Overview\n\nThe {word} answer on topic {n} [{system}].\n\n* a point [0, 1]\n\n<script>alert(1)</script>"),
                "ctxs": [{"title": "Paper zero", "text": "Zero says so. ".repeat(20), "url": "https://example.org/0"},
                         {"title": "Paper one", "text": "One says otherwise."}]});
            format!("{row}\n")
        })
        .collect()
}

/// A home with both predictions as files, and the comparisons made of them.
fn with_comparisons() -> Program {
    let program = Program::new();
    write_comparisons(&program);
    program
}

fn write_comparisons(program: &Program) {
    for (system, name) in NAMES.iter().enumerate() {
        fs_err::write(program.path(&format!("{name}.jsonl")), predictions(system))
            .expect("written");
    }
    let [a, b, out] = ["Alpha-8B.jsonl", "Beta-GPT.jsonl", "pairs.jsonl"]
        .map(|name| program.path(name).to_string_lossy().into_owned());
    program.succeeds(&["bench", "annotate", "import", &a, &b, "--output", &out]);
    fs_err::write(program.path("people.txt"), "# two\nAda\n\nBen\n").expect("written");
}

/// Puts `Alpha-8B.jsonl`, `Beta-GPT.jsonl`, `pairs.jsonl` and `study.db`, in which one comparison is submitted, into the home.
pub(crate) fn write_study(program: &Program) {
    write_comparisons(program);
    let serving = Serving::new(program);
    let scores = [("a", 5), ("b", 2)].map(|(side, score)| {
        ["organization", "coverage", "relevance", "usefulness"]
            .map(|aspect| format!("{side}_{aspect}={score}"))
            .join("&")
    });
    submit(&serving, 0, 1, &format!("better=a&{}", scores.join("&")));
    serving.ends();
}

/// Submits the form with these fields as the annotator at `who` of the announced list, on the task at `place` of theirs.
fn submit(serving: &Serving, who: usize, place: usize, fields: &str) {
    let url = serving.announced["annotators"][who]["url"].as_str().expect("theirs").to_owned();
    let (address, path) =
        url.trim_start_matches("http://").split_once('/').expect("an address and a path");
    let form = format!("page=one&seq=1&base=0&action=submit&{fields}");
    let mut stream = std::net::TcpStream::connect(address).expect("it listens");
    let head = format!(
        "POST /{path}/{place} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\
         content-type: application/x-www-form-urlencoded\r\ncontent-length: {}\r\n\r\n{form}",
        form.len()
    );
    stream.write_all(head.as_bytes()).expect("taken");
    let mut reply = String::new();
    stream.read_to_string(&mut reply).expect("a reply");
    assert!(reply.starts_with("HTTP/1.1 303"), "{reply}");
}

/// A study being served; ended when the test is over.
struct Serving {
    child: Child,
    announced: Value,
}

impl Drop for Serving {
    fn drop(&mut self) {
        // It may have ended already.
        let _ended = self.child.kill();
        let _reaped = self.child.wait();
    }
}

impl Serving {
    fn start(program: &Program, more: &[&str]) -> Self {
        let db = program.path("study.db").to_string_lossy().into_owned();
        let args = [
            &["--json", "bench", "annotate", "serve", "--db", &db, "--address", "127.0.0.1:0"],
            more,
        ]
        .concat();
        let mut child = program.start(&args);
        let mut stdout = BufReader::new(child.stdout.take().expect("piped"));
        let mut said = String::new();
        let announced = loop {
            let n = stdout.read_line(&mut said).expect("readable");
            if n == 0 {
                let mut stderr = String::new();
                let read = child.stderr.take().map(|mut from| from.read_to_string(&mut stderr));
                panic!("it ended: {said}{stderr}{read:?}");
            }
            if let Ok(value) = serde_json::from_str(&said) {
                break value;
            }
        };
        Self { child, announced }
    }

    fn new(program: &Program) -> Self {
        let [pairs, people] = ["pairs.jsonl", "people.txt"]
            .map(|name| program.path(name).to_string_lossy().into_owned());
        Self::start(program, &["--instances", &pairs, "--annotators", &people, "--seed", "2"])
    }

    fn ends(mut self) {
        signal(&self.child, "TERM");
        assert_eq!(self.child.wait().expect("ends").code(), Some(0));
    }
}

#[test]
fn addresses_stay_and_more_people_and_questions_can_join() {
    let program = with_comparisons();
    let first = Serving::new(&program);
    let before = first.announced.clone();
    // A second process serves the same study at the same time.
    let second = Serving::start(&program, &["--annotators", "2"]);
    let after = &second.announced["annotators"];
    let names: Vec<&str> =
        after.as_array().expect("a list").iter().filter_map(|one| one["name"].as_str()).collect();
    assert_eq!(names, ["Ada", "Ben", "annotator-1", "annotator-2"]);
    let secret =
        |url: &Value| url.as_str().and_then(|url| url.rsplit('/').next().map(str::to_owned));
    assert_eq!(secret(&before["annotators"][0]["url"]), secret(&after[0]["url"]));
    let secrets: std::collections::BTreeSet<_> =
        after.as_array().expect("a list").iter().map(|one| secret(&one["url"])).collect();
    assert_eq!(secrets.len(), 4);
    let address = first.announced["address"].as_str().expect("there").trim_start_matches("http://");
    let token = secret(&after[2]["url"]).expect("a token");
    let page = get(address.parse().expect("an address"), &format!("/a/{token}/1"));
    assert_eq!(page.status, 200, "the first process knows whom the second one added");
    first.ends();
    second.ends();
}

#[test]
fn what_cannot_be_compared_is_said_with_file_and_line() {
    let program = with_comparisons();
    let path = |name: &str| program.path(name).to_string_lossy().into_owned();
    let (a, pairs, db) = (path("Alpha-8B.jsonl"), path("pairs.jsonl"), path("study.db"));
    let annotate = |args: &[&str], says: &[&str]| {
        program.fails(1, &[&["bench", "annotate"], args].concat(), says);
    };
    annotate(&["import", &a, &a], &["both systems are called", "--names"]);
    annotate(&["import", &a, &path("none.jsonl")], &["none.jsonl"]);
    fs_err::write(program.path("bad.jsonl"), format!("{}{{\"id\": 1}}\n", predictions(0)))
        .expect("written");
    annotate(
        &["import", &a, &path("bad.jsonl")],
        &["bad.jsonl, line 4", "output", "docs/annotation.md"],
    );
    annotate(&["import", &path("")], &["is one system", "name the predictions of two"]);
    fs_err::write(program.path("other.jsonl"), "{\"input\": \"Else?\", \"output\": \"x\"}\n")
        .expect("written");
    annotate(
        &["import", &a, &path("other.jsonl")],
        &["nothing to compare", "3 questions of Alpha-8B are not in other"],
    );
    annotate(&["serve", "--db", &db], &["there is no study", "--instances"]);
    annotate(
        &["serve", "--db", &db, "--instances", &a, "--annotators", "2"],
        &["Alpha-8B.jsonl, line 1"],
    );
    annotate(&["serve", "--db", &db, "--instances", &pairs, "--annotators", "0"], &["1 to 1000"]);
    annotate(
        &[
            "serve",
            "--db",
            &a,
            "--instances",
            &pairs,
            "--annotators",
            "2",
            "--address",
            "127.0.0.1:0",
        ],
        &["not a database"],
    );
    annotate(
        &[
            "serve",
            "--db",
            &path("no/study.db"),
            "--instances",
            &pairs,
            "--annotators",
            "2",
            "--address",
            "127.0.0.1:0",
        ],
        &["no/study.db", "--db"],
    );
    fs_err::write(program.path("people.txt"), "Ada\nAda\n").expect("written");
    annotate(
        &["serve", "--db", &db, "--instances", &pairs, "--annotators", &path("people.txt")],
        &["\"Ada\" twice"],
    );
    annotate(&["export", "--db", &db], &["there is no such file"]);
    annotate(&["summary", &a], &["Alpha-8B.jsonl, line 1"]);
    assert!(!program.path("study.db").exists(), "nothing was made");
    // A full disk: the file may grow by sixteen blocks only.
    let args = [
        "bench",
        "annotate",
        "serve",
        "--db",
        &db,
        "--instances",
        &pairs,
        "--annotators",
        "2",
        "--address",
        "127.0.0.1:0",
    ];
    let (code, _, stderr) = text(&program.run_with_small_files(16, &args));
    assert_eq!(code, 1, "{stderr}");
    assert!(stderr.contains("study.db") && stderr.contains("free some space"), "{stderr}");
}

#[test]
fn experts_answers_as_upstream_writes_them_are_compared() {
    let program = with_comparisons();
    let path = |name: &str| program.path(name).to_string_lossy().into_owned();
    let row = r#"{"input": "What is known about topic 1?", "output": "By hand [0].", "annotator": "Ada",
        "ctxs": [{"title": "Paper zero", "text": NaN}]}"#;
    fs_err::write(program.path("human.json"), format!("[{row}]")).expect("written");
    let (a, human, out) = (path("Alpha-8B.jsonl"), path("human.json"), path("human.jsonl"));
    program.succeeds(&["bench", "annotate", "import", &a, &human, "--output", &out]);
    let instance: Value =
        serde_json::from_str(fs_err::read_to_string(&out).expect("there").trim()).expect("JSON");
    assert_eq!(instance["authors"], json!(["Ada"]));
    assert_eq!(instance["answers"][1]["text"], "By hand [1].");
}

/// Names of the items that both parts of a report are asked about.
const BOTH: [&str; 9] = [
    "focus_strengths",
    "focus_weaknesses",
    "focus_suggestions",
    "refine",
    "literature",
    "citations_own",
    "citations_other",
    "useful",
    "again",
];

#[test]
fn reports_on_ideas_are_rated_exported_and_summed_up() {
    let program = Program::new();
    let put = |name: &str, text: &str| {
        let path = program.path(name);
        fs_err::create_dir_all(path.parent().expect("in the home")).expect("made");
        fs_err::write(path, text).expect("written");
    };
    let rubric = json!({"statement": "A point that is made.", "type": "weakness", "axis": "soundness", "severity": "major"});
    for id in ["ai_1", "ai_2"] {
        put(&format!("ideas/{id}/{id}.txt"), &format!("# Research Plan: {id}\n\nWe will."));
        put(&format!("ideas/{id}/{id}.jsonl"), &rubric.to_string());
        put(&format!("ideas/{id}/cutoff.txt"), "2024-09-24");
        put(&format!("first/{id}.md"), "A report.");
        put(&format!("second/{id}.md"), "Another report, as Alpha-8B writes.");
    }
    put("people.txt", "Ada\nBen\nCem\n");
    let at = |name: &str| program.path(name).to_string_lossy().into_owned();
    let (ideas, a, b, pairs) = (at("ideas"), at("first"), at("second"), at("pairs.jsonl"));
    let names = NAMES.join(",");
    let import = [
        "bench",
        "annotate",
        "import",
        "--reviews",
        &ideas,
        &a,
        &b,
        "--names",
        &names,
        "-o",
        &pairs,
    ];
    let (code, _, stderr) = text(&program.run(&import));
    assert_eq!(code, 0, "{stderr}");
    assert!(
        stderr.contains("reports that name one of the systems") && stderr.contains("ai_1, ai_2"),
        "{stderr}"
    );

    let serving = Serving::new(&program);
    for who in 0..3 {
        for place in 1..=2 {
            let both = ["soundness", "contribution"].map(|part| {
                BOTH.map(|item| format!("{part}_{item}={}", 3 + who + place)).join("&")
            });
            let own = "soundness_faithful_methods=2&contribution_faithful_dimensions=3&contribution_focus_criteria=4&guess=general";
            submit(&serving, who, place, &format!("{}&{own}", both.join("&")));
        }
    }
    serving.ends();
    let db = at("study.db");
    let exported = program.succeeds(&["bench", "annotate", "export", "--db", &db]);
    let records: Vec<Value> =
        exported.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(records.len(), 6);
    assert!(
        records.iter().all(|one| one["scores"].as_array().is_some_and(|list| list.len() == 21))
    );
    for name in NAMES {
        assert_eq!(
            records.iter().filter(|one| one["system"] == name).count(),
            3,
            "one of each a person"
        );
    }
    program.fails(
        1,
        &["bench", "annotate", "export", "--db", &db, "--format", "csv"],
        &["JSON lines only"],
    );
    let summary =
        program.json(0, &["bench", "annotate", "summary", "--db", &db, "--system", NAMES[1]]);
    assert_eq!((&summary["system"], &summary["evaluations"]), (&NAMES[1].into(), &6.into()));
    let dimensions = summary["dimensions"].as_array().expect("a list");
    let useful = dimensions.iter().find(|one| one["dimension"] == "Useful");
    assert!(useful.expect("it was asked")["effect"]["estimate"].is_f64(), "{summary:#}");
    put("rated.jsonl", &exported);
    let again = program
        .json(0, &["bench", "annotate", "summary", &at("rated.jsonl"), "--system", NAMES[1]]);
    assert_eq!(again, summary);
}
