//! What every mode writes with: the draft, labels, inserted citations and the list of references.

pub(crate) mod citations;
pub(crate) mod draft;
pub(crate) mod label;
pub(crate) mod references;
