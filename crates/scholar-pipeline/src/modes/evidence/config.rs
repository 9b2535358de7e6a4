//! Every choice of an evidence-first answer.

use serde::{Deserialize, Serialize};

/// When the model is asked for search queries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelQueries {
    /// Never: queries are made in code.
    Never,
    /// Once, when a term of the question is still uncovered after the first round. A prompt costs seconds on a laptop, so the
    /// common case goes without.
    WhenUncovered,
}

/// Which sentences may be shown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SentenceRules {
    /// Fewest words of a sentence.
    pub min_words: usize,
    /// Most words of a sentence.
    pub max_words: usize,
    /// Most words of a sentence together with the one before it that explains its `This`.
    pub max_joined_words: usize,
    /// Most sentences that are encoded, best by words first.
    pub max_candidates: usize,
}

/// How sentences are weighed; the four weights sum to 1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ScoreWeights {
    /// Similarity to the question and coverage of its terms.
    pub relevance: f32,
    /// Rank of the passage.
    pub rank: f32,
    /// Numbers, findings, comparisons, place in the paper.
    pub informative: f32,
    /// Year and citations of the paper.
    pub standing: f32,
}

/// How the digest is composed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DigestShape {
    /// Most sentences of the whole.
    pub max_sentences: usize,
    /// Most parts with a heading.
    pub max_facets: usize,
    /// Most sentences of one paper in one part.
    pub per_paper_and_facet: usize,
    /// Most sentences of one paper.
    pub per_paper: usize,
    /// Sentences with a relevance below this share of that of the most relevant few are left out.
    pub relevance_share: f32,
    /// Two sentences more alike than this (cosine, or shared stems without an encoder) say the same.
    pub redundancy: f32,
    /// Weight of similarity to what is chosen already, against a sentence's own score.
    pub diversity: f32,
}

/// How the checks in code search for what is missing.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CheckRules {
    /// Most rounds of checks; 0 switches them off.
    pub rounds: usize,
    /// Passages kept per search.
    pub top_k: usize,
    /// When the model makes queries.
    pub model_queries: ModelQueries,
}

/// What the small model may write.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SynthesisRules {
    /// Most sentences of the whole.
    pub max_sentences: usize,
    /// Most tokens of the prompt.
    pub max_prompt_tokens: usize,
    /// Most tokens of the reply.
    pub max_reply_tokens: usize,
    /// Lowest probability of support, by the attributor, of a sentence that is kept.
    pub min_support: f32,
    /// Least similarity, 0 to 1, of two findings that are worth one sentence. At 0.4 neighbours of the subject are joined that
    /// have nothing to say to each other; seen on a handful of answers, not measured.
    #[serde(alias = "least_likeness")]
    pub min_similarity: f32,
}

/// Where the passages come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EvidenceIs {
    /// Searched for: many, the best of which may still be about something else.
    #[default]
    Found,
    /// Chosen for the question by people: few.
    Given,
}

/// Every choice of one [`super::digest()`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EvidenceConfig {
    /// Which sentences may be shown.
    pub sentences: SentenceRules,
    /// How they are weighed.
    pub weights: ScoreWeights,
    /// How the digest is composed.
    pub shape: DigestShape,
    /// How what is missing is searched for.
    pub checks: CheckRules,
    /// Where the passages come from: what speaks for an answer is weighed accordingly.
    #[serde(default)]
    pub evidence_is: EvidenceIs,
    /// Probability that the evidence answers the question below which there is no answer.
    pub abstain_below: f32,
    /// Whether the model, if there is one, titles the parts.
    pub headings: bool,
    /// What the model, if there is one, may write above the digest; `None` for nothing.
    pub synthesis: Option<SynthesisRules>,
}

impl EvidenceConfig {
    /// A digest of about a screen. All numbers ours; `docs/deviations.md` says how they were found.
    pub fn digest() -> Self {
        Self {
            sentences: SentenceRules {
                min_words: 8,
                max_words: 60,
                max_joined_words: 70,
                max_candidates: 220,
            },
            weights: ScoreWeights {
                relevance: 0.48,
                rank: 0.13,
                informative: 0.35,
                standing: 0.04,
            },
            shape: DigestShape {
                max_sentences: 12,
                max_facets: 5,
                per_paper_and_facet: 2,
                per_paper: 2,
                relevance_share: 0.7,
                redundancy: 0.85,
                diversity: 0.25,
            },
            checks: CheckRules { rounds: 3, top_k: 20, model_queries: ModelQueries::WhenUncovered },
            evidence_is: EvidenceIs::Found,
            abstain_below: 0.4,
            headings: true,
            synthesis: Some(SynthesisRules {
                max_sentences: 5,
                max_prompt_tokens: 1_200,
                max_reply_tokens: 260,
                min_support: 0.5,
                min_similarity: 0.5,
            }),
        }
    }

    /// The digest of a few passages that people chose for the question.
    pub fn given() -> Self {
        Self { evidence_is: EvidenceIs::Given, ..Self::digest() }
    }

    /// The digest without any call of a model.
    pub fn without_model() -> Self {
        let mut config = Self::digest();
        config.checks.model_queries = ModelQueries::Never;
        config.headings = false;
        config.synthesis = None;
        config
    }
}
