//! A recorded run answers again, byte for byte, without anything behind its ports.

use std::sync::Arc;
use std::time::Duration;

use crate::wire::output_item;
use parking_lot::Mutex;
use scholar_core::PortErrorKind;
use scholar_pipeline::record::{Journal, Recorder, Replayer};
use scholar_pipeline::{Budget, Clock, Meter};
use scholar_testing::{Reply, ScriptedGenerator};

use crate::scenario::whole_loop;
use crate::stage::{ask, config, ports, readable};

/// Every reading is one second later than the one before.
fn ticking() -> Clock {
    let seconds = Mutex::new(0);
    Arc::new(move || {
        *seconds.lock() += 1;
        Duration::from_secs(*seconds.lock())
    })
}

#[tokio::test]
async fn replay_is_byte_identical() {
    let mut live = ports(&whole_loop());
    live.clock = ticking();
    let recorder = Recorder::new(&live);
    let first = ask(recorder.ports(), &config()).await;
    let lines = recorder.journal().to_json_lines();

    let journal = Journal::from_json_lines(&lines).expect("reads what it writes");
    let replayer = Replayer::new(&journal).expect("complete");
    let again = ask(&replayer.ports(), &config()).await;
    let json = |value| serde_json::to_string(value).expect("serialises");
    assert_eq!(json(&again.value), json(&first.value));
    assert_eq!(readable(&again), readable(&first));
    assert_eq!((again.spent, again.notices), (first.spent, first.notices));
    assert!(replayer.misses().is_empty(), "{:?}", replayer.misses());
}

#[tokio::test]
async fn a_time_budget_cuts_a_replay_where_it_cut_the_run() {
    let mut live = ports(&whole_loop());
    live.clock = ticking();
    let mut config = config();
    config.budget = Budget { max_seconds: Some(30.0), ..Budget::unlimited() };
    let recorder = Recorder::new(&live);
    let first = ask(recorder.ports(), &config).await;
    let drafted = readable(&first);
    assert!(
        drafted.contains("the draft was cut: the budget of 30 seconds is used up"),
        "{drafted}"
    );
    let replayer = Replayer::new(&recorder.journal()).expect("complete");
    let again = ask(&replayer.ports(), &config).await;
    assert_eq!(readable(&again), drafted);
    assert_eq!(again.value, first.value);
}

/// The caller meters the generator because a judge shares the budget: nothing is counted twice, and the replay, which
/// knows no such meter, is cut at the same place.
#[tokio::test]
async fn a_shared_meter_counts_once_and_replays() {
    let mut config = config();
    config.budget = Budget { max_calls: Some(3), max_seconds: Some(60.0), ..Budget::unlimited() };
    let mut live = ports(&whole_loop());
    live.clock = ticking();
    let meter = Meter::start(config.budget, Arc::clone(&live.clock));
    live.generator = live.generator.map(|generator| meter.wrap(generator));
    live.meter = Some(Arc::clone(&meter));
    let recorder = Recorder::new(&live);
    let first = ask(recorder.ports(), &config).await;
    assert_eq!((meter.spent().calls, first.spent.calls), (3, 3), "{}", readable(&first));
    let replayer = Replayer::new(&recorder.journal()).expect("complete");
    let again = ask(&replayer.ports(), &config).await;
    assert_eq!(readable(&again), readable(&first));
    assert_eq!((again.value, again.spent), (first.value, first.spent));
}

/// What the journal holds is not asked again, what failed is, and each call counts once.
#[tokio::test]
async fn a_failed_run_goes_on_with_live_ports() {
    let whole = whole_loop();
    let expected = ask(&ports(&whole), &config()).await;
    let gone = Reply::Fails(PortErrorKind::Unavailable, "the server is gone".to_owned());
    let failing = ScriptedGenerator::new("scripted")
        .reply("keywords", "hallucination detection translation, exposure bias")
        .reply("draft", gone);
    let mut dead = ports(&Arc::new(failing));
    dead.clock = ticking();
    let recorder = Recorder::new(&dead);
    let question = scholar_core::Question::new(crate::stage::QUESTION).expect("a question");
    let failed = scholar_pipeline::ask(recorder.ports(), &question, &config(), &()).await;
    failed.expect_err("no draft, no answer");

    let live = whole_loop();
    let mut ports = ports(&live);
    let meter = Meter::start(config().budget, Arc::clone(&ports.clock));
    ports.generator = ports.generator.map(|generator| meter.wrap(generator));
    ports.meter = Some(meter);
    let replayer = Replayer::with_live(&recorder.journal(), Some(ports)).expect("complete");
    let resumed = ask(&replayer.ports(), &config()).await;
    assert_eq!(resumed.value, expected.value);
    assert_eq!(live.purposes(), whole.purposes()[1..], "the keywords are known");
    assert_eq!(resumed.spent.calls, expected.spent.calls);
}

#[tokio::test]
async fn another_configuration_misses_by_name() {
    let recorder = Recorder::new(&ports(&whole_loop()));
    ask(recorder.ports(), &config()).await;
    let replayer = Replayer::new(&recorder.journal()).expect("complete");
    let mut other = config();
    other.retrieval.top_k = 7;
    let question = scholar_core::Question::new(crate::stage::QUESTION).expect("a question");
    let error = scholar_pipeline::ask(&replayer.ports(), &question, &other, &())
        .await
        .expect_err("nothing was searched with this top_k");
    let cause = error.port_error().expect("a port failed").to_string();
    assert!(cause.starts_with("the recording holds no Explore call"), "{cause}");
}

#[tokio::test]
async fn the_reference_codes_output_can_be_written() {
    let outcome = ask(&ports(&whole_loop()), &config()).await;
    let item = output_item(None, &outcome);
    let shown = item["shown_ctxs"].as_array().expect("a list");
    let output = item["output"].as_str().expect("a text");
    let numbers: Vec<usize> = scholar_core::text::markers::citation_groups(output)
        .into_iter()
        .flat_map(|group| group.numbers)
        .collect();
    assert!(!numbers.is_empty() && numbers.iter().all(|number| *number < shown.len()), "{output}");
    for name in
        ["input", "ctxs", "final_passages", "initial_result", "feedbacks", "edited_answer_0"]
    {
        assert!(item.get(name).is_some(), "{name}");
    }
    assert!(item.get("edited_answer_1").is_none(), "refused revisions are not in the file");
}
