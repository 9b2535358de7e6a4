//! The chat completions API as it is on the wire.

use scholar_core::{GenerationRequest, OutputShape, Role, TokenUsage};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::features::{Features, JsonMode};

/// How many alternatives are asked for: the most any server gives.
const TOP_LOGPROBS: u32 = 20;

/// `body` asking for the most likely first tokens, in one piece.
pub(super) fn with_probabilities(mut body: Value) -> Value {
    if let Some(fields) = body.as_object_mut() {
        fields.remove("stream");
        fields.remove("stream_options");
        fields.insert("logprobs".to_owned(), json!(true));
        fields.insert("top_logprobs".to_owned(), json!(TOP_LOGPROBS));
    }
    body
}

/// The body of a request, with only the optional parts in `features`.
pub(super) fn body(model: &str, request: &GenerationRequest, features: Features) -> Value {
    let GenerationRequest { purpose: _, messages, sampling, shape } = request;
    let mut turns: Vec<Value> = messages
        .iter()
        .map(|message| json!({"role": role(message.role), "content": message.content}))
        .collect();
    let mut body = Map::new();
    body.insert("model".to_owned(), json!(model));
    let limit = if features.old_max_tokens { "max_tokens" } else { "max_completion_tokens" };
    body.insert(limit.to_owned(), json!(sampling.max_tokens));
    if features.temperature {
        body.insert("temperature".to_owned(), json!(sampling.temperature));
    }
    if features.top_p && sampling.top_p < 1.0 {
        body.insert("top_p".to_owned(), json!(sampling.top_p));
    }
    if let Some(seed) = sampling.seed.filter(|_| features.seed) {
        body.insert("seed".to_owned(), json!(seed));
    }
    if features.stop && !sampling.stop.is_empty() {
        body.insert("stop".to_owned(), json!(sampling.stop));
    }
    if features.stream {
        body.insert("stream".to_owned(), json!(true));
        if features.stream_usage {
            body.insert("stream_options".to_owned(), json!({"include_usage": true}));
        }
    }
    if let OutputShape::Json { name, schema } = shape {
        if let Some(format) = response_format(name, schema, features.json) {
            body.insert("response_format".to_owned(), format);
        }
        if features.json < JsonMode::Schema {
            ask_in_words(&mut turns, schema);
        }
    }
    body.insert("messages".to_owned(), Value::Array(turns));
    Value::Object(body)
}

fn role(role: Role) -> &'static str {
    match role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
    }
}

fn response_format(name: &str, schema: &Value, mode: JsonMode) -> Option<Value> {
    match mode {
        JsonMode::Schema => Some(json!({
            "type": "json_schema",
            "json_schema": {"name": name, "schema": schema, "strict": is_strict(schema)},
        })),
        JsonMode::Object => Some(json!({"type": "json_object"})),
        JsonMode::Words => None,
    }
}

/// Whether every object in the schema is closed and has only required properties: what strict mode demands.
fn is_strict(schema: &Value) -> bool {
    match schema {
        Value::Object(map) => {
            let properties = map.get("properties").and_then(Value::as_object);
            let required = map.get("required").and_then(Value::as_array);
            let closed = properties.is_none_or(|properties| {
                map.get("additionalProperties") == Some(&Value::Bool(false))
                    && required.is_some_and(|required| {
                        properties.keys().all(|key| required.iter().any(|r| r == key.as_str()))
                    })
            });
            closed && map.values().all(is_strict)
        }
        Value::Array(items) => items.iter().all(is_strict),
        _ => true,
    }
}

/// Adds the schema to the last turn. A second system turn would break the templates of many local models.
fn ask_in_words(turns: &mut [Value], schema: &Value) {
    if let Some(last) = turns.last_mut() {
        let content = last["content"].as_str().unwrap_or_default();
        let asked = format!(
            "{content}\n\nReply with one JSON value and nothing else. It must be valid under this JSON Schema:\n{schema}"
        );
        last["content"] = Value::String(asked);
    }
}

/// A reply, or one chunk of a streamed one.
#[derive(Debug, Deserialize)]
pub(super) struct Chunk {
    #[serde(default)]
    pub(super) model: Option<String>,
    #[serde(default)]
    pub(super) choices: Vec<Choice>,
    #[serde(default)]
    pub(super) usage: Option<Usage>,
    #[serde(default)]
    pub(super) error: Option<Value>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Choice {
    /// The whole message.
    #[serde(default)]
    message: Option<Turn>,
    /// The piece of a streamed one.
    #[serde(default)]
    delta: Option<Turn>,
    #[serde(default)]
    pub(super) finish_reason: Option<String>,
    #[serde(default)]
    pub(super) logprobs: Option<LogProbs>,
}

impl Choice {
    /// What this reply or chunk adds.
    pub(super) fn turn(&self) -> Option<&Turn> {
        self.delta.as_ref().or(self.message.as_ref())
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct Turn {
    #[serde(default)]
    pub(super) content: Option<Content>,
    #[serde(default)]
    pub(super) refusal: Option<String>,
    #[serde(default)]
    pub(super) tool_calls: Option<Value>,
    #[serde(default)]
    pub(super) function_call: Option<Value>,
}

impl Turn {
    /// Whether a tool is to be called. Some servers send an empty list with every reply.
    pub(super) fn wants_tool(&self) -> bool {
        [&self.tool_calls, &self.function_call].into_iter().flatten().any(|call| match call {
            Value::Null => false,
            Value::Array(calls) => !calls.is_empty(),
            _ => true,
        })
    }
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Content {
    Text(String),
    Parts(Vec<ContentPart>),
}

#[derive(Debug, Deserialize)]
pub(super) struct ContentPart {
    #[serde(default)]
    text: String,
}

impl Content {
    pub(super) fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Parts(parts) => parts.iter().map(|part| part.text.as_str()).collect(),
        }
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct Usage {
    #[serde(default)]
    prompt_tokens: Option<u64>,
    #[serde(default)]
    completion_tokens: Option<u64>,
}

impl Usage {
    /// Both counts; a server that states only one has not counted.
    pub(super) fn tokens(&self) -> Option<TokenUsage> {
        Some(TokenUsage { prompt: self.prompt_tokens?, completion: self.completion_tokens? })
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct LogProbs {
    #[serde(default)]
    pub(super) content: Option<Vec<TokenLogProb>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct TokenLogProb {
    #[serde(default)]
    pub(super) top_logprobs: Vec<Alternative>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Alternative {
    pub(super) token: String,
    pub(super) logprob: f32,
}

/// The message of an error body: `error.message`, `message`, `detail`, else nothing.
pub(super) fn error_message(body: &Value) -> Option<&str> {
    let error = body.get("error").unwrap_or(body);
    error
        .as_str()
        .or_else(|| error["message"].as_str())
        .or_else(|| body["message"].as_str())
        .or_else(|| body["detail"].as_str())
}

#[cfg(test)]
mod tests {
    use scholar_core::{Message, Sampling};

    use super::*;

    #[test]
    fn only_offered_parts_are_sent() {
        let schema = json!({"type": "object", "properties": {"a": {"type": "string"}}});
        let mut request = GenerationRequest {
            purpose: "secret purpose".to_owned(),
            messages: vec![Message::system("s"), Message::user("u")],
            sampling: Sampling { seed: Some(7), stop: vec!["X".to_owned()], ..Sampling::greedy(9) },
            shape: OutputShape::Json { name: "n".to_owned(), schema: schema.clone() },
        };
        let full = body("m", &request, Features::all());
        assert_eq!(full["response_format"]["json_schema"]["schema"], schema);
        assert_eq!(full["response_format"]["json_schema"]["strict"], false);
        assert_eq!((&full["seed"], &full["max_tokens"]), (&json!(7), &json!(9)));
        assert_eq!(full["messages"][1]["content"], "u");
        assert!(full.get("top_p").is_none() && !full.to_string().contains("secret"));
        let bare = Features {
            json: JsonMode::Words,
            stream_usage: false,
            stream: false,
            old_max_tokens: false,
            seed: false,
            temperature: false,
            top_p: false,
            stop: false,
        };
        let least = body("m", &request, bare);
        let keys: Vec<&String> = least.as_object().expect("object").keys().collect();
        assert_eq!(keys, ["model", "max_completion_tokens", "messages"]);
        assert!(
            least["messages"][1]["content"].as_str().is_some_and(|c| c.contains("\"properties\""))
        );
        request.shape = OutputShape::Text;
        assert_eq!(body("m", &request, bare)["messages"][1]["content"], "u");
    }

    #[test]
    fn strict_means_closed_all_the_way_down() {
        let closed = json!({"type": "object", "properties": {"a": {"type": "array", "items": {
            "type": "object", "properties": {}, "additionalProperties": false, "required": []}}},
            "additionalProperties": false, "required": ["a"]});
        assert!(is_strict(&closed));
        let mut open = closed.clone();
        open["required"] = json!([]);
        assert!(!is_strict(&open));
    }
}
