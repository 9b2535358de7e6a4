//! Text to token ids, with truncation counted.

mod sentencepiece;
mod wordpiece;

use std::path::{Path, PathBuf};

use tokenizers::{
    EncodeInput, Encoding, Tokenizer, TruncationDirection, TruncationParams, TruncationStrategy,
};

use crate::error::ModelError;

/// A tokenised input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tokens {
    /// Ids, special tokens included; never longer than the limit.
    pub(crate) ids: Vec<u32>,
    /// Segment of each id: 0, and 1 for the second text of a pair where the tokenizer says so.
    pub(crate) types: Vec<u32>,
    /// Which positions are special tokens.
    pub(crate) special: Vec<bool>,
    /// Whether the limit cut something off.
    pub(crate) truncated: bool,
}

/// A tokenizer with a fixed length limit.
pub(crate) struct TokenReader {
    tokenizer: Tokenizer,
    model: String,
    files: Vec<PathBuf>,
}

impl TokenReader {
    /// Reads `tokenizer.json`, else builds one from `vocab.txt` (`WordPiece`) or `sentencepiece.bpe.model` (XLM-R).
    ///
    /// Whatever limit or padding the file states is replaced: at most `max_tokens` ids with special tokens, pairs cut at
    /// the longer text first, no padding.
    ///
    /// # Errors
    /// When no tokenizer file is there or it cannot be read.
    pub(crate) fn open(dir: &Path, model: &str, max_tokens: usize) -> Result<Self, ModelError> {
        let (mut tokenizer, files) = load(dir)?;
        tokenizer.with_padding(None);
        let truncation = TruncationParams {
            direction: TruncationDirection::Right,
            max_length: max_tokens,
            strategy: TruncationStrategy::LongestFirst,
            stride: 0,
        };
        tokenizer.with_truncation(Some(truncation)).map_err(|e| {
            ModelError::damaged(&files[0], format!("it does not accept a limit: {e}"))
        })?;
        Ok(Self { tokenizer, model: model.to_owned(), files })
    }

    /// The files it was read from.
    pub(crate) fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// Largest id plus one.
    pub(crate) fn vocabulary(&self) -> usize {
        self.tokenizer.get_vocab(true).into_values().max().map_or(0, |id| id as usize + 1)
    }

    /// Tokenises one text, special tokens added.
    ///
    /// # Errors
    /// When the tokenizer refuses the text.
    pub(crate) fn single(&self, text: &str) -> Result<Tokens, ModelError> {
        self.read(EncodeInput::from(text))
    }

    /// Tokenises a pair, special tokens added.
    ///
    /// # Errors
    /// When the tokenizer refuses a text.
    pub(crate) fn pair(&self, first: &str, second: &str) -> Result<Tokens, ModelError> {
        self.read(EncodeInput::from((first, second)))
    }

    fn read(&self, input: EncodeInput<'_>) -> Result<Tokens, ModelError> {
        let encoding: Encoding = self
            .tokenizer
            .encode_fast(input, true)
            .map_err(|source| ModelError::Tokenize { model: self.model.clone(), source })?;
        Ok(Tokens {
            ids: encoding.get_ids().to_vec(),
            types: encoding.get_type_ids().to_vec(),
            special: encoding.get_special_tokens_mask().iter().map(|mask| *mask != 0).collect(),
            truncated: !encoding.get_overflowing().is_empty(),
        })
    }
}

fn load(dir: &Path) -> Result<(Tokenizer, Vec<PathBuf>), ModelError> {
    let json = dir.join("tokenizer.json");
    if json.is_file() {
        let bytes = fs_err::read(&json).map_err(|e| ModelError::read(&json, e))?;
        let tokenizer = Tokenizer::from_bytes(bytes).map_err(|e| ModelError::damaged(&json, e))?;
        return Ok((tokenizer, vec![json]));
    }
    let vocabulary = dir.join("vocab.txt");
    if vocabulary.is_file() {
        let tokenizer = wordpiece::build(dir, &vocabulary)?;
        return Ok((tokenizer, vec![vocabulary]));
    }
    let pieces = dir.join("sentencepiece.bpe.model");
    if pieces.is_file() {
        let tokenizer = sentencepiece::build_xlm_roberta(&pieces)?;
        return Ok((tokenizer, vec![pieces]));
    }
    Err(ModelError::MissingFile {
        dir: dir.to_owned(),
        expected: "tokenizer.json, vocab.txt or sentencepiece.bpe.model",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Token ids of the golden pairs, with the vocabulary files alone.
    #[test]
    fn tokenizers_built_from_vocabularies_agree_with_transformers() {
        #[derive(serde::Deserialize)]
        struct Row {
            query: String,
            passage: String,
            ids: Vec<u32>,
        }
        let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
        let text = fs_err::read_to_string(golden.join("encoders.json")).expect("golden file");
        let mut all: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        for model in ["tiny-bert-cross", "tiny-xlmr-cross"] {
            let rows: Vec<Row> = serde_json::from_value(all[model].take()).expect("rows");
            let reader = TokenReader::open(&golden.join(model), model, 48).expect("opens");
            for row in rows {
                let tokens = reader.pair(&row.query, &row.passage).expect("splits");
                assert_eq!(tokens.ids, row.ids, "{model}: {:?} {:?}", row.query, row.passage);
                assert_eq!(tokens.truncated, row.ids.len() == 48, "{:?}", row.query);
            }
        }
    }
}
