//! The report of a review: its parts with their sentences, chips and the map of novelty.

use std::collections::BTreeMap;

use maud::{Markup, html};
use scholar_core::{Answer, AnswerSentence, AnswerTable};
use scholar_formats::export::{ReportLine, ReportPart};

use super::answer::{sentence, table};
use super::chips::{Sources, popovers};
use super::text::{encoded, text};
use crate::backend::ReviewView;

/// Where each line of a report stands: the number by which other sentences follow from it, and by which its popovers are named.
struct Places {
    by_line: BTreeMap<(usize, usize), usize>,
}

impl Places {
    /// A sentence that stands in two parts has its number where it stands last: the first part only sums up.
    fn of(review: &ReviewView, answer: &Answer) -> Self {
        let mut free: Vec<Option<&AnswerSentence>> = answer.sentences.iter().map(Some).collect();
        let mut next = free.len();
        let mut by_line = BTreeMap::new();
        for (part_at, part) in review.parts.iter().enumerate().rev() {
            for (line_at, line) in part.lines.iter().enumerate() {
                let at = free.iter().position(|one| *one == Some(&line.sentence));
                let at = at.unwrap_or_else(|| {
                    next += 1;
                    next - 1
                });
                if let Some(taken) = free.get_mut(at) {
                    *taken = None;
                }
                by_line.insert((part_at, line_at), at);
            }
        }
        Self { by_line }
    }

    fn at(&self, part: usize, line: usize) -> usize {
        self.by_line.get(&(part, line)).copied().unwrap_or_default()
    }
}

/// The parts, each with what `tools` offers for it. `drawing` is the address of the map of novelty.
pub(super) fn article(
    review: &ReviewView,
    answer: &Answer,
    sources: &Sources<'_>,
    drawing: &str,
    tools: impl Fn(usize, &str) -> Markup,
) -> Markup {
    let places = Places::of(review, answer);
    html! {
        article.answer.report {
            @for (at, part) in review.parts.iter().enumerate() {
                section id={ "part-" (at) } aria-labelledby={ "part-" (at) "-title" } {
                    (heading(at, part))
                    @if let Some(about) = &part.about { blockquote.of-idea { p { (text(about)) } } }
                    @for (line_at, line) in part.lines.iter().enumerate() { (line_of(places.at(at, line_at), line, sources)) }
                    @if part.map.is_some() { (map(drawing, review.table.as_ref().filter(|(_, behind)| *behind == at), sources)) }
                    @if !part.lines.is_empty() { (tools(at, &part.heading)) }
                }
            }
        }
    }
}

fn heading(at: usize, part: &ReportPart) -> Markup {
    let id = format!("part-{at}-title");
    html! { @if part.below { h3 #(id) { (text(&part.heading)) } } @else { h2 #(id) { (text(&part.heading)) } } }
}

fn line_of(at: usize, line: &ReportLine, sources: &Sources<'_>) -> Markup {
    html! {
        p {
            @if let Some(label) = &line.label { strong.label { (text(label)) ":" } " " }
            (sentence(at, &line.sentence, sources))
        }
        (popovers(at, &line.sentence, sources))
    }
}

/// The map as a drawing, and the same in a table for whoever does not see it.
fn map(drawing: &str, measured: Option<&(AnswerTable, usize)>, sources: &Sources<'_>) -> Markup {
    html! {
        div.drawing tabindex="0" role="region" aria-label="Map of what is near; it may be wider than the window" {
            img src=(drawing) alt="Map of novelty: the nearest papers in rows, the idea’s claims in columns, darker where they are nearer. The cited papers are in the table below.";
        }
        p { a href=(drawing) download="novelty-map.svg" { "Save the map (SVG)" } }
        @if let Some((measured, _)) = measured {
            details { summary { "The map as a table" } (table(measured, sources)) }
        }
    }
}

/// What was reviewed, whole.
pub(super) fn idea(idea: &str) -> Markup {
    html! { details { summary { "The idea that was reviewed" } div.prose { (text(idea)) } } }
}

/// The form with another choice for the same idea.
pub(super) fn again(run: &str) -> Markup {
    html! { p.follow-up { a href={ "/review?like=" (encoded(run)) } { "Review this idea with other settings" } } }
}
