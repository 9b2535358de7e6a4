//! The list of references of a TEI document.

use super::super::PrintedReference;
use super::super::dates::year;
use super::super::draft::Draft;
use super::super::mentions;
use super::super::prose::single_spaced;
use super::super::tree::Element;
use super::{identifiers, person, text, venue};

/// Reads every `biblStruct` of a list.
pub(super) fn read(list: Element<'_>, draft: &mut Draft) {
    draft.references.extend(list.outermost("biblStruct").into_iter().filter_map(reference));
}

fn reference(structure: Element<'_>) -> Option<PrintedReference> {
    let analytic = structure.first("analytic");
    let monograph = structure.first("monogr");
    let title = |part: Element<'_>| part.first("title").map(text).filter(|title| !title.is_empty());
    let own = analytic.and_then(title).or_else(|| monograph.and_then(title));
    let authors: Vec<Element<'_>> =
        structure.descendants().filter(|element| element.name() == "persName").collect();
    let year = structure.descendants().find_map(|date| {
        let stated = date.attribute("when").map_or_else(|| date.raw_text(), str::to_owned);
        (date.name() == "date").then(|| year(&stated)).flatten()
    });
    let raw = structure.all("note").find(|note| note.attribute("type") == Some("raw_reference"));
    let printed = match raw {
        Some(raw) => single_spaced(&raw.raw_text()),
        None => {
            let names: Vec<String> = authors.iter().filter_map(|name| person(*name)).collect();
            let venue = monograph.and_then(venue).filter(|venue| Some(venue) != own.as_ref());
            let year = year.map(|year| year.to_string());
            let names = Some(names.join(", ")).filter(|names| !names.is_empty());
            [names, own.clone(), venue, year].into_iter().flatten().collect::<Vec<_>>().join(". ")
        }
    };
    let mut ids = identifiers(structure);
    if ids.is_empty() {
        ids = mentions::dois(&printed);
        ids.extend(mentions::arxiv_ids(&printed));
    }
    let first_author = authors.first().and_then(|name| name.first("surname")).map(text);
    (!printed.is_empty()).then_some(PrintedReference {
        text: printed,
        title: own,
        year,
        first_author,
        ids,
    })
}
