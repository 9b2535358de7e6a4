//! The vectors of all texts of the rows.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use bytemuck::cast_slice;
use scholar_core::text::hex;
use scholar_core::{EmbeddedText, Encoder, PortError, Side};
use sha2::{Digest as _, Sha256};

use crate::data::sentences::SentenceRow;
use crate::error::TrainError;

/// Texts of one call of the encoder.
const BATCH: usize = 256;

/// Length of the digest at the start of a stored file.
const DIGEST_BYTES: usize = 64;

/// Vectors of length 1, of passages and of questions, by text.
#[derive(Debug, Clone, PartialEq)]
pub struct Encoded {
    dim: usize,
    values: Vec<f32>,
    passages: HashMap<String, usize>,
    questions: HashMap<String, usize>,
}

/// Texts in the order of their vectors: passages, then questions.
struct Texts<'a> {
    passages: Vec<&'a str>,
    questions: Vec<&'a str>,
}

impl<'a> Texts<'a> {
    fn of(rows: impl IntoIterator<Item = &'a SentenceRow>) -> Self {
        let (mut passages, mut questions) = (BTreeSet::new(), BTreeSet::new());
        for row in rows {
            passages.extend(row.sentences.iter().map(|one| one.text.as_str()));
            passages.insert(row.title.as_str());
            questions.insert(row.question.as_str());
        }
        passages.remove("");
        questions.remove("");
        // Texts of like length share a batch.
        let by_length = |set: BTreeSet<&'a str>| {
            let mut list: Vec<&str> = set.into_iter().collect();
            list.sort_by_key(|text| text.len());
            list
        };
        Self { passages: by_length(passages), questions: by_length(questions) }
    }

    /// What the vectors depend on.
    fn digest(&self, encoder: &dyn Encoder) -> String {
        let mut hasher = Sha256::new();
        hasher.update(encoder.info().fingerprint.as_bytes());
        for text in self.passages.iter().chain(&[""]).chain(&self.questions) {
            hasher.update(text.as_bytes());
            hasher.update([0]);
        }
        hex(&hasher.finalize())
    }

    fn map(list: &[&str], from: usize) -> HashMap<String, usize> {
        list.iter().enumerate().map(|(n, text)| ((*text).to_owned(), from + n)).collect()
    }

    fn with(self, values: Vec<f32>, dim: usize) -> Encoded {
        let passages = Self::map(&self.passages, 0);
        let questions = Self::map(&self.questions, self.passages.len());
        Encoded { dim, values, passages, questions }
    }
}

impl Encoded {
    /// Encodes every text of `rows` once: sentences and titles as passages, questions as queries. `seen` is told how many
    /// of how many are done.
    ///
    /// # Errors
    /// When the encoder fails.
    pub fn encode<'a>(
        rows: impl IntoIterator<Item = &'a SentenceRow>,
        encoder: &dyn Encoder,
        seen: &mut dyn FnMut(usize, usize),
    ) -> Result<Self, PortError> {
        let texts = Texts::of(rows);
        let dim = encoder.info().dim;
        let total = texts.passages.len() + texts.questions.len();
        let mut values = Vec::with_capacity(total * dim);
        for (side, list) in [(Side::Passage, &texts.passages), (Side::Query, &texts.questions)] {
            for batch in list.chunks(BATCH) {
                for row in encoder.encode(side, batch)?.unit_rows() {
                    values.extend(row);
                }
                seen(values.len() / dim, total);
            }
        }
        Ok(texts.with(values, dim))
    }

    /// Reads what [`Encoded::store`] wrote; `None` when the file is absent or was made of other texts or by another encoder.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn stored<'a>(
        path: &Path,
        rows: impl IntoIterator<Item = &'a SentenceRow>,
        encoder: &dyn Encoder,
    ) -> Result<Option<Self>, TrainError> {
        if !path.is_file() {
            return Ok(None);
        }
        let texts = Texts::of(rows);
        let bytes = fs_err::read(path).map_err(|source| TrainError::read(path, source))?;
        let dim = encoder.info().dim;
        let expected = (texts.passages.len() + texts.questions.len()) * dim;
        let Some((digest, numbers)) = bytes.split_at_checked(DIGEST_BYTES) else { return Ok(None) };
        let (numbers, _) = numbers.as_chunks::<4>();
        if digest != texts.digest(encoder).as_bytes() || numbers.len() != expected {
            return Ok(None);
        }
        let values = numbers.iter().map(|number| f32::from_le_bytes(*number)).collect();
        Ok(Some(texts.with(values, dim)))
    }

    /// Keeps the vectors of `rows` for the next training on them.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn store<'a>(
        &self,
        path: &Path,
        rows: impl IntoIterator<Item = &'a SentenceRow>,
        encoder: &dyn Encoder,
    ) -> Result<(), TrainError> {
        let mut bytes = Texts::of(rows).digest(encoder).into_bytes();
        bytes.extend_from_slice(cast_slice(&self.values));
        fs_err::write(path, bytes).map_err(|source| TrainError::write(path, source))
    }

    fn row(&self, at: usize) -> &[f32] {
        &self.values[at * self.dim..][..self.dim]
    }

    /// The vector of a sentence or title.
    ///
    /// # Panics
    /// When the text was not among the rows.
    pub fn passage<'a>(&'a self, text: &'a str) -> EmbeddedText<'a> {
        EmbeddedText { text, vector: self.row(self.passages[text]) }
    }

    /// The vector of a question.
    ///
    /// # Panics
    /// When the text was not among the rows.
    pub fn question<'a>(&'a self, text: &'a str) -> EmbeddedText<'a> {
        EmbeddedText { text, vector: self.row(self.questions[text]) }
    }

    /// How many vectors there are.
    pub fn len(&self) -> usize {
        self.values.len() / self.dim
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }
}
