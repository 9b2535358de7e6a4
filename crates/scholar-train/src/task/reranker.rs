//! A reranker: one positive passage against negatives, by listwise cross-entropy and distillation.
//!
//! Source: `FlagEmbedding`'s reranker training, as the paper used it: one random positive and `group_size - 1` negatives of a
//! query; where a row has fewer negatives, its list is repeated and sampled without replacement. On rows that a teacher
//! scored, `teacher_weight` of the loss is the divergence from the teacher's distribution over the group.
//! A late-interaction reranker is trained the same way on its own scores.

use scholar_core::SplitMix64;

use super::{Evaluation, Split, StepContext, TaskData, TrainingTask, measures};
use crate::data::RerankRow;
use crate::error::TrainError;
use crate::loss::{Teacher, distillation, listwise};
use crate::metrics::ndcg;
use crate::model::Model;
use crate::network::interaction::QueryGroup;
use crate::settings::{RerankerArchitecture, Settings};

/// Passages of each kind that a held-out query is measured on.
const MOST_POSITIVES: usize = 4;
const MOST_NEGATIVES: usize = 15;

pub(super) struct Ranking {
    split: Split<RerankRow>,
    /// Training rows without teacher scores, where a teacher is wanted; their loss is that of the labels alone.
    unscored: usize,
    group_size: usize,
    repeat: bool,
    dropout: f32,
    /// Weight of the distillation loss.
    teacher_weight: f32,
    teacher_temperature: f32,
    architecture: RerankerArchitecture,
    /// Temperature that scores of late interaction are divided by.
    temperature: f32,
}

impl Ranking {
    pub(super) fn open(settings: &Settings) -> Result<Self, TrainError> {
        let split = Split::read(settings, |row: &RerankRow| &row.query, RerankRow::check)?;
        let unscored = split.rows.iter().filter(|row| !row.is_scored()).count();
        if settings.teacher_weight > 0.0 && unscored == split.rows.len() {
            let problem = "no row has pos_scores and neg_scores; `openscholar train score-teacher` makes them";
            return Err(TrainError::setting("teacher_weight", problem));
        }
        Ok(Self {
            unscored: if settings.teacher_weight > 0.0 { unscored } else { 0 },
            split,
            group_size: settings.group_size,
            repeat: settings.repeat_negatives,
            dropout: settings.dropout,
            teacher_weight: settings.teacher_weight,
            teacher_temperature: settings.teacher_temperature,
            architecture: settings.architecture,
            temperature: settings.temperature,
        })
    }

    /// Mean loss of groups of `logits` and its gradient; `taught` has the size of each group and the teacher's scores, if any.
    fn loss(&self, logits: &[f32], taught: &[(usize, Option<Vec<f32>>)]) -> (f64, Vec<f32>) {
        let mut grad_logits = vec![0.0; logits.len()];
        let weight = 1.0 / taught.len() as f32;
        let (mut loss, mut start) = (0.0, 0);
        for (size, taught) in taught {
            let distilled = if taught.is_some() { self.teacher_weight } else { 0.0 };
            let group = start..start + size;
            let (logits, grad_logits) = (&logits[group.clone()], &mut grad_logits[group]);
            let labels = listwise(logits, |at| at == 0, weight * (1.0 - distilled), grad_logits);
            loss += labels * f64::from(1.0 - distilled);
            if let Some(taught) = taught.as_ref().filter(|_| distilled > 0.0) {
                let teacher = Teacher { scores: taught, temperature: self.teacher_temperature };
                loss += distillation(logits, teacher, weight * distilled, grad_logits)
                    * f64::from(distilled);
            }
            start += size;
        }
        (loss / taught.len() as f64, grad_logits)
    }
}

/// A passage of a group, with the teacher's score if there is one.
pub(super) type Drawn<'a> = (&'a str, Option<f32>);

/// A random positive and up to `group - 1` negatives of a row.
pub(super) fn sample<'a>(
    row: &'a RerankRow,
    group_size: usize,
    repeat: bool,
    random: &mut SplitMix64,
) -> Vec<Drawn<'a>> {
    let one = |texts: &'a [String], scores: &[f32], at: usize| {
        (texts[at].as_str(), scores.get(at).copied())
    };
    let mut passages = vec![one(&row.pos, &row.pos_scores, random.below(row.pos.len()))];
    let wanted = group_size - 1;
    let rounds = if repeat { wanted.div_ceil(row.neg.len()) } else { 1 };
    let count = row.neg.len() * rounds;
    let mut chosen = random.distinct(wanted.min(count), count);
    random.shuffle(&mut chosen);
    let negative = |at: usize| one(&row.neg, &row.neg_scores, at % row.neg.len());
    passages.extend(chosen.into_iter().map(negative));
    passages
}

impl TrainingTask for Ranking {
    fn data(&self) -> TaskData<'_> {
        self.split.data()
    }

    fn training_step(
        &mut self,
        model: &mut Model,
        items: &[usize],
        context: StepContext,
    ) -> Result<f64, TrainError> {
        let mut random = context.random();
        let mut groups = Vec::new();
        for item in items {
            let row = &self.split.rows[*item];
            groups
                .push((row.query.as_str(), sample(row, self.group_size, self.repeat, &mut random)));
        }
        let scores = |group: &[Drawn<'_>]| group.iter().map(|(_, score)| *score).collect();
        let taught: Vec<(usize, Option<Vec<f32>>)> =
            groups.iter().map(|(_, group)| (group.len(), scores(group))).collect();
        let dropout = context.dropout(self.dropout);
        let tokenizer = &model.tokenizer;
        if self.architecture == RerankerArchitecture::LateInteraction {
            let texts: Vec<&str> = groups
                .iter()
                .flat_map(|(query, group)| {
                    std::iter::once(*query).chain(group.iter().map(|(passage, _)| *passage))
                })
                .collect();
            let batch = model.threads.run(|| tokenizer.singles(&texts))?;
            let sizes: Vec<usize> = taught.iter().map(|(size, _)| *size).collect();
            let places = QueryGroup::in_order(&sizes);
            let scores = model.interact(&batch, &places, dropout)?.iter();
            let logits: Vec<f32> = scores.map(|score| score / self.temperature).collect();
            let (loss, mut grad_logits) = self.loss(&logits, &taught);
            for grad in &mut grad_logits {
                *grad /= self.temperature;
            }
            model.interact_back(&batch, &places, &grad_logits);
            return Ok(loss);
        }
        let pairs: Vec<(&str, &str)> = groups
            .iter()
            .flat_map(|(query, group)| group.iter().map(|(passage, _)| (*query, *passage)))
            .collect();
        let batch = model.threads.run(|| tokenizer.pairs(&pairs))?;
        let (loss, grad_logits) = self.loss(&model.classify(&batch, dropout)?, &taught);
        model.classify_back(&batch, &grad_logits);
        Ok(loss)
    }

    fn evaluate(&mut self, model: &mut Model) -> Result<Evaluation, TrainError> {
        let (mut pairs, mut sizes) = (Vec::new(), Vec::new());
        for row in &self.split.held_out {
            let positives = row.pos.len().min(MOST_POSITIVES);
            let passages = row.pos[..positives].iter().chain(row.neg.iter().take(MOST_NEGATIVES));
            let before = pairs.len();
            pairs.extend(passages.map(|passage| (row.query.as_str(), passage.as_str())));
            sizes.push((positives, pairs.len() - before));
        }
        let mut logits = model.logits(&pairs)?;
        if self.architecture == RerankerArchitecture::LateInteraction {
            for logit in &mut logits {
                *logit /= self.temperature;
            }
        }
        Ok(ranked(&logits, &sizes))
    }

    fn unscored(&self) -> usize {
        self.unscored
    }
}

/// Measures of rankings: groups of (relevant, all) scores, the relevant first.
pub(super) fn ranked(scores: &[f32], sizes: &[(usize, usize)]) -> Evaluation {
    let (mut gain, mut reciprocal, mut loss, mut start) = (0.0, 0.0, 0.0, 0);
    for (relevant, size) in sizes {
        let scores = &scores[start..start + size];
        gain += ndcg(scores, |at| at < *relevant, 10).unwrap_or(0.0);
        let best = scores[..*relevant].iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let ahead = scores[*relevant..].iter().filter(|score| **score >= best).count();
        reciprocal += 1.0 / (1 + ahead) as f64;
        loss += listwise(scores, |at| at < *relevant, 1.0, &mut vec![0.0; *size]);
        start += size;
    }
    let count = sizes.len() as f64;
    Evaluation {
        score: gain / count,
        values: measures([
            ("ndcg@10", gain / count),
            ("mrr", reciprocal / count),
            ("held_out_loss", loss / count),
        ]),
        calibration: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(negatives: usize) -> RerankRow {
        RerankRow {
            query: "q".to_owned(),
            pos: vec!["p".to_owned()],
            neg: (0..negatives).map(|at| at.to_string()).collect(),
            pos_scores: vec![1.0],
            neg_scores: (0..negatives).map(|at| at as f32).collect(),
            source: None,
        }
    }

    #[test]
    fn groups_hold_one_positive_and_repeat_negatives_evenly_where_asked() {
        let mut random = SplitMix64::new(1);
        let few = row(4);
        assert_eq!(sample(&few, 8, false, &mut random).len(), 5);
        let group = sample(&few, 8, true, &mut random);
        assert_eq!((group.len(), group[0]), (8, ("p", Some(1.0))));
        for (at, negative) in few.neg.iter().enumerate() {
            let drawn = (negative.as_str(), Some(at as f32));
            let times = group.iter().filter(|found| **found == drawn).count();
            assert!((1..=2).contains(&times), "two rounds of four, seven drawn");
        }
        let many = row(40);
        let group = sample(&many, 8, true, &mut random);
        let mut group: Vec<&str> = group[1..].iter().map(|(text, _)| *text).collect();
        group.sort_unstable();
        group.dedup();
        assert_eq!(group.len(), 7);
    }

    #[test]
    fn rankings_are_measured() {
        let found = ranked(&[0.9, 0.1, 0.2, 0.3, 0.5], &[(1, 2), (1, 3)]);
        assert!((found.score - (1.0 + 0.5) / 2.0).abs() < 1e-9, "{found:?}");
        assert!((found.values[1].1 - (1.0 + 1.0 / 3.0) / 2.0).abs() < 1e-9, "{found:?}");
    }
}
