//! One request and its reply, streamed or whole.

use scholar_core::{FinishReason, PortError, PortErrorKind, TokenUsage};
use secrecy::ExposeSecret as _;
use serde_json::Value;

use super::OpenAiGenerator;
use super::delivery::Delivery;
use super::features::Features;
use super::model_name::same_model;
use super::refusal::Failure;
use super::sse::Events;
use super::wire::{Alternative, Chunk};
use super::{redirect, refusal};
use crate::http;

/// Longest part of an error body that is read.
const MAX_ERROR_BYTES: usize = 64 << 10;

/// Room for the frame around each piece of a streamed reply: a token of four bytes travels in 300 bytes of JSON.
const FRAME_FACTOR: usize = 100;

/// A complete reply.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) text: String,
    pub(super) finish: FinishReason,
    pub(super) usage: Option<TokenUsage>,
    pub(super) model: Option<String>,
    /// The most likely first tokens, when asked for and given.
    pub(super) top: Vec<Alternative>,
}

/// Sends `body`, which was made with `features`, and reads the reply into `delivery`.
pub(super) async fn send(
    generator: &OpenAiGenerator,
    body: &Value,
    features: Features,
    delivery: &mut Delivery<'_>,
) -> Result<Reply, Failure> {
    let mut response = post(generator, body).await?;
    let status = response.status();
    let header = |name| response.headers().get(name).and_then(|value| value.to_str().ok());
    if !status.is_success() {
        let wish = header(reqwest::header::RETRY_AFTER)
            .and_then(|value| crate::retry::retry_after(value, header(reqwest::header::DATE)));
        // Whatever of the body can be read serves the message; the status alone decides.
        let text = read_whole(generator, &mut response, MAX_ERROR_BYTES).await.unwrap_or_default();
        let json_wanted = body.get("response_format").is_some();
        return Err(refusal::refused(generator, status, wish, &text, (features, json_wanted)));
    }
    let streamed = header(reqwest::header::CONTENT_TYPE)
        .is_some_and(|kind| kind.to_ascii_lowercase().starts_with("text/event-stream"));
    let mut assembly = Assembly {
        generator,
        delivery,
        model: None,
        finish: None,
        usage: None,
        top: Vec::new(),
        closed: false,
    };
    if streamed {
        assembly.read_stream(&mut response).await?;
    } else {
        let text = read_whole(generator, &mut response, generator.config.max_reply_bytes).await?;
        assembly.add(&text)?;
        assembly.closed = true;
    }
    assembly.finish()
}

async fn post(generator: &OpenAiGenerator, body: &Value) -> Result<reqwest::Response, PortError> {
    let mut url = generator.endpoint.clone();
    for _ in 0..=redirect::MAX_REDIRECTS {
        let mut request = generator.http.still_pool(&url).post(url.clone());
        if let Some(key) = &generator.config.key {
            request = request.bearer_auth(key.expose_secret());
        }
        let sent = tokio::time::timeout(generator.config.idle_timeout, request.json(body).send());
        let response = match sent.await {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => return Err(refusal::unreachable(generator, error)),
            Err(_) => return Err(refusal::silent(generator)),
        };
        match redirect::target(&url, &response)? {
            Some(next) => url = next,
            None => return Ok(response),
        }
    }
    Err(redirect::too_many(generator))
}

async fn next_piece(
    generator: &OpenAiGenerator,
    response: &mut reqwest::Response,
) -> Result<Option<impl AsRef<[u8]>>, PortError> {
    match tokio::time::timeout(generator.config.idle_timeout, response.chunk()).await {
        Ok(Ok(piece)) => Ok(piece),
        Ok(Err(error)) => {
            let message =
                format!("the reply of {} broke off: {}", generator.address(), http::reason(error));
            Err(PortError::new(PortErrorKind::Transient, message))
        }
        Err(_) => Err(refusal::silent(generator)),
    }
}

async fn read_whole(
    generator: &OpenAiGenerator,
    response: &mut reqwest::Response,
    limit: usize,
) -> Result<String, PortError> {
    let mut bytes = Vec::new();
    while let Some(piece) = next_piece(generator, response).await? {
        bytes.extend_from_slice(piece.as_ref());
        if bytes.len() > limit {
            return Err(refusal::too_long(generator, limit));
        }
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// A reply as it comes together.
struct Assembly<'a, 'd> {
    generator: &'a OpenAiGenerator,
    delivery: &'a mut Delivery<'d>,
    model: Option<String>,
    finish: Option<FinishReason>,
    usage: Option<TokenUsage>,
    top: Vec<Alternative>,
    closed: bool,
}

impl Assembly<'_, '_> {
    async fn read_stream(&mut self, response: &mut reqwest::Response) -> Result<(), Failure> {
        let mut events = Events::default();
        let limit = self.generator.config.max_reply_bytes;
        let mut received = 0usize;
        let corrupt = |error| {
            let message = format!("the reply of {} cannot be read", self.generator.address());
            PortError::new(PortErrorKind::Corrupt, message).with_source(error)
        };
        while !self.closed {
            let Some(piece) = next_piece(self.generator, response).await? else {
                if let Some(data) = events.finish() {
                    self.add_event(&data)?;
                }
                return Ok(());
            };
            received = received.saturating_add(piece.as_ref().len());
            let complete = events.push(piece.as_ref()).map_err(corrupt)?;
            for data in complete {
                if self.add_event(&data)? {
                    return Ok(());
                }
            }
            let held = self.delivery.len() + events.pending();
            if held > limit || received > limit.saturating_mul(FRAME_FACTOR) {
                return Err(refusal::too_long(self.generator, limit).into());
            }
        }
        Ok(())
    }

    /// Whether the reply is complete.
    fn add_event(&mut self, data: &str) -> Result<bool, Failure> {
        if data.trim() == "[DONE]" {
            self.closed = true;
        } else {
            self.add(data)?;
        }
        Ok(self.closed)
    }

    fn add(&mut self, data: &str) -> Result<(), Failure> {
        let chunk: Chunk = serde_json::from_str(data)
            .map_err(|source| refusal::not_a_reply(self.generator, data).with_source(source))?;
        if let Some(error) = chunk.error.filter(|error| !error.is_null()) {
            return Err(refusal::failed_inside(self.generator, &error).into());
        }
        if let Some(model) = chunk.model.filter(|model| !model.trim().is_empty()) {
            let asked = &self.generator.config.model;
            if !same_model(asked, &model) {
                return Err(refusal::other_model(self.generator, &model).into());
            }
            self.model = Some(model);
        }
        if let Some(usage) = chunk.usage.and_then(|usage| usage.tokens()) {
            self.usage = Some(usage);
        }
        let Some(choice) = chunk.choices.into_iter().next() else { return Ok(()) };
        let mut stopped = false;
        if let Some(turn) = choice.turn() {
            if turn.wants_tool() {
                return Err(refusal::wants_tool(self.generator).into());
            }
            if let Some(content) = &turn.content {
                stopped = self.delivery.push(&content.text());
            }
            if turn.refusal.as_ref().is_some_and(|text| !text.is_empty()) {
                self.finish = Some(FinishReason::Filtered);
            }
        }
        if let Some(token) = choice.logprobs.and_then(|l| l.content?.into_iter().next()) {
            self.top = token.top_logprobs;
        }
        match choice.finish_reason.as_deref() {
            None | Some("") => {}
            Some("tool_calls" | "function_call") => {
                return Err(refusal::wants_tool(self.generator).into());
            }
            Some("length" | "max_tokens") => self.finish = Some(FinishReason::Length),
            Some("content_filter") => self.finish = Some(FinishReason::Filtered),
            // Servers have many words for a model that was done.
            Some(_) => self.finish = self.finish.or(Some(FinishReason::Stop)),
        }
        if stopped {
            self.finish = Some(FinishReason::Stop);
            self.closed = true;
        }
        Ok(())
    }

    fn finish(self) -> Result<Reply, Failure> {
        let Self { generator, delivery, model, finish, usage, top, closed } = self;
        let finish = match finish {
            Some(finish) => finish,
            None if closed && delivery.len() > 0 => FinishReason::Stop,
            None if closed => return Err(refusal::empty(generator, None).into()),
            None => return Err(refusal::truncated(generator, delivery.len()).into()),
        };
        let text = delivery.take();
        if text.trim().is_empty() && finish != FinishReason::Filtered && top.is_empty() {
            return Err(refusal::empty(generator, Some(finish)).into());
        }
        Ok(Reply { text, finish, usage, model, top })
    }
}
