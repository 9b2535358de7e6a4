//! What a writer has taken in since its last commit.

use std::collections::{BTreeMap, BTreeSet};

use scholar_core::PaperId;

use super::prepare::Prepared;

struct Entry {
    content: String,
    digest: Option<String>,
}

/// Papers added and removed since the last commit.
#[derive(Default)]
pub(crate) struct Pending {
    papers: BTreeMap<PaperId, Entry>,
    digests: BTreeMap<String, PaperId>,
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
        let entry = Entry { content: prepared.content.clone(), digest: prepared.digest.clone() };
        self.papers.insert(id, entry);
    }

    /// Forgets a paper; whether it was pending.
    pub(crate) fn remove(&mut self, id: &PaperId) -> bool {
        self.removed.insert(id.clone());
        let Some(Entry { content: _, digest }) = self.papers.remove(id) else { return false };
        if let Some(digest) = digest
            && self.digests.get(&digest) == Some(id)
        {
            self.digests.remove(&digest);
        }
        true
    }

    /// The content key under which `id` is pending.
    pub(crate) fn content(&self, id: &PaperId) -> Option<&str> {
        self.papers.get(id).map(|entry| entry.content.as_str())
    }

    /// The pending paper with this text.
    pub(crate) fn with_digest(&self, digest: &str) -> Option<&PaperId> {
        self.digests.get(digest)
    }

    /// Whether what is committed of `id` still counts.
    pub(crate) fn leaves(&self, id: &PaperId) -> bool {
        !self.removed.contains(id)
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }
}
