//! The tables of [`super::measure`].

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::{Condition, Row};
use crate::statistics::Share;

/// Tables by split: what was answered, and which papers were shown.
pub fn markdown(rows: &[Row]) -> String {
    let splits: BTreeSet<&str> = rows.iter().map(|row| row.split.as_str()).collect();
    let mut text = String::new();
    for split in splits {
        let of_split: Vec<&Row> = rows.iter().filter(|row| row.split == split).collect();
        let _infallible =
            write!(text, "## {split}\n\n{}\n{}\n", decisions(&of_split), shown(&of_split));
    }
    text.trim_end().to_owned() + "\n"
}

/// Shares of right decisions with Wilson's 95 % interval, by condition and field.
fn decisions(rows: &[&Row]) -> String {
    let mut text = String::from(
        "| questions | field | n | right decision | share (95 %) |\n|---|---|---|---|---|\n",
    );
    let conditions = [
        (Condition::Answerable, "answerable", "answered"),
        (Condition::Near, "near: the same, answering papers taken out", "abstained"),
        (Condition::Off, "off topic", "abstained"),
    ];
    for (condition, called, right) in conditions {
        let of: Vec<&&Row> = rows.iter().filter(|row| row.condition == condition).collect();
        let mut fields: Vec<Option<&str>> = vec![None];
        let named: BTreeSet<&str> = of.iter().map(|row| row.field.as_str()).collect();
        fields.extend(named.into_iter().map(Some));
        for field in fields {
            let part: Vec<&&&Row> =
                of.iter().filter(|row| field.is_none_or(|field| row.field == field)).collect();
            let wants = condition == Condition::Answerable;
            let hits = part.iter().filter(|row| row.answered == wants).count();
            if !part.is_empty() {
                let field = field.unwrap_or("all");
                let _infallible = writeln!(
                    text,
                    "| {called} | {field} | {} | {right} | {} |",
                    part.len(),
                    share(hits, part.len())
                );
            }
        }
    }
    text
}

/// How many of the papers that answer are shown, and of the papers shown answer, over the answerable questions.
fn shown(rows: &[&Row]) -> String {
    let answerable: Vec<&&Row> =
        rows.iter().filter(|row| row.condition == Condition::Answerable).collect();
    let answered: Vec<&&&Row> = answerable.iter().filter(|row| row.answered).collect();
    let right = |row: &Row| row.shown.iter().filter(|paper| row.gold.contains(paper)).count();
    let first = answered
        .iter()
        .filter(|row| row.shown.first().is_some_and(|paper| row.gold.contains(paper)))
        .count();
    let found: usize = answered.iter().map(|row| right(row)).sum();
    let gold: usize = answerable.iter().map(|row| row.gold.len()).sum();
    let all: usize = answered.iter().map(|row| row.shown.len()).sum();
    format!(
        "First paper shown answers: {}. Answering papers shown: {}. Papers shown that answer: {}.\n",
        share(first, answered.len()),
        share(found, gold),
        share(found, all)
    )
}

/// `17 of 20, 85 % (64–95)`.
fn share(hits: usize, n: usize) -> String {
    if n == 0 {
        return "none".to_owned();
    }
    let Share { hits, n, low, high } = Share::of(hits, n);
    let percent = |value: f64| (100.0 * value).round();
    let value = percent(hits as f64 / n as f64);
    format!("{hits} of {n}, {value} % ({}–{})", percent(low), percent(high))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_have_wilsons_interval() {
        assert_eq!(share(17, 20), "17 of 20, 85 % (64–95)");
        assert_eq!(share(0, 0), "none");
        assert_eq!(share(60, 60), "60 of 60, 100 % (94–100)");
    }
}
