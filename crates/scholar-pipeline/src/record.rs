//! Recording every call across the ports, and serving a run from such a recording.
//!
//! A [`Recorder`] wraps ports and keeps a [`Journal`]: what each port is, then every call with the hash of its
//! request, the request, and the reply or error. A [`Replayer`] is a set of ports made from a journal: the same
//! question and configuration give the same answer, byte for byte, without models or network. What the journal does
//! not hold is a named error ([`ReplayMiss`]), or, to resume a run that was cut off, goes to live ports.
//!
//! Equal requests are answered in the order they were recorded. Clock readings are calls too, so a time budget cuts a
//! replay where it cut the run. The file format is one JSON value per line.

use std::time::Duration;

use scholar_core::text::hex;
use scholar_core::{
    EncoderInfo, GeneratorInfo, PortError, PortErrorKind, RerankerInfo, SentenceClassifierInfo,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::ports::Ports;

mod numbers;
mod recorder;
mod replayer;
mod sentences;
mod turns;

pub use recorder::Recorder;
pub use replayer::Replayer;

/// Version of the journal's format.
pub const JOURNAL_VERSION: u32 = 1;

/// Which port a call crossed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Port {
    /// `Retriever::search`.
    Search,
    /// `Retriever::explore`.
    Explore,
    /// `Retriever::passage`.
    Passage,
    /// `CitationGraph::neighbours`.
    Neighbours,
    /// `Reranker::rerank`.
    Rerank,
    /// `Generator::generate`.
    Generate,
    /// `Generator::choose`.
    Choose,
    /// `Generator::count_tokens`.
    CountTokens,
    /// `Encoder::encode`.
    Encode,
    /// `Encoder::token_states`.
    TokenStates,
    /// `SentenceClassifier::classify`.
    Classify,
    /// `Attributor::judge`.
    Judge,
    /// `Attributor::evidence`, of judges that can tell.
    Evidence,
    /// `Attributor::take_notices`, where there were any.
    JudgeNotices,
}

/// One line of a journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "entry", rename_all = "snake_case")]
pub enum JournalEntry {
    /// What the ports are; the first line.
    Ports(PortsInfo),
    /// A call that ended.
    Call(Call),
    /// A reading of the clock.
    Clock {
        /// Nanoseconds since the moment that the clock counts from.
        nanos: u64,
        /// Start of the key of the call in whose text the clock was read; absent where it was read between calls.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        during: Option<String>,
    },
}

/// What the ports of a run are.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PortsInfo {
    /// Version of the journal's form; this program writes [`JOURNAL_VERSION`].
    pub version: u32,
    /// Name of the retriever.
    pub retriever: String,
    /// Name of the citation graph, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub graph: Option<String>,
    /// The reranker, if there was one.
    pub reranker: Option<RerankerInfo>,
    /// The generator, if there was one.
    pub generator: Option<GeneratorInfo>,
    /// The encoder, if there was one.
    pub encoder: Option<EncoderInfo>,
    /// The sentence classifier, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sentence_classifier: Option<SentenceClassifierInfo>,
    /// Name of the attributor.
    pub attributor: String,
    /// [`Attributor::finds_contradictions`](scholar_core::Attributor::finds_contradictions). Journals of before this was
    /// passed on say no, as their runs were told.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub finds_contradictions: bool,
}

impl PortsInfo {
    /// What `ports` are.
    pub fn of(ports: &Ports) -> Self {
        Self {
            version: JOURNAL_VERSION,
            retriever: ports.retriever.name().to_owned(),
            graph: ports.graph.as_ref().map(|port| port.name().to_owned()),
            reranker: ports.reranker.as_ref().map(|port| port.info().clone()),
            generator: ports.generator.as_ref().map(|port| port.info().clone()),
            encoder: ports.encoder.as_ref().map(|port| port.info().clone()),
            sentence_classifier: ports.sentence_classifier.as_ref().map(|port| port.info().clone()),
            attributor: ports.attributor.name().to_owned(),
            finds_contradictions: ports.attributor.finds_contradictions(),
        }
    }

    /// Whether the same models and sources are behind both.
    pub fn is_of_the_same(&self, other: &Self) -> bool {
        let known = |info: &Self| Self { finds_contradictions: false, ..info.clone() };
        known(self) == known(other)
    }
}

/// A call across a port.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// The port that was called.
    pub port: Port,
    /// SHA-256 of port and request, hexadecimal.
    pub key: String,
    /// What the call was for, where the port knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub purpose: Option<String>,
    /// The request. Passages to rerank and texts to count are named or left out here, but are part of the key.
    pub request: Value,
    /// The reply, the failure, or what came before it was dropped.
    pub result: CallResult,
    /// Lines written between the beginning of the call and this one, its end: calls that ran beside it began before those ended.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub meanwhile: usize,
}

/// What a reading of the clock says of the call that it belongs to.
fn short(key: &str) -> String {
    key.chars().take(16).collect()
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(n: &usize) -> bool {
    *n == 0
}

/// How a call ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallResult {
    /// With this reply, as JSON.
    Reply(Value),
    /// With this failure.
    Error(RecordedError),
    /// Dropped by the caller after these pieces of text.
    Cut(Vec<String>),
}

/// A [`PortError`] without its source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedError {
    /// `transient`, `rate_limited`, `unavailable`, `rejected` or `corrupt`.
    pub kind: String,
    /// The pause a rate limit asked for, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
    /// The failure as it was told.
    pub message: String,
    /// The next step for a person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl RecordedError {
    fn of(error: &PortError) -> Self {
        let (kind, pause) = match error.kind() {
            PortErrorKind::Transient => ("transient", None),
            PortErrorKind::RateLimited { retry_after } => ("rate_limited", retry_after),
            PortErrorKind::Unavailable => ("unavailable", None),
            PortErrorKind::Rejected => ("rejected", None),
            PortErrorKind::Corrupt => ("corrupt", None),
        };
        Self {
            kind: kind.to_owned(),
            retry_after_ms: pause.map(|p| u64::try_from(p.as_millis()).unwrap_or(u64::MAX)),
            message: error.to_string(),
            hint: error.hint().map(str::to_owned),
        }
    }

    fn into_error(self) -> PortError {
        let Self { kind, retry_after_ms, message, hint } = self;
        let kind = match kind.as_str() {
            "transient" => PortErrorKind::Transient,
            "rate_limited" => PortErrorKind::RateLimited {
                retry_after: retry_after_ms.map(Duration::from_millis),
            },
            "unavailable" => PortErrorKind::Unavailable,
            "rejected" => PortErrorKind::Rejected,
            _ => PortErrorKind::Corrupt,
        };
        let error = PortError::new(kind, message);
        match hint {
            Some(hint) => error.with_hint(hint),
            None => error,
        }
    }
}

/// A call the recording does not hold.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the recording holds no {port:?} call {key} ({purpose})")]
pub struct ReplayMiss {
    /// Which port was called.
    pub port: Port,
    /// What for, as far as the port knows.
    pub purpose: String,
    /// The first digits of the request's hash.
    pub key: String,
}

/// Why text is not a journal.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// A line is not an entry.
    #[error("line {line} of the journal is not an entry")]
    Line {
        /// Line of the journal, from 1.
        line: usize,
        /// What is wrong with the line.
        source: serde_json::Error,
    },
    /// The first entry is missing.
    #[error("the journal does not begin with what its ports are")]
    NoPorts,
    /// Written by another version.
    #[error("the journal has format version {found}, this program reads {JOURNAL_VERSION}")]
    Version {
        /// The version that the journal states.
        found: u32,
    },
}

/// A recorded run: what its ports are, and what they said.
#[derive(Debug, Clone, PartialEq)]
pub struct Journal {
    /// In order of completion.
    pub entries: Vec<JournalEntry>,
}

impl Journal {
    /// What the recorded ports are.
    pub fn ports(&self) -> Option<&PortsInfo> {
        self.entries.iter().find_map(|entry| match entry {
            JournalEntry::Ports(info) => Some(info),
            _ => None,
        })
    }

    /// The same without readings of the clock, for another run that takes replies from it.
    #[must_use]
    pub fn without_clock(mut self) -> Self {
        self.entries.retain(|entry| !matches!(entry, JournalEntry::Clock { .. }));
        self
    }

    /// One JSON value per line.
    pub fn to_json_lines(&self) -> String {
        self.entries.iter().map(|entry| line_of(entry) + "\n").collect()
    }

    /// Reads [`Journal::to_json_lines`]. An unfinished last line, left by a run that was cut off, is ignored.
    ///
    /// # Errors
    /// [`JournalError`] names the line.
    pub fn from_json_lines(text: &str) -> Result<Self, JournalError> {
        let mut entries = Vec::new();
        for (nth, line) in text.lines().enumerate() {
            if line.trim().is_empty() {
                continue;
            }
            match serde_json::from_str(line) {
                Ok(entry) => entries.push(entry),
                Err(_) if nth + 1 == text.lines().count() && !text.ends_with('\n') => {}
                Err(source) => return Err(JournalError::Line { line: nth + 1, source }),
            }
        }
        match entries.first() {
            Some(JournalEntry::Ports(info)) if info.version == JOURNAL_VERSION => {
                Ok(Self { entries })
            }
            Some(JournalEntry::Ports(info)) => Err(JournalError::Version { found: info.version }),
            _ => Err(JournalError::NoPorts),
        }
    }
}

fn line_of(entry: &JournalEntry) -> String {
    serde_json::to_string(entry).expect("entries have text keys and finite numbers")
}

/// The hash a request is found by.
fn key_of(port: Port, request: &Value) -> String {
    let digest = Sha256::new()
        .chain_update(format!("{port:?}\n"))
        .chain_update(request.to_string())
        .finalize();
    hex(&digest)
}

fn json<T: Serialize>(value: &T) -> Value {
    serde_json::to_value(value).expect("requests and replies have text keys and finite numbers")
}

#[cfg(test)]
mod tests;
