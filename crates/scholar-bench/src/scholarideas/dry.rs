//! Calls and tokens before anything is asked: the prompts are rendered over the real ideas and reports.

use serde::Serialize;

use super::coverage::judge::{COVERAGE, COVERAGE_TOKENS, tasks};
use super::model::Dataset;
use super::pairwise::judge::{PAIRWISE, VERDICT_TOKENS, pairs};
use super::reports::Reports;
use scholar_pipeline::prompts::Prompt;

/// Characters a token. Ours: English prose in the vocabularies in use.
const CHARACTERS_A_TOKEN: usize = 4;

/// What a measurement would ask of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Dry {
    /// Calls.
    pub calls: usize,
    /// Tokens of all prompts, estimated as characters divided by four.
    pub prompt_tokens: usize,
    /// Tokens of all replies at most.
    pub reply_tokens: usize,
}

impl Dry {
    fn call(&mut self, prompt: Prompt, values: &[(&str, &str)], most: usize) {
        let characters: usize = prompt
            .render(false, values)
            .iter()
            .map(|message| message.content.chars().count())
            .sum();
        self.calls += 1;
        self.prompt_tokens += characters.div_ceil(CHARACTERS_A_TOKEN);
        self.reply_tokens += most;
    }

    /// What the calls cost at most with these US dollars a million tokens of prompt and reply.
    pub fn dollars(&self, [prompt, reply]: [f64; 2]) -> f64 {
        let millions = |tokens: usize| crate::statistics::ratio(tokens, 1_000_000);
        millions(self.prompt_tokens) * prompt + millions(self.reply_tokens) * reply
    }
}

/// Grading every rubric of every idea with a report.
pub fn coverage(dataset: &Dataset, reports: &Reports) -> Dry {
    let mut dry = Dry::default();
    for (_, idea, report, rubric) in tasks(dataset, reports) {
        let values = [("idea", idea), ("report", report), ("statement", &rubric.statement)];
        dry.call(COVERAGE, &values, COVERAGE_TOKENS);
    }
    dry
}

/// Comparing the reports of two systems in both orders.
pub fn pairwise(dataset: &Dataset, a: &Reports, b: &Reports) -> Dry {
    let mut dry = Dry::default();
    for (_, idea, first, second) in pairs(dataset, a, b) {
        for (first, second) in [(first, second), (second, first)] {
            let values = [("idea", idea), ("first", first), ("second", second)];
            dry.call(PAIRWISE, &values, VERDICT_TOKENS);
        }
    }
    dry
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scholarideas::model::{Axis, Idea, Rubric, RubricType, Severity};
    use crate::scholarideas::reports::Report;

    #[test]
    fn what_would_be_asked_is_counted() {
        let rubric = Rubric {
            statement: "s".repeat(40),
            rubric_type: RubricType::Weakness,
            axis: Axis::Soundness,
            severity: Severity::Major,
        };
        let id = "ai_1".parse().expect("a name");
        let idea = Idea {
            id,
            text: "i".repeat(400),
            cutoff: "2024-01-01".parse().expect("a date"),
            rubrics: vec![rubric.clone(), Rubric { statement: "t".repeat(44), ..rubric }],
        };
        let report = Report { text: "r".repeat(4_000), evidence: None };
        let reports: Reports = [(id, report)].into();
        let dataset = Dataset { ideas: vec![idea] };
        let empty = COVERAGE.render(false, &[("idea", ""), ("report", ""), ("statement", "")]);
        let frame: usize = empty.iter().map(|message| message.content.len()).sum();
        let found = coverage(&dataset, &reports);
        let each = |statement: usize| (frame + 400 + 4_000 + statement).div_ceil(4);
        assert_eq!((found.calls, found.reply_tokens), (2, 2 * COVERAGE_TOKENS));
        assert_eq!(found.prompt_tokens, each(40) + each(44));
        let both = pairwise(&dataset, &reports, &reports);
        assert_eq!(both.calls, 2);
        assert!(both.prompt_tokens > 2 * 2_100);
        assert_eq!(coverage(&dataset, &Reports::new()), Dry::default());
        let million = Dry { calls: 1, prompt_tokens: 2_000_000, reply_tokens: 500_000 };
        assert!((million.dollars([2.5, 10.0]) - 10.0).abs() < 1e-12);
    }
}
