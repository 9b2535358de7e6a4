//! Failures of a language model server, in words a person can act on. No key and no credentials ever enter a message.

use std::time::Duration;

use reqwest::StatusCode;
use scholar_core::{FinishReason, PortError, PortErrorKind};
use secrecy::ExposeSecret as _;
use serde_json::Value;

use super::OpenAiGenerator;
use super::features::{Feature, Features};
use super::wire::error_message;
use crate::http;

/// Longest part of a server's own words in a message, in characters.
const MAX_QUOTED_CHARS: usize = 300;

/// Why there is none.
pub(super) enum Failure {
    /// The server refused this part of the request, for the stated reason.
    Unsupported(Feature, String),
    /// Anything else; its kind says whether to try again.
    Final(PortError),
}

impl From<PortError> for Failure {
    fn from(error: PortError) -> Self {
        Self::Final(error)
    }
}

fn error(kind: PortErrorKind, message: String) -> PortError {
    PortError::new(kind, message)
}

/// A reply with an error status. `sent` is what the request was made with, and whether it named a response format.
pub(super) fn refused(
    generator: &OpenAiGenerator,
    status: StatusCode,
    wish: Option<Duration>,
    body: &str,
    sent: (Features, bool),
) -> Failure {
    let address = generator.address();
    let json: Value = serde_json::from_str(body).unwrap_or(Value::Null);
    let words = quoted(generator, error_message(&json).unwrap_or(body));
    let said = if words.is_empty() { String::new() } else { format!(": {words}") };
    let key = &generator.config.key_name;
    let out_of_credit = ["insufficient_quota", "billing", "credit"];
    let failed = match status.as_u16() {
        // The server's words are left out: some repeat a part of the key.
        401 | 403 if generator.config.key.is_none() => {
            error(PortErrorKind::Rejected, format!("{address} requires a key ({status})"))
                .with_hint(format!("set {key}"))
        }
        401 | 403 => {
            error(PortErrorKind::Rejected, format!("{address} refused the key ({status})"))
                .with_hint(format!(
                    "check {key}, and that this key may use `{}`",
                    generator.config.model
                ))
        }
        402 => error(PortErrorKind::Rejected, format!("{address} requires payment{said}")),
        404 => {
            error(PortErrorKind::Rejected, format!("{address} knows no such model or path{said}"))
                .with_hint(format!(
                    "check the model name `{}` and --base-url (it usually ends in /v1)",
                    generator.config.model
                ))
        }
        429 if out_of_credit.iter().any(|word| body.contains(word)) => error(
            PortErrorKind::Rejected,
            format!("the account at {address} has no credit left{said}"),
        ),
        429 => error(
            PortErrorKind::RateLimited { retry_after: wish },
            format!("{address} limits the rate of requests{said}"),
        )
        .with_hint("wait, or ask with a smaller budget"),
        503 if wish.is_some() => error(
            PortErrorKind::RateLimited { retry_after: wish },
            format!("{address} is busy{said}"),
        ),
        408 | 425 | 500..=599 => {
            error(PortErrorKind::Transient, format!("{address} failed with {status}{said}"))
                .with_hint("try again, and look into the server's log")
        }
        400 | 422 => {
            let (features, json_wanted) = sent;
            if let Some(feature) = features.blamed(&words, json_wanted) {
                return Failure::Unsupported(feature, words);
            }
            error(PortErrorKind::Rejected, format!("{address} refused the request{said}"))
                .with_hint("ask for a shorter reply or pass fewer passages if it is too long for the model")
        }
        _ => error(PortErrorKind::Rejected, format!("{address} answered {status}{said}")),
    };
    Failure::Final(failed)
}

/// The request could not be sent, or no head of an answer came back.
pub(super) fn unreachable(generator: &OpenAiGenerator, cause: reqwest::Error) -> PortError {
    let address = generator.address();
    let (refused, cause) = (cause.is_connect(), http::reason(cause));
    if refused {
        let message = format!("no language model server answers at {address}: {cause}");
        error(PortErrorKind::Unavailable, message).with_hint("start it or pass --base-url")
    } else {
        error(PortErrorKind::Transient, format!("the connection to {address} broke: {cause}"))
    }
}

/// Nothing came for the idle timeout.
pub(super) fn silent(generator: &OpenAiGenerator) -> PortError {
    let waited = generator.config.idle_timeout.as_secs_f32();
    let message = format!("{} sent nothing for {waited:.1} s", generator.address());
    error(PortErrorKind::Unavailable, message).with_hint("use a faster server or a smaller model")
}

/// More than any honest reply has.
pub(super) fn too_long(generator: &OpenAiGenerator, limit: usize) -> PortError {
    let message = format!("the reply of {} has more than {limit} bytes", generator.address());
    error(PortErrorKind::Corrupt, message)
}

/// The stream ended without an end.
pub(super) fn truncated(generator: &OpenAiGenerator, bytes: usize) -> PortError {
    let message = format!(
        "the reply of {} ended after {bytes} bytes without an end mark",
        generator.address()
    );
    error(PortErrorKind::Transient, message)
}

/// A reply without text.
pub(super) fn empty(generator: &OpenAiGenerator, finish: Option<FinishReason>) -> PortError {
    let message =
        format!("`{}` at {} replied without any text", generator.config.model, generator.address());
    let empty = error(PortErrorKind::Corrupt, message);
    match finish {
        Some(FinishReason::Length) => {
            empty.with_hint("raise the token limit: the model used it up before it began to answer")
        }
        _ => empty,
    }
}

/// Something that is not a chat completion.
pub(super) fn not_a_reply(generator: &OpenAiGenerator, data: &str) -> PortError {
    let start = quoted(generator, &data.chars().take(80).collect::<String>());
    let message = format!("the reply of {} is not a chat completion: {start}", generator.address());
    error(PortErrorKind::Corrupt, message).with_hint(
        "check that --base-url names an OpenAI-compatible server (it usually ends in /v1)",
    )
}

/// An error object where a reply was expected.
pub(super) fn failed_inside(generator: &OpenAiGenerator, cause: &Value) -> PortError {
    let words = cause.as_str().or_else(|| cause["message"].as_str()).unwrap_or_default();
    let message =
        format!("{} failed while replying: {}", generator.address(), quoted(generator, words));
    let client_error =
        cause["code"].as_u64().is_some_and(|code| (400..500).contains(&code) && code != 429);
    let kind = if client_error { PortErrorKind::Rejected } else { PortErrorKind::Transient };
    error(kind, message)
}

/// Another model answered.
pub(super) fn other_model(generator: &OpenAiGenerator, answered: &str) -> PortError {
    let (address, asked) = (generator.address(), &generator.config.model);
    let answered = quoted(generator, answered);
    let message = format!("{address} replied with model `{answered}` instead of `{asked}`");
    error(PortErrorKind::Rejected, message).with_hint(format!(
        "pass --model {answered} if that is the model you want, or load `{asked}` on the server"
    ))
}

/// A tool is to be called; none was offered.
pub(super) fn wants_tool(generator: &OpenAiGenerator) -> PortError {
    let (address, model) = (generator.address(), &generator.config.model);
    let message = format!("`{model}` at {address} tried to call a tool instead of answering");
    error(PortErrorKind::Rejected, message)
        .with_hint("switch tool calling off on the server, or use another model")
}

/// A server's own words in one line, shortened, without control characters and without the key.
fn quoted(generator: &OpenAiGenerator, text: &str) -> String {
    let mut text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some(key) = &generator.config.key {
        let key = key.expose_secret();
        if !key.is_empty() {
            text = text.replace(key, "[key]");
        }
    }
    text.retain(|c| !c.is_control());
    match text.char_indices().nth(MAX_QUOTED_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
