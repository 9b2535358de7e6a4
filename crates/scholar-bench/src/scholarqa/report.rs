//! Runs beside one another and beside what was published: Markdown, HTML, CSV, a page for each item.
//!
//! Parts: the runs and what they were; for each task the paper's table with published rows marked, every metric with interval,
//! n and judge, warnings, paired comparisons, ablations with plots; the judges' agreement with people. Published numbers
//! carry a dagger wherever they stand: other items, other judges, other models.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::item::Item;
use super::run::{Counts, Manifest, Run};
use super::score::{Metric, Scores};
use super::task::BenchTask;
use crate::judge::preference::Pairwise;

pub mod compare;
pub mod document;
pub mod pages;
pub mod people;
mod plot;
pub mod summary;
mod tables;

use compare::{Comparison, comparisons};
use document::{Block, Document};

/// Schema of the report's numbers.
pub const REPORT_SCHEMA: &str = "openscholar.bench-report/1";

/// A run with what it was measured at.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// Its folder, manifest and predictions.
    pub run: Run,
    /// Its items, where the task's file could be read.
    pub items: Vec<Item>,
    /// Scores, one for each way it was scored.
    pub scores: Vec<Scores>,
    /// What a model preferred when it read this run's answers beside another's.
    pub pairwise: Vec<Pairwise>,
}

/// Runs side by side, in three forms.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// For Markdown and HTML.
    pub document: Document,
    /// One line per number.
    pub csv: String,
    /// The numbers for programs.
    pub json: Value,
}

/// Sets `runs` beside one another. `head` says how the report was made: command and machine.
pub fn report(runs: &[Measured], head: &str) -> Report {
    let mut document = Document::new("ScholarQABench");
    document.text(head);
    document.table(tables::runs(runs));
    let mut compared: Vec<Comparison> = Vec::new();
    for task in BenchTask::ALL {
        let of_task: Vec<&Measured> =
            runs.iter().filter(|one| one.run.manifest.task == task).collect();
        if of_task.is_empty() {
            continue;
        }
        document.heading(task.title());
        document.table(tables::against_published(task, &of_task));
        document.text(tables::DAGGER);
        if let Some(verbatim) = tables::verbatim_citations(&of_task) {
            document.text(tables::VERBATIM);
            document.table(verbatim);
        }
        document.table(tables::metrics(&of_task));
        listed_papers(&mut document, &of_task);
        warnings(&mut document, &of_task);
        let found = comparisons(&of_task);
        if !found.is_empty() {
            document.text(
                "Paired comparison on the items that both runs have, bootstrap of the differences (2,000 resamples):",
            );
            document.table(compare::table(&found));
        }
        document.table(compare::preferences(&of_task));
        let doubts = compare::doubts(&of_task);
        if !doubts.is_empty() {
            document.text("What speaks against these verdicts:");
            document.list(doubts);
        }
        people::annotators(&mut document, &of_task);
        ablations(&mut document, task, &of_task);
        scirag(&mut document, task, &of_task);
        compared.extend(found);
    }
    people::agreement(&mut document, runs);
    Report { csv: tables::csv(runs), json: json_of(runs, &compared), document }
}

/// What is published of `SciRAG`'s parts and depths, beside runs of that system.
fn scirag(document: &mut Document, task: BenchTask, runs: &[&Measured]) {
    if runs.iter().all(|one| !one.run.manifest.system.starts_with("scirag")) {
        return;
    }
    if let Some(parts) = tables::scirag_parts(task) {
        document.text("SciRAG without one of its parts, as published (arXiv 2511.14362, table 4):");
        document.table(parts);
    }
    if task == BenchTask::Cs {
        document.text(
            "SciRAG's time and price of a question, as published (arXiv 2511.14362, table 7):",
        );
        document.table(tables::scirag_depths());
    }
}

/// What became of the papers that answers list, where they were looked up.
fn listed_papers(document: &mut Document, runs: &[&Measured]) {
    let mut lines: Vec<String> = Vec::new();
    for one in runs {
        let totals =
            one.scores.iter().filter_map(|scores| scores.hallucination.as_ref()?.totals.as_ref());
        for totals in totals {
            let line = format!("{}: {totals}", one.run.manifest.name);
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
    }
    if !lines.is_empty() {
        document.text("Papers that answers without passages list; citations are judged by the abstracts found:");
        document.list(lines);
    }
}

fn warnings(document: &mut Document, runs: &[&Measured]) {
    let mut lines = Vec::new();
    for one in runs {
        let Manifest { name, state, ended_by, counts, .. } = &one.run.manifest;
        let Counts { items, failed, cut, missing, .. } = *counts;
        let open = failed + cut + missing;
        if open > 0 {
            let why = ended_by.as_ref().map(|why| format!(" ({why})")).unwrap_or_default();
            lines.push(format!(
                "{name}: partial, {open} of {items} items without an answer; {state}{why}"
            ));
        }
        if one.scores.is_empty() {
            lines.push(format!(
                "{name}: not scored; openscholar bench score {}",
                one.run.folder.display()
            ));
        }
        for scores in &one.scores {
            let judge = judge_of(scores).unwrap_or_else(|| "no judge".to_owned());
            lines.extend(scores.warnings.iter().map(|what| format!("{name} ({judge}): {what}")));
        }
    }
    if !lines.is_empty() {
        document.text("Warnings:");
        document.list(lines);
    }
}

/// Runs of one system that differ in what was taken out of it, against the first that is whole.
fn ablations(document: &mut Document, task: BenchTask, runs: &[&Measured]) {
    let mut systems: BTreeMap<(&str, Option<&String>), Vec<&Measured>> = BTreeMap::new();
    for one in runs {
        let manifest = &one.run.manifest;
        let key = (manifest.system.as_str(), manifest.models.get("generator"));
        systems.entry(key).or_default().push(one);
    }
    for ((system, _), group) in systems {
        let whole = |one: &&&Measured| one.run.manifest.ablation == Default::default();
        if group.len() < 2 || !group.iter().any(|one| whole(&one)) {
            continue;
        }
        document.text(&format!("Parts taken out of {system}:"));
        document.table(tables::ablation(&group));
        for metric in tables::headline(task) {
            match plot::intervals(metric, &group) {
                Some(Ok(svg)) => document.blocks.push(Block::Figure {
                    name: document::slug(&format!("{}-{system}-{metric}", task.name())),
                    caption: format!("{metric} of {system} with parts taken out, 95 % intervals"),
                    svg,
                }),
                Some(Err(error)) => document.text(&format!("No plot of {metric}: {error}.")),
                None => {}
            }
        }
    }
}

/// Who judged, by name: of the citations if those were judged, else of the first metric that was.
pub fn judge_of(scores: &Scores) -> Option<String> {
    let first = || scores.metrics.iter().find_map(|metric| metric.judge.as_ref());
    citation_judge(scores).or_else(|| first().map(|pin| pin.name.clone()))
}

/// The judge of the citations, by name.
fn citation_judge(scores: &Scores) -> Option<String> {
    let found = scores.metrics.iter().find(|one| one.summary.metric.starts_with("citation "))?;
    found.judge.as_ref().map(|pin| pin.name.clone())
}

/// `metric` of the scores, with F1 as if it were a column's.
pub(crate) fn shown(scores: &Scores, metric: &str) -> Option<Shown> {
    if metric == CITATION_F1 {
        let estimate = scores.citation_f1?;
        let n = scores.metrics.iter().find(|m| m.summary.metric.starts_with("citation recall"))?;
        return Some(Shown {
            mean: estimate.mean * 100.0,
            low: estimate.low * 100.0,
            high: estimate.high * 100.0,
            n: n.summary.n,
        });
    }
    if metric == MEAN_GRADE {
        let grades: Vec<Shown> = ["organization", "coverage", "relevance"]
            .into_iter()
            .filter_map(|aspect| shown(scores, aspect))
            .collect();
        let mean = |pick: fn(&Shown) -> f64| grades.iter().map(pick).sum::<f64>() / 3.0;
        let n = grades.iter().map(|grade| grade.n).min()?;
        // The interval of the mean of three correlated grades is at most the mean of theirs.
        return (grades.len() == 3).then(|| Shown {
            mean: mean(|grade| grade.mean),
            low: mean(|grade| grade.low),
            high: mean(|grade| grade.high),
            n,
        });
    }
    let Metric { summary, scale, .. } = scores.metric(metric)?;
    let estimate = summary.estimate?;
    Some(Shown {
        mean: estimate.mean * scale,
        low: estimate.low * scale,
        high: estimate.high * scale,
        n: summary.n,
    })
}

/// Name of the harmonic mean of citation recall and precision.
pub(crate) const CITATION_F1: &str = "citation F1";
/// Name of the mean of the three grades.
pub(crate) const MEAN_GRADE: &str = "mean grade";

/// A number as it is printed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Shown {
    pub(crate) mean: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
    pub(crate) n: usize,
}

impl Shown {
    pub(crate) fn text(self) -> String {
        let Self { mean, low, high, n } = self;
        format!("{mean:.1} ({low:.1}–{high:.1}, n {n})")
    }

    /// With two decimals for grades and small counts.
    pub(crate) fn fine(self) -> String {
        let Self { mean, low, high, n } = self;
        format!("{mean:.2} ({low:.2}–{high:.2}, n {n})")
    }
}

fn json_of(runs: &[Measured], compared: &[Comparison]) -> Value {
    let runs: Vec<Value> = runs
        .iter()
        .map(|one| {
            let scores: Vec<Value> = one
                .scores
                .iter()
                .map(|scores| {
                    json!({
                        "metrics": scores.metrics, "citation_f1": scores.citation_f1,
                        "over_citation": scores.over_citation, "hallucination": scores.hallucination,
                        "rules": scores.rules, "warnings": scores.warnings,
                        "incomplete": scores.incomplete, "agreement": scores.agreement,
                    })
                })
                .collect();
            let mut manifest = serde_json::to_value(&one.run.manifest).unwrap_or_default();
            if let Some(manifest) = manifest.as_object_mut() {
                // Where files lie on this machine is of no use elsewhere.
                manifest.remove("data");
            }
            json!({"manifest": manifest, "scores": scores, "pairwise": one.pairwise})
        })
        .collect();
    json!({"schema": REPORT_SCHEMA, "runs": runs, "comparisons": compared})
}

#[cfg(test)]
mod tests;
