//! The text of a JATS article.

use scholar_core::Section;
use scholar_core::paper::ABSTRACT_HEADING;
use scholar_core::text::normalise::capitalised;

use super::super::draft::{self, Draft, SectionText};
use super::super::mathml;
use super::super::prose::{Prose, is_mark};
use super::super::tree::{Child, Element};

/// What is not part of running text: it is collected apart, or nothing to read.
const APART: [&str; 21] = [
    "fig",
    "fig-group",
    "table-wrap",
    "table-wrap-group",
    "fn",
    "fn-group",
    "graphic",
    "inline-graphic",
    "media",
    "supplementary-material",
    "object-id",
    "index-term",
    "sec-meta",
    "ref-list",
    "contrib-group",
    "permissions",
    "processing-meta",
    "attrib",
    "inline-supplementary-material",
    "custom-meta",
    "notes",
];

/// Elements that end words on both sides.
const BLOCKS: [&str; 26] = [
    "p",
    "sec",
    "title",
    "list",
    "list-item",
    "def-list",
    "def-item",
    "def",
    "term",
    "disp-quote",
    "disp-formula",
    "disp-formula-group",
    "verse-group",
    "verse-line",
    "speech",
    "speaker",
    "statement",
    "preformat",
    "table",
    "tr",
    "td",
    "th",
    "break",
    "label",
    "caption",
    "code",
];

/// The text of an element, without what stands apart from running text.
pub(super) fn text(element: Element<'_>) -> String {
    text_without(element, &[])
}

/// The same, without some elements more.
pub(super) fn text_without(element: Element<'_>, without: &[&str]) -> String {
    let mut prose = Prose::default();
    children(element, without, &mut prose);
    prose.finish()
}

fn children(element: Element<'_>, without: &[&str], prose: &mut Prose) {
    for child in element.children() {
        match child {
            Child::Text(text) => prose.push(text),
            Child::Element(inner) if without.contains(&inner.name()) => {}
            Child::Element(inner) => write(inner, without, prose),
        }
    }
}

fn write(element: Element<'_>, without: &[&str], prose: &mut Prose) {
    match element.name() {
        name if APART.contains(&name) => {
            prose.gap_if(!matches!(name, "fn" | "inline-graphic" | "index-term"));
        }
        "label"
            if element
                .ancestors()
                .next()
                .is_some_and(|around| around.is_any(&["list-item", "disp-formula"])) => {}
        "xref" => reference(element, without, prose),
        "sup" => superscript(element, without, prose),
        "alternatives" => alternatives(element, without, prose),
        "math" => prose.push(&mathml::linear(element)),
        "tex-math" => prose.push(&mathml::tex_body(&element.raw_text())),
        name if BLOCKS.contains(&name) => {
            prose.gap();
            children(element, without, prose);
            prose.gap();
        }
        _ => children(element, without, prose),
    }
}

/// A cross reference: to the literature it is a mark or names, to a footnote nothing.
fn reference(element: Element<'_>, without: &[&str], prose: &mut Prose) {
    match element.attribute("ref-type") {
        Some("bibr") if is_mark(&element.raw_text()) => prose.citation(),
        Some("fn" | "table-fn" | "author-notes" | "aff" | "corresp")
            if is_mark(&element.raw_text()) => {}
        _ => children(element, without, prose),
    }
}

/// Superscripts are often nothing but citations; then their commas and dashes go with them.
fn superscript(element: Element<'_>, without: &[&str], prose: &mut Prose) {
    let cites = element.descendants().any(|inner| inner.attribute("ref-type") == Some("bibr"));
    if cites || element.elements().next().is_some() {
        children(element, without, prose);
    } else {
        prose.superscript(&element.raw_text());
    }
}

/// One formula in several notations: text is read best, then `MathML`, then TeX.
fn alternatives(element: Element<'_>, without: &[&str], prose: &mut Prose) {
    let order = ["textual-form", "math", "tex-math"];
    match order.iter().find_map(|name| element.first(name)) {
        Some(best) => write(best, without, prose),
        None => children(element, without, prose),
    }
}

/// Abstracts, body, appendices, captions and footnotes.
pub(super) fn read(article: Element<'_>, draft: &mut Draft) {
    let front = article.first("front").or_else(|| article.first("front-stub"));
    let meta = front.map(|front| front.first("article-meta").unwrap_or(front));
    if let Some(meta) = meta {
        abstracts(meta, draft);
    }
    let mut parts = Vec::new();
    if let Some(body) = article.first("body") {
        section(body, &mut Vec::new(), draft);
        parts.push(body);
    }
    for appendix in appendices(article) {
        section(appendix, &mut Vec::new(), draft);
        parts.push(appendix);
    }
    parts.extend(article.first("floats-group").or_else(|| article.first("floats-wrap")));
    for part in parts {
        captions(part, draft);
        for note in part.descendants().filter(|element| element.name() == "fn") {
            if !note
                .ancestors()
                .any(|around| around.is_any(&["table-wrap", "table-wrap-foot", "fig"]))
            {
                let note = text_without(note, &["label"]);
                draft.footnotes.extend(Some(note).filter(|note| !note.is_empty()));
            }
        }
    }
}

/// The abstract of the whole, then shorter ones for other readers under their own titles; the same in other languages,
/// as a picture or for a table of contents is left out.
fn abstracts(meta: Element<'_>, draft: &mut Draft) {
    let kind = |element: Element<'_>| {
        element.attribute("abstract-type").unwrap_or_default().to_lowercase()
    };
    let all: Vec<Element<'_>> = meta.all("abstract").collect();
    let main = all.iter().position(|element| {
        ["", "abstract", "background", "section"].contains(&kind(*element).as_str())
    });
    if let Some(main) = main {
        draft.section(Section::new(ABSTRACT_HEADING, abstract_text(all[main])));
    }
    for (at, element) in all.iter().enumerate() {
        let kind = kind(*element);
        let skipped = ["toc", "graphical", "teaser", "web-summary", "video", "stereochemical"];
        if Some(at) == main || skipped.iter().any(|word| kind.contains(word)) {
            continue;
        }
        let stated = element.first("title").map(text).filter(|title| !title.is_empty());
        let heading = stated.unwrap_or_else(|| {
            if kind.is_empty() { "Summary".into() } else { sentence_case(&kind) }
        });
        let heading =
            if heading == ABSTRACT_HEADING && main.is_some() { "Summary".into() } else { heading };
        draft.section(Section::new(heading, abstract_text(*element)));
    }
}

fn sentence_case(kind: &str) -> String {
    capitalised(&kind.replace(['-', '_'], " "))
}

/// A structured abstract reads `Background: … Methods: …`, as `PubMed` prints it.
fn abstract_text(element: Element<'_>) -> String {
    let mut whole = SectionText::default();
    for child in element.elements().filter(|child| !child.is_any(&["title", "label"])) {
        let part = text_without(child, &["title", "label"]);
        let title =
            child.first("title").filter(|_| child.name() == "sec").map(text).unwrap_or_default();
        let title = title.trim_end_matches([':', '.']);
        let labelled =
            if title.is_empty() || part.is_empty() { part } else { format!("{title}: {part}") };
        whole.paragraph(&labelled, None);
    }
    whole.take(ABSTRACT_HEADING).text
}

fn appendices<'a>(article: Element<'a>) -> Vec<Element<'a>> {
    let Some(back) = article.first("back") else { return Vec::new() };
    let groups = back.all("app-group").flat_map(|group| group.all("app").collect::<Vec<_>>());
    let bare = back.all("app");
    let sections = back
        .all("sec")
        .filter(|sec| sec.attribute("sec-type").is_some_and(|kind| kind.contains("append")));
    groups.chain(bare).chain(sections).collect()
}

/// A section's own text under the path of headings that leads to it, then its subsections; text behind a subsection
/// follows it under the same path.
fn section(element: Element<'_>, path: &mut Vec<String>, draft: &mut Draft) {
    let own = heading(element);
    let named = !own.is_empty();
    if named {
        path.push(draft::heading_words(own));
    }
    let mut gathered = SectionText::default();
    for child in element.elements() {
        match child.name() {
            "title" | "label" | "caption" => {}
            "sec" | "boxed-text" | "app" => {
                draft.section(gathered.take(&path.join(": ")));
                section(child, path, draft);
            }
            "supplementary-material" => {}
            name if APART.contains(&name) => {}
            _ => {
                let mut prose = Prose::default();
                write(child, &["boxed-text"], &mut prose);
                gathered.paragraph(&prose.finish(), None);
                for boxed in child.outermost("boxed-text") {
                    draft.section(gathered.take(&path.join(": ")));
                    section(boxed, path, draft);
                }
            }
        }
    }
    draft.section(gathered.take(&path.join(": ")));
    if named {
        path.pop();
    }
}

fn heading(element: Element<'_>) -> String {
    let title = element.first("title").or_else(|| element.path(&["caption", "title"]));
    let title = title.map(text).unwrap_or_default();
    let title = title.trim_end_matches([':', '.']).trim();
    if title.is_empty() && element.is_any(&["app", "boxed-text"]) {
        return element.first("label").map(text).unwrap_or_default();
    }
    title.to_owned()
}

fn captions(part: Element<'_>, draft: &mut Draft) {
    for element in part.descendants().filter(|element| element.is_any(&["fig", "table-wrap"])) {
        let fallback = if element.name() == "fig" { "Figure" } else { "Table" };
        let label = element.first("label").map(text).unwrap_or_default();
        let mut whole = SectionText::default();
        for block in
            element.all("caption").flat_map(|caption| caption.elements().collect::<Vec<_>>())
        {
            whole.paragraph(&text(block), None);
        }
        let loose = element.first("caption").filter(|_| whole.is_empty());
        if let Some(caption) = loose {
            whole.paragraph(&text(caption), None);
        }
        draft.caption(&label, fallback, whole.take("").text);
    }
}
