use std::sync::Arc;

use scholar_core::{
    EmbeddedText, FinishReason, Message, OutputShape, PassageKind, PortErrorKind, Query, Sampling,
    SearchFilter, SearchMode, SearchRequest, SentenceInContext, Side,
};
use scholar_testing::{
    FakeAttributor, FakeEncoder, FakeReranker, FakeSentenceClassifier, MemoryRetriever, Reply,
    ScriptedGenerator,
};

use super::*;
use crate::ports::Ports;

fn live() -> Ports {
    let mut ports =
        Ports::new(Arc::new(MemoryRetriever::corpus()), Arc::new(FakeAttributor::new()));
    ports.reranker = Some(Arc::new(FakeReranker::new()));
    ports.encoder = Some(Arc::new(FakeEncoder::new(8)));
    ports.sentence_classifier = Some(Arc::new(FakeSentenceClassifier::new(8)));
    let generator = ScriptedGenerator::new("m")
        .reply("draft", "first reply")
        .reply("draft", Reply::Fails(PortErrorKind::Transient, "reset".to_owned()))
        .choice("judge", &[-0.1, -2.0]);
    ports.generator = Some(Arc::new(generator));
    ports
}

fn search() -> SearchRequest {
    SearchRequest {
        query: Query::new("dense retrieval").expect("words"),
        top_k: 3,
        mode: SearchMode::Hybrid,
        filter: SearchFilter::none(),
    }
}

fn draft() -> scholar_core::GenerationRequest {
    scholar_core::GenerationRequest {
        purpose: "draft".to_owned(),
        messages: vec![Message::user("write")],
        sampling: Sampling::greedy(9),
        shape: OutputShape::Text,
    }
}

/// Everything a run can ask, as text: equal texts mean equal behaviour.
async fn use_all(ports: &Ports) -> String {
    let hits = ports.retriever.search(&search()).await.expect("found");
    let id = &hits[0].passage.id;
    let stored = ports.retriever.passage(id).await.expect("asked");
    let reranker = ports.reranker.clone().expect("present");
    let scores = reranker.rerank(&search().query, &hits).await.expect("scored");
    let generator = ports.generator.clone().expect("present");
    let pieces = parking_lot::Mutex::new(Vec::new());
    let first = generator.generate(&draft(), &|piece| pieces.lock().push(piece.to_owned())).await;
    let second = generator.generate(&draft(), &|_| {}).await.map_err(|e| (e.kind(), e.to_string()));
    let chosen = generator.choose("judge", &[Message::user("?")], &["yes", "no"]).await;
    let counts = (generator.count_tokens("a b c"), generator.count_tokens("a b c"));
    let encoder = ports.encoder.clone().expect("present");
    let vectors = encoder.encode(Side::Query, &["one", "two"]).expect("encoded");
    let states = encoder.token_states(Side::Query, &["one two"]).expect("encoded");
    let classifier = ports.sentence_classifier.clone().expect("present");
    let embedded = |text| EmbeddedText { text, vector: &vectors.values[..8] };
    let sentence = SentenceInContext {
        sentence: embedded("one of 3"),
        before: None,
        after: None,
        title: Some(embedded("two")),
        kind: PassageKind::Abstract,
        section: "",
        nth: 0,
        of: 1,
    };
    let classified = classifier.classify(embedded("one?"), &[sentence]).expect("classified");
    let judged = ports.attributor.judge(&[("a", "a b")]).await.expect("judged");
    let now = (ports.clock)();
    format!(
        "{hits:?}{stored:?}{scores:?}{first:?}{pieces:?}{second:?}{chosen:?}{counts:?}{vectors:?}{states:?}{classified:?}{judged:?}{now:?}{:?}{:?}",
        ports.retriever.name(),
        generator.info()
    )
}

#[tokio::test]
async fn a_replay_says_what_was_recorded_and_nothing_else() {
    let recorder = Recorder::new(&live());
    let recorded = use_all(recorder.ports()).await;
    let lines = recorder.journal().to_json_lines();
    let journal = Journal::from_json_lines(&lines).expect("reads what it writes");
    assert_eq!(journal, recorder.journal());

    let replayer = Replayer::new(&journal).expect("complete");
    let ports = replayer.ports();
    assert_eq!(use_all(&ports).await, recorded);
    assert!(replayer.misses().is_empty());

    let mut other = search();
    other.top_k = 4;
    let error = ports.retriever.search(&other).await.expect_err("not recorded");
    assert!(error.to_string().contains("holds no Search call"), "{error}");
    let generator = ports.generator.clone().expect("present");
    let error = generator.generate(&draft(), &|_| {}).await.expect_err("used up");
    assert!(error.to_string().contains("(draft)"), "{error}");
    assert_eq!(replayer.misses().len(), 2);
}

#[tokio::test]
async fn a_cut_off_run_resumes_with_live_ports() {
    let lines = Arc::new(parking_lot::Mutex::new(String::new()));
    let sink = Arc::clone(&lines);
    let recorder =
        Recorder::with_sink(&live(), Some(Box::new(move |line| sink.lock().extend([line, "\n"]))));
    let hits = recorder.ports().retriever.search(&search()).await.expect("found");
    assert_eq!(*lines.lock(), recorder.journal().to_json_lines());
    let cut = lines.lock().clone() + "{\"entry\":\"call\",\"po";
    let journal = Journal::from_json_lines(&cut).expect("an unfinished line is ignored");

    let elsewhere = Ports { retriever: Arc::new(MemoryRetriever::new([])), ..live() };
    let resumed = Replayer::with_live(&journal, Some(elsewhere)).expect("complete").ports();
    let again = resumed.retriever.search(&search()).await.expect("from the journal");
    assert_eq!(again, hits);
    let live_now = resumed.retriever.search(&search()).await.expect("from the empty store");
    assert!(live_now.is_empty());
    let generator = resumed.generator.clone().expect("present");
    let reply = generator.generate(&draft(), &|_| {}).await.expect("live");
    assert_eq!((reply.text.as_str(), reply.finish), ("first reply", FinishReason::Stop));
}

#[tokio::test]
async fn a_dropped_call_is_recorded_with_its_pieces() {
    use futures::FutureExt as _;
    let recorder = Recorder::new(&live());
    let generator = recorder.ports().generator.clone().expect("present");
    let request = draft();
    // Never polled to its end: a scripted reply is ready at once, so it is dropped before the first poll.
    let call = generator.generate(&request, &|_| {});
    drop(call);
    assert_eq!(recorder.journal().entries.len(), 1, "not begun, not recorded");
    assert!(generator.generate(&request, &|_| {}).now_or_never().is_some());
    assert_eq!(recorder.journal().entries.len(), 2);
}

#[test]
fn broken_journals_are_refused_by_line() {
    let check = |text: &str, expected: &str| {
        let error = Journal::from_json_lines(text).expect_err("must be refused");
        assert_eq!(error.to_string(), expected);
    };
    let ports = Recorder::new(&live()).journal().to_json_lines();
    check("", "the journal does not begin with what its ports are");
    check(&format!("{ports}{{}}\n"), "line 2 of the journal is not an entry");
    check(
        &ports.replace("\"version\":1", "\"version\":9"),
        "the journal has format version 9, this program reads 1",
    );
    let hex = numbers::from_hex(
        &serde_json::from_str("{\"dim\":1,\"truncated\":0,\"values\":\"0000zz3f\"}").expect("json"),
    );
    assert_eq!(hex, None);
}

#[tokio::test]
async fn what_a_judge_tells_of_evidence_is_replayed_and_older_journals_tell_nothing() {
    let pair = ("mice sleep", ["mice sleep", "cats do not"]);
    let journal_of = |attributor: FakeAttributor| async move {
        let mut ports = live();
        ports.attributor = Arc::new(attributor);
        let recorder = Recorder::new(&ports);
        let told = recorder.ports().attributor.evidence(pair.0, &pair.1).await.expect("told");
        (told, recorder.journal())
    };
    let (told, journal) = journal_of(FakeAttributor::new().telling_evidence()).await;
    assert_eq!(told.as_deref().map(<[f32]>::len), Some(2));
    let replayed = Replayer::new(&journal).expect("a journal").ports().attributor;
    assert_eq!(replayed.evidence(pair.0, &pair.1).await.expect("recorded"), told);
    let error = replayed.evidence("cats sleep", &pair.1).await.expect_err("never asked");
    assert!(error.to_string().contains("holds no Evidence call"), "{error}");
    let (told, journal) = journal_of(FakeAttributor::new()).await;
    assert_eq!(told, None);
    let replayed = Replayer::new(&journal).expect("a journal").ports().attributor;
    assert_eq!(replayed.evidence(pair.0, &pair.1).await.expect("no line is needed"), None);
}

/// A judge that reads, and has something to tell once.
struct Reading(std::sync::atomic::AtomicBool);

#[async_trait::async_trait]
impl scholar_core::Attributor for Reading {
    fn name(&self) -> &'static str {
        "reading/1"
    }

    async fn judge(
        &self,
        pairs: &[(&str, &str)],
    ) -> Result<Vec<scholar_core::Judgement>, PortError> {
        let verdict = scholar_core::Verdict::Supported;
        Ok(pairs.iter().map(|_| scholar_core::Judgement { verdict, score: 0.9 }).collect())
    }

    fn finds_contradictions(&self) -> bool {
        true
    }

    fn take_notices(&self) -> Vec<scholar_core::Notice> {
        let told = self.0.swap(true, std::sync::atomic::Ordering::Relaxed);
        let notice =
            || scholar_core::Notice::new(scholar_core::NoticeKind::Skipped, "one left open");
        (!told).then(notice).into_iter().collect()
    }
}

#[test]
fn a_judge_behind_a_recorder_and_a_replay_is_what_it_was() {
    let retriever = Arc::new(MemoryRetriever::corpus());
    let ports = Ports::new(retriever, Arc::new(Reading(false.into())));
    let recorder = Recorder::new(&ports);
    let recorded = recorder.ports();
    assert!(recorded.attributor.finds_contradictions());
    let told: Vec<usize> = (0..2).map(|_| recorded.attributor.take_notices().len()).collect();
    assert_eq!(told, [1, 0]);
    let lines = recorder.journal().to_json_lines();
    let journal = Journal::from_json_lines(&lines).expect("reads what it writes");
    let served = Replayer::new(&journal).expect("complete").ports();
    assert!(served.attributor.finds_contradictions());
    let again: Vec<usize> = (0..2).map(|_| served.attributor.take_notices().len()).collect();
    assert_eq!(again, told);
}
