//! An answer: its parts, its sentences with their chips, its table, its references.

use std::collections::BTreeSet;
use std::ops::Range;

use maud::{Markup, html};
use scholar_core::paper::display_title;
use scholar_core::{Answer, AnswerRole, AnswerSentence, AnswerTable, Verdict};

use super::chips::{Sources, about, chips, label, popovers, quoted};
use super::text::{counted, text};

/// A part of an answer under one heading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) heading: Option<String>,
    pub(super) sentences: Range<usize>,
}

/// The parts of an answer: its sections, or where it has none what stands under the same heading.
pub(super) fn parts(answer: &Answer) -> Vec<Part> {
    if !answer.sections.is_empty() {
        let sections = answer.sections.iter();
        return sections
            .map(|section| Part {
                heading: section.heading.clone(),
                sentences: section.start..section.end.min(answer.sentences.len()),
            })
            .collect();
    }
    by_heading(&answer.sentences)
}

/// Sentences that stand under the same heading.
pub(super) fn by_heading(sentences: &[AnswerSentence]) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    for (at, sentence) in sentences.iter().enumerate() {
        match parts.last_mut() {
            Some(part) if part.heading == sentence.heading => part.sentences.end = at + 1,
            _ => parts.push(Part { heading: sentence.heading.clone(), sentences: at..at + 1 }),
        }
    }
    parts
}

/// How a sentence differs from a finding that is proven.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Quotation,
    Synthesis,
    Gap,
    Doubtful,
    Framing,
}

impl Kind {
    fn of(sentence: &AnswerSentence) -> Option<Self> {
        match sentence.role {
            _ if is_doubtful(sentence) => Some(Self::Doubtful),
            Some(AnswerRole::Synthesis) => Some(Self::Synthesis),
            Some(AnswerRole::Gap) => Some(Self::Gap),
            Some(AnswerRole::Framing) => Some(Self::Framing),
            _ if sentence.is_quoted() => Some(Self::Quotation),
            _ => None,
        }
    }

    fn class(self) -> &'static str {
        match self {
            Self::Quotation => "quotation",
            Self::Synthesis => "synthesis",
            Self::Gap => "gap",
            Self::Doubtful => "doubtful",
            Self::Framing => "framing",
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Quotation => "“A paper’s own words.”",
            Self::Synthesis => "Follows from the cited sentences of this answer.",
            Self::Gap => "Searched for, and not reported in the papers.",
            Self::Doubtful => "Not confirmed in full by the passages cited.†",
            Self::Framing => "Leads over; claims nothing.",
        }
    }
}

/// Whether a sentence stays doubtful.
pub(super) fn is_doubtful(sentence: &AnswerSentence) -> bool {
    let failed = sentence.support.as_ref().is_some_and(|one| one.verdict != Verdict::Supported);
    failed || sentence.role == Some(AnswerRole::Finding) && sentence.citations.is_empty()
}

/// What the looks of sentences mean, of those that there are.
pub(super) fn legend(answer: &Answer) -> Markup {
    let mut kinds: Vec<Kind> = answer.sentences.iter().filter_map(Kind::of).collect();
    kinds.sort_unstable();
    kinds.dedup();
    html! {
        @if !kinds.is_empty() {
            div.legend {
                p { "How to read this answer" }
                ul { @for kind in kinds { li { span class={ "sentence " (kind.class()) } { (kind.words()) } } } }
            }
        }
    }
}

/// A part in one line, for while it is folded: what it finds first, and on how many papers it rests.
pub(super) fn gist(sentences: &[AnswerSentence]) -> Markup {
    let says = |one: &&AnswerSentence| {
        !matches!(one.role, Some(AnswerRole::Framing | AnswerRole::Gap)) && !is_doubtful(one)
    };
    let first = sentences.iter().find(says).or_else(|| sentences.first());
    let cited: BTreeSet<usize> =
        sentences.iter().flat_map(|one| &one.citations).map(|citation| citation.0).collect();
    html! {
        @if let Some(first) = first {
            span.gist {
                span.line { (text(&first.text)) }
                @if !cited.is_empty() { " " span.soft { "(" (counted(cited.len(), "paper", "papers")) ")" } }
            }
        }
    }
}

/// The sentences of a part, as paragraphs or as a list where they are quotations.
pub(super) fn sentences(
    all: &[AnswerSentence],
    range: Range<usize>,
    sources: &Sources<'_>,
) -> Markup {
    let mut paragraphs: Vec<Vec<usize>> = Vec::new();
    for at in range.clone() {
        let is_new = all[at].paragraph_start || all[at].is_quoted();
        match paragraphs.last_mut() {
            Some(paragraph) if !is_new => paragraph.push(at),
            _ => paragraphs.push(vec![at]),
        }
    }
    html! {
        @for paragraph in &paragraphs {
            p { @for at in paragraph { (sentence(*at, &all[*at], sources)) " " } }
        }
        @for at in range { (popovers(at, &all[at], sources)) }
    }
}

/// A sentence with its chips.
pub(super) fn sentence(at: usize, sentence: &AnswerSentence, sources: &Sources<'_>) -> Markup {
    let kind = Kind::of(sentence);
    let class = kind.map_or("", Kind::class);
    let quoted = sentence.is_quoted();
    html! {
        @if !sentence.study.is_empty() {
            span.study { @for detail in &sentence.study { (text(&detail.text)) ". " } } " "
        }
        span class={ "sentence " (class) } id={ "s" (at) } {
            @if quoted { "“" } (text(&sentence.text)) @if quoted { "”" }
            @if kind == Some(Kind::Doubtful) { span aria-hidden="true" { "†" } span.hidden { " (not confirmed in full)" } }
            @if kind == Some(Kind::Gap) { span.hidden { " (a gap in the papers)" } }
            @if !sentence.follows.is_empty() {
                " " span.follows { "from " @for (n, from) in sentence.follows.iter().enumerate() { @if n > 0 { ", " } a href={ "#s" (from) } { "sentence " (from + 1) } } }
            }
        }
        (chips(at, sentence, sources))
    }
}

/// Studies side by side, each cell with its evidence.
pub(super) fn table(table: &AnswerTable, sources: &Sources<'_>) -> Markup {
    html! {
        div.table tabindex="0" role="region" aria-label="Studies side by side" {
            table {
                thead { tr { th scope="col" { "Study" } @for column in &table.columns { th scope="col" { (text(column)) } } } }
                tbody {
                    @for (row_at, row) in table.rows.iter().enumerate() {
                        @let reference = sources.reference(row.reference.0);
                        tr {
                            th scope="row" { @if let Some(reference) = reference { a href={ "#ref-" (row.reference.0) } { (text(&label(reference))) } } }
                            @for (cell_at, cell) in row.cells.iter().enumerate() {
                                td {
                                    @match (&cell.quote, reference) {
                                        (Some(quote), Some(reference)) => {
                                            @let id = format!("t{row_at}-{cell_at}");
                                            button.cell type="button" popovertarget=(id) aria-haspopup="dialog" { (text(&cell.text)) }
                                            div.popover #(id) popover role="dialog" aria-label="Evidence of this cell" { (quoted(quote, reference, sources)) }
                                        }
                                        _ if cell.text.is_empty() => { span.soft { "not found" } }
                                        _ => { (text(&cell.text)) }
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// The cited papers, with what is quoted of each.
pub(super) fn references(answer: &Answer, sources: &Sources<'_>) -> Markup {
    let cited = answer.cited();
    let shown = answer.references.iter().filter(|reference| cited.contains(&reference.number));
    html! {
        @if !cited.is_empty() {
            section.references aria-labelledby="references" {
                h2 #references { "References" }
                ol {
                    @for reference in shown {
                        li value=(reference.number.0) id={ "ref-" (reference.number.0) } tabindex="-1" {
                            strong { (text(&display_title(&reference.title, &reference.paper_id))) }
                            (about(reference, sources))
                            @if !reference.found_by.is_empty() { p.soft { "Found by " (text(&reference.found_by.join(", "))) "." } }
                            @let quotes: Vec<_> = answer.quotes().filter(|quote| quote.reference == reference.number).collect();
                            @if !quotes.is_empty() {
                                details {
                                    summary { "What is quoted" }
                                    @for quote in quotes { (quoted(quote, reference, sources)) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use scholar_core::Citation;

    use super::*;

    fn under(heading: Option<&str>) -> AnswerSentence {
        let heading = heading.map(str::to_owned);
        AnswerSentence { heading, ..AnswerSentence::uncited("x.") }
    }

    #[test]
    fn a_folded_part_shows_what_it_finds_first() {
        let with_role = |text: &str, role, citations: &[usize]| AnswerSentence {
            role: Some(role),
            citations: citations.iter().copied().map(Citation).collect(),
            ..AnswerSentence::uncited(text)
        };
        let part = [
            with_role("This leads over.", AnswerRole::Framing, &[]),
            with_role("Nobody confirms this.", AnswerRole::Finding, &[]),
            with_role("Cells <grow>.", AnswerRole::Finding, &[2, 7]),
            with_role("They grow fast.", AnswerRole::Finding, &[7]),
        ];
        let shown = gist(&part).into_string();
        assert!(shown.contains("Cells &lt;grow&gt;.") && shown.contains("(2 papers)"), "{shown}");
        assert!(gist(&part[..1]).into_string().contains("This leads over."));
        assert_eq!(gist(&[]).into_string(), "");
    }

    #[test]
    fn sentences_under_one_heading_are_a_part() {
        let sentences = [under(None), under(Some("a")), under(Some("a")), under(Some("b"))];
        let parts = by_heading(&sentences);
        let shown: Vec<_> =
            parts.iter().map(|part| (part.heading.as_deref(), part.sentences.clone())).collect();
        assert_eq!(shown, [(None, 0..1), (Some("a"), 1..3), (Some("b"), 3..4)]);
    }
}
