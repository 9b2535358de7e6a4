//! Ports that say what a journal says.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use parking_lot::Mutex;
use scholar_core::{
    Attributor, CitationGraph, Embeddings, Encoder, EncoderInfo, Generation, GenerationRequest,
    Generator, GeneratorInfo, Judgement, Message, NeighbourRequest, Neighbours, Notice, OnText,
    PaperMeta, Passage, PassageId, PortError, PortErrorKind, Query, RerankScore, Reranker,
    RerankerInfo, Retrieved, Retriever, SearchRequest, Searched, SentenceClassifier, Side,
};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::numbers::{HexEmbeddings, from_hex};
use super::recorder::{encode_request, evidence_request, notices_request, rerank_call};
use super::turns::Turns;
use super::{
    Call, CallResult, Journal, JournalEntry, JournalError, Port, PortsInfo, ReplayMiss,
    json as to_json, key_of, short,
};
use crate::clock::Clock;
use crate::ports::Ports;

/// Serves a run from a journal.
pub struct Replayer {
    book: Arc<Book>,
}

pub(super) struct Book {
    pub(super) info: PortsInfo,
    calls: Mutex<HashMap<String, VecDeque<CallResult>>>,
    readings: Mutex<Readings>,
    misses: Mutex<Vec<ReplayMiss>>,
    live: Option<Ports>,
    /// Whether the recorded judge could tell evidence; one that cannot leaves no line.
    tells_evidence: bool,
    /// How often the judge was asked for notices.
    asked_for_notices: AtomicUsize,
    /// The order of the recording; a run that goes on with live ports keeps none.
    turns: Option<Turns>,
}

struct Readings {
    recorded: VecDeque<Duration>,
    /// Those in the text of a call, by the start of its key.
    during: HashMap<String, VecDeque<Duration>>,
    /// The call whose text is passed on right now.
    speaking: Option<String>,
    last: Duration,
    /// The last recorded reading and the live clock's when it took over.
    resumed: Option<(Duration, Duration)>,
}

/// The ports with their generator as it was before it was metered: the run meters what it is served.
fn unmetered(mut live: Ports) -> Ports {
    if let (Some(meter), Some(generator)) = (&live.meter, &live.generator) {
        live.generator = Some(meter.bare(generator));
    }
    live
}

impl Replayer {
    /// Answers from `journal` alone.
    ///
    /// # Errors
    /// When the journal does not begin with what its ports are.
    pub fn new(journal: &Journal) -> Result<Self, JournalError> {
        Self::with_live(journal, None)
    }

    /// Answers from `journal`, and what it does not hold from `live`: this resumes a run that was cut off.
    ///
    /// # Errors
    /// As [`Replayer::new`].
    pub fn with_live(journal: &Journal, live: Option<Ports>) -> Result<Self, JournalError> {
        let live = live.map(unmetered);
        let mut info = None;
        let mut calls: HashMap<String, VecDeque<CallResult>> = HashMap::new();
        let mut recorded = VecDeque::new();
        let mut during_calls: HashMap<String, VecDeque<Duration>> = HashMap::new();
        let mut tells_evidence = false;
        for entry in &journal.entries {
            match entry {
                JournalEntry::Ports(ports) => info = Some(ports.clone()),
                JournalEntry::Clock { nanos, during } => {
                    let readings = match during {
                        Some(call) => during_calls.entry(call.clone()).or_default(),
                        None => &mut recorded,
                    };
                    readings.push_back(Duration::from_nanos(*nanos));
                }
                // What failed or was cut off is tried again where that is possible.
                JournalEntry::Call(Call { result, .. })
                    if live.is_some() && !matches!(result, CallResult::Reply(_)) => {}
                JournalEntry::Call(Call { key, result, port, .. }) => {
                    tells_evidence |= *port == Port::Evidence;
                    calls.entry(key.clone()).or_default().push_back(result.clone());
                }
            }
        }
        let book = Book {
            info: info.ok_or(JournalError::NoPorts)?,
            calls: Mutex::new(calls),
            readings: Mutex::new(Readings {
                recorded,
                during: during_calls,
                speaking: None,
                last: Duration::ZERO,
                resumed: None,
            }),
            misses: Mutex::default(),
            turns: live.is_none().then(|| Turns::of(journal)),
            live,
            tells_evidence,
            asked_for_notices: AtomicUsize::new(0),
        };
        Ok(Self { book: Arc::new(book) })
    }

    /// The ports to run with.
    pub fn ports(&self) -> Ports {
        let book = &self.book;
        let served = || Served(Arc::clone(book));
        let info = &book.info;
        Ports {
            retriever: Arc::new(served()),
            graph: info.graph.as_ref().map(|_| Arc::new(served()) as Arc<dyn CitationGraph>),
            reranker: info.reranker.as_ref().map(|_| Arc::new(served()) as Arc<dyn Reranker>),
            generator: info.generator.as_ref().map(|_| Arc::new(served()) as Arc<dyn Generator>),
            encoder: info.encoder.as_ref().map(|_| Arc::new(served()) as Arc<dyn Encoder>),
            sentence_classifier: info
                .sentence_classifier
                .as_ref()
                .map(|_| Arc::new(served()) as Arc<dyn SentenceClassifier>),
            attributor: Arc::new(served()),
            clock: self.clock(),
            meter: book.live.as_ref().and_then(|live| live.meter.clone()),
        }
    }

    /// Calls the journal did not hold; empty after a faithful replay.
    pub fn misses(&self) -> Vec<ReplayMiss> {
        self.book.misses.lock().clone()
    }

    /// The recorded readings one after another; then the last, from which a live clock goes on.
    fn clock(&self) -> Clock {
        let book = Arc::clone(&self.book);
        Arc::new(move || {
            let mut readings = book.readings.lock();
            let Readings { recorded, during, speaking, last, resumed } = &mut *readings;
            let of_call = speaking.as_ref().and_then(|call| during.get_mut(call)?.pop_front());
            if let Some(now) = of_call {
                *last = now.max(*last);
                return now;
            }
            if let Some(turns) = &book.turns {
                turns.of_clock();
            }
            let live = || book.live.as_ref().map(|ports| (ports.clock)());
            let now = recorded.pop_front().or_else(|| {
                let live = live()?;
                let (before, began) = *resumed.get_or_insert((*last, live));
                Some(before + live.saturating_sub(began))
            });
            *last = now.unwrap_or(*last).max(*last);
            *last
        })
    }
}

impl Book {
    fn take(&self, port: Port, request: &Value) -> Option<CallResult> {
        let key = key_of(port, request);
        let mut calls = self.calls.lock();
        let queue = calls.get_mut(&key)?;
        // Counting is a function of its text: one recorded count serves every call.
        if port == Port::CountTokens { queue.front().cloned() } else { queue.pop_front() }
    }

    /// Passes on the text of a call, within which the clock shows what it showed then.
    fn speak(&self, key: &str, pieces: &[String], on_text: &OnText<'_>) {
        for piece in pieces {
            self.readings.lock().speaking = Some(short(key));
            on_text(piece);
            self.readings.lock().speaking = None;
        }
    }

    /// Ready when the reply to this request was, among those of the recording.
    async fn turn(&self, port: Port, request: &Value) {
        if let Some(turns) = &self.turns {
            turns.of_call(&key_of(port, request)).await;
        }
    }

    /// As [`Book::result`], in the order of the recording.
    async fn awaited<R: DeserializeOwned>(
        &self,
        port: Port,
        request: &Value,
    ) -> Option<Result<R, PortError>> {
        self.turn(port, request).await;
        self.result(port, request)
    }

    fn miss(&self, port: Port, purpose: &str, request: &Value) -> PortError {
        let mut key = key_of(port, request);
        key.truncate(16);
        let miss = ReplayMiss { port, purpose: purpose.to_owned(), key };
        self.misses.lock().push(miss.clone());
        PortError::new(PortErrorKind::Unavailable, miss.to_string())
            .with_source(miss)
            .with_hint("replay with the program, question and configuration of the recording")
    }

    /// The recorded result, or `None` when there is none but live ports.
    pub(super) fn result<R: DeserializeOwned>(
        &self,
        port: Port,
        request: &Value,
    ) -> Option<Result<R, PortError>> {
        match self.take(port, request) {
            Some(CallResult::Reply(value)) => Some(read(value)),
            Some(CallResult::Error(error)) => Some(Err(error.into_error())),
            Some(CallResult::Cut(_)) | None if self.live.is_some() => None,
            Some(CallResult::Cut(_)) | None => Some(Err(self.miss(port, "", request))),
        }
    }

    pub(super) fn live(&self) -> Result<&Ports, PortError> {
        self.live.as_ref().ok_or_else(|| unavailable("a live port"))
    }
}

pub(super) fn unavailable(what: &str) -> PortError {
    PortError::new(PortErrorKind::Unavailable, format!("{what} is missing for this replay"))
}

fn read<R: DeserializeOwned>(value: Value) -> Result<R, PortError> {
    serde_json::from_value(value).map_err(|source| {
        PortError::new(PortErrorKind::Corrupt, "a recorded reply has another shape")
            .with_source(source)
    })
}

pub(super) struct Served(pub(super) Arc<Book>);

impl Served {
    fn live_generator(&self) -> Result<Arc<dyn Generator>, PortError> {
        let live = self.0.live()?.generator.clone();
        live.ok_or_else(|| unavailable("the language model"))
    }

    fn live_encoder(&self) -> Result<Arc<dyn Encoder>, PortError> {
        self.0.live()?.encoder.clone().ok_or_else(|| unavailable("the encoder"))
    }
}

#[async_trait]
impl Retriever for Served {
    fn name(&self) -> &str {
        &self.0.info.retriever
    }

    async fn search(&self, request: &SearchRequest) -> Result<Vec<Retrieved>, PortError> {
        match self.0.awaited(Port::Search, &to_json(request)).await {
            Some(result) => result,
            None => self.0.live()?.retriever.search(request).await,
        }
    }

    async fn explore(&self, request: &SearchRequest) -> Result<Searched, PortError> {
        if let Some(result) = self.0.awaited(Port::Explore, &to_json(request)).await {
            return result;
        }
        // Journals of before there was anything to explore hold the same request as a search.
        match self.0.awaited(Port::Search, &to_json(request)).await {
            Some(result) => result.map(|hits| Searched { hits, notices: Vec::new() }),
            None => self.0.live()?.retriever.explore(request).await,
        }
    }

    async fn passage(&self, id: &PassageId) -> Result<Option<(Passage, PaperMeta)>, PortError> {
        match self.0.awaited(Port::Passage, &to_json(id)).await {
            Some(result) => result,
            None => self.0.live()?.retriever.passage(id).await,
        }
    }
}

#[async_trait]
impl CitationGraph for Served {
    fn name(&self) -> &str {
        self.0.info.graph.as_deref().expect("only made when the journal names a graph")
    }

    async fn neighbours(&self, request: &NeighbourRequest) -> Result<Neighbours, PortError> {
        match self.0.awaited(Port::Neighbours, &to_json(request)).await {
            Some(result) => result,
            None => {
                let live = self.0.live()?.graph.clone();
                live.ok_or_else(|| unavailable("the citation graph"))?.neighbours(request).await
            }
        }
    }
}

#[async_trait]
impl Reranker for Served {
    fn info(&self) -> &RerankerInfo {
        self.0.info.reranker.as_ref().expect("only made when the journal names a reranker")
    }

    async fn rerank(
        &self,
        query: &Query,
        passages: &[Retrieved],
    ) -> Result<Vec<RerankScore>, PortError> {
        let (full, _) = rerank_call(query, passages);
        match self.0.awaited(Port::Rerank, &full).await {
            Some(result) => result,
            None => {
                let live = self.0.live()?.reranker.clone();
                live.ok_or_else(|| unavailable("the reranker"))?.rerank(query, passages).await
            }
        }
    }
}

#[derive(Deserialize)]
struct Spoken {
    generation: Generation,
    pieces: Vec<String>,
}

#[async_trait]
impl Generator for Served {
    fn info(&self) -> &GeneratorInfo {
        self.0.info.generator.as_ref().expect("only made when the journal names a generator")
    }

    fn count_tokens(&self, text: &str) -> usize {
        let request = json!(text);
        match self.0.result(Port::CountTokens, &request) {
            Some(Ok(count)) => count,
            // Counting cannot fail; the miss is on record and the estimate errs on the long side.
            Some(Err(_)) => text.chars().count().div_ceil(2),
            None => self.live_generator().map_or(0, |live| live.count_tokens(text)),
        }
    }

    async fn generate(
        &self,
        request: &GenerationRequest,
        on_text: &OnText<'_>,
    ) -> Result<Generation, PortError> {
        let value = to_json(request);
        self.0.turn(Port::Generate, &value).await;
        let key = key_of(Port::Generate, &value);
        match self.0.take(Port::Generate, &value) {
            Some(CallResult::Reply(spoken)) => {
                let Spoken { generation, pieces } = read(spoken)?;
                self.0.speak(&key, &pieces, on_text);
                Ok(generation)
            }
            Some(CallResult::Error(error)) => Err(error.into_error()),
            Some(CallResult::Cut(pieces)) if self.0.live.is_none() => {
                self.0.speak(&key, &pieces, on_text);
                Err(PortError::new(PortErrorKind::Unavailable, "the recorded call was cut here"))
            }
            Some(CallResult::Cut(_)) | None if self.0.live.is_some() => {
                self.live_generator()?.generate(request, on_text).await
            }
            _ => Err(self.0.miss(Port::Generate, &request.purpose, &value)),
        }
    }

    async fn choose(
        &self,
        purpose: &str,
        messages: &[Message],
        choices: &[&str],
    ) -> Result<Vec<f32>, PortError> {
        let request = json!({ "messages": messages, "choices": choices });
        match self.0.awaited(Port::Choose, &request).await {
            Some(result) => result,
            None => self.live_generator()?.choose(purpose, messages, choices).await,
        }
    }
}

impl Encoder for Served {
    fn info(&self) -> &EncoderInfo {
        self.0.info.encoder.as_ref().expect("only made when the journal names an encoder")
    }

    fn encode(&self, side: Side, texts: &[&str]) -> Result<Embeddings, PortError> {
        match self.0.result::<HexEmbeddings>(Port::Encode, &encode_request(side, texts)) {
            Some(result) => whole(&result?),
            None => self.live_encoder()?.encode(side, texts),
        }
    }

    fn token_states(
        &self,
        side: Side,
        texts: &[&str],
    ) -> Result<Option<Vec<Embeddings>>, PortError> {
        let request = encode_request(side, texts);
        match self.0.result::<Option<Vec<HexEmbeddings>>>(Port::TokenStates, &request) {
            Some(result) => match result? {
                Some(all) => all.iter().map(whole).collect::<Result<_, _>>().map(Some),
                None => Ok(None),
            },
            None => self.live_encoder()?.token_states(side, texts),
        }
    }
}

fn whole(hex: &HexEmbeddings) -> Result<Embeddings, PortError> {
    from_hex(hex).ok_or_else(|| {
        PortError::new(PortErrorKind::Corrupt, "a recorded vector has broken digits")
    })
}

#[async_trait]
impl Attributor for Served {
    fn name(&self) -> &str {
        &self.0.info.attributor
    }

    async fn judge(&self, pairs: &[(&str, &str)]) -> Result<Vec<Judgement>, PortError> {
        match self.0.awaited(Port::Judge, &json!(pairs)).await {
            Some(result) => result,
            None => self.0.live()?.attributor.judge(pairs).await,
        }
    }

    async fn evidence(
        &self,
        sentence: &str,
        candidates: &[&str],
    ) -> Result<Option<Vec<f32>>, PortError> {
        if self.0.live.is_none() && !self.0.tells_evidence {
            return Ok(None);
        }
        match self.0.awaited(Port::Evidence, &evidence_request(sentence, candidates)).await {
            Some(result) => result,
            None => self.0.live()?.attributor.evidence(sentence, candidates).await,
        }
    }

    fn finds_contradictions(&self) -> bool {
        match &self.0.live {
            Some(live) => live.attributor.finds_contradictions(),
            None => self.0.info.finds_contradictions,
        }
    }

    fn take_notices(&self) -> Vec<Notice> {
        let nth = self.0.asked_for_notices.fetch_add(1, Ordering::Relaxed);
        match self.0.take(Port::JudgeNotices, &notices_request(nth)) {
            Some(CallResult::Reply(value)) => read(value).unwrap_or_default(),
            _ => self.0.live.as_ref().map_or_else(Vec::new, |live| live.attributor.take_notices()),
        }
    }
}
