//! `papers wanted`: works that papers of a datastore cite and that are not in it.

use std::collections::BTreeMap;
use std::process::ExitCode;

use scholar_core::text::normalise::title_key;
use scholar_core::{Paper, PaperId, PaperMeta, PrintedReference};
use scholar_datastore::Datastore;
use scholar_formats::export::{self, ListFormat};
use scholar_formats::library::printed::reference_title;
use serde::Serialize;
use serde_json::json;

use super::intake::matched::StoredTitles;
use crate::app::App;
use crate::args::PapersFormatArg;
use crate::error::CommandError;
use crate::output::csv;
use crate::output::table::Table;
use crate::progress;

/// A work that is cited and not here.
#[derive(Debug, Clone, Serialize)]
struct Wanted {
    /// Identifiers that references state.
    ids: Vec<PaperId>,
    title: Option<String>,
    year: Option<i16>,
    first_author: Option<String>,
    /// A reference as printed, where one is.
    text: Option<String>,
    /// Papers here that cite it.
    cited_by: Vec<PaperId>,
}

pub(super) fn run(
    name: &str,
    limit: usize,
    format: Option<PapersFormatArg>,
    app: &App,
) -> Result<ExitCode, CommandError> {
    super::refuse_json_with_format(format.is_some(), app)?;
    let store = super::open(name, app)?;
    let wanted = gather(&store, app)?;
    let total = wanted.len();
    let shown = &wanted[..total.min(limit)];
    match format {
        Some(PapersFormatArg::Bibtex) => {
            let papers: Vec<PaperMeta> = shown.iter().map(meta_of).collect();
            app.printer.out(export::papers(&super::bare(papers), ListFormat::Bibtex).trim_end())?;
        }
        Some(PapersFormatArg::Csv) => app.printer.out(csv_of(shown).trim_end())?,
        None if app.printer.json => app.printer.json(&json!({
            "schema": "openscholar.papers-wanted/1", "datastore": name, "total": total, "works": shown,
        }))?,
        None => app.printer.out(&table(shown).to_string())?,
    }
    app.printer.say(&format!(
        "{} of {total} works that papers of {name} cite and that are not in it",
        shown.len()
    ));
    Ok(ExitCode::SUCCESS)
}

/// The works, the most cited first.
fn gather(store: &Datastore, app: &App) -> Result<Vec<Wanted>, CommandError> {
    let mut ids = Vec::new();
    store.each_paper(|meta| {
        ids.push(meta.id);
        Ok(())
    })?;
    let bar = progress::counted(&app.printer, "papers", Some(ids.len() as u64));
    let bar = bar.with_message("reading references");
    let stored_titles = StoredTitles::new(store)?;
    let mut works: Vec<Wanted> = Vec::new();
    let mut by_key: BTreeMap<String, usize> = BTreeMap::new();
    let mut stored: BTreeMap<PaperId, bool> = BTreeMap::new();
    for id in ids {
        bar.inc(1);
        if app.stop.requested() {
            break;
        }
        let Some(paper) = store.paper(&id)? else { continue };
        let Paper { meta, references, records, .. } = paper;
        let printed: Vec<PrintedReference> =
            records.into_iter().flat_map(|record| record.references).collect();
        let alone = references
            .iter()
            .filter(|id| !printed.iter().any(|reference| reference.ids.contains(id)));
        let alone = alone
            .map(|id| PrintedReference { ids: vec![id.clone()], ..PrintedReference::default() });
        for reference in alone.collect::<Vec<_>>().into_iter().chain(printed) {
            let mut is_here = false;
            for id in &reference.ids {
                let known = match stored.get(id) {
                    Some(known) => *known,
                    None => {
                        let known = !store.papers_named(id)?.is_empty();
                        stored.insert(id.clone(), known);
                        known
                    }
                };
                is_here |= known;
            }
            if is_here || stored_titles.find(&reference)?.is_some() {
                continue;
            }
            note(reference, &meta.id, &mut works, &mut by_key);
        }
    }
    bar.finish_and_clear();
    works.sort_by(|a, b| {
        (b.cited_by.len(), &a.title, &a.ids).cmp(&(a.cited_by.len(), &b.title, &b.ids))
    });
    Ok(works)
}

/// Counts one reference of `citing`.
fn note(
    reference: PrintedReference,
    citing: &PaperId,
    works: &mut Vec<Wanted>,
    by_key: &mut BTreeMap<String, usize>,
) {
    let PrintedReference { text, title, year, first_author, ids } = reference;
    let title = title.or_else(|| reference_title(&text).map(str::to_owned));
    let mut keys: Vec<String> = ids.iter().map(ToString::to_string).collect();
    keys.extend(title.as_deref().map(|title| format!("title:{}", title_key(title))));
    if keys.is_empty() {
        keys.push(format!("text:{}", title_key(&text)));
    }
    let at = keys.iter().find_map(|key| by_key.get(key).copied()).unwrap_or(works.len());
    if at == works.len() {
        works.push(Wanted {
            ids: Vec::new(),
            title: None,
            year: None,
            first_author: None,
            text: None,
            cited_by: Vec::new(),
        });
    }
    let work = &mut works[at];
    for id in ids {
        if !work.ids.contains(&id) {
            work.ids.push(id);
        }
    }
    work.title = work.title.take().or(title);
    work.year = work.year.or(year);
    work.first_author = work.first_author.take().or(first_author);
    work.text = work.text.take().or(Some(text).filter(|text| !text.is_empty()));
    if !work.cited_by.contains(citing) {
        work.cited_by.push(citing.clone());
    }
    for key in keys {
        by_key.entry(key).or_insert(at);
    }
}

/// A work as a paper of a list: what references say of it.
fn meta_of(work: &Wanted) -> PaperMeta {
    let title = work.title.clone().or_else(|| work.text.clone()).unwrap_or_default();
    let id = work.ids.first().cloned().unwrap_or_else(|| {
        let words: String = title_key(&title).split(' ').take(5).collect::<Vec<_>>().join("-");
        PaperId::Local(format!("wanted-{words}"))
    });
    let mut meta = PaperMeta::new(id, title);
    meta.external_ids = work.ids.iter().skip(1).cloned().collect();
    meta.authors = work.first_author.iter().cloned().collect();
    meta.year = work.year;
    meta
}

fn table(works: &[Wanted]) -> Table {
    let mut table = Table::with_header(["cited by", "work", "year", "id"]);
    for work in works {
        let words = work.title.as_ref().or(work.text.as_ref());
        let title: String = words
            .map_or("(only its identifier is known)", String::as_str)
            .chars()
            .take(90)
            .collect();
        table.add_row([
            work.cited_by.len().to_string(),
            title,
            work.year.map(|year| year.to_string()).unwrap_or_default(),
            work.ids.first().map(ToString::to_string).unwrap_or_default(),
        ]);
    }
    table
}

fn csv_of(works: &[Wanted]) -> String {
    let mut text = csv::row(&["cited_by", "id", "title", "first_author", "year", "reference"]);
    for work in works {
        text.push_str(&csv::row(&[
            work.cited_by.len().to_string(),
            work.ids.first().map(ToString::to_string).unwrap_or_default(),
            work.title.clone().unwrap_or_default(),
            work.first_author.clone().unwrap_or_default(),
            work.year.map(|year| year.to_string()).unwrap_or_default(),
            work.text.clone().unwrap_or_default(),
        ]));
    }
    text
}
