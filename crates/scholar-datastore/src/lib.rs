//! Papers in, passages out: ingestion, one store with a lexical and a dense index, hybrid search that explains itself.
//!
//! A datastore is a directory. tantivy holds papers, passages, the lexical index, filters and citation edges; vectors
//! lie beside it in immutable dense segments. One tantivy commit makes both visible, because the list of dense segments
//! is the commit's payload ([`manifest`]). One writer at a time, any number of readers, in any number of processes.
//!
//! ```text
//! <datastore>/
//!   datastore.json          format version, encoder, passage rules; written once
//!   writer.lock             held by the writer, names it
//!   lexical/                tantivy index; meta.json's payload is the manifest
//!   dense/dense-000000.vec  f16 rows in the order of their ordinals, header with checksum
//!   dense/dense-000000.ivf  inverted index of a large segment
//! ```
//!
//! This crate is *not* for anything that opens a socket or runs a model: encoders come in as
//! [`scholar_core::Encoder`].

mod damage;
pub mod dense;
pub mod descriptor;
pub mod error;
pub mod export;
pub mod files;
pub mod filter;
pub mod graph;
pub mod ingest;
mod layout;
pub mod lexical;
pub mod library;
pub mod manifest;
mod mapped;
pub mod merge;
pub mod npy;
pub mod precomputed;
pub mod repair;
pub mod schema;
mod seal;
pub mod search;
pub mod store;
mod titles;
pub mod writer;

pub use dense::ivf::{Bits, Probe};
pub use dense::merge::MergePolicy;
pub use dense::scan::DenseSearch;
pub use descriptor::{BuildRules, Descriptor};
pub use error::Error;
pub use graph::Graph;
pub use library::Resolution;
pub use merge::MergeSource;
pub use precomputed::PrecomputedPassages;
pub use repair::{RepairReport, RepairSource};
pub use search::fusion::Fusion;
pub use search::group::{GroupMember, GroupRetriever};
pub use search::pool::SearchPool;
pub use search::{HybridRetriever, SearchConfig};
pub use store::Datastore;
pub use store::filtered::FilterEffect;
pub use store::info::{DatastoreInfo, SourceCount};
pub use store::recorded::StoredWork;
pub use store::verify::{Depth, VerifyReport};
pub use writer::{
    AddOptions, AddProgress, AddReport, CompactOptions, CompactReport, DatastoreLock,
    DatastoreWriter, Duplicate, DuplicateReason, Offered, PaperVectors, Revision, WriterCheck,
    lock,
};
