//! Records of upstream's files: JSON lines, one list, or a list under `data`; with the bare `NaN` that Python writes.
//!
//! Ours, because upstream's files come in all three shapes under either extension, and two values of the public answers
//! are `NaN`, which is not JSON.

use std::borrow::Cow;
use std::fmt;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

/// Largest file read, in bytes: a hundred times the largest of the benchmark.
const MAX_BYTES: u64 = 1 << 30;

/// Where a record stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// File that the record is in.
    pub path: PathBuf,
    /// Line of JSON lines, from 1.
    pub line: Option<usize>,
    /// Place in a list, from 1.
    pub record: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}, line {line}", self.path.display()),
            None => write!(f, "{}, record {}", self.path.display(), self.record),
        }
    }
}

/// Why a file of the benchmark cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum DataError {
    /// The file is not where it was looked for.
    #[error("the file of {task} is missing; looked for {}", list(looked))]
    Missing {
        /// Title of the task.
        task: &'static str,
        /// Paths that were tried, in order.
        looked: Vec<PathBuf>,
        /// How to get the file.
        hint: &'static str,
    },
    /// It cannot be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// File that could not be read or, for a journal, written.
        path: PathBuf,
        /// Error of the file system.
        source: std::io::Error,
    },
    /// It is larger than any file of the benchmark.
    #[error("{} has {bytes} bytes, more than the {MAX_BYTES} accepted", path.display())]
    TooLarge {
        /// File that was to be read.
        path: PathBuf,
        /// Its size, in bytes.
        bytes: u64,
    },
    /// It contains no record.
    #[error("{} contains no record", path.display())]
    Empty {
        /// File that was read.
        path: PathBuf,
    },
    /// A part of it is not JSON.
    #[error("{place} is not JSON")]
    Json {
        /// File, line and record at fault.
        place: Place,
        /// Why, with line and column within the record or file.
        source: serde_json::Error,
    },
    /// A record has another form than promised.
    #[error("{place}: {what}")]
    Record {
        /// File, line and record at fault.
        place: Place,
        /// What is wrong, naming the field.
        what: String,
    },
    /// Two records have the same name.
    #[error("{second} has the id {id:?} of {first}")]
    SameId {
        /// Identifier that both records have.
        id: String,
        /// Where it stood first.
        first: Place,
        /// Where it stands again.
        second: Place,
    },
    /// The file's records belong to no item of the task.
    #[error("{} of {total} predictions of {} are for no item of {task}, for example {}", unknown.len(), path.display(), example(unknown))]
    UnknownItems {
        /// File of the predictions.
        path: PathBuf,
        /// Title of the task.
        task: &'static str,
        /// Their identifiers or the start of their input, in file order.
        unknown: Vec<String>,
        /// Predictions in the file.
        total: usize,
    },
}

impl DataError {
    /// The next step for a person.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Missing { hint, .. } => Some(hint),
            Self::UnknownItems { .. } => {
                Some("pass the --task and --data of the file, or --skip-unknown")
            }
            Self::SameId { .. } => Some("keep one record of each id"),
            _ => None,
        }
    }
}

fn list(paths: &[PathBuf]) -> String {
    let shown: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
    shown.join(", ")
}

fn example(names: &[String]) -> String {
    let shown: Vec<String> = names.iter().take(3).map(|name| format!("{name:?}")).collect();
    shown.join(", ")
}

/// One record.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    pub(crate) place: Place,
    pub(crate) fields: Map<String, Value>,
}

impl Row {
    pub(crate) fn wrong(&self, what: impl Into<String>) -> DataError {
        DataError::Record { place: self.place.clone(), what: what.into() }
    }

    /// The text of a field that must be there.
    pub(crate) fn text(&self, field: &str) -> Result<&str, DataError> {
        match self.fields.get(field) {
            Some(Value::String(text)) => Ok(text),
            Some(other) => {
                Err(self.wrong(format!("the field `{field}` is {} instead of text", kind(other))))
            }
            None => Err(self.wrong(format!("the field `{field}` is missing"))),
        }
    }

    /// The text of a field that may be absent or null.
    pub(crate) fn optional_text(&self, field: &str) -> Result<Option<&str>, DataError> {
        match self.fields.get(field) {
            None | Some(Value::Null) => Ok(None),
            Some(_) => self.text(field).map(Some),
        }
    }

    /// The elements of a list that may be absent or null.
    pub(crate) fn list(&self, field: &str) -> Result<&[Value], DataError> {
        match self.fields.get(field) {
            None | Some(Value::Null) => Ok(&[]),
            Some(Value::Array(values)) => Ok(values),
            Some(other) => {
                Err(self.wrong(format!("the field `{field}` is {} instead of a list", kind(other))))
            }
        }
    }
}

/// What a value is, for messages.
pub(crate) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// The text of a file.
pub(crate) fn read(path: &Path) -> Result<String, DataError> {
    let failed = |source| DataError::Read { path: path.to_owned(), source };
    let bytes = fs_err::metadata(path).map_err(failed)?.len();
    if bytes > MAX_BYTES {
        return Err(DataError::TooLarge { path: path.to_owned(), bytes });
    }
    fs_err::read_to_string(path).map_err(failed)
}

/// The records of a file; an error names the line or record.
pub(crate) fn rows(path: &Path) -> Result<Vec<Row>, DataError> {
    let text = read(path)?;
    let rows = rows_of(&text, path)?;
    if rows.is_empty() {
        return Err(DataError::Empty { path: path.to_owned() });
    }
    Ok(rows)
}

/// As [`rows`], of text that came from `path`; no record is no error.
pub(crate) fn rows_of(text: &str, path: &Path) -> Result<Vec<Row>, DataError> {
    let text = text.trim_start_matches('\u{feff}');
    let text = finite(text);
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let is_lines = first.trim_start().starts_with('{')
        && serde_json::from_str::<Value>(first).is_ok_and(|value| !is_wrapper(&value));
    let values = if is_lines {
        lines(&text, path)?
    } else if first.is_empty() {
        Vec::new()
    } else {
        document(&text, path)?
    };
    values.into_iter().map(|(place, value)| as_row(place, value)).collect()
}

fn lines(text: &str, path: &Path) -> Result<Vec<(Place, Value)>, DataError> {
    let mut values = Vec::new();
    for (nth, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let place = Place { path: path.to_owned(), line: Some(nth + 1), record: values.len() + 1 };
        match serde_json::from_str(line) {
            Ok(value) => values.push((place, value)),
            Err(source) => return Err(DataError::Json { place, source }),
        }
    }
    Ok(values)
}

fn document(text: &str, path: &Path) -> Result<Vec<(Place, Value)>, DataError> {
    let place = |record| Place { path: path.to_owned(), line: None, record };
    let value: Value = serde_json::from_str(text).map_err(|source| DataError::Json {
        place: Place { path: path.to_owned(), line: Some(source.line()), record: 1 },
        source,
    })?;
    let list = match value {
        Value::Array(list) => list,
        Value::Object(mut object) => match object.remove("data") {
            Some(Value::Array(list)) => list,
            Some(other) => {
                let what = format!("`data` is {} instead of a list", kind(&other));
                return Err(DataError::Record { place: place(1), what });
            }
            None => vec![Value::Object(object)],
        },
        other => {
            let what = format!("the file is {} instead of a list of objects", kind(&other));
            return Err(DataError::Record { place: place(1), what });
        }
    };
    Ok(list.into_iter().enumerate().map(|(nth, value)| (place(nth + 1), value)).collect())
}

fn is_wrapper(value: &Value) -> bool {
    value.get("data").is_some_and(Value::is_array) && value.get("input").is_none()
}

fn as_row(place: Place, value: Value) -> Result<Row, DataError> {
    match value {
        Value::Object(fields) => Ok(Row { place, fields }),
        other => {
            let what = format!("the record is {} instead of an object", kind(&other));
            Err(DataError::Record { place, what })
        }
    }
}

/// JSON as Python writes it, made JSON: `NaN`, `Infinity` and `-Infinity` outside of strings become `null`.
pub fn finite(text: &str) -> Cow<'_, str> {
    if !text.contains("NaN") && !text.contains("Infinity") {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut in_string = false;
    let mut escaped = false;
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        if !in_string {
            let word =
                ["-Infinity", "Infinity", "NaN"].into_iter().find(|w| text[at..].starts_with(w));
            if let Some(word) = word {
                out.push_str("null");
                at += word.len();
                continue;
            }
        }
        match c {
            '"' if !escaped => in_string = !in_string,
            _ => {}
        }
        escaped = in_string && c == '\\' && !escaped;
        out.push(c);
        at += c.len_utf8();
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_rows(text: &str) -> Result<Vec<Row>, DataError> {
        rows_of(text, Path::new("file.json"))
    }

    #[test]
    fn every_shape_of_file_is_read() {
        for text in [
            "{\"a\": \"NaN \\\" NaN\"}\n\n{\"a\": NaN}\n",
            "[{\"a\": \"NaN \\\" NaN\"}, {\"a\": NaN}]",
            "{\"data\": [{\"a\": \"NaN \\\" NaN\"},\n {\"a\": -Infinity}]}",
            "\u{feff}[\n{\"a\": \"NaN \\\" NaN\"}\n,{\"a\": Infinity}\n]",
        ] {
            let rows = read_rows(text).expect(text);
            assert_eq!(rows.len(), 2, "{text}");
            assert_eq!(rows[0].text("a").expect("text"), "NaN \" NaN");
            assert_eq!(rows[1].optional_text("a").expect("null"), None);
        }
        assert!(read_rows(" \n").expect("nothing").is_empty());
    }

    #[test]
    fn an_error_names_file_and_line() {
        let check = |text: &str, expected: &str| {
            let error = read_rows(text).expect_err(text);
            assert!(error.to_string().contains(expected), "{error}");
        };
        check("{\"a\": 1}\n{\"a\": \n", "file.json, line 2 is not JSON");
        check("[{\"a\": 1},\n{\"a\"]", "file.json, line 2 is not JSON");
        check("{\"a\": 1}\n[1]\n", "file.json, line 2: the record is a list");
        check("[{\"a\": 1}, 3]", "file.json, record 2: the record is a number");
        check("{\"data\": 3, \"x\": 1\n}", "`data` is a number");
        check("12", "the file is a number");
        let rows = read_rows("{\"a\": 1}").expect("a row");
        let missing = rows[0].text("input").expect_err("missing");
        assert_eq!(missing.to_string(), "file.json, line 1: the field `input` is missing");
        let wrong = rows[0].text("a").expect_err("a number");
        assert!(wrong.to_string().ends_with("the field `a` is a number instead of text"));
        assert!(read_rows(&"[".repeat(100_000)).is_err(), "no unbounded recursion");
    }
}
