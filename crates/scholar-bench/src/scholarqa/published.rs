//! What the papers report, shipped as data so that it can stand beside what is measured, always marked.

/// What `OpenScholar` publishes, and what `SciRAG` does.
const TEXTS: [&str; 2] =
    [include_str!("../../data/published.csv"), include_str!("../../data/published_scirag.csv")];
/// The main tables of the papers.
const MAIN_TABLES: [&str; 2] = ["2", "scirag 2"];
/// `SciRAG`'s table of what is lost without each part.
pub const SCIRAG_ABLATIONS: &str = "scirag 4";
/// `SciRAG`'s table of seconds and dollars by depth of its tree.
pub const SCIRAG_DEPTHS: &str = "scirag 7";

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
    let rows = |text: &'static str| text.lines().filter(|line| !line.starts_with('#')).skip(1);
    TEXTS
        .into_iter()
        .flat_map(rows)
        .map(|line| {
            let mut fields = line.splitn(5, ',');
            let mut next = || fields.next().unwrap_or_default();
            let (table, system, measure) = (next(), next(), next());
            let value = next().parse().expect("the file is checked by a test");
            Published { table, system, measure, value, note: next() }
        })
        .collect()
}

/// The value of a system in a column of the papers' main tables.
pub fn main_table(system: &str, measure: &str) -> Option<f64> {
    let rows = published();
    let is_main = |row: &&Published| MAIN_TABLES.contains(&row.table);
    let found =
        rows.iter().filter(is_main).find(|row| row.system == system && row.measure == measure);
    found.map(|row| row.value)
}

/// The value of a system in a column of any table.
pub fn in_table(table: &str, system: &str, measure: &str) -> Option<f64> {
    let rows = published();
    let found = rows
        .iter()
        .find(|row| row.table == table && row.system == system && row.measure == measure);
    found.map(|row| row.value)
}

/// Systems of a table, in its order.
pub fn systems_of(table: &str) -> Vec<&'static str> {
    let mut systems: Vec<&'static str> = Vec::new();
    for row in published().into_iter().filter(|row| row.table == table) {
        if !systems.contains(&row.system) {
            systems.push(row.system);
        }
    }
    systems
}

/// Systems of the papers' main tables, in their order.
pub fn systems() -> Vec<&'static str> {
    MAIN_TABLES.into_iter().flat_map(systems_of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_is_whole() {
        let rows = published();
        assert!(rows.len() > 180);
        assert!(rows.iter().all(|row| row.value.is_finite() && !row.measure.is_empty()));
        assert_eq!((systems_of("2").len(), systems().len()), (11, 20));
        assert_eq!(main_table("SciRAG (GPT-4o)", "cs"), Some(69.0));
        assert_eq!(in_table(SCIRAG_ABLATIONS, "SciRAG (GPT-4o) no planner", "cs"), Some(52.1));
        assert_eq!(in_table(SCIRAG_DEPTHS, "SciRAG (GPT-4o) depth 4", "usd_per_q"), Some(0.29));
        let names = systems();
        assert!(names.iter().all(|name| names.iter().filter(|other| *other == name).count() == 1));
        assert_eq!(main_table("OS-8B", "cs"), Some(51.1));
        assert_eq!(main_table("PaperQA2", "pub"), None);
        let uncertain = rows.iter().find(|row| row.system == "OS-GPT4o" && row.measure == "pub_c");
        assert!(uncertain.expect("a row").note.contains("uncertain"));
    }
}
