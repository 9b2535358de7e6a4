//! The judge of pairs: which of two answers is better.

use scholar_core::PortError;
use scholar_pipeline::prompt::Prompt;
use serde_json::json;

use super::model::{Ask, ModelJudge, json_object, json_shape};
use super::{JudgePin, Judged};
use crate::metrics::preference::{Preference, SwappedVerdicts};

/// Which is better?
pub const PREFERENCE: Prompt =
    Prompt::new("judge/preference", include_str!("../../prompts/judge/preference.txt"));

/// Longest verdict with its reason, in tokens.
const VERDICT_TOKENS: usize = 300;

impl ModelJudge {
    /// The pin of this judge of pairs.
    pub fn preference_pin(&self) -> JudgePin {
        self.pin("pairwise, both orders", &[PREFERENCE])
    }

    /// Compares answer `a` with answer `b` in both orders.
    ///
    /// # Errors
    /// When the model cannot be asked.
    pub async fn compare(
        &self,
        question: &str,
        a: &str,
        b: &str,
    ) -> Result<SwappedVerdicts, PortError> {
        let forward = self.verdict(question, a, b).await?;
        let backward = match self.verdict(question, b, a).await? {
            Judged::Read(preference) => Judged::Read(preference.swapped()),
            Judged::Unreadable(why) => Judged::Unreadable(why),
        };
        Ok(SwappedVerdicts { forward, backward })
    }

    async fn verdict(
        &self,
        question: &str,
        first: &str,
        second: &str,
    ) -> Result<Judged<Preference>, PortError> {
        let schema = json!({
            "type": "object",
            "properties": {
                "reason": {"type": "string"},
                "better": {"type": "string", "enum": ["1", "2", "tie"]},
            },
            "required": ["reason", "better"],
            "additionalProperties": false,
        });
        let ask = Ask {
            purpose: "preference",
            prompt: PREFERENCE,
            values: &[("question", question), ("first", first), ("second", second)],
            shape: json_shape("preference", schema),
            max_tokens: VERDICT_TOKENS,
        };
        self.ask(ask, parse).await
    }
}

/// `better` in the reply's JSON.
fn parse(reply: &str) -> Option<Preference> {
    let object = json_object(reply)?;
    let better = object.get("better")?;
    let better = better.as_str().map_or_else(|| better.to_string(), ToOwned::to_owned);
    match better.trim().to_lowercase().as_str() {
        "1" => Some(Preference::A),
        "2" => Some(Preference::B),
        "tie" => Some(Preference::Tie),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
