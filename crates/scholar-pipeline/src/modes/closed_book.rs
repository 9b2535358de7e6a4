//! The closed-book baseline: the model alone. Nothing is retrieved and nothing is proven.
//!
//! Source: arXiv 2411.14199 §4; deviation D19.

use scholar_core::text::markers::{between_markers, remove_markers};
use scholar_core::{Answer, AnswerMode, AnswerSentence, Notice, NoticeKind};

use super::Mode;
use crate::budget::{ANSWER_TOKENS, ExpectedCalls, WORDING_TOKENS};
use crate::error::AskError;
use crate::event::Event;
use crate::evidence::EvidenceRegistry;
use crate::frame::Frame;
use crate::prompts;
use crate::proof::DraftSentence;
use crate::write::label::classified;
use crate::write::sentences::draft_sentences;
use crate::write::{answer_text, without_draft};

/// Its entry of the registry.
pub static MODE: Mode = Mode {
    id: AnswerMode::NoRetrieval,
    name: "no-retrieval",
    aliases: &["closed-book"],
    title: "no-retrieval baseline (nothing is proven)",
    summary: "The model alone: nothing is proven",
    needs_generator: true,
    retrieves: false,
    labels: true,
    calls: |_| vec![ExpectedCalls { calls: 1, prompt: WORDING_TOKENS, completion: ANSWER_TOKENS }],
    run: |frame| Box::pin(run(frame)),
};

async fn run(frame: &Frame<'_>) -> Result<Answer, AskError> {
    let prompt = match frame.config.task.labels() {
        None => prompts::CLOSED_BOOK,
        Some(["true", _]) => prompts::CLAIM_NO_CONTEXT,
        Some(_) => prompts::BOOLEAN_QUESTION_NO_CONTEXT,
    };
    let values = [("question", frame.question.as_str())];
    let reply = match frame.call("closed_book", prompt, &values, frame.config.sampling.answer).await
    {
        Ok(reply) => reply,
        Err(error) => return without_draft(frame, error),
    };
    frame.emit(&Event::Drafted { text: remove_markers(&between_markers(&reply.text).text) });
    if let Some(labels) = frame.config.task.labels() {
        return Ok(classified(frame, &reply, labels, &EvidenceRegistry::new()));
    }
    frame.notice(Notice::new(
        NoticeKind::Unproven,
        "the model answered alone: no sentence is proven and its references are not shown",
    ));
    let sentences = plain_sentences(&answer_text(&reply.text));
    for sentence in &sentences {
        frame.emit(&Event::Sentence { sentence: sentence.clone() });
    }
    let abstained = sentences.is_empty();
    Ok(Answer { abstained, ..frame.answer(sentences, Vec::new()) })
}

/// Sentences of a text nobody will prove, without its citations.
fn plain_sentences(text: &str) -> Vec<AnswerSentence> {
    let plain = |sentence: DraftSentence| AnswerSentence {
        heading: sentence.heading,
        paragraph_start: sentence.paragraph_start,
        ..AnswerSentence::uncited(sentence.text)
    };
    draft_sentences(text).into_iter().map(plain).collect()
}
