//! Evidence-first answers: a digest of verbatim sentences, selected, grouped and cited in code.
//!
//! For a small language model or none. What such a model was measured to do badly (citing, judging, joining) is done in code
//! ([`config::EvidenceConfig`] has the choices); what it does passably is asked for on top and checked: search
//! queries where code finds the question uncovered, headings, and a synthesis of at most five sentences.
//!
//! ```text
//! passages → sentences that may be shown → scores → choice without repetition
//!          → checks in code ⇄ search (≤ 3 rounds) → enough to answer? → parts → digest → [headings, synthesis]
//! ```
//!
//! Its sentences pass the gates as they are made: a number from code, the exact span, the source's own words. Those of the
//! synthesis have gates of their own.

pub mod config;

mod abstain;
mod assemble;
mod candidate;
mod checks;
mod condense;
mod digest;
mod direction;
mod facet;
mod filter;
mod informative;
mod model;
mod pattern;
mod question;
mod reply;
mod score;
mod select;
mod state;
mod synthesis;
mod terms;

use scholar_core::{Answer, AnswerMode, Notice, NoticeKind, Query, Question};

pub use abstain::Diagnosis;
pub use config::{EvidenceConfig, EvidenceIs};
pub use digest::{EvidenceAnswer, digest};

use super::Mode;
use crate::budget::ExpectedCalls;
use crate::error::AskError;
use crate::evidence::EvidenceRegistry;
use crate::frame::Frame;
use crate::retrieve::{self, Round};

/// Its entry of the registry.
pub static MODE: Mode = Mode {
    id: AnswerMode::Evidence,
    name: "evidence",
    aliases: &["evidence-first"],
    title: "evidence-first mode",
    summary: "The best supporting sentences, verbatim, grouped and ordered in code",
    needs_generator: false,
    retrieves: true,
    labels: false,
    // Queries, headings and the synthesis.
    calls: |_| vec![ExpectedCalls { calls: 3, prompt: 1_200, completion: 150 }],
    run: |frame| Box::pin(run(frame)),
};

/// Retrieves broadly, then lets the evidence speak.
async fn run(frame: &Frame<'_>) -> Result<Answer, AskError> {
    let question = Query::from(frame.question);
    let queries = [question.clone()];
    let mut registry = EvidenceRegistry::new();
    let shown = retrieve::gather(frame, &queries, &question, Round::Digest, &mut registry).await?;
    let n_shown = shown.len();
    let passages = shown.into_iter().map(|evidence| evidence.ranked).collect();
    // Every notice in the result was seen by the log already.
    let result = digest(frame, passages).await.map_err(AskError::prove)?;
    for found in result.evidence.into_iter().skip(n_shown) {
        registry.add(found);
    }
    frame.report_added(&registry, n_shown, "searches of the checks");
    if let (Some(labels), false) = (frame.config.task.labels(), result.answer.abstained) {
        frame.notice(no_label(frame.question, &result.answer, labels));
    }
    Ok(result.answer)
}

/// That a verdict is left to the reader, with what it would rest on.
fn no_label(question: &Question, answer: &Answer, [yes, no]: [&str; 2]) -> Notice {
    let mut message = format!("this mode gives evidence, no label “{yes}” or “{no}”");
    if let Some([effect, none]) = digest::reported_effects(question, answer) {
        message = format!(
            "{message}; by their wording, {effect} of the papers shown report an effect and {none} report none"
        );
    }
    Notice::new(NoticeKind::Weak, message)
        .with_hint("read the sentences, or pass --mode generative with a model that may judge")
}

#[cfg(test)]
mod tests;
