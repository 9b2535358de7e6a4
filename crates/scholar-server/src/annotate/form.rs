//! The form of one comparison, as the browser sends it and as it is kept.

use serde::{Deserialize, Serialize};

use super::model::{Aspect, Kind, Preference, Quality, Ratings, Scores};
use super::review::{Missing, ReviewForm};

/// Longest free text, in characters. Ours: ten pages.
pub(super) const LONGEST_TEXT: usize = 20_000;
/// Longest name of a page.
const LONGEST_PAGE: usize = 64;

/// Which answer is better, as shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Better {
    A,
    Tie,
    B,
}

impl Better {
    pub(crate) const ALL: [Self; 3] = [Self::A, Self::Tie, Self::B];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::A => "a",
            Self::Tie => "tie",
            Self::B => "b",
        }
    }
}

/// What stands in the form: everything by where it was shown, A before B.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Form {
    pub(crate) scores: [[Option<u8>; 4]; 2],
    pub(crate) better: Option<Better>,
    pub(crate) explanation: String,
    pub(crate) quality: Option<Quality>,
    pub(crate) comment: String,
    /// Of a report instead of two answers.
    #[serde(default, skip_serializing_if = "ReviewForm::is_empty")]
    pub(crate) review: ReviewForm,
}

/// What the person asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    Save,
    Submit,
    Skip,
}

/// Which page a form comes from, so that what was entered in one window is not lost to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Origin {
    /// Drawn when the page was made.
    pub(crate) page: String,
    /// Counts what this page sent.
    pub(crate) seq: u32,
    /// Revision of the form that the page showed.
    pub(crate) base: u32,
}

/// A form as it was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sent {
    pub(crate) form: Form,
    pub(crate) origin: Origin,
    pub(crate) action: Action,
}

/// Name of the field for a score.
pub(crate) fn score_field(shown: usize, aspect: Aspect) -> String {
    format!("{}_{aspect}", side(shown))
}

/// `a` or `b`.
pub(crate) fn side(shown: usize) -> &'static str {
    if shown == 0 { "a" } else { "b" }
}

impl Sent {
    /// Reads the fields; whatever no form of ours sends is refused with its name.
    pub(crate) fn read(fields: &[(String, String)]) -> Result<Self, String> {
        let mut form = Form::default();
        let mut origin = Origin { page: String::new(), seq: 0, base: 0 };
        let mut action = Action::Save;
        let mut seen: Vec<&str> = Vec::new();
        for (name, value) in fields {
            if seen.contains(&name.as_str()) {
                return Err(format!("the field {name:?} comes twice"));
            }
            seen.push(name);
            let odd = || format!("the field {name:?} cannot be {value:.40?}");
            let number = || value.parse::<u32>().map_err(|_| odd());
            match name.as_str() {
                "page" if value.chars().count() <= LONGEST_PAGE => origin.page.clone_from(value),
                "seq" => origin.seq = number()?,
                "base" => origin.base = number()?,
                "action" => {
                    action = match value.as_str() {
                        "save" => Action::Save,
                        "submit" => Action::Submit,
                        "skip" => Action::Skip,
                        _ => return Err(odd()),
                    }
                }
                "better" => {
                    let known = Better::ALL.into_iter().find(|one| one.name() == value);
                    form.better = Some(known.ok_or_else(odd)?);
                }
                "quality" => {
                    form.quality = match value.as_str() {
                        "" => None,
                        "good" => Some(Quality::Good),
                        "bad" => Some(Quality::Bad),
                        "hard" => Some(Quality::Hard),
                        _ => return Err(odd()),
                    }
                }
                "explanation" => form.explanation = text(name, value)?,
                "comment" => form.comment = text(name, value)?,
                _ => match (form.review.take(name, value), score_of(name)) {
                    (Some(taken), _) => taken.map_err(|()| odd())?,
                    (None, Some((shown, aspect))) => {
                        let score = value.parse().ok().filter(|score| (1..=5).contains(score));
                        form.scores[shown][aspect] = Some(score.ok_or_else(odd)?);
                    }
                    (None, None) => return Err(format!("there is no field {name:.40?}")),
                },
            }
        }
        if origin.page.is_empty() {
            return Err("the field \"page\" is missing".to_owned());
        }
        Ok(Self { form, origin, action })
    }
}

/// Place of the answer and of the aspect that a field is about.
fn score_of(field: &str) -> Option<(usize, usize)> {
    (0..2)
        .flat_map(|shown| (0..4).map(move |aspect| (shown, aspect)))
        .find(|(shown, aspect)| score_field(*shown, Aspect::ALL[*aspect]) == field)
}

/// Line breaks as one character, other control characters as none.
fn text(name: &str, value: &str) -> Result<String, String> {
    let text: String = value
        .replace("\r\n", "\n")
        .chars()
        .filter(|c| !c.is_control() || matches!(c, '\n' | '\t'))
        .collect();
    let length = text.chars().count();
    if length > LONGEST_TEXT {
        return Err(format!("{name} has {length} characters; at most {LONGEST_TEXT} are kept"));
    }
    Ok(text)
}

impl Form {
    /// What is not filled in yet, in the order of the form.
    pub(crate) fn missing(&self, kind: Kind) -> Vec<Missing> {
        match kind {
            Kind::Comparison => self.missing_of_pair(),
            Kind::Review => self.review.missing(),
        }
    }

    /// Whether all that stands in it belongs to a form of this kind.
    pub(crate) fn fits(&self, kind: Kind) -> bool {
        let of_pair = self.better.is_some() || self.scores.iter().flatten().any(Option::is_some);
        match kind {
            Kind::Comparison => self.review.is_empty(),
            Kind::Review => !of_pair,
        }
    }

    fn missing_of_pair(&self) -> Vec<Missing> {
        let mut missing = Vec::new();
        for (shown, scores) in self.scores.iter().enumerate() {
            for (aspect, score) in Aspect::ALL.into_iter().zip(scores) {
                if score.is_none() {
                    let label = format!("Answer {}: {aspect}", side(shown).to_uppercase());
                    missing.push(Missing { field: score_field(shown, aspect), label });
                }
            }
        }
        if self.better.is_none() {
            let label = "Which answer is better".to_owned();
            missing.push(Missing { field: "better".to_owned(), label });
        }
        missing
    }

    /// The ratings by the answers' places in the instance, if all are there.
    pub(crate) fn ratings(&self, flipped: bool) -> Option<Ratings> {
        let full = |scores: &[Option<u8>; 4]| -> Option<Scores> {
            let [a, b, c, d] = *scores;
            Some([a?, b?, c?, d?])
        };
        let mut scores = [full(&self.scores[0])?, full(&self.scores[1])?];
        let mut preference = match self.better? {
            Better::A => Preference::First,
            Better::Tie => Preference::Tie,
            Better::B => Preference::Second,
        };
        if flipped {
            scores.swap(0, 1);
            preference = preference.swapped();
        }
        Some(Ratings { scores, preference })
    }

    /// Whether enough is said to pass the question over.
    pub(crate) fn says_why_to_skip(&self) -> bool {
        matches!(self.quality, Some(Quality::Bad | Quality::Hard))
            || !self.comment.trim().is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(list: &[(&str, &str)]) -> Vec<(String, String)> {
        list.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn a_full_form_becomes_ratings_by_answer_and_not_by_place() {
        let mut list = vec![("page", "p"), ("better", "a"), ("explanation", "x\r\ny\u{7}")];
        let names: Vec<String> =
            (0..2).flat_map(|shown| Aspect::ALL.map(|aspect| score_field(shown, aspect))).collect();
        for (name, value) in names.iter().zip(["1", "2", "3", "4", "5", "5", "5", "5"]) {
            list.push((name, value));
        }
        let sent = Sent::read(&fields(&list)).expect("a form");
        assert_eq!(sent.form.explanation, "x\ny");
        assert_eq!(sent.form.missing(Kind::Comparison), []);
        let straight = sent.form.ratings(false).expect("full");
        assert_eq!(straight.scores, [[1, 2, 3, 4], [5, 5, 5, 5]]);
        assert_eq!(straight.preference, Preference::First);
        let flipped = sent.form.ratings(true).expect("full");
        assert_eq!(flipped.scores, [[5, 5, 5, 5], [1, 2, 3, 4]]);
        assert_eq!(flipped.preference, Preference::Second);
    }

    /// Upstream's page threw at the first radio without a choice.
    #[test]
    fn what_is_not_chosen_is_listed_and_no_error() {
        let sent = Sent::read(&fields(&[("page", "p"), ("a_coverage", "3")])).expect("a form");
        assert_eq!(sent.form.ratings(false), None);
        let missing: Vec<String> =
            sent.form.missing(Kind::Comparison).into_iter().map(|missing| missing.label).collect();
        assert_eq!(missing.len(), 8);
        assert_eq!(missing[0], "Answer A: organization");
        assert_eq!(missing[7], "Which answer is better");
    }

    #[test]
    fn what_no_page_sends_is_refused_by_name() {
        for (list, says) in [
            (vec![("page", "p"), ("evaluator", "ada")], "evaluator"),
            (vec![("page", "p"), ("a_coverage", "6")], "a_coverage"),
            (vec![("page", "p"), ("a_coverage", "")], "a_coverage"),
            (vec![("page", "p"), ("a_fluency", "3")], "a_fluency"),
            (vec![("page", "p"), ("better", "first")], "better"),
            (vec![("page", "p"), ("page", "q")], "twice"),
            (vec![("page", "p"), ("seq", "-1")], "seq"),
            (vec![("better", "a")], "page"),
        ] {
            let error = Sent::read(&fields(&list)).expect_err(says);
            assert!(error.contains(says), "{error}");
        }
        let long = "x".repeat(LONGEST_TEXT + 1);
        let error = Sent::read(&fields(&[("page", "p"), ("comment", &long)])).expect_err("long");
        assert!(error.contains("20001"), "{error}");
    }
}
