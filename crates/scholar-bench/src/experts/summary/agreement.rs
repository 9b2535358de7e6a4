//! How far annotators agree with each other.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Instances, Judgement};
use crate::experts::Scores;
use crate::statistics::agreement::{
    KappaWeights, Level, Preference, Ties, cohen_kappa, krippendorff_alpha, percent,
    preference_agreement,
};

/// Agreement on preferences and scores.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Agreement {
    /// Instances with at least two judgements.
    pub instances: usize,
    /// Pairs of judgements of one instance.
    pub pairs: usize,
    /// Share of pairs with the same preference; a tie against a preference disagrees.
    pub strict: Option<f64>,
    /// A tie against a preference is half an agreement.
    pub relaxed: Option<f64>,
    /// A tie is merged with whatever it is compared with.
    pub ties_merged: Option<f64>,
    /// Cohen's kappa of the preferences with ties as a category: mean over pairs of annotators, weighted by the number
    /// of instances they share.
    pub kappa: Option<f64>,
    /// The same over the instances on which neither of the two chose a tie.
    pub kappa_without_ties: Option<f64>,
    /// Krippendorff's alpha of the preferences, nominal, ties as a category.
    pub alpha: Option<f64>,
    /// Ordinal: a tie lies between the two.
    pub alpha_ordinal: Option<f64>,
    /// Nominal, ties left out.
    pub alpha_without_ties: Option<f64>,
    /// Strict agreement of the first two judgements of each instance: the reference code's.
    pub upstream_strict: Option<f64>,
    /// Relaxed, of the same.
    pub upstream_relaxed: Option<f64>,
    /// Agreement on the scores of each aspect, by the names in [`Scores::ASPECTS`].
    pub scores: BTreeMap<String, ScoreAgreement>,
}

/// Agreement on scores from 1 to 5, both answers of an instance taken together.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ScoreAgreement {
    /// Share of pairs with the same score.
    pub same: Option<f64>,
    /// Share of pairs at most one apart.
    pub within_one: Option<f64>,
    /// Cohen's kappa, quadratic weights, as for preferences.
    pub kappa: Option<f64>,
    /// Krippendorff's alpha for ordinal scores; 1 is perfect agreement, 0 that of chance.
    pub alpha: Option<f64>,
}

/// Ratings of two annotators for the same things, as categories from 0.
type Shared<'a> = BTreeMap<(&'a str, &'a str), Vec<(usize, usize)>>;

fn preference(judgement: &Judgement<'_>) -> Preference {
    if judgement.value() > 0.75 {
        Preference::A
    } else if judgement.value() < 0.25 {
        Preference::B
    } else {
        Preference::Tie
    }
}

/// As a number in order: the first system, a tie, the second.
fn place(preference: Preference) -> usize {
    match preference {
        Preference::A => 0,
        Preference::Tie => 1,
        Preference::B => 2,
    }
}

/// Every two judgements of one list.
fn twos<'j, 'a>(
    judged: &'j [Judgement<'a>],
) -> impl Iterator<Item = (&'j Judgement<'a>, &'j Judgement<'a>)> {
    judged
        .iter()
        .enumerate()
        .flat_map(move |(at, one)| judged[at + 1..].iter().map(move |other| (one, other)))
}

/// Both in the order of the annotators' names, so that kappa compares the same two raters throughout.
fn by_name<'j, 'a>(
    one: &'j Judgement<'a>,
    other: &'j Judgement<'a>,
) -> (&'j Judgement<'a>, &'j Judgement<'a>) {
    if one.annotator <= other.annotator { (one, other) } else { (other, one) }
}

fn weighted_kappa(shared: &Shared<'_>, weights: KappaWeights) -> Option<f64> {
    let defined = shared
        .values()
        .filter_map(|pairs| Some((cohen_kappa(pairs, weights)?, pairs.len() as f64)));
    let (sum, n) = defined.fold((0.0, 0.0), |(sum, n), (kappa, of)| (sum + kappa * of, n + of));
    (n > 0.0).then(|| sum / n)
}

pub(super) fn agreement(pairs: &Instances<'_>) -> Agreement {
    let units: Vec<&Vec<Judgement<'_>>> =
        pairs.values().flat_map(BTreeMap::values).filter(|judged| judged.len() >= 2).collect();
    let both: Vec<(&Judgement<'_>, &Judgement<'_>)> = units
        .iter()
        .flat_map(|judged| twos(judged))
        .map(|(one, other)| by_name(one, other))
        .collect();
    let preferences: Vec<(Preference, Preference)> =
        both.iter().map(|(one, other)| (preference(one), preference(other))).collect();
    let first_two: Vec<(Preference, Preference)> =
        units.iter().map(|judged| (preference(&judged[0]), preference(&judged[1]))).collect();
    let mut shared: Shared<'_> = BTreeMap::new();
    let mut decided: Shared<'_> = BTreeMap::new();
    for ((one, other), (a, b)) in both.iter().zip(&preferences) {
        let names = (one.annotator, other.annotator);
        shared.entry(names).or_default().push((place(*a), place(*b)));
        if *a != Preference::Tie && *b != Preference::Tie {
            decided.entry(names).or_default().push((place(*a), place(*b)));
        }
    }
    let places = |ties: bool| -> Vec<Vec<f64>> {
        let of = |judged: &&Vec<Judgement<'_>>| {
            let chosen = judged.iter().map(preference);
            let chosen = chosen.filter(|one| ties || *one != Preference::Tie);
            chosen.map(|one| place(one) as f64).collect()
        };
        units.iter().map(of).collect()
    };
    let scores = Scores::ASPECTS.into_iter().enumerate();
    Agreement {
        instances: units.len(),
        pairs: both.len(),
        strict: preference_agreement(&preferences, Ties::Apart),
        relaxed: preference_agreement(&preferences, Ties::Half),
        ties_merged: preference_agreement(&preferences, Ties::Merged),
        kappa: weighted_kappa(&shared, KappaWeights::None),
        kappa_without_ties: weighted_kappa(&decided, KappaWeights::None),
        alpha: krippendorff_alpha(&places(true), Level::Nominal),
        alpha_ordinal: krippendorff_alpha(&places(true), Level::Ordinal),
        alpha_without_ties: krippendorff_alpha(&places(false), Level::Nominal),
        upstream_strict: preference_agreement(&first_two, Ties::Apart),
        upstream_relaxed: preference_agreement(&first_two, Ties::Half),
        scores: scores.map(|(at, name)| (name.to_owned(), aspect(at, &units, &both))).collect(),
    }
}

fn aspect(
    aspect: usize,
    units: &[&Vec<Judgement<'_>>],
    both: &[(&Judgement<'_>, &Judgement<'_>)],
) -> ScoreAgreement {
    let score = |one: &Judgement<'_>, at: usize| one.scores[at].all()[aspect];
    let mut shared: Shared<'_> = BTreeMap::new();
    let mut pairs: Vec<(u8, u8)> = Vec::new();
    for (one, other) in both {
        for at in [0, 1] {
            let (a, b) = (score(one, at), score(other, at));
            pairs.push((a, b));
            let places = (usize::from(a.saturating_sub(1)), usize::from(b.saturating_sub(1)));
            shared.entry((one.annotator, other.annotator)).or_default().push(places);
        }
    }
    let near: Vec<(bool, bool)> = pairs.iter().map(|(a, b)| (a.abs_diff(*b) <= 1, true)).collect();
    let rated: Vec<Vec<f64>> = units
        .iter()
        .flat_map(|judged| {
            [0, 1].map(|at| judged.iter().map(|one| f64::from(score(one, at))).collect())
        })
        .collect();
    ScoreAgreement {
        same: percent(&pairs),
        within_one: percent(&near),
        kappa: weighted_kappa(&shared, KappaWeights::Quadratic),
        alpha: krippendorff_alpha(&rated, Level::Ordinal),
    }
}
