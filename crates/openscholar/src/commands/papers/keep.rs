//! Stores papers that are in memory: found by sources, or read from documents and libraries.

use std::collections::{BTreeMap, BTreeSet};

use scholar_core::{Encoder as _, Paper, PaperId, SourceFile};
use scholar_datastore::{AddOptions, AddReport, Datastore, Resolution, Revision};
use scholar_formats::library::matching::{MatchedBy, Matcher};
use scholar_formats::library::works::SameBy;

use super::intake::Item;
use super::intake::matched::{match_late, match_references};

use crate::app::App;
use crate::commands::datastore::build;
use crate::error::CommandError;
use crate::progress;
use crate::wiring::models::Reading;
use crate::wiring::store_writer;

/// Adds `papers` to the datastore called `name`, which is made if it is absent. Papers it has under the same identifier
/// with the same content are left alone; `source` is what `info` will say of where they come from.
/// Its files are checked first, or with `skip_check` when they are rewritten.
pub(crate) async fn add(
    name: &str,
    papers: Vec<Paper>,
    source: &str,
    skip_check: bool,
    app: &App,
) -> Result<AddReport, CommandError> {
    let path = app.home.datastore(name)?;
    if name == crate::starter::NAME {
        crate::wiring::starter(app).await?;
    }
    let reading = Reading::WHOLE;
    let encoder = build::fitting_encoder(app, &path, None, reading).await?;
    app.home.create(&app.home.datastores())?;
    let store = build::open(name, &path, encoder.info(), None)?;
    let mut writer = store_writer::open(name, &store, skip_check, app)?;
    app.heed_signals()?;
    let bar = progress::counted(&app.printer, "papers", Some(papers.len() as u64));
    let papers = papers.into_iter().map(Ok::<Paper, scholar_datastore::Error>);
    let mut tell = |done: &scholar_datastore::AddProgress| {
        bar.set_position(done.papers_read);
        app.until_stopped()
    };
    let report = writer.add(papers, encoder.as_ref(), &AddOptions::standard(source), &mut tell)?;
    bar.finish_and_clear();
    Ok(report)
}

/// What became of things that were read.
pub(crate) struct Kept {
    /// Counts of what was written.
    pub(crate) report: AddReport,
    /// Stored papers that things were joined with, by the place of the thing.
    pub(crate) joined: BTreeMap<usize, Vec<(PaperId, SameBy)>>,
    /// Papers that each thing became, by the place of the thing.
    pub(crate) papers: BTreeMap<usize, PaperId>,
    /// References that each thing's paper got by their titles, by the place of the thing.
    pub(crate) matched: BTreeMap<usize, usize>,
    /// Pairs of things that are one paper.
    pub(crate) beside: Vec<(usize, usize)>,
    /// Stored papers whose file now holds another work: they lost it.
    pub(crate) lost: usize,
}

/// Most papers with files of their own whose references are looked through for a new paper.
const LATE_REFERENCES: usize = 5_000;

/// Stores what was read in the datastore called `name`, which is made if it is absent: things of one work as one paper, joined
/// with what is stored. Its files are checked first, or with `skip_check` when they are rewritten.
pub(crate) async fn take_in(
    name: &str,
    items: Vec<Item>,
    skip_check: bool,
    app: &App,
) -> Result<Kept, CommandError> {
    let path = app.home.datastore(name)?;
    if name == crate::starter::NAME {
        crate::wiring::starter(app).await?;
    }
    let encoder = build::fitting_encoder(app, &path, None, Reading::WHOLE).await?;
    app.home.create(&app.home.datastores())?;
    let store = build::open(name, &path, encoder.info(), None)?;
    let mut writer = store_writer::open(name, &store, skip_check, app)?;
    app.heed_signals()?;
    let offered = items.into_iter().map(|item| item.paper.into_records("")).collect();
    let mut resolutions = store.resolve(offered)?;
    for resolution in &mut resolutions {
        let paper = resolution.revision.paper.take();
        resolution.revision.paper = paper.and_then(without_moved);
    }
    let mut papers: Vec<&mut Paper> =
        resolutions.iter_mut().filter_map(|one| one.revision.paper.as_mut()).collect();
    let mut counts = match_references(Some(&store), &mut papers)?.into_iter();
    let late = late_references(&store, &resolutions)?;
    let (mut joined, mut became, mut lost) = (BTreeMap::new(), BTreeMap::new(), 0);
    let mut matched: BTreeMap<usize, usize> = BTreeMap::new();
    let mut beside = Vec::new();
    let mut revisions = Vec::new();
    for Resolution { revision, offered, joined: with, lost: has_lost } in resolutions {
        lost += usize::from(has_lost);
        let found = revision.paper.as_ref().and_then(|_| counts.next()).unwrap_or_default();
        if let Some((first, others)) = offered.split_first() {
            let added = found.iter().filter(|one| one.by != MatchedBy::Id).count();
            matched.extend(offered.iter().map(|at| (*at, added)));
            beside.extend(others.iter().map(|other| (*first, *other)));
        }
        for at in offered {
            if !with.is_empty() {
                joined.insert(at, with.clone());
            }
            if let Some(paper) = &revision.paper {
                became.insert(at, paper.meta.id.clone());
            }
        }
        revisions.push(revision);
    }
    revisions.extend(late);
    let bar = progress::counted(&app.printer, "papers", Some(revisions.len() as u64));
    let mut tell = |done: &scholar_datastore::AddProgress| {
        bar.set_position(done.papers_read);
        app.until_stopped()
    };
    let options = AddOptions::standard("papers add");
    let report = writer.revise(revisions, encoder.as_ref(), &options, &mut tell)?;
    bar.finish_and_clear();
    Ok(Kept { report, joined, papers: became, matched, beside, lost })
}

/// Writes papers in the place of others of the datastore called `name`.
pub(crate) async fn revise(
    name: &str,
    store: &Datastore,
    revisions: Vec<Revision>,
    app: &App,
) -> Result<AddReport, CommandError> {
    let path = app.existing_datastore(name)?;
    let encoder = build::fitting_encoder(app, &path, None, Reading::WHOLE).await?;
    let mut writer = store_writer::open(name, store, false, app)?;
    app.heed_signals()?;
    let options = AddOptions::standard("papers add");
    Ok(writer.revise(revisions, encoder.as_ref(), &options, &mut |_| app.until_stopped())?)
}

/// The paper without files that lie elsewhere now: the same bytes were read from another path, and the old one leads nowhere.
fn without_moved(paper: Paper) -> Option<Paper> {
    let files: Vec<SourceFile> =
        paper.records.iter().filter_map(|record| record.source.file().cloned()).collect();
    let has_moved = |file: &SourceFile| {
        !file.path.exists()
            && files.iter().any(|other| {
                other.sha256 == file.sha256 && other.path != file.path && other.path.exists()
            })
    };
    if !files.iter().any(has_moved) {
        return Some(paper);
    }
    let mut records = paper.into_records("");
    // The one that stays has the text: both had the same.
    records.retain(|record| !record.source.file().is_some_and(has_moved));
    Paper::of_records(records)
}

/// Stored papers whose printed references mean papers that come only now.
fn late_references(
    store: &Datastore,
    resolutions: &[Resolution],
) -> Result<Vec<Revision>, CommandError> {
    let new = resolutions.iter().filter_map(|one| one.revision.paper.as_ref());
    let new = Matcher::new(new.map(|paper| &paper.meta));
    let touched: BTreeSet<&PaperId> =
        resolutions.iter().flat_map(|one| &one.revision.replaces).collect();
    let mut revisions = Vec::new();
    if store.recorded_count()? > LATE_REFERENCES {
        return Ok(revisions);
    }
    let mut failure = None;
    store.each_recorded(|mut paper| {
        let id = paper.meta.id.clone();
        if !touched.contains(&id) && failure.is_none() {
            match match_late(&mut paper, &new) {
                Ok(true) => {
                    revisions.push(Revision { paper: Some(paper), replaces: vec![id] });
                }
                Ok(false) => {}
                Err(error) => failure = Some(error),
            }
        }
        Ok(())
    })?;
    failure.map_or(Ok(revisions), Err)
}
