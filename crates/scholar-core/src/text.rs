//! Rules of text that several crates share: sentences, words, citation markers, passages, locating quotations.
