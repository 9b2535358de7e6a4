//! What speaks for a criterion being met by a paper.

use std::collections::BTreeSet;

use scholar_core::text::words::content_stems;
use serde::{Deserialize, Serialize};

use crate::proof::stems::science_idf;

/// What speaks for a criterion being met.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CriterionSigns {
    /// Cosine of the criterion and title with abstract.
    pub paper_similarity: f32,
    /// Highest cosine of the criterion and one sentence.
    pub sentence_similarity: f32,
    /// Probability, by the attributor, that title and best sentences support the criterion as a statement.
    pub support: f32,
    /// Share of the criterion's weight in rare words that title and passages have, in `[0, 1]`.
    pub coverage: f32,
    /// What the paper's design says: 1, 0 or −1 ([`super::DesignSign`]).
    pub design: f32,
}

/// Stems of words that criteria use of any paper: they tell no paper from another.
const FRAME_STEMS: [&str; 12] = [
    "articl", "assess", "contain", "data", "explicit", "identifi", "includ", "involv", "original", "provid",
    "report", "research",
];

/// The content stems of a text with their weights: how rare each is in the literature.
#[derive(Debug, Clone)]
pub(crate) struct WeightedStems(Vec<(String, f32)>);

impl WeightedStems {
    /// Of a criterion or a question; each stem once.
    pub(crate) fn of(text: &str) -> Self {
        let mut distinct: BTreeSet<String> = content_stems(text).into_iter().collect();
        distinct.retain(|stem| !FRAME_STEMS.contains(&stem.as_str()));
        let idf = science_idf();
        Self(
            distinct
                .into_iter()
                .map(|stem| {
                    let weight = idf.weight(&stem);
                    (stem, weight)
                })
                .collect(),
        )
    }

    /// Share of the weight that `stems` has, in `[0, 1]`; 0 where there is none.
    pub(crate) fn share_in(&self, stems: &BTreeSet<String>) -> f32 {
        let all: f32 = self.0.iter().map(|(_, weight)| weight).sum();
        let found = self.0.iter().filter(|(stem, _)| stems.contains(stem));
        let found: f32 = found.map(|(_, weight)| weight).sum();
        if all > 0.0 { found / all } else { 0.0 }
    }
}

/// The distinct content stems of `text`.
pub(crate) fn stem_set(text: &str) -> BTreeSet<String> {
    content_stems(text).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rare_words_count_more() {
        let criterion = WeightedStems::of("Reports emicizumab clearance in patients");
        let share = |text: &str| criterion.share_in(&stem_set(text));
        assert!(share("Emicizumab was given.") > share("Patients came."));
        assert!((share("emicizumab clearance patients") - 1.0).abs() < 1e-6);
        assert!(share("").abs() < 1e-6 && WeightedStems::of("").share_in(&stem_set("x")) < 1e-6);
    }
}
