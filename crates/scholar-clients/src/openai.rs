//! Language models behind any server that speaks the chat completions API: hosted ones, vLLM, llama.cpp, Ollama.
//!
//! What a server does not offer is learned from its refusals, dropped for good and said ([`OpenAiGenerator::notices`]):
//! JSON schemas, usage in streams, seeds. Replies under a schema are validated here whatever the server promised. A
//! reply of another model than the one asked for is an error, never an answer, and so is a redirect to another server.

mod attempt;
mod choose;
mod delivery;
mod features;
mod json;
mod model_name;
mod redirect;
mod refusal;
mod sse;
mod wire;

use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use parking_lot::Mutex;
use scholar_core::{
    Generation, GenerationRequest, Generator, GeneratorInfo, GeneratorStrength, Message, Notice,
    NoticeKind, OnText, OutputShape, PortError, PortErrorKind, TokenUsage,
};
use secrecy::SecretString;
use tokio::time::Instant;
use url::Url;

use crate::http::{HttpClient, redacted};
use crate::retry::{RetryPolicy, uniform};
use attempt::Reply;
use delivery::Delivery;
use features::Features;
pub use json::{JsonReplyError, extract_json};
pub(crate) use model_name::without_date;
use refusal::Failure;

/// Longest prompt plus reply of a model nothing is known about, in tokens. Ours: what current servers offer at least.
pub const DEFAULT_CONTEXT_TOKENS: usize = 32_768;

/// Longest pause within a reply, the first token included: a large prompt on a small machine takes minutes.
pub const IDLE_TIMEOUT: Duration = Duration::from_secs(240);

/// Longest reply in bytes. Sixteen times what 32k tokens of English take: more is a runaway or hostile server.
pub const MAX_REPLY_BYTES: usize = 2 << 20;

/// How to reach a model.
#[derive(Clone)]
pub struct OpenAiConfig {
    /// Address up to and including the version, usually ending in `/v1`.
    pub base_url: Url,
    /// The key, sent as bearer token. Never printed.
    pub key: Option<SecretString>,
    /// Where the user sets the key, for hints: the name of an environment variable.
    pub key_name: String,
    /// The model, as the server names it.
    pub model: String,
    /// Longest prompt plus reply in tokens.
    pub context_tokens: usize,
    /// How much can be asked of it.
    pub strength: GeneratorStrength,
    /// US dollars per million tokens read and written; `None` when unknown.
    pub usd_per_million: Option<(f64, f64)>,
    /// How often and how long a call is tried.
    pub retry: RetryPolicy,
    /// Longest wait for the next byte of a reply.
    pub idle_timeout: Duration,
    /// Longest reply in bytes.
    pub max_reply_bytes: usize,
}

impl OpenAiConfig {
    /// A strong model of unknown price without a key, with the limits stated in this module.
    ///
    /// # Errors
    /// `Rejected` when `base_url` is not an `http` or `https` address or `model` is blank.
    pub fn new(base_url: &str, model: &str) -> Result<Self, PortError> {
        let rejected = |message: String| PortError::new(PortErrorKind::Rejected, message);
        let trimmed = base_url.trim().trim_end_matches('/');
        let trimmed = trimmed.strip_suffix("/chat/completions").unwrap_or(trimmed);
        // The text may hold credentials, so the error does not repeat it.
        let parsed = Url::parse(&format!("{trimmed}/"))
            .ok()
            .filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
        let base_url = parsed.ok_or_else(|| {
            rejected("the base URL of the language model server is not a web address".to_owned())
                .with_hint("write it like http://localhost:8000/v1")
        })?;
        if model.trim().is_empty() {
            return Err(rejected("no model is named".to_owned()).with_hint("pass --model NAME"));
        }
        Ok(Self {
            base_url,
            key: None,
            key_name: "OPENAI_API_KEY".to_owned(),
            model: model.trim().to_owned(),
            context_tokens: DEFAULT_CONTEXT_TOKENS,
            strength: GeneratorStrength::Strong,
            usd_per_million: None,
            retry: RetryPolicy::interactive(),
            idle_timeout: IDLE_TIMEOUT,
            max_reply_bytes: MAX_REPLY_BYTES,
        })
    }
}

impl fmt::Debug for OpenAiConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenAiConfig")
            .field("base_url", &redacted(&self.base_url))
            .field("key", &self.key.as_ref().map(|_| "[hidden]"))
            .field("model", &self.model)
            .finish_non_exhaustive()
    }
}

/// A model behind an OpenAI-compatible server.
pub struct OpenAiGenerator {
    config: OpenAiConfig,
    info: GeneratorInfo,
    http: HttpClient,
    endpoint: Url,
    features: Mutex<Features>,
    notices: Mutex<Vec<Notice>>,
}

impl OpenAiGenerator {
    /// Nothing is sent yet.
    ///
    /// # Errors
    /// `Rejected` when the base URL cannot carry a path.
    pub fn new(http: HttpClient, config: OpenAiConfig) -> Result<Self, PortError> {
        let endpoint = config.base_url.join("chat/completions").map_err(|source| {
            PortError::new(PortErrorKind::Rejected, "the base URL cannot carry a path")
                .with_source(source)
        })?;
        let info = GeneratorInfo {
            model: config.model.clone(),
            context_tokens: config.context_tokens,
            strength: config.strength,
            local: false,
            usd_per_million: config.usd_per_million,
        };
        let (features, notices) = (Mutex::new(Features::all()), Mutex::new(Vec::new()));
        Ok(Self { config, info, http, endpoint, features, notices })
    }

    /// What the server was found not to offer, and what is done instead; each thing once.
    pub fn notices(&self) -> Vec<Notice> {
        self.notices.lock().clone()
    }

    /// The address requests go to, without credentials.
    pub fn address(&self) -> String {
        redacted(&self.endpoint)
    }

    /// Tries until there is a reply, a final failure or the deadline. `probabilities` asks for those of the first token.
    async fn exchange(
        &self,
        request: &GenerationRequest,
        probabilities: bool,
        delivery: &mut Delivery<'_>,
    ) -> Result<Reply, PortError> {
        let RetryPolicy { attempts, deadline, .. } = self.config.retry;
        let end = Instant::now() + deadline;
        let mut failed = 0;
        loop {
            delivery.restart();
            let features = *self.features.lock();
            let body = wire::body(&self.config.model, request, features);
            let body = if probabilities { wire::with_probabilities(body) } else { body };
            let attempt = attempt::send(self, &body, features, delivery);
            let late = || {
                let seconds = deadline.as_secs();
                let message = format!("no complete reply from {} in {seconds} s", self.address());
                PortError::new(PortErrorKind::Unavailable, message)
                    .with_hint("allow more time, ask for a shorter reply, or use a faster server")
            };
            let outcome = tokio::time::timeout_at(end, attempt).await;
            match outcome.unwrap_or_else(|_| Err(Failure::Final(late()))) {
                Ok(reply) => return Ok(reply),
                Err(Failure::Unsupported(feature, why)) => {
                    let notice = self.features.lock().drop_feature(feature, features);
                    if let Some(notice) = notice {
                        tracing::warn!(server = self.address(), why, "{}", notice.message);
                        self.notices.lock().push(notice);
                    }
                }
                Err(Failure::Final(error)) => {
                    failed += 1;
                    let remaining = end.saturating_duration_since(Instant::now());
                    let pause = self.config.retry.pause(failed, &error, remaining, uniform());
                    let Some(pause) = pause else { return Err(error) };
                    let pause_ms = u64::try_from(pause.as_millis()).unwrap_or(u64::MAX);
                    tracing::info!(failed, attempts, pause_ms, %error, "trying the language model again");
                    tokio::time::sleep(pause).await;
                }
            }
        }
    }

    fn note_once(&self, notice: Notice) {
        let mut notices = self.notices.lock();
        if !notices.contains(&notice) {
            notices.push(notice);
        }
    }

    /// The server's counts, else an estimate; the flag says which.
    fn usage(&self, reply: &Reply, messages: &[Message]) -> (TokenUsage, bool) {
        if let Some(usage) = reply.usage {
            return (usage, false);
        }
        let prompt: usize = messages.iter().map(|m| self.count_tokens(&m.content)).sum();
        let count = |n: usize| u64::try_from(n).unwrap_or(u64::MAX);
        let completion = self.count_tokens(&reply.text);
        (TokenUsage { prompt: count(prompt), completion: count(completion) }, true)
    }
}

#[async_trait]
impl Generator for OpenAiGenerator {
    fn info(&self) -> &GeneratorInfo {
        &self.info
    }

    /// A third of the bytes: tokenizers of current models take four bytes of English and three of most other scripts.
    fn count_tokens(&self, text: &str) -> usize {
        text.len().div_ceil(3)
    }

    async fn generate(
        &self,
        request: &GenerationRequest,
        on_text: &OnText<'_>,
    ) -> Result<Generation, PortError> {
        let mut delivery = Delivery::new(on_text, &request.sampling.stop);
        let reply = self.exchange(request, false, &mut delivery).await?;
        let (usage, usage_estimated) = self.usage(&reply, &request.messages);
        let text = match &request.shape {
            OutputShape::Text => reply.text,
            OutputShape::Json { name, schema } => json::validated(&reply.text, schema)
                .map_err(|error| json::failure(error, name, &self.config.model, reply.finish))?,
        };
        let model = reply.model.unwrap_or_else(|| {
            let message = format!("{} does not say which model answered", self.address());
            self.note_once(Notice::new(NoticeKind::ModelReply, message));
            self.config.model.clone()
        });
        Ok(Generation { text, finish: reply.finish, usage, usage_estimated, model })
    }

    async fn choose(
        &self,
        purpose: &str,
        messages: &[Message],
        choices: &[&str],
    ) -> Result<Vec<f32>, PortError> {
        choose::choose(self, purpose, messages, choices).await
    }
}
