use std::sync::Arc;

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

#[test]
fn verdicts_are_read_and_never_guessed() {
    assert_eq!(parse("{\"reason\": \"\", \"better\": \"Tie\"}"), Some(Preference::Tie));
    for bad in ["", "1", "{\"better\": \"both\"}", "{\"reason\": \"1\"}", "{\"better\": null}"] {
        assert_eq!(parse(bad), None, "{bad}");
    }
}
