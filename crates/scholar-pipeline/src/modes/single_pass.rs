//! The baseline of retrieval-augmented generation: one draft over retrieved passages, its sentences proven.
//!
//! Source: arXiv 2411.14199 §4; tasks over one paper are answered like this.

use std::ops::ControlFlow;

use scholar_core::{Answer, AnswerMode};

use super::Mode;
use crate::budget::{ANSWER_TOKENS, ExpectedCalls, KEYWORD_TOKENS, PASSAGE_TOKENS, WORDING_TOKENS};
use crate::config::AskConfig;
use crate::error::AskError;
use crate::frame::Frame;
use crate::write::{conclude, drafted};

/// Its entry of the registry.
pub static MODE: Mode = Mode {
    id: AnswerMode::SinglePass,
    name: "single-pass",
    aliases: &[],
    title: "single-pass baseline",
    summary: "One draft over the retrieved passages",
    needs_generator: true,
    retrieves: true,
    labels: true,
    calls,
    run: |frame| Box::pin(run(frame)),
};

async fn run(frame: &Frame<'_>) -> Result<Answer, AskError> {
    match drafted(frame).await? {
        ControlFlow::Continue(manuscript) => conclude(frame, manuscript).await,
        ControlFlow::Break(answer) => Ok(answer),
    }
}

/// Keyword queries, where they are asked for, and a draft.
pub(super) fn calls(config: &AskConfig) -> Vec<ExpectedCalls> {
    let keywords = u64::from(config.retrieval.keywords > 0);
    let prompt = WORDING_TOKENS + shown_tokens(config);
    vec![
        ExpectedCalls { calls: keywords, prompt: WORDING_TOKENS, completion: KEYWORD_TOKENS },
        ExpectedCalls { calls: 1, prompt, completion: ANSWER_TOKENS },
    ]
}

/// Tokens of the passages that a prompt shows.
pub(super) fn shown_tokens(config: &AskConfig) -> u64 {
    u64::try_from(config.ranking.top_n).unwrap_or(u64::MAX) * PASSAGE_TOKENS
}
