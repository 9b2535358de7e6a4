//! What counts as proven, and what happens to a sentence that is not.

use scholar_core::Verdict;
use serde::{Deserialize, Serialize};

/// One thing to try with a sentence that failed a gate, in the order of [`ProofConfig::on_unsupported`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Remedy {
    /// Cite another shown passage that passes.
    Reattribute,
    /// Search with the sentence as query and cite a new passage that passes.
    Reretrieve,
    /// Keep the words, take the citations away and say that nothing supports them. Ends the list.
    Weaken,
    /// Take the sentence out. Ends the list.
    Drop,
}

/// What happens to a sentence that claims something and cites nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UncitedRule {
    /// The remedies, as for a failed citation.
    Remedies,
    /// Cite a shown passage that passes; else leave it as it is, without a verdict.
    CiteOrKeep,
    /// Leave it as it is.
    Keep,
}

/// What happens when the judge itself fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JudgeFailure {
    /// The answer stays, its sentences without a verdict, and a notice says so.
    LeaveUnjudged,
    /// The failure is returned.
    Fail,
}

/// Every choice of [`super::prove`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProofConfig {
    /// Least verdict that keeps a sentence: `Supported`, or `Partial` to keep both.
    pub accept: Verdict,
    /// Least score that keeps a sentence, in `[0, 1]`, beside the verdict.
    pub min_score: f32,
    /// Tried in order; when none helps, the sentence stays as it is with the verdict it got.
    pub on_unsupported: Vec<Remedy>,
    /// Sentences that claim something and cite nothing.
    pub uncited: UncitedRule,
    /// Shown passages judged when another citation is looked for, best word overlap first.
    pub reattribute_candidates: usize,
    /// Passages searched for a sentence.
    pub reretrieve_top_k: usize,
    /// Sentences for which a search may be made in one run.
    pub reretrieve_sentences: usize,
    /// What a failing judge means.
    pub judge_failure: JudgeFailure,
}

/// Shown passages judged when another citation is looked for. Ours: the right one is among the first three by overlap.
pub const REATTRIBUTE_CANDIDATES: usize = 3;
/// Passages searched for a sentence. Ours.
pub const RERETRIEVE_TOP_K: usize = 5;
/// Sentences searched for in one run. Ours: a draft with more unproven sentences has another problem.
pub const RERETRIEVE_SENTENCES: usize = 8;

impl ProofConfig {
    /// The default: other passages are tried, then the datastore; what stays unproven says so.
    pub fn standard() -> Self {
        Self {
            accept: Verdict::Supported,
            min_score: 0.0,
            on_unsupported: vec![Remedy::Reattribute, Remedy::Reretrieve, Remedy::Weaken],
            uncited: UncitedRule::CiteOrKeep,
            reattribute_candidates: REATTRIBUTE_CANDIDATES,
            reretrieve_top_k: RERETRIEVE_TOP_K,
            reretrieve_sentences: RERETRIEVE_SENTENCES,
            judge_failure: JudgeFailure::LeaveUnjudged,
        }
    }

    /// Nothing unproven is shown: sentences that no passage supports are dropped, uncited claims included.
    pub fn strict() -> Self {
        let mut config = Self::standard();
        config.on_unsupported = vec![Remedy::Reattribute, Remedy::Reretrieve, Remedy::Drop];
        config.uncited = UncitedRule::Remedies;
        config
    }

    /// For short syntheses over selected evidence: a sentence whose own citations do not support it goes.
    pub fn synthesis() -> Self {
        let mut config = Self::strict();
        config.on_unsupported = vec![Remedy::Drop];
        config
    }

    /// Nothing is changed; verdicts only. Numbers that do not exist are still removed.
    pub fn report_only() -> Self {
        let mut config = Self::standard();
        config.on_unsupported = Vec::new();
        config.uncited = UncitedRule::Keep;
        config
    }

    /// Whether a judgement keeps a sentence.
    pub(super) fn accepts(&self, verdict: Verdict, score: f32) -> bool {
        let accepted = match verdict {
            Verdict::Supported => true,
            Verdict::Partial => self.accept == Verdict::Partial,
            Verdict::Unsupported | Verdict::Contradicted => false,
        };
        accepted && score >= self.min_score
    }
}
