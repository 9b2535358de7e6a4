//! Language model servers of this machine, found by asking usual ports for their lists of models.
//!
//! Each port of 127.0.0.1 gets one `GET /v1/models`, all ports at once: no prompt, no key, and neither redirects nor
//! proxies are followed. Whatever does not send a list of models within [`PATIENCE`] and [`MAX_LIST_BYTES`] is not
//! a model server, which is no error: other programs use these ports too.

use std::time::Duration;

use futures::future::join_all;
use scholar_core::text::untrusted;
use serde_json::Value;
use url::Url;

use crate::http::{HttpClient, is_loopback};

/// Longest wait for the whole reply of a port: a person waits who did not ask for it.
pub const PATIENCE: Duration = Duration::from_millis(300);

/// Longest list of models in bytes. Ours: about a thousand models as the wordiest of these servers describes them.
pub const MAX_LIST_BYTES: usize = 256 << 10;

/// Longest name of a model in characters: llama.cpp names a model by the path of its file.
const MAX_NAME_CHARS: usize = 300;

/// Parts of the names of models that do not write: servers list encoders and rerankers with the rest.
const NOT_WRITERS: [&str; 5] = ["embed", "rerank", "bge-", "minilm", "whisper"];

/// A model server and the port at which it listens unless told otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UsualPort {
    /// The program's name.
    pub program: &'static str,
    /// Its port.
    pub port: u16,
}

/// The ports that are asked by default.
///
/// Source: the defaults of `OLLAMA_HOST`, `llama-server --port`, LM Studio's server settings and `vllm serve --port`.
pub const USUAL_PORTS: [UsualPort; 4] = [
    UsualPort { program: "Ollama", port: 11434 },
    UsualPort { program: "llama.cpp", port: 8080 },
    UsualPort { program: "LM Studio", port: 1234 },
    UsualPort { program: "vLLM", port: 8000 },
];

/// A server that lists models.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalServer {
    /// Its address up to and including the version, without a slash at the end.
    pub base_url: String,
    /// The program whose usual port this is; another one may listen there.
    pub usual_program: Option<&'static str>,
    /// Names of the models that write, in the server's order; at least one. Each is printed exactly as it is spelled.
    pub models: Vec<String>,
}

/// The model servers at `ports` of 127.0.0.1, in the order of `ports`.
pub async fn find(http: &HttpClient, ports: &[u16]) -> Vec<LocalServer> {
    let asked = ports.iter().map(|port| async move {
        let url = Url::parse(&format!("http://127.0.0.1:{port}/v1")).ok()?;
        let usual = USUAL_PORTS.iter().find(|usual| usual.port == *port);
        Some(LocalServer {
            usual_program: usual.map(|usual| usual.program),
            ..at(http, &url).await?
        })
    });
    join_all(asked).await.into_iter().flatten().collect()
}

/// The model server at `base_url`. `None` as well, and nothing is sent, if the address leads to another machine or
/// holds credentials.
pub async fn at(http: &HttpClient, base_url: &Url) -> Option<LocalServer> {
    let credentials = !base_url.username().is_empty() || base_url.password().is_some();
    if base_url.scheme() != "http" || !is_loopback(base_url) || credentials {
        return None;
    }
    let mut base_url = base_url.clone();
    base_url.set_query(None);
    base_url.set_fragment(None);
    let base_url = base_url.as_str().trim_end_matches('/').to_owned();
    let list = tokio::time::timeout(PATIENCE, list(http, &base_url)).await.ok()??;
    let models = names(&list);
    (!models.is_empty()).then_some(LocalServer { base_url, usual_program: None, models })
}

/// What `base_url` replies when it is asked for its models; `None` when that fails or is too long.
async fn list(http: &HttpClient, base_url: &str) -> Option<Vec<u8>> {
    let url = Url::parse(&format!("{base_url}/models")).ok()?;
    let mut response = http.still_pool(&url).get(url).send().await.ok()?;
    if response.status() != reqwest::StatusCode::OK {
        return None;
    }
    let mut bytes = Vec::new();
    while let Some(piece) = response.chunk().await.ok()? {
        bytes.extend_from_slice(&piece);
        if bytes.len() > MAX_LIST_BYTES {
            return None;
        }
    }
    Some(bytes)
}

/// The names in a list of models, `{"data": [{"id": "…"}]}`, that can be used and printed.
fn names(list: &[u8]) -> Vec<String> {
    let Ok(list) = serde_json::from_slice::<Value>(list) else { return Vec::new() };
    let models = list["data"].as_array().into_iter().flatten();
    let names = models.filter_map(|model| model["id"].as_str());
    names.filter(|name| is_usable(name)).map(str::to_owned).collect()
}

/// Whether `name` can be typed as it is shown, is not read as an option, and seems to be of a model that writes.
fn is_usable(name: &str) -> bool {
    let lower = name.to_lowercase();
    !name.trim().is_empty()
        && name.chars().count() <= MAX_NAME_CHARS
        && !name.starts_with('-')
        && untrusted(name).line().to_string() == name
        && !NOT_WRITERS.iter().any(|part| lower.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_that_can_be_used_are_taken() {
        let check = |list: &str, expect: &[&str]| assert_eq!(names(list.as_bytes()), expect);
        let list = r#"{"object": "list", "data": [{"id": "qwen3:8b"}, {"id": "nomic-embed-text"},
            {"id": 3}, {"name": "x"}, {"id": "/models/my model.gguf"}, {"id": "--help"},
            {"id": "a\u001b[31m"}, {"id": "two\nlines"}, {"id": " "}, {"id": "hf.co/BAAI/BGE-m3"}]}"#;
        check(list, &["qwen3:8b", "/models/my model.gguf"]);
        check(&format!(r#"{{"data": [{{"id": "{}"}}]}}"#, "x".repeat(301)), &[]);
        check(r#"{"object": "list", "data": null}"#, &[]);
        check(r#"[{"id": "qwen3:8b"}]"#, &[]);
        check("<html>It works!</html>", &[]);
        check("", &[]);
    }
}
