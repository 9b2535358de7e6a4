//! Every choice of a run, with the presets that reproduce a source.
//!
//! The structures are grouped by stage; each stage destructures its group in full, so that a setting nobody reads is a
//! compiler warning. All of it is serialisable: the resolved configuration is written beside every run.

use scholar_core::{AnswerMode, Query, Sampling, SearchFilter, SearchMode, SearchRequest};
use serde::{Deserialize, Serialize};

mod overrides;
pub mod scirag;

pub use overrides::{SettingError, Settings};

use crate::budget::Budget;
use crate::modes::evidence::config::EvidenceConfig;
use crate::proof::config::{ProofConfig, Remedy};
use crate::thread::Thread;
use scirag::SciragConfig;

/// How the answer shall be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModeChoice {
    /// Generative with a strong generator, evidence-first with a small one or none.
    Auto,
    /// This mode, whatever the generator.
    #[serde(untagged)]
    Named(AnswerMode),
}

impl From<AnswerMode> for ModeChoice {
    fn from(mode: AnswerMode) -> Self {
        Self::Named(mode)
    }
}

/// What kind of text is asked for. Names and groups follow `ScholarQABench`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Task {
    /// A long answer over many papers.
    Default,
    /// `true` or `false` with the citation that decides (SciFact).
    ClaimFull,
    /// `yes` or `no` with the citation that decides (PubMedQA).
    BooleanQuestionFull,
    /// Sentence-level answer from the paragraphs of one paper (QASA).
    SinglePaperQa,
    /// A related-work section for an abstract.
    Summarization,
    /// `true` or `false`, the deciding paragraph is given.
    ClaimGold,
    /// `true` or `false` without any passage.
    ClaimNoContext,
    /// `yes` or `no`, the deciding paragraph is given.
    BooleanQuestionGold,
    /// `yes` or `no` without any passage.
    BooleanQuestionNoContext,
}

impl Task {
    /// The two answers of a classification task, positive first.
    pub fn labels(self) -> Option<[&'static str; 2]> {
        match self {
            Self::ClaimFull | Self::ClaimGold | Self::ClaimNoContext => Some(["true", "false"]),
            Self::BooleanQuestionFull
            | Self::BooleanQuestionGold
            | Self::BooleanQuestionNoContext => Some(["yes", "no"]),
            Self::Default | Self::SinglePaperQa | Self::Summarization => None,
        }
    }

    /// Whether passages are retrieved and shown.
    pub fn uses_passages(self) -> bool {
        !matches!(self, Self::ClaimNoContext | Self::BooleanQuestionNoContext)
    }
}

/// Which of two equal candidates stays, and what makes them equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DedupRule {
    /// Same paper and same 200 folded characters; the record that knows more stays, at the first one's place.
    Richest,
    /// Same 100 characters of text and same title; the last stays, at the first one's place.
    Upstream,
}

/// How passages of one paper are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CapRule {
    /// At most `max_per_paper` of one paper.
    Paper,
    /// By title, and one more than `max_per_paper`; all untitled passages count as one paper.
    Upstream,
}

/// What happens to a raw score before the citation bonus.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScoreTransform {
    /// Nothing: the raw logit, as published.
    None,
    /// `1 / (1 + e^-x)`, so that a bonus in `[0, 1]` weighs as much as the score.
    Sigmoid,
}

/// How candidates are found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RetrievalConfig {
    /// Keyword queries asked of the generator; 0 searches the question alone, which is always searched.
    pub keywords: usize,
    /// Most passages that one search returns.
    pub top_k: usize,
    /// Which indexes are asked.
    pub search_mode: SearchMode,
    /// Which papers may be used.
    pub filter: SearchFilter,
    /// Searches that run at once.
    pub concurrency: usize,
    /// What is a duplicate.
    pub dedup: DedupRule,
}

impl RetrievalConfig {
    /// A search for `query` where and as the whole run searches, for `top_k` passages.
    pub fn request(&self, query: &Query, top_k: usize) -> SearchRequest {
        SearchRequest {
            query: query.clone(),
            top_k,
            mode: self.search_mode,
            filter: self.filter.clone(),
        }
    }
}

/// How candidates become evidence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RankingConfig {
    /// Passages shown to the writer.
    pub top_n: usize,
    /// Passages of one paper among them; `None` is no limit.
    pub max_per_paper: Option<usize>,
    /// How they are counted.
    pub cap: CapRule,
    /// Fewest citations; obeyed only if more than `top_n` candidates have them.
    pub min_citations: Option<u32>,
    /// Adds `citations / max citations of the pool` to the scores of a cross-encoder; other rerankers' scores have other
    /// scales and stay as they are.
    pub norm_cite: bool,
    /// What happens to a raw score first.
    pub score_transform: ScoreTransform,
    /// The reranker reads title, abstract and passage, where the pool holds the paper's abstract.
    pub use_abstract: bool,
}

/// Whether a prompt carries its worked example.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Demonstrations {
    /// One for [`Task::ClaimFull`] and [`Task::BooleanQuestionFull`], none elsewhere.
    Paper,
    /// Zero-shot for every task.
    Never,
    /// One wherever the prompt has one.
    Always,
}

/// Temperature and reply limit of one kind of call.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CallSampling {
    /// 0 takes the most likely token.
    pub temperature: f32,
    /// Longest reply in the model's tokens.
    pub max_tokens: usize,
}

/// Sampling of every kind of call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SamplingPlan {
    /// The draft, and the whole answer of the baselines.
    pub answer: CallSampling,
    /// Feedback on the draft.
    pub feedback: CallSampling,
    /// Revisions by one feedback item.
    pub edit: CallSampling,
    /// One line or sentence of post-hoc attribution.
    pub posthoc: CallSampling,
    /// Search queries from a question.
    pub keywords: CallSampling,
    /// Nucleus; 1 is off.
    pub top_p: f32,
    /// Fixes the draws where the engine allows it.
    pub seed: Option<u64>,
}

impl SamplingPlan {
    /// The sampling of one call.
    pub(crate) fn of(&self, call: CallSampling) -> Sampling {
        let CallSampling { temperature, max_tokens } = call;
        Sampling { temperature, top_p: self.top_p, seed: self.seed, max_tokens, stop: Vec::new() }
    }
}

/// How feedback items are read from a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FeedbackParser {
    /// Items over several lines, bullets, bold and a missing last newline are understood.
    Lenient,
    /// The pattern of the reference code: one line each, the last needs its newline.
    Upstream,
}

/// What the passages found for a feedback item are ranked by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RankNewBy {
    /// The item's own search question.
    FeedbackQuestion,
    /// The question of the run.
    Question,
}

/// The self-feedback loop of generative mode.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FeedbackConfig {
    /// Items worked through, in order; 0 switches the loop off.
    pub items: usize,
    /// How items are read.
    pub parser: FeedbackParser,
    /// Items with a question search the datastore; without this they only edit.
    pub retrieve: bool,
    /// Keyword queries asked of the generator per item; 0 searches the item's question alone.
    pub keywords: usize,
    /// What new passages are ranked by.
    pub rank_new_by: RankNewBy,
    /// A revision must have more than this share of the current text's code points.
    pub acceptance_ratio: f64,
}

/// Which text gets citations inserted after the loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PosthocMode {
    /// Every line of at least ten characters.
    All,
    /// Lines without a citation.
    Uncited,
    /// Sentences without a citation.
    Sentence,
    /// No text: citations stay as drafted.
    None,
}

/// The form of a long answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerForm {
    /// Paragraphs, as published; what is not proven says so in words.
    Paper,
    /// A short answer, parts by facet, a table where studies compare, limits; every sentence has a role, and what is not
    /// proven is repaired.
    Report,
}

/// What an answer in [`AnswerForm::Report`] is written from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WritingPlan {
    /// The passages: a draft, feedback, one revision.
    Draft,
    /// Quotations of the passages, ordered into an outline.
    Quotes,
}

/// How long an answer in [`AnswerForm::Report`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerLength {
    /// 350 to 550 words.
    Short,
    /// 900 to 1,300 words.
    Medium,
    /// 1,600 to 2,200 words.
    Long,
}

impl AnswerLength {
    /// Fewest and most words of the sentences; table and references do not count. Ours: a medium answer is read in five
    /// minutes.
    pub fn words(self) -> std::ops::RangeInclusive<usize> {
        match self {
            Self::Short => 350..=550,
            Self::Medium => 900..=1300,
            Self::Long => 1600..=2200,
        }
    }
}

/// How the long answers of generative mode are written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WritingConfig {
    /// Their form. The other choices are those of [`AnswerForm::Report`].
    pub form: AnswerForm,
    /// What they are written from.
    pub plan: WritingPlan,
    /// How long they are.
    pub length: AnswerLength,
    /// Sentences that the one call for repair may be asked about; 0 repairs nothing.
    pub repair_sentences: usize,
    /// Passages that it is shown.
    pub repair_passages: usize,
}

/// Sentences repaired in one call. Ours: more of them is a draft to be written again.
pub const REPAIR_SENTENCES: usize = 14;
/// Passages shown to the call for repair. Ours: as many as a draft reads, and two found for gaps.
pub const REPAIR_PASSAGES: usize = 12;

impl WritingConfig {
    /// The published form.
    pub fn paper() -> Self {
        Self { form: AnswerForm::Paper, ..Self::report() }
    }

    /// Ours, by a draft.
    pub fn report() -> Self {
        Self {
            form: AnswerForm::Report,
            plan: WritingPlan::Draft,
            length: AnswerLength::Medium,
            repair_sentences: REPAIR_SENTENCES,
            repair_passages: REPAIR_PASSAGES,
        }
    }
}

/// Every choice of one [`crate::ask()`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AskConfig {
    /// How the answer is written.
    pub mode: ModeChoice,
    /// What is asked for.
    pub task: Task,
    /// How candidates are found.
    pub retrieval: RetrievalConfig,
    /// How candidates become evidence.
    pub ranking: RankingConfig,
    /// Whether prompts carry examples.
    pub demonstrations: Demonstrations,
    /// How tokens are drawn.
    pub sampling: SamplingPlan,
    /// The self-feedback loop of generative mode.
    pub feedback: FeedbackConfig,
    /// The form of long answers of generative mode. Runs recorded before there was a choice have the paper's.
    #[serde(default = "WritingConfig::paper")]
    pub writing: WritingConfig,
    /// Which text gets citations inserted, in generative mode and [`AnswerForm::Paper`].
    pub posthoc: PosthocMode,
    /// What counts as proven. Its searches are `retrieval`'s.
    pub proof: ProofConfig,
    /// Passages an evidence-first answer selects its sentences from; it reads more than `ranking.top_n`.
    pub evidence_pool: usize,
    /// Evidence-first answers. Their searches are `retrieval`'s.
    pub evidence: EvidenceConfig,
    /// The tree of retrievals of `SciRAG` mode. Runs recorded before there was one have the paper's.
    #[serde(default = "SciragConfig::paper")]
    pub scirag: SciragConfig,
    /// What a follow-up question follows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<Thread>,
    /// What the run may use.
    pub budget: Budget,
}

/// Passages kept per search. Source: arXiv 2411.14199, §2.1; the Nature article says [`NATURE_TOP_K`].
pub const TOP_K: usize = 100;
/// Passages kept per search in the Nature article's methods.
pub const NATURE_TOP_K: usize = 70;
/// Passages shown for multi-paper questions. Source: both papers.
pub const TOP_N: usize = 10;
/// Passages shown for single-paper tasks. Source: both papers.
pub const SINGLE_PAPER_TOP_N: usize = 5;
/// Passages of one paper among those shown. Source: both papers.
pub const MAX_PER_PAPER: usize = 3;
/// Passages shown to the first answer of `SciRAG`. Source: released code.
pub const SCIRAG_TOP_N: usize = 8;
/// Nucleus of `SciRAG`'s calls. Source: released code.
pub const SCIRAG_TOP_P: f32 = 0.95;
/// Feedback items worked through. Source: both papers.
pub const FEEDBACK_ITEMS: usize = 3;
/// A revision shorter than this share of the text is refused. Source: reference code, `src/open_scholar.py::run`.
pub const ACCEPTANCE_RATIO: f64 = 0.9;
/// Longest reply that is a whole report: 2,200 words with marks and a table.
pub const REPORT_TOKENS: usize = 4500;
/// Passages read for an evidence-first answer. Ours.
pub const EVIDENCE_POOL: usize = 50;
/// Searches at once. Ours.
pub const SEARCH_CONCURRENCY: usize = 4;

impl AskConfig {
    /// The papers' choices; where they are silent, ours (`docs/deviations.md`).
    pub fn paper() -> Self {
        let call = |temperature, max_tokens| CallSampling { temperature, max_tokens };
        Self {
            mode: ModeChoice::Auto,
            task: Task::Default,
            retrieval: RetrievalConfig {
                keywords: 3,
                top_k: TOP_K,
                search_mode: SearchMode::Hybrid,
                filter: SearchFilter::none(),
                concurrency: SEARCH_CONCURRENCY,
                dedup: DedupRule::Richest,
            },
            ranking: RankingConfig {
                top_n: TOP_N,
                max_per_paper: Some(MAX_PER_PAPER),
                cap: CapRule::Paper,
                min_citations: None,
                norm_cite: true,
                score_transform: ScoreTransform::None,
                use_abstract: false,
            },
            demonstrations: Demonstrations::Paper,
            sampling: SamplingPlan {
                answer: call(0.7, 3000),
                feedback: call(0.7, 1000),
                edit: call(0.7, 3000),
                posthoc: call(0.7, 1000),
                keywords: call(0.1, 1000),
                top_p: 1.0,
                seed: None,
            },
            feedback: FeedbackConfig {
                items: FEEDBACK_ITEMS,
                parser: FeedbackParser::Lenient,
                retrieve: true,
                keywords: 0,
                rank_new_by: RankNewBy::FeedbackQuestion,
                acceptance_ratio: ACCEPTANCE_RATIO,
            },
            writing: WritingConfig::paper(),
            posthoc: PosthocMode::Uncited,
            proof: ProofConfig::standard(),
            evidence_pool: EVIDENCE_POOL,
            evidence: EvidenceConfig::digest(),
            scirag: SciragConfig::lean(),
            thread: None,
            budget: Budget::unlimited(),
        }
    }

    /// [`AskConfig::paper`] with long answers in our form ([`AnswerForm::Report`]): what `ask` does unasked.
    pub fn report() -> Self {
        let mut config = Self::paper();
        config.writing = WritingConfig::report();
        config.sampling.answer.max_tokens = REPORT_TOKENS;
        config.sampling.edit.max_tokens = REPORT_TOKENS;
        config
    }

    /// A tree of retrievals by `scirag`, whose long answers have our form. Source: specification A2, eight passages for the
    /// first answer, searched for with the question itself.
    pub fn scirag(scirag: SciragConfig, task: Task) -> Self {
        let mut config = match task {
            Task::SinglePaperQa => Self::single_paper_task(task),
            _ => Self::report(),
        };
        config.mode = AnswerMode::Scirag.into();
        config.task = task;
        config.retrieval.keywords = 0;
        if task != Task::SinglePaperQa {
            config.ranking.top_n = SCIRAG_TOP_N;
        }
        config.sampling.top_p = SCIRAG_TOP_P;
        config.scirag = scirag;
        config
    }

    /// [`AskConfig::paper`] with the 70 candidates per search of the Nature article.
    pub fn nature() -> Self {
        let mut config = Self::paper();
        config.retrieval.top_k = NATURE_TOP_K;
        config
    }

    /// The papers' choices for tasks over one paper: five passages, all of which may come from it, searched for with the
    /// question alone, and one draft. In generative mode the loop runs as for other tasks.
    pub fn single_paper_task(task: Task) -> Self {
        let mut config = Self::paper();
        config.mode = AnswerMode::SinglePass.into();
        config.task = task;
        config.retrieval.keywords = 0;
        config.ranking.top_n = SINGLE_PAPER_TOP_N;
        config.ranking.max_per_paper = None;
        config.proof.on_unsupported = vec![Remedy::Reattribute, Remedy::Weaken];
        config
    }

    /// What the reference code does with its README's flags, its defects included where they change numbers.
    pub fn upstream() -> Self {
        let mut config = Self::paper();
        config.retrieval.search_mode = SearchMode::Dense;
        config.retrieval.keywords = 0;
        config.retrieval.dedup = DedupRule::Upstream;
        config.ranking.cap = CapRule::Upstream;
        config.demonstrations = Demonstrations::Never;
        config.sampling.feedback.max_tokens = 2000;
        config.sampling.keywords.temperature = 0.9;
        config.feedback.parser = FeedbackParser::Upstream;
        config.feedback.keywords = 3;
        config.feedback.rank_new_by = RankNewBy::Question;
        config.posthoc = PosthocMode::All;
        config.proof = ProofConfig::report_only();
        config
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presets_survive_being_written_beside_a_run() {
        let presets = [
            AskConfig::paper(),
            AskConfig::nature(),
            AskConfig::report(),
            AskConfig::single_paper_task(Task::SinglePaperQa),
            AskConfig::upstream(),
        ];
        for config in presets {
            let text = serde_json::to_string(&config).expect("serialises");
            assert_eq!(serde_json::from_str::<AskConfig>(&text).expect("reads"), config);
        }
        let mut recorded = serde_json::to_value(AskConfig::paper()).expect("serialises");
        recorded.as_object_mut().expect("a table").remove("writing");
        let earlier: AskConfig = serde_json::from_value(recorded).expect("reads");
        assert_eq!(earlier, AskConfig::paper(), "runs of earlier versions have the paper's form");
        let paper = AskConfig::paper();
        assert_eq!((paper.retrieval.top_k, AskConfig::nature().retrieval.top_k), (100, 70));
        assert_eq!((paper.ranking.top_n, paper.ranking.max_per_paper), (10, Some(3)));
        assert_eq!(AskConfig::single_paper_task(Task::ClaimFull).ranking.top_n, 5);
        assert_eq!((paper.feedback.items, paper.sampling.feedback.max_tokens), (3, 1000));
    }
}
