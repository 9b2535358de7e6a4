//! XML to a tree, tolerant where old files need it and bounded everywhere.
//!
//! Nothing outside of the file is ever read, and entities a file defines for itself are not expanded, so neither an
//! external entity nor a billion laughs can happen. HTML's named entities are known, because old NLM files use them
//! without their DTD being at hand; the names come from the HTML tokeniser, as quick-xml's table has wrong letters.

use html5gum::{Token, Tokenizer};
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use super::decode;
use super::tree::{Tree, TreeBuilder};
use crate::deadline::Bounds;
use crate::error::{FormatError, FormatErrorKind};

/// A tree and the entities that nobody knows, which stay in the text as they were written.
#[derive(Debug)]
pub(crate) struct Xml {
    /// The document.
    pub(crate) tree: Tree,
    /// The first unknown entity and how many there are.
    pub(crate) unknown_entities: Option<(String, usize)>,
}

/// Reads XML.
///
/// # Errors
/// Broken XML with its line; more than the limits allow.
pub(crate) fn read(
    bytes: &[u8],
    format: &'static str,
    bounds: &Bounds,
) -> Result<Xml, FormatError> {
    let text = decode::text_of(bytes, format)?;
    let mut reader = Reader::from_str(&text);
    let config = reader.config_mut();
    config.check_end_names = true;
    config.allow_dangling_amp = true;
    let mut builder = TreeBuilder::new(format, bounds);
    let mut unknown: Option<(String, usize)> = None;
    loop {
        let at = usize::try_from(reader.buffer_position()).unwrap_or(usize::MAX);
        let broken = |message: String| {
            FormatError::new(FormatErrorKind::Malformed, format, message)
                .at(format!("line {}", line(&text, at)))
        };
        match reader.read_event().map_err(|error| broken(error.to_string()))? {
            Event::Start(tag) => builder.open(local(tag.name().as_ref()), attributes(&tag))?,
            Event::Empty(tag) => {
                builder.open(local(tag.name().as_ref()), attributes(&tag))?;
                builder.close();
            }
            Event::End(_) => builder.close(),
            Event::Text(part) => builder.text(&part)?,
            Event::CData(part) => builder.text(&part)?,
            Event::GeneralRef(name) => {
                let name = name.to_string();
                if let Some(value) = entity(&name) {
                    builder.text(&value)?;
                } else {
                    builder.text(&format!("&{name};"))?;
                    unknown.get_or_insert((name, 0)).1 += 1;
                }
            }
            Event::Comment(_) | Event::PI(_) | Event::Decl(_) | Event::DocType(_) => {}
            Event::Eof => break,
        }
    }
    if builder.innermost().is_empty() {
        Ok(Xml { tree: builder.finish(), unknown_entities: unknown })
    } else {
        Err(FormatError::new(
            FormatErrorKind::Malformed,
            format,
            format!("the file ends inside <{}>", builder.innermost()),
        )
        .with_hint("the file is truncated; download it again"))
    }
}

/// The line of a byte offset, from 1.
fn line(text: &str, at: usize) -> usize {
    let end = at.min(text.len());
    1 + text.as_bytes()[..end].iter().filter(|&&byte| byte == b'\n').count()
}

fn local(name: &str) -> &str {
    name.rsplit(':').next().unwrap_or(name)
}

/// Attributes by local name; a broken one is left out, as nothing depends on more than a handful of them.
fn attributes(tag: &BytesStart<'_>) -> Vec<(Box<str>, Box<str>)> {
    tag.attributes()
        .with_checks(false)
        .filter_map(Result::ok)
        .map(|attribute| {
            let value = unescape(&attribute.value);
            (local(attribute.key.as_ref()).into(), value.into())
        })
        .collect()
}

/// What a general reference stands for.
fn entity(name: &str) -> Option<String> {
    if let Some(number) = name.strip_prefix('#') {
        let code = match number.strip_prefix(['x', 'X']) {
            Some(hex) => u32::from_str_radix(hex, 16).ok(),
            None => number.parse().ok(),
        };
        return Some(
            code.and_then(char::from_u32).unwrap_or(char::REPLACEMENT_CHARACTER).to_string(),
        );
    }
    let known =
        name.bytes().all(|byte| byte.is_ascii_alphanumeric()) && name.len() <= LONGEST_ENTITY;
    let reference = format!("&{name};");
    match Tokenizer::new(&reference).next().filter(|_| known)? {
        Ok(Token::String(text)) if !text.starts_with(b"&") || name == "amp" => {
            Some(String::from_utf8_lossy(&text).into_owned())
                .filter(|text| !text.ends_with(';') || name == "semi")
        }
        _ => None,
    }
}

/// `CounterClockwiseContourIntegral` is the longest name HTML has.
const LONGEST_ENTITY: usize = 31;

/// An attribute's value with its references replaced; unknown ones stay.
pub(crate) fn unescape(raw: &str) -> String {
    let mut out = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some((before, after)) = rest.split_once('&') {
        out.push_str(before);
        let known =
            after.split_once(';').and_then(|(name, tail)| entity(name).map(|value| (value, tail)));
        if let Some((value, tail)) = known {
            out.push_str(&value);
            rest = tail;
        } else {
            out.push('&');
            rest = after;
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entities_are_known_or_kept_and_never_expanded() {
        let bomb = br#"<!DOCTYPE a [<!ENTITY x "xxxxxxxx"><!ENTITY f SYSTEM "file:///etc/passwd">]>
            <n:a k="&alpha;">&alpha;&#x3b2;&amp;&x;&f;</n:a>"#;
        let xml = read(bomb, "JATS", &Bounds::default()).expect("well-formed");
        let a = xml.tree.root().first("a").expect("root");
        assert_eq!(a.raw_text(), "\u{3b1}\u{3b2}&&x;&f;");
        assert_eq!(a.attribute("k"), Some("\u{3b1}"));
        assert_eq!(xml.unknown_entities, Some(("x".into(), 2)));
    }

    #[test]
    fn what_is_broken_is_named_with_its_line_and_what_is_deep_is_refused() {
        let error = read(b"<a>\n<b>\n</a>", "JATS", &Bounds::default()).expect_err("mismatched");
        assert_eq!((error.kind, error.at.as_deref()), (FormatErrorKind::Malformed, Some("line 3")));
        let error = read(b"<a><b>", "JATS", &Bounds::default()).expect_err("cut");
        assert!(error.message.contains("inside <b>"), "{error}");
        let deep = "<a>".repeat(100_000);
        let error = read(deep.as_bytes(), "JATS", &Bounds::default()).expect_err("deep");
        assert_eq!(error.kind, FormatErrorKind::TooLarge);
    }
}
