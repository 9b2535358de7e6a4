//! A datastore that is copied from, of this format or format 1.
//!
//! Both formats file what is needed under the same names: `kind`, `owner`, `head`, `body`, `ordinal`, `source`. They
//! differ in what is indexed besides.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use scholar_core::{Paper, PaperId, PaperMeta, Passage};
use tantivy::columnar::{Column, StrColumn};
use tantivy::schema::Field;
use tantivy::{
    DocAddress, Index, IndexMeta, ReloadPolicy, Searcher, TantivyDocument, TantivyError, Term,
};

use crate::dense::DenseSegment;
use crate::dense::kernel::decoded;
use crate::dense::vectors::find_segment;
use crate::descriptor::{Descriptor, FORMAT_VERSION};
use crate::error::Error;
use crate::layout::DENSE_FOLDER;
use crate::lexical::lookup::alive_documents;
use crate::manifest::Manifest;
use crate::schema::{KIND_PAPER, Merged, PaperBody, column};
use crate::store::checks::Checks;
use crate::store::guard::{self, Guarded};
use crate::store::open_lexical;
use crate::store::stored::{parse_stored, text_in};
use crate::store::verify::check_lists;

/// Fields that both formats have.
struct SharedFields {
    kind: Field,
    owner: Field,
    head: Field,
    body: Field,
}

/// A paper as it is stored.
pub(crate) struct StoredPaper {
    pub(crate) paper: Paper,
    pub(crate) merged: Merged,
    /// Name of the source it came from.
    pub(crate) source: Option<String>,
}

/// One commit of a datastore, open to be copied.
pub struct MergeSource {
    root: PathBuf,
    descriptor: Descriptor,
    searcher: Guarded<Searcher>,
    fields: SharedFields,
    ordinals: Vec<Column<u64>>,
    sources: Vec<Option<StrColumn>>,
    dense: Vec<Arc<DenseSegment>>,
    checks: Checks,
    commit: u64,
    papers: u64,
}

impl std::fmt::Debug for MergeSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MergeSource").field("root", &self.root).finish_non_exhaustive()
    }
}

impl MergeSource {
    /// Opens the newest commit of the datastore at `root`, to be copied: every lexical file is checked first, and every
    /// dense segment before its first vector is read.
    ///
    /// # Errors
    /// [`Error::NotADatastore`], [`Error::Version`] for a format that is newer than this program, [`Error::Corrupt`],
    /// [`Error::Io`].
    pub fn open(root: &Path) -> Result<Self, Error> {
        let descriptor = Descriptor::read_older(root)?;
        let failed = || Error::index("open", root);
        let checks = Checks::all();
        let index = open_lexical(root, &checks)?;
        let metas = index.load_metas().map_err(failed())?;
        guard::reading(root, || Self::of_commit(root, descriptor, checks, &index, &metas))
            .map_err(|error| error.of_commit(metas.opstamp))
    }

    fn of_commit(
        root: &Path,
        descriptor: Descriptor,
        checks: Checks,
        index: &Index,
        metas: &IndexMeta,
    ) -> Result<Self, Error> {
        let failed = || Error::index("open", root);
        if descriptor.format == FORMAT_VERSION {
            check_lists(root, index)?;
        }
        let schema = index.schema();
        let field = |name: &str| schema.get_field(name).map_err(failed());
        let fields = SharedFields {
            kind: field("kind")?,
            owner: field("owner")?,
            head: field("head")?,
            body: field("body")?,
        };
        let reader = index
            .reader_builder()
            .reload_policy(ReloadPolicy::Manual)
            .try_into()
            .map_err(failed())?;
        let searcher = reader.searcher();
        let folder = root.join(DENSE_FOLDER);
        let mut segments = Manifest::of_commit(root, metas)?.segments;
        segments.sort_by_key(|segment| segment.first);
        let dense = segments
            .iter()
            .map(|entry| {
                // Checked when its first vector is read: an export of papers alone reads none.
                DenseSegment::open(&folder, entry, &descriptor.encoder, &Checks::none())
                    .map(Arc::new)
            })
            .collect::<Result<Vec<_>, _>>()?;
        let columns = |searcher: &Searcher| -> Result<_, TantivyError> {
            let mut ordinals = Vec::new();
            let mut sources = Vec::new();
            for reader in searcher.segment_readers() {
                ordinals.push(reader.fast_fields().u64(column::ORDINAL)?);
                sources.push(reader.fast_fields().str(column::SOURCE)?);
            }
            Ok((ordinals, sources))
        };
        let (ordinals, sources) = columns(&searcher).map_err(failed())?;
        let mut source = Self {
            root: root.to_owned(),
            descriptor,
            searcher: Guarded::new(searcher),
            fields,
            ordinals,
            sources,
            dense,
            checks,
            commit: metas.opstamp,
            papers: 0,
        };
        source.papers = source.papers_in_order()?.len() as u64;
        Ok(source)
    }

    /// Folder of the datastore that is copied from.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Format, encoder and rules.
    pub fn descriptor(&self) -> &Descriptor {
        &self.descriptor
    }

    /// How many papers there are.
    pub fn papers(&self) -> u64 {
        self.papers
    }

    /// Where the papers are, in order of storing.
    pub(crate) fn papers_in_order(&self) -> Result<Vec<DocAddress>, Error> {
        let kind = Term::from_field_text(self.fields.kind, KIND_PAPER);
        guard::reading(&self.root, || {
            alive_documents(&self.searcher, &kind).map_err(Error::index("read", &self.root))
        })
    }

    /// The paper at `address`.
    pub(crate) fn paper(&self, address: DocAddress) -> Result<StoredPaper, Error> {
        guard::reading(&self.root, || self.stored_paper(address))
    }

    fn stored_paper(&self, address: DocAddress) -> Result<StoredPaper, Error> {
        let document = self.document(address)?;
        let meta: PaperMeta = self.parse(&document, self.fields.head)?;
        let PaperBody { sections, references, records, merged } =
            self.parse(&document, self.fields.body)?;
        let names = self.sources[address.segment_ord as usize].as_ref();
        let source = names.and_then(|names| text_in(names, address.doc_id));
        Ok(StoredPaper { paper: Paper { meta, sections, references, records }, merged, source })
    }

    /// The passages of a paper in order, with their vectors.
    pub(crate) fn passages(&self, id: &PaperId) -> Result<(Vec<Passage>, Vec<Vec<f32>>), Error> {
        guard::reading(&self.root, || self.stored_passages(id))
    }

    fn stored_passages(&self, id: &PaperId) -> Result<(Vec<Passage>, Vec<Vec<f32>>), Error> {
        let owner = Term::from_field_text(self.fields.owner, &id.to_string());
        let mut found = Vec::new();
        for (address, ordinal) in
            self.passages_with(&owner).map_err(Error::index("read", &self.root))?
        {
            let passage: Passage = self.parse(&self.document(address)?, self.fields.head)?;
            found.push((passage, self.vector(ordinal)?));
        }
        found.sort_by(|(a, _), (b, _)| a.id.cmp(&b.id));
        Ok(found.into_iter().unzip())
    }

    /// Passages that carry `owner`, with the ordinals of their vectors. Only passages have one.
    fn passages_with(&self, owner: &Term) -> Result<Vec<(DocAddress, u64)>, TantivyError> {
        let documents = alive_documents(&self.searcher, owner)?;
        let ordinal = |at: &DocAddress| self.ordinals[at.segment_ord as usize].first(at.doc_id);
        Ok(documents.into_iter().filter_map(|at| Some((at, ordinal(&at)?))).collect())
    }

    fn vector(&self, ordinal: u64) -> Result<Vec<f32>, Error> {
        let lacks = || Error::corrupt(&self.root, "a passage has no vector".to_owned());
        let segment = find_segment(&self.dense, ordinal).ok_or_else(lacks)?;
        segment.check(&self.checks).map_err(|error| error.of_commit(self.commit))?;
        segment.row(ordinal).map(decoded).ok_or_else(lacks)
    }

    fn document(&self, address: DocAddress) -> Result<TantivyDocument, Error> {
        self.searcher.doc(address).map_err(Error::index("read", &self.root))
    }

    fn parse<T: serde::de::DeserializeOwned>(
        &self,
        document: &TantivyDocument,
        field: Field,
    ) -> Result<T, Error> {
        parse_stored(&self.root, document, field)
    }
}
