//! What the last commit says of a paper.

use scholar_core::{PaperId, PaperMeta};
use tantivy::{DocAddress, SegmentOrdinal, SegmentReader, TantivyDocument, Term};

use super::DatastoreWriter;
use crate::error::Error;
use crate::lexical::lookup::alive_documents;
use crate::schema::column;
use crate::store::guard;
use crate::store::stored::{parse_stored, text_in};

impl DatastoreWriter {
    /// Documents of the last commit that carry `term`.
    pub(super) fn committed(&self, term: &Term) -> Result<Vec<DocAddress>, Error> {
        guard::reading(&self.root, || {
            alive_documents(&self.reader.searcher(), term).map_err(Error::index("read", &self.root))
        })
    }

    /// The document of the paper that is filed under `id`.
    pub(super) fn committed_paper(&self, id: &PaperId) -> Result<Option<DocAddress>, Error> {
        let owned = self.committed(&self.fields.owner_term(id))?;
        // Only papers list identifiers, and others may list this one.
        let papers = self.committed(&self.fields.paper_term(id))?;
        Ok(papers.into_iter().find(|address| owned.contains(address)))
    }

    /// The identifiers of the papers that `id` names, pending or committed: its own where one is filed under it, else those
    /// of papers that have it among theirs.
    pub(super) fn filed(&self, id: &PaperId) -> Result<Vec<PaperId>, Error> {
        if self.pending.paper(id).is_some() || self.committed_paper(id)?.is_some() {
            return Ok(vec![id.clone()]);
        }
        let mut found: Vec<PaperId> = self.pending.named(id).into_iter().cloned().collect();
        for address in self.committed(&self.fields.paper_term(id))? {
            let document = self.document(address)?;
            let meta: PaperMeta = parse_stored(&self.root, &document, self.fields.head)?;
            if !found.contains(&meta.id) {
                found.push(meta.id);
            }
        }
        Ok(found)
    }

    /// The passages of the paper filed under `id`, with the ordinals of their vectors.
    pub(super) fn committed_passages(&self, id: &PaperId) -> Result<Vec<(DocAddress, u64)>, Error> {
        guard::reading(&self.root, || {
            let searcher = self.reader.searcher();
            let mut found = Vec::new();
            for address in self.committed(&self.fields.owner_term(id))? {
                let columns = searcher.segment_reader(address.segment_ord).fast_fields();
                let ordinals =
                    columns.u64(column::ORDINAL).map_err(Error::index("read", &self.root))?;
                found.extend(ordinals.first(address.doc_id).map(|ordinal| (address, ordinal)));
            }
            Ok(found)
        })
    }

    /// The name of the source that the paper at `address` came from.
    pub(super) fn source(&self, address: DocAddress) -> Result<String, Error> {
        self.text_at(address, column::SOURCE)
    }

    /// What a column of texts has of a document; nothing is empty.
    pub(super) fn text_at(&self, address: DocAddress, column: &str) -> Result<String, Error> {
        guard::reading(&self.root, || {
            let searcher = self.reader.searcher();
            let columns = searcher.segment_reader(address.segment_ord).fast_fields();
            let texts = columns.str(column).map_err(Error::index("read", &self.root))?;
            Ok(texts.and_then(|texts| text_in(&texts, address.doc_id)).unwrap_or_default())
        })
    }

    /// Checks the files of a lexical segment, before documents of it are written again, unless that was done.
    pub(super) fn check_lexical_segment(&mut self, segment: SegmentOrdinal) -> Result<(), Error> {
        let _inside = guard::Inside::enter();
        let files = self.reader.searcher().segment_reader(segment).segment_id();
        if self.checked_first || !self.checked_segments.insert(files) {
            return Ok(());
        }
        let failed = || Error::index("read", &self.root);
        let metas = self.writer.index().searchable_segment_metas().map_err(failed())?;
        for meta in metas.iter().filter(|meta| meta.id() == files) {
            SegmentReader::open(&self.writer.index().segment(meta.clone())).map_err(failed())?;
        }
        Ok(())
    }

    pub(super) fn document(&self, address: DocAddress) -> Result<TantivyDocument, Error> {
        guard::reading(&self.root, || {
            let found = self.reader.searcher().doc(address);
            found.map_err(Error::index("read", &self.root))
        })
    }
}
