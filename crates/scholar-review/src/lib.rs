//! ScholarEval: a research idea weighed against the literature, claim by claim.
//!
//! Two modules look at an idea side by side. *Soundness* asks of every method whether published studies support or
//! contradict it; *contribution* asks along every dimension what is new beside the nearest work. Both are told as
//! sentences that cite, each of which went through the gates of [`scholar_pipeline::proof`]. An *appraisal* adds what a referee says
//! of the plan itself, in sentences that name its words and tell of no paper.
//!
//! This crate is *not* for anything that knows a vendor, a file or a clock: it sees the world through
//! [`scholar_pipeline::Ports`]. It is not a judge of people either: a score of the model is kept beside a review and never
//! shown as a verdict on the idea.
//!
//! * [`idea`]: what is reviewed, read from Markdown or plain text;
//! * [`cutoff`]: what may be read, by date and by the guard against the idea's own paper;
//! * [`config`]: every choice, with the presets `paper`, `upstream` and `lean`;
//! * [`mod@review`]: the entry, an idea in and a review out; within it `soundness` and `contribution`, which find papers through
//!   `library` alone and prove their sentences in `statements`, and `appraisal`, which looks at the plan;
//! * [`evidence`]: the same without a model, in the papers' own words;
//! * [`dry`]: what would be asked, without a model;
//! * [`report`]: the result, `openscholar.review/1`;
//! * [`mod@render`]: the result as a document; [`mod@artefacts`]: as the files of the released code.
//!
//! Source: ScholarEval, arXiv 2510.16234.

pub mod answer;
mod appraisal;
pub mod artefacts;
pub mod cite;
pub mod config;
mod contribution;
pub mod cutoff;
mod desk;
pub mod dry;
mod estimate;
pub mod evidence;
mod fit;
pub mod idea;
mod library;
mod number;
pub mod prompts;
pub mod render;
pub mod report;
pub mod review;
mod select;
mod soundness;
mod statements;
pub mod weigh;

pub use artefacts::{Artefact, StepCall, artefacts};
pub use config::{Ablation, ModeWanted, ModulesWanted, ReviewConfig};
pub use cutoff::{Cutoff, DateBound, Guard, LeftOut, Refusal, UnknownDates};
pub use estimate::{ReviewEstimate, estimate};
pub use idea::{Idea, IdeaError, IdeaSection};
pub use render::{ReviewDocument, ReviewParts, render};
pub use report::{
    Appraisal, Basis, Bearing, Comparison, Contribution, Dimension, DimensionComparison,
    DimensionReview, Evidence, EvidenceOrigin, EvidenceTier, Failure, Funnel, ItemState, Measured,
    Method, MethodReview, Module, Novelty, Overlap, PlanPoint, PlanQuote, PointKind, PointWeight,
    PriorWork, REVIEW_SCHEMA, Review, ReviewMode, ReviewModule, ScoredPaper, Soundness, Statement,
    Summarised, Summary,
};
pub use review::{ReviewError, generative, mode_for};
pub use weigh::review;
