//! BERT's tokenizer from `vocab.txt` alone.

use std::path::Path;

use tokenizers::models::wordpiece::WordPiece;
use tokenizers::normalizers::BertNormalizer;
use tokenizers::pre_tokenizers::bert::BertPreTokenizer;
use tokenizers::processors::template::TemplateProcessing;
use tokenizers::{AddedToken, Model as _, Tokenizer};

use crate::error::ModelError;

/// Builds the tokenizer of a BERT vocabulary; whether it folds case is read from `tokenizer_config.json`
/// (`do_lower_case`, default true as in BERT's own reader).
///
/// # Errors
/// When the vocabulary cannot be read or lacks `[CLS]`, `[SEP]` or `[UNK]`.
pub(super) fn build(dir: &Path, vocabulary: &Path) -> Result<Tokenizer, ModelError> {
    let lowercase = lower_case(dir)?;
    let file = vocabulary
        .to_str()
        .ok_or_else(|| ModelError::damaged(vocabulary, "its path is not UTF-8"))?;
    let model = WordPiece::from_file(file)
        .unk_token("[UNK]".to_owned())
        .build()
        .map_err(|e| ModelError::damaged(vocabulary, e))?;
    let id_of = |token: &str| {
        model.token_to_id(token).ok_or_else(|| {
            ModelError::damaged(
                vocabulary,
                format!("it is not a BERT vocabulary: {token} is missing"),
            )
        })
    };
    let (cls, sep) = (id_of("[CLS]")?, id_of("[SEP]")?);
    id_of("[UNK]")?;
    let template = TemplateProcessing::builder()
        .try_single("[CLS]:0 $A:0 [SEP]:0")
        .and_then(|t| t.try_pair("[CLS]:0 $A:0 [SEP]:0 $B:1 [SEP]:1"))
        .map_err(|e| ModelError::damaged(vocabulary, e))?
        .special_tokens(vec![("[CLS]", cls), ("[SEP]", sep)])
        .build()
        .map_err(|e| ModelError::damaged(vocabulary, e))?;
    let mut tokenizer = Tokenizer::new(model);
    tokenizer
        .with_normalizer(Some(BertNormalizer::new(true, true, None, lowercase)))
        .map_err(|e| ModelError::damaged(vocabulary, e))?;
    tokenizer.with_pre_tokenizer(Some(BertPreTokenizer)).with_post_processor(Some(template));
    let special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"];
    let special: Vec<AddedToken> =
        special.iter().map(|token| AddedToken::from(*token, true)).collect();
    tokenizer.add_special_tokens(special).map_err(|e| ModelError::damaged(vocabulary, e))?;
    Ok(tokenizer)
}

fn lower_case(dir: &Path) -> Result<bool, ModelError> {
    #[derive(serde::Deserialize)]
    struct Settings {
        #[serde(default = "yes")]
        do_lower_case: bool,
    }
    fn yes() -> bool {
        true
    }
    let path = dir.join("tokenizer_config.json");
    if !path.is_file() {
        return Ok(true);
    }
    let text = fs_err::read_to_string(&path).map_err(|e| ModelError::read(&path, e))?;
    let settings: Settings =
        serde_json::from_str(&text).map_err(|e| ModelError::damaged(&path, e))?;
    Ok(settings.do_lower_case)
}
