//! One paper in several files is taken once, from the file that tells most of it.

use std::path::PathBuf;

use scholar_core::NoticeKind;
use scholar_pipeline::sources::{is_same_paper, merge_meta};

use super::{Item, Taken};

/// Keeps of each paper the best text, structured before plain before pages; what the others know of it joins it.
pub(super) fn join(taken: &mut Taken) {
    let mut items = std::mem::take(&mut taken.items);
    // A stable sort: of equals the first named stays.
    items.sort_by_key(|item| item.standing);
    let mut kept: Vec<Item> = Vec::new();
    for item in items {
        let same = kept.iter_mut().find(|known| {
            is_same_paper(&known.paper.meta, &item.paper.meta) || beside(known, &item)
        });
        match same {
            Some(known) => {
                let message = format!(
                    "{} was left out: {} ({}) has the same paper",
                    item.origin, known.origin, known.format
                );
                merge_meta(&mut known.paper.meta, item.paper.meta);
                if known.paper.sections.is_empty() {
                    known.paper.sections = item.paper.sections;
                }
                taken.note(NoticeKind::Skipped, message, None);
            }
            None => kept.push(item),
        }
    }
    taken.items = kept;
}

/// `paper.xml` beside `paper.pdf`.
fn beside(a: &Item, b: &Item) -> bool {
    let stem = |item: &Item| -> Option<PathBuf> { Some(item.path.as_ref()?.with_extension("")) };
    stem(a).is_some() && stem(a) == stem(b)
}
