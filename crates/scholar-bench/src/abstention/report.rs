//! How well the sets are told apart, as a table.

use std::fmt::Write as _;

use super::{FITTED_FILE, Given, Measured, Row};
use crate::attribution::statistics::{Scored, auroc, interval};
use crate::statistics::mean;

/// Probabilities at which answers are counted.
const THRESHOLDS: [f32; 8] = [0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5];

/// The tables of several sets of questions, those that the weights were fitted on apart from those held out. `preset` is
/// the threshold in use.
pub fn markdown(sets: &[Measured], preset: f32) -> String {
    let part = |fitted: bool| -> Vec<Measured> {
        let of_part = |set: &Measured| {
            let rows = set.rows.iter().filter(|row| row.fitted == fitted).cloned().collect();
            Measured { questions: set.questions.clone(), rows }
        };
        sets.iter().map(of_part).filter(|set| !set.rows.is_empty()).collect()
    };
    let (held_out, fitted) = (part(false), part(true));
    let none = if fitted.is_empty() { "; none here" } else { "" };
    let mut text = format!(
        "Which questions the weights were fitted on is named by `{FITTED_FILE}` (set, question){none}.\n"
    );
    for (heading, part) in
        [("Held-out questions", held_out), ("Questions that the weights were fitted on", fitted)]
    {
        if !part.is_empty() {
            let _infallible = write!(text, "\n## {heading}\n\n{}", tables(&part, preset));
        }
    }
    text
}

fn tables(sets: &[Measured], preset: f32) -> String {
    let mut text = String::from(
        "| questions | n | passages each | AUC own over near (95 %) | AUC own over far (95 %) |\n|---|---|---|---|---|\n",
    );
    for Measured { questions: name, rows } in sets {
        let own: Vec<f64> = of(rows, Given::Own).map(|row| count(row.passages)).collect();
        let _infallible = writeln!(
            text,
            "| {name} | {} | {:.1} | {} | {} |",
            own.len(),
            mean(&own),
            apart(rows, Given::Near),
            apart(rows, Given::Far)
        );
    }
    text.push_str(
        "\nShare of the questions that get an answer, where there is none below a probability of:\n\n| questions | passages |",
    );
    let mut thresholds = THRESHOLDS.to_vec();
    if !thresholds.contains(&preset) {
        thresholds.push(preset);
        thresholds.sort_by(f32::total_cmp);
    }
    for threshold in &thresholds {
        let mark = if threshold.total_cmp(&preset).is_eq() { " (preset)" } else { "" };
        let _infallible = write!(text, " {threshold}{mark} |");
    }
    let _infallible = write!(text, "\n|---|---|{}\n", "---|".repeat(thresholds.len()));
    for Measured { questions: name, rows } in sets {
        for (given, called) in
            [(Given::Own, "its own"), (Given::Near, "its neighbour's"), (Given::Far, "another's")]
        {
            let _infallible = write!(text, "| {name} | {called} |");
            for threshold in &thresholds {
                let answered: Vec<f64> = of(rows, given)
                    .map(|row| f64::from(u8::from(row.is_answered(*threshold))))
                    .collect();
                let _infallible = write!(text, " {:.2} |", mean(&answered));
            }
            text.push('\n');
        }
    }
    text
}

fn of(rows: &[Row], given: Given) -> impl Iterator<Item = &Row> {
    rows.iter().filter(move |row| row.given == given)
}

/// Probability that a question's own passages look more like its evidence than those of `other`.
fn apart(rows: &[Row], other: Given) -> String {
    let scored: Vec<Scored> = rows
        .iter()
        .filter(|row| row.given == Given::Own || row.given == other)
        .map(|row| Scored {
            score: f64::from(row.diagnosis.probability),
            called: false,
            truth: row.given == Given::Own,
        })
        .collect();
    match interval(&scored, auroc) {
        Some(auc) => format!("{:.3} ({:.3}–{:.3})", auc.value, auc.low, auc.high),
        None => "–".to_owned(),
    }
}

fn count(n: usize) -> f64 {
    u32::try_from(n).map_or(f64::MAX, f64::from)
}
