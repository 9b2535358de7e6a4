//! Predictions in every shape they come in and are asked for in; numbers are never changed.
//!
//! Read are this project's lines, upstream's `{input, output, ctxs}` as lines, list or `{"data": […]}`, with `ctxs` as a
//! list or as a map to `[text, title]`, the rubric's `{case_id, answer_text}`, and the lists that its 1–5 judge reads
//! (`final_passages` in place of `ctxs`). Which one it is follows from the fields of each record.

use std::collections::{BTreeSet, HashMap};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use scholar_core::text::markers::citation_groups;
use scholar_core::text::normalise::single_spaced;
use serde_json::{Map, Value, json};

use super::item::Item;
use super::json::{DataError, Place, Row, kind, rows};
use super::load::context;
use super::prediction::{
    Context, MAX_OUTPUT_CHARS, PREDICTION_SCHEMA, Prediction, PredictionStatus,
};

/// A shape of prediction files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// This project's JSON lines, one [`Prediction`] each.
    Ours,
    /// One list of `{input, output, ctxs}`.
    List,
    /// The same list under `data`.
    Data,
    /// The same records as lines.
    Lines,
    /// Lines of `{case_id, answer_text}` with a reference list in the text.
    Rubric,
    /// One list of `{input, output, final_passages}`.
    Prometheus,
}

impl Shape {
    /// All, with their names on the command line.
    pub const NAMES: [(&'static str, Self); 6] = [
        ("openscholar", Self::Ours),
        ("list", Self::List),
        ("data", Self::Data),
        ("lines", Self::Lines),
        ("rubric", Self::Rubric),
        ("prometheus", Self::Prometheus),
    ];

    /// The shape called `name`.
    pub fn named(name: &str) -> Option<Self> {
        Self::NAMES.into_iter().find(|(own, _)| *own == name).map(|(_, shape)| shape)
    }
}

/// A prediction that was read, with where it stood and whether it names its item.
#[derive(Debug, Clone, PartialEq)]
pub struct Read {
    /// The prediction; without a name of its own `id` is empty.
    pub prediction: Prediction,
    /// File, line and record, for messages.
    pub place: Place,
}

/// A file of predictions.
#[derive(Debug, Clone, PartialEq)]
pub struct Imported {
    /// File that was read.
    pub path: PathBuf,
    /// Every record, in file order.
    pub predictions: Vec<Read>,
    /// What a person should know.
    pub notices: Vec<String>,
}

/// Reads the predictions of `path`, whatever their shape.
///
/// # Errors
/// [`DataError`] with file, line and field.
pub fn read_predictions(path: &Path) -> Result<Imported, DataError> {
    let mut notices = Vec::new();
    let mut predictions = Vec::new();
    for row in rows(path)? {
        let mut prediction = of_row(&row, &mut notices)?;
        if prediction.output.trim().is_empty() && prediction.is_final() {
            notices.push(format!("{}: the output is empty", row.place));
        }
        let chars = prediction.output.chars().count();
        if chars > MAX_OUTPUT_CHARS {
            let what = format!(
                "the output has {chars} characters, more than the {MAX_OUTPUT_CHARS} that are measured"
            );
            notices.push(format!("{}: {what}; the item counts as failed", row.place));
            prediction.output = String::new();
            prediction.status = PredictionStatus::Failed;
            prediction.error = Some(what);
        }
        predictions.push(Read { prediction, place: row.place });
    }
    Ok(Imported { path: path.to_owned(), predictions, notices })
}

fn of_row(row: &Row, notices: &mut Vec<String>) -> Result<Prediction, DataError> {
    if row.fields.contains_key("schema") {
        let schema = row.text("schema")?;
        if schema != PREDICTION_SCHEMA {
            return Err(
                row.wrong(format!("the schema is {schema:?} instead of {PREDICTION_SCHEMA:?}"))
            );
        }
        return serde_json::from_value(Value::Object(row.fields.clone()))
            .map_err(|source| DataError::Json { place: row.place.clone(), source });
    }
    if row.fields.contains_key("answer_text") {
        return rubric(row);
    }
    let first =
        |names: [&'static str; 3]| names.into_iter().find(|name| row.fields.contains_key(*name));
    let output = match first(["output", "response", "orig_response"]) {
        Some(name) => row.text(name)?,
        None => return Err(row.wrong("the field `output` is missing")),
    };
    let input = match first(["input", "question", "instruction"]) {
        Some(name) => row.text(name)?,
        None => "",
    };
    let id = match row.fields.get("id") {
        Some(Value::String(id)) => id.clone(),
        Some(Value::Number(number)) => number.to_string(),
        _ => String::new(),
    };
    let mut prediction = Prediction::new(id, input, output);
    prediction.answer = row.fields.get("answer").and_then(Value::as_str).map(str::to_owned);
    prediction.ctxs = match row.fields.get("shown_ctxs").or_else(|| row.fields.get("ctxs")) {
        None | Some(Value::Null) => Vec::new(),
        Some(value) => contexts(row, value, notices)?,
    };
    prediction.final_passages = row.optional_text("final_passages")?.map(str::to_owned);
    let block = prediction.final_passages.as_deref().map(numbered_block).unwrap_or_default();
    if prediction.ctxs.is_empty() {
        prediction.ctxs = block;
    } else if !block.is_empty() && block.len() < prediction.ctxs.len() {
        prediction.shown = Some(block.len());
    }
    prediction.seconds = row.fields.get("elapsed").and_then(Value::as_f64);
    if let Some(usd) = row.fields.get("total_cost").and_then(Value::as_f64) {
        let usage =
            super::prediction::PredictionUsage { cost_usd: Some(usd), ..Default::default() };
        prediction.usage = Some(usage);
    }
    Ok(prediction)
}

fn rubric(row: &Row) -> Result<Prediction, DataError> {
    let text = row.text("answer_text")?;
    let (body, references) = split_references(text);
    let id = row.text("case_id")?;
    let mut prediction = Prediction::new(id, row.optional_text("question")?.unwrap_or(""), body);
    prediction.ctxs = numbered_block(references);
    Ok(prediction)
}

/// The text before its closing list of references, and the list.
fn split_references(text: &str) -> (&str, &str) {
    let mut at = 0;
    let mut found = None;
    for line in text.split_inclusive('\n') {
        if line.trim().trim_matches(['#', '*', ' ']) == "References:" {
            found = Some((at, at + line.len()));
        }
        at += line.len();
    }
    match found {
        Some((body, list)) => (text[..body].trim_end(), &text[list..]),
        None => (text, ""),
    }
}

/// Lines that begin with `[n]`, as passages at their numbers; a number that is left out is a passage without text.
fn numbered_block(block: &str) -> Vec<Context> {
    let mut contexts: Vec<Context> = Vec::new();
    let mut current: Option<usize> = None;
    for line in block.lines() {
        if let Some((number, rest)) = numbered(line) {
            if contexts.len() <= number {
                contexts.resize(number + 1, Context::default());
            }
            let rest = rest.trim();
            let titled = rest.strip_prefix("Title: ").and_then(|rest| rest.split_once(" Text: "));
            let (title, text) = titled.unwrap_or(("", rest));
            contexts[number] =
                Context { title: title.to_owned(), text: text.to_owned(), ..Context::default() };
            current = Some(number);
        } else if let Some(number) = current.filter(|_| !line.trim().is_empty()) {
            contexts[number].text.push('\n');
            contexts[number].text.push_str(line);
        }
    }
    contexts
}

/// Largest number that a line of a block may have: a year in brackets must not make two thousand passages.
const MAX_NUMBER: usize = 1_000;

fn numbered(line: &str) -> Option<(usize, &str)> {
    let (digits, rest) = line.trim_start().strip_prefix('[')?.split_once(']')?;
    let number = digits.parse().ok().filter(|number| *number <= MAX_NUMBER)?;
    Some((number, rest))
}

fn contexts(
    row: &Row,
    value: &Value,
    notices: &mut Vec<String>,
) -> Result<Vec<Context>, DataError> {
    let wrong = |nth: usize, what: String| row.wrong(format!("`ctxs`, element {nth}: {what}"));
    match value {
        Value::Array(values) => values
            .iter()
            .enumerate()
            .map(|(nth, value)| context(value).map_err(|what| wrong(nth + 1, what)))
            .collect(),
        Value::Object(map) => by_key(row, map, notices),
        other => Err(row
            .wrong(format!("the field `ctxs` is {} instead of a list or an object", kind(other)))),
    }
}

/// `ctxs` as a map: numbers are places; other keys are taken in their order.
fn by_key(
    row: &Row,
    map: &Map<String, Value>,
    notices: &mut Vec<String>,
) -> Result<Vec<Context>, DataError> {
    let numbers: Option<Vec<usize>> = map.keys().map(|key| key.parse().ok()).collect();
    let numbers = numbers.filter(|numbers| numbers.iter().all(|number| *number <= MAX_NUMBER));
    if numbers.is_none() {
        notices.push(format!(
            "{}: the keys of `ctxs` are not numbers; its passages are numbered in order",
            row.place
        ));
    }
    let mut contexts = vec![Context::default(); map.len()];
    for (nth, (key, value)) in map.iter().enumerate() {
        let number = numbers.as_ref().map_or(nth, |numbers| numbers[nth]);
        if contexts.len() <= number {
            contexts.resize(number + 1, Context::default());
        }
        let pair = value.as_array().map(|pair| pair.iter().map(Value::as_str).collect::<Vec<_>>());
        contexts[number] = match pair.as_deref() {
            Some([Some(text), Some(title)]) => Context {
                title: (*title).to_owned(),
                text: (*text).to_owned(),
                ..Context::default()
            },
            _ => {
                context(value).map_err(|what| row.wrong(format!("`ctxs`, key {key:?}: {what}")))?
            }
        };
    }
    Ok(contexts)
}

/// The predictions under the names of `items`, in the items' order, and what a person should know.
///
/// A record belongs to the item of its name, else to the first free item with its input; records without either belong to
/// items by place if there are as many. A question that occurs in several items is answered by one record for all.
///
/// # Errors
/// [`DataError::SameId`] for two records of one item, [`DataError::UnknownItems`] for records of none unless
/// `skip_unknown`.
pub fn align(
    imported: Imported,
    items: &[Item],
    task: &'static str,
    skip_unknown: bool,
) -> Result<(Vec<Prediction>, Vec<String>), DataError> {
    let Imported { path, predictions, mut notices } = imported;
    let total = predictions.len();
    let by_id: HashMap<&str, usize> =
        items.iter().enumerate().map(|(nth, item)| (item.id.as_str(), nth)).collect();
    let mut by_input: HashMap<String, Vec<usize>> = HashMap::new();
    for (nth, item) in items.iter().enumerate() {
        by_input.entry(single_spaced(&item.question)).or_default().push(nth);
    }
    let nameless = predictions
        .iter()
        .all(|read| read.prediction.id.is_empty() && read.prediction.input.is_empty());
    let mut taken: Vec<Option<Read>> = (0..items.len()).map(|_| None).collect();
    let mut unknown = Vec::new();
    for (nth, read) in predictions.into_iter().enumerate() {
        let same = by_input.get(&single_spaced(&read.prediction.input));
        let free = |nths: &Vec<usize>| nths.iter().copied().find(|nth| taken[*nth].is_none());
        let place = match by_id.get(read.prediction.id.as_str()) {
            Some(place) => Some(*place),
            None if nameless => (total == items.len()).then_some(nth),
            None => same.and_then(|nths| free(nths).or_else(|| nths.first().copied())),
        };
        let Some(place) = place else {
            unknown.push(name_of(&read));
            continue;
        };
        if let Some(first) = &taken[place] {
            return Err(DataError::SameId {
                id: items[place].id.clone(),
                first: first.place.clone(),
                second: read.place,
            });
        }
        taken[place] = Some(read);
    }
    if !unknown.is_empty() && (!skip_unknown || unknown.len() == total) {
        return Err(DataError::UnknownItems { path, task, unknown, total });
    }
    if !unknown.is_empty() {
        notices.push(format!("{} predictions are for no item of {task}", unknown.len()));
    }
    Ok((named(taken, items, &by_input, &mut notices), notices))
}

fn name_of(read: &Read) -> String {
    let prediction = &read.prediction;
    let name = if prediction.id.is_empty() { &prediction.input } else { &prediction.id };
    if name.is_empty() { read.place.to_string() } else { name.chars().take(80).collect() }
}

fn named(
    taken: Vec<Option<Read>>,
    items: &[Item],
    by_input: &HashMap<String, Vec<usize>>,
    notices: &mut Vec<String>,
) -> Vec<Prediction> {
    let mut found: Vec<Option<Prediction>> =
        taken.into_iter().map(|read| read.map(|read| read.prediction)).collect();
    for (nth, item) in items.iter().enumerate() {
        if let Some(prediction) = &mut found[nth] {
            prediction.id.clone_from(&item.id);
            if prediction.input.is_empty() {
                prediction.input.clone_from(&item.question);
            }
            continue;
        }
        let same = by_input.get(&single_spaced(&item.question));
        let answered = same.and_then(|nths| nths.iter().find(|other| found[**other].is_some()));
        if let Some(other) = answered {
            let mut copy = found[*other].clone().expect("found a moment ago");
            copy.id.clone_from(&item.id);
            copy.duplicate_of = Some(items[*other].id.clone());
            found[nth] = Some(copy);
        }
    }
    let missing = found.iter().filter(|prediction| prediction.is_none()).count();
    if missing > 0 {
        notices.push(format!("{missing} of {} items have no prediction", items.len()));
    }
    found.into_iter().flatten().collect()
}

/// `predictions` in another shape, and how many were left out because they are no answers.
pub fn render(predictions: &[Prediction], shape: Shape) -> (String, usize) {
    let answers: Vec<&Prediction> = predictions.iter().filter(|one| one.is_final()).collect();
    let left_out = predictions.len() - answers.len();
    let records = |record: fn(&Prediction) -> Value| answers.iter().map(move |one| record(one));
    let lines = |values: &mut dyn Iterator<Item = Value>| {
        values.fold(String::new(), |mut text, value| {
            let _infallible = writeln!(text, "{value}");
            text
        })
    };
    let text = match shape {
        Shape::Ours => {
            let all = predictions.iter().map(|one| serde_json::to_value(one).unwrap_or_default());
            return (lines(&mut { all }), 0);
        }
        Shape::Lines => lines(&mut records(upstream)),
        Shape::Rubric => lines(&mut records(as_rubric)),
        Shape::List => format!("{:#}\n", Value::Array(records(upstream).collect())),
        Shape::Data => format!("{:#}\n", json!({"data": records(upstream).collect::<Vec<_>>()})),
        Shape::Prometheus => format!("{:#}\n", Value::Array(records(prometheus).collect())),
    };
    (text, left_out)
}

fn upstream(prediction: &Prediction) -> Value {
    let mut record = json!({
        "id": prediction.id,
        "input": prediction.input,
        "output": prediction.output,
        "answer": prediction.answer.as_deref().unwrap_or_default(),
        "ctxs": prediction.shown_ctxs(),
    });
    if let Some(block) = &prediction.final_passages {
        record["final_passages"] = json!(block);
    }
    record
}

/// With the cited passages listed under the answer by the numbers that the answer uses; upstream renumbers them.
fn as_rubric(prediction: &Prediction) -> Value {
    let mut text = prediction.output.clone();
    let list = cited_block(prediction, |title, passage| format!("{title} {passage}"));
    if !list.is_empty() {
        let _infallible = write!(text, "\n\nReferences:\n{list}");
    }
    json!({"case_id": prediction.id, "answer_text": text.trim_end()})
}

fn prometheus(prediction: &Prediction) -> Value {
    let block = prediction.final_passages.clone().unwrap_or_else(|| {
        cited_block(prediction, |title, passage| match title {
            "" => passage.to_owned(),
            title => format!("Title: {title} Text: {passage}"),
        })
    });
    json!({"id": prediction.id, "input": prediction.input, "output": prediction.output, "final_passages": block})
}

fn cited_block(prediction: &Prediction, line: impl Fn(&str, &str) -> String) -> String {
    let groups = citation_groups(&prediction.output);
    let cited: BTreeSet<usize> = groups.into_iter().flat_map(|group| group.numbers).collect();
    let shown = prediction.shown_ctxs();
    let mut block = String::new();
    for (number, context) in cited.iter().filter_map(|n| Some((n, shown.get(*n)?))) {
        let text = single_spaced(&context.text);
        let _infallible = writeln!(block, "[{number}] {}", line(&context.title, &text).trim());
    }
    block
}

#[cfg(test)]
mod tests;
