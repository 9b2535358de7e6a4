//! The first text, and the reference block every prompt shows.

use std::ops::ControlFlow;

use scholar_core::text::markers::{between_markers, cut_reference_section, remove_markers};
use scholar_core::{Answer, Generation, Notice, NoticeKind, PortError, PortErrorKind};

use super::label::classified;
use super::manuscript::Manuscript;
use crate::budget::BudgetExceeded;
use crate::config::{CallSampling, Task};
use crate::error::AskError;
use crate::event::Event;
use crate::evidence::{Evidence, EvidenceNumber};
use crate::frame::{Frame, prompt_room};
use crate::prompts::{self, Prompt};

/// A manuscript with evidence and a first text: [`Manuscript::gather`], then [`draft()`]; breaks where either does.
///
/// # Errors
/// When every search failed, the model cannot be asked, or its reply has no text.
pub(crate) async fn drafted(
    frame: &Frame<'_>,
) -> Result<ControlFlow<Answer, Manuscript>, AskError> {
    match Manuscript::gather(frame).await? {
        ControlFlow::Continue(manuscript) => draft(frame, manuscript).await,
        ControlFlow::Break(answer) => Ok(ControlFlow::Break(answer)),
    }
}

/// Asks for the text that the task wants. Breaks with an answer where a label is all that is wanted, and where the budget
/// does not pay for a draft.
///
/// # Errors
/// When the model cannot be asked, or its reply has no text.
pub async fn draft(
    frame: &Frame<'_>,
    manuscript: Manuscript,
) -> Result<ControlFlow<Answer, Manuscript>, AskError> {
    let reply = match ask_for_draft(frame, &manuscript.visible).await {
        Ok(reply) => reply,
        Err(error) => return without_draft(frame, error).map(ControlFlow::Break),
    };
    if let Some(labels) = frame.config.task.labels() {
        frame.emit(&Event::Drafted { text: reply.text.clone() });
        let answer = classified(frame, &reply, labels, &manuscript.registry);
        return Ok(ControlFlow::Break(answer));
    }
    let text = answer_text(&reply.text);
    if let Some(problem) = unusable(&text) {
        return Err(no_draft(frame, PortError::new(PortErrorKind::Corrupt, problem)));
    }
    frame.emit(&Event::Drafted { text: text.clone() });
    Ok(ControlFlow::Continue(Manuscript { text, ..manuscript }))
}

async fn ask_for_draft(frame: &Frame<'_>, visible: &[Evidence]) -> Result<Generation, PortError> {
    let prompt = match frame.config.task {
        Task::Default => prompts::DRAFT,
        Task::ClaimFull => prompts::CLAIM_FULL,
        Task::BooleanQuestionFull => prompts::BOOLEAN_QUESTION_FULL,
        Task::SinglePaperQa => prompts::SINGLE_PAPER,
        Task::Summarization => prompts::SUMMARIZATION,
        Task::ClaimGold => prompts::CLAIM_GOLD,
        Task::ClaimNoContext => prompts::CLAIM_NO_CONTEXT,
        Task::BooleanQuestionGold => prompts::BOOLEAN_QUESTION_GOLD,
        Task::BooleanQuestionNoContext => prompts::BOOLEAN_QUESTION_NO_CONTEXT,
    };
    let call = frame.config.sampling.answer;
    let question = ("question", frame.question.as_str());
    let gold = matches!(frame.config.task, Task::ClaimGold | Task::BooleanQuestionGold);
    let references = if gold {
        let text = |e: &Evidence| e.ranked.retrieved.passage.text.clone();
        visible.iter().map(text).collect::<Vec<_>>().join(" ")
    } else {
        reference_block(frame, prompt, &[question], visible, call)
    };
    frame.call("draft", prompt, &[question, ("references", &references)], call).await
}

/// A budget that does not pay for a draft leaves the evidence; any other failure leaves nothing to say.
pub(crate) fn without_draft(frame: &Frame<'_>, error: PortError) -> Result<Answer, AskError> {
    if BudgetExceeded::behind(&error).is_none() {
        return Err(no_draft(frame, error));
    }
    frame.skipped("the answer", &error);
    Ok(frame.no_answer())
}

/// The error of a run that has no text to go on with.
pub(crate) fn no_draft(frame: &Frame<'_>, source: PortError) -> AskError {
    let model = frame.ports.generator.as_ref().map(|generator| generator.info().model.clone());
    AskError::Generate {
        model: model.unwrap_or_default(),
        purpose: "draft".to_owned(),
        source: Box::new(source),
    }
}

/// Why a reply is no answer to read. Some servers answer everything with a tool call.
pub(crate) fn unusable(text: &str) -> Option<&'static str> {
    if !text.contains(char::is_alphanumeric) {
        return Some("the reply has no text");
    }
    let structured = text.starts_with(['{', '['])
        && serde_json::from_str::<serde_json::Value>(text)
            .is_ok_and(|v| v.is_object() || v.is_array());
    structured.then_some("the reply is JSON where text was asked for")
}

/// The lines of `evidence` in order of number, as many of the best as the model's context holds.
pub(crate) fn reference_block(
    frame: &Frame<'_>,
    prompt: Prompt,
    values: &[(&str, &str)],
    evidence: &[Evidence],
    call: CallSampling,
) -> String {
    let lines = reference_lines(frame, prompt, values, evidence, call);
    lines.into_iter().map(|(_, line)| line + "\n").collect()
}

/// The same as lines with their numbers.
pub(crate) fn reference_lines(
    frame: &Frame<'_>,
    prompt: Prompt,
    values: &[(&str, &str)],
    evidence: &[Evidence],
    call: CallSampling,
) -> Vec<(EvidenceNumber, String)> {
    let Some(generator) = &frame.ports.generator else { return Vec::new() };
    let without = [values, &[("references", "")]].concat();
    let fixed: usize = prompt
        .render(true, &without)
        .iter()
        .map(|message| generator.count_tokens(&message.content))
        .sum();
    let room = prompt_room(generator.as_ref(), call).saturating_sub(fixed);
    let mut used = 0;
    let mut lines: Vec<(EvidenceNumber, String)> = Vec::new();
    for passage in evidence {
        let line = passage.prompt_line();
        used += generator.count_tokens(&line) + 1;
        if used > room && !lines.is_empty() {
            break;
        }
        lines.push((passage.number, line));
    }
    if lines.len() < evidence.len() {
        let message = format!(
            "the {} prompt shows {} of {} passages: the context of {} holds no more",
            prompt.name,
            lines.len(),
            evidence.len(),
            generator.info().model
        );
        frame.notice(Notice::new(NoticeKind::Truncated, message));
    }
    lines.sort_by_key(|(number, _)| *number);
    lines
}

/// The text of a draft: between the markers, none left, no reference list.
pub(crate) fn answer_text(reply: &str) -> String {
    let text = remove_markers(&between_markers(reply).text);
    cut_reference_section(&text).trim().to_owned()
}
