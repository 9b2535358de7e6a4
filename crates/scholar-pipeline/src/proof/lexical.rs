//! A judge without a model: word overlap, numbers, negation and direction, combined by a logistic function.
//!
//! It sees words, not meaning: it is good at "this passage does not speak of that" and weak at "this passage says
//! otherwise". Its agreement with people is published in `docs/results`.

use async_trait::async_trait;
use scholar_core::text::locate;
use scholar_core::text::markers::strip_citations;
use scholar_core::{Attributor, Judgement, PortError, Verdict};

use super::features::{Features, N_FEATURES, features};

/// Weights of [`super::features::FEATURE_NAMES`].
///
/// Source: fitted by `crates/scholar-bench/examples/fit_lexical.rs` on the training claims of SciFact and of the
/// citation-integrity set, and equally many passages on the same topic that the claim does not cite.
const WEIGHTS: [f32; N_FEATURES] = [
    -3.8964, // bias
    1.2521,  // coverage
    1.5864,  // coverage over one half
    0.9961,  // coverage by one sentence
    -0.1493, // coverage of neighbouring pairs
    -0.1271, // heaviest missing stem
    -0.3131, // share of numbers missing
    -0.4463, // negation on one side only
    -1.3374, // opposite directions
    0.7553,  // content stems (log)
    0.2685,  // evidence stems (log)
    1.0664,  // share of the evidence used
];

/// Probability from which the evidence is said to support. Source: same fit, highest balanced accuracy in training.
const SUPPORTED: f32 = 0.5;
/// Probability from which it is said to support in part. Source: same fit.
const PARTIAL: f32 = 0.4;
/// Share of the sentence found in one evidence sentence, and of that sentence in it, from which an opposite negation or
/// direction contradicts. Source: in training, of pairs with an opposite and three quarters of the sentence found only
/// half were contradicted, so the two must nearly be copies.
const COPY_COVERAGE: (f32, f32) = (0.9, 0.6);
/// Share of the sentence found from which an opposite negation or direction forbids calling it supported. Ours: in
/// training as many of these pairs are contradicted as supported, and a wrong "supported" is the worse mistake.
const OPPOSITE_COVERAGE: f32 = 0.75;
/// Probability given to a sentence that stands in the evidence word for word.
const VERBATIM: f32 = 0.99;

/// Judges support by the words that sentence and evidence share; needs no model.
#[derive(Debug, Clone, Copy, Default)]
pub struct LexicalAttributor;

impl LexicalAttributor {
    /// The only one there is.
    pub fn new() -> Self {
        Self
    }
}

/// Its verdict on one pair.
pub fn judge_pair(sentence: &str, evidence: &str) -> Judgement {
    if is_verbatim(sentence, evidence) {
        return Judgement { verdict: Verdict::Supported, score: VERBATIM };
    }
    let seen = features(sentence, evidence);
    let score = probability(&seen, &WEIGHTS);
    let Features { values, best_coverage, negation_differs, direction_differs } = seen;
    let opposite = negation_differs != direction_differs;
    let used = values[N_FEATURES - 1];
    if opposite && best_coverage >= COPY_COVERAGE.0 && used >= COPY_COVERAGE.1 {
        return Judgement { verdict: Verdict::Contradicted, score: score.min(1.0 - SUPPORTED) };
    }
    let verdict = if score >= SUPPORTED && !(opposite && best_coverage >= OPPOSITE_COVERAGE) {
        Verdict::Supported
    } else if score >= PARTIAL {
        Verdict::Partial
    } else {
        Verdict::Unsupported
    };
    Judgement { verdict, score }
}

/// Whether the sentence stands in the evidence word for word.
pub(super) fn is_verbatim(sentence: &str, evidence: &str) -> bool {
    locate(&strip_citations(sentence), evidence).is_some()
}

/// `1 / (1 + e^-(w·x))`.
pub fn probability(features: &Features, weights: &[f32; N_FEATURES]) -> f32 {
    let sum: f32 = features.values.iter().zip(weights).map(|(value, weight)| value * weight).sum();
    1.0 / (1.0 + (-sum).exp())
}

#[async_trait]
impl Attributor for LexicalAttributor {
    fn name(&self) -> &'static str {
        "lexical/1"
    }

    async fn judge(&self, pairs: &[(&str, &str)]) -> Result<Vec<Judgement>, PortError> {
        Ok(pairs.iter().map(|(sentence, evidence)| judge_pair(sentence, evidence)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_follow_the_words() {
        let evidence = "Vitamin D supplementation reduced tumour growth in 120 old mice [3].";
        let check = |sentence: &str, verdict: Verdict| {
            let judgement = judge_pair(sentence, evidence);
            assert_eq!(judgement.verdict, verdict, "{sentence} {judgement:?}");
            assert!((0.0..=1.0).contains(&judgement.score));
        };
        check(
            "Vitamin D supplementation reduced tumour growth in 120 old mice [0].",
            Verdict::Supported,
        );
        check(
            "Tumour growth in old mice was reduced by vitamin D supplementation [1].",
            Verdict::Supported,
        );
        check(
            "Vitamin D supplementation did not reduce tumour growth in 120 old mice.",
            Verdict::Contradicted,
        );
        check(
            "Vitamin D supplementation increased tumour growth in 120 old mice.",
            Verdict::Contradicted,
        );
        check("Graph transformers translate German.", Verdict::Unsupported);
        assert_eq!(judge_pair("", "").verdict, Verdict::Unsupported);
    }
}
