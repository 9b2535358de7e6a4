//! The citation graph of one commit: who cites whom, what lies around a paper, what is like it.
//!
//! An edge is a reference term of the citing paper. "Who cites this?" is a look-up of terms, one per identifier of the
//! cited paper; "what does this cite?" and "which papers are these?" read columns. Texts and stored JSON are read for the
//! identifiers of a paper whose citers are asked for, and for nothing else.
//!
//! | question | cost |
//! |---|---|
//! | references of a paper | its references |
//! | citers of a paper | its citers |
//! | neighbourhood | the sum of both over the papers expanded, within [`Limits`] |
//! | neighbours with texts | two columns of each link, and the stored texts of those that come back |
//! | related papers | citers of each reference, and references of each citer, within [`RELATED_LIST`] |
//!
//! A paper has several identifiers and may be cited by any: an identifier of a stored paper stands for that paper. One
//! that is not stored stands for itself.

mod nearby;
mod neighbours;
mod related;
mod size;
mod totals;

use std::collections::BTreeSet;
use std::sync::Arc;

use scholar_core::{PaperId, PaperMeta};
use serde::Serialize;
use tantivy::columnar::StrColumn;
use tantivy::{DocAddress, Term};

use crate::error::Error;
use crate::lexical::lookup::alive_documents;
use crate::schema::column;
use crate::store::{Datastore, Snapshot};

pub use nearby::{Direction, Edge, Limits, Nearby, Neighbourhood};
pub use neighbours::{GraphMember, StoredGraph};
pub use related::{RELATED_LIST, Related, Relatives};
pub use size::GraphSize;
pub use totals::LinkTotals;

/// A paper at the other end of a reference.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Linked {
    /// The identifier the datastore files it under; of a paper that is not stored, the one it is cited by.
    pub id: PaperId,
    /// Whether the datastore has it.
    pub stored: bool,
}

/// How a paper is linked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct LinkCounts {
    /// Papers it cites, stored or not.
    pub references: usize,
    /// How many of them are stored.
    pub stored_references: usize,
    /// Stored papers that cite it.
    pub citers: usize,
}

/// The graph of one commit, whatever is committed meanwhile.
pub struct Graph<'a> {
    store: &'a Datastore,
    snapshot: Arc<Snapshot>,
    /// Per segment: own identifier and references of each paper; absent in a segment without any.
    columns: Vec<(Option<StrColumn>, Option<StrColumn>)>,
}

impl std::fmt::Debug for Graph<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Graph").field("store", &self.store).finish_non_exhaustive()
    }
}

/// A paper as the graph knows it.
struct Place {
    id: PaperId,
    address: Option<DocAddress>,
    /// Every identifier it may be cited by.
    names: BTreeSet<String>,
}

impl Datastore {
    /// The citation graph of the newest commit.
    ///
    /// # Errors
    /// [`Error::Index`] when the store cannot be read.
    pub fn graph(&self) -> Result<Graph<'_>, Error> {
        let snapshot = self.snapshot()?;
        let columns = self.reading(|| {
            let columns = snapshot.searcher.segment_readers().iter().map(|reader| {
                let fast = reader.fast_fields();
                Ok((fast.str(column::PAPER)?, fast.str(column::REFERENCES)?))
            });
            columns.collect::<Result<Vec<_>, _>>().map_err(Error::index("read", self.root()))
        })?;
        Ok(Graph { store: self, snapshot, columns })
    }
}

impl Datastore {
    /// [`Graph::citers`] of the newest commit.
    ///
    /// # Errors
    /// As [`Datastore::graph`].
    pub fn citing(&self, id: &PaperId) -> Result<Vec<PaperId>, Error> {
        self.graph()?.citers(id)
    }
}

impl Graph<'_> {
    /// Metadata of a stored paper under any of its identifiers.
    ///
    /// # Errors
    /// As [`Graph::references`].
    pub fn meta(&self, id: &PaperId) -> Result<Option<PaperMeta>, Error> {
        self.store.reading(|| {
            let address = self.resolve(&id.to_string())?;
            address.map(|address| self.store.load_head(&self.snapshot, address)).transpose()
        })
    }

    /// What the paper cites, in its own order; `None` when it is not stored.
    ///
    /// # Errors
    /// [`Error::Corrupt`] and [`Error::Index`] when the store cannot be read.
    pub fn references(&self, id: &PaperId) -> Result<Option<Vec<Linked>>, Error> {
        self.store.reading(|| {
            let Some(address) = self.resolve(&id.to_string())? else { return Ok(None) };
            Ok(Some(self.references_at(address)?.into_iter().map(|(linked, _)| linked).collect()))
        })
    }

    /// Stored papers that cite `id`, by any of its identifiers, in ascending order. The paper itself need not be stored.
    ///
    /// # Errors
    /// As [`Graph::references`].
    pub fn citers(&self, id: &PaperId) -> Result<Vec<PaperId>, Error> {
        self.store.reading(|| {
            let place = self.place(id)?;
            let mut citers = self
                .citing(&place.names)?
                .into_iter()
                .map(|address| self.paper_at(address))
                .collect::<Result<Vec<_>, _>>()?;
            citers.sort();
            Ok(citers)
        })
    }

    /// Numbers of references and citers.
    ///
    /// # Errors
    /// As [`Graph::references`].
    pub fn counts(&self, id: &PaperId) -> Result<LinkCounts, Error> {
        self.store.reading(|| {
            let references = self.references(id)?.unwrap_or_default();
            Ok(LinkCounts {
                references: references.len(),
                stored_references: references.iter().filter(|linked| linked.stored).count(),
                citers: self.citing(&self.place(id)?.names)?.len(),
            })
        })
    }

    fn place(&self, id: &PaperId) -> Result<Place, Error> {
        match self.resolve(&id.to_string())? {
            Some(address) => self.place_at(address),
            None => {
                let names = BTreeSet::from([id.to_string()]);
                Ok(Place { id: id.clone(), address: None, names })
            }
        }
    }

    fn place_at(&self, address: DocAddress) -> Result<Place, Error> {
        let PaperMeta { id, external_ids, .. } = self.store.load_head(&self.snapshot, address)?;
        let names = [&id].into_iter().chain(&external_ids).map(PaperId::to_string).collect();
        Ok(Place { id, address: Some(address), names })
    }

    /// The stored paper an identifier stands for: one filed under it goes before one that has it beside its own.
    fn resolve(&self, name: &str) -> Result<Option<DocAddress>, Error> {
        let found = self.alive(self.store.fields().paper_ids, name)?;
        if found.len() > 1 {
            for address in &found {
                if self.name_at(*address)? == name {
                    return Ok(Some(*address));
                }
            }
        }
        Ok(found.first().copied())
    }

    /// Stored papers that cite one of `names`, each once, in order of storing.
    fn citing(&self, names: &BTreeSet<String>) -> Result<Vec<DocAddress>, Error> {
        let mut found = Vec::new();
        for name in names {
            found.extend(self.alive(self.store.fields().references, name)?);
        }
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }

    fn alive(&self, field: tantivy::schema::Field, name: &str) -> Result<Vec<DocAddress>, Error> {
        alive_documents(&self.snapshot.searcher, &Term::from_field_text(field, name))
            .map_err(self.failed())
    }

    /// What the paper at `address` cites, each once, with the address of what is stored.
    fn references_at(
        &self,
        address: DocAddress,
    ) -> Result<Vec<(Linked, Option<DocAddress>)>, Error> {
        let mut seen = BTreeSet::new();
        let mut references = Vec::new();
        for name in self.reference_names(address)? {
            let cited = self.resolve(&name)?;
            let id = match cited {
                Some(address) => self.paper_at(address)?,
                None => self.parse(&name)?,
            };
            if seen.insert(id.clone()) {
                references.push((Linked { id, stored: cited.is_some() }, cited));
            }
        }
        Ok(references)
    }

    /// Identifiers the paper at `address` cites by.
    fn reference_names(&self, address: DocAddress) -> Result<Vec<String>, Error> {
        let Some(column) = &self.columns[address.segment_ord as usize].1 else {
            return Ok(Vec::new());
        };
        column.term_ords(address.doc_id).map(|ord| self.text_of(column, ord)).collect()
    }

    fn n_references(&self, address: DocAddress) -> usize {
        let column = self.columns[address.segment_ord as usize].1.as_ref();
        column.map_or(0, |column| column.term_ords(address.doc_id).count())
    }

    fn paper_at(&self, address: DocAddress) -> Result<PaperId, Error> {
        self.parse(&self.name_at(address)?)
    }

    fn name_at(&self, address: DocAddress) -> Result<String, Error> {
        let lacks = || Error::corrupt(self.store.root(), "a paper lacks its identifier's column");
        let column = self.columns[address.segment_ord as usize].0.as_ref().ok_or_else(lacks)?;
        let ord = column.ords().first(address.doc_id).ok_or_else(lacks)?;
        self.text_of(column, ord)
    }

    /// Own identifiers of the papers at `addresses`, which ascend. The dictionary is read once from front to back.
    fn names_at(&self, addresses: &[DocAddress]) -> Result<Vec<String>, Error> {
        let lacks = || Error::corrupt(self.store.root(), "a paper lacks its identifier's column");
        let mut names: Vec<String> = vec![String::new(); addresses.len()];
        let mut done = 0;
        for of_segment in addresses.chunk_by(|a, b| a.segment_ord == b.segment_ord) {
            let segment = of_segment.first().map_or(0, |address| address.segment_ord as usize);
            let column = self.columns[segment].0.as_ref().ok_or_else(lacks)?;
            let mut places: Vec<(u64, usize)> = Vec::with_capacity(of_segment.len());
            for (place, address) in (done..).zip(of_segment) {
                places.push((column.ords().first(address.doc_id).ok_or_else(lacks)?, place));
            }
            places.sort_unstable();
            let ords: Vec<u64> = places.iter().map(|(ord, _)| *ord).collect();
            let mut filled = places.iter();
            column
                .dictionary()
                .sorted_ords_to_term_cb(&ords, |name| {
                    if let Some((_, place)) = filled.next() {
                        names[*place] = String::from_utf8_lossy(name).into_owned();
                    }
                })
                .map_err(Error::io("read", self.store.root()))?;
            done += of_segment.len();
        }
        Ok(names)
    }

    fn text_of(&self, column: &StrColumn, ord: u64) -> Result<String, Error> {
        let mut text = String::new();
        column.ord_to_str(ord, &mut text).map_err(Error::io("read", self.store.root()))?;
        Ok(text)
    }

    fn parse(&self, name: &str) -> Result<PaperId, Error> {
        name.parse().map_err(|error: scholar_core::IdError| {
            Error::corrupt(self.store.root(), error.to_string())
        })
    }

    fn failed(&self) -> impl FnOnce(tantivy::TantivyError) -> Error {
        Error::index("read", self.store.root())
    }
}
