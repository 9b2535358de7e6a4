//! What a writer has taken in since its last commit.

use std::collections::{BTreeMap, BTreeSet};

use scholar_core::PaperId;

use super::known::Known;
use super::prepare::Prepared;

struct PendingPaper {
    known: Known,
    digest: Option<String>,
}

/// Papers added and removed since the last commit.
#[derive(Default)]
pub(crate) struct Pending {
    papers: BTreeMap<PaperId, PendingPaper>,
    digests: BTreeMap<String, PaperId>,
    /// Papers by the content keys of all records they were made of, the superseded ones too.
    records: BTreeMap<String, PaperId>,
    /// Papers by any of their identifiers, those of duplicates included. They may be gone again.
    names: BTreeMap<PaperId, PaperId>,
    removed: BTreeSet<PaperId>,
}

impl Pending {
    pub(crate) fn len(&self) -> usize {
        self.papers.len()
    }

    pub(crate) fn insert(&mut self, prepared: &Prepared) {
        let id = prepared.paper.meta.id.clone();
        self.remove(&id);
        if let Some(digest) = &prepared.digest {
            self.digests.insert(digest.clone(), id.clone());
        }
        self.name(prepared.paper.meta.ids(), &id);
        let entry = PendingPaper { known: Known::of(prepared), digest: prepared.digest.clone() };
        for key in entry.known.contents.iter().chain(&entry.known.superseded) {
            self.records.insert(key.clone(), id.clone());
        }
        self.papers.insert(id, entry);
    }

    /// Notes that the paper filed under `first` is known by `ids` as well.
    pub(crate) fn name<'a>(&mut self, ids: impl Iterator<Item = &'a PaperId>, first: &PaperId) {
        for id in ids {
            self.names.entry(id.clone()).or_insert_with(|| first.clone());
        }
    }

    /// Forgets a paper; whether it was pending.
    pub(crate) fn remove(&mut self, id: &PaperId) -> bool {
        self.removed.insert(id.clone());
        let Some(PendingPaper { known, digest }) = self.papers.remove(id) else { return false };
        if let Some(digest) = digest
            && self.digests.get(&digest) == Some(id)
        {
            self.digests.remove(&digest);
        }
        for key in known.contents.iter().chain(&known.superseded) {
            if self.records.get(key) == Some(id) {
                self.records.remove(key);
            }
        }
        for name in &known.ids {
            if self.names.get(name) == Some(id) {
                self.names.remove(name);
            }
        }
        true
    }

    /// The pending paper that is filed under `id`.
    pub(crate) fn paper(&self, id: &PaperId) -> Option<&Known> {
        self.papers.get(id).map(|entry| &entry.known)
    }

    /// The identifier under which the paper that has `id` among its own is filed, pending or committed.
    pub(crate) fn named(&self, id: &PaperId) -> Option<&PaperId> {
        self.names.get(id)
    }

    /// The pending paper with this text.
    pub(crate) fn with_digest(&self, digest: &str) -> Option<&PaperId> {
        self.digests.get(digest)
    }

    /// Whether a pending paper was made of the record with this content key, or its record took that one's place.
    pub(crate) fn has_record(&self, content: &str) -> bool {
        self.records.contains_key(content)
    }

    /// Whether what is committed of `id` still counts.
    pub(crate) fn leaves(&self, id: &PaperId) -> bool {
        !self.removed.contains(id)
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }
}
