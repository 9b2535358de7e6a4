//! Rows of training data: JSON lines in, checked values out.

use std::io::BufRead as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::TrainError;

/// Classes of an attributor, in the order of its logits.
pub const LABELS: [&str; 3] = ["supports", "contradicts", "neither"];

/// Longest line that is read.
const MOST_BYTES: usize = 16 << 20;

/// What a query and its passages teach: `FlagEmbedding`'s format. Other fields are left unread.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GroupRow {
    /// The query.
    pub query: String,
    /// Passages that answer it.
    pub pos: Vec<String>,
    /// Passages that do not.
    pub neg: Vec<String>,
    /// How a teacher scores `pos`; empty where there is none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pos_scores: Vec<f32>,
    /// How it scores `neg`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub neg_scores: Vec<f32>,
}

impl GroupRow {
    /// Whether a teacher scored it.
    pub fn is_taught(&self) -> bool {
        !self.pos_scores.is_empty()
    }
}

/// What a sentence and its evidence teach.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClaimRow {
    /// The sentence to be proven.
    pub sentence: String,
    /// The text it is held against.
    pub evidence: String,
    /// Whether that supports it, contradicts it, or neither.
    pub label: Label,
    /// Sentences of the passage that compete for being the evidence; none where that is not known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sentences: Vec<String>,
    /// Which of them are, from 0.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gold: Vec<usize>,
}

/// A class of [`LABELS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Label {
    /// The evidence supports the sentence.
    Supports,
    /// It says the contrary.
    Contradicts,
    /// It says neither.
    Neither,
}

impl Label {
    /// Its place in [`LABELS`].
    pub fn class(self) -> usize {
        match self {
            Self::Supports => 0,
            Self::Contradicts => 1,
            Self::Neither => 2,
        }
    }
}

/// What a text teaches: peS2o's `text`, or `title` and `abstract`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct TextRow {
    /// The whole text.
    pub text: Option<String>,
    /// Its title, read where there is no text.
    pub title: Option<String>,
    /// Its abstract, read where there is no text.
    #[serde(rename = "abstract")]
    pub summary: Option<String>,
}

/// A row that says itself whether it can be used.
pub trait Row: serde::de::DeserializeOwned {
    /// What is wrong with it, if anything.
    fn problem(&self) -> Option<String>;
}

fn blank(text: &str) -> bool {
    text.trim().is_empty()
}

impl Row for GroupRow {
    fn problem(&self) -> Option<String> {
        if blank(&self.query) {
            return Some("query is empty".to_owned());
        }
        let scored = !(self.pos_scores.is_empty() && self.neg_scores.is_empty());
        let kinds = [("pos", &self.pos, &self.pos_scores), ("neg", &self.neg, &self.neg_scores)];
        for (name, texts, scores) in kinds {
            if texts.is_empty() {
                return Some(format!("{name} is empty: a group of one class teaches nothing"));
            }
            if texts.iter().any(|text| blank(text)) {
                return Some(format!("{name} holds an empty text"));
            }
            if scored && scores.len() != texts.len() {
                let (scores, texts) = (scores.len(), texts.len());
                return Some(format!("{name}_scores has {scores} scores for {texts} passages"));
            }
        }
        None
    }
}

impl Row for ClaimRow {
    fn problem(&self) -> Option<String> {
        if blank(&self.sentence) || blank(&self.evidence) {
            return Some("sentence or evidence is empty".to_owned());
        }
        let count = self.sentences.len();
        let outside = self.gold.iter().find(|at| **at >= count)?;
        Some(format!("gold names sentence {outside} of {count}"))
    }
}

impl Row for TextRow {
    fn problem(&self) -> Option<String> {
        self.joined().is_empty().then(|| "it has neither text nor title nor abstract".to_owned())
    }
}

impl TextRow {
    /// Everything it says.
    pub fn joined(&self) -> String {
        let parts = match &self.text {
            Some(text) => vec![text.as_str()],
            None => {
                [&self.title, &self.summary].into_iter().flatten().map(String::as_str).collect()
            }
        };
        parts.join(" ").trim().to_owned()
    }
}

/// A row that was left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejected {
    /// The file.
    pub path: PathBuf,
    /// Its line, from 1.
    pub line: usize,
    /// Why.
    pub problem: String,
}

/// Rows of some files, and what was left out of them.
#[derive(Debug, Clone, PartialEq)]
pub struct Rows<T> {
    /// Usable rows in order.
    pub rows: Vec<T>,
    /// The others.
    pub rejected: Vec<Rejected>,
}

/// Reads JSON lines; blank lines do not count.
///
/// # Errors
/// When a file cannot be read, or more than `rejected_share` of its rows cannot be used.
pub fn read<T: Row>(paths: &[PathBuf], rejected_share: f64) -> Result<Rows<T>, TrainError> {
    let mut all = Rows { rows: Vec::new(), rejected: Vec::new() };
    for path in paths {
        let (usable, rejected) = (all.rows.len(), all.rejected.len());
        read_file(path, &mut all)?;
        let refused = all.rejected.len() - rejected;
        let count = all.rows.len() - usable + refused;
        if count == 0 {
            return Err(TrainError::Useless { what: format!("{} has no rows", path.display()) });
        }
        if refused as f64 > rejected_share * count as f64 {
            let first = &all.rejected[rejected];
            return Err(TrainError::Rows {
                path: path.clone(),
                rejected: refused,
                rows: count,
                line: first.line,
                problem: first.problem.clone(),
            });
        }
    }
    Ok(all)
}

fn read_file<T: Row>(path: &Path, all: &mut Rows<T>) -> Result<(), TrainError> {
    let file = fs_err::File::open(path).map_err(|e| TrainError::read(path, e))?;
    let mut lines = std::io::BufReader::new(file);
    let mut bytes = Vec::new();
    for line in 1.. {
        bytes.clear();
        let found = std::io::Read::take(&mut lines, MOST_BYTES as u64)
            .read_until(b'\n', &mut bytes)
            .map_err(|e| TrainError::read(path, e))?;
        if found == 0 {
            break;
        }
        if found == MOST_BYTES {
            return Err(TrainError::damaged(
                path,
                format!("line {line} is longer than {MOST_BYTES} bytes"),
            ));
        }
        if bytes.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let row = serde_json::from_slice::<T>(&bytes).map_err(|e| e.to_string());
        let checked = row.and_then(|row| match row.problem() {
            Some(problem) => Err(problem),
            None => Ok(row),
        });
        match checked {
            Ok(row) => all.rows.push(row),
            Err(problem) => all.rejected.push(Rejected { path: path.to_owned(), line, problem }),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(text: &[u8]) -> (tempfile::TempDir, Vec<PathBuf>) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("rows.jsonl");
        fs_err::write(&path, text).expect("written");
        (folder, vec![path])
    }

    #[test]
    fn bad_rows_are_named_by_line_and_reason() {
        let text = br#"{"query":"q","pos":["a"],"neg":["b"],"type":"normal"}

{"query":"q","pos":[],"neg":["b"]}
{"query":"q"
{"query":" ","pos":["a"],"neg":["b"]}
"#;
        let (_folder, paths) = write(text);
        let found = read::<GroupRow>(&paths, 1.0).expect("reads");
        assert_eq!(found.rows.len(), 1);
        let lines: Vec<usize> = found.rejected.iter().map(|row| row.line).collect();
        assert_eq!(lines, [3, 4, 5]);
        assert!(found.rejected[0].problem.contains("pos is empty"));
        let error = read::<GroupRow>(&paths, 0.5).expect_err("three of four");
        let text = error.to_string();
        assert!(text.contains("3 of 4 rows") && text.contains("line 3"), "{text}");
    }

    #[test]
    fn scores_of_a_teacher_go_with_every_passage() {
        let text =
            br#"{"query":"q","pos":["a"],"neg":["b","c"],"pos_scores":[0.9],"neg_scores":[0.1,-3]}
{"query":"q","pos":["a"],"neg":["b"],"pos_scores":[0.9]}
{"query":"q","pos":["a"],"neg":["b"],"pos_scores":[0.9],"neg_scores":[1e39]}
"#;
        let (_folder, paths) = write(text);
        let found = read::<GroupRow>(&paths, 1.0).expect("reads");
        assert!(found.rows.len() == 1 && found.rows[0].is_taught());
        let problems: Vec<&str> = found.rejected.iter().map(|row| row.problem.as_str()).collect();
        assert!(problems[0].contains("neg_scores has 0 scores for 1"), "{problems:?}");
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
        let found = read::<ClaimRow>(&paths, 1.0).expect("reads");
        assert_eq!((found.rows.len(), found.rejected.len()), (1, 3));
        assert!(found.rejected[0].problem.contains("sentence 2 of 2"));
    }

    #[test]
    fn empty_and_binary_files_are_errors() {
        let (_folder, paths) = write(b"\n\n");
        let error = read::<TextRow>(&paths, 1.0).expect_err("nothing there");
        assert!(error.to_string().contains("has no rows"), "{error}");
        let (_folder, paths) = write(&[0xff, 0xfe, 0x00, 0x01]);
        assert!(matches!(read::<TextRow>(&paths, 0.1), Err(TrainError::Rows { line: 1, .. })));
        assert!(matches!(
            read::<TextRow>(&["nowhere.jsonl".into()], 0.1),
            Err(TrainError::Read { .. })
        ));
    }
}
