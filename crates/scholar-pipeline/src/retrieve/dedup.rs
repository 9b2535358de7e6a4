//! One candidate per passage of a paper.

use std::collections::HashMap;

use scholar_core::Retrieved;
use scholar_core::text::normalise::{match_key, title_key};

use super::Candidate;
use crate::config::DedupRule;

/// Characters of the folded text that make two passages of a paper one. Source: ours.
const KEY_CHARS: usize = 200;
/// Characters of the text that make two passages of a title one upstream.
const UPSTREAM_KEY_CHARS: usize = 100;
/// The constant of reciprocal rank fusion. Source: Cormack, Clarke and Büttcher 2009.
const RRF_K: f32 = 60.0;

/// The lists one after another, each passage once, at its first position.
///
/// Deviation D2: by [`DedupRule::Richest`] the record that knows more of abstract, citations, year, venue and address
/// stays, the earlier one of equals; by [`DedupRule::Upstream`] the last one does.
pub(crate) fn dedup(lists: Vec<Vec<Retrieved>>, rule: DedupRule) -> Vec<Candidate> {
    let mut pool: Vec<Candidate> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for list in lists {
        for (rank, retrieved) in list.into_iter().enumerate() {
            let fused = reciprocal(rank);
            if retrieved.passage.text.trim().is_empty() {
                continue;
            }
            match places.get(&key(&retrieved, rule)) {
                None => {
                    places.insert(key(&retrieved, rule), pool.len());
                    pool.push(Candidate { retrieved, fused });
                }
                Some(&place) => {
                    let kept = &mut pool[place];
                    kept.fused += fused;
                    let replace = match rule {
                        DedupRule::Richest => richness(&retrieved) > richness(&kept.retrieved),
                        DedupRule::Upstream => true,
                    };
                    if replace {
                        kept.retrieved = retrieved;
                    }
                }
            }
        }
    }
    pool
}

#[expect(clippy::cast_precision_loss, reason = "ranks stay far below 2^24")]
fn reciprocal(rank: usize) -> f32 {
    1.0 / (RRF_K + 1.0 + rank as f32)
}

fn key(retrieved: &Retrieved, rule: DedupRule) -> String {
    let passage = &retrieved.passage;
    match rule {
        DedupRule::Upstream => {
            let head: String = passage.text.chars().take(UPSTREAM_KEY_CHARS).collect();
            format!("{head}{}", passage.title)
        }
        DedupRule::Richest => {
            let head: String = match_key(&passage.text).chars().take(KEY_CHARS).collect();
            let title = title_key(&passage.title);
            if title.is_empty() {
                format!("{head}\u{0}{}", retrieved.paper.id)
            } else {
                format!("{head}\u{0}{title}")
            }
        }
    }
}

fn richness(retrieved: &Retrieved) -> usize {
    let paper = &retrieved.paper;
    [
        paper.citation_count.is_some(),
        paper.year.is_some(),
        paper.venue.is_some(),
        paper.link().is_some(),
        !paper.authors.is_empty(),
    ]
    .into_iter()
    .filter(|known| *known)
    .count()
}
