//! One file per command.

pub(crate) mod ask;
pub(crate) mod bench;
pub(crate) mod cli_docs;
pub(crate) mod completions;
pub(crate) mod datastore;
pub(crate) mod doctor;
pub(crate) mod models;
pub(crate) mod papers;
pub(crate) mod review;
pub(crate) mod runs;
pub(crate) mod search;
pub(crate) mod serve;
pub(crate) mod train;
