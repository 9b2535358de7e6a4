//! One closed list of what happens during a run; progress bars, streams, meters and tests all read it.

use scholar_core::{
    AnswerMode, AnswerSentence, DecidedBy, ExpansionDecision, Notice, Outline, Query, TokenUsage,
    TreeNode,
};
use serde::{Deserialize, Serialize};

use crate::evidence::{Evidence, EvidenceNumber};
use crate::thread::ResolvedBy;

/// A step of a run, in the order in which an observer sees them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// The run began, in this mode.
    Started {
        /// How the answer will be written.
        mode: AnswerMode,
        /// Why this mode was chosen, for people.
        reason: String,
    },
    /// A follow-up question was made one that stands alone.
    Resolved {
        /// The question that is answered.
        question: String,
        /// Who made it.
        by: ResolvedBy,
    },
    /// Queries were made from the question or from feedback.
    Queries {
        /// In the order they are searched.
        queries: Vec<Query>,
    },
    /// One search ended.
    Searched {
        /// What was looked for.
        query: Query,
        /// Name of the retriever.
        source: String,
        /// How many passages came back.
        hits: usize,
    },
    /// The candidates were merged and filtered.
    Pooled {
        /// Before deduplication and filters.
        candidates: usize,
        /// After deduplication, before ranking.
        kept: usize,
    },
    /// The pool was reranked and cut to the passages shown.
    Ranked {
        /// Name of the reranker, or of what ranks without one.
        reranker: String,
        /// The shown passages, best first: the first thing a person can read.
        evidence: Vec<Evidence>,
    },
    /// A model call begins.
    Generating {
        /// What the call is for: `draft`, `feedback`, `edit`, ….
        purpose: String,
        /// The prompt file and the start of its hash, where a prompt file is used.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        prompt: Option<String>,
    },
    /// A piece of model text without response markers; not kept in traces.
    Text {
        /// What the call is for: `draft`, `feedback`, `edit`, ….
        purpose: String,
        /// What the model added.
        delta: String,
    },
    /// A model call ended.
    Generated {
        /// What the call is for: `draft`, `feedback`, `edit`, ….
        purpose: String,
        /// Prompt and completion tokens of the call.
        usage: TokenUsage,
    },
    /// The answer was planned.
    Outlined {
        /// Its sections.
        outline: Outline,
    },
    /// A node of the tree of retrievals is explored.
    NodeBegan {
        /// Its place in the tree: `1.2`.
        id: String,
        /// What is searched for.
        query: String,
    },
    /// The hits of a node were judged: are they enough, or is the citation graph asked?
    NodeDecided {
        /// Its place in the tree.
        id: String,
        /// Papers that its search found.
        papers: usize,
        /// What was decided.
        decision: ExpansionDecision,
        /// By whom.
        by: DecidedBy,
        /// Papers that the citation graph added.
        neighbours: usize,
    },
    /// A node is done; its children are not.
    NodeEnded {
        /// What was found and kept, and why.
        node: Box<TreeNode>,
    },
    /// Answers of children were merged into their parent's.
    Merged {
        /// Place of the parent in the tree; `0` is the answer itself.
        id: String,
        /// How many children had something to tell.
        children: usize,
        /// Passages shown.
        passages: usize,
        /// Citations of numbers that do not exist, which were removed.
        dropped: usize,
        /// The merged text; absent where the call failed and the text before stands.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<String>,
    },
    /// The first draft is there.
    Drafted {
        /// With markers of evidence numbers.
        text: String,
    },
    /// The draft was reviewed.
    Feedback {
        /// Each item and its search question, if it has one.
        items: Vec<(String, Option<String>)>,
    },
    /// A revision was accepted or not.
    Revised {
        /// Which feedback item, from 0.
        item: usize,
        /// Whether the revision replaced the draft.
        accepted: bool,
        /// The rule that decided.
        reason: String,
        /// New evidence brought in.
        new_evidence: Vec<EvidenceNumber>,
        /// The revised text, where it was accepted.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<String>,
    },
    /// A sentence of the answer is ready and proven as far as it will be.
    Sentence {
        /// As it stands in the answer.
        sentence: AnswerSentence,
    },
    /// Citations were verified.
    Verified {
        /// Sentences that keep their citations.
        kept: usize,
        /// Sentences that got other citations.
        reattributed: usize,
        /// Sentences shown as unproven.
        weakened: usize,
        /// Sentences taken out of the answer.
        dropped: usize,
    },
    /// One of several papers that are read one after the other is done: a row of a table, a paper that is screened.
    PaperRead {
        /// How many are done.
        done: usize,
        /// How many there are.
        of: usize,
        /// Its title.
        title: String,
        /// What came of it, in a few words for people.
        result: String,
    },
    /// Something a person should know.
    Noticed {
        /// As it stands in the outcome.
        notice: Notice,
    },
    /// The run is over.
    Finished {
        /// Whether the run abstained from an answer.
        abstained: bool,
    },
}

/// A listener of a run.
pub trait Observer: Send + Sync {
    /// Called in order, from the task that runs the algorithm; must not block.
    fn on_event(&self, event: &Event);
}

/// The listener that does nothing.
impl Observer for () {
    fn on_event(&self, _event: &Event) {}
}
