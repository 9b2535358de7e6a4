//! Screening for systematic reviews: how much reading an order of papers saves, and how well criteria are decided.
//!
//! - [`work_saved`]: work saved over sampling at 95 % recall (WSS@95) of an order, with [`simulate`] for an order that learns from
//!   the decisions made so far;
//! - [`PairsReport`]: findings of a screener beside labels of pairs of a paper and a criterion.
//!
//! Source: Cohen et al., "Reducing workload in systematic review preparation using automated citation classification", JAMIA 2006.

mod data;
mod pairs;
mod report;
mod wss;

pub use data::{Half, LabelledPair, PairsError, Topic, TopicError, read_pairs, topic_papers};
pub use pairs::{DecidedPair, PairsReport, agreement};
pub use report::{
    PapersDecided, TopicRow, markdown_of_pairs, markdown_of_papers, markdown_of_topics,
};
pub use wss::{RECALL, Saved, random_work_saved, simulate, work_saved};
