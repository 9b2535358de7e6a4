//! The page of a run: while it waits, while it is under way, and with its answer.

use maud::{Markup, html};
use scholar_core::{Abstention, Answer, NoticeKind};
use scholar_pipeline::{Event, modes};

use super::answer::{Part, gist, legend, parts, references, sentences, table};
use super::chips::Sources;
use super::layout::badge;
use super::progress::{Progress, card, notice_item, steps_of};
use super::sentence;
use super::text::{counted, grouped, seconds, text};
use super::{again, explored, report};
use crate::backend::{
    AnswerView, CitedPassage, ExportKind, JobKind, ReviewView, RunState, RunSummary, RunUsage,
};
use crate::jobs::feed::EventId;
use crate::jobs::store::{Feedback, Job, Thumb};

/// What the page shows beside the run.
pub(super) struct Around<'a> {
    pub(super) summary: &'a RunSummary,
    /// Why it failed, with what to do about it.
    pub(super) hint: Option<&'a str>,
    /// Whether it was asked here, so that it can be shared, resumed and said something about.
    pub(super) is_own: bool,
    /// Address under which everybody may read it.
    pub(super) shared: Option<&'a str>,
    /// The questions of its thread, where there are several.
    pub(super) thread: &'a [Job],
    /// What the reader said of its sections.
    pub(super) feedback: &'a [Feedback],
    /// Read through a shared address: nothing can be done here.
    pub(super) is_guest: bool,
}

/// What an answer was written from and in which form it is shown.
pub(super) struct Written<'a> {
    /// What happened.
    pub(super) events: &'a [Event],
    /// Quoted passages that no event has.
    pub(super) stored: &'a [CitedPassage],
    /// What a review says beside its sentences.
    pub(super) review: Option<&'a ReviewView>,
    /// Address of its drawing.
    pub(super) drawing: &'a str,
}

/// A run that waits or is under way; `last` is the name of the last event that `progress` has.
pub(super) fn under_way(
    around: &Around<'_>,
    progress: &Progress,
    (ahead, last): (Option<usize>, EventId),
) -> Markup {
    let run = &around.summary.id;
    html! {
        div #run data-live=[(!around.is_guest).then(|| format!("/runs/{run}/live"))] data-last=(last) {
            (head(around))
            div #state role="status" { (state_words(ahead)) }
            @if !around.is_guest { (cancel_form(run)) }
            div #progress { (progress.render()) }
            noscript { p.soft { "This page is loaded again every few seconds. " a href={ "/runs/" (run) } { "Reload now" } } }
        }
    }
}

fn cancel_form(run: &str) -> Markup {
    html! {
        form.inline method="post" action={ "/runs/" (run) "/cancel" } { button type="submit" { "Stop" } }
    }
}

/// Where a job is that has no result yet.
pub(super) fn state_words(ahead: Option<usize>) -> Markup {
    html! {
        @match ahead {
            Some(0) => p { "Waiting: this is next." },
            Some(n) => p { "Waiting: " (counted(n, "other goes", "others go")) " first." },
            None => p.working { "Under way" span aria-hidden="true" { "…" } },
        }
    }
}

fn head(around: &Around<'_>) -> Markup {
    let RunSummary { started, state, question, follows, datastore, verb, .. } = around.summary;
    html! {
        h1 { @if *verb == JobKind::Review { "Review: " } (text(question)) }
        p.soft {
            @if *state != RunState::Done { (badge(*state)) " " }
            (text(started.get(..16).unwrap_or(started).replace('T', " ").as_str())) " UTC"
            @if !datastore.is_empty() { " · asked of " (text(&datastore.replace(',', ", "))) }
            @if let (Some(follows), false) = (follows, around.is_guest) { " · follows " a href={ "/runs/" (text(follows)) } { "an earlier question" } }
        }
        @if around.thread.len() > 1 {
            nav.thread aria-label="This thread" {
                ol {
                    @for job in around.thread {
                        li { a href={ "/runs/" (job.run) } aria-current=[(job.run == around.summary.id).then_some("page")] { (text(&job.title)) } }
                    }
                }
            }
        }
    }
}

/// A run without an answer that is over.
pub(super) fn without_answer(around: &Around<'_>, events: &[Event]) -> Markup {
    let RunSummary { id, state, error, verb, .. } = around.summary;
    let (title, class) = match (state, verb) {
        (RunState::Failed, JobKind::Ask) => ("This question could not be answered.", "notice bad"),
        (RunState::Failed, JobKind::Review) => ("This review could not be written.", "notice bad"),
        (RunState::Cancelled, JobKind::Ask) => ("You stopped this question.", "notice"),
        (RunState::Cancelled, JobKind::Review) => ("You stopped this review.", "notice"),
        _ => ("This run was interrupted before it was done.", "notice"),
    };
    let steps = steps_of(events);
    html! {
        (head(around))
        div class=(class) role="alert" {
            p { strong { (title) } }
            @if let Some(error) = error { p { (text(&sentence(error))) } }
            @if let Some(hint) = around.hint { p { strong { "What you can do: " } (text(&sentence(hint))) } }
        }
        @if around.is_own && !around.is_guest {
            form.inline method="post" action={ "/runs/" (id) "/resume" } { button.primary type="submit" { "Go on" } }
            p.soft { "What is already known is not asked again." }
        }
        @if !steps.is_empty() { details { summary { "What was done" } ol.steps { @for step in &steps { li { (text(step)) } } } } }
    }
}

/// A run with its answer.
pub(super) fn answered(around: &Around<'_>, view: &AnswerView, written: &Written<'_>) -> Markup {
    let AnswerView { answer, notices, usage } = view;
    let Written { events, stored, review, drawing } = written;
    let sources = Sources::new(&around.summary.datastore, &answer.references, events).and(stored);
    html! {
        div #run {
            (head(around))
            (actions(around))
            @if !around.is_guest { (again::actions(&around.summary.id)) }
            @if review.is_none() && answer.question != around.summary.question { p.soft { "Asked as: " (text(&answer.question)) } }
            (states(view, around.summary.verb))
            @match review {
                Some(review) => {
                    (report::article(review, answer, &sources, drawing, |at, title| section_tools(around, at, title)))
                    @if let Some(idea) = review.document["idea"]["text"].as_str() { (report::idea(idea)) }
                }
                None => (sections(around, answer, &sources)),
            }
            (legend(answer))
            (references(answer, &sources))
            (explored::section(answer, drawing))
            @if !notices.is_empty() { section aria-labelledby="notes" { h2 #notes { "Notes" } ul.notices { @for notice in notices { (notice_item(notice)) } } } }
            (behind(answer, events, usage, around.summary.verb))
            @if !around.is_guest {
                @if around.summary.verb != JobKind::Review { (follow_up(around)) } @else if around.is_own { (report::again(&around.summary.id)) }
            }
        }
    }
}

/// The parts of an answer, its table among them.
fn sections(around: &Around<'_>, answer: &Answer, sources: &Sources<'_>) -> Markup {
    let parts = parts(answer);
    let table_place = answer.table_place();
    html! {
        article.answer {
            @for (at, part) in parts.iter().enumerate() {
                @if let (Some(studies), true) = (&answer.table, part.sentences.start == table_place) { (table(studies, sources)) }
                (section(around, answer, (at, part), (sources, at == 0 || parts.len() <= MOST_UNFOLDED)))
            }
            @if let (Some(studies), true) = (&answer.table, table_place >= answer.sentences.len()) { (table(studies, sources)) }
        }
    }
}

/// What a reader must know before reading: nothing found, money run out, a source that is down.
fn states(view: &AnswerView, verb: JobKind) -> Markup {
    let AnswerView { answer, notices, .. } = view;
    let of_kind = |kind: NoticeKind| notices.iter().filter(move |notice| notice.kind == kind);
    // A source that was not to be reached is told above everything: it must not look as if there were nothing.
    let down: Vec<_> = of_kind(NoticeKind::SourceDown).collect();
    html! {
        @if !down.is_empty() {
            div.notice.warn role="alert" {
                p { strong { "Not every source could be asked. " } "What they have is missing here; that is not the same as nothing being there." }
                ul { @for notice in down { (notice_item(notice)) } }
            }
        }
        @if answer.abstained {
            div.notice.abstained {
                @if verb == JobKind::Review {
                    p { strong { "Nothing related was found. " } "No paper that was searched says anything of these methods and claims; that is not the same as their being new." }
                    p { "A later cut-off, another datastore or more sources may have something." }
                } @else if let Some(Abstention { heading, message }) = answer.abstention() {
                    p { strong { (heading) } " " (message) }
                    p { "A wider filter, another datastore or more sources may. What came nearest is listed under “What was left out and why”." }
                }
            }
        }
        @if of_kind(NoticeKind::Budget).next().is_some() {
            div.notice.warn { p { strong { "Over budget. " } "The work ended early; this is the best answer so far." } ul { @for notice in of_kind(NoticeKind::Budget) { (notice_item(notice)) } } }
        }
        @if of_kind(NoticeKind::Retraction).next().is_some() {
            div.notice.bad { ul { @for notice in of_kind(NoticeKind::Retraction) { (notice_item(notice)) } } }
        }
    }
}

/// Most sections of an answer that are all unfolded at first; of more, only the first is.
const MOST_UNFOLDED: usize = 4;

fn section(
    around: &Around<'_>,
    answer: &Answer,
    (at, part): (usize, &Part),
    (sources, is_open): (&Sources<'_>, bool),
) -> Markup {
    let title = part.heading.as_deref().unwrap_or("Answer");
    let id = format!("part-{at}");
    html! {
        section #(id) aria-labelledby={ (id) "-title" } {
            details.part open[is_open] {
                summary { h2 id={ (id) "-title" } { (text(title)) } (gist(&answer.sentences[part.sentences.clone()])) }
                (sentences(&answer.sentences, part.sentences.clone(), sources))
                (section_tools(around, at, title))
            }
        }
    }
}

/// What can be done with a section: copying it, saying what it was worth.
fn section_tools(around: &Around<'_>, at: usize, title: &str) -> Markup {
    let run = &around.summary.id;
    html! {
        @if !around.is_guest {
            div.section-tools {
                span.soft { "Copy: " }
                @for (kind, name) in [("markdown", "Markdown"), ("plain", "plain text"), ("bibtex", "BibTeX")] {
                    a.copy href={ "/runs/" (run) "/parts/" (at) "/" (kind) } data-copy="" { (name) span.hidden { " of the section “" (text(title)) "”" } } " "
                }
                @if around.is_own { (feedback_form(run, at, title, around.feedback)) }
            }
        }
    }
}

fn feedback_form(run: &str, at: usize, title: &str, feedback: &[Feedback]) -> Markup {
    let said = feedback.iter().find(|one| one.section == at);
    let thumb = said.and_then(|said| said.thumb);
    // In words: not every machine has a font with pictures of thumbs.
    let button = |value: &str, words: &str, is_pressed: bool| {
        html! {
            button type="submit" name="thumb" value=(value) aria-pressed=(is_pressed) {
                (words) span.hidden { ": the section “" (text(title)) "”" }
            }
        }
    };
    html! {
        form.feedback method="post" action={ "/runs/" (run) "/feedback" } data-feedback="" {
            input type="hidden" name="section" value=(at);
            (button("up", "Helpful", thumb == Some(Thumb::Up)))
            (button("down", "Not helpful", thumb == Some(Thumb::Down)))
            details {
                summary { "Comment" }
                label.hidden for={ "comment-" (at) } { "Comment on the section “" (text(title)) "”" }
                textarea id={ "comment-" (at) } name="comment" rows="2" maxlength="4000" { "\n" (text(said.map_or("", |said| said.comment.as_str()))) }
                button type="submit" name="thumb" value="" { "Save" }
            }
            span.said role="status" {}
        }
    }
}

fn actions(around: &Around<'_>) -> Markup {
    let run = &around.summary.id;
    html! {
        @if !around.is_guest {
            div.actions {
                details.menu {
                    summary { "Export" }
                    ul { @for kind in ExportKind::OFFERED { li { a href={ "/runs/" (run) "/export/" (kind.name()) } download="" { (kind.title()) } } } }
                }
                @if around.is_own {
                    details.menu {
                        summary { "Share" }
                        @match around.shared {
                            Some(secret) => {
                                p { "Everybody who has this address can read it:" }
                                p { a href={ "/shared/" (secret) } data-copy-address="" { "/shared/" (secret) } }
                                form method="post" action={ "/runs/" (run) "/unshare" } { button type="submit" { "Stop sharing" } }
                            }
                            None => {
                                p { "Makes an address under which everybody who has it can read this." }
                                form method="post" action={ "/runs/" (run) "/share" } { button type="submit" { "Make a link" } }
                            }
                        }
                    }
                }
                button.print type="button" data-print="" hidden { "Print" }
            }
        }
    }
}

/// How the answer came about: what was searched, what was left out and why, what it cost.
fn behind(answer: &Answer, events: &[Event], usage: &RunUsage, verb: JobKind) -> Markup {
    let cited = answer.cited();
    let cited: Vec<_> = answer
        .references
        .iter()
        .filter(|reference| cited.contains(&reference.number))
        .map(|reference| &reference.paper_id)
        .collect();
    let mut left_out = Vec::new();
    for event in events {
        let Event::Ranked { evidence, .. } = event else { continue };
        for one in evidence {
            let paper = &one.ranked.retrieved.paper.id;
            let is_known = left_out
                .iter()
                .any(|known: &&scholar_pipeline::Evidence| known.number == one.number);
            if !cited.contains(&paper) && !is_known {
                left_out.push(one);
            }
        }
    }
    let steps = steps_of(events);
    html! {
        section.behind aria-labelledby="behind" {
            h2 #behind { @if verb == JobKind::Review { "How this review came about" } @else { "How this answer came about" } }
            @if !steps.is_empty() { details { summary { "What was searched and done" } ol.steps { @for step in &steps { li { (text(step)) } } } } }
            @if !left_out.is_empty() {
                details {
                    summary { "What was left out and why" }
                    p { (counted(left_out.len(), "passage", "passages")) " ranked high enough to be read, but no sentence of the answer rests on their papers. Each is listed with how it was ranked." }
                    ol.cards { @for one in left_out { (card(one)) } }
                }
            }
            details { summary { "What it cost" } (cost(answer, usage)) }
        }
    }
}

fn cost(answer: &Answer, usage: &RunUsage) -> Markup {
    let RunUsage { model, calls, tokens, cost_usd, total_ms, first_evidence_ms, first_sentence_ms } =
        usage;
    html! {
        dl {
            dt { "How it was written" } dd { (modes::of(answer.mode).title) }
            dt { "Model that wrote" } dd { @match model { Some(model) => (text(model)), None => "none" } }
            dt { "Calls and tokens" } dd { (grouped(*calls)) " calls, " (grouped(*tokens)) " tokens" }
            dt { "Cost" } dd { @match cost_usd { Some(usd) if *usd > 0.0 => { "$" (format!("{usd:.4}")) } Some(_) => "nothing", None => "not known: the model has no price" } }
            dt { "Time" } dd {
                (seconds(*total_ms))
                @if let Some(ms) = first_evidence_ms { ", first evidence after " (seconds(*ms)) }
                @if let Some(ms) = first_sentence_ms { ", first sentence after " (seconds(*ms)) }
            }
        }
    }
}

fn follow_up(around: &Around<'_>) -> Markup {
    html! {
        section.follow-up aria-labelledby="follow-up" {
            h2 #follow-up { "Ask on" }
            form.ask method="post" action="/ask" {
                input type="hidden" name="follows" value=(around.summary.id);
                label.hidden for="question" { "Your follow-up question" }
                textarea #question name="question" rows="2" required maxlength="20000" placeholder="A follow-up question" {}
                div.buttons { button.primary type="submit" { "Ask" } }
            }
        }
    }
}
