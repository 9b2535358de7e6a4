//! Ctrl-C at every stage of a review, and going on from there.

use std::sync::mpsc::channel;

use parking_lot::Mutex;
use scholar_testing::{Behaviour, PATIENCE};
use serde_json::Value;

use super::{IDEA, model, reply, with_idea};
use crate::stopped::signal;

/// Words of the prompt of each stage.
const STAGES: [&str; 9] = [
    "List the methods it relies on",
    "which methods of it are related",
    "Judge whether the literature supports",
    "Sum them up",
    "Along which dimensions",
    "How near is the contribution",
    "Compare the plan below",
    "Write for each dimension",
    "your part is the plan itself",
];

/// What of a review does not depend on when it was made.
fn lasting(review: &Value) -> Vec<&Value> {
    ["soundness", "contribution", "appraisal", "references", "failures", "left_out"]
        .iter()
        .map(|key| &review[*key])
        .collect()
}

#[test]
fn a_review_is_interrupted_and_resumed_at_every_stage() {
    let honest = model(reply);
    let (program, idea) = with_idea(IDEA);
    let args = |url: &str| -> Vec<String> {
        let all =
            ["review", &idea, "--mode", "generative", "--judge", "lexical", "--base-url", url];
        all.map(str::to_owned).to_vec()
    };
    let own = args(&honest.server.base_url());
    let own: Vec<&str> = own.iter().map(String::as_str).collect();
    let expected = program.json(0, &own);
    for stage in STAGES {
        let (tell, told) = channel();
        let tell = Mutex::new(Some(tell));
        let silent = model(move |request: &Value| {
            let prompt = request["messages"].to_string();
            match prompt.contains(stage).then(|| tell.lock().take()).flatten() {
                Some(tell) => {
                    tell.send(()).expect("the test listens");
                    Behaviour::Hang
                }
                None => reply(request),
            }
        });
        let own = args(&silent.server.base_url());
        let own: Vec<&str> = own.iter().map(String::as_str).collect();
        let child = program.start(&own);
        told.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("{stage}: the call comes"));
        signal(&child, "INT");
        let output = child.wait_with_output().expect("ends");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(130), "{stage}: {said}");
        let run = program.runs().pop().expect("a run");
        assert!(said.contains(&format!("openscholar review --resume {run}")), "{said}");
        assert_eq!(program.run_json(&run, "run.json")["status"], "interrupted");
        let resumed = program.json(0, &["review", "--resume", &run]);
        assert_eq!(lasting(&resumed), lasting(&expected), "after {stage}");
    }
}
