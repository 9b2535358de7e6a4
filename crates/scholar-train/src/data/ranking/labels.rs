//! How relevant a candidate is, from 1 to 5: 4 and 5 are positives, 1 and 2 negatives, 3 is dropped.
//!
//! Source: OpenScholar's reranker, whose labels a language model gave. Rules do it where no strong model is at hand:
//!
//! | label | rule |
//! |---|---|
//! | 5 | people, or the way the query was made, say that it answers |
//! | 3 | it may answer: a record of the same paper, nearly the text of a positive, or, for synthetic queries, it outranks every positive and has as much of the query |
//! | 2 | found, and none of the above |
//! | 1 | of the pool, not found |

use std::collections::BTreeSet;

use scholar_core::{GenerationRequest, Generator, OutputShape, Sampling};
use scholar_pipeline::prompts::Prompt;

use super::super::error::DataError;
use super::super::wording::{coverage, stems};

/// A grade of relevance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Relevance(u8);

impl Relevance {
    /// May answer the query: neither positive nor negative.
    pub const UNSURE: Self = Self(3);
    /// Looks like an answer and is none.
    pub const MISLEADING: Self = Self(2);

    /// A grade from 1 to 5.
    pub fn new(grade: u8) -> Option<Self> {
        (1..=5).contains(&grade).then_some(Self(grade))
    }

    /// Whether the passage is kept as a negative: grades 1 and 2.
    pub fn is_negative(self) -> bool {
        self.0 <= 2
    }
}

/// Fraction of content stems in common from which a passage says what a positive says.
const SAME: f64 = 0.75;

/// What the rules need of a query's positives.
#[derive(Debug)]
pub struct Rules {
    query: BTreeSet<String>,
    positives: Vec<BTreeSet<String>>,
    papers: BTreeSet<String>,
    covered: f64,
    strict: bool,
}

impl Rules {
    /// Rules for a query; `positives` are `(paper, whole passage)`. `labelled` queries trust their labels, so what
    /// outranks their positives is a hard negative and not a doubt.
    pub fn new<'a>(
        query: &str,
        positives: impl IntoIterator<Item = (&'a str, String)>,
        labelled: bool,
    ) -> Self {
        let query = stems(query);
        let (papers, positives): (BTreeSet<String>, Vec<BTreeSet<String>>) = positives
            .into_iter()
            .map(|(paper, passage)| (paper.to_owned(), stems(&passage)))
            .unzip();
        let covered = positives.iter().map(|stems| coverage(&query, stems)).fold(0.0_f64, f64::max);
        Self { query, positives, papers, covered, strict: !labelled }
    }

    /// The grade of a found passage that is no positive. `outranks`: the search puts it before every positive.
    pub fn grade(&self, paper: &str, passage: &str, outranks: bool) -> Relevance {
        let stems = stems(passage);
        let says_the_same = self.positives.iter().any(|positive| {
            let common = positive.intersection(&stems).count();
            common as f64 > SAME * positive.len().min(stems.len()) as f64
        });
        let rivals = self.strict && outranks && coverage(&self.query, &stems) >= self.covered;
        if self.papers.contains(paper) || says_the_same || rivals {
            Relevance::UNSURE
        } else {
            Relevance::MISLEADING
        }
    }
}

const RELEVANCE: Prompt =
    Prompt::new("train/relevance", include_str!("../../../prompts/relevance.txt"));
const QUESTION: Prompt =
    Prompt::new("train/question", include_str!("../../../prompts/question.txt"));

/// Asks a language model how relevant a passage is; the most probable grade.
///
/// # Errors
/// When the model cannot run or gives no probabilities.
pub async fn graded_by(
    generator: &dyn Generator,
    query: &str,
    passage: &str,
) -> Result<Relevance, DataError> {
    const GRADES: [&str; 5] = ["1", "2", "3", "4", "5"];
    let messages = RELEVANCE.render(false, &[("query", query), ("passage", passage)]);
    let scores = generator
        .choose("label training data", &messages, &GRADES)
        .await
        .map_err(|source| DataError::Port { doing: "grading a passage".to_owned(), source })?;
    let best = scores.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1)).map_or(2, |(n, _)| n);
    Ok(Relevance(u8::try_from(best + 1).unwrap_or(3)))
}

/// Asks a language model for a question that a passage answers; `None` when what it writes is none.
///
/// # Errors
/// When the model cannot run.
pub async fn question_by(
    generator: &dyn Generator,
    passage: &str,
) -> Result<Option<String>, DataError> {
    let request = GenerationRequest {
        purpose: "make a training query".to_owned(),
        messages: QUESTION.render(false, &[("passage", passage)]),
        sampling: Sampling::greedy(64),
        shape: OutputShape::Text,
    };
    let reply = generator
        .generate(&request, &|_: &str| {})
        .await
        .map_err(|source| DataError::Port { doing: "asking for a question".to_owned(), source })?;
    let line = reply.text.lines().map(str::trim).find(|line| !line.is_empty());
    let line = line.map(|line| line.trim_matches(['"', '*', ' ']));
    Ok(line
        .filter(|line| line.ends_with('?') && (4..=40).contains(&line.split_whitespace().count()))
        .map(str::to_owned))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grades_decide_the_side() {
        assert_eq!(Relevance::new(0), None);
        let negative: Vec<bool> =
            (1..=5).filter_map(Relevance::new).map(Relevance::is_negative).collect();
        assert_eq!(negative, [true, true, false, false, false]);
    }

    #[test]
    fn doubts_are_dropped() {
        let positive = "Salt raises blood pressure in adults after four weeks";
        let rules =
            |labelled| Rules::new("salt blood pressure", [("p1", positive.to_owned())], labelled);
        let other = "Salt and blood pressure of rats with a tail cuff and a new device";
        assert_eq!(rules(false).grade("p2", other, true), Relevance::UNSURE);
        assert_eq!(rules(true).grade("p2", other, true), Relevance::MISLEADING);
        assert_eq!(rules(false).grade("p2", other, false), Relevance::MISLEADING);
        assert_eq!(rules(true).grade("p1", other, false), Relevance::UNSURE);
        let same = "In adults, salt raises the blood pressure after four weeks";
        assert_eq!(rules(true).grade("p2", same, false), Relevance::UNSURE);
    }

    #[test]
    fn prompts_state_what_they_use() {
        assert_eq!((RELEVANCE.problem(), QUESTION.problem()), (None, None));
    }
}
