//! Papers that sources name as neighbours in the citation graph.

use std::sync::Arc;

use scholar_core::text::passages::{PassageRules, cut};
use scholar_core::{Paper, PaperId, PaperMeta, Passage, PassageId, PassageKind};

use super::{KeptPaper, WideRetriever};
use crate::retrieve::sources::reconcile::Provenance;

/// Passages of a stored paper that are looked through for prose: title pages are short.
const LOOKED_THROUGH: u32 = 8;

/// A paper and the passage that speaks for it.
pub(in crate::retrieve::sources) type Spoken = (Arc<PaperMeta>, Passage);

impl WideRetriever {
    /// Every identifier that the run or the store has for the paper `id`, that one first.
    pub(in crate::retrieve::sources) async fn names_of(&self, id: &PaperId) -> Vec<PaperId> {
        let kept = {
            let kept = self.kept.lock();
            let meta = kept.papers.iter().map(|paper| &paper.meta);
            meta.clone().find(|meta| meta.ids().any(|other| other == id)).map(Arc::clone)
        };
        let meta = match kept {
            Some(meta) => Some(meta),
            None => self.stored_prose(id).await.map(|(meta, _)| meta),
        };
        let others = meta.iter().flat_map(|meta| meta.ids()).filter(|other| *other != id);
        [id].into_iter().chain(others).cloned().collect()
    }

    /// Keeps a paper that a source named as a neighbour, and returns its abstract or first prose; `None` without any.
    ///
    /// The store's record or one that was found before goes first: evidence may point into it. The paper is kept for the
    /// run, but searches do not return it, unless they find it by its text: it was not found by words.
    pub(in crate::retrieve::sources) async fn keep_linked(
        &self,
        paper: Paper,
        ways: Vec<Provenance>,
    ) -> Option<Spoken> {
        if let Some(known) = self.known(&paper.meta, &ways) {
            return Some(known);
        }
        for id in paper.meta.ids() {
            if let Some(stored) = self.stored_prose(id).await {
                let names = ways.iter().map(|way| way.source.clone());
                let mut kept = self.kept.lock();
                kept.in_store.entry(stored.0.id.clone()).or_default().extend(names);
                return Some(stored);
            }
        }
        let passages = cut(&paper, PassageRules::sections());
        let speaks = speaking(&passages)?.clone();
        let meta = Arc::new(paper.meta.clone());
        let mut kept = self.kept.lock();
        let place = kept.papers.len();
        kept.known.add(&meta, place);
        let near = Vec::new();
        kept.papers.push(KeptPaper { paper, meta: Arc::clone(&meta), passages, near, found: ways });
        Some((meta, speaks))
    }

    /// The record of the paper that was kept before.
    fn known(&self, meta: &PaperMeta, ways: &[Provenance]) -> Option<Spoken> {
        let mut kept = self.kept.lock();
        let places = kept.known.places(meta, |at| kept.papers.get(at).map(|one| &*one.meta));
        let known = places.first().and_then(|place| kept.papers.get_mut(*place))?;
        let speaks = speaking(&known.passages)?.clone();
        known.found.extend(ways.iter().cloned());
        Some((Arc::clone(&known.meta), speaks))
    }

    /// The first prose of a stored paper.
    async fn stored_prose(&self, id: &PaperId) -> Option<Spoken> {
        let store = self.store.as_ref()?;
        for ordinal in 0..LOOKED_THROUGH {
            // A store that cannot be read says so where it is searched.
            let found = store.passage(&PassageId { paper: id.clone(), ordinal }).await.ok()??;
            if found.0.kind.is_prose() {
                return Some((Arc::new(found.1), found.0));
            }
        }
        None
    }
}

/// The abstract, else the first prose.
fn speaking(passages: &[Passage]) -> Option<&Passage> {
    let abstracts = passages.iter().find(|passage| passage.kind == PassageKind::Abstract);
    abstracts.or_else(|| passages.iter().find(|passage| passage.kind.is_prose()))
}
