//! Questions answered from the datastore and sources beyond it.

use std::sync::Arc;

use scholar_core::{
    FindBy, Paper, PaperId, PortErrorKind, Query, Question, Retriever as _, SearchFilter,
    SearchMode, SearchRequest, Section,
};
use scholar_pipeline::record::{Recorder, Replayer};
use scholar_pipeline::retrieve::sources::{SourcesConfig, WideRetriever};
use scholar_pipeline::{AskConfig, Event, Ports};
use scholar_testing::corpus::{papers, whole_text_passage};
use scholar_testing::{FakeAttributor, FakeEncoder, FakeReranker, MemoryRetriever, MemorySource};

const QUESTION: &str = "How does domain shift cause hallucination in neural machine translation?";
const STORED: &str = "acl:2020.acl-main.326";
const FOUND: &str = "acl:2023.emnlp-main.42";

fn paper(id: &str) -> Paper {
    papers().into_iter().find(|paper| paper.meta.id.to_string() == id).expect("in the corpus")
}

/// The same paper as another registry names it.
fn renamed(id: &str, other: PaperId, citations: u32) -> Paper {
    let mut paper = paper(id);
    paper.meta.external_ids.push(paper.meta.id.clone());
    paper.meta.id = other;
    paper.meta.citation_count = Some(citations);
    paper
}

fn store() -> MemoryRetriever {
    let stored: Vec<Paper> =
        papers().into_iter().filter(|paper| paper.meta.id.to_string() != FOUND).collect();
    MemoryRetriever::new(stored.iter().map(whole_text_passage))
}

fn s2() -> MemorySource {
    let known = [
        renamed(STORED, PaperId::CorpusId(1), 5),
        renamed(FOUND, PaperId::CorpusId(2), 7),
        renamed("acl:2024.cl-2.10", PaperId::CorpusId(3), 9),
    ];
    MemorySource::new("s2", FindBy::Keywords, known)
}

fn web() -> MemorySource {
    MemorySource::new("web", FindBy::Question, [renamed(FOUND, PaperId::OpenAlex(2), 7)])
}

fn wide(sources: Vec<MemorySource>, config: SourcesConfig) -> WideRetriever {
    let sources = sources.into_iter().map(|s| Arc::new(s) as Arc<dyn scholar_core::PaperSource>);
    let question = Query::from(&Question::new(QUESTION).expect("a question"));
    WideRetriever::new(Some(Arc::new(store())), sources.collect(), question, config)
}

fn request(text: &str) -> SearchRequest {
    SearchRequest {
        query: Query::new(text).expect("a query"),
        top_k: 30,
        mode: SearchMode::Hybrid,
        filter: SearchFilter::none(),
    }
}

fn ports(retriever: Arc<WideRetriever>) -> Ports {
    let mut ports = Ports::new(retriever, Arc::new(FakeAttributor::new()));
    ports.reranker = Some(Arc::new(FakeReranker::new()));
    ports.encoder = Some(Arc::new(FakeEncoder::new(64)));
    ports
}

#[tokio::test]
async fn an_answer_rests_on_the_datastore_and_on_what_sources_found() {
    let limit = PortErrorKind::RateLimited { retry_after: None };
    let s2 = s2().failing("translation", limit);
    let retriever = Arc::new(wide(vec![s2, web()], SourcesConfig::quick()));
    let recorder = Recorder::new(&ports(Arc::clone(&retriever)));
    let question = Question::new(QUESTION).expect("a question");
    let config = AskConfig::paper();
    let outcome =
        scholar_pipeline::ask(recorder.ports(), &question, &config, &()).await.expect("answers");
    let shown = outcome.trace.iter().filter_map(|event| match event {
        Event::Ranked { evidence, .. } => Some(evidence),
        _ => None,
    });
    let shown: Vec<_> = shown.flatten().map(|evidence| &evidence.ranked.retrieved).collect();
    let by = |id: &str| {
        let found = shown.iter().find(|hit| hit.paper.title == paper(id).meta.title);
        found.map(|hit| hit.found_by.clone())
    };
    assert_eq!(by(STORED), Some(vec!["s2".to_owned()]));
    assert_eq!(by(FOUND), Some(vec!["s2".to_owned(), "web".to_owned()]));
    assert!(outcome.value.references.iter().any(|reference| !reference.found_by.is_empty()));
    let said: Vec<&str> = outcome.notices.iter().map(|n| n.message.as_str()).collect();
    let limited = outcome.notices.iter().find(|n| n.message.starts_with("source s2 is limited"));
    assert_eq!(limited.expect("told").hint.as_deref(), Some("stop telling it"), "{said:?}");
    for sentence in &outcome.value.sentences {
        for quote in &sentence.quotes {
            let stored = retriever.passage(&quote.passage_id).await.expect("read");
            let (passage, _) = stored.expect("what is quoted is kept");
            let span = scholar_core::CharSpan::new(quote.start, quote.end);
            assert_eq!(span.slice(&passage.text), Some(quote.text.as_str()));
        }
    }
    let replayer = Replayer::new(&recorder.journal()).expect("complete");
    let again = scholar_pipeline::ask(&replayer.ports(), &question, &config, &()).await;
    assert_eq!(again.expect("replays").value, outcome.value);
    assert!(replayer.misses().is_empty(), "{:?}", replayer.misses());
}

#[tokio::test]
async fn a_failing_source_is_a_notice_and_nothing_at_all_is_an_error() {
    let dead = || s2().failing("", PortErrorKind::Unavailable);
    let found = wide(vec![dead()], SourcesConfig::quick()).explore(&request(QUESTION)).await;
    let found = found.expect("the datastore answers");
    assert!(!found.hits.is_empty() && !found.notices.is_empty());
    let question = Query::new(QUESTION).expect("a query");
    let alone: Vec<Arc<dyn scholar_core::PaperSource>> = vec![Arc::new(dead())];
    let alone = WideRetriever::new(None, alone, question, SourcesConfig::quick());
    assert!(alone.explore(&request(QUESTION)).await.is_err(), "silence is not an answer");
}

#[tokio::test]
async fn questions_of_feedback_go_to_the_sources_that_take_questions() {
    let source = web();
    let asked = source.asked();
    let wide = wide(vec![source], SourcesConfig::quick());
    wide.explore(&request("hallucination detection")).await.expect("answers");
    assert!(asked.lock().is_empty(), "keywords are not for the web");
    wide.explore(&request("How are hallucinations detected?")).await.expect("answers");
    assert_eq!(asked.lock().len(), 1);
}

#[tokio::test]
async fn a_source_alone_answers_and_its_finds_can_be_searched_again() {
    let question = Query::new(QUESTION).expect("a query");
    let s2 = s2();
    let asked = s2.asked();
    let alone: Vec<Arc<dyn scholar_core::PaperSource>> = vec![Arc::new(s2)];
    let alone = WideRetriever::new(None, alone, question, SourcesConfig::quick());
    let found = alone.explore(&request(QUESTION)).await.expect("answers");
    assert_eq!(found.hits.len(), 3);
    let before = asked.lock().len();
    let again = alone.search(&request("hallucination")).await.expect("answers");
    assert_eq!(again.len(), 3, "a plain search looks at what was found");
    assert_eq!(asked.lock().len(), before, "and asks nobody");
}

#[tokio::test]
async fn a_cutoff_and_exclusions_hold_for_every_source() {
    let wide = wide(vec![s2(), web()], SourcesConfig::quick());
    let mut request = request(QUESTION);
    request.filter.published_before = Some(jiff::civil::Date::constant(2023, 12, 1));
    let hits = wide.explore(&request).await.expect("answers").hits;
    let late = hits.iter().find(|hit| hit.paper.latest_day() >= request.filter.published_before);
    assert!(late.is_none(), "{late:?}");
    request.filter.published_before = None;
    let title = paper(FOUND).meta.title;
    request.filter.exclude_titles =
        [scholar_core::text::normalise::title_key(&title)].into_iter().collect();
    let hits = wide.explore(&request).await.expect("answers").hits;
    assert!(!hits.is_empty() && hits.iter().all(|hit| hit.paper.title != title));
}

#[tokio::test]
async fn a_whole_text_gives_its_nearest_passages() {
    let mut whole = renamed(FOUND, PaperId::CorpusId(2), 7);
    let filler = "Unrelated words about weather. ".repeat(80);
    for n in 0..9 {
        whole.sections.push(Section::new(format!("Part {n}"), filler.clone()));
    }
    let on_topic = "Domain shift made hallucination in neural machine translation more frequent.";
    whole.sections.push(Section::new("Results", on_topic));
    let config = SourcesConfig { passages_per_paper: 2, ..SourcesConfig::quick() };
    let wide = wide(vec![s2().with_whole(whole)], config);
    let hits = wide.explore(&request(QUESTION)).await.expect("answers").hits;
    let of_it: Vec<&str> = hits
        .iter()
        .filter(|hit| hit.paper.title == paper(FOUND).meta.title)
        .map(|hit| hit.passage.section.as_str())
        .collect();
    assert_eq!(of_it.len(), 2, "{of_it:?}");
    assert!(of_it.contains(&"Results"), "{of_it:?}");
    assert!(wide.found_papers().iter().any(|paper| paper.sections.len() > 5));
}
