//! Screening of papers for a systematic review: each paper against each criterion, with a located quotation.
//!
//! 1. [`Criteria`] are what the review asks for: a title and criteria, each of which a paper must meet or must not.
//! 2. Without a language model ([`EvidenceScreener`]) signs of each criterion in title and passages ([`CriterionSigns`]) become a
//!    probability that it is met ([`CriterionModel`]); two thresholds make it met, not met or unclear.
//! 3. With one ([`GenerativeScreener`]) one structured call per paper asks about all criteria; what it quotes must be in the paper.
//! 4. [`overall`] makes the decision on the paper: excluded by the first criterion that excludes it, included if all include it,
//!    else unclear. A paper without text is unclear.
//! 5. [`rank()`] orders the papers, the likeliest first; [`Relevance`] learns from the decisions that a person has made.
//! 6. [`FlowCounts`] are the numbers of a PRISMA 2020 flow diagram.
//!
//! Unclear is the safe answer throughout: what is excluded wrongly is lost to the review, what is unclear is read by a person.
//!
//! Source: ours; the flow diagram is that of Page et al., "The PRISMA 2020 statement", BMJ 2021.

mod bm25;
mod criteria;
mod decision;
mod design;
mod evidence;
mod flow;
mod generative;
mod model;
mod paper;
mod rank;
mod relevance;
mod screened;
mod signs;

pub use criteria::{Criteria, CriteriaError, Criterion, CriterionKind};
pub use decision::{
    Basis, CriterionDecision, Decision, Finding, PaperDecision, ScreenQuote, overall,
};
pub use evidence::{EvidenceScreener, Screened};
pub use flow::{Duplicate, FlowCounts, Identity, duplicates};
pub use generative::{GENERATIVE_PURPOSE, GenerativeScreener};
pub use model::{CriterionModel, Thresholds};
pub use paper::ScreenPaper;
pub use rank::{RankedBy, Ranking, RankingQuery, rank};
pub use relevance::Relevance;
pub use screened::{Decider, PersonDecision, Ranked, RankedPaper, ScreenedPaper, Screening};
pub use signs::CriterionSigns;
