//! Documents, lists and answers from outside of the crate: what goes out comes back, and what is broken breaks nothing.

mod answers;
mod broken;
mod documents;
mod fuzz;
mod hostile;
mod lists;
mod metadata;
mod pages;
mod samples;
mod zotero;
