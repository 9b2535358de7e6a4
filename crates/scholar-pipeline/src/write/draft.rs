//! The first text, and the reference block every prompt shows.

use scholar_core::text::markers::{between_markers, cut_reference_section, remove_markers};
use scholar_core::{Generation, Notice, NoticeKind, PortError};

use crate::config::{CallSampling, Task};
use crate::evidence::{Evidence, EvidenceNumber};
use crate::frame::{Frame, prompt_room};
use crate::modes::generative::Work;
use crate::prompts::{self, Prompt};

/// Asks for the text the task wants.
pub(crate) async fn draft(frame: &Frame<'_>, work: &Work) -> Result<Generation, PortError> {
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
        work.visible.iter().map(text).collect::<Vec<_>>().join(" ")
    } else {
        reference_block(frame, prompt, &[question], &work.visible, call)
    };
    frame.call("draft", prompt, &[question, ("references", &references)], call).await
}

/// The lines of `evidence` in order of number, as many of the best as the model's context holds.
pub(crate) fn reference_block(
    frame: &Frame<'_>,
    prompt: Prompt,
    values: &[(&str, &str)],
    evidence: &[Evidence],
    call: CallSampling,
) -> String {
    let Some(generator) = &frame.ports.generator else { return String::new() };
    let fixed: usize = prompt
        .render(true, values)
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
    lines.into_iter().map(|(_, line)| line + "\n").collect()
}

/// The text of a draft: between the markers, none left, no reference list.
pub(crate) fn answer_text(reply: &str) -> String {
    let text = remove_markers(&between_markers(reply).text);
    cut_reference_section(&text).trim().to_owned()
}
