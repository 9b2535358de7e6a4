//! Rules of text that several crates share: sentences, words, citation markers, passages, locating quotations.
//!
//! Everything here is pure and total: any Unicode text is accepted, nothing panics, nothing guesses.

pub mod locate;
pub mod markers;
pub mod normalise;
pub mod passages;
pub mod sentences;
pub mod words;

pub use locate::locate;
pub use passages::PassageRules;
