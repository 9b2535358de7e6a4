//! Requests to and replies of language models.

use serde::{Deserialize, Serialize};

/// Author of a message, in the terms of chat templates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Instructions that stand above the conversation.
    System,
    /// Whoever asks: this program.
    User,
    /// The model, in what it said before.
    Assistant,
}

/// One turn of a conversation. The model's chat template is applied by the generator, exactly once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// Whose words they are.
    pub role: Role,
    /// Plain text, before any chat template.
    pub content: String,
}

impl Message {
    /// A message of [`Role::System`].
    pub fn system(content: impl Into<String>) -> Self {
        Self { role: Role::System, content: content.into() }
    }

    /// A message of [`Role::User`].
    pub fn user(content: impl Into<String>) -> Self {
        Self { role: Role::User, content: content.into() }
    }
}

/// How tokens are drawn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sampling {
    /// 0 takes the most likely token.
    pub temperature: f32,
    /// Nucleus in `(0, 1]`; 1 is off.
    pub top_p: f32,
    /// Fixes the draw where the engine allows it.
    pub seed: Option<u64>,
    /// Longest reply in the model's tokens.
    pub max_tokens: usize,
    /// The reply ends before the first of these.
    pub stop: Vec<String>,
}

impl Sampling {
    /// The most likely reply of at most `max_tokens` tokens.
    pub fn greedy(max_tokens: usize) -> Self {
        Self { temperature: 0.0, top_p: 1.0, seed: None, max_tokens, stop: Vec::new() }
    }
}

/// What the reply must look like.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutputShape {
    /// Free text of any form.
    Text,
    /// A JSON value valid under this schema. Generators enforce it where they can; callers validate always.
    Json {
        /// Name for servers that want one.
        name: String,
        /// JSON Schema that the reply must satisfy.
        schema: serde_json::Value,
    },
}

/// One call of a language model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GenerationRequest {
    /// What the call is for (`draft`, `feedback`, …): for traces, prices and tests, never sent.
    pub purpose: String,
    /// The conversation, ending with a user turn.
    pub messages: Vec<Message>,
    /// How tokens are drawn.
    pub sampling: Sampling,
    /// What the reply must look like.
    pub shape: OutputShape,
}

/// Why a reply ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FinishReason {
    /// The model was done or met a stop string.
    Stop,
    /// It met the token limit: the reply is cut.
    Length,
    /// It repeated itself over and over, and was ended.
    Repetition,
    /// The server withheld (a part of) the reply.
    Filtered,
}

/// Tokens of one or many calls, as counted by the engine or server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TokenUsage {
    /// Tokens of the prompt.
    pub prompt: u64,
    /// Tokens of the reply, as the model's server counts them.
    pub completion: u64,
}

impl TokenUsage {
    /// Prompt and completion tokens together.
    pub fn total(self) -> u64 {
        self.prompt + self.completion
    }
}

impl std::ops::AddAssign for TokenUsage {
    fn add_assign(&mut self, other: Self) {
        self.prompt += other.prompt;
        self.completion += other.completion;
    }
}

/// What a model wrote, why it stopped and what that cost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Generation {
    /// The text, without stop string and special tokens.
    pub text: String,
    /// Why the reply ended: done, cut at the token limit, or withheld.
    pub finish: FinishReason,
    /// Tokens of this call.
    pub usage: TokenUsage,
    /// Whether `usage` was estimated because the server did not say.
    #[serde(default)]
    pub usage_estimated: bool,
    /// The model that answered, as the engine or server names it.
    pub model: String,
}

/// How much can be asked of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GeneratorStrength {
    /// Writes headings and joins sentences; must not be trusted with citations (measured for 1.5B models).
    Small,
    /// Can run the paper's loop.
    Strong,
}

/// What a generator is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GeneratorInfo {
    /// Model name as asked for.
    pub model: String,
    /// Longest prompt plus reply, in the model's tokens.
    pub context_tokens: usize,
    /// How much can be asked of it.
    pub strength: GeneratorStrength,
    /// Runs in this process.
    pub local: bool,
    /// US dollars per million prompt and completion tokens; `None` when unknown. Local models cost 0.
    pub usd_per_million: Option<(f64, f64)>,
}
