//! The journal of a run: one prediction a line, appended as soon as it is there.
//!
//! A line is written in one piece and synced, so that a killed run loses at most the item it was at; a last line
//! without its end, left by a crash, is cut off when the journal is opened again. A later line of an item takes the place of an
//! earlier one: items that failed or were cut are asked again.

use std::collections::HashMap;
use std::io::{Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use scholar_core::text::whole_lines;

use super::json::{DataError, Place};
use super::prediction::{PREDICTION_SCHEMA, Prediction};

/// Name of the file in a run's folder.
pub const JOURNAL_FILE: &str = "predictions.jsonl";

/// The predictions of a run, open for appending; each one is on the disk before the next.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: fs_err::File,
}

/// What a journal held when it was opened.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Written {
    /// The last word on each item, in order of first mention.
    pub predictions: Vec<Prediction>,
    /// Whether the last line had no end and was cut off.
    pub torn: bool,
}

impl Written {
    /// The prediction of the item called `id`.
    pub fn get(&self, id: &str) -> Option<&Prediction> {
        self.predictions.iter().find(|prediction| prediction.id == id)
    }
}

impl Journal {
    /// Opens or creates the journal at `path`.
    ///
    /// # Errors
    /// [`DataError`] when it cannot be read or written, or a line before the last is no prediction.
    pub fn open(path: &Path) -> Result<(Self, Written), DataError> {
        let failed = |source| DataError::Read { path: path.to_owned(), source };
        let mut file = fs_err::OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
            .map_err(failed)?;
        let bytes = fs_err::read(path).map_err(failed)?;
        let whole = whole_lines(&bytes);
        let torn = whole.len() < bytes.len();
        let predictions = predictions_of(&String::from_utf8_lossy(whole), path)?;
        file.set_len(whole.len() as u64).map_err(failed)?;
        file.seek(SeekFrom::End(0)).map_err(failed)?;
        Ok((Self { path: path.to_owned(), file }, Written { predictions, torn }))
    }

    /// Appends a prediction and waits until it is on the disk.
    ///
    /// # Errors
    /// [`DataError::Read`] when the disk does not take it.
    pub fn append(&mut self, prediction: &Prediction) -> Result<(), DataError> {
        let failed = |source: std::io::Error| DataError::Read { path: self.path.clone(), source };
        let line = serde_json::to_string(prediction).map_err(|source| failed(source.into()))?;
        self.file.write_all(format!("{line}\n").as_bytes()).map_err(failed)?;
        self.file.sync_data().map_err(failed)
    }
}

/// Reads a journal without opening it for writing; a torn last line is left out.
///
/// # Errors
/// As [`Journal::open`].
pub fn read_journal(path: &Path) -> Result<Written, DataError> {
    let bytes =
        fs_err::read(path).map_err(|source| DataError::Read { path: path.to_owned(), source })?;
    let whole = whole_lines(&bytes);
    let predictions = predictions_of(&String::from_utf8_lossy(whole), path)?;
    Ok(Written { predictions, torn: whole.len() < bytes.len() })
}

fn predictions_of(text: &str, path: &Path) -> Result<Vec<Prediction>, DataError> {
    let mut predictions: Vec<Prediction> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for (nth, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let place = Place { path: path.to_owned(), line: Some(nth + 1), record: nth + 1 };
        let prediction: Prediction = serde_json::from_str(line)
            .map_err(|source| DataError::Json { place: place.clone(), source })?;
        if prediction.schema != PREDICTION_SCHEMA {
            let what =
                format!("the schema is {:?} instead of {PREDICTION_SCHEMA:?}", prediction.schema);
            return Err(DataError::Record { place, what });
        }
        match places.get(&prediction.id) {
            Some(at) => predictions[*at] = prediction,
            None => {
                places.insert(prediction.id.clone(), predictions.len());
                predictions.push(prediction);
            }
        }
    }
    Ok(predictions)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scholarqa::PredictionStatus;

    #[test]
    fn a_torn_line_is_cut_off_and_a_later_word_wins() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join(JOURNAL_FILE);
        let (mut journal, written) = Journal::open(&path).expect("created");
        assert_eq!(written, Written::default());
        let mut failed = Prediction::new("a", "q", "");
        failed.status = PredictionStatus::Failed;
        journal.append(&failed).expect("written");
        journal.append(&Prediction::new("b", "q", "x")).expect("written");
        drop(journal);
        let mut text = fs_err::read_to_string(&path).expect("there");
        text.push_str("{\"schema\": \"openscholar.prediction/1\", \"id\": \"c\", \"outp\u{e4}");
        fs_err::write(&path, &text).expect("written");
        assert!(read_journal(&path).expect("read").torn);

        let (mut journal, written) = Journal::open(&path).expect("opened");
        assert!(written.torn && written.predictions.len() == 2);
        assert!(!written.get("a").expect("there").is_final() && written.get("c").is_none());
        journal.append(&Prediction::new("a", "q", "now")).expect("written");
        let again = read_journal(&path).expect("whole");
        assert!(!again.torn && again.predictions.len() == 2);
        assert_eq!(again.get("a").expect("there").output, "now");
    }

    #[test]
    fn a_broken_line_in_the_middle_is_an_error_with_its_number() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let good = serde_json::to_string(&Prediction::new("a", "q", "x")).expect("serialises");
        fs_err::write(file.path(), format!("{good}\n{{\"id\"\n{good}\n")).expect("written");
        let error = Journal::open(file.path()).expect_err("broken").to_string();
        assert!(error.contains("line 2"), "{error}");
        let other = good.replace("prediction/1", "prediction/9");
        fs_err::write(file.path(), format!("{other}\n")).expect("written");
        let error = read_journal(file.path()).expect_err("another schema").to_string();
        assert!(error.contains("prediction/9"), "{error}");
    }
}
