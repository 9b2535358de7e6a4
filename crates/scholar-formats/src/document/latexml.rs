//! HTML as LaTeXML makes it: ar5iv and arXiv's own.

mod references;

use scholar_core::paper::ABSTRACT_HEADING;
use scholar_core::{Notice, NoticeKind, PaperId};

use super::draft::{self, Draft, SectionText};
use super::licences;
use super::mathml;
use super::mentions;
use super::prose::{Prose, is_mark};
use super::tree::{Child, Element};
use super::{Document, html};
use crate::deadline::Bounds;
use crate::error::{FormatError, FormatErrorKind};

const FORMAT: &str = "LaTeXML HTML";

/// Reads the `ltx_document` of a page.
pub(super) fn read(bytes: &[u8], bounds: &Bounds) -> Result<Document, FormatError> {
    let tree = html::read(bytes, FORMAT, bounds)?;
    let root = tree.root();
    let no_text = |message: &str| {
        FormatError::new(FormatErrorKind::NoText, FORMAT, message)
            .with_hint("use the PDF, or the abstract alone")
    };
    let Some(article) = root.descendants().find(|element| element.has_class("ltx_document")) else {
        return Err(no_text("the page contains no converted paper"));
    };
    let mut draft = Draft::default();
    front(root, article, &mut draft);
    for section in article.elements() {
        block(section, &mut Vec::new(), &mut SectionText::default(), &mut draft);
    }
    let broken = root.descendants().any(|element| {
        element.has_class("ltx_ERROR") && element.raw_text().contains("Fatal")
            || element.has_class("package-alerts") && element.raw_text().contains("exited abruptly")
    });
    tree.in_time()?;
    if draft.sections.iter().map(|section| section.text.len()).sum::<usize>() == 0 {
        return Err(no_text("the page holds a conversion without text, as failed ones have"));
    }
    if broken {
        draft.notices.push(
            Notice::new(
                NoticeKind::Truncated,
                "the conversion to HTML ended early, so the end of the text is missing",
            )
            .with_hint("use the PDF"),
        );
    }
    Ok(draft.finish(bytes, bounds.limits))
}

fn front(root: Element<'_>, article: Element<'_>, draft: &mut Draft) {
    let with_class = |class| article.descendants().find(move |element| element.has_class(class));
    draft.title = with_class("ltx_title_document").map(text).unwrap_or_default();
    draft.authors = authors(article);
    if let Some(id) = own_id(root) {
        draft.id(id);
    }
    draft.licence = root
        .descendants()
        .filter(|element| element.name() == "a")
        .filter(|link| !link.ancestors().any(|around| around.has_class("ltx_document")))
        .find_map(|link| licences::by_address(link.attribute("href")?));
    if let Some(summary) = with_class("ltx_abstract") {
        let mut whole = SectionText::default();
        for child in summary.elements().filter(|child| !child.has_class("ltx_title")) {
            whole.paragraph(&text(child), None);
        }
        draft.section(whole.take(ABSTRACT_HEADING));
    }
}

/// The paper's arXiv identifier where the page says which one it shows: canonical address, base, watermark.
fn own_id(root: Element<'_>) -> Option<PaperId> {
    let of_path = |path: &str| {
        let tail = ["/html/", "/abs/", "/pdf/"]
            .iter()
            .find_map(|part| path.split_once(part).map(|(_, tail)| tail))?;
        PaperId::arxiv(tail.trim_matches('/')).ok()
    };
    root.descendants().find_map(|element| match element.name() {
        "link" if element.attribute("rel") == Some("canonical") => {
            of_path(element.attribute("href")?)
        }
        "base" => of_path(element.attribute("href")?),
        _ if element.attribute("id") == Some("watermark-tr") => {
            mentions::arxiv_ids(&element.raw_text()).pop()
        }
        _ => None,
    })
}

/// Words of the lines below a name: where a person works, not who it is.
const PLACES: [&str; 16] = [
    "universi",
    "institut",
    "department",
    "laborator",
    "school",
    "college",
    "research",
    "cent",
    "academy",
    "faculty",
    "hospital",
    "inc.",
    "google",
    "microsoft",
    "group",
    "foundation",
];

/// Authors, as far as the page keeps them apart: between formulas, marks, breaks and commas.
fn authors(article: Element<'_>) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for name in article.descendants().filter(|element| element.has_class("ltx_personname")) {
        let mut parts = String::new();
        apart(name, &mut parts);
        let pieces = parts.split(['\n', ',', ';', '&']).flat_map(|part| part.split(" and "));
        for piece in pieces {
            let piece = piece.split_whitespace().collect::<Vec<_>>().join(" ");
            let words = piece.split(' ').count();
            let lower = piece.to_lowercase();
            let name_like = (2..=5).contains(&words)
                && piece.starts_with(char::is_uppercase)
                && !piece.contains(|c: char| c.is_ascii_digit() || "@{}\\:/".contains(c))
                && !PLACES.iter().any(|word| lower.contains(word));
            if name_like && !found.contains(&piece) {
                found.push(piece);
            }
        }
    }
    found
}

/// Text with a line break wherever a mark, formula or `br` stands; double spaces are LaTeX's way to part names.
fn apart(element: Element<'_>, out: &mut String) {
    for child in element.children() {
        match child {
            Child::Text(text) => {
                out.push_str(&text.replace("\u{a0}\u{a0}", "\n").replace(['\n', '\t'], " "));
            }
            Child::Element(inner) => {
                if inner.is_any(&["math", "sup", "br"]) || inner.has_class("ltx_note") {
                    out.push('\n');
                } else {
                    apart(inner, out);
                }
            }
        }
    }
}

/// Parts of a page that are no text of the paper, or are read elsewhere.
const SKIPPED: [&str; 17] = [
    "ltx_title",
    "ltx_authors",
    "ltx_abstract",
    "ltx_dates",
    "ltx_TOC",
    "ltx_pagination",
    "ltx_page_footer",
    "ltx_page_header",
    "ltx_ERROR",
    "ltx_acknowledgements",
    "ltx_classification",
    "ltx_keywords",
    "ltx_rule",
    "ltx_page_logo",
    "ltx_role_submissionid",
    "ltx_note_mark",
    "ltx_tag_equation",
];

const SECTIONS: [&str; 9] = [
    "ltx_part",
    "ltx_chapter",
    "ltx_section",
    "ltx_subsection",
    "ltx_subsubsection",
    "ltx_paragraph",
    "ltx_subparagraph",
    "ltx_appendix",
    "ltx_index",
];

fn any_class(element: Element<'_>, classes: &[&str]) -> bool {
    element
        .attribute("class")
        .is_some_and(|words| words.split_ascii_whitespace().any(|word| classes.contains(&word)))
}

/// Titles of sections that stand behind the argument.
const NOT_ARGUMENT: [&str; 3] = ["acknowledg", "funding", "author contribution"];

/// Reads a block into `whole`; sections become their own under the path of titles that leads to them.
fn block(element: Element<'_>, path: &mut Vec<String>, whole: &mut SectionText, draft: &mut Draft) {
    if any_class(element, &SKIPPED) || element.is_any(&["nav", "script", "style", "button"]) {
    } else if element.has_class("ltx_bibliography") {
        references::read(element, draft);
    } else if any_class(element, &SECTIONS) {
        section(element, path, draft);
    } else if any_class(element, &["ltx_figure", "ltx_table", "ltx_float"])
        || element.name() == "figure"
    {
        captions(element, draft);
    } else if element
        .descendants()
        .any(|inner| any_class(inner, &SECTIONS) || inner.name() == "figure")
    {
        for inner in element.elements() {
            block(inner, path, whole, draft);
        }
    } else {
        whole.paragraph(&text(element), None);
        notes(element, draft);
    }
}

fn section(element: Element<'_>, path: &mut Vec<String>, draft: &mut Draft) {
    let title = element.elements().find(|child| child.has_class("ltx_title"));
    let own = title.map(text).unwrap_or_default();
    let own = own.trim_end_matches([':', '.']).trim().to_owned();
    if NOT_ARGUMENT.iter().any(|word| own.to_lowercase().starts_with(word)) {
        return;
    }
    let named = !own.is_empty();
    if named {
        path.push(draft::heading_words(own));
    }
    let mut whole = SectionText::default();
    for child in element.elements() {
        if any_class(child, &SECTIONS) {
            draft.section(whole.take(&path.join(": ")));
        }
        block(child, path, &mut whole, draft);
    }
    draft.section(whole.take(&path.join(": ")));
    if named {
        path.pop();
    }
}

fn captions(figure: Element<'_>, draft: &mut Draft) {
    let fallback = if any_class(figure, &["ltx_table"]) { "Table" } else { "Figure" };
    for caption in figure.descendants().filter(|element| element.has_class("ltx_caption")) {
        let tag = caption.descendants().find(|inner| inner.has_class("ltx_tag"));
        let label = tag.map(Element::raw_text).unwrap_or_default();
        draft.caption(&label, fallback, text(caption));
    }
}

fn notes(element: Element<'_>, draft: &mut Draft) {
    for note in element.descendants().filter(|inner| inner.has_class("ltx_note_content")) {
        let note = text(note);
        draft.footnotes.extend(Some(note).filter(|note| !note.is_empty()));
    }
}

/// The text of an element without tags such as section numbers, notes and citation marks; formulas as their TeX.
fn text(element: Element<'_>) -> String {
    let mut prose = Prose::default();
    element.write_children(&mut prose, write);
    prose.finish()
}

fn write(element: Element<'_>, prose: &mut Prose) {
    if any_class(element, &SKIPPED) && !element.has_class("ltx_title")
        || any_class(element, &["ltx_note", "ltx_tag"])
    {
        return;
    }
    match element.name() {
        "script" | "style" | "button" | "nav" => return,
        "math" => {
            match element.attribute("alttext") {
                Some(tex) => prose.push(tex),
                None => prose.push(&mathml::linear(element)),
            }
            return;
        }
        "sup" if element.elements().next().is_none() => {
            prose.superscript(&element.raw_text());
            return;
        }
        "br" => prose.gap(),
        _ => {}
    }
    if element.has_class("ltx_cite") && is_mark(&element.raw_text()) {
        prose.citation();
        return;
    }
    let ends_words = element.is_any(&[
        "p",
        "div",
        "li",
        "ul",
        "ol",
        "dt",
        "dd",
        "tr",
        "td",
        "th",
        "table",
        "figure",
        "blockquote",
        "section",
    ]) || element.has_class("ltx_p");
    prose.gap_if(ends_words);
    element.write_children(prose, write);
    prose.gap_if(ends_words);
}
