//! Bytes of a text file → characters.

use crate::error::{FormatError, FormatErrorKind};

/// The characters of a text file.
pub(crate) struct Decoded {
    /// The text without a byte order mark.
    pub(crate) text: String,
    /// The encoding it was read in, where that had to be assumed.
    pub(crate) assumed: Option<&'static str>,
}

/// What Windows-1252 has at 0x80..0xA0; the five holes stay control characters.
const WINDOWS: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}',
    '\u{90}', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
];

/// UTF-8, UTF-16 with a byte order mark, else Windows-1252 (of which Latin-1 is a part).
///
/// # Errors
/// When it is larger than `limit` bytes, or holds NUL characters: then it is no text at all.
pub(crate) fn decode(
    bytes: &[u8],
    limit: usize,
    format: &'static str,
) -> Result<Decoded, FormatError> {
    if bytes.len() > limit {
        let message = format!("{} bytes are more than the limit of {limit}", bytes.len());
        return Err(FormatError::new(FormatErrorKind::TooLarge, format, message));
    }
    let decoded = match bytes {
        [0xef, 0xbb, 0xbf, rest @ ..] => eight_bits(rest),
        [0xff, 0xfe, rest @ ..] => sixteen_bits(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => sixteen_bits(rest, u16::from_be_bytes),
        _ => eight_bits(bytes),
    };
    if let Some(at) = decoded.text.find('\0') {
        return Err(FormatError::new(
            FormatErrorKind::Malformed,
            format,
            "this is not a text file",
        )
        .at(format!("byte {at}")));
    }
    Ok(decoded)
}

fn eight_bits(bytes: &[u8]) -> Decoded {
    match std::str::from_utf8(bytes) {
        Ok(text) => Decoded { text: text.to_owned(), assumed: None },
        Err(_) => Decoded {
            text: bytes.iter().map(|byte| windows(*byte)).collect(),
            assumed: Some("Windows-1252"),
        },
    }
}

fn windows(byte: u8) -> char {
    match byte {
        0x80..=0x9f => WINDOWS[usize::from(byte - 0x80)],
        _ => char::from(byte),
    }
}

fn sixteen_bits(bytes: &[u8], join: fn([u8; 2]) -> u16) -> Decoded {
    let units = bytes.chunks_exact(2).map(|pair| join([pair[0], pair[1]]));
    let text = char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER));
    Decoded { text: text.collect(), assumed: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings_are_told_apart() {
        let text = |bytes: &[u8]| decode(bytes, 100, "RIS").map(|decoded| decoded.text);
        assert_eq!(text("\u{feff}Müller".as_bytes()).as_deref(), Ok("Müller"));
        assert_eq!(text(b"M\xfcller \x93x\x94").as_deref(), Ok("Müller “x”"));
        assert_eq!(text(b"\xff\xfeM\0\xfc\0").as_deref(), Ok("Mü"));
        assert_eq!(text(b"\xfe\xff\0M").as_deref(), Ok("M"));
        assert_eq!(text(b"a\0b").map_err(|e| e.kind), Err(FormatErrorKind::Malformed));
        assert_eq!(text(&[b'a'; 101]).map_err(|e| e.kind), Err(FormatErrorKind::TooLarge));
        assert_eq!(decode(b"\xfc", 9, "RIS").map(|d| d.assumed), Ok(Some("Windows-1252")));
    }
}
