//! Calls that one question is expected to take. Source: specification A12.

use crate::budget::{ANSWER_TOKENS, ExpectedCalls, PASSAGE_TOKENS, WORDING_TOKENS};
use crate::config::scirag::{
    CandidateRanking, Expansion, GapCritic, NodeReport, SciragConfig, SufficiencyBy, SymbolicSteps,
    SymbolicWhen,
};
use crate::config::{AskConfig, Task};
use crate::modes::generative::report;

/// Sub-queries of a typical critic. Ours: the source's prompt asks for as few as possible.
const TYPICAL_BREADTH: u64 = 3;
/// Of ten nodes above the greatest depth, those whose critic asks for more. Ours.
const NODES_WITH_CHILDREN: u64 = 5;
/// Tokens of an outline, of a critic's reply and of a node's answer. Ours.
const OUTLINE_TOKENS: u64 = 200;
const GAP_TOKENS: u64 = 120;
const NODE_TOKENS: u64 = 350;
/// Tokens of a symbolic reply over ten papers. Ours.
const SYMBOLIC_TOKENS: u64 = 900;

/// Expected calls by kind.
pub(super) fn calls(config: &AskConfig) -> Vec<ExpectedCalls> {
    let scirag = &config.scirag;
    let once = |prompt: u64, completion: u64| ExpectedCalls { calls: 1, prompt, completion };
    let passages = count(config.ranking.top_n) * PASSAGE_TOKENS;
    let long =
        if config.task == Task::Default { report::answer_tokens(config) } else { ANSWER_TOKENS };
    let mut expected = Vec::new();
    if scirag.planner {
        expected.push(once(WORDING_TOKENS, OUTLINE_TOKENS));
    }
    expected.push(once(2 * WORDING_TOKENS + passages, long));
    let (nodes, inner) = tree(scirag);
    if nodes > 0 {
        let stages = stages(scirag);
        expected.push(ExpectedCalls {
            calls: stages,
            prompt: WORDING_TOKENS + long,
            completion: GAP_TOKENS,
        });
        expected.extend(of_nodes(scirag, nodes, inner));
        let shown = count(scirag.merged_passages.min(scirag.dense_keep * 4)) * PASSAGE_TOKENS;
        let found = nodes * NODE_TOKENS;
        expected.push(once(2 * WORDING_TOKENS + shown + found + long, long));
        let rounds = count(scirag.refine_rounds);
        let feedback =
            ExpectedCalls { calls: rounds, prompt: WORDING_TOKENS + long, completion: GAP_TOKENS };
        let edit = ExpectedCalls {
            calls: rounds,
            prompt: WORDING_TOKENS + shown + long,
            completion: long,
        };
        expected.extend([feedback, edit]);
    }
    if report::is_wanted(config) {
        expected.extend(report::proving_calls(config));
    }
    if config.task == Task::SinglePaperQa {
        expected.push(once(WORDING_TOKENS + passages + long, 60));
    }
    expected
}

fn of_nodes(scirag: &SciragConfig, nodes: u64, inner: u64) -> Vec<ExpectedCalls> {
    let kept = count(scirag.dense_keep) * PASSAGE_TOKENS;
    let many =
        |calls: u64, prompt: u64, completion: u64| ExpectedCalls { calls, prompt, completion };
    let mut expected = Vec::new();
    if scirag.expansion == Expansion::Adaptive && scirag.sufficiency == SufficiencyBy::Model {
        let prompt = WORDING_TOKENS + count(scirag.snippets) * PASSAGE_TOKENS;
        expected.push(many(nodes, prompt, 5));
    }
    if scirag.rerank == CandidateRanking::Symbolic {
        let judged = match (scirag.symbolic_when, scirag.expansion) {
            (SymbolicWhen::Expanded, Expansion::Never) => 0,
            (SymbolicWhen::Expanded, Expansion::Adaptive) => nodes.div_ceil(2),
            _ => nodes,
        };
        let (first, later) = match scirag.symbolic {
            SymbolicSteps::One => (judged, 0),
            SymbolicSteps::Three => (judged, 2 * judged),
            SymbolicSteps::Four => (judged, 3 * judged),
        };
        expected.push(many(first, WORDING_TOKENS + kept, SYMBOLIC_TOKENS));
        expected.push(many(later, WORDING_TOKENS + 2 * SYMBOLIC_TOKENS, SYMBOLIC_TOKENS / 2));
    }
    if scirag.node_report == NodeReport::Answer {
        expected.push(many(nodes, WORDING_TOKENS + kept, NODE_TOKENS));
        let prompt = WORDING_TOKENS + kept + 3 * NODE_TOKENS;
        expected.push(many(inner, prompt, NODE_TOKENS));
    }
    let criticised = nodes_above_the_deepest(scirag);
    expected.push(many(criticised * stages(scirag), WORDING_TOKENS + NODE_TOKENS, GAP_TOKENS));
    expected
}

/// Nodes of a typical tree, and how many of them have children.
fn tree(scirag: &SciragConfig) -> (u64, u64) {
    let breadth = count(scirag.breadth()).min(TYPICAL_BREADTH);
    let (mut nodes, mut inner, mut level) = (0, 0, breadth);
    for depth in 1..=scirag.levels() {
        nodes += level;
        if depth < scirag.levels() {
            let with_children = (level * NODES_WITH_CHILDREN).div_ceil(10);
            inner += with_children;
            level = with_children * breadth.min(2);
        }
    }
    (nodes, inner)
}

fn nodes_above_the_deepest(scirag: &SciragConfig) -> u64 {
    let above = SciragConfig { max_depth: scirag.levels().saturating_sub(1), ..scirag.clone() };
    tree(&above).0
}

fn stages(scirag: &SciragConfig) -> u64 {
    match scirag.gap_critic {
        GapCritic::TwoStage => 2,
        GapCritic::OneStage => 1,
    }
}

fn count(n: usize) -> u64 {
    u64::try_from(n).unwrap_or(u64::MAX)
}
