//! The bibliography of a LaTeXML page.

use super::super::PrintedReference;
use super::super::dates::year;
use super::super::draft::Draft;
use super::super::mentions;
use super::super::tree::Element;
use super::text;

/// Reads every item of a bibliography.
pub(super) fn read(bibliography: Element<'_>, draft: &mut Draft) {
    let items = bibliography.descendants().filter(|element| element.has_class("ltx_bibitem"));
    draft.references.extend(items.filter_map(reference));
}

/// BibTeX styles part an entry into blocks: authors (and often the year), title, where it appeared. Only an entry of at
/// least three such blocks tells its title; LaTeXML's own styles mark it.
fn reference(item: Element<'_>) -> Option<PrintedReference> {
    let blocks: Vec<String> = item
        .elements()
        .filter(|element| element.has_class("ltx_bibblock"))
        .map(text)
        .filter(|block| !block.is_empty())
        .collect();
    let printed = if blocks.is_empty() { text(item) } else { blocks.join(" ") };
    if printed.is_empty() {
        return None;
    }
    let marked = |class: &'static str| {
        item.descendants().find(move |element| element.has_class(class)).map(text)
    };
    let second = (blocks.len() >= 3).then(|| blocks[1].trim_end_matches('.').to_owned());
    let stated = marked("ltx_bib_year")
        .as_deref()
        .and_then(|stated| year(stated.trim_matches(['(', ')', '.', ' '])));
    let mut ids = Vec::new();
    for link in item.descendants().filter_map(|element| element.attribute("href")) {
        ids.extend(mentions::dois(link));
        ids.extend(mentions::arxiv_ids(link));
    }
    ids.extend(mentions::dois(&printed));
    ids.extend(mentions::arxiv_ids(&printed));
    Some(PrintedReference {
        title: marked("ltx_bib_title").or(second).filter(|title| !title.is_empty()),
        year: stated.or_else(|| mentions::only_year(&printed)),
        first_author: None,
        ids,
        text: printed,
    })
}
