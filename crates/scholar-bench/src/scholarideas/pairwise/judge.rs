//! Asks a model which of two reports is better.

use futures::StreamExt as _;
use scholar_core::PortError;
use scholar_pipeline::prompts::Prompt;
use serde_json::{Value, json};

use super::{Criterion, JudgedPair, PAIRWISE_SCHEMA, Pairwise, drawn_order, rates};
use crate::judge::model::{Ask, ModelJudge, json_object, json_shape};
use crate::judge::{JudgePin, Judged};
use crate::metrics::preference::{Preference, SwappedVerdicts};
use crate::scholarideas::model::{Dataset, IdeaId};
use crate::scholarideas::reports::Reports;

/// Which report is better, by each criterion?
pub const PAIRWISE: Prompt = Prompt::new(
    "scholarideas/pairwise",
    include_str!("../../../prompts/scholarideas/pairwise.txt"),
);
/// Longest verdict with its reasons, in tokens.
pub(in crate::scholarideas) const VERDICT_TOKENS: usize = 600;

/// A winner for each criterion, or none where that one cannot be read.
type Winners = [Judged<Preference>; 3];

impl ModelJudge {
    /// The pin of this judge of pairs of reports.
    pub fn report_pairs_pin(&self) -> JudgePin {
        self.pin("pairs of reports, both orders", &[PAIRWISE])
    }

    /// Compares report `a` with report `b` on `idea` in both orders.
    ///
    /// # Errors
    /// When the model cannot be asked.
    pub async fn compare_reports(
        &self,
        idea: &str,
        a: &str,
        b: &str,
    ) -> Result<[SwappedVerdicts; 3], PortError> {
        let forward = self.winners(idea, a, b).await?;
        let backward = self.winners(idea, b, a).await?.map(swapped);
        let [f0, f1, f2] = forward;
        let [b0, b1, b2] = backward;
        let both = |forward, backward| SwappedVerdicts { forward, backward };
        Ok([both(f0, b0), both(f1, b1), both(f2, b2)])
    }

    async fn winners(&self, idea: &str, first: &str, second: &str) -> Result<Winners, PortError> {
        let verdict = json!({
            "type": "object",
            "properties": {
                "rationale": {"type": "string"},
                "winner": {"type": "string", "enum": ["A", "B", "Tie"]},
            },
            "required": ["rationale", "winner"],
            "additionalProperties": false,
        });
        let names = Criterion::ALL.map(Criterion::name);
        let properties: serde_json::Map<String, Value> =
            names.iter().map(|name| ((*name).to_owned(), verdict.clone())).collect();
        let schema = json!({
            "type": "object",
            "properties": properties,
            "required": names,
            "additionalProperties": false,
        });
        let ask = Ask {
            purpose: "report_pair",
            prompt: PAIRWISE,
            values: &[("idea", idea), ("first", first), ("second", second)],
            shape: json_shape("report_pair", schema),
            max_tokens: VERDICT_TOKENS,
        };
        Ok(match self.ask(ask, parse).await? {
            Judged::Read(winners) => winners,
            Judged::Unreadable(why) => std::array::from_fn(|_| Judged::Unreadable(why.clone())),
        })
    }
}

fn swapped(verdict: Judged<Preference>) -> Judged<Preference> {
    match verdict {
        Judged::Read(preference) => Judged::Read(preference.swapped()),
        unreadable @ Judged::Unreadable(_) => unreadable,
    }
}

/// The winners in the reply's JSON; only whole words count, and one criterion may be missing.
fn parse(reply: &str) -> Option<Winners> {
    let object = json_object(reply)?;
    let winners = Criterion::ALL.map(|criterion| {
        let said = object.get(criterion.name()).and_then(|one| one.get("winner"));
        match said.and_then(Value::as_str).map(|word| word.trim().to_lowercase()).as_deref() {
            Some("a") => Judged::Read(Preference::A),
            Some("b") => Judged::Read(Preference::B),
            Some("tie") => Judged::Read(Preference::Tie),
            _ => Judged::Unreadable(match said {
                Some(other) => format!("the winner is {other}"),
                None => "no winner".to_owned(),
            }),
        }
    });
    winners.iter().any(|one| matches!(one, Judged::Read(_))).then_some(winners)
}

/// Compares the reports of two systems on every idea that both have one for, `parallel` pairs at a time, in the order of the dataset.
///
/// A judge that cannot be reached any more leaves what was judged before. `progress` hears of every pair.
pub async fn compare_all(
    judge: &ModelJudge,
    dataset: &Dataset,
    (system_a, a): (&str, &Reports),
    (system_b, b): (&str, &Reports),
    run: PairwiseRun<'_>,
) -> Pairwise {
    let PairwiseRun { seed, parallel, progress } = run;
    let ideas: Vec<(IdeaId, &str, &str, &str)> = pairs(dataset, a, b).collect();
    let total = ideas.len();
    let mut replies = futures::stream::iter(ideas)
        .map(|(id, idea, a, b)| async move { (id, judge.compare_reports(idea, a, b).await) })
        .buffered(parallel.max(1));
    let mut pairs = Vec::with_capacity(total);
    let mut incomplete = None;
    while let Some((idea, verdicts)) = replies.next().await {
        match verdicts {
            Ok(verdicts) => {
                pairs.push(JudgedPair { idea, verdicts, flipped: drawn_order(seed, idea) });
            }
            Err(error) => {
                incomplete = Some(format!("{} pairs are left: {error}", total - pairs.len()));
                break;
            }
        }
        progress(pairs.len(), total);
    }
    Pairwise {
        schema: PAIRWISE_SCHEMA.to_owned(),
        system_a: system_a.to_owned(),
        system_b: system_b.to_owned(),
        judge: judge.report_pairs_pin(),
        seed,
        rates: rates(&pairs),
        pairs,
        incomplete,
    }
}

/// How pairs are judged.
#[derive(Clone, Copy)]
pub struct PairwiseRun<'a> {
    /// Of the drawn orders.
    pub seed: u64,
    /// Pairs judged at once.
    pub parallel: usize,
    /// Hears how many pairs of how many are judged.
    pub progress: &'a (dyn Fn(usize, usize) + Sync),
}

/// Idea, its text, and both reports.
pub(in crate::scholarideas) fn pairs<'a>(
    dataset: &'a Dataset,
    a: &'a Reports,
    b: &'a Reports,
) -> impl Iterator<Item = (IdeaId, &'a str, &'a str, &'a str)> {
    dataset.ideas.iter().filter_map(|idea| {
        let (a, b) = (a.get(&idea.id)?, b.get(&idea.id)?);
        Some((idea.id, idea.text.as_str(), a.text.as_str(), b.text.as_str()))
    })
}
