//! What a review will use, before it runs.
//!
//! Source of the formula: specification B7. How many methods and papers an idea comes to is ours, where the preset sets no limit.

use scholar_core::GeneratorInfo;
use scholar_pipeline::budget::{Estimate, ExpectedCalls};

use crate::config::{QueriesBy, ReviewConfig};

/// Methods of a typical idea. Ours.
const METHODS: usize = 8;
/// Dimensions and statements of a typical idea. Ours.
const DIMENSIONS: usize = 4;
const STATEMENTS: usize = 8;
/// Different papers among the passages found for a method, and among those of a search. Ours.
const PAPERS_OF_SEARCH: usize = 12;
/// Papers cited by one hit that are here. Ours.
const REFERENCES_HERE: usize = 2;
/// Share of papers scored that are relevant, as one in so many. Ours.
const RELEVANT_ONE_IN: usize = 3;
/// Tokens of an idea; of the wording of a prompt; of one passage. Ours.
const IDEA: u64 = 1_000;
const WORDING: u64 = 300;
const PASSAGE: u64 = 360;
/// Tokens of a query, a summary, a score with its reason, a comparison, a review. Ours.
const QUERY: u64 = 60;
const SUMMARY: u64 = 250;
const SCORE: u64 = 60;
const COMPARISON: u64 = 250;
const REVIEW: u64 = 700;

/// Calls and tokens that a review by `config` is expected to take; judging by a model is not included. A limit on calls holds
/// all the same.
pub fn estimate(config: &ReviewConfig, generator: Option<&GeneratorInfo>) -> Estimate {
    let mut expected = Vec::new();
    if config.modules.soundness() {
        expected.extend(soundness(config));
    }
    if config.modules.contribution() {
        expected.extend(contribution(config));
    }
    Estimate::of(&expected, generator)
}

fn calls(n: usize, prompt: u64, completion: u64) -> ExpectedCalls {
    ExpectedCalls { calls: count(n), prompt: prompt + IDEA + WORDING, completion }
}

fn count(n: usize) -> u64 {
    u64::try_from(n).unwrap_or(u64::MAX)
}

fn soundness(config: &ReviewConfig) -> Vec<ExpectedCalls> {
    let own = &config.soundness;
    let methods = own.max_methods.unwrap_or(METHODS).min(METHODS);
    let hits = own.snippets.min(PAPERS_OF_SEARCH);
    let cited = hits * own.references_per_hit.min(REFERENCES_HERE);
    let papers = (hits + cited).min(own.papers_per_method.unwrap_or(usize::MAX));
    let batch = own.papers_per_summary.max(1).min(papers.max(1));
    let read = count(own.passages_per_paper.min(6) + 1) * PASSAGE;
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
    expected
}

fn contribution(config: &ReviewConfig) -> Vec<ExpectedCalls> {
    let own = &config.contribution;
    let dimensions = own.max_dimensions.min(DIMENSIONS);
    let statements = (dimensions * own.statements_per_dimension.min(STATEMENTS)).min(STATEMENTS);
    let found =
        statements * own.queries_per_statement * own.papers_per_query.min(PAPERS_OF_SEARCH) / 2;
    let scored = found.min(own.scored_papers.unwrap_or(usize::MAX));
    let seeds = (scored / RELEVANT_ONE_IN).min(own.seeds.unwrap_or(usize::MAX));
    let each = own.recommended_per_seed + own.references_per_seed.min(REFERENCES_HERE);
    let added = if config.ablation.pa { 0 } else { (seeds * each / 2).min(own.embed_top_k) };
    let compared = own.sample.min((scored + added) / RELEVANT_ONE_IN);
    let batch = count(own.papers_per_relevance.max(1));
    let pairs = count(own.papers_per_comparison.max(1));
    let relevance = scored.div_ceil(own.papers_per_relevance.max(1))
        + added.div_ceil(own.papers_per_relevance.max(1));
    let mut expected = vec![calls(1, 0, REVIEW)];
    if own.queries == QueriesBy::OwnCall {
        expected.push(calls(statements, 0, QUERY));
    }
    expected.push(calls(relevance, batch * PASSAGE, batch * SCORE));
    if !config.ablation.pc {
        let comparisons = compared.div_ceil(own.papers_per_comparison.max(1));
        expected.push(calls(comparisons, pairs * PASSAGE, pairs * COMPARISON));
    }
    let noted = count(compared) * (PASSAGE + COMPARISON);
    expected.push(calls(1, noted, count(dimensions) * REVIEW));
    expected
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{LEAN_CALLS, ModulesWanted};

    #[test]
    fn lean_is_within_its_limit_and_paper_far_beyond() {
        let calls = |config: &ReviewConfig| estimate(config, None).calls;
        let (lean, paper) = (ReviewConfig::lean(), ReviewConfig::paper());
        assert!(calls(&lean) <= LEAN_CALLS, "{}", calls(&lean));
        assert!(calls(&paper) > 5 * calls(&lean), "{}", calls(&paper));
        let half = ReviewConfig { modules: ModulesWanted::Soundness, ..lean.clone() };
        assert!(calls(&half) < calls(&lean));
        assert!(estimate(&lean, None).usage.total() < estimate(&paper, None).usage.total());
        let mut ablated = paper.clone();
        ablated.ablation.mre = true;
        assert!(calls(&ablated) < calls(&paper));
    }
}
