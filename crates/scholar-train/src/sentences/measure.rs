//! How well a classifier ranks, calibrates and tells roles, beside baselines that need no training.

use std::collections::BTreeMap;

use scholar_core::text::words::content_stems;
use scholar_core::{PortError, SentenceClassifier, SentenceRole};
use scholar_models::sentence_heads::StemWeights;
use serde::Serialize;

use super::Encoded;
use super::examples::{Shown, context};
use crate::data::sentences::SentenceRow;
use crate::metrics::{auroc, ece, ndcg};

/// What orders sentences.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Scorer {
    /// The classifier's `answers`.
    Classifier,
    /// Cosine of question and sentence.
    Cosine,
    /// IDF-weighted share of the question's stems in the sentence.
    Overlap,
}

impl Scorer {
    /// All, the classifier first.
    pub const ALL: [Self; 3] = [Self::Classifier, Self::Cosine, Self::Overlap];

    /// As tables name it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Classifier => "classifier",
            Self::Cosine => "cosine",
            Self::Overlap => "IDF overlap",
        }
    }
}

/// Ranking and calibration on the rows of one collection.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AnswerMeasures {
    /// What ordered the sentences.
    pub scorer: Scorer,
    /// Labelled sentences.
    pub sentences: usize,
    /// Those that answer.
    pub positives: usize,
    /// Over all labelled sentences.
    pub auroc: Option<f64>,
    /// Passages with a sentence that answers and one that does not; the three below are means over them.
    pub passages: usize,
    /// First sentence answers.
    pub precision_at_1: f64,
    /// Reciprocal rank of the first that answers.
    pub mrr: f64,
    /// nDCG at 10.
    pub ndcg: f64,
    /// Questions with passages of several papers, and how often the best of all their sentences answers.
    pub questions: usize,
    /// See `questions`.
    pub question_precision_at_1: f64,
    /// Expected calibration error in ten bins; of the classifier only.
    pub ece: Option<f64>,
}

/// Roles on the rows of one collection.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RoleMeasures {
    /// Sentences with a role.
    pub sentences: usize,
    /// Share that got it.
    pub accuracy: f64,
    /// Mean of the five F1 scores; a role that neither occurs nor is given is left out.
    pub macro_f1: f64,
    /// `[true][given]`, in the order of [`SentenceRole::ALL`].
    pub confusion: [[usize; 5]; 5],
    /// Of result or conclusion against the rest.
    pub finding_precision: f64,
    /// See `finding_precision`.
    pub finding_recall: f64,
}

/// All of one collection.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SentenceMeasures {
    /// Name of the collection.
    pub source: String,
    /// One for each [`Scorer`], where answers are labelled.
    pub answers: Vec<AnswerMeasures>,
    /// Where roles are labelled.
    pub roles: Option<RoleMeasures>,
}

/// One row with its scores.
struct Scored<'a> {
    row: &'a SentenceRow,
    /// By [`Scorer::ALL`], by sentence.
    scores: [Vec<f32>; 3],
    roles: Vec<SentenceRole>,
}

/// Classifies every sentence of `rows` and sums up by collection: `source` up to the comma. Headings are shown only where
/// `headings` is set: they would give the roles away.
///
/// # Errors
/// When the classifier fails.
pub fn measure(
    classifier: &dyn SentenceClassifier,
    rows: &[SentenceRow],
    encoded: &Encoded,
    headings: bool,
) -> Result<Vec<SentenceMeasures>, PortError> {
    let weights = StemWeights::of_texts(
        rows.iter().flat_map(|row| &row.sentences).map(|one| one.text.as_str()),
    );
    let mut by_source: BTreeMap<&str, Vec<Scored<'_>>> = BTreeMap::new();
    for row in rows {
        let shown = if headings { Shown::ALL } else { Shown::ALL.without_section() };
        let sentences: Vec<_> =
            (0..row.sentences.len()).map(|nth| context(row, nth, shown, encoded)).collect();
        // Roles do not depend on what is asked.
        let question = match row.question.as_str() {
            "" => encoded.passage(&row.sentences[0].text),
            question => encoded.question(question),
        };
        let given = classifier.classify(question, &sentences)?;
        let cosine = sentences
            .iter()
            .map(|one| one.sentence.vector.iter().zip(question.vector).map(|(a, b)| a * b).sum());
        let overlap =
            sentences.iter().map(|one| overlap(question.text, one.sentence.text, &weights));
        let scores =
            [given.iter().map(|one| one.answers).collect(), cosine.collect(), overlap.collect()];
        let roles = given.iter().map(|one| one.role.most_probable()).collect();
        let source = row.source.split(',').next().unwrap_or_default();
        by_source.entry(source).or_default().push(Scored { row, scores, roles });
    }
    Ok(by_source
        .into_iter()
        .map(|(source, scored)| SentenceMeasures {
            source: source.to_owned(),
            answers: Scorer::ALL.iter().filter_map(|scorer| answers(&scored, *scorer)).collect(),
            roles: roles(&scored),
        })
        .collect())
}

fn overlap(question: &str, sentence: &str, weights: &StemWeights) -> f32 {
    let stems = content_stems(sentence);
    let (mut found, mut total) = (0.0, 0.0);
    for stem in content_stems(question) {
        let weight = weights.weight(&stem);
        total += weight;
        found += if stems.contains(&stem) { weight } else { 0.0 };
    }
    if total > 0.0 { found / total } else { 0.0 }
}

fn answers(scored: &[Scored<'_>], scorer: Scorer) -> Option<AnswerMeasures> {
    let place = Scorer::ALL.iter().position(|one| *one == scorer)?;
    let mut all: Vec<(f32, bool)> = Vec::new();
    let mut by_passage: Vec<Vec<(f32, bool)>> = Vec::new();
    let mut by_question: BTreeMap<&str, Vec<Vec<(f32, bool)>>> = BTreeMap::new();
    for one in scored {
        let labels = one.row.sentences.iter().map(|sentence| sentence.answers);
        let known: Vec<(f32, bool)> = one.scores[place]
            .iter()
            .zip(labels)
            .filter_map(|(score, label)| label.map(|label| (*score, label)))
            .collect();
        all.extend(&known);
        by_question.entry(&one.row.question).or_default().push(known.clone());
        by_passage.push(known);
    }
    let pooled: Vec<Vec<(f32, bool)>> = by_question
        .into_values()
        .filter(|passages| passages.len() > 1)
        .map(|passages| passages.concat())
        .collect();
    let (by_passage, pooled) = (Ranks::of(&by_passage), Ranks::of(&pooled));
    (!all.is_empty()).then(|| AnswerMeasures {
        scorer,
        sentences: all.len(),
        positives: all.iter().filter(|one| one.1).count(),
        auroc: auroc(&all),
        passages: by_passage.n,
        precision_at_1: by_passage.precision_at_1,
        mrr: by_passage.mrr,
        ndcg: by_passage.ndcg,
        questions: pooled.n,
        question_precision_at_1: pooled.precision_at_1,
        ece: (scorer == Scorer::Classifier).then(|| ece(&all)),
    })
}

/// Means over lists that have both a positive and a negative.
#[derive(Debug, Default)]
struct Ranks {
    n: usize,
    precision_at_1: f64,
    mrr: f64,
    ndcg: f64,
}

impl Ranks {
    fn of(lists: &[Vec<(f32, bool)>]) -> Self {
        let mut sums = Self::default();
        for list in lists {
            let positives = list.iter().filter(|one| one.1).count();
            if positives == 0 || positives == list.len() {
                continue;
            }
            let scores: Vec<f32> = list.iter().map(|one| one.0).collect();
            let mut order: Vec<usize> = (0..list.len()).collect();
            // Of equal scores the one that does not answer comes first, as in nDCG.
            order.sort_by(|a, b| {
                scores[*b].total_cmp(&scores[*a]).then(list[*a].1.cmp(&list[*b].1))
            });
            let first = order.iter().position(|n| list[*n].1).unwrap_or_default();
            sums.n += 1;
            sums.precision_at_1 += f64::from(u8::from(first == 0));
            sums.mrr += 1.0 / (first + 1) as f64;
            sums.ndcg += ndcg(&scores, |n| list[n].1, 10).unwrap_or_default();
        }
        let n = sums.n.max(1) as f64;
        let Self { precision_at_1, mrr, ndcg, .. } = sums;
        Self { n: sums.n, precision_at_1: precision_at_1 / n, mrr: mrr / n, ndcg: ndcg / n }
    }
}

fn roles(scored: &[Scored<'_>]) -> Option<RoleMeasures> {
    let index = |role: SentenceRole| SentenceRole::ALL.iter().position(|one| *one == role);
    let mut confusion = [[0_usize; 5]; 5];
    for one in scored {
        for (sentence, given) in one.row.sentences.iter().zip(&one.roles) {
            if let Some((is, given)) = sentence.role.and_then(index).zip(index(*given)) {
                confusion[is][given] += 1;
            }
        }
    }
    let total: usize = confusion.iter().flatten().sum();
    if total == 0 {
        return None;
    }
    let share = |part: usize, of: usize| part as f64 / of.max(1) as f64;
    let f1: Vec<f64> = (0..5)
        .filter_map(|n| {
            let is: usize = confusion[n].iter().sum();
            let given: usize = confusion.iter().map(|row| row[n]).sum();
            (is + given > 0).then(|| share(2 * confusion[n][n], is + given))
        })
        .collect();
    let finding = |n: usize| n >= 3;
    let count = |is: bool, given: bool| -> usize {
        let cells = (0..5).flat_map(|i| (0..5).map(move |j| (i, j)));
        cells
            .filter(|(i, j)| finding(*i) == is && finding(*j) == given)
            .map(|(i, j)| confusion[i][j])
            .sum()
    };
    let both = count(true, true);
    Some(RoleMeasures {
        sentences: total,
        accuracy: share((0..5).map(|n| confusion[n][n]).sum(), total),
        macro_f1: f1.iter().sum::<f64>() / f1.len().max(1) as f64,
        confusion,
        finding_precision: share(both, both + count(false, true)),
        finding_recall: share(both, both + count(true, false)),
    })
}
