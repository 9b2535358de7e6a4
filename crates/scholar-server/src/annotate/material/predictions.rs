//! Predictions in the shapes in which they are passed around.

use std::collections::BTreeSet;

use scholar_core::text::markers::citation_groups;
use serde_json::Value;

use super::{MaterialError, plain};
use crate::annotate::model::Reference;

/// Lines of this schema count passages from 0, as upstream does.
const OURS: &str = "openscholar.prediction/1";

/// Which number the first passage has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Numbering {
    /// 0 if the file says so by its schema or by citing `[0]`, else 1.
    Detect,
    /// The first is at this place, from 0.
    From(usize),
}

/// What one system answered.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Predictions {
    /// Name of the system that answered.
    pub system: String,
    /// The answers, in the order of the file.
    pub items: Vec<Prediction>,
    /// Items that ended without an answer.
    pub failed: usize,
}

/// An answer of one system to one item of a benchmark.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prediction {
    /// The item's name, or the question where it has none.
    pub id: String,
    /// The item's question, as the run states it.
    pub question: String,
    /// The answer with its citation markers.
    pub text: String,
    /// Who wrote the question or the answer.
    pub authors: Vec<String>,
    /// What could be cited, under the numbers used in the text.
    pub passages: Vec<Reference>,
}

/// Reads one system's answers: JSON lines, a JSON list, or upstream's `{"data": […]}`.
///
/// # Errors
/// Names the line or item that cannot be used.
pub fn read_predictions(
    text: &str,
    system: &str,
    numbering: Numbering,
) -> Result<Predictions, MaterialError> {
    let mut read = Predictions { system: system.to_owned(), ..Predictions::default() };
    let mut from_zero = false;
    let mut rows: Vec<(Prediction, bool)> = Vec::new();
    let mut failed = BTreeSet::new();
    for (place, value) in values(text)? {
        let ours = value.get("schema").and_then(Value::as_str) == Some(OURS);
        from_zero |= ours;
        if matches!(value.get("status").and_then(Value::as_str), Some("failed" | "cut")) {
            failed.insert(value.get("id").map(plain).unwrap_or_default());
            continue;
        }
        let row = prediction(&value).map_err(|message| MaterialError::new(&place, message))?;
        failed.remove(&row.0.id);
        match rows.iter_mut().find(|known| known.0.id == row.0.id) {
            // In a journal, a later line takes the place of an earlier one.
            Some(known) if ours => *known = row,
            Some(_) => {
                let message = format!("the item {:?} came before", row.0.id);
                return Err(MaterialError::new(&place, message));
            }
            None => rows.push(row),
        }
    }
    read.failed = failed.len();
    let cites_zero = |row: &(Prediction, bool)| {
        citation_groups(&row.0.text).iter().any(|group| group.numbers == [0])
    };
    let first = match numbering {
        Numbering::From(first) => first,
        Numbering::Detect => usize::from(!(from_zero || rows.iter().any(cites_zero))),
    };
    for (mut row, numbered) in rows {
        if !numbered {
            for (at, passage) in row.passages.iter_mut().enumerate() {
                passage.number = first + at;
            }
        }
        read.items.push(row);
    }
    Ok(read)
}

/// The rows with their places.
fn values(text: &str) -> Result<Vec<(String, Value)>, MaterialError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text).trim();
    let list = |rows: Vec<Value>| {
        rows.into_iter().enumerate().map(|(at, row)| (format!("item {}", at + 1), row)).collect()
    };
    let is_lines =
        text.starts_with('{') && text.lines().nth(1).is_some_and(|line| line.starts_with('{'));
    if !is_lines {
        match serde_json::from_str(text) {
            Ok(Value::Array(rows)) => return Ok(list(rows)),
            Ok(Value::Object(mut whole)) => {
                if let Some(Value::Array(rows)) = whole.remove("data") {
                    return Ok(list(rows));
                }
            }
            Err(error) if text.starts_with('[') => {
                return Err(MaterialError::new(
                    format!("line {}", error.line()),
                    format!("is not JSON: {error}"),
                ));
            }
            Ok(_) | Err(_) => {}
        }
    }
    text.lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty())
        .map(|(at, line)| {
            let place = format!("line {}", at + 1);
            serde_json::from_str(line)
                .map_err(|error| MaterialError::new(&place, format!("is not JSON: {error}")))
                .map(|value| (place, value))
        })
        .collect()
}

/// The row, and whether its passages say their own numbers.
fn prediction(value: &Value) -> Result<(Prediction, bool), String> {
    let field =
        |names: &[&str]| names.iter().find_map(|name| value.get(*name).filter(|v| !v.is_null()));
    let text_of = |names: &[&str]| field(names).and_then(Value::as_str).map(str::to_owned);
    let Some(text) = text_of(&["output", "answer_text"]) else {
        return Err("has no text under \"output\" or \"answer_text\"".to_owned());
    };
    let Some(question) = text_of(&["input", "question", "prompt", "initial_prompt"]) else {
        return Err("has no question under \"input\" or \"question\"".to_owned());
    };
    let id = field(&["id", "case_id", "instance_id"]).map_or_else(|| question.clone(), plain);
    let authors = match field(&["authors", "author", "annotator"]) {
        Some(Value::Array(names)) => {
            names.iter().filter_map(Value::as_str).map(str::to_owned).collect()
        }
        Some(Value::String(name)) => vec![name.clone()],
        _ => Vec::new(),
    };
    let rows = field(&["ctxs", "docs"]).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let shown = value.get("shown").and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok());
    let rows = &rows[..shown.unwrap_or(rows.len()).min(rows.len())];
    let passages: Vec<Reference> = rows.iter().map(passage).collect();
    let numbered =
        !rows.is_empty() && rows.iter().all(|row| row.get("number").is_some_and(Value::is_u64));
    Ok((Prediction { id, question, text, authors, passages }, numbered))
}

fn passage(row: &Value) -> Reference {
    let text_of = |name: &str| row.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    // Upstream's other shape: [text, title].
    let pair = |at: usize| row.get(at).and_then(Value::as_str).unwrap_or_default().to_owned();
    let number = row.get("number").and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok());
    let (title, text) =
        if row.is_array() { (pair(1), pair(0)) } else { (text_of("title"), text_of("text")) };
    let url = Some(text_of("url")).filter(|url| !url.is_empty());
    Reference { number: number.unwrap_or(0), title, text, url }
}
