//! Replays of trees whose nodes ran side by side: value, notices and events, byte for byte.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use scholar_pipeline::config::scirag::SciragConfig;
use scholar_pipeline::record::{Journal, Recorder, Replayer};
use scholar_pipeline::{AskConfig, Budget, Clock, Task};

use super::stage::{
    Paced, ask, assert_sound, config, linked_papers, model_that, node_of, ports_over,
};

/// Every reading is one second later than the one before.
fn ticking() -> Clock {
    let seconds = Mutex::new(0);
    Arc::new(move || {
        *seconds.lock() += 1;
        Duration::from_secs(*seconds.lock())
    })
}

fn json_of(event: &scholar_pipeline::Event) -> String {
    serde_json::to_string(event).expect("serialises")
}

/// Asks with replies that come in another order for each `tempo`, and again from the recording.
async fn check(config: &AskConfig, tempo: usize) -> u64 {
    let generator = Arc::new(model_that(|step, request| match (step, node_of(&request.purpose)) {
        ("gaps", "1" | "2") => Some("- more".into()),
        ("queries", "1") => {
            Some("(1) negatives for training of retrievers\n(2) hard negatives".into())
        }
        ("queries", "2") => Some("(1) gender in translation\n(2) stereotypes in dialogue".into()),
        _ => None,
    }));
    let paced = Paced::new(&generator, move |request| {
        let hash = request
            .purpose
            .bytes()
            .fold(tempo, |hash, byte| hash.wrapping_mul(31) ^ usize::from(byte));
        hash % (7 * tempo + 1)
    });
    let mut ports = ports_over(&linked_papers(), paced);
    ports.clock = ticking();
    let recorder = Recorder::new(&ports);
    let first = ask(recorder.ports(), config).await;
    assert_sound(&first);
    let lines = recorder.journal().to_json_lines();
    let journal = Journal::from_json_lines(&lines).expect("reads what it writes");
    let replayer = Replayer::new(&journal).expect("complete");
    let again = ask(&replayer.ports(), config).await;
    let json = |value| serde_json::to_string(value).expect("serialises");
    assert_eq!(json(&again.value), json(&first.value), "tempo {tempo}");
    assert_eq!(again.notices, first.notices, "tempo {tempo}");
    // One by one: whole traces are too long to read.
    for (at, (again, first)) in again.trace.iter().zip(&first.trace).enumerate() {
        let (again, first) = (json_of(again), json_of(first));
        assert_eq!(again, first, "event {at}, tempo {tempo}");
    }
    assert_eq!(again.trace.len(), first.trace.len(), "tempo {tempo}");
    assert_eq!(again.spent, first.spent, "tempo {tempo}");
    assert!(replayer.misses().is_empty(), "{:?}", replayer.misses());
    first.spent.calls
}

#[tokio::test]
async fn a_tree_replays_whatever_the_order_of_its_replies() {
    for scirag in [SciragConfig::paper(), SciragConfig::upstream(), SciragConfig::lean()] {
        let config = config(scirag);
        assert_eq!(config.scirag.concurrency, 4);
        for tempo in 0..6 {
            check(&config, tempo).await;
        }
    }
    check(&AskConfig::scirag(SciragConfig::paper(), Task::Default), 3).await;
}

#[tokio::test]
async fn a_budget_cuts_a_replayed_tree_where_it_cut_the_run() {
    let mut config = config(SciragConfig::paper());
    let whole = check(&config, 2).await;
    for limit in (3..whole).step_by(4) {
        config.budget = Budget { max_calls: Some(limit), ..Budget::unlimited() };
        assert_eq!(check(&config, 4).await, limit);
    }
    for seconds in [20.0, 45.0, 90.0, 140.0] {
        config.budget = Budget { max_seconds: Some(seconds), ..Budget::unlimited() };
        check(&config, 3).await;
    }
    for tokens in [1_500, 4_000, 8_000, 16_000] {
        config.budget = Budget { max_tokens: Some(tokens), ..Budget::unlimited() };
        check(&config, 5).await;
    }
}
