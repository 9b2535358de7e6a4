//! Characters as Python's `str` and `re` class them: the published numbers rest on these classes.

pub use scholar_core::text::normalise::is_space;

/// Code points of the digit zero of every decimal system; its nine successors are the other digits.
///
/// Source: Unicode 14, category Nd, which is what `\d` and `int()` accept.
const ZEROS: [u32; 66] = [
    0x30, 0x660, 0x6F0, 0x7C0, 0x966, 0x9E6, 0xA66, 0xAE6, 0xB66, 0xBE6, 0xC66, 0xCE6, 0xD66,
    0xDE6, 0xE50, 0xED0, 0xF20, 0x1040, 0x1090, 0x17E0, 0x1810, 0x1946, 0x19D0, 0x1A80, 0x1A90,
    0x1B50, 0x1BB0, 0x1C40, 0x1C50, 0xA620, 0xA8D0, 0xA900, 0xA9D0, 0xA9F0, 0xAA50, 0xABF0, 0xFF10,
    0x104A0, 0x10D30, 0x11066, 0x110F0, 0x11136, 0x111D0, 0x112F0, 0x11450, 0x114D0, 0x11650,
    0x116C0, 0x11730, 0x118E0, 0x11950, 0x11C50, 0x11D50, 0x11DA0, 0x16A60, 0x16AC0, 0x16B50,
    0x1D7CE, 0x1D7D8, 0x1D7E2, 0x1D7EC, 0x1D7F6, 0x1E140, 0x1E2F0, 0x1E950, 0x1FBF0,
];

/// Value of a decimal digit of any script: `\d`.
pub fn digit(c: char) -> Option<usize> {
    let code = u32::from(c);
    let next = ZEROS.partition_point(|zero| *zero <= code);
    let value = code - ZEROS.get(next.checked_sub(1)?)?;
    (value < 10).then_some(value as usize)
}

/// Letter, digit or underscore: `\w`.
pub fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// `str.split()`: the pieces between runs of white space.
pub fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(is_space).filter(|word| !word.is_empty())
}

/// Python's `str.strip()`: without white space at both ends.
pub fn strip(text: &str) -> &str {
    text.trim_matches(is_space)
}

/// The ASCII punctuation of `string.punctuation`.
pub fn is_punctuation(c: char) -> bool {
    c.is_ascii_punctuation()
}
