//! What the paper reports, shipped as data so that it can stand beside what is measured, always marked with †.

/// A table of the paper or of the release.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Table {
    /// Coverage overall and by field.
    Coverage,
    /// Coverage by type, axis and severity of rubrics.
    CoverageSlices,
    /// Invalid references, minutes and dollars an idea.
    Invalidity,
    /// Coverage without parts of `ScholarEval`.
    Ablations,
    /// Win rates and agreement of the judge with people.
    Pairwise,
    /// Effects of the user study.
    UserStudy,
    /// Ideas, rubrics, words and dates of the release by field.
    Counts,
    /// Rubrics of the release by label.
    Labels,
}

impl Table {
    fn text(self) -> &'static str {
        match self {
            Self::Coverage => include_str!("../../data/scholarideas/coverage.csv"),
            Self::CoverageSlices => include_str!("../../data/scholarideas/coverage_slices.csv"),
            Self::Invalidity => include_str!("../../data/scholarideas/invalidity.csv"),
            Self::Ablations => include_str!("../../data/scholarideas/ablations.csv"),
            Self::Pairwise => include_str!("../../data/scholarideas/pairwise.csv"),
            Self::UserStudy => include_str!("../../data/scholarideas/user_study.csv"),
            Self::Counts => include_str!("../../data/scholarideas/counts_discipline.csv"),
            Self::Labels => include_str!("../../data/scholarideas/counts_labels.csv"),
        }
    }
}

/// The cells of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cells {
    header: Vec<&'static str>,
    rows: Vec<Vec<&'static str>>,
}

/// Reads one of the tables; no cell holds a comma.
pub fn table(which: Table) -> Cells {
    let mut lines = which
        .text()
        .lines()
        .filter(|line| !line.starts_with('#') && !line.is_empty())
        .map(|line| line.split(',').collect::<Vec<_>>());
    Cells { header: lines.next().unwrap_or_default(), rows: lines.collect() }
}

impl Cells {
    /// Names of the rows, from the first column.
    pub fn names(&self) -> Vec<&'static str> {
        self.rows.iter().filter_map(|row| row.first().copied()).collect()
    }

    /// The rows in order.
    pub fn rows(&self) -> &[Vec<&'static str>] {
        &self.rows
    }

    /// The cell as printed; empty where there is none.
    pub fn cell(&self, row: &str, column: &str) -> &'static str {
        let at = self.header.iter().position(|name| *name == column);
        let found = self.rows.iter().find(|cells| cells.first() == Some(&row));
        at.zip(found).and_then(|(at, cells)| cells.get(at).copied()).unwrap_or_default()
    }

    /// The cell as a number, where it is one.
    pub fn number(&self, row: &str, column: &str) -> Option<f64> {
        self.cell(row, column).parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_is_whole() {
        for (which, rows, columns) in [
            (Table::Coverage, 8, 12),
            (Table::CoverageSlices, 8, 13),
            (Table::Invalidity, 8, 4),
            (Table::Ablations, 4, 3),
            (Table::Pairwise, 3, 8),
            (Table::UserStudy, 6, 7),
            (Table::Counts, 5, 13),
            (Table::Labels, 8, 4),
        ] {
            let cells = table(which);
            assert_eq!((cells.rows.len(), cells.header.len()), (rows, columns), "{which:?}");
            assert!(cells.rows.iter().all(|row| row.len() == columns), "{which:?}");
        }
        let coverage = table(Table::Coverage);
        let of = |system| coverage.number(system, "overall").expect("a number");
        let margin = of("ScholarEval-Claude") / of("o4-mini-deep-research") - 1.0;
        assert!((margin - 0.215).abs() < 0.0005, "{margin}");
        assert_eq!(coverage.number("ScholarEval-Claude", "nothing"), None);
    }
}
