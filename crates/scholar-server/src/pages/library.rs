//! The library: papers of a datastore, files that are added, pairs that may be one work.

use maud::{Markup, html};

use super::paper::{address, line};
use super::sentence;
use super::text::{counted, encoded, grouped, text};
use crate::additions::Addition;
use crate::backend::{AddedFile, AddedPaper, DatastoreOffer, DoubtfulPair, PaperList, PaperQuery};
use crate::error::ApiError;

/// Endings of files that can be sent.
pub(super) const ENDINGS: &str =
    ".pdf,.bib,.bibtex,.ris,.json,.csljson,.xml,.nxml,.jats,.tei,.html,.htm,.xhtml,.txt,.md";

/// What the page shows.
pub(super) struct Shown<'a> {
    /// The datastores there are.
    pub(super) datastores: &'a [DatastoreOffer],
    /// The one that is shown.
    pub(super) datastore: &'a str,
    /// The one that files are added to.
    pub(super) added_to: &'a str,
    pub(super) query: &'a PaperQuery,
    /// Its papers; `None` if there is no such datastore yet.
    pub(super) list: Option<&'a PaperList>,
    /// Files that were sent, the newest first.
    pub(super) additions: &'a [Addition],
    /// What was wrong with files that were sent.
    pub(super) problem: Option<&'a ApiError>,
    /// What a sender may send at most, in bytes.
    pub(super) most_bytes: u64,
}

/// The page.
pub(super) fn page(shown: &Shown<'_>) -> Markup {
    let Shown { datastores, datastore, query, list, .. } = shown;
    html! {
        h1 { "Library" }
        (upload(shown))
        (sent(shown.additions))
        section aria-labelledby="papers" {
            h2 #papers { "Papers" }
            form method="get" action="/library" role="search" {
                div.row {
                    div { label for="datastore" { "Datastore" }
                        select #datastore name="datastore" {
                            @for one in *datastores { option value=(text(&one.name)) selected[one.name == *datastore] { (text(&one.name)) " (" (grouped(one.papers)) ")" } }
                        } }
                    div { label for="words" { "Words of title, authors or venue" } input #words type="search" name="words" value=(text(&query.words)); }
                    button type="submit" { "Show" }
                }
            }
            @match list {
                None => { p.soft { "There is no datastore " (text(datastore)) " yet. Add papers to make it." } }
                Some(list) => { (papers(datastore, query, list)) }
            }
        }
        p { a href={ "/library/duplicates?datastore=" (encoded(datastore)) } { "Pairs that may be one work" } }
    }
}

/// The form that sends files.
fn upload(shown: &Shown<'_>) -> Markup {
    let Shown { added_to, problem, most_bytes, .. } = shown;
    html! {
        section aria-labelledby="add" {
            h2 #add { "Add papers" }
            @if let Some(problem) = problem {
                div.notice.bad role="alert" {
                    p { (text(&sentence(&problem.message))) }
                    @if let Some(hint) = &problem.hint { p { strong { "What you can do: " } (text(&sentence(hint))) } }
                }
            }
            form.upload method="post" action={ "/library/add?datastore=" (encoded(added_to)) } enctype="multipart/form-data" data-drop {
                label for="files" { "PDFs, BibTeX, RIS, CSL-JSON, JATS, TEI, HTML, text" }
                input #files type="file" name="files" multiple required accept=(ENDINGS) aria-describedby="files-note";
                p.soft #files-note { "They are added to " (text(added_to)) ", and kept on the server so that quotations can be looked at on their pages. At most " (most_bytes / 1_000_000) " MB at once." }
                button.primary type="submit" { "Add" }
            }
        }
    }
}

/// Files that were sent lately, and what became of them.
fn sent(additions: &[Addition]) -> Markup {
    html! {
        @if !additions.is_empty() {
            section aria-labelledby="sent" {
                h2 #sent { "Files that were sent" }
                ul.papers {
                    @for one in additions {
                        @let papers = one.done.iter().map(|file| file.papers.len()).sum();
                        li {
                            a href={ "/library/additions/" (encoded(&one.id)) } { (names(&one.files)) }
                            " " span.soft { "to " (text(&one.datastore)) ", " (date(one.submitted)) ": " (counted(papers, "paper", "papers")) }
                            @if one.failed.is_some() { " " span.badge.failed { "broke off" } }
                            @else if !one.is_over() { " " span.badge { "under way" } }
                        }
                    }
                }
            }
        }
    }
}

/// A few names of files, and how many more there are.
fn names(files: &[String]) -> Markup {
    const SHOWN: usize = 3;
    html! {
        @for (at, name) in files.iter().take(SHOWN).enumerate() { @if at > 0 { ", " } (text(name)) }
        @if files.len() > SHOWN { " and " (files.len() - SHOWN) " more" }
        @if files.is_empty() { "Files that are being sent" }
    }
}

/// The day of a time in seconds since 1970, UTC.
fn date(seconds: i64) -> String {
    jiff::Timestamp::from_second(seconds).unwrap_or_default().strftime("%Y-%m-%d").to_string()
}

fn papers(datastore: &str, query: &PaperQuery, list: &PaperList) -> Markup {
    let PaperQuery { words, offset, limit } = query;
    let last = offset + list.papers.len();
    let to = |offset: usize| {
        format!(
            "/library?datastore={}&words={}&offset={offset}#papers",
            encoded(datastore),
            encoded(words)
        )
    };
    html! {
        @if list.total == 0 { p.soft { "This datastore has no papers." } }
        @else if list.found == 0 { p.soft { "None of its " (counted(list.total, "paper", "papers")) " has all these words." } }
        @else {
            p.soft { (grouped(*offset as u64 + 1)) "–" (grouped(last as u64)) " of " (counted(list.found, "paper", "papers")) @if list.found < list.total { " that fit, of " (grouped(list.total as u64)) } }
            form method="get" action="/tables" {
                input type="hidden" name="datastore" value=(text(datastore));
                ul.papers.choice {
                    @for (at, meta) in list.papers.iter().enumerate() {
                        @let title = meta.display_title();
                        li {
                            input type="checkbox" id={ "choose-" (at) } name="paper" value=(text(&meta.id.to_string())) aria-label=(text(&format!("Choose {title}")));
                            span { (line(datastore, meta)) }
                        }
                    }
                }
                div.buttons {
                    span.soft { "With those chosen:" }
                    button type="submit" { "Make a table" }
                    button type="submit" formaction="/screenings" { "Screen" }
                }
            }
            nav.steps-of-pages aria-label="Parts of the list" {
                @if *offset > 0 { a rel="prev" href=(to(offset.saturating_sub(*limit))) { "← Before" } } " "
                @if last < list.found { a rel="next" href=(to(last)) { "More →" } }
            }
        }
    }
}

/// The page of files that are being added, or were.
pub(super) fn addition(addition: &Addition) -> Markup {
    let Addition { datastore, files, done, failed, .. } = addition;
    let is_over = addition.is_over();
    let papers = done.iter().map(|file| file.papers.len()).sum();
    html! {
        div data-refresh[!is_over] {}
        h1 { @if is_over { "Papers added" } @else { "Adding papers" } }
        div role="status" {
            p { (done.len()) " of " (counted(files.len(), "file", "files")) ", " (counted(papers, "paper", "papers")) @if !is_over { span.working { " – under way" span aria-hidden="true" { "…" } } } }
            progress max=(files.len()) value=(done.len()) aria-label="Files" { (done.len()) " of " (files.len()) }
        }
        @if let Some(failed) = failed { div.notice.bad role="alert" { p { (text(&sentence(failed))) } } }
        ul.added { @for file in done { li { (added(datastore, file)) } } }
        @let waiting = &files[done.len().min(files.len())..];
        @if !waiting.is_empty() && failed.is_none() { h2 { "Still to come" } ul { @for name in waiting { li { (text(name)) } } } }
        p { a href={ "/library?datastore=" (encoded(datastore)) } { "To the library" } }
    }
}

fn added(datastore: &str, file: &AddedFile) -> Markup {
    let AddedFile { name, papers, notices, is_unchanged } = file;
    html! {
        strong { (text(name)) }
        @if *is_unchanged { ": stored already, as it is." }
        @else if papers.is_empty() { ": " span.bad { "gave no paper." } }
        @for AddedPaper { id, title, joined } in papers {
            p { a href=(address(datastore, id)) { @if title.is_empty() { (text(&id.to_string())) } @else { (text(title)) } }
                @for one in joined { " " span.soft { "– joined with " (text(one)) } } }
        }
        @if !notices.is_empty() { ul.notices { @for notice in notices { li { (text(&sentence(notice))) } } } }
    }
}

/// The page of pairs that may be one work.
pub(super) fn duplicates(datastore: &str, pairs: &[DoubtfulPair], total: usize) -> Markup {
    html! {
        h1 { "Pairs that may be one work" }
        @if pairs.is_empty() { p { "There is no doubt about any paper of " (text(datastore)) "." } }
        @else {
            p.soft { (counted(total, "pair", "pairs")) " of " (text(datastore)) @if total > pairs.len() { ", the likeliest " (pairs.len()) " first" } ". What you decide holds when the same files are added again." }
            ul.pairs {
                @for DoubtfulPair { papers: [one, other], why } in pairs {
                    li.card {
                        p { (line(datastore, one)) }
                        p { (line(datastore, other)) }
                        p.soft { (text(&sentence(why))) }
                        form.inline method="post" action={ "/library/settle?datastore=" (encoded(datastore)) } {
                            input type="hidden" name="one" value=(text(&one.id.to_string()));
                            input type="hidden" name="other" value=(text(&other.id.to_string()));
                            button type="submit" name="are" value="one" { "They are one work" } " "
                            button type="submit" name="are" value="two" { "They are two" }
                        }
                    }
                }
            }
        }
        p { a href={ "/library?datastore=" (encoded(datastore)) } { "To the library" } }
    }
}
