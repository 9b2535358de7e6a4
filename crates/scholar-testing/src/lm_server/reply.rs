//! The bytes of each behaviour.

use std::time::Duration;

use axum::body::Body;
use axum::http::{StatusCode, header};
use axum::response::Response;
use futures::StreamExt as _;
use futures::stream::{self, BoxStream};
use serde_json::{Value, json};

use super::Behaviour;

type Piece = Result<Vec<u8>, std::io::Error>;

/// What a reply says besides its text.
struct Shape {
    model: String,
    finish: Option<String>,
    stream: bool,
}

pub(super) async fn respond(behaviour: Behaviour, request: &Value) -> Response {
    let shape = Shape::asked(request);
    match behaviour {
        Behaviour::Text(text) => shape.answer(&text, request),
        Behaviour::Slow(text, pause) => {
            let events = shape.events(&text, request);
            event_stream(stream::iter(events).then(move |event| pause_then(pause, event)).boxed())
        }
        Behaviour::Fragmented(text) => {
            let bytes = shape.events(&text, request).concat();
            let pieces: Vec<Piece> = bytes.chunks(7).map(|piece| Ok(piece.to_vec())).collect();
            event_stream(stream::iter(pieces).boxed())
        }
        Behaviour::Hang => std::future::pending().await,
        Behaviour::HangAfter(text) => {
            let begun = stream::iter(shape.opening(&text)).map(Ok);
            event_stream(begun.chain(stream::pending()).boxed())
        }
        Behaviour::RateLimited(retry_after) => rate_limited(retry_after),
        Behaviour::ServerError => plain(500, r#"{"error":{"message":"out of order"}}"#),
        Behaviour::Status(code, body) => plain(code, &body),
        Behaviour::Redirect(code, location) => redirect(code, location),
        Behaviour::WrongJson => plain(200, "<html>It works!</html>"),
        Behaviour::TruncatedStream(text) => {
            event_stream(stream::iter(shape.opening(&text)).map(Ok).boxed())
        }
        Behaviour::BrokenStream(text) => {
            let cut = stream::once(async {
                // The server sends what it has when the body is not ready; a cut at once would send nothing.
                tokio::task::yield_now().await;
                Err(std::io::Error::other("cut on purpose"))
            });
            event_stream(stream::iter(shape.opening(&text)).map(Ok).chain(cut).boxed())
        }
        Behaviour::ErrorInStream(text) => {
            let mut events = shape.opening(&text);
            events.push(event(&json!({"error": {"message": "the engine failed", "code": 500}})));
            event_stream(stream::iter(events).map(Ok).boxed())
        }
        Behaviour::ToolCall => Shape { stream: false, ..shape }.message(&json!({
            "role": "assistant", "content": null,
            "tool_calls": [{"id": "call_1", "type": "function", "function": {"name": "search", "arguments": "{}"}}]
        }), "tool_calls"),
        Behaviour::OtherModel { text, model } => Shape { model, ..shape }.answer(&text, request),
        Behaviour::NoUsage(text) => shape.without_usage(&text),
        Behaviour::Huge(bytes) => shape.answer(&"x".repeat(bytes), request),
        Behaviour::IgnoresStream(text) => Shape { stream: false, ..shape }.answer(&text, request),
        Behaviour::RefusesField { field, text } => match refused(&field, request) {
            true => plain(400, &json!({"error": {"message": format!("unsupported: {field}")}}).to_string()),
            false => shape.answer(&text, request),
        },
        Behaviour::Finishes(text, reason) => Shape { finish: Some(reason), ..shape }.answer(&text, request),
        Behaviour::Empty => shape.answer("", request),
        Behaviour::LogProbabilities(top) => shape.probabilities(&top),
    }
}

impl Shape {
    fn asked(request: &Value) -> Self {
        Self {
            model: request["model"].as_str().unwrap_or("scripted").to_owned(),
            finish: Some("stop".to_owned()),
            stream: request["stream"] == true,
        }
    }

    fn answer(&self, text: &str, request: &Value) -> Response {
        if self.stream {
            event_stream(stream::iter(self.events(text, request)).map(Ok).boxed())
        } else {
            let mut body = self.body(&json!({"role": "assistant", "content": text}));
            body["usage"] = usage(request, text);
            plain(200, &body.to_string())
        }
    }

    fn without_usage(&self, text: &str) -> Response {
        if self.stream {
            let mut events = self.opening(text);
            events.push(self.closing());
            events.push(b"data: [DONE]\n\n".to_vec());
            event_stream(stream::iter(events).map(Ok).boxed())
        } else {
            plain(200, &self.body(&json!({"role": "assistant", "content": text})).to_string())
        }
    }

    fn message(&self, message: &Value, finish: &str) -> Response {
        let mut body = self.body(message);
        body["choices"][0]["finish_reason"] = json!(finish);
        plain(200, &body.to_string())
    }

    fn probabilities(&self, top: &[(String, f32)]) -> Response {
        let entry = |(token, logprob): &(String, f32)| json!({"token": token, "logprob": logprob});
        let first = top.first().cloned().unwrap_or_default();
        let mut body = self.body(&json!({"role": "assistant", "content": first.0}));
        let mut content = entry(&first);
        content["top_logprobs"] = top.iter().map(entry).collect();
        body["choices"][0]["logprobs"] = json!({"content": [content]});
        plain(200, &body.to_string())
    }

    fn body(&self, message: &Value) -> Value {
        json!({
            "id": "scripted-1", "object": "chat.completion", "model": self.model,
            "choices": [{"index": 0, "message": message, "finish_reason": self.finish}],
        })
    }

    fn chunk(&self, delta: &Value, finish: Option<&str>) -> Vec<u8> {
        event(&json!({
            "id": "scripted-1", "object": "chat.completion.chunk", "model": self.model,
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
        }))
    }

    /// A comment as proxies send to keep a connection open, the role, and the text word by word.
    fn opening(&self, text: &str) -> Vec<Vec<u8>> {
        let mut events = vec![
            b": keep-alive\n\n".to_vec(),
            self.chunk(&json!({"role": "assistant", "content": ""}), None),
        ];
        events.extend(
            text.split_inclusive(' ').map(|word| self.chunk(&json!({"content": word}), None)),
        );
        events
    }

    fn closing(&self) -> Vec<u8> {
        self.chunk(&json!({}), self.finish.as_deref())
    }

    fn events(&self, text: &str, request: &Value) -> Vec<Vec<u8>> {
        let mut events = self.opening(text);
        events.push(self.closing());
        if request["stream_options"]["include_usage"] == true {
            events.push(event(&json!({
                "id": "scripted-1", "object": "chat.completion.chunk", "model": self.model,
                "choices": [], "usage": usage(request, text),
            })));
        }
        events.push(b"data: [DONE]\n\n".to_vec());
        events
    }
}

/// Words of the messages and of the reply: a count a test can predict.
fn usage(request: &Value, text: &str) -> Value {
    let messages = request["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let words = |text: &str| text.split_whitespace().count();
    let prompt: usize = messages.iter().filter_map(|m| m["content"].as_str()).map(words).sum();
    let completion = words(text);
    json!({"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion})
}

fn refused(field: &str, request: &Value) -> bool {
    match field.split_once('=') {
        Some((field, kind)) => request[field]["type"] == kind,
        None => request.get(field).is_some(),
    }
}

fn event(value: &Value) -> Vec<u8> {
    format!("data: {value}\n\n").into_bytes()
}

async fn pause_then(pause: Duration, event: Vec<u8>) -> Piece {
    tokio::time::sleep(pause).await;
    Ok(event)
}

fn event_stream(pieces: BoxStream<'static, Piece>) -> Response {
    let built = Response::builder()
        .header(header::CONTENT_TYPE, "text/event-stream")
        .body(Body::from_stream(pieces));
    built.expect("a constant header is valid")
}

fn rate_limited(retry_after: Option<String>) -> Response {
    let mut response = plain(429, r#"{"error":{"message":"slow down"}}"#);
    if let Some(value) = retry_after.and_then(|value| value.parse().ok()) {
        response.headers_mut().insert(header::RETRY_AFTER, value);
    }
    response
}

fn plain(code: u16, body: &str) -> Response {
    let mut response = Response::new(Body::from(body.to_owned()));
    *response.status_mut() =
        StatusCode::from_u16(code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, header::HeaderValue::from_static("application/json"));
    response
}

fn redirect(code: u16, location: String) -> Response {
    let mut response = plain(code, "{}");
    if let Ok(location) = location.parse() {
        response.headers_mut().insert(header::LOCATION, location);
    }
    response
}
