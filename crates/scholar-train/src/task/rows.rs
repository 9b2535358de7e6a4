//! The rows of all files that a task is told to read.

use std::path::PathBuf;

use serde::de::DeserializeOwned;

use crate::data::{DataError, read_rows};
use crate::error::TrainError;

/// A row that was left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejected {
    /// Path of the file.
    pub path: PathBuf,
    /// Its line, from 1.
    pub line: usize,
    /// What is wrong with it, for people.
    pub problem: String,
}

/// Rows of some files, and what was left out of them.
#[derive(Debug)]
pub(super) struct Read<T> {
    /// Usable rows in order.
    pub(super) rows: Vec<T>,
    /// Unusable rows.
    pub(super) rejected: Vec<Rejected>,
}

/// Reads the files one behind the other; `check` says what is wrong with a row.
///
/// # Errors
/// When a file cannot be read, or more than `max_rejected_fraction` of its rows cannot be used.
pub(super) fn read<T: DeserializeOwned>(
    paths: &[PathBuf],
    max_rejected_fraction: f64,
    check: impl Fn(&T) -> Result<(), String>,
) -> Result<Read<T>, TrainError> {
    let mut all = Read { rows: Vec::new(), rejected: Vec::new() };
    for path in paths {
        let read = read_rows(path, max_rejected_fraction, &check)?;
        let rejected = |bad: crate::data::BadRow| Rejected {
            path: read.path.clone(),
            line: bad.line,
            problem: bad.problem,
        };
        all.rejected.extend(read.bad.into_iter().map(rejected));
        all.rows.extend(read.rows.into_iter().map(|(_, row)| row));
    }
    Ok(all)
}

impl From<DataError> for TrainError {
    fn from(error: DataError) -> Self {
        match error {
            DataError::Read { path, source } => Self::Read { path, source },
            DataError::Rows { path, rejected, rows, line, problem } => {
                Self::Rows { path, rejected, rows, line, problem }
            }
            other => Self::Useless { what: other.to_string() },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{AttributionRow, RerankRow};

    fn write(text: &[u8]) -> (tempfile::TempDir, Vec<PathBuf>) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("rows.jsonl");
        fs_err::write(&path, text).expect("written");
        (folder, vec![path])
    }

    fn groups(
        paths: &[PathBuf],
        max_rejected_fraction: f64,
    ) -> Result<Read<RerankRow>, TrainError> {
        read(paths, max_rejected_fraction, RerankRow::check)
    }

    #[test]
    fn bad_rows_are_named_by_file_line_and_reason() {
        let text = br#"{"query":"q","pos":["a"],"neg":["b"],"type":"normal"}

{"query":"q","pos":[],"neg":["b"]}
{"query":"q"
{"query":" ","pos":["a"],"neg":["b"]}
"#;
        let (_folder, paths) = write(text);
        let twice = [paths[0].clone(), paths[0].clone()];
        let found = groups(&twice, 1.0).expect("reads");
        let lines: Vec<usize> = found.rejected.iter().map(|row| row.line).collect();
        assert_eq!((found.rows.len(), lines), (2, vec![3, 4, 5, 3, 4, 5]));
        assert_eq!(found.rejected[0].path, paths[0]);
        assert!(found.rejected[0].problem.contains("pos has no passage"));
        let error = groups(&paths, 0.5).expect_err("three of four");
        let text = error.to_string();
        assert!(text.contains("3 of 4 rows") && text.contains("line 3"), "{text}");
        assert!(error.hint().is_some_and(|hint| hint.contains("max_rejected_fraction")));
    }

    #[test]
    fn scores_of_a_teacher_go_with_every_passage() {
        let text =
            br#"{"query":"q","pos":["a"],"neg":["b","c"],"pos_scores":[0.9],"neg_scores":[0.1,-3]}
{"query":"q","pos":["a"],"neg":["b"],"pos_scores":[0.9]}
{"query":"q","pos":["a"],"neg":["b"],"pos_scores":[0.9],"neg_scores":[1e39]}
"#;
        let (_folder, paths) = write(text);
        let found = groups(&paths, 1.0).expect("reads");
        assert!(found.rows.len() == 1 && found.rows[0].is_scored());
        let problems: Vec<&str> = found.rejected.iter().map(|row| row.problem.as_str()).collect();
        assert!(problems[0].contains("do not go with pos and neg"), "{problems:?}");
        assert!(problems[1].contains("out of range"), "{problems:?}");
    }

    #[test]
    fn claims_are_checked() {
        let text = br#"{"sentence":"s","evidence":"e","label":"supports"}
{"sentence":"s","evidence":"e","label":"neither","sentences":["a","b"],"gold":[2]}
{"sentence":"s","evidence":"e","label":"perhaps"}
{"sentence":"s","evidence":"","label":"supports"}
"#;
        let (_folder, paths) = write(text);
        let found = read(&paths, 1.0, AttributionRow::check).expect("reads");
        assert_eq!((found.rows.len(), found.rejected.len()), (1, 3));
        assert!(found.rejected[0].problem.contains("sentence 2"));
    }

    #[test]
    fn empty_binary_and_absent_files_are_errors() {
        let (_folder, paths) = write(b"\n\n");
        let error = groups(&paths, 1.0).expect_err("nothing there");
        assert!(error.to_string().contains("has no row"), "{error}");
        let (_folder, paths) = write(&[0xff, 0xfe, 0x00, 0x01]);
        assert!(matches!(groups(&paths, 0.1), Err(TrainError::Rows { line: 1, .. })));
        assert!(matches!(groups(&["nowhere.jsonl".into()], 0.1), Err(TrainError::Read { .. })));
    }
}
