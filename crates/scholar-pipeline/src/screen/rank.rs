//! The order in which papers are read: those that the review most likely wants come first.

use serde::{Deserialize, Serialize};

use super::bm25::Bm25;
use super::criteria::{Criteria, CriterionKind};
use crate::proof::select::dot;
use crate::z_scores::z_scores;

/// What papers are ranked by.
#[derive(Debug, Clone, PartialEq)]
pub struct RankingQuery {
    /// Words of the title and of the criteria that must be met, for BM25.
    pub words: String,
    /// The same texts one by one, title first, to be encoded as queries.
    pub texts: Vec<String>,
}

impl RankingQuery {
    /// Of a review: what excludes a paper is not looked for.
    pub fn of(criteria: &Criteria) -> Self {
        let wanted = criteria.criteria.iter().filter(|one| one.kind == CriterionKind::Include);
        let texts: Vec<String> =
            std::iter::once(&criteria.title).chain(wanted.map(|one| &one.text)).cloned().collect();
        Self { words: texts.join(" "), texts }
    }
}

/// A paper as it is ranked.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ranking<'a> {
    /// Title and abstract.
    pub text: &'a str,
    /// Its embedding of length 1, `[dim]`; `None` where there is none, which ranks as average.
    pub vector: Option<&'a [f32]>,
    /// [`super::PaperDecision::score`], where the paper was screened.
    pub score: Option<f32>,
}

/// A paper's place in the order and what it is made of, each a z-score over the papers.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RankedBy {
    /// What papers are sorted by: the sum of the others.
    pub total: f32,
    /// BM25 of title and abstract for the words of title and criteria.
    pub words: f32,
    /// Cosine of title and abstract with the title of the review, and half the mean of those with its criteria.
    pub similarity: f32,
    /// Log of the score that the criteria gave.
    pub criteria: f32,
}

/// What each paper is ranked by, in order. `queries` are the embeddings of [`RankingQuery::texts`], of length 1.
///
/// The parts have equal weights, which were not fitted: five reviews are no sample to fit them on.
pub fn rank(query: &RankingQuery, queries: &[Vec<f32>], papers: &[Ranking<'_>]) -> Vec<RankedBy> {
    let texts: Vec<&str> = papers.iter().map(|paper| paper.text).collect();
    let by_words: Vec<Option<f32>> =
        Bm25::of(&texts).scores(&query.words).into_iter().map(Some).collect();
    let similarity = |paper: &Ranking<'_>| {
        let vector = paper.vector?;
        let (title, rest) = queries.split_first()?;
        let of_criteria: f32 = rest.iter().map(|query| dot(query, vector)).sum();
        let mean = if rest.is_empty() { 0.0 } else { of_criteria / rest.len() as f32 };
        Some(dot(title, vector) + 0.5 * mean)
    };
    let similarities: Vec<Option<f32>> = papers.iter().map(similarity).collect();
    let scores: Vec<Option<f32>> =
        papers.iter().map(|paper| paper.score.map(|score| score.max(1e-6).ln())).collect();
    let (words, similarities, scores) =
        (z_scores(&by_words), z_scores(&similarities), z_scores(&scores));
    words
        .into_iter()
        .zip(similarities)
        .zip(scores)
        .map(|((words, similarity), criteria)| RankedBy {
            total: words + similarity + criteria,
            words,
            similarity,
            criteria,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::criteria::Criterion;
    use super::*;

    #[test]
    fn words_similarity_and_criteria_add_up() {
        let criterion =
            |text: &str, kind| Criterion { id: "c".to_owned(), text: text.to_owned(), kind };
        let criteria = Criteria {
            title: "Emicizumab".to_owned(),
            criteria: vec![
                criterion("measures clearance", CriterionKind::Include),
                criterion("animal study", CriterionKind::Exclude),
            ],
        };
        let query = RankingQuery::of(&criteria);
        assert_eq!(query.texts, ["Emicizumab", "measures clearance"]);
        let (near, far) = ([1.0, 0.0], [0.0, 1.0]);
        let paper =
            |text, vector, score| Ranking { text, vector: Some(vector), score: Some(score) };
        let papers = [
            paper("emicizumab clearance", &near[..], 0.9),
            paper("emicizumab costs", &near[..], 0.2),
            paper("aspirin", &far[..], 0.2),
        ];
        let queries = vec![vec![1.0, 0.0], vec![1.0, 0.0]];
        let ranked = rank(&query, &queries, &papers);
        assert!(ranked[0].total > ranked[1].total && ranked[1].total > ranked[2].total);
        let sum = ranked[0].words + ranked[0].similarity + ranked[0].criteria;
        assert!((ranked[0].total - sum).abs() < 1e-6);
    }
}
