//! Which papers of a datastore are screened, and what became of the others.

use std::collections::{BTreeMap, BTreeSet};

use scholar_core::{PaperId, PaperMeta, RecordSource, SearchFilter};
use scholar_datastore::Datastore;
use scholar_pipeline::screen::{Duplicate, FlowCounts, Identity, duplicates};

use super::read_paper;
use crate::error::CommandError;

/// A paper to be screened, without its passages.
pub(super) struct Candidate {
    pub(super) meta: PaperMeta,
    /// Title and abstract.
    pub(super) head: String,
    /// [`scholar_pipeline::screen::ScreenPaper::digest`].
    pub(super) text_digest: String,
    pub(super) has_text: bool,
}

/// The papers that are screened, in the order of storing.
pub(super) struct Selected {
    pub(super) candidates: Vec<Candidate>,
    pub(super) duplicates: Vec<Duplicate>,
    /// With the numbers before screening.
    pub(super) counts: FlowCounts,
}

/// The papers of `store` among `ids` (all, if empty) that `filter` accepts and that are no duplicate of an earlier one.
pub(super) fn select(
    store: &Datastore,
    ids: &[PaperId],
    filter: &SearchFilter,
) -> Result<Selected, CommandError> {
    let wanted: BTreeSet<&PaperId> = ids.iter().collect();
    let mut found: BTreeSet<PaperId> = BTreeSet::new();
    let (mut metas, mut all) = (Vec::new(), 0);
    store.each_paper(|meta| {
        all += 1;
        let named: Vec<&PaperId> = meta.ids().filter(|id| wanted.contains(id)).collect();
        let is_wanted = wanted.is_empty() || !named.is_empty();
        found.extend(named.into_iter().cloned());
        if is_wanted && filter.accepts(&meta) {
            metas.push(meta);
        }
        Ok(())
    })?;
    if let Some(missing) = ids.iter().find(|id| !found.contains(id)) {
        return Err(CommandError::user(format!("the datastore has no paper {missing}"))
            .with_hint("openscholar papers list"));
    }
    let duplicates = duplicates(&metas.iter().map(Identity::of).collect::<Vec<_>>());
    let repeated: BTreeMap<&PaperId, &PaperId> =
        duplicates.iter().map(|one| (&one.paper, &one.of)).collect();
    let filtered_out = all - metas.len();
    let (mut candidates, mut merged) = (Vec::new(), 0);
    for meta in metas {
        if repeated.contains_key(&meta.id) {
            continue;
        }
        merged += merged_records(store, &meta.id)?;
        let Some(paper) = read_paper(store, &meta.id)? else { continue };
        candidates.push(Candidate {
            head: paper.head(),
            text_digest: paper.digest(),
            has_text: paper.has_text(),
            meta,
        });
    }
    let counts = FlowCounts {
        identified: all + merged,
        duplicates_removed: merged + duplicates.len(),
        filtered_out,
        ..FlowCounts::default()
    };
    Ok(Selected { candidates, duplicates, counts })
}

/// How many entries of libraries beyond the first became one paper when they were added.
fn merged_records(store: &Datastore, id: &PaperId) -> Result<usize, CommandError> {
    let records = store.paper(id)?.map(|paper| paper.records).unwrap_or_default();
    let entries =
        records.iter().filter(|record| matches!(record.source, RecordSource::Library { .. }));
    Ok(entries.count().saturating_sub(1))
}
