//! A question with how it is to be answered.

use scholar_core::Question;
use scholar_pipeline::modes;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{BackendError, BackendErrorKind};

/// Longest list of venues or sources.
const MOST_ENTRIES: usize = 20;
/// Longest text of one entry, in characters.
const MOST_CHARS: usize = 200;

/// A question with how it is to be answered: body of `POST /v1/ask`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AskRequest {
    /// The question.
    #[schema(example = "How can hallucinations of large language models be detected?")]
    pub question: String,
    /// Datastore to ask; left out, the usual one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub datastore: Option<String>,
    /// Mode by name; left out, what the model that writes is fit for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, example = "evidence")]
    pub mode: Option<String>,
    /// Length of a written answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub length: Option<Length>,
    /// Sources to ask by name; left out, those of the server's configuration.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<String>,
    /// Conditions on papers.
    #[serde(default, skip_serializing_if = "AskFilter::is_none")]
    pub filter: AskFilter,
    /// Run whose answer this follows up on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub follows: Option<String>,
    /// US dollars that may be spent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub max_cost_usd: Option<f64>,
    /// Seconds after which the best answer so far is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub max_seconds: Option<u64>,
}

/// Length of a written answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Length {
    /// 350 to 550 words.
    Short,
    /// 900 to 1,300 words.
    Medium,
    /// 1,600 to 2,200 words.
    Long,
}

impl Length {
    /// All lengths, the shortest first.
    pub const ALL: [Self; 3] = [Self::Short, Self::Medium, Self::Long];

    /// As requests and the command line have it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Short => "short",
            Self::Medium => "medium",
            Self::Long => "long",
        }
    }
}

/// Conditions on papers; all must hold.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AskFilter {
    /// The first year.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub year_from: Option<i16>,
    /// The last year.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub year_to: Option<i16>,
    /// The venue must contain one of these, in any case.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub venues: Vec<String>,
    /// Fewest citations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_citations: Option<u32>,
    /// Refuses papers known as retracted.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub without_retracted: bool,
    /// Whether a paper of which a value is unknown meets the condition on it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub include_unknown: bool,
}

impl AskFilter {
    /// Whether it lets everything through.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

impl AskRequest {
    /// The question, checked, and everything else as far as it can be checked without a datastore.
    ///
    /// # Errors
    /// When something of the request cannot be meant.
    pub fn check(&self) -> Result<Question, BackendError> {
        let invalid = |why: String| BackendError::new(BackendErrorKind::Invalid, why);
        let question = Question::new(&self.question).map_err(|error| invalid(error.to_string()))?;
        if let Some(mode) = &self.mode
            && modes::named(mode).is_none()
        {
            let names: Vec<&str> = modes::MODES.iter().map(|mode| mode.name).collect();
            return Err(invalid(format!("there is no mode {mode:?}"))
                .with_hint(format!("the modes are {}", names.join(", "))));
        }
        let Self { sources, filter: AskFilter { venues, year_from, year_to, .. }, .. } = self;
        check_list(sources)?;
        check_list(venues)?;
        if let (Some(from), Some(to)) = (year_from, year_to)
            && from > to
        {
            return Err(invalid(format!("no year is from {from} and to {to}")));
        }
        if self.max_cost_usd.is_some_and(|usd| !usd.is_finite() || usd < 0.0) {
            return Err(invalid("a budget is a number of dollars, 0 or more".to_owned()));
        }
        if self.max_seconds == Some(0) {
            return Err(invalid("a time limit is at least 1 second".to_owned()));
        }
        Ok(question)
    }
}

/// That a list of names is none that somebody means to burden the server with.
pub(super) fn check_list(list: &[String]) -> Result<(), BackendError> {
    if list.len() <= MOST_ENTRIES && list.iter().all(|one| one.chars().count() <= MOST_CHARS) {
        return Ok(());
    }
    let why = format!(
        "a list has more than {MOST_ENTRIES} entries, or one of more than {MOST_CHARS} characters"
    );
    Err(BackendError::new(BackendErrorKind::Invalid, why))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asks(question: &str) -> AskRequest {
        AskRequest { question: question.to_owned(), ..AskRequest::default() }
    }

    #[test]
    fn what_cannot_be_meant_is_refused_with_a_reason() {
        assert!(asks("Why?").check().is_ok());
        let years =
            AskFilter { year_from: Some(2020), year_to: Some(2010), ..AskFilter::default() };
        let wrong = [
            asks(" "),
            asks("-"),
            AskRequest { mode: Some("magic".to_owned()), ..asks("Why?") },
            AskRequest { filter: years, ..asks("Why?") },
            AskRequest { max_cost_usd: Some(f64::NAN), ..asks("Why?") },
            AskRequest { max_seconds: Some(0), ..asks("Why?") },
            AskRequest { sources: vec!["x".repeat(201)], ..asks("Why?") },
        ];
        for request in wrong {
            let error = request.check().expect_err("refused");
            assert_eq!(error.kind, BackendErrorKind::Invalid, "{request:?}");
        }
    }

    #[test]
    fn a_request_survives_json_and_a_misspelt_field_is_an_error() {
        let request =
            AskRequest { length: Some(Length::Short), max_seconds: Some(9), ..asks("Why?") };
        let json = serde_json::to_string(&request).expect("JSON");
        assert_eq!(json, r#"{"question":"Why?","length":"short","max_seconds":9}"#);
        assert_eq!(serde_json::from_str::<AskRequest>(&json).expect("a request"), request);
        assert!(serde_json::from_str::<AskRequest>(r#"{"question":"Why?","moed":"x"}"#).is_err());
    }
}
