use std::collections::BTreeSet;
use std::sync::Arc;

use parking_lot::Mutex;
use scholar_core::AnswerRole;
use scholar_review::{
    EvidenceOrigin, EvidenceTier, ItemState, Module, Novelty, PointKind, PointWeight, Review,
    ReviewConfig, ScoredPaper,
};
use scholar_testing::Reply;
use serde_json::json;

use crate::stage::{
    blocks, config, model, model_that, papers, ports_over, review, review_of, text,
};

/// What holds of every review: findings cite and are proven, judgements follow from findings, nothing leads out of the evidence.
pub(super) fn check(review: &Review) {
    let statements: Vec<_> = review.statements().collect();
    let evidence: BTreeSet<_> = review.papers().map(|paper| paper.id.clone()).collect();
    for reference in &review.references {
        assert!(evidence.contains(&reference.paper_id), "{}", reference.paper_id);
    }
    let appraisal = review.appraisal.as_ref().and_then(Module::done);
    let points = appraisal.iter().flat_map(|one| &one.points);
    let mut plan = BTreeSet::new();
    for point in points {
        plan.extend(point.statements().map(|one| &one.sentence.text));
        assert_eq!(point.quotes.is_empty(), point.not_stated);
        for quote in &point.quotes {
            assert_eq!(quote.span.slice(&review.idea.text), Some(quote.text.as_str()));
        }
    }
    for one in &statements {
        let sentence = &one.sentence;
        assert!(
            !sentence.text.contains("://") && !sentence.text.contains('['),
            "{}",
            sentence.text
        );
        for citation in &sentence.citations {
            assert!(review.references.iter().any(|known| known.number == *citation));
        }
        match sentence.role {
            Some(AnswerRole::Finding) => {
                assert!(!sentence.citations.is_empty() && !sentence.quotes.is_empty());
                assert!(!one.rests_on.is_empty(), "{}", sentence.text);
            }
            Some(AnswerRole::Synthesis) => {
                assert!(sentence.citations.is_empty() && !sentence.follows.is_empty());
                for at in &sentence.follows {
                    assert_eq!(statements[*at].sentence.role, Some(AnswerRole::Finding));
                }
            }
            Some(AnswerRole::Gap) => assert!(sentence.citations.is_empty()),
            None => {
                assert!(sentence.citations.is_empty() && sentence.follows.is_empty());
                assert!(plan.contains(&sentence.text), "of the plan alone: {}", sentence.text);
            }
            other => panic!("{other:?}: {}", sentence.text),
        }
    }
}

#[tokio::test]
async fn both_modules_write_proven_sentences() {
    let outcome = review(model(), &config()).await;
    let review = &outcome.value;
    check(review);
    let soundness = review.soundness.as_ref().and_then(Module::done).expect("soundness");
    assert_eq!(soundness.reviews.len(), 2);
    for one in &soundness.reviews {
        assert_eq!(one.state, ItemState::Ok);
        assert!(!one.support.is_empty() && one.contradictions.is_empty(), "{one:#?}");
        assert_eq!(one.model_score, Some(7.0));
        let days: Vec<_> = one.evidence.iter().map(|one| one.paper.latest_day()).collect();
        assert!(days.is_sorted(), "oldest first");
        let keys: Vec<&str> = one.evidence.iter().map(|one| one.key.as_str()).collect();
        assert_eq!(keys, ["E1", "E2", "E3"]);
        for evidence in &one.evidence {
            assert_eq!(evidence.tier, EvidenceTier::FullText);
            assert!(evidence.sections.contains(&"Results".to_owned()), "{:?}", evidence.sections);
        }
    }
    let summary = soundness.summary.as_ref().expect("a summary");
    assert_eq!(
        summary.strengths[0].sentence.text,
        "The detection of hallucinations rests on earlier work."
    );
    let contribution = review.contribution.as_ref().and_then(Module::done).expect("contribution");
    let [methodology, evaluation] = contribution.reviews.as_slice() else {
        panic!("two dimensions")
    };
    assert_eq!((methodology.model_novelty, evaluation.model_novelty), (Some(1.0), Some(-1.0)));
    assert_eq!(contribution.model_novelty, Some(0.0));
    assert_eq!(methodology.strengths[0].sentence.role, Some(AnswerRole::Gap));
    assert!(!methodology.weaknesses.is_empty() && !evaluation.weaknesses.is_empty());
    assert_eq!(contribution.comparisons.len(), 4);
    assert_eq!(contribution.comparisons[0].dimensions[1].novelty, Novelty::Paper);
    assert!(contribution.funnel.added > 0, "{:?}", contribution.funnel);
    let with = |one: &ScoredPaper| matches!(one.origin, EvidenceOrigin::CitedWith(_));
    assert!(contribution.papers.iter().any(with), "co-cited in the ring");
    assert!(review.failures.is_empty(), "{:?}", review.failures);
    let answer = review.to_answer();
    assert_eq!(answer.sentences.len(), review.statements().count());
    for heading in ["Method M1: support", "Methodology: strengths", "Evaluation: weaknesses"] {
        let is = |part: &scholar_core::AnswerSection| part.heading.as_deref() == Some(heading);
        assert!(answer.sections.iter().any(is), "{heading}");
    }
}

#[tokio::test]
async fn the_plan_itself_is_appraised_in_its_own_words() {
    let outcome = review(model(), &config()).await;
    let review = &outcome.value;
    check(review);
    let appraisal = review.appraisal.as_ref().and_then(Module::done).expect("an appraisal");
    let told: Vec<(&str, PointKind, PointWeight)> =
        appraisal.points.iter().map(|one| (one.id.as_str(), one.kind, one.weight)).collect();
    assert_eq!(
        told,
        [
            ("A1", PointKind::Method, PointWeight::Strength),
            ("A2", PointKind::Baseline, PointWeight::Major),
            ("A3", PointKind::Statistics, PointWeight::Major),
            ("A4", PointKind::Data, PointWeight::Minor),
        ]
    );
    assert_eq!(appraisal.dropped, 2, "a quotation that is none, and a point about papers alone");
    let [strength, baseline, statistics, data] = appraisal.points.as_slice() else { panic!() };
    assert!(strength.action.is_empty() && statistics.not_stated && !baseline.not_stated);
    let texts = |all: &[scholar_review::Statement]| -> Vec<String> {
        all.iter().map(|one| one.sentence.text.clone()).collect()
    };
    // What told of papers is gone, and what pointed at it.
    assert_eq!(texts(&baseline.matter), ["Retrieval is confounded with the longer input."]);
    assert_eq!(texts(&baseline.action)[0], "Add a control with random passages.");
    assert_eq!(data.quotes.len(), 1, "forty pairs are not in the idea");
    assert_eq!(baseline.quotes[0].text, "with and without retrieval");
    let heading = baseline.matter[0].sentence.heading.as_deref();
    assert_eq!(heading, Some("Major weaknesses of the plan"));
    assert!(review.unproven >= 3, "{}", review.unproven);
    let answer = review.to_answer();
    assert_eq!(
        answer.sections.last().and_then(|one| one.heading.as_deref()),
        Some("Minor weaknesses of the plan")
    );
    let json = serde_json::to_string(review).expect("serialises");
    assert!(
        !json.contains("evil.example") && !json.contains("length alone") && !json.contains("Smith")
    );
}

#[tokio::test]
async fn the_appraisal_is_shown_what_was_found_and_can_be_left_out() {
    let seen = Arc::new(Mutex::new(String::new()));
    let prompt_of = Arc::clone(&seen);
    let model = model_that(move |purpose, prompt| {
        if purpose == "appraisal" {
            prompt_of.lock().push_str(prompt);
        }
        None
    });
    let outcome = review(model, &config()).await;
    let prompt = seen.lock().clone();
    let finding = outcome.value.statements().find(|one| !one.sentence.citations.is_empty());
    let finding = finding.expect("a finding").sentence.text.clone();
    assert!(prompt.contains(&finding), "{prompt}");
    for reference in &outcome.value.references {
        assert!(prompt.contains(&reference.title), "{}", reference.title);
    }
    assert!(prompt.contains("at most 24 points"), "{prompt}");
    let model = model_that(|purpose, _| {
        assert!(!purpose.contains("appraisal"), "{purpose}");
        None
    });
    let without = ReviewConfig { appraisal_points: 0, ..config() };
    let outcome = review(model, &without).await;
    check(&outcome.value);
    assert_eq!(outcome.value.appraisal, None);
    for preset in [ReviewConfig::paper(), ReviewConfig::upstream()] {
        assert_eq!(preset.appraisal_points, 0, "as the source");
    }
    let few = ReviewConfig { appraisal_points: 2, ..config() };
    let outcome = review(crate::stage::model(), &few).await;
    let appraisal = outcome.value.appraisal.as_ref().and_then(Module::done).expect("one");
    assert_eq!(appraisal.points.len(), 2);
}

#[tokio::test]
async fn links_and_keys_of_the_model_lead_nowhere() {
    let model = model_that(|purpose, prompt| {
        if !purpose.starts_with("method review") {
            return None;
        }
        let (key, words) = blocks(prompt).swap_remove(0);
        text(&json!({
            "support": format!("{words} [{key}] [(Smith, 2020)](https://evil.example/a). Known too [E99]. \
                Prior work has shown that quasars settle the matter for good (https://evil.example/b)."),
            "contradictions": format!("See https://evil.example/c for zebras that contradict everything here [{key}]."),
            "suggested_action": "",
        }))
    });
    let outcome = review(model, &config()).await;
    check(&outcome.value);
    let json = serde_json::to_string(&outcome.value).expect("serialises");
    assert!(!json.contains("evil.example"), "a link of the model");
    assert!(
        !json.contains("quasars settle") && !json.contains("zebras that"),
        "nothing supports it"
    );
    assert!(outcome.value.removed_links >= 8 && outcome.value.unproven >= 4);
}

#[tokio::test]
async fn a_lean_review_takes_few_calls_and_keeps_to_its_budget() {
    let outcome = review(model(), &ReviewConfig::lean()).await;
    check(&outcome.value);
    assert!(outcome.spent.calls <= 40, "{} calls", outcome.spent.calls);
    let mut tight = config();
    tight.budget.max_calls = Some(4);
    let outcome = review(model(), &tight).await;
    assert_eq!(outcome.spent.calls, 3, "two for the modules; of the two kept one was enough");
    let appraisal = outcome.value.appraisal.as_ref();
    assert!(appraisal.is_some_and(|one| one.done().is_some()), "its call was kept");
    assert!(!outcome.value.failures.is_empty());
    let reason = &outcome.value.failures[0].reason;
    assert!(reason.contains("budget of 4 model calls"), "{reason}");
    check(&outcome.value);
}

#[tokio::test]
async fn prompts_are_cut_to_fit_and_that_is_told() {
    let model = Arc::new(model());
    let generator: Arc<dyn scholar_core::Generator> =
        Arc::<scholar_testing::ScriptedGenerator>::clone(&model);
    let short = ReviewConfig { prompt_chars: Some(6_000), ..config() };
    let outcome = review_of(&ports_over(&papers(), generator), &short).await.expect("a review");
    check(&outcome.value);
    let requests = model.requests();
    assert!(requests.iter().any(|one| one.purpose == "appraisal"));
    for request in requests {
        let chars: usize = request.messages.iter().map(|one| one.content.chars().count()).sum();
        assert!(chars <= 6_000, "{}: {chars}", request.purpose);
    }
    let told = |start: &str| {
        let is = |one: &scholar_core::Notice| one.message.starts_with(start);
        let notice = outcome.notices.iter().find(|one| is(one));
        assert!(notice.is_some_and(|one| one.message.contains("were cut")), "{start}");
    };
    told("relevance 1: ");
    told("synthesis: ");
    let whole = review(crate::stage::model(), &config()).await;
    assert!(!whole.notices.iter().any(|one| one.message.contains("were cut")));
}

#[tokio::test]
async fn the_paper_preset_asks_one_paper_at_a_time() {
    let mut paper = ReviewConfig::paper();
    paper.soundness.papers_per_method = Some(4);
    paper.contribution.sample = 5;
    let model = model_that(|purpose, _| match purpose.split(' ').next()? {
        "query" => text(&json!({"query": "hallucination in translation"})),
        "queries" => Some(Reply::from(
            "1. hallucination detection\n2. retrieval for translation\nThe third:",
        )),
        _ => None,
    });
    let model = Arc::new(model);
    let generator: Arc<dyn scholar_core::Generator> =
        Arc::<scholar_testing::ScriptedGenerator>::clone(&model);
    let outcome = review_of(&ports_over(&papers(), generator), &paper).await.expect("a review");
    check(&outcome.value);
    let purposes = model.purposes();
    let count = |start: &str| purposes.iter().filter(|one| one.starts_with(start)).count();
    assert_eq!((count("query "), count("queries ")), (2, 2));
    assert_eq!((count("summary M"), count("method review"), count("compare")), (8, 2, 5));
}

#[tokio::test]
async fn an_idea_without_methods_or_claims_says_so() {
    let model = model_that(|purpose, _| match purpose {
        "methods" => text(&json!({"methods": []})),
        "dimensions" => text(&json!({"dimensions": []})),
        _ => None,
    });
    let outcome = review(model, &config()).await;
    let cites = |one: &scholar_review::Statement| one.sentence.role.is_some();
    assert!(!outcome.value.statements().any(cites), "only the plan is spoken of");
    assert!(outcome.notices.iter().any(|notice| notice.message.contains("names no method")));
    assert!(outcome.notices.iter().any(|notice| notice.message.contains("claims no contribution")));
    assert!(outcome.value.to_answer().abstained);
}
