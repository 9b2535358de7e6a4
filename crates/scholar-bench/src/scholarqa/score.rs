//! A run measured: which metrics a task has, over which items, by which judge.
//!
//! Every column holds one cell per item of the run: a value, or why there is none. Items that failed, were cut or were not
//! asked are left out and counted; an abstention is scored as it stands. A judge that dies leaves the columns it began with
//! what it gave, and the scores say that they are incomplete.
//!
//! An answer without passages may list the papers it cites. They are looked up before anything is judged, and its citations
//! are scored against the abstracts of those that exist.

mod cited;

use std::collections::BTreeMap;

use scholar_core::PortError;
use serde::{Deserialize, Serialize};

use cited::{CitedPassages, PassageSource};

pub use cited::lists_papers;

use super::item::{Gold, Item};
use super::prediction::{Prediction, PredictionStatus};
use super::task::{BenchTask, Correctness};
use crate::judge::model::ModelJudge;
use crate::judge::rubric::Parts;
use crate::judge::support::SupportJudge;
use crate::judge::{JudgePin, Judged};
use crate::metrics::citation::summary::{self, OverCitation, Scored};
use crate::metrics::citation::{self, ItemScore, Rules, plan_long, plan_short};
use crate::metrics::grading::GradingRubric;
use crate::metrics::hallucination::{self, Hallucination, ListedAnswer, ListedPapers, TitleLookup};
use crate::metrics::rubric::{self, RubricConfig, RubricScore, Unread};
use crate::metrics::text::lengths;
use crate::metrics::text::matching::{Labelled, MatchRule, label, matches};
use crate::metrics::text::overlap::{exact_match, token_f1};
use crate::metrics::text::rouge::rouge;
use crate::metrics::{Column, LeftOut, Summary, Uniform};
use crate::statistics::{Estimate, SEED};

/// Schema identifier that [`Scores::schema`] holds.
pub const SCORES_SCHEMA: &str = "openscholar.bench-scores/1";

/// Who judges; what nobody judges is left out of the scores.
#[derive(Clone, Copy, Default)]
pub struct Judges<'a> {
    /// Whether cited passages support a sentence.
    pub support: Option<&'a dyn SupportJudge>,
    /// Rubrics, and grades from 1 to 5.
    pub model: Option<&'a ModelJudge>,
    /// Existence and abstracts of listed papers.
    pub lookup: Option<&'a dyn TitleLookup>,
}

/// How it is scored.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoreOptions {
    /// Which citations a sentence has.
    pub rules: Rules,
    /// What grades are given for; empty: none.
    pub aspects: Vec<GradingRubric>,
    /// What a rubric component that could not be read counts.
    pub unread: Unread,
}

/// A metric of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Metric {
    /// Mean, interval, n, what was left out.
    #[serde(flatten)]
    pub summary: Summary,
    /// Multiply by this to print: 100 for shares, 1 for grades and counts.
    pub scale: f64,
    /// Who judged, if anybody did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judge: Option<JudgePin>,
}

/// What a run was measured at.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Scores {
    /// Schema of the file: [`SCORES_SCHEMA`].
    pub schema: String,
    /// Name of the run.
    pub run: String,
    /// Task that the items are of.
    pub task: BenchTask,
    /// Items of the run.
    pub items: usize,
    /// One entry per column, in the order of [`Self::columns`].
    pub metrics: Vec<Metric>,
    /// Harmonic mean of citation recall and precision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub citation_f1: Option<Estimate>,
    /// What is cited without need.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over_citation: Option<OverCitation>,
    /// Listed papers that do not exist.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hallucination: Option<Hallucination>,
    /// Which citation rules were used.
    pub rules: Rules,
    /// What looks wrong with the numbers.
    pub warnings: Vec<String>,
    /// Why not everything was judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub incomplete: Option<String>,
    /// Agreement of the citation judge with people, where it was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agreement: Option<serde_json::Value>,
    /// One value per item and metric.
    pub columns: Vec<Column>,
    /// The papers that answers list, with what was found of each, by item.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub listed: BTreeMap<String, ListedPapers>,
    /// Verdicts on citations, by item.
    #[serde(default)]
    pub verdicts: BTreeMap<String, ItemScore>,
    /// Rubric scores with their parts, by item.
    #[serde(default)]
    pub rubrics: BTreeMap<String, RubricScore>,
}

impl Scores {
    /// The metric called `name`.
    pub fn metric(&self, name: &str) -> Option<&Metric> {
        self.metrics.iter().find(|metric| metric.summary.metric == name)
    }

    /// The column called `name`.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.metric == name)
    }
}

/// A run's items and predictions, to be scored.
#[derive(Clone, Copy)]
pub struct Subject<'a> {
    /// Name of the run.
    pub run: &'a str,
    /// Task that the items are of.
    pub task: BenchTask,
    /// The items that were to be answered.
    pub items: &'a [Item],
    /// Predictions in any order; they are matched by the items' identifiers.
    pub predictions: &'a [Prediction],
}

/// Measures a run. `progress` hears of every item that is judged.
pub async fn score(
    subject: Subject<'_>,
    judges: Judges<'_>,
    options: &ScoreOptions,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Scores {
    let Subject { run, task, items, predictions } = subject;
    let by_id: BTreeMap<&str, &Prediction> =
        predictions.iter().map(|prediction| (prediction.id.as_str(), prediction)).collect();
    let pairs: Vec<(&Item, Result<&Prediction, String>)> =
        items.iter().map(|item| (item, usable(by_id.get(item.id.as_str()).copied()))).collect();
    let mut scores = Scorer {
        options,
        pairs: &pairs,
        passages: PassageSource::of(&pairs, judges.lookup.is_some()),
        scores: Scores {
            schema: SCORES_SCHEMA.to_owned(),
            run: run.to_owned(),
            task,
            items: items.len(),
            metrics: Vec::new(),
            citation_f1: None,
            over_citation: None,
            hallucination: None,
            rules: options.rules,
            warnings: Vec::new(),
            incomplete: None,
            agreement: None,
            columns: Vec::new(),
            listed: BTreeMap::new(),
            verdicts: BTreeMap::new(),
            rubrics: BTreeMap::new(),
        },
    };
    scores.words(task);
    if let Some(lookup) = judges.lookup {
        scores.look_up(lookup).await;
    }
    if let Some(judge) = judges.support {
        scores.citations(task, judge, progress).await;
    }
    if let Some(judge) = judges.model {
        scores.judged(task, judge, progress).await;
    }
    if let Some(lookup) = judges.lookup {
        scores.references(lookup);
    }
    scores.warn();
    scores.scores
}

/// A prediction that can be scored, or why there is none.
fn usable(prediction: Option<&Prediction>) -> Result<&Prediction, String> {
    match prediction {
        None => Err("no prediction".to_owned()),
        Some(one) => match one.status {
            PredictionStatus::Answered | PredictionStatus::Abstained => Ok(one),
            PredictionStatus::Failed => Err("the system failed".to_owned()),
            PredictionStatus::Cut => Err("cut by the budget".to_owned()),
        },
    }
}

struct Scorer<'a> {
    options: &'a ScoreOptions,
    pairs: &'a [(&'a Item, Result<&'a Prediction, String>)],
    passages: PassageSource,
    scores: Scores,
}

/// How far the annotator's wishes are met.
pub(super) const RUBRIC_ITEMS: &str = "rubric items alone";
/// Parts of a rubric score that every question has.
const GENERAL_PARTS: [&str; 4] = ["length", "expertise", "citations", "excerpts"];
/// Shares are printed as percentages.
const PERCENT: f64 = 100.0;

impl Scorer<'_> {
    fn add(&mut self, column: Column, scale: f64, judge: Option<JudgePin>) {
        self.scores.metrics.push(Metric { summary: column.summary(SEED), scale, judge });
        self.scores.columns.push(column);
    }

    /// A column of what `value` says of each answer; `Err` leaves the item out for that reason.
    fn column(
        &self,
        name: &str,
        value: impl Fn(&Item, &Prediction) -> Result<f64, String>,
    ) -> Column {
        let mut column = Column::new(name);
        for (item, prediction) in self.pairs {
            let outcome = match prediction {
                Ok(prediction) => value(item, prediction),
                Err(why) => Err(why.clone()),
            };
            column.push_result(&item.id, outcome);
        }
        column
    }

    fn share(&mut self, name: &str, value: impl Fn(&Item, &Prediction) -> Result<f64, String>) {
        let column = self.column(name, value);
        self.add(column, PERCENT, None);
    }

    fn count(&mut self, name: &str, value: impl Fn(&Prediction) -> Option<f64>) {
        let unknown = || "not recorded".to_owned();
        let column = self.column(name, |_, one| value(one).ok_or_else(unknown));
        if !column.values().is_empty() {
            self.add(column, 1.0, None);
        }
    }

    /// What needs no judge.
    fn words(&mut self, task: BenchTask) {
        match task.measures().correctness {
            Correctness::Label => self.labels(task),
            Correctness::Overlap => self.overlap(),
            Correctness::None | Correctness::Rubric => {}
        }
        self.share("abstained", |_, one| {
            Ok(f64::from(u8::from(one.status == PredictionStatus::Abstained)))
        });
        self.count("words", |one| Some(number(lengths(&one.output).words)));
        self.count("distinct citations", |one| Some(number(lengths(&one.output).cited)));
        self.count("seconds", |one| one.seconds);
        self.count("model calls", |one| one.usage.map(|usage| whole(usage.calls)));
        self.count("tokens", |one| {
            one.usage.map(|usage| whole(usage.prompt_tokens + usage.completion_tokens))
        });
        self.count("US dollars", |one| one.usage.and_then(|usage| usage.cost_usd));
    }

    fn labels(&mut self, task: BenchTask) {
        let labels = task.labels().unwrap_or_default();
        self.share("accuracy (label)", |item, one| {
            let right = label(&one.output, gold(item)?, &labels) == Labelled::Right;
            Ok(f64::from(u8::from(right)))
        });
        for (name, rule) in
            [("match (words)", MatchRule::Words), ("match (substring)", MatchRule::Substring)]
        {
            self.share(name, |item, one| {
                let found = matches(&one.output, gold(item)?, rule);
                found.map(|found| f64::from(u8::from(found))).ok_or_else(|| "empty gold".to_owned())
            });
        }
    }

    /// Without citation markers on either side: the numbers of one list say nothing about those of another.
    fn overlap(&mut self) {
        let rouge_of = |item: &Item, one: &Prediction| {
            gold(item).map(|gold| rouge(&plain(&one.output), &plain(gold)))
        };
        self.share("ROUGE-L", |item, one| Ok(rouge_of(item, one)?.rouge_l.f1));
        self.share("ROUGE-1", |item, one| Ok(rouge_of(item, one)?.rouge_1.f1));
        self.share("ROUGE-2", |item, one| Ok(rouge_of(item, one)?.rouge_2.f1));
        self.share("token F1", |item, one| {
            Ok(token_f1(&plain(&one.output), &plain(gold(item)?)).f1)
        });
        self.share("exact match", |item, one| {
            Ok(f64::from(u8::from(exact_match(&plain(&one.output), &plain(gold(item)?)))))
        });
    }

    async fn citations(
        &mut self,
        task: BenchTask,
        judge: &dyn SupportJudge,
        progress: &(dyn Fn(usize, usize) + Sync),
    ) {
        let rules = self.options.rules;
        let mut scored: Vec<(String, Scored)> = Vec::with_capacity(self.pairs.len());
        let mut dead: Option<String> = None;
        for (nth, (item, prediction)) in self.pairs.iter().enumerate() {
            let outcome = match (prediction, &dead) {
                (Err(why), _) => Err(why.clone()),
                (Ok(_), Some(_)) => Err("not judged: the judge failed".to_owned()),
                (Ok(one), None) => {
                    match self.passages.of_answer(one, self.scores.listed.get(&item.id)) {
                        Err(why) => Err(why),
                        Ok(passages) => match cite(task, item, &passages, judge, rules).await {
                            Ok(outcome) => outcome,
                            Err(error) => {
                                dead = Some(format!("{}: {error}", item.id));
                                Err("not judged: the judge failed".to_owned())
                            }
                        },
                    }
                }
            };
            scored.push((item.id.clone(), outcome));
            progress(nth + 1, self.pairs.len());
        }
        let name = match rules.variant {
            citation::Variant::Upstream => "upstream",
            citation::Variant::Corrected => "corrected",
        };
        let (recall, precision) = summary::columns(name, &scored);
        self.add(recall, PERCENT, Some(judge.pin()));
        self.add(precision, PERCENT, Some(judge.pin()));
        self.scores.citation_f1 = summary::f1(&scored, SEED);
        self.scores.over_citation = Some(match rules.variant {
            citation::Variant::Upstream => summary::over_citation_upstream(&scored),
            citation::Variant::Corrected => summary::over_citation(&scored),
        });
        let verdicts = scored.into_iter().filter_map(|(id, score)| Some((id, score.ok()?)));
        self.scores.verdicts = verdicts.collect();
        self.scores.incomplete = dead;
    }

    async fn judged(
        &mut self,
        task: BenchTask,
        judge: &ModelJudge,
        progress: &(dyn Fn(usize, usize) + Sync),
    ) {
        if task.measures().correctness == Correctness::Rubric {
            self.rubric(judge, progress).await;
        }
        if task.measures().aspects {
            for aspect in &self.options.aspects {
                self.grades(aspect, judge, progress).await;
            }
        }
    }

    async fn rubric(&mut self, judge: &ModelJudge, progress: &(dyn Fn(usize, usize) + Sync)) {
        let mut total = Column::new("rubric score");
        let mut wishes = Column::new(RUBRIC_ITEMS);
        let mut parts = GENERAL_PARTS.map(|part| Column::new(format!("rubric {part}")));
        for (nth, (item, prediction)) in self.pairs.iter().enumerate() {
            let outcome = match (prediction, &self.scores.incomplete) {
                (Err(why), _) => Err(why.clone()),
                (Ok(_), Some(_)) => Err("not judged: the judge failed".to_owned()),
                (Ok(one), None) => match rubric_of(item, one, judge, self.options.unread).await {
                    Ok(outcome) => outcome,
                    Err(error) => {
                        self.scores.incomplete = Some(format!("{}: {error}", item.id));
                        Err("not judged: the judge failed".to_owned())
                    }
                },
            };
            let unread = || "less than half of the rubric could be read".to_owned();
            let value = |pick: fn(&RubricScore) -> Option<f64>| match &outcome {
                Ok(score) => pick(score).ok_or_else(unread),
                Err(why) => Err(why.clone()),
            };
            total.push_result(&item.id, value(|score| score.score));
            wishes.push_result(&item.id, value(|score| score.ann_score));
            for (part, column) in GENERAL_PARTS.iter().zip(&mut parts) {
                column.push_result(
                    &item.id,
                    match &outcome {
                        Ok(score) => score.part(part),
                        Err(why) => Err(why.clone()),
                    },
                );
            }
            if let Ok(score) = outcome {
                self.scores.rubrics.insert(item.id.clone(), score);
            }
            progress(nth + 1, self.pairs.len());
        }
        self.add(total, PERCENT, Some(judge.rubric_pin()));
        self.add(wishes, PERCENT, Some(judge.rubric_pin()));
        for column in parts {
            self.add(column, PERCENT, Some(judge.rubric_pin()));
        }
    }

    async fn grades(
        &mut self,
        aspect: &GradingRubric,
        judge: &ModelJudge,
        progress: &(dyn Fn(usize, usize) + Sync),
    ) {
        let mut column = Column::new(aspect.aspect.as_str());
        for (nth, (item, prediction)) in self.pairs.iter().enumerate() {
            let outcome = match (prediction, &self.scores.incomplete) {
                (Err(why), _) => Err(why.clone()),
                (Ok(_), Some(_)) => Err("not judged: the judge failed".to_owned()),
                (Ok(one), None) => {
                    let reference = gold(item).ok();
                    match judge.grade(aspect, &item.question, &one.output, reference).await {
                        Ok(Judged::Read(grade)) => Ok(f64::from(grade)),
                        Ok(Judged::Unreadable(_)) => {
                            Err("no grade in the judge's reply".to_owned())
                        }
                        Err(error) => {
                            self.scores.incomplete = Some(format!("{}: {error}", item.id));
                            Err("not judged: the judge failed".to_owned())
                        }
                    }
                }
            };
            column.push_result(&item.id, outcome);
            progress(nth + 1, self.pairs.len());
        }
        self.add(column, 1.0, Some(judge.grading_pin(true)));
    }

    /// Looks up what every answer lists.
    async fn look_up(&mut self, lookup: &dyn TitleLookup) {
        for (item, prediction) in self.pairs {
            let Ok(one) = prediction else { continue };
            let listed = ListedAnswer::read(&one.output).papers;
            let found = hallucination::look_up(listed, lookup).await;
            self.scores.listed.insert(item.id.clone(), found);
        }
        if self.scores.listed.values().all(|listed| listed.papers.is_empty()) {
            self.scores.listed.clear();
        }
    }

    fn references(&mut self, lookup: &dyn TitleLookup) {
        if self.scores.listed.is_empty() {
            return;
        }
        let answers: Vec<(&str, &ListedPapers)> = self
            .pairs
            .iter()
            .filter_map(|(item, _)| Some((item.id.as_str(), self.scores.listed.get(&item.id)?)))
            .collect();
        let column = hallucination::column(&answers);
        let listed: Vec<&ListedPapers> = answers.into_iter().map(|(_, one)| one).collect();
        let table = hallucination::table(&listed, lookup.name(), SEED);
        let pin = JudgePin {
            name: lookup.name().to_owned(),
            way: "title lookup".to_owned(),
            prompts: Vec::new(),
        };
        self.add(column, PERCENT, Some(pin));
        self.scores.hallucination = Some(table);
    }

    /// Columns without variation are what a scorer that did not run writes; cells without values lower n.
    fn warn(&mut self) {
        let usual =
            ["abstained", "US dollars", "model calls", "exact match", "tokens", "rubric length"];
        for metric in &self.scores.metrics {
            let Summary { metric: name, uniform, n, left_out, .. } = &metric.summary;
            let what = match uniform {
                Some(Uniform::AllZero) => "0",
                Some(Uniform::AllOne) => "1",
                Some(Uniform::Constant) => "the same",
                None => "",
            };
            if !what.is_empty() && !usual.contains(&name.as_str()) {
                self.scores.warnings.push(format!("{name}: all {n} values are {what}"));
            }
            let unread: usize = left_out
                .iter()
                .filter(|(why, _)| why.contains("read") || why.contains("judge's reply"))
                .map(|(_, items)| items.count)
                .sum();
            if unread > 0 {
                self.scores
                    .warnings
                    .push(format!("{name}: {unread} judgements could not be read; n is {n}"));
            }
        }
        let unread: usize =
            self.scores.verdicts.values().map(|score| score.unreadable_sentences).sum();
        if unread > 0 {
            self.scores.warnings.push(format!("{unread} verdicts on sentences could not be read"));
        }
        let empty = |one: &Prediction| {
            one.status == PredictionStatus::Answered && one.output.trim().is_empty()
        };
        let empty = self.pairs.iter().filter(|(_, one)| one.as_ref().is_ok_and(|one| empty(one)));
        let empty = empty.count();
        if empty > 0 {
            self.scores
                .warnings
                .push(format!("{empty} answers are empty and scored as they stand"));
        }
        let missing = self.pairs.iter().filter(|(_, prediction)| prediction.is_err()).count();
        if missing > 0 {
            let total = self.pairs.len();
            self.scores
                .warnings
                .push(format!("{missing} of {total} items have no answer and are left out"));
        }
        let mut metrics = self.scores.metrics.iter();
        let unlisted = metrics.find_map(|one| one.summary.left_out.get(cited::NOT_LOOKED_UP));
        if let Some(LeftOut { count: n, .. }) = unlisted {
            self.scores.warnings.push(format!(
                "{n} answers list papers instead of citing passages and nobody was asked for them: their citations have no score; name a datastore (--titles) or sources (--sources)"
            ));
        }
        if let Some(why) = &self.scores.incomplete {
            self.scores
                .warnings
                .push(format!("the judge failed and the rest is not judged: {why}"));
        }
    }
}

fn plain(text: &str) -> String {
    crate::metrics::text::citations::remove(text)
}

fn gold(item: &Item) -> Result<&str, String> {
    match &item.gold {
        Gold::Label(text) | Gold::Text(text) => Ok(text),
        Gold::None | Gold::Rubric(_) => Err("no reference answer".to_owned()),
    }
}

async fn cite(
    task: BenchTask,
    item: &Item,
    passages: &CitedPassages,
    judge: &dyn SupportJudge,
    rules: Rules,
) -> Result<Scored, PortError> {
    let plan = if task.measures().long_citations {
        match plan_long(&passages.text, passages.citable(), rules) {
            Some(plan) => plan,
            None => return Ok(Err("the output has no sentence".to_owned())),
        }
    } else {
        vec![plan_short(&item.question, &passages.text, passages.citable(), rules)]
    };
    citation::score(&plan, &passages.passages, judge, rules).await.map(Ok)
}

async fn rubric_of(
    item: &Item,
    prediction: &Prediction,
    judge: &ModelJudge,
    unread: Unread,
) -> Result<Result<RubricScore, String>, PortError> {
    let Gold::Rubric(config) = &item.gold else { return Ok(Err("no rubric".to_owned())) };
    let config: RubricConfig = match serde_json::from_value(config.clone()) {
        Ok(config) => config,
        Err(error) => return Ok(Err(format!("the rubric cannot be used: {error}"))),
    };
    let components = judge.rubric(&config, &prediction.output, Parts::ALL).await?;
    Ok(Ok(rubric::score(&config, &components, unread)))
}

fn number(count: usize) -> f64 {
    crate::statistics::ratio(count, 1)
}

#[expect(clippy::cast_precision_loss, reason = "counts of calls and tokens are far below 2^52")]
fn whole(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests;
