//! Decisions on papers and criteria.

use std::fmt;

use scholar_core::{PaperId, PassageId};
use serde::{Deserialize, Serialize};

use super::criteria::{Criteria, CriterionKind};
use super::signs::CriterionSigns;

/// What becomes of a paper, by one criterion or altogether.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// It goes on to the review.
    Include,
    /// It is left out.
    Exclude,
    /// A person has to read it.
    Unclear,
}

impl Decision {
    /// All decisions.
    pub const ALL: [Self; 3] = [Self::Include, Self::Exclude, Self::Unclear];

    /// Its name in files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Include => "include",
            Self::Exclude => "exclude",
            Self::Unclear => "unclear",
        }
    }

    /// The decision of that name, ignoring case and white space around it.
    pub fn named(name: &str) -> Option<Self> {
        let name = name.trim().to_ascii_lowercase();
        Self::ALL.into_iter().find(|decision| decision.name() == name)
    }
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Whether a paper meets a criterion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Finding {
    /// It does.
    Met,
    /// It does not.
    NotMet,
    /// The text does not tell.
    Unclear,
}

impl Finding {
    /// All findings.
    pub const ALL: [Self; 3] = [Self::Met, Self::NotMet, Self::Unclear];

    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Met => "met",
            Self::NotMet => "not_met",
            Self::Unclear => "unclear",
        }
    }

    /// What it means for the paper under a criterion of this kind.
    pub fn decision(self, kind: CriterionKind) -> Decision {
        match (self, kind) {
            (Self::Unclear, _) => Decision::Unclear,
            (Self::Met, CriterionKind::Include) | (Self::NotMet, CriterionKind::Exclude) => {
                Decision::Include
            }
            (Self::NotMet, CriterionKind::Include) | (Self::Met, CriterionKind::Exclude) => {
                Decision::Exclude
            }
        }
    }
}

/// What a finding rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// The quotation says so.
    Stated,
    /// The quotation says otherwise.
    ContraryStated,
    /// Nothing in the text speaks of it; the quotation, if any, is what comes nearest.
    NoSign,
    /// The signs do not suffice either way; the quotation is what comes nearest.
    Undecided,
    /// The paper has no text.
    NoText,
    /// A model's quotation is not in the text.
    NotLocated,
    /// The model gave no usable verdict.
    NoVerdict,
}

/// A located quotation: characters `start..end` of a stored passage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScreenQuote {
    /// The stored passage.
    pub passage: PassageId,
    /// Number of the first character (Unicode scalar value) in the passage's text, from 0.
    pub start: usize,
    /// One past the last character.
    pub end: usize,
    /// Exactly these characters.
    pub text: String,
    /// Page of the document, from 1, where the format tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<u32>,
}

/// One paper under one criterion.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CriterionDecision {
    /// [`super::Criterion::id`].
    pub criterion: String,
    /// [`super::Criterion::digest`] at the time.
    pub digest: String,
    /// What it means for the paper.
    pub decision: Decision,
    /// Whether the criterion is met.
    pub finding: Finding,
    /// What that rests on.
    pub basis: Basis,
    /// Probability that the criterion is met, in `[0, 1]`; a model's verdict counts as 0.9, 0.5 or 0.1, which is an order and
    /// no measured probability.
    pub score: f32,
    /// Where the text says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quote: Option<ScreenQuote>,
    /// What the score was computed from, where it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signs: Option<CriterionSigns>,
}

/// One paper under all criteria.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PaperDecision {
    /// The paper.
    pub paper: PaperId,
    /// [`super::ScreenPaper::digest`] at the time.
    pub text_digest: String,
    /// What decided, with the names of its models.
    pub method: String,
    /// What becomes of the paper.
    pub decision: Decision,
    /// Why, in one clause.
    pub reason: String,
    /// The criterion that excludes it, if one does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub excluded_by: Option<String>,
    /// How likely it belongs in the review, in `[0, 1]`: the geometric mean over the criteria of the probability that each lets
    /// it pass.
    pub score: f32,
    /// One decision per criterion, in their order.
    pub criteria: Vec<CriterionDecision>,
}

/// What the decisions on single criteria, in their order, mean for the paper: the decision, the excluding criterion and the
/// reason.
pub fn overall(decisions: &[CriterionDecision]) -> (Decision, Option<String>, String) {
    if decisions.iter().any(|one| one.basis == Basis::NoText) {
        return (Decision::Unclear, None, "no text".to_owned());
    }
    if let Some(first) = decisions.iter().find(|one| one.decision == Decision::Exclude) {
        let why = match (first.finding, first.basis) {
            (Finding::Met, _) => "is met",
            (_, Basis::NoSign) => "no sign of it in the text",
            _ => "is not met",
        };
        let reason = format!("{}: {why}", first.criterion);
        return (Decision::Exclude, Some(first.criterion.clone()), reason);
    }
    let open: Vec<&str> = decisions
        .iter()
        .filter(|one| one.decision == Decision::Unclear)
        .map(|one| one.criterion.as_str())
        .collect();
    if decisions.is_empty() || !open.is_empty() {
        return (Decision::Unclear, None, format!("unclear: {}", open.join(", ")));
    }
    (Decision::Include, None, "every criterion lets it pass".to_owned())
}

impl PaperDecision {
    /// The decision on a paper from those on its criteria.
    pub fn new(
        paper: PaperId,
        text_digest: String,
        method: &str,
        criteria: Vec<CriterionDecision>,
        of: &Criteria,
    ) -> Self {
        let (decision, excluded_by, reason) = overall(&criteria);
        let passes = criteria.iter().map(|one| {
            let kind = of.find(&one.criterion).map_or(CriterionKind::Include, |known| known.kind);
            let p = if kind == CriterionKind::Include { one.score } else { 1.0 - one.score };
            p.clamp(1e-4, 1.0).ln()
        });
        let n = criteria.len().max(1);
        let score = (passes.sum::<f32>() / n as f32).exp();
        let method = method.to_owned();
        Self { paper, text_digest, method, decision, reason, excluded_by, score, criteria }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decided(id: &str, finding: Finding, kind: CriterionKind, basis: Basis) -> CriterionDecision {
        CriterionDecision {
            criterion: id.to_owned(),
            digest: String::new(),
            decision: finding.decision(kind),
            finding,
            basis,
            score: 0.5,
            quote: None,
            signs: None,
        }
    }

    #[test]
    fn the_first_excluding_criterion_is_the_reason_and_one_doubt_keeps_a_paper() {
        use CriterionKind::{Exclude, Include};
        use Finding::{Met, NotMet, Unclear};
        let of = |decisions: &[CriterionDecision]| {
            let (decision, by, _) = overall(decisions);
            (decision, by)
        };
        let human = decided("human", Met, Include, Basis::Stated);
        let animal = decided("animal", NotMet, Exclude, Basis::NoSign);
        assert_eq!(of(&[human.clone(), animal.clone()]), (Decision::Include, None));
        let pk = decided("pk", Unclear, Include, Basis::Undecided);
        assert_eq!(of(&[human.clone(), pk.clone(), animal]), (Decision::Unclear, None));
        let review = decided("review", Met, Exclude, Basis::Stated);
        let original = decided("original", NotMet, Include, Basis::ContraryStated);
        let by = Some("review".to_owned());
        assert_eq!(of(&[human, pk, review.clone(), original]), (Decision::Exclude, by));
        // A paper of which there is no text is never excluded.
        let unread = decided("human", Unclear, Include, Basis::NoText);
        assert_eq!(overall(&[unread, review]).2, "no text");
        assert_eq!(of(&[]), (Decision::Unclear, None));
    }

    #[test]
    fn names_are_read_back() {
        for decision in Decision::ALL {
            assert_eq!(Decision::named(&decision.name().to_uppercase()), Some(decision));
        }
        assert_eq!(Decision::named("maybe"), None);
    }
}
