//! How large the graph is, and what it costs on disk.

use serde::Serialize;
use tantivy::Term;
use tantivy::space_usage::PerFieldSpaceUsage;

use super::Graph;
use crate::error::Error;
use crate::lexical::lookup::alive_documents;
use crate::schema::{KIND_PAPER, column};

/// Counts and bytes of the citation graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct GraphSize {
    /// Papers in the datastore; those that are only cited do not count.
    pub papers: u64,
    /// References of stored papers.
    pub edges: u64,
    /// References between stored papers.
    pub inner_edges: u64,
    /// Bytes of the dictionary of cited identifiers.
    pub dictionary_bytes: u64,
    /// Bytes of the lists of citing papers.
    pub postings_bytes: u64,
    /// Bytes of the column of cited identifiers.
    pub references_bytes: u64,
    /// Bytes of the column of own identifiers.
    pub papers_bytes: u64,
}

impl Graph<'_> {
    /// Counts the graph. Looks every reference up, so it takes as long as the graph is large.
    ///
    /// # Errors
    /// As [`Graph::references`].
    pub fn size(&self) -> Result<GraphSize, Error> {
        self.store.reading(|| self.counted())
    }

    fn counted(&self) -> Result<GraphSize, Error> {
        let mut size = GraphSize {
            papers: 0,
            edges: 0,
            inner_edges: 0,
            dictionary_bytes: 0,
            postings_bytes: 0,
            references_bytes: 0,
            papers_bytes: 0,
        };
        for reader in self.snapshot.searcher.segment_readers() {
            let usage = reader.space_usage().map_err(Error::io("read", self.store.root()))?;
            let bytes = |usage: &PerFieldSpaceUsage, name: &str| -> u64 {
                let fields = usage.fields().filter(|field| field.field_name() == name);
                fields.map(|field| field.total().get_bytes()).sum()
            };
            size.dictionary_bytes += bytes(usage.termdict(), column::REFERENCES);
            size.postings_bytes += bytes(usage.postings(), column::REFERENCES);
            size.references_bytes += bytes(usage.fast_fields(), column::REFERENCES);
            size.papers_bytes += bytes(usage.fast_fields(), column::PAPER);
        }
        let papers = Term::from_field_text(self.store.fields().kind, KIND_PAPER);
        for address in alive_documents(&self.snapshot.searcher, &papers).map_err(self.failed())? {
            size.papers += 1;
            for name in self.reference_names(address)? {
                size.edges += 1;
                size.inner_edges += u64::from(self.resolve(&name)?.is_some());
            }
        }
        Ok(size)
    }
}
