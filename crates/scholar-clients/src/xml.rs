//! XML replies as small trees. Elements are found by local name: the providers' prefixes vary, their names do not.

use quick_xml::Reader;
use quick_xml::XmlVersion;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesStart, Event};
use scholar_core::text::normalise::nfc_single_spaced;

use crate::fetch::quote;
use crate::parse::ReplyError;

/// Deeper nesting is damage: PubMed's and arXiv's records stay below twenty.
const DEEPEST: usize = 100;

/// An element with what it holds, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Element {
    pub(crate) name: String,
    pub(crate) attributes: Vec<(String, String)>,
    pub(crate) children: Vec<Node>,
}

/// What an element holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Node {
    Element(Element),
    Text(String),
}

impl Element {
    /// The child elements.
    pub(crate) fn elements(&self) -> impl Iterator<Item = &Self> {
        self.children.iter().filter_map(|node| match node {
            Node::Element(element) => Some(element),
            Node::Text(_) => None,
        })
    }

    /// The child elements of that name.
    pub(crate) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Self> {
        self.elements().filter(move |element| element.name == name)
    }

    /// The first child of that name.
    pub(crate) fn child(&self, name: &str) -> Option<&Self> {
        self.elements().find(|element| element.name == name)
    }

    /// The first element at the end of a path of names.
    pub(crate) fn at(&self, path: &[&str]) -> Option<&Self> {
        path.iter().try_fold(self, |element, name| element.child(name))
    }

    /// The attribute of that name.
    pub(crate) fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// All text below, single-spaced: `H<sub>2</sub>O` is `H2O`.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        self.collect(&mut text);
        nfc_single_spaced(&text)
    }

    /// [`Element::text`] of the first child of that name, unless empty.
    pub(crate) fn child_text(&self, name: &str) -> Option<String> {
        self.child(name).map(Self::text).filter(|text| !text.is_empty())
    }

    fn collect(&self, text: &mut String) {
        // As deep as the tree, which is bounded by `DEEPEST`.
        for node in &self.children {
            match node {
                Node::Element(element) => element.collect(text),
                Node::Text(piece) => text.push_str(piece),
            }
        }
    }
}

/// The root element of a document.
///
/// # Errors
/// [`ReplyError::Shape`] says where the document breaks.
pub(crate) fn parse(bytes: &[u8]) -> Result<Element, ReplyError> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        ReplyError::shape(format!("byte {} of the XML is not UTF-8", error.valid_up_to()))
    })?;
    let mut reader = Reader::from_str(text);
    let mut open: Vec<Element> = Vec::new();
    loop {
        let event = reader.read_event().map_err(|error| {
            ReplyError::shape(format!(
                "the XML breaks at byte {}: {error}",
                reader.error_position()
            ))
        })?;
        match event {
            Event::Start(start) => {
                if open.len() >= DEEPEST {
                    return Err(ReplyError::shape(format!("the XML nests deeper than {DEEPEST}")));
                }
                open.push(element(&start));
            }
            Event::Empty(start) => {
                let empty = element(&start);
                match open.last_mut() {
                    Some(parent) => parent.children.push(Node::Element(empty)),
                    None => return Ok(empty),
                }
            }
            Event::End(_) => {
                let Some(closed) = open.pop() else { continue };
                match open.last_mut() {
                    Some(parent) => parent.children.push(Node::Element(closed)),
                    None => return Ok(closed),
                }
            }
            Event::Text(piece) => add_text(&mut open, &piece.xml10_content()),
            Event::CData(piece) => add_text(&mut open, &piece.xml10_content()),
            Event::GeneralRef(reference) => {
                let known = match reference.resolve_char_ref() {
                    Ok(Some(character)) => Some(character.to_string()),
                    _ => resolve_predefined_entity(&reference).map(str::to_owned),
                };
                // An entity of a DTD nobody fetches stays as it is written.
                add_text(&mut open, &known.unwrap_or_else(|| format!("&{};", &*reference)));
            }
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => {}
            Event::Eof => {
                return Err(ReplyError::shape(match open.last() {
                    Some(last) => format!("the XML ends inside of {}", last.name),
                    None => format!("its reply is not XML, beginning {:?}", quote(text)),
                }));
            }
        }
    }
}

fn element(start: &BytesStart<'_>) -> Element {
    let attributes = start.attributes().flatten().map(|attribute| {
        let value = attribute
            .normalized_value(XmlVersion::Implicit1_0)
            .map_or_else(|_| attribute.value.to_string(), std::borrow::Cow::into_owned);
        (attribute.key.local_name().into_inner().to_owned(), value)
    });
    Element {
        name: start.local_name().into_inner().to_owned(),
        attributes: attributes.collect(),
        children: Vec::new(),
    }
}

fn add_text(open: &mut [Element], piece: &str) {
    let Some(element) = open.last_mut() else { return };
    match element.children.last_mut() {
        Some(Node::Text(text)) => text.push_str(piece),
        _ => element.children.push(Node::Text(piece.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(text: &str) -> Element {
        parse(text.as_bytes()).unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn mixed_content_and_references_become_text() {
        let root = tree(
            "<?xml version='1.0'?><!DOCTYPE a [<!ENTITY x \"y\">]><a xmlns:p='u'>\n<p:b k='1 &amp; 2'>H<sub>2</sub>O \
             &lt;&#233;&#x3b1;&gt;<![CDATA[ <raw>]]> &nope;</p:b><c/></a>",
        );
        let b = root.child("b").expect("found without its prefix");
        assert_eq!(b.attribute("k"), Some("1 & 2"));
        assert_eq!(b.text(), "H2O <éα> <raw> &nope;");
        assert_eq!(root.child_text("c"), None);
        assert_eq!(root.at(&["b", "sub"]).map(Element::text).as_deref(), Some("2"));
    }

    #[test]
    fn broken_documents_are_errors_that_say_where() {
        for (text, expect) in [
            ("<a><b>", "the XML ends inside of b"),
            ("", "its reply is not XML, beginning \"\""),
            (" {\"error\": 1}", "its reply is not XML, beginning \"{\\\"error"),
            ("<a></b>", "the XML breaks at byte 3"),
        ] {
            let error = parse(text.as_bytes()).expect_err("broken");
            assert!(error.to_string().starts_with(expect), "{error}");
        }
        let deep = "<a>".repeat(100_000);
        assert!(parse(deep.as_bytes()).is_err_and(|e| e.to_string().contains("deeper")));
        assert!(parse(b"<a>\xff</a>").is_err_and(|e| e.to_string().contains("byte 3")));
    }
}
