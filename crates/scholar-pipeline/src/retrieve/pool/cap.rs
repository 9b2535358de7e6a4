//! At most a few passages of one paper.

use std::collections::HashMap;

use scholar_core::Ranked;

use crate::config::CapRule;

/// Walks `ranked` from the best and leaves out what exceeds `max` passages of a paper.
///
/// Deviation D3: [`CapRule::Upstream`] counts by title, empty titles together, and lets `max + 1` through.
pub(crate) fn cap(ranked: Vec<Ranked>, max: usize, rule: CapRule) -> Vec<Ranked> {
    let mut counts: HashMap<String, usize> = HashMap::new();
    let limit = match rule {
        CapRule::Paper => max,
        CapRule::Upstream => max + 1,
    };
    let mut kept = Vec::with_capacity(ranked.len());
    for passage in ranked {
        let key = match rule {
            CapRule::Paper => passage.retrieved.paper.id.to_string(),
            CapRule::Upstream => passage.retrieved.passage.title.clone(),
        };
        let count = counts.entry(key).or_default();
        if *count < limit {
            *count += 1;
            kept.push(passage);
        }
    }
    kept
}
