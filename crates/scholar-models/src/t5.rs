//! The paper's attribution model: a T5 that is asked for one of three labels.
//!
//! Steps: claim and reference are put into the prompt; the model writes at most ten tokens, always the likeliest; exactly
//! `Attributable` is support, `Contradictory` contradiction, anything else neither. The probability beside the verdict is
//! that of the first token of `Attributable` among the first tokens of the three labels, so it costs no further pass.
//!
//! Source: `OpenScholar`'s citation metrics, which judge with `osunlp/attrscore-flan-t5-xl` (FLAN-T5-XL). The prompt's
//! labels and inputs are the checkpoint's, the words of its description ours.

mod config;
mod network;

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use scholar_core::text::hex;
use scholar_core::{Attributor, Judgement, PortError, PortErrorKind, Verdict};
use sha2::{Digest as _, Sha256};

use self::config::Config;
use self::network::Network;
use crate::batcher::{Batcher, QUEUE_TOKENS};
use crate::error::ModelError;
use crate::tokens::TokenReader;
use crate::weights::{Weights, sampled_digest};

/// Longest reply in tokens. Source: the reference's `max_new_tokens`.
const MAX_REPLY_TOKENS: usize = 10;
/// Longest prompt in tokens; the reference is cut at its end. Ours: the original sets no limit, and attention over a
/// whole paper would take more memory than a machine has.
const MAX_PROMPT_TOKENS: usize = 4096;

/// The reply that counts as support.
const ATTRIBUTABLE: &str = "Attributable";
const CONTRADICTORY: &str = "Contradictory";
const EXTRAPOLATORY: &str = "Extrapolatory";

/// What the model is asked; `{claim}` and `{reference}` stand for the pair.
const PROMPT: &str = include_str!("t5/prompt.txt");

/// In which numbers the weights are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum T5Precision {
    /// f32 for checkpoints of less than 2 GiB, else [`T5Precision::Q8`].
    Auto,
    /// f32: FLAN-T5-XL takes 11.4 GB.
    F32,
    /// Eight bits with one scale for 32 numbers: FLAN-T5-XL takes 3.3 GB.
    Q8,
}

/// What a T5 wrote.
#[derive(Debug, Clone, PartialEq)]
pub struct T5Reply {
    /// Ids of the tokens, the end token left out.
    pub ids: Vec<u32>,
    /// Their text, without white space around it.
    pub text: String,
    /// Logits of the first token, `[vocabulary]`.
    pub first: Vec<f32>,
}

/// A T5 that judges.
pub struct T5Attributor {
    name: String,
    model: Arc<Model>,
    batcher: Batcher,
}

struct Model {
    network: Network,
    reader: TokenReader,
    /// First tokens of the three labels, where they differ.
    firsts: Option<[usize; 3]>,
}

impl T5Attributor {
    /// Opens the model in folder `dir`: `config.json`, weights (safetensors or `PyTorch`, sharded or not) and
    /// `tokenizer.json`. `name` is its catalog name.
    ///
    /// # Errors
    /// When a file is absent, damaged or unsupported.
    pub fn open(dir: &Path, name: &str, precision: T5Precision) -> Result<Self, ModelError> {
        let config = Config::read(dir)?;
        let reader = TokenReader::open(dir, name, MAX_PROMPT_TOKENS)?;
        if reader.vocabulary() > config.vocabulary {
            return Err(ModelError::damaged(
                &reader.files()[0],
                format!("it knows {} tokens, the model {}", reader.vocabulary(), config.vocabulary),
            ));
        }
        let weights = Weights::open(dir, &[""], "shared.weight")?;
        let mut hash = Sha256::new();
        let mut size = 0;
        for file in weights.files() {
            sampled_digest(file, &mut hash)?;
            size += fs_err::metadata(file).map_err(|e| ModelError::read(file, e))?.len();
        }
        hash.update(PROMPT);
        let digest: String = hex(&hash.finalize()[..4]);
        let quantised = match precision {
            T5Precision::Auto => size >= 2 << 30,
            T5Precision::F32 => false,
            T5Precision::Q8 => true,
        };
        let firsts = first_tokens(&reader)?;
        let network = Network::load(&weights, config, quantised)?;
        let short = name.rsplit(['/', '\\']).find(|part| !part.is_empty()).unwrap_or(name);
        let numbers = if quantised { "8 bit" } else { "f32" };
        Ok(Self {
            name: format!("{short}/1 ({digest}, {numbers})"),
            model: Arc::new(Model { network, reader, firsts }),
            batcher: Batcher::start("scholar-attributor-0", name, QUEUE_TOKENS)?,
        })
    }

    /// Whether the folder holds a T5.
    ///
    /// # Errors
    /// When it has no `config.json` or a damaged one.
    pub fn is_t5(dir: &Path) -> Result<bool, ModelError> {
        Config::is_t5(dir)
    }

    /// What the model writes for `prompt`, on the caller's threads.
    ///
    /// # Errors
    /// When the tokenizer refuses the text or the model cannot compute.
    pub fn reply(&self, prompt: &str) -> Result<T5Reply, ModelError> {
        self.model.reply(prompt)
    }
}

/// The prompt for a pair.
pub fn prompt(claim: &str, reference: &str) -> String {
    // The claim first: a reference that mentions the placeholder stays as it is.
    let (before, after) = PROMPT.trim_end().split_once("{reference}").unwrap_or((PROMPT, ""));
    format!("{}{reference}{after}", before.replace("{claim}", claim))
}

fn first_tokens(reader: &TokenReader) -> Result<Option<[usize; 3]>, ModelError> {
    let mut firsts = [0; 3];
    for (first, label) in firsts.iter_mut().zip([ATTRIBUTABLE, CONTRADICTORY, EXTRAPOLATORY]) {
        let Some(id) = reader.single(label)?.ids.first().copied() else { return Ok(None) };
        *first = id as usize;
    }
    let [a, b, c] = firsts;
    Ok((a != b && b != c && a != c).then_some(firsts))
}

impl Model {
    fn reply(&self, prompt: &str) -> Result<T5Reply, ModelError> {
        let tokens = self.reader.single(prompt)?;
        let (ids, first) = self.network.greedy(&tokens.ids, MAX_REPLY_TOKENS)?;
        let text = self.reader.decode(&ids)?.trim().to_owned();
        Ok(T5Reply { ids, text, first })
    }

    fn judge(&self, claim: &str, reference: &str) -> Result<Judgement, PortError> {
        let reply = self.reply(&prompt(claim, reference))?;
        let probability = self.firsts.map(|firsts| probability(&reply.first, firsts));
        if probability.is_some_and(f32::is_nan) {
            let message = "the judge computed a probability that is not a number";
            return Err(PortError::new(PortErrorKind::Corrupt, message)
                .with_hint("check the model with `openscholar models verify NAME`"));
        }
        tracing::debug!(reply = reply.text, "judged");
        Ok(judgement(&reply.text, probability))
    }
}

/// The softmax of the first label's first token among the three.
fn probability(logits: &[f32], firsts: [usize; 3]) -> f32 {
    let three = firsts.map(|id| logits[id]);
    let most = three.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let [supports, other, third] = three.map(|logit| (logit - most).exp());
    supports / (supports + other + third)
}

/// The decision: the reply must be the label exactly, so that "Attributable." or half a word is no support.
fn judgement(reply: &str, probability: Option<f32>) -> Judgement {
    match reply {
        ATTRIBUTABLE => {
            Judgement { verdict: Verdict::Supported, score: probability.unwrap_or(1.0).max(EVEN) }
        }
        other => {
            let contradicted = other == CONTRADICTORY;
            let verdict = if contradicted { Verdict::Contradicted } else { Verdict::Unsupported };
            Judgement { verdict, score: probability.unwrap_or(0.0).min(EVEN) }
        }
    }
}

/// No score stands on the other side of its verdict.
const EVEN: f32 = 0.5;

#[async_trait]
impl Attributor for T5Attributor {
    fn name(&self) -> &str {
        &self.name
    }

    /// One job for each pair: a pair takes seconds, and whoever stops waiting stops the rest.
    async fn judge(&self, pairs: &[(&str, &str)]) -> Result<Vec<Judgement>, PortError> {
        let mut judged = Vec::with_capacity(pairs.len());
        for (claim, reference) in pairs {
            let model = Arc::clone(&self.model);
            let (claim, reference) = ((*claim).to_owned(), (*reference).to_owned());
            let cost = MAX_PROMPT_TOKENS.min(claim.len() + reference.len());
            judged.push(self.batcher.run(cost, move || model.judge(&claim, &reference)).await??);
        }
        Ok(judged)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_exact_label_is_support() {
        let check = |reply: &str, verdict: Verdict| {
            assert_eq!(judgement(reply, None).verdict, verdict, "{reply}");
        };
        check("Attributable", Verdict::Supported);
        check("Contradictory", Verdict::Contradicted);
        check("Extrapolatory", Verdict::Unsupported);
        for other in ["attributable", "Attributable.", "Attribut", "", "Not Attributable"] {
            check(other, Verdict::Unsupported);
        }
        assert!((judgement("Attributable", None).score - 1.0).abs() < 1e-6);
        assert!(judgement("Extrapolatory", None).score.abs() < 1e-6);
        assert!((judgement("Attributable", Some(0.8)).score - 0.8).abs() < 1e-6);
        assert!((judgement("Attribut", Some(0.8)).score - 0.5).abs() < 1e-6);
    }

    #[test]
    fn the_prompt_holds_both_texts_as_they_are() {
        let text = prompt("Mice {reference} sleep.", "They do {claim}.");
        assert!(text.contains("Claim: Mice {reference} sleep."), "{text}");
        assert!(text.ends_with("Reference: They do {claim}."), "{text}");
        for label in [ATTRIBUTABLE, CONTRADICTORY, EXTRAPOLATORY] {
            assert!(text.contains(label));
        }
    }

    #[test]
    fn the_probability_is_the_share_among_the_labels() {
        let logits = [0.0, 2.0, 9.0, 1.0, 0.0];
        let expected = 2_f32.exp() / (2_f32.exp() + 1_f32.exp() + 1.0);
        assert!((probability(&logits, [1, 3, 4]) - expected).abs() < 1e-6);
    }
}
