//! Whether rows repeat what models are measured on: for rows that were made elsewhere, and to hold ours to their word.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use super::error::DataError;
use super::evaluation::Evaluation;
use super::lines::read_rows;

/// Longest beginning of a text in an error.
const EXCERPT_CHARS: usize = 80;

const PASSAGE_RULE: &str = "evaluation: a passage has 13 words of a query in a row";

/// Reads rows of any kind and refuses a file that repeats evaluation data. Returns how many rows were read.
///
/// Queries and statements (`query`, `question`, `sentence`, turns of users) are held against every rule of
/// [`Evaluation::query`], passages (`pos`, `evidence`, `text`, texts of `sentences`) against 13 words in a row.
///
/// # Errors
/// [`DataError::Leaked`] with the first line of the commonest rule; and when the file cannot be read.
pub fn refuse_leaks(
    path: &Path,
    evaluation: &Evaluation,
    max_rejected_fraction: f64,
) -> Result<usize, DataError> {
    let rows = read_rows(path, max_rejected_fraction, |row: &Value| {
        row.is_object().then_some(()).ok_or_else(|| "not an object".to_owned())
    })?;
    let mut found: BTreeMap<&'static str, (usize, usize, String)> = BTreeMap::new();
    for (line, row) in &rows.rows {
        if let Some((rule, text)) = leak(row, evaluation) {
            let entry = found.entry(rule).or_insert_with(|| (0, *line, excerpt(text)));
            entry.0 += 1;
        }
    }
    match found.into_iter().max_by_key(|(_, (count, ..))| *count) {
        None => Ok(rows.rows.len()),
        Some((rule, (count, line, text))) => {
            Err(DataError::Leaked { path: rows.path, rows: count, line, rule, text })
        }
    }
}

fn leak<'a>(row: &'a Value, evaluation: &Evaluation) -> Option<(&'static str, &'a str)> {
    let asked = ["query", "question", "sentence", "prompt", "instruction"]
        .iter()
        .filter_map(|f| row[*f].as_str());
    let turns = row["messages"].as_array().into_iter().flatten();
    let turns =
        turns.filter(|turn| turn["role"] == "user").filter_map(|turn| turn["content"].as_str());
    for text in asked.chain(turns) {
        if let Some(conflict) = evaluation.query(text) {
            return Some((conflict.rule(), text));
        }
    }
    let passages = ["evidence", "text"].iter().filter_map(|f| row[*f].as_str());
    let positives = row["pos"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let sentences = row["sentences"].as_array().into_iter().flatten();
    let sentences = sentences.filter_map(|one| one["text"].as_str());
    let mut passages = passages.chain(positives).chain(sentences);
    passages.find(|text| evaluation.passage(text)).map(|text| (PASSAGE_RULE, text))
}

fn excerpt(text: &str) -> String {
    text.chars().take(EXCERPT_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evaluation_data_among_rows_is_refused_with_its_line() {
        let folder = tempfile::tempdir().expect("temp dir");
        let path = folder.path().join("train.jsonl");
        let mut evaluation = Evaluation::default();
        evaluation.add_query("Green tea lowers the blood pressure of adults.");
        let clean = "{\"query\":\"wind tunnels\",\"pos\":[\"a\"],\"neg\":[\"b\"]}\n";
        fs_err::write(&path, clean).expect("written");
        assert_eq!(refuse_leaks(&path, &evaluation, 0.0).expect("clean"), 1);
        let leaked = format!(
            "{clean}{{\"sentence\":\"Green tea lowers blood pressure in adults\",\"evidence\":\"x\",\"label\":\"supports\"}}\n"
        );
        fs_err::write(&path, leaked).expect("written");
        let error = refuse_leaks(&path, &evaluation, 0.0).expect_err("leaked");
        let text = error.to_string();
        assert!(text.contains("line 2") && text.contains("Green tea"), "{text}");
        assert!(error.hint().is_some_and(|hint| hint.contains("train data")));
    }
}
