//! Speed and memory of a library that grows by thousands of PDFs.

use std::fmt::Write as _;

use serde::Serialize;
use serde_json::{Value, json};

/// One addition.
#[derive(Debug, Clone, Serialize)]
pub struct LibraryStep {
    /// What was added.
    pub what: String,
    /// How many files or entries.
    pub things: usize,
    /// From start to end of the process.
    pub seconds: f64,
    /// Papers written.
    pub papers: u64,
    /// Passages encoded and written.
    pub passages: u64,
    /// Things that gave no paper.
    pub failed: u64,
    /// Most resident bytes of the process, where the system tells.
    pub peak_memory_bytes: Option<u64>,
}

/// What was measured of all additions, one after the other.
#[derive(Debug, Clone, Serialize)]
pub struct LibraryReport {
    /// The command that measured it.
    pub command: String,
    /// The machine and the program's version.
    pub machine: String,
    /// The additions in order.
    pub steps: Vec<LibraryStep>,
}

impl LibraryReport {
    /// The report as a Markdown document.
    pub fn markdown(&self) -> String {
        let mut text = format!(
            "# A library that grows\n\nCommand: `{}`. {}\n\n\
             Papers of the starter are printed as PDFs of one column (no two alike) and added by the program in a process of its own; \
             then a BibTeX list of other works. Rates include the start of the program and the encoder.\n\n\
             | added | files or entries | papers written | passages | failed | seconds | per second | peak memory |\n\
             |---|---|---|---|---|---|---|---|\n",
            self.command, self.machine
        );
        for step in &self.steps {
            let rate = step.things as f64 / step.seconds.max(1e-9);
            let peak = step
                .peak_memory_bytes
                .map_or_else(|| "–".to_owned(), |bytes| format!("{:.0} MB", bytes as f64 / 1e6));
            let _infallible = writeln!(
                text,
                "| {} | {} | {} | {} | {} | {:.1} | {rate:.1} | {peak} |",
                step.what, step.things, step.papers, step.passages, step.failed, step.seconds
            );
        }
        text
    }

    /// The same as JSON.
    pub fn json(&self) -> Value {
        json!({"schema": "openscholar.bench-library/1", "report": self})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_rate_and_memory() {
        let step = LibraryStep {
            what: "PDFs".to_owned(),
            things: 100,
            seconds: 10.0,
            papers: 99,
            passages: 300,
            failed: 1,
            peak_memory_bytes: Some(250_000_000),
        };
        let report = LibraryReport {
            command: "openscholar bench library".to_owned(),
            machine: "M".to_owned(),
            steps: vec![step],
        };
        let row = "| PDFs | 100 | 99 | 300 | 1 | 10.0 | 10.0 | 250 MB |";
        assert!(report.markdown().contains(row), "{}", report.markdown());
    }
}
