//! The page on which questions are asked.

use maud::{Markup, html};

use super::sentence;
use super::text::{counted, grouped, text};
use crate::backend::{AskFilter, AskRequest, DatastoreOffer, Expected, Length, Offer};
use crate::error::ApiError;

/// Examples that are shown of a datastore.
const SHOWN_EXAMPLES: usize = 4;

/// What the form shows.
pub(super) struct Form<'a> {
    /// What is filled in.
    pub(super) request: &'a AskRequest,
    /// Why what was sent was not taken.
    pub(super) problem: Option<ApiError>,
    /// What answering it would use, where that was asked.
    pub(super) estimate: Option<Expected>,
}

/// The page.
pub(super) fn page(form: &Form<'_>, offer: &Offer) -> Markup {
    let Form { request, problem, estimate } = form;
    html! {
        h1 { "Ask the literature" }
        @if offer.offline { p.soft { "This server works offline: questions are answered from stored papers alone, and no other service is asked." } }
        @if offer.datastores.iter().all(|store| store.papers == 0) {
            (no_papers())
        } @else {
            @if let Some(problem) = problem { (refusal("Not asked.", problem)) }
            form.ask method="post" action="/ask" {
                label.hidden for="question" { "Your question" }
                textarea #question name="question" rows="3" required maxlength="20000" autofocus
                    placeholder="What do papers say about …?" { "\n" (text(&request.question)) }
                (choices(offer, request))
                div.buttons {
                    button.primary type="submit" { "Ask" }
                    button type="submit" formaction="/estimate" { "Estimate the cost" }
                    @if let Some(estimate) = estimate { p.estimate role="status" { (estimate_words(estimate)) } }
                }
            }
            @if request.question.is_empty() { (examples(offer)) }
        }
    }
}

/// Why what was sent was not taken.
pub(super) fn refusal(what: &str, problem: &ApiError) -> Markup {
    html! {
        div.notice.bad role="alert" {
            p { strong { (what) " " } (text(&sentence(&problem.message))) }
            @if let Some(hint) = &problem.hint { p { (text(&sentence(hint))) } }
        }
    }
}

/// What a job is expected to use, in words.
pub(super) fn estimate_words(expected: &Expected) -> String {
    let Expected { least, most } = expected;
    if most.calls == 0 {
        return "No language model is used: this costs nothing.".to_owned();
    }
    let range = |least: String, most: String| {
        if least == most { most } else { format!("{least} to {most}") }
    };
    let tokens = range(grouped(least.usage.total()), grouped(most.usage.total()));
    let calls = range(grouped(least.calls), grouped(most.calls));
    let calls = format!("{calls} model {}", if most.calls == 1 { "call" } else { "calls" });
    let dollars = |usd: f64| format!("${usd:.3}");
    match most.usd {
        Some(usd) if usd > 0.0 => {
            let paid = range(dollars(least.usd.unwrap_or(usd)), dollars(usd));
            format!("About {calls}, {tokens} tokens, {paid}.")
        }
        Some(_) => format!("About {calls}, {tokens} tokens, on this machine."),
        None => format!("About {calls}, {tokens} tokens, at a price that is not known."),
    }
}

pub(super) fn no_papers() -> Markup {
    html! {
        div.notice {
            p { strong { "There is nothing to ask yet. " } "Questions are answered from papers, and none are stored here." }
            p { a href="/library" { "Add papers in the library" } ", or with " code { "openscholar papers add FOLDER" } ", then come back." }
        }
    }
}

/// Which papers are read.
pub(super) fn papers(offer: &Offer, chosen: Option<&str>) -> Markup {
    html! {
        @if offer.datastores.len() > 1 {
            div {
                label for="datastore" { "Papers" }
                select #datastore name="datastore" {
                    @for store in &offer.datastores {
                        option value=(text(&store.name)) selected[chosen == Some(&store.name)] {
                            (text(&store.name)) " (" (grouped(store.papers)) ")"
                        }
                    }
                }
            }
        } @else if let [DatastoreOffer { name, papers, .. }] = offer.datastores.as_slice() {
            p.soft { "Asks " (counted(usize::try_from(*papers).unwrap_or(usize::MAX), "paper", "papers")) " in " strong { (text(name)) } "." }
        }
    }
}

fn choices(offer: &Offer, request: &AskRequest) -> Markup {
    let is_open = !request.filter.is_none()
        || !request.sources.is_empty()
        || request.max_cost_usd.is_some()
        || request.max_seconds.is_some();
    html! {
        div.row {
            (papers(offer, request.datastore.as_deref()))
            div {
                label for="mode" { "Kind of answer" }
                select #mode name="mode" {
                    option value="" { "What fits" }
                    @for mode in &offer.modes {
                        option value=(mode.name) selected[request.mode.as_deref() == Some(&mode.name)] disabled[!mode.is_available] {
                            (mode.title) @if !mode.is_available { " (needs a language model)" }
                        }
                    }
                }
            }
            div {
                label for="length" { "Length" }
                select #length name="length" {
                    option value="" { "Medium" }
                    @for length in [Length::Short, Length::Long] {
                        option value=(length.name()) selected[request.length == Some(length)] { (sentence(length.name()).trim_end_matches('.')) }
                    }
                }
            }
        }
        details.more open[is_open] {
            summary { "Filters, sources and budget" }
            (filters(&request.filter))
            (sources(offer, &request.sources))
            (budget(request.max_cost_usd, None, request.max_seconds))
        }
    }
}

pub(super) fn filters(filter: &AskFilter) -> Markup {
    html! {
        fieldset {
            legend { "Only papers" }
            div.row {
                div { label for="year_from" { "from year" } input #year_from name="year_from" inputmode="numeric" size="6" value=[filter.year_from]; }
                div { label for="year_to" { "to year" } input #year_to name="year_to" inputmode="numeric" size="6" value=[filter.year_to]; }
                div { label for="min_citations" { "fewest citations" } input #min_citations name="min_citations" inputmode="numeric" size="6" value=[filter.min_citations]; }
                div { label for="venue" { "venues, separated by commas" } input #venue name="venue" value=(text(&filter.venues.join(", "))); }
            }
            label.check { input type="checkbox" name="without_retracted" checked[filter.without_retracted]; " not known as retracted" }
            label.check { input type="checkbox" name="include_unknown" checked[filter.include_unknown]; " also those of which year, venue or citations are not known" }
        }
    }
}

pub(super) fn sources(offer: &Offer, chosen: &[String]) -> Markup {
    let is_chosen = |name: &str, is_usual: bool| match chosen {
        [] => is_usual,
        chosen => chosen.iter().any(|one| one == name),
    };
    html! {
        fieldset {
            legend { "Where papers are looked for" }
            @if offer.offline {
                p.soft { "Only stored papers are searched: this server works offline." }
            } @else {
                @for source in &offer.sources {
                    label.check { input type="checkbox" name="source" value=(source.name) checked[is_chosen(&source.name, source.is_usual)]; " " (source.title) }
                }
            }
        }
    }
}

/// What a job may use; `calls` where calls of a model are limited, too.
pub(super) fn budget(usd: Option<f64>, calls: Option<Option<u64>>, seconds: Option<u64>) -> Markup {
    html! {
        fieldset {
            legend { "At most" }
            div.row {
                div { label for="max_cost_usd" { "US dollars" } input #max_cost_usd name="max_cost_usd" inputmode="decimal" size="6" value=[usd]; }
                @if let Some(calls) = calls {
                    div { label for="max_calls" { "model calls" } input #max_calls name="max_calls" inputmode="numeric" size="6" value=[calls]; }
                }
                div { label for="max_seconds" { "seconds" } input #max_seconds name="max_seconds" inputmode="numeric" size="6" value=[seconds]; }
            }
        }
    }
}

/// Questions of the datastore in use, for people who do not know what to ask.
fn examples(offer: &Offer) -> Markup {
    let first = offer.datastores.first();
    let shown = first.map(|store| store.examples.iter().take(SHOWN_EXAMPLES));
    html! {
        @if let (Some(store), Some(shown)) = (first, shown) {
            @if shown.len() > 0 {
                section aria-labelledby="examples" {
                    h2 #examples { "For example" }
                    ul.examples {
                        @for question in shown {
                            li {
                                form method="post" action="/ask" {
                                    input type="hidden" name="datastore" value=(text(&store.name));
                                    button.link type="submit" name="question" value=(text(question)) { (text(question)) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}
