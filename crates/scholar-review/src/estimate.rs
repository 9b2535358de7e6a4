//! What a review will use, before it runs: from the fewest calls that a short idea takes to the most that the settings allow.
//!
//! Source of the formula: specification B7. The judge's calls, and how many methods and papers an idea comes to where the preset
//! sets no limit, are ours.

use scholar_core::GeneratorInfo;
use scholar_pipeline::budget::{Estimate, ExpectedCalls};
use scholar_pipeline::proof::section_judge::PAIRS_OF_A_CALL;

use crate::config::{QueriesBy, ReviewConfig};

/// What a review will use. A limit on calls holds all the same, and is within it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReviewEstimate {
    /// For an idea with few methods and claims, of which little is found.
    pub least: Estimate,
    /// For an idea that comes to every limit, with sentences that have to be judged twice. Replies that cannot be read would add
    /// to it.
    pub most: Estimate,
}

/// How much an idea comes to.
#[derive(Debug, Clone, Copy)]
struct Size {
    /// Methods, where the preset allows as many.
    methods: usize,
    /// Dimensions and statements.
    dimensions: usize,
    statements: usize,
    /// Different papers among the passages found for a method, and among those of a search.
    papers_of_search: usize,
    /// Papers cited by one hit that are here.
    references_here: usize,
    /// Passages of one paper that are read beside its abstract: none where only abstracts are stored.
    passages: usize,
    /// Of the papers of all searches, the share that is met once, as so many in ten.
    different_in_ten: usize,
    /// Share of scored papers that are relevant, as so many in ten.
    relevant_in_ten: usize,
    /// Judge calls for one method or dimension: sentences that cite, in groups, and once more those that failed.
    judge_calls: usize,
}

/// Ours. The recorded runs in `docs/results/scholarideas.md` lie between the two.
const SMALL: Size = Size {
    methods: 4,
    dimensions: 3,
    statements: 4,
    papers_of_search: 6,
    references_here: 0,
    passages: 0,
    different_in_ten: 5,
    relevant_in_ten: 2,
    judge_calls: 1,
};
const LARGE: Size = Size {
    methods: 12,
    dimensions: 7,
    statements: 28,
    papers_of_search: 20,
    references_here: 10,
    passages: 6,
    different_in_ten: 8,
    relevant_in_ten: 6,
    judge_calls: 3,
};

/// Tokens of an idea; of the wording of a prompt; of one passage; of what was found in one paper. Ours.
const IDEA: u64 = 1_000;
const WORDING: u64 = 400;
const PASSAGE: u64 = 360;
const FINDING: u64 = 60;
/// Tokens of a query, a summary, a score with its reason, a comparison, a review, a point about the plan. Ours.
const QUERY: u64 = 60;
const SUMMARY: u64 = 250;
const SCORE: u64 = 60;
const COMPARISON: u64 = 250;
const REVIEW: u64 = 700;
const POINT: u64 = 110;
/// Tokens of one sentence with the passage that it is judged by, and of the verdict. Ours.
const JUDGED: u64 = PASSAGE + 60;
const VERDICT: u64 = 50;

/// Calls and tokens that a review by `config` is expected to take. `judged_by_model` says that a language model judges whether
/// passages support sentences.
pub fn estimate(
    config: &ReviewConfig,
    generator: Option<&GeneratorInfo>,
    judged_by_model: bool,
) -> ReviewEstimate {
    let of = |size: Size| {
        let mut expected = Vec::new();
        if config.modules.soundness() {
            expected.extend(soundness(config, size, judged_by_model));
        }
        if config.modules.contribution() {
            expected.extend(contribution(config, size, judged_by_model));
        }
        if config.appraisal_points > 0 {
            let read = count(10 * size.methods) * FINDING;
            expected.push(calls(1, read, count(config.appraisal_points) * POINT));
        }
        within(&expected, config.budget.max_calls, generator)
    };
    ReviewEstimate { least: of(SMALL), most: of(LARGE) }
}

/// The sum of `expected`, cut down to `most` calls where that is less.
fn within(
    expected: &[ExpectedCalls],
    most: Option<u64>,
    generator: Option<&GeneratorInfo>,
) -> Estimate {
    let whole = Estimate::of(expected, generator);
    let Some(most) = most.filter(|most| *most < whole.calls) else { return whole };
    let share = |n: u64| n * most / whole.calls;
    let mut usage = whole.usage;
    usage.prompt = share(usage.prompt);
    usage.completion = share(usage.completion);
    #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^52 calls")]
    let usd = whole.usd.map(|usd| usd * most as f64 / whole.calls as f64);
    Estimate { calls: most, usage, usd }
}

fn calls(n: usize, prompt: u64, completion: u64) -> ExpectedCalls {
    ExpectedCalls { calls: count(n), prompt: prompt + IDEA + WORDING, completion }
}

/// Calls of the judge for `items` methods or dimensions.
fn judging(items: usize, size: Size) -> ExpectedCalls {
    let pairs = count(PAIRS_OF_A_CALL);
    ExpectedCalls {
        calls: count(items * size.judge_calls),
        prompt: WORDING + pairs * JUDGED,
        completion: pairs * VERDICT,
    }
}

fn count(n: usize) -> u64 {
    u64::try_from(n).unwrap_or(u64::MAX)
}

fn soundness(config: &ReviewConfig, size: Size, judged: bool) -> Vec<ExpectedCalls> {
    let own = &config.soundness;
    let methods = own.max_methods.unwrap_or(size.methods).min(size.methods);
    let hits = own.snippets.min(size.papers_of_search);
    let cited = hits * own.references_per_hit.min(size.references_here);
    let papers = (hits + cited).min(own.papers_per_method.unwrap_or(usize::MAX));
    let batch = own.papers_per_summary.max(1).min(papers.max(1));
    let read = count(own.passages_per_paper.min(size.passages) + 1) * PASSAGE;
    let mut expected = vec![calls(1, 0, count(methods) * (REVIEW / 4))];
    if own.queries == QueriesBy::OwnCall {
        expected.push(calls(methods, 0, QUERY));
    }
    if !config.ablation.mre {
        let summaries = methods * papers.div_ceil(batch);
        expected.push(calls(summaries, count(batch) * read, count(batch) * SUMMARY));
    }
    expected.push(calls(methods, count(papers / 2) * SUMMARY, REVIEW));
    expected.push(calls(1, count(methods) * REVIEW / 2, REVIEW / 2));
    expected.extend(judged.then(|| judging(methods, size)));
    expected
}

fn contribution(config: &ReviewConfig, size: Size, judged: bool) -> Vec<ExpectedCalls> {
    let own = &config.contribution;
    let dimensions = own.max_dimensions.min(size.dimensions);
    let each = own.statements_per_dimension.min(size.statements);
    let statements = (dimensions * each).min(size.statements);
    let searches = statements * own.queries_per_statement;
    let found =
        searches * own.papers_per_query.min(size.papers_of_search) * size.different_in_ten / 10;
    let scored = found.min(own.scored_papers.unwrap_or(usize::MAX));
    let seeds = (scored * size.relevant_in_ten / 10).min(own.seeds.unwrap_or(usize::MAX));
    let each = own.recommended_per_seed + own.references_per_seed.min(size.references_here);
    let new = seeds * each * size.different_in_ten / 10;
    let added = if config.ablation.pa { 0 } else { new.min(own.embed_top_k) };
    let compared = own.sample.min((scored + added) * size.relevant_in_ten / 10);
    let batch = own.papers_per_relevance.max(1);
    let pairs = count(own.papers_per_comparison.max(1));
    let relevance = scored.div_ceil(batch) + added.div_ceil(batch);
    let mut expected = vec![calls(1, 0, REVIEW)];
    if own.queries == QueriesBy::OwnCall {
        expected.push(calls(statements, 0, QUERY));
    }
    expected.push(calls(relevance, count(batch) * PASSAGE, count(batch) * SCORE));
    if !config.ablation.pc {
        let comparisons = compared.div_ceil(own.papers_per_comparison.max(1));
        expected.push(calls(comparisons, pairs * PASSAGE, pairs * COMPARISON));
    }
    let noted = count(compared) * (PASSAGE + COMPARISON);
    expected.push(calls(1, noted, count(dimensions) * REVIEW));
    expected.extend(judged.then(|| judging(dimensions, size)));
    expected
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{LEAN_CALLS, ModulesWanted};

    #[test]
    fn recorded_runs_lie_within_the_range_of_lean() {
        let ReviewEstimate { least, most } = estimate(&ReviewConfig::lean(), None, true);
        // Calls and tokens of five runs, without the call for points about the plan: docs/results/scholarideas.md.
        for (calls, tokens) in
            [(50, 170_265), (43, 141_963), (49, 170_777), (37, 128_439), (46, 141_901)]
        {
            assert!((least.calls..=most.calls).contains(&calls), "{} {}", least.calls, most.calls);
            let range = least.usage.total()..=most.usage.total();
            assert!(range.contains(&tokens), "{tokens} in {range:?}");
        }
        assert!(most.calls <= LEAN_CALLS);
        assert!(least.calls >= 20, "{}: a range that says something", least.calls);
    }

    #[test]
    fn paper_is_far_beyond_lean_and_less_is_asked_of_less() {
        let of = |config: &ReviewConfig, judged| estimate(config, None, judged);
        let (lean, paper) = (ReviewConfig::lean(), ReviewConfig::paper());
        assert!(of(&paper, true).least.calls > of(&lean, true).most.calls);
        assert!(of(&lean, false).most.calls < of(&lean, true).most.calls);
        let half = ReviewConfig { modules: ModulesWanted::Soundness, ..lean.clone() };
        assert!(of(&half, true).least.calls < of(&lean, true).least.calls);
        let plain = ReviewConfig { appraisal_points: 0, ..lean.clone() };
        assert_eq!(of(&plain, true).least.calls + 1, of(&lean, true).least.calls);
        let mut ablated = paper.clone();
        ablated.ablation.mre = true;
        assert!(of(&ablated, true).most.calls < of(&paper, true).most.calls);
        let mut tight = lean;
        tight.budget.max_calls = Some(10);
        let both = of(&tight, true);
        assert_eq!((both.least.calls, both.most.calls), (10, 10));
    }
}
