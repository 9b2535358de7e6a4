//! Texts to token ids, pairs as BERT reads them.

use std::path::{Path, PathBuf};

use rayon::prelude::*;
use tokenizers::Tokenizer;

use crate::error::TrainError;
use crate::network::Packed;

/// Tokens that a long first text leaves to the second.
const LEAST_SECOND: usize = 16;

/// A tokenizer with a fixed limit.
pub(crate) struct BatchTokenizer {
    tokenizer: Tokenizer,
    dir: PathBuf,
    limit: usize,
    begin: u32,
    end: u32,
}

impl BatchTokenizer {
    /// Reads `tokenizer.json` of a model folder; `limit` is the longest input with special tokens.
    ///
    /// # Errors
    /// When it cannot be read or does not know BERT's special tokens.
    pub(crate) fn open(dir: &Path, limit: usize, vocabulary: usize) -> Result<Self, TrainError> {
        let path = dir.join("tokenizer.json");
        let bytes = fs_err::read(&path).map_err(|e| TrainError::read(&path, e))?;
        let mut tokenizer =
            Tokenizer::from_bytes(bytes).map_err(|e| TrainError::damaged(&path, e))?;
        tokenizer.with_padding(None);
        tokenizer.with_truncation(None).map_err(|e| TrainError::damaged(&path, e))?;
        let special = |token: &str| {
            tokenizer
                .token_to_id(token)
                .ok_or_else(|| TrainError::damaged(&path, format!("it does not know {token}")))
        };
        let (begin, end) = (special("[CLS]")?, special("[SEP]")?);
        let largest = tokenizer.get_vocab(true).into_values().max().map_or(0, |id| id as usize);
        if largest >= vocabulary {
            return Err(TrainError::Other {
                path,
                kind: "architecture",
                problem: format!("it knows {} tokens, the model {vocabulary}", largest + 1),
            });
        }
        Ok(Self { tokenizer, dir: dir.to_owned(), limit, begin, end })
    }

    /// Most tokens of a sequence.
    pub(crate) fn limit(&self) -> usize {
        self.limit
    }

    /// Ids of a text without special tokens.
    pub(crate) fn ids(&self, text: &str) -> Result<Vec<u32>, TrainError> {
        let encoding = self
            .tokenizer
            .encode_fast(text, false)
            .map_err(|e| TrainError::Tokenize { path: self.dir.clone(), problem: e.to_string() })?;
        Ok(encoding.get_ids().to_vec())
    }

    /// Pairs with special tokens, the second text cut first.
    ///
    /// Ours, because a claim or query cut short asks something else, and a passage cut short says less of the same.
    pub(crate) fn pairs(&self, pairs: &[(&str, &str)]) -> Result<Packed, TrainError> {
        let read: Vec<[Vec<u32>; 2]> = pairs
            .par_iter()
            .map(|(first, second)| Ok([self.ids(first)?, self.ids(second)?]))
            .collect::<Result<_, TrainError>>()?;
        let mut batch = Packed::new();
        for [first, second] in &read {
            let room = self.limit - 3;
            let second_room = second.len().min(LEAST_SECOND.min(room / 2));
            let first = &first[..first.len().min(room - second_room)];
            let second = &second[..second.len().min(room - first.len())];
            let ids: Vec<u32> = [&[self.begin], first, &[self.end], second, &[self.end]].concat();
            let types: Vec<u32> =
                (0..ids.len()).map(|at| u32::from(at >= first.len() + 2)).collect();
            batch.push(&ids, &types);
        }
        Ok(batch)
    }

    /// Texts with special tokens, cut at the limit.
    pub(crate) fn singles(&self, texts: &[&str]) -> Result<Packed, TrainError> {
        let read: Vec<Vec<u32>> =
            texts.par_iter().map(|text| self.ids(text)).collect::<Result<_, TrainError>>()?;
        let mut batch = Packed::new();
        for ids in &read {
            self.push(&mut batch, ids);
        }
        Ok(batch)
    }

    /// Adds ids with special tokens around them, cut at the limit.
    pub(crate) fn push(&self, batch: &mut Packed, ids: &[u32]) {
        let ids = &ids[..ids.len().min(self.limit - 2)];
        let ids = [&[self.begin], ids, &[self.end]].concat();
        batch.push(&ids, &vec![0; ids.len()]);
    }
}
