//! What is asked of one review report: the items of `ScholarEval`'s user study.
//!
//! An item on both parts of a report is asked of each. Ratings are 1 to 10, counts 0 to 99; that faithfulness and citations are counted
//! follows from the published means, although the appendix prints a scale for them.
//!
//! Source: arXiv 2510.16234, appendix on the user study; wording ours.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

/// A part of a report that items are about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Part {
    Soundness,
    Contribution,
    Both,
}

/// What an item is answered with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Scale {
    /// 1 to 10.
    Rating,
    /// 0 to 99.
    Count,
}

impl Scale {
    /// Smallest and largest value.
    pub(super) fn range(self) -> (u8, u8) {
        match self {
            Self::Rating => (1, 10),
            Self::Count => (0, 99),
        }
    }
}

#[derive(Debug, Deserialize)]
struct Item {
    name: String,
    dimension: String,
    part: Part,
    scale: Scale,
    question: String,
}

#[derive(Deserialize)]
struct File {
    items: Vec<Item>,
}

/// An item asked of one part of a report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Field {
    /// Name in forms and files: `soundness_useful`.
    pub(super) name: String,
    /// What it is summed up under: `Useful`.
    pub(super) dimension: String,
    /// `soundness` or `contribution`.
    pub(super) part: &'static str,
    /// What it is answered with.
    pub(super) scale: Scale,
    /// What the annotator reads.
    pub(super) question: String,
}

static FIELDS: LazyLock<Vec<Field>> = LazyLock::new(|| {
    let file: File = serde_json::from_str(include_str!("review_items.json"))
        .expect("the file is part of the program and a test reads it");
    let of = |part: &'static str, own: Part| {
        let items = file.items.iter().filter(move |item| [own, Part::Both].contains(&item.part));
        items.map(move |item| Field {
            name: format!("{part}_{}", item.name),
            dimension: item.dimension.clone(),
            part,
            scale: item.scale,
            question: item.question.clone(),
        })
    };
    of("soundness", Part::Soundness).chain(of("contribution", Part::Contribution)).collect()
});

/// All fields, those on soundness first.
pub(super) fn fields() -> &'static [Field] {
    &FIELDS
}

/// Field that tells which kind of system the annotator takes the writer for.
pub(super) const GUESS: &str = "guess";

/// Which kind of system the annotator takes the writer for: whether the study was blind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Guess {
    /// One made for reviewing research plans.
    Specialised,
    /// One made for research of any kind.
    General,
    /// They cannot tell.
    Unsure,
}

impl Guess {
    /// All.
    pub const ALL: [Self; 3] = [Self::Specialised, Self::General, Self::Unsure];

    /// Its name in forms and files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Specialised => "specialised",
            Self::General => "general",
            Self::Unsure => "unsure",
        }
    }
}

/// A field that has to be filled before the form can be submitted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Missing {
    /// Name of the field.
    pub(crate) field: String,
    /// What it is, for people.
    pub(crate) label: String,
}

/// What stands in the form on a report.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReviewForm {
    /// Values by name of field.
    #[serde(default)]
    pub(crate) values: BTreeMap<String, u8>,
    #[serde(default)]
    pub(crate) guess: Option<Guess>,
}

/// The ratings of a report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewRatings {
    /// One value for each field.
    pub scores: Vec<ReviewScore>,
    /// Which kind of system the annotator takes the writer for.
    pub guess: Guess,
}

/// The value of one field.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewScore {
    /// Name of the field: `soundness_useful`.
    pub item: String,
    /// What it is summed up under: `Useful`.
    pub dimension: String,
    /// `soundness` or `contribution`.
    pub part: String,
    /// 1 to 10, or a count.
    pub value: u8,
}

impl ReviewForm {
    /// Whether anything was entered.
    pub(crate) fn is_empty(&self) -> bool {
        self.values.is_empty() && self.guess.is_none()
    }

    /// Takes a field of the form; `None` when it is no field of it, an error when its value cannot be.
    pub(super) fn take(&mut self, name: &str, value: &str) -> Option<Result<(), ()>> {
        if name == GUESS {
            self.guess = Guess::ALL.into_iter().find(|guess| guess.name() == value);
            return Some(self.guess.map(|_| ()).ok_or(()));
        }
        let field = fields().iter().find(|field| field.name == name)?;
        // A number that was cleared comes as nothing.
        if value.is_empty() {
            return Some(Ok(()));
        }
        let (low, high) = field.scale.range();
        let read = value.parse().ok().filter(|value| (low..=high).contains(value));
        Some(read.ok_or(()).map(|value| {
            self.values.insert(name.to_owned(), value);
        }))
    }

    /// What is not filled in yet, in the order of the form.
    pub(super) fn missing(&self) -> Vec<Missing> {
        let mut missing: Vec<Missing> = fields()
            .iter()
            .filter(|field| !self.values.contains_key(&field.name))
            .map(|field| Missing {
                field: field.name.clone(),
                label: format!("On {}: {}", field.part, field.question),
            })
            .collect();
        if self.guess.is_none() {
            let label = "What kind of system wrote it".to_owned();
            missing.push(Missing { field: GUESS.to_owned(), label });
        }
        missing
    }

    /// The ratings, if all are there.
    pub(crate) fn ratings(&self) -> Option<ReviewRatings> {
        let scores = fields().iter().map(|field| {
            Some(ReviewScore {
                item: field.name.clone(),
                dimension: field.dimension.clone(),
                part: field.part.to_owned(),
                value: *self.values.get(&field.name)?,
            })
        });
        Some(ReviewRatings { scores: scores.collect::<Option<_>>()?, guess: self.guess? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_items_are_those_of_the_user_study() {
        let of =
            |dimension: &str| fields().iter().filter(|field| field.dimension == dimension).count();
        let counts = ["Faithful", "Focus", "Refine", "LitEngage", "Citations", "Useful"].map(of);
        assert_eq!((counts, fields().len()), ([2, 7, 2, 2, 4, 4], 21));
        assert!(fields().iter().all(|field| field.question.ends_with(['.', '?'])));
        let counted = fields().iter().filter(|field| field.scale == Scale::Count).count();
        assert_eq!(counted, 6);
    }

    #[test]
    fn values_out_of_range_are_refused_and_a_full_form_has_ratings() {
        let mut form = ReviewForm::default();
        assert_eq!(form.take("soundness_useful", "11"), Some(Err(())));
        assert_eq!(form.take("soundness_useful", "0"), Some(Err(())));
        assert_eq!(form.take("soundness_citations_own", "100"), Some(Err(())));
        assert_eq!(form.take("guess", "the system"), Some(Err(())));
        assert_eq!(form.take("soundness_focus_criteria", "5"), None, "it is of contributions");
        assert_eq!(form.take("soundness_citations_own", ""), Some(Ok(())));
        assert_eq!((form.is_empty(), form.missing().len()), (true, 22));
        for field in fields() {
            assert_eq!(form.take(&field.name, "3"), Some(Ok(())));
        }
        assert_eq!(form.ratings(), None, "the guess is missing");
        assert_eq!(form.take("guess", "unsure"), Some(Ok(())));
        let ratings = form.ratings().expect("full");
        assert_eq!((ratings.scores.len(), ratings.guess), (21, Guess::Unsure));
    }
}
