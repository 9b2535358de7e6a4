//! The page about both measurements.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::Half;
use super::arms::{ArmRow, PROPERTIES, System};
use super::cells::{CellRow, CellVerdict};
use crate::statistics::{SEED, Share, estimate};

/// Everything measured.
#[derive(Debug)]
pub struct TablesReport {
    /// Cells and baselines against prompts.
    pub arms: Vec<ArmRow>,
    /// Labelled cells.
    pub cells: Vec<CellRow>,
    /// Papers per second, reading left out.
    pub papers_per_second: f64,
}

impl TablesReport {
    /// The tables, under headings of the second level.
    pub fn markdown(&self) -> String {
        let mut text = String::new();
        for half in [Half::Test, Half::Development] {
            self.arms_of(half, &mut text);
        }
        if !self.cells.is_empty() {
            for half in [Half::Test, Half::Development] {
                self.cells_of(half, &mut text);
            }
        }
        text
    }

    fn arms_of(&self, half: Half, text: &mut String) {
        let (name, rows): (_, Vec<&ArmRow>) =
            (title(half), self.arms.iter().filter(|row| row.half == half).collect());
        if rows.is_empty() {
            return;
        }
        // Writing to a string cannot fail.
        let _infallible = write!(
            text,
            "## Intervention, comparator, outcome: {name}\n\n| column | filled by | n | F1 of words (95 %) | same words | contained | filled | F1 of filled |\n\
             |---|---|---|---|---|---|---|---|\n"
        );
        for (at, property) in PROPERTIES.iter().enumerate() {
            for system in System::ALL {
                let own: Vec<&ArmRow> = rows
                    .iter()
                    .copied()
                    .filter(|row| row.property == at && row.system == system)
                    .collect();
                let line = arm_line(&own);
                let _infallible =
                    writeln!(text, "| {} | {} | {line} |", property.key(), system.name());
            }
        }
        text.push('\n');
    }

    fn cells_of(&self, half: Half, text: &mut String) {
        let rows: Vec<&CellRow> = self.cells.iter().filter(|row| row.half == half).collect();
        if rows.is_empty() {
            return;
        }
        let _infallible = write!(
            text,
            "## Labelled cells: {}\n\n| column | n | as it should be (95 %) | stated: right | wrong span | false “absent” | not stated: absent | false filled |\n\
             |---|---|---|---|---|---|---|---|\n",
            title(half)
        );
        let mut columns: BTreeMap<&str, Vec<&CellRow>> = BTreeMap::new();
        for row in &rows {
            columns.entry(row.column).or_default().push(row);
        }
        let _infallible = writeln!(text, "| all | {} |", cell_line(&rows));
        for (column, rows) in columns {
            let _infallible = writeln!(text, "| {column} | {} |", cell_line(&rows));
        }
        text.push('\n');
    }
}

fn title(half: Half) -> &'static str {
    match half {
        Half::Test => "reported half",
        Half::Development => "development half",
    }
}

fn arm_line(rows: &[&ArmRow]) -> String {
    let f1: Vec<f64> = rows.iter().map(|row| row.overlap.f1).collect();
    let filled: Vec<f64> =
        rows.iter().filter(|row| row.text.is_some()).map(|row| row.overlap.f1).collect();
    let mean = estimate(&f1, SEED).map_or_else(
        || "–".to_owned(),
        |one| format!("{:.3} ({:.3}–{:.3})", one.mean, one.low, one.high),
    );
    let of_filled = if filled.is_empty() {
        "–".to_owned()
    } else {
        format!("{:.3}", crate::statistics::mean(&filled))
    };
    let percent =
        |of: fn(&ArmRow) -> bool| share(rows.iter().filter(|row| of(row)).count(), rows.len());
    format!(
        "{} | {mean} | {} | {} | {} | {of_filled}",
        rows.len(),
        percent(|row| row.overlap.exact),
        percent(|row| row.overlap.contained),
        percent(|row| row.text.is_some()),
    )
}

fn cell_line(rows: &[&CellRow]) -> String {
    let count = |verdict: CellVerdict| rows.iter().filter(|row| row.verdict == verdict).count();
    let right = rows.iter().filter(|row| row.verdict.is_right()).count();
    format!(
        "{} | {} | {} | {} | {} | {} | {}",
        rows.len(),
        share(right, rows.len()),
        count(CellVerdict::Right),
        count(CellVerdict::WrongSpan),
        count(CellVerdict::FalseAbsent),
        count(CellVerdict::RightAbsent),
        count(CellVerdict::FalseFilled),
    )
}

fn share(hits: usize, n: usize) -> String {
    let Share { hits, n, low, high } = Share::of(hits, n);
    if n == 0 {
        return "–".to_owned();
    }
    let percent = 100.0 * crate::statistics::ratio(hits, n);
    format!("{hits} of {n}, {percent:.0} % ({:.0}–{:.0})", 100.0 * low, 100.0 * high)
}

#[cfg(test)]
mod tests {
    use scholar_core::PaperId;

    use super::super::arms::Overlap;
    use super::*;

    #[test]
    fn both_halves_are_shown_with_their_numbers() {
        let arm = |half, f1, text: Option<&str>| ArmRow {
            paper: PaperId::Pmcid(1),
            half,
            property: 0,
            system: System::Table,
            text: text.map(str::to_owned),
            overlap: Overlap { f1, exact: false, contained: f1 > 0.5 },
        };
        let cell = |verdict| CellRow {
            paper: PaperId::Pmcid(1),
            half: Half::Test,
            column: "trial.n",
            found: None,
            values: Vec::new(),
            verdict,
        };
        let report = TablesReport {
            arms: vec![arm(Half::Test, 1.0, Some("zinc")), arm(Half::Test, 0.0, None)],
            cells: vec![cell(CellVerdict::RightAbsent), cell(CellVerdict::FalseAbsent)],
            papers_per_second: 1.0,
        };
        let text = report.markdown();
        assert!(
            text.contains("| trial.intervention | papers table | 2 | 0.500 (0.000–1.000) |"),
            "{text}"
        );
        assert!(text.contains("| 1 of 2, 50 % (9–91) | 1.000 |"), "{text}");
        assert!(
            text.contains("| trial.n | 2 | 1 of 2, 50 % (9–91) | 0 | 0 | 1 | 1 | 0 |"),
            "{text}"
        );
        assert!(!text.contains("development half"));
    }
}
