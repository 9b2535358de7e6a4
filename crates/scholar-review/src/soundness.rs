//! Soundness: does the literature support the methods?
//!
//! 1. [`methods`]: the methods of the idea, each with a query;
//! 2. [`read`]: per method, papers that a search finds and those that they cite, read in their sections on methods and results,
//!    summarised, and kept where relevant;
//! 3. [`mod@write`]: per method, support, contradictions and advice, every sentence proven;
//! 4. [`summary`]: the whole in a few sentences.
//!
//! Source: arXiv 2510.16234, soundness module; specification B3.

pub(crate) mod methods;
pub(crate) mod read;
pub(crate) mod summary;
pub(crate) mod write;

use futures::StreamExt as _;
use scholar_core::Reference;
use scholar_core::{Notice, NoticeKind};

use crate::desk::Desk;
use crate::library::Library;
use crate::report::{MethodReview, Summary};
use methods::Planned;

/// The module's result; references are numbered within each item.
pub(crate) struct Draft {
    /// Each review with its own references.
    pub(crate) reviews: Vec<(MethodReview, Vec<Reference>)>,
    pub(crate) summary: Option<Summary>,
}

/// Runs the module.
///
/// # Errors
/// Why there is nothing, for people.
pub(crate) async fn run(desk: &Desk<'_>, library: &Library<'_>) -> Result<Draft, String> {
    let planned = methods::find(desk).await?;
    if planned.is_empty() {
        let message = "the idea names no method: nothing to review for soundness";
        desk.frame.notice(
            Notice::new(NoticeKind::InsufficientEvidence, message)
                .with_hint("describe how the question shall be answered"),
        );
        return Ok(Draft { reviews: Vec::new(), summary: None });
    }
    let reviews: Vec<(MethodReview, Vec<Reference>)> = futures::stream::iter(planned)
        .map(|planned| review(desk, library, planned))
        .buffered(desk.config.concurrency.max(1))
        .collect()
        .await;
    let summary = summary::write(desk, &reviews).await;
    Ok(Draft { reviews, summary })
}

async fn review(
    desk: &Desk<'_>,
    library: &Library<'_>,
    planned: Planned,
) -> (MethodReview, Vec<Reference>) {
    let read = read::evidence(desk, library, &planned).await;
    write::review(desk, planned, read).await
}
