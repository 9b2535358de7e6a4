//! The tables of docs/results/screening.md.

use std::fmt::Write as _;

use scholar_pipeline::screen::Finding;
use serde::Serialize;

use super::pairs::PairsReport;
use super::wss::Saved;
use crate::statistics::Share;

/// One topic's work saved by each order.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TopicRow {
    /// The review.
    pub topic: String,
    /// Papers and included papers.
    pub papers: usize,
    /// How many of them the review included.
    pub included: usize,
    /// Papers of which there is no abstract.
    pub without_text: usize,
    /// Mean of random orders.
    pub random: f64,
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

/// How findings compare with labels, for each named half.
pub fn markdown_of_pairs(halves: &[(&str, PairsReport)]) -> String {
    let mut out = String::from("| pairs |");
    for (name, report) in halves {
        let _infallible = write!(out, " {name} (n = {}) |", report.right.n);
    }
    let _infallible = write!(out, "\n|---|{}\n", "---|".repeat(halves.len()));
    let rows: [(&str, &dyn Fn(&PairsReport) -> String); 7] = [
        ("finding is the label", &|one| share(one.right)),
        ("met or not met is found", &|one| share(one.committed)),
        ("of these, right", &|one| share(one.right_of_committed)),
        ("**falsely excluded**, of pairs that do not exclude", &|one| share(one.false_exclusions)),
        ("excluded, of pairs that exclude", &|one| share(one.exclusions_found)),
        ("quotation shares words, of pairs met in both", &|one| share(one.quotation_shared)),
        ("Cohen's kappa with the labels", &|one| {
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
            orders: vec![("BM25".to_owned(), saved), ("dense".to_owned(), None)],
        };
        let text = markdown_of_topics(&[row]);
        assert!(text.contains("| Donners_2021 | 3 | 1 | 0.010 | 0.617"), "{text}");
        assert!(text.contains("1 read | – |"), "{text}");
    }
}
