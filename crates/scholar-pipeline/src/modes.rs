//! Ways to answer, one module each.

pub mod evidence;
pub(crate) mod generative;
