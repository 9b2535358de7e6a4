use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use scholar_core::PortErrorKind;
use scholar_testing::{Reply, ScriptedGenerator};

use super::*;

#[tokio::test]
async fn both_orders_are_asked_and_told_in_terms_of_systems() {
    let generator = Arc::new(
        ScriptedGenerator::new("big")
            .reply("preference", Reply::from("{\"reason\": \"r\", \"better\": \"1\"}"))
            .reply("preference", Reply::from("{\"reason\": \"r\", \"better\": 2}")),
    );
    let judge = ModelJudge::new(generator.clone());
    let verdicts = judge.compare("Why?", "ours", "theirs").await.expect("it runs");
    assert_eq!(verdicts.forward, Judged::Read(Preference::A));
    assert_eq!(verdicts.backward, Judged::Read(Preference::A), "second place, the same answer");
    assert_eq!(verdicts.preference(), Some(Preference::A));
    let backward = &generator.requests()[1].messages[1].content;
    assert!(backward.find("theirs") < backward.find("ours"), "{backward}");
}

#[tokio::test]
async fn a_judge_that_dies_keeps_what_it_judged() {
    let verdict = |better: u8| Reply::Text(format!(r#"{{"reason": "r", "better": "{better}"}}"#));
    let generator = ScriptedGenerator::new("big")
        .reply("preference", verdict(1))
        .reply("preference", verdict(2))
        .reply(
            "preference",
            Reply::Fails(PortErrorKind::Unavailable, "nobody is there".to_owned()),
        );
    let judge = ModelJudge::new(Arc::new(generator));
    let pair = |item: &'static str| AnswerPair { item, question: "Why?", a: "one two", b: "one" };
    let seen = AtomicUsize::new(0);
    let progress = |_: usize, all: usize| _ = seen.fetch_add(all, Ordering::Relaxed);
    let found = judge
        .compare_all(("ours", "theirs"), &[pair("1"), pair("2"), pair("3")], 1, &progress)
        .await;
    assert_eq!((found.rates.n, found.rates.wins, found.verdicts.len()), (1, 1, 1));
    assert!(found.incomplete.is_some_and(|why| why.starts_with("2 pairs were not judged")));
    assert_eq!((found.length_ratio, seen.into_inner()), (Some(2.0), 3));
}

#[test]
fn verdicts_are_read_and_never_guessed() {
    assert_eq!(parse("{\"reason\": \"\", \"better\": \"Tie\"}"), Some(Preference::Tie));
    for bad in ["", "1", "{\"better\": \"both\"}", "{\"reason\": \"1\"}", "{\"better\": null}"] {
        assert_eq!(parse(bad), None, "{bad}");
    }
}
