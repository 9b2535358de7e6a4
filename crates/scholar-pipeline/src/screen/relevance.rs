//! What the decisions that a person has made say of the other papers.
//!
//! A logistic regression over the papers' embeddings, with what they were ranked by before as one more feature. Its prior is the
//! former order: without labels nothing changes, and each label moves the papers that resemble it. Deterministic: a fixed number
//! of steps of Nesterov's accelerated gradient from the prior.
//!
//! Source: the usual form of active learning for screening (Cohen et al. 2006; Wallace et al. 2010; `ASReview`, van de Schoot et al.
//! 2021); the prior is ours.

/// Precision of the prior of each embedding weight. Embeddings are centred and of length 1; ours, not fitted.
const PENALTY: f64 = 0.05;
/// Precision of the prior of the former order's weight, around [`PRIOR_WEIGHT`].
const PRIOR_PENALTY: f64 = 1.0;
/// Weight of the former order before anything is labelled.
const PRIOR_WEIGHT: f64 = 1.0;
/// Steps of the gradient.
const STEPS: usize = 200;

/// Papers as a learner sees them.
pub struct Relevance {
    /// Centred embeddings of length 1; empty where a paper has none.
    rows: Vec<Vec<f64>>,
    /// What the papers were ranked by before, z-scored.
    prior: Vec<f64>,
}

impl Relevance {
    /// Papers with their embeddings, `[dim]` each, and what they were ranked by before, which is finite.
    pub fn new(vectors: &[Option<&[f32]>], prior: &[f32]) -> Self {
        let dim = vectors.iter().flatten().map(|vector| vector.len()).max().unwrap_or(0);
        let known: Vec<&&[f32]> =
            vectors.iter().flatten().filter(|vector| vector.len() == dim).collect();
        let mut mean = vec![0.0_f64; dim];
        for vector in &known {
            for (sum, value) in mean.iter_mut().zip(vector.iter()) {
                *sum += f64::from(*value) / known.len() as f64;
            }
        }
        let centred = |vector: &Option<&[f32]>| {
            let Some(vector) = vector.filter(|vector| vector.len() == dim) else {
                return Vec::new();
            };
            let row: Vec<f64> =
                vector.iter().zip(&mean).map(|(value, mean)| f64::from(*value) - mean).collect();
            let norm = row.iter().map(|value| value * value).sum::<f64>().sqrt();
            if norm > 0.0 { row.iter().map(|value| value / norm).collect() } else { row }
        };
        let rows = vectors.iter().map(centred).collect();
        let prior = super::rank::z_scores(&prior.iter().copied().map(Some).collect::<Vec<_>>());
        Self { rows, prior: prior.into_iter().map(f64::from).collect() }
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
        let dim = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let mut at = Learned { intercept: 0.0, prior: PRIOR_WEIGHT, weights: vec![0.0; dim] };
        let mut ahead = at.clone();
        // A bound of the curvature: rows have length 1, beside them the intercept and the prior.
        let curvature: f64 = labels
            .iter()
            .map(|(row, _, weight)| 0.25 * weight * (2.0 + self.prior[*row].powi(2)))
            .sum();
        let step = 1.0 / (curvature + PRIOR_PENALTY);
        for n in 0..STEPS {
            let mut gradient = Learned {
                intercept: 1e-3 * ahead.intercept,
                prior: PRIOR_PENALTY * (ahead.prior - PRIOR_WEIGHT),
                weights: ahead.weights.iter().map(|weight| PENALTY * weight).collect(),
            };
            for (row, wanted, weight) in labels {
                let probability = 1.0 / (1.0 + (-ahead.logit(self, *row)).exp());
                let error = weight * (probability - wanted);
                gradient.intercept += error;
                gradient.prior += error * self.prior[*row];
                for (sum, value) in gradient.weights.iter_mut().zip(&self.rows[*row]) {
                    *sum += error * value;
                }
            }
            let next = ahead.moved(&gradient, -step);
            let momentum = n as f64 / (n as f64 + 3.0);
            ahead = next.moved(&next.minus(&at), momentum);
            at = next;
        }
        at
    }
}

/// Coefficients.
#[derive(Debug, Clone)]
struct Learned {
    intercept: f64,
    prior: f64,
    weights: Vec<f64>,
}

impl Learned {
    fn logit(&self, papers: &Relevance, at: usize) -> f64 {
        let own: f64 = self.weights.iter().zip(&papers.rows[at]).map(|(a, b)| a * b).sum();
        self.intercept + self.prior * papers.prior[at] + own
    }

    fn moved(&self, by: &Self, far: f64) -> Self {
        Self {
            intercept: self.intercept + far * by.intercept,
            prior: self.prior + far * by.prior,
            weights: self.weights.iter().zip(&by.weights).map(|(a, b)| a + far * b).collect(),
        }
    }

    fn minus(&self, other: &Self) -> Self {
        self.moved(other, -1.0)
    }
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
        let papers = Relevance::new(&vectors, &prior);
        let unlabelled = papers.scores(&[]);
        assert!(unlabelled.windows(2).all(|pair| pair[0] > pair[1]), "the former order");
        assert_eq!(papers.scores(&[(0, true)]), unlabelled);
        let scores = papers.scores(&[(1, true), (0, false)]);
        assert!(scores[3] > scores[2] && scores[3] > scores[4], "{scores:?}");
        assert_eq!(scores, papers.scores(&[(1, true), (0, false)]), "deterministic");
        assert!(scores.iter().all(|score| score.is_finite()));
        assert_eq!(papers.scores(&[(9, true)]), unlabelled, "no such paper");
    }
}
