//! Contribution: what is new beside the nearest work?
//!
//! 1. [`claims`]: dimensions with statements and queries;
//! 2. [`papers`]: searches, relevance 0 to 5, recommendations and references of the relevant ones, nearness by vectors, relevance
//!    of the new ones, the most relevant of all;
//! 3. [`compare`]: each of these beside the idea, along every dimension;
//! 4. [`synthesis`]: strengths, weaknesses and suggestions by dimension, every sentence proven.
//!
//! Source: arXiv 2510.16234, contribution module; specification B4.

pub(crate) mod claims;
pub(crate) mod compare;
pub(crate) mod papers;
pub(crate) mod synthesis;

use scholar_core::{Notice, NoticeKind, Reference};

use crate::desk::Desk;
use crate::library::Library;
use crate::report::Contribution;

/// The module's result; references are numbered within each dimension.
pub(crate) struct Draft {
    pub(crate) contribution: Contribution,
    /// By dimension.
    pub(crate) references: Vec<Vec<Reference>>,
}

/// Runs the module.
///
/// # Errors
/// Why there is nothing, for people.
pub(crate) async fn run(desk: &Desk<'_>, library: &Library<'_>) -> Result<Draft, String> {
    let claims = claims::find(desk).await?;
    if claims.is_empty() {
        let message = "the idea claims no contribution: nothing to compare";
        desk.frame.notice(Notice::new(NoticeKind::InsufficientEvidence, message));
    }
    let dimensions: Vec<_> = claims.iter().map(|claim| claim.dimension.clone()).collect();
    let papers::Gathered { all, sample, funnel } = papers::gather(desk, library, &claims).await?;
    let compared = compare::compare(desk, &dimensions, sample).await;
    let comparisons: Vec<_> = compared.iter().map(|one| one.comparison.clone()).collect();
    let (reviews, references) = synthesis::write(desk, dimensions, &compared).await?;
    let contribution = Contribution {
        model_novelty: compare::novelty(&comparisons, None),
        funnel: crate::report::Funnel { compared: comparisons.len(), ..funnel },
        reviews,
        comparisons,
        nearest: Vec::new(),
        papers: all,
    };
    Ok(Draft { contribution, references })
}
