//! The rows trainers read: groups for rerankers, pairs for attributors, texts for encoders.

use std::io::Write as _;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::error::DataError;

/// A query, passages that answer it and passages that do not, as `FlagEmbedding` reads and writes them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RerankRow {
    /// What is looked for.
    pub query: String,
    /// Passages that answer it; at least one.
    pub pos: Vec<String>,
    /// Passages that do not; at least one.
    pub neg: Vec<String>,
    /// A teacher's logit of each of `pos`; empty where there is no teacher.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pos_scores: Vec<f32>,
    /// The same of `neg`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub neg_scores: Vec<f32>,
    /// Where it comes from; other programs leave it out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

impl RerankRow {
    /// Whether a teacher scored it.
    pub fn is_scored(&self) -> bool {
        !self.pos_scores.is_empty()
    }

    /// Why the row cannot be trained on, if so.
    ///
    /// # Errors
    /// What is empty, in words.
    pub fn check(&self) -> Result<(), String> {
        if self.query.trim().is_empty() {
            return Err("the field query is empty".to_owned());
        }
        for (name, texts) in [("pos", &self.pos), ("neg", &self.neg)] {
            if texts.is_empty() {
                return Err(format!("the field {name} has no passage"));
            }
            if let Some(n) = texts.iter().position(|text| text.trim().is_empty()) {
                return Err(format!("the field {name} has an empty passage at {n}"));
            }
        }
        if let Some(both) = self.pos.iter().find(|text| self.neg.contains(text)) {
            let start: String = both.chars().take(60).collect();
            return Err(format!("one passage is in pos and in neg: {start:?}"));
        }
        let (right, wrong) = (self.pos_scores.len(), self.neg_scores.len());
        if right + wrong > 0 && (right, wrong) != (self.pos.len(), self.neg.len()) {
            return Err(
                "the fields pos_scores and neg_scores do not go with pos and neg".to_owned()
            );
        }
        Ok(())
    }
}

/// What evidence says of a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EvidenceLabel {
    /// That it is so.
    Supports,
    /// That it is otherwise.
    Contradicts,
    /// Nothing that decides whether it is so.
    Neither,
}

impl EvidenceLabel {
    /// All, in the order of the model's classes.
    pub const ALL: [Self; 3] = [Self::Supports, Self::Contradicts, Self::Neither];

    /// Their names in that order.
    pub const NAMES: [&str; 3] = ["supports", "contradicts", "neither"];

    /// Its place among the model's classes.
    pub fn class(self) -> usize {
        match self {
            Self::Supports => 0,
            Self::Contradicts => 1,
            Self::Neither => 2,
        }
    }

    /// As rows write it.
    pub fn name(self) -> &'static str {
        Self::NAMES[self.class()]
    }
}

/// A sentence beside evidence, and what people or a sound rule say of the two.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttributionRow {
    /// Statement that is judged.
    pub sentence: String,
    /// The evidence as a model sees it: title, where there is one, and a window of the text.
    pub evidence: String,
    /// What the evidence says of the statement.
    pub label: EvidenceLabel,
    /// The sentences of the window, where it is known which of them decide.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sentences: Vec<String>,
    /// Which of `sentences` decide, counted from 0.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gold: Vec<usize>,
    /// Where it comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

impl AttributionRow {
    /// Why the row cannot be trained on, if so.
    ///
    /// # Errors
    /// What does not fit, in words.
    pub fn check(&self) -> Result<(), String> {
        for (name, text) in [("sentence", &self.sentence), ("evidence", &self.evidence)] {
            if text.trim().is_empty() {
                return Err(format!("the field {name} is empty"));
            }
        }
        match self.gold.iter().find(|index| **index >= self.sentences.len()) {
            Some(index) => Err(format!(
                "the field gold names sentence {index}, and there are {}",
                self.sentences.len()
            )),
            None => Ok(()),
        }
    }
}

/// A text for contrastive pre-training.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextRow {
    /// Name of the paper.
    pub id: String,
    /// Text for contrastive pre-training.
    pub text: String,
    /// Where it comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

impl TextRow {
    /// Why the row cannot be trained on, if so.
    ///
    /// # Errors
    /// That the text is empty.
    pub fn check(&self) -> Result<(), String> {
        if self.text.trim().is_empty() {
            return Err("the field text is empty".to_owned());
        }
        Ok(())
    }
}

/// Writes rows as JSON lines: a temporary file beside `path`, synced, then renamed, so that a file of that name is
/// always whole.
///
/// # Errors
/// [`DataError::Write`].
pub fn write_rows<'a, T: Serialize + 'a>(
    path: &Path,
    rows: impl IntoIterator<Item = &'a T>,
) -> Result<(), DataError> {
    let mut text = Vec::new();
    for row in rows {
        serde_json::to_writer(&mut text, row)
            .map_err(|error| DataError::write(path, error.into()))?;
        text.push(b'\n');
    }
    write_file(path, &text)
}

/// Writes a whole file or none.
///
/// # Errors
/// [`DataError::Write`].
pub fn write_file(path: &Path, bytes: &[u8]) -> Result<(), DataError> {
    let partial = path.with_extension("partial");
    let written = fs_err::File::create(&partial).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()?;
        fs_err::rename(&partial, path)
    });
    written.map_err(|source| {
        // The write's own error is what counts.
        let _ = fs_err::remove_file(&partial);
        DataError::write(path, source)
    })
}

#[cfg(test)]
mod tests {
    use super::super::lines::read_rows;
    use super::*;

    fn group(query: &str, pos: &[&str], neg: &[&str]) -> RerankRow {
        let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        RerankRow {
            query: query.to_owned(),
            pos: owned(pos),
            neg: owned(neg),
            pos_scores: Vec::new(),
            neg_scores: Vec::new(),
            source: None,
        }
    }

    #[test]
    fn groups_without_a_side_are_refused() {
        assert_eq!(group("q", &["a"], &["b"]).check(), Ok(()));
        for (row, problem) in [
            (group(" ", &["a"], &["b"]), "query"),
            (group("q", &[], &["b"]), "pos has no"),
            (group("q", &["a"], &[]), "neg has no"),
            (group("q", &["a"], &["b", ""]), "empty passage at 1"),
            (group("q", &["a"], &["a"]), "in pos and in neg"),
        ] {
            let said = row.check().expect_err("unusable");
            assert!(said.contains(problem), "{said}");
        }
    }

    #[test]
    fn rows_survive_being_written() {
        let folder = tempfile::tempdir().expect("temp dir");
        let path = folder.path().join("pairs.jsonl");
        let row = AttributionRow {
            sentence: "Sleep helps.".to_owned(),
            evidence: "Sleep was studied. It helped.".to_owned(),
            label: EvidenceLabel::Supports,
            sentences: vec!["Sleep was studied.".to_owned(), "It helped.".to_owned()],
            gold: vec![1],
            source: None,
        };
        write_rows(&path, [&row]).expect("written");
        let text = fs_err::read_to_string(&path).expect("read");
        assert!(text.contains("\"label\":\"supports\"") && !text.contains("source"), "{text}");
        let rows = read_rows(&path, 0.0, AttributionRow::check).expect("read back");
        assert_eq!(rows.values().collect::<Vec<_>>(), std::slice::from_ref(&row));
        let beyond = AttributionRow { gold: vec![2], ..row };
        assert!(beyond.check().expect_err("no such sentence").contains("sentence 2"));
        assert!(!folder.path().join("pairs.partial").exists());
    }
}
