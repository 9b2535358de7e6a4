//! Which sentence of a passage supports a sentence best (gate L1).
//!
//! Word overlap weighted by rarity ([`crate::proof::stems`]); an encoder's cosine is added where there is one. Measured
//! with `openscholar bench attribution`; see `docs/results`.

use std::collections::BTreeSet;
use std::ops::Range;

use scholar_core::text::markers::{strip_author_year, strip_citations, strip_foreign_markers};
use scholar_core::text::sentences::sentences;
use scholar_core::text::words::content_stems;
use scholar_core::{Encoder, PortError, Side};

use super::stems::science_idf;

/// Weight of the cosine beside the overlap in `[0, 1]`.
///
/// Source: on CL-SciSumm, before author-year citations were stripped, all-MiniLM-L6-v2 with weights from 0.25 to 1 found
/// the sentence first in 15 to 16 of 100 cases, overlap alone and cosine alone in 14: within the noise.
const COSINE_WEIGHT: f32 = 0.5;
/// Shortest evidence sentence, in content stems: shorter ones are headings, captions or debris.
const SHORTEST_EVIDENCE: usize = 3;

/// Most sentences of one passage quoted for one sentence.
const WINDOW: usize = 2;
/// Most sentences of a window that covers all of a claim.
const COVERING_WINDOW: usize = 4;
/// The second sentence must reach this share of the first one's score. Ours.
const SECOND_SHARE: f32 = 0.6;

/// A sentence of a passage with its fitness as evidence.
#[derive(Debug, Clone, PartialEq)]
pub struct EvidenceSentence {
    /// Bytes of the passage's text.
    pub range: Range<usize>,
    /// Higher is better; comparable for one sentence only.
    pub score: f32,
}

/// The sentences of `passage`, best evidence for `sentence` first, ties in reading order.
///
/// # Errors
/// When the encoder cannot run.
pub fn rank_evidence(
    sentence: &str,
    passage: &str,
    encoder: Option<&dyn Encoder>,
) -> Result<Vec<EvidenceSentence>, PortError> {
    let ranges = sentences(passage);
    let texts: Vec<&str> = ranges.iter().map(|range| &passage[range.clone()]).collect();
    let scores = evidence_scores(sentence, &texts, encoder)?;
    let mut ranked: Vec<EvidenceSentence> = ranges
        .into_iter()
        .zip(scores)
        .map(|(range, score)| EvidenceSentence { range, score })
        .collect();
    ranked.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.range.start.cmp(&b.range.start)));
    Ok(ranked)
}

/// The sentences of `passage` that together are the evidence for `sentence`, in reading order: the best one, and the
/// second if it says nearly as much. Empty when no sentence shares a content word.
///
/// # Errors
/// When the encoder cannot run.
pub fn evidence_window(
    sentence: &str,
    passage: &str,
    encoder: Option<&dyn Encoder>,
) -> Result<Vec<EvidenceSentence>, PortError> {
    Ok(window_of(rank_evidence(sentence, passage, encoder)?))
}

/// The same, of sentences whose fitness somebody else told: one score for each, in reading order.
///
/// Source of the scores is a trained judge, by [`Attributor::evidence`](scholar_core::Attributor::evidence).
pub fn window_by_scores(passage: &str, scores: &[f32]) -> Vec<EvidenceSentence> {
    let ranges = sentences(passage).into_iter();
    let mut ranked: Vec<EvidenceSentence> = ranges
        .zip(scores)
        .map(|(range, score)| EvidenceSentence { range, score: *score })
        .collect();
    ranked.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.range.start.cmp(&b.range.start)));
    window_of(ranked)
}

/// Of ranked sentences the first, and the second if it is nearly as good, in reading order.
fn window_of(mut ranked: Vec<EvidenceSentence>) -> Vec<EvidenceSentence> {
    let best = ranked.first().map_or(0.0, |first| first.score);
    ranked.truncate(WINDOW);
    ranked.retain(|one| one.score > 0.0 && one.score >= SECOND_SHARE * best);
    ranked.sort_by_key(|one| one.range.start);
    ranked
}

/// `window` with up to two more sentences of `passage` that say what it and `title` leave out of `claim`: a number, or two
/// content words. In reading order.
///
/// Ours: one finding often joins what a paper says of its sample in one sentence and of its results in another.
pub fn covering_window(
    claim: &str,
    title: &str,
    passage: &str,
    mut window: Vec<EvidenceSentence>,
) -> Vec<EvidenceSentence> {
    let numbers = |text: &str| -> BTreeSet<String> {
        let tokens = text.split(|c: char| !(c.is_ascii_digit() || c == '.'));
        let tokens = tokens.map(|one| one.trim_matches('.').to_owned());
        tokens.filter(|one| !one.is_empty()).collect()
    };
    let stems = |text: &str| -> BTreeSet<String> { content_stems(text).into_iter().collect() };
    let said = format!("{title} {}", window_text(passage, &window));
    let mut numbers_left: BTreeSet<String> = &numbers(claim) - &numbers(&said);
    let mut stems_left: BTreeSet<String> = &stems(claim) - &stems(&said);
    for range in sentences(passage) {
        if window.len() >= COVERING_WINDOW {
            break;
        }
        if window.iter().any(|one| one.range == range) {
            continue;
        }
        let (own_numbers, own_stems) =
            (numbers(&passage[range.clone()]), stems(&passage[range.clone()]));
        let adds_number = !numbers_left.is_disjoint(&own_numbers);
        if adds_number || stems_left.intersection(&own_stems).count() >= 2 {
            numbers_left = &numbers_left - &own_numbers;
            stems_left = &stems_left - &own_stems;
            // Behind those that were chosen for being like the whole claim.
            window.push(EvidenceSentence { range, score: 0.0 });
        }
    }
    window.sort_by_key(|one| one.range.start);
    window
}

/// The text of a window: its sentences, separated by one space.
pub fn window_text(passage: &str, window: &[EvidenceSentence]) -> String {
    let texts: Vec<&str> = window.iter().map(|one| &passage[one.range.clone()]).collect();
    texts.join(" ")
}

/// The window with the sentence in front of it and the one behind it, as they stand in `passage`; the sentences of a window
/// in two places are joined by an ellipsis.
pub fn window_with_neighbours(passage: &str, window: &[EvidenceSentence]) -> String {
    let all = sentences(passage);
    let shown = |at: usize| {
        let near = at.saturating_sub(1)..(at + 2).min(all.len());
        all[near].iter().any(|range| window.iter().any(|one| one.range == *range))
    };
    let mut text = String::new();
    let mut last: Option<usize> = None;
    for (at, range) in all.iter().enumerate().filter(|(at, _)| shown(*at)) {
        match last {
            Some(before) if before + 1 == at => text.push(' '),
            Some(_) => text.push_str(" … "),
            None => {}
        }
        text.push_str(&passage[range.clone()]);
        last = Some(at);
    }
    text
}

/// One score per candidate, in order.
///
/// # Errors
/// When the encoder cannot run.
pub fn evidence_scores(
    sentence: &str,
    candidates: &[&str],
    encoder: Option<&dyn Encoder>,
) -> Result<Vec<f32>, PortError> {
    let sentence = strip_author_year(&strip_citations(sentence));
    let mut scores: Vec<f32> =
        candidates.iter().map(|text| overlap(&sentence, &strip_foreign_markers(text))).collect();
    if let Some(encoder) = encoder {
        for (score, cosine) in scores.iter_mut().zip(cosines(encoder, &sentence, candidates)?) {
            *score += COSINE_WEIGHT * cosine;
        }
    }
    Ok(scores)
}

/// Shared weight over `sentence^3/4 · candidate^1/4` of both texts' weights, in `[0, 1]`: being long costs a candidate a
/// little. The best on CL-SciSumm of the exponents 0, 1/4, 1/2, 3/4 and the floors 1, 20, 40, 80, by margins within the
/// noise of 470 sentences.
fn overlap(sentence: &str, candidate: &str) -> f32 {
    let idf = science_idf();
    let distinct = |text: &str| {
        let mut stems = content_stems(text);
        stems.sort_unstable();
        stems.dedup();
        stems
    };
    let (wanted, offered) = (distinct(sentence), distinct(candidate));
    let weight = |stems: &[String]| stems.iter().map(|stem| idf.weight(stem)).sum::<f32>();
    let shared: f32 = wanted
        .iter()
        .filter(|stem| offered.binary_search(stem).is_ok())
        .map(|stem| idf.weight(stem))
        .sum();
    let (all, theirs) = (weight(&wanted), weight(&offered));
    if all <= 0.0 || theirs <= 0.0 {
        return 0.0;
    }
    let debris = if offered.len() < SHORTEST_EVIDENCE { 0.5 } else { 1.0 };
    debris * shared / (all.powf(0.75) * theirs.max(FLOOR).powf(0.25))
}

/// Weight below which a candidate counts as this heavy, about eight ordinary words: one shared rare word must not win.
const FLOOR: f32 = 40.0;

fn cosines(
    encoder: &dyn Encoder,
    sentence: &str,
    candidates: &[&str],
) -> Result<Vec<f32>, PortError> {
    let texts: Vec<&str> = std::iter::once(sentence).chain(candidates.iter().copied()).collect();
    let embeddings = encoder.encode(Side::Passage, &texts)?;
    let mut rows = embeddings.rows();
    let Some(query) = rows.next() else { return Ok(Vec::new()) };
    let scale = encoder.info().cosine_scale();
    Ok(rows.map(|row| scale.rescaled(cosine(query, row))).collect())
}

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    let norm = (dot(a, a) * dot(b, b)).sqrt();
    if norm > 0.0 { dot(a, b) / norm } else { 0.0 }
}

/// Inner product of two vectors of one length.
pub(crate) fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_covers_numbers_and_samples_that_stand_elsewhere() {
        let passage = "We followed 802 arthritis patients of a registry. Disease activity was stable. Adjusted retention was 83.4% on the biosimilar. Weather was fine.";
        let claim = "In 802 arthritis patients, adjusted retention was 83.4% on the biosimilar.";
        let window = evidence_window(claim, passage, None).expect("no encoder");
        let covering = covering_window(claim, "", passage, window.clone());
        let text = window_text(passage, &covering);
        assert!(
            text.contains("802") && text.contains("83.4%") && !text.contains("Weather"),
            "{text}"
        );
        assert!(covering.len() >= window.len() && covering.len() <= COVERING_WINDOW);
        let titled = covering_window("Retention was 83.4%.", "", passage, window);
        assert!(!window_text(passage, &titled).contains("Weather"));
    }

    #[test]
    fn the_sentence_that_says_it_comes_first() {
        let passage = "We study mice. Vitamin D lowered tumour growth in old mice [3]. Figure 2. Mice were fed.";
        let ranked = rank_evidence("Tumour growth was lowered by vitamin D [0].", passage, None)
            .expect("no encoder, no error");
        assert_eq!(
            &passage[ranked[0].range.clone()],
            "Vitamin D lowered tumour growth in old mice [3]."
        );
        assert!(ranked[0].score > 2.0 * ranked[1].score, "{ranked:?}");
        assert!(rank_evidence("x", "", None).expect("no error").is_empty());
    }

    #[test]
    fn scores_of_a_judge_select_the_best_and_a_close_second() {
        let passage = "We study mice. Vitamin D lowered growth. Growth fell. They were fed.";
        let chosen = |scores: &[f32]| window_text(passage, &window_by_scores(passage, scores));
        assert_eq!(chosen(&[0.0, 0.9, 0.8, 0.1]), "Vitamin D lowered growth. Growth fell.");
        assert_eq!(chosen(&[0.0, 0.9, 0.3, 0.1]), "Vitamin D lowered growth.");
        let window = window_by_scores(passage, &[0.9, 0.0, 0.0, 0.1]);
        assert_eq!(
            window_with_neighbours(passage, &window),
            "We study mice. Vitamin D lowered growth."
        );
        assert!(chosen(&[0.0; 4]).is_empty() && window_by_scores("", &[]).is_empty());
    }
}
