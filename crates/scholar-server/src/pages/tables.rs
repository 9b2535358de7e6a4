//! Tables of papers: the form that asks for one, and the table with the evidence of each cell.

use maud::{Markup, html};
use scholar_core::{PaperId, PaperMeta};
use scholar_pipeline::tabulate::{Cell, Column, Preset, Property, Table, TableRow};

use super::ask::{filters, refusal};
use super::layout::badge;
use super::paper::address;
use super::progress::notice_item;
use super::text::{counted, encoded, grouped, text};
use crate::backend::{
    MOST_ROWS, Offer, ReadBy, RunState, RunSummary, TableFile, TableRequest, USUAL_TOP,
};
use crate::error::ApiError;

/// What the form shows.
pub(super) struct Form<'a> {
    /// What is filled in.
    pub(super) request: &'a TableRequest,
    /// Why what was sent was not taken.
    pub(super) problem: Option<&'a ApiError>,
}

/// The page on which a table is asked for, with those that were.
pub(super) fn page(form: &Form<'_>, offer: &Offer, earlier: &[RunSummary]) -> Markup {
    let Form { request, problem } = form;
    html! {
        h1 { "Make a table of papers" }
        p { "One row a paper, one column a property or a question. A cell has the paper’s own words, at a place that can be opened, or it is empty." }
        @if let Some(problem) = problem { (refusal("Not begun.", problem)) }
        form.ask method="post" action="/tables" {
            (which_papers(&Papers { datastore: request.datastore.as_deref(), papers: &request.papers, may_be_all: false }, offer, &html! {
                div.row {
                    div { label for="query" { "Search for" } input #query type="search" name="query" value=(text(request.query.as_deref().unwrap_or_default())); }
                    div { label for="top" { "papers, at most" } input #top name="top" inputmode="numeric" size="4" value=(request.top.unwrap_or(USUAL_TOP)) aria-describedby="top-note"; }
                }
                p.soft #top-note { "The best of the search, or the papers named here; up to " (MOST_ROWS) "." }
            }))
            (columns(&request.columns))
            (read_by(request.mode, "What fills the cells", offer))
            details.more open[!request.filter.is_none() || request.max_cost_usd.is_some()] {
                summary { "Filters and budget" }
                (filters(&request.filter))
                (budget(request.max_cost_usd))
            }
            div.buttons { button.primary type="submit" { "Make the table" } }
        }
        (list("Your tables", "/tables", earlier))
    }
}

/// Which papers of which datastore are filled in.
pub(super) struct Papers<'a> {
    pub(super) datastore: Option<&'a str>,
    pub(super) papers: &'a [String],
    /// Whether nothing means all of them.
    pub(super) may_be_all: bool,
}

/// The part of a form that says which papers.
pub(super) fn which_papers(papers: &Papers<'_>, offer: &Offer, search: &Markup) -> Markup {
    let Papers { datastore, papers, may_be_all } = papers;
    html! {
        fieldset {
            legend { "Papers" }
            div.row {
                div {
                    label for="datastore" { "Datastore" }
                    select #datastore name="datastore" {
                        @for store in &offer.datastores {
                            option value=(text(&store.name)) selected[*datastore == Some(&store.name)] { (text(&store.name)) " (" (grouped(store.papers)) ")" }
                        }
                    }
                }
            }
            (search)
            label for="papers" { @if *may_be_all { "Only these papers" } @else { "Or these papers" } ", one a line: identifiers, citation keys, or words of titles" }
            textarea #papers name="papers" rows=(papers.len().clamp(2, 10)) { "\n" (text(&papers.join("\n"))) }
            @if *may_be_all { p.soft { "Left empty, all papers of the datastore are screened. " a href="/library" { "Choose papers in the library" } } }
            @else { p.soft { a href="/library" { "Choose papers in the library" } } }
        }
    }
}

/// What a person may have a paper read by.
pub(super) fn read_by(mode: Option<ReadBy>, label: &str, offer: &Offer) -> Markup {
    html! {
        div.row {
            div {
                label for="mode" { (label) }
                select #mode name="mode" {
                    option value="" { "What fits" }
                    @for one in ReadBy::ALL {
                        @let is_there = one == ReadBy::Evidence || offer.generator.is_some();
                        option value=(one.name()) selected[mode == Some(one)] disabled[!is_there] {
                            @match one { ReadBy::Evidence => "Rules and small models", ReadBy::Generative => "A language model" }
                            @if !is_there { " (none is configured)" }
                        }
                    }
                }
            }
        }
    }
}

pub(super) fn budget(usd: Option<f64>) -> Markup {
    html! {
        fieldset {
            legend { "At most" }
            div.row { div { label for="max_cost_usd" { "US dollars" } input #max_cost_usd name="max_cost_usd" inputmode="decimal" size="6" value=[usd]; } }
        }
    }
}

/// Columns: properties with rules, and those of a person's own.
fn columns(chosen: &[String]) -> Markup {
    let is_chosen = |property: Property| {
        let preset = property.preset().name();
        chosen.iter().any(|one| one == property.key() || one == preset)
    };
    let known = |one: &&String| {
        let is_key = Property::ALL.iter().any(|property| property.key() == one.as_str());
        is_key || Preset::ALL.iter().any(|preset| preset.name() == one.as_str())
    };
    let own: Vec<&str> = chosen.iter().filter(|one| !known(one)).map(String::as_str).collect();
    html! {
        fieldset {
            legend { "Columns" }
            @for preset in Preset::ALL {
                fieldset.preset {
                    legend { @match preset { Preset::Trial => "Clinical trials", Preset::Method => "Methods", Preset::Dataset => "Data sets" } }
                    div.checks {
                        @for property in preset.properties() {
                            label { input type="checkbox" name="column" value=(property.key()) checked[is_chosen(property)]; " " (property.header()) }
                        }
                    }
                }
            }
            label for="own_columns" { "Your own, one a line: a name and a question, as in " code { "Dose = Which dose was given?" } }
            textarea #own_columns name="own_columns" rows=(own.len().clamp(2, 8)) { "\n" (text(&own.join("\n"))) }
        }
    }
}

/// Jobs of one kind that were asked for before.
pub(super) fn list(title: &str, base: &str, earlier: &[RunSummary]) -> Markup {
    html! {
        @if !earlier.is_empty() {
            section aria-labelledby="earlier" {
                h2 #earlier { (title) }
                ul.papers {
                    @for run in earlier {
                        li {
                            a href={ (base) "/" (encoded(&run.id)) } { (text(&run.question)) }
                            " " span.soft { (text(&run.datastore)) ", " (text(run.started.get(..10).unwrap_or_default())) }
                            @if run.state != RunState::Done { " " (badge(run.state)) }
                        }
                    }
                }
            }
        }
    }
}

/// A whole table.
pub(super) fn table(run: &RunSummary, table: &Table) -> Markup {
    let Table { schema: _, datastore, method, columns, rows, notices } = table;
    let (filled, total) = table.filled();
    html! {
        h1 { (text(&run.question)) }
        p.soft { (counted(rows.len(), "paper", "papers")) " of " (text(datastore)) ", " (filled) " of " (counted(total, "cell", "cells")) " filled. Filled by " (text(method)) "." }
        @if filled == 0 { div.notice.abstained role="status" { p { strong { "No cell is filled. " } "The papers say nothing that could be located for these columns. Other columns, or papers with full text, may help." } } }
        @if !notices.is_empty() { ul.notices { @for notice in notices { (notice_item(notice)) } } }
        (exports(run))
        h2.hidden { "The table" }
        div.table role="region" tabindex="0" aria-labelledby="caption" {
            table {
                caption #caption { "Each filled cell opens its quotation; a dash means that nothing was found." }
                thead { tr { th scope="col" { "Paper" } @for column in columns { th scope="col" title=(text(&column.question)) { (text(title(column))) } } } }
                tbody {
                    @for (at, row) in rows.iter().enumerate() {
                        tr {
                            th scope="row" { (paper_link(datastore, &row.paper)) }
                            @for (place, cell) in row.cells.iter().enumerate() {
                                td { (shown(&format!("c{at}-{place}"), cell.as_ref())) }
                            }
                        }
                    }
                }
            }
        }
        @for (at, row) in rows.iter().enumerate() {
            @for (place, (cell, column)) in row.cells.iter().zip(columns).enumerate() {
                @if let Some(cell) = cell { (popover(&format!("c{at}-{place}"), datastore, &row.paper, column, cell)) }
            }
        }
        (row_notices(rows))
        (quotations(datastore, columns, rows))
        p { a href="/tables" { "Make another table" } }
    }
}

/// A paper with its year, which leads to its page.
pub(super) fn paper_link(datastore: &str, paper: &PaperMeta) -> Markup {
    html! {
        a href=(address(datastore, &paper.id)) { (text(&paper.display_title())) }
        @if let Some(year) = paper.year { " " span.soft { "(" (year) ")" } }
    }
}

fn exports(run: &RunSummary) -> Markup {
    html! {
        p.exports { "Save as "
            @for (at, format) in TableFile::ALL.iter().enumerate() {
                @if at > 0 { ", " }
                a href={ "/tables/" (encoded(&run.id)) "/export/" (format.name()) } download { (format_title(*format)) }
            }
        }
    }
}

fn format_title(format: TableFile) -> &'static str {
    match format {
        TableFile::Csv => "CSV",
        TableFile::Docx => "Word",
        TableFile::Markdown => "Markdown",
        TableFile::Html => "HTML",
        TableFile::Json => "JSON",
    }
}

/// What stands over a column: of one that was ticked its header and not its key.
fn title(column: &Column) -> &str {
    let ticked = column.property().filter(|property| property.key() == column.name);
    ticked.map_or(column.name.as_str(), |property| property.header())
}

/// What stands in a cell.
fn shown(id: &str, cell: Option<&Cell>) -> Markup {
    html! {
        @match cell {
            Some(cell) => button.cell type="button" popovertarget=(id) aria-haspopup="dialog" { (text(&cell.text)) },
            None => { span.soft aria-hidden="true" { "–" } span.hidden { "Nothing found" } }
        }
    }
}

fn popover(id: &str, datastore: &str, paper: &PaperMeta, column: &Column, cell: &Cell) -> Markup {
    html! {
        div.popover #(id) popover role="dialog" aria-labelledby={ (id) "-title" } {
            div.popover-head {
                h3 id={ (id) "-title" } { (text(title(column))) ": " (text(&paper.display_title())) }
                button.close type="button" popovertarget=(id) popovertargetaction="hide" { span aria-hidden="true" { "✕" } span.hidden { "Close" } }
            }
            p.soft { (text(&column.question)) }
            (evidence(datastore, &paper.id, cell))
        }
    }
}

/// The sentence with the cell's words marked, and the way to its place.
fn evidence(datastore: &str, paper: &PaperId, cell: &Cell) -> Markup {
    let (before, marked, after) = cell.within_quote();
    let end = cell.quote_start + cell.quote.chars().count();
    html! {
        blockquote { (text(before)) mark { (text(marked)) } (text(after)) }
        (place(datastore, paper, &Place { passage: &cell.passage_id.to_string(), start: cell.quote_start, end, section: &cell.section, page: cell.page }))
    }
}

/// Where words stand.
pub(super) struct Place<'a> {
    pub(super) passage: &'a str,
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) section: &'a str,
    pub(super) page: Option<u32>,
}

/// The way to words in their paper.
pub(super) fn place(datastore: &str, paper: &PaperId, place: &Place<'_>) -> Markup {
    let Place { passage, start, end, section, page } = place;
    let own = address(datastore, paper);
    html! {
        p.place {
            @if !section.is_empty() { (text(section)) ". " }
            a href={ (own) "?passage=" (encoded(passage)) "&start=" (start) "&end=" (end) "#quotation" } { "Open the paper at this place" @if let Some(page) = page { ", page " (page) } }
        }
    }
}

/// What is to be said of single papers.
fn row_notices(rows: &[TableRow]) -> Markup {
    let told: Vec<(&PaperMeta, &scholar_core::Notice)> =
        rows.iter().flat_map(|row| row.notices.iter().map(move |one| (&row.paper, one))).collect();
    html! {
        @if !told.is_empty() {
            details {
                summary { (counted(told.len(), "note on a paper", "notes on papers")) }
                dl { @for (paper, notice) in &told { dt { (text(&paper.display_title())) } dd { ul.notices { (notice_item(notice)) } } } }
            }
        }
    }
}

/// All quotations once more, for paper and for browsers without popovers.
fn quotations(datastore: &str, columns: &[Column], rows: &[TableRow]) -> Markup {
    let has_cells = |row: &&TableRow| row.cells.iter().any(Option::is_some);
    html! {
        details.quotations {
            summary { "All quotations" }
            @for row in rows.iter().filter(has_cells) {
                h3 { (text(&row.paper.display_title())) }
                dl {
                    @for (cell, column) in row.cells.iter().zip(columns) {
                        @if let Some(cell) = cell { dt { (text(title(column))) } dd { (evidence(datastore, &row.paper.id, cell)) } }
                    }
                }
            }
        }
    }
}
