//! Screening through the program: decisions that are kept, resumed and overruled.

use scholar_testing::{Behaviour, ScriptedLmServer};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::program::{Program, STORE};

/// Title and criteria of a small review.
const CRITERIA: &str = "title = \"Emicizumab in humans\"\n\
    [[criterion]]\nid = \"population\"\ntext = \"The study provides data on humans\"\n\
    [[criterion]]\nid = \"review\"\ntext = \"The paper is a review article\"\nkind = \"exclude\"\n";

/// A trial, a study of mice, a review, a paper without text, and the trial once more under another name.
pub(crate) fn program() -> Program {
    let program = Program::new();
    program.configure();
    let trial = "Emicizumab prophylaxis in patients with haemophilia A";
    let papers = [
        ("pmid:1", trial, "We treated 40 patients with emicizumab for one year."),
        ("pmid:2", "Emicizumab in mice", "Mice were injected with emicizumab. Clearance was low."),
        ("pmid:3", "Emicizumab: a review", "This review discusses what patients gain."),
        ("pmid:4", "Emicizumab and its history", ""),
        ("pmid:5", trial, "Forty patients were treated."),
    ];
    let line = |(id, title, text): (&str, &str, &str)| {
        let sections = if text.is_empty() {
            json!([])
        } else {
            json!([{"heading": "Abstract", "text": text}])
        };
        let meta = json!({"id": id, "title": title, "year": 2020, "retraction": "unknown"});
        json!({"meta": meta, "sections": sections}).to_string()
    };
    let file = program.path("papers.jsonl");
    fs_err::write(&file, papers.map(line).join("\n")).expect("written");
    program.succeeds(&["datastore", "build", STORE, &file.to_string_lossy()]);
    fs_err::write(program.path("pk.toml"), CRITERIA).expect("written");
    program
}

fn screened(program: &Program, more: &[&str]) -> Value {
    let criteria = program.path("pk.toml").to_string_lossy().into_owned();
    program.json(0, &[&["papers", "screen", criteria.as_str()], more].concat())
}

fn of<'a>(screening: &'a Value, id: &str) -> &'a Value {
    let papers = screening["papers"].as_array().expect("a list");
    papers.iter().find(|row| row["paper"]["id"] == id).expect("listed")
}

fn lines(program: &Program) -> usize {
    let path = program.path("pk.screening/decisions.jsonl");
    fs_err::read_to_string(path).expect("there").lines().count()
}

#[test]
fn decisions_are_located_counted_and_made_once() {
    let program = program();
    let screening = screened(&program, &[]);
    assert_eq!(screening["schema"], "openscholar.screening/1");
    let flow = &screening["flow"];
    assert_eq!((&flow["identified"], &flow["duplicates_removed"]), (&json!(5), &json!(1)));
    assert_eq!((&flow["screened"], &flow["without_text"]), (&json!(4), &json!(1)));
    assert_eq!(screening["duplicates"][0]["of"], "pmid:1");
    let mice = of(&screening, "pmid:2");
    assert_eq!(
        (&mice["decision"], &mice["criteria"][0]["finding"]),
        (&json!("exclude"), &json!("not_met"))
    );
    assert_eq!(mice["criteria"][0]["quote"]["text"], "Mice were injected with emicizumab.");
    assert_eq!(of(&screening, "pmid:3")["decision"], "exclude");
    let unread = of(&screening, "pmid:4");
    assert_eq!((&unread["decision"], &unread["reason"]), (&json!("unclear"), &json!("no text")));
    // The quotation is where it says it is.
    let shown = program.json(0, &["papers", "show", "pmid:2"]);
    let text: Vec<char> = shown["passages"][0]["text"].as_str().expect("text").chars().collect();
    let quote = &mice["criteria"][0]["quote"];
    let at = |name: &str| usize::try_from(quote[name].as_u64().expect("a place")).expect("small");
    let spanned: String = text[at("start")..at("end")].iter().collect();
    assert_eq!(quote["text"], spanned);

    assert_eq!(lines(&program), 4);
    assert_eq!(screened(&program, &[])["flow"], *flow);
    assert_eq!(lines(&program), 4, "nothing is decided twice");
    fs_err::write(program.path("pk.toml"), CRITERIA.replace("data on humans", "data on adults"))
        .expect("written");
    let changed = screened(&program, &[]);
    assert_eq!(lines(&program), 8, "a changed criterion is");
    assert_eq!(of(&changed, "pmid:3")["criteria"][1], of(&screening, "pmid:3")["criteria"][1]);
}

#[test]
fn a_persons_decision_is_kept() {
    let program = program();
    let criteria = program.path("pk.toml").to_string_lossy().into_owned();
    screened(&program, &["--limit", "2"]);
    assert_eq!(lines(&program), 2);
    let kept = screened(&program, &["--set", "pmid:2=include", "--reason", "a bridging study"]);
    assert_eq!(kept["kept"][0]["decision"], "include");
    let screening = screened(&program, &[]);
    let mice = of(&screening, "pmid:2");
    assert_eq!((&mice["decision"], &mice["by"]), (&json!("include"), &json!("person")));
    assert_eq!(screening["flow"]["by_person"], 1);

    let table = program.path("table.csv").to_string_lossy().into_owned();
    program.succeeds(&["papers", "screen", &criteria, "--format", "csv", "--output", &table]);
    let text = fs_err::read_to_string(&table).expect("written");
    assert!(text.lines().any(|line| line.contains("pmid:2") && line.contains("a bridging study")));
    fs_err::write(
        &table,
        "id,your_decision,your_reason\npmid:3,exclude,review\npmid:2,include,a bridging study\n",
    )
    .expect("written");
    let kept = screened(&program, &["--decisions", &table]);
    assert_eq!(kept["kept"].as_array().map(Vec::len), Some(1), "{kept}");
    let screening = screened(&program, &[]);
    assert_eq!(of(&screening, "pmid:3")["by"], "person");
    assert_eq!(
        (&screening["learnt_from"], &screening["flow"]["by_person"]),
        (&json!(2), &json!(2))
    );

    program.fails(1, &["papers", "screen", &criteria, "--set", "pmid:99=include"], &["pmid:99"]);
    program.fails(2, &["papers", "screen", &criteria, "--set", "pmid:1=perhaps"], &["perhaps"]);
    let svg = program.path("flow.svg").to_string_lossy().into_owned();
    let ris =
        ["papers", "screen", &criteria, "--format", "ris", "--only", "include", "--prisma", &svg];
    let ris = program.succeeds(&ris);
    assert!(ris.contains("N1  - Screening: include (a bridging study)"), "{ris}");
    assert!(fs_err::read_to_string(&svg).expect("written").starts_with("<svg"));
}

#[test]
fn a_model_must_quote_the_paper() {
    let program = program();
    let runtime = Runtime::new().expect("threads");
    let server = runtime.block_on(ScriptedLmServer::start());
    let reply = json!({"verdicts": [
        {"criterion": "population", "verdict": "not_met", "quote": "Mice were injected with emicizumab"},
        {"criterion": "review", "verdict": "met", "quote": "This review discusses"},
    ]});
    server.always(Behaviour::Text(reply.to_string()));
    let url = server.base_url();
    let model = ["--base-url", url.as_str(), "--model", "scripted"];
    let screening = screened(&program, &model);
    assert!(
        screening["method"]
            .as_str()
            .is_some_and(|method| method.starts_with("generative/1 scripted"))
    );
    let mice = of(&screening, "pmid:2");
    assert_eq!(mice["criteria"][0]["basis"], "contrary_stated");
    assert_eq!(mice["criteria"][1]["basis"], "not_located", "words of another paper");
    let trial = of(&screening, "pmid:1");
    assert_eq!(
        (&trial["decision"], &trial["criteria"][0]["basis"]),
        (&json!("unclear"), &json!("not_located"))
    );
    assert_eq!(of(&screening, "pmid:4")["reason"], "no text");
    let calls = server.requests().len();
    assert_eq!(calls, 3, "the paper without text is not asked about");
    screened(&program, &model);
    assert_eq!(server.requests().len(), calls, "nothing is asked twice");
}

#[test]
fn criteria_with_an_unknown_key_are_refused() {
    let program = program();
    let path = program.path("wrong.toml");
    fs_err::write(&path, format!("{CRITERIA}weight = 3\n")).expect("written");
    let path = path.to_string_lossy().into_owned();
    let said = program.fails(1, &["papers", "screen", &path], &["weight", "hint:"]);
    assert!(said.contains("line 9"), "{said}");
}
