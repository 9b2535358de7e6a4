//! Reading papers from files, line by line in bounded memory.
//!
//! Every format is JSON lines, plain or compressed (`.gz`, `.zst`). A line that cannot be used is counted, reported
//! with its number and written to a [`RejectLog`], never dropped in silence; too many of them, or compressed data that
//! ends early, end the reading with an error that names file and line.
//!
//! | format | rows |
//! |---|---|
//! | [`Format::Papers`] | one [`scholar_core::Paper`] each: our own |
//! | [`Format::Pes2o`] | peS2o v1 to v3 |
//! | [`Format::Beir`] | `_id`, `title`, `text`, `metadata` |
//! | [`Format::OpenAlex`] | OpenAlex works |
//! | [`Format::S2Papers`] … [`Format::S2Orc`] | Semantic Scholar's dumps, which [`S2Join`] puts together |
//! | [`Format::Acl`] | ACL Anthology metadata with abstracts |
//! | [`Format::Arxiv`] | arXiv metadata with abstracts |
//! | [`Format::Pmc`] | `PubMed` Central full texts in sections |
//! | a [`FieldMap`] | anything else |

mod decode;
mod fields;
mod format;
pub(crate) mod lines;
mod openalex;
mod options;
mod parse;
mod reader;
mod rejects;
mod rows;
mod semantic;
mod shard;
mod utf16;

pub(crate) use decode::broken_off;
pub(crate) use options::{LineCounts, judge_share};

pub use fields::{FieldMap, FieldMapError};
pub use format::{Format, UnknownFormatName};
pub use options::{HEAD_LINES, Limits, ReadOptions, Rows};
pub use reader::{Numbered, PaperReader, ReadReport, Reject, format_of};
pub use rejects::{RejectLog, RejectRow};
pub use semantic::{S2Join, S2Report, is_dump};
pub use shard::{FilePart, Shard, ShardError, parts};

#[cfg(test)]
mod tests;
