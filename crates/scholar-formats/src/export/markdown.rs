//! Markdown with footnotes, as most renderers and pandoc read it.

use std::fmt::Write as _;

use scholar_core::Abstention;
use scholar_core::text::untrusted;

use super::lead::Lead;
use super::outline::{DOUBT_MARK, Outline, OutlineTable, Sentence};
use super::style::{CitesBy, Link, Run};
use crate::fragment::is_web;

pub(super) fn write(outline: &Outline) -> String {
    let mut text = format!("# {}\n\n", escaped(&outline.title));
    if let Some(Abstention { heading, message }) = outline.abstention {
        let _infallible = write!(text, "**{heading}** {message}\n\n");
    }
    let mut notes: Vec<String> = Vec::new();
    for (at, part) in outline.parts.iter().enumerate() {
        text.push_str(&table(outline, at));
        if let Some(heading) = &part.heading {
            let marks = if part.below { "###" } else { "##" };
            let _infallible = write!(text, "{marks} {}\n\n", escaped(heading));
        }
        if let Some(about) = &part.about {
            let _infallible = write!(text, "> {}\n\n", guarded(&escaped(about)));
        }
        for paragraph in &part.paragraphs {
            let sentences: Vec<String> =
                paragraph.sentences.iter().map(|one| sentence(one, outline, &mut notes)).collect();
            let lead = if paragraph.bullet { "- " } else { "" };
            let _infallible = match &paragraph.label {
                Some(label) => {
                    write!(text, "{lead}**{}:** {}\n\n", escaped(label), sentences.join(" "))
                }
                None => write!(text, "{lead}{}\n\n", guarded(&sentences.join(" "))),
            };
        }
    }
    text.push_str(&table(outline, outline.parts.len()));
    if let Some(legend) = outline.legend {
        let _infallible = write!(text, "{DOUBT_MARK} {legend}\n\n");
    }
    if !outline.entries.is_empty() {
        text.push_str("## References\n\n");
        for entry in &outline.entries {
            let label = runs(&entry.label);
            let blank = if label.is_empty() { "" } else { " " };
            let anchor = entry.reference + 1;
            let body = runs(&entry.text);
            let _infallible = write!(
                text,
                "<a id=\"ref-{anchor}\"></a>{}{blank}{}\n\n",
                label.trim(),
                body.trim()
            );
        }
    }
    if !outline.notices.is_empty() {
        text.push_str("## Notes\n\n");
        for notice in &outline.notices {
            let _infallible = writeln!(text, "- {}", guarded(&escaped(notice)));
        }
        text.push('\n');
    }
    for (number, note) in notes.iter().enumerate() {
        let _infallible = write!(text, "[^{}]: {}\n\n", number + 1, guarded(note));
    }
    let _infallible = writeln!(text, "---\n\n{}", guarded(&escaped(&outline.generated_by)));
    text
}

fn sentence(sentence: &Sentence, outline: &Outline, notes: &mut Vec<String>) -> String {
    let citation = runs(&sentence.citation);
    let in_text = match outline.cites_by {
        _ if citation.is_empty() => String::new(),
        CitesBy::Note => String::new(),
        CitesBy::Raised => citation.clone(),
        CitesBy::Number | CitesBy::Author => format!(" {citation}"),
    };
    let mut marks = String::new();
    let mut mark = |note: String| {
        notes.push(note);
        let _infallible = write!(marks, "[^{}]", notes.len());
    };
    if outline.cites_by == CitesBy::Note && !citation.is_empty() {
        mark(citation);
    }
    for quote in &sentence.quotes {
        let page = quote.page.map(|page| format!(", p. {page}")).unwrap_or_default();
        let title = escaped(&outline.items[quote.reference].display_title());
        let quoted = escaped(&format!("“{}”", quote.text));
        mark(format!("{quoted} — [{title}](#ref-{}){page}", quote.reference + 1));
    }
    // `![^1]` would be an image.
    let closing = sentence.closing.replace('!', if marks.is_empty() { "!" } else { "\\!" });
    let mark = if sentence.marked { DOUBT_MARK } else { "" };
    let lead = sentence.lead.as_ref().map_or_else(String::new, |Lead { emphasised, rest }| {
        format!("*{}*{}", escaped(emphasised), escaped(rest))
    });
    format!("{lead}{}{in_text}{closing}{mark}{marks}", escaped(&sentence.text))
}

/// The table, where it stands in front of part `at`.
fn table(outline: &Outline, at: usize) -> String {
    let Some(table) = outline.table.as_ref().filter(|table| table.before == at) else {
        return String::new();
    };
    let mut text = format!("| {} |", OutlineTable::PAPERS);
    for column in &table.columns {
        let _infallible = write!(text, " {} |", escaped(column));
    }
    text.push_str("\n|---|");
    text.push_str(&"---|".repeat(table.columns.len()));
    for row in &table.rows {
        let _infallible =
            write!(text, "\n| [{}](#ref-{}) |", escaped(&row.paper), row.reference + 1);
        for cell in &row.cells {
            let _infallible = write!(text, " {} |", escaped(cell));
        }
    }
    text + "\n\n"
}

fn runs(runs: &[Run]) -> String {
    runs.iter().map(run).collect()
}

fn run(run: &Run) -> String {
    // Marks must stand right beside the words.
    let inner = run.text.trim();
    if inner.is_empty() {
        return run.text.clone();
    }
    let (lead, rest) = run.text.split_at(run.text.len() - run.text.trim_start().len());
    let tail = &rest[inner.len()..];
    let mut text = escaped(inner);
    if run.look.italic {
        text = format!("*{text}*");
    }
    if run.look.bold {
        text = format!("**{text}**");
    }
    match run.look.raised {
        Some(true) => text = format!("<sup>{text}</sup>"),
        Some(false) => text = format!("<sub>{text}</sub>"),
        None => {}
    }
    match &run.link {
        Some(Link::Reference(at)) => text = format!("[{text}](#ref-{})", at + 1),
        Some(Link::Url(url)) if is_web(url) => {
            text = format!("[{text}](<{}>)", url.replace(['<', '>', ' ', '\\'], ""));
        }
        _ => {}
    }
    format!("{lead}{text}{tail}")
}

/// Every sign that could mean something to Markdown in any of its dialects (pandoc's formulas, raised and lowered text)
/// or to HTML. More than [`untrusted::Untrusted::markdown`] escapes: this file is for other programs, not for terminals.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in untrusted(text).line().to_string().chars() {
        match c {
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '#' | '|' | '~' | '^' | '$' | '&' => {
                out.push('\\');
                out.push(c);
            }
            _ => out.push(c),
        }
    }
    out
}

/// A paragraph that begins like a list, a rule or a heading is none.
fn guarded(text: &str) -> String {
    let text = text.trim_start();
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    if text.starts_with(['-', '+', '=', ':', '%', '(', '@']) {
        format!("\\{text}")
    } else if digits > 0 && text[digits..].starts_with(['.', ')']) {
        format!("{}\\{}", &text[..digits], &text[digits..])
    } else {
        text.to_owned()
    }
}
