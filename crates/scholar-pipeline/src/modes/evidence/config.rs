//! Every choice of an evidence-first answer.

use serde::{Deserialize, Serialize};

/// Probability from which a paper is taken to answer: that from which there is an answer at all. On the development questions of
/// `docs/results/answerable-questions.tsv`, cross-fitted, 86 % are answered from here, and 85 % of near ones abstained from
/// (`tests/evidence/fit_papers.py`).
pub(crate) const SURE: f32 = 0.5;

/// Which sentences may be shown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SentenceRules {
    /// Fewest words of a sentence.
    pub min_words: usize,
    /// Most words of a sentence.
    pub max_words: usize,
    /// Most words of a sentence together with the one before it that explains its `This`.
    pub max_joined_words: usize,
    /// Most sentences that are encoded, those of the best passages first.
    pub max_candidates: usize,
}

/// Which papers are shown, and how much of them is read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PaperRules {
    /// Most papers shown.
    pub max_papers: usize,
    /// Probability that a paper answers the question from which it is shown beside the best one.
    pub show_from: f32,
    /// The same as a share of the best paper's probability.
    pub show_share: f32,
    /// Most papers shown beside an abstention: what comes nearest.
    #[serde(default = "PaperRules::most_nearest")]
    pub nearest: usize,
    /// Probability from which a paper is shown there.
    #[serde(default = "PaperRules::nearest_from")]
    pub nearest_from: f32,
    /// The same as a share of the nearest one's.
    #[serde(default = "PaperRules::nearest_share")]
    pub nearest_share: f32,
    /// Best-ranked papers whose abstract is read even where another passage was found.
    pub abstracts: usize,
    /// Best-ranked papers that are read whole where their title matches the question.
    pub whole: usize,
    /// Most passages read of such a paper.
    pub max_passages: usize,
}

impl PaperRules {
    /// Ours: a screen holds six papers with two sentences each; a trial has about twenty passages.
    pub fn digest() -> Self {
        Self {
            max_papers: 8,
            show_from: 0.25,
            show_share: 0.4,
            nearest: Self::most_nearest(),
            nearest_from: Self::nearest_from(),
            nearest_share: Self::nearest_share(),
            abstracts: 15,
            whole: 3,
            max_passages: 40,
        }
    }

    fn most_nearest() -> usize {
        3
    }

    /// Of the first 16 questions of `docs/results/answers/everyday-questions.tsv` 14 end in an abstention; 9 of these have a paper that
    /// answers, by its title, among the nearest from here, 5 from 0.1. By the weights of decision 0026 27 of the 120 off-topic
    /// questions of `docs/results/answerable-questions.tsv` have any, at 0.1 13.
    fn nearest_from() -> f32 {
        0.05
    }

    /// By the weights before decision 0026: of 132 questions in everyday words that ended in an abstention 65 had the paper they
    /// were written after among 187 nearest ones without it, 61 have it among 135.
    fn nearest_share() -> f32 {
        0.5
    }
}

/// Which sentences of a paper are shown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LineRules {
    /// Most sentences of one paper.
    pub per_paper: usize,
    /// Most sentences of the whole.
    pub max_sentences: usize,
    /// Probability that a reader takes it for an answer from which a sentence is shown.
    pub from: f32,
    /// The same of a second one of its paper.
    pub further_from: f32,
    /// Two sentences more alike than this (cosine, or shared stems without an encoder) say the same.
    pub redundancy: f32,
}

impl LineRules {
    /// Ours: a conclusion and a key result a paper.
    pub fn digest() -> Self {
        Self { per_paper: 2, max_sentences: 12, from: 0.3, further_from: 0.4, redundancy: 0.85 }
    }
}

/// The survey that a broad question gets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SurveyRules {
    /// Most papers read for it, the most probable ones; 0 for no survey.
    pub papers: usize,
    /// Probability that a paper answers the question from which it is read: many answer only a part.
    pub from: f32,
    /// The same as a share of the best paper's probability, where that is sure to answer.
    pub share: f32,
    /// And where it is not.
    pub share_unsure: f32,
    /// Least share of what the question names that some paper mentions, for a survey.
    pub named: f32,
    /// Least share of that, for a paper to be read.
    pub of_most: f32,
    /// Probability from which a paper is read although it mentions less.
    pub sure: f32,
    /// Least share of what some paper mentions in a sentence that tells a limit beside what is asked for.
    pub own: f32,
    /// Fewest papers quoted; with fewer the question is answered like any other.
    pub fewest_papers: usize,
    /// Fewest papers that make an open question one for a survey, whatever its wording.
    pub many: usize,
    /// Least share of what the question names that each of them mentions.
    pub many_mention: f32,
    /// Most papers quoted for what the question asks for.
    pub asked: usize,
    /// Most papers quoted for each other facet.
    pub beside: usize,
}

impl SurveyRules {
    /// Ours: about a screen. Set by reading the surveys of `docs/results/answers/broad-questions.tsv`, the sets before broad-5.
    pub fn digest() -> Self {
        Self {
            papers: 16,
            from: 0.02,
            share: 0.06,
            share_unsure: 0.15,
            named: 0.5,
            of_most: 0.4,
            sure: 0.2,
            own: 0.25,
            fewest_papers: 3,
            many: 6,
            many_mention: 0.7,
            asked: 6,
            beside: 3,
        }
    }
}

/// How the checks in code search for what is missing.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CheckRules {
    /// Most rounds of checks; 0 switches them off.
    pub rounds: usize,
    /// Passages kept per search.
    pub top_k: usize,
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

impl SynthesisRules {
    /// A few sentences above a digest. Readers found that it repeats or distorts, so no preset has it.
    pub fn short() -> Self {
        Self {
            max_sentences: 5,
            max_prompt_tokens: 1_200,
            max_reply_tokens: 260,
            min_support: 0.5,
            min_similarity: 0.5,
        }
    }
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
    /// Which papers are shown.
    #[serde(default = "PaperRules::digest")]
    pub papers: PaperRules,
    /// Which of their sentences.
    #[serde(default = "LineRules::digest")]
    pub lines: LineRules,
    /// How what is missing is searched for.
    pub checks: CheckRules,
    /// Where the passages come from: what speaks for an answer is weighed accordingly.
    #[serde(default)]
    pub evidence_is: EvidenceIs,
    /// What a broad question gets; `None` to answer it like any other.
    #[serde(default)]
    pub survey: Option<SurveyRules>,
    /// Probability that the best paper answers the question below which there is no answer.
    pub abstain_below: f32,
    /// What the model, if there is one, may write above the digest; `None` for nothing.
    #[serde(default)]
    pub synthesis: Option<SynthesisRules>,
}

impl EvidenceConfig {
    /// A digest of about a screen, without any call of a model. All numbers ours; `docs/deviations.md` says how they were
    /// found.
    pub fn digest() -> Self {
        Self {
            sentences: SentenceRules {
                min_words: 6,
                max_words: 70,
                max_joined_words: 80,
                max_candidates: 700,
            },
            papers: PaperRules::digest(),
            lines: LineRules::digest(),
            checks: CheckRules { rounds: 2, top_k: 20 },
            evidence_is: EvidenceIs::Found,
            survey: Some(SurveyRules::digest()),
            abstain_below: SURE,
            synthesis: None,
        }
    }

    /// The digest of a few passages that people chose for the question.
    pub fn given() -> Self {
        Self { evidence_is: EvidenceIs::Given, survey: None, ..Self::digest() }
    }

    /// The digest below a synthesis by the model.
    pub fn with_synthesis() -> Self {
        Self { synthesis: Some(SynthesisRules::short()), ..Self::digest() }
    }
}
