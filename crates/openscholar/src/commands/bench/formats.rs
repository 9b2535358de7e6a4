//! `bench formats`: what the readers of documents and libraries take out of files, and how fast.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use scholar_bench::performance::formats::{
    FormatReport, FormatSums, MatchedReference, ReadPaper, ReferenceMatches,
};
use scholar_datastore::Datastore;

use crate::app::App;
use crate::commands::bench::{machine, publish};
use crate::commands::papers::intake::inputs::Sorted;
use crate::commands::papers::intake::matched::{self, Matched};
use crate::commands::papers::intake::walk::Links;
use crate::commands::papers::intake::{self, How, Item, Taken, inputs};
use crate::error::CommandError;

/// Reads everything below `paths`; nothing is stored and nobody is asked.
///
/// With `known`, references are matched to the papers of that datastore.
pub(super) fn run(
    paths: &[PathBuf],
    known: Option<&str>,
    out: Option<&Path>,
    app: &App,
) -> Result<ExitCode, CommandError> {
    let Sorted { rows, inputs: found, notices: _ } =
        inputs::sorted(paths, inputs::EmptyFolder::Refused, Links::Everywhere)?;
    if !rows.is_empty() {
        app.printer
            .say(&format!("skipped {} files of rows; use bench ingest for them", rows.len()));
    }
    let named = found.len();
    let mut taken = app.block_on(intake::read_all(found, &How::offline(), app))??;
    let matches = known.map(|name| matches(name, &mut taken, app)).transpose()?;
    let mut formats: BTreeMap<String, FormatSums> = BTreeMap::new();
    for item in &taken.items {
        formats.entry(item.format.clone()).or_default().add(&read(item));
    }
    let names: Vec<String> = paths
        .iter()
        .filter_map(|path| Some(path.file_name()?.to_string_lossy().into_owned()))
        .collect();
    let option = known.map(|name| format!(" --match {name}")).unwrap_or_default();
    let report = FormatReport {
        command: &format!("openscholar bench formats {}{option}", names.join(" ")),
        machine: &machine(app),
        inputs: named,
        failed: taken.failed,
        notices: taken.notices.iter().map(|notice| notice.message.as_str()).collect(),
        formats: &formats,
        matches: matches.as_ref(),
    };
    publish("formats", &report.markdown(), &report.json(), out, app)
}

fn read(item: &Item) -> ReadPaper<'_> {
    let (bytes, time) = item.cost;
    ReadPaper {
        paper: &item.paper,
        references: item.references().count(),
        identified: item.references().filter(|one| !one.ids.is_empty()).count(),
        matched: item.paper.references.len().saturating_sub(stated(item)),
        bytes,
        time,
    }
}

/// References of an item that state an identifier of their own.
fn stated(item: &Item) -> usize {
    let ids = item.references().filter_map(|reference| reference.ids.first());
    ids.filter(|id| item.paper.references.contains(id)).count()
}

/// Matches the references of `taken` to the papers of `datastore`.
fn matches<'a>(
    datastore: &'a str,
    taken: &mut Taken,
    app: &App,
) -> Result<ReferenceMatches<'a>, CommandError> {
    // A misspelt name would match nothing, and say so.
    let store = Datastore::open(&app.existing_datastore(datastore)?)?;
    let references = taken.items.iter().map(|item| item.references().count()).sum();
    let began = Instant::now();
    let mut papers: Vec<_> = taken.items.iter_mut().map(|item| &mut item.paper).collect();
    let matched = matched::match_references(Some(&store), &mut papers)?;
    let time = began.elapsed();
    let row = |one: Matched| MatchedReference {
        reference: one.reference,
        paper: one.paper.to_string(),
        title: one.title,
        by: format!("{:?}", one.by).to_lowercase(),
    };
    let matched = matched.into_iter().flatten().map(row).collect();
    Ok(ReferenceMatches { datastore, references, matched, time })
}
