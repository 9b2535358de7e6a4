//! Late interaction: how a query's tokens match a passage's.
//!
//! Where the cosines come from is the caller's affair: token by token at inference, one matrix product in training.

/// Late-interaction score of [`max_sim`] with the matches it is made of.
#[derive(Debug, Clone, PartialEq)]
pub struct MaxSim {
    /// Mean over the query's tokens of the highest cosine, −1 to 1; 0 where either side has no token.
    pub score: f32,
    /// For each query token, in order, the passage token of the highest cosine, the first of equals; empty where `score`
    /// has nothing to average.
    pub best: Vec<usize>,
}

/// `MaxSim` over `query_tokens` × `passage_tokens`, whose similarities are `cosine(query_token, passage_token)`.
///
/// The mean and not the sum, so that scores of queries of different lengths compare.
///
/// Source: Khattab and Zaharia 2020, `ColBERT`.
pub fn max_sim(
    query_tokens: usize,
    passage_tokens: usize,
    cosine: impl Fn(usize, usize) -> f32,
) -> MaxSim {
    if query_tokens == 0 || passage_tokens == 0 {
        return MaxSim { score: 0.0, best: Vec::new() };
    }
    let mut best = Vec::with_capacity(query_tokens);
    let mut sum = 0.0;
    for query in 0..query_tokens {
        let (mut at, mut highest) = (0, f32::NEG_INFINITY);
        for passage in 0..passage_tokens {
            let found = cosine(query, passage);
            if found > highest {
                (at, highest) = (passage, found);
            }
        }
        sum += highest;
        best.push(at);
    }
    MaxSim { score: sum / query_tokens as f32, best }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_query_token_takes_its_best_match() {
        let cosines = [[0.6, 1.0, 1.0], [0.8, 0.0, 0.1]];
        let found = max_sim(2, 3, |query, passage| cosines[query][passage]);
        assert!((found.score - 0.9).abs() < 1e-6);
        assert_eq!(found.best, [1, 0]);
        for (query, passage) in [(0, 3), (2, 0)] {
            let found = max_sim(query, passage, |_, _| 1.0);
            assert_eq!(found, MaxSim { score: 0.0, best: Vec::new() });
        }
    }
}
