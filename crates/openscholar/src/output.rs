//! How answers look: for people, for programs, for reference managers.

pub(crate) mod document;
pub(crate) mod export;
pub(crate) mod markdown;
