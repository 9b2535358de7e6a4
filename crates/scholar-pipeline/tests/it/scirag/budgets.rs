//! Budgets that end in the middle of a level: what was found until then is the answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use scholar_core::{NodeState, NoticeKind};
use scholar_pipeline::Budget;
use scholar_pipeline::config::scirag::SciragConfig;
use scholar_testing::Reply;

use super::stage::{
    ask, assert_sound, calls, config, ids, model, model_that, node, node_of, one_level, ports, tree,
};

#[tokio::test]
async fn calls_may_end_anywhere() {
    let whole = Arc::new(model());
    ask(&ports(&whole), &config(one_level())).await;
    let all = whole.requests().len() as u64;
    let mut states = Vec::new();
    for limit in 0..=all {
        let generator = Arc::new(model());
        let mut config = config(one_level());
        config.budget = Budget { max_calls: Some(limit), ..Budget::unlimited() };
        let outcome = ask(&ports(&generator), &config).await;
        assert_eq!(generator.requests().len() as u64, limit);
        // The outline and the draft.
        assert_eq!(outcome.value.abstained, limit < 2, "{limit} calls");
        let told = outcome.notices.iter().any(|notice| notice.kind == NoticeKind::Budget);
        assert_eq!(told, limit < all, "{limit} calls: {:?}", outcome.notices);
        assert_sound(&outcome);
        states.extend(outcome.value.tree.iter().flat_map(|tree| &tree.nodes).map(|one| one.state));
    }
    for state in [NodeState::Answered, NodeState::Skipped] {
        assert!(states.contains(&state), "{state:?}");
    }
}

#[tokio::test]
async fn tokens_may_end_anywhere() {
    for limit in (200..12_000).step_by(700) {
        let generator = Arc::new(model());
        let mut config = config(SciragConfig::paper());
        config.budget = Budget { max_tokens: Some(limit), ..Budget::unlimited() };
        let outcome = ask(&ports(&generator), &config).await;
        assert!(outcome.spent.usage.total() <= limit, "{limit}: {:?}", outcome.spent.usage);
        assert_sound(&outcome);
    }
}

#[tokio::test]
async fn a_deadline_in_the_middle_of_a_level_leaves_what_was_written_before() {
    for late in ["decide 1", "tag 1", "answer 1", "gaps 2", "aggregate"] {
        let seconds = Arc::new(AtomicU64::new(0));
        let clock = Arc::clone(&seconds);
        let jumps = Arc::clone(&seconds);
        let generator = Arc::new(model_that(move |_, request| {
            if request.purpose == late {
                jumps.store(1_000, Ordering::SeqCst);
            }
            None
        }));
        let mut ports = ports(&generator);
        ports.clock = Arc::new(move || Duration::from_secs(clock.load(Ordering::SeqCst)));
        let mut config = config(SciragConfig::paper());
        config.budget = Budget { max_seconds: Some(60.0), ..Budget::unlimited() };
        let outcome = ask(&ports, &config).await;
        let told = outcome.notices.iter().any(|one| one.kind == NoticeKind::Budget);
        assert!(told, "{late}: {:?}", outcome.notices);
        assert!(!outcome.value.abstained, "{late}");
        assert!(outcome.value.sentences.iter().any(|one| !one.citations.is_empty()), "{late}");
        let n_after = generator.purposes().iter().skip_while(|one| *one != late).count();
        // Calls that were on their way when the clock jumped, of the other node.
        assert!(n_after <= 2, "{late}: {:?}", generator.purposes());
        assert_sound(&outcome);
    }
}

#[tokio::test]
async fn a_level_that_is_not_paid_for_is_told_node_by_node() {
    let generator = Arc::new(model_that(|step, request| {
        let node = node_of(&request.purpose).to_owned();
        match step {
            "gaps" => Some("- more".into()),
            "queries" => {
                let line = |n: usize| {
                    format!("({n}) gender bias, part {} {n}\n", node.replace('.', " point "))
                };
                Some(Reply::Text((1..=3).map(line).collect()))
            }
            _ => None,
        }
    }));
    let mut config = config(SciragConfig::paper());
    config.budget = Budget { max_calls: Some(30), ..Budget::unlimited() };
    let outcome = ask(&ports(&generator), &config).await;
    assert_eq!(ids(&outcome)[..2], ["0", "1"]);
    let unfinished: Vec<_> =
        tree(&outcome).nodes.iter().filter(|node| node.state == NodeState::Skipped).collect();
    assert!(!unfinished.is_empty());
    for node in unfinished {
        let why = node.reason.as_deref().expect("a reason");
        assert!(why.contains("the budget of 30 model calls is used up"), "{why}");
    }
    assert_eq!(node(&outcome, "1").state, NodeState::Answered);
    assert!(calls(&generator, "aggregate").is_empty() && !outcome.value.abstained);
}
