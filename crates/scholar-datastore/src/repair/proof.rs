//! Whether a paper read from a damaged file is the one that was stored.

use scholar_core::{Paper, PaperId, PaperMeta};

use super::segment::ReadableSegment;
use crate::descriptor::BuildRules;
use crate::schema::Merged;
use crate::writer::prepare::Prepared;

/// Whether the segment lists the digest of everything that is stored of `paper`. Of one that was joined with other records
/// of the same work, that is the digest of the record whose text it has, before it got their identifiers.
pub(super) fn is_as_stored(
    paper: &Paper,
    merged: &Merged,
    part: &ReadableSegment,
    rules: BuildRules,
) -> bool {
    let is_listed = |paper: Paper| {
        Prepared::uncut(paper, rules).is_ok_and(|prepared| {
            let noted = merged.contents.is_empty() || merged.contents.contains(&prepared.content);
            noted && part.has_content(&prepared.content)
        })
    };
    if merged.is_empty() {
        return is_listed(paper.clone());
    }
    // Other identifiers were put behind those it had, and it may have taken the place of another record.
    let external = &paper.meta.external_ids;
    let own = std::iter::once(&paper.meta.id).chain(&merged.ids);
    own.into_iter().any(|id| {
        (0..=external.len()).rev().any(|kept| is_listed(renamed(paper, id, &external[..kept])))
    })
}

fn renamed(paper: &Paper, id: &PaperId, external_ids: &[PaperId]) -> Paper {
    let meta =
        PaperMeta { id: id.clone(), external_ids: external_ids.to_vec(), ..paper.meta.clone() };
    Paper {
        meta,
        sections: paper.sections.clone(),
        references: paper.references.clone(),
        records: paper.records.clone(),
    }
}
