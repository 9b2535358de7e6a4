//! What the decisions that a person has made say of the other papers.
//!
//! A logistic regression over the papers' embeddings and words (TF-IDF), with what they were ranked by before as one more feature.
//! Its prior is the former order: without labels nothing changes, and each label moves the papers that resemble it.
//! Deterministic: a fixed number of steps of Nesterov's accelerated gradient from the prior.
//!
//! Source: the usual form of active learning for screening (Cohen et al. 2006; Wallace et al. 2010; `ASReview`, van de Schoot et al.
//! 2021); the prior is ours.

use std::collections::BTreeMap;

use scholar_core::text::words::content_stems;

use crate::z_scores::z_scores;

/// Precision of the prior of each weight of the embedding and the words, both of length 1. Ours, not fitted.
const PENALTY: f64 = 0.05;
/// Precision of the prior of the former order's weight, around [`PRIOR_WEIGHT`].
const PRIOR_PENALTY: f64 = 1.0;
/// Weight of the former order before anything is labelled.
const PRIOR_WEIGHT: f64 = 1.0;
/// Steps of the gradient.
const STEPS: usize = 200;
/// Fewest papers that have a word which is learnt from.
const FEWEST_PAPERS: usize = 2;

/// Papers as a learner sees them.
pub struct Relevance {
    rows: Vec<Row>,
    /// What the papers were ranked by before, z-scored.
    prior: Vec<f64>,
    dim: usize,
    vocabulary: usize,
}

/// A paper's features.
struct Row {
    /// Centred embedding of length 1; empty where a paper has none.
    embedding: Vec<f64>,
    /// Numbers of words with their weights, whose squares sum to 1; empty where a paper has none.
    words: Vec<(usize, f64)>,
}

impl Relevance {
    /// Papers with their texts, their embeddings, `[dim]` each, and what they were ranked by before, which is finite.
    pub fn new(texts: &[&str], vectors: &[Option<&[f32]>], prior: &[f32]) -> Self {
        let (words, vocabulary) = word_rows(texts);
        let (embeddings, dim) = centred(vectors);
        let rows = embeddings
            .into_iter()
            .zip(words)
            .map(|(embedding, words)| Row { embedding, words })
            .collect();
        let prior = z_scores(&prior.iter().copied().map(Some).collect::<Vec<_>>());
        Self { rows, prior: prior.into_iter().map(f64::from).collect(), dim, vocabulary }
    }

    /// What papers are sorted by after `labels`, pairs of a paper's number and whether it belongs in the review; one value per
    /// paper. Labels of one kind only change nothing: there is nothing to tell apart.
    pub fn scores(&self, labels: &[(usize, bool)]) -> Vec<f32> {
        let labels: Vec<(usize, bool)> =
            labels.iter().copied().filter(|(at, _)| *at < self.rows.len()).collect();
        let positive = labels.iter().filter(|(_, wanted)| *wanted).count();
        let negative = labels.len() - positive;
        if positive == 0 || negative == 0 {
            return self.prior.iter().map(|value| *value as f32).collect();
        }
        // Few papers belong in a review; both kinds count the same together.
        let n = labels.len() as f64;
        let weight = |wanted: bool| n / (2.0 * if wanted { positive } else { negative } as f64);
        let labels: Vec<(usize, f64, f64)> = labels
            .iter()
            .map(|(at, wanted)| (*at, f64::from(u8::from(*wanted)), weight(*wanted)))
            .collect();
        let learned = self.fit(&labels);
        (0..self.rows.len()).map(|at| learned.logit(self, at) as f32).collect()
    }

    fn fit(&self, labels: &[(usize, f64, f64)]) -> Learned {
        let mut at = Learned {
            intercept: 0.0,
            prior: PRIOR_WEIGHT,
            embedding: vec![0.0; self.dim],
            words: vec![0.0; self.vocabulary],
        };
        let mut ahead = at.clone();
        // A bound of the curvature: embedding and words have length 1, beside them the intercept and the prior.
        let curvature: f64 = labels
            .iter()
            .map(|(row, _, weight)| 0.25 * weight * (3.0 + self.prior[*row].powi(2)))
            .sum();
        let step = 1.0 / (curvature + PRIOR_PENALTY);
        for n in 0..STEPS {
            let gradient = self.gradient(&ahead, labels);
            let next = ahead.moved(&gradient, -step);
            let momentum = n as f64 / (n as f64 + 3.0);
            ahead = next.moved(&next.minus(&at), momentum);
            at = next;
        }
        at
    }

    fn gradient(&self, learned: &Learned, labels: &[(usize, f64, f64)]) -> Learned {
        let pull = |weights: &[f64]| weights.iter().map(|weight| PENALTY * weight).collect();
        let mut gradient = Learned {
            intercept: 1e-3 * learned.intercept,
            prior: PRIOR_PENALTY * (learned.prior - PRIOR_WEIGHT),
            embedding: pull(&learned.embedding),
            words: pull(&learned.words),
        };
        for (row, wanted, weight) in labels {
            let probability = 1.0 / (1.0 + (-learned.logit(self, *row)).exp());
            let error = weight * (probability - wanted);
            gradient.intercept += error;
            gradient.prior += error * self.prior[*row];
            for (sum, value) in gradient.embedding.iter_mut().zip(&self.rows[*row].embedding) {
                *sum += error * value;
            }
            for (word, value) in &self.rows[*row].words {
                gradient.words[*word] += error * value;
            }
        }
        gradient
    }
}

/// Coefficients.
#[derive(Debug, Clone)]
struct Learned {
    intercept: f64,
    prior: f64,
    embedding: Vec<f64>,
    words: Vec<f64>,
}

impl Learned {
    fn logit(&self, papers: &Relevance, at: usize) -> f64 {
        let Row { embedding, words } = &papers.rows[at];
        let of_embedding: f64 = self.embedding.iter().zip(embedding).map(|(a, b)| a * b).sum();
        let of_words: f64 = words.iter().map(|(word, value)| self.words[*word] * value).sum();
        self.intercept + self.prior * papers.prior[at] + of_embedding + of_words
    }

    fn moved(&self, by: &Self, far: f64) -> Self {
        let moved = |from: &[f64], by: &[f64]| {
            from.iter().zip(by).map(|(from, by)| from + far * by).collect()
        };
        Self {
            intercept: self.intercept + far * by.intercept,
            prior: self.prior + far * by.prior,
            embedding: moved(&self.embedding, &by.embedding),
            words: moved(&self.words, &by.words),
        }
    }

    fn minus(&self, other: &Self) -> Self {
        self.moved(other, -1.0)
    }
}

/// Embeddings less their mean, scaled to length 1, and their dimension.
fn centred(vectors: &[Option<&[f32]>]) -> (Vec<Vec<f64>>, usize) {
    let dim = vectors.iter().flatten().map(|vector| vector.len()).max().unwrap_or(0);
    let known: Vec<&&[f32]> =
        vectors.iter().flatten().filter(|vector| vector.len() == dim).collect();
    let mut mean = vec![0.0_f64; dim];
    for vector in &known {
        for (sum, value) in mean.iter_mut().zip(vector.iter()) {
            *sum += f64::from(*value) / known.len() as f64;
        }
    }
    let row = |vector: &Option<&[f32]>| {
        let Some(vector) = vector.filter(|vector| vector.len() == dim) else {
            return Vec::new();
        };
        let row: Vec<f64> =
            vector.iter().zip(&mean).map(|(value, mean)| f64::from(*value) - mean).collect();
        let norm = row.iter().map(|value| value * value).sum::<f64>().sqrt();
        if norm > 0.0 { row.iter().map(|value| value / norm).collect() } else { row }
    };
    (vectors.iter().map(row).collect(), dim)
}

/// TF-IDF of each text, `(1 + ln count) · ln(n / papers that have the word)`, scaled to length 1, and the number of words.
fn word_rows(texts: &[&str]) -> (Vec<Vec<(usize, f64)>>, usize) {
    let counts: Vec<BTreeMap<String, usize>> = texts
        .iter()
        .map(|text| {
            let mut own = BTreeMap::new();
            for stem in content_stems(text) {
                *own.entry(stem).or_default() += 1;
            }
            own
        })
        .collect();
    let mut containing: BTreeMap<&str, usize> = BTreeMap::new();
    for stem in counts.iter().flat_map(BTreeMap::keys) {
        *containing.entry(stem).or_default() += 1;
    }
    containing.retain(|_, n| *n >= FEWEST_PAPERS);
    let n_texts = texts.len() as f64;
    let numbered: BTreeMap<&str, (usize, f64)> = containing
        .iter()
        .enumerate()
        .map(|(at, (stem, n))| (*stem, (at, (n_texts / *n as f64).ln())))
        .collect();
    let row = |own: &BTreeMap<String, usize>| {
        let weighted = own.iter().filter_map(|(stem, count)| {
            let (at, idf) = numbered.get(stem.as_str())?;
            Some((*at, (1.0 + (*count as f64).ln()) * idf))
        });
        let mut row: Vec<(usize, f64)> = weighted.collect();
        let norm = row.iter().map(|(_, value)| value * value).sum::<f64>().sqrt();
        if norm > 0.0 {
            row.iter_mut().for_each(|(_, value)| *value /= norm);
        }
        row
    };
    (counts.iter().map(row).collect(), containing.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_move_the_papers_that_resemble_them() {
        let (east, north) = ([1.0_f32, 0.0], [0.0_f32, 1.0]);
        let vectors: Vec<Option<&[f32]>> =
            [&east[..], &north, &east, &north, &east].into_iter().map(Some).chain([None]).collect();
        let prior = [0.5, 0.4, 0.3, 0.2, 0.1, 0.0];
        let papers = Relevance::new(&[""; 6], &vectors, &prior);
        let unlabelled = papers.scores(&[]);
        assert!(unlabelled.windows(2).all(|pair| pair[0] > pair[1]), "the former order");
        assert_eq!(papers.scores(&[(0, true)]), unlabelled);
        let scores = papers.scores(&[(1, true), (0, false)]);
        assert!(scores[3] > scores[2] && scores[3] > scores[4], "{scores:?}");
        assert_eq!(scores, papers.scores(&[(1, true), (0, false)]), "deterministic");
        assert!(scores.iter().all(|score| score.is_finite()));
        assert_eq!(papers.scores(&[(9, true)]), unlabelled, "no such paper");
    }

    #[test]
    fn words_are_learnt_from_where_there_is_no_embedding() {
        let texts = ["mice in cages", "adults in clinics", "mice in mazes", "adults in clinics"];
        let papers = Relevance::new(&texts, &[None; 4], &[0.0; 4]);
        let scores = papers.scores(&[(0, false), (1, true)]);
        assert!(scores[3] > scores[2], "{scores:?}");
    }
}
