//! What a question costs by depth of `SciRAG`'s tree: real searches, links and prompts, replies of fixed length.
//!
//! The model is a script ([`TypicalModel`]): tokens of prompts are those that a real model would be sent, tokens of replies are
//! those of typical ones, and how many sub-questions a critic asks for is fixed. Prices are thus expectations, and nothing is
//! said about quality or time. Beside them stand the numbers of arXiv 2511.14362, table 7.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use scholar_core::{Question, TokenUsage};
use scholar_pipeline::config::Task;
use scholar_pipeline::config::scirag::{DEEPEST, SciragConfig};
use scholar_pipeline::{AskConfig, AskError, Event, Outcome, Ports, ask};
use serde::Serialize;

pub use model::TypicalModel;

use crate::scholarqa::published::{SCIRAG_DEPTHS, in_table};
use crate::statistics::{Estimate, SEED, estimate};

mod model;

/// One question at one depth.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DepthRow {
    /// Levels below the first answer.
    pub depth: usize,
    /// The question.
    pub question: String,
    /// Nodes of the tree below the root, explored or not.
    pub nodes: usize,
    /// Nodes for which the citation graph was asked.
    pub expanded: usize,
    /// Model calls.
    pub calls: u64,
    /// Calls by step.
    pub steps: BTreeMap<String, u64>,
    /// Tokens of prompts.
    pub prompt_tokens: u64,
    /// Tokens of replies.
    pub completion_tokens: u64,
    /// Dollars, at the price that the model states.
    pub usd: f64,
}

/// Asks every question at every depth from 0 to [`DEEPEST`].
///
/// `ports` needs no generator: the typical model takes its place.
///
/// # Errors
/// When a question cannot be asked.
pub async fn measure(
    questions: &[Question],
    ports: &Ports,
    done: &mut (dyn FnMut() + Send),
) -> Result<Vec<DepthRow>, AskError> {
    let mut rows = Vec::new();
    for depth in 0..=DEEPEST {
        let scirag = SciragConfig { max_depth: depth, ..SciragConfig::paper() };
        let config = AskConfig::scirag(scirag, Task::Default);
        for question in questions {
            let mut ports = ports.clone();
            ports.generator = Some(Arc::new(TypicalModel::new()));
            let outcome = ask(&ports, question, &config, &()).await?;
            rows.push(row(depth, question, &outcome));
            done();
        }
    }
    Ok(rows)
}

fn row(depth: usize, question: &Question, outcome: &Outcome<scholar_core::Answer>) -> DepthRow {
    let mut steps: BTreeMap<String, u64> = BTreeMap::new();
    for event in &outcome.trace {
        if let Event::Generating { purpose, .. } = event {
            *steps.entry(model::step(purpose).to_owned()).or_default() += 1;
        }
    }
    let nodes = outcome.value.tree.as_ref().map_or(&[][..], |tree| &tree.nodes);
    let is_expanded = |node: &&scholar_core::TreeNode| {
        node.decision == Some(scholar_core::ExpansionDecision::Expanded)
    };
    let TokenUsage { prompt, completion } = outcome.spent.usage;
    DepthRow {
        depth,
        question: question.as_str().to_owned(),
        nodes: nodes.len().saturating_sub(1),
        expanded: nodes.iter().filter(is_expanded).count(),
        calls: outcome.spent.calls,
        steps,
        prompt_tokens: prompt,
        completion_tokens: completion,
        usd: outcome.spent.usd.unwrap_or(f64::NAN),
    }
}

/// The table by depth, beside the published one, and calls by step.
pub fn markdown(rows: &[DepthRow]) -> String {
    let of = |depth: usize| rows.iter().filter(move |row| row.depth == depth);
    let n = of(0).count();
    let mut text = format!(
        "Means over {n} questions, 95 % intervals by bootstrap over the questions (2,000 resamples, seed {SEED}).\n\n\
         | depth | nodes | of them expanded | calls | prompt tokens | completion tokens | USD per question | SciRAG, table 7: USD † |\n\
         |---|---|---|---|---|---|---|---|\n"
    );
    for depth in 0..=DEEPEST {
        let column = |value: &dyn Fn(&DepthRow) -> f64| -> Option<Estimate> {
            estimate(&of(depth).map(value).collect::<Vec<_>>(), SEED)
        };
        let whole = |value: Option<Estimate>, digits: usize| {
            value.map_or("–".to_owned(), |one| {
                format!("{:.digits$} ({:.digits$}–{:.digits$})", one.mean, one.low, one.high)
            })
        };
        let published =
            in_table(SCIRAG_DEPTHS, &format!("SciRAG (GPT-4o) depth {depth}"), "usd_per_q");
        let published = published.map_or("–".to_owned(), |usd| format!("{usd:.2} †"));
        // Writing to a string cannot fail.
        let _infallible = writeln!(
            text,
            "| {depth} | {} | {} | {} | {} | {} | {} | {published} |",
            whole(column(&|row| float(row.nodes as u64)), 1),
            whole(column(&|row| float(row.expanded as u64)), 1),
            whole(column(&|row| float(row.calls)), 1),
            whole(column(&|row| float(row.prompt_tokens)), 0),
            whole(column(&|row| float(row.completion_tokens)), 0),
            whole(column(&|row| row.usd), 3),
        );
    }
    let mut names: Vec<&String> = rows.iter().flat_map(|row| row.steps.keys()).collect();
    names.sort_unstable();
    names.dedup();
    text.push_str("\nCalls of one question by step (mean):\n\n| step |");
    for depth in 0..=DEEPEST {
        let _infallible = write!(text, " depth {depth} |");
    }
    let _infallible = writeln!(text, "\n|---|{}", "---|".repeat(DEEPEST + 1));
    for name in names {
        let _infallible = write!(text, "| {name} |");
        for depth in 0..=DEEPEST {
            let calls: u64 = of(depth).filter_map(|row| row.steps.get(name)).sum();
            let _infallible = write!(text, " {:.1} |", float(calls) / float(n.max(1) as u64));
        }
        text.push('\n');
    }
    text
}

#[expect(clippy::cast_precision_loss, reason = "tokens of a question stay far below 2^53")]
fn float(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use scholar_testing::{FakeAttributor, FakeReranker, MemoryGraph, MemoryRetriever, corpus};

    use super::*;

    #[test]
    fn deeper_trees_cost_more_and_stand_beside_the_published_price() {
        let mut papers = corpus::papers();
        let ids: Vec<_> = papers.iter().map(|paper| paper.meta.id.clone()).collect();
        for (at, paper) in papers.iter_mut().enumerate() {
            paper.references = vec![ids[(at + 1) % ids.len()].clone()];
        }
        let retriever = Arc::new(MemoryRetriever::corpus());
        let mut ports = Ports::new(retriever, Arc::new(FakeAttributor::new()));
        ports.reranker = Some(Arc::new(FakeReranker::new()));
        ports.graph = Some(Arc::new(MemoryGraph::new(papers)));
        let question = "How can hallucinations in neural machine translation be reduced?";
        let questions = [Question::new(question).expect("a question")];
        let mut n = 0;
        let rows = futures::executor::block_on(measure(&questions, &ports, &mut || n += 1));
        let rows = rows.expect("measured");
        assert_eq!((rows.len(), n), (5, 5));
        assert_eq!((rows[0].nodes, rows[1].nodes, rows[2].nodes), (0, 3, 7));
        assert!(rows.windows(2).all(|pair| pair[0].usd < pair[1].usd), "{rows:?}");
        for row in &rows {
            assert_eq!(row.steps.values().sum::<u64>(), row.calls, "{row:?}");
            let usd = (float(row.prompt_tokens) * 2.5 + float(row.completion_tokens) * 10.0) / 1e6;
            assert!((row.usd - usd).abs() < 1e-9);
        }
        let text = markdown(&rows);
        assert!(
            text.contains("| 0.09 † |") && text.contains("| decide | 0.0 | 3.0 | 7.0 |"),
            "{text}"
        );
    }
}
