//! The loop as a story: what happens, in which order, and what comes out. The snapshots are its readable specification.

use std::sync::Arc;

use scholar_core::AnswerMode;
use scholar_core::{GeneratorStrength, NoticeKind, PortErrorKind, Question};
use scholar_pipeline::config::{PosthocMode, Task};
use scholar_pipeline::{AskConfig, AskError, Budget, Event, ModeChoice, Observer, Ports};
use scholar_testing::{FakeAttributor, MemoryRetriever, Reply, ScriptedGenerator};

use crate::stage::{QUESTION, ask, config, ports, readable};

pub(crate) const DRAFT: &str = "[Response_Start]Exposure bias is partially to blame for hallucinations in neural machine translation [0]. \
Training with Minimum Risk Training avoids exposure bias and can mitigate hallucinations [0][999].

Annotated data with hallucinations is extremely scarce.

References:
[0] Someone, 1999.[Response_End] Anything else?";

const FEEDBACK: &str = "[Response_Start]
Feedback: Say how hallucinations in chart summarization are mitigated. Question: How can hallucinations in chart summarization be mitigated?
Feedback: The last paragraph is thin; merge it.
Feedback: Mention medieval tax law. Question: xyzzy qwertz?
Feedback: A fourth item that is one too many.
[Response_End]";

/// The draft with what the first item asks for; `{n}` is the number of the passage found for it.
const WITH_CHARTS: &str = "Here is the revised answer:

[Response_Start]Exposure bias is partially to blame for hallucinations in neural machine translation [0]. \
Training with Minimum Risk Training avoids exposure bias and can mitigate hallucinations [0].

A natural language inference based method to preprocess the training data significantly reduces hallucinations [{n}]. \
Translators on Mars disagree [1][999].

Annotated data with hallucinations is extremely scarce.[Response_End]";

/// A model that plays its part in the whole loop.
pub(crate) fn whole_loop() -> Arc<ScriptedGenerator> {
    let new_number = |prompt: &str| {
        let line =
            prompt.lines().find(|line| line.contains("Tackling Hallucinations in Neural Chart"));
        let line = line.expect("the chart paper is among the new references");
        line[1..line.find(']').expect("numbered")].to_owned()
    };
    let generator = ScriptedGenerator::new("scripted")
        .reply(
            "keywords",
            "[Response_Start]hallucination detection translation, exposure bias[Response_End]",
        )
        .reply("draft", DRAFT)
        .reply("feedback", FEEDBACK)
        .answer("edit_with_retrieval", move |request| {
            let number = new_number(&request.messages[1].content);
            Reply::Text(WITH_CHARTS.replace("{n}", &number))
        })
        .reply("edit", "[Response_Start]Too short [0].[Response_End]")
        .answer("posthoc", |request| {
            let piece = request.messages[1].content.rsplit("Text: ").next().unwrap_or_default();
            Reply::Text(
                piece
                    .replace("scarce.", "scarce [1].")
                    .replace("hallucinations.", "hallucinations [77]."),
            )
        });
    Arc::new(generator)
}

#[tokio::test]
async fn the_whole_loop() {
    let generator = whole_loop();
    let outcome = ask(&ports(&generator), &config()).await;
    insta::assert_snapshot!(readable(&outcome));
    assert!(generator.unused().is_empty(), "{:?}", generator.unused());
    let shown_later = generator.requests().into_iter().find(|request| request.purpose == "edit");
    let prompt = &shown_later.expect("the second item edits").messages[1].content;
    assert!(prompt.contains("Tackling Hallucinations"), "accepted evidence is visible later");
    assert!(outcome.spent.calls >= 6 && outcome.spent.usd.is_none());
}

#[tokio::test]
async fn feedback_that_cannot_be_read_leaves_the_draft() {
    let generator = Arc::new(
        ScriptedGenerator::new("scripted")
            .reply("draft", DRAFT)
            .reply("feedback", "{\"tool_calls\": [{\"name\": \"search\"}]}"),
    );
    let mut config = config();
    config.retrieval.keywords = 0;
    config.posthoc = PosthocMode::None;
    let outcome = ask(&ports(&generator), &config).await;
    insta::assert_snapshot!(readable(&outcome));
}

#[tokio::test]
async fn a_budget_hit_mid_way_keeps_what_is_there() {
    let generator = whole_loop();
    let mut config = config();
    config.budget = Budget { max_calls: Some(3), ..Budget::unlimited() };
    let outcome = ask(&ports(&generator), &config).await;
    insta::assert_snapshot!(readable(&outcome));
    assert_eq!(generator.purposes(), ["keywords", "draft", "feedback"]);
    assert_eq!(outcome.notices.iter().filter(|n| n.kind == NoticeKind::Budget).count(), 1);
    assert!(!outcome.value.abstained);
}

#[tokio::test]
async fn a_budget_that_pays_for_no_draft_leaves_the_evidence() {
    let generator = whole_loop();
    let mut config = config();
    config.budget = Budget { max_calls: Some(0), ..Budget::unlimited() };
    let outcome = ask(&ports(&generator), &config).await;
    assert!(outcome.value.abstained && generator.purposes().is_empty());
    assert!(outcome.trace.iter().any(|event| matches!(event, Event::Ranked { .. })));
    assert!(outcome.notices.iter().any(|notice| notice.kind == NoticeKind::Budget));
}

#[tokio::test]
async fn a_question_nobody_wrote_about_is_not_answered() {
    let generator = Arc::new(ScriptedGenerator::new("scripted"));
    let mut config = config();
    config.retrieval.keywords = 0;
    let question = Question::new("xyzzy qwertz?").expect("a question");
    let outcome =
        scholar_pipeline::ask(&ports(&generator), &question, &config, &()).await.expect("abstains");
    insta::assert_snapshot!(readable(&outcome));
    assert!(generator.requests().is_empty());
}

#[tokio::test]
async fn failures_after_the_draft_are_notices_and_before_it_errors() {
    let fails = |kind| Reply::Fails(kind, "the server is gone".to_owned());
    let mut config = config();
    config.retrieval.keywords = 1;
    let later = Arc::new(
        ScriptedGenerator::new("scripted")
            .reply("keywords", fails(PortErrorKind::Transient))
            .reply("draft", DRAFT)
            .reply("feedback", fails(PortErrorKind::Unavailable))
            .reply("posthoc", fails(PortErrorKind::Unavailable)),
    );
    let outcome = ask(&ports(&later), &config).await;
    let skipped: Vec<&str> = outcome
        .notices
        .iter()
        .filter(|notice| notice.kind == NoticeKind::Skipped)
        .map(|notice| notice.message.as_str())
        .collect();
    assert_eq!(
        skipped,
        [
            "keyword queries left out: the server is gone",
            "feedback left out: the server is gone",
            "citation insertion left out: the server is gone",
        ]
    );
    assert!(!outcome.value.abstained);

    let question = Question::new(QUESTION).expect("a question");
    config.retrieval.keywords = 0;
    let tool_call = "{\"tool_calls\": [{\"name\": \"search\", \"arguments\": \"{}\"}]}";
    for reply in [
        fails(PortErrorKind::Unavailable),
        "  ".into(),
        "[Response_Start] [Response_End]".into(),
        tool_call.into(),
    ] {
        let broken = Arc::new(ScriptedGenerator::new("scripted").reply("draft", reply));
        let error = scholar_pipeline::ask(&ports(&broken), &question, &config, &())
            .await
            .expect_err("no draft, no answer");
        assert_eq!(error.to_string(), "asking scripted for the draft");
        assert!(error.hint().is_some_and(|hint| hint.contains("--mode evidence")));
    }

    let mut dead = ports(&later);
    dead.retriever =
        Arc::new(MemoryRetriever::corpus().failing(PortErrorKind::Unavailable, "no index"));
    let error = scholar_pipeline::ask(&dead, &question, &config, &()).await.expect_err("no search");
    assert!(matches!(error, AskError::Search { .. }));
    assert_eq!(error.port_error().map(ToString::to_string).as_deref(), Some("no index"));
}

#[tokio::test]
async fn classification_tasks_answer_with_a_label_and_its_source() {
    let mut config = AskConfig::single_paper_task(Task::ClaimFull);
    config.ranking.top_n = 2;
    let generator = Arc::new(
        ScriptedGenerator::new("scripted")
            .reply("draft", "[Response_Start]true [1][9][Response_End]"),
    );
    let outcome = ask(&ports(&generator), &config).await;
    insta::assert_snapshot!(readable(&outcome));
    let prompt = generator.requests()[0].messages[1].content.clone();
    assert!(prompt.contains("bedtime"), "one demonstration, as published");
    assert!(prompt.contains("\n\nClaim: How can hallucinations"));

    config.task = Task::ClaimNoContext;
    let generator = Arc::new(ScriptedGenerator::new("scripted").reply("draft", "It may be so."));
    let outcome = ask(&ports(&generator), &config).await;
    assert!(outcome.value.abstained && outcome.value.sentences.is_empty());
    assert_eq!(outcome.notices[0].kind, NoticeKind::ModelReply);
}

#[tokio::test]
async fn the_closed_book_baseline_proves_nothing_and_keeps_its_list_in_the_trace() {
    let mut config = config();
    config.mode = AnswerMode::NoRetrieval.into();
    let reply =
        "Models hallucinate [1]. Nobody knows why.\nReferences:\n[1] A paper that never was";
    let generator = Arc::new(ScriptedGenerator::new("scripted").reply("closed_book", reply));
    let outcome = ask(&ports(&generator), &config).await;
    insta::assert_snapshot!(readable(&outcome));
    assert!(outcome.value.references.is_empty());
}

#[tokio::test]
async fn a_single_pass_only_drafts() {
    let mut config = config();
    config.mode = AnswerMode::SinglePass.into();
    config.retrieval.keywords = 0;
    let generator = Arc::new(ScriptedGenerator::new("scripted").reply("draft", DRAFT));
    let outcome = ask(&ports(&generator), &config).await;
    assert_eq!(generator.purposes(), ["draft"]);
    assert!(!outcome.value.references.is_empty());
}

#[tokio::test]
async fn auto_follows_the_strength_of_the_model() {
    let check = |ports: &Ports, expected: &str| {
        let info = ports.generator.as_ref().map(|generator| generator.info());
        let (mode, reason) = scholar_pipeline::mode_for(ModeChoice::Auto, info);
        assert_eq!(format!("{mode:?}: {reason}"), expected);
    };
    let strong = ports(&Arc::new(ScriptedGenerator::new("big")));
    check(&strong, "Generative: big can run the whole loop");
    let small = ScriptedGenerator::new("tiny").with_info(|i| i.strength = GeneratorStrength::Small);
    check(&ports(&Arc::new(small)), "Evidence: tiny is too small to be trusted with citations");
    let none = Ports::new(Arc::new(MemoryRetriever::corpus()), Arc::new(FakeAttributor::new()));
    check(&none, "Evidence: no language model is configured");
    let question = Question::new(QUESTION).expect("a question");
    let error =
        scholar_pipeline::ask(&none, &question, &config(), &()).await.expect_err("no model");
    assert!(matches!(error, AskError::NoGenerator { .. }));
}

#[tokio::test]
async fn a_short_context_shows_fewer_passages_and_says_so() {
    let generator = ScriptedGenerator::new("narrow")
        .with_info(|info| info.context_tokens = 600)
        .reply("draft", DRAFT);
    let generator = Arc::new(generator);
    let mut config = config();
    config.mode = AnswerMode::SinglePass.into();
    config.retrieval.keywords = 0;
    config.ranking.top_n = 6;
    let outcome = ask(&ports(&generator), &config).await;
    let request = &generator.requests()[0];
    let words: usize = request.messages.iter().map(|m| m.content.split_whitespace().count()).sum();
    assert!(
        words + request.sampling.max_tokens <= 600,
        "{words} + {}",
        request.sampling.max_tokens
    );
    assert!(outcome.notices.iter().any(|notice| notice.kind == NoticeKind::Truncated));
}

/// What a person sees while the model writes has no markers, and is all of the text.
#[tokio::test]
async fn streamed_text_is_the_draft() {
    struct Screen(parking_lot::Mutex<String>);
    impl Observer for Screen {
        fn on_event(&self, event: &Event) {
            if let Event::Text { delta, .. } = event {
                self.0.lock().push_str(delta);
            }
        }
    }
    let generator = Arc::new(ScriptedGenerator::new("scripted").reply("draft", DRAFT));
    let mut config = config();
    config.mode = AnswerMode::SinglePass.into();
    config.retrieval.keywords = 0;
    let screen = Screen(parking_lot::Mutex::default());
    let question = Question::new(QUESTION).expect("a question");
    scholar_pipeline::ask(&ports(&generator), &question, &config, &screen).await.expect("answers");
    let shown = screen.0.into_inner();
    assert_eq!(shown, DRAFT.replace("[Response_Start]", "").replace("[Response_End]", ""));
}

#[tokio::test]
async fn a_draft_without_any_support_is_no_answer() {
    let generator = Arc::new(
        ScriptedGenerator::new("scripted").reply("draft", "Zebras rule Burgundy from Mars [0]."),
    );
    let mut config = config();
    config.mode = AnswerMode::SinglePass.into();
    config.retrieval.keywords = 0;
    let outcome = ask(&ports(&generator), &config).await;
    assert!(outcome.value.abstained && outcome.value.references.is_empty());
    let last = outcome.notices.last().map(|notice| notice.kind);
    assert_eq!(last, Some(NoticeKind::InsufficientEvidence));
}

/// A server runs many questions at once: the future of one may move between threads.
#[test]
fn a_run_can_move_between_threads() {
    fn movable<T: Send>(_: &T) {}
    let ports = ports(&Arc::new(ScriptedGenerator::new("scripted")));
    let question = Question::new(QUESTION).expect("a question");
    movable(&scholar_pipeline::ask(&ports, &question, &config(), &()));
}
