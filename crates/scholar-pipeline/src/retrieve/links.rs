//! Hits and their neighbours in the citation graph as one list.
//!
//! A neighbour that several of the best hits cite, or that cites several, belongs to the subject more surely than its words
//! can tell; so does a hit that other hits are linked to. Steps:
//!
//! 1. Each link of one of the first [`LinkRule::seeds`] hits counts for the paper at its other end ([`LinkCount`]).
//! 2. Papers with links are ranked by that count, ties by their place among the hits, then as the graph lists them.
//! 3. Both rankings are fused: `1 / (60 + place among the hits) + weight / (60 + place by links)`.
//!
//! Lists in, list out; linear in the links, but for sorting. `openscholar bench expansion` measures it.
//!
//! Source: reciprocal rank fusion as in Cormack, Clarke and Büttcher 2009; counting links to the best hits is ours.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use scholar_core::{LinkDirection, Neighbour, PaperId, PaperMeta};
use serde::{Deserialize, Serialize};

/// The constant of reciprocal rank fusion.
const RRF_K: f32 = 60.0;

/// What a link of a hit counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LinkCount {
    /// One.
    Each,
    /// `1 / log₂(1 + place of the hit)`, from 1: links of the best hits say more.
    Discounted,
    /// `1 / √(links of the hit)` in that direction: links of a survey or a handbook say less.
    Shared,
}

/// How links and search are fused.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct LinkRule {
    /// Hits whose links count, the best.
    pub seeds: usize,
    /// What a link counts.
    pub count: LinkCount,
    /// Weight of the ranking by links beside 1 of the search's. 0 leaves the hits as they are, and neighbours behind them.
    pub weight: f32,
}

/// A link of a hit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// Place of the hit, from 0.
    pub hit: usize,
    /// How the paper at the other end is linked to it.
    pub direction: LinkDirection,
    /// The paper at the other end.
    pub paper: PaperId,
}

/// A paper of the fused list.
#[derive(Debug, Clone, PartialEq)]
pub struct Fused {
    /// Identifier as in the hits, of a neighbour as in the links.
    pub paper: PaperId,
    /// What it is ranked by.
    pub score: f32,
    /// Place among the hits, from 0.
    pub hit: Option<usize>,
    /// Place by links, from 0.
    pub by_links: Option<usize>,
    /// Links to the seeds.
    pub links: usize,
}

impl Fused {
    /// Why it has its score, for people.
    pub fn reason(&self) -> String {
        let links = match self.links {
            0 => "no link to the best hits".to_owned(),
            1 => "1 link to the best hits".to_owned(),
            n => format!("{n} links to the best hits"),
        };
        match self.hit {
            Some(place) => format!("place {} of the search, {links}", place + 1),
            None => format!("not found by the search, {links}"),
        }
    }
}

/// The links of `neighbours` to `hits`, of which the first passage of each paper counts as its place.
pub fn links(hits: &[&PaperMeta], neighbours: &[Neighbour]) -> Vec<Link> {
    let places = places_of(hits.iter().copied());
    let own: BTreeMap<&PaperId, &PaperId> =
        hits.iter().flat_map(|meta| meta.ids().map(|id| (id, &meta.id))).collect();
    let link = |one: &Neighbour| {
        let hit = *places.get(&one.of)?;
        // The graph may file a hit under another of its names.
        let id = one.found.paper.ids().find_map(|id| own.get(id).copied());
        let paper = id.unwrap_or(&one.found.paper.id).clone();
        Some(Link { hit, direction: one.direction, paper })
    };
    neighbours.iter().filter_map(link).collect()
}

/// The place of the first hit that has each identifier.
fn places_of<'a>(hits: impl Iterator<Item = &'a PaperMeta>) -> BTreeMap<&'a PaperId, usize> {
    let mut places = BTreeMap::new();
    for (place, meta) in hits.enumerate() {
        for id in meta.ids() {
            places.entry(id).or_insert(place);
        }
    }
    places
}

/// `hits`, best first, each paper once, and the papers that `links` lead to, as one list, best first.
///
/// Ties are broken by the place among the hits, then by the first link. A link of a paper to itself does not count.
pub fn fuse(hits: &[PaperId], links: &[Link], rule: LinkRule) -> Vec<Fused> {
    let LinkRule { seeds, count, weight } = rule;
    let counted = || links.iter().filter(|link| link.hit < seeds.min(hits.len()));
    let mut of_hit: BTreeMap<(usize, LinkDirection), usize> = BTreeMap::new();
    for link in counted() {
        *of_hit.entry((link.hit, link.direction)).or_default() += 1;
    }
    let place: BTreeMap<&PaperId, usize> =
        hits.iter().enumerate().rev().map(|(at, id)| (id, at)).collect();
    // Of each linked paper: its weight, its links, its first link.
    let mut linked: BTreeMap<&PaperId, (f32, usize, usize)> = BTreeMap::new();
    for (nth, link) in counted().enumerate() {
        if hits[link.hit] == link.paper {
            continue;
        }
        let value = match count {
            LinkCount::Each => 1.0,
            LinkCount::Discounted => 1.0 / float(link.hit + 2).log2(),
            LinkCount::Shared => {
                let links = of_hit.get(&(link.hit, link.direction)).copied().unwrap_or(1);
                1.0 / float(links).sqrt()
            }
        };
        let entry = linked.entry(&link.paper).or_insert((0.0, 0, nth));
        entry.0 += value;
        entry.1 += 1;
    }
    let mut ranked: Vec<(&PaperId, (f32, usize, usize))> = linked.into_iter().collect();
    ranked.sort_by(|(a, (value_a, _, first_a)), (b, (value_b, _, first_b))| {
        let at = |id| place.get(id).copied().unwrap_or(usize::MAX);
        value_b.total_cmp(value_a).then((at(*a), first_a).cmp(&(at(*b), first_b)))
    });
    let mut fused: Vec<Fused> = hits
        .iter()
        .enumerate()
        .filter(|(at, id)| place.get(id) == Some(at))
        .map(|(at, paper)| Fused {
            paper: paper.clone(),
            score: reciprocal(at),
            hit: Some(at),
            by_links: None,
            links: 0,
        })
        .collect();
    let in_fused: BTreeMap<PaperId, usize> =
        fused.iter().enumerate().map(|(at, one)| (one.paper.clone(), at)).collect();
    for (at, (id, (_, n, _))) in ranked.into_iter().enumerate() {
        let score = weight * reciprocal(at);
        match in_fused.get(id).and_then(|known| fused.get_mut(*known)) {
            Some(one) => {
                one.score += score;
                one.by_links = Some(at);
                one.links = n;
            }
            None => fused.push(Fused {
                paper: id.clone(),
                score,
                hit: None,
                by_links: Some(at),
                links: n,
            }),
        }
    }
    // Sorting is stable: hits stand before neighbours, each in their order.
    fused.sort_by_key(|one| Reverse(Ordered(one.score)));
    fused
}

/// A score in total order.
#[derive(PartialEq)]
struct Ordered(f32);

impl Eq for Ordered {}

impl PartialOrd for Ordered {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Ordered {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

/// Of a place from 0.
fn reciprocal(place: usize) -> f32 {
    1.0 / (RRF_K + float(place + 1))
}

#[expect(clippy::cast_precision_loss, reason = "places and links stay far below 2^24")]
fn float(n: usize) -> f32 {
    n as f32
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::retrieve::testing::retrieved;

    fn id(n: u64) -> PaperId {
        PaperId::Pmid(n)
    }

    fn link(hit: usize, paper: u64) -> Link {
        Link { hit, direction: LinkDirection::References, paper: id(paper) }
    }

    fn order(fused: &[Fused]) -> Vec<u64> {
        let number = |one: &Fused| match one.paper {
            PaperId::Pmid(n) => n,
            _ => 0,
        };
        fused.iter().map(number).collect()
    }

    const RULE: LinkRule = LinkRule { seeds: 2, count: LinkCount::Each, weight: 1.0 };

    #[test]
    fn what_several_hits_are_linked_to_comes_before_what_one_is() {
        let hits = [id(1), id(2), id(3)];
        let links = [link(0, 7), link(0, 8), link(1, 8), link(2, 9), link(0, 3)];
        let fused = fuse(&hits, &links, RULE);
        // 3 is third and linked (second by links); 8 has two links; 9 hangs on a hit that is no seed.
        assert_eq!(order(&fused), [3, 1, 8, 2, 7]);
        assert_eq!((fused[0].hit, fused[0].by_links, fused[0].links), (Some(2), Some(1), 1));
        assert!((fused[0].score - (1.0 / 63.0 + 1.0 / 62.0)).abs() < 1e-7);
        assert_eq!(fused[2].reason(), "not found by the search, 2 links to the best hits");
        assert_eq!(fused[0].reason(), "place 3 of the search, 1 link to the best hits");
        assert_eq!(fused[1].reason(), "place 1 of the search, no link to the best hits");
    }

    #[test]
    fn without_weight_or_links_the_hits_stay_as_they_are() {
        let hits = [id(5), id(4), id(5), id(3)];
        assert_eq!(order(&fuse(&hits, &[], RULE)), [5, 4, 3], "each once, at its first place");
        let none = LinkRule { weight: 0.0, ..RULE };
        assert_eq!(order(&fuse(&hits, &[link(0, 3), link(1, 9)], none)), [5, 4, 3, 9]);
        assert!(fuse(&[], &[link(0, 3)], RULE).is_empty());
        let itself = fuse(&hits, &[link(0, 5)], RULE);
        assert_eq!(itself[0].links, 0, "a paper that cites itself");
    }

    #[test]
    fn links_of_the_best_hit_and_of_short_lists_can_count_more() {
        let hits = [id(1), id(2), id(3)];
        let links = [link(1, 7), link(1, 9), link(1, 10), link(0, 8), link(0, 9)];
        let by = |count| {
            let fused = fuse(&hits, &links, LinkRule { count, ..RULE });
            order(&fused).into_iter().filter(|n| *n > 3).collect::<Vec<u64>>()
        };
        assert_eq!(by(LinkCount::Each), [9, 7, 10, 8], "ties as the graph lists them");
        assert_eq!(by(LinkCount::Discounted), [9, 8, 7, 10]);
        assert_eq!(by(LinkCount::Shared), [9, 8, 7, 10]);
    }

    #[test]
    fn neighbours_are_links_of_the_hits_under_any_name() {
        let mut hit = retrieved("text", "One", "one");
        let mut meta = PaperMeta::clone(&hit.paper);
        meta.external_ids.push(id(1));
        hit.paper = Arc::new(meta.clone());
        let other = PaperMeta::new(id(2), "Two");
        let neighbour = |of: PaperId, found| Neighbour {
            of,
            direction: LinkDirection::Citations,
            found,
            influential: None,
        };
        let mut renamed = retrieved("text", "One", "unused");
        renamed.paper = Arc::new(PaperMeta::new(id(1), "One"));
        let all = [
            neighbour(id(1), retrieved("text", "Three", "three")),
            neighbour(id(2), renamed),
            neighbour(id(77), retrieved("text", "Four", "four")),
        ];
        let found = links(&[&meta, &meta, &other], &all);
        let direction = LinkDirection::Citations;
        let three = PaperId::Local("three".to_owned());
        assert_eq!(
            found,
            [
                Link { hit: 0, direction, paper: three },
                Link { hit: 2, direction, paper: meta.id.clone() },
            ]
        );
    }
}
