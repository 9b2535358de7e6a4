//! Whatever a model replies to whatever step: no panic, and an answer that keeps to its contract.

use std::sync::Arc;

use proptest::prelude::*;
use scholar_core::{PortErrorKind, Question};
use scholar_pipeline::config::scirag::{SciragConfig, TreeShape};
use scholar_pipeline::config::{PosthocMode, Task, WritingConfig};
use scholar_pipeline::{AskConfig, AskError};
use scholar_testing::{Reply, ScriptedGenerator};

use super::stage::{
    COMPLETE, QUESTION, assert_sound, judgement, model_that, ports, user, verbatim,
};

/// A reply of each kind, plausible or not, from pieces that proptest made.
fn reply(kind: u8, text: &str, numbers: &[usize], prompt: &str) -> Option<Reply> {
    let list =
        |line: &dyn Fn(usize) -> String| numbers.iter().map(|n| line(*n)).collect::<String>();
    Some(match kind {
        0 => Reply::Text(text.to_owned()),
        1 => Reply::Text(format!("[Response_Start]{text}[Response_End]")),
        2 => Reply::Cut(format!("[Response_Start]{text}")),
        3 => Reply::Fails(PortErrorKind::Unavailable, "gone".to_owned()),
        4 => Reply::Text(COMPLETE.to_owned()),
        5 => Reply::Text(list(&|n| format!("({n}) dense passage retrieval {text} {n}\n"))),
        6 => Reply::Text(list(&|n| format!("{n}. ({n}%) {text}: bias.\n"))),
        7 => {
            Reply::Text(format!("{} {}", verbatim(prompt, 3), list(&|n| format!("{text} [{n}]. "))))
        }
        8 => Reply::Text(list(&|n| format!("F{n} | {text} [{n}]\n"))),
        9 => {
            let items = |name: &str| {
                let all: Vec<_> = numbers
                    .iter()
                    .map(|n| serde_json::json!({"paper_index": n, "rank": n % 3, "justification": text, "reason": text, "symbol": format!("[{n}]E -> [{}]T", n / 2), "segments": [{"label": text, "relevance": "High"}]}))
                    .collect();
                (name.to_owned(), serde_json::Value::from(all))
            };
            let names = ["papers", "relationships", "final_selection", "discarded_items"];
            let all: serde_json::Map<String, serde_json::Value> =
                names.into_iter().map(items).collect();
            Reply::Text(serde_json::Value::Object(all).to_string())
        }
        10 => Reply::Text(judgement(numbers.len()).chars().take(40 + text.len()).collect()),
        11 => Reply::Text(format!("Feedback: {text}\nFeedback: {text}")),
        12 => Reply::Filtered(text.to_owned()),
        _ => return None,
    })
}

fn config(preset: u8, task: u8, depth: usize) -> AskConfig {
    let scirag = match preset % 3 {
        0 => SciragConfig::paper(),
        1 => SciragConfig::upstream(),
        _ => SciragConfig::lean(),
    };
    let tree = if preset > 5 { TreeShape::Sequential } else { TreeShape::Adaptive };
    let scirag = SciragConfig {
        max_depth: depth,
        max_subqueries: 2,
        tree,
        chain_gate: preset > 4,
        ..scirag
    };
    let task = match task {
        0 => Task::ClaimFull,
        1 => Task::BooleanQuestionFull,
        2 => Task::SinglePaperQa,
        3 => Task::Summarization,
        _ => Task::Default,
    };
    let mut config = AskConfig::scirag(scirag, task);
    if preset.is_multiple_of(2) {
        config.writing = WritingConfig::paper();
    }
    config.posthoc = PosthocMode::Uncited;
    config
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn no_replies_break_a_run(
        kinds in proptest::collection::vec(0_u8..22, 8..40),
        text in "[A-Za-z .,:%|\\[\\]{}\"(]{0,40}",
        numbers in proptest::collection::vec(0_usize..40, 0..12),
        (preset, task, depth) in (0_u8..8, 0_u8..7, 0_usize..4),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        let generator: Arc<ScriptedGenerator> = Arc::new(model_that(move |_, request| {
            // The same reply to the same step, whatever the order of calls.
            let hash = request.purpose.bytes().fold(7_usize, |hash, byte| hash.wrapping_mul(31) ^ usize::from(byte));
            reply(kinds[hash % kinds.len()], &text, &numbers, &user(request))
        }));
        let question = Question::new(QUESTION).expect("a question");
        let config = config(preset, task, depth);
        let result = runtime.block_on(scholar_pipeline::ask(&ports(&generator), &question, &config, &()));
        match result {
            Ok(outcome) => assert_sound(&outcome),
            Err(error) => prop_assert!(matches!(error, AskError::Generate { .. }), "{}", error),
        }
    }
}
