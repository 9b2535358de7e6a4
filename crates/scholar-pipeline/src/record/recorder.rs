//! Ports that write down what crosses them.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use parking_lot::Mutex;
use scholar_core::{
    Attributor, CitationGraph, Embeddings, Encoder, EncoderInfo, Generation, GenerationRequest,
    Generator, GeneratorInfo, Judgement, Message, NeighbourRequest, Neighbours, Notice, OnText,
    PaperMeta, Passage, PassageId, PortError, Query, RerankScore, Reranker, RerankerInfo,
    Retrieved, Retriever, SearchRequest, Searched, SentenceClassifier, Side,
};
use serde::Serialize;
use serde_json::{Value, json};

use super::numbers::to_hex;
use super::{
    Call, CallResult, Journal, JournalEntry, Port, PortsInfo, RecordedError, json as to_json,
    key_of, line_of, short,
};
use crate::ports::Ports;

type Sink = Box<dyn Fn(&str) + Send + Sync>;

/// Keeps a journal of one run.
pub struct Recorder {
    book: Arc<Book>,
    ports: Ports,
}

pub(super) struct Book {
    entries: Mutex<Vec<JournalEntry>>,
    /// Texts whose tokens were counted: the same text has the same count.
    counted: Mutex<BTreeSet<String>>,
    /// The call whose text is passed on right now.
    speaking: Mutex<Option<String>>,
    /// How often the judge was asked for notices.
    asked_for_notices: AtomicUsize,
    sink: Option<Sink>,
}

impl Recorder {
    /// Records what crosses `ports`.
    pub fn new(ports: &Ports) -> Self {
        Self::with_sink(ports, None)
    }

    /// As [`Recorder::new`]; `sink` gets every line of the journal, without line break, as soon as it is known, so
    /// that a run that is cut off can be resumed.
    pub fn with_sink(ports: &Ports, sink: Option<Sink>) -> Self {
        let book = Arc::new(Book {
            entries: Mutex::default(),
            counted: Mutex::default(),
            speaking: Mutex::default(),
            asked_for_notices: AtomicUsize::new(0),
            sink,
        });
        book.write(JournalEntry::Ports(PortsInfo::of(ports)));
        let ports = recorded(&book, ports);
        Self { book, ports }
    }

    /// The ports to run with.
    pub fn ports(&self) -> &Ports {
        &self.ports
    }

    /// What was recorded so far.
    pub fn journal(&self) -> Journal {
        Journal { entries: self.book.entries.lock().clone() }
    }
}

fn recorded(book: &Arc<Book>, ports: &Ports) -> Ports {
    let Ports {
        retriever,
        graph,
        reranker,
        generator,
        encoder,
        sentence_classifier,
        attributor,
        clock,
        meter,
    } = ports.clone();
    // Recorded below the meter: a replay then meets the same limits with the same requests.
    let generator = match &meter {
        Some(meter) => generator.map(|generator| meter.bare(&generator)),
        None => generator,
    };
    let clock = {
        let book = Arc::clone(book);
        Arc::new(move || {
            let now = clock();
            let nanos = u64::try_from(now.as_nanos()).unwrap_or(u64::MAX);
            let during = book.speaking.lock().clone();
            book.write(JournalEntry::Clock { nanos, during });
            now
        })
    };
    Ports {
        retriever: Arc::new(Recorded { book: Arc::clone(book), port: retriever }),
        graph: graph.map(|port| -> Arc<dyn CitationGraph> {
            Arc::new(Recorded { book: Arc::clone(book), port })
        }),
        reranker: reranker.map(|port| -> Arc<dyn Reranker> {
            Arc::new(Recorded { book: Arc::clone(book), port })
        }),
        generator: generator.map(|port| -> Arc<dyn Generator> {
            Arc::new(Recorded { book: Arc::clone(book), port })
        }),
        encoder: encoder.map(|port| -> Arc<dyn Encoder> {
            Arc::new(Recorded { book: Arc::clone(book), port })
        }),
        sentence_classifier: sentence_classifier.map(|port| -> Arc<dyn SentenceClassifier> {
            Arc::new(Recorded { book: Arc::clone(book), port })
        }),
        attributor: Arc::new(Recorded { book: Arc::clone(book), port: attributor }),
        clock,
        meter,
    }
}

impl Book {
    fn write(&self, entry: JournalEntry) {
        self.write_with(|_| entry);
    }

    /// Writes what is made of the number of entries before it.
    fn write_with(&self, entry: impl FnOnce(usize) -> JournalEntry) {
        let mut entries = self.entries.lock();
        let entry = entry(entries.len());
        if let Some(sink) = &self.sink {
            sink(&line_of(&entry));
        }
        entries.push(entry);
    }

    pub(super) fn call<R: Serialize>(&self, call: Pending, result: &Result<R, PortError>) {
        let result = match result {
            Ok(reply) => CallResult::Reply(to_json(reply)),
            Err(error) => CallResult::Error(RecordedError::of(error)),
        };
        self.end(call, result);
    }

    fn end(&self, call: Pending, result: CallResult) {
        let Pending { port, key, purpose, request, began } = call;
        let entry = |written: usize| {
            let meanwhile = began.map_or(0, |began| written.saturating_sub(began));
            JournalEntry::Call(Call { port, key, purpose, request, result, meanwhile })
        };
        self.write_with(entry);
    }
}

#[derive(Clone)]
pub(super) struct Pending {
    pub(super) port: Port,
    pub(super) key: String,
    pub(super) purpose: Option<String>,
    pub(super) request: Value,
    /// Entries written before it began, of calls that are awaited.
    pub(super) began: Option<usize>,
}

impl Pending {
    fn new(port: Port, request: Value) -> Self {
        Self { port, key: key_of(port, &request), purpose: None, request, began: None }
    }

    /// A call that begins now and is awaited.
    fn begun(self, book: &Book) -> Self {
        Self { began: Some(book.entries.lock().len()), ..self }
    }
}

pub(super) struct Recorded<P> {
    pub(super) book: Arc<Book>,
    pub(super) port: P,
}

#[async_trait]
impl Retriever for Recorded<Arc<dyn Retriever>> {
    fn name(&self) -> &str {
        self.port.name()
    }

    async fn search(&self, request: &SearchRequest) -> Result<Vec<Retrieved>, PortError> {
        let call = Pending::new(Port::Search, to_json(request)).begun(&self.book);
        let result = self.port.search(request).await;
        self.book.call(call, &result);
        result
    }

    async fn explore(&self, request: &SearchRequest) -> Result<Searched, PortError> {
        let call = Pending::new(Port::Explore, to_json(request)).begun(&self.book);
        let result = self.port.explore(request).await;
        self.book.call(call, &result);
        result
    }

    async fn passage(&self, id: &PassageId) -> Result<Option<(Passage, PaperMeta)>, PortError> {
        let call = Pending::new(Port::Passage, to_json(id)).begun(&self.book);
        let result = self.port.passage(id).await;
        self.book.call(call, &result);
        result
    }
}

#[async_trait]
impl CitationGraph for Recorded<Arc<dyn CitationGraph>> {
    fn name(&self) -> &str {
        self.port.name()
    }

    async fn neighbours(&self, request: &NeighbourRequest) -> Result<Neighbours, PortError> {
        let call = Pending::new(Port::Neighbours, to_json(request)).begun(&self.book);
        let result = self.port.neighbours(request).await;
        self.book.call(call, &result);
        result
    }
}

/// The key of a rerank call hashes the passages, its request only names them.
pub(super) fn rerank_call(query: &Query, passages: &[Retrieved]) -> (Value, Value) {
    let texts: Vec<(&str, &str)> =
        passages.iter().map(|r| (r.passage.title.as_str(), r.passage.text.as_str())).collect();
    let ids: Vec<&PassageId> = passages.iter().map(|r| &r.passage.id).collect();
    (json!({ "query": query, "texts": texts }), json!({ "query": query, "passages": ids }))
}

#[async_trait]
impl Reranker for Recorded<Arc<dyn Reranker>> {
    fn info(&self) -> &RerankerInfo {
        self.port.info()
    }

    async fn rerank(
        &self,
        query: &Query,
        passages: &[Retrieved],
    ) -> Result<Vec<RerankScore>, PortError> {
        let (full, request) = rerank_call(query, passages);
        let call = Pending { request, ..Pending::new(Port::Rerank, full) }.begun(&self.book);
        let result = self.port.rerank(query, passages).await;
        self.book.call(call, &result);
        result
    }
}

/// Writes down a call that its caller drops before it ends.
struct Guard<'a> {
    book: &'a Book,
    call: Option<Pending>,
    pieces: &'a Mutex<Vec<String>>,
}

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        if let Some(call) = self.call.take() {
            self.book.end(call, CallResult::Cut(self.pieces.lock().clone()));
        }
    }
}

#[async_trait]
impl Generator for Recorded<Arc<dyn Generator>> {
    fn info(&self) -> &GeneratorInfo {
        self.port.info()
    }

    fn count_tokens(&self, text: &str) -> usize {
        let count = self.port.count_tokens(text);
        let key = key_of(Port::CountTokens, &json!(text));
        if !self.book.counted.lock().insert(key.clone()) {
            return count;
        }
        let request = json!({ "chars": text.chars().count() });
        let call = Pending { port: Port::CountTokens, key, purpose: None, request, began: None };
        self.book.call(call, &Ok(count));
        count
    }

    async fn generate(
        &self,
        request: &GenerationRequest,
        on_text: &OnText<'_>,
    ) -> Result<Generation, PortError> {
        let pieces = Mutex::new(Vec::new());
        let call = Pending {
            purpose: Some(request.purpose.clone()),
            ..Pending::new(Port::Generate, to_json(request)).begun(&self.book)
        };
        let key = short(&call.key);
        let mut guard = Guard { book: &self.book, call: Some(call), pieces: &pieces };
        let keep = |piece: &str| {
            pieces.lock().push(piece.to_owned());
            *self.book.speaking.lock() = Some(key.clone());
            on_text(piece);
            *self.book.speaking.lock() = None;
        };
        let result = self.port.generate(request, &keep).await;
        if let Some(call) = guard.call.take() {
            let reply = result
                .as_ref()
                .map(|generation| json!({ "generation": generation, "pieces": &*pieces.lock() }));
            let result = match reply {
                Ok(reply) => CallResult::Reply(reply),
                Err(error) => CallResult::Error(RecordedError::of(error)),
            };
            self.book.end(call, result);
        }
        result
    }

    async fn choose(
        &self,
        purpose: &str,
        messages: &[Message],
        choices: &[&str],
    ) -> Result<Vec<f32>, PortError> {
        let request = json!({ "messages": messages, "choices": choices });
        let purpose_of_it = Some(purpose.to_owned());
        let call = Pending { purpose: purpose_of_it, ..Pending::new(Port::Choose, request) };
        let call = call.begun(&self.book);
        let result = self.port.choose(purpose, messages, choices).await;
        self.book.call(call, &result);
        result
    }
}

pub(super) fn evidence_request(sentence: &str, candidates: &[&str]) -> Value {
    json!({ "sentence": sentence, "candidates": candidates })
}

pub(super) fn encode_request(side: Side, texts: &[&str]) -> Value {
    let side = match side {
        Side::Query => "query",
        Side::Passage => "passage",
    };
    json!({ "side": side, "texts": texts })
}

impl Encoder for Recorded<Arc<dyn Encoder>> {
    fn info(&self) -> &EncoderInfo {
        self.port.info()
    }

    fn encode(&self, side: Side, texts: &[&str]) -> Result<Embeddings, PortError> {
        let result = self.port.encode(side, texts);
        let call = Pending::new(Port::Encode, encode_request(side, texts));
        self.book.end(call, exact(&result, |embeddings| to_json(&to_hex(embeddings))));
        result
    }

    fn token_states(
        &self,
        side: Side,
        texts: &[&str],
    ) -> Result<Option<Vec<Embeddings>>, PortError> {
        let result = self.port.token_states(side, texts);
        let call = Pending::new(Port::TokenStates, encode_request(side, texts));
        let hex = |states: &Option<Vec<Embeddings>>| {
            to_json(&states.as_ref().map(|all| all.iter().map(to_hex).collect::<Vec<_>>()))
        };
        self.book.end(call, exact(&result, hex));
        result
    }
}

fn exact<R>(result: &Result<R, PortError>, value: impl Fn(&R) -> Value) -> CallResult {
    match result {
        Ok(reply) => CallResult::Reply(value(reply)),
        Err(error) => CallResult::Error(RecordedError::of(error)),
    }
}

#[async_trait]
impl Attributor for Recorded<Arc<dyn Attributor>> {
    fn name(&self) -> &str {
        self.port.name()
    }

    async fn judge(&self, pairs: &[(&str, &str)]) -> Result<Vec<Judgement>, PortError> {
        let call = Pending::new(Port::Judge, json!(pairs)).begun(&self.book);
        let result = self.port.judge(pairs).await;
        self.book.call(call, &result);
        result
    }

    async fn evidence(
        &self,
        sentence: &str,
        candidates: &[&str],
    ) -> Result<Option<Vec<f32>>, PortError> {
        let call = Pending::new(Port::Evidence, evidence_request(sentence, candidates));
        let call = call.begun(&self.book);
        let result = self.port.evidence(sentence, candidates).await;
        // A judge that cannot tell leaves no line: so do the runs from before there was one that could.
        if !matches!(result, Ok(None)) {
            self.book.call(call, &result);
        }
        result
    }

    fn finds_contradictions(&self) -> bool {
        self.port.finds_contradictions()
    }

    fn take_notices(&self) -> Vec<Notice> {
        let nth = self.book.asked_for_notices.fetch_add(1, Ordering::Relaxed);
        let notices = self.port.take_notices();
        if !notices.is_empty() {
            let call = Pending::new(Port::JudgeNotices, notices_request(nth));
            self.book.call(call, &Ok(&notices));
        }
        notices
    }
}

/// Which time the judge is asked for notices, from 0.
pub(super) fn notices_request(nth: usize) -> Value {
    json!({ "nth": nth })
}
