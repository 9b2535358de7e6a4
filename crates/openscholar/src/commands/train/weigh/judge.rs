//! A trained judge's log-odds beside those of the lexical one.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use scholar_bench::attribution::judged_evidence;
use scholar_bench::attribution::statistics::{Scored, auc, calibration_error};
use scholar_bench::statistics::logistic::{Observation, fit, probability, ridge};
use scholar_core::Attributor;
use scholar_models::{CrossEncoderOptions, TrainedAttributor};
use scholar_pipeline::proof::lexical::judge_pair;
use scholar_pipeline::proof::weighed::{
    WEIGHING_FILE, WeighedAttributor, Weighing, Weights, log_odds,
};
use scholar_train::data::{AttributionRow, EvidenceLabel, read_rows};
use serde_json::json;

use crate::app::App;
use crate::args::TrainWeighArgs;
use crate::error::{CommandError, Context as _};
use crate::{progress, runs};

/// Holds the weights near zero. Ours: a few hundred rows fit two weights in any case.
const RIDGE: f64 = 1.0;
/// Probability from which a pair is supported: even odds, as the weights are fitted to give probabilities.
const SUPPORTED: f32 = 0.5;
/// Probability from which it is partly supported, as of judges without weights.
const PARTIAL: f32 = 0.35;
/// Fewer rows say nothing.
const FEWEST: usize = 50;
/// Weights of the two judges that are tried for choosing a sentence of a passage.
const CHOOSING: [f64; 8] = [0.0, 0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0];

/// Bias and the log-odds of both.
type Seen = Observation<3>;

pub(super) fn run(args: &TrainWeighArgs, rows: &Path, app: &App) -> Result<ExitCode, CommandError> {
    let TrainWeighArgs { model, source, bad_rows, .. } = args;
    let read = read_rows(rows, *bad_rows, AttributionRow::check)?;
    let is_wanted = |row: &AttributionRow| {
        source.is_empty() || row.source.as_ref().is_some_and(|named| source.contains(named))
    };
    let wanted: Vec<AttributionRow> = read.values().filter(is_wanted).collect();
    let positive = wanted.iter().filter(|row| row.label == EvidenceLabel::Supports).count();
    if wanted.len() < FEWEST || positive == 0 || positive == wanted.len() {
        let (file, count) = (rows.display(), wanted.len());
        return Err(CommandError::user(format!(
            "{file} has {count} rows of those sources, {positive} of them support: too few to weigh anything"
        ))
        .with_hint("name more sources, or pass held-out rows as `train data attributor` writes them"));
    }
    let judge = TrainedAttributor::open(
        model,
        &model.display().to_string(),
        CrossEncoderOptions::project(app.threads()),
    )?;
    let judge = Arc::new(judge);
    let sentences = sentences(&judge, &wanted, app)?;
    let evidence = choosing(&sentences);
    let pairs = pairs(&judge, evidence, &wanted, app)?;
    let support = single(fit(&pairs, &ridge(RIDGE)));
    let weighing = Weighing { support, evidence, supported: SUPPORTED, partial: PARTIAL };
    let measured = Measured::of(&pairs, support);
    write(model, &weighing, &measured, sentences.len())?;
    measured.show(&weighing, model, app)?;
    Ok(ExitCode::SUCCESS)
}

/// Each source counts as much as any other.
fn weights(rows: &[AttributionRow]) -> Vec<f64> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let name = |row: &AttributionRow| row.source.clone().unwrap_or_default();
    let names: Vec<String> = rows.iter().map(name).collect();
    for name in &names {
        *counts.entry(name).or_default() += 1;
    }
    let share = |name: &String| rows.len() as f64 / (counts.len() * counts[name.as_str()]) as f64;
    names.iter().map(share).collect()
}

fn seen(by_model: f32, by_words: f32, y: bool, weight: f64) -> Seen {
    let x = [1.0, f64::from(log_odds(by_model)), f64::from(log_odds(by_words))];
    Observation { x, y: f64::from(u8::from(y)), weight }
}

/// Each statement beside the window of its evidence that the gates would show.
fn pairs(
    judge: &Arc<TrainedAttributor>,
    evidence: Weights,
    rows: &[AttributionRow],
    app: &App,
) -> Result<Vec<Seen>, CommandError> {
    let bar = progress::counted(&app.printer, "pairs", Some(rows.len() as u64));
    let alone =
        Weighing { support: [0.0, 1.0, 0.0], evidence, supported: SUPPORTED, partial: PARTIAL };
    let model: Arc<dyn Attributor> = judge.clone();
    let chooser = WeighedAttributor::new(model, alone);
    let mut all = Vec::new();
    for (row, weight) in rows.iter().zip(weights(rows)) {
        let window = app.block_on(judged_evidence(&chooser, &row.sentence, &row.evidence))??;
        let window = window.unwrap_or_else(|| row.evidence.clone());
        let judged = app.block_on(judge.judge(&[(row.sentence.as_str(), window.as_str())]))??;
        let by_words = judge_pair(&row.sentence, &window).score;
        let supports = row.label == EvidenceLabel::Supports;
        all.extend(judged.iter().map(|judged| seen(judged.score, by_words, supports, weight)));
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(all)
}

/// The sentences of each row that knows which of them decide.
fn sentences(
    judge: &TrainedAttributor,
    rows: &[AttributionRow],
    app: &App,
) -> Result<Vec<Vec<Seen>>, CommandError> {
    let knows =
        |row: &&AttributionRow| !row.gold.is_empty() && row.gold.len() < row.sentences.len();
    let rows: Vec<&AttributionRow> = rows.iter().filter(knows).collect();
    let bar = progress::counted(&app.printer, "passages", Some(rows.len() as u64));
    let mut all = Vec::new();
    for row in rows {
        let candidates: Vec<&str> = row.sentences.iter().map(String::as_str).collect();
        let scores = app.block_on(judge.evidence(&row.sentence, &candidates))??.unwrap_or_default();
        let seen = candidates.iter().zip(scores).enumerate().map(|(at, (candidate, score))| {
            let by_words = judge_pair(&row.sentence, candidate).score;
            seen(score, by_words, row.gold.contains(&at), 1.0)
        });
        all.push(seen.collect());
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(all)
}

/// The weights at which sentences that decide are likeliest to be chosen among those of their passage; the model alone where
/// nothing is known.
fn choosing(passages: &[Vec<Seen>]) -> Weights {
    let mut best = ([0.0, 1.0, 0.0], f64::NEG_INFINITY);
    for model in CHOOSING {
        for words in CHOOSING {
            let weights = [0.0, model, words];
            let likelihood = passages.iter().map(|passage| chosen(passage, &weights).ln()).sum();
            if !passages.is_empty() && likelihood > best.1 {
                best = (weights, likelihood);
            }
        }
    }
    single(best.0)
}

/// Probability that one of the sentences that decide is chosen, by the softmax of all.
fn chosen(passage: &[Seen], weights: &[f64; 3]) -> f64 {
    let odds = |row: &Seen| row.x.iter().zip(weights).map(|(x, w)| x * w).sum::<f64>().exp();
    let all: f64 = passage.iter().map(odds).sum();
    let right: f64 = passage.iter().filter(|row| row.y > 0.5).map(odds).sum();
    right / all
}

#[expect(clippy::cast_possible_truncation, reason = "weights of a size of about one")]
fn single(weights: [f64; 3]) -> Weights {
    weights.map(|weight| weight as f32)
}

/// What the weights reach on the rows they were fitted on.
struct Measured {
    rows: usize,
    by_model: Option<f64>,
    by_words: Option<f64>,
    by_both: Option<f64>,
    calibration_error: f64,
}

impl Measured {
    fn of(rows: &[Seen], support: Weights) -> Self {
        let support = support.map(f64::from);
        let scored = |score: &dyn Fn(&Seen) -> f64| -> Vec<Scored> {
            let one = |row: &Seen| {
                let score = score(row);
                Scored { score, called: score >= f64::from(SUPPORTED), truth: row.y > 0.5 }
            };
            rows.iter().map(one).collect()
        };
        let both = scored(&|row| probability(&support, &row.x));
        Self {
            rows: rows.len(),
            by_model: auc(&scored(&|row| row.x[1])),
            by_words: auc(&scored(&|row| row.x[2])),
            by_both: auc(&both),
            calibration_error: calibration_error(&both),
        }
    }

    fn json(&self) -> serde_json::Value {
        let Self { rows, by_model, by_words, by_both, calibration_error } = self;
        json!({
            "rows": rows,
            "auc_of_the_model": by_model,
            "auc_of_words": by_words,
            "auc_of_both": by_both,
            "calibration_error": calibration_error,
        })
    }

    fn show(&self, weighing: &Weighing, model: &Path, app: &App) -> Result<(), CommandError> {
        if app.printer.json {
            let (weighing, fitted) = (json!(weighing), self.json());
            return app.printer.json(&json!({
                "schema": "openscholar.train-weigh/1",
                "model": model,
                "weighing": weighing,
                "fitted_on": fitted,
            }));
        }
        let number =
            |value: Option<f64>| value.map_or("–".to_owned(), |value| format!("{value:.3}"));
        let [bias, by_model, by_words] = weighing.support;
        app.printer.out(&format!(
            "{} rows, area under the curve of support: model {}, words {}, both {} (on the rows the weights were fitted on)\n\
             log-odds = {bias:.2} + {by_model:.2} · model + {by_words:.2} · words; written to {}",
            self.rows,
            number(self.by_model),
            number(self.by_words),
            number(self.by_both),
            model.join(WEIGHING_FILE).display(),
        ))
    }
}

fn write(
    model: &Path,
    weighing: &Weighing,
    measured: &Measured,
    sentences: usize,
) -> Result<(), CommandError> {
    let mut stored = json!(weighing);
    stored["fitted_on"] = measured.json();
    stored["sentences"] = sentences.into();
    let text = serde_json::to_string_pretty(&stored)
        .user(|| "the weights cannot be written as JSON".to_owned())?;
    runs::write_atomic(&model.join(WEIGHING_FILE), format!("{text}\n").as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choosing_trusts_who_tells_the_sentences_of_a_passage_apart() {
        // The model's odds differ between passages and not within them; words tell.
        let passage = |level: f32| {
            vec![
                seen(level, 0.3, false, 1.0),
                seen(level, 0.7, true, 1.0),
                seen(level, 0.4, false, 1.0),
            ]
        };
        let [bias, _, words] = choosing(&[passage(0.1), passage(0.9)]);
        assert!(bias.abs() < 1e-6 && words >= 1.0, "{words}");
        assert_eq!(choosing(&[]).map(f32::to_bits), [0.0_f32, 1.0, 0.0].map(f32::to_bits));
        let swapped: Vec<Seen> = passage(0.5)
            .into_iter()
            .map(|row| Seen { x: [1.0, row.x[2], row.x[1]], ..row })
            .collect();
        let [_, model, words] = choosing(&[swapped]);
        assert!(model >= 1.0 && words < 1e-6, "{model} {words}");
    }

    #[test]
    fn sources_count_equally() {
        let row = |source: &str| AttributionRow {
            sentence: "s".to_owned(),
            evidence: "e".to_owned(),
            label: EvidenceLabel::Supports,
            sentences: Vec::new(),
            gold: Vec::new(),
            source: Some(source.to_owned()),
        };
        let weights = weights(&[row("a"), row("a"), row("a"), row("b")]);
        assert!((weights[..3].iter().sum::<f64>() - weights[3]).abs() < 1e-12, "{weights:?}");
        assert!((weights.iter().sum::<f64>() - 4.0).abs() < 1e-12);
    }
}
