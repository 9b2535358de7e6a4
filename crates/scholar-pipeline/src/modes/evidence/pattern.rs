//! The regular expressions of this module: fixed in the code, compiled once.

use regex::{Regex, RegexSet};

/// Compiles a pattern of the code.
pub(crate) fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("the pattern is valid")
}

/// Compiles patterns that are tried together.
pub(crate) fn patterns(texts: &[&str]) -> RegexSet {
    RegexSet::new(texts).expect("the patterns are valid")
}
