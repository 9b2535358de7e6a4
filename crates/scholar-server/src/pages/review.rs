//! The page on which ideas are reviewed.

use maud::{Markup, html};

use super::ask::{budget, estimate_words, no_papers, papers, refusal, sources};
use super::text::text;
use crate::additions::MOST_IDEA_BYTES;
use crate::backend::{Expected, Offer, ReviewForm, ReviewHalf, ReviewPreset, ReviewRequest};
use crate::error::ApiError;

/// What the form shows.
pub(super) struct Form<'a> {
    /// What is filled in.
    pub(super) request: &'a ReviewRequest,
    /// Why what was sent was not taken.
    pub(super) problem: Option<ApiError>,
    /// What the review would use, where that was asked.
    pub(super) estimate: Option<Expected>,
}

/// The page.
pub(super) fn page(form: &Form<'_>, offer: &Offer) -> Markup {
    let Form { request, problem, estimate } = form;
    html! {
        h1 { "Review a research idea" }
        @if offer.datastores.is_empty() {
            (no_papers())
        } @else {
            p { "A plan is weighed against the literature before any experiment is run: do published studies support its methods, and what of it exists already?" }
            @if let Some(problem) = problem { (refusal("Not begun.", problem)) }
            form.ask.idea method="post" action="/review" enctype="multipart/form-data" data-drop-one="" {
                label for="idea" { "Your idea, as text or Markdown" }
                textarea #idea name="idea" rows="12" maxlength="20000" autofocus aria-describedby="idea-note"
                    placeholder="# Title\n\n## Problem\n…\n\n## Method\n…\n\n## Experiment design\n…" { "\n" (text(&request.idea)) }
                p.soft #idea-note { "In English, at most 20,000 characters, without results. A paper with the same title is taken for the idea’s own, and not read." }
                div.file {
                    label for="file" { "Or a file: Markdown, text, PDF or DOCX" }
                    input #file type="file" name="file" accept=".md,.markdown,.txt,.pdf,.docx" aria-describedby="file-note";
                    p.soft #file-note { "At most " (MOST_IDEA_BYTES / 1_000_000) " MB. It is read in the place of the text above, and not kept." }
                }
                (choices(offer, request))
                div.buttons {
                    button.primary type="submit" { "Review" }
                    button type="submit" formaction="/review/estimate" { "Estimate the cost" }
                    @if let Some(expected) = estimate { p.estimate role="status" { (estimate_words(expected)) } }
                }
            }
            @if request.idea.is_empty() { (explained()) }
        }
    }
}

fn choices(offer: &Offer, request: &ReviewRequest) -> Markup {
    let has_writer = offer.generator.is_some();
    let is_open = request.preset.is_some()
        || request.points.is_some()
        || !request.sources.is_empty()
        || request.max_cost_usd.is_some()
        || request.max_calls.is_some()
        || request.max_seconds.is_some();
    html! {
        div.row {
            (papers(offer, request.datastore.as_deref()))
            div {
                label for="module" { "What is reviewed" }
                select #module name="module" {
                    option value="" { "Soundness and contribution" }
                    @for (half, words) in [(ReviewHalf::Soundness, "Soundness: do studies support the methods?"), (ReviewHalf::Contribution, "Contribution: what is new?")] {
                        option value=(half.name()) selected[request.module == Some(half)] { (words) }
                    }
                }
            }
            div {
                label for="mode" { "How it is written" }
                select #mode name="mode" {
                    option value="" { "What fits" }
                    @for (form, words) in [(ReviewForm::Evidence, "Evidence: papers’ own words, nothing scored"), (ReviewForm::Generative, "Generative: by a model, checked")] {
                        @let is_missing = form == ReviewForm::Generative && !has_writer;
                        option value=(form.name()) selected[request.mode == Some(form)] disabled[is_missing] { (words) @if is_missing { " (needs a language model)" } }
                    }
                }
            }
            div {
                label for="cutoff" { "Cut-off date" }
                input #cutoff type="date" name="cutoff" value=[request.cutoff] aria-describedby="cutoff-note";
            }
        }
        p.soft #cutoff-note { "With a cut-off only papers from before that day are read." }
        label.check { input type="checkbox" name="include_unknown" checked[request.include_unknown]; " with a cut-off, read papers without a date, too" }
        details.more open[is_open] {
            summary { "Preset, sources and budget" }
            div.row {
                div {
                    label for="preset" { "Preset" }
                    select #preset name="preset" {
                        @for (preset, words) in [(ReviewPreset::Lean, "lean: at most 60 model calls"), (ReviewPreset::Paper, "paper: as published, reads more"), (ReviewPreset::Upstream, "upstream: as the released code")] {
                            option value=(preset.name()) selected[request.preset == Some(preset)] { (words) }
                        }
                    }
                }
                @if has_writer {
                    div {
                        label for="points" { "Points about the plan itself, at most" }
                        input #points name="points" inputmode="numeric" size="6" value=[request.points];
                    }
                }
            }
            (sources(offer, &request.sources))
            (budget(request.max_cost_usd, Some(request.max_calls), request.max_seconds))
        }
    }
}

/// What comes of it.
fn explained() -> Markup {
    html! {
        section aria-labelledby="what" {
            h2 #what { "What you get" }
            ul {
                li { "For every method: studies that support it, contradict it or speak for caution, each with its located quotation." }
                li { "For every claimed contribution: the nearest earlier work, and a map of what is near." }
                li { "With a capable model: what a referee would say of the plan itself." }
                li { "What was left out and what failed, listed. Nothing is scored." }
            }
        }
    }
}
