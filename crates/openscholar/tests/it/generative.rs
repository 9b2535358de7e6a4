//! The whole loop against a server, and servers that are dead, broken or lying.

use std::collections::BTreeSet;
use std::time::Duration;

use scholar_testing::Behaviour;
use serde_json::Value;

use crate::model::{DRAFT, LOOP, Model, dead_address};
use crate::program::{Program, QUESTION, text};

/// Arguments of a small generative run in the published form.
pub(crate) fn ask(base_url: &str) -> Vec<&str> {
    vec![
        "ask",
        QUESTION,
        "--mode",
        "generative",
        "--preset",
        "paper",
        "--base-url",
        base_url,
        "--top-n",
        "2",
        "--top-k",
        "20",
    ]
}

fn keys(value: &Value) -> BTreeSet<&str> {
    value.as_object().expect("an object").keys().map(String::as_str).collect()
}

/// Checks that `value` is an object with all of `required`, and nothing but these and `optional`.
fn shape(value: &Value, required: &[&str], optional: &[&str]) {
    let found = keys(value);
    let required: BTreeSet<&str> = required.iter().copied().collect();
    assert!(required.is_subset(&found), "{required:?} of {value}");
    let known: BTreeSet<&str> = required.iter().chain(optional).copied().collect();
    assert!(found.is_subset(&known), "{found:?} beyond {known:?}");
}

fn list<'a>(value: &'a Value, key: &str) -> &'a Vec<Value> {
    value[key].as_array().unwrap_or_else(|| panic!("{key} of {value} is a list"))
}

/// The document is an `openscholar.answer/1` whose parts agree with one another.
pub(crate) fn assert_answer(document: &Value) {
    let fields = [
        "schema",
        "question",
        "mode",
        "abstained",
        "sentences",
        "references",
        "notices",
        "usage",
        "timings_ms",
        "run",
    ];
    shape(document, &fields, &["sections", "table"]);
    assert_eq!(document["schema"], "openscholar.answer/1");
    assert_eq!(document["question"], QUESTION);
    let modes = ["generative", "evidence", "single_pass", "no_retrieval"];
    assert!(modes.contains(&document["mode"].as_str().expect("a mode")));
    assert!(document["abstained"].is_boolean());
    let references = list(document, "references");
    for (at, reference) in references.iter().enumerate() {
        let fields = ["number", "paper_id", "title", "authors", "year", "venue", "url", "doi"];
        shape(reference, &fields, &["found_by"]);
        assert_eq!(reference["number"], at + 1, "numbered in order");
    }
    for sentence in list(document, "sentences") {
        let required = ["text", "paragraph_start", "citations", "quotes", "gates", "verbatim"];
        shape(sentence, &required, &["heading", "support", "role", "follows"]);
        assert!(!sentence["text"].as_str().expect("text").contains("[999]"));
        for citation in list(sentence, "citations") {
            let number = citation.as_u64().expect("a number");
            assert!((1..=references.len() as u64).contains(&number), "{sentence}");
        }
        if let Some(support) = sentence.get("support") {
            shape(support, &["verdict", "score", "judge"], &[]);
        }
        for quote in list(sentence, "quotes") {
            shape(quote, &["reference", "passage_id", "start", "end", "text"], &["places"]);
            let chars = quote["text"].as_str().expect("text").chars().count() as u64;
            let length =
                quote["end"].as_u64().expect("end") - quote["start"].as_u64().expect("start");
            assert_eq!(length, chars, "{quote}");
        }
        for gate in list(sentence, "gates") {
            assert!(["L0", "L1", "L2"].contains(&gate.as_str().expect("a gate")));
        }
    }
    for notice in list(document, "notices") {
        shape(notice, &["kind", "message"], &["hint"]);
    }
    shape(
        &document["usage"],
        &["model", "calls", "prompt_tokens", "completion_tokens", "cost_usd"],
        &[],
    );
    shape(&document["timings_ms"], &["open", "first_evidence", "first_sentence", "total"], &[]);
}

fn notices(document: &Value) -> String {
    let notices = list(document, "notices").iter();
    notices.map(|notice| format!("{} {}\n", notice["kind"], notice["message"])).collect()
}

fn cited(document: &Value) -> usize {
    let sentences = list(document, "sentences").iter();
    sentences.filter(|sentence| !list(sentence, "citations").is_empty()).count()
}

#[test]
fn the_whole_loop_through_the_program() {
    let program = Program::with_papers();
    let model = Model::honest();
    let document = program.json(0, &ask(&model.base_url()));
    assert_answer(&document);
    assert_eq!(document["mode"], "generative");
    assert_eq!(model.purposes()[..3], LOOP[..3], "{:?}", model.purposes());
    assert!(model.purposes().contains(&"edit_with_retrieval"), "{:?}", model.purposes());
    assert_eq!(document["usage"]["calls"], model.purposes().len());
    assert_eq!(document["usage"]["model"], "scripted");
    assert!(document["usage"]["prompt_tokens"].as_u64() > Some(100));
    assert!(cited(&document) >= 3, "{document:#}");
    let titles: Vec<&str> =
        list(&document, "references").iter().filter_map(|r| r["title"].as_str()).collect();
    assert!(
        titles.iter().any(|title| title.contains("Chart")),
        "retrieved in a revision: {titles:?}"
    );
    assert!(model.bodies().iter().all(|body| body["model"] == "scripted"));

    let run = document["run"].as_str().expect("a run");
    let record = program.run_json(run, "run.json");
    assert_eq!(
        (&record["schema"], &record["status"]),
        (&"openscholar.run/1".into(), &"done".into())
    );
    assert_eq!(record["question"], QUESTION);
    assert_eq!(record["wiring"]["base_url"], model.base_url());
    assert_eq!(program.run_json(run, "answer.json"), document);
    assert_eq!(program.run_json(run, "proof.json")["schema"], "openscholar.proof/2");
    for file in ["journal.jsonl", "events.jsonl"] {
        let path = program.data("runs").join(run).join(file);
        let text = fs_err::read_to_string(path).expect("there");
        for line in text.lines() {
            serde_json::from_str::<Value>(line).expect("each line is JSON");
        }
    }
    let calls = model.purposes().len();
    let replayed = program.json(0, &["runs", "replay", run]);
    assert_eq!(replayed["identical"], true);
    assert_eq!(model.purposes().len(), calls, "a replay calls nobody");
    program.succeeds(&["runs", "verify", run]);
}

#[test]
fn events_can_be_streamed() {
    let program = Program::with_papers();
    let model = Model::honest();
    let url = model.base_url();
    let printed = program.succeeds(&[&ask(&url)[..], &["--stream"]].concat());
    let lines: Vec<Value> =
        printed.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_answer(lines.last().expect("the answer comes last"));
    let has = |event: &str| lines.iter().any(|line| line["event"] == event);
    for event in ["started", "ranked", "text", "drafted", "feedback", "revised", "finished"] {
        assert!(has(event), "{event} in {printed}");
    }
}

#[test]
fn a_dead_server_is_unavailable_and_the_run_can_go_on_elsewhere() {
    let program = Program::with_papers();
    let dead = dead_address();
    program.fails(
        3,
        &ask(&dead),
        &["no language model server answers at", &dead, "--base-url", "hint:"],
    );
    assert_eq!(program.run_json(&program.runs()[0], "run.json")["status"], "failed");
    let model = Model::honest();
    let resumed = program.json(0, &["ask", "--resume", "last", "--base-url", &model.base_url()]);
    assert_answer(&resumed);
    assert_eq!(model.purposes()[0], "keywords", "a call that failed is tried again");
}

#[test]
fn passing_troubles_are_tried_again() {
    let program = Program::with_papers();
    let expected = program.json(0, &ask(&Model::honest().base_url()));
    for trouble in [
        Behaviour::ServerError,
        Behaviour::RateLimited(Some("0".to_owned())),
        Behaviour::RateLimited(None),
        Behaviour::TruncatedStream("Exposure bias is".to_owned()),
        Behaviour::BrokenStream("Exposure bias is".to_owned()),
        Behaviour::ErrorInStream("Exposure bias is".to_owned()),
    ] {
        let behaviour = trouble.clone();
        let model = Model::with(move |purpose, before| {
            (purpose == "draft" && before < 2).then(|| behaviour.clone())
        });
        let document = program.json(0, &ask(&model.base_url()));
        let drafts = model.purposes().iter().filter(|purpose| **purpose == "draft").count();
        assert_eq!(drafts, 3, "{trouble:?}");
        assert_eq!(document["sentences"], expected["sentences"], "{trouble:?}");
    }
}

#[test]
fn lasting_troubles_are_errors_with_the_address_and_a_next_step() {
    let other = Behaviour::OtherModel { text: DRAFT.to_owned(), model: "other-7b".to_owned() };
    let cases: Vec<(Behaviour, i32, &[&str])> = vec![
        (Behaviour::ServerError, 3, &["500", "out of order"]),
        (Behaviour::RateLimited(Some("86400".to_owned())), 3, &["limits the rate"]),
        (Behaviour::WrongJson, 1, &["not"]),
        (Behaviour::TruncatedStream("Exposure bias is".to_owned()), 3, &["without an end mark"]),
        (Behaviour::ToolCall, 1, &["tool"]),
        (other, 1, &["other-7b", "scripted"]),
        (Behaviour::Status(401, "{}".to_owned()), 1, &["OPENAI_API_KEY"]),
        (Behaviour::Status(404, "{}".to_owned()), 1, &["--base-url"]),
        (Behaviour::Empty, 1, &["without any text"]),
        (Behaviour::Huge(3 << 20), 1, &["more than"]),
    ];
    for (behaviour, code, says) in cases {
        let program = Program::with_papers();
        let shown = format!("{behaviour:?}").chars().take(60).collect::<String>();
        let model = Model::with(move |purpose, _| (purpose == "draft").then(|| behaviour.clone()));
        let url = model.base_url();
        let stderr = program.fails(code, &ask(&url), says);
        assert!(stderr.contains(&url) && stderr.contains("hint:"), "{shown}\n{stderr}");
        assert!(stderr.contains("for the draft"), "{shown}\n{stderr}");
        let record = program.run_json(&program.runs()[0], "run.json");
        assert_eq!(record["status"], "failed", "{shown}");
    }
}

#[test]
fn an_error_is_json_when_json_was_asked_for() {
    let program = Program::with_papers();
    let model = Model::with(|purpose, _| (purpose == "draft").then_some(Behaviour::WrongJson));
    let error = program.json(1, &ask(&model.base_url()));
    shape(&error, &["schema", "error", "exit_code", "hints"], &[]);
    assert_eq!((&error["schema"], &error["exit_code"]), (&"openscholar.error/1".into(), &1.into()));
}

#[test]
fn troubles_after_the_draft_leave_the_draft_and_say_so() {
    let program = Program::with_papers();
    let model = Model::with(|purpose, _| (purpose == "feedback").then_some(Behaviour::WrongJson));
    let document = program.json(0, &ask(&model.base_url()));
    assert_answer(&document);
    assert!(notices(&document).contains("feedback left out"), "{}", notices(&document));
    assert!(cited(&document) >= 2);
}

#[test]
fn a_citation_of_nothing_is_dropped_and_said() {
    let program = Program::with_papers();
    let model = Model::honest();
    let url = model.base_url();
    let mut args = ask(&url);
    args[3] = "single-pass";
    let document = program.json(0, &args);
    assert_answer(&document);
    assert!(notices(&document).contains("999"), "{}", notices(&document));
}

#[test]
fn what_a_server_does_not_offer_is_said_on_the_answer() {
    let program = Program::with_papers();
    let model = Model::with(|purpose, _| {
        (purpose == "draft")
            .then(|| Behaviour::RefusesField { field: "seed".to_owned(), text: DRAFT.to_owned() })
    });
    let url = model.base_url();
    let document = program.json(0, &[&ask(&url)[..], &["--seed", "7"]].concat());
    assert!(notices(&document).contains("seed"), "{}", notices(&document));
    let replayed = program.json(0, &["runs", "replay", "last"]);
    assert_eq!(replayed["identical"], true);
}

#[test]
fn a_time_limit_keeps_what_a_slow_server_wrote() {
    let program = Program::with_papers();
    // Three sentences arrive at once, and then nothing any more.
    let model = Model::with(|purpose, _| {
        (purpose == "draft").then(|| Behaviour::HangAfter(DRAFT.replace("[Response_End]", "")))
    });
    let url = model.base_url();
    let document = program.json(0, &[&ask(&url)[..], &["--max-seconds", "3"]].concat());
    assert_answer(&document);
    assert!(cited(&document) >= 1, "{document:#}");
    assert!(notices(&document).contains("3 seconds"), "{}", notices(&document));
    assert_eq!(program.json(0, &["runs", "replay", "last"])["identical"], true);

    // A drip that would take minutes.
    let slow = Model::with(|purpose, _| {
        (purpose == "draft").then(|| Behaviour::Slow(DRAFT.repeat(40), Duration::from_millis(20)))
    });
    let url = slow.base_url();
    let document = program.json(0, &[&ask(&url)[..], &["--max-seconds", "3"]].concat());
    assert!(cited(&document) >= 1, "{document:#}");
    assert_eq!(program.json(0, &["runs", "replay", "last"])["identical"], true);
}

#[test]
fn a_silent_server_cannot_outlive_the_time_limit() {
    let program = Program::with_papers();
    let model = Model::with(|purpose, _| (purpose == "draft").then_some(Behaviour::Hang));
    let url = model.base_url();
    let output = program.run(&[&["--json"], &ask(&url)[..], &["--max-seconds", "1"]].concat());
    let (code, stdout, stderr) = text(&output);
    assert_eq!(code, 4, "no evidence was put into words\n{stderr}");
    let document: Value = serde_json::from_str(&stdout).expect("JSON");
    assert!(notices(&document).contains("1 seconds"), "{}", notices(&document));
    assert_eq!(program.json(0, &["runs", "replay", "last"])["identical"], true);
}
