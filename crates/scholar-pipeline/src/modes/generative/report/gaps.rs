//! A gap is a claim: what is said to be unreported is searched for, among the passages shown and in the datastore.

use scholar_core::text::words::content_stems;
use scholar_core::{Notice, NoticeKind, Query};

use crate::event::Event;
use crate::evidence::{EvidenceNumber, EvidenceRegistry};
use crate::frame::Frame;
use crate::proof::gates::ranked;
use crate::write::roles::subject_of_gap;

/// Gaps searched for in one answer. Ours: an answer with more says little else.
pub(super) const MOST_SEARCHED: usize = 6;
/// Passages searched for a gap. Ours.
const TOP_K: usize = 10;
/// Passages that are read for a gap. Ours.
const MOST_READ: usize = 2;
/// Least share of the subject's content stems that a passage with its title has for being read. Ours: a passage that says
/// what is said to be missing names nearly all of it.
const COVERED: f32 = 0.7;
/// Fewest stems of a subject that can be looked for. Ours.
const FEWEST_STEMS: usize = 2;

/// Shown or stored passages that are about what `gap` says nothing is reported on, best first; the registry numbers them.
pub(super) async fn passages_that_may_report(
    frame: &Frame<'_>,
    registry: &mut EvidenceRegistry,
    gap: &str,
) -> Vec<EvidenceNumber> {
    let subject = subject_of_gap(gap);
    let stems = content_stems(&subject);
    let Some(query) = Query::new(&subject).filter(|_| stems.len() >= FEWEST_STEMS) else {
        return Vec::new();
    };
    let mut found: Vec<(f32, Found)> = Vec::new();
    for shown in registry.items() {
        let retrieved = &shown.ranked.retrieved;
        let share = covered(&stems, &retrieved.passage.title, &retrieved.passage.text);
        found.push((share, Found::Shown(shown.number)));
    }
    let request = frame.config.retrieval.request(&query, TOP_K);
    let source = frame.ports.retriever.name().to_owned();
    match frame.ports.retriever.search(&request).await {
        Ok(hits) => {
            frame.emit(&Event::Searched { query, source, hits: hits.len() });
            for hit in hits.into_iter().filter(|hit| !registry.contains(&hit.passage.id)) {
                let share = covered(&stems, &hit.passage.title, &hit.passage.text);
                found.extend(ranked(hit).map(|one| (share, Found::Stored(Box::new(one)))));
            }
        }
        Err(error) => {
            let message = format!("a gap was not searched for, {source} failed: {error}");
            frame.notice(Notice::new(NoticeKind::SourceDown, message));
        }
    }
    found.retain(|(share, _)| *share >= COVERED);
    found.sort_by(|a, b| b.0.total_cmp(&a.0));
    let read = found.into_iter().take(MOST_READ);
    read.map(|(_, one)| match one {
        Found::Shown(number) => number,
        Found::Stored(ranked) => registry.add(*ranked),
    })
    .collect()
}

enum Found {
    Shown(EvidenceNumber),
    Stored(Box<scholar_core::Ranked>),
}

/// Share of `stems` in title and text.
#[expect(clippy::cast_precision_loss, reason = "a sentence has few stems")]
fn covered(stems: &[String], title: &str, text: &str) -> f32 {
    let own = content_stems(&format!("{title} {text}"));
    stems.iter().filter(|stem| own.contains(stem)).count() as f32 / stems.len() as f32
}
