//! What a run will use, before it runs.

use scholar_core::{GeneratorInfo, TokenUsage};
use serde::{Deserialize, Serialize};

use super::meter::cost;

/// Tokens of one shown passage with its number and title: 256 words at 1.3 tokens a word, rounded up. Ours.
pub(crate) const PASSAGE_TOKENS: u64 = 360;
/// Tokens of a prompt's fixed wording. Ours, measured on the prompt files.
pub(crate) const WORDING_TOKENS: u64 = 400;
/// Tokens of a typical long answer. Source: OpenScholar's answers have 300 to 700 words.
pub(crate) const ANSWER_TOKENS: u64 = 900;
/// Tokens of a reply of keyword queries. Ours.
pub(crate) const KEYWORD_TOKENS: u64 = 50;

/// Calls of one kind that a mode is expected to make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExpectedCalls {
    /// Number of such calls for one question.
    pub calls: u64,
    /// Tokens of each prompt.
    pub prompt: u64,
    /// Tokens of each reply.
    pub completion: u64,
}

/// An expectation, not a limit: replies may be shorter or longer, passages too.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// Calls of the generator.
    pub calls: u64,
    /// Prompt and completion tokens of all calls.
    pub usage: TokenUsage,
    /// US dollars; `None` when the price is unknown.
    pub usd: Option<f64>,
}

impl Estimate {
    /// The sum of `expected`, at the generator's price; without a generator nothing is paid.
    pub fn of(expected: &[ExpectedCalls], generator: Option<&GeneratorInfo>) -> Self {
        let mut usage = TokenUsage::default();
        for kind in expected {
            let ExpectedCalls { calls, prompt, completion } = *kind;
            usage += TokenUsage { prompt: calls * prompt, completion: calls * completion };
        }
        let calls = expected.iter().map(|kind| kind.calls).sum();
        let usd = generator.map_or(Some(0.0), |info| cost(usage, info));
        Self { calls, usage, usd }
    }
}
