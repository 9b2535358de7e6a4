//! XML replies as trees.

use std::time::Duration;

use scholar_core::ReadLimits;
pub(crate) use scholar_formats::xml::Element;
use scholar_formats::xml::{self, Tree};
use scholar_formats::{Bounds, Deadline};

use crate::fetch::quote;
use crate::parse::ReplyError;

/// The tree of a reply, which has a document element.
///
/// # Errors
/// [`ReplyError::Shape`] says where the document breaks.
pub(crate) fn parse(bytes: &[u8]) -> Result<Tree, ReplyError> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        ReplyError::shape(format!("byte {} of the XML is not UTF-8", error.valid_up_to()))
    })?;
    // A reply is bounded by what is fetched at most, and its tree by the reader.
    let deadline = Deadline::after(Duration::MAX);
    let bounds = Bounds { limits: ReadLimits::standard(), deadline };
    let tree = xml::read(bytes, &bounds).map_err(|error| ReplyError::shape(error.to_string()))?;
    if tree.document().is_none() {
        let what = format!("its reply is not XML, beginning {:?}", quote(text));
        return Err(ReplyError::Shape(what));
    }
    Ok(tree)
}

/// The document element of a parsed reply.
pub(crate) fn document(tree: &Tree) -> Element<'_> {
    tree.document().unwrap_or_else(|| tree.root())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_that_are_no_xml_are_errors_that_say_how_they_begin() {
        for (text, expect) in [
            ("", "its reply is not XML, beginning \"\""),
            (" {\"error\": 1}", "its reply is not XML, beginning \"{\\\"error"),
        ] {
            let error = parse(text.as_bytes()).expect_err("no XML");
            assert!(error.to_string().starts_with(expect), "{error}");
        }
        for broken in [&b"<a><b>"[..], b"<a></b>", b"<a>\xff</a>"] {
            assert!(parse(broken).is_err());
        }
        let deep = "<a>".repeat(100_000);
        assert!(parse(deep.as_bytes()).is_err_and(|error| error.to_string().contains("deeper")));
        let tree = parse(b"<a xmlns:p='u'><p:b k='1 &amp; 2'>H<sub>2</sub>O &nope;</p:b></a>");
        let tree = tree.expect("XML");
        let b = document(&tree).first("b").expect("found without its prefix");
        assert_eq!((b.attribute("k"), b.text().as_str()), (Some("1 & 2"), "H2O &nope;"));
    }
}
