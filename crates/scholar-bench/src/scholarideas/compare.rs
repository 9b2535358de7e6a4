//! Coverage of several systems beside each other and beside the paper's.
//!
//! Systems are compared on the rubrics that both have a grade of. Three tests stand side by side: Welch's t over rubrics, which is the
//! paper's and takes the rubrics of an idea for independent; the paired difference with an interval that draws ideas; and a mixed
//! model with a random intercept for each idea. Where they disagree, the last two are to be believed.
//!
//! Source: arXiv 2510.16234, tables 1, 3, 8 to 13.

mod report;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::coverage::summary::scores_by_idea;
use super::coverage::{Grade, Slice, SliceSummary, summaries};
use super::model::IdeaId;
use crate::statistics::mixed_model::{Effect, Likelihood, MixedModel, Row, fit};
use crate::statistics::welch::{Sample, Welch, welch};
use crate::statistics::{
    Difference, Estimate, SEED, difference_by, estimate_by, mean, mean_of_groups,
};

pub use report::markdown;

/// Schema of the comparison.
pub const COMPARISON_SCHEMA: &str = "openscholar.scholarideas-comparison/1";
/// The paper's aim: its own margin over the best baseline.
pub const AIM: f64 = 0.20;

/// A system with its grades.
#[derive(Debug, Clone, PartialEq)]
pub struct System {
    /// Its name in the report.
    pub name: String,
    /// Its grades.
    pub grades: Vec<Grade>,
}

/// Systems compared.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// Always [`COMPARISON_SCHEMA`].
    pub schema: String,
    /// Each system's own means.
    pub systems: Vec<SystemSummary>,
    /// The first system against each other one, slice by slice.
    pub against: Vec<Against>,
}

/// A system's means.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SystemSummary {
    /// Its name.
    pub name: String,
    /// One entry per slice that has rubrics.
    pub slices: Vec<SliceSummary>,
}

/// Two systems on the rubrics of a slice that both have grades of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Against {
    /// The first system.
    pub system: String,
    /// The other one.
    pub baseline: String,
    /// Name of the slice.
    pub slice: String,
    /// Rubrics that both have a grade of.
    pub n: usize,
    /// Their ideas.
    pub ideas: usize,
    /// Means of both, the first system's first.
    pub means: [f64; 2],
    /// Welch's test over rubrics; `None` where it is undefined.
    pub welch: Option<Welch>,
    /// Mean difference with an interval that draws ideas, both systems' grades together.
    pub difference: Option<Difference>,
    /// Ratio of the means less one, with such an interval.
    pub margin: Option<Estimate>,
    /// Effect of the system in a model with a random intercept an idea.
    pub effect: Option<Effect>,
    /// That model.
    pub model: Option<MixedModel>,
}

/// Compares the first of `systems` with each other one, and tells what each is like.
pub fn compare(systems: &[System]) -> Comparison {
    let own = systems.iter().map(|system| SystemSummary {
        name: system.name.clone(),
        slices: summaries(&system.grades),
    });
    let mut against = Vec::new();
    if let [first, others @ ..] = systems {
        for other in others {
            against.extend(Slice::all().into_iter().filter_map(|slice| pair(first, other, slice)));
        }
    }
    Comparison { schema: COMPARISON_SCHEMA.to_owned(), systems: own.collect(), against }
}

/// Grades of both systems on the same rubrics of an idea.
type Both = (Vec<f64>, Vec<f64>);

fn pair(first: &System, other: &System, slice: Slice) -> Option<Against> {
    let other_scores: BTreeMap<(IdeaId, &str), f64> = other
        .grades
        .iter()
        .filter_map(|grade| Some(((grade.idea, grade.rubric.statement.as_str()), grade.score()?)))
        .collect();
    let mut ideas: BTreeMap<IdeaId, Both> = BTreeMap::new();
    for grade in first.grades.iter().filter(|grade| slice.takes(grade)) {
        let theirs = other_scores.get(&(grade.idea, grade.rubric.statement.as_str()));
        if let (Some(ours), Some(theirs)) = (grade.score(), theirs) {
            let (a, b) = ideas.entry(grade.idea).or_default();
            a.push(ours);
            b.push(*theirs);
        }
    }
    let both: Vec<Both> = ideas.into_values().collect();
    let all = |side: fn(&Both) -> &Vec<f64>| -> Vec<f64> {
        both.iter().flat_map(side).copied().collect()
    };
    let (a, b) = (all(|both| &both.0), all(|both| &both.1));
    if a.is_empty() {
        return None;
    }
    let groups = |side: fn(&Both) -> &Vec<f64>| both.iter().map(side).cloned().collect::<Vec<_>>();
    let ratio = |sample: &[&Both]| {
        let of = |side: fn(&Both) -> &Vec<f64>| {
            mean_of_groups(&sample.iter().map(|both| side(both)).collect::<Vec<_>>())
        };
        Some(of(|both| &both.0)? / of(|both| &both.1)? - 1.0)
    };
    let model = fit(&rows(&both), Likelihood::Restricted);
    Some(Against {
        system: first.name.clone(),
        baseline: other.name.clone(),
        slice: slice.name().to_owned(),
        n: a.len(),
        ideas: both.len(),
        means: [mean(&a), mean(&b)],
        welch: Sample::of(&a).zip(Sample::of(&b)).and_then(|(a, b)| welch(a, b)),
        difference: difference_by(
            &groups(|both| &both.0),
            &groups(|both| &both.1),
            SEED,
            mean_of_groups,
        ),
        margin: estimate_by(&both, SEED, ratio),
        effect: model.as_ref().and_then(|model| model.effects.get(1)).copied(),
        model,
    })
}

/// Both systems' grades, an idea a group; the second fixed effect is 1 for the first system.
fn rows(both: &[Both]) -> Vec<Vec<Row<2>>> {
    let row = |system: f64| move |y: &f64| Row { x: [1.0, system], y: *y };
    both.iter()
        .map(|(a, b)| a.iter().map(row(1.0)).chain(b.iter().map(row(0.0))).collect())
        .collect()
}

/// Ideas with a grade of each system, and those that only some have: what was compared and what was not.
pub fn ideas_of(systems: &[System]) -> (Vec<IdeaId>, Vec<IdeaId>) {
    let mut counts: BTreeMap<IdeaId, usize> = BTreeMap::new();
    for system in systems {
        for idea in scores_by_idea(system.grades.iter()).into_keys() {
            *counts.entry(idea).or_default() += 1;
        }
    }
    let (all, some): (Vec<_>, Vec<_>) =
        counts.into_iter().partition(|(_, count)| *count == systems.len());
    let names = |list: Vec<(IdeaId, usize)>| list.into_iter().map(|(idea, _)| idea).collect();
    (names(all), names(some))
}

#[cfg(test)]
mod tests;
