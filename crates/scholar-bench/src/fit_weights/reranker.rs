//! Weights of a reranker's features beside the first stage's score, by grid search on nDCG@10.
//!
//! Every candidate of every query is scored once; then all points of the grid rank the same features, averaged over the
//! collections. Chosen is the point with the smallest sum of weights among those within one standard error of the best,
//! queries paired: collections at hand are few and similar to the training data, and small weights transfer better.

use scholar_core::{Explanation, Retrieved};

use crate::retrieval::{Grades, Scores, document_name};

/// Features of a kind of reranker in the order of its explanations, and the weights of each that are tried. The first
/// stage's score comes first and has weight 1.
pub type Grid = &'static [(&'static str, &'static [f32])];

const LEXICAL: &[f32] = &[0.0, 0.1, 0.2, 0.4];

/// Grid of a cross-encoder.
pub const CROSS_ENCODER: Grid = &[
    ("retrieval", &[1.0]),
    ("logit", &[0.0, 0.2, 0.4, 0.6, 0.8, 1.0, 1.4, 2.0, 3.0, 5.0]),
    ("title", LEXICAL),
    ("bigrams", LEXICAL),
];

/// Grid of a late-interaction reranker.
pub const LATE_INTERACTION: Grid = &[
    ("retrieval", &[1.0]),
    ("max_sim", &[0.0, 0.2, 0.4, 0.6, 0.8, 1.0, 1.4]),
    ("pooled_cosine", &[0.0, 0.2, 0.4, 0.6, 0.8, 1.0]),
    ("feedback", &[0.0, 0.2, 0.4, 0.6, 0.8]),
    ("title", LEXICAL),
    ("bigrams", LEXICAL),
];

/// The candidates of one query, the reranked ones first.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidates {
    grades: Grades,
    documents: Vec<String>,
    /// Features of the reranked candidates, z-scored; one row each.
    features: Vec<Vec<f32>>,
}

impl Candidates {
    /// `hits` with their explanations by a reranker whose weights are all 1.
    pub fn new(hits: &[Retrieved], explained: &[Explanation], grades: Grades) -> Self {
        let mut order: Vec<usize> = (0..hits.len()).collect();
        order.sort_by(|a, b| {
            let [a_bare, b_bare] = [a, b].map(|at| explained[*at].details.is_empty());
            let by_score = explained[*b].value.total_cmp(&explained[*a].value);
            a_bare.cmp(&b_bare).then(by_score).then(a.cmp(b))
        });
        let features = order.iter().map(|at| &explained[*at].details);
        let features = features.filter(|parts| !parts.is_empty());
        Self {
            grades,
            features: features.map(|parts| parts.iter().map(|part| part.value).collect()).collect(),
            documents: order.iter().map(|at| document_name(&hits[*at].paper.id)).collect(),
        }
    }

    /// Documents, each once: the reranked ones by their weighted features, the others behind them as they were.
    fn ranked(&self, weights: &[f32]) -> Vec<String> {
        let score =
            |row: &Vec<f32>| row.iter().zip(weights).map(|(value, weight)| value * weight).sum();
        let mut head: Vec<(f32, usize)> = self.features.iter().map(score).zip(0..).collect();
        head.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let order = head.iter().map(|(_, at)| *at).chain(self.features.len()..self.documents.len());
        let mut documents: Vec<String> = Vec::new();
        for at in order {
            if !documents.contains(&self.documents[at]) {
                documents.push(self.documents[at].clone());
            }
        }
        documents
    }
}

/// The chosen weights and the mean nDCG@10 they reach.
#[derive(Debug, Clone, PartialEq)]
pub struct Fitted {
    /// One for each feature of the grid.
    pub weights: Vec<f32>,
    /// nDCG@10 of the first stage.
    pub before: f64,
    /// nDCG@10 of the chosen weights.
    pub after: f64,
    /// nDCG@10 of the best point of the grid.
    pub best: f64,
}

/// Fits the weights of `grid` on the queries of each collection, collections counting equally.
pub fn fit(collections: &[Vec<Candidates>], grid: Grid) -> Fitted {
    let points = points(grid);
    let gains: Vec<Vec<Vec<f64>>> =
        points.iter().map(|weights| ndcg_by_query(collections, weights)).collect();
    let means: Vec<f64> = gains.iter().map(|gains| mean(gains)).collect();
    // The smallest come first, so the first of equals is the smallest.
    let first = |best: usize, at: usize| if means[at] > means[best] { at } else { best };
    let best = (0..points.len()).fold(0, first);
    let near = |at: &usize| means[best] - means[*at] <= standard_error(&gains[best], &gains[*at]);
    let chosen = (0..points.len()).find(near).unwrap_or(best);
    Fitted {
        weights: points[chosen].clone(),
        before: means[0],
        after: means[chosen],
        best: means[best],
    }
}

/// All points of the grid, smallest sum of weights first.
fn points(grid: Grid) -> Vec<Vec<f32>> {
    let mut all = vec![Vec::new()];
    for (_, tried) in grid {
        let longer = |start: &Vec<f32>| -> Vec<Vec<f32>> {
            tried.iter().map(|weight| [&start[..], &[*weight]].concat()).collect()
        };
        all = all.iter().flat_map(longer).collect();
    }
    all.sort_by(|a: &Vec<f32>, b| a.iter().sum::<f32>().total_cmp(&b.iter().sum()));
    all
}

/// nDCG@10 of each query of each collection.
fn ndcg_by_query(collections: &[Vec<Candidates>], weights: &[f32]) -> Vec<Vec<f64>> {
    let gain = |query: &Candidates| Some(Scores::of(&query.ranked(weights), &query.grades)?.ndcg10);
    collections.iter().map(|all| all.iter().filter_map(gain).collect()).collect()
}

/// Each collection counting equally.
fn mean(gains: &[Vec<f64>]) -> f64 {
    let of = |gains: &Vec<f64>| gains.iter().sum::<f64>() / gains.len().max(1) as f64;
    gains.iter().map(of).sum::<f64>() / gains.len().max(1) as f64
}

/// Standard error of the difference of the means of two points, queries paired.
fn standard_error(one: &[Vec<f64>], other: &[Vec<f64>]) -> f64 {
    let squared = |(one, other): (&Vec<f64>, &Vec<f64>)| {
        let n = one.len().max(1) as f64;
        let differences = || one.iter().zip(other).map(|(a, b)| a - b);
        let mean = differences().sum::<f64>() / n;
        differences().map(|d| (d - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0) / n
    };
    one.iter().zip(other).map(squared).sum::<f64>().sqrt() / one.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first stage prefers document 0, the logit document 1, which is relevant.
    fn query() -> Candidates {
        Candidates {
            grades: [("1".to_owned(), 1)].into(),
            documents: ["0", "1", "2"].map(str::to_owned).to_vec(),
            features: vec![vec![1.0, -1.0, 0.0, 0.0], vec![0.5, 1.0, 0.0, 0.0]],
        }
    }

    #[test]
    fn the_weight_that_ranks_best_is_the_smallest_of_its_kind() {
        let found = fit(&[vec![query()]], CROSS_ENCODER);
        assert!(found.after > found.before);
        // 1 + w·(-1) < 0.5 + w from a quarter on.
        scholar_testing::assert_all_close(&found.weights, &[1.0, 0.4, 0.0, 0.0], 1e-6);
    }

    #[test]
    fn a_gain_of_one_query_in_many_is_not_worth_a_larger_weight() {
        // The logit must count 0.4 for most queries; at 5 one rises from the third place and one falls to the second.
        let mut all: Vec<Candidates> = (0..30).map(|_| query()).collect();
        let row = |retrieval, logit| vec![retrieval, logit, 0.0, 0.0];
        all[0].features = vec![row(4.0, -0.1), row(0.0, 1.0), row(3.9, -0.1)];
        all[1].features = vec![row(0.0, 1.0), row(1.0, 0.5)];
        let found = fit(&[all], CROSS_ENCODER);
        assert!(found.best > found.after, "{} {}", found.best, found.after);
        scholar_testing::assert_all_close(&found.weights, &[1.0, 0.4, 0.0, 0.0], 1e-6);
    }

    #[test]
    fn what_was_not_reranked_stays_behind() {
        assert_eq!(query().ranked(&[1.0, 9.0, 0.0, 0.0]), ["1", "0", "2"]);
    }
}
