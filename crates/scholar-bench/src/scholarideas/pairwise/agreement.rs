//! How far a judge of pairs agrees with people.
//!
//! Several people may label a pair: the label most of them gave counts, and a pair without one is left out, as in the paper.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{Criterion, Pairwise};
use crate::metrics::preference::Preference;
use crate::scholarideas::model::IdeaId;
use crate::statistics::agreement::{KappaWeights, cohen_kappa, percent};

/// What one person says of one pair by one criterion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PersonLabel {
    /// The idea of the pair.
    pub idea: IdeaId,
    /// The criterion.
    pub criterion: Criterion,
    /// Which system is better.
    pub preference: Preference,
}

/// Agreement by one criterion.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PairAgreement {
    /// Name of the criterion.
    pub criterion: String,
    /// Pairs with a majority of people and a clear verdict.
    pub n: usize,
    /// Pairs whose people gave two labels equally often.
    pub without_majority: usize,
    /// Percent of pairs with the same label; `None` without pairs.
    pub percent: Option<f64>,
    /// Cohen's κ over A, tie and B; `None` where it is undefined.
    pub kappa: Option<f64>,
}

/// Reads rows of cells, the header first: `idea`, `criterion`, `label`, the label being the name of a system or `tie`.
///
/// # Errors
/// Names the row, counted from 1 with the header.
pub fn read_labels(rows: &[Vec<String>], systems: [&str; 2]) -> Result<Vec<PersonLabel>, String> {
    let header = rows.first().ok_or("the file is empty")?;
    let column = |name: &str| {
        header
            .iter()
            .position(|cell| cell.trim().eq_ignore_ascii_case(name))
            .ok_or_else(|| format!("row 1: there is no column {name}"))
    };
    let places = [column("idea")?, column("criterion")?, column("label")?];
    let mut labels = Vec::new();
    for (nth, row) in (2..).zip(&rows[1..]) {
        let [idea, criterion, label] =
            places.map(|at| row.get(at).map(|cell| cell.trim()).unwrap_or_default());
        let wrong = |what: &str| format!("row {nth}: {what:?} is not one");
        let preference = match label {
            name if name == systems[0] => Preference::A,
            name if name == systems[1] => Preference::B,
            name if name.eq_ignore_ascii_case("tie") => Preference::Tie,
            other => return Err(wrong(other)),
        };
        labels.push(PersonLabel {
            idea: idea.parse().map_err(|_| wrong(idea))?,
            criterion: Criterion::ALL
                .into_iter()
                .find(|one| one.name() == criterion)
                .ok_or_else(|| wrong(criterion))?,
            preference,
        });
    }
    Ok(labels)
}

/// The label that most people gave; `None` where two lead.
pub fn majority(labels: &[Preference]) -> Option<Preference> {
    let all = [Preference::A, Preference::Tie, Preference::B];
    let count = |one: Preference| labels.iter().filter(|label| **label == one).count();
    let most = all.into_iter().map(count).max().filter(|most| *most > 0)?;
    let mut leading = all.into_iter().filter(|one| count(*one) == most);
    let first = leading.next();
    if leading.next().is_some() { None } else { first }
}

/// Agreement of the drawn verdicts with people, criterion by criterion.
pub fn agreement(pairwise: &Pairwise, labels: &[PersonLabel]) -> Vec<PairAgreement> {
    let of = |criterion: Criterion| {
        let mut by_pair: BTreeMap<IdeaId, Vec<Preference>> = BTreeMap::new();
        for label in labels.iter().filter(|label| label.criterion == criterion) {
            by_pair.entry(label.idea).or_default().push(label.preference);
        }
        let without_majority = by_pair.values().filter(|list| majority(list).is_none()).count();
        let both: Vec<(usize, usize)> = by_pair
            .iter()
            .filter_map(|(idea, labels)| {
                let pair = pairwise.pairs.iter().find(|pair| pair.idea == *idea)?;
                Some((category(majority(labels)?), category(pair.drawn(criterion)?)))
            })
            .collect();
        PairAgreement {
            criterion: criterion.name().to_owned(),
            n: both.len(),
            without_majority,
            percent: percent(&both).map(|share| 100.0 * share),
            kappa: cohen_kappa(&both, KappaWeights::None),
        }
    };
    Criterion::ALL.map(of).to_vec()
}

fn category(preference: Preference) -> usize {
    match preference {
        Preference::A => 0,
        Preference::Tie => 1,
        Preference::B => 2,
    }
}
