use std::sync::Arc;

use scholar_core::PortErrorKind;
use scholar_review::{ItemState, Module, ReviewConfig, ReviewError, ReviewModule};
use scholar_testing::{MemoryGraph, MemoryRetriever, Reply};
use serde_json::json;

use crate::stage::{
    config, model, model_that, papers, passages, ports_over, review, review_of, text,
};
use crate::writing::check;

#[expect(clippy::unnecessary_wraps, reason = "it stands beside arms that have no reply")]
fn down() -> Option<Reply> {
    Some(Reply::Fails(PortErrorKind::Transient, "504 from the server".to_owned()))
}

#[tokio::test]
async fn one_module_failing_does_not_hide_the_other() {
    for (step, works, fails) in [
        ("dimensions", ReviewModule::Soundness, ReviewModule::Contribution),
        ("methods", ReviewModule::Contribution, ReviewModule::Soundness),
    ] {
        let model = model_that(move |purpose, _| (purpose == step).then(down).flatten());
        let value = review(model, &config()).await.value;
        check(&value);
        let failed = |module| match module {
            ReviewModule::Soundness => matches!(value.soundness, Some(Module::Failed(_))),
            ReviewModule::Contribution => matches!(value.contribution, Some(Module::Failed(_))),
            ReviewModule::Appraisal => matches!(value.appraisal, Some(Module::Failed(_))),
        };
        assert!(failed(fails) && !failed(works), "{step}");
        assert!(value.statements().any(|one| one.sentence.role.is_some()));
    }
    let all = model_that(|_, _| down());
    let ports = ports_over(&papers(), Arc::new(all));
    let error = review_of(&ports, &config()).await.expect_err("nothing to show");
    assert!(
        matches!(&error, ReviewError::Nothing { reasons } if reasons.contains("504")),
        "{error}"
    );
}

#[tokio::test]
async fn an_appraisal_that_fails_hides_nothing_and_is_repaired_once() {
    let model = model_that(|purpose, _| (purpose == "appraisal").then(down).flatten());
    let value = review(model, &config()).await.value;
    check(&value);
    assert!(matches!(&value.appraisal, Some(Module::Failed(why)) if why.contains("504")));
    let failure = value.failures.iter().find(|one| one.module == ReviewModule::Appraisal);
    let failure = failure.expect("listed");
    assert_eq!((failure.stage.as_str(), failure.item.as_str()), ("appraisal", "the plan"));
    assert!(value.statements().any(|one| !one.sentence.citations.is_empty()));
    let model = model_that(|purpose, prompt| match purpose {
        "appraisal" => {
            Some(Reply::from("{\"points\": [{\"weight\": \"huge\", \"matter\": \"x\"}]}"))
        }
        "repair appraisal" => {
            assert!(prompt.contains("not strength, major or minor"), "{prompt}");
            text(
                &json!({"points": [{"kind": "data", "weight": "major", "quotes": [], "matter": "No data are named."}]}),
            )
        }
        _ => None,
    });
    let value = review(model, &config()).await.value;
    let appraisal = value.appraisal.as_ref().and_then(Module::done).expect("an appraisal");
    assert_eq!((appraisal.state.clone(), appraisal.points.len()), (ItemState::Retried, 1));
}

#[tokio::test]
async fn a_reply_is_repaired_once_and_an_item_that_fails_is_listed() {
    let model = model_that(|purpose, prompt| match purpose {
        "method review M1" => Some(Reply::from("{\"support\": \"cut")),
        "repair method review M1" => {
            assert!(prompt.contains("not closed"), "the problem is quoted: {prompt}");
            text(&json!({"support": "", "suggested_action": "Take care of the details."}))
        }
        "method review M2" | "repair method review M2" => Some(Reply::from("I cannot say.")),
        "compare 1" | "repair compare 1" => Some(Reply::from(
            "{\"papers\": [{\"key\": \"E1\", \"dimensions\": {\"D1\": {\"score\": 9}}}]}",
        )),
        _ => None,
    });
    let outcome = review(model, &config()).await;
    let value = &outcome.value;
    check(value);
    let soundness = value.soundness.as_ref().and_then(Module::done).expect("soundness");
    assert_eq!(soundness.reviews[0].state, ItemState::Retried);
    assert!(
        matches!(&soundness.reviews[1].state, ItemState::Failed(why) if why.contains("no JSON"))
    );
    let stages: Vec<(&str, &str)> =
        value.failures.iter().map(|one| (one.stage.as_str(), one.item.as_str())).collect();
    assert!(stages.contains(&("method_review", "M2")), "{stages:?}");
    assert_eq!(stages.iter().filter(|(stage, _)| *stage == "comparison").count(), 2, "{stages:?}");
    let contribution = value.contribution.as_ref().and_then(Module::done).expect("contribution");
    assert_eq!(contribution.comparisons.len(), 2, "the other batch stands");
}

#[tokio::test]
async fn replies_in_lists_fences_and_python_are_read() {
    let model = model_that(|purpose, _| match purpose {
        "methods" => Some(Reply::from(
            "```python\nclean_methods = ['Detect hallucinations [1] in translation', \"The model's retrieval of passages\"]\n```",
        )),
        _ => None,
    });
    let value = review(model, &config()).await.value;
    let soundness = value.soundness.as_ref().and_then(Module::done).expect("soundness");
    let texts: Vec<&str> = soundness.reviews.iter().map(|one| one.method.text.as_str()).collect();
    assert_eq!(
        texts,
        ["Detect hallucinations [1] in translation", "The model's retrieval of passages"]
    );
}

#[tokio::test]
async fn searches_that_fail_and_a_graph_that_fails_are_told() {
    let mut ports = ports_over(&papers(), Arc::new(model()));
    let broken = MemoryGraph::new(papers()).failing(PortErrorKind::Transient, "504");
    ports.graph = Some(Arc::new(broken));
    let value = review_of(&ports, &config()).await.expect("a review").value;
    check(&value);
    assert!(value.failures.iter().any(|one| one.stage == "references"));
    let silent = MemoryRetriever::new(papers().iter().flat_map(passages))
        .failing(PortErrorKind::Unavailable, "the index is gone");
    ports.retriever = Arc::new(silent);
    let value = review_of(&ports, &config()).await.expect("a review without evidence").value;
    assert!(
        matches!(&value.contribution, Some(Module::Failed(why)) if why.contains("index is gone"))
    );
    let soundness = value.soundness.as_ref().and_then(Module::done).expect("soundness");
    assert!(soundness.reviews.iter().all(|one| matches!(one.state, ItemState::Failed(_))));
}

#[tokio::test]
async fn nothing_found_is_no_failure() {
    let ports = ports_over(&[], Arc::new(model()));
    let value = review_of(&ports, &config()).await.expect("a review").value;
    assert!(value.failures.is_empty(), "{:?}", value.failures);
    assert!(value.statements().all(|one| one.sentence.role.is_none()), "only of the plan");
    let contribution = value.contribution.as_ref().and_then(Module::done).expect("contribution");
    assert_eq!((contribution.model_novelty, contribution.comparisons.len()), (None, 0));
    let soundness = value.soundness.as_ref().and_then(Module::done).expect("soundness");
    assert!(
        soundness.reviews.iter().all(|one| one.evidence.is_empty() && one.model_score.is_none())
    );
}

#[tokio::test]
async fn steps_that_an_ablation_leaves_out_are_not_taken() {
    let mut without = config();
    without.ablation = scholar_review::Ablation { mre: true, pa: true, pc: true };
    let model = model_that(|purpose, _| {
        assert!(!purpose.starts_with("summary M") && !purpose.starts_with("compare"), "{purpose}");
        assert!(!purpose.starts_with("relevance of added"), "{purpose}");
        None
    });
    let value = review(model, &without).await.value;
    check(&value);
    assert!(value.statements().count() > 0);
    assert_eq!(ReviewConfig::paper().ablation, scholar_review::Ablation::default());
}
