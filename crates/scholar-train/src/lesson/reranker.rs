//! A reranker: one right passage among wrong ones, by listwise cross-entropy.
//!
//! Source: `FlagEmbedding`'s reranker training, as the paper used it: one random positive and `group - 1` negatives of a
//! query; where a row has fewer negatives, its list is repeated and sampled without replacement. Where a teacher scored the
//! passages of a row, `teacher_weight` of its loss is how far the shares of the group are from the teacher's.
//! A reranker that reads apart learns the same from scores of late interaction.

use scholar_core::SplitMix64;

use super::{Evaluation, Lesson, Moment, Rejected, Split, measures};
use crate::data::RerankRow;
use crate::error::TrainError;
use crate::loss::{distilled, listwise};
use crate::metrics::ndcg;
use crate::model::Model;
use crate::network::interaction::Asked;
use crate::settings::{Reads, Settings};

/// Passages of each kind that a held-out query is measured on.
const MOST_POSITIVES: usize = 4;
const MOST_NEGATIVES: usize = 15;

pub(super) struct Ranking {
    split: Split<RerankRow>,
    /// Rows that a teacher was wanted for and has not scored: labels alone teach them.
    untaught: usize,
    group: usize,
    repeat: bool,
    dropout: f32,
    /// The teacher's share of the loss and its temperature.
    teacher: (f32, f32),
    reads: Reads,
    /// What scores of late interaction are divided by.
    temperature: f32,
}

impl Ranking {
    pub(super) fn open(settings: &Settings) -> Result<Self, TrainError> {
        let split = Split::read(settings, |row: &RerankRow| &row.query, RerankRow::check)?;
        let untaught = split.rows.iter().filter(|row| !row.is_taught()).count();
        if settings.teacher_weight > 0.0 && untaught == split.rows.len() {
            let problem =
                "no row has pos_scores and neg_scores; `openscholar train teach` makes them";
            return Err(TrainError::setting("teacher_weight", problem));
        }
        Ok(Self {
            untaught: if settings.teacher_weight > 0.0 { untaught } else { 0 },
            split,
            group: settings.group,
            repeat: settings.repeat_negatives,
            dropout: settings.dropout,
            teacher: (settings.teacher_weight, settings.teacher_temperature),
            reads: settings.reads,
            temperature: settings.temperature,
        })
    }

    /// The loss of groups of `logits` and its slopes: `taught` has the size of each and the teacher's scores, if there are any.
    fn loss(&self, logits: &[f32], taught: &[(usize, Option<Vec<f32>>)]) -> (f64, Vec<f32>) {
        let mut slopes = vec![0.0; logits.len()];
        let (wanted, temperature) = self.teacher;
        let weight = 1.0 / taught.len() as f32;
        let (mut loss, mut start) = (0.0, 0);
        for (size, taught) in taught {
            let share = if taught.is_some() { wanted } else { 0.0 };
            let group = start..start + size;
            let (logits, slopes) = (&logits[group.clone()], &mut slopes[group]);
            let labels = listwise(logits, |at| at == 0, weight * (1.0 - share), slopes);
            loss += labels * f64::from(1.0 - share);
            if let Some(taught) = taught.as_ref().filter(|_| share > 0.0) {
                let teacher = (&taught[..], temperature);
                loss += distilled(logits, teacher, weight * share, slopes) * f64::from(share);
            }
            start += size;
        }
        (loss / taught.len() as f64, slopes)
    }
}

/// A passage of a group, with the teacher's score if there is one.
pub(super) type Drawn<'a> = (&'a str, Option<f32>);

/// A random positive and up to `group - 1` negatives of a row.
pub(super) fn sample<'a>(
    row: &'a RerankRow,
    group: usize,
    repeat: bool,
    random: &mut SplitMix64,
) -> Vec<Drawn<'a>> {
    let one = |texts: &'a [String], scores: &[f32], at: usize| {
        (texts[at].as_str(), scores.get(at).copied())
    };
    let mut passages = vec![one(&row.pos, &row.pos_scores, random.below(row.pos.len()))];
    let wanted = group - 1;
    let rounds = if repeat { wanted.div_ceil(row.neg.len()) } else { 1 };
    let count = row.neg.len() * rounds;
    let mut chosen = random.distinct(wanted.min(count), count);
    random.shuffle(&mut chosen);
    let negative = |at: usize| one(&row.neg, &row.neg_scores, at % row.neg.len());
    passages.extend(chosen.into_iter().map(negative));
    passages
}

impl Lesson for Ranking {
    fn items(&self) -> usize {
        self.split.rows.len()
    }

    fn learn(&mut self, model: &mut Model, items: &[usize], at: Moment) -> Result<f64, TrainError> {
        let mut random = at.random();
        let mut groups = Vec::new();
        for item in items {
            let row = &self.split.rows[*item];
            groups.push((row.query.as_str(), sample(row, self.group, self.repeat, &mut random)));
        }
        let scores = |group: &[Drawn<'_>]| group.iter().map(|(_, score)| *score).collect();
        let taught: Vec<(usize, Option<Vec<f32>>)> =
            groups.iter().map(|(_, group)| (group.len(), scores(group))).collect();
        let noise = at.noise(self.dropout);
        let reader = &model.reader;
        if self.reads == Reads::Apart {
            let texts: Vec<&str> = groups
                .iter()
                .flat_map(|(query, group)| {
                    std::iter::once(*query).chain(group.iter().map(|(passage, _)| *passage))
                })
                .collect();
            let batch = model.threads.run(|| reader.singles(&texts))?;
            let sizes: Vec<usize> = taught.iter().map(|(size, _)| *size).collect();
            let asked = Asked::in_order(&sizes);
            let scores = model.interact(&batch, &asked, noise)?.iter();
            let logits: Vec<f32> = scores.map(|score| score / self.temperature).collect();
            let (loss, mut slopes) = self.loss(&logits, &taught);
            for slope in &mut slopes {
                *slope /= self.temperature;
            }
            model.interact_back(&batch, &asked, &slopes);
            return Ok(loss);
        }
        let pairs: Vec<(&str, &str)> = groups
            .iter()
            .flat_map(|(query, group)| group.iter().map(|(passage, _)| (*query, *passage)))
            .collect();
        let batch = model.threads.run(|| reader.pairs(&pairs))?;
        let (loss, slopes) = self.loss(&model.classify(&batch, noise)?, &taught);
        model.classify_back(&batch, &slopes);
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
        if self.reads == Reads::Apart {
            for logit in &mut logits {
                *logit /= self.temperature;
            }
        }
        Ok(ranked(&logits, &sizes))
    }

    fn rejected(&self) -> &[Rejected] {
        &self.split.rejected
    }

    fn untaught(&self) -> usize {
        self.untaught
    }

    fn counts(&self) -> (usize, usize) {
        (self.split.rows.len(), self.split.held_out.len())
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
