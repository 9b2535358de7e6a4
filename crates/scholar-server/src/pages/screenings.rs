//! Screening for a systematic review: the form with the criteria, and the papers with each decision and its quotation.

use maud::{Markup, html};
use scholar_pipeline::screen::{
    Criterion, CriterionDecision, CriterionKind, Decider, Decision, Finding, FlowCounts,
    ScreenQuote, ScreenedPaper, Screening,
};

use super::ask::{filters, refusal};
use super::progress::notice_item;
use super::tables::{Papers, Place, budget, list, paper_link, place, read_by, which_papers};
use super::text::{counted, encoded, grouped, text};
use crate::backend::{Offer, RunSummary, ScreeningFile, ScreeningRequest, ScreeningView};
use crate::error::ApiError;

/// Papers of one page of a screening.
pub(super) const SHOWN: usize = 50;

/// What the form shows.
pub(super) struct Form<'a> {
    /// What is filled in.
    pub(super) request: &'a ScreeningRequest,
    /// Why what was sent was not taken.
    pub(super) problem: Option<&'a ApiError>,
}

/// The page on which a screening is begun, with those that were.
pub(super) fn page(form: &Form<'_>, offer: &Offer, earlier: &[RunSummary]) -> Markup {
    let Form { request, problem } = form;
    let lines = |excludes: bool| -> String {
        let of = request.criteria.iter().filter(|one| one.excludes == excludes);
        let line = |one: &crate::backend::CriterionRequest| match &one.id {
            Some(id) => format!("{id}: {}", one.text),
            None => one.text.clone(),
        };
        of.map(line).collect::<Vec<_>>().join("\n")
    };
    html! {
        h1 { "Screen papers for a review" }
        p { "Each paper is held against each criterion. A decision has a quotation of the paper; what is not clear stays unclear, and a paper without text is never excluded." }
        @if let Some(problem) = problem { (refusal("Not begun.", problem)) }
        form.ask method="post" action="/screenings" {
            label for="title" { "What the review is about" }
            input.wide #title name="title" required maxlength="2000" value=(text(&request.title));
            fieldset {
                legend { "Criteria, one a line" }
                label for="include" { "A paper must" }
                textarea #include name="include" rows="3" placeholder="report data on humans" { "\n" (text(&lines(false))) }
                label for="exclude" { "A paper is left out if it" }
                textarea #exclude name="exclude" rows="2" placeholder="is a review" { "\n" (text(&lines(true))) }
                p.soft { "A short name may stand in front of a line: " code { "population: reports data on humans" } "." }
            }
            (which_papers(&Papers { datastore: request.datastore.as_deref(), papers: &request.papers, may_be_all: true }, offer, &html! {}))
            (read_by(request.mode, "What decides", offer))
            details.more open[!request.filter.is_none() || request.limit.is_some() || request.max_cost_usd.is_some()] {
                summary { "Filters, limit and budget" }
                (filters(&request.filter))
                div.row { div { label for="limit" { "Papers to decide on, the likeliest first" } input #limit name="limit" inputmode="numeric" size="6" value=[request.limit]; } }
                (budget(request.max_cost_usd))
            }
            div.buttons { button.primary type="submit" { "Screen" } }
        }
        (list("Your screenings", "/screenings", earlier))
    }
}

/// Which part of a screening is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Part {
    /// Papers that are passed over.
    pub(super) offset: usize,
    /// Only papers with this decision.
    pub(super) only: Option<Decision>,
}

impl Part {
    fn has(self, paper: &ScreenedPaper) -> bool {
        self.only.is_none_or(|only| paper.decision == Some(only))
    }
}

/// A screening with its papers.
pub(super) fn screening(run: &RunSummary, view: &ScreeningView, part: Part) -> Markup {
    let ScreeningView { title, datastore, criteria, method, screening } = view;
    let Screening { papers, flow, duplicates, learnt_from, notices } = screening;
    let own = format!("/screenings/{}", encoded(&run.id));
    html! {
        h1 { (text(title)) }
        p.soft { "Papers of " (text(datastore)) ", decided by " (text(method)) "." @if *learnt_from > 0 { " Ranked with the help of " (counted(*learnt_from, "decision", "decisions")) " of yours." } }
        @if !notices.is_empty() { ul.notices { @for notice in notices { (notice_item(notice)) } } }
        (counts(flow, duplicates.len()))
        (exports(&own))
        form.inline method="post" action={ "/runs/" (encoded(&run.id)) "/resume" } {
            button type="submit" { "Screen on" }
            " " span.soft { "decides on papers that are new, changed or left over, and ranks by your decisions; nothing is decided twice" }
        }
        (criteria_list(criteria))
        (shown_papers(&own, view, papers, part))
        p { a href="/screenings" { "Screen other papers" } }
    }
}

fn counts(flow: &FlowCounts, duplicates: usize) -> Markup {
    let FlowCounts {
        identified,
        duplicates_removed,
        filtered_out,
        not_screened,
        screened,
        excluded,
        reasons,
        unclear,
        without_text,
        included,
        by_person,
    } = flow;
    let n = |n: usize| grouped(n as u64);
    html! {
        section aria-labelledby="flow" {
            h2 #flow { "Flow of papers" }
            dl.flow {
                dt { "Identified" } dd { (n(*identified)) }
                dt { "Removed before screening" } dd { (n(*duplicates_removed)) " duplicates, " (n(*filtered_out)) " by filters" @if duplicates > 0 { " (" (n(duplicates)) " under a second name)" } }
                @if *not_screened > 0 { dt { "Not screened yet" } dd { (n(*not_screened)) } }
                dt { "Screened" } dd { (n(*screened)) ", of these " (n(*by_person)) " by you" }
                dt { "Excluded" } dd { (n(*excluded)) @for (at, (reason, count)) in reasons.iter().enumerate() { @if at == 0 { ": " } @else { ", " } (text(reason)) " " (n(*count)) } }
                dt { "Unclear, to be read" } dd { (n(*unclear)) @if *without_text > 0 { ", of these " (n(*without_text)) " without text" } }
                dt { "Included for full text" } dd { (n(*included)) }
            }
        }
    }
}

fn exports(own: &str) -> Markup {
    html! {
        p.exports { "Save as "
            @for (at, format) in ScreeningFile::ALL.iter().enumerate() {
                @if at > 0 { ", " }
                a href={ (own) "/export/" (format.name()) } download {
                    @match format { ScreeningFile::Csv => "CSV with columns for your decisions", ScreeningFile::Markdown => "Markdown with quotations", ScreeningFile::Prisma => "PRISMA flow diagram" }
                }
            }
        }
    }
}

fn criteria_list(criteria: &[Criterion]) -> Markup {
    html! {
        section aria-labelledby="criteria" {
            h2 #criteria { "Criteria" }
            dl {
                @for Criterion { id, text: words, kind } in criteria {
                    dt { (text(id)) }
                    dd { (text(words)) " " span.soft { @match kind { CriterionKind::Include => "(must be met)", CriterionKind::Exclude => "(excludes)" } } }
                }
            }
        }
    }
}

fn shown_papers(own: &str, view: &ScreeningView, papers: &[ScreenedPaper], part: Part) -> Markup {
    let ScreeningView { datastore, criteria, .. } = view;
    let fitting: Vec<&ScreenedPaper> = papers.iter().filter(|paper| part.has(paper)).collect();
    let shown: Vec<&&ScreenedPaper> = fitting.iter().skip(part.offset).take(SHOWN).collect();
    let last = part.offset + shown.len();
    let only = part.only.map(Decision::name);
    let to = |offset: usize| {
        let only = only.map(|only| format!("&only={only}")).unwrap_or_default();
        format!("{own}?offset={offset}{only}#papers")
    };
    html! {
        section aria-labelledby="papers" {
            h2 #papers { "Papers, the likeliest first" }
            nav.menu aria-label="Which papers are shown" {
                ul {
                    li { a href={ (own) "#papers" } aria-current=[only.is_none().then_some("true")] { "All" } }
                    @for one in [Decision::Include, Decision::Unclear, Decision::Exclude] {
                        li { a href={ (own) "?only=" (one.name()) "#papers" } aria-current=[(part.only == Some(one)).then_some("true")] { (decision_title(one)) } }
                    }
                }
            }
            @if shown.is_empty() { p.soft { "There is no such paper." } }
            @else {
                p.soft { (grouped(part.offset as u64 + 1)) "–" (grouped(last as u64)) " of " (counted(fitting.len(), "paper", "papers")) }
                div.table role="region" tabindex="0" aria-labelledby="caption" {
                    table {
                        caption #caption { "Decisions by paper and criterion; each finding opens its quotation." }
                        thead { tr {
                            th scope="col" { "Rank" } th scope="col" { "Paper" } th scope="col" { "Decision" }
                            @for criterion in criteria { th scope="col" title=(text(&criterion.text)) { (text(&criterion.id)) } }
                            th scope="col" { "Your decision" }
                        } }
                        tbody { @for paper in &shown { (row(own, datastore, criteria, paper)) } }
                    }
                }
                @for paper in &shown {
                    @for (place, one) in paper.criteria.iter().enumerate() {
                        @if let Some(quote) = &one.quote { (popover(&format!("q{}-{place}", paper.rank), datastore, paper, one, quote)) }
                    }
                }
                nav.steps-of-pages aria-label="Parts of the list" {
                    @if part.offset > 0 { a rel="prev" href=(to(part.offset.saturating_sub(SHOWN))) { "← Before" } } " "
                    @if last < fitting.len() { a rel="next" href=(to(last)) { "More →" } }
                }
            }
        }
    }
}

fn decision_title(decision: Decision) -> &'static str {
    match decision {
        Decision::Include => "Included",
        Decision::Exclude => "Excluded",
        Decision::Unclear => "Unclear",
    }
}

/// A decision in words and as a shape: colour alone says nothing.
fn decision(decision: Option<Decision>) -> Markup {
    let (class, shape, words) = match decision {
        Some(Decision::Include) => ("supported", "●", "include"),
        Some(Decision::Exclude) => ("contradicted", "✕", "exclude"),
        Some(Decision::Unclear) => ("partial", "◐", "unclear"),
        None => ("soft", "○", "not screened"),
    };
    html! { span class={ "verdict " (class) } { span aria-hidden="true" { (shape) } " " (words) } }
}

fn row(own: &str, datastore: &str, criteria: &[Criterion], paper: &ScreenedPaper) -> Markup {
    let ScreenedPaper { rank, paper: meta, decision: decided, by, reason, criteria: found, .. } =
        paper;
    html! {
        tr id={ "p" (rank) } {
            td { (rank) }
            th scope="row" { (paper_link(datastore, meta)) }
            td {
                (decision(*decided))
                @if *by == Some(Decider::Person) { " " span.soft { "by you" } }
                @if let Some(reason) = reason { br; span.soft { (text(reason)) } }
            }
            @for criterion in criteria {
                td {
                    @match found.iter().position(|one| one.criterion == criterion.id) {
                        Some(place) => { (finding(&format!("q{rank}-{place}"), &found[place])) }
                        None => { span.soft aria-hidden="true" { "–" } span.hidden { "Not decided" } }
                    }
                }
            }
            td { (decide(own, paper)) }
        }
    }
}

fn finding_words(finding: Finding) -> &'static str {
    match finding {
        Finding::Met => "met",
        Finding::NotMet => "not met",
        Finding::Unclear => "unclear",
    }
}

fn finding(id: &str, one: &CriterionDecision) -> Markup {
    html! {
        @match &one.quote {
            Some(_) => button.cell type="button" popovertarget=(id) aria-haspopup="dialog" { (finding_words(one.finding)) },
            None => { (finding_words(one.finding)) br; span.soft { "no quotation" } }
        }
    }
}

fn popover(
    id: &str,
    datastore: &str,
    paper: &ScreenedPaper,
    one: &CriterionDecision,
    quote: &ScreenQuote,
) -> Markup {
    let ScreenQuote { passage, start, end, text: words, page } = quote;
    html! {
        div.popover #(id) popover role="dialog" aria-labelledby={ (id) "-title" } {
            div.popover-head {
                h3 id={ (id) "-title" } { (text(&one.criterion)) ": " (finding_words(one.finding)) }
                button.close type="button" popovertarget=(id) popovertargetaction="hide" { span aria-hidden="true" { "✕" } span.hidden { "Close" } }
            }
            p.about { (text(&paper.paper.display_title())) }
            blockquote { mark { (text(words)) } }
            (place(datastore, &paper.paper.id, &Place { passage: &passage.to_string(), start: *start, end: *end, section: "", page: *page }))
        }
    }
}

/// The form in which a person decides.
fn decide(own: &str, paper: &ScreenedPaper) -> Markup {
    let ScreenedPaper { rank, paper: meta, decision: decided, by, reason, .. } = paper;
    let is_own = *by == Some(Decider::Person);
    let title = meta.display_title();
    html! {
        form.decide method="post" action={ (own) "/decide" } {
            input type="hidden" name="paper" value=(text(&meta.id.to_string()));
            input type="hidden" name="rank" value=(rank);
            label.hidden for={ "d" (rank) } { "Your decision on " (text(&title)) }
            select id={ "d" (rank) } name="decision" required {
                option value="" { "–" }
                @for one in [Decision::Include, Decision::Exclude, Decision::Unclear] {
                    option value=(one.name()) selected[is_own && *decided == Some(one)] { (one.name()) }
                }
            }
            label.hidden for={ "r" (rank) } { "Your reason" }
            input id={ "r" (rank) } name="reason" maxlength="400" size="12" placeholder="reason" value=(text(reason.as_deref().filter(|_| is_own).unwrap_or_default()));
            button type="submit" { "Save" span.hidden { " the decision on " (text(&title)) } }
        }
    }
}
