//! One HTML file that needs no other: no script, no font, no address is loaded.

use std::fmt::Write as _;

use scholar_core::Abstention;
use scholar_core::text::untrusted::escape_html;

use super::lead::Lead;
use super::outline::{DOUBT_MARK, Outline, OutlinePart, OutlineTable, Paragraph, Sentence};
use super::style::{CitesBy, Link, Run};
use crate::fragment::is_web;

pub(super) const CSS: &str = include_str!("html/style.css");

pub(super) fn write(outline: &Outline) -> String {
    let title = escape_html(&outline.title);
    let mut html = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{title}</title>\n\
         <style>\n{CSS}</style>\n</head>\n<body>\n<main>\n<article>\n<h1>{title}</h1>\n"
    );
    if let Some(Abstention { heading, message }) = outline.abstention {
        let _infallible =
            writeln!(html, "<p class=\"warning\"><strong>{heading}</strong> {message}</p>");
    }
    let mut notes = 0;
    for (at, part) in outline.parts.iter().enumerate() {
        html.push_str(&table(outline, at));
        html.push_str(&section(part, outline, &mut notes));
    }
    html.push_str(&table(outline, outline.parts.len()));
    if let Some(legend) = outline.legend {
        let _infallible = writeln!(html, "<p class=\"doubt\">{DOUBT_MARK} {legend}</p>");
    }
    html.push_str("</article>\n");
    html.push_str(&references(outline));
    if !outline.notices.is_empty() {
        html.push_str("<aside aria-labelledby=\"notes\">\n<h2 id=\"notes\">Notes</h2>\n<ul>\n");
        for notice in &outline.notices {
            let _infallible = writeln!(html, "<li>{}</li>", escape_html(notice));
        }
        html.push_str("</ul>\n</aside>\n");
    }
    let _infallible = write!(
        html,
        "</main>\n<footer>{}</footer>\n</body>\n</html>\n",
        escape_html(&outline.generated_by)
    );
    html
}

fn section(part: &OutlinePart, outline: &Outline, notes: &mut usize) -> String {
    let mut html = "<section>\n".to_owned();
    if let Some(heading) = &part.heading {
        let level = if part.below { "h3" } else { "h2" };
        let _infallible = writeln!(html, "<{level}>{}</{level}>", escape_html(heading));
    }
    let paragraphs: String =
        part.paragraphs.iter().map(|one| paragraph(one, outline, notes)).collect();
    match &part.about {
        Some(about) => {
            let about = escape_html(about);
            let _infallible = writeln!(
                html,
                "<div class=\"beside\"><blockquote class=\"about\">{about}</blockquote>\n<div>{paragraphs}</div></div>"
            );
        }
        None => html.push_str(&paragraphs),
    }
    if let Some(figure) = &part.figure {
        let _infallible = writeln!(html, "<figure>{figure}</figure>");
    }
    html.push_str("</section>\n");
    html
}

/// A paragraph, and its evidence folded below it or shown beside it.
fn paragraph(paragraph: &Paragraph, outline: &Outline, notes: &mut usize) -> String {
    let mut evidence = String::new();
    let mut count = 0;
    let sentences: Vec<String> = paragraph
        .sentences
        .iter()
        .map(|one| sentence(one, outline, &mut evidence, &mut count, notes))
        .collect();
    let class = if paragraph.bullet { " class=\"point\"" } else { "" };
    let label = paragraph.label.as_ref().map_or_else(String::new, |label| {
        format!("<strong class=\"label\">{}</strong> ", escape_html(label))
    });
    let mut html = format!("<p{class}>{label}{}</p>\n", sentences.join(" "));
    if count > 0 && outline.quotes_beside {
        return format!(
            "<div class=\"beside\">{html}<ul class=\"quotes\">\n{evidence}</ul></div>\n"
        );
    }
    if count > 0 {
        let plural = if count == 1 { "" } else { "s" };
        let _infallible = write!(
            html,
            "<details>\n<summary>{count} quotation{plural}</summary>\n<ul>\n{evidence}</ul>\n</details>\n"
        );
    }
    html
}

fn sentence(
    sentence: &Sentence,
    outline: &Outline,
    evidence: &mut String,
    count: &mut usize,
    notes: &mut usize,
) -> String {
    let citation = runs(&sentence.citation);
    let mut in_text = match outline.cites_by {
        _ if citation.is_empty() => String::new(),
        CitesBy::Raised | CitesBy::Note => citation,
        CitesBy::Number | CitesBy::Author => format!(" {citation}"),
    };
    if outline.cites_by == CitesBy::Note && !in_text.is_empty() {
        in_text = format!(" <small class=\"note\">({in_text})</small>");
    }
    let mut marks = String::new();
    for quote in &sentence.quotes {
        *notes += 1;
        *count += 1;
        let page = quote.page.map(|page| format!(", p. {page}")).unwrap_or_default();
        let _infallible = writeln!(
            evidence,
            "<li id=\"quote-{notes}\"><blockquote>{}</blockquote>\n<p><a href=\"#ref-{}\">{}</a>{page}</p></li>",
            escape_html(&quote.text),
            quote.reference + 1,
            escape_html(&outline.items[quote.reference].display_title()),
        );
        let _infallible = write!(
            marks,
            "<sup><a class=\"quote\" href=\"#quote-{notes}\" aria-label=\"Quotation {notes}\">”</a></sup>"
        );
    }
    let [text, closing] = [&sentence.text, &sentence.closing].map(|text| escape_html(text));
    let mark = if sentence.marked {
        format!("<sup class=\"doubt\">{DOUBT_MARK}</sup>")
    } else {
        String::new()
    };
    let lead = sentence.lead.as_ref().map_or_else(String::new, |Lead { emphasised, rest }| {
        format!("<em>{}</em>{}", escape_html(emphasised), escape_html(rest))
    });
    format!("<span>{lead}{text}{in_text}{closing}{mark}{marks}</span>")
}

/// The table, where it stands in front of part `at`.
fn table(outline: &Outline, at: usize) -> String {
    let drawn = at.checked_sub(1).and_then(|at| outline.parts.get(at));
    let drawn = drawn.is_some_and(|part| part.figure.is_some());
    let Some(table) = outline.table.as_ref().filter(|table| table.before == at && !drawn) else {
        return String::new();
    };
    let heads: String = table
        .columns
        .iter()
        .map(|head| format!("<th scope=\"col\">{}</th>", escape_html(head)))
        .collect();
    let mut html = format!(
        "<table>\n<thead><tr><th scope=\"col\">{}</th>{heads}</tr></thead>\n<tbody>\n",
        OutlineTable::PAPERS
    );
    for row in &table.rows {
        let cells: String =
            row.cells.iter().map(|cell| format!("<td>{}</td>", escape_html(cell))).collect();
        let _infallible = writeln!(
            html,
            "<tr><th scope=\"row\"><a href=\"#ref-{}\">{}</a></th>{cells}</tr>",
            row.reference + 1,
            escape_html(&row.paper)
        );
    }
    html + "</tbody>\n</table>\n"
}

fn references(outline: &Outline) -> String {
    if outline.entries.is_empty() {
        return String::new();
    }
    let mut html =
        "<section aria-labelledby=\"references\">\n<h2 id=\"references\">References</h2>\n\
                    <ul class=\"references\">\n"
            .to_owned();
    for entry in &outline.entries {
        let label = runs(&entry.label);
        let label = match label.trim() {
            "" => String::new(),
            label => format!("<span class=\"label\">{label}</span> "),
        };
        let mut text = runs(&entry.text);
        let link = outline.items[entry.reference].link();
        if let Some(url) = link.filter(|url| is_web(url) && !text.contains("<a href=\"http")) {
            let _infallible = write!(text, " <a href=\"{}\">Link</a>", escape_html(&url));
        }
        let _infallible = writeln!(
            html,
            "<li id=\"ref-{}\">{label}<span>{text}</span></li>",
            entry.reference + 1
        );
    }
    html.push_str("</ul>\n</section>\n");
    html
}

fn runs(runs: &[Run]) -> String {
    runs.iter().map(run).collect()
}

fn run(run: &Run) -> String {
    let mut html = escape_html(&run.text);
    let mut wrap = |tag: &str| html = format!("<{tag}>{html}</{tag}>");
    if run.look.italic {
        wrap("i");
    }
    if run.look.bold {
        wrap("b");
    }
    if run.look.underlined {
        wrap("u");
    }
    match run.look.raised {
        Some(true) => wrap("sup"),
        Some(false) => wrap("sub"),
        None => {}
    }
    if run.look.small_caps {
        html = format!("<span class=\"caps\">{html}</span>");
    }
    match &run.link {
        Some(Link::Reference(at)) => format!("<a href=\"#ref-{}\">{html}</a>", at + 1),
        Some(Link::Url(url)) if is_web(url) => {
            format!("<a href=\"{}\">{html}</a>", escape_html(url))
        }
        _ => html,
    }
}
