use std::sync::Arc;

use scholar_testing::{Reply, ScriptedGenerator};

use super::*;
use crate::metrics::rubric::{Unread, item_weights, score};

fn config(evidence: &[&str]) -> RubricConfig {
    let (must, nice) = item_weights(1, 1);
    let item = |name: &str, weight: f64, evidence: &[&str]| RubricItem {
        name: name.to_owned(),
        criterion: format!("criterion of {name}"),
        weight,
        evidence: evidence.iter().map(|text| (*text).to_owned()).collect(),
    };
    RubricConfig {
        question: "Why?".to_owned(),
        low_length: 300,
        high_length: 600,
        length_weight: 0.05,
        expertise_weight: 0.05,
        citations_weight: 0.2,
        excerpts_weight: 0.1,
        other_properties: vec![item("must", must, evidence), item("nice", nice, &["x"])],
    }
}

#[tokio::test]
async fn all_components_are_asked_and_weighed() {
    let claims = r#"{"claims": [{"claim": "a", "citations": [{"citation": "[1]", "excerpts": []}]},
        {"claim": "b", "citations": []}]}"#;
    let generator = Arc::new(
        ScriptedGenerator::new("big")
            .reply("rubric_property", Reply::from("{\"score\": 8}"))
            .reply("rubric_claims", Reply::from(claims))
            .reply("rubric_property", Reply::from("Here: {\"score\": 9}."))
            .reply("rubric_evidence", Reply::from("{\"present\": 1}"))
            .reply("rubric_property", Reply::from("{\"score\": 0}")),
    );
    let judge = ModelJudge::new(generator.clone());
    let config = config(&["s1", "s2"]);
    let found = judge.rubric(&config, "An answer.", Parts::ALL).await.expect("the model runs");
    assert_eq!(found.expertise, Judged::Read(0.8));
    assert_eq!(
        (found.citations.clone(), found.excerpts.clone()),
        (Judged::Read(0.5), Judged::Read(0.0))
    );
    assert_eq!(found.items[0].evidence, Some(Judged::Read(0.5)));
    // The second item's criterion is not met at all, so that its snippets are not asked about.
    assert_eq!(found.items[1].evidence, Some(Judged::Read(0.0)));
    assert_eq!(generator.unused(), []);
    let snippets = &generator.requests()[3].messages[1].content;
    assert!(snippets.contains("1. s1\n2. s2"), "{snippets}");

    let weighed = score(&config, &found, Unread::Reweigh);
    let expected = 0.05 + 0.05 * 0.8 + 0.2 * 0.5 + 0.4 * 0.5 * (0.9 + 0.5);
    assert!(weighed.score.is_some_and(|score| (score - expected).abs() < 1e-9), "{weighed:?}");
    let pin = judge.rubric_pin();
    assert_eq!(pin.name, "big");
    assert!(pin.prompts[0].starts_with("judge/rubric_property@"));
}

#[tokio::test]
async fn an_unreadable_component_is_a_third_state() {
    let generator = ScriptedGenerator::new("small")
        .reply("rubric_property", Reply::from("eight"))
        .reply("rubric_claims", Reply::from("{\"claims\": [{\"claim\": \"a\"}]}"))
        .reply("rubric_property", Reply::from("{\"score\": 40}"))
        .reply("rubric_property", Reply::from("{\"score\": 5}"))
        .reply("rubric_evidence", Reply::from("{\"present\": 9}"));
    let judge = ModelJudge::new(Arc::new(generator));
    let found = judge.rubric(&config(&[]), "An answer.", Parts::ALL).await.expect("the model runs");
    assert_eq!(found.expertise, Judged::Unreadable("eight".to_owned()));
    assert!(matches!(found.citations, Judged::Unreadable(_)));
    assert!(matches!(found.items[0].criterion, Some(Judged::Unreadable(_))));
    assert_eq!(found.items[0].evidence, None);
    assert_eq!(found.items[1].evidence, Some(Judged::Read(1.0)));
}

#[test]
fn a_list_of_claims_is_as_long_as_its_response_allows() {
    assert_eq!(claim_tokens("Ten words make a list of at most three hundred tokens."), 322);
    assert_eq!(claim_tokens(&"word ".repeat(5_000)), CLAIM_TOKENS);
}

#[test]
fn json_is_found_in_prose_and_completed_once() {
    let parse = json_object;
    assert_eq!(parse("x {\"a\": 1} y").map(|json| json["a"].clone()), Some(json!(1)));
    let cut = "{\"claims\": [{\"claim\": \"a\", \"citations\": []}, ";
    assert_eq!(
        parse(cut).as_ref().map(|json| json["claims"].clone()),
        Some(json!([{"claim": "a", "citations": []}]))
    );
    for broken in ["", "}{", "{", "no", "{\"a\": }"] {
        assert_eq!(parse(broken), None, "{broken}");
    }
}

#[test]
fn headers_of_prompts_name_their_variables() {
    use crate::judge::{grading, preference};
    let prompts =
        [PROPERTY, EVIDENCE, CLAIMS, grading::GRADE, grading::GRADE_ALONE, preference::PREFERENCE];
    let problems: Vec<String> = prompts.iter().filter_map(Prompt::problem).collect();
    assert!(problems.is_empty(), "{problems:#?}");
}
