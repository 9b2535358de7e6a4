//! What `ScholarEval` is compared with: the same model asked once a module, without any literature before it.
//!
//! The model is given the idea and the cut-off date, and must give links from memory. Nothing of its reply is checked or repaired, as a
//! baseline is what it is; how many links it gives and how many papers are by its own word too late is counted.
//!
//! Source: arXiv 2510.16234, appendix with the prompts of the baselines; the prompts are ours.

mod citations;
#[cfg(test)]
mod tests;

use jiff::civil::Date;
use scholar_core::{
    FinishReason, Generation, GenerationRequest, Generator, OutputShape, PortError, Sampling,
    TokenUsage,
};
use scholar_pipeline::prompts::Prompt;
use serde::{Deserialize, Serialize};

pub use citations::Citations;

use super::model::{Idea, IdeaId};
use crate::judge::memory::{Memory, key};

/// Support, contradictions and suggestions method by method.
pub const BASELINE_SOUNDNESS: Prompt = Prompt::new(
    "scholarideas/baseline_soundness",
    include_str!("../../prompts/scholarideas/baseline_soundness.txt"),
);
/// Strengths, weaknesses and suggestions dimension by dimension.
pub const BASELINE_CONTRIBUTION: Prompt = Prompt::new(
    "scholarideas/baseline_contribution",
    include_str!("../../prompts/scholarideas/baseline_contribution.txt"),
);
/// Modules in the order of a report: heading, prompt.
const MODULES: [(&str, Prompt); 2] =
    [("Soundness", BASELINE_SOUNDNESS), ("Contribution", BASELINE_CONTRIBUTION)];
/// Longest reply to one prompt, in tokens. Ours: about twice the longest report of the paper's examples.
const REPLY_TOKENS: usize = 8_000;
/// Version of [`BaselineRecord`].
pub const BASELINE_SCHEMA: &str = "openscholar.scholarideas-baseline-report/1";

/// How a report of the baseline came about; kept beside it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BaselineRecord {
    /// Always [`BASELINE_SCHEMA`].
    pub schema: String,
    /// The idea.
    pub id: IdeaId,
    /// The last day on which a paper may have appeared that is cited.
    pub cutoff: Date,
    /// The model as it was asked for.
    pub model: String,
    /// The models that answered, as the server names them, each once.
    pub answered_by: Vec<String>,
    /// Fingerprints of the prompts.
    pub prompts: Vec<String>,
    /// Tokens of both replies and their prompts, whenever they were asked for.
    pub usage: TokenUsage,
    /// Links and dates of the report.
    pub citations: Citations,
}

impl BaselineRecord {
    /// Whether it is what `model` would be asked for now: same model, same prompts.
    pub fn is_of(&self, model: &str) -> bool {
        self.model == model && self.prompts == fingerprints()
    }
}

/// A report of the baseline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BaselineReport {
    /// Markdown; untrusted.
    pub text: String,
    /// How it came about.
    pub record: BaselineRecord,
    /// Calls that were made for it now; what was known already is not asked again.
    pub calls: usize,
}

/// Why there is no report on an idea.
#[derive(Debug, thiserror::Error)]
pub enum BaselineError {
    /// The model cannot be asked.
    #[error("{module} of {id}")]
    Asked {
        /// The idea.
        id: IdeaId,
        /// Heading of the module.
        module: &'static str,
        /// What the model said.
        source: PortError,
    },
    /// The reply is no review.
    #[error("{module} of {id}: {why}")]
    Reply {
        /// The idea.
        id: IdeaId,
        /// Heading of the module.
        module: &'static str,
        /// What is wrong with it.
        why: &'static str,
    },
}

/// The model, and what it has said before.
pub struct Baseline<'a> {
    /// Writes the reports.
    pub generator: &'a dyn Generator,
    /// Usable replies by request.
    pub said: &'a Memory<Generation>,
}

impl Baseline<'_> {
    /// Writes the report on `idea`, module by module.
    ///
    /// # Errors
    /// [`BaselineError`] names the module; the reply to the other one is remembered.
    pub async fn write(&self, idea: &Idea) -> Result<BaselineReport, BaselineError> {
        let mut parts: Vec<String> = Vec::new();
        let mut usage = TokenUsage::default();
        let mut answered_by: Vec<String> = Vec::new();
        let mut calls = 0;
        for (module, prompt) in MODULES {
            let (reply, is_new) = self.reply(idea, module, prompt).await?;
            calls += usize::from(is_new);
            usage += reply.usage;
            if !answered_by.contains(&reply.model) {
                answered_by.push(reply.model);
            }
            parts.push(format!("# {module}\n\n{}\n", section(&reply.text)));
        }
        let text = parts.join("\n");
        let record = BaselineRecord {
            schema: BASELINE_SCHEMA.to_owned(),
            id: idea.id,
            cutoff: idea.cutoff,
            model: self.generator.info().model.clone(),
            answered_by,
            prompts: fingerprints(),
            usage,
            citations: Citations::of(&text, idea.cutoff),
        };
        Ok(BaselineReport { text, record, calls })
    }

    /// The reply to one prompt, and whether it was asked for now.
    async fn reply(
        &self,
        idea: &Idea,
        module: &'static str,
        prompt: Prompt,
    ) -> Result<(Generation, bool), BaselineError> {
        let id = idea.id;
        let cutoff = idea.cutoff.to_string();
        let values = [("idea", idea.text.as_str()), ("cutoff", cutoff.as_str())];
        let request = GenerationRequest {
            purpose: prompt.name.rsplit('/').next().unwrap_or(prompt.name).to_owned(),
            messages: prompt.render(false, &values),
            sampling: Sampling::greedy(REPLY_TOKENS),
            shape: OutputShape::Text,
        };
        let asked = serde_json::to_string(&request).unwrap_or_default();
        let key = key([self.generator.info().model.as_str(), &asked]);
        if let Some(reply) = self.said.get(&key) {
            return Ok((reply, false));
        }
        let reply = self.generator.generate(&request, &|_: &str| {}).await;
        let reply = reply.map_err(|source| BaselineError::Asked { id, module, source })?;
        match problem(&reply) {
            Some(why) => Err(BaselineError::Reply { id, module, why }),
            None => {
                self.said.keep(key, reply.clone());
                Ok((reply, true))
            }
        }
    }
}

fn fingerprints() -> Vec<String> {
    MODULES.iter().map(|(_, prompt)| prompt.fingerprint()).collect()
}

/// Why a reply is no review.
fn problem(reply: &Generation) -> Option<&'static str> {
    match reply.finish {
        FinishReason::Length => Some("the reply was cut at the token limit"),
        FinishReason::Repetition => Some("the reply repeated itself and was ended"),
        FinishReason::Filtered => Some("the reply was withheld"),
        FinishReason::Stop if section(&reply.text).is_empty() => Some("the reply is empty"),
        FinishReason::Stop => None,
    }
}

/// A reply as it stands in the report: without the fence around the whole of it.
fn section(reply: &str) -> &str {
    let text = reply.trim();
    let fenced = text.strip_prefix("```").and_then(|rest| rest.strip_suffix("```"));
    // Behind the fence stands the name of the language, up to the end of the line.
    fenced.and_then(|inner| inner.split_once('\n')).map_or(text, |(_, inner)| inner.trim())
}
