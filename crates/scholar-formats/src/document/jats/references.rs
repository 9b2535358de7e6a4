//! The list of references of a JATS article.

use super::super::PrintedReference;
use super::super::dates::year;
use super::super::draft::Draft;
use super::super::mentions;
use super::super::prose::Prose;
use super::super::tree::{Child, Element};
use super::{body, front};

/// Reads every `ref` of the article's own lists.
pub(super) fn read(article: Element<'_>, draft: &mut Draft) {
    let Some(back) = article.first("back") else { return };
    for entry in back.descendants().filter(|element| element.name() == "ref") {
        let citations: Vec<Element<'_>> = entry
            .descendants()
            .filter(|inner| {
                inner.is_any(&["element-citation", "mixed-citation", "nlm-citation", "citation"])
            })
            .collect();
        if citations.is_empty() {
            draft.references.extend(reference(entry));
        }
        draft.references.extend(citations.into_iter().filter_map(reference));
    }
}

fn reference(citation: Element<'_>) -> Option<PrintedReference> {
    let find = |name: &str| citation.find(name);
    let title = ["article-title", "chapter-title", "data-title", "source"]
        .iter()
        .find_map(|name| find(name).map(body::text))
        .filter(|title| !title.is_empty());
    let text = printed(citation);
    if text.is_empty() {
        return None;
    }
    let mut ids = Vec::new();
    for element in citation.descendants() {
        let stated = match element.name() {
            "pub-id" | "article-id" | "object-id" => front::article_id(
                element.attribute("pub-id-type").unwrap_or_default(),
                &element.raw_text(),
            ),
            "ext-link" | "uri" => {
                let address = element.attribute("href").unwrap_or_default();
                mentions::dois(address).pop().or_else(|| mentions::arxiv_ids(address).pop())
            }
            _ => None,
        };
        ids.extend(stated);
    }
    if ids.is_empty() {
        ids.extend(mentions::dois(&text));
        ids.extend(mentions::arxiv_ids(&text));
    }
    Some(PrintedReference {
        year: find("year").and_then(|element| year(&element.raw_text())),
        first_author: find("surname")
            .or_else(|| find("collab"))
            .map(body::text)
            .filter(|name| !name.is_empty()),
        title: title.map(|title| title.trim_end_matches('.').to_owned()),
        text,
        ids,
    })
}

/// The entry as printed. Where the file holds only fields, without the punctuation a printer adds, they stand with
/// spaces between.
fn printed(citation: Element<'_>) -> String {
    let mixed = citation
        .children()
        .any(|child| matches!(child, Child::Text(text) if text.chars().any(char::is_alphanumeric) || text.contains(',')));
    if mixed {
        return body::text_without(citation, &["label"]);
    }
    let mut prose = Prose::default();
    fields(citation, &mut prose);
    prose.finish()
}

fn fields(element: Element<'_>, prose: &mut Prose) {
    for child in element.elements() {
        match child.name() {
            "label" => {}
            "name" => prose.push(&front::person(child)),
            "person-group" | "name-alternatives" | "string-name" => fields(child, prose),
            "etal" => prose.push("et al."),
            _ => prose.push(&body::text(child)),
        }
        prose.gap();
    }
    if element.elements().next().is_none() {
        prose.push(&element.raw_text());
    }
}
