//! What came of screening: the program's decisions in their order, and what a person's make of them.

use scholar_core::{Notice, PaperId, PaperMeta};
use serde::{Deserialize, Serialize};

use super::{
    Criterion, CriterionDecision, Decision, Duplicate, FlowCounts, PaperDecision, RankedBy,
};

/// What a person decided on a paper.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PersonDecision {
    /// The paper.
    pub paper: PaperId,
    /// What becomes of it.
    pub decision: Decision,
    /// Why, if the person said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Who decided on a paper.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decider {
    /// Code or a model.
    Program,
    /// A person.
    Person,
}

impl Decider {
    /// As files have it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Program => "program",
            Self::Person => "person",
        }
    }
}

/// A paper with what the program made of it, whoever decides in the end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RankedPaper {
    /// The paper.
    pub paper: PaperMeta,
    /// Whether there is anything to read but its title.
    pub has_text: bool,
    /// What its place is made of.
    pub ranked_by: RankedBy,
    /// The program's decision that holds; `None` where there is none yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<PaperDecision>,
}

/// A screening as the program left it, without what people decided.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ranked {
    /// The likeliest first.
    pub papers: Vec<RankedPaper>,
    /// The numbers before screening.
    pub counts: FlowCounts,
    /// Papers that are another under a second name.
    pub duplicates: Vec<Duplicate>,
    /// How many decisions of a person the order has learnt from.
    pub learnt_from: usize,
}

/// A screened paper as it is shown, the likeliest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ScreenedPaper {
    /// Place in the ranking, from 1.
    pub rank: usize,
    /// The paper.
    pub paper: PaperMeta,
    /// `None`: nobody has decided yet.
    pub decision: Option<Decision>,
    /// Who decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Decider>,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// See [`PaperDecision::score`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f32>,
    /// What its place is made of.
    pub ranked_by: RankedBy,
    /// The program's decisions on the criteria.
    pub criteria: Vec<CriterionDecision>,
}

impl ScreenedPaper {
    /// The decision in a word.
    pub fn decision_name(&self) -> &'static str {
        self.decision.map_or("not screened", Decision::name)
    }
}

/// Everything there is to show of a screening.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Screening {
    /// The likeliest first.
    pub papers: Vec<ScreenedPaper>,
    /// The numbers of the flow diagram.
    pub flow: FlowCounts,
    /// Papers that are another under a second name.
    pub duplicates: Vec<Duplicate>,
    /// How many decisions of a person the order has learnt from.
    pub learnt_from: usize,
    /// What a person should know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<Notice>,
}

impl Ranked {
    /// What becomes of each paper: what a person decided counts before what the program did.
    pub fn decided<'p>(
        self,
        criteria: &[Criterion],
        person: impl Fn(&PaperId) -> Option<&'p PersonDecision>,
    ) -> Screening {
        let Self { papers, counts: mut flow, duplicates, learnt_from } = self;
        let decide = |(at, paper): (usize, RankedPaper)| {
            let RankedPaper { paper, has_text, ranked_by, program } = paper;
            let person = person(&paper.id);
            let (decision, by, reason, excluded_by) = match (person, &program) {
                (Some(one), _) => {
                    let reason = one.reason.clone();
                    (Some(one.decision), Some(Decider::Person), reason.clone(), reason)
                }
                (None, Some(one)) => {
                    let reason = Some(one.reason.clone());
                    (Some(one.decision), Some(Decider::Program), reason, one.excluded_by.clone())
                }
                (None, None) => (None, None, None, None),
            };
            match decision {
                Some(decision) => {
                    flow.count(decision, excluded_by.as_deref(), person.is_some());
                    let unread = decision == Decision::Unclear && !has_text;
                    flow.without_text += usize::from(unread);
                }
                None => flow.not_screened += 1,
            }
            let score = program.as_ref().map(|one| one.score);
            let criteria = program.map(|one| one.criteria).unwrap_or_default();
            ScreenedPaper { rank: at + 1, paper, decision, by, reason, score, ranked_by, criteria }
        };
        let papers = papers.into_iter().enumerate().map(decide).collect();
        let place = |reason: &String| criteria.iter().position(|criterion| criterion.id == *reason);
        flow.reasons.sort_by(|a, b| {
            let last = usize::MAX;
            (place(&a.0).unwrap_or(last), &a.0).cmp(&(place(&b.0).unwrap_or(last), &b.0))
        });
        Screening { papers, flow, duplicates, learnt_from, notices: Vec::new() }
    }
}
