//! Budgets: estimated before, enforced during, reported after; the best text so far is kept.

use serde_json::Value;

use crate::generative::{ask, assert_answer};
use crate::model::Model;
use crate::program::{Program, text};

fn priced(program: &Program) {
    let path = program.path(".config/openscholar/prices.toml");
    let prices =
        "[[model]]\nmatch = \"scripted\"\ninput = 1000.0\noutput = 2000.0\nas_of = \"2025-01\"\n";
    fs_err::write(path, prices).expect("written");
}

fn budget_notices(document: &Value) -> Vec<&str> {
    let notices = document["notices"].as_array().expect("a list").iter();
    let budget = notices.filter(|notice| notice["kind"] == "budget");
    budget.filter_map(|notice| notice["message"].as_str()).collect()
}

#[test]
fn calls_are_limited_and_the_draft_is_kept() {
    let program = Program::with_papers();
    let model = Model::honest();
    let url = model.base_url();
    let document = program.json(0, &[&ask(&url)[..], &["--max-calls", "2"]].concat());
    assert_answer(&document);
    assert_eq!(model.purposes(), ["keywords", "draft"]);
    assert_eq!(document["usage"]["calls"], 2);
    assert!(budget_notices(&document).iter().any(|m| m.contains("2 model calls")), "{document:#}");
    assert!(!document["sentences"].as_array().expect("a list").is_empty());
    assert_eq!(program.json(0, &["runs", "replay", "last"])["identical"], true);
}

#[test]
fn tokens_are_limited_and_counted() {
    let program = Program::with_papers();
    let model = Model::honest();
    let url = model.base_url();
    let document = program.json(0, &[&ask(&url)[..], &["--max-tokens", "2500"]].concat());
    let usage = &document["usage"];
    let used = usage["prompt_tokens"].as_u64().expect("n")
        + usage["completion_tokens"].as_u64().expect("n");
    assert!(used > 0 && used <= 2500, "{usage}");
    let written = model.purposes().into_iter().filter(|purpose| *purpose != "judge").count();
    assert!(written < 6, "{:?}", model.purposes());
    assert!(!budget_notices(&document).is_empty(), "{document:#}");
    assert_eq!(program.json(0, &["runs", "replay", "last"])["identical"], true);
}

#[test]
fn money_is_estimated_before_limited_during_and_reported_after() {
    let program = Program::with_papers();
    let model = Model::honest();
    let url = model.base_url();
    program.fails(
        1,
        &[&ask(&url)[..], &["--max-cost", "1"]].concat(),
        &["--max-cost cannot be enforced: the price of the model is unknown", "prices.toml"],
    );
    assert!(model.purposes().is_empty(), "nothing was spent");
    priced(&program);
    let args = [&["--json"], &ask(&url)[..], &["--max-cost", "1.5"]].concat();
    let (code, stdout, stderr) = text(&program.run(&args));
    assert_eq!(code, 0, "{stderr}");
    assert!(stderr.contains("expected:") && stderr.contains("about $"), "{stderr}");
    let document: Value = serde_json::from_str(&stdout).expect("JSON");
    let cost = document["usage"]["cost_usd"].as_f64().expect("a known price");
    assert!(cost > 0.0 && cost <= 1.5, "{cost}");
    assert!(!budget_notices(&document).is_empty(), "{document:#}");
}

#[test]
fn a_budget_for_nothing_leaves_the_evidence() {
    let program = Program::with_papers();
    let model = Model::honest();
    let url = model.base_url();
    let document = program.json(4, &[&ask(&url)[..], &["--max-calls", "0"]].concat());
    assert_eq!(document["abstained"], true);
    assert!(model.purposes().is_empty());
    for flag in ["--max-cost", "--max-tokens", "--max-calls", "--max-seconds"] {
        let args = [&ask(&url)[..], &[flag, "-1"]].concat();
        let (code, _, stderr) = text(&program.run(&args));
        assert!(code == 1 || code == 2, "{flag}: {code}\n{stderr}");
    }
    program.fails(1, &[&ask(&url)[..], &["--max-cost", "NaN"]].concat(), &["--max-cost must be"]);
}
