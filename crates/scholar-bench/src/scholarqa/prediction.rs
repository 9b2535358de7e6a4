//! What a system answered: one schema for every task and system.
//!
//! The fields `input`, `output`, `answer` and `ctxs` are upstream's, so that upstream's scorers read the same file;
//! numbers in `output` are places in `ctxs`, from 0, and `ctxs` holds what was shown and nothing else.

use scholar_core::{AnswerSentence, Notice};
use serde::{Deserialize, Serialize};

/// Schema identifier that [`Prediction::schema`] must hold.
pub const PREDICTION_SCHEMA: &str = "openscholar.prediction/1";

/// Longest output that is measured, in characters.
///
/// Ours: six times the longest of the published answers with its reference dump; a longer one is a broken system, and
/// judging it would cost thousands of calls.
pub const MAX_OUTPUT_CHARS: usize = 200_000;

/// A passage that a system was shown.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Context {
    /// Title of the paper, may be empty.
    #[serde(default)]
    pub title: String,
    /// Text of the passage, without the title.
    #[serde(default)]
    pub text: String,
    /// Address of the paper.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Year of publication, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub year: Option<i16>,
    /// Authors' names as the source has them, in its order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub authors: Vec<String>,
    /// How often it was cited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub citation_count: Option<u32>,
    /// The stored passage, where it came from a datastore.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passage_id: Option<String>,
}

/// How an item ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PredictionStatus {
    /// With an answer; it is scored.
    #[default]
    Answered,
    /// The system said that it cannot answer. It is scored as it stands.
    Abstained,
    /// With an error; asked again when the run is continued, never scored.
    Failed,
    /// Cut by the budget; asked again when the run is continued, never scored.
    Cut,
}

/// What an item cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct PredictionUsage {
    /// Number of model calls.
    #[serde(default)]
    pub calls: u64,
    /// Prompt tokens of all calls.
    #[serde(default)]
    pub prompt_tokens: u64,
    /// Completion tokens of all calls.
    #[serde(default)]
    pub completion_tokens: u64,
    /// US dollars; `null` when the price is unknown.
    #[serde(default)]
    pub cost_usd: Option<f64>,
}

/// What a system answered to one item.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Prediction {
    /// Schema identifier, always [`PREDICTION_SCHEMA`].
    pub schema: String,
    /// Identifier of the item.
    pub id: String,
    /// The item's question, claim or abstract.
    pub input: String,
    /// The answer with `[n]` for `ctxs[n]`.
    pub output: String,
    /// What people say the answer is, where the item says; for upstream's scorers, never read back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// What was shown, by number.
    #[serde(default)]
    pub ctxs: Vec<Context>,
    /// How the item ended; decides whether it is scored or asked again.
    #[serde(default)]
    pub status: PredictionStatus,
    /// Message of the error that ended it, if one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Titles that a model listed as its sources, by the number it gave them; they may not exist.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub listed: Vec<ListedReference>,
    /// The sentences with their quotations and verdicts, for reports.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sentences: Vec<AnswerSentence>,
    /// What a person should know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<Notice>,
    /// What it cost, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<PredictionUsage>,
    /// Seconds it took, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// The item whose answer this repeats.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duplicate_of: Option<String>,
    /// The block of numbered passages as an external system showed it (upstream's `final_passages`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub final_passages: Option<String>,
    /// How many of `ctxs` were shown, where an external system lists more candidates than it showed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shown: Option<usize>,
}

/// A source that a model named.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListedReference {
    /// The number in brackets.
    pub number: usize,
    /// The rest of the line.
    pub title: String,
}

impl Prediction {
    /// An answer with nothing known but its text.
    pub fn new(id: impl Into<String>, input: impl Into<String>, output: impl Into<String>) -> Self {
        Self {
            schema: PREDICTION_SCHEMA.to_owned(),
            id: id.into(),
            input: input.into(),
            output: output.into(),
            answer: None,
            ctxs: Vec::new(),
            status: PredictionStatus::Answered,
            error: None,
            listed: Vec::new(),
            sentences: Vec::new(),
            notices: Vec::new(),
            usage: None,
            seconds: None,
            duplicate_of: None,
            final_passages: None,
            shown: None,
        }
    }

    /// Whether it is an answer that can be scored: not one that failed or was cut.
    pub fn is_final(&self) -> bool {
        matches!(self.status, PredictionStatus::Answered | PredictionStatus::Abstained)
    }

    /// Tells what the budget of the run cut (`over_budget`) from what something else did: a failure beyond the budget is a
    /// cut, and a search that the deadline of a source ended is an answer with a note.
    pub fn settle(&mut self, over_budget: bool) {
        self.status = match (self.status, over_budget) {
            (PredictionStatus::Failed, true) => PredictionStatus::Cut,
            (PredictionStatus::Cut, false) if self.sentences.is_empty() => {
                PredictionStatus::Abstained
            }
            (PredictionStatus::Cut, false) => PredictionStatus::Answered,
            (status, _) => status,
        };
    }

    /// The passages whose numbers a citation may name.
    pub fn shown_ctxs(&self) -> &[Context] {
        let shown = self.shown.unwrap_or(self.ctxs.len()).min(self.ctxs.len());
        &self.ctxs[..shown]
    }
}

/// The references a model lists under a line `References:`, each `[n] title` or `n. title`.
pub fn listed_references(text: &str) -> Vec<ListedReference> {
    let heading = |line: &str| {
        let bare = line.trim().trim_matches(['#', '*', '_', ' ', ':']);
        bare.eq_ignore_ascii_case("references") || bare.eq_ignore_ascii_case("bibliography")
    };
    text.lines().skip_while(|line| !heading(line)).skip(1).filter_map(listed).collect()
}

fn listed(line: &str) -> Option<ListedReference> {
    let line = line.trim().trim_start_matches(['-', '*', ' ']);
    let bare = line.strip_prefix('[').unwrap_or(line);
    let digits = bare.len() - bare.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let number: usize = bare[..digits].parse().ok()?;
    let rest = bare[digits..].trim_start_matches([']', '.', ')', ':', ' ']);
    let title = rest.trim_matches(['"', '“', '”', '*', '_', ' ', '.']);
    (!title.is_empty()).then(|| ListedReference { number, title: title.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_a_model_lists_are_read_with_their_numbers() {
        let text = "It works [1].\n\n**References:**\n[1] \"Attention Is All You Need.\"\n- [3] Deep Nets\n4. Third\n\nnothing";
        let listed = listed_references(text);
        let got: Vec<(usize, &str)> =
            listed.iter().map(|one| (one.number, one.title.as_str())).collect();
        assert_eq!(got, [(1, "Attention Is All You Need"), (3, "Deep Nets"), (4, "Third")]);
        assert!(listed_references("References are many [1] x").is_empty());
        assert!(listed_references("References\n[99999999999999999999999] x").is_empty());
    }

    #[test]
    fn only_what_was_shown_can_be_cited() {
        let mut prediction = Prediction::new("a", "q", "x [1]");
        prediction.ctxs = vec![Context::default(), Context::default()];
        assert_eq!(prediction.shown_ctxs().len(), 2);
        prediction.shown = Some(1);
        assert_eq!(prediction.shown_ctxs().len(), 1);
        prediction.shown = Some(9);
        assert_eq!(prediction.shown_ctxs().len(), 2);
        assert!(prediction.is_final());
    }
}
