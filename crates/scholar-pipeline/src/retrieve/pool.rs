//! The pool: every passage that the searches of a round brought, once.

use scholar_core::Retrieved;

mod cap;
mod dedup;

pub(crate) use cap::cap;
pub use dedup::dedup;

/// Keeps what has at least `min` citations, if more than `top_n` remain; unknown counts as none.
pub(crate) fn filter_by_citations(pool: &mut Vec<Retrieved>, min: Option<u32>, top_n: usize) {
    let Some(min) = min else { return };
    let cited = |hit: &Retrieved| hit.paper.citation_count.is_some_and(|n| n >= min);
    if pool.iter().filter(|hit| cited(hit)).count() > top_n {
        pool.retain(cited);
    }
}
