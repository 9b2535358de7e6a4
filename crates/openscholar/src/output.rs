//! How answers look: for people, for programs, for reference managers.

pub(crate) mod bibliography;
pub(crate) mod document;
pub(crate) mod markdown;
