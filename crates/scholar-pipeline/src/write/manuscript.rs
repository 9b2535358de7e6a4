//! The text under work and the evidence its prompts may show.

use std::ops::ControlFlow;

use scholar_core::{Answer, Query};

use crate::error::AskError;
use crate::evidence::{Evidence, EvidenceRegistry};
use crate::frame::Frame;
use crate::retrieve::{self, Round, queries};

/// The text under work and the evidence its prompts may show.
pub struct Manuscript {
    /// Every passage that was shown, by number.
    pub registry: EvidenceRegistry,
    /// The passages that prompts show, best first.
    pub visible: Vec<Evidence>,
    /// The text, with markers of evidence numbers; empty before the draft.
    pub text: String,
}

impl Manuscript {
    /// Plans queries and gathers evidence for the frame's question; breaks with an answer that says there is none when
    /// nothing is found. A task without passages gathers nothing.
    ///
    /// # Errors
    /// When every search failed.
    pub async fn gather(frame: &Frame<'_>) -> Result<ControlFlow<Answer, Self>, AskError> {
        let mut registry = frame.registry();
        let mut visible = Vec::new();
        if frame.config.task.uses_passages() {
            let question = Query::from(frame.question);
            let keywords = frame.config.retrieval.keywords;
            let queries = queries::queries(frame, &question, keywords).await;
            visible =
                retrieve::gather(frame, &queries, &question, Round::First, &mut registry).await?;
            if visible.is_empty() {
                let why = nothing_found(frame, &queries);
                return Ok(ControlFlow::Break(frame.abstain(&why)));
            }
        }
        Ok(ControlFlow::Continue(Self { registry, visible, text: String::new() }))
    }
}

fn nothing_found(frame: &Frame<'_>, queries: &[Query]) -> String {
    let searched: Vec<String> = queries.iter().map(|q| format!("\"{}\"", q.as_str())).collect();
    format!("no passage was found in {} for {}", frame.ports.retriever.name(), searched.join(", "))
}
