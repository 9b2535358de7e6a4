//! Answers as they were recorded.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::exchange::{Reply, decoded, pairs};

const EMBEDDED: &str = include_str!("../../fixtures/standin/recordings.jsonl");

/// Hosts and the prefixes they answer under here.
const HOSTS: [(&str, &str); 8] = [
    ("api.semanticscholar.org", "/s2"),
    ("api.openalex.org", "/openalex"),
    ("export.arxiv.org", "/arxiv"),
    ("eutils.ncbi.nlm.nih.gov", "/pubmed"),
    ("api.crossref.org", "/crossref"),
    ("api.unpaywall.org", "/unpaywall"),
    ("ydc-index.io", "/you"),
    ("doi.org", "/doi"),
];

#[derive(Deserialize)]
struct Line {
    method: String,
    url: String,
    status: Option<u16>,
    #[serde(default)]
    request_body: Value,
    #[serde(default)]
    response_headers: Option<BTreeMap<String, Value>>,
    #[serde(default)]
    body: Value,
}

/// Recorded exchanges, found by method, path, query and body.
#[derive(Debug, Clone, Default)]
pub struct Recordings(BTreeMap<String, Reply>);

impl Recordings {
    /// No recordings, so that none is found.
    pub fn none() -> Self {
        Self::default()
    }

    /// Those that come with this crate.
    pub fn embedded() -> Self {
        Self::read(EMBEDDED)
    }

    /// Reads JSON lines with `method`, `url`, `status`, `request_body`, `response_headers` and `body`. Lines of other
    /// hosts, without an answer or of another shape are left out; of equal requests the first counts.
    pub fn read(lines: &str) -> Self {
        let mut known = BTreeMap::new();
        for line in lines.lines() {
            let Ok(line) = serde_json::from_str::<Line>(line) else { continue };
            let Some(status) = line.status else { continue };
            let Some((_, rest)) = line.url.split_once("://") else { continue };
            let (host, rest) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
            let host = host.split(':').next().unwrap_or(host);
            let Some((_, prefix)) = HOSTS.iter().find(|(name, _)| *name == host) else { continue };
            let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
            let path = format!("{prefix}{}", decoded(path, false));
            let body = match line.request_body {
                Value::Null => String::new(),
                Value::String(text) => text,
                other => other.to_string(),
            };
            let text = match line.body {
                Value::String(text) => text,
                Value::Null => String::new(),
                other => other.to_string(),
            };
            let headers = line.response_headers.unwrap_or_default().into_iter();
            let headers =
                headers.filter_map(|(name, value)| Some((name, value.as_str()?.to_owned())));
            let reply = Reply { status, headers: headers.collect(), body: text.into_bytes() };
            known.entry(key(&line.method, &path, query, body.as_bytes())).or_insert(reply);
        }
        Self(known)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn find(&self, method: &str, path: &str, query: &str, body: &[u8]) -> Option<Reply> {
        self.0.get(&key(method, path, query, body)).cloned()
    }
}

/// JSON bodies compare as values, queries without regard to order.
fn key(method: &str, path: &str, query: &str, body: &[u8]) -> String {
    let body = match serde_json::from_slice::<Value>(body) {
        Ok(value) => value.to_string(),
        Err(_) => String::from_utf8_lossy(body).into_owned(),
    };
    let mut query = pairs(query);
    query.sort();
    format!("{method} {path} {query:?} {body}")
}
