//! What is compared, by whom, and what they say of it.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::review::ReviewRatings;

/// A question with the answers of two systems.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Instance {
    /// Its name within the study. No annotator sees it.
    pub id: String,
    /// The question that both systems answered.
    pub question: String,
    /// What is asked of the answers.
    #[serde(default, skip_serializing_if = "Kind::is_comparison")]
    pub kind: Kind,
    /// The research plan that both reports are about, Markdown; of [`Kind::Review`] only.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub plan: String,
    /// Names of the only annotators who may judge it, because the plan is theirs; empty for all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub participants: Vec<String>,
    /// Names of annotators who may not judge it, because the question or one of the answers is theirs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub authors: Vec<String>,
    /// The answers, in an order that says nothing.
    pub answers: [Answer; 2],
}

impl Instance {
    /// Two answers to be compared.
    pub fn comparison(
        id: String,
        question: String,
        authors: Vec<String>,
        answers: [Answer; 2],
    ) -> Self {
        let (kind, plan, participants) = (Kind::Comparison, String::new(), Vec::new());
        Self { id, question, kind, plan, participants, authors, answers }
    }

    /// The answers that an annotator sees, as they are shown.
    pub(super) fn shown(&self, flipped: bool) -> Vec<&Answer> {
        let [first, second] = self.answers.each_ref();
        let (a, b) = if flipped { (second, first) } else { (first, second) };
        match self.kind {
            Kind::Comparison => vec![a, b],
            Kind::Review => vec![a],
        }
    }
}

/// What is asked of an instance's answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Both answers are shown and compared.
    #[default]
    Comparison,
    /// Each annotator sees one of two reports on a research plan, and answers the items of `ScholarEval`'s user study.
    Review,
}

impl Kind {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands out references")]
    fn is_comparison(&self) -> bool {
        *self == Self::Comparison
    }
}

/// What one system answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// Name of the system. Never leaves the server.
    pub system: String,
    /// Markdown with citation markers such as `[2]`.
    pub text: String,
    /// What the markers stand for.
    #[serde(default)]
    pub references: Vec<Reference>,
}

/// A passage that an answer cites.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reference {
    /// Its number in the answer.
    pub number: usize,
    /// Title of the paper; empty when unknown.
    #[serde(default)]
    pub title: String,
    /// The passage; empty when unknown.
    #[serde(default)]
    pub text: String,
    /// Where the paper is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
}

/// What is rated from 1 to 5. The names are those of the benchmark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Aspect {
    /// Structure and coherence.
    Organization,
    /// How much of the field, and how deep.
    Coverage,
    /// Staying with the question.
    Relevance,
    /// Whether one would work with it.
    Usefulness,
}

impl Aspect {
    /// All, in the order in which they are asked.
    pub const ALL: [Self; 4] =
        [Self::Organization, Self::Coverage, Self::Relevance, Self::Usefulness];

    /// Its name in forms and files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Organization => "organization",
            Self::Coverage => "coverage",
            Self::Relevance => "relevance",
            Self::Usefulness => "usefulness",
        }
    }
}

impl fmt::Display for Aspect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Scores from 1 to 5 in the order of [`Aspect::ALL`].
pub type Scores = [u8; 4];

/// Which answer is better, by its place in [`Instance::answers`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Preference {
    /// The first of the instance's answers.
    First,
    /// Neither is better.
    Tie,
    /// The second answer, as stored, not as shown.
    Second,
}

impl Preference {
    /// The same with the answers exchanged.
    #[must_use]
    pub fn swapped(self) -> Self {
        match self {
            Self::First => Self::Second,
            Self::Tie => Self::Tie,
            Self::Second => Self::First,
        }
    }
}

/// What an annotator says of the question itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Quality {
    /// Fit for the comparison.
    Good,
    /// Unclear, wrong or broken.
    Bad,
    /// Beyond what this annotator can judge.
    Hard,
}

impl Quality {
    /// Its name in forms and files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Bad => "bad",
            Self::Hard => "hard",
        }
    }
}

/// The ratings of both answers, in the order of [`Instance::answers`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ratings {
    /// Scores of each answer.
    pub scores: [Scores; 2],
    /// Which of the two answers the annotator prefers.
    pub preference: Preference,
}

/// One submission. Those that an annotator made earlier for the same instance are kept; the last one counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evaluation {
    /// Name of the annotator.
    pub annotator: String,
    /// Identifier of the instance that was judged.
    pub instance: String,
    /// Whether the second of the instance's answers was shown as A; of a review, whether it was the one shown.
    pub flipped: bool,
    /// `None` when the annotator passed the question over, and of reviews.
    pub ratings: Option<Ratings>,
    /// The ratings of a report; `None` when it was passed over, and of comparisons.
    pub review: Option<ReviewRatings>,
    /// Reason for the preference in the annotator's words; may be empty.
    pub explanation: String,
    /// How good the annotator finds the question; `None` where not said.
    pub quality: Option<Quality>,
    /// Remarks on the question in the annotator's words; may be empty.
    pub comment: String,
    /// When the annotator's first entry was saved, UTC.
    pub started: String,
    /// When it was submitted, UTC.
    pub submitted: String,
    /// 1 for the annotator's first submission for this instance, then 2 …
    pub version: u32,
    /// Whether it is the last one of this annotator for this instance.
    pub latest: bool,
}

/// An annotator of a study.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Annotator {
    /// As the study's owner calls them.
    pub name: String,
    /// The secret part of their address.
    pub token: String,
    /// Instances given to them.
    pub assigned: u32,
    /// How many of those they have submitted or passed over.
    pub done: u32,
}
