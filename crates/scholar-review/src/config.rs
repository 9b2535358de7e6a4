//! Every choice of a review, with the presets of its source and ours.
//!
//! The resolved configuration is written beside every run.

use scholar_core::{Sampling, SearchFilter, SearchMode, Verdict};
use scholar_pipeline::budget::Budget;
use scholar_pipeline::config::{AskConfig, CallSampling};
use scholar_pipeline::proof::{JudgeFailure, ProofConfig, Remedy, UncitedRule};
use serde::{Deserialize, Serialize};

use crate::cutoff::Cutoff;

/// How the review shall be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModeWanted {
    /// Generative with a strong generator, evidence with a small one or none.
    Auto,
    /// By the model, checked in code.
    Generative,
    /// By rules and the trained heads; nothing is written that no paper says.
    Evidence,
}

/// Which modules run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModulesWanted {
    /// Side by side.
    Both,
    /// Whether the literature supports the methods.
    Soundness,
    /// What is new beside the nearest work.
    Contribution,
}

impl ModulesWanted {
    /// Whether soundness is asked for.
    pub fn soundness(self) -> bool {
        matches!(self, Self::Both | Self::Soundness)
    }

    /// Whether contribution is asked for.
    pub fn contribution(self) -> bool {
        matches!(self, Self::Both | Self::Contribution)
    }
}

/// Who words the search of a method or a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QueriesBy {
    /// The model, in a call of its own for each.
    OwnCall,
    /// The model, in the same reply that lists them. Ours: saves a call each.
    SameReply,
}

/// How far soundness looks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SoundnessConfig {
    /// Methods reviewed, the most important first; `None` is no limit.
    pub max_methods: Option<usize>,
    /// Who words their searches.
    pub queries: QueriesBy,
    /// Passages searched for one method.
    pub snippets: usize,
    /// Papers cited by the one that a passage is of, the most cited first, that are read too. 0 reads none.
    pub references_per_hit: usize,
    /// Papers read for one method; those found first stay. `None` is no limit.
    pub papers_per_method: Option<usize>,
    /// Passages of one paper that are read: those of method and result sections, half of each.
    pub passages_per_paper: usize,
    /// Only sections whose heading has a number count, as in the released code.
    pub numbered_sections: bool,
    /// Papers summarised in one call.
    pub papers_per_summary: usize,
    /// A summary none of whose texts is longer, in characters, is none.
    pub summary_chars_min: usize,
}

/// How far contribution looks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ContributionConfig {
    /// Dimensions compared along.
    pub max_dimensions: usize,
    /// Statements of one dimension.
    pub statements_per_dimension: usize,
    /// Who words the searches.
    pub queries: QueriesBy,
    /// Searches of one statement.
    pub queries_per_statement: usize,
    /// Papers of one search.
    pub papers_per_query: usize,
    /// Papers scored in the first pass, those found most often and first before the others; `None` is no limit.
    pub scored_papers: Option<usize>,
    /// Papers scored in one call.
    pub papers_per_relevance: usize,
    /// Least relevance, 0 to 5, of a seed and of a compared paper.
    pub relevance_min: u8,
    /// Seeds from which others are found, the most relevant first; `None` is no limit.
    pub seeds: Option<usize>,
    /// Nearest papers of one seed.
    pub recommended_per_seed: usize,
    /// Whether papers that are cited together with a seed are recommended, too. Source: specification C3.
    #[serde(default)]
    pub co_citations: bool,
    /// Papers cited by one seed.
    pub references_per_seed: usize,
    /// New papers that are scored: those nearest to the idea by their vectors.
    pub embed_top_k: usize,
    /// Papers compared with the idea.
    pub sample: usize,
    /// Papers compared in one call.
    pub papers_per_comparison: usize,
}

/// Temperature and reply limit of every kind of call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReviewSampling {
    /// Methods, and dimensions with statements.
    pub extract: CallSampling,
    /// Search queries.
    pub query: CallSampling,
    /// What papers did and found.
    pub summary: CallSampling,
    /// The review of one method.
    pub review: CallSampling,
    /// The summary above the reviews.
    pub tldr: CallSampling,
    /// How near papers are.
    pub relevance: CallSampling,
    /// Comparison of papers with the idea.
    pub compare: CallSampling,
    /// Strengths, weaknesses and suggestions by dimension.
    pub synthesis: CallSampling,
    /// Points about the plan itself.
    #[serde(default = "appraisal")]
    pub appraisal: CallSampling,
    /// Nucleus of all calls.
    pub top_p: f32,
    /// Fixes the draw where the engine allows it.
    pub seed: Option<u64>,
}

impl ReviewSampling {
    /// Parameters for the generator.
    pub fn of(&self, call: CallSampling) -> Sampling {
        let CallSampling { temperature, max_tokens } = call;
        Sampling { temperature, top_p: self.top_p, seed: self.seed, max_tokens, stop: Vec::new() }
    }
}

/// Steps that are left out, to measure what they are worth. Source: paper, ablation study.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ablation {
    /// Reads and summarises no papers for a method: the passages that the search found go into the review as they are.
    pub mre: bool,
    /// Adds no papers to those that searches found.
    pub pa: bool,
    /// Compares no paper with the idea: the most relevant ones go into the synthesis as they are.
    pub pc: bool,
}

/// Every choice of one review.
///
/// Source of the numbers: arXiv 2510.16234 and its released code; "ours" where so said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReviewConfig {
    /// How it is written.
    pub mode: ModeWanted,
    /// Which modules run.
    pub modules: ModulesWanted,
    /// What may be read; `None` reads everything but the idea's own paper.
    pub cutoff: Option<Cutoff>,
    /// How far soundness looks.
    pub soundness: SoundnessConfig,
    /// How far contribution looks.
    pub contribution: ContributionConfig,
    /// Most points about the plan itself; 0 asks for none, as the source does.
    #[serde(default)]
    pub appraisal_points: usize,
    /// Longest prompt in characters: texts of papers are cut to fit, which is told. `None` is no limit.
    #[serde(default)]
    pub prompt_chars: Option<usize>,
    /// Steps left out.
    pub ablation: Ablation,
    /// Which indexes are asked.
    pub search_mode: SearchMode,
    /// Calls and searches of one module under way at once.
    pub concurrency: usize,
    /// What counts as proven.
    pub proof: ProofConfig,
    /// How tokens are drawn.
    pub sampling: ReviewSampling,
    /// What the run may use.
    pub budget: Budget,
}

/// Passages searched for a method. Source: paper; the released code asks for [`UPSTREAM_SNIPPETS`].
pub const SNIPPETS: usize = 20;
/// Passages that the released code searches for a method.
pub const UPSTREAM_SNIPPETS: usize = 8;
/// Longest text, in characters, of a reply that says nothing. Source: released code, tuned to its own placeholder.
pub const SUMMARY_CHARS_MIN: usize = 43;
/// Most words of a method's query. Source: paper.
pub const QUERY_WORDS: usize = 70;
/// The most calls of the generator that [`ReviewConfig::lean`] makes for an idea.
pub const LEAN_CALLS: u64 = 60;
/// Of these, calls that are kept for the appraisal, which comes last: one, and one to ask again.
const APPRAISAL_CALLS: u64 = 2;
/// Longest prompt of [`ReviewConfig::lean`], in characters. Ours: models read the middle of longer ones worse.
pub const PROMPT_CHARS: usize = 30_000;
/// Points about the plan itself that [`ReviewConfig::lean`] asks for. Ours.
pub const APPRAISAL_POINTS: usize = 24;

impl ReviewConfig {
    /// The paper's choices; where it is silent, the released code's, with the limits of specification B4.1.
    pub fn paper() -> Self {
        let call = |temperature, max_tokens| CallSampling { temperature, max_tokens };
        Self {
            mode: ModeWanted::Auto,
            modules: ModulesWanted::Both,
            cutoff: None,
            soundness: SoundnessConfig {
                max_methods: None,
                queries: QueriesBy::OwnCall,
                snippets: SNIPPETS,
                references_per_hit: 10,
                papers_per_method: None,
                passages_per_paper: 24,
                numbered_sections: false,
                papers_per_summary: 1,
                summary_chars_min: SUMMARY_CHARS_MIN,
            },
            contribution: ContributionConfig {
                max_dimensions: 7,
                statements_per_dimension: 4,
                queries: QueriesBy::OwnCall,
                queries_per_statement: 3,
                papers_per_query: 20,
                scored_papers: None,
                papers_per_relevance: 1,
                relevance_min: 3,
                seeds: None,
                recommended_per_seed: 8,
                co_citations: true,
                references_per_seed: 10,
                embed_top_k: 100,
                sample: 25,
                papers_per_comparison: 1,
            },
            appraisal_points: 0,
            prompt_chars: None,
            ablation: Ablation::default(),
            search_mode: SearchMode::Hybrid,
            concurrency: 4,
            proof: proof(),
            sampling: ReviewSampling {
                extract: call(0.1, 4000),
                query: call(0.3, 300),
                summary: call(0.3, 2000),
                review: call(0.3, 3000),
                tldr: call(0.2, 1500),
                relevance: call(0.0, 1500),
                compare: call(0.3, 3000),
                synthesis: call(0.3, 4000),
                appraisal: appraisal(),
                top_p: 0.95,
                seed: None,
            },
            budget: Budget::unlimited(),
        }
    }

    /// What the released code does: 8 passages a method, numbered sections only, no limit on dimensions. The bound of its
    /// dates is that of the cut-off given, which the command line makes inclusive.
    pub fn upstream() -> Self {
        let mut config = Self::paper();
        config.soundness.snippets = UPSTREAM_SNIPPETS;
        config.soundness.numbered_sections = true;
        config.contribution.max_dimensions = usize::MAX;
        config.contribution.statements_per_dimension = usize::MAX;
        config
    }

    /// Ours: at most [`LEAN_CALLS`] calls an idea, enforced by the budget. Six methods and five dimensions, queries in the
    /// reply that lists them, several papers a call; and points about the plan itself.
    pub fn lean() -> Self {
        let mut config = Self::paper();
        config.soundness = SoundnessConfig {
            max_methods: Some(6),
            queries: QueriesBy::SameReply,
            snippets: SNIPPETS,
            references_per_hit: 2,
            papers_per_method: Some(8),
            passages_per_paper: 4,
            papers_per_summary: 8,
            ..config.soundness
        };
        config.contribution = ContributionConfig {
            max_dimensions: 5,
            statements_per_dimension: 2,
            queries: QueriesBy::SameReply,
            queries_per_statement: 2,
            papers_per_query: 10,
            scored_papers: Some(60),
            papers_per_relevance: 12,
            seeds: Some(6),
            recommended_per_seed: 4,
            references_per_seed: 4,
            embed_top_k: 24,
            sample: 15,
            papers_per_comparison: 5,
            ..config.contribution
        };
        config.appraisal_points = APPRAISAL_POINTS;
        config.prompt_chars = Some(PROMPT_CHARS);
        config.budget.max_calls = Some(LEAN_CALLS);
        config.budget.reserved_calls = APPRAISAL_CALLS;
        config
    }

    /// The preset of that name.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "paper" => Some(Self::paper()),
            "upstream" => Some(Self::upstream()),
            "lean" => Some(Self::lean()),
            _ => None,
        }
    }

    /// What the stages shared with `ask` are told: the gates and their searches, which obey `filter`.
    pub fn ask(&self, filter: SearchFilter) -> AskConfig {
        let mut config = AskConfig::report();
        config.retrieval.filter = filter;
        config.retrieval.search_mode = self.search_mode;
        config.proof = self.proof.clone();
        config.sampling.top_p = self.sampling.top_p;
        config.sampling.seed = self.sampling.seed;
        config.budget = self.budget;
        config
    }
}

/// Names of the presets, the one used unasked first.
pub const PRESETS: [&str; 3] = ["lean", "paper", "upstream"];

/// Of settings from before there were appraisals, too.
fn appraisal() -> CallSampling {
    CallSampling { temperature: 0.3, max_tokens: 8000 }
}

/// Every citation must pass, other passages of the same evidence are tried, nothing is searched anew: what fails then is left out
/// by the caller, which counts it.
fn proof() -> ProofConfig {
    ProofConfig {
        accept: Verdict::Supported,
        on_unsupported: vec![Remedy::Reattribute],
        uncited: UncitedRule::Remedies,
        judge_failure: JudgeFailure::LeaveUnjudged,
        ..ProofConfig::standard()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presets_survive_being_written_beside_a_run() {
        for name in PRESETS {
            let config = ReviewConfig::named(name).expect("a preset");
            let text = serde_json::to_string(&config).expect("serialises");
            assert_eq!(serde_json::from_str::<ReviewConfig>(&text).expect("reads"), config);
        }
        assert_eq!(ReviewConfig::named("report"), None);
        // A run from before there were appraisals is replayed as it was.
        let mut value = serde_json::to_value(ReviewConfig::lean()).expect("serialises");
        value.as_object_mut().expect("an object").remove("appraisal_points");
        value["sampling"].as_object_mut().expect("an object").remove("appraisal");
        let old: ReviewConfig = serde_json::from_value(value).expect("reads");
        assert_eq!(old, ReviewConfig { appraisal_points: 0, ..ReviewConfig::lean() });
        let (paper, upstream) = (ReviewConfig::paper(), ReviewConfig::upstream());
        assert_eq!((paper.soundness.snippets, upstream.soundness.snippets), (20, 8));
        assert!(upstream.soundness.numbered_sections && !paper.soundness.numbered_sections);
        assert_eq!((paper.contribution.sample, paper.contribution.relevance_min), (25, 3));
        assert_eq!(ReviewConfig::lean().budget.max_calls, Some(60));
    }
}
