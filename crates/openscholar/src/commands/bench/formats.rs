//! `bench formats`: what the readers of documents and libraries take out of files, and how fast.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use scholar_formats::library::matching::MatchedBy;

use crate::app::App;
use crate::commands::bench::{machine, publish};
use crate::commands::papers::intake::inputs::Sorted;
use crate::commands::papers::intake::matched::{self, Matched};
use crate::commands::papers::intake::walk::Links;
use crate::commands::papers::intake::{self, How, Item, Taken, inputs};
use crate::error::CommandError;

/// Sums over the files of one format.
#[derive(Default)]
struct Row {
    papers: usize,
    without_title: usize,
    with_abstract: usize,
    words: usize,
    sections: usize,
    references: usize,
    identified: usize,
    matched: usize,
    pages: u64,
    bytes: u64,
    time: Duration,
    slowest: Duration,
}

impl Row {
    fn add(&mut self, item: &Item) {
        let paper = &item.paper;
        self.papers += 1;
        self.without_title += usize::from(paper.meta.title.is_empty());
        self.with_abstract += usize::from(paper.abstract_text().is_some());
        let words = |text: &str| text.split_whitespace().count();
        self.words += paper.sections.iter().map(|section| words(&section.text)).sum::<usize>();
        self.sections += paper.sections.len();
        self.references += item.references.len();
        self.identified += item.references.iter().filter(|one| !one.ids.is_empty()).count();
        self.matched += item.matched;
        let places = paper.sections.iter().flat_map(|section| &section.places);
        self.pages += places.map(|place| u64::from(place.page)).max().unwrap_or(0);
        let (bytes, time) = item.cost;
        self.bytes += bytes;
        self.time += time;
        self.slowest = self.slowest.max(time);
    }
}

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
        app.printer.say(&format!("{} files of rows are for bench ingest and left out", rows.len()));
    }
    let named = found.len();
    let mut taken = app.block_on(intake::read_all(found, &How::offline(), app))??;
    let matching = known.map(|name| Matching::run(name, &mut taken, app)).transpose()?;
    let mut formats: BTreeMap<String, Row> = BTreeMap::new();
    for item in &taken.items {
        formats.entry(item.format.clone()).or_default().add(item);
    }
    let reasons: Vec<&str> = taken.notices.iter().map(|notice| notice.message.as_str()).collect();
    let mut text = markdown(paths, known, &formats, (named, taken.failed), app);
    text.extend(matching.iter().map(Matching::markdown));
    let json = serde_json::json!({
        "schema": "openscholar.bench.formats/1",
        "machine": machine(app),
        "inputs": named,
        "failed": taken.failed,
        "notices": reasons,
        "matching": matching.as_ref().map(Matching::json),
        "formats": formats.iter().map(|(name, row)| serde_json::json!({
            "format": name, "papers": row.papers, "without_title": row.without_title, "with_abstract": row.with_abstract,
            "words": row.words, "sections": row.sections, "references": row.references, "identified": row.identified,
            "matched": row.matched,
            "pages": row.pages, "bytes": row.bytes, "seconds": row.time.as_secs_f64(), "slowest_seconds": row.slowest.as_secs_f64(),
        })).collect::<Vec<_>>(),
    });
    publish("formats", &text, &json, out, app)
}

/// References matched to the papers of a datastore.
struct Matching<'a> {
    datastore: &'a str,
    references: usize,
    matched: Vec<Matched>,
    time: Duration,
}

impl<'a> Matching<'a> {
    fn run(datastore: &'a str, taken: &mut Taken, app: &App) -> Result<Self, CommandError> {
        // A misspelt name would match nothing, and say so.
        app.existing_datastore(datastore)?;
        let references = taken.items.iter().map(|item| item.references.len()).sum();
        let began = Instant::now();
        let matched = matched::match_references(datastore, taken, app)?;
        Ok(Self { datastore, references, matched, time: began.elapsed() })
    }

    fn count(&self, by: MatchedBy) -> usize {
        self.matched.iter().filter(|one| one.by == by).count()
    }

    #[expect(clippy::cast_precision_loss, reason = "numbers for people")]
    fn markdown(&self) -> String {
        let Self { datastore, references, matched, time } = self;
        format!(
            "\n{} of {references} references are papers of `{datastore}` or of each other: {} by an identifier, {} by their \
             title, {} by nine words of ten with author and year, {} by title, author and year in their plain text. \
             {:.2} ms for each reference.\n",
            matched.len(),
            self.count(MatchedBy::Id),
            self.count(MatchedBy::Title),
            self.count(MatchedBy::Overlap),
            self.count(MatchedBy::Text),
            time.as_secs_f64() * 1e3 / (*references).max(1) as f64
        )
    }

    fn json(&self) -> serde_json::Value {
        let rows = self.matched.iter().map(|one| {
            serde_json::json!({
                "reference": one.reference, "paper": one.paper, "title": one.title,
                "by": format!("{:?}", one.by).to_lowercase(),
            })
        });
        serde_json::json!({
            "datastore": self.datastore, "references": self.references, "seconds": self.time.as_secs_f64(),
            "matched": rows.collect::<Vec<_>>(),
        })
    }
}

#[expect(clippy::cast_precision_loss, reason = "numbers for people")]
fn markdown(
    paths: &[PathBuf],
    known: Option<&str>,
    formats: &BTreeMap<String, Row>,
    (named, failed): (usize, usize),
    app: &App,
) -> String {
    let names: Vec<String> = paths
        .iter()
        .filter_map(|path| Some(path.file_name()?.to_string_lossy().into_owned()))
        .collect();
    let option = known.map(|name| format!(" --match {name}")).unwrap_or_default();
    let mut text = format!(
        "# Documents and libraries\n\nCommand: `openscholar bench formats {}{option}`\n\n\
         {named} inputs, {failed} of which gave no paper (each with its reason in the JSON). Machine: {}.\n\n\
         | format | papers | with abstract | without title | words each | sections each | references | that state an \
         identifier | pages | ms each | slowest s | MB/s |\n|---|---|---|---|---|---|---|---|---|---|---|---|\n",
        names.join(" "),
        machine(app)
    );
    for (name, row) in formats {
        let each = |sum: usize| sum as f64 / row.papers.max(1) as f64;
        let seconds = row.time.as_secs_f64();
        let _infallible = writeln!(
            text,
            "| {name} | {} | {} | {} | {:.0} | {:.1} | {} | {} | {} | {:.1} | {:.2} | {:.1} |",
            row.papers,
            row.with_abstract,
            row.without_title,
            each(row.words),
            each(row.sections),
            row.references,
            row.identified,
            if row.pages == 0 { "–".to_owned() } else { row.pages.to_string() },
            seconds * 1e3 / row.papers.max(1) as f64,
            row.slowest.as_secs_f64(),
            row.bytes as f64 / 1e6 / seconds.max(1e-9),
        );
    }
    text
}
