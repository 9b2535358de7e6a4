//! HTML to a tree: the standard's tokeniser, and a tree builder that knows void elements and the end tags people leave
//! out. LaTeXML closes what it opens, so the standard's repair of misnested formatting is not needed.

use html5gum::emitters::default::DefaultEmitter;
use html5gum::{Token, Tokenizer};

use super::decode;
use super::tree::{Tree, TreeBuilder};
use crate::deadline::Bounds;
use crate::error::{FormatError, FormatErrorKind};

/// Elements that never have content.
const VOID: [&str; 14] = [
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source",
    "track", "wbr",
];

/// Elements whose start closes an open one of the same kind, if that is the innermost.
const SELF_CLOSING: [&str; 9] = ["p", "li", "dt", "dd", "tr", "td", "th", "option", "colgroup"];

/// Reads HTML; there is no HTML that is malformed.
///
/// # Errors
/// An unknown encoding; more than the limits allow.
pub(crate) fn read(
    bytes: &[u8],
    format: &'static str,
    bounds: &Bounds,
) -> Result<Tree, FormatError> {
    let text = decode::text_of(bytes, format)?;
    let mut builder = TreeBuilder::new(format, bounds);
    let mut emitter = DefaultEmitter::default();
    emitter.naively_switch_states(true);
    for token in Tokenizer::new_with_emitter(&*text, emitter) {
        let Ok(token) = token;
        match token {
            Token::StartTag(tag) => {
                let name = String::from_utf8_lossy(&tag.name).into_owned();
                if SELF_CLOSING.contains(&name.as_str()) && builder.innermost() == name {
                    builder.close();
                }
                let attributes = tag.attributes.iter().map(|(key, value)| {
                    (String::from_utf8_lossy(key).into(), String::from_utf8_lossy(value).into())
                });
                builder.open(&name, attributes.collect())?;
                if tag.self_closing || VOID.contains(&name.as_str()) {
                    builder.close();
                }
            }
            Token::EndTag(tag) => builder.close_named(&String::from_utf8_lossy(&tag.name)),
            Token::String(part) => builder.text(&String::from_utf8_lossy(&part))?,
            Token::Comment(_) | Token::Doctype(_) | Token::Error(_) => {}
        }
    }
    let tree = builder.finish();
    if tree.root().elements().next().is_none() {
        return Err(FormatError::new(FormatErrorKind::Malformed, format, "there is no element"));
    }
    Ok(tree)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn void_elements_unclosed_paragraphs_and_stray_ends_make_a_sane_tree() {
        let html =
            b"<div><p>a<br>b<p>c &alpha;</b><script>if (a<b) {}</script></div><p class='x y'>d";
        let tree = read(html, "HTML", &Bounds::default()).expect("readable");
        let div = tree.root().first("div").expect("div");
        assert_eq!(div.all("p").count(), 2);
        assert_eq!(div.find("script").expect("script").raw_text(), "if (a<b) {}");
        let last = tree.root().first("p").expect("p");
        assert!(last.has_class("y") && last.raw_text() == "d");
        assert_eq!(div.all("p").nth(1).expect("second").children().count(), 2);
    }
}
