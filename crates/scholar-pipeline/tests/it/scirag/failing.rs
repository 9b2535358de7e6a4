//! A model that fails at each step in turn, and runs that are cut off at each step and go on.

use std::sync::Arc;

use async_trait::async_trait;
use futures::channel::oneshot;
use futures::future::{Either, pending, select};
use parking_lot::Mutex;
use scholar_core::{
    Generation, GenerationRequest, Generator, GeneratorInfo, Message, NoticeKind, OnText,
    PortError, PortErrorKind, Question,
};
use scholar_pipeline::config::scirag::SciragConfig;
use scholar_pipeline::config::{PosthocMode, Task};
use scholar_pipeline::record::{Journal, Recorder, Replayer};
use scholar_pipeline::{AskConfig, AskError};
use scholar_testing::{Reply, ScriptedGenerator};

use super::stage::{
    QUESTION, ask, assert_sound, config, linked_papers, model_that, ports, ports_over, selection,
    step, user, verbatim,
};

/// Takes every step there is: a grandchild, a repair, a revision, insertion of citations.
fn thorough(broken: Option<(String, Reply)>) -> Arc<ScriptedGenerator> {
    let generator = model_that(move |step, request| {
        if let Some((purpose, reply)) = &broken
            && *purpose == request.purpose
        {
            return Some(reply.clone());
        }
        match (step, request.purpose.as_str()) {
            (_, "gaps 1") => Some("- more on negatives".into()),
            (_, "queries 1") => Some("(1) negatives for contrastive training of retrievers".into()),
            (_, "select 2") => Some("{".into()),
            (_, "select repair 2") => Some(Reply::Text(selection(&[1, 2], &[3]))),
            ("feedback", _) => Some("Feedback: Say how large.".into()),
            ("posthoc", _) => {
                let prompt = user(request);
                Some(Reply::Text(prompt.rsplit("Text: ").next().unwrap_or_default().to_owned()))
            }
            ("edit", _) if !user(request).contains("F1 |") => Some(Reply::Text(format!(
                "{}\nA line of this answer has no citation at all.",
                verbatim(&user(request), 2)
            ))),
            _ => None,
        }
    });
    Arc::new(generator)
}

fn forms() -> Vec<AskConfig> {
    let mut prose = config(SciragConfig::paper());
    prose.posthoc = PosthocMode::Sentence;
    let mut one_paper = AskConfig::scirag(SciragConfig::paper(), Task::SinglePaperQa);
    one_paper.posthoc = PosthocMode::None;
    let report = AskConfig::scirag(SciragConfig::paper(), Task::Default);
    let lean = AskConfig::scirag(SciragConfig::lean(), Task::Default);
    let claim = AskConfig::scirag(SciragConfig::upstream(), Task::ClaimFull);
    vec![prose, one_paper, report, lean, claim]
}

#[tokio::test]
async fn whichever_step_fails_the_answer_stands_and_says_so() {
    let mut tried: Vec<String> = Vec::new();
    for config in forms() {
        let whole = thorough(None);
        let outcome = ask(&ports(&whole), &config).await;
        assert!(!outcome.value.abstained);
        let mut purposes = whole.purposes();
        purposes.sort_unstable();
        purposes.dedup();
        for purpose in purposes {
            for kind in [PortErrorKind::Unavailable, PortErrorKind::Corrupt] {
                let gone = Reply::Fails(kind, "the server is gone".to_owned());
                let generator = thorough(Some((purpose.clone(), gone)));
                let question = Question::new(QUESTION).expect("a question");
                let result =
                    scholar_pipeline::ask(&ports(&generator), &question, &config, &()).await;
                if purpose == "draft" {
                    assert!(matches!(result, Err(AskError::Generate { .. })));
                    continue;
                }
                let outcome = result.expect(&purpose);
                assert!(!outcome.value.abstained, "{purpose}");
                let told = outcome.notices.iter().any(|notice| {
                    matches!(notice.kind, NoticeKind::Skipped | NoticeKind::ModelReply)
                        && notice.message.contains("the server is gone")
                });
                assert!(told, "{purpose} {kind:?}: {:?}", outcome.notices);
                assert_sound(&outcome);
            }
            tried.push(step(&purpose).to_owned());
        }
    }
    for step in [
        "outline",
        "draft",
        "gaps",
        "queries",
        "decide",
        "tag",
        "relate",
        "analyse",
        "select",
        "select repair",
        "contributions",
        "answer",
        "merge",
        "aggregate",
        "feedback",
        "edit",
        "compress",
        "posthoc",
    ] {
        assert!(tried.iter().any(|one| one == step), "{step} is never asked: {tried:?}");
    }
}

#[tokio::test]
async fn whatever_a_step_replies_the_answer_stands() {
    for config in forms() {
        let whole = thorough(None);
        ask(&ports(&whole), &config).await;
        let mut purposes = whole.purposes();
        purposes.sort_unstable();
        purposes.dedup();
        for purpose in purposes.iter().filter(|purpose| *purpose != "draft") {
            for reply in ["", "{", "[9999]", "(1) (2) \u{0}é[0"] {
                let generator = thorough(Some((purpose.clone(), reply.into())));
                let question = Question::new(QUESTION).expect("a question");
                let result =
                    scholar_pipeline::ask(&ports(&generator), &question, &config, &()).await;
                assert_sound(&result.unwrap_or_else(|error| panic!("{purpose}, {reply}: {error}")));
            }
        }
    }
}

/// Never answers its `nth` call, and says so when it is made.
struct Halting {
    inner: Arc<ScriptedGenerator>,
    nth: usize,
    state: Mutex<(usize, Option<oneshot::Sender<()>>)>,
}

#[async_trait]
impl Generator for Halting {
    fn info(&self) -> &GeneratorInfo {
        self.inner.info()
    }

    fn count_tokens(&self, text: &str) -> usize {
        self.inner.count_tokens(text)
    }

    async fn generate(
        &self,
        request: &GenerationRequest,
        on_text: &OnText<'_>,
    ) -> Result<Generation, PortError> {
        let halts = {
            let mut state = self.state.lock();
            state.0 += 1;
            let halts = state.0 > self.nth;
            if let Some(reached) = state.1.take_if(|_| halts) {
                let _ = reached.send(());
            }
            halts
        };
        if halts {
            pending::<()>().await;
        }
        self.inner.generate(request, on_text).await
    }

    async fn choose(
        &self,
        purpose: &str,
        messages: &[Message],
        choices: &[&str],
    ) -> Result<Vec<f32>, PortError> {
        self.inner.choose(purpose, messages, choices).await
    }
}

#[tokio::test]
async fn a_run_that_is_cut_off_at_any_call_goes_on_to_the_same_answer() {
    let config = config(SciragConfig::paper());
    let whole = thorough(None);
    let expected = ask(&ports(&whole), &config).await;
    let n_calls = whole.requests().len();
    assert!(n_calls > 25, "{n_calls}");
    for nth in 0..n_calls {
        let (reached, was_reached) = oneshot::channel();
        let inner = thorough(None);
        let state = Mutex::new((0, Some(reached)));
        let halting = Arc::new(Halting { inner, nth, state });
        let lines = Arc::new(Mutex::new(String::new()));
        let sink = {
            let lines = Arc::clone(&lines);
            Box::new(move |line: &str| lines.lock().extend([line, "\n"]))
        };
        let recorder = Recorder::with_sink(&ports_over(&linked_papers(), halting), Some(sink));
        let question = Question::new(QUESTION).expect("a question");
        let run = Box::pin(scholar_pipeline::ask(recorder.ports(), &question, &config, &()));
        match select(was_reached, run).await {
            Either::Left(_) => {}
            Either::Right(_) => panic!("call {nth} never came"),
        }
        // The run is dropped here, in the middle of the call.
        let journal = Journal::from_json_lines(&lines.lock()).expect("whole lines");
        let live = thorough(None);
        let replayer = Replayer::with_live(&journal, Some(ports(&live))).expect("complete");
        let resumed = ask(&replayer.ports(), &config).await;
        assert_eq!(resumed.value, expected.value, "call {nth}");
        assert_eq!(resumed.notices, expected.notices, "call {nth}");
        let again = live.requests().len();
        assert!(
            again <= n_calls - nth && again > 0,
            "{again} calls again after {nth} of {n_calls}"
        );
    }
}
