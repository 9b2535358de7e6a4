//! One hit per passage of a paper.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use scholar_core::Retrieved;
use scholar_core::text::normalise::{match_key, title_key};

use crate::config::DedupRule;
use crate::retrieve::fuse;

/// Characters of the folded text that make two passages of a paper one. Source: ours.
const KEY_CHARS: usize = 200;
/// Characters of the text that make two passages of a title one upstream.
const UPSTREAM_KEY_CHARS: usize = 100;

/// The lists of several searches one after another, each passage once, at its first position. Scores of more than one search
/// are put on one scale and added ([`fuse`]); those of one search stay.
///
/// Deviation D2: by [`DedupRule::Richest`] the record that knows more of abstract, citations, year, venue and address
/// stays, the earlier one of equals; by [`DedupRule::Upstream`] the last one does.
pub fn dedup(mut lists: Vec<Vec<Retrieved>>, rule: DedupRule) -> Vec<Retrieved> {
    if lists.len() > 1 {
        lists.iter_mut().for_each(|list| fuse::standardise(list));
    }
    let mut pool: Vec<Retrieved> = Vec::new();
    // Where a passage stands in the pool, and the last search that found it.
    let mut places: HashMap<String, Place> = HashMap::new();
    for (search, list) in lists.into_iter().enumerate() {
        for mut retrieved in list {
            if retrieved.passage.text.trim().is_empty() {
                continue;
            }
            match places.entry(key(&retrieved, rule)) {
                Entry::Vacant(place) => {
                    place.insert(Place { at: pool.len(), search });
                    pool.push(retrieved);
                }
                Entry::Occupied(mut place) => {
                    let Place { at, search: before } = *place.get();
                    let kept = &mut pool[at];
                    let replace = match rule {
                        DedupRule::Richest => richness(&retrieved) > richness(kept),
                        DedupRule::Upstream => true,
                    };
                    if replace {
                        std::mem::swap(kept, &mut retrieved);
                    }
                    if before != search {
                        fuse::add(kept, &retrieved);
                        place.get_mut().search = search;
                    }
                }
            }
        }
    }
    pool
}

struct Place {
    at: usize,
    search: usize,
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
