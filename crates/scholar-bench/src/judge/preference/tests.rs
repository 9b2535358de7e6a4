use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use scholar_core::PortErrorKind;
use scholar_testing::{Reply, ScriptedGenerator};

use super::*;
use crate::judge::memory::Memory;

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

#[tokio::test]
async fn a_judge_that_comes_back_is_asked_only_what_is_open() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("replies.jsonl");
    let better = |n: u8| Reply::Text(format!(r#"{{"reason": "r", "better": "{n}"}}"#));
    let dead = || Reply::Fails(PortErrorKind::Unavailable, "nobody is there".to_owned());
    let pair = |item: &'static str| AnswerPair { item, question: item, a: "one", b: "two" };
    let pairs = [pair("1"), pair("2")];
    let first = ScriptedGenerator::new("big")
        .reply("preference", better(1))
        .reply("preference", Reply::from("better, but in prose"))
        .reply("preference", better(1))
        .reply("preference", dead());
    let second = Arc::new(
        ScriptedGenerator::new("big").reply("preference", better(2)).reply("preference", better(2)),
    );
    let judge = |generator| {
        ModelJudge::new(generator).remembering(Memory::open(&path).expect("the folder is there"))
    };
    let cut = judge(Arc::new(first)).compare_all(("a", "b"), &pairs, 1, &|_, _| {}).await;
    assert_eq!((cut.rates.unreadable, cut.incomplete.is_some()), (1, true));
    let whole = judge(second.clone()).compare_all(("a", "b"), &pairs, 1, &|_, _| {}).await;
    assert_eq!((whole.rates.wins, whole.rates.unreadable, whole.incomplete), (2, 0, None));
    assert_eq!(second.requests().len(), 2, "the unreadable one and the one that nobody heard");
    let other = ScriptedGenerator::new("another").reply("preference", dead());
    let asked = judge(Arc::new(other)).compare_all(("a", "b"), &pairs, 1, &|_, _| {}).await;
    assert!(asked.incomplete.is_some(), "another judge remembers nothing");
}

#[test]
fn verdicts_are_read_and_never_guessed() {
    assert_eq!(parse("{\"reason\": \"\", \"better\": \"Tie\"}"), Some(Preference::Tie));
    for bad in ["", "1", "{\"better\": \"both\"}", "{\"reason\": \"1\"}", "{\"better\": null}"] {
        assert_eq!(parse(bad), None, "{bad}");
    }
}

#[tokio::test]
async fn a_judge_of_positions_is_doubted() {
    let first = r#"{"reason": "r", "better": "1"}"#;
    let generator = ScriptedGenerator::new("big").answer("preference", move |request| {
        let broken = request.messages.iter().any(|message| message.content.contains("broken"));
        Reply::Text(if broken { "?".to_owned() } else { first.to_owned() })
    });
    let judge = ModelJudge::new(Arc::new(generator));
    let pair =
        |item: &'static str, a: &'static str| AnswerPair { item, question: "Why?", a, b: "b" };
    let pairs = [pair("1", "a"), pair("2", "a"), pair("3", "a"), pair("4", "broken")];
    let found = judge.compare_all(("ours", "theirs"), &pairs, 1, &|_, _| {}).await;
    assert_eq!(found.rates.first_place_share, Some(1.0));
    let doubts = found.doubts();
    for part in ["1 of 4 pairs", "all 3 pairs are ties", "3 of 3 pairs changed", "6 of 6 verdicts"]
    {
        assert!(doubts.iter().any(|doubt| doubt.contains(part)), "{part}: {doubts:?}");
    }
    let fair = ScriptedGenerator::new("big")
        .reply("preference", Reply::from(first))
        .reply("preference", Reply::from(r#"{"reason": "r", "better": "2"}"#))
        .reply("preference", Reply::from(r#"{"reason": "r", "better": "2"}"#))
        .reply("preference", Reply::from(first));
    let judge = ModelJudge::new(Arc::new(fair));
    let found = judge.compare_all(("ours", "theirs"), &pairs[..2], 1, &|_, _| {}).await;
    assert_eq!((found.rates.wins, found.rates.losses), (1, 1));
    assert_eq!(found.doubts(), Vec::<String>::new());
}
