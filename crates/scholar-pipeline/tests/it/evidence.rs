//! Evidence-first answers through the same door.

use std::sync::Arc;

use scholar_core::{
    AnswerMode, AnswerRole, AnswerSentence, CharSpan, NoticeKind, Question, Retriever as _,
};
use scholar_pipeline::config::Task;
use scholar_pipeline::record::{Recorder, Replayer};
use scholar_pipeline::{AskConfig, Event, Ports};
use scholar_testing::{FakeAttributor, FakeEncoder, FakeReranker, MemoryRetriever};

use crate::stage::ask;

fn ports() -> Ports {
    let mut ports =
        Ports::new(Arc::new(MemoryRetriever::corpus()), Arc::new(FakeAttributor::new()));
    ports.reranker = Some(Arc::new(FakeReranker::new()));
    ports.encoder = Some(Arc::new(FakeEncoder::new(64)));
    ports
}

/// The fakes' similarities are not those that the decision to answer was fitted on.
fn lenient() -> AskConfig {
    let mut config = AskConfig::paper();
    config.evidence.abstain_below = 0.0;
    (config.evidence.papers.show_from, config.evidence.papers.show_share) = (0.0, 0.0);
    config.evidence.papers.max_papers = 20;
    config
}

#[tokio::test]
async fn without_a_model_stored_sentences_answer_and_the_replay_agrees() {
    let recorder = Recorder::new(&ports());
    let outcome = ask(recorder.ports(), &lenient()).await;
    let answer = &outcome.value;
    assert_eq!(answer.mode, AnswerMode::Evidence);
    assert!(!answer.abstained && !answer.sentences.is_empty(), "{:?}", outcome.notices);
    let store = MemoryRetriever::corpus();
    // What code counts or misses cites nothing.
    let quoted = |one: &&AnswerSentence| one.role == Some(AnswerRole::Finding);
    assert!(answer.sentences.iter().any(|one| quoted(&one)));
    for sentence in answer.sentences.iter().filter(quoted) {
        assert!(sentence.verbatim && !sentence.citations.is_empty(), "{}", sentence.text);
        assert!(!sentence.quotes.is_empty(), "{}", sentence.text);
        for quote in &sentence.quotes {
            let (passage, paper) =
                store.passage(&quote.passage_id).await.expect("read").expect("stored");
            let span = CharSpan::new(quote.start, quote.end);
            assert_eq!(span.slice(&passage.text), Some(quote.text.as_str()));
            let reference = &answer.references[quote.reference.0 - 1];
            assert_eq!(reference.paper_id, paper.id);
        }
    }
    let first_evidence =
        outcome.trace.iter().position(|event| matches!(event, Event::Ranked { .. }));
    let first_sentence =
        outcome.trace.iter().position(|event| matches!(event, Event::Sentence { .. }));
    assert!(first_evidence < first_sentence, "evidence is on screen before prose");
    assert_eq!(outcome.spent.calls, 0);

    let replayer = Replayer::new(&recorder.journal()).expect("complete");
    let again = ask(&replayer.ports(), &lenient()).await;
    assert_eq!(again.value, outcome.value);
    assert!(replayer.misses().is_empty(), "{:?}", replayer.misses());
}

#[tokio::test]
async fn what_the_corpus_does_not_hold_is_not_answered() {
    let question =
        Question::new("How were peasants taxed in medieval Burgundy?").expect("a question");
    let outcome = scholar_pipeline::ask(&ports(), &question, &AskConfig::paper(), &())
        .await
        .expect("abstains");
    assert!(outcome.value.abstained, "{:?}", outcome.value.sentences);
    assert!(outcome.notices.iter().any(|notice| notice.kind == NoticeKind::InsufficientEvidence));
}

#[tokio::test]
async fn a_task_with_labels_is_told_that_there_is_none() {
    let mut config = lenient();
    config.task = Task::BooleanQuestionFull;
    let outcome = ask(&ports(), &config).await;
    let told = |part: &str| outcome.notices.iter().any(|notice| notice.message.contains(part));
    assert!(told("no label “yes” or “no”"), "{:?}", outcome.notices);
    config.task = Task::Default;
    let outcome = ask(&ports(), &config).await;
    assert!(outcome.notices.iter().all(|notice| !notice.message.contains("no label")));
}

#[tokio::test]
async fn a_missing_reranker_is_told_once() {
    let mut ports = ports();
    ports.reranker = None;
    let outcome = ask(&ports, &AskConfig::paper()).await;
    let told = outcome.notices.iter().filter(|notice| notice.message.contains("rerank")).count();
    assert_eq!(told, 1, "{:?}", outcome.notices);
}
