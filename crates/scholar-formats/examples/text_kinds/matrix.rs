//! Confusion matrices of kinds of text, with weights.

use std::error::Error;
use std::io::Write;

use scholar_core::PassageKind;

/// Kinds that are told apart where headings are known.
pub(crate) const ALL: [PassageKind; 6] = PassageKind::ALL;

/// How much of each kind was called what: `cells[gold][called]`, in the order of [`ALL`].
#[derive(Debug, Default, Clone)]
pub(crate) struct Matrix {
    cells: [[f64; 6]; 6],
    items: usize,
}

impl Matrix {
    /// Counts something of kind `gold` that was called `called`.
    pub(crate) fn add(&mut self, gold: PassageKind, called: PassageKind, weight: f64) {
        self.cells[place(gold)][place(called)] += weight;
        self.items += 1;
    }

    /// Writes the matrix with precision and recall of each kind as a table in Markdown; kinds of which there is nothing
    /// are left out.
    pub(crate) fn write(&self, title: &str, out: &mut impl Write) -> Result<(), Box<dyn Error>> {
        let row_sum = |gold: usize| self.cells[gold].iter().sum::<f64>();
        let column_sum = |called: usize| self.cells.iter().map(|row| row[called]).sum::<f64>();
        let shown: Vec<usize> =
            (0..ALL.len()).filter(|kind| row_sum(*kind) + column_sum(*kind) > 0.0).collect();
        let names: Vec<&str> = shown.iter().map(|kind| ALL[*kind].name()).collect();
        let (items, names) = (self.items, names.join(" | "));
        writeln!(out, "\n{title} (n = {items})\n\n| is | {names} | recall | precision |")?;
        writeln!(out, "|---|{}---|---|", "---|".repeat(shown.len()))?;
        for gold in &shown {
            write!(out, "| {} |", ALL[*gold].name())?;
            for called in &shown {
                write!(out, " {:.0} |", self.cells[*gold][*called])?;
            }
            let right = self.cells[*gold][*gold];
            let (recall, precision) =
                (share(right, row_sum(*gold)), share(right, column_sum(*gold)));
            writeln!(out, " {recall} | {precision} |")?;
        }
        Ok(())
    }
}

/// The kind of that name.
pub(crate) fn kind(name: &str) -> Result<PassageKind, Box<dyn Error>> {
    let found = ALL.into_iter().find(|kind| kind.name() == name);
    found.ok_or_else(|| format!("{name} is no kind of text").into())
}

fn share(part: f64, whole: f64) -> String {
    if whole > 0.0 { format!("{:.3}", part / whole) } else { "–".to_owned() }
}

fn place(kind: PassageKind) -> usize {
    ALL.iter().position(|other| *other == kind).unwrap_or_default()
}
