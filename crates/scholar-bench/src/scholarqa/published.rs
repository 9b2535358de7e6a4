//! What the papers report, shipped as data so that it can stand beside what is measured, always marked.

/// The rows of `data/published.csv`.
const TEXT: &str = include_str!("../../data/published.csv");

/// A number that a paper reports, or a baseline that its public files give.
#[derive(Debug, Clone, PartialEq)]
pub struct Published {
    /// Table of the paper, `human`, or `baseline` for what follows from the public files.
    pub table: &'static str,
    /// Name of the system, as published.
    pub system: &'static str,
    /// Column of the table.
    pub measure: &'static str,
    /// The number as printed.
    pub value: f64,
    /// What is uncertain about it.
    pub note: &'static str,
}

/// Every published number, in the tables' order.
pub fn published() -> Vec<Published> {
    let lines = TEXT.lines().filter(|line| !line.starts_with('#')).skip(1);
    lines
        .map(|line| {
            let mut fields = line.splitn(5, ',');
            let mut next = || fields.next().unwrap_or_default();
            let (table, system, measure) = (next(), next(), next());
            let value = next().parse().expect("the file is checked by a test");
            Published { table, system, measure, value, note: next() }
        })
        .collect()
}

/// The value of a system in a column of the paper's main table.
pub fn main_table(system: &str, measure: &str) -> Option<f64> {
    let rows = published();
    let found =
        rows.iter().find(|row| row.table == "2" && row.system == system && row.measure == measure);
    found.map(|row| row.value)
}

/// Systems of the paper's main table, in its order.
pub fn systems() -> Vec<&'static str> {
    let mut systems: Vec<&'static str> = Vec::new();
    for row in published().into_iter().filter(|row| row.table == "2") {
        if !systems.contains(&row.system) {
            systems.push(row.system);
        }
    }
    systems
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_is_whole() {
        let rows = published();
        assert!(rows.len() > 180);
        assert!(rows.iter().all(|row| row.value.is_finite() && !row.measure.is_empty()));
        assert_eq!(systems().len(), 11);
        assert_eq!(main_table("OS-8B", "cs"), Some(51.1));
        assert_eq!(main_table("PaperQA2", "pub"), None);
        let uncertain = rows.iter().find(|row| row.system == "OS-GPT4o" && row.measure == "pub_c");
        assert!(uncertain.expect("a row").note.contains("uncertain"));
    }
}
