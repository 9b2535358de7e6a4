//! Lexical features of the rerankers.

use std::collections::{BTreeSet, HashSet};

use scholar_core::text::words::{Idf, content_stems};

/// The query's content stems and their IDF over the candidates.
pub(crate) struct Lexical {
    query: Vec<String>,
    idf: Idf,
}

impl Lexical {
    /// Counts document frequencies in the texts of all candidates.
    pub(crate) fn new(query: &str, texts: &[&str]) -> Self {
        Self { query: content_stems(query), idf: Idf::of_texts(texts.iter().copied()) }
    }

    /// IDF-weighted fraction of the query's distinct stems that `title` has, 0 to 1.
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

    /// Fraction of the query's stem bigrams that `text` has, 0 to 1.
    pub(crate) fn bigrams(&self, text: &str) -> f32 {
        let stems = content_stems(text);
        let known: HashSet<(&String, &String)> =
            stems.windows(2).map(|pair| (&pair[0], &pair[1])).collect();
        let found =
            self.query.windows(2).filter(|pair| known.contains(&(&pair[0], &pair[1]))).count();
        found as f32 / self.query.len().saturating_sub(1).max(1) as f32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lexical_features_count_titles_and_neighbours() {
        let texts = ["gene expression in yeast", "protein folding", "gene therapy"];
        let lexical = Lexical::new("gene expression of proteins", &texts);
        assert!((lexical.bigrams(texts[0]) - 0.5).abs() < 1e-6, "one pair of two");
        assert!(lexical.bigrams(texts[1]).abs() < 1e-6);
        let rare = lexical.coverage("Protein");
        let common = lexical.coverage("Genes");
        assert!(rare > common && common > 0.0, "gene is in two of three candidates");
        assert!((lexical.coverage("expression of genes and proteins") - 1.0).abs() < 1e-6);
        assert!(Lexical::new("", &texts).coverage("gene").abs() < 1e-6);
    }
}
