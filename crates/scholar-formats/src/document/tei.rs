//! TEI, as GROBID writes it from PDFs and `Pub2TEI` from publishers' XML.

mod references;

use scholar_core::paper::ABSTRACT_HEADING;
use scholar_core::{Notice, NoticeKind, PageBox, PaperId};

use super::Document;
use super::dates::StatedDate;
use super::draft::{self, Draft, SectionText};
use super::licences;
use super::mathml;
use super::prose::{Prose, is_mark};
use super::tree::{Child, Element};
use super::xml::{self, Xml};
use crate::deadline::Bounds;
use crate::error::{FormatError, FormatErrorKind};

const FORMAT: &str = "TEI";

/// Reads the `TEI` element.
pub(super) fn read(bytes: &[u8], bounds: &Bounds) -> Result<Document, FormatError> {
    let Xml { tree, unknown_entities } = xml::read(bytes, FORMAT, bounds)?;
    let Some(tei) = tree.root().find("TEI") else {
        return Err(FormatError::new(
            FormatErrorKind::Malformed,
            FORMAT,
            "there is no <TEI> element",
        ));
    };
    let mut draft = Draft::default();
    if let Some((name, count)) = unknown_entities {
        draft.notices.push(Notice::new(
            NoticeKind::Weak,
            format!("{count} unknown entities such as &{name}; stay in the text as they are"),
        ));
    }
    if let Some(header) = tei.first("teiHeader") {
        read_header(header, &mut draft);
    }
    if let Some(text) = tei.first("text") {
        read_text(text, &mut draft);
    }
    tree.in_time()?;
    Ok(draft.finish(bytes, bounds.limits))
}

fn read_header(header: Element<'_>, draft: &mut Draft) {
    let Some(file) = header.first("fileDesc") else { return };
    let structure = file.path(&["sourceDesc", "biblStruct"]);
    draft.title = file.path(&["titleStmt", "title"]).map(text).unwrap_or_default();
    if let Some(structure) = structure {
        let analytic = structure.first("analytic");
        let monograph = structure.first("monogr");
        if draft.title.is_empty() {
            draft.title =
                analytic.and_then(|part| part.first("title")).map(text).unwrap_or_default();
        }
        let around = analytic.or(monograph);
        let authors = around.into_iter().flat_map(|part| part.all("author").collect::<Vec<_>>());
        draft.authors =
            authors.filter_map(|author| author.first("persName")).filter_map(person).collect();
        draft.venue = monograph.and_then(venue);
        let date = monograph.and_then(|part| part.path(&["imprint", "date"]));
        draft.dates.extend(date.and_then(|date| StatedDate::iso(date.attribute("when")?)));
        for id in identifiers(structure) {
            draft.id(id);
        }
    }
    if let Some(publication) = file.first("publicationStmt") {
        draft.dates.extend(
            publication.first("date").and_then(|date| StatedDate::iso(date.attribute("when")?)),
        );
        let licence = publication.path(&["availability", "licence"]);
        draft.licence = licence.and_then(|licence| {
            licence
                .attribute("target")
                .and_then(licences::by_address)
                .or_else(|| licences::by_text(&text(licence)))
        });
    }
    if let Some(summary) = header.path(&["profileDesc", "abstract"]) {
        let mut whole = SectionText::default();
        paragraphs(summary, true, &mut whole);
        draft.section(whole.take(ABSTRACT_HEADING));
    }
}

/// The journal or book an entry appeared in.
fn venue(monograph: Element<'_>) -> Option<String> {
    let journal = monograph.all("title").find(|title| title.attribute("level") == Some("j"));
    journal.or_else(|| monograph.first("title")).map(text).filter(|title| !title.is_empty())
}

/// A name with the given names first.
fn person(name: Element<'_>) -> Option<String> {
    let part = |key: &str| name.all(key).map(text).collect::<Vec<_>>();
    let parts = [part("forename"), part("surname"), part("genName")].concat();
    let full = if parts.is_empty() { text(name) } else { parts.join(" ") };
    Some(full.trim().to_owned()).filter(|full| !full.is_empty())
}

/// Identifiers of an entry, of those kinds that name papers.
fn identifiers(structure: Element<'_>) -> Vec<PaperId> {
    let stated =
        structure.descendants().filter(|element| element.name() == "idno").filter_map(|id| {
            let value = id.raw_text();
            let value = value.trim();
            match id.attribute("type")?.to_ascii_lowercase().as_str() {
                "doi" => PaperId::doi(value).ok(),
                "arxiv" => PaperId::arxiv(value.split_whitespace().next()?).ok(),
                "pmid" => value.parse().ok().map(PaperId::Pmid),
                "pmcid" | "pmc" => value.trim_start_matches("PMC").parse().ok().map(PaperId::Pmcid),
                _ => None,
            }
        });
    stated.collect()
}

fn read_text(text: Element<'_>, draft: &mut Draft) {
    let mut parts = Vec::new();
    if let Some(body) = text.first("body") {
        parts.push(body);
    }
    let back = text.first("back");
    let annexes = back.into_iter().flat_map(|back| back.all("div").collect::<Vec<_>>());
    parts.extend(annexes.filter(|div| matches!(div.attribute("type"), Some("annex" | "appendix"))));
    for part in &parts {
        let mut numbered = Vec::new();
        division(*part, &mut Vec::new(), &mut numbered, draft);
    }
    for part in parts {
        for figure in part.outermost("figure") {
            caption(figure, draft);
        }
        for note in part.outermost("note") {
            let note = self::text(note);
            draft.footnotes.extend(Some(note).filter(|note| !note.is_empty()));
        }
    }
    if let Some(list) = back.and_then(|back| back.find("listBibl")) {
        references::read(list, draft);
    }
}

/// Back matter that GROBID files under annexes and that is no part of the paper's argument.
const NOT_ARGUMENT: [&str; 9] = [
    "acknowledg",
    "funding",
    "financial support",
    "competing interest",
    "conflict",
    "author contribution",
    "authors' contribution",
    "data availability",
    "disclosure",
];

/// A `div` and those in it. GROBID's lie side by side and are numbered `2`, `2.1`; the number then says what contains
/// what. Headings are paths such as `Methods: Participants`.
fn division(
    element: Element<'_>,
    path: &mut Vec<String>,
    numbered: &mut Vec<(String, String)>,
    draft: &mut Draft,
) {
    let head = element.first("head");
    let own = head.map(text).unwrap_or_default();
    let own = own.trim_end_matches([':', '.']).trim().to_owned();
    let lower = own.to_lowercase().replace('\u{2019}', "'");
    if NOT_ARGUMENT.iter().any(|word| lower.starts_with(word)) {
        return;
    }
    let depth = path.len();
    if let Some(number) =
        head.and_then(|head| head.attribute("n")).map(|n| n.trim_end_matches('.').to_owned())
    {
        numbered.retain(|(above, _)| number.starts_with(&format!("{above}.")));
        path.extend(numbered.iter().map(|(_, heading)| heading.clone()));
        numbered.push((number, own.clone()));
    }
    if !own.is_empty() {
        path.push(draft::heading_words(own));
    }
    let mut whole = SectionText::default();
    paragraphs(element, false, &mut whole);
    draft.section(whole.take(&path.join(": ")));
    for inner in element.all("div") {
        division(inner, path, numbered, draft);
    }
    path.truncate(depth);
}

/// The paragraphs directly inside, each with its place; with `deep`, those of inner divisions too.
fn paragraphs(element: Element<'_>, deep: bool, whole: &mut SectionText) {
    for child in element.elements() {
        match child.name() {
            "head" | "figure" | "note" | "listBibl" => {}
            "div" if deep => paragraphs(child, deep, whole),
            "div" => {}
            _ => paragraph(child, whole),
        }
    }
    if element.elements().next().is_none() {
        whole.paragraph(&text(element), None);
    }
}

/// One block; with sentences and their coordinates, each sentence has its own place.
fn paragraph(element: Element<'_>, whole: &mut SectionText) {
    let sentences: Vec<Element<'_>> = element.all("s").collect();
    let only_sentences = element.children().all(|child| {
        matches!(child, Child::Element(_))
            || matches!(child, Child::Text(text) if text.trim().is_empty())
    });
    if sentences.is_empty() || !only_sentences {
        whole.paragraph(&text(element), place(element));
        return;
    }
    for child in element.elements() {
        whole.paragraph(&text(child), place(child));
    }
}

/// Page and box from `coords`: `page,x,y,width,height`, several joined by `;`. A block over two pages has the part on
/// its first page. Without coordinates of its own, a block is on the page of the first reference in it.
fn place(element: Element<'_>) -> Option<(u32, Option<PageBox>)> {
    if let Some(coords) = element.attribute("coords") {
        return boxes(coords);
    }
    let inner = element.descendants().find_map(|inner| inner.attribute("coords").and_then(boxes));
    inner.map(|(page, _)| (page, None))
}

fn boxes(coords: &str) -> Option<(u32, Option<PageBox>)> {
    let mut found: Option<(u32, PageBox)> = None;
    for part in coords.split(';') {
        let mut fields = part.split(',').map(str::trim);
        let page: u32 = fields.next()?.parse().ok().filter(|page| *page > 0)?;
        let numbers: Vec<f32> = fields.filter_map(|field| field.parse().ok()).collect();
        let [x, y, width, height] = numbers[..] else { break };
        let next = PageBox {
            left: points(x),
            top: points(y),
            right: points(x + width),
            bottom: points(y + height),
        };
        found = match found {
            None => Some((page, next)),
            Some((first, _)) if first != page => break,
            Some((first, so_far)) => Some((
                first,
                PageBox {
                    left: so_far.left.min(next.left),
                    top: so_far.top.min(next.top),
                    right: so_far.right.max(next.right),
                    bottom: so_far.bottom.max(next.bottom),
                },
            )),
        };
    }
    found.map(|(page, bbox)| (page, Some(bbox)))
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "clamped to the range before"
)]
fn points(value: f32) -> u16 {
    value.round().clamp(0.0, f32::from(u16::MAX)) as u16
}

fn caption(figure: Element<'_>, draft: &mut Draft) {
    let fallback = if figure.attribute("type") == Some("table") { "Table" } else { "Figure" };
    let label = figure.first("label").map(text).unwrap_or_default();
    let head = figure.first("head").map(text).unwrap_or_default();
    let label = if label.is_empty() { head } else { label };
    let mut whole = SectionText::default();
    if let Some(description) = figure.first("figDesc") {
        whole.paragraph(&text(description), place(figure));
    }
    if !whole.is_empty() {
        let heading = draft::caption_heading(&label, fallback);
        draft.captions.push(whole.take(&heading));
    }
}

/// The text of an element, without figures and notes in it.
fn text(element: Element<'_>) -> String {
    let mut prose = Prose::default();
    element.write_children(&mut prose, write);
    prose.finish()
}

fn write(element: Element<'_>, prose: &mut Prose) {
    match element.name() {
        "figure" | "note" | "graphic" | "listBibl" => {}
        "ref" if element.attribute("type") == Some("bibr") && is_mark(&element.raw_text()) => {
            prose.citation();
        }
        "math" => prose.push(&mathml::linear(element)),
        "hi" if element.attribute("rend").is_some_and(|rend| rend.contains("sup")) => {
            prose.superscript(&element.raw_text());
        }
        "label" if element.ancestors().next().is_some_and(|around| around.name() == "formula") => {}
        "p" | "s" | "item" | "list" | "formula" | "head" | "cell" | "row" | "div" | "lb"
        | "cit" | "quote" => {
            prose.gap();
            element.write_children(prose, write);
            prose.gap();
        }
        _ => element.write_children(prose, write),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_headings_make_paths() {
        let source = b"<body><div><head n=\"1\">Intro</head><p>a</p></div><div><head n=\"2.\">Methods</head></div>
            <div><head n=\"2.1\">People</head><p>b [1]<ref type='bibr'>[2]</ref>.</p></div>
            <div><head>Funding</head><p>c</p></div><div><head n=\"3\">Results</head><p>d</p></div></body>";
        let xml = xml::read(source, FORMAT, &Bounds::default()).expect("well-formed");
        let mut draft = Draft::default();
        division(
            xml.tree.root().first("body").expect("body"),
            &mut Vec::new(),
            &mut Vec::new(),
            &mut draft,
        );
        let headings: Vec<&str> = draft.sections.iter().map(|s| s.heading.as_str()).collect();
        assert_eq!(headings, ["Intro", "Methods: People", "Results"]);
        assert_eq!(draft.sections[1].text, "b [1].");
    }

    #[test]
    fn coordinates_become_the_box_on_the_first_page() {
        let expect = PageBox { left: 10, top: 20, right: 110, bottom: 60 };
        assert_eq!(boxes("2,10.2,20.4,50,10;2,60,50,50,10;3,1,1,1,1"), Some((2, Some(expect))));
        assert_eq!(boxes(""), None);
        assert_eq!(boxes("0,1,1,1,1"), None);
        assert_eq!(
            boxes("1,1e30,nan,-5,1"),
            Some((1, Some(PageBox { left: u16::MAX, top: 0, right: u16::MAX, bottom: 0 })))
        );
    }
}
