use super::*;
use crate::budget::Estimate;

/// What the prompts' files and passages amount to, at four characters a token.
#[test]
fn a_question_takes_no_more_tokens_than_the_published_loop() {
    let mut config = AskConfig::report();
    for plan in [WritingPlan::Draft, WritingPlan::Quotes] {
        config.writing.plan = plan;
        let tokens = Estimate::of(&calls(&config), None).usage.total();
        assert!((15_000..=36_000).contains(&tokens), "{plan:?}: {tokens}");
    }
    let wording = |prompt: prompts::Prompt| {
        let values: Vec<(String, &str)> =
            prompt.variables().into_iter().map(|name| (name, "")).collect();
        let values: Vec<(&str, &str)> =
            values.iter().map(|(name, value)| (name.as_str(), *value)).collect();
        prompt.render(false, &values).iter().map(|message| message.content.len() / 4).sum::<usize>()
    };
    assert!(wording(prompts::REPORT) as u64 <= REPORT_WORDING_TOKENS);
    assert!(wording(prompts::JUDGE_SECTION) as u64 <= JUDGE_WORDING_TOKENS);
    for prompt in [prompts::REPORT_REVISE, prompts::REPORT_REPAIR, prompts::QUOTES] {
        assert!(wording(prompt) as u64 <= WORDING_TOKENS, "{}", prompt.name);
    }
}
