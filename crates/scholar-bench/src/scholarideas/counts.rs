//! Counts of a dataset beside those of the release, so that a reader knows which part of it was measured.
//!
//! The release has 118 ideas and 1,076 rubrics; the paper reports 117 ideas, some of which were not released and some of which it
//! does not list. What is released is what can be counted.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use jiff::civil::Date;
use serde::Serialize;

use super::model::{Axis, Dataset, Discipline, Idea, Rubric, RubricType, Severity};
use super::published::{Table, table};
use crate::statistics::ratio;

/// Schema of the counts.
pub const COUNTS_SCHEMA: &str = "openscholar.scholarideas-counts/1";

/// Smallest, mean and largest of a list of counts.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Spread {
    /// The smallest.
    pub min: usize,
    /// The mean.
    pub mean: f64,
    /// The largest.
    pub max: usize,
}

impl Spread {
    /// `None` of nothing.
    fn of(values: impl IntoIterator<Item = usize>) -> Option<Self> {
        let values: Vec<usize> = values.into_iter().collect();
        let mean = ratio(values.iter().sum(), values.len());
        Some(Self { min: *values.iter().min()?, mean, max: *values.iter().max()? })
    }
}

/// What one field has, or all together.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FieldCounts {
    /// Name of the field, or `total`.
    pub discipline: &'static str,
    /// Number of ideas.
    pub ideas: usize,
    /// Number of rubrics.
    pub rubrics: usize,
    /// Rubrics an idea.
    pub rubrics_per_idea: Spread,
    /// Words of an idea, split at white space.
    pub words: Spread,
    /// Earliest and latest cut-off.
    pub cutoffs: (Date, Date),
    /// Rubrics by type, axis and severity, each in the order of its `ALL`.
    pub labels: [[usize; 2]; 3],
}

/// Rubrics of one label.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct LabelCount {
    /// Praise or criticism.
    #[serde(rename = "type")]
    pub rubric_type: RubricType,
    /// What it is about.
    pub axis: Axis,
    /// How much it weighs.
    pub severity: Severity,
    /// How many rubrics have this label.
    pub count: usize,
}

/// All counts of a dataset.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Counts {
    /// Always [`COUNTS_SCHEMA`].
    pub schema: &'static str,
    /// One entry for each field that has ideas, then the total.
    pub fields: Vec<FieldCounts>,
    /// One entry for each combination of labels.
    pub labels: Vec<LabelCount>,
    /// Words of a statement.
    pub statement_words: Spread,
    /// Ideas by the year of their cut-off.
    pub cutoff_years: BTreeMap<i16, usize>,
    /// Statements that an idea has twice.
    pub repeated_statements: usize,
}

/// Counts what `dataset` has; `None` where it has no ideas or no rubrics.
pub fn count(dataset: &Dataset) -> Option<Counts> {
    let all: Vec<&Idea> = dataset.ideas.iter().collect();
    let mut fields = Vec::new();
    for discipline in Discipline::ALL {
        let of: Vec<&Idea> =
            all.iter().copied().filter(|idea| idea.id.discipline == discipline).collect();
        fields.extend(field(discipline.name(), &of));
    }
    fields.push(field("total", &all)?);
    let rubrics = || all.iter().flat_map(|idea| &idea.rubrics);
    let mut labels = Vec::new();
    for rubric_type in RubricType::ALL {
        for axis in Axis::ALL {
            for severity in Severity::ALL {
                let of = |rubric: &&Rubric| {
                    (rubric.rubric_type, rubric.axis, rubric.severity)
                        == (rubric_type, axis, severity)
                };
                let count = rubrics().filter(of).count();
                labels.push(LabelCount { rubric_type, axis, severity, count });
            }
        }
    }
    let mut cutoff_years = BTreeMap::new();
    for idea in &all {
        *cutoff_years.entry(idea.cutoff.year()).or_default() += 1;
    }
    let repeated = all.iter().map(|idea| {
        let distinct: BTreeSet<&str> =
            idea.rubrics.iter().map(|rubric| rubric.statement.as_str()).collect();
        idea.rubrics.len() - distinct.len()
    });
    Some(Counts {
        schema: COUNTS_SCHEMA,
        fields,
        labels,
        statement_words: Spread::of(rubrics().map(|rubric| words(&rubric.statement)))?,
        cutoff_years,
        repeated_statements: repeated.sum(),
    })
}

fn words(text: &str) -> usize {
    text.split_whitespace().count()
}

fn field(discipline: &'static str, ideas: &[&Idea]) -> Option<FieldCounts> {
    let of = |test: &dyn Fn(&Rubric) -> bool| {
        ideas.iter().flat_map(|idea| &idea.rubrics).filter(|rubric| test(rubric)).count()
    };
    Some(FieldCounts {
        discipline,
        ideas: ideas.len(),
        rubrics: of(&|_| true),
        rubrics_per_idea: Spread::of(ideas.iter().map(|idea| idea.rubrics.len()))?,
        words: Spread::of(ideas.iter().map(|idea| words(&idea.text)))?,
        cutoffs: (
            ideas.iter().map(|idea| idea.cutoff).min()?,
            ideas.iter().map(|idea| idea.cutoff).max()?,
        ),
        labels: [
            RubricType::ALL.map(|one| of(&|rubric| rubric.rubric_type == one)),
            Axis::ALL.map(|one| of(&|rubric| rubric.axis == one)),
            Severity::ALL.map(|one| of(&|rubric| rubric.severity == one)),
        ],
    })
}

impl FieldCounts {
    /// What the release's table says of the field, in the order of its columns from the second on.
    fn cells(&self) -> [String; 11] {
        let Self { ideas, rubrics, rubrics_per_idea: per_idea, words, cutoffs, .. } = self;
        let column = |name: &str| table(Table::Counts).cell(self.discipline, name).to_owned();
        [
            ideas.to_string(),
            column("ideas_paper"),
            rubrics.to_string(),
            column("rubrics_paper"),
            per_idea.min.to_string(),
            format!("{:.2}", per_idea.mean),
            per_idea.max.to_string(),
            words.min.to_string(),
            format!("{:.1}", words.mean),
            words.max.to_string(),
            format!("{}, {}", cutoffs.0, cutoffs.1),
        ]
    }
}

/// Where `counts` differ from those of the release, one line each; nothing for the whole release.
pub fn differences(counts: &Counts) -> Vec<String> {
    let release = table(Table::Counts);
    let mut found = Vec::new();
    let mut compare = |what: String, here: &str, there: &str| {
        if here != there {
            found.push(format!("{what}: {here} here, {there} in the release"));
        }
    };
    for name in Discipline::ALL.map(Discipline::name).into_iter().chain(["total"]) {
        let Some(field) = counts.fields.iter().find(|field| field.discipline == name) else {
            compare(format!("{name} ideas"), "0", release.cell(name, "ideas_on_disk"));
            continue;
        };
        let (first, last) = (release.cell(name, "cutoff_first"), release.cell(name, "cutoff_last"));
        let cells = field.cells();
        for (at, column) in [
            (0, "ideas_on_disk"),
            (2, "rubrics_on_disk"),
            (4, "rubrics_min"),
            (5, "rubrics_mean"),
            (6, "rubrics_max"),
            (7, "words_min"),
            (8, "words_mean"),
            (9, "words_max"),
        ] {
            let what = format!("{name} {}", column.trim_end_matches("_on_disk"));
            compare(what, &cells[at], release.cell(name, column));
        }
        compare(format!("{name} cut-offs"), &cells[10], &format!("{first}, {last}"));
    }
    let released = table(Table::Labels);
    for row in released.rows() {
        let [rubric_type, axis, severity, there] = [0, 1, 2, 3].map(|at| row[at]);
        let here = counts.labels.iter().find(|one| {
            (one.rubric_type.name(), one.axis.name(), one.severity.name())
                == (rubric_type, axis, severity)
        });
        let here = here.map_or(0, |one| one.count).to_string();
        compare(format!("{rubric_type} {axis} {severity} rubrics"), &here, there);
    }
    let words = counts.statement_words;
    let words = format!("{} to {}, mean {:.1}", words.min, words.max, words.mean);
    compare("words of a statement".to_owned(), &words, "5 to 95, mean 31.7");
    compare("repeated statements".to_owned(), &counts.repeated_statements.to_string(), "0");
    found
}

/// A table of the fields, the labels below it.
pub fn markdown(counts: &Counts) -> String {
    let mut text = String::from(
        "| field | ideas | in the paper † | rubrics | in the paper † | an idea | mean | at most | words | mean | at most | cut-offs |\n\
         |---|---|---|---|---|---|---|---|---|---|---|---|\n",
    );
    for field in &counts.fields {
        // Writing to a string cannot fail.
        let _infallible =
            writeln!(text, "| {} | {} |", field.discipline, field.cells().join(" | "));
    }
    text.push_str("\n| field | strength | weakness | soundness | contribution | major | minor |\n|---|---|---|---|---|---|---|\n");
    for field in &counts.fields {
        let cells: Vec<String> = field.labels.iter().flatten().map(usize::to_string).collect();
        let _infallible = writeln!(text, "| {} | {} |", field.discipline, cells.join(" | "));
    }
    text.push_str("\n| type | axis | severity | rubrics |\n|---|---|---|---|\n");
    for one in &counts.labels {
        let _infallible = writeln!(
            text,
            "| {} | {} | {} | {} |",
            one.rubric_type.name(),
            one.axis.name(),
            one.severity.name(),
            one.count
        );
    }
    let Spread { min, mean, max } = counts.statement_words;
    let _infallible = write!(text, "\nA statement has {min} to {max} words, {mean:.1} on average.");
    text.push('\n');
    text
}
