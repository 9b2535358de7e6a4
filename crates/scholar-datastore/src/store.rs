//! Opening a datastore for reading; snapshots that follow new commits.

pub(crate) mod checks;
pub(crate) mod commit;
mod directory;
pub mod filtered;
pub(crate) mod guard;
pub mod info;
mod ports;
pub mod recorded;
pub(crate) mod snapshot;
pub(crate) mod stored;
mod titled;
pub mod verify;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::RwLock;
use scholar_core::{EncoderInfo, Paper, PaperId, PaperMeta, Passage, PassageId};
use tantivy::{Directory, DocAddress, Index, IndexReader, ReloadPolicy, TantivyDocument, Term};
use tempfile::TempDir;

use crate::dense::DenseSegment;
use crate::dense::ordinals::Ordinals;
use crate::dense::vectors::Vectors;
use crate::descriptor::{BuildRules, Descriptor, FORMAT_VERSION};
use crate::error::Error;
use crate::layout::{DENSE_FOLDER, LEXICAL_FOLDER, LOCK_FILE, META_FILE};
use crate::lexical::analyzer;
use crate::lexical::lookup::alive_documents;
use crate::lexical::statistics::TermStatistics;
use crate::manifest::Manifest;
use crate::schema::{Fields, PaperBody, schema};
use crate::search::filters::Filters;
use crate::writer::lock::WriterLock;
use crate::writer::sweep::remove_abandoned;
use checks::Checks;
use commit::OpenCommit;
use directory::CheckedDirectory;
use guard::Guarded;
pub(crate) use snapshot::Snapshot;
use stored::parse_stored;
use verify::check_counts;

/// Begins the name of a datastore that is being created.
const BUILDING: &str = ".creating-";
/// How often a new folder that another process swept away is made anew.
const BEGIN_ATTEMPTS: usize = 20;
/// Blocks of stored documents that each segment keeps, 16 kB each: tantivy's own number.
const CACHED_BLOCKS: usize = 100;
/// How often a refresh that meets a concurrent commit starts over.
pub(crate) const REFRESH_ATTEMPTS: usize = 20;

struct State {
    /// `meta.json` as it was when the snapshot was taken: other bytes mean a new commit.
    meta: Vec<u8>,
    snapshot: Arc<Snapshot>,
}

/// A new folder in `parent` to build a datastore in, and the lock on it.
fn begin(parent: &Path) -> Result<(TempDir, WriterLock), Error> {
    for _ in 0..BEGIN_ATTEMPTS {
        let building = tempfile::Builder::new()
            .prefix(BUILDING)
            .tempdir_in(parent)
            .map_err(Error::io("create a folder in", parent))?;
        match WriterLock::acquire(building.path()) {
            // A lock on a file that is gone holds nothing.
            Ok(lock) if building.path().join(LOCK_FILE).exists() => return Ok((building, lock)),
            // Before it was held, another process took it for abandoned and swept it away.
            Ok(_) | Err(Error::Locked { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Err(Error::Locked { path: parent.to_owned(), holder: "another process".to_owned() })
}

/// A datastore open for reading. Cheap to share; every call sees the newest commit of any process.
pub struct Datastore {
    root: PathBuf,
    descriptor: Descriptor,
    checks: Checks,
    fields: Fields,
    index: Index,
    reader: Guarded<IndexReader>,
    state: RwLock<State>,
}

impl std::fmt::Debug for Datastore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Datastore").field("root", &self.root).finish_non_exhaustive()
    }
}

impl Datastore {
    /// Creates an empty datastore for vectors of `encoder` in `root`, which must be absent or empty, and opens it.
    ///
    /// It is built under another name and renamed, so that a crash leaves either nothing or a whole datastore.
    ///
    /// # Errors
    /// [`Error::Exists`] when something is there, [`Error::Io`] when it cannot be written.
    pub fn create(root: &Path, encoder: &EncoderInfo, rules: BuildRules) -> Result<Self, Error> {
        let parent = match root.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        fs_err::create_dir_all(parent).map_err(Error::io("create", parent))?;
        // Held until it has its name: tells it from what a killed process left.
        let (building, _alive) = begin(parent)?;
        remove_abandoned(parent, BUILDING);
        for folder in [DENSE_FOLDER, LEXICAL_FOLDER] {
            let folder = building.path().join(folder);
            fs_err::create_dir(&folder).map_err(Error::io("create", &folder))?;
        }
        Index::create_in_dir(building.path().join(LEXICAL_FOLDER), schema().0)
            .map_err(Error::index("create", root))?;
        Descriptor { format: FORMAT_VERSION, encoder: encoder.clone(), rules }
            .write(building.path())?;
        let occupied = || -> Result<bool, std::io::Error> {
            match std::fs::read_dir(root) {
                Ok(mut entries) => Ok(entries.next().is_some()),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
                Err(error) => Err(error),
            }
        };
        if occupied().map_err(Error::io("read", root))? {
            return Err(Error::Exists { path: root.to_owned() });
        }
        // An empty folder is replaced; one that another process filled meanwhile refuses the rename.
        if let Err(source) = fs_err::rename(building.path(), root) {
            return Err(if occupied().unwrap_or(false) {
                Error::Exists { path: root.to_owned() }
            } else {
                Error::Io { doing: "create", path: root.to_owned(), source }
            });
        }
        crate::descriptor::sync_folder(parent)?;
        Self::open(root)
    }

    /// Opens the newest commit of the datastore at `root`. Files of a small one are checked first; those of a large one
    /// are checked by [`Datastore::check_files`] only.
    ///
    /// # Errors
    /// [`Error::NotADatastore`], [`Error::Version`], [`Error::Corrupt`] when files are missing or cut short,
    /// [`Error::Io`].
    pub fn open(root: &Path) -> Result<Self, Error> {
        Self::open_checking(root, Checks::small())
    }

    /// As [`Datastore::open`], without comparing any checksum first, however small the datastore: for tests of what damage
    /// does that nobody has noticed.
    ///
    /// # Errors
    /// As [`Datastore::open`].
    pub fn open_unchecked(root: &Path) -> Result<Self, Error> {
        Self::open_checking(root, Checks::none())
    }

    fn open_checking(root: &Path, checks: Checks) -> Result<Self, Error> {
        let descriptor = Descriptor::read(root)?;
        let (index, fields) = open_index(root, &checks)?;
        let (reader, state) = guard::reading(root, || {
            let reader: IndexReader = index
                .reader_builder()
                .reload_policy(ReloadPolicy::Manual)
                .try_into()
                .map_err(Error::index("open", root))
                .map_err(|error| match index.load_metas() {
                    Ok(metas) => error.of_commit(metas.opstamp),
                    Err(_) => error,
                })?;
            let state = take_snapshot(root, &descriptor, &checks, &index, &reader, None)?;
            Ok((Guarded::new(reader), state))
        })?;
        Ok(Self {
            root: root.to_owned(),
            descriptor,
            checks,
            fields,
            index,
            reader,
            state: RwLock::new(state),
        })
    }

    /// Opens the datastore at `root`, and creates it first where there is none.
    ///
    /// # Errors
    /// As [`Datastore::open`] and [`Datastore::create`]; [`Error::EncoderMismatch`] when it is there with vectors of
    /// another encoder.
    pub fn open_or_create(
        root: &Path,
        encoder: &EncoderInfo,
        rules: BuildRules,
    ) -> Result<Self, Error> {
        let store = match Self::open(root) {
            Err(Error::NotADatastore { .. }) => match Self::create(root, encoder, rules) {
                // Another process was faster, or the folder is something else: opening tells.
                Err(Error::Exists { .. }) => {
                    Self::open(root).map_err(|_| Error::Exists { path: root.to_owned() })?
                }
                created => return created,
            },
            opened => opened?,
        };
        store.check_encoder(encoder)?;
        Ok(store)
    }

    /// Folder of the datastore.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Format, encoder and rules.
    pub fn descriptor(&self) -> &Descriptor {
        &self.descriptor
    }

    /// Refuses an encoder whose vectors do not compare with the stored ones.
    ///
    /// # Errors
    /// [`Error::EncoderMismatch`].
    pub fn check_encoder(&self, encoder: &EncoderInfo) -> Result<(), Error> {
        self.descriptor.check_encoder(&self.root, encoder)
    }

    pub(crate) fn fields(&self) -> &Fields {
        &self.fields
    }

    /// Reads something of tantivy: damage is an error that names the file.
    pub(crate) fn reading<T>(&self, read: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
        guard::reading(&self.root, read)
    }

    /// The newest commit.
    pub(crate) fn snapshot(&self) -> Result<Arc<Snapshot>, Error> {
        let meta = read_meta(&self.root)?;
        {
            let state = self.state.read();
            if state.meta == meta {
                return Ok(Arc::clone(&state.snapshot));
            }
        }
        let mut state = self.state.write();
        if state.meta != meta {
            let known = Arc::clone(&state.snapshot);
            let Self { root, descriptor, checks, index, reader, .. } = self;
            let take = || take_snapshot(root, descriptor, checks, index, reader, Some(&known));
            *state = self.reading(take)?;
        }
        Ok(Arc::clone(&state.snapshot))
    }

    /// The number of the newest commit. It grows with everything that is added, removed or compacted; merges beside the
    /// work keep it.
    ///
    /// # Errors
    /// [`Error::Index`] when the store cannot be read.
    pub fn commit(&self) -> Result<u64, Error> {
        let metas = self.index.load_metas().map_err(Error::index("open", &self.root))?;
        Ok(metas.opstamp)
    }

    /// The passage of that name with its paper's metadata; unknown is `Ok(None)`.
    ///
    /// # Errors
    /// [`Error::Corrupt`] and [`Error::Index`] when the store cannot be read.
    pub fn passage(&self, id: &PassageId) -> Result<Option<(Passage, PaperMeta)>, Error> {
        let snapshot = self.snapshot()?;
        let mut found = self.find(&snapshot, &self.fields.passage_term(id))?;
        // A paper gets the identifier of a registry once that is known, and keeps the one it had among its others.
        if found.is_none()
            && let Some(paper) = self.find_paper(&snapshot, &id.paper)?
        {
            let own = self.load_head(&snapshot, paper)?.id;
            let renamed = PassageId { paper: own, ordinal: id.ordinal };
            found = self.find(&snapshot, &self.fields.passage_term(&renamed))?;
        }
        let Some(address) = found else { return Ok(None) };
        let passage = self.load_passage(&snapshot, address)?;
        let meta = self.load_meta(&snapshot, &passage.id.paper)?;
        Ok(Some((passage, meta)))
    }

    /// All passages of a paper, in order; empty when it is unknown.
    ///
    /// # Errors
    /// As [`Datastore::passage`].
    pub fn passages_of(&self, id: &PaperId) -> Result<Vec<Passage>, Error> {
        let snapshot = self.snapshot()?;
        let term = Term::from_field_text(self.fields.passage_paper_ids, &id.to_string());
        let mut passages = self
            .find_all(&snapshot, &term)?
            .into_iter()
            .map(|address| self.load_passage(&snapshot, address))
            .collect::<Result<Vec<_>, _>>()?;
        passages.sort_by(|a, b| a.id.cmp(&b.id));
        Ok(passages)
    }

    /// The whole paper under any of its identifiers; unknown is `Ok(None)`.
    ///
    /// # Errors
    /// As [`Datastore::passage`].
    pub fn paper(&self, id: &PaperId) -> Result<Option<Paper>, Error> {
        let snapshot = self.snapshot()?;
        let address = self.find_paper(&snapshot, id)?;
        address.map(|address| self.load_paper(&snapshot, address)).transpose()
    }

    /// The whole paper at `address`.
    fn load_paper(&self, snapshot: &Snapshot, address: DocAddress) -> Result<Paper, Error> {
        let document = self.document(snapshot, address)?;
        let meta = self.parse(&document, self.fields.head)?;
        let PaperBody { sections, references, records, merged: _ } =
            self.parse(&document, self.fields.body)?;
        Ok(Paper { meta, sections, references, records })
    }

    /// Metadata of every stored paper in order of storing, without its text.
    ///
    /// # Errors
    /// As [`Datastore::passage`]; an error of `visit` ends the walk.
    pub fn each_paper(
        &self,
        mut visit: impl FnMut(PaperMeta) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let snapshot = self.snapshot()?;
        let term = Term::from_field_text(self.fields.kind, crate::schema::KIND_PAPER);
        for address in self.find_all(&snapshot, &term)? {
            let document = self.document(&snapshot, address)?;
            visit(self.parse(&document, self.fields.head)?)?;
        }
        Ok(())
    }

    /// Metadata of at most `most` papers, those that were stored first.
    ///
    /// # Errors
    /// As [`Datastore::passage`].
    pub fn first_papers(&self, most: usize) -> Result<Vec<PaperMeta>, Error> {
        let snapshot = self.snapshot()?;
        let term = Term::from_field_text(self.fields.kind, crate::schema::KIND_PAPER);
        let addresses = self.find_all(&snapshot, &term)?.into_iter().take(most);
        let read = |address| {
            let document = self.document(&snapshot, address)?;
            self.parse(&document, self.fields.head)
        };
        addresses.map(read).collect()
    }

    /// Every stored passage with its paper's metadata in the order of storing; an error of `visit` ends the walk.
    ///
    /// # Errors
    /// As [`Datastore::passage`].
    pub fn each_passage(
        &self,
        mut visit: impl FnMut(Passage, PaperMeta) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let snapshot = self.snapshot()?;
        let term = Term::from_field_text(self.fields.kind, crate::schema::KIND_PASSAGE);
        for address in self.find_all(&snapshot, &term)? {
            let passage = self.load_passage(&snapshot, address)?;
            let meta = self.load_meta(&snapshot, &passage.id.paper)?;
            visit(passage, meta)?;
        }
        Ok(())
    }

    /// The vector of every stored passage in the order of storing; an error of `visit` ends the walk.
    ///
    /// # Errors
    /// As [`Datastore::passage`].
    pub fn each_vector(
        &self,
        mut visit: impl FnMut(&[f32]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let snapshot = self.snapshot()?;
        let vectors =
            self.reading(|| Vectors::new(&snapshot).map_err(Error::index("read", &self.root)))?;
        let term = Term::from_field_text(self.fields.kind, crate::schema::KIND_PASSAGE);
        for address in self.find_all(&snapshot, &term)? {
            if let Some(vector) = self.reading(|| vectors.vector(address))? {
                visit(&vector)?;
            }
        }
        Ok(())
    }

    /// The vector of the first passage of each paper, `[dim]`, in order; `None` where a paper or its passage is unknown.
    ///
    /// # Errors
    /// As [`Datastore::passage`].
    pub fn first_vectors(&self, ids: &[PaperId]) -> Result<Vec<Option<Vec<f32>>>, Error> {
        let snapshot = self.snapshot()?;
        let vectors =
            self.reading(|| Vectors::new(&snapshot).map_err(Error::index("read", &self.root)))?;
        let first = |paper: &PaperId| {
            let id = PassageId { paper: paper.clone(), ordinal: 0 };
            match self.find(&snapshot, &self.fields.passage_term(&id))? {
                Some(address) => self.reading(|| vectors.vector(address)),
                None => Ok(None),
            }
        };
        ids.iter().map(first).collect()
    }

    pub(crate) fn load_passage(
        &self,
        snapshot: &Snapshot,
        address: DocAddress,
    ) -> Result<Passage, Error> {
        self.parse(&self.document(snapshot, address)?, self.fields.head)
    }

    /// Metadata of the paper at `address`.
    pub(crate) fn load_head(
        &self,
        snapshot: &Snapshot,
        address: DocAddress,
    ) -> Result<PaperMeta, Error> {
        self.parse(&self.document(snapshot, address)?, self.fields.head)
    }

    pub(crate) fn load_meta(&self, snapshot: &Snapshot, id: &PaperId) -> Result<PaperMeta, Error> {
        self.reading(|| {
            let address = self.find_paper(snapshot, id)?.ok_or_else(|| {
                Error::corrupt(&self.root, format!("has passages of {id} but not the paper"))
            })?;
            self.parse(&self.document(snapshot, address)?, self.fields.head)
        })
    }

    /// By its own identifier first, then by the others: two papers may share an external one.
    fn find_paper(&self, snapshot: &Snapshot, id: &PaperId) -> Result<Option<DocAddress>, Error> {
        let term = Term::from_field_text(self.fields.paper_ids, &id.to_string());
        let addresses = self.find_all(snapshot, &term)?;
        if addresses.len() > 1 {
            for address in &addresses {
                let meta: PaperMeta =
                    self.parse(&self.document(snapshot, *address)?, self.fields.head)?;
                if meta.id == *id {
                    return Ok(Some(*address));
                }
            }
        }
        Ok(addresses.first().copied())
    }

    fn find(&self, snapshot: &Snapshot, term: &Term) -> Result<Option<DocAddress>, Error> {
        Ok(self.find_all(snapshot, term)?.first().copied())
    }

    fn find_all(&self, snapshot: &Snapshot, term: &Term) -> Result<Vec<DocAddress>, Error> {
        self.reading(|| {
            alive_documents(&snapshot.searcher, term).map_err(Error::index("read", &self.root))
        })
    }

    fn document(&self, snapshot: &Snapshot, address: DocAddress) -> Result<TantivyDocument, Error> {
        self.reading(|| {
            let store = &snapshot.documents[address.segment_ord as usize];
            stored::document(store, address.doc_id).map_err(Error::index("read", &self.root))
        })
    }

    fn parse<T: serde::de::DeserializeOwned>(
        &self,
        document: &TantivyDocument,
        field: tantivy::schema::Field,
    ) -> Result<T, Error> {
        self.reading(|| parse_stored(&self.root, document, field))
    }
}

/// Opens tantivy over files that are checked as they are opened.
pub(crate) fn open_lexical(root: &Path, checks: &Checks) -> Result<Index, Error> {
    open_lexical_in(root, checks, |directory| directory)
}

/// The same in what `around` makes of its directory.
fn open_lexical_in(
    root: &Path,
    checks: &Checks,
    around: impl FnOnce(Box<dyn Directory>) -> Box<dyn Directory>,
) -> Result<Index, Error> {
    let folder = root.join(LEXICAL_FOLDER);
    let open = || {
        let directory = CheckedDirectory::open(&folder, checks)?;
        Index::open(around(Box::new(directory)))
    };
    // Two fields of one name in a damaged list make tantivy panic.
    match guard::attempt(open) {
        Some(opened) => opened.map_err(Error::index("open", root)),
        None => Err(Error::corrupt(&folder.join(META_FILE), "its schema makes no sense")),
    }
}

/// As [`open_lexical`], and checks that its schema is this version's.
pub(crate) fn open_index(root: &Path, checks: &Checks) -> Result<(Index, Fields), Error> {
    open_index_in(root, checks, |directory| directory)
}

/// The same in what `around` makes of its directory.
pub(crate) fn open_index_in(
    root: &Path,
    checks: &Checks,
    around: impl FnOnce(Box<dyn Directory>) -> Box<dyn Directory>,
) -> Result<(Index, Fields), Error> {
    let path = root.join(LEXICAL_FOLDER);
    let index = open_lexical_in(root, checks, around)?;
    let (expected, fields) = schema();
    if index.schema() != expected {
        return Err(Error::corrupt(&path, "its schema is not this format version's"));
    }
    analyzer::register(&index);
    Ok((index, fields))
}

fn read_meta(root: &Path) -> Result<Vec<u8>, Error> {
    let path = root.join(LEXICAL_FOLDER).join(META_FILE);
    fs_err::read(&path).map_err(Error::io("read", &path))
}

/// Opens the newest commit. What it shares with `known` is used again instead of being opened anew.
fn take_snapshot(
    root: &Path,
    descriptor: &Descriptor,
    checks: &Checks,
    index: &Index,
    reader: &IndexReader,
    known: Option<&Snapshot>,
) -> Result<State, Error> {
    let mut failure = None;
    for _ in 0..REFRESH_ATTEMPTS {
        let before = read_meta(root)?;
        let attempt = read_commit(root, descriptor, checks, index, reader, known);
        // A commit in between means that index and manifest may not belong together, and that a file may be gone.
        let unchanged = read_meta(root)? == before;
        match attempt {
            Ok(commit) if unchanged => {
                let snapshot = Snapshot { commit, filters: Filters::default() };
                return Ok(State { meta: before, snapshot: Arc::new(snapshot) });
            }
            Ok(_) => {}
            Err(error) if unchanged => return Err(error),
            Err(error) => failure = Some(error),
        }
    }
    Err(failure.unwrap_or_else(|| Error::corrupt(root, "commits follow each other too fast")))
}

/// Opens the files of the newest commit.
fn read_commit(
    root: &Path,
    descriptor: &Descriptor,
    checks: &Checks,
    index: &Index,
    reader: &IndexReader,
    known: Option<&Snapshot>,
) -> Result<OpenCommit, Error> {
    let failed = || Error::index("open", root);
    let metas = index.load_metas().map_err(failed())?;
    let open = || {
        reader.reload().map_err(failed())?;
        let manifest = Manifest::of_commit(root, &metas)?;
        let folder = root.join(DENSE_FOLDER);
        let dense = manifest
            .segments
            .iter()
            .map(|entry| {
                let same = |segment: &&Arc<DenseSegment>| segment.entry() == entry;
                match known.and_then(|known| known.dense.iter().find(same)) {
                    Some(segment) => Ok(Arc::clone(segment)),
                    None => DenseSegment::open(&folder, entry, &descriptor.encoder, checks)
                        .map(Arc::new),
                }
            })
            .collect::<Result<Vec<_>, Error>>()?;
        let searcher = reader.searcher();
        let meta_path = root.join(LEXICAL_FOLDER).join(META_FILE);
        for segment in searcher.segment_readers() {
            check_counts(&meta_path, segment)?;
        }
        let documents = searcher
            .segment_readers()
            .iter()
            .map(|segment| segment.get_store_reader(CACHED_BLOCKS))
            .collect::<Result<Vec<_>, _>>()
            .map_err(Error::io("read", root))?;
        let none = Ordinals::default();
        let ordinals = Ordinals::new(&searcher, known.map_or(&none, |known| &known.ordinals))
            .map_err(failed())?;
        Ok(OpenCommit {
            searcher: Guarded::new(searcher),
            documents: Guarded::new(documents),
            manifest,
            dense,
            ordinals,
            terms: TermStatistics::default(),
        })
    };
    open().map_err(|error: Error| error.of_commit(metas.opstamp))
}
