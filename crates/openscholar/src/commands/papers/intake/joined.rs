//! One paper in several files is taken once, from the file that tells most of it.

use std::collections::HashMap;
use std::path::PathBuf;

use scholar_core::NoticeKind;
use scholar_pipeline::retrieve::sources::{KnownPapers, merge_meta};

use super::{Item, Taken};

/// Keeps of each paper the best text, structured before plain before pages; what the others know of it joins it.
pub(super) fn join(taken: &mut Taken) {
    let mut items = std::mem::take(&mut taken.items);
    // A stable sort: of equals the first named stays.
    items.sort_by_key(|item| item.standing);
    let mut kept: Vec<Item> = Vec::new();
    let mut papers = KnownPapers::default();
    // `paper.xml` beside `paper.pdf`.
    let mut stems: HashMap<PathBuf, usize> = HashMap::new();
    for item in items {
        let stem = item.path.as_ref().map(|path| path.with_extension(""));
        let beside = stem.as_ref().and_then(|stem| stems.get(stem).copied());
        let meta_at = |place: usize| kept.get(place).map(|known| &known.paper.meta);
        let same = papers.places(&item.paper.meta, meta_at).into_iter().chain(beside).min();
        let Some(place) = same else {
            papers.add(&item.paper.meta, kept.len());
            stems.extend(stem.map(|stem| (stem, kept.len())));
            kept.push(item);
            continue;
        };
        let known = &mut kept[place];
        let message = format!(
            "skipped {}: {} ({}) has the same paper",
            item.origin, known.origin, known.format
        );
        merge_meta(&mut known.paper.meta, item.paper.meta);
        if known.paper.sections.is_empty() {
            known.paper.sections = item.paper.sections;
        }
        papers.add(&known.paper.meta, place);
        taken.note(NoticeKind::Skipped, message, None);
    }
    taken.items = kept;
}
