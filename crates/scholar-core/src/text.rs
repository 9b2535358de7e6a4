//! Rules of text that several crates share: sentences, words, citation markers, kinds of text, lost spaces, passages,
//! locating quotations.
//!
//! Everything here is pure and total: any Unicode text is accepted, nothing panics, nothing guesses.

pub mod blocks;
pub mod locate;
pub mod lost_spaces;
pub mod markers;
pub mod normalise;
pub mod passages;
pub mod sentences;
pub mod untrusted;
pub mod words;

pub use locate::locate;
pub use passages::PassageRules;
pub use untrusted::untrusted;

/// Two hexadecimal digits for each byte, as digests are written.
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |value: u8| char::from(DIGITS[usize::from(value & 15)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(*byte)]).collect()
}

/// The lines that are ended: what was torn while it was written, perhaps within a character, is behind the last line break.
pub fn whole_lines(bytes: &[u8]) -> &[u8] {
    let end = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    &bytes[..end]
}
