//! What follows from records.

mod agreement;
mod markdown;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::length::{Judged, LengthControl, control};
use super::{Record, Scores, Shown};
use crate::statistics::sign::sign_test;
use crate::statistics::{Difference, Estimate, SEED, difference, estimate};

pub use agreement::{Agreement, ScoreAgreement};

/// Schema identifier that [`Summary::schema`] holds.
pub const SUMMARY_SCHEMA: &str = "openscholar.expert-summary/1";
/// Usefulness from which an answer is called useful. Source: the paper.
const USEFUL: u8 = 4;

/// All statistics of a study. What could not be computed is `null`, never zero.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Schema identifier, always [`SUMMARY_SCHEMA`].
    pub schema: String,
    /// Submissions, those that were replaced later included.
    pub submissions: usize,
    /// Latest submissions that rate.
    pub judgements: usize,
    /// Latest submissions that pass a question over.
    pub passed_over: usize,
    /// Instances with a judgement.
    pub instances: usize,
    /// Annotators with a judgement.
    pub annotators: usize,
    /// Each system, by name.
    pub systems: Vec<SystemSummary>,
    /// Each pair of systems that was compared.
    pub pairs: Vec<PairSummary>,
    /// How far annotators agree.
    pub agreement: Agreement,
    /// Whether the place on the page mattered.
    pub place: PlaceBias,
    /// What annotators said of the questions: how often `good`, `bad`, `hard`.
    pub quality: BTreeMap<String, usize>,
}

/// One system. Means are over instances, of the instance's mean over annotators, with bootstrap intervals.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SystemSummary {
    /// Name of the system.
    pub system: String,
    /// Number of instances with a judgement.
    pub instances: usize,
    /// Judgements of its answers, whatever they were compared with.
    pub judgements: usize,
    /// Mean score of each aspect.
    pub scores: BTreeMap<String, Option<Estimate>>,
    /// Share of judgements that call the answer useful (4 or 5).
    pub useful: Option<Estimate>,
    /// Mean words of the answers.
    pub words: Option<Estimate>,
    /// Mean number of references.
    pub citations: Option<Estimate>,
}

/// Two systems compared on the instances that both answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PairSummary {
    /// The one whose name sorts first.
    pub first: String,
    /// The one whose name sorts second.
    pub second: String,
    /// Number of instances with a judgement.
    pub instances: usize,
    /// Over all judgements, each instance counting the same.
    pub outcomes: Outcomes,
    /// Win rate of the first, ties half.
    pub win_rate: Option<Estimate>,
    /// Instances by the majority of their annotators.
    pub majority: Majority,
    /// Differences of mean scores, first minus second, by aspect.
    pub differences: BTreeMap<String, Option<Difference>>,
    /// How far the lengths of the answers explain preferences.
    pub length: LengthControl,
    /// By the reference code's definitions.
    pub upstream: Upstream,
}

/// Shares of judgements, 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Outcomes {
    /// Number of judgements over all instances.
    pub judgements: usize,
    /// The first is better.
    pub first: Option<Estimate>,
    /// Share that prefers neither answer.
    pub tie: Option<Estimate>,
    /// The second is better.
    pub second: Option<Estimate>,
}

/// Instances by what most of their annotators prefer, and the sign test over them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Majority {
    /// More prefer the first.
    pub first: usize,
    /// As many prefer either.
    pub tie: usize,
    /// More prefer the second.
    pub second: usize,
    /// Two-sided p of the exact sign test, ties left out.
    pub sign_test_p: f64,
}

/// As the reference code computes it: every annotator's latest record for an instance; preferences from the earliest
/// of these for each instance.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Upstream {
    /// Share of instances whose earliest judgement prefers the first.
    pub first: f64,
    /// That calls it a tie.
    pub tie: f64,
    /// That prefers the second.
    pub second: f64,
}

/// How often the answer shown as A was preferred.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PlaceBias {
    /// Judgements that prefer the answer shown as A.
    pub a: usize,
    /// Judgements that prefer the answer shown as B.
    pub b: usize,
    /// Two-sided p of the exact sign test.
    pub sign_test_p: f64,
}

/// A latest record that rates, with its systems in the order of their names.
struct Judgement<'a> {
    annotator: &'a str,
    /// Position in `answers` of the system whose name sorts first.
    first: usize,
    record: &'a Record,
    scores: [Scores; 2],
    preference: Shown,
}

impl<'a> Judgement<'a> {
    fn of(record: &'a Record) -> Option<Self> {
        let [a, b] = &record.answers;
        let shown = [a.scores?, b.scores?];
        let first = usize::from(b.system < a.system);
        let scores = [shown[first], shown[1 - first]];
        Some(Self {
            annotator: &record.annotator,
            first,
            record,
            scores,
            preference: record.preference?,
        })
    }

    /// The pair's systems.
    fn systems(&self) -> (&'a str, &'a str) {
        let answers = &self.record.answers;
        (&answers[self.first].system, &answers[1 - self.first].system)
    }

    /// 1 when the first system is preferred, 0 when the second is.
    fn value(&self) -> f64 {
        match (self.preference, self.first) {
            (Shown::Tie, _) => 0.5,
            (Shown::A, 0) | (Shown::B, 1) => 1.0,
            (Shown::A | Shown::B, _) => 0.0,
        }
    }
}

/// The judgements of one instance, in the order in which they were made.
type Instances<'a> = BTreeMap<(&'a str, &'a str), BTreeMap<&'a str, Vec<Judgement<'a>>>>;

/// Summarises records, which are in the order in which they were submitted.
pub fn summary(records: &[Record]) -> Summary {
    let mut latest: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for (at, record) in records.iter().enumerate() {
        latest.insert((&record.annotator, &record.instance), at);
    }
    let mut kept: Vec<usize> = latest.into_values().collect();
    kept.sort_unstable();
    let mut pairs: Instances<'_> = BTreeMap::new();
    let (mut judgements, mut place) = (0, (0, 0));
    for judgement in kept.iter().filter_map(|at| Judgement::of(&records[*at])) {
        judgements += 1;
        match judgement.preference {
            Shown::A => place.0 += 1,
            Shown::B => place.1 += 1,
            Shown::Tie => {}
        }
        let pair = pairs.entry(judgement.systems()).or_default();
        pair.entry(&judgement.record.instance).or_default().push(judgement);
    }
    let all = || pairs.values().flat_map(BTreeMap::values).flatten();
    let mut quality: BTreeMap<String, usize> = BTreeMap::new();
    for said in kept.iter().filter_map(|at| records[*at].quality.as_ref()) {
        *quality.entry(said.clone()).or_default() += 1;
    }
    Summary {
        schema: SUMMARY_SCHEMA.to_owned(),
        submissions: records.len(),
        judgements,
        passed_over: kept.len() - judgements,
        instances: all().map(|one| one.record.instance.as_str()).collect::<BTreeSet<_>>().len(),
        annotators: all().map(|one| one.annotator).collect::<BTreeSet<_>>().len(),
        systems: systems(&pairs),
        pairs: pairs
            .iter()
            .map(|((first, second), instances)| pair(first, second, instances))
            .collect(),
        agreement: agreement::agreement(&pairs),
        place: PlaceBias { a: place.0, b: place.1, sign_test_p: sign_test(place.0, place.1) },
        quality,
    }
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (n, sum) = values.fold((0_usize, 0.0), |(n, sum), value| (n + 1, sum + value));
    (n > 0).then(|| sum / n as f64)
}

fn systems(pairs: &Instances<'_>) -> Vec<SystemSummary> {
    // All judgements of a system's answer to an instance, whatever it was compared with.
    type Answers<'a> = BTreeMap<&'a str, Vec<(&'a Judgement<'a>, usize)>>;
    let mut by_system: BTreeMap<&str, Answers<'_>> = BTreeMap::new();
    for ((first, second), instances) in pairs {
        for (at, system) in [*first, *second].into_iter().enumerate() {
            for (instance, judgements) in instances {
                let answers = by_system.entry(system).or_default().entry(instance).or_default();
                answers.extend(judgements.iter().map(|one| (one, at)));
            }
        }
    }
    let summarise = |(system, answers): (&str, Answers<'_>)| {
        let over = |value: &dyn Fn(&Judgement<'_>, usize) -> f64| {
            let means: Vec<f64> = answers
                .values()
                .filter_map(|judged| mean(judged.iter().map(|(one, at)| value(one, *at))))
                .collect();
            estimate(&means, SEED)
        };
        let rated = |one: &Judgement<'_>, at: usize| one.first ^ at;
        let scores = Scores::ASPECTS.into_iter().enumerate().map(|(aspect, name)| {
            (name.to_owned(), over(&|one, at| f64::from(one.scores[at].all()[aspect])))
        });
        SystemSummary {
            system: system.to_owned(),
            instances: answers.len(),
            judgements: answers.values().map(Vec::len).sum(),
            scores: scores.collect(),
            useful: over(&|one, at| f64::from(u8::from(one.scores[at].usefulness >= USEFUL))),
            words: over(&|one, at| one.record.answers[rated(one, at)].words as f64),
            citations: over(&|one, at| one.record.answers[rated(one, at)].citations as f64),
        }
    };
    by_system.into_iter().map(summarise).collect()
}

fn pair(first: &str, second: &str, instances: &BTreeMap<&str, Vec<Judgement<'_>>>) -> PairSummary {
    let per_instance = |value: &dyn Fn(&Judgement<'_>) -> f64| -> Vec<f64> {
        instances.values().filter_map(|judged| mean(judged.iter().map(value))).collect()
    };
    let share = |wanted: f64| {
        let is = |one: &Judgement<'_>| f64::from(u8::from((one.value() - wanted).abs() < 0.1));
        estimate(&per_instance(&is), SEED)
    };
    let rates = per_instance(&|one| one.value());
    let count = |test: &dyn Fn(f64) -> bool| rates.iter().filter(|rate| test(**rate)).count();
    let (wins, losses) = (count(&|rate| rate > 0.5 + 1e-9), count(&|rate| rate < 0.5 - 1e-9));
    let differences = Scores::ASPECTS.into_iter().enumerate().map(|(aspect, name)| {
        let side = |at: usize| per_instance(&|one| f64::from(one.scores[at].all()[aspect]));
        (name.to_owned(), difference(&side(0), &side(1), SEED))
    });
    let lengths: Vec<Vec<Judged>> = instances
        .values()
        .map(|judged| {
            let words = |one: &Judgement<'_>, at: usize| one.record.answers[one.first ^ at].words;
            judged
                .iter()
                .map(|one| Judged::new(one.value(), words(one, 0), words(one, 1)))
                .collect()
        })
        .collect();
    let earliest: Vec<f64> =
        instances.values().filter_map(|judged| judged.first()).map(Judgement::value).collect();
    let of_earliest = |wanted: f64| {
        mean(earliest.iter().map(|value| f64::from(u8::from((value - wanted).abs() < 0.1))))
            .unwrap_or(0.0)
    };
    PairSummary {
        first: first.to_owned(),
        second: second.to_owned(),
        instances: instances.len(),
        outcomes: Outcomes {
            judgements: instances.values().map(Vec::len).sum(),
            first: share(1.0),
            tie: share(0.5),
            second: share(0.0),
        },
        win_rate: estimate(&rates, SEED),
        majority: Majority {
            first: wins,
            tie: rates.len() - wins - losses,
            second: losses,
            sign_test_p: sign_test(wins, losses),
        },
        differences: differences.collect(),
        length: control(&lengths),
        upstream: Upstream {
            first: of_earliest(1.0),
            tie: of_earliest(0.5),
            second: of_earliest(0.0),
        },
    }
}

#[cfg(test)]
mod tests;
