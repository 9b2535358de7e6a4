//! How answers look: for people, for programs, for reference managers.

pub(crate) mod added;
pub(crate) mod csv;
pub(crate) mod document;
pub(crate) mod export;
pub(crate) mod graph_svg;
pub(crate) mod json;
pub(crate) mod markdown;
pub(crate) mod review;
pub(crate) mod table;
