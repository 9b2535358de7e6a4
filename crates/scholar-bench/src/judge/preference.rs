//! The judge of pairs: which of two answers is better.

use scholar_core::PortError;
use scholar_pipeline::prompts::Prompt;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::model::{Ask, ModelJudge, json_object, json_shape};
use super::{JudgePin, Judged};
use crate::metrics::preference::{Preference, SwappedVerdicts, WinRates, swapped_win_rates};
use crate::metrics::text::lengths;
use crate::statistics::sign::sign_test;
use crate::statistics::{ratio, ratio_of_means};

/// Prompt that asks which of two answers is better.
pub const PREFERENCE: Prompt =
    Prompt::new("judge/preference", include_str!("../../prompts/judge/preference.txt"));

/// Schema identifier that [`Pairwise::schema`] holds.
pub const PAIRWISE_SCHEMA: &str = "openscholar.bench-pairwise/1";

/// Two systems' answers to one question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AnswerPair<'a> {
    /// Identifier of the item.
    pub item: &'a str,
    /// The question that both answer.
    pub question: &'a str,
    /// The first system's answer.
    pub a: &'a str,
    /// The second system's answer.
    pub b: &'a str,
}

/// Two systems compared on the questions both answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pairwise {
    /// Schema of the file: [`PAIRWISE_SCHEMA`].
    pub schema: String,
    /// Name of the first system.
    pub system_a: String,
    /// Name of the second system.
    pub system_b: String,
    /// The judge, pinned by name and prompt.
    pub judge: JudgePin,
    /// Wins, ties, losses, sign test.
    pub rates: WinRates,
    /// Mean words of the first system's answers over those of the second: longer answers tend to win.
    pub length_ratio: Option<f64>,
    /// Both verdicts on each item, in the order of the items.
    pub verdicts: Vec<(String, SwappedVerdicts)>,
    /// Why not every pair was judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub incomplete: Option<String>,
}

/// Below this p, a judge follows the position and not the answers.
const BIASED: f64 = 0.05;

impl Pairwise {
    /// What speaks against the verdicts, a clause each; nothing where nothing does.
    pub fn doubts(&self) -> Vec<String> {
        let WinRates { n, wins, ties, losses, unreadable, inconsistent, .. } = self.rates;
        let mut doubts = Vec::new();
        if unreadable > 0 {
            doubts.push(format!(
                "{unreadable} of {} pairs have a verdict that could not be read and are left out",
                n + unreadable
            ));
        }
        for (count, what) in [(ties, "ties"), (wins, "wins"), (losses, "losses")] {
            if n > 1 && count == n {
                doubts.push(format!("all {n} pairs are {what}"));
            }
        }
        match inconsistent {
            Some(changed) if changed * 2 >= n && changed > 0 => doubts.push(format!(
                "the winner of {changed} of {n} pairs changed with the order, and they count as ties"
            )),
            _ => {}
        }
        let first: Vec<bool> =
            self.verdicts.iter().flat_map(|(_, both)| both.first_wins()).collect();
        let won = first.iter().filter(|won| **won).count();
        let p = sign_test(won, first.len() - won);
        if p < BIASED {
            doubts.push(format!(
                "the answer read first won {won} of {} verdicts: the judge follows the position (p {p:.3})",
                first.len()
            ));
        }
        doubts
    }
}

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

    /// Compares `systems` on all pairs. A model that dies leaves what it judged before, marked as incomplete.
    ///
    /// `progress` hears of every pair that is judged: how many of how many.
    pub async fn compare_all(
        &self,
        systems: (&str, &str),
        pairs: &[AnswerPair<'_>],
        seed: u64,
        progress: &(dyn Fn(usize, usize) + Sync),
    ) -> Pairwise {
        let mut verdicts = Vec::with_capacity(pairs.len());
        let mut incomplete = None;
        for (n, pair) in pairs.iter().enumerate() {
            match self.compare(pair.question, pair.a, pair.b).await {
                Ok(both) => verdicts.push((pair.item.to_owned(), both)),
                Err(error) => {
                    let left = pairs.len() - n;
                    incomplete = Some(format!("{left} pairs were not judged: {error}"));
                    break;
                }
            }
            progress(n + 1, pairs.len());
        }
        let both: Vec<SwappedVerdicts> = verdicts.iter().map(|(_, both)| both.clone()).collect();
        let lengths: Vec<(f64, f64)> = pairs
            .iter()
            .map(|pair| (ratio(lengths(pair.a).words, 1), ratio(lengths(pair.b).words, 1)))
            .collect();
        Pairwise {
            schema: PAIRWISE_SCHEMA.to_owned(),
            system_a: systems.0.to_owned(),
            system_b: systems.1.to_owned(),
            judge: self.preference_pin(),
            rates: swapped_win_rates(&both, seed),
            length_ratio: ratio_of_means(&lengths.iter().collect::<Vec<_>>()),
            verdicts,
            incomplete,
        }
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
