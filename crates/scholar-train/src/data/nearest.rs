//! The texts of a small collection that share most with a query: BM25 over content stems, in memory.
//!
//! For choosing passages on the same topic while rows are made. Negatives of rerankers come from the real search
//! instead, through the core's `Retriever`.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use scholar_core::text::words::content_stems;

/// Saturation and length normalisation. Source: Robertson and Zaragoza, *The Probabilistic Relevance Framework*, 2009.
const K1: f64 = 1.2;
const B: f64 = 0.6;

/// An index of texts by number.
#[derive(Debug, Default)]
pub struct Nearest {
    postings: HashMap<String, Vec<(usize, f64)>>,
    texts: usize,
}

impl Nearest {
    /// Indexes `texts` in order.
    pub fn of<'a>(texts: impl IntoIterator<Item = &'a str>) -> Self {
        let counted: Vec<BTreeMap<String, usize>> = texts.into_iter().map(counts).collect();
        let lengths: Vec<usize> = counted.iter().map(|counts| counts.values().sum()).collect();
        let mean = lengths.iter().sum::<usize>() as f64 / lengths.len().max(1) as f64;
        let mut postings: HashMap<String, Vec<(usize, f64)>> = HashMap::new();
        let texts = counted.len();
        for (text, (counts, length)) in counted.into_iter().zip(lengths).enumerate() {
            let norm = K1 * (1.0 - B + B * length as f64 / mean.max(1.0));
            for (stem, count) in counts {
                let damped = count as f64 * (K1 + 1.0) / (count as f64 + norm);
                postings.entry(stem).or_default().push((text, damped));
            }
        }
        Self { postings, texts }
    }

    /// The best `limit` texts that `accept` takes, best first, ties by number.
    pub fn find(&self, query: &str, limit: usize, accept: impl Fn(usize) -> bool) -> Vec<usize> {
        let mut scores = vec![0.0_f64; self.texts];
        for stem in counts(query).into_keys() {
            let Some(postings) = self.postings.get(&stem) else { continue };
            let weight = self.weight(postings.len());
            for (text, damped) in postings {
                scores[*text] += weight * damped;
            }
        }
        let mut found: Vec<(Reverse<u64>, usize)> = scores
            .into_iter()
            .enumerate()
            .filter(|(_, score)| *score > 0.0)
            // Positive floats order as their bits.
            .map(|(text, score)| (Reverse(score.to_bits()), text))
            .collect();
        found.sort_unstable();
        // In this order, because accepting may cost more than scoring.
        found.into_iter().map(|(_, text)| text).filter(|text| accept(*text)).take(limit).collect()
    }

    /// How rare a stem is; 0 of one that every text has.
    pub fn rarity(&self, stem: &str) -> f64 {
        self.weight(self.postings.get(stem).map_or(0, Vec::len))
    }

    fn weight(&self, with: usize) -> f64 {
        (1.0 + ((self.texts - with) as f64 + 0.5) / (with as f64 + 0.5)).ln()
    }
}

fn counts(text: &str) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for stem in content_stems(text) {
        *counts.entry(stem).or_default() += 1;
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_on_the_topic_comes_first() {
        let texts =
            ["salt and blood pressure", "tea and sleep", "blood cells", "pressure of gases"];
        let nearest = Nearest::of(texts);
        assert_eq!(nearest.find("Does salt raise blood pressure?", 2, |_| true)[0], 0);
        assert_eq!(nearest.find("Does salt raise blood pressure?", 9, |n| n != 0), [2, 3]);
        assert!(nearest.find("astronomy", 3, |_| true).is_empty());
        assert!(nearest.rarity("tea") > nearest.rarity("blood"));
        assert!(Nearest::of([]).find("x", 1, |_| true).is_empty());
    }
}
