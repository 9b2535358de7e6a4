//! An attributor: three classes of (sentence, evidence), and which sentence of a passage is the evidence.
//!
//! Both are one classifier: the loss of a row is the cross-entropy of its class, and, where its sentences are known, the
//! listwise cross-entropy of their [`evidence_score`]s.

use super::{Evaluation, Measure, Split, StepContext, TaskData, TrainingTask, measures};
use crate::data::{AttributionRow, EvidenceLabel};
use crate::error::TrainError;
use crate::loss::{cross_entropy, evidence_score, evidence_score_back, listwise};
use crate::metrics::{auroc, ece, fit_temperature, softmax};
use crate::model::Model;
use crate::settings::Settings;

const CLASSES: usize = EvidenceLabel::ALL.len();

pub(super) struct Judging {
    split: Split<AttributionRow>,
    dropout: f32,
    selection_weight: f32,
    selection_sentences: usize,
}

impl Judging {
    pub(super) fn open(settings: &Settings) -> Result<Self, TrainError> {
        let split =
            Split::read(settings, |row: &AttributionRow| &row.sentence, AttributionRow::check)?;
        for (rows, what) in
            [(&split.rows, "rows to learn from"), (&split.held_out, "held-out rows")]
        {
            let counts = EvidenceLabel::ALL
                .map(|label| rows.iter().filter(|row| row.label == label).count());
            if counts.iter().filter(|count| **count > 0).count() < 2 {
                let (all, names) = (rows.len(), EvidenceLabel::NAMES);
                let what = format!("all {all} {what} are of one class: {counts:?} of {names:?}");
                return Err(TrainError::Useless { what });
            }
        }
        Ok(Self {
            split,
            dropout: settings.dropout,
            selection_weight: settings.selection_weight,
            selection_sentences: settings.selection_sentences,
        })
    }
}

/// Whether a row's sentences can teach or test selection.
fn selects(row: &AttributionRow) -> bool {
    !row.gold.is_empty() && row.gold.len() < row.sentences.len()
}

impl TrainingTask for Judging {
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
        let rows: Vec<&AttributionRow> = items.iter().map(|item| &self.split.rows[*item]).collect();
        let mut pairs: Vec<(&str, &str)> =
            rows.iter().map(|row| (row.sentence.as_str(), row.evidence.as_str())).collect();
        // The first of each list is the gold one.
        let mut lists = Vec::new();
        if self.selection_weight > 0.0 {
            for row in rows.iter().filter(|row| selects(row)) {
                let gold = row.gold[random.below(row.gold.len())];
                let others: Vec<usize> =
                    (0..row.sentences.len()).filter(|at| !row.gold.contains(at)).collect();
                let mut drawn = random.distinct(self.selection_sentences - 1, others.len());
                random.shuffle(&mut drawn);
                let start = pairs.len();
                let chosen = std::iter::once(gold).chain(drawn.into_iter().map(|at| others[at]));
                pairs.extend(chosen.map(|at| (row.sentence.as_str(), row.sentences[at].as_str())));
                lists.push(start..pairs.len());
            }
        }
        let tokenizer = &model.tokenizer;
        let batch = model.threads.run(|| tokenizer.pairs(&pairs))?;
        let dropout = context.dropout(self.dropout);
        let logits = model.classify(&batch, dropout)?;
        let mut grad_logits = vec![0.0; logits.len()];
        let weight = 1.0 / rows.len() as f32;
        let mut loss = 0.0;
        for (at, row) in rows.iter().enumerate() {
            let place = at * CLASSES..(at + 1) * CLASSES;
            let class = row.label.class();
            loss += f64::from(weight)
                * cross_entropy(&logits[place.clone()], class, weight, &mut grad_logits[place]);
        }
        let weight = self.selection_weight / lists.len().max(1) as f32;
        for list in &lists {
            let logits = &logits[list.start * CLASSES..list.end * CLASSES];
            let grad_logits = &mut grad_logits[list.start * CLASSES..list.end * CLASSES];
            let scores: Vec<f32> = logits.chunks_exact(CLASSES).map(evidence_score).collect();
            let mut grad_scores = vec![0.0; scores.len()];
            loss += f64::from(weight) * listwise(&scores, |at| at == 0, weight, &mut grad_scores);
            let parts = logits.chunks_exact(CLASSES).zip(grad_logits.chunks_exact_mut(CLASSES));
            for ((logits, grad_logits), grad_score) in parts.zip(grad_scores) {
                evidence_score_back(logits, grad_score, grad_logits);
            }
        }
        model.classify_back(&batch, &grad_logits);
        Ok(loss)
    }

    fn evaluate(&mut self, model: &mut Model) -> Result<Evaluation, TrainError> {
        let held_out = &self.split.held_out;
        let mut pairs: Vec<(&str, &str)> =
            held_out.iter().map(|row| (row.sentence.as_str(), row.evidence.as_str())).collect();
        for row in held_out.iter().filter(|row| selects(row)) {
            pairs.extend(row.sentences.iter().map(|s| (row.sentence.as_str(), s.as_str())));
        }
        let logits = model.logits(&pairs)?;
        let (judged, listed) = logits.split_at(held_out.len() * CLASSES);
        let rows: Vec<(Vec<f32>, usize)> = judged
            .chunks_exact(CLASSES)
            .zip(held_out)
            .map(|(logits, row)| (logits.to_vec(), row.label.class()))
            .collect();
        let mut values = judgements(&rows);
        let score = values[0].1;
        let mut start = 0;
        let (mut right, mut count) = (0.0, 0_usize);
        for row in held_out.iter().filter(|row| selects(row)) {
            let size = row.sentences.len() * CLASSES;
            let scores: Vec<f32> =
                listed[start..start + size].chunks_exact(CLASSES).map(evidence_score).collect();
            let best = (0..scores.len()).max_by(|a, b| scores[*a].total_cmp(&scores[*b]));
            right += f64::from(u8::from(best.is_some_and(|best| row.gold.contains(&best))));
            count += 1;
            start += size;
        }
        if count > 0 {
            values.push(("selection@1".to_owned(), right / count as f64));
        }
        Ok(Evaluation { score, values, calibration: Some(fit_temperature(&rows)) })
    }
}

/// Measures of logits with their classes; the first is the AUROC of support.
fn judgements(rows: &[(Vec<f32>, usize)]) -> Vec<Measure> {
    let support: Vec<(f32, bool)> =
        rows.iter().map(|(logits, class)| (softmax(logits, 1.0)[0], *class == 0)).collect();
    let mut right = 0.0;
    let mut loss = 0.0;
    for (logits, class) in rows {
        let best = (0..CLASSES).max_by(|a, b| logits[*a].total_cmp(&logits[*b]));
        right += f64::from(u8::from(best == Some(*class)));
        loss += cross_entropy(logits, *class, 1.0, &mut [0.0; CLASSES]);
    }
    let count = rows.len() as f64;
    measures([
        ("auroc", auroc(&support).unwrap_or(0.5)),
        ("accuracy", right / count),
        ("held_out_loss", loss / count),
        ("ece", ece(&support)),
    ])
}
