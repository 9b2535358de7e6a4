//! Papers that are like a paper by what they cite and by who cites them.
//!
//! * Bibliographic coupling: two papers cite the same papers; `shared / √(references of the one · of the other)`.
//! * Co-citation: two papers are cited by the same papers; `together / √(citers of the one · of the other)`.
//!
//! Both lie between 0 and 1; the score is their sum.
//!
//! Source: Kessler 1963; Small 1973; the normalisation is the cosine of the two sets (Salton).

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use scholar_core::{Explanation, PaperId};
use serde::Serialize;
use tantivy::DocAddress;

use super::{Graph, Place};
use crate::error::Error;

/// Longest list of citers that is read.
///
/// A reference with more says little about who cites it, so it does not count for coupling; of the citers of the paper itself, this many are taken, evenly spaced over the store.
pub const RELATED_LIST: usize = 20_000;
/// Co-cited papers kept by their bare count for each one asked for: the normalisation can only move so many up.
const POOL: usize = 50;

/// A paper like another.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Related {
    /// Identifier that the datastore files it under.
    pub id: PaperId,
    /// Bibliographic coupling plus co-citation, each normalised; higher is closer.
    pub score: f32,
    /// How many references and citers they share.
    pub explanation: Explanation,
}

/// What is like a paper, best first.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Relatives {
    /// Ties in ascending order of identifiers.
    pub related: Vec<Related>,
    /// References left out of coupling because too many papers cite them.
    pub common_references: usize,
    /// Whether only a part of the paper's citers was read.
    pub citers_sampled: bool,
}

/// Shared neighbours of two papers and the size of the other's list.
#[derive(Debug, Clone, Copy, Default)]
struct Overlap {
    shared: usize,
    other: usize,
}

impl Overlap {
    /// Cosine of the two sets.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        reason = "lists are far shorter than 2^52; a score has 24 bits"
    )]
    fn cosine(self, own: usize) -> f32 {
        if self.shared == 0 {
            return 0.0;
        }
        // The other's list may count an alias twice or miss a deletion; a cosine stays at most 1.
        (self.shared as f64 / (own as f64 * self.other.max(self.shared) as f64).sqrt()).min(1.0)
            as f32
    }
}

impl Graph<'_> {
    /// The `limit` stored papers most like `id`. Empty when nothing is shared with any.
    ///
    /// # Errors
    /// As [`Graph::references`].
    pub fn related(&self, id: &PaperId, limit: usize) -> Result<Relatives, Error> {
        self.store.reading(|| self.relatives(id, limit))
    }

    fn relatives(&self, id: &PaperId, limit: usize) -> Result<Relatives, Error> {
        let place = self.place(id)?;
        let references = match place.address {
            Some(address) => self.references_at(address)?,
            None => Vec::new(),
        };
        let (coupled, common_references) = self.coupled(&place, &references)?;
        let citers = self.citing(&place.names)?;
        let (sample, citers_sampled) = evenly(&citers, RELATED_LIST);
        let co_cited = self.co_cited(&place, &sample, limit)?;
        let mut both: BTreeMap<DocAddress, (Overlap, Overlap)> = BTreeMap::new();
        for (address, overlap) in coupled {
            both.entry(address).or_default().0 = overlap;
        }
        for (address, overlap) in co_cited {
            both.entry(address).or_default().1 = overlap;
        }
        let (own_references, own_citers) = (references.len(), sample.len());
        let mut scored: Vec<(f32, DocAddress, (Overlap, Overlap))> = both
            .into_iter()
            .map(|(address, overlaps)| {
                let (coupling, together) = overlaps;
                let score = coupling.cosine(own_references) + together.cosine(own_citers);
                (score, address, overlaps)
            })
            .collect();
        scored.sort_by(|a, b| b.0.total_cmp(&a.0));
        // Ties are broken by identifiers, so all that tie with the last one are named.
        if let Some(bar) = limit.checked_sub(1).and_then(|last| scored.get(last)).map(|s| s.0) {
            scored.retain(|(score, ..)| *score >= bar);
        }
        let mut related = scored
            .into_iter()
            .map(|(score, address, (coupling, together))| {
                let explanation = Explanation::new(score, "coupling plus co-citation")
                    .with(Explanation::new(
                        coupling.cosine(own_references),
                        format!(
                            "coupling: {} of {own_references} and {} references shared",
                            coupling.shared, coupling.other
                        ),
                    ))
                    .with(Explanation::new(
                        together.cosine(own_citers),
                        format!(
                            "co-citation: {} of {own_citers} and {} citers shared",
                            together.shared, together.other
                        ),
                    ));
                Ok(Related { id: self.paper_at(address)?, score, explanation })
            })
            .collect::<Result<Vec<_>, Error>>()?;
        related.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.id.cmp(&b.id)));
        related.truncate(limit);
        Ok(Relatives { related, common_references, citers_sampled })
    }

    /// Papers that cite what `place` cites, and how many of `references` were too common to count.
    fn coupled(
        &self,
        place: &Place,
        references: &[(super::Linked, Option<DocAddress>)],
    ) -> Result<(BTreeMap<DocAddress, Overlap>, usize), Error> {
        let mut shared: BTreeMap<DocAddress, Overlap> = BTreeMap::new();
        let mut common = 0;
        for (linked, address) in references {
            let names = match address {
                Some(address) => self.place_at(*address)?.names,
                None => BTreeSet::from([linked.id.to_string()]),
            };
            let citers = self.citing(&names)?;
            if citers.len() > RELATED_LIST {
                common += 1;
                continue;
            }
            for citer in citers {
                shared.entry(citer).or_default().shared += 1;
            }
        }
        if let Some(own) = place.address {
            shared.remove(&own);
        }
        for (address, overlap) in &mut shared {
            overlap.other = self.n_references(*address);
        }
        Ok((shared, common))
    }

    /// Stored papers that `citers` cite beside `place`.
    fn co_cited(
        &self,
        place: &Place,
        citers: &[DocAddress],
        limit: usize,
    ) -> Result<BTreeMap<DocAddress, Overlap>, Error> {
        let mut names: BTreeMap<String, usize> = BTreeMap::new();
        for of_segment in citers.chunk_by(|a, b| a.segment_ord == b.segment_ord) {
            let Some(column) =
                of_segment.first().and_then(|a| self.columns[a.segment_ord as usize].1.as_ref())
            else {
                continue;
            };
            let mut ords: BTreeMap<u64, usize> = BTreeMap::new();
            for citer in of_segment {
                for ord in column.term_ords(citer.doc_id) {
                    *ords.entry(ord).or_default() += 1;
                }
            }
            // In ascending order the dictionary is read once from front to back.
            let sorted: Vec<u64> = ords.keys().copied().collect();
            let mut counts = ords.values();
            column
                .dictionary()
                .sorted_ords_to_term_cb(&sorted, |name| {
                    let name = String::from_utf8_lossy(name).into_owned();
                    *names.entry(name).or_default() += counts.next().copied().unwrap_or_default();
                })
                .map_err(Error::io("read", self.store.root()))?;
        }
        let mut ranked: Vec<(usize, String)> = names
            .into_iter()
            .filter(|(name, _)| !place.names.contains(name))
            .map(|(name, count)| (count, name))
            .collect();
        ranked.sort_by(|a, b| (Reverse(a.0), &a.1).cmp(&(Reverse(b.0), &b.1)));
        let mut found: BTreeMap<DocAddress, Overlap> = BTreeMap::new();
        for (count, name) in ranked {
            if found.len() >= limit.saturating_mul(POOL) {
                break;
            }
            if let Some(address) = self.resolve(&name)? {
                found.entry(address).or_default().shared += count;
            }
        }
        for (address, overlap) in &mut found {
            overlap.other = self.citing(&self.place_at(*address)?.names)?.len();
        }
        Ok(found)
    }
}

/// At most `most` of `all`, evenly spaced, and whether some were left out.
fn evenly(all: &[DocAddress], most: usize) -> (Vec<DocAddress>, bool) {
    if all.len() <= most {
        return (all.to_vec(), false);
    }
    ((0..most).map(|at| all[at * all.len() / most]).collect(), true)
}
