//! Whether a paper that is offered is there already, under its identifier or another.
//!
//! 1. Under its own identifier: the same, or changed.
//! 2. Under another one: a stored paper has one of its identifiers and the same title. Where the title differs, several
//!    works share an identifier (abstracts of one supplement share its DOI), and both are kept.
//! 3. A stored paper has the same title and text, whatever its identifiers.
//!
//! What is found by 2 and 3 is one work. It stays under the identifier that came first, gets the others, and has the
//! fuller text of both.
//!
//! A merge asks first whether the record was taken in before: then it is not taken in again, although another one may have
//! taken its place since. So merging the same datastores again changes nothing, in whatever order.

use scholar_core::{Paper, PaperId, PaperMeta};
use tantivy::schema::Value as _;
use tantivy::{DocAddress, TantivyDocument, Term};

use super::DatastoreWriter;
use super::prepare::{Prepared, content_key, letters_of, normalised};
use crate::error::Error;
use crate::schema::{Merged, PaperBody, add_missing, column, superseded_key};
use crate::store::stored::parse_stored;

/// By what two records are known to be one work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DuplicateReason {
    /// Title and text, but for case, spacing and punctuation.
    Text,
    /// This identifier and the title; the text of the one that was left out is no fuller.
    Identifier(PaperId),
}

/// What the store knows of a paper that is offered.
pub(crate) enum Standing {
    /// No record of the work is stored.
    New,
    /// Its identifier, with other content. The identifiers it has from other records stay, and its record is superseded.
    Changed(Merged),
    /// A record with the same content is stored.
    Same,
    /// The same work under another identifier.
    Duplicate { first: PaperId, by: DuplicateReason, new_ids: Vec<PaperId> },
    /// The same work under another identifier with less text.
    Fuller { first: PaperId, merged: Merged },
}

/// As much longer, in tenths, a text must be to be the fuller one: as a full text beside an abstract. Less is the same
/// text with other remains of its markup.
const FULLER_TENTHS: usize = 15;

/// A paper that is pending or committed.
#[derive(Debug, Clone)]
pub(crate) struct Known {
    pub(crate) id: PaperId,
    /// All its identifiers.
    pub(crate) ids: Vec<PaperId>,
    /// Its title as [`normalised`].
    pub(crate) title: String,
    /// Letters and digits of its text.
    pub(crate) letters: usize,
    /// Identifiers from other records.
    pub(crate) merged_ids: Vec<PaperId>,
    /// Content keys of its own record and others.
    pub(crate) contents: Vec<String>,
    /// Content keys of the records before.
    pub(crate) superseded: Vec<String>,
}

impl Known {
    pub(crate) fn of(prepared: &Prepared) -> Self {
        let meta = &prepared.paper.meta;
        let Merged { ids, contents: _, superseded } = prepared.merged.clone();
        Self {
            id: meta.id.clone(),
            ids: meta.ids().cloned().collect(),
            title: normalised(&meta.title),
            letters: prepared.letters,
            merged_ids: ids,
            contents: prepared.records(),
            superseded,
        }
    }

    /// What a newer record of the same identifier keeps of it.
    fn superseded(self) -> Merged {
        let Self { merged_ids, contents, mut superseded, .. } = self;
        add_missing(&mut superseded, contents);
        Merged { ids: merged_ids, contents: Vec::new(), superseded }
    }

    /// Whether a record with this content key has been taken in.
    pub(crate) fn has(&self, content: &str) -> bool {
        self.contents.iter().any(|known| known == content)
    }
}

/// Whether an identifier is worth keeping with another record: one that only its file has is not.
fn is_shared(id: &PaperId) -> bool {
    !matches!(id, PaperId::Local(_))
}

impl DatastoreWriter {
    /// What is stored or pending of this paper.
    pub(crate) fn standing(
        &self,
        prepared: &Prepared,
        keep_duplicates: bool,
    ) -> Result<Standing, Error> {
        let meta = &prepared.paper.meta;
        if let Some(known) = self.pending.paper(&meta.id) {
            return Ok(match known.has(&prepared.content) {
                true => Standing::Same,
                false => Standing::Changed(known.clone().superseded()),
            });
        }
        // Most papers of a build are new: one look-up for each identifier says so.
        let is_named = !self.committed(&self.fields.paper_term(&meta.id))?.is_empty();
        if is_named && let Some(paper) = self.committed_paper(&meta.id)? {
            if !self.pending.leaves(&meta.id) {
                return Ok(Standing::Changed(Merged::default()));
            }
            let content = Term::from_field_text(self.fields.content, &prepared.content);
            return Ok(match self.committed(&content)?.is_empty() {
                false => Standing::Same,
                true => Standing::Changed(self.known_at(paper)?.superseded()),
            });
        }
        if keep_duplicates {
            return Ok(Standing::New);
        }
        for id in meta.ids().filter(|id| is_shared(id)) {
            if let Some(standing) = self.under(id, prepared)? {
                return Ok(standing);
            }
        }
        self.with_text_of(prepared)
    }

    /// The same work under another identifier, by an identifier that both have.
    fn under(&self, id: &PaperId, prepared: &Prepared) -> Result<Option<Standing>, Error> {
        let title = normalised(&prepared.paper.meta.title);
        if title.is_empty() {
            return Ok(None);
        }
        let mut found = None;
        if let Some(first) = self.pending.named(id) {
            found = match self.pending.paper(first) {
                Some(known) => Some(known.clone()),
                None => self.known(first)?,
            };
        }
        found = found.filter(|known| known.title == title);
        if found.is_none() {
            for address in self.committed(&self.fields.paper_term(id))? {
                let document = self.document(address)?;
                let meta: PaperMeta = parse_stored(&self.root, &document, self.fields.head)?;
                if normalised(&meta.title) == title && self.pending.leaves(&meta.id) {
                    found = Some(self.known_of(meta, &document)?);
                    break;
                }
            }
        }
        let Some(known) = found else { return Ok(None) };
        Ok(Some(if known.has(&prepared.content) {
            Standing::Same
        } else if prepared.letters * 10 > known.letters * FULLER_TENTHS {
            let Known { id: first, ids, contents, superseded, .. } = known;
            let ids = ids.into_iter().filter(|other| *other != first).collect();
            Standing::Fuller { first, merged: Merged { ids, contents, superseded } }
        } else {
            self.duplicate(known.id, &known.ids, DuplicateReason::Identifier(id.clone()), prepared)
        }))
    }

    /// The same work under another identifier, by title and text.
    fn with_text_of(&self, prepared: &Prepared) -> Result<Standing, Error> {
        let Some(digest) = prepared.digest.as_deref() else { return Ok(Standing::New) };
        let pending = self.pending.with_digest(digest).and_then(|id| self.pending.paper(id));
        if let Some(Known { id, ids, .. }) = pending {
            return Ok(self.duplicate(id.clone(), ids, DuplicateReason::Text, prepared));
        }
        for address in self.committed(&Term::from_field_text(self.fields.digest, digest))? {
            let document = self.document(address)?;
            let meta: PaperMeta = parse_stored(&self.root, &document, self.fields.head)?;
            if self.pending.leaves(&meta.id) {
                let ids: Vec<PaperId> = meta.ids().cloned().collect();
                return Ok(self.duplicate(meta.id, &ids, DuplicateReason::Text, prepared));
            }
        }
        Ok(Standing::New)
    }

    /// A record of the work that is stored under `first` with `ids`.
    fn duplicate(
        &self,
        first: PaperId,
        ids: &[PaperId],
        by: DuplicateReason,
        prepared: &Prepared,
    ) -> Standing {
        let noted = self.aliases.get(&first);
        let is_new = |id: &&PaperId| {
            is_shared(id) && !ids.contains(id) && noted.is_none_or(|noted| !noted.ids.contains(id))
        };
        let new_ids = prepared.paper.meta.ids().filter(is_new).cloned().collect();
        Standing::Duplicate { first, by, new_ids }
    }

    /// Whether a record with this content key was taken in, as it is or superseded since.
    pub(crate) fn was_taken_in(&self, content: &str) -> Result<bool, Error> {
        if self.pending.has_record(content) {
            return Ok(true);
        }
        for key in [content, &superseded_key(content)] {
            for address in self.committed(&Term::from_field_text(self.fields.content, key))? {
                let id = self.text_at(address, column::PAPER)?.parse();
                if id.is_ok_and(|id: PaperId| self.pending.leaves(&id)) {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// Adds the identifiers that duplicates brought to the papers that were there. Passages and vectors stay: their
    /// documents are written again with the ordinals they had.
    ///
    /// Identifiers of papers that are gone meanwhile are dropped with them.
    pub(super) fn write_aliases(&mut self) -> Result<(), Error> {
        for (id, noted) in std::mem::take(&mut self.aliases) {
            let Some(address) = self.committed_paper(&id)? else { continue };
            self.check_lexical_segment(address.segment_ord)?;
            let document = self.document(address)?;
            let meta: PaperMeta = parse_stored(&self.root, &document, self.fields.head)?;
            let PaperBody { sections, references, records, merged } =
                parse_stored(&self.root, &document, self.fields.body)?;
            let contents = self.contents(&meta.id, &document, &merged)?;
            let paper = Paper { meta, sections, references, records };
            let json = |error: serde_json::Error| Error::corrupt(&self.root, error.to_string());
            let mut prepared = Prepared::uncut(paper, self.descriptor.rules).map_err(json)?;
            prepared.content.clone_from(&contents[0]);
            prepared.join(merged).map_err(json)?;
            prepared.join(Merged { contents, ..Merged::default() }).map_err(json)?;
            prepared.join(noted).map_err(json)?;
            let source = self.source(address)?;
            self.write_again(&prepared, &source)?;
        }
        Ok(())
    }

    /// Puts the documents of a paper anew, with the passages it has.
    fn write_again(&mut self, prepared: &Prepared, source: &str) -> Result<(), Error> {
        let meta = &prepared.paper.meta;
        let owner = self.fields.owner_term(&meta.id);
        let mut documents = vec![self.fields.paper_document(prepared, source)];
        for (address, ordinal) in self.committed_passages(&meta.id)? {
            self.check_lexical_segment(address.segment_ord)?;
            let passage = parse_stored(&self.root, &self.document(address)?, self.fields.head)?;
            let document = self.fields.passage_document(meta, &passage, ordinal);
            documents
                .push(document.map_err(|error| Error::corrupt(&self.root, error.to_string()))?);
        }
        self.put_again(&owner, documents)
    }

    /// Puts `documents` in the place of those that carry `owner`.
    pub(super) fn put_again(
        &mut self,
        owner: &Term,
        documents: Vec<TantivyDocument>,
    ) -> Result<(), Error> {
        self.is_dirty = true;
        self.writer.delete_term(owner.clone());
        for document in documents {
            if let Err(error) = self.writer.add_document(document) {
                let cause = self.cause_of(error);
                return Err(Error::index("write", &self.root)(cause));
            }
        }
        Ok(())
    }

    /// The committed paper that is filed under `id`.
    fn known(&self, id: &PaperId) -> Result<Option<Known>, Error> {
        self.committed_paper(id)?.map(|address| self.known_at(address)).transpose()
    }

    pub(super) fn known_at(&self, address: DocAddress) -> Result<Known, Error> {
        let document = self.document(address)?;
        let meta: PaperMeta = parse_stored(&self.root, &document, self.fields.head)?;
        self.known_of(meta, &document)
    }

    fn known_of(&self, meta: PaperMeta, document: &TantivyDocument) -> Result<Known, Error> {
        let PaperBody { sections, references: _, records: _, merged } =
            parse_stored(&self.root, document, self.fields.body)?;
        Ok(Known {
            ids: meta.ids().cloned().collect(),
            title: normalised(&meta.title),
            letters: letters_of(&sections),
            contents: self.contents(&meta.id, document, &merged)?,
            merged_ids: merged.ids,
            superseded: merged.superseded,
            id: meta.id,
        })
    }

    /// Content keys of a stored paper: those that were noted, else that of what is stored.
    fn contents(
        &self,
        id: &PaperId,
        document: &TantivyDocument,
        merged: &Merged,
    ) -> Result<Vec<String>, Error> {
        if !merged.contents.is_empty() {
            return Ok(merged.contents.clone());
        }
        let text = |field| document.get_first(field).and_then(|text| text.as_str());
        let head = text(self.fields.head).unwrap_or_default();
        let body = text(self.fields.body).unwrap_or_default();
        let key = content_key(id, head, body, self.descriptor.rules)
            .map_err(|error| Error::corrupt(&self.root, error.to_string()))?;
        Ok(vec![key])
    }
}
