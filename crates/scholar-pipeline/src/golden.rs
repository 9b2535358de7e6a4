//! The upstream options against golden vectors; `tests/golden/upstream_semantics.py` made them.

use scholar_core::text::markers::between_markers;
use serde_json::Value;

use crate::config::{CapRule, DedupRule, FeedbackParser};
use crate::modes::generative::parse_feedback;
use crate::retrieve::pool::{cap, dedup};
use crate::retrieve::testing::{ranked, retrieved};

fn golden(name: &str) -> Vec<Value> {
    let all: Value = serde_json::from_str(include_str!("../tests/golden/upstream_semantics.json"))
        .expect("json");
    all[name].as_array().expect("a list").clone()
}

fn text(value: &Value) -> &str {
    value.as_str().expect("text")
}

/// The reference code reads one item a line, the last with its line break.
#[test]
fn feedback_items() {
    for case in golden("feedback") {
        let items = parse_feedback(text(&case[0]), FeedbackParser::Upstream);
        let ours: Vec<Value> = items
            .into_iter()
            .map(|(feedback, question)| serde_json::json!([feedback, question.unwrap_or_default()]))
            .collect();
        assert_eq!(Value::Array(ours), case[1], "{}", case[0]);
    }
}

/// The reference code takes what stands between the response markers.
#[test]
fn response_markers() {
    for case in golden("marked") {
        assert_eq!(between_markers(text(&case[0])).text, text(&case[1]).trim(), "{}", case[0]);
    }
}

/// The reference code counts passages by title.
#[test]
fn passages_per_paper() {
    for case in golden("cap") {
        let passages = text(&case[0]).chars().enumerate();
        let list = passages.map(|(nth, title)| ranked(&nth.to_string(), &title.to_string()));
        let most = usize::try_from(case[1].as_u64().expect("a number")).expect("small");
        let kept = cap(list.collect(), most, CapRule::Upstream);
        let places: Vec<u64> =
            kept.iter().map(|r| r.retrieved.passage.text.parse().expect("a place")).collect();
        assert_eq!(serde_json::json!(places), case[2], "{}", case[0]);
    }
}

/// The reference code compares the first 100 characters and the title.
#[test]
fn duplicates() {
    for case in golden("dedup") {
        let contexts = case[0].as_array().expect("a list").iter();
        let list = contexts.map(|c| retrieved(text(&c[0]), text(&c[1]), text(&c[2]))).collect();
        let kept = dedup(vec![list], DedupRule::Upstream);
        let ids: Vec<String> = kept
            .iter()
            .map(|c| c.paper.id.to_string().trim_start_matches("local:").to_owned())
            .collect();
        assert_eq!(serde_json::json!(ids), case[1]);
    }
}
