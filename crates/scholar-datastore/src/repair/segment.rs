//! What can still be read of one lexical segment.
//!
//! Each of its files is looked at alone: tantivy opens a segment only when all of them can be opened.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use scholar_core::PaperId;
use tantivy::columnar::{Column, ColumnarReader, DynamicColumn, StrColumn};
use tantivy::directory::{CompositeFile, FileHandle, FileSlice, MmapDirectory};
use tantivy::fastfield::AliveBitSet;
use tantivy::store::StoreReader;
use tantivy::termdict::TermDictionary;
use tantivy::{Directory as _, DocId, HasLen as _, TantivyDocument, TantivyError};

use super::DamagedFile;
use crate::damage::Damage;
use crate::schema::{Fields, column};
use crate::store::checks::{Checks, footer_and_body};
use crate::store::guard::attempt;
use crate::store::stored::text_in;
use crate::store::stored::{document, index_fits};

/// Blocks of stored documents kept: they are read in order.
const CACHED_BLOCKS: usize = 8;
/// Bytes at the end of a file in which its footer begins.
const FOOTER_MOST: usize = 1 << 10;

/// The files of a lexical index, and which of those opened so far are damaged.
pub(super) struct LexicalFiles {
    folder: PathBuf,
    directory: MmapDirectory,
    pub(super) damaged: Vec<DamagedFile>,
}

/// A file without its footer.
struct Opened {
    body: Option<FileSlice>,
    is_whole: bool,
}

impl LexicalFiles {
    pub(super) fn open(folder: &Path) -> Result<Self, TantivyError> {
        let directory = MmapDirectory::open(folder)?;
        Ok(Self { folder: folder.to_owned(), directory, damaged: Vec::new() })
    }

    fn body(&mut self, name: &str) -> Opened {
        let path = self.folder.join(name);
        let Ok(handle) = self.directory.get_file_handle(Path::new(name)) else {
            self.damaged.push(DamagedFile { file: path, what: "cannot be opened".to_owned() });
            return Opened { body: None, is_whole: false };
        };
        let checked = Checks::all().lexical(&path, &handle);
        let is_whole = checked.is_ok();
        if let Err(Damage { path: file, what }) = checked {
            self.damaged.push(DamagedFile { file, what });
        }
        Opened { body: without_footer(handle), is_whole }
    }

    /// The file's content if its checksum fits.
    fn whole(&mut self, name: &str) -> Option<FileSlice> {
        let Opened { body, is_whole } = self.body(name);
        body.filter(|_| is_whole)
    }
}

/// What comes before the footer, even where the footer's own end is damaged.
fn without_footer(handle: Arc<dyn FileHandle>) -> Option<FileSlice> {
    let file = FileSlice::new(handle);
    if let Some((_, body)) = footer_and_body(file.clone()) {
        return Some(body);
    }
    let start = file.len().saturating_sub(FOOTER_MOST);
    let tail = file.read_bytes_slice(start..file.len()).ok()?;
    let mark = b"{\"version\"";
    let at = tail.as_slice().windows(mark.len()).rposition(|window| window == mark)?;
    Some(file.slice_to(start + at))
}

/// A lexical segment as a commit lists it, or as it lies on the disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Listed {
    pub(super) name: String,
    /// Operation after which documents were last removed.
    pub(super) deletions: Option<u64>,
    /// Documents, where the commit says.
    pub(super) documents: Option<DocId>,
}

/// One lexical segment, as far as it can be read.
pub(super) struct ReadableSegment {
    pub(super) name: String,
    store: Option<StoreReader>,
    /// Whether what is stored is as it was written.
    pub(super) is_whole: bool,
    alive: Option<AliveBitSet>,
    /// Whether nobody can tell which documents were removed.
    pub(super) deletions_lost: bool,
    documents: Option<DocId>,
    columns: Columns,
    /// Content keys of its papers, where what is stored has to be proven.
    contents: Option<TermDictionary>,
}

#[derive(Default)]
struct Columns {
    ordinals: Option<Column<u64>>,
    sources: Option<StrColumn>,
    papers: Option<StrColumn>,
    documents: Option<DocId>,
}

/// A document of a damaged segment.
pub(super) enum Found {
    Document(Box<TantivyDocument>),
    Unreadable,
    Removed,
    /// There are no more.
    End,
}

impl ReadableSegment {
    pub(super) fn open(files: &mut LexicalFiles, listed: &Listed, fields: &Fields) -> Self {
        let Listed { name, deletions, documents } = listed;
        let of = |ending: &str| format!("{name}.{ending}");
        let Opened { body, is_whole } = files.body(&of("store"));
        let store = body
            .filter(index_fits)
            .and_then(|body| attempt(|| StoreReader::open(body, CACHED_BLOCKS).ok()).flatten());
        let fast = files.whole(&of("fast"));
        let columns = fast.and_then(|fast| attempt(|| Columns::of(fast)).flatten());
        let columns = columns.unwrap_or_default();
        let removed = deletions.map(|opstamp| files.whole(&of(&format!("{opstamp}.del"))));
        let alive = removed.as_ref().and_then(Option::as_ref).and_then(|file| {
            let bytes = file.read_bytes().ok()?;
            attempt(|| AliveBitSet::open(bytes))
        });
        // Looked at for the report; what is in them is made anew.
        for ending in ["idx", "pos", "fieldnorm"] {
            files.whole(&of(ending));
        }
        let terms = files.whole(&of("term"));
        let contents = terms.filter(|_| !is_whole).and_then(|terms| {
            let composite = CompositeFile::open(&terms).ok()?;
            TermDictionary::open(composite.open_read(fields.content)?).ok()
        });
        Self {
            name: name.clone(),
            is_whole: is_whole && store.is_some(),
            store,
            deletions_lost: deletions.is_some() && alive.is_none(),
            alive,
            documents: columns.documents.or(*documents),
            columns,
            contents,
        }
    }

    /// The document in place `doc`.
    pub(super) fn document(&self, doc: DocId) -> Found {
        if self.documents.is_some_and(|documents| doc >= documents) {
            return Found::End;
        }
        if self.alive.as_ref().is_some_and(|alive| attempt(|| alive.is_deleted(doc)) != Some(false))
        {
            return Found::Removed;
        }
        let Some(store) = &self.store else {
            return if self.documents.is_some() { Found::Unreadable } else { Found::End };
        };
        match attempt(|| document(store, doc)) {
            Some(Ok(document)) => Found::Document(Box::new(document)),
            // No block is said to hold it.
            Some(Err(TantivyError::InvalidArgument(_))) if self.documents.is_none() => Found::End,
            Some(Err(_)) | None => Found::Unreadable,
        }
    }

    /// The identifier of the paper in place `doc`, which cannot be read: `Ok(None)` for a passage, `Err` where nobody can
    /// tell.
    pub(super) fn paper_at(&self, doc: DocId) -> Result<Option<PaperId>, ()> {
        let papers = self.columns.papers.as_ref();
        match papers {
            Some(papers) => Ok(attempt(|| text_in(papers, doc))
                .flatten()
                .and_then(|name| name.parse::<PaperId>().ok())),
            None => Err(()),
        }
    }

    /// The ordinal of a passage's vector.
    pub(super) fn ordinal(&self, doc: DocId) -> Option<u64> {
        let ordinals = self.columns.ordinals.as_ref()?;
        attempt(|| ordinals.first(doc)).flatten()
    }

    /// Name of the source of a paper.
    pub(super) fn source(&self, doc: DocId) -> Option<String> {
        let sources = self.columns.sources.as_ref()?;
        attempt(|| text_in(sources, doc)).flatten()
    }

    /// Whether a paper with this content key was written into this segment.
    pub(super) fn has_content(&self, key: &str) -> bool {
        let contents = self.contents.as_ref();
        contents.is_some_and(|contents| {
            attempt(|| contents.term_ord(key).ok().flatten().is_some()) == Some(true)
        })
    }
}

impl Columns {
    fn of(file: FileSlice) -> Option<Self> {
        let columnar = ColumnarReader::open(file).ok()?;
        let text = |name: &str| {
            let handles = columnar.read_columns(name).ok()?;
            handles.iter().find_map(|handle| match handle.open().ok()? {
                DynamicColumn::Str(column) => Some(column),
                _ => None,
            })
        };
        let ordinals = columnar.read_columns(column::ORDINAL).ok()?;
        Some(Self {
            ordinals: ordinals.iter().find_map(|handle| handle.open_u64_lenient().ok().flatten()),
            sources: text(column::SOURCE),
            papers: text(column::PAPER),
            documents: Some(columnar.num_docs()),
        })
    }
}
