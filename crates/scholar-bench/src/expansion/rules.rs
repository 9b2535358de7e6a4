//! Which rule fuses links and hits best.

use scholar_pipeline::retrieve::links::{LinkCount, LinkRule};
use serde::Serialize;

use super::{CUTS, Material, Way, recall};
use crate::statistics::mean;

/// Numbers of hits whose links count.
pub(super) const SEEDS: [usize; 5] = [3, 5, 10, 20, 30];
/// Weights of links beside 1 of the search.
const WEIGHTS: [f32; 7] = [0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0];
const COUNTS: [LinkCount; 3] = [LinkCount::Each, LinkCount::Discounted, LinkCount::Shared];
/// Every rule that is tried.
pub const RULES: [LinkRule; SEEDS.len() * WEIGHTS.len() * COUNTS.len()] = all();

const fn all() -> [LinkRule; SEEDS.len() * WEIGHTS.len() * COUNTS.len()] {
    let first = LinkRule { seeds: SEEDS[0], count: COUNTS[0], weight: WEIGHTS[0] };
    let mut rules = [first; SEEDS.len() * WEIGHTS.len() * COUNTS.len()];
    let mut at = 0;
    while at < rules.len() {
        let (seeds, rest) = (SEEDS[at % SEEDS.len()], at / SEEDS.len());
        let (weight, count) = (WEIGHTS[rest % WEIGHTS.len()], COUNTS[rest / WEIGHTS.len()]);
        rules[at] = LinkRule { seeds, count, weight };
        at += 1;
    }
    rules
}

/// A rule and what it reached on the queries it was chosen with.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Tuned {
    /// Which links are followed.
    pub way: Way,
    /// The rule.
    pub rule: LinkRule,
    /// Mean recall at the cuts, mean over queries.
    pub reached: f64,
    /// The same of the reranked search.
    pub search: f64,
    /// Whether it reaches less than the reranked search on one of the sets: no rule that was tried loses on none.
    pub loses: bool,
}

/// The rule with the highest mean recall at the cuts over `materials`, of those that reach no less than the reranked search, if
/// there are any; the first of equal ones.
pub fn tune(materials: &[Material], way: Way) -> Tuned {
    tune_together(&[materials], way)
}

/// The same over several sets, each of which counts alike, however many queries it has. A rule must lose on none of them: what a
/// person's papers resemble is not known.
pub fn tune_together(sets: &[&[Material]], way: Way) -> Tuned {
    tune_among(sets, way, |_| true)
}

/// The best rule for each number of seeds: what fewer links cost.
pub fn tune_by_seeds(sets: &[&[Material]], way: Way) -> Vec<Tuned> {
    SEEDS.iter().map(|seeds| tune_among(sets, way, |rule| rule.seeds == *seeds)).collect()
}

/// What a rule reaches on the sets.
pub fn rated(sets: &[&[Material]], way: Way, rule: LinkRule) -> Tuned {
    let by_set = |score: &dyn Fn(&Material) -> f64| -> Vec<f64> {
        sets.iter().map(|set| mean(&set.iter().map(score).collect::<Vec<f64>>())).collect()
    };
    let search = by_set(&|one| at_cuts(one, &one.reranked));
    let reached = by_set(&|one| at_cuts(one, &one.fused(way, rule)));
    let loses = reached.iter().zip(&search).any(|(with, without)| with < without);
    Tuned { way, rule, reached: mean(&reached), search: mean(&search), loses }
}

fn tune_among(sets: &[&[Material]], way: Way, is_in: impl Fn(&LinkRule) -> bool) -> Tuned {
    let tried = RULES.into_iter().filter(is_in).map(|rule| rated(sets, way, rule));
    let none = Tuned { way, rule: RULES[0], reached: f64::NEG_INFINITY, search: 0.0, loses: true };
    tried.fold(none, |best, one| {
        let is_better = match (one.loses, best.loses) {
            (false, true) => true,
            (true, false) => false,
            _ => one.reached > best.reached,
        };
        if is_better { one } else { best }
    })
}

fn at_cuts(material: &Material, ranking: &[scholar_core::PaperId]) -> f64 {
    mean(&CUTS.map(|cut| recall(ranking, &material.gold, cut)))
}
