//! The page of a paper: what is known of it, its text with a quotation marked, what it cites, who cites and who quoted it.

use std::ops::Range;

use maud::{Markup, html};
use scholar_core::paper::SECTION_BREAK;
use scholar_core::{
    CharSpan, FieldSource, Paper, PaperId, PaperMeta, Passage, RecordSource, Section,
};

use super::chips::retraction;
use super::text::{counted, encoded, grouped, text, web_address};
use crate::backend::{CitedWork, PaperView, QuotedIn};

/// Rows of a list that are shown at once; the rest is behind a click.
const SHOWN_ROWS: usize = 20;

/// A quotation in one of a paper's passages.
pub(super) struct Quotation<'a> {
    /// The passage it stands in.
    pub(super) passage: &'a Passage,
    /// Its characters in the passage.
    pub(super) span: CharSpan,
}

impl Quotation<'_> {
    /// Its words; `None` if the passage is shorter than they are.
    pub(super) fn words(&self) -> Option<&str> {
        self.span.slice(&self.passage.text).filter(|words| !words.trim().is_empty())
    }

    /// Where it stands in the text of its paper.
    fn in_paper(&self) -> CharSpan {
        let start = self.passage.span.start;
        CharSpan::new(start + self.span.start, start + self.span.end)
    }

    /// What an address says of it, after the question mark.
    pub(super) fn query(&self) -> String {
        let CharSpan { start, end } = self.span;
        format!("passage={}&start={start}&end={end}", encoded(&self.passage.id.to_string()))
    }
}

/// Address of a paper's page.
pub(super) fn address(datastore: &str, paper: &PaperId) -> String {
    format!("/papers/{}/{}", encoded(datastore), encoded(&paper.to_string()))
}

/// The page. `asked` is the quotation that the address names: an error says why it cannot be shown.
pub(super) fn page(
    datastore: &str,
    view: &PaperView,
    asked: Option<&Result<Quotation<'_>, String>>,
) -> Markup {
    let PaperView { paper, references, cited_by, quoted_in, has_pdf, .. } = view;
    let own = address(datastore, &paper.meta.id);
    let quotation = asked.and_then(|asked| asked.as_ref().ok());
    let marked = quotation.map(Quotation::in_paper);
    html! {
        article.paper {
            h1 { (text(&paper.meta.display_title())) }
            (about(&paper.meta))
            @if let Some(Err(why)) = asked { div.notice.warn role="alert" { p { (text(why)) } } }
            @if let Some(quotation) = quotation {
                p.notice {
                    a href="#quotation" { "Go to the quotation" }
                    @if *has_pdf { " · " a href={ (own) "/pdf?" (quotation.query()) } { "See it on the page of the PDF" } }
                }
            } @else if *has_pdf {
                p { a href={ (own) "/pages/1" } { "Look at the pages of the PDF" } }
            }
            (contents(view))
            (sections(&paper.sections, marked))
            (cites(datastore, references))
            (citers(datastore, cited_by))
            (quoted(datastore, &paper.meta.id, quoted_in))
            (origins(paper))
        }
    }
}

/// Who wrote it, where and when, and under which names it is known.
pub(super) fn about(meta: &PaperMeta) -> Markup {
    let link = meta.link();
    let link = link.as_deref().and_then(web_address);
    html! {
        p.about {
            @if meta.authors.is_empty() { "Authors unknown. " } @else { (text(&meta.authors.join(", "))) ". " }
            @if let Some(venue) = &meta.venue { em { (text(venue)) } ", " }
            @match meta.year { Some(year) => { (year) } None => { "undated" } }
            ". "
            @if let Some(n) = meta.citation_count { (counted(n as usize, "citation", "citations")) ". " }
            (retraction(meta.retraction)) " "
            @if let Some(licence) = &meta.licence { "Licence: " (text(licence)) ". " }
        }
        p.about {
            @for id in meta.ids() { code { (text(&id.to_string())) } " " }
            @if let Some(link) = link { a href=(text(link)) rel="noreferrer noopener" target="_blank" { "Publisher’s page" } }
        }
    }
}

/// Links to the parts of the page.
fn contents(view: &PaperView) -> Markup {
    let sections = &view.paper.sections;
    html! {
        nav.contents aria-label="Contents" {
            details open[sections.len() <= 12] {
                summary { "Contents" }
                ul {
                    @for (at, section) in sections.iter().enumerate() {
                        li { a href={ "#s" (at) } { (text(heading(section))) } }
                    }
                    li { a href="#references" { "References (" (grouped(view.references.len() as u64)) ")" } }
                    li { a href="#cited-by" { "Cited by (" (grouped(view.cited_by.len() as u64)) ")" } }
                    li { a href="#quoted-in" { "Quoted in (" (grouped(view.quoted_in.len() as u64)) ")" } }
                }
            }
        }
    }
}

fn heading(section: &Section) -> &str {
    if section.heading.is_empty() { "Text" } else { &section.heading }
}

/// The text, with the characters `marked` of all of it marked.
fn sections(sections: &[Section], marked: Option<CharSpan>) -> Markup {
    let ranges = ranges(sections);
    // Where the mark begins there is a place to go to; only there.
    let first = marked.and_then(|span| ranges.iter().position(|range| span.start < range.end));
    html! {
        @if sections.is_empty() { p.soft { "No text of this paper is stored, only what is known of it." } }
        @for (at, (section, range)) in sections.iter().zip(&ranges).enumerate() {
            section aria-labelledby={ "s" (at) } {
                h2 id={ "s" (at) } { (text(heading(section))) }
                p.prose { (words(&section.text, range, marked, first == Some(at))) }
            }
        }
    }
}

/// Where each section stands in the text of the whole paper, in characters.
fn ranges(sections: &[Section]) -> Vec<Range<usize>> {
    let mut start = 0;
    let range = |section: &Section| {
        let end = start + section.text.chars().count();
        let range = start..end;
        start = end + SECTION_BREAK.chars().count();
        range
    };
    sections.iter().map(range).collect()
}

/// A section's text, with what of `marked` stands in it.
fn words(own: &str, range: &Range<usize>, marked: Option<CharSpan>, is_first: bool) -> Markup {
    let inside = marked.and_then(|span| {
        let start = span.start.max(range.start).saturating_sub(range.start);
        let end = span.end.min(range.end).saturating_sub(range.start);
        (start < end).then_some((start, end))
    });
    let byte = |chars: usize| own.char_indices().nth(chars).map_or(own.len(), |(at, _)| at);
    html! {
        @match inside {
            Some((start, end)) => {
                (text(&own[..byte(start)]))
                mark id=[is_first.then_some("quotation")] tabindex=[is_first.then_some("-1")] { (text(&own[byte(start)..byte(end)])) }
                (text(&own[byte(end)..]))
            }
            None => { (text(own)) }
        }
    }
}

/// Rows, the first of them at once.
fn rows(rows: &[Markup]) -> Markup {
    let (first, rest) = rows.split_at(rows.len().min(SHOWN_ROWS));
    html! {
        ol { @for row in first { li { (row) } } }
        @if !rest.is_empty() {
            details {
                summary { (counted(rest.len(), "more", "more")) }
                ol start=(first.len() + 1) { @for row in rest { li { (row) } } }
            }
        }
    }
}

fn cites(datastore: &str, references: &[CitedWork]) -> Markup {
    let stored = references.iter().filter(|work| work.is_stored).count();
    let row = |work: &CitedWork| match &work.id {
        Some(id) if work.is_stored => {
            html! { a href=(address(datastore, id)) { (text(&work.text)) } }
        }
        Some(id) => html! { (text(&work.text)) " " code { (text(&id.to_string())) } },
        None => html! { (text(&work.text)) },
    };
    let all: Vec<Markup> = references.iter().map(row).collect();
    html! {
        section aria-labelledby="references" {
            h2 #references { "References" }
            @if all.is_empty() { p.soft { "No references of this paper are known." } }
            @else { p.soft { (grouped(stored as u64)) " of " (counted(all.len(), "reference is", "references are")) " here." } (rows(&all)) }
        }
    }
}

/// A paper in a list.
pub(super) fn line(datastore: &str, meta: &PaperMeta) -> Markup {
    let shown: Vec<&str> = meta.authors.iter().take(3).map(String::as_str).collect();
    let others = if meta.authors.len() > shown.len() { " et al." } else { "" };
    html! {
        a href=(address(datastore, &meta.id)) { (text(&meta.display_title())) }
        " " span.soft {
            (text(&shown.join(", "))) (others)
            @if let Some(year) = meta.year { " (" (year) ")" }
            @if let Some(venue) = &meta.venue { ", " (text(venue)) }
        }
    }
}

fn citers(datastore: &str, cited_by: &[PaperMeta]) -> Markup {
    let all: Vec<Markup> = cited_by.iter().map(|meta| line(datastore, meta)).collect();
    html! {
        section aria-labelledby="cited-by" {
            h2 #cited-by { "Cited by" }
            @if all.is_empty() { p.soft { "No paper of this datastore cites it." } } @else { (rows(&all)) }
        }
    }
}

fn quoted(datastore: &str, paper: &PaperId, quoted_in: &[QuotedIn]) -> Markup {
    let own = address(datastore, paper);
    let row = |one: &QuotedIn| {
        let QuotedIn { run, question, quotation, passage, start, end } = one;
        let passage = encoded(&passage.to_string());
        html! {
            a href={ "/runs/" (encoded(run)) } { (text(question)) }
            ": “" a href={ (own) "?passage=" (passage) "&start=" (start) "&end=" (end) "#quotation" } { (text(quotation)) } "”"
        }
    };
    let all: Vec<Markup> = quoted_in.iter().map(row).collect();
    html! {
        section aria-labelledby="quoted-in" {
            h2 #quoted-in { "Quoted in" }
            @if all.is_empty() { p.soft { "No answer here quotes it." } } @else { (rows(&all)) }
        }
    }
}

/// Where each field comes from, and what others say instead.
fn origins(paper: &Paper) -> Markup {
    let sources = paper.field_sources();
    html! {
        @if !sources.is_empty() {
            details.origins {
                summary { "Where this is known from" }
                dl {
                    @for (field, FieldSource { source, others, .. }) in &sources {
                        dt { (name_of(field)) }
                        dd {
                            (text(&source_name(source)))
                            @for other in others { br; span.soft { (text(&source_name(other.source))) " has: " (text(&other.value)) } }
                        }
                    }
                }
            }
        }
    }
}

/// A record's source without the folders of the server, which are nobody's business.
fn source_name(source: &RecordSource) -> String {
    match source {
        RecordSource::File(file) => {
            file.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
        }
        other => other.to_string(),
    }
}

/// A value of a closed set as people read it.
fn name_of(value: &impl serde::Serialize) -> String {
    let name = serde_json::to_value(value).ok();
    name.as_ref().and_then(|name| name.as_str()).unwrap_or_default().replace('_', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quotation_is_marked_in_the_section_it_stands_in_and_over_two() {
        let all = [Section::new("One", "äb cd"), Section::new("Two", "ef gh")];
        let marked = |start, end| sections(&all, Some(CharSpan::new(start, end))).into_string();
        let one = marked(3, 5);
        assert!(one.contains("äb <mark id=\"quotation\" tabindex=\"-1\">cd</mark>"), "{one}");
        assert_eq!(one.matches("<mark").count(), 1);
        let both = marked(3, 9);
        assert!(both.contains("<mark id=\"quotation\" tabindex=\"-1\">cd</mark>"), "{both}");
        assert!(both.contains("<mark>ef</mark> gh"), "{both}");
        assert!(!marked(90, 99).contains("<mark"), "beyond the text");
        assert!(!sections(&all, None).into_string().contains("<mark"));
    }
}
