//! What a run will use, before it runs.

use scholar_core::{GeneratorInfo, TokenUsage};
use serde::{Deserialize, Serialize};

use super::meter::cost;
use crate::ask::mode_for;
use crate::config::{AskConfig, PosthocMode};
use scholar_core::AnswerMode;

/// Tokens of one shown passage with its number and title: 256 words at 1.3 tokens a word, rounded up. Ours.
const PASSAGE_TOKENS: u64 = 360;
/// Tokens of a prompt's fixed wording. Ours, measured on the prompt files.
const WORDING_TOKENS: u64 = 400;
/// Tokens of a typical long answer. Source: OpenScholar's answers have 300 to 700 words.
const ANSWER_TOKENS: u64 = 900;
/// Tokens of one paragraph. Ours.
const PARAGRAPH_TOKENS: u64 = 150;
/// Paragraphs of a typical long answer that lack a citation. Ours.
const UNCITED_PARAGRAPHS: u64 = 2;
/// Paragraphs of a typical long answer. Ours.
const PARAGRAPHS: u64 = 6;

/// An expectation, not a limit: replies may be shorter or longer, passages too.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// Calls of the generator.
    pub calls: u64,
    /// Their tokens.
    pub usage: TokenUsage,
    /// US dollars; `None` when the price is unknown.
    pub usd: Option<f64>,
}

/// What answering one question with `config` and this generator will use. Judging by a model is not included.
pub fn estimate(config: &AskConfig, generator: Option<&GeneratorInfo>) -> Estimate {
    let (mode, _) = mode_for(config.mode, generator);
    let mut sum = Sum { calls: 0, usage: TokenUsage::default() };
    let passages = u64::try_from(config.ranking.top_n).unwrap_or(u64::MAX) * PASSAGE_TOKENS;
    let keywords = config.retrieval.keywords > 0;
    if generator.is_some() {
        match mode {
            AnswerMode::NoRetrieval => sum.add(1, WORDING_TOKENS, ANSWER_TOKENS),
            AnswerMode::SinglePass => {
                sum.add(u64::from(keywords), WORDING_TOKENS, 50);
                sum.add(1, WORDING_TOKENS + passages, ANSWER_TOKENS);
            }
            AnswerMode::Generative => {
                sum.add(u64::from(keywords), WORDING_TOKENS, 50);
                sum.add(1, WORDING_TOKENS + passages, ANSWER_TOKENS);
                if config.task.labels().is_none() {
                    loop_calls(config, passages, &mut sum);
                }
            }
            // Queries, headings and the synthesis: prompts of at most 1,200 tokens.
            AnswerMode::Evidence => sum.add(3, 1_200, 150),
        }
    }
    let usd = generator
        .map_or(Some(0.0), |info| info.usd_per_million.map(|price| cost(sum.usage, price)));
    Estimate { calls: sum.calls, usage: sum.usage, usd }
}

fn loop_calls(config: &AskConfig, passages: u64, sum: &mut Sum) {
    let items = u64::try_from(config.feedback.items).unwrap_or(u64::MAX);
    if items > 0 {
        sum.add(1, WORDING_TOKENS + ANSWER_TOKENS, 300);
        sum.add(items, WORDING_TOKENS + ANSWER_TOKENS + passages, ANSWER_TOKENS);
        if config.feedback.keywords > 0 && config.feedback.retrieve {
            sum.add(items, WORDING_TOKENS, 50);
        }
    }
    let lines = match config.posthoc {
        PosthocMode::All => PARAGRAPHS,
        PosthocMode::Uncited => UNCITED_PARAGRAPHS,
        PosthocMode::Sentence => 2 * UNCITED_PARAGRAPHS,
        PosthocMode::None => 0,
    };
    sum.add(lines, WORDING_TOKENS + PARAGRAPH_TOKENS + passages, PARAGRAPH_TOKENS);
}

struct Sum {
    calls: u64,
    usage: TokenUsage,
}

impl Sum {
    fn add(&mut self, calls: u64, prompt: u64, completion: u64) {
        self.calls += calls;
        self.usage += TokenUsage { prompt: calls * prompt, completion: calls * completion };
    }
}

#[cfg(test)]
mod tests {
    use scholar_core::GeneratorStrength;

    use super::*;
    use crate::config::ModeChoice;

    #[test]
    fn the_loop_costs_more_than_a_draft_and_a_model_without_price_has_none() {
        let mut info = GeneratorInfo {
            model: "m".to_owned(),
            context_tokens: 8_000,
            strength: GeneratorStrength::Strong,
            local: false,
            usd_per_million: Some((2.0, 10.0)),
        };
        let mut config = AskConfig::paper();
        let whole = estimate(&config, Some(&info));
        // Keywords, draft, feedback, three revisions, two paragraphs.
        assert_eq!(whole.calls, 8);
        let expected = cost(whole.usage, (2.0, 10.0));
        assert!(whole.usd.is_some_and(|usd| (usd - expected).abs() < 1e-12 && usd > 0.05));
        config.mode = ModeChoice::SinglePass;
        let single = estimate(&config, Some(&info));
        assert!(single.calls == 2 && single.usage.total() < whole.usage.total());
        info.usd_per_million = None;
        assert_eq!(estimate(&config, Some(&info)).usd, None);
        config.mode = ModeChoice::Auto;
        let none = estimate(&config, None);
        assert_eq!((none.calls, none.usd), (0, Some(0.0)));
    }
}
