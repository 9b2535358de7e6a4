//! What the readers of replies share: errors that quote the field, rows of which one may be broken, text out of markup.

use jiff::civil::Date;
use scholar_core::text::normalise::nfc_single_spaced;
use scholar_core::{Notice, NoticeKind, PaperId, PaperMeta};
use serde::Deserialize;
use serde_json::Value;

/// Why a reply is no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReplyError {
    /// It does not have the promised shape; the text quotes the place.
    #[error("{0}")]
    Shape(String),
    /// The provider says in its own words, and with the status of a success, that it does not answer.
    #[error("{0}")]
    Refused(String),
}

impl ReplyError {
    pub(crate) fn shape(what: impl Into<String>) -> Self {
        Self::Shape(what.into())
    }
}

/// Reads JSON; the error names the path of the field that is not as promised.
pub(crate) fn json<'de, T: Deserialize<'de>>(bytes: &'de [u8]) -> Result<T, ReplyError> {
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    serde_path_to_error::deserialize(&mut deserializer)
        .map_err(|error| ReplyError::Shape(misfit(&error)))
}

/// Which field of a reply is not as promised, and how; of a reply that is of another kind altogether, how.
pub(crate) fn misfit(error: &serde_path_to_error::Error<serde_json::Error>) -> String {
    let path = error.path().to_string();
    if path == "." {
        return format!("its reply has another shape than promised: {}", error.inner());
    }
    format!("the field `{path}` of its reply: {}", error.inner())
}

/// Reads one value of a list; the error names the path of the field that is not as promised.
pub(crate) fn value<'de, T: Deserialize<'de>>(value: Value) -> Result<T, String> {
    serde_path_to_error::deserialize(value).map_err(|error| {
        let path = error.path().to_string();
        if path == "." {
            return format!("it has another shape than promised: {}", error.inner());
        }
        format!("the field `{path}`: {}", error.inner())
    })
}

/// The rows that can be read. One broken row costs itself and a notice that quotes it; if all are broken, the reply is.
///
/// # Errors
/// [`ReplyError::Shape`] with the first reason when there are rows and none can be read.
pub(crate) fn rows<R, T>(
    who: &str,
    rows: Vec<R>,
    read: impl Fn(R) -> Result<T, String>,
) -> Result<(Vec<T>, Vec<Notice>), ReplyError> {
    let total = rows.len();
    let mut good = Vec::with_capacity(total);
    let mut bad = Vec::new();
    for (at, row) in rows.into_iter().enumerate() {
        match read(row) {
            Ok(row) => good.push(row),
            Err(reason) => bad.push(format!("result {at}: {reason}")),
        }
    }
    let Some(first) = bad.first() else { return Ok((good, Vec::new())) };
    if good.is_empty() {
        return Err(ReplyError::shape(first));
    }
    let count = bad.len();
    let message = format!("{who}: {count} of {total} results could not be read: {first}");
    Ok((good, vec![Notice::new(NoticeKind::Skipped, message)]))
}

/// A year that a paper can have.
pub(crate) fn valid_year(year: i64) -> Option<i16> {
    i16::try_from(year).ok().filter(|year| (1000..=2999).contains(year))
}

/// The day at the beginning of `2024-05-06` or `2024-05-06T07:08:09Z`.
pub(crate) fn day(text: &str) -> Option<Date> {
    text.trim().get(..10)?.parse().ok()
}

/// Adds an identifier and the one it is equal to by definition, unless the paper has it.
pub(crate) fn add_id(meta: &mut PaperMeta, id: PaperId) {
    let twin = id.twin();
    for id in [Some(id), twin].into_iter().flatten() {
        if meta.id != id && !meta.external_ids.contains(&id) {
            meta.external_ids.push(id);
        }
    }
}

/// The text of a fragment of HTML or JATS: tags gone (those of blocks leave a space), references resolved, single spaces.
pub(crate) fn plain(markup: &str) -> String {
    let mut out = String::with_capacity(markup.len());
    let mut rest = markup;
    while let Some(at) = rest.find(['<', '&']) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let taken = if rest.starts_with('<') { tag(rest) } else { reference(rest) };
        match taken {
            Some((length, text)) => {
                out.push_str(&text);
                rest = &rest[length..];
            }
            None => {
                out.push_str(&rest[..1]);
                rest = &rest[1..];
            }
        }
    }
    out.push_str(rest);
    nfc_single_spaced(&out)
}

/// Tags that stand inside of words and leave no space behind.
const INLINE: [&str; 14] = [
    "i",
    "b",
    "u",
    "em",
    "strong",
    "sub",
    "sup",
    "scp",
    "italic",
    "bold",
    "sc",
    "tt",
    "span",
    "underline",
];

/// Length of the tag that `text` begins with, and what stands for it.
fn tag(text: &str) -> Option<(usize, String)> {
    let inner = text.strip_prefix('<')?;
    let name = inner.strip_prefix('/').unwrap_or(inner);
    if !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return None;
    }
    let end = text.find('>')?;
    // `a <b` in a formula is no tag, and neither is what has another bracket first.
    if text[1..end].contains('<') {
        return None;
    }
    let name_end = name.find(|c: char| !c.is_ascii_alphanumeric() && c != ':' && c != '-');
    let name = name[..name_end.unwrap_or(name.len())].to_ascii_lowercase();
    let local = name.rsplit(':').next().unwrap_or(&name);
    let space = if INLINE.contains(&local) || name.starts_with("mml:") { "" } else { " " };
    Some((end + 1, space.to_owned()))
}

/// Length of the reference that `text` begins with, and its character.
fn reference(text: &str) -> Option<(usize, String)> {
    let end = text.as_bytes().iter().take(12).position(|byte| *byte == b';')?;
    let name = text.get(1..end)?;
    let character = match name {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        "nbsp" => ' ',
        _ => {
            let digits = name.strip_prefix('#')?;
            let code = match digits.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16).ok()?,
                None => digits.parse().ok()?,
            };
            char::from_u32(code).filter(|c| !c.is_control())?
        }
    };
    Some((end + 1, character.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_becomes_text_and_formulas_stay() {
        for (markup, expect) in [
            (
                "<jats:title>Abstract</jats:title><jats:p>CO<jats:sub>2</jats:sub> rose.</jats:p>",
                "Abstract CO2 rose.",
            ),
            ("p &lt; 0.05 &amp; n &#62; 3&nbsp;x", "p < 0.05 & n > 3 x"),
            ("a < b and c > d", "a < b and c > d"),
            ("if x <y and <i>z</i>", "if x <y and z"),
            ("AT&T; R&D", "AT&T; R&D"),
            ("&", "&"),
            ("<", "<"),
            ("é<br/>ü", "é ü"),
        ] {
            assert_eq!(plain(markup), expect, "{markup}");
        }
    }

    #[test]
    fn errors_quote_the_path_of_the_field() {
        #[derive(Debug, serde::Deserialize)]
        struct Reply {
            #[expect(dead_code, reason = "only read")]
            results: Vec<Row>,
        }
        #[derive(Debug, serde::Deserialize)]
        struct Row {
            #[expect(dead_code, reason = "only read")]
            year: i64,
        }
        let error = json::<Reply>(br#"{"results":[{"year":1},{"year":"x"}]}"#);
        let message = error.expect_err("a text is no year").to_string();
        assert!(
            message.starts_with("the field `results[1].year` of its reply: invalid type"),
            "{message}"
        );
        assert!(json::<Reply>(b"<html>").is_err());
    }

    #[test]
    fn one_broken_row_costs_itself_and_all_broken_rows_the_reply() {
        let read = |n: i32| if n > 0 { Ok(n) } else { Err(format!("{n} is not positive")) };
        let (good, notices) = rows("who", vec![1, -2, 3], read).expect("two rows");
        assert_eq!(good, [1, 3]);
        assert!(notices[0].message.contains("1 of 3") && notices[0].message.contains("-2"));
        assert!(rows("who", vec![-1], read).is_err());
        assert_eq!(rows("who", vec![], read).expect("nothing").0, Vec::<i32>::new());
    }
}
