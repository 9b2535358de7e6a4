//! JATS and NLM XML.

mod body;
mod front;
mod references;

use scholar_core::{Notice, NoticeKind};

use super::Document;
use super::draft::Draft;
use super::tree::Element;
use super::xml::{self, Xml};
use crate::deadline::Bounds;
use crate::error::{FormatError, FormatErrorKind};

const FORMAT: &str = "JATS";

/// Reads the article of a file: the document itself, or the first one inside a `pmc-articleset` or an OAI-PMH reply.
pub(super) fn read(bytes: &[u8], bounds: &Bounds) -> Result<Document, FormatError> {
    let Xml { tree, unknown_entities } = xml::read(bytes, FORMAT, bounds)?;
    let mut articles = tree.root().descendants().filter(|element| is_article(*element));
    let Some(article) = articles.next() else { return Err(no_article(tree.root())) };
    let mut draft = Draft::default();
    let more =
        articles.filter(|other| !other.ancestors().any(|above| above.name() == "article")).count();
    if more > 0 {
        draft.notices.push(
            Notice::new(
                NoticeKind::Truncated,
                format!("the file has {more} more articles, which were not read"),
            )
            .with_hint("give each article its own file"),
        );
    }
    if let Some((name, count)) = unknown_entities {
        draft.notices.push(Notice::new(
            NoticeKind::Weak,
            format!("{count} unknown entities such as &{name}; stay in the text as they are"),
        ));
    }
    front::read(article, &mut draft);
    body::read(article, &mut draft);
    references::read(article, &mut draft);
    tree.in_time()?;
    if draft.title.is_empty() && draft.sections.is_empty() {
        return Err(FormatError::new(
            FormatErrorKind::NoText,
            FORMAT,
            "the article has neither title nor text",
        ));
    }
    Ok(draft.finish(bytes, bounds.limits))
}

/// An `article` of JATS; other publishers' XML has elements of this name with other content.
fn is_article(element: Element<'_>) -> bool {
    element.name() == "article"
        && element.elements().any(|child| child.is_any(&["front", "front-stub"]))
}

fn no_article(root: Element<'_>) -> FormatError {
    let reply = root.descendants().find(|element| {
        element.is_any(&["error", "Reply"])
            && element.elements().next().is_none()
            && !element.raw_text().is_empty()
    });
    if let Some(reply) = reply {
        let message: String = reply.raw_text().trim().chars().take(200).collect();
        return FormatError::new(
            FormatErrorKind::NoText,
            FORMAT,
            format!("the server replied {message:?}"),
        )
        .with_hint("the full text is not open; use the abstract or a PDF");
    }
    let name = root.elements().next().map_or("", Element::name);
    FormatError::new(
        FormatErrorKind::Malformed,
        FORMAT,
        format!("there is no <article> with <front> inside <{name}>"),
    )
    .with_hint("other publishers' XML is not read; use the JATS file or the PDF")
}
