//! Papers by what their source records state, and what is stored of them.

use std::path::Path;

use scholar_core::{Paper, PaperId};
use tantivy::Term;

use super::stored::text_in;
use super::{Datastore, Snapshot};
use crate::error::Error;
use crate::schema::column;

/// A stored paper with the name of the source it came from.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredWork {
    /// The paper, records included.
    pub paper: Paper,
    /// What `info` says of where it comes from.
    pub collection: String,
}

impl Datastore {
    /// Papers that were read from the file at `path`, or whose library entry names it, whichever bytes it has now.
    ///
    /// # Errors
    /// As [`Datastore::passage`].
    pub fn papers_at_path(&self, path: &Path) -> Result<Vec<StoredWork>, Error> {
        self.works_with(&self.fields().path_term(path))
    }

    /// Papers that were read from a file with this SHA-256, in hexadecimal digits.
    ///
    /// # Errors
    /// As [`Datastore::passage`].
    pub fn papers_of_bytes(&self, sha256: &str) -> Result<Vec<StoredWork>, Error> {
        self.works_with(&self.fields().bytes_term(sha256))
    }

    /// Whether a paper was read from the file at `path` with this SHA-256.
    ///
    /// # Errors
    /// As [`Datastore::passage`].
    pub fn is_stored_file(&self, path: &Path, sha256: &str) -> Result<bool, Error> {
        let same = self.papers_of_bytes(sha256)?;
        let mut files = same.iter().flat_map(|work| &work.paper.records);
        Ok(files.any(|record| {
            let file = record.source.file();
            file.is_some_and(|file| file.sha256 == sha256 && file.path == path)
        }))
    }

    /// Papers that a library has under this citation key.
    ///
    /// # Errors
    /// As [`Datastore::passage`].
    pub fn papers_keyed(&self, citation_key: &str) -> Result<Vec<StoredWork>, Error> {
        self.works_with(&self.fields().citation_key_term(citation_key))
    }

    /// Papers that have `id` among their identifiers.
    ///
    /// # Errors
    /// As [`Datastore::passage`].
    pub fn papers_named(&self, id: &PaperId) -> Result<Vec<StoredWork>, Error> {
        self.works_with(&self.fields().paper_term(id))
    }

    /// Every paper with source records, in order of storing. An error of `visit` ends the walk.
    ///
    /// # Errors
    /// As [`Datastore::passage`].
    pub fn each_recorded(
        &self,
        mut visit: impl FnMut(Paper) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let snapshot = self.snapshot()?;
        for address in self.find_all(&snapshot, &self.fields().recorded_term())? {
            visit(self.load_paper(&snapshot, address)?)?;
        }
        Ok(())
    }

    /// How many papers have source records.
    ///
    /// # Errors
    /// As [`Datastore::passage`].
    pub fn recorded_count(&self) -> Result<usize, Error> {
        let snapshot = self.snapshot()?;
        Ok(self.find_all(&snapshot, &self.fields().recorded_term())?.len())
    }

    fn works_with(&self, term: &Term) -> Result<Vec<StoredWork>, Error> {
        let snapshot = self.snapshot()?;
        let mut works = Vec::new();
        for address in self.find_all(&snapshot, term)? {
            let paper = self.load_paper(&snapshot, address)?;
            works.push(StoredWork { paper, collection: self.collection_of(&snapshot, address)? });
        }
        Ok(works)
    }

    fn collection_of(
        &self,
        snapshot: &Snapshot,
        address: tantivy::DocAddress,
    ) -> Result<String, Error> {
        self.reading(|| {
            let columns = snapshot.searcher.segment_reader(address.segment_ord).fast_fields();
            let texts = columns.str(column::SOURCE).map_err(Error::index("read", self.root()))?;
            Ok(texts.and_then(|texts| text_in(&texts, address.doc_id)).unwrap_or_default())
        })
    }
}
