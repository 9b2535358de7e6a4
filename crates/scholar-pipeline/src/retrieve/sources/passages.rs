//! Which passages of a found paper join the pool.

use std::collections::BTreeSet;

use scholar_core::text::words::{Idf, content_stems};
use scholar_core::{Passage, Query};

/// How much of the query each passage covers, by the rarity of the covered words among the passages; in `[0, 1]`.
pub(super) fn coverage(query: &Query, passages: &[&Passage]) -> Vec<f32> {
    let texts: Vec<String> = passages.iter().map(|passage| passage.encoded_text()).collect();
    let idf = Idf::of_texts(texts.iter().map(String::as_str));
    let wanted: BTreeSet<String> = content_stems(query.as_str()).into_iter().collect();
    let whole: f32 = wanted.iter().map(|stem| idf.weight(stem)).sum();
    texts
        .iter()
        .map(|text| {
            let has: BTreeSet<String> = content_stems(text).into_iter().collect();
            let covered: f32 = wanted.intersection(&has).map(|stem| idf.weight(stem)).sum();
            if whole > 0.0 { covered / whole } else { 0.0 }
        })
        .collect()
}

/// The places of at most `most` of a paper's passages, those that cover most of the query, in the paper's order.
pub(super) fn nearest(query: &Query, passages: &[Passage], most: usize) -> Vec<usize> {
    let mut places: Vec<usize> = (0..passages.len()).collect();
    if passages.len() > most {
        let covered = coverage(query, &passages.iter().collect::<Vec<_>>());
        places.sort_by(|a, b| covered[*b].total_cmp(&covered[*a]).then(a.cmp(b)));
        places.truncate(most);
        places.sort_unstable();
    }
    places
}
