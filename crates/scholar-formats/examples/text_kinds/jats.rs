//! JATS: the XML says what is a table, a caption, a reference, prose or the publisher's; the program is shown bare text.
//!
//! All of an article becomes one text without headings, in the order of the file, as a reader of PDFs gives that knows no
//! layout. Captions and tables follow the paragraph they stand in; rows of a table follow each other, cells with one
//! space between. Left out: headings, formulas of their own, notes below tables, back matter other than references,
//! references whose punctuation the XML does not have.

use std::error::Error;
use std::io::Write;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::LazyLock;

use regex::Regex;
use scholar_core::PassageKind;
use scholar_core::text::blocks::blocks;
use scholar_formats::deadline::Bounds;
use scholar_formats::xml::{self, Element};

use super::matrix::Matrix;

/// Kinds without headings: an abstract is prose like any other.
const PROSE: PassageKind = PassageKind::Body;

struct Unit {
    kind: PassageKind,
    text: String,
}

/// Reads `files` and writes two tables: words, and units (paragraphs, captions, tables, references). `listed` is a kind
/// and what it was called instead: such units are written before the tables.
pub(crate) fn measure(
    files: &[PathBuf],
    listed: Option<(PassageKind, PassageKind)>,
    out: &mut impl Write,
) -> Result<(), Box<dyn Error>> {
    let (mut words, mut units) = (Matrix::default(), Matrix::default());
    let (mut read, mut failed) = (0, 0);
    for path in files {
        let Ok(tree) = xml::read(&fs_err::read(path)?, &Bounds::default()) else {
            failed += 1;
            continue;
        };
        let mut found = Vec::new();
        article(tree.root(), &mut found);
        // Files with a front alone have nothing to be told apart.
        if found.iter().filter(|unit| unit.kind == PROSE).count() > 5 {
            read += 1;
            for (unit, called) in compare(&found, &mut words, &mut units) {
                if listed == Some((unit.kind, called)) {
                    writeln!(out, "- {}", unit.text)?;
                }
            }
        }
    }
    writeln!(out, "{read} articles with a body, {failed} files that are no XML")?;
    words.write("Words", out)?;
    units.write("Paragraphs, captions, tables, references", out)
}

/// Counts words and units, and returns what each unit was called.
fn compare<'a>(
    found: &'a [Unit],
    words: &mut Matrix,
    units: &mut Matrix,
) -> Vec<(&'a Unit, PassageKind)> {
    let mut called = Vec::new();
    let mut text = String::new();
    let mut places: Vec<Range<usize>> = Vec::new();
    for unit in found {
        let start = text.len();
        text.push_str(&unit.text);
        places.push(start..text.len());
        text.push(' ');
    }
    let cut = blocks("", &text);
    for (unit, place) in found.iter().zip(places) {
        let mut by_kind: Vec<(PassageKind, usize)> = Vec::new();
        for block in &cut {
            let range = block.range.start.max(place.start)..block.range.end.min(place.end);
            let Some(part) = text.get(range).filter(|part| !part.is_empty()) else { continue };
            let count = part.split_whitespace().count();
            by_kind.push((block.kind, count));
            for _ in 0..count {
                words.add(unit.kind, block.kind, 1.0);
            }
        }
        let most = by_kind.iter().max_by_key(|(_, count)| *count);
        if let Some((kind, _)) = most {
            units.add(unit.kind, *kind, 1.0);
            called.push((unit, *kind));
        }
    }
    called
}

fn article(element: Element<'_>, found: &mut Vec<Unit>) {
    match element.name() {
        "abstract" | "trans-abstract" => paragraphs(element, found),
        "aff" | "corresp" | "copyright-statement" => {
            let (text, label) = (element.text(), element.text_of("label").unwrap_or_default());
            let rest = text.strip_prefix(&label).unwrap_or(&text);
            push(PassageKind::Boilerplate, format!("{label} {rest}"), found);
        }
        "license" | "author-notes" => {
            let before = found.len();
            paragraphs(element, found);
            for unit in &mut found[before..] {
                unit.kind = PassageKind::Boilerplate;
            }
        }
        "body" => paragraphs(element, found),
        "ref" => {
            for name in ["mixed-citation", "citation"] {
                for entry in element.all(name) {
                    let text = spaced_names(&entry.text());
                    // Entries whose parts are marked up have no spaces between them.
                    if text.contains(", ") || text.contains(". ") {
                        push(PassageKind::References, text, found);
                    }
                }
            }
        }
        // Reviews and replies beside the article.
        "sub-article" | "response" => {}
        _ => element.elements().for_each(|inner| article(inner, found)),
    }
}

/// `Emerson SB` for `EmersonSB`: some publishers leave the space between the parts of a name to the printer.
fn spaced_names(entry: &str) -> String {
    static GLUED: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"\b(\p{Lu}[\p{L}'’-]*\p{Ll})(\p{Lu}{1,3})\b").ok());
    let glued = GLUED.as_ref();
    glued.map_or_else(|| entry.to_owned(), |glued| glued.replace_all(entry, "$1 $2").into_owned())
}

fn paragraphs(element: Element<'_>, found: &mut Vec<Unit>) {
    match element.name() {
        "fig" | "table-wrap" => float(element, found),
        "p" => {
            let mut floats = Vec::new();
            floats_within(element, &mut floats);
            // What stands in a paragraph around a float cannot be told from the float's own text.
            if floats.is_empty() {
                push(PROSE, element.text(), found);
            }
            floats.into_iter().for_each(|inner| float(inner, found));
        }
        "title" | "label" | "disp-formula" | "supplementary-material" => {}
        _ => element.elements().for_each(|inner| paragraphs(inner, found)),
    }
}

fn floats_within<'a>(element: Element<'a>, floats: &mut Vec<Element<'a>>) {
    for inner in element.elements() {
        match inner.name() {
            "fig" | "table-wrap" => floats.push(inner),
            _ => floats_within(inner, floats),
        }
    }
}

fn float(element: Element<'_>, found: &mut Vec<Unit>) {
    let label = element.text_of("label").unwrap_or_default();
    let caption = element.first("caption");
    let parts = caption.into_iter().flat_map(Element::elements).map(Element::text);
    let caption = parts.collect::<Vec<_>>().join(" ");
    // Printed with a full stop behind the label, which the XML of some publishers leaves to the printer.
    let stop = if label.is_empty() || label.ends_with(['.', ':']) { "" } else { "." };
    push(PassageKind::Caption, format!("{label}{stop} {caption}"), found);
    let mut rows = Vec::new();
    rows_within(element, &mut rows);
    push(PassageKind::Table, rows.join(" "), found);
}

fn rows_within(element: Element<'_>, rows: &mut Vec<String>) {
    for inner in element.elements() {
        if inner.name() == "tr" {
            let cells: Vec<String> = inner.elements().map(Element::text).collect();
            rows.push(cells.join(" "));
        } else {
            rows_within(inner, rows);
        }
    }
}

fn push(kind: PassageKind, text: String, found: &mut Vec<Unit>) {
    let text = text.trim().to_owned();
    if !text.is_empty() {
        found.push(Unit { kind, text });
    }
}
