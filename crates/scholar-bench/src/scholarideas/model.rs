//! Ideas and rubrics.

use std::fmt;
use std::str::FromStr;

use jiff::civil::Date;
use serde::{Deserialize, Serialize};

/// Field that an idea is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Discipline {
    /// Artificial intelligence.
    Ai,
    /// Neuroscience.
    Neuro,
    /// Biochemistry.
    Biochem,
    /// Ecology.
    Eco,
}

impl Discipline {
    /// All, in the order of the paper's tables.
    pub const ALL: [Self; 4] = [Self::Ai, Self::Neuro, Self::Biochem, Self::Eco];

    /// As the names of ideas begin.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ai => "ai",
            Self::Neuro => "neuro",
            Self::Biochem => "biochem",
            Self::Eco => "eco",
        }
    }
}

/// Whether a reviewer praises or criticises.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RubricType {
    /// What is good about the idea.
    Strength,
    /// What is wrong with it or missing.
    Weakness,
}

impl RubricType {
    /// All.
    pub const ALL: [Self; 2] = [Self::Strength, Self::Weakness];

    /// As in the files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Strength => "strength",
            Self::Weakness => "weakness",
        }
    }
}

/// What a rubric is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Axis {
    /// Whether the methods can show what they are to show.
    Soundness,
    /// What is new beside earlier work.
    Contribution,
}

impl Axis {
    /// All.
    pub const ALL: [Self; 2] = [Self::Soundness, Self::Contribution];

    /// As in the files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Soundness => "soundness",
            Self::Contribution => "contribution",
        }
    }
}

/// How much a rubric weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// It decides about the idea.
    Major,
    /// It does not.
    Minor,
}

impl Severity {
    /// All.
    pub const ALL: [Self; 2] = [Self::Major, Self::Minor];

    /// As in the files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Major => "major",
            Self::Minor => "minor",
        }
    }
}

/// Name of an idea: `ai_31`. Ordered by discipline, then by number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct IdeaId {
    /// Its field.
    pub discipline: Discipline,
    /// Its number within the field, from 1.
    pub number: u32,
}

impl fmt::Display for IdeaId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}_{}", self.discipline.name(), self.number)
    }
}

/// A text that names no idea.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not the name of an idea, such as ai_31")]
pub struct NoIdeaId(String);

impl FromStr for IdeaId {
    type Err = NoIdeaId;

    fn from_str(text: &str) -> Result<Self, NoIdeaId> {
        let wrong = || NoIdeaId(text.to_owned());
        let (field, number) = text.split_once('_').ok_or_else(wrong)?;
        let discipline = Discipline::ALL.into_iter().find(|one| one.name() == field);
        let id = Self {
            discipline: discipline.ok_or_else(wrong)?,
            number: number.parse().map_err(|_| wrong())?,
        };
        // `ai_01` and `ai_+1` are other names.
        if id.number > 0 && id.to_string() == text { Ok(id) } else { Err(wrong()) }
    }
}

impl TryFrom<String> for IdeaId {
    type Error = NoIdeaId;

    fn try_from(text: String) -> Result<Self, NoIdeaId> {
        text.parse()
    }
}

impl From<IdeaId> for String {
    fn from(id: IdeaId) -> Self {
        id.to_string()
    }
}

/// One point that a reviewer makes, in a statement that stands alone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rubric {
    /// The point.
    pub statement: String,
    /// Praise or criticism.
    #[serde(rename = "type")]
    pub rubric_type: RubricType,
    /// What it is about.
    pub axis: Axis,
    /// How much it weighs.
    pub severity: Severity,
}

/// A research idea with what reviewers said of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Idea {
    /// Its name.
    pub id: IdeaId,
    /// Problem, method and experiments as planned, Markdown.
    pub text: String,
    /// Literature from this day on may not be used: the day on which the paper behind the idea appeared.
    pub cutoff: Date,
    /// In the order of the file.
    pub rubrics: Vec<Rubric>,
}

/// Ideas, ordered by name.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Dataset {
    /// No two have the same name.
    pub ideas: Vec<Idea>,
}

/// Which part of a dataset is meant; empty lists mean everything.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Filter {
    /// Only these ideas.
    pub ideas: Vec<IdeaId>,
    /// Only ideas of these fields.
    pub disciplines: Vec<Discipline>,
    /// Only rubrics of these types.
    pub types: Vec<RubricType>,
    /// Only rubrics of these axes.
    pub axes: Vec<Axis>,
    /// Only rubrics of these severities.
    pub severities: Vec<Severity>,
}

impl Filter {
    fn takes_idea(&self, id: IdeaId) -> bool {
        holds(&self.ideas, id) && holds(&self.disciplines, id.discipline)
    }

    /// Whether a rubric of that idea is meant.
    pub fn takes(&self, id: IdeaId, rubric: &Rubric) -> bool {
        let Rubric { statement: _, rubric_type, axis, severity } = rubric;
        self.takes_idea(id)
            && holds(&self.types, *rubric_type)
            && holds(&self.axes, *axis)
            && holds(&self.severities, *severity)
    }
}

fn holds<T: PartialEq>(wanted: &[T], value: T) -> bool {
    wanted.is_empty() || wanted.contains(&value)
}

impl Dataset {
    /// The idea of this name.
    pub fn idea(&self, id: IdeaId) -> Option<&Idea> {
        self.ideas.iter().find(|idea| idea.id == id)
    }

    /// Number of rubrics of all ideas.
    pub fn rubrics(&self) -> usize {
        self.ideas.iter().map(|idea| idea.rubrics.len()).sum()
    }

    /// What `filter` means: ideas without a rubric that is meant are left out.
    #[must_use]
    pub fn filtered(self, filter: &Filter) -> Self {
        let ideas = self.ideas.into_iter().filter_map(|mut idea| {
            idea.rubrics.retain(|rubric| filter.takes(idea.id, rubric));
            (!idea.rubrics.is_empty()).then_some(idea)
        });
        Self { ideas: ideas.collect() }
    }
}
