//! A language model server on a loopback port that speaks the chat completions API, and misbehaves when told to.
//!
//! ```
//! # tokio_test();
//! # fn tokio_test() { tokio::runtime::Runtime::new().expect("runtime").block_on(async {
//! use scholar_testing::{Behaviour, ScriptedLmServer};
//! let server = ScriptedLmServer::start().await;
//! server.push(Behaviour::ServerError);
//! server.push(Behaviour::Text("RAG helps [1].".to_owned()));
//! let base_url = server.base_url(); // hand this to the client under test
//! # assert!(base_url.ends_with("/v1"));
//! # }); }
//! ```

mod reply;

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, Uri, header};
use axum::response::Response;
use axum::routing::{get, post};
use parking_lot::Mutex;
use serde_json::{Value, json};

/// What the server does with one request.
#[derive(Debug, Clone, PartialEq)]
pub enum Behaviour {
    /// Answers honestly: streams when asked to, counts tokens (words) when asked to, repeats the asked model's name.
    Text(String),
    /// As `Text`, with this pause before every piece.
    Slow(String, Duration),
    /// As `Text`, cut into pieces of seven bytes that respect neither events nor characters.
    Fragmented(String),
    /// Accepts the request and never answers.
    Hang,
    /// Streams the text and then neither ends nor closes.
    HangAfter(String),
    /// 429, with this `Retry-After` header if any.
    RateLimited(Option<String>),
    /// 500 with an error object.
    ServerError,
    /// This status with this body.
    Status(u16, String),
    /// A redirect with this status to this address.
    Redirect(u16, String),
    /// 200 with a body that is not JSON.
    WrongJson,
    /// Streams the text and ends cleanly, without finish reason and end mark.
    TruncatedStream(String),
    /// Streams the text and breaks the connection.
    BrokenStream(String),
    /// An error object in the middle of a stream that began well.
    ErrorInStream(String),
    /// Wants a tool called instead of answering.
    ToolCall,
    /// As `Text`, under another model's name.
    OtherModel {
        /// Text of the reply.
        text: String,
        /// The name it gives.
        model: String,
    },
    /// As `Text`, without token counts.
    NoUsage(String),
    /// A reply of this many bytes.
    Huge(usize),
    /// Answers in one JSON body even when asked to stream.
    IgnoresStream(String),
    /// 400 that names this field while the request has it; `Text` otherwise.
    RefusesField {
        /// Top-level field of the request, or `field=value` for one value of its `type`.
        field: String,
        /// The reply without it.
        text: String,
    },
    /// As `Text`, with this finish reason.
    Finishes(String, String),
    /// A reply without any text.
    Empty,
    /// One token with these log-probabilities of the most likely first tokens.
    LogProbabilities(Vec<(String, f32)>),
}

impl Behaviour {
    /// A fluent reply that cites a reference nobody gave it.
    pub fn cites_unknown_reference() -> Self {
        Self::Text("Retrieval reduces hallucination in most settings [999].".to_owned())
    }
}

/// One request as the server saw it.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedRequest {
    /// Path, from `/v1` on.
    pub path: String,
    /// The `Authorization` header as it came, key included.
    pub authorization: Option<String>,
    /// The body; `Null` when it was not JSON.
    pub body: Value,
}

type Responder = Arc<dyn Fn(&Value) -> Behaviour + Send + Sync>;

#[derive(Default)]
struct Script {
    queue: VecDeque<Behaviour>,
    responder: Option<Responder>,
    models: Option<Behaviour>,
    requests: Vec<RecordedRequest>,
}

type Shared = Arc<Mutex<Script>>;

/// The server; it stops accepting when dropped.
pub struct ScriptedLmServer {
    address: SocketAddr,
    script: Shared,
    task: tokio::task::JoinHandle<()>,
}

impl ScriptedLmServer {
    /// Listens on a free loopback port, within the current tokio runtime.
    ///
    /// # Panics
    /// When no loopback port can be bound.
    pub async fn start() -> Self {
        let listener =
            tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free loopback port");
        let address = listener.local_addr().expect("a bound listener has an address");
        let script = Shared::default();
        let router = Router::new()
            .route("/v1/chat/completions", post(complete))
            .route("/v1/models", get(models))
            .with_state(Arc::clone(&script));
        let task = tokio::spawn(async move {
            axum::serve(listener, router).await.expect("serving on loopback goes on until aborted");
        });
        Self { address, script, task }
    }

    /// What clients take as base URL, `http://127.0.0.1:PORT/v1`.
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Its port.
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// Lists these models when it is asked for them; else it is one, `scripted`.
    pub fn list_models(&self, names: &[&str]) {
        let models: Vec<Value> =
            names.iter().map(|name| json!({"id": name, "object": "model"})).collect();
        let list = json!({"object": "list", "data": models}).to_string();
        self.answer_models_with(Behaviour::Status(200, list));
    }

    /// Does this whenever it is asked for its models.
    pub fn answer_models_with(&self, behaviour: Behaviour) {
        self.script.lock().models = Some(behaviour);
    }

    /// Queues what is done with one request; the queue goes before [`ScriptedLmServer::respond_with`].
    pub fn push(&self, behaviour: Behaviour) {
        self.script.lock().queue.push_back(behaviour);
    }

    /// Decides by the request's body what is done with requests the queue has nothing for.
    pub fn respond_with(&self, responder: impl Fn(&Value) -> Behaviour + Send + Sync + 'static) {
        self.script.lock().responder = Some(Arc::new(responder));
    }

    /// Does the same with every request the queue has nothing for.
    pub fn always(&self, behaviour: Behaviour) {
        self.respond_with(move |_| behaviour.clone());
    }

    /// Every request so far, in order of arrival.
    pub fn requests(&self) -> Vec<RecordedRequest> {
        self.script.lock().requests.clone()
    }

    /// What is queued and was not used.
    pub fn unused(&self) -> usize {
        self.script.lock().queue.len()
    }
}

impl Drop for ScriptedLmServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn complete(
    State(script): State<Shared>,
    uri: Uri,
    headers: HeaderMap,
    body: String,
) -> Response {
    let body: Value = serde_json::from_str(&body).unwrap_or(Value::Null);
    let (queued, responder) = {
        let mut script = script.lock();
        script.requests.push(recorded(&uri, &headers, body.clone()));
        (script.queue.pop_front(), script.responder.clone())
    };
    let behaviour = queued.or_else(|| responder.map(|responder| responder(&body)));
    let unscripted = || Behaviour::Status(418, "nothing scripted for this request".to_owned());
    reply::respond(behaviour.unwrap_or_else(unscripted), &body).await
}

async fn models(State(script): State<Shared>, uri: Uri, headers: HeaderMap) -> Response {
    let behaviour = {
        let mut script = script.lock();
        script.requests.push(recorded(&uri, &headers, Value::Null));
        script.models.clone()
    };
    let list = r#"{"object": "list", "data": [{"id": "scripted", "object": "model"}]}"#;
    let usual = || Behaviour::Status(200, list.to_owned());
    reply::respond(behaviour.unwrap_or_else(usual), &Value::Null).await
}

fn recorded(uri: &Uri, headers: &HeaderMap, body: Value) -> RecordedRequest {
    let authorization = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    RecordedRequest {
        path: uri.path().to_owned(),
        authorization: authorization.map(str::to_owned),
        body,
    }
}
