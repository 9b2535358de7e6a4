//! An idea with how it is to be reviewed.

use jiff::civil::Date;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::request::check_list;
use super::{BackendError, BackendErrorKind};

/// An idea with how it is to be reviewed: body of `POST /v1/reviews`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ReviewRequest {
    /// The idea, as text or Markdown.
    #[schema(example = "# Adapters for retrieval\n\n## Problem\nDense retrievers lose quality …")]
    pub idea: String,
    /// Datastore to read; left out, the usual one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub datastore: Option<String>,
    /// What to review; left out, both halves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub module: Option<ReviewHalf>,
    /// How it is written; left out, what the model that writes is fit for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub mode: Option<ReviewForm>,
    /// How much is asked of a model; left out, `lean`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub preset: Option<ReviewPreset>,
    /// Only papers from before this day are read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = String, format = Date)]
    pub cutoff: Option<Date>,
    /// Whether papers without a date are read in spite of a cut-off.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub include_unknown: bool,
    /// Most points about the plan itself; 0 asks for none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub points: Option<u8>,
    /// Sources to ask by name; left out, those of the server's configuration.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<String>,
    /// US dollars that may be spent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub max_cost_usd: Option<f64>,
    /// Calls of a model that may be made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub max_calls: Option<u64>,
    /// Seconds after which what there is so far is written up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub max_seconds: Option<u64>,
}

/// A half of a review.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReviewHalf {
    /// Whether the literature supports the methods.
    Soundness,
    /// What is new beside the nearest work.
    Contribution,
}

impl ReviewHalf {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Soundness, Self::Contribution];

    /// As requests and the command line have it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Soundness => "soundness",
            Self::Contribution => "contribution",
        }
    }
}

/// How a review is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReviewForm {
    /// By a model, every sentence about a paper checked.
    Generative,
    /// By code: verbatim evidence, nothing scored.
    Evidence,
}

impl ReviewForm {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Generative, Self::Evidence];

    /// As requests and the command line have it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Generative => "generative",
            Self::Evidence => "evidence",
        }
    }
}

/// How much a review asks of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReviewPreset {
    /// At most 60 calls.
    Lean,
    /// As the paper describes it.
    Paper,
    /// As the released code does it.
    Upstream,
}

impl ReviewPreset {
    /// All of them, the usual one first.
    pub const ALL: [Self; 3] = [Self::Lean, Self::Paper, Self::Upstream];

    /// As requests and the command line have it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Lean => "lean",
            Self::Paper => "paper",
            Self::Upstream => "upstream",
        }
    }
}

impl ReviewRequest {
    /// Checks what can be checked without reading the idea, which is the program's to do.
    ///
    /// # Errors
    /// When something of the request cannot be meant.
    pub fn check(&self) -> Result<(), BackendError> {
        let invalid = |why: &str| BackendError::new(BackendErrorKind::Invalid, why);
        check_list(&self.sources)?;
        if self.include_unknown && self.cutoff.is_none() {
            return Err(invalid(
                "papers without a date are left out only where there is a cut-off",
            )
            .with_hint("name a cut-off date, or leave this choice out"));
        }
        if self.max_cost_usd.is_some_and(|usd| !usd.is_finite() || usd < 0.0) {
            return Err(invalid("a budget is a number of dollars, 0 or more"));
        }
        if self.max_seconds == Some(0) {
            return Err(invalid("a time limit is at least 1 second"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_meant_is_refused() {
        let idea = || ReviewRequest { idea: "We plan.".to_owned(), ..ReviewRequest::default() };
        assert!(idea().check().is_ok());
        let wrong = [
            ReviewRequest { include_unknown: true, ..idea() },
            ReviewRequest { max_cost_usd: Some(-1.0), ..idea() },
            ReviewRequest { max_seconds: Some(0), ..idea() },
            ReviewRequest { sources: vec!["x".to_owned(); 21], ..idea() },
        ];
        for request in wrong {
            let error = request.check().expect_err("refused");
            assert_eq!(error.kind, BackendErrorKind::Invalid, "{request:?}");
        }
        let json =
            r#"{"idea":"We plan.","module":"soundness","mode":"evidence","cutoff":"2024-06-01"}"#;
        let read: ReviewRequest = serde_json::from_str(json).expect("a request");
        assert_eq!(serde_json::to_string(&read).expect("JSON"), json);
        for wrong in ["\"cutoff\":\"soon\"", "\"mode\":\"magic\"", "\"ide\":\"x\""] {
            let json = format!("{{\"idea\":\"We plan.\",{wrong}}}");
            assert!(serde_json::from_str::<ReviewRequest>(&json).is_err(), "{json}");
        }
    }
}
