//! Columns: properties with rules of their own, presets of them, and questions.

use serde::{Deserialize, Serialize};

macro_rules! properties {
    ($($(#[$doc:meta])* $name:ident = $key:literal, $header:literal, $question:literal;)*) => {
        /// A property of a paper that has rules.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Property {
            $($(#[$doc])* $name,)*
        }

        impl Property {
            /// All properties, preset by preset.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// Preset and name: `trial.n`.
            pub fn key(self) -> &'static str {
                match self { $(Self::$name => $key,)* }
            }

            /// What stands over the column.
            pub fn header(self) -> &'static str {
                match self { $(Self::$name => $header,)* }
            }

            /// The property as a question, for models.
            pub fn question(self) -> &'static str {
                match self { $(Self::$name => $question,)* }
            }
        }
    };
}

properties! {
    /// Design of a trial.
    Design = "trial.design", "Design", "What is the design of the study (randomisation, blinding, control, arms)?";
    /// Who took part.
    Population = "trial.population", "Population", "Who took part in the study, with which condition?";
    /// How many took part.
    SampleSize = "trial.n", "n", "How many participants were randomised or enrolled in total?";
    /// What was tried.
    Intervention = "trial.intervention", "Intervention", "Which intervention was tested?";
    /// What it was compared with.
    Comparator = "trial.comparator", "Comparator", "What was the intervention compared with?";
    /// What was measured.
    Outcome = "trial.outcome", "Outcome", "What was the primary outcome?";
    /// What was found.
    Effect = "trial.result", "Result", "What was the main result or effect of the intervention?";
    /// How long participants were followed.
    FollowUp = "trial.follow_up", "Follow-up", "How long were the participants followed up?";
    /// Who paid.
    Funding = "trial.funding", "Funding", "Who funded the study?";
    /// Under which number the trial is registered.
    Registration = "trial.registration", "Registration", "Under which number is the trial registered?";
    /// What is to be solved.
    Problem = "method.problem", "Problem", "Which problem does the paper address?";
    /// What is proposed.
    Method = "method.method", "Method", "Which method does the paper propose?";
    /// What it is evaluated on.
    Data = "method.data", "Data", "On which data is the method evaluated?";
    /// What is measured.
    Metric = "method.metric", "Metric", "With which metric is the method evaluated?";
    /// What it reaches.
    Score = "method.result", "Result", "Which result does the method achieve?";
    /// What it is compared with.
    Baseline = "method.baseline", "Baseline", "Which baseline is the method compared with?";
    /// What it cannot do.
    Limitation = "method.limitation", "Limitation", "Which limitation do the authors state?";
    /// Name of a data set.
    DatasetName = "dataset.name", "Name", "What is the name of the dataset?";
    /// What it is for.
    Task = "dataset.task", "Task", "For which task is the dataset made?";
    /// How large it is.
    Size = "dataset.size", "Size", "How large is the dataset?";
    /// What it is made from.
    Source = "dataset.source", "Language or source", "In which language is the dataset, or from which source?";
    /// Its licence.
    Licence = "dataset.licence", "Licence", "Under which licence is the dataset available?";
    /// Where it can be had.
    Availability = "dataset.availability", "Availability", "Where is the dataset available?";
}

impl Property {
    /// The property called `name`: its key (`trial.n`), or another name for it (`sample size`), whatever the case.
    pub fn named(name: &str) -> Option<Self> {
        let plain = name.trim().to_lowercase().replace(['_', '-'], " ");
        let known = Self::ALL.iter().copied().find(|one| {
            let key = one.key().replace('_', " ");
            key == plain || key.split_once('.').is_some_and(|(_, tail)| tail == plain)
        });
        known.or_else(|| {
            let alias = OTHER_NAMES.iter().find(|(alias, _)| *alias == plain);
            alias.map(|(_, property)| *property)
        })
    }

    /// The preset it belongs to.
    pub fn preset(self) -> Preset {
        match self.key().split_once('.').map_or("", |(preset, _)| preset) {
            "method" => Preset::Method,
            "dataset" => Preset::Dataset,
            _ => Preset::Trial,
        }
    }
}

const OTHER_NAMES: &[(&str, Property)] = &[
    ("sample size", Property::SampleSize),
    ("number of participants", Property::SampleSize),
    ("study design", Property::Design),
    ("participants", Property::Population),
    ("control", Property::Comparator),
    ("comparison", Property::Comparator),
    ("effect", Property::Effect),
    ("primary outcome", Property::Outcome),
    ("followup", Property::FollowUp),
    ("trial registration", Property::Registration),
    ("metrics", Property::Metric),
    ("baselines", Property::Baseline),
    ("limitations", Property::Limitation),
    ("language", Property::Source),
    ("license", Property::Licence),
];

/// A set of columns for one kind of papers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Preset {
    /// Clinical trials: design, population, n, intervention, comparator, outcome, result, follow-up, funding, registration.
    Trial,
    /// Papers on methods: problem, method, data, metric, result, baseline, limitation.
    Method,
    /// Papers on data sets: name, task, size, language or source, licence, availability.
    Dataset,
}

impl Preset {
    /// All presets.
    pub const ALL: [Self; 3] = [Self::Trial, Self::Method, Self::Dataset];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Trial => "trial",
            Self::Method => "method",
            Self::Dataset => "dataset",
        }
    }

    /// Its properties, in order.
    pub fn properties(self) -> impl Iterator<Item = Property> {
        Property::ALL.iter().copied().filter(move |one| one.preset() == self)
    }
}

/// What a column asks of a paper.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Column {
    /// What stands over it, unique in its table.
    pub name: String,
    /// Key of the property with rules, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub property: Option<String>,
    /// What is asked.
    pub question: String,
}

impl Column {
    /// A property under its own header.
    pub fn of(property: Property) -> Self {
        Self {
            name: property.header().to_owned(),
            property: Some(property.key().to_owned()),
            question: property.question().to_owned(),
        }
    }

    /// A question under `name`.
    pub fn asking(name: impl Into<String>, question: impl Into<String>) -> Self {
        Self { name: name.into(), property: None, question: question.into() }
    }

    /// The property with rules, if it is one.
    pub fn property(&self) -> Option<Property> {
        self.property.as_deref().and_then(Property::named)
    }

    /// `trial`, `n, follow-up`, `sample size,dose of aspirin=Which dose of aspirin was given?`: presets, properties, and
    /// names with a question, separated by commas. A name that is neither a preset nor a property is asked for as it is.
    ///
    /// # Errors
    /// When a name is empty or occurs twice.
    pub fn read(text: &str) -> Result<Vec<Self>, ColumnError> {
        Self::of_parts(split(text))
    }

    /// The same of parts that stand alone: a question may have commas then.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn of_parts<'t>(
        parts: impl IntoIterator<Item = &'t str>,
    ) -> Result<Vec<Self>, ColumnError> {
        let mut columns: Vec<Self> = Vec::new();
        for part in parts {
            columns.extend(Self::part(part)?);
        }
        Self::checked(columns)
    }

    fn part(part: &str) -> Result<Vec<Self>, ColumnError> {
        if let Some((name, question)) = part.split_once('=') {
            let (name, question) = (name.trim(), question.trim());
            if name.is_empty() || question.is_empty() {
                return Err(ColumnError::Empty(part.to_owned()));
            }
            return Ok(vec![Self::asking(name, question)]);
        }
        let name = part.trim();
        if name.is_empty() {
            return Err(ColumnError::Empty(part.to_owned()));
        }
        if let Some(preset) = Preset::ALL.into_iter().find(|preset| preset.name() == name) {
            return Ok(preset.properties().map(Self::of).collect());
        }
        Ok(vec![match Property::named(name) {
            Some(property) => Self { name: name.to_owned(), ..Self::of(property) },
            None => Self::asking(name, name),
        }])
    }

    /// The columns, if they are a table's: at least one, at most [`MOST_COLUMNS`], none twice.
    ///
    /// # Errors
    /// When they are not.
    pub fn checked(columns: Vec<Self>) -> Result<Vec<Self>, ColumnError> {
        if columns.is_empty() || columns.len() > MOST_COLUMNS {
            return Err(ColumnError::Count(columns.len()));
        }
        for (at, column) in columns.iter().enumerate() {
            if columns[..at].iter().any(|known| known.name == column.name) {
                return Err(ColumnError::Twice(column.name.clone()));
            }
        }
        Ok(columns)
    }
}

/// Most columns of a table: a model is asked for all of them in one call.
pub const MOST_COLUMNS: usize = 40;

/// Columns that cannot be a table's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ColumnError {
    /// A name or question is missing.
    #[error("the column {0:?} has no name or no question")]
    Empty(String),
    /// Two columns have one name.
    #[error("the column {0:?} occurs twice")]
    Twice(String),
    /// None, or too many.
    #[error("{0} columns, and a table has 1 to {MOST_COLUMNS}")]
    Count(usize),
}

/// The parts between commas; a question keeps its commas up to its question mark.
fn split(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut from = 0;
    for (at, _) in text.match_indices(',') {
        let part = &text[from..at];
        let open = part.split_once('=').is_some_and(|(_, question)| {
            !question.trim_end().ends_with('?') && text[at..].contains('?') && {
                // The question goes on if its mark comes before the next `name=`.
                let rest = &text[at..];
                let mark = rest.find('?').unwrap_or(rest.len());
                rest.find('=').is_none_or(|next| mark < next)
            }
        });
        if !open {
            parts.push(part);
            from = at + 1;
        }
    }
    parts.push(&text[from..]);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_property_is_found_by_its_key_and_keys_are_unique() {
        for (at, property) in Property::ALL.iter().enumerate() {
            assert_eq!(Property::named(property.key()), Some(*property));
            assert!(Property::ALL[..at].iter().all(|other| other.key() != property.key()));
        }
        assert_eq!(Property::named("Sample size"), Some(Property::SampleSize));
        assert_eq!(Property::named("follow-up"), Some(Property::FollowUp));
        assert_eq!(Property::named("shoe size"), None);
        assert_eq!(Preset::Trial.properties().count(), 10);
    }

    #[test]
    fn columns_are_presets_properties_and_questions() {
        let names = |text: &str| -> Vec<String> {
            Column::read(text).expect(text).into_iter().map(|column| column.name).collect()
        };
        assert_eq!(names("method").len(), 7);
        assert_eq!(
            names("sample size,dose=Which dose, and how often, was given?,funding"),
            ["sample size", "dose", "funding"]
        );
        let columns = Column::read("sample size,dose=Which dose?").expect("columns");
        assert_eq!(columns[0].property(), Some(Property::SampleSize));
        assert_eq!((columns[1].property(), columns[1].question.as_str()), (None, "Which dose?"));
        let error = |text: &str| Column::read(text).expect_err(text).to_string();
        assert!(error("n,,design").contains("no name"));
        assert!(error("dose=").contains("no name or no question"));
        assert!(error("n,n").contains("twice"));
    }
}
