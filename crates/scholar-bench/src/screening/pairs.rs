//! Findings beside labels.

use scholar_core::text::locate;
use scholar_pipeline::screen::{CriterionDecision, Decision, Finding};
use serde::Serialize;

use super::data::{Half, LabelledPair};
use crate::statistics::Share;
use crate::statistics::agreement::{KappaWeights, cohen_kappa};

/// A labelled pair with a screener's decision.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DecidedPair {
    /// The pair and its label.
    pub pair: LabelledPair,
    /// Which half it belongs to.
    pub half: Half,
    /// What the screener says.
    pub decided: CriterionDecision,
}

/// How a screener does on one half of the pairs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PairsReport {
    /// Pairs whose finding is the label.
    pub right: Share,
    /// Pairs on which the screener commits itself: met or not met.
    pub committed: Share,
    /// Of those it commits itself on, those whose finding is the label.
    pub right_of_committed: Share,
    /// Of the pairs whose label does not exclude the paper, those on which the screener excludes it. These hurt.
    pub false_exclusions: Share,
    /// Of the pairs whose label excludes the paper, those on which the screener does.
    pub exclusions_found: Share,
    /// Of the pairs labelled met whose words are in the abstract and that the screener finds met too, those whose quotations share
    /// words.
    pub quotation_shared: Share,
    /// How many pairs have each label (rows) and finding (columns), in the order of [`Finding::ALL`].
    pub confusion: [[usize; 3]; 3],
    /// Cohen's kappa of labels and findings.
    pub kappa: Option<f64>,
}

impl PairsReport {
    /// Of `pairs`.
    pub fn of(pairs: &[&DecidedPair]) -> Self {
        let share = |hit: &dyn Fn(&DecidedPair) -> bool, of: &dyn Fn(&DecidedPair) -> bool| {
            let among: Vec<&&DecidedPair> = pairs.iter().filter(|pair| of(pair)).collect();
            Share::of(among.iter().filter(|pair| hit(pair)).count(), among.len())
        };
        let right = |one: &DecidedPair| one.decided.finding == one.pair.label;
        let committed = |one: &DecidedPair| one.decided.finding != Finding::Unclear;
        let excludes = |one: &DecidedPair| one.decided.decision == Decision::Exclude;
        let should_exclude =
            |one: &DecidedPair| one.pair.label.decision(one.pair.kind) == Decision::Exclude;
        let both_met = |one: &DecidedPair| {
            one.pair.label == Finding::Met
                && one.decided.finding == Finding::Met
                && one.decided.quote.is_some()
                && one.pair.quote.is_some()
        };
        let shares_words = |one: &DecidedPair| {
            let quoted = one.decided.quote.as_ref().map_or("", |quote| quote.text.as_str());
            let labelled = one.pair.quote.as_deref().unwrap_or_default();
            locate(labelled, quoted).is_some() || locate(quoted, labelled).is_some()
        };
        let mut confusion = [[0; 3]; 3];
        for one in pairs {
            confusion[place(one.pair.label)][place(one.decided.finding)] += 1;
        }
        let rated: Vec<(usize, usize)> =
            pairs.iter().map(|one| (place(one.pair.label), place(one.decided.finding))).collect();
        Self {
            right: share(&right, &|_| true),
            committed: share(&committed, &|_| true),
            right_of_committed: share(&right, &committed),
            false_exclusions: share(&excludes, &|one| !should_exclude(one)),
            exclusions_found: share(&excludes, &should_exclude),
            quotation_shared: share(&shares_words, &both_met),
            confusion,
            kappa: cohen_kappa(&rated, KappaWeights::None),
        }
    }
}

/// Place of a finding in [`Finding::ALL`].
fn place(finding: Finding) -> usize {
    match finding {
        Finding::Met => 0,
        Finding::NotMet => 1,
        Finding::Unclear => 2,
    }
}

/// Two labellers on the pairs that both labelled: how many, the share of equal labels, and Cohen's kappa.
pub fn agreement(first: &[LabelledPair], second: &[LabelledPair]) -> (Share, Option<f64>) {
    let labels = first.iter().filter_map(|one| {
        let other = second.iter().find(|other| other.name() == one.name())?;
        Some((place(one.label), place(other.label)))
    });
    let labels: Vec<(usize, usize)> = labels.collect();
    let equal = labels.iter().filter(|(a, b)| a == b).count();
    (Share::of(equal, labels.len()), cohen_kappa(&labels, KappaWeights::None))
}

#[cfg(test)]
mod tests {
    use scholar_pipeline::screen::{Basis, CriterionKind};

    use super::*;

    fn decided(kind: CriterionKind, label: Finding, finding: Finding) -> DecidedPair {
        let pair = LabelledPair {
            topic: "t".to_owned(),
            paper: "p".to_owned(),
            criterion_id: "c".to_owned(),
            criterion: "x".to_owned(),
            kind,
            label,
            quote: None,
        };
        let decided = CriterionDecision {
            criterion: "c".to_owned(),
            digest: String::new(),
            decision: finding.decision(kind),
            finding,
            basis: Basis::Undecided,
            score: 0.5,
            quote: None,
            signs: None,
        };
        DecidedPair { half: pair.half(), pair, decided }
    }

    #[test]
    fn a_false_exclusion_is_an_exclusion_that_the_label_does_not_ask_for() {
        use CriterionKind::{Exclude, Include};
        use Finding::{Met, NotMet, Unclear};
        let pairs = [
            decided(Include, Met, NotMet),
            decided(Include, Unclear, NotMet),
            decided(Include, NotMet, NotMet),
            decided(Include, Met, Unclear),
            decided(Exclude, NotMet, Met),
            decided(Exclude, Met, Met),
            decided(Exclude, Met, NotMet),
        ];
        let report = PairsReport::of(&pairs.iter().collect::<Vec<_>>());
        assert_eq!((report.false_exclusions.hits, report.false_exclusions.n), (3, 4));
        assert_eq!((report.exclusions_found.hits, report.exclusions_found.n), (2, 3));
        assert_eq!((report.right.hits, report.committed.hits), (2, 6));
        assert_eq!(report.confusion, [[1, 2, 1], [1, 1, 0], [0, 1, 0]]);
    }
}
