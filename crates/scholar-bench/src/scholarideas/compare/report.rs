//! The comparison as tables; what the paper reports is marked with †.

use std::fmt::Write as _;

use super::{AIM, Against, Comparison};
use crate::scholarideas::coverage::{Slice, SliceSummary};
use crate::scholarideas::published::{Cells, Table, table};
use crate::statistics::Estimate;

/// Tables of means, differences and tests, the paper's systems below ours.
pub fn markdown(comparison: &Comparison) -> String {
    let mut text = String::new();
    let slices = Slice::all();
    let (fields, labels) = slices.split_at(5);
    for (title, slices, which) in [
        ("Coverage by field", fields, Table::Coverage),
        ("Coverage by type, axis and severity", labels, Table::CoverageSlices),
    ] {
        let names: Vec<&str> = slices.iter().map(|slice| slice.name()).collect();
        // Writing to a string cannot fail.
        let _infallible = write!(
            text,
            "## {title}\n\nMean (interval that draws ideas) ± deviation over rubrics, n.\n\n| system | {} |\n|---|{}\n",
            names.join(" | "),
            "---|".repeat(names.len())
        );
        for system in &comparison.systems {
            let cells: Vec<String> = names
                .iter()
                .map(|name| cell(system.slices.iter().find(|slice| slice.slice == *name)))
                .collect();
            let _infallible = writeln!(text, "| **{}** | {} |", system.name, cells.join(" | "));
        }
        published(&mut text, &table(which), &names);
        text.push('\n');
    }
    if !comparison.against.is_empty() {
        text.push_str(
            "## Differences\n\nOn the rubrics that both systems have a grade of. Welch's test takes rubrics for independent, as the paper \
             does; the interval draws ideas, and the mixed model has a random intercept an idea.\n\n\
             | system | against | rubrics | n | ideas | means | difference | p (ideas) | margin | Welch t | df | p (Welch) | β (mixed) | SE | p (mixed) |\n\
             |---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n",
        );
        for one in &comparison.against {
            against(&mut text, one);
        }
        text.push('\n');
        aim(&mut text, &comparison.against);
    }
    text.push_str("## What the paper loses without each part †\n\nScholarEval with Claude, ideas of AI.\n\n| without | coverage |\n|---|---|\n");
    let ablations = table(Table::Ablations);
    for name in ablations.names() {
        let (mean, sd) = (ablations.cell(name, "coverage"), ablations.cell(name, "sd"));
        let without = name.trim_start_matches("no_").replace('_', " ");
        let without = if name == "full" { "nothing" } else { &without };
        let _infallible = writeln!(text, "| {without} † | {mean} ± {sd} † |");
    }
    text.push_str(
        "\n† published, not measured here: arXiv 2510.16234, tables 1, 3 and 13, all 118 ideas, judged by GPT-4. Another judge, other ideas and \
         other literature make other numbers; only systems judged here alike compare.\n",
    );
    text
}

fn cell(slice: Option<&SliceSummary>) -> String {
    let Some(SliceSummary { n, missing, mean: Some(mean), sd, .. }) = slice else {
        return "–".to_owned();
    };
    let sd = sd.map_or_else(|| "–".to_owned(), |sd| format!("{sd:.2}"));
    let missing = if *missing > 0 { format!(", {missing} missing") } else { String::new() };
    format!("{} ± {sd}, {n}{missing}", interval(mean))
}

fn interval(estimate: &Estimate) -> String {
    format!("{:.2} ({:.2}–{:.2})", estimate.mean, estimate.low, estimate.high)
}

fn published(text: &mut String, cells: &Cells, names: &[&str]) {
    for system in cells.names() {
        let row: Vec<String> = names
            .iter()
            .map(|name| {
                let deviation = cells.cell(system, &format!("{name}_sd"));
                format!("{} ± {deviation} †", cells.cell(system, name))
            })
            .collect();
        let _infallible = writeln!(text, "| {system} † | {} |", row.join(" | "));
    }
}

/// Rounded, or how small it is.
fn p(value: f64) -> String {
    if value < 0.001 { format!("{value:.1e}") } else { format!("{value:.3}") }
}

fn against(text: &mut String, one: &Against) {
    let Against {
        system, baseline, slice, n, ideas, means, welch, difference, margin, effect, ..
    } = one;
    let none = || "–".to_owned();
    let percent = |value: f64| format!("{:+.0} %", 100.0 * value);
    let cells = [
        system.clone(),
        baseline.clone(),
        slice.clone(),
        n.to_string(),
        ideas.to_string(),
        format!("{:.2}, {:.2}", means[0], means[1]),
        difference.as_ref().map_or_else(none, |one| {
            format!(
                "{:+.2} ({:+.2}–{:+.2})",
                one.estimate.mean, one.estimate.low, one.estimate.high
            )
        }),
        difference.as_ref().map_or_else(none, |one| p(one.p)),
        margin.as_ref().map_or_else(none, |one| {
            format!("{} ({} to {})", percent(one.mean), percent(one.low), percent(one.high))
        }),
        welch.map_or_else(none, |one| format!("{:.2}", one.t)),
        welch.map_or_else(none, |one| format!("{:.0}", one.df)),
        welch.map_or_else(none, |one| p(one.p)),
        effect.map_or_else(none, |one| format!("{:+.2}", one.estimate)),
        effect.map_or_else(none, |one| format!("{:.2}", one.se)),
        effect.map_or_else(none, |one| p(one.p)),
    ];
    let _infallible = writeln!(text, "| {} |", cells.join(" | "));
}

/// Whether the paper's margin is reached, in words.
fn aim(text: &mut String, against: &[Against]) {
    for one in against.iter().filter(|one| one.slice == Slice::Overall.name()) {
        let Some(margin) = &one.margin else { continue };
        let verdict = if margin.mean >= AIM { "reaches" } else { "misses" };
        let _infallible = writeln!(
            text,
            "{} has {:+.0} % of {} (interval {:+.0} to {:+.0} %) and {verdict} the paper's margin of +{:.0} % over its best baseline.\n",
            one.system,
            100.0 * margin.mean,
            one.baseline,
            100.0 * margin.low,
            100.0 * margin.high,
            100.0 * AIM
        );
    }
}
