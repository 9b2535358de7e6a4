//! The tables of a report.

use std::fmt::Write as _;

use scholar_core::AnswerMode;

use super::document::Table;
use super::{CITATION_F1, MEAN_GRADE, Measured, Shown, judge_of, people, shown};
use crate::metrics::Summary;
use crate::metrics::citation::Variant;
use crate::scholarqa::published::{
    SCIRAG_ABLATIONS, SCIRAG_DEPTHS, in_table, main_table, published, systems, systems_of,
};
use crate::scholarqa::run::{Counts, Manifest};
use crate::scholarqa::score::{Metric, Scores};
use crate::scholarqa::system::System;
use crate::scholarqa::task::BenchTask;

/// What the dagger means.
pub(super) const DAGGER: &str = "† Published by the paper (arXiv 2411.14199, table 2), not measured here: all items of the task, other models, another datastore and another judge. Compare the order of sizes, not the digits.";

/// Why citation scores of evidence mode stand in a table of their own.
pub(super) const VERBATIM: &str = "‡ Sentences of this system are copied from the passages that they cite, so that a judge of support finds next to nothing to object to. These scores say that quotations are where they are said to be; they do not compare with those of systems that write their own sentences, published or measured.";
const APART: &str = "‡";

/// Whether a run's sentences are verbatim sentences of passages.
fn is_verbatim(one: &Measured) -> bool {
    System::named(&one.run.manifest.system)
        .is_some_and(|system| system.mode == AnswerMode::Evidence)
}

/// Citation scores of verbatim answers, apart from all others.
pub(super) fn verbatim_citations(runs: &[&Measured]) -> Option<Table> {
    let mut table = Table::new(&["system ‡", "judge", CITATION_F1]);
    for one in runs.iter().filter(|one| is_verbatim(one)) {
        for scores in &one.scores {
            if let Some(f1) = shown(scores, CITATION_F1) {
                let name = one.run.manifest.name.clone();
                table.row(vec![name, judge_and_rules(scores), f1.text()]);
            }
        }
    }
    (!table.is_empty()).then_some(table)
}

/// Metrics of the paper's main table for a task, with the table's column.
fn main_columns(task: BenchTask) -> Vec<(&'static str, &'static str)> {
    match task {
        BenchTask::PubMedQa => {
            vec![("match (substring)", "pub"), ("accuracy (label)", ""), (CITATION_F1, "pub_c")]
        }
        BenchTask::SciFact => {
            vec![("match (substring)", "sci"), ("accuracy (label)", ""), (CITATION_F1, "sci_c")]
        }
        BenchTask::Qasa => vec![("ROUGE-L", "qasa"), (CITATION_F1, "qasa_c")],
        BenchTask::Cs => vec![("rubric score", "cs"), (CITATION_F1, "cs_c")],
        BenchTask::Multi => {
            vec![(MEAN_GRADE, "multi"), (CITATION_F1, "multi_c"), ("ROUGE-L", "")]
        }
        BenchTask::Bio => vec![(CITATION_F1, "bio_c")],
        BenchTask::Neuro => vec![(CITATION_F1, "neu_c")],
        BenchTask::RelatedWork => vec![("ROUGE-L", ""), (CITATION_F1, "")],
    }
}

/// Metrics that ablations are drawn in.
pub(super) fn headline(task: BenchTask) -> Vec<&'static str> {
    main_columns(task).into_iter().map(|(metric, _)| metric).collect()
}

/// What was run.
pub(super) fn runs(runs: &[Measured]) -> Table {
    let mut table = Table::new(&[
        "run",
        "task",
        "system",
        "parts taken out",
        "models",
        "answered",
        "state",
        "calls",
        "tokens",
        "cost",
        "seconds",
    ]);
    for one in runs {
        let Manifest {
            name, task, system, ablation, models, counts, state, usage, seconds, ..
        } = &one.run.manifest;
        let Counts { items, answered, abstained, .. } = *counts;
        let models: Vec<String> =
            models.iter().map(|(what, name)| format!("{what} {name}")).collect();
        table.row(vec![
            name.clone(),
            task.title().to_owned(),
            system.clone(),
            if system == "predictions" { "–".to_owned() } else { ablation.to_string() },
            models.join("; "),
            format!("{} of {items} ({abstained} abstained)", answered + abstained),
            state.to_string(),
            usage.calls.to_string(),
            (usage.prompt_tokens + usage.completion_tokens).to_string(),
            usage.cost_usd.map_or("unknown".to_owned(), |usd| format!("${usd:.4}")),
            format!("{seconds:.0}"),
        ]);
    }
    table
}

/// The paper's columns: measured rows first, then the published ones with their mark.
pub(super) fn against_published(task: BenchTask, runs: &[&Measured]) -> Table {
    let columns = main_columns(task);
    let mut head = vec!["system", "judge"];
    head.extend(columns.iter().map(|(metric, _)| *metric));
    let mut table = Table::new(&head);
    for one in runs {
        for scores in &one.scores {
            let mut row = vec![one.run.manifest.name.clone()];
            row.push(judge_and_rules(scores));
            row.extend(columns.iter().map(|(metric, _)| match shown(scores, metric) {
                Some(_) if *metric == CITATION_F1 && is_verbatim(one) => APART.to_owned(),
                found => cell(metric, found),
            }));
            table.row(row);
        }
    }
    for system in systems() {
        let values: Vec<Option<f64>> =
            columns.iter().map(|(_, measure)| main_table(system, measure)).collect();
        if values.iter().all(Option::is_none) {
            continue;
        }
        let mut row = vec![format!("{system} †"), "published †".to_owned()];
        row.extend(
            values.into_iter().map(|value| value.map_or("–".to_owned(), |v| format!("{v} †"))),
        );
        table.row(row);
    }
    table
}

/// What `SciRAG`'s paper reports of its parts on this task; `None` where it reports nothing.
pub(super) fn scirag_parts(task: BenchTask) -> Option<Table> {
    let columns = main_columns(task);
    let rows = published();
    let measured = |measure: &str| {
        rows.iter().any(|row| row.table == SCIRAG_ABLATIONS && row.measure == measure)
    };
    let (metric, measure) = columns.iter().find(|(_, measure)| measured(measure))?;
    let mut table = Table::new(&["system", metric]);
    for system in systems_of(SCIRAG_ABLATIONS) {
        let value = in_table(SCIRAG_ABLATIONS, system, measure);
        let value = value.map_or("–".to_owned(), |value| format!("{value} †"));
        table.row(vec![format!("{system} †"), value]);
    }
    Some(table)
}

/// What `SciRAG`'s paper reports of seconds and dollars of one question of ScholarQA-CS, by depth of the tree.
pub(super) fn scirag_depths() -> Table {
    let columns = [
        ("reasoning and reranking, s", "rerank_s"),
        ("other, s", "other_s"),
        ("total, s", "total_s"),
        ("USD per question", "usd_per_q"),
    ];
    let mut head = vec!["system"];
    head.extend(columns.iter().map(|(name, _)| *name));
    let mut table = Table::new(&head);
    for system in systems_of(SCIRAG_DEPTHS) {
        let mut row = vec![format!("{system} †")];
        row.extend(columns.iter().map(|(_, measure)| {
            let value = in_table(SCIRAG_DEPTHS, system, measure);
            value.map_or("–".to_owned(), |value| format!("{value} †"))
        }));
        table.row(row);
    }
    table
}

/// Who judged the citations, by which rules.
fn judge_and_rules(scores: &Scores) -> String {
    let rules = match scores.rules.variant {
        Variant::Upstream => "upstream's rules",
        Variant::Corrected => "corrected rules",
    };
    judge_of(scores).map_or("none".to_owned(), |judge| {
        format!("{judge}, {rules}; {}", people::against_labels(scores))
    })
}

fn cell(metric: &str, found: Option<Shown>) -> String {
    match found {
        None => "–".to_owned(),
        Some(shown) if metric == MEAN_GRADE => shown.fine(),
        Some(shown) => shown.text(),
    }
}

/// Every metric of every run.
pub(super) fn metrics(runs: &[&Measured]) -> Table {
    let mut table = Table::new(&["run", "metric", "mean (95 %)", "n", "left out", "judge"]);
    for one in runs {
        for scores in &one.scores {
            for metric in &scores.metrics {
                table.row(metric_row(
                    &one.run.manifest.name,
                    metric,
                    people::beside(scores, metric),
                ));
            }
            if let Some(f1) = shown(scores, CITATION_F1) {
                table.row(vec![
                    one.run.manifest.name.clone(),
                    CITATION_F1.to_owned(),
                    format!("{:.1} ({:.1}–{:.1})", f1.mean, f1.low, f1.high),
                    f1.n.to_string(),
                    String::new(),
                    judge_and_rules(scores),
                ]);
            }
        }
    }
    table
}

fn metric_row(run: &str, metric: &Metric, people: Option<String>) -> Vec<String> {
    let Metric { summary, scale, judge } = metric;
    let Summary { metric: name, estimate, n, left_out, uniform } = summary;
    let mean = estimate.map_or("none".to_owned(), |estimate| {
        let [mean, low, high] = [estimate.mean, estimate.low, estimate.high].map(|v| v * scale);
        let digits = if *scale > 1.0 { 1 } else { 2 };
        format!("{mean:.digits$} ({low:.digits$}–{high:.digits$})")
    });
    let uniform = if uniform.is_some() { " (no variation)" } else { "" };
    let left: Vec<String> =
        left_out.iter().map(|(why, items)| format!("{} {why}", items.count)).collect();
    let judge = judge.as_ref().map(|pin| {
        let prompts = if pin.prompts.is_empty() {
            String::new()
        } else {
            format!(", {}", pin.prompts.join(", "))
        };
        let people = people.map(|people| format!("; {people}")).unwrap_or_default();
        format!("{} ({}{prompts}){people}", pin.name, pin.way)
    });
    vec![
        run.to_owned(),
        name.clone(),
        mean + uniform,
        n.to_string(),
        left.join("; "),
        judge.unwrap_or_default(),
    ]
}

/// One row per run of a system: its name, what was taken out, and the headline metrics.
pub(super) fn ablation(runs: &[&Measured]) -> Table {
    let Some(first) = runs.first() else { return Table::default() };
    let mut metrics = headline(first.run.manifest.task);
    metrics.extend(["words", "distinct citations", "abstained", "seconds"]);
    let mut head = vec!["run", "parts taken out"];
    head.extend(&metrics);
    let mut table = Table::new(&head);
    for one in runs {
        let Manifest { name, ablation, .. } = &one.run.manifest;
        let mut row = vec![name.clone(), ablation.to_string()];
        row.extend(metrics.iter().map(|metric| {
            cell(metric, one.scores.iter().find_map(|scores| shown(scores, metric)))
        }));
        table.row(row);
    }
    table
}

/// One line per number, measured and published ones told apart by the first column.
pub(super) fn csv(runs: &[Measured]) -> String {
    let mut text =
        "origin,run,task,system,parts_taken_out,metric,mean,low,high,n,left_out,judge\n".to_owned();
    for one in runs {
        let manifest = &one.run.manifest;
        let start = [
            "measured",
            &manifest.name,
            manifest.task.name(),
            &manifest.system,
            &manifest.ablation.to_string(),
        ]
        .map(quoted)
        .join(",");
        for scores in &one.scores {
            let judge = quoted(&judge_of(scores).unwrap_or_default());
            for metric in &scores.metrics {
                let summary = &metric.summary;
                let left: usize = summary.left_out.values().map(|items| items.count).sum();
                let numbers = summary.estimate.map_or(",,".to_owned(), |estimate| {
                    [estimate.mean, estimate.low, estimate.high]
                        .map(|value| format!("{:.6}", value * metric.scale))
                        .join(",")
                });
                let by = metric.judge.as_ref().map(|pin| quoted(&pin.name)).unwrap_or_default();
                let _infallible = writeln!(
                    text,
                    "{start},{},{numbers},{},{left},{by}",
                    quoted(&summary.metric),
                    summary.n
                );
            }
            if let Some(f1) = shown(scores, CITATION_F1) {
                let _infallible = writeln!(
                    text,
                    "{start},{CITATION_F1},{:.6},{:.6},{:.6},{},0,{judge}",
                    f1.mean, f1.low, f1.high, f1.n
                );
            }
        }
    }
    for row in published() {
        let fields =
            ["published", row.system, row.table, row.system, "", row.measure].map(quoted).join(",");
        let _infallible = writeln!(text, "{fields},{},,,,,", row.value);
    }
    text
}

fn quoted(field: &str) -> String {
    if field.contains([',', '"', '\n']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}
