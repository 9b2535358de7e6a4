//! Upstream's files as items.
//!
//! Every surprise is an error with file and line, or a notice: an item without a question is of no use, a question that
//! occurs twice is answered once, a passage without text is left out.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use jiff::civil::Date;
use scholar_core::text::hex;
use scholar_core::text::normalise::single_spaced;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::item::{Gold, Item, mark_duplicates};
use super::json::{DataError, Place, Row, kind, read, rows_of};
use super::prediction::Context;
use super::task::BenchTask;

/// The items of a task.
#[derive(Debug, Clone, PartialEq)]
pub struct Loaded {
    /// Every item of the task, in file order.
    pub items: Vec<Item>,
    /// What a person should know about the file.
    pub notices: Vec<String>,
    /// File that was read.
    pub file: PathBuf,
    /// Its SHA-256, so that a run can say what it was about.
    pub sha256: String,
}

/// The items of `task` from `data`: the folder of the benchmark's files, or the task's file itself.
///
/// # Errors
/// [`DataError`] with file and line; a file that is not there says where it was looked for and how to get it.
pub fn load(task: BenchTask, data: &Path) -> Result<Loaded, DataError> {
    let file = find(task, data)?;
    let text = read(&file)?;
    let rows = rows_of(&text, &file)?;
    if rows.is_empty() {
        return Err(DataError::Empty { path: file });
    }
    let mut notices = Vec::new();
    let mut items = Vec::with_capacity(rows.len());
    let mut seen: HashMap<String, Place> = HashMap::new();
    for (nth, row) in rows.iter().enumerate() {
        let item = item_of(task, row, nth, &mut notices)?;
        if let Some(first) = seen.insert(item.id.clone(), row.place.clone()) {
            return Err(DataError::SameId { id: item.id, first, second: row.place.clone() });
        }
        items.push(item);
    }
    let repeated = mark_duplicates(&mut items, false);
    if repeated > 0 {
        notices.push(format!("{repeated} of {} items repeat an earlier question", items.len()));
    }
    let digest = Sha256::digest(text.as_bytes());
    let sha256 = hex(&digest);
    Ok(Loaded { items, notices, file, sha256 })
}

fn find(task: BenchTask, data: &Path) -> Result<PathBuf, DataError> {
    if data.is_file() {
        return Ok(data.to_owned());
    }
    let looked: Vec<PathBuf> = task.files().iter().map(|name| data.join(name)).collect();
    match looked.iter().find(|path| path.is_file()) {
        Some(path) => Ok(path.clone()),
        None => Err(DataError::Missing { task: task.title(), looked, hint: task.how_to_get() }),
    }
}

fn item_of(
    task: BenchTask,
    row: &Row,
    nth: usize,
    notices: &mut Vec<String>,
) -> Result<Item, DataError> {
    let question_field = match task {
        BenchTask::Cs => "initial_prompt",
        BenchTask::RelatedWork => "abstract",
        _ => "input",
    };
    let question = row.text(question_field)?.trim();
    if question.is_empty() {
        return Err(row.wrong(format!("the field `{question_field}` is empty")));
    }
    let own_id = match task {
        BenchTask::Cs => Some(row.text("case_id")?.to_owned()),
        BenchTask::RelatedWork => Some(row.text("arxiv_id")?.to_owned()),
        _ => row.optional_text("id")?.map(str::to_owned),
    };
    let id = own_id.unwrap_or_else(|| format!("{}_{nth}", task.name()));
    let mut item = Item::new(task, id, question);
    match task {
        BenchTask::SciFact | BenchTask::PubMedQa => {
            item.gold = Gold::Label(label(task, row)?);
            item.contexts = contexts(row, "gold_ctx", notices)?;
        }
        BenchTask::Qasa => {
            item.gold = Gold::Text(row.text("answer")?.to_owned());
            item.contexts = contexts(row, "ctxs", notices)?;
        }
        BenchTask::Multi => {
            item.gold = Gold::Text(row.text("output")?.to_owned());
            item.contexts = contexts(row, "ctxs", notices)?;
            item.annotator = row.optional_text("annotator")?.map(str::to_owned);
            item.subject = row.optional_text("subject")?.map(str::to_owned);
        }
        BenchTask::Cs => {
            item.gold = Gold::Rubric(rubric(row)?);
            item.annotator = row.optional_text("annotator")?.map(str::to_owned);
            item.doubly_annotated =
                row.fields.get("agreement").and_then(Value::as_bool).unwrap_or(false);
        }
        BenchTask::Bio | BenchTask::Neuro => {}
        BenchTask::RelatedWork => related_work(row, &mut item, notices)?,
    }
    Ok(item)
}

fn label(task: BenchTask, row: &Row) -> Result<String, DataError> {
    let labels = task.labels().unwrap_or_default();
    let found = row.text("answer")?.trim().to_lowercase();
    if labels.contains(&found.as_str()) {
        return Ok(found);
    }
    Err(row.wrong(format!(
        "the field `answer` is {found:?} instead of {:?} or {:?}",
        labels[0], labels[1]
    )))
}

/// The passages of a list; one without text is left out with a notice, since nothing can be read in it.
fn contexts(row: &Row, field: &str, notices: &mut Vec<String>) -> Result<Vec<Context>, DataError> {
    let values = row.list(field)?;
    if values.is_empty() {
        notices.push(format!("{}: the field `{field}` has no passage", row.place));
    }
    let mut contexts = Vec::with_capacity(values.len());
    for (nth, value) in values.iter().enumerate() {
        let context = context(value)
            .map_err(|what| row.wrong(format!("`{field}`, element {}: {what}", nth + 1)))?;
        if context.text.is_empty() {
            notices.push(format!(
                "{}: `{field}`, element {} has no text; its number is kept",
                row.place,
                nth + 1
            ));
        }
        contexts.push(context);
    }
    Ok(contexts)
}

/// A passage as upstream writes it: an object with `title` and `text`, or the text alone. `PubMedQA`'s text is an object
/// with the paragraphs under `contexts` in most rows.
///
/// # Errors
/// What is wrong with it.
pub(crate) fn context(value: &Value) -> Result<Context, String> {
    let fields = match value {
        Value::String(text) => return Ok(Context { text: text.clone(), ..Context::default() }),
        Value::Object(fields) => fields,
        other => return Err(format!("{} instead of a passage", kind(other))),
    };
    let text_of = |name: &str| fields.get(name).and_then(Value::as_str).map(str::to_owned);
    let number = |name: &str| fields.get(name).and_then(Value::as_i64);
    let text = match fields.get("text").or_else(|| fields.get("abstract")) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Object(parts)) => paragraphs(parts)?,
        None | Some(Value::Null) => String::new(),
        Some(other) => return Err(format!("`text` is {} instead of text", kind(other))),
    };
    let authors = match fields.get("authors") {
        Some(Value::Array(authors)) => authors.iter().filter_map(author).collect(),
        _ => Vec::new(),
    };
    Ok(Context {
        title: single_spaced(&text_of("title").unwrap_or_default()),
        text,
        url: text_of("url").filter(|url| !url.is_empty()),
        year: number("year").and_then(|year| i16::try_from(year).ok()),
        authors,
        citation_count: number("citation_count")
            .or_else(|| number("citation_counts"))
            .and_then(|count| u32::try_from(count).ok()),
        passage_id: text_of("passage_id"),
    })
}

fn author(value: &Value) -> Option<String> {
    let name = value.as_str().or_else(|| value.get("name").and_then(Value::as_str))?;
    Some(name.to_owned())
}

fn paragraphs(parts: &serde_json::Map<String, Value>) -> Result<String, String> {
    let Some(Value::Array(list)) = parts.get("contexts") else {
        return Err("`text` is an object without a list `contexts`".to_owned());
    };
    let texts: Option<Vec<&str>> = list.iter().map(Value::as_str).collect();
    texts.map(|texts| texts.join("\n")).ok_or_else(|| "`text.contexts` contains no text".to_owned())
}

/// The rubric of a Scholar-CS item, with the fields that scoring needs checked here, where the line is known.
fn rubric(row: &Row) -> Result<Value, DataError> {
    let config = row.fields.get("metric_config").and_then(|metric| metric.get("config"));
    let config = config.ok_or_else(|| row.wrong("the field `metric_config.config` is missing"))?;
    let Some(Value::Array(properties)) = config.get("other_properties") else {
        return Err(row.wrong("the field `metric_config.config.other_properties` is not a list"));
    };
    if properties.is_empty() {
        return Err(row.wrong("`other_properties` is empty: the rubric has no ingredient"));
    }
    for (nth, property) in properties.iter().enumerate() {
        let text = |name: &str| property.get(name).is_some_and(Value::is_string);
        let weight = property.get("weight").is_some_and(Value::is_number);
        if !text("name") || !text("criterion") || !weight {
            return Err(row.wrong(format!(
                "`other_properties`, element {}: name, criterion and weight are needed",
                nth + 1
            )));
        }
    }
    Ok(config.clone())
}

fn related_work(row: &Row, item: &mut Item, notices: &mut Vec<String>) -> Result<(), DataError> {
    item.question = single_spaced(&item.question);
    item.gold = Gold::Text(row.text("related_works_tex")?.to_owned());
    item.own_title = Some(single_spaced(row.text("title")?));
    item.own_arxiv = Some(item.id.clone());
    let date = row.text("date")?;
    let day = date.get(..10).and_then(|day| day.parse::<Date>().ok());
    item.before =
        Some(day.ok_or_else(|| row.wrong(format!("the field `date` is {date:?}, not a date")))?);
    let all = contexts(row, "citations", notices)?;
    // The section cites by key, not by place: a paper without an abstract can go.
    item.contexts = all.into_iter().filter(|context| !context.text.is_empty()).collect();
    notices.retain(|notice| !notice.contains("`citations`"));
    Ok(())
}

#[cfg(test)]
mod tests;
