//! Half-open ranges of Unicode scalar values.

use serde::{Deserialize, Serialize};

/// `start..end` in characters (Unicode scalar values, not bytes) of a named text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct CharSpan {
    /// Number of the first character (Unicode scalar value), from 0.
    pub start: usize,
    /// One past the last character.
    pub end: usize,
}

impl CharSpan {
    /// The characters `start..end`; `end` is exclusive.
    pub fn new(start: usize, end: usize) -> Self {
        Self { start, end }
    }

    /// Number of Unicode characters, not bytes.
    pub fn len(self) -> usize {
        self.end.saturating_sub(self.start)
    }

    /// Whether the span covers nothing.
    pub fn is_empty(self) -> bool {
        self.end <= self.start
    }

    /// The characters of `text` this span covers, or `None` if it reaches past the end.
    pub fn slice(self, text: &str) -> Option<&str> {
        let start = byte_of_char(text, self.start)?;
        let end = start + byte_of_char(&text[start..], self.end.checked_sub(self.start)?)?;
        Some(&text[start..end])
    }

    /// The character span of the byte range `start..end` of `text`; both must lie on character boundaries.
    pub fn of_bytes(text: &str, start: usize, end: usize) -> Self {
        let before = text[..start].chars().count();
        Self { start: before, end: before + text[start..end].chars().count() }
    }
}

/// Byte offset of character `n`, `None` past the end; `n == len` gives the length in bytes.
fn byte_of_char(text: &str, n: usize) -> Option<usize> {
    text.char_indices().map(|(byte, _)| byte).chain([text.len()]).nth(n)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_by_characters_not_bytes() {
        let text = "naïve α-helix";
        assert_eq!(CharSpan::new(0, 5).slice(text), Some("naïve"));
        assert_eq!(CharSpan::new(6, 13).slice(text), Some("α-helix"));
        assert_eq!(CharSpan::new(6, 14).slice(text), None);
        let at = text.find('α').expect("present");
        assert_eq!(CharSpan::of_bytes(text, at, text.len()), CharSpan::new(6, 13));
    }
}
