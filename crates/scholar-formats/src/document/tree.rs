//! Elements and text of XML and HTML as one tree that is bounded in size and depth.

use std::cell::Cell;

use scholar_core::text::normalise::nfc_single_spaced;

use super::prose::Prose;
use crate::deadline::{Bounds, Deadline};
use crate::error::{FormatError, FormatErrorKind};

/// Deepest nesting. Readers walk the tree by recursion, so this bounds their stack; papers stay below 60.
const MAX_DEPTH: usize = 200;

/// Most nodes. A long book chapter has 200,000; a node costs about 100 bytes, and `<a/>` only four.
const MAX_NODES: usize = 4_000_000;

/// How often the clock is read, in nodes made or passed.
const CLOCK_EVERY: usize = 4096;

const NONE: u32 = u32::MAX;

#[derive(Debug)]
enum Content {
    Element { name: Box<str>, attributes: Box<[(Box<str>, Box<str>)]> },
    Text(Box<str>),
}

#[derive(Debug)]
struct Node {
    content: Content,
    parent: u32,
    first: u32,
    last: u32,
    next: u32,
}

/// A document's nodes; node 0 is a nameless root above the document's own.
///
/// Readers walk it with the iterators of [`Element`]. When the time is up these end as if nothing followed, and
/// [`Tree::in_time`] tells that what was gathered is not all.
#[derive(Debug)]
pub struct Tree {
    nodes: Vec<Node>,
    format: &'static str,
    deadline: Deadline,
    /// Nodes passed by iterators.
    passed: Cell<usize>,
    is_late: Cell<bool>,
}

/// Makes a [`Tree`] from the events of a tokeniser.
#[derive(Debug)]
pub(crate) struct TreeBuilder {
    tree: Tree,
    open: Vec<u32>,
}

impl TreeBuilder {
    /// An empty tree with its root open.
    pub(crate) fn new(format: &'static str, bounds: &Bounds) -> Self {
        let root = Node {
            content: Content::Element { name: "".into(), attributes: Box::default() },
            parent: NONE,
            first: NONE,
            last: NONE,
            next: NONE,
        };
        let tree = Tree {
            nodes: vec![root],
            format,
            deadline: bounds.deadline.clone(),
            passed: Cell::new(0),
            is_late: Cell::new(false),
        };
        Self { tree, open: vec![0] }
    }

    fn error(&self, message: impl Into<String>) -> FormatError {
        FormatError::new(FormatErrorKind::TooLarge, self.tree.format, message)
    }

    fn add(&mut self, content: Content) -> Result<u32, FormatError> {
        let count = self.tree.nodes.len();
        if count >= MAX_NODES {
            return Err(self.error(format!("more than {MAX_NODES} elements and texts")));
        }
        if count.is_multiple_of(CLOCK_EVERY) && self.tree.deadline.is_over() {
            return Err(self.tree.deadline.error(self.tree.format));
        }
        let id = u32::try_from(count).map_err(|_| self.error("too many elements"))?;
        let parent = self.open.last().copied().unwrap_or(0);
        self.tree.nodes.push(Node { content, parent, first: NONE, last: NONE, next: NONE });
        let last = self.tree.nodes[parent as usize].last;
        if last == NONE {
            self.tree.nodes[parent as usize].first = id;
        } else {
            self.tree.nodes[last as usize].next = id;
        }
        self.tree.nodes[parent as usize].last = id;
        Ok(id)
    }

    /// Opens an element; without children it must be closed at once.
    pub(crate) fn open(
        &mut self,
        name: &str,
        attributes: Vec<(Box<str>, Box<str>)>,
    ) -> Result<(), FormatError> {
        if self.open.len() > MAX_DEPTH {
            return Err(self.error(format!("elements are nested deeper than {MAX_DEPTH}")));
        }
        let id = self.add(Content::Element { name: name.into(), attributes: attributes.into() })?;
        self.open.push(id);
        Ok(())
    }

    /// Closes the innermost element, never the root.
    pub(crate) fn close(&mut self) {
        if self.open.len() > 1 {
            self.open.pop();
        }
    }

    /// Closes the innermost open element of this name and everything in it; without one, nothing happens.
    pub(crate) fn close_named(&mut self, name: &str) {
        if let Some(at) = self.open.iter().rposition(|&id| self.tree.name(id) == name)
            && at > 0
        {
            self.open.truncate(at);
        }
    }

    /// Name of the innermost open element.
    pub(crate) fn innermost(&self) -> &str {
        self.open.last().map_or("", |&id| self.tree.name(id))
    }

    /// Adds text.
    pub(crate) fn text(&mut self, text: &str) -> Result<(), FormatError> {
        if text.is_empty() {
            return Ok(());
        }
        self.add(Content::Text(text.into())).map(|_| ())
    }

    /// The finished tree.
    pub(crate) fn finish(self) -> Tree {
        self.tree
    }
}

impl Tree {
    fn name(&self, id: u32) -> &str {
        match &self.nodes[id as usize].content {
            Content::Element { name, .. } => name,
            Content::Text(_) => "",
        }
    }

    /// Counts a node that an iterator passes; whether it may.
    fn passes(&self) -> bool {
        let passed = self.passed.get() + 1;
        self.passed.set(passed);
        if passed.is_multiple_of(CLOCK_EVERY) && self.deadline.is_over() {
            self.is_late.set(true);
        }
        !self.is_late.get()
    }

    /// Whether every walk so far reached its end.
    ///
    /// # Errors
    /// The time was up before.
    pub(crate) fn in_time(&self) -> Result<(), FormatError> {
        match self.is_late.get() {
            true => Err(self.deadline.error(self.format)),
            false => Ok(()),
        }
    }

    /// The document element, if there is one.
    pub fn document(&self) -> Option<Element<'_>> {
        self.root().elements().next()
    }

    /// The root above the document element.
    pub fn root(&self) -> Element<'_> {
        Element { tree: self, id: 0 }
    }
}

/// An element of a tree.
#[derive(Debug, Clone, Copy)]
pub struct Element<'a> {
    tree: &'a Tree,
    id: u32,
}

/// A child of an element.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Child<'a> {
    /// An element.
    Element(Element<'a>),
    /// Text between tags.
    Text(&'a str),
}

impl<'a> Element<'a> {
    /// Local name, without a namespace prefix.
    pub fn name(self) -> &'a str {
        self.tree.name(self.id)
    }

    /// Whether the name is one of these.
    pub(crate) fn is_any(self, names: &[&str]) -> bool {
        names.contains(&self.name())
    }

    /// An attribute by its local name.
    pub fn attribute(self, name: &str) -> Option<&'a str> {
        match &self.tree.nodes[self.id as usize].content {
            Content::Element { attributes, .. } => {
                attributes.iter().find(|(key, _)| &**key == name).map(|(_, value)| &**value)
            }
            Content::Text(_) => None,
        }
    }

    /// Whether the `class` attribute has this word.
    pub(crate) fn has_class(self, class: &str) -> bool {
        self.attribute("class")
            .is_some_and(|words| words.split_ascii_whitespace().any(|word| word == class))
    }

    /// Elements and texts directly inside.
    pub(crate) fn children(self) -> impl Iterator<Item = Child<'a>> {
        let tree = self.tree;
        let mut at = tree.nodes[self.id as usize].first;
        std::iter::from_fn(move || {
            let id = at;
            let node = tree.nodes.get(id as usize).filter(|_| tree.passes())?;
            at = node.next;
            Some(match &node.content {
                Content::Element { .. } => Child::Element(Element { tree, id }),
                Content::Text(text) => Child::Text(text),
            })
        })
    }

    /// Puts the texts directly inside into `prose`, and each element as `write` has it.
    pub(crate) fn write_children(self, prose: &mut Prose, write: impl Fn(Self, &mut Prose)) {
        for child in self.children() {
            match child {
                Child::Text(text) => prose.push(text),
                Child::Element(inner) => write(inner, prose),
            }
        }
    }

    /// Child elements in document order, texts left out.
    pub fn elements(self) -> impl Iterator<Item = Self> {
        self.children().filter_map(|child| match child {
            Child::Element(element) => Some(element),
            Child::Text(_) => None,
        })
    }

    /// Elements directly inside with this name.
    pub fn all(self, name: &str) -> impl Iterator<Item = Self> {
        self.elements().filter(move |element| element.name() == name)
    }

    /// The first element directly inside with this name.
    pub fn first(self, name: &str) -> Option<Self> {
        self.all(name).next()
    }

    /// Follows a path of names, the first of each.
    pub fn path(self, names: &[&str]) -> Option<Self> {
        names.iter().try_fold(self, |element, name| element.first(name))
    }

    /// Every element below, in document order.
    pub(crate) fn descendants(self) -> impl Iterator<Item = Self> {
        let tree = self.tree;
        let top = self.id;
        let mut at = top;
        std::iter::from_fn(move || {
            loop {
                at = following(tree, at, top)?;
                if matches!(tree.nodes[at as usize].content, Content::Element { .. }) {
                    return Some(Self { tree, id: at });
                }
            }
        })
    }

    /// The first element below with this name.
    pub(crate) fn find(self, name: &str) -> Option<Self> {
        self.descendants().find(|element| element.name() == name)
    }

    /// Elements below with this name that are not inside another one of it.
    pub(crate) fn outermost(self, name: &str) -> Vec<Self> {
        let mut found = Vec::new();
        let mut next = following(self.tree, self.id, self.id);
        while let Some(id) = next {
            let element = Self { tree: self.tree, id };
            if element.name() == name {
                found.push(element);
                next = behind(self.tree, id, self.id);
            } else {
                next = following(self.tree, id, self.id);
            }
        }
        found
    }

    /// Elements around it, innermost first.
    pub(crate) fn ancestors(self) -> impl Iterator<Item = Self> {
        let tree = self.tree;
        let mut at = self.id;
        std::iter::from_fn(move || {
            at = tree.nodes[at as usize].parent;
            (at != NONE).then_some(Self { tree, id: at })
        })
    }

    /// All text inside, single-spaced and in NFC: of `H<sub>2</sub>O` it is `H2O`.
    pub fn text(self) -> String {
        nfc_single_spaced(&self.raw_text())
    }

    /// [`Element::text`] of the first element directly inside with this name, unless it is empty.
    pub fn text_of(self, name: &str) -> Option<String> {
        self.first(name).map(Self::text).filter(|text| !text.is_empty())
    }

    /// All text inside as it stands, joined without anything between.
    pub(crate) fn raw_text(self) -> String {
        let mut text = String::new();
        let mut at = self.id;
        while let Some(id) = following(self.tree, at, self.id) {
            if let Content::Text(part) = &self.tree.nodes[id as usize].content {
                text.push_str(part);
            }
            at = id;
        }
        text
    }
}

/// The node after `at` in document order, inside `top`.
fn following(tree: &Tree, at: u32, top: u32) -> Option<u32> {
    if !tree.passes() {
        return None;
    }
    let node = &tree.nodes[at as usize];
    if node.first != NONE {
        return Some(node.first);
    }
    behind(tree, at, top)
}

/// The node after `at` and all that is in it, inside `top`.
fn behind(tree: &Tree, mut at: u32, top: u32) -> Option<u32> {
    while at != top {
        let node = &tree.nodes[at as usize];
        if node.next != NONE {
            return Some(node.next);
        }
        at = node.parent;
    }
    None
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::time::Duration;

    use scholar_core::ReadLimits;

    use super::*;

    #[test]
    fn walks_end_when_the_time_is_up() {
        let now = Arc::new(AtomicU64::new(0));
        let clock = now.clone();
        let elapsed = move || Duration::from_secs(clock.load(Ordering::Relaxed));
        let deadline = Deadline::by(elapsed, Duration::from_secs(9));
        let bounds = Bounds { limits: ReadLimits::standard(), deadline };
        let mut builder = TreeBuilder::new("JATS", &bounds);
        let count = CLOCK_EVERY * 3;
        for _ in 0..count {
            builder.open("p", Vec::new()).expect("in time");
            builder.close();
        }
        now.store(9, Ordering::Relaxed);
        let mut made = 0..CLOCK_EVERY;
        assert!(made.any(|_| {
            let is_late = builder.open("p", Vec::new()).is_err();
            builder.close();
            is_late
        }));
        now.store(0, Ordering::Relaxed);
        let tree = builder.finish();
        assert!(tree.root().elements().count() >= count && tree.in_time().is_ok());
        now.store(9, Ordering::Relaxed);
        assert!(tree.root().elements().count() < count);
        assert!(tree.root().descendants().count() < count);
        let error = tree.in_time().expect_err("late");
        assert_eq!(error.kind, FormatErrorKind::TooLarge);
        assert!(error.message.contains("9 s (seconds)"), "{error}");
        assert!(error.hint.is_some_and(|hint| hint.contains("--limit seconds=")));
    }
}
