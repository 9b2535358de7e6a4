//! The report: a short answer, parts by facet, a table where studies compare, limits; every sentence with a role.
//!
//! 1. gather, then a text in marked lines ([`Parts`]): by a draft, feedback and one revision, or from quotations
//!    ([`quotes`]);
//! 2. findings go through the gates, gaps are searched for ([`gaps`]), conclusions must follow from findings;
//! 3. what fails is repaired in one call ([`repair`]) and proven again; what fails then is deleted, or carries a mark where
//!    a part of it is supported;
//! 4. cells of the table are located ([`table`]), references numbered.

mod assemble;
mod choices;
mod gaps;
mod proof;
pub(super) mod quotes;
pub(super) mod repair;
mod revise;
mod table;

pub(crate) use revise::accept as accept_revision;

use std::ops::ControlFlow;

use scholar_core::{Answer, Notice, NoticeKind, PortError, PortErrorKind};

use crate::budget::{ExpectedCalls, KEYWORD_TOKENS, PASSAGE_TOKENS, WORDING_TOKENS};
use crate::config::{AnswerForm, AskConfig, Task, WritingPlan};
use crate::error::AskError;
use crate::event::Event;
use crate::frame::Frame;
use crate::prompts;
use crate::proof::config::{ProofConfig, Remedy};
use crate::proof::section_judge::PAIRS_OF_A_CALL;
use crate::write::parts::Parts;
use crate::write::{Manuscript, answer_text, no_draft, reference_block, unusable, without_draft};

/// Whether `config` asks for a report.
pub(crate) fn is_wanted(config: &AskConfig) -> bool {
    config.writing.form == AnswerForm::Report && config.task == Task::Default
}

pub(super) async fn run(frame: &Frame<'_>) -> Result<Answer, AskError> {
    let manuscript = match Manuscript::gather(frame).await? {
        ControlFlow::Continue(manuscript) => manuscript,
        ControlFlow::Break(answer) => return Ok(answer),
    };
    let written = match frame.config.writing.plan {
        WritingPlan::Draft => draft(frame, manuscript, "").await?,
        WritingPlan::Quotes => quotes::write(frame, manuscript).await?,
    };
    let mut manuscript = match written {
        ControlFlow::Continue(manuscript) => manuscript,
        ControlFlow::Break(answer) => return Ok(answer),
    };
    if frame.config.writing.plan == WritingPlan::Draft {
        revise::revise(frame, &mut manuscript).await;
    }
    conclude(frame, manuscript).await
}

/// The answer of a written report: roles, gates, one repair, the table, references.
///
/// # Errors
/// When the encoder fails, or the judge where the configuration says that this ends the run.
pub(crate) async fn conclude(
    frame: &Frame<'_>,
    manuscript: Manuscript,
) -> Result<Answer, AskError> {
    let Manuscript { mut registry, visible: _, text } = manuscript;
    if let Some(notice) = without_effect(&frame.config.proof) {
        frame.notice(notice);
    }
    let shown = registry.len();
    let proof = proof::Proof::of(frame, &mut registry, Parts::read(&text)).await?;
    frame.report_added(&registry, shown, "searches of the proof");
    Ok(assemble::answer(frame, proof, &registry))
}

/// That chosen remedies do nothing here: a report repairs in one call of its own, and knows of them only whether to drop.
fn without_effect(proof: &ProofConfig) -> Option<Notice> {
    let standard = ProofConfig::standard();
    let drops = proof.on_unsupported.contains(&Remedy::Drop);
    let mut names: Vec<&str> = Vec::new();
    if proof.on_unsupported != standard.on_unsupported && !drops {
        names.push("proof.on_unsupported");
    }
    if proof.uncited != standard.uncited {
        names.push("proof.uncited");
    }
    (!names.is_empty()).then(|| {
        let message = format!(
            "{} without effect: a report cites anew, rewrites or deletes what fails in one call",
            names.join(" and ")
        );
        let hint =
            "--set writing.form=paper has them; of proof.on_unsupported a report knows \"drop\"";
        Notice::new(NoticeKind::Weak, message).with_hint(hint)
    })
}

/// The first text of a report; `plan` is a rule of its prompt about parts and headings, or empty.
///
/// # Errors
/// When the model cannot be asked, or its reply has no text.
pub(crate) async fn draft(
    frame: &Frame<'_>,
    manuscript: Manuscript,
    plan: &str,
) -> Result<ControlFlow<Answer, Manuscript>, AskError> {
    let call = frame.config.sampling.answer;
    let words = words(frame.config);
    let values = [("question", frame.question.as_str()), ("words", words.as_str()), ("plan", plan)];
    let references = reference_block(frame, prompts::REPORT, &values, &manuscript.visible, call);
    let values = [&values[..], &[("references", references.as_str())]].concat();
    ask_for_text(frame, &values, manuscript).await
}

/// The text that [`prompts::REPORT`] asks for.
async fn ask_for_text(
    frame: &Frame<'_>,
    values: &[(&str, &str)],
    manuscript: Manuscript,
) -> Result<ControlFlow<Answer, Manuscript>, AskError> {
    let reply = frame.call("draft", prompts::REPORT, values, frame.config.sampling.answer).await;
    let text = match reply {
        Ok(reply) => answer_text(&reply.text),
        Err(error) => return without_draft(frame, error).map(ControlFlow::Break),
    };
    if let Some(problem) = unusable(&text) {
        return Err(no_draft(frame, PortError::new(PortErrorKind::Corrupt, problem)));
    }
    frame.emit(&Event::Drafted { text: text.clone() });
    Ok(ControlFlow::Continue(Manuscript { text, ..manuscript }))
}

/// `900 to 1300`, as prompts say it.
pub(crate) fn words(config: &AskConfig) -> String {
    let range = config.writing.length.words();
    format!("{} to {}", range.start(), range.end())
}

/// Tokens of a word with its share of marks and table. Ours, measured on written reports.
const TOKENS_OF_TEN_WORDS: u64 = 16;
/// Tokens of the prompts' wording in this form. Ours, measured on the files.
const REPORT_WORDING_TOKENS: u64 = 900;
/// Tokens of a reply of feedback. Ours.
const FEEDBACK_TOKENS: u64 = 250;
/// Tokens of a reply of repair. Ours: half of the sentences that it may be asked about.
const REPAIR_TOKENS: u64 = 350;
/// Tokens of the quotations of one passage. Ours.
const QUOTED_TOKENS: u64 = 120;
/// Tokens of the answer for one citation that is judged. Ours.
const TOKENS_OF_A_FINDING: u64 = 50;
/// Tokens of the wording of the judge's prompt. Ours, measured on the file.
const JUDGE_WORDING_TOKENS: u64 = 320;
/// Tokens of a sentence and the extract that it is judged by. Ours.
const JUDGED_TOKENS: u64 = 170;
/// Tokens of one verdict with the words that decide. Ours.
const VERDICT_TOKENS: u64 = 40;
/// Tokens of an outline. Ours.
const OUTLINE_TOKENS: u64 = 150;

/// Calls for one question.
pub(super) fn calls(config: &AskConfig) -> Vec<ExpectedCalls> {
    let passages = count(config.ranking.top_n) * PASSAGE_TOKENS;
    let answer = answer_tokens(config);
    let once = |prompt: u64, completion: u64| ExpectedCalls { calls: 1, prompt, completion };
    let mut expected = Vec::new();
    if config.retrieval.keywords > 0 {
        expected.push(once(WORDING_TOKENS, KEYWORD_TOKENS));
    }
    match config.writing.plan {
        WritingPlan::Draft => {
            expected.push(once(REPORT_WORDING_TOKENS + passages, answer));
            if config.feedback.items > 0 {
                let new = count(config.feedback.items * revise::NEW_PER_ITEM) * PASSAGE_TOKENS;
                expected.push(once(WORDING_TOKENS + answer, FEEDBACK_TOKENS));
                expected.push(once(WORDING_TOKENS + passages + new + answer, answer));
            }
        }
        WritingPlan::Quotes => {
            let quoted = count(config.ranking.top_n) * QUOTED_TOKENS;
            expected.push(once(WORDING_TOKENS + passages, quoted));
            expected.push(once(WORDING_TOKENS + quoted, OUTLINE_TOKENS));
            if config.feedback.items > 0 && config.feedback.retrieve {
                expected.push(once(WORDING_TOKENS + passages, quoted));
            }
            expected.push(once(REPORT_WORDING_TOKENS + 2 * quoted, answer));
        }
    }
    expected.extend(proving_calls(config));
    expected
}

/// Tokens of a typical report.
pub(crate) fn answer_tokens(config: &AskConfig) -> u64 {
    let words = config.writing.length.words();
    count(words.start() + words.end()) / 2 * TOKENS_OF_TEN_WORDS / 10
}

fn count(n: usize) -> u64 {
    u64::try_from(n).unwrap_or(u64::MAX)
}

/// Calls for judging and repairing a report.
pub(crate) fn proving_calls(config: &AskConfig) -> Vec<ExpectedCalls> {
    let mut expected = Vec::new();
    let answer = answer_tokens(config);
    // A small judge needs none of these calls; which judge there is, the estimate is not told.
    let findings = answer / TOKENS_OF_A_FINDING;
    let judging = findings.div_ceil(count(PAIRS_OF_A_CALL));
    expected.push(ExpectedCalls {
        calls: judging,
        prompt: JUDGE_WORDING_TOKENS + count(PAIRS_OF_A_CALL) * JUDGED_TOKENS,
        completion: count(PAIRS_OF_A_CALL) * VERDICT_TOKENS,
    });
    if config.writing.repair_sentences > 0 {
        let passages = count(config.writing.repair_passages) * PASSAGE_TOKENS;
        let prompt = WORDING_TOKENS + passages + REPAIR_TOKENS;
        expected.push(ExpectedCalls { calls: 1, prompt, completion: REPAIR_TOKENS });
    }
    expected
}

#[cfg(test)]
mod tests;
