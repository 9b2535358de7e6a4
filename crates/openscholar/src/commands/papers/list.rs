//! `papers list`: the papers of a datastore, filtered and sorted.

use std::process::ExitCode;

use scholar_core::text::normalise::title_key;
use scholar_core::{PaperMeta, SearchFilter};
use scholar_formats::export::{self, ListFormat};
use serde_json::json;

use crate::app::App;
use crate::args::{ListArgs, ListSortArg, PapersFormatArg};
use crate::error::CommandError;
use crate::output::csv;
use crate::output::table::Table;

/// Characters of a title and of the authors in a table.
const TITLE_CHARS: usize = 80;
const AUTHOR_CHARS: usize = 30;

pub(super) fn run(name: &str, args: ListArgs, app: &App) -> Result<ExitCode, CommandError> {
    let ListArgs { text, limit, author, unknown_year, sort, format, filter } = args;
    super::refuse_json_with_format(format.is_some(), app)?;
    let store = super::open(name, app)?;
    let filter = SearchFilter::from(filter);
    let words: Vec<String> = words_of(text.as_deref().unwrap_or_default());
    let authors: Vec<String> = author.iter().map(|author| title_key(author)).collect();
    let mut papers: Vec<PaperMeta> = Vec::new();
    let mut total = 0_usize;
    let mut unknown = 0_usize;
    store.each_paper(|meta| {
        total += 1;
        let is_asked = has_words(&meta, &words)
            && has_authors(&meta, &authors)
            && (!unknown_year || meta.year.is_none());
        if is_asked && filter.accepts(&meta) {
            papers.push(meta);
        } else if is_asked && filter.leaves_out_unknown(&meta) {
            unknown += 1;
        }
        Ok(())
    })?;
    sort_by(&mut papers, sort);
    let found = papers.len();
    papers.truncate(limit);
    match format {
        Some(PapersFormatArg::Csv) => app.printer.out(csv_of(&papers).trim_end())?,
        Some(PapersFormatArg::Bibtex) => {
            let text = export::papers(&super::bare(papers.clone()), ListFormat::Bibtex);
            app.printer.out(text.trim_end())?;
        }
        None if app.printer.json => app.printer.json(&json!({
            "schema": "openscholar.papers/1", "total": total, "found": found, "unknown": unknown,
            "papers": papers,
        }))?,
        None => app.printer.out(&table(&papers).to_string())?,
    }
    let of = if found == total { String::new() } else { format!(" of {found} that fit,") };
    app.printer.say(&format!("{}{of} of {total} papers in {name}", papers.len()));
    if unknown > 0 {
        app.printer.say(&format!(
            "{unknown} papers were left out because what the filter asks is not known of them; --include-unknown keeps them"
        ));
    }
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn words_of(text: &str) -> Vec<String> {
    title_key(text).split(' ').filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// Whether title, authors or venue have every word, or one that begins with it.
pub(crate) fn has_words(meta: &PaperMeta, words: &[String]) -> bool {
    if words.is_empty() {
        return true;
    }
    let venue = meta.venue.as_deref().unwrap_or_default();
    let all = title_key(&format!("{} {} {venue}", meta.title, meta.authors.join(" ")));
    let own: Vec<&str> = all.split(' ').collect();
    words.iter().all(|word| own.iter().any(|own| own.starts_with(word.as_str())))
}

fn has_authors(meta: &PaperMeta, authors: &[String]) -> bool {
    authors.iter().all(|wanted| {
        meta.authors.iter().any(|author| {
            let own = title_key(author);
            wanted.split(' ').all(|word| own.split(' ').any(|own| own == word))
        })
    })
}

fn sort_by(papers: &mut [PaperMeta], sort: ListSortArg) {
    let last = |year: Option<i16>| std::cmp::Reverse(year.unwrap_or(i16::MIN));
    match sort {
        ListSortArg::Stored => {}
        ListSortArg::Year => papers.sort_by_key(|paper| last(paper.year)),
        ListSortArg::Title => papers.sort_by_cached_key(|paper| title_key(&paper.title)),
        ListSortArg::Author => papers.sort_by_cached_key(|paper| {
            let first = paper.authors.first().map(String::as_str).unwrap_or_default();
            title_key(first.rsplit(' ').next().unwrap_or_default())
        }),
        ListSortArg::Citations => {
            papers.sort_by_key(|paper| std::cmp::Reverse(paper.citation_count.unwrap_or(0)));
        }
    }
}

fn table(papers: &[PaperMeta]) -> Table {
    let mut table = Table::with_header(["id", "authors", "year", "title"]);
    for paper in papers {
        let authors: String = paper.authors.join(", ").chars().take(AUTHOR_CHARS).collect();
        let title: String = paper.display_title().chars().take(TITLE_CHARS).collect();
        table.add_row([
            paper.id.to_string(),
            authors,
            paper.year.map(|year| year.to_string()).unwrap_or_default(),
            title,
        ]);
    }
    table
}

/// Names of the cells of a paper.
pub(crate) const CSV_HEADER: [&str; 8] =
    ["id", "title", "authors", "year", "venue", "doi", "citations", "url"];

/// Papers as comma-separated values, a header first.
pub(crate) fn csv_of(papers: &[PaperMeta]) -> String {
    let mut text = csv::row(&CSV_HEADER);
    for paper in papers {
        text.push_str(&csv::row(&csv_cells(paper)));
    }
    text
}

/// The cells of a paper: identifier, title, authors, year, venue, DOI, citations, address.
pub(crate) fn csv_cells(paper: &PaperMeta) -> [String; 8] {
    [
        paper.id.to_string(),
        paper.title.clone(),
        paper.authors.join("; "),
        paper.year.map(|year| year.to_string()).unwrap_or_default(),
        paper.venue.clone().unwrap_or_default(),
        paper.doi().unwrap_or_default().to_owned(),
        paper.citation_count.map(|count| count.to_string()).unwrap_or_default(),
        paper.link().unwrap_or_default(),
    ]
}
