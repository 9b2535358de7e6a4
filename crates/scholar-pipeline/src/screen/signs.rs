//! What speaks for a criterion being met by a paper.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;
use scholar_core::text::words::{content_stems, fold, words};
use serde::{Deserialize, Serialize};

use crate::proof::stems::science_idf;

/// What speaks for a criterion being met.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CriterionSigns {
    /// Highest cosine of the criterion and the title or one sentence.
    pub sentence_similarity: f32,
    /// Probability, by the attributor, that title and best sentences support the criterion as a statement.
    pub support: f32,
    /// Share of the criterion's weight in rare words, names of designs apart, that title and passages have, in `[0, 1]`.
    pub coverage: f32,
    /// What the paper's design says: 1: it is what the criterion names, −1: it is something else, 0: nothing was asked or nothing
    /// is said.
    pub design: f32,
    /// Whether the criterion names hardly anything but designs.
    pub only_design: bool,
}

/// Stems of words that criteria use of any paper: they tell no paper from another.
const FRAME_STEMS: [&str; 15] = [
    "articl", "assess", "calcul", "contain", "data", "explicit", "identifi", "includ", "involv",
    "original", "provid", "relat", "report", "research", "titl",
];

/// A part of a criterion: any of its stems will do.
#[derive(Debug, Clone, PartialEq)]
struct Part {
    stems: Vec<String>,
    weight: f32,
}

/// What a criterion says, in content stems with their weights: how rare each is in the literature.
///
/// A list in parentheses (`etanercept, infliximab or adalimumab`) is one part, of which one member is enough. An abbreviation in
/// parentheses stands for the words before it, and they for it.
#[derive(Debug, Clone)]
pub(crate) struct WeightedStems {
    parts: Vec<Part>,
    /// Stems of long forms with that of the abbreviation.
    abbreviations: Vec<(Vec<String>, String)>,
}

static PARENTHESES: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\(([^()]{2,120})\)").expect("a constant pattern"));

impl WeightedStems {
    /// Of a criterion or a question; each stem once.
    pub(crate) fn of(text: &str) -> Self {
        let idf = science_idf();
        let kept = |text: &str| {
            let mut stems = stem_set(text);
            stems.retain(|stem| !FRAME_STEMS.contains(&stem.as_str()));
            stems
        };
        let (mut parts, mut abbreviations) = (Vec::new(), Vec::new());
        for found in PARENTHESES.captures_iter(text) {
            let (Some(whole), Some(inner)) = (found.get(0), found.get(1)) else { continue };
            let inner_words = words(inner.as_str());
            if let [short] = inner_words.as_slice() {
                let n = short.chars().filter(|c| c.is_alphabetic()).count();
                let before = words(&text[..whole.start()]);
                let long = &before[before.len().saturating_sub(n)..];
                let initials: String = long.iter().filter_map(|word| word.chars().next()).collect();
                if n >= 2 && initials.eq_ignore_ascii_case(short) {
                    abbreviations.push((content_stems(&long.join(" ")), fold(short)));
                }
            } else if inner.as_str().contains([',', ';']) {
                let stems: Vec<String> = kept(inner.as_str()).into_iter().collect();
                let weight = stems.iter().map(|stem| idf.weight(stem)).fold(0.0, f32::max);
                parts.push(Part { stems, weight });
            }
        }
        for stem in kept(&PARENTHESES.replace_all(text, " ")) {
            let weight = idf.weight(&stem);
            parts.push(Part { stems: vec![stem], weight });
        }
        Self { parts, abbreviations }
    }

    /// Share of the weight that `stems` has, in `[0, 1]`; 0 where there is none.
    pub(crate) fn share_in(&self, stems: &BTreeSet<String>) -> f32 {
        let spelt_out = |stem: &String| {
            self.abbreviations
                .iter()
                .any(|(long, short)| long.contains(stem) && stems.contains(short))
        };
        let has =
            |part: &&Part| part.stems.iter().any(|stem| stems.contains(stem) || spelt_out(stem));
        // Summed from 0, since an empty sum is -0.
        let all = self.weight();
        let found = self.parts.iter().filter(has).fold(0.0, |sum, part| sum + part.weight);
        if all > 0.0 { found / all } else { 0.0 }
    }

    /// The weight of all parts.
    pub(crate) fn weight(&self) -> f32 {
        self.parts.iter().fold(0.0, |sum, part| sum + part.weight)
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
        let listed = WeightedStems::of("An inhibitor (etanercept, infliximab) was given");
        assert!((listed.share_in(&stem_set("the inhibitor infliximab given")) - 1.0).abs() < 1e-6);
        let short = WeightedStems::of("hormone replacement therapy (HRT)");
        assert!((short.share_in(&stem_set("HRT users")) - 1.0).abs() < 1e-6);
        assert!(share("").abs() < 1e-6 && WeightedStems::of("").share_in(&stem_set("x")) < 1e-6);
    }
}
