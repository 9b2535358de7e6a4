//! The tokenizer of a GGUF file, built from its metadata.
//!
//! Special tokens are found in template text only. What a message says goes through the plain tokenizer, so a passage
//! that spells out `<|im_end|>` is read as those characters and cannot end its turn.

use std::borrow::Cow;
use std::collections::BTreeSet;

use tokenizers::models::bpe::{BPE, Vocab};
use tokenizers::normalizers::{self, NFC, Prepend, Replace};
use tokenizers::pre_tokenizers::byte_level::ByteLevel;
use tokenizers::pre_tokenizers::sequence::Sequence;
use tokenizers::pre_tokenizers::split::{Split, SplitPattern};
use tokenizers::{NormalizerWrapper, PreTokenizerWrapper, SplitDelimiterBehavior, Tokenizer};

use super::error::GgufError;
use super::file::GgufFile;

/// Largest vocabulary accepted; the largest published one has 262 144 entries.
const MAX_VOCABULARY: usize = 1 << 20;

/// Texts of control tokens that end a turn, whichever of them the file names as its end.
const TURN_ENDS: &[&str] = &[
    "<|im_end|>",
    "<|eot_id|>",
    "<|eom_id|>",
    "<|end_of_text|>",
    "<|endoftext|>",
    "<|end|>",
    "<end_of_turn>",
    "</s>",
];

/// Word splits, by `tokenizer.ggml.pre`. The expressions are those the models were trained with.
const GPT2_WORDS: &str =
    r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+";
const LLAMA3_WORDS: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";
const QWEN2_WORDS: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";
const GPT4O_WORDS: &str = r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+";
const TEKKEN_WORDS: &str = r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+";
const DIGIT: &str = r"\p{N}";

/// Code points below which all stand-ins of bytes are: 256 and one for each byte that is not printable.
const STAND_INS: usize = 0x100 + 68;

/// ggml's token types.
mod kind {
    pub(super) const UNKNOWN: i64 = 2;
    pub(super) const CONTROL: i64 = 3;
    pub(super) const USER_DEFINED: i64 = 4;
    pub(super) const UNUSED: i64 = 5;
    pub(super) const BYTE: i64 = 6;
}

/// A stretch of a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Piece {
    /// Written by the template: special tokens are recognised.
    Template(String),
    /// Written by a user, a paper or a model: never parsed for special tokens.
    Content(String),
}

/// Texts, tokens and bytes of a model.
pub(super) struct Vocabulary {
    tokenizer: Tokenizer,
    /// What each token prints; empty for control tokens.
    bytes: Vec<Vec<u8>>,
    control: Vec<bool>,
    /// Special texts, longest first.
    specials: Vec<(String, u32)>,
    bos: Option<u32>,
    add_bos: bool,
    ends: BTreeSet<u32>,
}

impl Vocabulary {
    /// Reads `tokenizer.ggml.*`.
    pub(super) fn read(file: &GgufFile) -> Result<Self, GgufError> {
        let tokens = &file.texts("tokenizer.ggml.tokens")?[..];
        let vocabulary_error = |source: Box<dyn std::error::Error + Send + Sync>| {
            GgufError::Vocabulary { path: file.path.clone(), source }
        };
        if tokens.is_empty() || tokens.len() > MAX_VOCABULARY {
            return Err(vocabulary_error(format!("it has {} tokens", tokens.len()).into()));
        }
        let kinds = file.ints_opt("tokenizer.ggml.token_type").unwrap_or(&[]);
        let kind_of = |i: usize| kinds.get(i).copied().unwrap_or(1);
        let model = file.text("tokenizer.ggml.model")?;
        let pre = file.text_opt("tokenizer.ggml.pre").unwrap_or("default");
        let sentencepiece = match model {
            "gpt2" => false,
            "llama" => true,
            other => {
                return Err(GgufError::Unsupported {
                    path: file.path.clone(),
                    what: format!("tokenizer `{other}` (read are gpt2 and llama)"),
                });
            }
        };
        let plain = || -> Vocab {
            (0u32..)
                .zip(tokens)
                .filter(|(i, _)| {
                    !matches!(
                        kind_of(*i as usize),
                        kind::CONTROL | kind::UNUSED | kind::USER_DEFINED
                    )
                })
                .map(|(i, text)| (text.to_string(), i))
                .collect()
        };
        let control: Vec<bool> = (0..tokens.len())
            .map(|i| matches!(kind_of(i), kind::CONTROL | kind::UNUSED | kind::UNKNOWN))
            .collect();
        // Tables of 150 000 texts are most of the time that it takes to open a model: two are made at a time.
        let (tokenizer, bytes) = std::thread::scope(|scope| {
            let bytes = scope.spawn(|| printed(tokens, &kind_of, &control, sentencepiece));
            let tokenizer = if sentencepiece {
                sentencepiece_tokenizer(file, tokens, plain())
            } else {
                byte_level_tokenizer(file, pre, plain)
            };
            (tokenizer, bytes.join().expect("making bytes of texts cannot fail"))
        });
        let tokenizer = tokenizer?;

        let n = tokens.len();
        let token = |key: &str| file.token_opt(key).filter(|id| (*id as usize) < n);
        let bos = token("tokenizer.ggml.bos_token_id");
        let mut ends: BTreeSet<u32> = [
            "tokenizer.ggml.eos_token_id",
            "tokenizer.ggml.eot_token_id",
            "tokenizer.ggml.eom_token_id",
        ]
        .into_iter()
        .filter_map(token)
        .collect();
        let mut specials = Vec::new();
        for (id, text) in (0u32..).zip(tokens) {
            let kind = kind_of(id as usize);
            if kind == kind::CONTROL && TURN_ENDS.contains(&text.as_ref()) {
                ends.insert(id);
            }
            if matches!(kind, kind::CONTROL | kind::USER_DEFINED) && !text.is_empty() {
                specials.push((text.to_string(), id));
            }
        }
        specials.sort_by(|a, b| b.0.len().cmp(&a.0.len()).then_with(|| a.cmp(b)));
        if ends.is_empty() {
            return Err(vocabulary_error("it names no token that ends a reply".into()));
        }
        let add_bos = file
            .bool_opt("tokenizer.ggml.add_bos_token")
            .unwrap_or(sentencepiece || is_llama3(pre));
        Ok(Self { tokenizer, bytes, control, specials, bos, add_bos, ends })
    }

    /// Number of tokens.
    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// What a token prints; nothing for control tokens.
    pub(super) fn bytes(&self, token: u32) -> &[u8] {
        self.bytes.get(token as usize).map_or(&[], Vec::as_slice)
    }

    /// Whether a token steers the model and is never text.
    pub(super) fn is_control(&self, token: u32) -> bool {
        self.control.get(token as usize).copied().unwrap_or(true)
    }

    /// The tokens that end a reply, in order.
    pub(super) fn ends(&self) -> &BTreeSet<u32> {
        &self.ends
    }

    /// The number of the special token written `text`.
    pub(super) fn special(&self, text: &str) -> Option<u32> {
        self.specials.iter().find(|(special, _)| special == text).map(|(_, id)| *id)
    }

    /// The text of the token that begins a sequence, as templates ask for it.
    pub(super) fn bos_text(&self) -> &str {
        self.text_of(self.bos)
    }

    /// The text of the (first) token that ends a reply, as templates ask for it.
    pub(super) fn eos_text(&self) -> &str {
        self.text_of(self.ends.first().copied())
    }

    fn text_of(&self, id: Option<u32>) -> &str {
        self.specials.iter().find(|(_, special)| Some(*special) == id).map_or("", |(text, _)| text)
    }

    /// Tokens of plain text: no special token is recognised, none is added.
    pub(super) fn encode(&self, text: &str) -> Result<Vec<u32>, tokenizers::Error> {
        if text.is_empty() {
            return Ok(Vec::new());
        }
        Ok(self.tokenizer.encode_fast(text, false)?.get_ids().to_vec())
    }

    /// Tokens of a prompt. Neighbouring stretches without a special token between them are encoded as one text, as
    /// the model saw them in training; the token that begins a sequence stands exactly once where the model wants it.
    pub(super) fn encode_prompt(&self, pieces: &[Piece]) -> Result<Vec<u32>, tokenizers::Error> {
        let mut tokens = Vec::new();
        let mut text = String::new();
        for piece in pieces {
            match piece {
                Piece::Content(content) => text.push_str(content),
                Piece::Template(template) => {
                    let mut rest = template.as_str();
                    while let Some((at, length, id)) = self.next_special(rest) {
                        text.push_str(&rest[..at]);
                        tokens.extend(self.encode(&text)?);
                        text.clear();
                        tokens.push(id);
                        rest = &rest[at + length..];
                    }
                    text.push_str(rest);
                }
            }
        }
        tokens.extend(self.encode(&text)?);
        if let Some(bos) = self.bos {
            let written = tokens.iter().take_while(|token| **token == bos).count();
            if written > 1 {
                tokens.drain(..written - 1);
            } else if written == 0 && self.add_bos {
                tokens.insert(0, bos);
            }
        }
        Ok(tokens)
    }

    /// Position, length and number of the first special token in `text`; the longest if several begin there.
    fn next_special(&self, text: &str) -> Option<(usize, usize, u32)> {
        let mut first: Option<(usize, usize, u32)> = None;
        for (special, id) in &self.specials {
            if let Some(at) = text.find(special.as_str())
                && first.is_none_or(|(best, _, _)| at < best)
            {
                first = Some((at, special.len(), *id));
            }
        }
        first
    }
}

fn is_llama3(pre: &str) -> bool {
    matches!(pre, "llama-bpe" | "llama3" | "llama-v3")
}

fn byte_level_tokenizer(
    file: &GgufFile,
    pre: &str,
    plain: impl FnOnce() -> Vocab,
) -> Result<Tokenizer, GgufError> {
    let error = |source| GgufError::Vocabulary { path: file.path.clone(), source };
    let merges = file.texts("tokenizer.ggml.merges")?;
    let (plain, merges) = std::thread::scope(|scope| {
        let merges = scope.spawn(|| {
            let split = |merge: &Cow<'_, str>| {
                let (left, right) = merge.split_once(' ').unwrap_or((merge, ""));
                (left.to_owned(), right.to_owned())
            };
            merges.iter().map(split).collect::<Vec<_>>()
        });
        (plain(), merges.join().expect("splitting texts cannot fail"))
    });
    let model = BPE::builder()
        .vocab_and_merges(plain, merges)
        // Llama 3 takes a word that is a token as it is, without merging its way there.
        .ignore_merges(is_llama3(pre) || pre == "tekken")
        .build()
        .map_err(error)?;
    let mut tokenizer = Tokenizer::new(model);
    let isolate = |expression: &str| {
        Split::new(
            SplitPattern::Regex(expression.to_owned()),
            SplitDelimiterBehavior::Isolated,
            false,
        )
        .map(PreTokenizerWrapper::Split)
    };
    let expressions: &[&str] = match pre {
        _ if is_llama3(pre) => &[LLAMA3_WORDS],
        "qwen2" => &[QWEN2_WORDS],
        "gpt-4o" => &[GPT4O_WORDS],
        "tekken" => &[TEKKEN_WORDS],
        "smollm" => &[DIGIT, GPT2_WORDS],
        "gpt-2" | "default" => &[GPT2_WORDS],
        other => {
            return Err(GgufError::Unsupported {
                path: file.path.clone(),
                what: format!(
                    "the word splitting `{other}` (read are qwen2, llama-bpe, gpt-4o, tekken, smollm, gpt-2 and default)"
                ),
            });
        }
    };
    let mut steps =
        expressions.iter().map(|e| isolate(e)).collect::<Result<Vec<_>, _>>().map_err(error)?;
    steps.push(PreTokenizerWrapper::ByteLevel(ByteLevel::new(false, false, false)));
    tokenizer.with_pre_tokenizer(Some(Sequence::new(steps)));
    if pre == "qwen2" {
        tokenizer.with_normalizer(Some(NFC)).map_err(error)?;
    }
    Ok(tokenizer)
}

/// A `SentencePiece` model of the `llama` kind: pairs merge in the order of the score of what they make.
fn sentencepiece_tokenizer(
    file: &GgufFile,
    tokens: &[Cow<'_, str>],
    plain: Vocab,
) -> Result<Tokenizer, GgufError> {
    let error = |source| GgufError::Vocabulary { path: file.path.clone(), source };
    let scores = file.floats_opt("tokenizer.ggml.scores").unwrap_or(&[]);
    if scores.len() != tokens.len() {
        return Err(error(
            format!("it has {} tokens and {} scores", tokens.len(), scores.len()).into(),
        ));
    }
    let mut merges = Vec::new();
    for (id, text) in tokens.iter().enumerate() {
        if !plain.contains_key(text.as_ref()) {
            continue;
        }
        for (at, _) in text.char_indices().skip(1) {
            let (left, right) = text.split_at(at);
            if plain.contains_key(left) && plain.contains_key(right) {
                merges.push((scores[id], left, right));
            }
        }
    }
    merges.sort_by(|a, b| {
        b.0.total_cmp(&a.0).then(b.1.len().cmp(&a.1.len())).then(b.2.len().cmp(&a.2.len()))
    });
    let merges = merges.into_iter().map(|(_, l, r)| (l.to_owned(), r.to_owned())).collect();
    let unknown = file
        .token_opt("tokenizer.ggml.unknown_token_id")
        .and_then(|id| tokens.get(id as usize))
        .filter(|text| plain.contains_key(text.as_ref()));
    let mut builder =
        BPE::builder().vocab_and_merges(plain, merges).byte_fallback(true).fuse_unk(true);
    if let Some(unknown) = unknown {
        builder = builder.unk_token(unknown.to_string());
    }
    let mut tokenizer = Tokenizer::new(builder.build().map_err(error)?);
    let mut steps = Vec::new();
    if file.bool_opt("tokenizer.ggml.add_space_prefix").unwrap_or(true) {
        steps.push(NormalizerWrapper::Prepend(Prepend::new("\u{2581}".to_owned())));
    }
    steps.push(NormalizerWrapper::Replace(Replace::new(" ", "\u{2581}").map_err(error)?));
    tokenizer.with_normalizer(Some(normalizers::Sequence::new(steps))).map_err(error)?;
    Ok(tokenizer)
}

/// What each token prints; nothing for control tokens.
fn printed(
    tokens: &[Cow<'_, str>],
    kind_of: &(impl Fn(usize) -> i64 + Sync),
    control: &[bool],
    sentencepiece: bool,
) -> Vec<Vec<u8>> {
    let decoder = byte_of_char();
    let of_token = |(i, text): (usize, &Cow<'_, str>)| match kind_of(i) {
        _ if control[i] => Vec::new(),
        kind::USER_DEFINED => text.as_bytes().to_vec(),
        kind::BYTE if sentencepiece => hexadecimal(text).map_or_else(Vec::new, |byte| vec![byte]),
        _ if sentencepiece => text.replace('\u{2581}', " ").into_bytes(),
        _ => text.chars().filter_map(|c| *decoder.get(c as usize)?).collect(),
    };
    tokens.iter().enumerate().map(of_token).collect()
}

/// The printable stand-ins of GPT-2's byte-level vocabulary: printable Latin-1 stands for itself, the other bytes for
/// the characters from U+0100 on, in order.
fn byte_of_char() -> [Option<u8>; STAND_INS] {
    let mut bytes = [None; STAND_INS];
    let mut stand_in = 0x100;
    for byte in 0..=255u8 {
        let printable = matches!(byte, b'!'..=b'~' | 0xA1..=0xAC | 0xAE..=0xFF);
        let code = if printable {
            usize::from(byte)
        } else {
            stand_in += 1;
            stand_in - 1
        };
        bytes[code] = Some(byte);
    }
    bytes
}

/// The byte of `<0xAB>`.
fn hexadecimal(text: &str) -> Option<u8> {
    u8::from_str_radix(text.strip_prefix("<0x")?.strip_suffix('>')?, 16).ok()
}
