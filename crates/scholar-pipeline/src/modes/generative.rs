//! The paper's loop.
//!
//! 1. plan and gather: keyword queries, candidates, ranked and numbered once
//!    ([`Manuscript::gather`](crate::write::Manuscript::gather));
//! 2. write: [`draft()`](crate::write::draft()), a text that cites evidence numbers; [`refine()`], feedback of at most three
//!    items, worked through one after another: an item with a question searches for new evidence, a revision is accepted or
//!    the text stays; [`insert_citations`], citations for what has none;
//! 3. prove: [`conclude`], every sentence through the gates, references numbered.
//!
//! These are the steps in the paper's form; [`report`] writes ours. A model call that fails after the draft leaves its step out, with a notice. Source: arXiv 2411.14199 §2.2,
//! reference code `src/open_scholar.py::run`; deviations D7–D22.

use std::ops::ControlFlow;

use scholar_core::{Answer, AnswerMode};

use super::single_pass::shown_tokens;
use super::{Mode, single_pass};
use crate::budget::{ANSWER_TOKENS, ExpectedCalls, KEYWORD_TOKENS, WORDING_TOKENS};
use crate::config::{AskConfig, PosthocMode};
use crate::error::AskError;
use crate::frame::Frame;
use crate::write::citations::insert_citations;
use crate::write::{conclude, drafted};

mod feedback;
mod refine;
pub(crate) mod report;
mod revise;

use refine::refine;
pub(crate) use report::accept_revision;
pub(crate) use revise::revised_text;

/// Tokens of one paragraph. Ours.
const PARAGRAPH_TOKENS: u64 = 150;
/// Paragraphs of a typical long answer that lack a citation. Ours.
const UNCITED_PARAGRAPHS: u64 = 2;
/// Paragraphs of a typical long answer. Ours.
const PARAGRAPHS: u64 = 6;
/// Tokens of a reply of feedback. Ours.
const FEEDBACK_TOKENS: u64 = 300;

/// Its entry of the registry.
pub static MODE: Mode = Mode {
    id: AnswerMode::Generative,
    name: "generative",
    aliases: &[],
    title: "generative mode",
    summary: "Draft, feedback, revision, citation verification",
    needs_generator: true,
    retrieves: true,
    labels: true,
    calls,
    run: |frame| Box::pin(run(frame)),
};

async fn run(frame: &Frame<'_>) -> Result<Answer, AskError> {
    if report::is_wanted(frame.config) {
        return report::run(frame).await;
    }
    let mut manuscript = match drafted(frame).await? {
        ControlFlow::Continue(manuscript) => manuscript,
        ControlFlow::Break(answer) => return Ok(answer),
    };
    refine(frame, &mut manuscript).await;
    insert_citations(frame, &mut manuscript).await;
    conclude(frame, manuscript).await
}

fn calls(config: &AskConfig) -> Vec<ExpectedCalls> {
    if report::is_wanted(config) {
        return report::calls(config);
    }
    let mut expected = single_pass::calls(config);
    if config.task.labels().is_some() {
        return expected;
    }
    let passages = shown_tokens(config);
    let items = u64::try_from(config.feedback.items).unwrap_or(u64::MAX);
    if items > 0 {
        let prompt = WORDING_TOKENS + ANSWER_TOKENS;
        expected.push(ExpectedCalls { calls: 1, prompt, completion: FEEDBACK_TOKENS });
        let prompt = prompt + passages;
        expected.push(ExpectedCalls { calls: items, prompt, completion: ANSWER_TOKENS });
        if config.feedback.keywords > 0 && config.feedback.retrieve {
            let (prompt, completion) = (WORDING_TOKENS, KEYWORD_TOKENS);
            expected.push(ExpectedCalls { calls: items, prompt, completion });
        }
    }
    let lines = match config.posthoc {
        PosthocMode::All => PARAGRAPHS,
        PosthocMode::Uncited => UNCITED_PARAGRAPHS,
        PosthocMode::Sentence => 2 * UNCITED_PARAGRAPHS,
        PosthocMode::None => 0,
    };
    let prompt = WORDING_TOKENS + PARAGRAPH_TOKENS + passages;
    expected.push(ExpectedCalls { calls: lines, prompt, completion: PARAGRAPH_TOKENS });
    expected
}

/// The feedback parser as pairs, for golden files.
#[cfg(test)]
pub(crate) fn parse_feedback(
    reply: &str,
    parser: crate::config::FeedbackParser,
) -> Vec<(String, Option<String>)> {
    feedback::parse(reply, parser).into_iter().map(|item| (item.text, item.question)).collect()
}
