//! What a referee says of the plan itself.

use scholar_core::CharSpan;
use serde::{Deserialize, Serialize};

use super::{ItemState, Statement};

/// What a point of an appraisal is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PointKind {
    /// Whether the question matters and the design can answer it.
    Motivation,
    /// What is taken for granted, and what is not defined.
    Assumption,
    /// A choice or a detail of the method.
    Method,
    /// Data, tasks, samples, participants.
    Data,
    /// Comparisons, controls, simpler alternatives.
    Baseline,
    /// Measures and who applies them.
    Evaluation,
    /// The influence of a part or a parameter.
    Ablation,
    /// What else could explain a result.
    Confound,
    /// Repetitions, variance, power, corrections.
    Statistics,
    /// To what the results could be carried over.
    Generality,
    /// Effort, computation, feasibility, scale.
    Cost,
    /// Harm, consent, bias.
    Ethics,
    /// Anything else, and any kind of a reply that is none of these.
    Other,
}

impl PointKind {
    /// Every kind.
    pub const ALL: [Self; 13] = [
        Self::Motivation,
        Self::Assumption,
        Self::Method,
        Self::Data,
        Self::Baseline,
        Self::Evaluation,
        Self::Ablation,
        Self::Confound,
        Self::Statistics,
        Self::Generality,
        Self::Cost,
        Self::Ethics,
        Self::Other,
    ];

    /// Its name in replies, in JSON and, with a capital, in documents.
    pub fn name(self) -> &'static str {
        match self {
            Self::Motivation => "motivation",
            Self::Assumption => "assumption",
            Self::Method => "method",
            Self::Data => "data",
            Self::Baseline => "baseline",
            Self::Evaluation => "evaluation",
            Self::Ablation => "ablation",
            Self::Confound => "confound",
            Self::Statistics => "statistics",
            Self::Generality => "generality",
            Self::Cost => "cost",
            Self::Ethics => "ethics",
            Self::Other => "other",
        }
    }
}

/// How much a point matters, and in which direction. In the order in which points are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PointWeight {
    /// Speaks for the plan.
    Strength,
    /// A weakness that puts a claim of the plan in doubt.
    Major,
    /// A weakness that can be mended without changing what is claimed.
    Minor,
}

impl PointWeight {
    /// Every weight, in order.
    pub const ALL: [Self; 3] = [Self::Strength, Self::Major, Self::Minor];

    /// The heading under which its points stand.
    pub fn heading(self) -> &'static str {
        match self {
            Self::Strength => "Strengths of the plan",
            Self::Major => "Major weaknesses of the plan",
            Self::Minor => "Minor weaknesses of the plan",
        }
    }
}

/// Words of the idea.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanQuote {
    /// Exactly as they stand there.
    pub text: String,
    /// Where, in characters of [`Idea::text`](crate::Idea::text).
    pub span: CharSpan,
}

/// Something that speaks for the plan or against it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlanPoint {
    /// `A1`, `A2`, … in the order shown.
    pub id: String,
    /// What it is about.
    pub kind: PointKind,
    /// How much it matters.
    pub weight: PointWeight,
    /// The words of the idea that it is about, in the order of the reply.
    pub quotes: Vec<PlanQuote>,
    /// It is about something that the plan does not say. Only such a point has no [`quotes`](Self::quotes).
    pub not_stated: bool,
    /// What is the matter; at least one sentence. The sentences have neither role nor citations: they are about the plan alone.
    pub matter: Vec<Statement>,
    /// What to change; nothing for a strength.
    pub action: Vec<Statement>,
}

impl PlanPoint {
    /// Its sentences in order.
    pub fn statements(&self) -> impl Iterator<Item = &Statement> {
        self.matter.iter().chain(&self.action)
    }
}

/// What a referee says of the plan itself, whatever has been published.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Appraisal {
    /// How the reply came out.
    pub state: ItemState,
    /// By weight, the most important first.
    pub points: Vec<PlanPoint>,
    /// Points that were written and are not shown because they quote what the plan does not say, or told of papers alone.
    pub dropped: usize,
}

impl Appraisal {
    /// Its sentences in order.
    pub fn statements(&self) -> impl Iterator<Item = &Statement> {
        self.points.iter().flat_map(PlanPoint::statements)
    }

    /// The points of that weight in order.
    pub fn of_weight(&self, weight: PointWeight) -> impl Iterator<Item = &PlanPoint> {
        self.points.iter().filter(move |point| point.weight == weight)
    }
}
