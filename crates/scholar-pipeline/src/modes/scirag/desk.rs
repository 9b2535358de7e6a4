//! Model calls of one node, under names that no other node's calls have.

use scholar_core::{
    FinishReason, Generation, Notice, NoticeKind, OutputShape, PortError, PortErrorKind,
};
use serde_json::Value;

use super::json;
use crate::config::CallSampling;
use crate::evidence::Evidence;
use crate::frame::Frame;
use crate::prompts::{self, Prompt};
use crate::write::reference_block;

/// Most characters of a broken reply that are sent back for repair. Ours.
const LONGEST_BROKEN: usize = 12_000;

/// Asks the model on behalf of a node.
///
/// The purpose of a call is its step and the node (`tag 1.2`): nodes run side by side, and a journal tells their calls apart
/// even where the prompts are the same.
pub(super) struct Desk<'a> {
    pub(super) frame: &'a Frame<'a>,
    /// Place of the node in the tree; empty for calls of the whole answer.
    id: &'a str,
}

impl<'a> Desk<'a> {
    pub(super) fn new(frame: &'a Frame<'a>, id: &'a str) -> Self {
        Self { frame, id }
    }

    /// The name of a step of this node.
    pub(super) fn purpose(&self, step: &str) -> String {
        if self.id.is_empty() { step.to_owned() } else { format!("{step} {}", self.id) }
    }

    /// The reply to a prompt for text.
    pub(super) async fn text(
        &self,
        step: &str,
        prompt: Prompt,
        values: &[(&str, &str)],
        call: CallSampling,
    ) -> Result<String, PortError> {
        Ok(self.frame.call(&self.purpose(step), prompt, values, call).await?.text)
    }

    /// The reply to a prompt that shows `references`, as many of the best as the model's context holds.
    pub(super) async fn over(
        &self,
        step: &str,
        prompt: Prompt,
        values: &[(&str, &str)],
        references: &[Evidence],
        call: CallSampling,
    ) -> Result<Generation, PortError> {
        let references = reference_block(self.frame, prompt, values, references, call);
        let values = [values, &[("references", references.as_str())]].concat();
        self.frame.call(&self.purpose(step), prompt, &values, call).await
    }

    /// As [`Desk::over`], for a text that takes the place of another: one that is cut would take away what stands there, so
    /// that it fails.
    pub(super) async fn whole_over(
        &self,
        step: &str,
        prompt: Prompt,
        values: &[(&str, &str)],
        references: &[Evidence],
        call: CallSampling,
    ) -> Result<String, PortError> {
        let reply = self.over(step, prompt, values, references, call).await?;
        if matches!(reply.finish, FinishReason::Length | FinishReason::Repetition) {
            let message = format!("the reply of {} is cut", self.purpose(step));
            return Err(PortError::new(PortErrorKind::Corrupt, message));
        }
        Ok(reply.text)
    }

    /// The reply to a question that takes a word or two: that it is cut means nothing.
    pub(super) async fn word(
        &self,
        step: &str,
        prompt: Prompt,
        values: &[(&str, &str)],
        call: CallSampling,
    ) -> Result<String, PortError> {
        let purpose = self.purpose(step);
        let shape = OutputShape::Text;
        Ok(self.frame.call_shaped(&purpose, prompt, values, call, shape).await?.text)
    }

    /// What `read` makes of a reply in JSON: of the first, or of one repair where that cannot be read.
    ///
    /// # Errors
    /// When the call fails, or neither reply can be read.
    pub(super) async fn object<T>(
        &self,
        step: &str,
        prompt: Prompt,
        values: &[(&str, &str)],
        shape: Form,
        read: impl Fn(&Value) -> Result<T, String>,
    ) -> Result<T, PortError> {
        let call = self.frame.config.scirag.sampling.symbolic;
        let purpose = self.purpose(step);
        let json = OutputShape::Json { name: step.to_owned(), schema: shape.schema };
        let reply = match self.frame.call_shaped(&purpose, prompt, values, call, json).await {
            Ok(reply) => reply.text,
            // A server that promises JSON and breaks the promise is asked as one that promises nothing.
            Err(error) if matches!(error.kind(), PortErrorKind::Corrupt) => {
                let shape = OutputShape::Text;
                self.frame.call_shaped(&purpose, prompt, values, call, shape).await?.text
            }
            Err(error) => return Err(error),
        };
        let problem = match json::object(&reply).and_then(|value| read(&value)) {
            Ok(value) => return Ok(value),
            Err(problem) => problem,
        };
        let broken: String = reply.chars().take(LONGEST_BROKEN).collect();
        let values =
            [("reply", broken.as_str()), ("problem", problem.as_str()), ("form", shape.example)];
        let purpose = self.purpose(&format!("{step} repair"));
        let prompt = prompts::SCIRAG_REPAIR_JSON;
        let shape = OutputShape::Text;
        let again = self.frame.call_shaped(&purpose, prompt, &values, call, shape).await?.text;
        json::object(&again).and_then(|value| read(&value)).map_err(|problem| {
            let message = format!("the reply of {purpose} cannot be used: {problem}");
            PortError::new(PortErrorKind::Corrupt, message)
        })
    }

    /// Says that the model's reply to a step was not used, and what stands instead.
    pub(super) fn unused(&self, step: &str, instead: &str) {
        let message = format!("{}: {instead}", self.purpose(step));
        self.frame.notice(Notice::new(NoticeKind::ModelReply, message));
    }
}

/// The node that the name of a call ends with; empty for calls of the whole answer.
pub(super) fn node_of(purpose: &str) -> &str {
    let last = purpose.rsplit(' ').next().unwrap_or_default();
    let is_place = !last.is_empty() && last.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    if is_place { last } else { "" }
}

/// The form of a reply in JSON.
pub(super) struct Form {
    /// For servers that can keep to one.
    pub(super) schema: Value,
    /// For the prompt of a repair.
    pub(super) example: &'static str,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_node_stands_at_the_end_of_a_purpose() {
        for (purpose, node) in [
            ("tag 1.2", "1.2"),
            ("tag repair 10", "10"),
            ("gaps again", ""),
            ("draft", ""),
            ("", ""),
        ] {
            assert_eq!(node_of(purpose), node, "{purpose}");
        }
    }
}
