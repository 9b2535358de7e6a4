//! Papers from anywhere: files, folders, libraries and identifiers become papers ready to be stored.
//!
//! ```text
//! arguments ─ inputs ─┬ document ────────────────┐
//!                     ├ library ─ attached files ─┼─ completed from registries ─ records of each thing
//!                     └ identifier ─ providers ───┘
//! ```
//!
//! `keep` joins the records of one work, with each other and with what is stored, and stores the papers they make.

mod attached;
mod failure;
pub(crate) mod inputs;
mod lookup;
pub(crate) mod matched;
mod read;
pub(crate) mod report;
pub(crate) mod walk;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use scholar_clients::fetch::Fetcher;
use scholar_core::paper::record::put_records;
use scholar_core::text::lost_spaces::repair_paper;
use scholar_core::{Notice, NoticeKind, Paper, PrintedReference, ReadLimits, SourceRecord};
use scholar_datastore::Datastore;

use crate::app::App;
use crate::error::CommandError;
use crate::progress;
use crate::wiring::sources;
use inputs::Input;

/// One thing that was read, with where it came from.
pub(crate) struct Item {
    /// The file, entry or identifier.
    pub(crate) origin: String,
    /// What it was read as.
    pub(crate) format: String,
    /// The paper that its records make.
    pub(crate) paper: Paper,
    /// Bytes read and time taken for it.
    pub(crate) cost: (u64, Duration),
}

impl Item {
    /// What `records` of one thing say; `None` without any.
    pub(crate) fn new(
        origin: String,
        format: String,
        records: Vec<SourceRecord>,
        cost: (u64, Duration),
    ) -> Option<Self> {
        Some(Self { origin, format, paper: Paper::of_records(records)?, cost })
    }

    /// Adds what another source says of the same paper.
    pub(crate) fn put(&mut self, record: SourceRecord) {
        let mut records = self.paper.clone().into_records("");
        put_records(&mut records, vec![record]);
        if let Some(paper) = Paper::of_records(records) {
            self.paper = paper;
        }
    }

    /// Its list of references as printed.
    pub(crate) fn references(&self) -> impl Iterator<Item = &PrintedReference> {
        self.paper.records.iter().flat_map(|record| &record.references)
    }
}

/// What an intake brought.
#[derive(Default)]
pub(crate) struct Taken {
    pub(crate) items: Vec<Item>,
    pub(crate) notices: Vec<Notice>,
    /// Inputs that gave no paper.
    pub(crate) failed: usize,
    /// Files that are stored as they are, which were not read again.
    pub(crate) unchanged: Vec<PathBuf>,
    /// Words of PDFs that had run together and were divided.
    pub(crate) spaces_repaired: usize,
}

impl Taken {
    fn note(&mut self, kind: NoticeKind, message: String, hint: Option<&str>) {
        let notice = Notice::new(kind, message);
        self.notices.push(match hint {
            Some(hint) => notice.with_hint(hint),
            None => notice,
        });
    }

    fn fail(&mut self, origin: &str, why: &str, hint: Option<&str>) {
        self.failed += 1;
        self.note(NoticeKind::Skipped, format!("{origin} was not added: {why}"), hint);
    }
}

/// How an intake is done.
pub(crate) struct How<'a> {
    /// Only this collection of a library, `outer/inner`.
    pub(crate) collection: Option<&'a str>,
    /// Whether metadata of identified documents are completed from providers.
    pub(crate) look_up: bool,
    /// Nobody is asked.
    pub(crate) offline: bool,
    /// Papers of a bulk search at most.
    pub(crate) bulk_limit: usize,
    /// How much one file may be.
    pub(crate) limits: ReadLimits,
    /// Whether words of PDFs that ran together are divided.
    pub(crate) repair_spaces: bool,
    /// Folders that the files of a library may lie in besides its own.
    pub(crate) attachments: &'a [PathBuf],
    /// Where the Zotero that runs here keeps its files, unless it was told otherwise.
    pub(crate) zotero_storage: Option<PathBuf>,
    /// What is stored: files of it that have not changed are not read again.
    pub(crate) stored: Option<Arc<Datastore>>,
}

impl How<'_> {
    /// What nobody is asked for, with files as they usually are.
    pub(crate) fn offline() -> Self {
        Self {
            collection: None,
            look_up: false,
            offline: true,
            bulk_limit: 0,
            limits: ReadLimits::standard(),
            repair_spaces: true,
            attachments: &[],
            zotero_storage: None,
            stored: None,
        }
    }
}

/// Reads everything that `inputs` name, and completes it from registries as `how` allows.
pub(crate) async fn take(
    inputs: Vec<Input>,
    how: &How<'_>,
    app: &App,
) -> Result<Taken, CommandError> {
    let fetcher = sources::fetcher(app, how.offline)?;
    let mut taken = read_with(inputs, how, &fetcher, app).await;
    if how.look_up {
        lookup::complete(&fetcher, &mut taken).await;
    }
    Ok(taken)
}

/// Reads everything that `inputs` name, each for itself.
pub(crate) async fn read_all(
    inputs: Vec<Input>,
    how: &How<'_>,
    app: &App,
) -> Result<Taken, CommandError> {
    let fetcher = sources::fetcher(app, how.offline)?;
    Ok(read_with(inputs, how, &fetcher, app).await)
}

async fn read_with(inputs: Vec<Input>, how: &How<'_>, fetcher: &Fetcher, app: &App) -> Taken {
    let mut taken = Taken::default();
    let total = inputs.len() as u64;
    let bar = progress::counted(&app.printer, "inputs", Some(total)).with_message("reading");
    let known = lookup::Known::of(&inputs, fetcher, &mut taken).await;
    for input in inputs {
        if app.stop.requested() {
            break;
        }
        match input {
            Input::Document(path) => {
                read::document(&path, how, fetcher, &mut taken).await;
            }
            Input::Library(path) => read::library(&path, how, fetcher, &mut taken).await,
            Input::Zotero(collection) => {
                read::zotero(collection.as_deref(), how, fetcher, &mut taken).await;
            }
            Input::Identifier(id) => lookup::paper(&id, &known, fetcher, &mut taken).await,
            Input::Title(title) => lookup::titled(&title, fetcher, &mut taken).await,
            Input::Bulk(expression) => {
                lookup::bulk(&expression, how.bulk_limit, fetcher, &mut taken).await;
            }
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    if how.repair_spaces {
        let pdfs = taken.items.iter_mut().filter(|item| item.format.contains("PDF"));
        taken.spaces_repaired = pdfs.map(|item| repair_paper(&mut item.paper)).sum();
    }
    taken
}
