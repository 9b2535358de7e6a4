//! BM25 over the papers that are screened, whose word counts are its statistics.

use std::collections::BTreeMap;

use scholar_core::text::words::content_stems;

/// Saturation of repeated words. Source: Robertson and Zaragoza 2009; the value of Anserini.
const K1: f32 = 0.9;
/// How far long texts are discounted. Source: as [`K1`].
const B: f32 = 0.4;

/// Word counts of a set of texts.
pub(super) struct Bm25 {
    counts: Vec<BTreeMap<String, u32>>,
    lengths: Vec<f32>,
    containing: BTreeMap<String, u32>,
}

impl Bm25 {
    /// Counts the content stems of `texts`.
    pub(super) fn of(texts: &[&str]) -> Self {
        let mut containing: BTreeMap<String, u32> = BTreeMap::new();
        let mut lengths = Vec::with_capacity(texts.len());
        let mut counts = Vec::with_capacity(texts.len());
        for text in texts {
            let mut own: BTreeMap<String, u32> = BTreeMap::new();
            let stems = content_stems(text);
            lengths.push(stems.len() as f32);
            for stem in stems {
                *own.entry(stem).or_default() += 1;
            }
            for stem in own.keys() {
                *containing.entry(stem.clone()).or_default() += 1;
            }
            counts.push(own);
        }
        Self { counts, lengths, containing }
    }

    /// The score of each text for `query`, in order; a stem that the query repeats counts once.
    pub(super) fn scores(&self, query: &str) -> Vec<f32> {
        let mut stems = content_stems(query);
        stems.sort_unstable();
        stems.dedup();
        let n = self.counts.len() as f32;
        let mean = (self.lengths.iter().sum::<f32>() / n.max(1.0)).max(1.0);
        let weighted: Vec<(&String, f32)> = stems
            .iter()
            .filter_map(|stem| {
                let df = *self.containing.get(stem)? as f32;
                Some((stem, (1.0 + (n - df + 0.5) / (df + 0.5)).ln()))
            })
            .collect();
        let score = |(own, length): (&BTreeMap<String, u32>, &f32)| {
            let norm = K1 * (1.0 - B + B * length / mean);
            weighted
                .iter()
                .map(|(stem, idf)| {
                    let tf = own.get(*stem).map_or(0.0, |count| *count as f32);
                    idf * tf * (K1 + 1.0) / (tf + norm)
                })
                .sum()
        };
        self.counts.iter().zip(&self.lengths).map(score).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rare_words_of_the_query_decide() {
        let texts =
            ["emicizumab in patients", "factor VIII in patients", "aspirin in patients", ""];
        let scores = Bm25::of(&texts).scores("Emicizumab patients patients");
        assert!(scores[0] > scores[1] && scores[1] > 0.0);
        assert!(scores[3].abs() < 1e-6);
        assert!(Bm25::of(&[]).scores("x").is_empty());
    }
}
