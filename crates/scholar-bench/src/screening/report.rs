//! The tables of docs/results/screening.md.

use std::fmt::Write as _;

use scholar_pipeline::screen::{Decision, Finding};
use serde::Serialize;

use super::pairs::PairsReport;
use super::wss::Saved;
use crate::statistics::Share;

/// Decisions on whole papers beside those of the review, which read full texts: how many papers got each, and how many of these the
/// review included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct PapersDecided {
    /// Included: all, and those that the review included.
    pub include: (usize, usize),
    /// Excluded, likewise. The second number are papers that the review would have lost.
    pub exclude: (usize, usize),
    /// Unclear, likewise.
    pub unclear: (usize, usize),
}

impl PapersDecided {
    /// Counts a paper.
    pub fn count(&mut self, decision: Decision, wanted: bool) {
        let cell = match decision {
            Decision::Include => &mut self.include,
            Decision::Exclude => &mut self.exclude,
            Decision::Unclear => &mut self.unclear,
        };
        cell.0 += 1;
        cell.1 += usize::from(wanted);
    }
}

/// One topic's work saved by each order.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TopicRow {
    /// The review.
    pub topic: String,
    /// How many papers it has.
    pub papers: usize,
    /// How many of them the review included.
    pub included: usize,
    /// Papers of which there is no abstract.
    pub without_text: usize,
    /// Mean of random orders.
    pub random: f64,
    /// What the program decides on the papers.
    pub decided: PapersDecided,
    /// Name of each order with what it saves, in the order of the columns.
    pub orders: Vec<(String, Option<Saved>)>,
}

/// Work saved, one row a topic.
pub fn markdown_of_topics(rows: &[TopicRow]) -> String {
    let mut out = String::new();
    let Some(first) = rows.first() else { return out };
    let names: Vec<&str> = first.orders.iter().map(|(name, _)| name.as_str()).collect();
    // Writing to a string cannot fail.
    let _infallible = writeln!(
        out,
        "| topic | papers | included | random | {} |\n|---|---|---|---|{}",
        names.join(" | "),
        "---|".repeat(names.len())
    );
    for row in rows {
        let cells: Vec<String> = row
            .orders
            .iter()
            .map(|(_, saved)| match saved {
                Some(saved) => format!(
                    "{:.3} ({:.2}–{:.2}), {} read",
                    saved.wss.mean, saved.wss.low, saved.wss.high, saved.read
                ),
                None => "–".to_owned(),
            })
            .collect();
        let _infallible = writeln!(
            out,
            "| {} | {} | {} | {:.3} | {} |",
            row.topic,
            row.papers,
            row.included,
            row.random,
            cells.join(" | ")
        );
    }
    out
}

/// Decisions on whole papers, one row a topic.
pub fn markdown_of_papers(rows: &[TopicRow]) -> String {
    let mut out = String::from(
        "| topic | excluded | of these, included by the review | unclear | of these, included by the review | included | of these, included by the review |\n|---|---|---|---|---|---|---|\n",
    );
    for row in rows {
        let PapersDecided { include, exclude, unclear } = row.decided;
        let lost = share(Share::of(exclude.1, row.included));
        // Writing to a string cannot fail.
        let _infallible = writeln!(
            out,
            "| {} | {} | {lost} | {} | {} | {} | {} |",
            row.topic, exclude.0, unclear.0, unclear.1, include.0, include.1
        );
    }
    out
}

/// Writes one number of a report.
type Cell = fn(&PairsReport) -> String;

/// How findings compare with labels, for each named half.
pub fn markdown_of_pairs(halves: &[(&str, PairsReport)]) -> String {
    let mut out = String::from("| pairs |");
    for (name, report) in halves {
        let _infallible = write!(out, " {name} (n = {}) |", report.right.n);
    }
    let _infallible = write!(out, "\n|---|{}\n", "---|".repeat(halves.len()));
    let rows: [(&str, Cell); 7] = [
        ("finding is the label", |one| share(one.right)),
        ("met or not met is found", |one| share(one.committed)),
        ("of these, right", |one| share(one.right_of_committed)),
        ("**falsely excluded**, of pairs that do not exclude", |one| share(one.false_exclusions)),
        ("excluded, of pairs that exclude", |one| share(one.exclusions_found)),
        ("quotation shares words, of pairs met in both", |one| share(one.quotation_shared)),
        ("Cohen's kappa with the labels", |one| {
            one.kappa.map_or_else(|| "–".to_owned(), |kappa| format!("{kappa:.2}"))
        }),
    ];
    for (name, value) in rows {
        let cells: Vec<String> = halves.iter().map(|(_, report)| value(report)).collect();
        let _infallible = writeln!(out, "| {name} | {} |", cells.join(" | "));
    }
    for (name, report) in halves {
        let _infallible = writeln!(
            out,
            "\nLabels (rows) and findings, {name}:\n\n| | met | not met | unclear |\n|---|---|---|---|"
        );
        for (finding, row) in Finding::ALL.iter().zip(report.confusion) {
            let label = finding.name().replace('_', " ");
            let _infallible = writeln!(out, "| {label} | {} | {} | {} |", row[0], row[1], row[2]);
        }
    }
    out
}

/// `12 of 48, 25 % (15–39)`.
fn share(of: Share) -> String {
    if of.n == 0 {
        return "–".to_owned();
    }
    let percent = |value: f64| 100.0 * value;
    format!(
        "{} of {}, {:.0} % ({:.0}–{:.0})",
        of.hits,
        of.n,
        percent(of.hits as f64 / of.n as f64),
        percent(of.low),
        percent(of.high)
    )
}

#[cfg(test)]
mod tests {
    use super::super::wss::work_saved;
    use super::*;

    #[test]
    fn a_row_has_a_cell_for_each_order() {
        let saved = work_saved(&[2.0, 1.0, 0.0], &[true, false, false]);
        let row = TopicRow {
            topic: "Donners_2021".to_owned(),
            papers: 3,
            included: 1,
            without_text: 0,
            random: 0.01,
            decided: PapersDecided::default(),
            orders: vec![("BM25".to_owned(), saved), ("dense".to_owned(), None)],
        };
        let mut row = row;
        row.decided.count(Decision::Exclude, true);
        row.decided.count(Decision::Exclude, false);
        let lost = markdown_of_papers(std::slice::from_ref(&row));
        assert!(lost.contains("| Donners_2021 | 2 | 1 of 1, 100 %"), "{lost}");
        let text = markdown_of_topics(&[row]);
        assert!(text.contains("| Donners_2021 | 3 | 1 | 0.010 | 0.617"), "{text}");
        assert!(text.contains("1 read | – |"), "{text}");
    }
}
