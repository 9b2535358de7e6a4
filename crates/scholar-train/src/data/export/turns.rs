//! Conversations to be imitated, from rows of several kinds.
//!
//! Source: spec of the paper's supervised fine-tuning: OpenAI-style `messages`, a system turn first if at all, then
//! user and assistant in turns, contents trimmed, loss on assistant turns.

use scholar_core::{Message, Role};
use scholar_pipeline::prompts::Prompt;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::data::rows::EvidenceLabel;

const SUPPORT: Prompt = Prompt::new("train/support", include_str!("../../../prompts/support.txt"));

/// A chat to train on, in the form of fine-tuning libraries.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conversation {
    /// The messages, first to last.
    pub messages: Vec<Message>,
}

impl Conversation {
    /// Reads a row: `messages`; `prompt` and `completion` as texts or turns; Alpaca's `instruction`, `input` and
    /// `output`; or an attribution row, which becomes a question about the evidence.
    ///
    /// # Errors
    /// Which field or turn does not fit.
    pub fn of(row: &Value) -> Result<Self, String> {
        let conversation = if row["messages"].is_array() {
            Self { messages: turns(&row["messages"], Role::User)? }
        } else if !row["prompt"].is_null() && !row["completion"].is_null() {
            let mut messages = turns(&row["prompt"], Role::User)?;
            messages.extend(turns(&row["completion"], Role::Assistant)?);
            Self { messages }
        } else if let (Some(asked), Some(reply)) =
            (row["instruction"].as_str(), row["output"].as_str())
        {
            let more = row["input"].as_str().unwrap_or_default().trim();
            let asked = format!("{asked}\n\n{more}");
            Self { messages: vec![message(Role::User, &asked), message(Role::Assistant, reply)] }
        } else if let (Some(sentence), Some(evidence), Some(label)) =
            (row["sentence"].as_str(), row["evidence"].as_str(), row["label"].as_str())
        {
            if !EvidenceLabel::NAMES.contains(&label) {
                let names = EvidenceLabel::NAMES.join(", ");
                return Err(format!("label {label:?} is none of {names}"));
            }
            let asked = SUPPORT.render(false, &[("sentence", sentence), ("evidence", evidence)]);
            let asked = asked.first().map_or("", |message| message.content.as_str());
            Self { messages: vec![message(Role::User, asked), message(Role::Assistant, label)] }
        } else {
            return Err(
                "neither messages, prompt and completion, instruction and output, nor sentence, \
                        evidence and label"
                    .to_owned(),
            );
        };
        conversation.check()?;
        Ok(conversation)
    }

    fn check(&self) -> Result<(), String> {
        let first =
            usize::from(self.messages.first().is_some_and(|turn| turn.role == Role::System));
        for (n, turn) in self.messages.iter().enumerate() {
            if turn.content.is_empty() {
                return Err(format!("turn {n} is empty"));
            }
            let expected = if n < first {
                Role::System
            } else if (n - first).is_multiple_of(2) {
                Role::User
            } else {
                Role::Assistant
            };
            if turn.role != expected {
                return Err(format!("turn {n} is {:?} instead of {expected:?}", turn.role));
            }
        }
        match self.messages.last() {
            Some(Message { role: Role::Assistant, .. }) => Ok(()),
            _ => Err("the last turn is not the assistant's: there is no target".to_owned()),
        }
    }

    /// Whether the assistant speaks once, at the end.
    pub fn replies_once(&self) -> bool {
        self.messages.iter().filter(|turn| turn.role == Role::Assistant).count() == 1
    }
}

fn message(role: Role, content: &str) -> Message {
    Message { role, content: content.trim().to_owned() }
}

/// Turns as a list, or a text that `speaker` says.
fn turns(value: &Value, speaker: Role) -> Result<Vec<Message>, String> {
    if let Some(text) = value.as_str() {
        return Ok(vec![message(speaker, text)]);
    }
    let items = value.as_array().ok_or_else(|| "turns are neither a text nor a list".to_owned())?;
    let read = |(n, item): (usize, &Value)| {
        let found: Message =
            serde_json::from_value(item.clone()).map_err(|error| format!("turn {n}: {error}"))?;
        Ok(message(found.role, &found.content))
    };
    items.iter().enumerate().map(read).collect()
}
