//! LaTeX's ways of writing characters, in both directions.

pub(crate) mod decode;
pub(crate) mod encode;
pub(crate) mod symbols;
