//! XLM-RoBERTa's tokenizer from `sentencepiece.bpe.model` alone.
//!
//! The file is a protocol-buffer message; only the pieces and the normaliser's character map are read. fairseq's order of
//! ids differs from the file's: `<s>` 0, `<pad>` 1, `</s>` 2, `<unk>` 3, then the pieces from the fourth on, then `<mask>`.

use std::path::Path;

use tokenizers::models::unigram::Unigram;
use tokenizers::normalizers::{NFKC, NormalizerWrapper, Precompiled};
use tokenizers::pre_tokenizers::metaspace::{Metaspace, PrependScheme};
use tokenizers::pre_tokenizers::sequence::Sequence;
use tokenizers::pre_tokenizers::whitespace::WhitespaceSplit;
use tokenizers::processors::template::TemplateProcessing;
use tokenizers::{AddedToken, Tokenizer};

use crate::error::ModelError;

/// Pieces that open the file (`<unk>`, `<s>`, `</s>`) and that fairseq numbers in its own way.
const OWN_SPECIALS: usize = 3;

/// Builds the tokenizer.
///
/// # Errors
/// When the file cannot be read, is not a sentencepiece model, or is one of another type than unigram.
pub(super) fn build_xlm_roberta(path: &Path) -> Result<Tokenizer, ModelError> {
    let bytes = fs_err::read(path).map_err(|e| ModelError::read(path, e))?;
    let damaged = |problem: String| ModelError::damaged(path, problem);
    let parsed = parse(&bytes).map_err(|problem| damaged(problem.to_owned()))?;
    if parsed.pieces.len() <= OWN_SPECIALS {
        return Err(damaged("it contains no pieces".to_owned()));
    }
    if parsed.model_type != 1 {
        return Err(ModelError::Unsupported {
            path: path.to_owned(),
            what: format!("sentencepiece model type {} (1, unigram, is)", parsed.model_type),
        });
    }
    let mut vocabulary: Vec<(String, f64)> =
        ["<s>", "<pad>", "</s>", "<unk>"].iter().map(|piece| ((*piece).to_owned(), 0.0)).collect();
    vocabulary.extend(
        parsed
            .pieces
            .into_iter()
            .skip(OWN_SPECIALS)
            .map(|(piece, score)| (piece, f64::from(score))),
    );
    vocabulary.push(("<mask>".to_owned(), 0.0));
    let model = Unigram::from(vocabulary, Some(3), false).map_err(|e| damaged(e.to_string()))?;
    let characters: NormalizerWrapper = if parsed.character_map.is_empty() {
        // Files without a map were trained on text that is NFKC already.
        NormalizerWrapper::NFKC(NFKC)
    } else {
        Precompiled::from(&parsed.character_map)
            .map_err(|e| damaged(format!("its character map does not parse: {e}")))?
            .into()
    };
    let template = TemplateProcessing::builder()
        .try_single("<s> $A </s>")
        .and_then(|t| t.try_pair("<s> $A </s> </s> $B </s>"))
        .map_err(|e| damaged(e.clone()))?
        .special_tokens(vec![("<s>", 0), ("</s>", 2)])
        .build()
        .map_err(|e| damaged(e.to_string()))?;
    let mut tokenizer = Tokenizer::new(model);
    tokenizer.with_normalizer(Some(characters)).map_err(|e| damaged(e.to_string()))?;
    tokenizer
        .with_pre_tokenizer(Some(Sequence::new(vec![
            WhitespaceSplit.into(),
            Metaspace::new('\u{2581}', PrependScheme::Always, true).into(),
        ])))
        .with_post_processor(Some(template));
    let special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"];
    let special: Vec<AddedToken> =
        special.iter().map(|token| AddedToken::from(*token, true)).collect();
    tokenizer.add_special_tokens(special).map_err(|e| damaged(e.to_string()))?;
    Ok(tokenizer)
}

struct Parsed {
    pieces: Vec<(String, f32)>,
    model_type: u64,
    character_map: Vec<u8>,
}

/// Reads the message: field 1 pieces {1 text, 2 score}, field 2 trainer {3 model type}, field 3 normaliser {2 map}.
fn parse(bytes: &[u8]) -> Result<Parsed, &'static str> {
    let mut parsed = Parsed { pieces: Vec::new(), model_type: 1, character_map: Vec::new() };
    let mut message = Fields(bytes);
    while let Some((field, value)) = message.next()? {
        match (field, value) {
            (1, Value::Bytes(piece)) => parsed.pieces.push(parse_piece(piece)?),
            (2, Value::Bytes(trainer)) => {
                let mut fields = Fields(trainer);
                while let Some(entry) = fields.next()? {
                    if let (3, Value::Varint(model_type)) = entry {
                        parsed.model_type = model_type;
                    }
                }
            }
            (3, Value::Bytes(normaliser)) => {
                let mut fields = Fields(normaliser);
                while let Some(entry) = fields.next()? {
                    if let (2, Value::Bytes(map)) = entry {
                        parsed.character_map = map.to_vec();
                    }
                }
            }
            _ => {}
        }
    }
    Ok(parsed)
}

fn parse_piece(bytes: &[u8]) -> Result<(String, f32), &'static str> {
    let (mut text, mut score) = (None, 0.0);
    let mut fields = Fields(bytes);
    while let Some(entry) = fields.next()? {
        match entry {
            (1, Value::Bytes(piece)) => {
                let piece = std::str::from_utf8(piece).map_err(|_| "a piece is not UTF-8")?;
                text = Some(piece.to_owned());
            }
            (2, Value::Fixed32(bits)) => score = f32::from_bits(bits),
            _ => {}
        }
    }
    if !score.is_finite() {
        return Err("a piece's score is not a number");
    }
    Ok((text.ok_or("a piece has no text")?, score))
}

enum Value<'a> {
    Varint(u64),
    Bytes(&'a [u8]),
    Fixed32(u32),
    Fixed64,
}

/// The fields of a protocol-buffer message, in file order.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn next(&mut self) -> Result<Option<(u64, Value<'a>)>, &'static str> {
        if self.0.is_empty() {
            return Ok(None);
        }
        let key = self.varint()?;
        let value = match key & 7 {
            0 => Value::Varint(self.varint()?),
            1 => {
                self.take(8)?;
                Value::Fixed64
            }
            2 => {
                let len = usize::try_from(self.varint()?).map_err(|_| "a field is too long")?;
                Value::Bytes(self.take(len)?)
            }
            5 => {
                let bits = self.take(4)?;
                Value::Fixed32(u32::from_le_bytes([bits[0], bits[1], bits[2], bits[3]]))
            }
            _ => return Err("it is not a sentencepiece model"),
        };
        Ok(Some((key >> 3, value)))
    }

    fn varint(&mut self) -> Result<u64, &'static str> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.take(1)?[0];
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err("a number is too long")
    }

    fn take(&mut self, len: usize) -> Result<&'a [u8], &'static str> {
        let (head, tail) = self.0.split_at_checked(len).ok_or("it ends too early")?;
        self.0 = tail;
        Ok(head)
    }
}
