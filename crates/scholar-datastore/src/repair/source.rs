//! A damaged datastore, open as far as it can be.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use scholar_core::{EncoderInfo, Paper, PaperId, PaperMeta, Passage, PassageId};
use serde::de::DeserializeOwned;
use serde_json::Value;
use tantivy::schema::{Field, Value as _};
use tantivy::{DocId, TantivyDocument};

use super::proof::is_as_stored;
use super::segment::{Found, LexicalFiles, Listed, ReadableSegment};
use super::{DamagedFile, LostDocuments, LostPaper};
use crate::dense::DenseSegment;
use crate::dense::kernel::decoded;
use crate::descriptor::Descriptor;
use crate::error::Error;
use crate::layout::{DENSE_FOLDER, LEXICAL_FOLDER, META_FILE};
use crate::manifest::{Manifest, SegmentEntry};
use crate::merge::StoredPaper;
use crate::schema::{Fields, PaperBody, schema};
use crate::store::Datastore;
use crate::store::checks::Checks;

/// Where a document stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct At {
    /// Which of the segments, from 0.
    pub(super) segment: usize,
    pub(super) doc: DocId,
}

/// Where the documents of a paper are.
#[derive(Debug, Default)]
struct Places {
    papers: Vec<At>,
    passages: Vec<At>,
}

/// A datastore that is damaged, or may be.
pub struct RepairSource {
    root: PathBuf,
    descriptor: Descriptor,
    fields: Fields,
    parts: Vec<ReadableSegment>,
    dense: Vec<DenseSegment>,
    places: BTreeMap<PaperId, Places>,
    damaged: Vec<DamagedFile>,
    lost: Vec<LostPaper>,
    lost_documents: Vec<LostDocuments>,
    /// Whether documents are lost that may be passages of papers that are not.
    passages_lost: bool,
}

impl std::fmt::Debug for RepairSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RepairSource").field("root", &self.root).finish_non_exhaustive()
    }
}

/// A paper with its passages as far as they are known to be as they were stored.
pub(super) struct Saved {
    pub(super) stored: StoredPaper,
    /// In order, each with its vector where that is whole. What is there may not be all there was.
    pub(super) passages: Vec<(Passage, Option<Vec<f32>>)>,
    /// Whether these are all its passages, read from whole files.
    pub(super) is_complete: bool,
}

#[derive(serde::Deserialize)]
struct Named {
    id: PaperId,
}

#[derive(serde::Deserialize)]
struct NamedPassage {
    id: PassageId,
    #[serde(default)]
    title: String,
}

impl RepairSource {
    /// Opens what can be opened of the datastore at `root`, and finds its papers. Nothing is written. Needs memory for the
    /// identifiers of all papers and the places of all passages.
    ///
    /// # Errors
    /// [`Error::NotADatastore`], [`Error::Version`], [`Error::Corrupt`] where the descriptor cannot be read: without it
    /// nobody knows which encoder made the vectors.
    pub fn open(root: &Path) -> Result<Self, Error> {
        let descriptor = Descriptor::read(root)?;
        let mut damaged = Vec::new();
        // It also looks at what files say of each other.
        let first = Datastore::check_files(root, &mut |_| {}).err();
        let folder = root.join(LEXICAL_FOLDER);
        damaged.extend(first.as_ref().map(|error| match error {
            Error::Corrupt { path, what, .. } => {
                DamagedFile { file: path.clone(), what: what.clone() }
            }
            // One of the lists that tantivy reads before it opens anything else.
            error => {
                let cause = std::error::Error::source(error).map(ToString::to_string);
                let what = cause.unwrap_or_else(|| error.to_string());
                DamagedFile { file: folder.clone(), what }
            }
        }));
        let commit = Commit::read(root, &folder, first.as_ref());
        if commit.is_from_disk && !damaged.iter().any(|known| known.file.ends_with(META_FILE)) {
            let what = "does not list what is there".to_owned();
            damaged.push(DamagedFile { file: folder.join(META_FILE), what });
        }
        let (_, fields) = schema();
        let mut files = LexicalFiles::open(&folder).map_err(Error::index("open", root))?;
        let parts: Vec<ReadableSegment> = commit
            .segments
            .iter()
            .map(|listed| ReadableSegment::open(&mut files, listed, &fields))
            .collect();
        damaged.append(&mut files.damaged);
        let dense = commit.open_dense(root, &descriptor.encoder, &mut damaged);
        let mut known = BTreeSet::new();
        damaged.retain(|damage| known.insert(damage.file.clone()));
        let mut source = Self {
            root: root.to_owned(),
            descriptor,
            fields,
            parts,
            dense,
            places: BTreeMap::new(),
            damaged,
            lost: Vec::new(),
            lost_documents: Vec::new(),
            passages_lost: false,
        };
        source.find_papers();
        Ok(source)
    }

    /// Folder of the damaged datastore.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Format, encoder and rules.
    pub fn descriptor(&self) -> &Descriptor {
        &self.descriptor
    }

    /// Files that are not as they were written; none means that there is nothing to repair.
    pub fn damaged(&self) -> &[DamagedFile] {
        &self.damaged
    }

    /// Whether a file is damaged without which a passage may need another vector.
    pub fn may_need_encoder(&self) -> bool {
        let holds_vectors = |damage: &DamagedFile| {
            let ending = damage.file.extension().and_then(|ending| ending.to_str());
            matches!(ending, Some("vec" | "store" | "fast" | "del" | "json"))
        };
        self.damaged.iter().any(holds_vectors)
    }

    /// Papers that were found, before it is known whether each can be saved.
    pub fn papers(&self) -> u64 {
        self.places.len() as u64
    }

    /// Papers of which nothing can be read but the name.
    pub(super) fn lost(&self) -> (&[LostPaper], &[LostDocuments]) {
        (&self.lost, &self.lost_documents)
    }

    /// Lexical segments of which nobody can tell which papers were removed from them.
    pub(super) fn without_deletions(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter(|part| part.deletions_lost).map(|part| part.name.as_str())
    }

    /// Identifiers in the order of storing.
    pub(super) fn in_order(&self) -> Vec<PaperId> {
        let mut ids: Vec<(At, &PaperId)> = self
            .places
            .iter()
            .filter_map(|(id, places)| Some((*places.papers.last()?, id)))
            .collect();
        ids.sort_unstable();
        ids.into_iter().map(|(_, id)| id.clone()).collect()
    }

    fn find_papers(&mut self) {
        let mut bare: BTreeMap<PaperId, (String, usize)> = BTreeMap::new();
        for number in 0..self.parts.len() {
            let mut unreadable = 0;
            for doc in 0.. {
                let part = &self.parts[number];
                let document = match part.document(doc) {
                    Found::End => break,
                    Found::Removed => continue,
                    Found::Document(document) => Some(document),
                    Found::Unreadable => None,
                };
                match document.and_then(|document| self.named(&document)) {
                    Some((id, None)) => {
                        self.places.entry(id).or_default().papers.push(At { segment: number, doc });
                    }
                    Some((id, Some(title))) => {
                        bare.entry(id.clone()).or_insert((title, number));
                        self.places
                            .entry(id)
                            .or_default()
                            .passages
                            .push(At { segment: number, doc });
                    }
                    None => match self.parts[number].paper_at(doc) {
                        Ok(Some(id)) => {
                            let segment = self.parts[number].name.clone();
                            self.lost.push(LostPaper::unreadable(&id, None, segment));
                        }
                        Ok(None) => self.passages_lost = true,
                        Err(()) => {
                            self.passages_lost = true;
                            unreadable += 1;
                        }
                    },
                }
            }
            if unreadable > 0 {
                let segment = self.parts[number].name.clone();
                self.lost_documents.push(LostDocuments { segment, documents: unreadable });
            }
        }
        self.name_the_lost(&bare);
    }

    /// Papers of which only passages can be read, and titles of those that have passages.
    fn name_the_lost(&mut self, bare: &BTreeMap<PaperId, (String, usize)>) {
        for lost in &mut self.lost {
            let id = lost.paper.parse::<PaperId>().ok();
            lost.title = id.and_then(|id| bare.get(&id)).map(|(title, _)| title.clone());
        }
        let known: BTreeSet<String> = self.lost.iter().map(|lost| lost.paper.clone()).collect();
        for (id, places) in &self.places {
            if let (true, Some((title, number))) = (places.papers.is_empty(), bare.get(id))
                && !known.contains(&id.to_string())
            {
                let segment = self.parts[*number].name.clone();
                self.lost.push(LostPaper::unreadable(id, Some(title.clone()), segment));
            }
        }
        // A paper that was replaced is not lost: the newer record is there.
        let places = &self.places;
        self.lost.retain(|lost| {
            let id = lost.paper.parse::<PaperId>().ok();
            id.and_then(|id| places.get(&id)).is_none_or(|places| places.papers.is_empty())
        });
        self.places.retain(|_, places| !places.papers.is_empty());
    }

    /// Whose document it is, and of a passage the title.
    fn named(&self, document: &TantivyDocument) -> Option<(PaperId, Option<String>)> {
        if document.get_first(self.fields.body).is_some() {
            let Named { id } = parse(document, self.fields.head)?;
            return Some((id, None));
        }
        let NamedPassage { id, title } = parse(document, self.fields.head)?;
        Some((id.paper, Some(title)))
    }

    fn read(&self, At { segment, doc }: At) -> Option<TantivyDocument> {
        match self.parts[segment].document(doc) {
            Found::Document(document) => Some(*document),
            Found::Unreadable | Found::Removed | Found::End => None,
        }
    }

    /// The paper that was stored under `id`, if what is read can be shown to be it.
    pub(super) fn paper(&self, id: &PaperId) -> Result<Saved, LostPaper> {
        let none = Places::default();
        let Places { papers, passages } = self.places.get(id).unwrap_or(&none);
        // The one that was stored last, where removed ones cannot be told from others.
        let mut title = None;
        for at in papers.iter().rev() {
            let Some(stored) = self.stored(*at) else { continue };
            let part = &self.parts[at.segment];
            let rules = self.descriptor.rules;
            if part.is_whole || is_as_stored(&stored.paper, &stored.merged, part, rules) {
                let is_known = papers.len() == 1 && part.is_whole && !part.deletions_lost;
                return Ok(self.saved(stored, passages, is_known));
            }
            title = Some(stored.paper.meta.title);
        }
        let segment =
            papers.last().map(|at| self.parts[at.segment].name.clone()).unwrap_or_default();
        Err(LostPaper::unproven(id, title, segment))
    }

    fn stored(&self, at: At) -> Option<StoredPaper> {
        let document = self.read(at)?;
        let meta: PaperMeta = parse(&document, self.fields.head)?;
        let PaperBody { sections, references, records, merged } =
            parse(&document, self.fields.body)?;
        let source = self.parts[at.segment].source(at.doc);
        Some(StoredPaper { paper: Paper { meta, sections, references, records }, merged, source })
    }

    fn saved(&self, stored: StoredPaper, places: &[At], is_known: bool) -> Saved {
        let mut passages: Vec<(Passage, Option<Vec<f32>>)> = Vec::new();
        let mut are_whole = true;
        for at in places {
            are_whole &= self.parts[at.segment].is_whole;
            let document = self.read(*at);
            let passage = document.and_then(|document| parse(&document, self.fields.head));
            let vector =
                self.parts[at.segment].ordinal(at.doc).and_then(|ordinal| self.vector(ordinal));
            passages.extend(passage.map(|passage| (passage, vector)));
        }
        passages.sort_by(|(a, _): &(Passage, _), (b, _)| a.id.cmp(&b.id));
        let ordinals = passages.iter().map(|(passage, _)| passage.id.ordinal);
        let is_complete =
            is_known && are_whole && !self.passages_lost && ordinals.eq(0..count(passages.len()));
        Saved { stored, passages, is_complete }
    }

    fn vector(&self, ordinal: u64) -> Option<Vec<f32>> {
        self.dense.iter().find_map(|segment| segment.row(ordinal)).map(decoded)
    }
}

fn count(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

/// What a commit lists, or what lies on the disk where that cannot be known.
struct Commit {
    segments: Vec<Listed>,
    dense: Vec<SegmentEntry>,
    is_from_disk: bool,
}

impl Commit {
    fn read(root: &Path, folder: &Path, first: Option<&Error>) -> Self {
        let is_suspect =
            matches!(first, Some(Error::Corrupt { path, .. }) if path.ends_with(META_FILE));
        let listed = Self::listed(root, folder).filter(|_| !is_suspect);
        listed.unwrap_or_else(|| Self::on_disk(root, folder))
    }

    /// What `meta.json` says, if every file it names is there and nothing it does not name speaks of removed papers.
    fn listed(root: &Path, folder: &Path) -> Option<Self> {
        let bytes = fs_err::read(folder.join(META_FILE)).ok()?;
        let document: Value = serde_json::from_slice(&bytes).ok()?;
        let mut segments = Vec::new();
        for segment in document.get("segments")?.as_array()? {
            let name = segment.get("segment_id")?.as_str()?.replace('-', "");
            let documents = DocId::try_from(segment.get("max_doc")?.as_u64()?).ok()?;
            let deletions = match segment.get("deletes")? {
                Value::Null => None,
                deletes => Some(deletes.get("opstamp")?.as_u64()?),
            };
            segments.push(Listed { name, deletions, documents: Some(documents) });
        }
        let payload = document.get("payload").and_then(Value::as_str);
        let opstamp = document.get("opstamp")?.as_u64()?;
        let manifest = Manifest::of_payload(root, payload, opstamp, segments.is_empty()).ok()?;
        let on_disk = Self::on_disk(root, folder).segments;
        let fits = |listed: &Listed| {
            on_disk.iter().any(|there| {
                there.name == listed.name && there.deletions.is_some() == listed.deletions.is_some()
            })
        };
        segments.iter().all(fits).then_some(Self {
            segments,
            dense: manifest.segments,
            is_from_disk: false,
        })
    }

    /// Every segment that has files.
    fn on_disk(root: &Path, folder: &Path) -> Self {
        let names = |folder: &Path| -> Vec<String> {
            let entries = fs_err::read_dir(folder).into_iter().flatten().flatten();
            let mut names: Vec<String> =
                entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
            names.sort();
            names
        };
        let lexical = names(folder);
        let segments = lexical.iter().filter_map(|name| {
            let segment = name.strip_suffix(".store")?;
            let removals = lexical.iter().filter_map(|name| {
                let rest = name.strip_prefix(segment)?.strip_prefix('.')?;
                rest.strip_suffix(".del")?.parse().ok()
            });
            Some(Listed { name: segment.to_owned(), deletions: removals.max(), documents: None })
        });
        let dense_folder = root.join(DENSE_FOLDER);
        let dense = names(&dense_folder).into_iter().filter(|name| name.ends_with(".vec"));
        let dense = dense.filter_map(|name| DenseSegment::entry_of(&dense_folder, &name).ok());
        Self { segments: segments.collect(), dense: dense.collect(), is_from_disk: true }
    }

    /// The dense segments whose rows are as they were written.
    fn open_dense(
        &self,
        root: &Path,
        encoder: &EncoderInfo,
        damaged: &mut Vec<DamagedFile>,
    ) -> Vec<DenseSegment> {
        let folder = root.join(DENSE_FOLDER);
        let mut note = |error: Error, file: &str| {
            let (file, what) = match error {
                Error::Corrupt { path, what, .. } => (path, what),
                other => (folder.join(file), other.to_string()),
            };
            damaged.push(DamagedFile { file, what });
        };
        let mut whole = Vec::new();
        for entry in &self.dense {
            let rows = SegmentEntry { index: None, ..entry.clone() };
            match DenseSegment::open(&folder, &rows, encoder, &Checks::all()) {
                Ok(segment) => {
                    // An inverted index is made anew from the rows.
                    if let Some(index) = &entry.index
                        && let Err(error) =
                            DenseSegment::open(&folder, entry, encoder, &Checks::all())
                    {
                        note(error, index);
                    }
                    whole.push(segment);
                }
                Err(error) => note(error, &entry.file),
            }
        }
        whole
    }
}

/// What `field` of a stored document says; `None` when it cannot be read.
fn parse<T: DeserializeOwned>(document: &TantivyDocument, field: Field) -> Option<T> {
    serde_json::from_str(document.get_first(field)?.as_str()?).ok()
}
