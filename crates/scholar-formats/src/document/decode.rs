//! Bytes to text, as XML and HTML declare their encoding.

use std::borrow::Cow;

use crate::error::{FormatError, FormatErrorKind};

/// Windows-1252 between 0x80 and 0x9F, where it differs from Latin-1. Browsers read Latin-1 this way too.
const WINDOWS_1252: [char; 32] = [
    '\u{20ac}', '\u{81}', '\u{201a}', '\u{192}', '\u{201e}', '\u{2026}', '\u{2020}', '\u{2021}',
    '\u{2c6}', '\u{2030}', '\u{160}', '\u{2039}', '\u{152}', '\u{8d}', '\u{17d}', '\u{8f}',
    '\u{90}', '\u{2018}', '\u{2019}', '\u{201c}', '\u{201d}', '\u{2022}', '\u{2013}', '\u{2014}',
    '\u{2dc}', '\u{2122}', '\u{161}', '\u{203a}', '\u{153}', '\u{9d}', '\u{17e}', '\u{178}',
];

/// Text of `bytes`: a byte order mark decides, else the encoding declared in the first kilobyte, else UTF-8. Bytes that
/// are no UTF-8 become U+FFFD.
///
/// # Errors
/// [`FormatErrorKind::Unsupported`] names a declared encoding that is neither UTF-8, UTF-16, Latin-1 nor Windows-1252.
pub(crate) fn text_of<'a>(
    bytes: &'a [u8],
    format: &'static str,
) -> Result<Cow<'a, str>, FormatError> {
    if let Some(rest) = bytes.strip_prefix(b"\xef\xbb\xbf") {
        return Ok(String::from_utf8_lossy(rest));
    }
    if let Some(rest) = bytes.strip_prefix(b"\xff\xfe") {
        return Ok(Cow::Owned(utf16(rest, u16::from_le_bytes)));
    }
    if let Some(rest) = bytes.strip_prefix(b"\xfe\xff") {
        return Ok(Cow::Owned(utf16(rest, u16::from_be_bytes)));
    }
    match declared(bytes).as_deref() {
        None | Some("utf-8" | "utf8" | "us-ascii" | "ascii") => Ok(String::from_utf8_lossy(bytes)),
        Some("iso-8859-1" | "latin1" | "latin-1" | "iso-8859-15" | "windows-1252" | "cp1252") => {
            Ok(Cow::Owned(bytes.iter().map(|&byte| windows_1252(byte)).collect()))
        }
        // Declared in ASCII bytes, so it cannot be UTF-16: what wrote the declaration converted the text afterwards.
        Some("utf-16" | "utf-16le" | "utf-16be") => Ok(String::from_utf8_lossy(bytes)),
        Some(other) => Err(FormatError::new(
            FormatErrorKind::Unsupported,
            format,
            format!("the encoding {other:?} is not known"),
        )
        .with_hint("convert the file to UTF-8")),
    }
}

/// [`text_of`] a file that is text throughout.
///
/// # Errors
/// As [`text_of`], and [`FormatErrorKind::Malformed`] for a NUL, which no text has.
pub(crate) fn plain_text_of<'a>(
    bytes: &'a [u8],
    format: &'static str,
) -> Result<Cow<'a, str>, FormatError> {
    let text = text_of(bytes, format)?;
    if text.contains('\0') {
        let message = "the file contains bytes that are not text";
        return Err(FormatError::new(FormatErrorKind::Malformed, format, message));
    }
    Ok(text)
}

fn windows_1252(byte: u8) -> char {
    match byte {
        0x80..=0x9f => WINDOWS_1252[usize::from(byte - 0x80)],
        _ => char::from(byte),
    }
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> String {
    let units = bytes.chunks_exact(2).map(|pair| unit([pair[0], pair[1]]));
    char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
}

/// The value of `encoding="…"` or `charset=…` in the first kilobyte, lower-case.
fn declared(bytes: &[u8]) -> Option<String> {
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(1024)]).to_ascii_lowercase();
    let xml = head.trim_start().starts_with("<?xml");
    let (from, end) = if xml { ("encoding", head.find("?>")?) } else { ("charset", head.len()) };
    let after = head[..end].find(from)? + from.len();
    let value = head[after..end].trim_start().strip_prefix('=')?.trim_start();
    let value = value.trim_start_matches(['"', '\'']);
    let stop = value.find(|c: char| !(c.is_ascii_alphanumeric() || "-_.".contains(c)))?;
    Some(value[..stop].to_owned()).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_declared_encoding_is_used_and_an_unknown_one_is_named() {
        let latin = b"<?xml version='1.0' encoding='ISO-8859-1'?><a>\xe9\x96</a>";
        assert!(text_of(latin, "JATS").expect("known").ends_with("<a>\u{e9}\u{2013}</a>"));
        let wide: Vec<u8> =
            "\u{feff}<a>\u{e9}</a>".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(text_of(&wide, "JATS").expect("known"), "<a>\u{e9}</a>");
        let html = b"<html><head><meta charset=\"windows-1252\"></head>\x80";
        assert!(text_of(html, "HTML").expect("known").ends_with('\u{20ac}'));
        let error = text_of(b"<?xml version='1.0' encoding='shift_jis'?><a/>", "JATS")
            .expect_err("unknown");
        assert!(error.message.contains("shift_jis"), "{error}");
        assert_eq!(text_of(b"plain charset talk", "text").expect("utf-8"), "plain charset talk");
    }
}
