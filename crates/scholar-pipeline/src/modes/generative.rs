//! The paper's loop, and the baselines cut from it.
//!
//! Steps of [`answer`]:
//! 1. [`queries`]: queries; [`crate::retrieve`]: candidates, ranked and numbered once;
//! 2. [`draft()`]: a text that cites evidence numbers;
//! 3. [`refine()`]: feedback of at most three items, worked through one after another; an item with a question searches
//!    the datastore for new evidence; a revision is accepted or the text stays;
//! 4. [`insert_citations`]: citations for what has none;
//! 5. [`conclude`]: proof of every sentence, references numbered.
//!
//! A model call that fails after the draft leaves its step out, with a notice. Source: arXiv 2411.14199 §2.2,
//! reference code `src/open_scholar.py::run`; deviations D7–D22.

use scholar_core::text::markers::{between_markers, remove_markers};
use scholar_core::{
    Answer, AnswerMode, AnswerSentence, Notice, NoticeKind, PortError, PortErrorKind, Query,
};

use crate::ask::{AskError, prove_error};
use crate::budget::BudgetExceeded;
use crate::event::Event;
use crate::evidence::{Evidence, EvidenceRegistry};
use crate::frame::Frame;
use crate::prompts;
use crate::proof::{DraftSentence, draft_sentences, finalise, prove};
use crate::retrieve::{self, Round};

mod feedback;
mod refine;
mod revise;

use crate::retrieve::queries;
use crate::write::citations::insert_citations;
use crate::write::draft::{answer_text, draft};
use crate::write::label::classified;
use refine::refine;

/// The feedback parser as pairs, for golden files.
#[cfg(test)]
pub(crate) fn parse_feedback(
    reply: &str,
    parser: crate::config::FeedbackParser,
) -> Vec<(String, Option<String>)> {
    feedback::parse(reply, parser).into_iter().map(|item| (item.text, item.question)).collect()
}

/// How much of the loop runs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rounds {
    /// Draft, feedback, revisions, citation insertion.
    Loop,
    /// The draft alone.
    DraftOnly,
}

/// The text under work and the evidence its prompts may show.
pub(crate) struct Work {
    pub(crate) registry: EvidenceRegistry,
    pub(crate) visible: Vec<Evidence>,
    pub(crate) text: String,
}

/// Retrieves, writes and proves.
pub(crate) async fn answer(frame: &Frame<'_>, rounds: Rounds) -> Result<Answer, AskError> {
    let mode = match rounds {
        Rounds::Loop => AnswerMode::Generative,
        Rounds::DraftOnly => AnswerMode::SinglePass,
    };
    frame.generator()?;
    let task = frame.config.task;
    let mut registry = EvidenceRegistry::new();
    let mut visible = Vec::new();
    if task.uses_passages() {
        let question = Query::from(frame.question);
        let queries = queries::queries(frame, &question, frame.config.retrieval.keywords).await;
        visible = retrieve::gather(frame, &queries, &question, Round::First, &mut registry).await?;
        if visible.is_empty() {
            return Ok(abstain(frame, mode, &nothing_found(frame, &queries)));
        }
    }
    let mut work = Work { registry, visible, text: String::new() };
    let reply = match draft(frame, &work).await {
        Ok(reply) => reply,
        Err(error) => return without_draft(frame, mode, error),
    };
    if let Some(labels) = task.labels() {
        frame.emit(&Event::Drafted { text: reply.text.clone() });
        return Ok(classified(frame, mode, &reply, labels, &work.registry));
    }
    work.text = answer_text(&reply.text);
    if let Some(problem) = unusable(&work.text) {
        let error = PortError::new(PortErrorKind::Corrupt, problem);
        return Err(generate_error(frame, "draft", error));
    }
    frame.emit(&Event::Drafted { text: work.text.clone() });
    if rounds == Rounds::Loop {
        refine(frame, &mut work).await;
        insert_citations(frame, &mut work).await;
    }
    conclude(frame, mode, work).await
}

/// The model alone: nothing is retrieved and nothing is proven.
pub(crate) async fn closed_book(frame: &Frame<'_>) -> Result<Answer, AskError> {
    frame.generator()?;
    let mode = AnswerMode::NoRetrieval;
    let prompt = match frame.config.task.labels() {
        None => prompts::CLOSED_BOOK,
        Some(["true", _]) => prompts::CLAIM_NO_CONTEXT,
        Some(_) => prompts::BOOLEAN_QUESTION_NO_CONTEXT,
    };
    let values = [("question", frame.question.as_str())];
    let reply = match frame.call("closed_book", prompt, &values, frame.config.sampling.answer).await
    {
        Ok(reply) => reply,
        Err(error) => return without_draft(frame, mode, error),
    };
    frame.emit(&Event::Drafted { text: remove_markers(&between_markers(&reply.text).text) });
    if let Some(labels) = frame.config.task.labels() {
        return Ok(classified(frame, mode, &reply, labels, &EvidenceRegistry::new()));
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
    Ok(Answer { question: asked(frame), mode, abstained, sentences, references: Vec::new() })
}

/// An answer that says there is none.
pub(crate) fn abstain(frame: &Frame<'_>, mode: AnswerMode, why: &str) -> Answer {
    frame.notice(Notice::new(NoticeKind::InsufficientEvidence, why));
    empty(frame, mode)
}

pub(crate) fn empty(frame: &Frame<'_>, mode: AnswerMode) -> Answer {
    let (sentences, references) = (Vec::new(), Vec::new());
    Answer { question: asked(frame), mode, abstained: true, sentences, references }
}

pub(crate) fn asked(frame: &Frame<'_>) -> String {
    frame.question.as_str().to_owned()
}

fn nothing_found(frame: &Frame<'_>, queries: &[Query]) -> String {
    let searched: Vec<String> = queries.iter().map(|q| format!("\"{}\"", q.as_str())).collect();
    format!("no passage was found in {} for {}", frame.ports.retriever.name(), searched.join(", "))
}

/// A budget that does not pay for a draft leaves the evidence; any other failure leaves nothing to say.
fn without_draft(
    frame: &Frame<'_>,
    mode: AnswerMode,
    error: PortError,
) -> Result<Answer, AskError> {
    if BudgetExceeded::behind(&error).is_none() {
        return Err(generate_error(frame, "draft", error));
    }
    frame.skipped("the answer", &error);
    Ok(empty(frame, mode))
}

/// Why a reply is no answer to read. Some servers answer everything with a tool call.
fn unusable(text: &str) -> Option<&'static str> {
    if !text.contains(char::is_alphanumeric) {
        return Some("the reply has no text");
    }
    let structured = text.starts_with(['{', '['])
        && serde_json::from_str::<serde_json::Value>(text)
            .is_ok_and(|v| v.is_object() || v.is_array());
    structured.then_some("the reply is JSON where text was asked for")
}

fn generate_error(frame: &Frame<'_>, purpose: &str, source: PortError) -> AskError {
    let source = Box::new(source);
    let model = frame.ports.generator.as_ref().map(|g| g.info().model.clone());
    AskError::Generate { model: model.unwrap_or_default(), purpose: purpose.to_owned(), source }
}

/// Proof of every sentence, and the final numbers.
async fn conclude(frame: &Frame<'_>, mode: AnswerMode, work: Work) -> Result<Answer, AskError> {
    let mut registry = work.registry;
    let shown = registry.len();
    let config = frame.proof_config();
    let draft = draft_sentences(&work.text);
    let proven = prove(&frame.ports, &mut registry, &draft, &config, &frame.log).await;
    let proven = proven.map_err(prove_error)?;
    frame.report_added(&registry, shown, "searches of the proof");
    let (sentences, references) = finalise(&proven.sentences, &registry);
    for sentence in &sentences {
        frame.emit(&Event::Sentence { sentence: sentence.clone() });
    }
    if sentences.is_empty() {
        return Ok(abstain(frame, mode, "no sentence of the draft could be proven"));
    }
    let abstained = references.is_empty();
    if abstained {
        let message = "no sentence of the draft is supported by a passage that was found";
        frame.notice(Notice::new(NoticeKind::InsufficientEvidence, message));
    }
    Ok(Answer { question: asked(frame), mode, abstained, sentences, references })
}

/// Sentences of a text nobody will prove, without its citations.
fn plain_sentences(text: &str) -> Vec<AnswerSentence> {
    let plain = |sentence: DraftSentence| AnswerSentence {
        text: sentence.text,
        heading: sentence.heading,
        paragraph_start: sentence.paragraph_start,
        citations: Vec::new(),
        support: None,
        quotes: Vec::new(),
        gates: Vec::new(),
        verbatim: false,
    };
    draft_sentences(text).into_iter().map(plain).collect()
}
