//! What the rerankers read off words alone, and the scale they put features on.

use std::collections::{BTreeSet, HashSet};

use scholar_core::text::words::{Idf, content_stems};

/// The query's content stems and their rarity among the candidates.
pub(crate) struct Lexical {
    query: Vec<String>,
    idf: Idf,
}

impl Lexical {
    /// Of the texts of all candidates.
    pub(crate) fn new(query: &str, texts: &[&str]) -> Self {
        Self { query: content_stems(query), idf: Idf::of_texts(texts.iter().copied()) }
    }

    /// The share of the query's stems, weighted by rarity, that `title` has.
    pub(crate) fn coverage(&self, title: &str) -> f32 {
        let title: HashSet<String> = content_stems(title).into_iter().collect();
        let distinct: BTreeSet<&String> = self.query.iter().collect();
        let (mut found, mut total) = (0.0, 0.0);
        for stem in distinct {
            let weight = self.idf.weight(stem);
            total += weight;
            found += if title.contains(stem) { weight } else { 0.0 };
        }
        if total > 0.0 { found / total } else { 0.0 }
    }

    /// The share of the query's neighbouring stems that are neighbours in `text`, too.
    pub(crate) fn side_by_side(&self, text: &str) -> f32 {
        let stems = content_stems(text);
        let pairs: HashSet<(&String, &String)> =
            stems.windows(2).map(|pair| (&pair[0], &pair[1])).collect();
        let found =
            self.query.windows(2).filter(|pair| pairs.contains(&(&pair[0], &pair[1]))).count();
        found as f32 / self.query.len().saturating_sub(1).max(1) as f32
    }
}

/// The rows with each feature brought to mean 0 and standard deviation 1 over the candidates; a constant feature becomes 0.
pub(crate) fn standardised<const N: usize>(raw: &[[f32; N]]) -> Vec<[f32; N]> {
    let n = raw.len().max(1) as f64;
    let mut rows = raw.to_vec();
    for feature in 0..N {
        let values = || raw.iter().map(|row| f64::from(row[feature]));
        let mean = values().sum::<f64>() / n;
        let deviation = (values().map(|value| (value - mean).powi(2)).sum::<f64>() / n).sqrt();
        for (row, value) in rows.iter_mut().zip(values()) {
            row[feature] = ((value - mean) / (deviation + 1e-6)) as f32;
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lexical_features_count_titles_and_neighbours() {
        let texts = ["gene expression in yeast", "protein folding", "gene therapy"];
        let lexical = Lexical::new("gene expression of proteins", &texts);
        assert!((lexical.side_by_side(texts[0]) - 0.5).abs() < 1e-6, "one pair of two");
        assert!(lexical.side_by_side(texts[1]).abs() < 1e-6);
        let rare = lexical.coverage("Protein");
        let common = lexical.coverage("Genes");
        assert!(rare > common && common > 0.0, "gene is in two of three candidates");
        assert!((lexical.coverage("expression of genes and proteins") - 1.0).abs() < 1e-6);
        assert!(Lexical::new("", &texts).coverage("gene").abs() < 1e-6);
    }

    #[test]
    fn standardised_features_have_mean_zero_and_constants_vanish() {
        let rows = standardised(&[[1.0, 5.0], [3.0, 5.0]]);
        for row in rows {
            assert!((row[0].abs() - 1.0).abs() < 1e-4 && row[1].abs() < 1e-6);
        }
        assert!(standardised::<2>(&[]).is_empty());
    }
}
