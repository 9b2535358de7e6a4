//! The vectors of all texts of the rows.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use scholar_core::{EmbeddedText, Encoder, PortError, Side};
use sha2::{Digest as _, Sha256};

use crate::data::sentences::SentenceRow;
use crate::error::TrainError;

/// Texts of one call of the encoder.
const BATCH: usize = 256;

/// Length of a digest of a text.
const KEY_BYTES: usize = 16;

/// Vectors of length 1, of passages and of questions, by text.
#[derive(Debug, Clone, PartialEq)]
pub struct Encoded {
    dim: usize,
    values: Vec<f32>,
    passages: HashMap<String, usize>,
    questions: HashMap<String, usize>,
}

/// Vectors of texts that were encoded before, by a digest of the text.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct KnownVectors {
    vectors: BTreeMap<[u8; KEY_BYTES], Vec<f32>>,
}

impl KnownVectors {
    /// Reads what [`KnownVectors::write`] wrote; nothing is known when the file is absent or is of another encoder.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn read(path: &Path, encoder: &dyn Encoder) -> Result<Self, TrainError> {
        if !path.is_file() {
            return Ok(Self::default());
        }
        let bytes = fs_err::read(path).map_err(|source| TrainError::read(path, source))?;
        let Some(records) = bytes.strip_prefix(&header(encoder)) else {
            return Ok(Self::default());
        };
        let length = KEY_BYTES + 4 * encoder.info().dim;
        let mut vectors = BTreeMap::new();
        for record in records.chunks_exact(length) {
            let (Some(key), Some(numbers)) = (record.first_chunk(), record.get(KEY_BYTES..)) else {
                continue;
            };
            let (numbers, _) = numbers.as_chunks::<4>();
            vectors.insert(*key, numbers.iter().map(|n| f32::from_le_bytes(*n)).collect());
        }
        Ok(Self { vectors })
    }

    /// Keeps the vectors for the next training.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write(&self, path: &Path, encoder: &dyn Encoder) -> Result<(), TrainError> {
        let mut bytes = header(encoder).to_vec();
        for (key, vector) in &self.vectors {
            bytes.extend_from_slice(key);
            bytes.extend(vector.iter().flat_map(|number| number.to_le_bytes()));
        }
        fs_err::write(path, bytes).map_err(|source| TrainError::write(path, source))
    }

    /// How many texts are known.
    pub fn len(&self) -> usize {
        self.vectors.len()
    }

    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        self.vectors.is_empty()
    }
}

/// Of the encoder, at the start of a file.
fn header(encoder: &dyn Encoder) -> [u8; 32] {
    Sha256::digest(encoder.info().fingerprint.as_bytes()).into()
}

fn key(side: Side, text: &str) -> [u8; KEY_BYTES] {
    let side: &[u8] = match side {
        Side::Passage => b"p",
        Side::Query => b"q",
    };
    let digest: [u8; 32] = Sha256::new().chain_update(side).chain_update(text).finalize().into();
    std::array::from_fn(|n| digest[n])
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
    /// Encodes every text of `rows` once: sentences and titles as passages, questions as queries. What `known` has is not
    /// encoded again; what it has not is added to it. `seen` is told how many of how many are done.
    ///
    /// # Errors
    /// When the encoder fails.
    pub fn encode<'a>(
        rows: impl IntoIterator<Item = &'a SentenceRow>,
        encoder: &dyn Encoder,
        known: &mut KnownVectors,
        seen: &mut dyn FnMut(usize, usize),
    ) -> Result<Self, PortError> {
        let texts = Texts::of(rows);
        let dim = encoder.info().dim;
        let total = texts.passages.len() + texts.questions.len();
        let mut values = Vec::with_capacity(total * dim);
        for (side, list) in [(Side::Passage, &texts.passages), (Side::Query, &texts.questions)] {
            for batch in list.chunks(BATCH) {
                let is_new = |text: &&&str| !known.vectors.contains_key(&key(side, text));
                let new: Vec<&str> = batch.iter().filter(is_new).copied().collect();
                if !new.is_empty() {
                    let rows = encoder.encode(side, &new)?.unit_rows();
                    known.vectors.extend(new.iter().map(|text| key(side, text)).zip(rows));
                }
                for text in batch {
                    values.extend_from_slice(&known.vectors[&key(side, text)]);
                }
                seen(values.len() / dim, total);
            }
        }
        Ok(texts.with(values, dim))
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
