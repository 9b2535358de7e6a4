//! Direct access to tokens and logits, for measurements: no template, no sampling, no queue.

use std::path::Path;

use super::engine::READ_CHUNK;
use super::error::GgufError;
use super::file::GgufFile;
use super::model::{Cache, Model, TokenWork};
use super::vocab::Vocabulary;
use super::{GgufOptions, load};

/// One sequence of a model.
pub struct GgufSession {
    model: Model,
    vocabulary: Vocabulary,
    cache: Cache,
    position: usize,
}

impl std::fmt::Debug for GgufSession {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GgufSession").field("position", &self.position).finish_non_exhaustive()
    }
}

impl GgufSession {
    /// Opens a file as [`super::GgufGenerator::open`] does.
    ///
    /// # Errors
    /// As there, but for the chat template, which is not looked at.
    pub fn open(path: &Path, options: &GgufOptions) -> Result<Self, GgufError> {
        let file = GgufFile::open(path)?;
        let vocabulary = Vocabulary::read(&file)?;
        let model = load(&file, options)?;
        let cache = model.cache();
        Ok(Self { model, vocabulary, cache, position: 0 })
    }

    /// The tokens of plain text.
    ///
    /// # Errors
    /// When the tokenizer refuses it.
    pub fn encode(&self, text: &str) -> Result<Vec<u32>, tokenizers::Error> {
        self.vocabulary.encode(text)
    }

    /// What tokens print.
    pub fn text(&self, tokens: &[u32]) -> String {
        let bytes: Vec<u8> =
            tokens.iter().flat_map(|token| self.vocabulary.bytes(*token)).copied().collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Forgets all positions from `position` on.
    pub fn truncate(&mut self, position: usize) {
        self.position = self.position.min(position);
    }

    /// Reads tokens as a prompt is read; the logits after the last one, `[vocabulary]`.
    ///
    /// # Panics
    /// Without tokens, or beyond the context.
    pub fn read(&mut self, tokens: &[u32]) -> Vec<f32> {
        self.check(tokens);
        let (last, before) = tokens
            .chunks(READ_CHUNK)
            .collect::<Vec<_>>()
            .split_last()
            .map(|(last, before)| (*last, before.to_vec()))
            .expect("there are tokens");
        for chunk in before {
            self.model.read(&mut self.cache, chunk, self.position);
            self.position += chunk.len();
        }
        let logits = self.model.forward(&mut self.cache, last, self.position);
        self.position += last.len();
        logits
    }

    /// As [`Self::read`], with the logits after every token, `[tokens, vocabulary]`.
    ///
    /// # Panics
    /// As there.
    pub fn read_all(&mut self, tokens: &[u32]) -> Vec<f32> {
        self.check(tokens);
        let logits = self.model.forward_all(&mut self.cache, tokens, self.position);
        self.position += tokens.len();
        logits
    }

    fn check(&self, tokens: &[u32]) {
        let vocabulary = self.model.vocabulary();
        assert!(
            !tokens.is_empty()
                && self.position + tokens.len() <= self.cache.capacity()
                && tokens.iter().all(|token| (*token as usize) < vocabulary),
            "tokens are of the vocabulary and within the context"
        );
    }

    /// Entries of the vocabulary.
    pub fn vocabulary(&self) -> usize {
        self.model.vocabulary()
    }

    /// What a token costs.
    pub fn work(&self) -> TokenWork {
        self.model.work()
    }
}
