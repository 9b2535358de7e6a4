//! Why a passage has its score: the arithmetic of the search as a tree.

use scholar_core::{Explanation, SearchMode};

use super::fusion::{Candidate, Fusion, Spread, rank};

/// One list as the fusion sees it.
pub(crate) struct Side<'a> {
    pub(crate) is_dense: bool,
    /// Whether the first results moved the query's vector.
    pub(crate) is_moved: bool,
    pub(crate) spread: Spread,
    /// Scores of the list, descending.
    pub(crate) sorted: &'a [f32],
}

impl Side<'_> {
    fn name(&self) -> &'static str {
        if self.is_dense { "dense" } else { "lexical" }
    }

    fn raw(&self, candidate: &Candidate) -> f32 {
        if self.is_dense { candidate.dense } else { candidate.lexical }
    }

    /// Place in this list, from 1; `None` below its end.
    fn rank(&self, candidate: &Candidate) -> Option<usize> {
        let raw = self.raw(candidate);
        let place = rank(self.sorted, raw);
        // A lexical score of 0 is no match, whatever the list's length.
        (place <= self.sorted.len() && (self.is_dense || raw > 0.0)).then_some(place)
    }

    /// What this side adds to the fused score.
    pub(crate) fn contribution(&self, fusion: Fusion, candidate: &Candidate) -> f32 {
        match fusion {
            Fusion::ZScores { .. } => {
                self.weight(fusion) * self.spread.standardise(self.raw(candidate))
            }
            Fusion::ReciprocalRank { k, .. } => self
                .rank(candidate)
                .map_or(0.0, |place| self.weight(fusion) / (k + rank_value(place))),
        }
    }

    fn weight(&self, fusion: Fusion) -> f32 {
        match (fusion, self.is_dense) {
            (
                Fusion::ZScores { dense_weight, .. } | Fusion::ReciprocalRank { dense_weight, .. },
                true,
            ) => dense_weight,
            (Fusion::ZScores { dense_weight, .. }, false) => 1.0 - dense_weight,
            (Fusion::ReciprocalRank { lexical_weight, .. }, false) => lexical_weight,
        }
    }

    /// `raw score, rank` as a leaf that the terms hang on.
    fn explain_raw(&self, candidate: &Candidate, terms: Vec<Explanation>) -> Explanation {
        let place = match self.rank(candidate) {
            Some(place) => format!("rank {place}"),
            None => format!("not among the first {}", self.sorted.len()),
        };
        let what = match (self.is_dense, self.is_moved) {
            (true, true) => {
                "inner product of passage vector and query vector moved by first results"
            }
            (true, false) => "inner product of query and passage vectors",
            (false, _) => "BM25 of title and text",
        };
        let leaf =
            Explanation::new(self.raw(candidate), format!("{what}, {} {place}", self.name()));
        if self.is_dense { leaf } else { terms.into_iter().fold(leaf, Explanation::with) }
    }

    fn explain(
        &self,
        fusion: Fusion,
        candidate: &Candidate,
        terms: Vec<Explanation>,
    ) -> Explanation {
        // `1 - 0.6` is 0.39999998.
        let weight = (self.weight(fusion) * 100.0).round() / 100.0;
        let reason = match fusion {
            Fusion::ZScores { .. } => format!(
                "{}: {weight} x (score - mean {:.4}) / deviation {:.4}",
                self.name(),
                self.spread.mean,
                self.spread.deviation
            ),
            Fusion::ReciprocalRank { k, .. } => {
                format!("{}: {weight} / ({k} + rank), 0 outside the list", self.name())
            }
        };
        Explanation::new(self.contribution(fusion, candidate), reason)
            .with(self.explain_raw(candidate, terms))
    }
}

pub(crate) fn explain_hit(
    mode: SearchMode,
    fusion: Fusion,
    sides: &[Side<'_>],
    candidate: &Candidate,
    terms: Vec<Explanation>,
) -> Explanation {
    if mode != SearchMode::Hybrid {
        return sides.first().map_or_else(
            || Explanation::new(candidate.score, "no index was asked"),
            |side| side.explain_raw(candidate, terms),
        );
    }
    let reason = match fusion {
        Fusion::ZScores { .. } => "weighted sum of z-scores",
        Fusion::ReciprocalRank { .. } => "sum of weighted reciprocal ranks",
    };
    let mut terms = Some(terms);
    sides.iter().fold(Explanation::new(candidate.score, reason), |tree, side| {
        let own = if side.is_dense { Vec::new() } else { terms.take().unwrap_or_default() };
        tree.with(side.explain(fusion, candidate, own))
    })
}

#[expect(clippy::cast_precision_loss, reason = "ranks are far below 2^24")]
fn rank_value(place: usize) -> f32 {
    place as f32
}
