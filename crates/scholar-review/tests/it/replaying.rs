use std::sync::Arc;

use scholar_pipeline::record::{Journal, Recorder, Replayer};

use crate::stage::{config, model, papers, ports_over, review_of};

#[tokio::test]
async fn a_review_is_replayed_byte_for_byte_without_a_model() {
    let live = ports_over(&papers(), Arc::new(model()));
    let recorder = Recorder::with_sink(&live, None);
    let recorded = review_of(recorder.ports(), &config()).await.expect("a review");
    let lines = recorder.journal().to_json_lines();
    let journal = Journal::from_json_lines(&lines).expect("a journal");
    let replayer = Replayer::new(&journal).expect("a replayer");
    let replayed = review_of(&replayer.ports(), &config()).await.expect("the same review");
    assert!(replayer.misses().is_empty(), "{:?}", replayer.misses());
    let json = |review| serde_json::to_string(review).expect("serialises");
    assert_eq!(json(&recorded.value), json(&replayed.value));
    assert_eq!(recorded.trace, replayed.trace);
    let back: scholar_review::Review = serde_json::from_str(&json(&recorded.value)).expect("reads");
    assert_eq!(back, recorded.value);
}

/// A run that is cut off anywhere goes on from its journal, and ends as if it had not been.
#[tokio::test]
async fn a_review_that_was_cut_off_is_resumed_at_every_stage() {
    let live = ports_over(&papers(), Arc::new(model()));
    let recorder = Recorder::with_sink(&live, None);
    let whole = review_of(recorder.ports(), &config()).await.expect("a review");
    let journal = recorder.journal();
    let n = journal.entries.len();
    for cut in (1..n).step_by((n / 9).max(1)) {
        let part = Journal { entries: journal.entries[..cut].to_vec() };
        let resumed = Replayer::with_live(&part, Some(live.clone())).expect("a replayer");
        let outcome = review_of(&resumed.ports(), &config()).await.expect("a review");
        assert_eq!(outcome.value, whole.value, "cut after {cut} of {n}");
    }
}
