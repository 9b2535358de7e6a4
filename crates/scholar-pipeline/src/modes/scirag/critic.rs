//! What is still missing, as sub-queries: of the first answer, and of a node's.
//!
//! Source: arXiv 2511.14362 §3.2; specification A3.4.

use scholar_core::PortError;

use super::config::{GapCritic, NodeReport};
use super::desk::Desk;
use super::gaps::{self, Verdict};
use super::node::{Explored, Place, numbered, reasons_text};
use crate::config::CallSampling;
use crate::prompts::{self, Prompt};

/// What the critic of the first answer wants searched for.
pub(super) struct Gaps {
    /// What is missing, in its words.
    pub(super) unmet: Vec<String>,
    /// Sub-queries.
    pub(super) queries: Vec<String>,
}

/// Criticises the first answer against outline and question. A critic that fails finds nothing, with a notice.
pub(super) async fn of_draft(
    desk: &Desk<'_>,
    question: &str,
    outline: &str,
    form: &str,
    answer: &str,
) -> Gaps {
    let config = &desk.frame.config.scirag;
    let most = config.breadth();
    let count = most.to_string();
    let values = [
        ("question", question),
        ("outline", outline),
        ("answer", answer),
        ("form", form),
        ("most", count.as_str()),
    ];
    let known = [question.to_owned()];
    match config.gap_critic {
        GapCritic::OneStage => {
            let queries = ask(desk, "gaps", prompts::SCIRAG_GAPS_ONE_STAGE, &values).await;
            Gaps { unmet: Vec::new(), queries: gaps::new_queries(queries, &known, most) }
        }
        GapCritic::TwoStage => {
            let Some(unmet) = unmet(desk, prompts::SCIRAG_GAPS_UNMET, &values).await else {
                return Gaps { unmet: Vec::new(), queries: Vec::new() };
            };
            let queries = queries_for(desk, question, &unmet, &count).await;
            Gaps { unmet, queries: gaps::new_queries(queries, &known, most) }
        }
    }
}

/// Criticises a node's answer, of which a rough one is enough.
pub(super) async fn of_node(desk: &Desk<'_>, place: &Place, explored: &mut Explored) {
    let config = &desk.frame.config.scirag;
    let most = config.breadth();
    let (count, path) = (most.to_string(), place.written_path());
    let answer = match (config.node_report, &explored.record.answer) {
        (NodeReport::Answer, Some(answer)) => answer.clone(),
        (NodeReport::Answer, None) => return,
        (NodeReport::Evidence, _) => reasons_text(&explored.reasons, &numbered(&explored.passages)),
    };
    let values = [
        ("path", path.as_str()),
        ("query", place.query()),
        ("answer", answer.as_str()),
        ("most", count.as_str()),
    ];
    let queries = match config.gap_critic {
        GapCritic::OneStage => {
            ask(desk, "gaps", prompts::SCIRAG_GAPS_NODE_ONE_STAGE, &values).await
        }
        GapCritic::TwoStage => {
            let unmet = unmet(desk, prompts::SCIRAG_GAPS_NODE, &values).await;
            let Some(unmet) = unmet else { return };
            let queries = queries_for(desk, place.query(), &unmet, &count).await;
            explored.record.gaps = unmet;
            queries
        }
    };
    explored.queries = gaps::new_queries(queries, &place.path, most);
}

/// The first stage: what is missing, `None` where nothing is.
async fn unmet(desk: &Desk<'_>, prompt: Prompt, values: &[(&str, &str)]) -> Option<Vec<String>> {
    match desk.text("gaps", prompt, values, sampling(desk)).await {
        Ok(reply) => gaps::unmet(&reply),
        Err(error) => {
            failed(desk, "gaps", &error);
            None
        }
    }
}

/// The second stage: queries for what is missing.
async fn queries_for(desk: &Desk<'_>, question: &str, unmet: &[String], most: &str) -> Vec<String> {
    let unmet: String = unmet.iter().map(|line| format!("- {line}\n")).collect();
    let values = [("question", question), ("unmet", unmet.as_str()), ("most", most)];
    ask(desk, "queries", prompts::SCIRAG_GAPS_QUERIES, &values).await
}

/// Queries of a reply; one that has neither queries nor the word that ends it is asked for again, once.
async fn ask(desk: &Desk<'_>, step: &str, prompt: Prompt, values: &[(&str, &str)]) -> Vec<String> {
    for step in [step.to_owned(), format!("{step} again")] {
        match desk.text(&step, prompt, values, sampling(desk)).await {
            Ok(reply) => match gaps::read(&reply) {
                Verdict::Complete => return Vec::new(),
                Verdict::Queries(queries) => return queries,
                Verdict::Unreadable => {}
            },
            Err(error) => {
                failed(desk, &step, &error);
                return Vec::new();
            }
        }
    }
    desk.unused(step, "no query could be read from two replies; nothing more is searched for");
    Vec::new()
}

fn sampling(desk: &Desk<'_>) -> CallSampling {
    desk.frame.config.scirag.sampling.gaps
}

fn failed(desk: &Desk<'_>, step: &str, error: &PortError) {
    desk.frame.skipped(&desk.purpose(step), error);
}
