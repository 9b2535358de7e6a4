//! A trained judge's log-odds beside those of the lexical one and an encoder's likeness.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use scholar_bench::attribution::data::{Label, Split, claim_sets};
use scholar_bench::attribution::judged_evidence;
use scholar_bench::attribution::statistics::{Scored, auc, calibration_error};
use scholar_bench::statistics::logistic::{Observation, fit, probability};
use scholar_core::{Attributor, Encoder};
use scholar_models::TrainedAttributor;
use scholar_pipeline::proof::lexical::judge_pair;
use scholar_pipeline::proof::weighed::{
    WEIGHING_FILE, WeighedAttributor, Weighing, Weights, likeness, log_odds,
};
use scholar_train::data::{AttributionRow, EvidenceLabel, read_rows};
use serde_json::json;

use crate::app::App;
use crate::args::TrainWeighArgs;
use crate::error::{CommandError, Context as _};
use crate::wiring::judge::{judging, likeness_reader};
use crate::{progress, runs};

/// Hold the weights near zero, the bias hardly. Likeness spans a tenth of what odds do. Ours: a few hundred pairs fit three
/// weights in any case.
const RIDGE: [f64; 4] = [1e-6, 1.0, 1.0, 0.01];
/// Probability from which a pair is supported: even odds, as the weights are fitted to give probabilities.
const SUPPORTED: f32 = 0.5;
/// Probability from which it is partly supported, as of judges without weights.
const PARTIAL: f32 = 0.35;
/// Fewer pairs say nothing.
const FEWEST: usize = 50;
/// Weights of the two judges that are tried for choosing a sentence of a passage.
const CHOOSING: [f64; 8] = [0.0, 0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0];

/// Bias, the log-odds of both, likeness.
type Seen = Observation<4>;

/// A statement beside a passage, as people judged it.
struct Pair {
    sentence: String,
    passage: String,
    supports: bool,
    /// Where it comes from; each collection counts as much as any other.
    collection: String,
}

pub(super) fn run(args: &TrainWeighArgs, rows: &Path, app: &App) -> Result<ExitCode, CommandError> {
    let TrainWeighArgs { model, source, bad_rows, claims, beside, .. } = args;
    let read = read_rows(rows, *bad_rows, AttributionRow::check)?;
    let is_wanted = |row: &AttributionRow| {
        source.is_empty() || row.source.as_ref().is_some_and(|named| source.contains(named))
    };
    let wanted: Vec<AttributionRow> = read.values().filter(is_wanted).collect();
    let pairs = match claims {
        Some(dir) => claimed(dir, &wanted)?,
        None => wanted.iter().map(Pair::of_row).collect(),
    };
    enough(&pairs, rows)?;
    let judge =
        TrainedAttributor::open(model, &model.display().to_string(), judging(app.threads()))?;
    let reader = app.block_on(likeness_reader(app, beside.as_deref()))??;
    let opinions = Opinions { judge: Arc::new(judge), reader, app };
    let sentences = opinions.of_sentences(&wanted)?;
    let evidence = choosing(&sentences);
    let seen = opinions.of_pairs(&pairs, evidence)?;
    let support = single(fit(&seen, &RIDGE));
    let reader = beside.clone();
    let weighing = Weighing { support, evidence, supported: SUPPORTED, partial: PARTIAL, reader };
    let measured = Measured::of(&seen, support);
    write(model, &weighing, &measured, sentences.len())?;
    measured.show(&weighing, model, app)?;
    Ok(ExitCode::SUCCESS)
}

impl Pair {
    fn of_row(row: &AttributionRow) -> Self {
        Self {
            sentence: row.sentence.clone(),
            passage: row.evidence.clone(),
            supports: row.label == EvidenceLabel::Supports,
            collection: row.source.clone().unwrap_or_default(),
        }
    }
}

/// Pairs as `bench attribution` makes them, of the training claims in `dir` that the `rows` hold: so many of each label, so
/// long and so near the topic as where judges are measured.
fn claimed(dir: &Path, rows: &[AttributionRow]) -> Result<Vec<Pair>, CommandError> {
    let held: BTreeSet<&str> = rows.iter().map(|row| row.sentence.trim()).collect();
    let sets =
        claim_sets(dir, Split::Train).user(|| format!("{} cannot be read", dir.display()))?;
    let pairs = sets.into_iter().flat_map(|set| {
        let of_set = set.cases.into_iter().filter(|case| held.contains(case.sentence.trim()));
        let pairs: Vec<Pair> = of_set
            .map(|case| Pair {
                sentence: case.sentence,
                passage: case.passage,
                supports: case.label == Label::Supported,
                collection: set.name.clone(),
            })
            .collect();
        pairs
    });
    Ok(pairs.collect())
}

fn enough(pairs: &[Pair], rows: &Path) -> Result<(), CommandError> {
    let positive = pairs.iter().filter(|pair| pair.supports).count();
    if pairs.len() >= FEWEST && positive > 0 && positive < pairs.len() {
        return Ok(());
    }
    let (file, count) = (rows.display(), pairs.len());
    Err(CommandError::user(format!(
        "{file} gives {count} pairs of those sources, {positive} of them support: too few to weigh anything"
    ))
    .with_hint("name more sources, or pass held-out rows as `train data attributor` writes them"))
}

/// Each collection counts as much as any other.
fn weights(collections: &[&str]) -> Vec<f64> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for name in collections {
        *counts.entry(name).or_default() += 1;
    }
    let share = |name: &&str| collections.len() as f64 / (counts.len() * counts[name]) as f64;
    collections.iter().map(share).collect()
}

fn seen(by_model: f32, by_words: f32, likeness: f32, y: bool, weight: f64) -> Seen {
    let odds = |probability| f64::from(log_odds(probability));
    let x = [1.0, odds(by_model), odds(by_words), f64::from(likeness)];
    Observation { x, y: f64::from(u8::from(y)), weight }
}

/// Those whose opinions are weighed.
struct Opinions<'a> {
    judge: Arc<TrainedAttributor>,
    reader: Option<Arc<dyn Encoder>>,
    app: &'a App,
}

impl Opinions<'_> {
    fn likeness(&self, sentence: &str, text: &str) -> Result<f32, CommandError> {
        let Some(reader) = &self.reader else { return Ok(0.0) };
        Ok(likeness(reader.as_ref(), sentence, &[text])?.first().copied().unwrap_or(0.0))
    }

    /// Each statement beside the window of its evidence that the gates would show.
    fn of_pairs(&self, pairs: &[Pair], evidence: Weights) -> Result<Vec<Seen>, CommandError> {
        let bar = progress::counted(&self.app.printer, "pairs", Some(pairs.len() as u64));
        let chooser = Weighing {
            support: Weights::MODEL_ALONE,
            evidence,
            supported: SUPPORTED,
            partial: PARTIAL,
            reader: None,
        };
        let model: Arc<dyn Attributor> = self.judge.clone();
        let chooser = WeighedAttributor::new(model, None, chooser);
        let names: Vec<&str> = pairs.iter().map(|pair| pair.collection.as_str()).collect();
        let mut all = Vec::new();
        for (pair, weight) in pairs.iter().zip(weights(&names)) {
            let Pair { sentence, passage, supports, .. } = pair;
            let window = self.app.block_on(judged_evidence(&chooser, sentence, passage))??;
            let window = window.unwrap_or_else(|| passage.clone());
            let shown = [(sentence.as_str(), window.as_str())];
            let judged = self.app.block_on(self.judge.judge(&shown))??;
            let by_words = judge_pair(sentence, &window).score;
            let like = self.likeness(sentence, &window)?;
            all.extend(judged.iter().map(|one| seen(one.score, by_words, like, *supports, weight)));
            bar.inc(1);
        }
        bar.finish_and_clear();
        Ok(all)
    }

    /// The sentences of each row that knows which of them decide.
    fn of_sentences(&self, rows: &[AttributionRow]) -> Result<Vec<Vec<Seen>>, CommandError> {
        let knows =
            |row: &&AttributionRow| !row.gold.is_empty() && row.gold.len() < row.sentences.len();
        let rows: Vec<&AttributionRow> = rows.iter().filter(knows).collect();
        let names: Vec<&str> =
            rows.iter().map(|row| row.source.as_deref().unwrap_or_default()).collect();
        let bar = progress::counted(&self.app.printer, "passages", Some(rows.len() as u64));
        let mut all = Vec::new();
        for (row, weight) in rows.iter().zip(weights(&names)) {
            let candidates: Vec<&str> = row.sentences.iter().map(String::as_str).collect();
            let scores = self.app.block_on(self.judge.evidence(&row.sentence, &candidates))??;
            let opinions = candidates.iter().zip(scores.unwrap_or_default());
            let seen = opinions.enumerate().map(|(at, (candidate, score))| {
                let by_words = judge_pair(&row.sentence, candidate).score;
                seen(score, by_words, 0.0, row.gold.contains(&at), weight)
            });
            all.push(seen.collect());
            bar.inc(1);
        }
        bar.finish_and_clear();
        Ok(all)
    }
}

/// The weights at which sentences that decide are likeliest to be chosen among those of their passage; the model alone where
/// nothing is known. Likeness is left out: with it the first sentence was the right one in 62 instead of 60 of 100 cases, which is
/// noise, and every sentence would have to be read once more.
fn choosing(passages: &[Vec<Seen>]) -> Weights {
    if passages.is_empty() {
        return Weights::MODEL_ALONE;
    }
    let mut best = ([0.0; 4], f64::NEG_INFINITY);
    for model in CHOOSING {
        for words in CHOOSING {
            let weights = [0.0, model, words, 0.0];
            let likelihood = passages.iter().map(|passage| log_likelihood(passage, &weights)).sum();
            if likelihood > best.1 {
                best = (weights, likelihood);
            }
        }
    }
    single(best.0)
}

/// Log-probability that one of the sentences that decide is chosen by the softmax of all, times the passage's weight.
fn log_likelihood(passage: &[Seen], weights: &[f64; 4]) -> f64 {
    let odds = |row: &Seen| row.x.iter().zip(weights).map(|(x, w)| x * w).sum::<f64>().exp();
    let all: f64 = passage.iter().map(odds).sum();
    let right: f64 = passage.iter().filter(|row| row.y > 0.5).map(odds).sum();
    passage.first().map_or(0.0, |row| row.weight * (right / all).ln())
}

#[expect(clippy::cast_possible_truncation, reason = "weights of a size of about one")]
fn single(weights: [f64; 4]) -> Weights {
    let [bias, model, words, likeness] = weights.map(|weight| weight as f32);
    Weights { bias, model, words, likeness }
}

/// What the weights reach on the pairs they were fitted on.
struct Measured {
    pairs: usize,
    by_model: Option<f64>,
    by_words: Option<f64>,
    by_likeness: Option<f64>,
    together: Option<f64>,
    calibration_error: f64,
}

impl Measured {
    fn of(pairs: &[Seen], support: Weights) -> Self {
        let Weights { bias, model, words, likeness } = support;
        let support = [bias, model, words, likeness].map(f64::from);
        let scored = |score: &dyn Fn(&Seen) -> f64| -> Vec<Scored> {
            let one = |row: &Seen| {
                let score = score(row);
                Scored { score, called: score >= f64::from(SUPPORTED), truth: row.y > 0.5 }
            };
            pairs.iter().map(one).collect()
        };
        let together = scored(&|row| probability(&support, &row.x));
        Self {
            pairs: pairs.len(),
            by_model: auc(&scored(&|row| row.x[1])),
            by_words: auc(&scored(&|row| row.x[2])),
            by_likeness: auc(&scored(&|row| row.x[3])),
            together: auc(&together),
            calibration_error: calibration_error(&together),
        }
    }

    fn json(&self) -> serde_json::Value {
        let Self { pairs, by_model, by_words, by_likeness, together, calibration_error } = self;
        json!({
            "pairs": pairs,
            "auc_of_the_model": by_model,
            "auc_of_words": by_words,
            "auc_of_likeness": by_likeness,
            "auc_together": together,
            "calibration_error": calibration_error,
        })
    }

    fn show(&self, weighing: &Weighing, model: &Path, app: &App) -> Result<(), CommandError> {
        if app.printer.json {
            let (weighing, fitted) = (json!(weighing), self.json());
            return app.printer.json(&json!({
                "schema": "openscholar.train-weigh/2",
                "model": model,
                "weighing": weighing,
                "fitted_on": fitted,
            }));
        }
        let number =
            |value: Option<f64>| value.map_or("–".to_owned(), |value| format!("{value:.3}"));
        let Weights { bias, model: by_model, words, likeness } = weighing.support;
        app.printer.out(&format!(
            "{} pairs, area under the curve of support: model {}, words {}, likeness {}, together {} (on the pairs the weights were fitted on)\n\
             log-odds = {bias:.2} + {by_model:.2} · model + {words:.2} · words + {likeness:.2} · likeness; written to {}",
            self.pairs,
            number(self.by_model),
            number(self.by_words),
            number(self.by_likeness),
            number(self.together),
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

    fn passage(sentences: &[(f32, f32, bool)]) -> Vec<Seen> {
        sentences.iter().map(|(model, words, y)| seen(*model, *words, 0.0, *y, 1.0)).collect()
    }

    #[test]
    fn choosing_trusts_who_tells_the_sentences_of_a_passage_apart() {
        // The model's odds differ between passages and not within them; words tell.
        let told_by_words =
            |level: f32| passage(&[(level, 0.3, false), (level, 0.7, true), (level, 0.4, false)]);
        let chosen = choosing(&[told_by_words(0.1), told_by_words(0.9)]);
        assert!(chosen.bias.abs() < 1e-6 && chosen.words >= 1.0, "{chosen:?}");
        assert_eq!(choosing(&[]), Weights::MODEL_ALONE);
        let told_by_model = passage(&[(0.3, 0.5, false), (0.7, 0.5, true), (0.4, 0.5, false)]);
        let chosen = choosing(&[told_by_model]);
        assert!(chosen.model >= 1.0 && chosen.words < 1e-6, "{chosen:?}");
    }

    #[test]
    fn collections_count_equally() {
        let weights = weights(&["a", "a", "a", "b"]);
        assert!((weights[..3].iter().sum::<f64>() - weights[3]).abs() < 1e-12, "{weights:?}");
        assert!((weights.iter().sum::<f64>() - 4.0).abs() < 1e-12);
    }

    #[test]
    fn too_few_pairs_are_refused() {
        let pair = |supports| Pair {
            sentence: "s".to_owned(),
            passage: "p".to_owned(),
            supports,
            collection: String::new(),
        };
        let some =
            |n: usize, of: fn(usize) -> bool| (0..n).map(|at| pair(of(at))).collect::<Vec<_>>();
        assert!(enough(&some(60, |at| at < 20), Path::new("rows")).is_ok());
        for bad in [some(49, |at| at < 20), some(60, |_| true), some(60, |_| false)] {
            assert!(enough(&bad, Path::new("rows")).is_err());
        }
    }
}
