//! Text to token ids, with truncation counted.

mod sentencepiece;
mod wordpiece;

use std::path::{Path, PathBuf};

use tokenizers::{
    EncodeInput, Encoding, PostProcessor as _, Tokenizer, TruncationDirection, TruncationParams,
    TruncationStrategy,
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

/// What of a pair that is too long is cut, always at the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PairTruncation {
    /// The longer text first, as the paper's reranker does.
    LongestFirst,
    /// The second text; the first only where it would leave the second less than a quarter.
    ///
    /// Source: newer `FlagEmbedding` releases, which cut queries at 384 of 512 tokens and then passages.
    SecondOnly,
}

/// The first text's largest fraction of a pair under [`PairTruncation::SecondOnly`], in quarters.
const FIRST_QUARTERS: usize = 3;

/// Bytes of a text that are looked at for each token that the limit allows. Running text has four bytes a token and a page
/// of formulas twenty; a tokenizer takes sixty times the room of what it is given.
const BYTES_PER_TOKEN: usize = 128;

/// A tokenizer with a fixed length limit.
pub(crate) struct TokenReader {
    tokenizer: Tokenizer,
    model: String,
    files: Vec<PathBuf>,
    limit: usize,
    /// The same tokenizer without a limit, where only second texts are cut.
    unlimited: Option<Tokenizer>,
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
        let (model, limit) = (model.to_owned(), max_tokens);
        Ok(Self { tokenizer, model, files, limit, unlimited: None })
    }

    /// The same, cutting pairs so.
    ///
    /// # Errors
    /// When the tokenizer does not accept to have no limit.
    pub(crate) fn cutting(mut self, pairs: PairTruncation) -> Result<Self, ModelError> {
        self.unlimited = match pairs {
            PairTruncation::LongestFirst => None,
            PairTruncation::SecondOnly => {
                let mut tokenizer = self.tokenizer.clone();
                tokenizer
                    .with_truncation(None)
                    .map_err(|e| ModelError::damaged(&self.files[0], e))?;
                Some(tokenizer)
            }
        };
        Ok(self)
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
        let head = self.head(text);
        let tokens = self.read(EncodeInput::from(head))?;
        Ok(Tokens { truncated: tokens.truncated || head.len() < text.len(), ..tokens })
    }

    /// What of `text` the limit leaves room for, however long its words are.
    fn head<'a>(&self, text: &'a str) -> &'a str {
        &text[..text.floor_char_boundary(self.limit.saturating_mul(BYTES_PER_TOKEN))]
    }

    /// The text of `ids`, special tokens left out.
    ///
    /// # Errors
    /// When the tokenizer cannot decode.
    pub(crate) fn decode(&self, ids: &[u32]) -> Result<String, ModelError> {
        let refused = |source| ModelError::Tokenize { model: self.model.clone(), source };
        self.tokenizer.decode(ids, true).map_err(refused)
    }

    /// Tokenises a pair, special tokens added.
    ///
    /// # Errors
    /// When the tokenizer refuses a text.
    pub(crate) fn pair(&self, first: &str, second: &str) -> Result<Tokens, ModelError> {
        let whole = first.len() + second.len();
        let (first, second) = (self.head(first), self.head(second));
        let tokens = match &self.unlimited {
            None => self.read(EncodeInput::from((first, second)))?,
            Some(tokenizer) => self.pair_cutting_second(tokenizer, first, second)?,
        };
        let is_clipped = first.len() + second.len() < whole;
        Ok(Tokens { truncated: tokens.truncated || is_clipped, ..tokens })
    }

    fn pair_cutting_second(
        &self,
        tokenizer: &Tokenizer,
        first: &str,
        second: &str,
    ) -> Result<Tokens, ModelError> {
        let refused = |source| ModelError::Tokenize { model: self.model.clone(), source };
        let mut first = tokenizer.encode_fast(first, false).map_err(refused)?;
        let mut second = tokenizer.encode_fast(second, false).map_err(refused)?;
        let specials = tokenizer.get_post_processor().map_or(0, |p| p.added_tokens(true));
        let room = self.limit.saturating_sub(specials);
        let whole = first.len() + second.len();
        // A short second text leaves its part of the room to the first.
        let most = room.saturating_sub(second.len()).max(room * FIRST_QUARTERS / 4);
        first.truncate(most, 0, TruncationDirection::Right);
        second.truncate(room - first.len(), 0, TruncationDirection::Right);
        let truncated = first.len() + second.len() < whole;
        // What was cut off would be given special tokens, too.
        first.take_overflowing();
        second.take_overflowing();
        let pair = tokenizer.post_process(first, Some(second), true).map_err(refused)?;
        Ok(Tokens { truncated, ..tokens(&pair) })
    }

    fn read(&self, input: EncodeInput<'_>) -> Result<Tokens, ModelError> {
        let encoding: Encoding = self
            .tokenizer
            .encode_fast(input, true)
            .map_err(|source| ModelError::Tokenize { model: self.model.clone(), source })?;
        Ok(tokens(&encoding))
    }
}

fn tokens(encoding: &Encoding) -> Tokens {
    Tokens {
        ids: encoding.get_ids().to_vec(),
        types: encoding.get_type_ids().to_vec(),
        special: encoding.get_special_tokens_mask().iter().map(|mask| *mask != 0).collect(),
        truncated: !encoding.get_overflowing().is_empty(),
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

    /// Only so much of a text is looked at as the limit can have room for, and that is told.
    #[test]
    fn a_word_without_end_is_looked_at_as_far_as_the_limit() {
        let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/tiny-bert-cross");
        let reader = TokenReader::open(&golden, "tiny", 48).expect("opens");
        let most = 48 * BYTES_PER_TOKEN;
        let endless = "ä".repeat(most * 4);
        assert_eq!(reader.head(&endless).len(), most);
        assert_eq!(reader.head(&endless[..most]).len(), most);
        assert_eq!(reader.head(&format!("a{endless}")).len(), most - 1, "no half characters");
        let told = [
            reader.single(&endless),
            reader.pair("water", &endless),
            reader.pair(&endless, "water"),
            reader.cutting(PairTruncation::SecondOnly).expect("opens").pair("water", &endless),
        ];
        for tokens in told {
            assert!(tokens.expect("splits").truncated);
        }
    }

    /// The query stays whole beside a long passage, and leaves a quarter to it when it is long itself.
    #[test]
    fn cutting_second_texts_only_keeps_the_first() {
        let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/tiny-bert-cross");
        let open = |pairs| {
            let reader = TokenReader::open(&golden, "tiny", 48).expect("opens");
            reader.cutting(pairs).expect("a tokenizer needs no limit")
        };
        let (longest, second) =
            (open(PairTruncation::LongestFirst), open(PairTruncation::SecondOnly));
        let in_first = |tokens: &Tokens| tokens.types.iter().filter(|kind| **kind == 0).count();
        let check = |first: &str, passage: &str, of_first: usize, truncated: bool| {
            let tokens = second.pair(first, passage).expect("splits");
            assert!(tokens.ids.len() <= 48);
            assert_eq!((in_first(&tokens), tokens.truncated), (of_first, truncated), "{first:?}");
        };
        // Two special tokens stand in the first segment, one in the second.
        check(&"cells ".repeat(20), &"water ".repeat(100), 22, true);
        check(&"cells ".repeat(100), &"water ".repeat(100), 35, true);
        check(&"cells ".repeat(100), "water", 46, true);
        check("", &"water ".repeat(100), 2, true);
        let (query, passage) = ("effects of water", "cells are in water");
        check(query, passage, 5, false);
        assert_eq!(
            longest.pair(query, passage).expect("splits"),
            second.pair(query, passage).expect("splits"),
            "what fits is the same either way"
        );
    }
}
