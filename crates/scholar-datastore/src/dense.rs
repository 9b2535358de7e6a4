//! The dense index: immutable segments of f16 vectors, searched exactly.
//!
//! A passage document carries the ordinal of its vector; a segment holds the ordinals `first .. first + count`. The
//! scan walks the passages of the lexical index and looks their vectors up, so deletions and filters cost nothing
//! extra. Vectors are stored as the encoder made them: raw inner product for unnormalised encoders, cosine for others.
//!
//! Source: the original's exact flat index: rows in f16, sums in f32.

mod alone;
pub mod file;
pub(crate) mod header;
pub mod ivf;
pub mod kernel;
pub(crate) mod merge;
pub(crate) mod ordinals;
pub(crate) mod passing;
mod present;
pub mod scan;
pub mod segment_writer;
pub(crate) mod vectors;

pub use alone::{Neighbour, StandaloneIndex};
pub use file::DenseSegment;
pub use kernel::Kernel;
pub(crate) use segment_writer::SegmentWriter;
