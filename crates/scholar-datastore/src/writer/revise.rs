//! Papers in place of others: a file that changed, records that joined, papers that were put together or taken apart.
//!
//! What has the passages of a stored paper keeps their vectors, so that new metadata cost no encoding. A paper and those
//! whose place it takes change in one commit.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use scholar_core::{Encoder, Paper, PaperId, Passage};
use tantivy::{DocAddress, Term};

use super::add::AddRun;
use super::prepare::Prepared;
use super::{AddOptions, AddProgress, AddReport, DatastoreWriter};
use crate::error::Error;
use crate::schema::Merged;
use crate::store::stored::parse_stored;

/// A paper, and the stored ones whose place it takes.
#[derive(Debug, Clone, PartialEq)]
pub struct Revision {
    /// The paper; `None` removes those it takes the place of.
    pub paper: Option<Paper>,
    /// Identifiers under which stored papers are filed.
    pub replaces: Vec<PaperId>,
}

impl DatastoreWriter {
    /// Stores each paper in the place of those it replaces, in order, and commits as [`DatastoreWriter::add`] does. One that is
    /// stored with the same content is left alone; one with the passages of a paper it replaces keeps their vectors.
    /// `papers_unchanged`, `papers_replaced` (text), `papers_completed` (metadata alone) and `papers_added` (all that
    /// were written) of the report tell them apart.
    ///
    /// # Errors
    /// As [`DatastoreWriter::add`].
    pub fn revise(
        &mut self,
        revisions: impl IntoIterator<Item = Revision>,
        encoder: &dyn Encoder,
        options: &AddOptions,
        progress: &mut dyn FnMut(&AddProgress) -> ControlFlow<()>,
    ) -> Result<AddReport, Error> {
        self.descriptor.check_encoder(&self.root, encoder.info())?;
        let mut work = AddRun::start(options, progress);
        let mut batch: Vec<Prepared> = Vec::new();
        let mut leaving: Vec<PaperId> = Vec::new();
        let mut buffered = 0;
        let mut interrupted = false;
        for Revision { paper, replaces } in revisions {
            work.state.papers_read += 1;
            if replaces.iter().any(|id| self.pending.paper(id).is_some()) {
                self.leave(&mut leaving);
                self.store_encoded(&mut batch, encoder, &mut work)?;
                self.commit()?;
            }
            let Some(paper) = paper else {
                leaving.extend(replaces);
                continue;
            };
            let mut prepared = self.prepare(paper)?;
            let own = prepared.paper.meta.id.clone();
            let mut replaced: BTreeSet<PaperId> = replaces.into_iter().collect();
            if self.committed_paper(&own)?.is_some() {
                replaced.insert(own.clone());
            }
            if replaced.iter().eq([&own]) && self.is_stored(&prepared)? {
                work.state.papers_unchanged += 1;
            } else if let Some(ordinals) = self.with_passages_of(&prepared, &replaced)? {
                self.supersede(&mut prepared, &replaced)?;
                leaving.extend(replaced.into_iter().filter(|id| *id != own));
                self.leave(&mut leaving);
                self.write_with_ordinals(&prepared, &ordinals, &options.source)?;
                self.pending.insert(&prepared);
                work.state.papers_added += 1;
                work.state.papers_completed += 1;
            } else {
                work.state.papers_replaced += u64::from(!replaced.is_empty());
                self.supersede(&mut prepared, &replaced)?;
                prepared.replaces = replaced.remove(&own);
                leaving.extend(replaced);
                self.pending.insert(&prepared);
                buffered += prepared.words();
                batch.push(prepared);
            }
            if buffered >= options.buffer_words || work.is_quiet() {
                self.leave(&mut leaving);
                self.store_encoded(&mut batch, encoder, &mut work)?;
                buffered = 0;
                self.commit_when_due(&mut work)?;
                interrupted = work.report().is_break();
            }
            if interrupted {
                break;
            }
        }
        self.leave(&mut leaving);
        self.store_encoded(&mut batch, encoder, &mut work)?;
        self.finish(&mut work, interrupted)?;
        Ok(AddReport { progress: work.state, interrupted })
    }

    /// Takes papers away whose place others take, before these are written: one commit shows both.
    fn leave(&mut self, leaving: &mut Vec<PaperId>) {
        for id in leaving.drain(..) {
            self.pending.remove(&id);
            self.aliases.remove(&id);
            self.is_dirty = true;
            self.writer.delete_term(self.fields.owner_term(&id));
        }
    }

    fn is_stored(&self, prepared: &Prepared) -> Result<bool, Error> {
        let content = Term::from_field_text(self.fields.content, &prepared.content);
        Ok(!self.committed(&content)?.is_empty())
    }

    /// Notes whose place a paper takes, so that merging the datastore again that one of them came from does not bring it
    /// back.
    fn supersede(
        &self,
        prepared: &mut Prepared,
        replaced: &BTreeSet<PaperId>,
    ) -> Result<(), Error> {
        for id in replaced {
            let Some(address) = self.committed_paper(id)? else { continue };
            let known = self.known_at(address)?;
            let mut superseded = known.superseded;
            superseded.extend(known.contents);
            superseded.retain(|content| *content != prepared.content);
            self.join(prepared, None, Merged { superseded, ..Merged::default() })?;
        }
        Ok(())
    }

    /// Ordinals of the vectors of a replaced paper with the passages of `prepared`, in their order.
    fn with_passages_of(
        &mut self,
        prepared: &Prepared,
        replaced: &BTreeSet<PaperId>,
    ) -> Result<Option<Vec<u64>>, Error> {
        for id in replaced {
            let mut stored: Vec<(Passage, u64, DocAddress)> = Vec::new();
            for (address, ordinal) in self.committed_passages(id)? {
                let passage = parse_stored(&self.root, &self.document(address)?, self.fields.head)?;
                stored.push((passage, ordinal, address));
            }
            stored.sort_by_key(|(passage, ..)| passage.id.ordinal);
            let is_same = stored.len() == prepared.passages.len()
                && stored.iter().zip(&prepared.passages).all(|((old, ..), new)| {
                    old.id.ordinal == new.id.ordinal
                        && old.encoded_text() == new.encoded_text()
                        && (old.span, old.kind) == (new.span, new.kind)
                });
            if is_same {
                for (_, _, address) in &stored {
                    self.check_lexical_segment(address.segment_ord)?;
                }
                return Ok(Some(stored.into_iter().map(|(_, ordinal, _)| ordinal).collect()));
            }
        }
        Ok(None)
    }

    /// Puts the documents of a paper whose passages have the vectors `ordinals`.
    fn write_with_ordinals(
        &mut self,
        prepared: &Prepared,
        ordinals: &[u64],
        source: &str,
    ) -> Result<(), Error> {
        let meta = &prepared.paper.meta;
        let mut documents = vec![self.fields.paper_document(prepared, source)];
        for (passage, ordinal) in prepared.passages.iter().zip(ordinals) {
            let document = self.fields.passage_document(meta, passage, *ordinal);
            documents
                .push(document.map_err(|error| Error::corrupt(&self.root, error.to_string()))?);
        }
        self.put_again(&self.fields.owner_term(&meta.id), documents)
    }
}
