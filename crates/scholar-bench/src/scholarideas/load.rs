//! Reads the dataset: a folder in the published layout, or one file of JSON lines as exported from the hub.
//!
//! Published: `<id>/<id>.txt`, `<id>/<id>.jsonl` with a rubric a line, `<id>/cutoff.txt`; seven of the published files lack the
//! final line break. JSON lines: an idea with its `rubrics` a line, or a rubric a line with its idea beside it.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use jiff::civil::Date;
use serde::Deserialize;
use serde_json::Value;

use super::model::{Axis, Dataset, Idea, IdeaId, Rubric, RubricType, Severity};

/// Name of the file that holds an idea's cut-off date.
const CUTOFF: &str = "cutoff.txt";

/// Why there is no dataset.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// A file or folder cannot be read, or is not UTF-8.
    #[error("{} cannot be read", path.display())]
    Read {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A folder beside those of ideas.
    #[error("{} is not the folder of an idea: its name is not like ai_31", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
    },
    /// A line that is not what it should be.
    #[error("{} line {line}: {message}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// Counted from 1.
        line: usize,
        /// What is wrong with it.
        message: String,
    },
    /// A file that is empty, or that has no date where one belongs.
    #[error("{}: {message}", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        message: String,
    },
}

/// Reads what is at `path`.
///
/// # Errors
/// [`LoadError`] names the file and line that cannot be used; nothing is left out silently.
pub fn load(path: &Path) -> Result<Dataset, LoadError> {
    let ideas = if path.is_dir() { folder(path)? } else { json_lines(path)? };
    if ideas.is_empty() {
        return Err(LoadError::Content { path: path.to_owned(), message: "no ideas".to_owned() });
    }
    Ok(Dataset { ideas: ideas.into_values().collect() })
}

fn read(path: &Path) -> Result<String, LoadError> {
    let text = fs_err::read_to_string(path)
        .map_err(|source| LoadError::Read { path: path.to_owned(), source })?;
    Ok(text.strip_prefix('\u{feff}').map_or_else(|| text.clone(), str::to_owned))
}

fn folder(path: &Path) -> Result<BTreeMap<IdeaId, Idea>, LoadError> {
    let unreadable = |source| LoadError::Read { path: path.to_owned(), source };
    let mut ideas = BTreeMap::new();
    for entry in fs_err::read_dir(path).map_err(unreadable)? {
        let folder = entry.map_err(unreadable)?.path();
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if !folder.is_dir() || name.starts_with('.') {
            continue;
        }
        let id: IdeaId = name.parse().map_err(|_| LoadError::Folder { path: folder.clone() })?;
        ideas.insert(id, idea(&folder, id)?);
    }
    Ok(ideas)
}

fn idea(folder: &Path, id: IdeaId) -> Result<Idea, LoadError> {
    let path = folder.join(format!("{id}.txt"));
    let text = read(&path)?;
    let content = |path: &Path, message: &str| LoadError::Content {
        path: path.to_owned(),
        message: message.to_owned(),
    };
    if text.trim().is_empty() {
        return Err(content(&path, "the idea is empty"));
    }
    let path = folder.join(CUTOFF);
    let cutoff = date(&read(&path)?).ok_or_else(|| content(&path, "is not a date YYYY-MM-DD"))?;
    let path = folder.join(format!("{id}.jsonl"));
    let rubrics = lines(&path, |line| serde_json::from_str::<Rubric>(line))?;
    if rubrics.is_empty() {
        return Err(content(&path, "there is no rubric"));
    }
    Ok(Idea { id, text, cutoff, rubrics: rubrics.into_iter().map(|(_, rubric)| rubric).collect() })
}

/// Each line that is not empty, read, with its number.
fn lines<T, E: std::fmt::Display>(
    path: &Path,
    parse: impl Fn(&str) -> Result<T, E>,
) -> Result<Vec<(usize, T)>, LoadError> {
    let text = read(path)?;
    let numbered = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    numbered
        .map(|(at, line)| match parse(line) {
            Ok(value) => Ok((at + 1, value)),
            Err(error) => Err(LoadError::Line {
                path: path.to_owned(),
                line: at + 1,
                message: error.to_string(),
            }),
        })
        .collect()
}

fn date(text: &str) -> Option<Date> {
    let text = text.trim();
    // Nothing but a day: a time behind it would be lost.
    let is_day = text.len() == 10 && text.bytes().filter(|byte| *byte == b'-').count() == 2;
    text.parse().ok().filter(|_| is_day)
}

/// A line of an export; which of the fields it has depends on how it was made.
#[derive(Deserialize)]
struct Row {
    #[serde(alias = "idea_id", alias = "Instance_ID")]
    id: IdeaId,
    #[serde(alias = "research_idea", alias = "research_plan", alias = "text")]
    idea: Option<String>,
    #[serde(alias = "cutoff_date", alias = "date")]
    cutoff: Option<String>,
    #[serde(alias = "review_rubrics", alias = "rubric")]
    rubrics: Option<Value>,
    statement: Option<String>,
    #[serde(rename = "type")]
    rubric_type: Option<RubricType>,
    axis: Option<Axis>,
    severity: Option<Severity>,
}

fn json_lines(path: &Path) -> Result<BTreeMap<IdeaId, Idea>, LoadError> {
    let mut ideas: BTreeMap<IdeaId, Idea> = BTreeMap::new();
    let mut complete: Vec<IdeaId> = Vec::new();
    for (line, row) in lines(path, |line| serde_json::from_str::<Row>(line))? {
        let wrong = |message: String| LoadError::Line { path: path.to_owned(), line, message };
        let id = row.id;
        let (rubrics, whole) = rubrics_of(&row).map_err(wrong)?;
        if complete.contains(&id) || (whole && ideas.contains_key(&id)) {
            return Err(wrong(format!("the idea {id} came before")));
        }
        if whole {
            complete.push(id);
        }
        let cutoff = row.cutoff.as_deref().map(|text| {
            date(text).ok_or_else(|| wrong(format!("{text:?} is not a date YYYY-MM-DD")))
        });
        let (text, cutoff) = (row.idea, cutoff.transpose()?);
        match ideas.get_mut(&id) {
            Some(known) => {
                let other = text.is_some_and(|text| text != known.text)
                    || cutoff.is_some_and(|cutoff| cutoff != known.cutoff);
                if other {
                    return Err(wrong(format!("text or date of {id} are not those of before")));
                }
                known.rubrics.extend(rubrics);
            }
            None => {
                let text = text.filter(|text| !text.trim().is_empty());
                let (Some(text), Some(cutoff)) = (text, cutoff) else {
                    return Err(wrong(format!("{id} has no text or no cut-off date")));
                };
                ideas.insert(id, Idea { id, text, cutoff, rubrics });
            }
        }
    }
    Ok(ideas)
}

/// The rubrics of a line, and whether they are all of the idea.
fn rubrics_of(row: &Row) -> Result<(Vec<Rubric>, bool), String> {
    let read = |error: serde_json::Error| format!("its rubrics: {error}");
    let rubrics: Vec<Rubric> = match &row.rubrics {
        Some(Value::String(text)) => {
            let lines = text.lines().filter(|line| !line.trim().is_empty());
            lines.map(serde_json::from_str).collect::<Result<_, _>>().map_err(read)?
        }
        Some(list) => Deserialize::deserialize(list).map_err(read)?,
        None => {
            let (Some(statement), Some(rubric_type), Some(axis), Some(severity)) =
                (&row.statement, row.rubric_type, row.axis, row.severity)
            else {
                return Err("neither rubrics nor statement, type, axis and severity".to_owned());
            };
            let statement = statement.clone();
            return Ok((vec![Rubric { statement, rubric_type, axis, severity }], false));
        }
    };
    if rubrics.is_empty() { Err("there is no rubric".to_owned()) } else { Ok((rubrics, true)) }
}
