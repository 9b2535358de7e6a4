//! Replies that must be JSON of a given schema: masks over the next token.

use std::sync::Arc;

use llguidance::api::TopLevelGrammar;
use llguidance::toktrie::{ApproximateTokEnv, TokEnv, TokRxInfo, TokTrie};
use llguidance::{JsonCompileOptions, Matcher, ParserFactory};
use serde_json::Value;

use super::vocab::Vocabulary;

/// Tokens that print more than this are left out of constrained replies: the trie cannot hold them, and no JSON needs
/// them.
const MAX_TOKEN_BYTES: usize = 512;

/// What schemas are compiled against: the vocabulary as a trie.
pub(super) struct Grammars {
    factory: ParserFactory,
}

/// Why there is no mask.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct ConstraintError(String);

impl Grammars {
    /// Builds the trie; takes a fraction of a second for a large vocabulary.
    pub(super) fn new(vocabulary: &Vocabulary) -> Result<Self, ConstraintError> {
        let n = u32::try_from(vocabulary.len())
            .map_err(|_| ConstraintError("the vocabulary is too large".to_owned()))?;
        let words: Vec<Vec<u8>> = (0..n)
            .map(|token| {
                let bytes = vocabulary.bytes(token);
                if vocabulary.is_control(token) {
                    // Any text will do that tells control tokens from text and from each other.
                    let mut word = vec![TokTrie::SPECIAL_TOKEN_MARKER];
                    word.extend_from_slice(format!("[{token}]").as_bytes());
                    word
                } else if bytes.len() > MAX_TOKEN_BYTES {
                    Vec::new()
                } else {
                    bytes.to_vec()
                }
            })
            .collect();
        let ends: Vec<u32> = vocabulary.ends().iter().copied().collect();
        let trie = TokTrie::from(&TokRxInfo::new(n, ends[0]), &words).with_eos_tokens(&ends);
        let environment: TokEnv = Arc::new(ApproximateTokEnv::new(trie));
        let mut factory = ParserFactory::new_simple(&environment).map_err(reason)?;
        factory.quiet();
        Ok(Self { factory })
    }

    /// A constraint that begins with the reply.
    ///
    /// White space is fixed to one space after `,` and `:`: left free, a small model fills its token limit with it.
    pub(super) fn json(&self, schema: &Value) -> Result<Constraint, ConstraintError> {
        let mut schema = schema.clone();
        let options = JsonCompileOptions {
            item_separator: ", ".to_owned(),
            key_separator: ": ".to_owned(),
            whitespace_flexible: false,
            ..JsonCompileOptions::default()
        };
        if schema.is_object() {
            options.apply_to(&mut schema);
        }
        let parser = self
            .factory
            .create_parser(TopLevelGrammar::from_json_schema(schema))
            .map_err(reason)?;
        Ok(Constraint { matcher: Matcher::new(Ok(parser)) })
    }
}

/// The state of one constrained reply.
pub(super) struct Constraint {
    matcher: Matcher,
}

impl Constraint {
    /// Takes every token out of `logits` that cannot come next.
    pub(super) fn mask(&mut self, logits: &mut [f32]) -> Result<(), ConstraintError> {
        let allowed = self.matcher.compute_mask_or_eos().map_err(reason)?;
        for (token, logit) in (0u32..).zip(logits) {
            if !allowed.is_allowed(token) {
                *logit = f32::NEG_INFINITY;
            }
        }
        Ok(())
    }

    /// Tokens that the schema leaves no choice about; empty where there is one, or the matcher cannot tell.
    pub(super) fn forced(&mut self) -> Vec<u32> {
        self.matcher.compute_ff_tokens()
    }

    /// Takes note of the token that came, and says whether the value is complete.
    pub(super) fn accept(&mut self, token: u32) -> Result<bool, ConstraintError> {
        self.matcher.consume_token(token).map_err(reason)?;
        Ok(self.matcher.is_stopped())
    }
}

fn reason(error: impl std::fmt::Display) -> ConstraintError {
    ConstraintError(format!("{error:#}"))
}
