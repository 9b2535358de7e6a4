//! One work, one paper, whatever comes first: what is offered joins the stored papers of the same work.
//!
//! Each thing that is taken in is a few source records: a library's entry with its file, a file alone, what registries say.
//! [`Datastore::resolve`] finds the stored papers and the others offered that are the same work ([`same_work`]), puts
//! their records together, and gives the papers to be written ([`Revision`]).

use std::collections::{BTreeMap, BTreeSet};

use scholar_core::paper::record::put_records;
use scholar_core::text::normalise::title_key;
use scholar_core::{Paper, PaperId, PaperMeta, PrintedReference, RecordSource, SourceRecord};
use scholar_formats::library::matching::Matcher;
use scholar_formats::library::works::{SameBy, Work, is_taken_over, is_told_apart, same_work};

use crate::error::Error;
use crate::store::Datastore;
use crate::store::recorded::StoredWork;
use crate::writer::Revision;

/// Most papers of a store whose titles are compared word by word. Of larger ones only equal titles are found: they are
/// corpora rather than libraries, and reading all titles would take longer than what is added.
const NEAR_TITLES: u64 = 100_000;

/// A work that something was offered of.
#[derive(Debug, Clone, PartialEq)]
pub struct Resolution {
    /// What is to be written.
    pub revision: Revision,
    /// Which of what was offered it is made of, counted from 0.
    pub offered: Vec<usize>,
    /// The stored papers it was joined with, and how that is known.
    pub joined: Vec<(PaperId, SameBy)>,
    /// Whether it is a stored paper that lost an entry or file which now holds another work.
    pub lost: bool,
}

/// Records that are known to be of one work.
#[derive(Default)]
struct Group {
    records: Vec<SourceRecord>,
    /// Merged from the records; `None` when there is none.
    meta: Option<PaperMeta>,
    stored: Vec<PaperId>,
    offered: Vec<usize>,
    joined: Vec<(PaperId, SameBy)>,
    lost: bool,
}

impl Group {
    fn of_stored(work: StoredWork) -> Self {
        let StoredWork { paper, collection } = work;
        let (meta, stored) = (Some(paper.meta.clone()), vec![paper.meta.id.clone()]);
        Self { meta, stored, records: paper.into_records(&collection), ..Self::default() }
    }

    fn work(&self) -> Option<Work<'_>> {
        let meta = self.meta.as_ref()?;
        Some(Work { meta, records: &self.records })
    }

    fn merge(&mut self) {
        // Texts are large, and only metadata are needed here.
        let bare = self.records.iter().map(|record| SourceRecord {
            sections: Vec::new(),
            references: Vec::new(),
            cited: Vec::new(),
            ..record.clone()
        });
        self.meta = Paper::of_records(bare.collect()).map(|paper| paper.meta);
    }
}

impl Datastore {
    /// The papers that `offered` make, each given as the records of one thing that was read. Things of one work are joined with
    /// each other and with what is stored; the order of what is offered decides only between sources of one precedence.
    ///
    /// # Errors
    /// As [`Datastore::passage`].
    pub fn resolve(&self, offered: Vec<Vec<SourceRecord>>) -> Result<Vec<Resolution>, Error> {
        let mut groups = Groups::new(self)?;
        for (at, records) in offered.into_iter().enumerate() {
            groups.take(at, records)?;
        }
        Ok(groups.finish())
    }
}

struct Groups<'a> {
    store: &'a Datastore,
    /// Stored titles, where there are not too many.
    titles: Option<Matcher>,
    /// Titles of what was offered.
    offered_titles: Matcher,
    groups: Vec<Group>,
    /// Stored papers that are in groups.
    fetched: BTreeSet<PaperId>,
    by_name: BTreeMap<String, BTreeSet<usize>>,
}

impl<'a> Groups<'a> {
    fn new(store: &'a Datastore) -> Result<Self, Error> {
        let titles = store.title_matcher(NEAR_TITLES)?;
        let offered_titles = Matcher::default();
        Ok(Self {
            store,
            titles,
            offered_titles,
            groups: Vec::new(),
            fetched: BTreeSet::new(),
            by_name: BTreeMap::new(),
        })
    }

    fn take(&mut self, at: usize, records: Vec<SourceRecord>) -> Result<(), Error> {
        let mut own = Group { records, offered: vec![at], ..Group::default() };
        own.merge();
        let Some(meta) = own.meta.clone() else { return Ok(()) };
        self.fetch(&own, &meta)?;
        let mut fits: Vec<(SameBy, usize)> = Vec::new();
        let candidates: BTreeSet<usize> = names(&own.records, &meta)
            .iter()
            .filter_map(|name| self.by_name.get(name))
            .flatten()
            .copied()
            .chain(self.near(&meta))
            .collect();
        for place in candidates {
            let Some((known, offered)) = self.groups[place].work().zip(own.work()) else {
                continue;
            };
            match same_work(offered, known) {
                Some(by) => fits.push((by, place)),
                None => self.lose(place, &own),
            }
        }
        fits.sort();
        let mut home: Option<usize> = None;
        for (by, place) in fits {
            let Some(home) = home else {
                home = Some(place);
                self.join_offered(place, std::mem::take(&mut own), by);
                continue;
            };
            self.join_groups(home, place, &by);
        }
        if home.is_none() {
            self.add(own);
        }
        Ok(())
    }

    /// Makes groups of the stored papers that may be the same work.
    fn fetch(&mut self, own: &Group, meta: &PaperMeta) -> Result<(), Error> {
        let mut found: Vec<StoredWork> = Vec::new();
        for id in meta.ids() {
            found.extend(self.store.papers_named(id)?);
        }
        for record in &own.records {
            for path in record.source.paths() {
                found.extend(self.store.papers_at_path(path)?);
            }
            match &record.source {
                RecordSource::File(file) => found.extend(self.store.papers_of_bytes(&file.sha256)?),
                RecordSource::Library { key: Some(key), .. } => {
                    found.extend(self.store.papers_keyed(key)?);
                }
                RecordSource::Library { key: None, .. }
                | RecordSource::Registry { .. }
                | RecordSource::Collection { .. } => {}
            }
        }
        let mut titled: Vec<PaperId> =
            self.titles.iter().filter_map(|m| near_in(m, meta)).collect();
        titled.extend(self.store.papers_titled(&meta.title)?.into_iter().map(|meta| meta.id));
        for id in titled {
            found.extend(self.store.papers_named(&id)?);
        }
        for work in found {
            if self.fetched.insert(work.paper.meta.id.clone()) {
                self.add(Group::of_stored(work));
            }
        }
        Ok(())
    }

    /// The group of a work offered before with nearly this title.
    fn near(&self, meta: &PaperMeta) -> Option<usize> {
        let id = near_in(&self.offered_titles, meta)?;
        let places = self.by_name.get(&id.to_string())?;
        places.iter().next().copied()
    }

    fn add(&mut self, group: Group) {
        self.groups.push(group);
        self.index(self.groups.len() - 1);
    }

    fn index(&mut self, place: usize) {
        let group = &self.groups[place];
        let Some(meta) = &group.meta else { return };
        for name in names(&group.records, meta) {
            self.by_name.entry(name).or_default().insert(place);
        }
        if !group.offered.is_empty() {
            self.offered_titles.add(meta);
        }
    }

    fn join_offered(&mut self, place: usize, own: Group, by: SameBy) {
        let group = &mut self.groups[place];
        group.joined.extend(group.stored.iter().map(|id| (id.clone(), by.clone())));
        put_records(&mut group.records, own.records);
        group.offered.extend(own.offered);
        group.merge();
        self.index(place);
    }

    /// Puts the group at `place` together with the one at `home`, unless what they are made of speaks against it now.
    fn join_groups(&mut self, home: usize, place: usize, by: &SameBy) {
        let works = self.groups[home].work().zip(self.groups[place].work());
        let is_one = works.is_some_and(|(one, other)| {
            !is_told_apart(one, other) && (*by != SameBy::Title || same_work(one, other).is_some())
        });
        if home == place || !is_one {
            return;
        }
        let other = std::mem::take(&mut self.groups[place]);
        let group = &mut self.groups[home];
        group.joined.extend(other.stored.iter().map(|id| (id.clone(), by.clone())));
        group.stored.extend(other.stored);
        group.offered.extend(other.offered);
        group.joined.extend(other.joined);
        put_records(&mut group.records, other.records);
        group.merge();
        self.index(home);
    }

    /// Takes from the group at `place` the entries and files that now hold the work `own`.
    fn lose(&mut self, place: usize, own: &Group) {
        let Some(offered) = own.work() else { return };
        let group = &mut self.groups[place];
        let before = group.records.len();
        group.records.retain(|record| !is_taken_over(offered, record));
        if group.records.len() < before {
            group.lost = true;
            group.merge();
        }
    }

    fn finish(self) -> Vec<Resolution> {
        let touched =
            self.groups.into_iter().filter(|group| group.lost || !group.offered.is_empty());
        touched
            .map(|group| {
                let Group { records, stored, offered, joined, lost, .. } = group;
                let revision = Revision { paper: Paper::of_records(records), replaces: stored };
                Resolution { revision, offered, joined, lost }
            })
            .collect()
    }
}

/// What a work may be found by.
fn names(records: &[SourceRecord], meta: &PaperMeta) -> BTreeSet<String> {
    let mut names: BTreeSet<String> = meta.ids().map(ToString::to_string).collect();
    let title = title_key(&meta.title);
    if !title.is_empty() {
        names.insert(format!("title:{title}"));
    }
    for record in records {
        names.extend(record.source.paths().map(|path| format!("path:{}", path.display())));
        names.extend(record.source.key().map(|key| format!("key:{key}")));
        if let Some(file) = record.source.file() {
            names.insert(format!("bytes:{}", file.sha256));
            names.insert(format!("beside:{}", file.path.with_extension("").display()));
        }
    }
    names
}

/// The known paper with nearly the title, author and year of `meta`.
fn near_in(matcher: &Matcher, meta: &PaperMeta) -> Option<PaperId> {
    let reference = PrintedReference {
        title: Some(meta.title.clone()).filter(|title| !title.is_empty()),
        year: meta.year,
        first_author: meta.authors.first().cloned(),
        ..PrintedReference::default()
    };
    reference.title.as_ref()?;
    matcher.find(&reference).map(|found| found.paper)
}
