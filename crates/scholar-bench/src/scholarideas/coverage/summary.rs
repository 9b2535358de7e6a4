//! Means of grades, over all rubrics and over parts of them.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::Grade;
use crate::scholarideas::model::{Axis, Discipline, IdeaId, RubricType, Severity};
use crate::statistics::welch::Sample;
use crate::statistics::{Estimate, SEED, estimate_by, mean_of_groups};

/// A part of the rubrics.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Slice {
    /// All of them.
    Overall,
    /// Those of one field.
    Discipline(Discipline),
    /// Praise, or criticism.
    Type(RubricType),
    /// On soundness, or on contribution.
    Axis(Axis),
    /// Major, or minor.
    Severity(Severity),
}

impl Slice {
    /// All slices in the order of the paper's tables.
    pub fn all() -> Vec<Self> {
        let mut all = vec![Self::Overall];
        all.extend(Discipline::ALL.map(Self::Discipline));
        all.extend(RubricType::ALL.map(Self::Type));
        all.extend(Axis::ALL.map(Self::Axis));
        all.extend(Severity::ALL.map(Self::Severity));
        all
    }

    /// Its name, as the columns of the paper's tables are called here.
    pub fn name(self) -> &'static str {
        match self {
            Self::Overall => "overall",
            Self::Discipline(one) => one.name(),
            Self::Type(one) => one.name(),
            Self::Axis(one) => one.name(),
            Self::Severity(one) => one.name(),
        }
    }

    /// Whether the rubric of a grade belongs to it.
    pub fn takes(self, grade: &Grade) -> bool {
        match self {
            Self::Overall => true,
            Self::Discipline(one) => grade.idea.discipline == one,
            Self::Type(one) => grade.rubric.rubric_type == one,
            Self::Axis(one) => grade.rubric.axis == one,
            Self::Severity(one) => grade.rubric.severity == one,
        }
    }
}

impl fmt::Display for Slice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What the grades of a slice are like.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SliceSummary {
    /// Name of the slice.
    pub slice: String,
    /// Rubrics with a grade.
    pub n: usize,
    /// Rubrics without one, left out of everything else.
    pub missing: usize,
    /// Ideas with a grade.
    pub ideas: usize,
    /// Mean over the rubrics with an interval that draws ideas; `None` without a grade.
    pub mean: Option<Estimate>,
    /// Standard deviation over the rubrics; `None` of fewer than two.
    pub sd: Option<f64>,
    /// The middle grade; of two, their mean.
    pub median: Option<f64>,
    /// The lowest grade.
    pub min: Option<f64>,
    /// The highest grade.
    pub max: Option<f64>,
}

/// A summary of each slice that has rubrics.
pub fn summaries(grades: &[Grade]) -> Vec<SliceSummary> {
    let of = |slice: Slice| {
        let taken: Vec<&Grade> = grades.iter().filter(|grade| slice.takes(grade)).collect();
        (!taken.is_empty()).then(|| summary(slice, &taken))
    };
    Slice::all().into_iter().filter_map(of).collect()
}

fn summary(slice: Slice, grades: &[&Grade]) -> SliceSummary {
    let groups = scores_by_idea(grades.iter().copied());
    let mut scores: Vec<f64> = groups.values().flatten().copied().collect();
    scores.sort_by(f64::total_cmp);
    let groups: Vec<Vec<f64>> = groups.into_values().collect();
    SliceSummary {
        slice: slice.name().to_owned(),
        n: scores.len(),
        missing: grades.len() - scores.len(),
        ideas: groups.len(),
        mean: estimate_by(&groups, SEED, mean_of_groups),
        sd: Sample::of(&scores).map(|sample| sample.sd),
        median: median(&scores),
        min: scores.first().copied(),
        max: scores.last().copied(),
    }
}

/// Grades by idea, those without one left out.
pub(in crate::scholarideas) fn scores_by_idea<'a>(
    grades: impl Iterator<Item = &'a Grade>,
) -> BTreeMap<IdeaId, Vec<f64>> {
    let mut groups: BTreeMap<IdeaId, Vec<f64>> = BTreeMap::new();
    for grade in grades {
        if let Some(score) = grade.score() {
            groups.entry(grade.idea).or_default().push(score);
        }
    }
    groups
}

/// Of sorted values.
fn median(sorted: &[f64]) -> Option<f64> {
    let (n, last) = (sorted.len(), sorted.len().checked_sub(1)?);
    Some(f64::midpoint(sorted[last / 2], sorted[n / 2]))
}
