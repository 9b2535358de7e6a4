//! [`Shelf`] over the datastores that are served: papers, the pages of their PDFs, and files that people send.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use scholar_core::text::normalise::title_key;
use scholar_core::{PaperId, PaperMeta, PassageId, PrintedReference, ReadLimits};
use scholar_datastore::{Datastore, Graph, StoredWork};
use scholar_server::backend::{
    AddedFile, AddedPaper, BackendError, CitedPassage, CitedWork, DoubtfulPair, DrawnPage,
    MarkedPage, NO_DOCUMENT, PaperList, PaperQuery, PaperView, SearchedDatastores, Shelf,
};

use super::desk::Desk;
use super::told;
use crate::args::IntakeArgs;
use crate::commands::papers::add::files::{self, Intake};
use crate::commands::papers::intake::inputs;
use crate::commands::papers::{list, settle};
use crate::error::CommandError;
use crate::source_page::{SourcePdf, files_of};
use crate::wiring::OpenDatastore;

/// Folder of files that people sent, below the data folder.
const INCOMING: &str = "incoming";

/// Longest time for looking at one page: a person waits.
const PATIENCE: Duration = Duration::from_secs(20);

/// Papers that cite one, as far as they are listed.
const MOST_CITERS: usize = 2_000;

impl Shelf for Desk {
    fn searched(&self, names: &[String]) -> Result<SearchedDatastores, BackendError> {
        let opened = self.handle.block_on(self.open_among(names));
        opened.map(|group| group.searched).map_err(|error| told(&error))
    }

    fn papers(&self, datastore: &str, query: &PaperQuery) -> Result<PaperList, BackendError> {
        let stores = self.stores(datastore)?;
        listed(&stores, query).map_err(|error| told(&error))
    }

    fn paper(&self, datastore: &str, paper: &PaperId) -> Result<PaperView, BackendError> {
        let store = self.store_with(datastore, paper)?;
        self.view(&store, paper).map_err(|error| told(&error))?.ok_or_else(no_paper)
    }

    fn meta(&self, datastore: &str, paper: &PaperId) -> Result<PaperMeta, BackendError> {
        let store = self.store_with(datastore, paper)?;
        let found = store.paper(paper).map_err(failed)?;
        found.map(|paper| paper.meta).ok_or_else(no_paper)
    }

    fn passage(
        &self,
        datastore: &str,
        passage: &PassageId,
    ) -> Result<Option<CitedPassage>, BackendError> {
        for store in self.stores(datastore)? {
            if let Some((passage, paper)) = store.passage(passage).map_err(failed)? {
                return Ok(Some(CitedPassage { passage, paper }));
            }
        }
        Ok(None)
    }

    fn marks(
        &self,
        datastore: &str,
        paper: &PaperId,
        words: &str,
    ) -> Result<Vec<MarkedPage>, BackendError> {
        let store = self.store_with(datastore, paper)?;
        let found = self.pdf(&store, paper)?;
        let passages = store.passages_of(paper).map_err(failed)?;
        let marks = found.find(words, &passages).map_err(|error| told(&error))?;
        Ok(marks
            .into_iter()
            .map(|mark| MarkedPage { page: mark.page, boxes: mark.boxes })
            .collect())
    }

    fn drawn_page(
        &self,
        datastore: &str,
        paper: &PaperId,
        page: u32,
        words: Option<&str>,
    ) -> Result<DrawnPage, BackendError> {
        let store = self.store_with(datastore, paper)?;
        let pdf = self.pdf(&store, paper)?;
        let drawing = pdf.page(page).map_err(|error| BackendError::not_found(error.to_string()))?;
        let marks = match words {
            Some(words) => {
                let passages = store.passages_of(paper).map_err(failed)?;
                pdf.find(words, &passages).map_err(|error| told(&error))?
            }
            None => Vec::new(),
        };
        let boxes: Vec<_> = marks
            .into_iter()
            .filter(|mark| mark.page == page)
            .flat_map(|mark| mark.boxes)
            .collect();
        Ok(DrawnPage {
            svg: drawing.svg(&boxes),
            pages: drawing.pages,
            width: drawing.width,
            height: drawing.height,
            notices: drawing.notices.iter().map(|notice| notice.message.clone()).collect(),
        })
    }

    fn added_to(&self) -> String {
        let usual = self.names.first().filter(|name| *name != crate::starter::NAME);
        let is_one = usual.filter(|name| self.app.datastore_members(name) == [(*name).clone()]);
        is_one.cloned().unwrap_or_else(|| crate::config::LIBRARY_DATASTORE.to_owned())
    }

    fn takes_files(&self, datastore: &str) -> Result<(), BackendError> {
        if datastore != self.added_to() && !self.is_served(datastore) {
            return Err(BackendError::not_found("there is no such datastore here"));
        }
        if datastore == crate::starter::NAME {
            let error =
                CommandError::user("the papers that come with the program stay as they are");
            return Err(told(&error));
        }
        Ok(())
    }

    fn incoming(&self) -> Result<PathBuf, BackendError> {
        let folder = self.app.home.data().join(INCOMING);
        let made = crate::private::folder(&folder)
            .map_err(|source| CommandError::unwritable(&folder, source));
        made.map(|()| folder).map_err(|error| told(&error))
    }

    fn add(
        &self,
        datastore: &str,
        files: &[PathBuf],
        tell: &dyn Fn(AddedFile),
    ) -> Result<(), BackendError> {
        // A server that starts again may serve others.
        self.takes_files(datastore)?;
        for path in files {
            let added = self.add_one(datastore, path).or_else(|error| match error.is_final() {
                true => Err(told(&error)),
                // One broken file costs no other.
                false => Ok(failed_file(path, &error)),
            })?;
            tell(added);
        }
        if self.app.existing_datastore(datastore).is_ok() {
            self.has_made(datastore);
        }
        Ok(())
    }

    fn doubtful(
        &self,
        datastore: &str,
        limit: usize,
    ) -> Result<(Vec<DoubtfulPair>, usize), BackendError> {
        let stores = self.stores(datastore)?;
        let [store] = &stores[..] else {
            let error = CommandError::user("pairs are looked for in one datastore");
            return Err(told(&error));
        };
        let (pairs, total) =
            settle::doubtful(datastore, limit, &self.app).map_err(|error| told(&error))?;
        let graph = store.graph().map_err(failed)?;
        let mut shown = Vec::with_capacity(pairs.len());
        for pair in pairs {
            let [one, other] = &pair.papers;
            let (one, other) =
                (graph.meta(one).map_err(failed)?, graph.meta(other).map_err(failed)?);
            if let (Some(one), Some(other)) = (one, other) {
                shown.push(DoubtfulPair { papers: [one, other], why: pair.why });
            }
        }
        Ok((shown, total))
    }

    fn settle(
        &self,
        datastore: &str,
        [one, other]: [&PaperId; 2],
        are_one: bool,
    ) -> Result<(), BackendError> {
        for paper in [one, other] {
            self.store_with(datastore, paper)?;
        }
        if one == other || datastore == crate::starter::NAME {
            let error = CommandError::user("there is nothing to decide about these papers");
            return Err(told(&error));
        }
        let ids = [one.clone(), other.clone()];
        let settled = match are_one {
            true => settle::make_one(datastore, &ids, &self.app).map(|_| ()),
            false => settle::keep_apart(datastore, &ids, &self.app),
        };
        settled.map_err(|error| told(&error))
    }
}

fn failed(error: scholar_datastore::Error) -> BackendError {
    told(&CommandError::from(error))
}

fn no_paper() -> BackendError {
    BackendError::not_found("there is no such paper in this datastore")
}

impl Desk {
    /// The datastores that `name` means, a group included, each one of those that are served.
    pub(super) fn stores(&self, name: &str) -> Result<Vec<Arc<Datastore>>, BackendError> {
        let members = self.app.datastore_members(name);
        if members.is_empty() || members.iter().any(|member| !self.is_served(member)) {
            return Err(BackendError::not_found("there is no such datastore here"));
        }
        let opened = |member: &String| -> Result<Arc<Datastore>, BackendError> {
            let open = OpenDatastore::open(&self.app, member);
            let opened = self.handle.block_on(open).map_err(|error| told(&error))?;
            Ok(opened.store)
        };
        members.iter().map(opened).collect()
    }

    /// The one of them that has the paper.
    fn store_with(&self, name: &str, paper: &PaperId) -> Result<Arc<Datastore>, BackendError> {
        for store in self.stores(name)? {
            let graph = store.graph().map_err(failed)?;
            let is_there = graph.meta(paper).map_err(failed)?.is_some();
            drop(graph);
            if is_there {
                return Ok(store);
            }
        }
        Err(no_paper())
    }

    pub(super) fn limits(&self) -> ReadLimits {
        let limits = self.app.config.read_limits(&[]);
        ReadLimits { time: limits.time.min(PATIENCE), ..limits }
    }

    fn pdf(&self, store: &Datastore, paper: &PaperId) -> Result<SourcePdf, BackendError> {
        let found = store.paper(paper).map_err(failed)?.ok_or_else(no_paper)?;
        // Where files lie on the server is no business of whoever reads a page.
        SourcePdf::open(&found, self.limits()).map_err(|error| {
            let notice = error.notice();
            tracing::info!(paper = %paper, message = notice.message, "no page of a PDF to look at");
            let why = match files_of(&found).is_empty() {
                true => "this paper was not read from a PDF",
                false => "the PDF of this paper is missing, or another than when it was read",
            };
            BackendError::not_found(why)
        })
    }

    fn view(&self, store: &Datastore, id: &PaperId) -> Result<Option<PaperView>, CommandError> {
        let Some(paper) = store.paper(id)? else { return Ok(None) };
        let id = paper.meta.id.clone();
        let passages = store.passages_of(&id)?;
        let graph = store.graph()?;
        let printed = paper.records.iter().flat_map(|record| &record.references);
        let references = cited(&graph, &id, printed)?;
        let citers = graph.citers(&id)?.into_iter().take(MOST_CITERS);
        let mut cited_by = Vec::new();
        for citer in citers {
            cited_by.extend(graph.meta(&citer)?);
        }
        let has_pdf = !files_of(&paper).is_empty();
        let quoted_in = self.quotations_of(&id)?;
        Ok(Some(PaperView { paper, passages, references, cited_by, quoted_in, has_pdf }))
    }

    fn add_one(&self, datastore: &str, path: &Path) -> Result<AddedFile, CommandError> {
        let input =
            inputs::file(path).ok_or_else(|| CommandError::user(format!("it {NO_DOCUMENT}")))?;
        let args = IntakeArgs {
            collection: None,
            no_lookup: false,
            offline: self.app.offline,
            bulk_limit: 0,
            attachments: Vec::new(),
            follow_links: false,
            reread: false,
            watch: false,
        };
        let intake = Intake {
            args: &args,
            limits: self.app.config.read_limits(&[]),
            keep_lost_spaces: false,
            skip_check: true,
            is_sent: true,
        };
        let work = Box::pin(files::take_in(datastore, vec![input], &intake, &self.app));
        let done = self.handle.block_on(work)?;
        let papers = done.lines.iter().filter_map(|line| {
            let joined = line.joined.iter().map(|one| format!("{} by {}", one.paper, one.by));
            Some(AddedPaper {
                id: line.paper.clone()?,
                title: line.title.clone(),
                joined: joined.collect(),
            })
        });
        let is_unchanged = !done.unchanged.is_empty();
        // The server ended between the storing and the telling of it.
        let papers =
            if is_unchanged { self.stored_from(datastore, path)? } else { papers.collect() };
        Ok(AddedFile {
            name: name_of(path),
            papers,
            notices: done.notices.iter().map(|notice| here(&notice.message, path)).collect(),
            is_unchanged,
        })
    }

    /// The papers that were read from a file.
    fn stored_from(&self, datastore: &str, path: &Path) -> Result<Vec<AddedPaper>, CommandError> {
        let store = Datastore::open_unchecked(&self.app.existing_datastore(datastore)?)?;
        let paper = |work: StoredWork| {
            let PaperMeta { id, title, .. } = work.paper.meta;
            AddedPaper { id, title, joined: Vec::new() }
        };
        Ok(store.papers_at_path(path)?.into_iter().map(paper).collect())
    }
}

/// A message without the folder that the file lies in.
fn here(message: &str, path: &Path) -> String {
    let folder = path.parent().map(|folder| format!("{}/", folder.display())).unwrap_or_default();
    if folder.len() > 1 { message.replace(&folder, "") } else { message.to_owned() }
}

fn failed_file(path: &Path, error: &CommandError) -> AddedFile {
    let notice = error.notice();
    let notices = std::iter::once(notice.message).chain(notice.hint);
    AddedFile {
        name: name_of(path),
        papers: Vec::new(),
        notices: notices.map(|message| here(&message, path)).collect(),
        is_unchanged: false,
    }
}

fn name_of(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Papers that have all words, in the order in which they are stored.
fn listed(stores: &[Arc<Datastore>], query: &PaperQuery) -> Result<PaperList, CommandError> {
    let PaperQuery { words, offset, limit } = query;
    let words = list::words_of(words);
    let mut found = PaperList::default();
    for store in stores {
        store.each_paper(|meta| {
            found.total += 1;
            if list::has_words(&meta, &words) {
                if found.found >= *offset && found.papers.len() < *limit {
                    found.papers.push(meta);
                }
                found.found += 1;
            }
            Ok(())
        })?;
    }
    Ok(found)
}

/// What a paper cites: those whose papers are known, then what is only printed.
fn cited<'p>(
    graph: &Graph<'_>,
    id: &PaperId,
    printed: impl Iterator<Item = &'p PrintedReference>,
) -> Result<Vec<CitedWork>, CommandError> {
    let mut works = Vec::new();
    let mut titles: BTreeSet<String> = BTreeSet::new();
    for linked in graph.references(id)?.unwrap_or_default() {
        let meta = if linked.stored { graph.meta(&linked.id)? } else { None };
        let text = match &meta {
            Some(meta) => described(meta),
            None => linked.id.to_string(),
        };
        titles.extend(meta.map(|meta| title_key(&meta.title)));
        works.push(CitedWork { id: Some(linked.id), text, is_stored: linked.stored });
    }
    let is_known = |reference: &PrintedReference, works: &[CitedWork]| {
        let by_id = |id: &PaperId| works.iter().any(|work| work.id.as_ref() == Some(id));
        reference.ids.iter().any(by_id)
            || reference.title.as_ref().is_some_and(|title| titles.contains(&title_key(title)))
    };
    for reference in printed {
        if !is_known(reference, &works) {
            let text = match (&reference.text, &reference.title) {
                (text, Some(title)) if text.is_empty() => title.clone(),
                (text, _) => text.clone(),
            };
            works.push(CitedWork { id: reference.ids.first().cloned(), text, is_stored: false });
        } else if let Some(work) = works.iter_mut().find(|work| {
            !work.is_stored && work.id.as_ref().is_some_and(|id| reference.ids.contains(id))
        }) {
            // What is printed says more than an identifier.
            work.text.clone_from(&reference.text);
        }
    }
    Ok(works)
}

fn described(meta: &PaperMeta) -> String {
    let year = meta.year.map(|year| format!(" ({year})")).unwrap_or_default();
    let first = meta.authors.first().map(|author| format!("{author}: ")).unwrap_or_default();
    format!("{first}{}{year}", meta.display_title())
}
