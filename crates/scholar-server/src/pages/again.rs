//! Runs looked at again: two compared, one verified, replayed or explained.

use maud::{Markup, html};

use super::sentence;
use super::text::{counted, encoded, text};
use crate::backend::{Replayed, RunDifference, RunSummary, Verified};

/// The page on which two runs are compared; `found` as soon as both are chosen.
pub(super) fn compare(
    runs: &[RunSummary],
    chosen: (Option<&str>, Option<&str>),
    found: Option<&RunDifference>,
) -> Markup {
    html! {
        h1 { "Compare two runs" }
        form method="get" action="/compare" {
            div.row {
                (choice("left", "One run", runs, chosen.0))
                (choice("right", "The other", runs, chosen.1))
                button type="submit" { "Compare" }
            }
        }
        @if let Some(found) = found { (difference(found)) }
        p { a href="/runs" { "All runs" } }
    }
}

/// Characters of a question in a choice.
const SHOWN: usize = 80;

fn choice(name: &str, label: &str, runs: &[RunSummary], chosen: Option<&str>) -> Markup {
    html! {
        div {
            label for=(name) { (label) }
            select id=(name) name=(name) required {
                @for run in runs {
                    @let question: String = run.question.chars().take(SHOWN).collect();
                    option value=(text(&run.id)) selected[chosen == Some(&run.id)] { (text(run.started.get(..10).unwrap_or(&run.started))) " " (text(&question)) }
                }
            }
        }
    }
}

fn difference(found: &RunDifference) -> Markup {
    let RunDifference {
        settings,
        papers_only_left,
        papers_only_right,
        sentences_only_left,
        sentences_only_right,
    } = found;
    html! {
        section aria-labelledby="difference" {
            h2 #difference { "Differences" }
            @if found.is_empty() { p { "The runs do not differ." } }
            (lines("Settings", settings))
            (lines("Papers cited only by the first", papers_only_left))
            (lines("Papers cited only by the second", papers_only_right))
            (lines("Sentences only of the first", sentences_only_left))
            (lines("Sentences only of the second", sentences_only_right))
        }
    }
}

fn lines(title: &str, lines: &[String]) -> Markup {
    html! {
        @if !lines.is_empty() {
            h3 { (title) " (" (lines.len()) ")" }
            ul { @for line in lines { li { (text(line)) } } }
        }
    }
}

/// The page of a verified run.
pub(super) fn verified(run: &str, found: &Verified) -> Markup {
    let (class, words) = match found.holds {
        true => ("notice", "● Everything holds"),
        false => ("notice bad", "✕ This proof does not hold"),
    };
    checked("Verification", run, class, words, &found.lines)
}

/// The page of a replayed run.
pub(super) fn replayed(run: &str, found: &Replayed) -> Markup {
    let (class, words) = match found.is_identical {
        true => ("notice", "● The replay gave the same answer, byte for byte"),
        false => ("notice bad", "✕ The replay gave something else"),
    };
    checked("Replay", run, class, words, &found.lines)
}

fn checked(title: &str, run: &str, class: &str, words: &str, lines: &[String]) -> Markup {
    html! {
        h1 { (title) " of run " (text(run)) }
        div class=(class) role="status" { p { strong { (words) "." } } }
        ul { @for line in lines { li { (text(&sentence(line.trim()))) } } }
        (back(run))
    }
}

fn back(run: &str) -> Markup {
    html! { p { a href={ "/runs/" (encoded(run)) } { "The run’s answer" } " · " a href="/runs" { "All runs" } } }
}

/// The page that explains a run's references.
pub(super) fn explained(run: &str, references: &[String]) -> Markup {
    html! {
        h1 { "Why these papers are cited" }
        p.soft { (counted(references.len(), "reference", "references")) " of run " (text(run)) ": what each is cited for, and how its passages were found." }
        @for (at, reference) in references.iter().enumerate() {
            @let (head, rest) = reference.split_once('\n').unwrap_or((reference, ""));
            section aria-labelledby={ "e" (at) } {
                h2 id={ "e" (at) } { (text(head)) }
                pre.explained tabindex="0" { (text(rest.trim())) }
            }
        }
        (back(run))
    }
}

/// What can be done with a run that is over.
pub(super) fn actions(run: &str) -> Markup {
    let own = format!("/runs/{}", encoded(run));
    html! {
        div.actions.again {
            form.inline method="post" action={ (own) "/verify" } { button type="submit" { "Verify" } }
            form.inline method="post" action={ (own) "/replay" } { button type="submit" { "Replay" } }
            a href={ (own) "/explain" } { "Why these papers" }
            a href={ "/compare?left=" (encoded(run)) } { "Compare with another run" }
        }
    }
}
