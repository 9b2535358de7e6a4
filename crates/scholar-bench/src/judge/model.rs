//! A language model as a judge: it is asked with a prompt file, and its reply is parsed or reported.

use std::collections::BTreeSet;
use std::sync::Arc;

use parking_lot::Mutex;
use scholar_core::{GenerationRequest, Generator, OutputShape, PortError, PortErrorKind, Sampling};
use scholar_pipeline::prompts::Prompt;
use serde::{Deserialize, Serialize};

use super::memory::{Memory, key};
use super::{JudgePin, Judged};

/// A generator that judges, greedily.
pub struct ModelJudge {
    generator: Arc<dyn Generator>,
    said: Option<Memory<Said>>,
    /// Names under which the server answered: the version behind the name that was asked for.
    answered: Mutex<BTreeSet<String>>,
}

/// A reply that could be read.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Said {
    text: String,
    /// Name of the model.
    model: String,
}

/// One question to the judge.
pub(crate) struct Ask<'a> {
    /// For traces and prices.
    pub(crate) purpose: &'a str,
    /// The prompt file.
    pub(crate) prompt: Prompt,
    /// Its variables.
    pub(crate) values: &'a [(&'a str, &'a str)],
    /// What the reply looks like.
    pub(crate) shape: OutputShape,
    /// Longest reply.
    pub(crate) max_tokens: usize,
}

impl ModelJudge {
    /// A judge that asks `generator`.
    pub fn new(generator: Arc<dyn Generator>) -> Self {
        Self { generator, said: None, answered: Mutex::default() }
    }

    /// One that does not ask again what `said` knows, and adds to it.
    #[must_use]
    pub fn remembering(self, said: Memory<Said>) -> Self {
        Self { said: Some(said), ..self }
    }

    /// The pin of this model asked with `prompts`: after the first reply with the version that answered, where the
    /// server names it.
    pub(crate) fn pin(&self, way: &str, prompts: &[Prompt]) -> JudgePin {
        let mut name = self.generator.info().model.clone();
        let versions: Vec<String> =
            self.answered.lock().iter().filter(|version| **version != name).cloned().collect();
        if !versions.is_empty() {
            name = format!("{name} (answered by {})", versions.join(", "));
        }
        JudgePin {
            name,
            way: way.to_owned(),
            prompts: prompts.iter().map(Prompt::fingerprint).collect(),
        }
    }

    /// Asks, unless the reply is known, and reads it with `read`. A reply that breaks its shape is unreadable, not an error,
    /// and is not remembered.
    pub(crate) async fn ask<T>(
        &self,
        ask: Ask<'_>,
        read: impl Fn(&str) -> Option<T>,
    ) -> Result<Judged<T>, PortError> {
        let Ask { purpose, prompt, values, shape, max_tokens } = ask;
        let request = GenerationRequest {
            purpose: purpose.to_owned(),
            messages: prompt.render(false, values),
            sampling: Sampling::greedy(max_tokens),
            shape,
        };
        let asked = serde_json::to_string(&request).unwrap_or_default();
        let key = key([self.generator.info().model.as_str(), &asked]);
        if let Some(said) = self.said.as_ref().and_then(|said| said.get(&key))
            && let Judged::Read(value) = Judged::parse(&said.text, &read)
        {
            self.answered.lock().insert(said.model);
            return Ok(Judged::Read(value));
        }
        match self.generator.generate(&request, &|_: &str| {}).await {
            Ok(reply) => {
                self.answered.lock().insert(reply.model.clone());
                let judged = Judged::parse(&reply.text, read);
                if let (Some(said), Judged::Read(_)) = (&self.said, &judged) {
                    said.keep(key, Said { text: reply.text, model: reply.model });
                }
                Ok(judged)
            }
            Err(error) if error.kind() == PortErrorKind::Corrupt => {
                Ok(Judged::Unreadable(error.to_string()))
            }
            Err(error) => Err(error),
        }
    }
}

/// The JSON object in a reply: from the first `{` to the last `}`; if that is no JSON, once more with `]}` behind it,
/// which completes a list that was cut.
///
/// Source: `multidoc_qa_eval`.
pub fn json_object(reply: &str) -> Option<serde_json::Value> {
    let start = reply.find('{')?;
    let end = reply.rfind('}')? + 1;
    let object = reply.get(start..end)?;
    serde_json::from_str(object).or_else(|_| serde_json::from_str(&format!("{object}]}}"))).ok()
}

/// A schema for servers that can follow one.
pub(crate) fn json_shape(name: &str, schema: serde_json::Value) -> OutputShape {
    OutputShape::Json { name: name.to_owned(), schema }
}
