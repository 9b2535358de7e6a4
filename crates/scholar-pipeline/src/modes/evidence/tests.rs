//! Scenarios over forty real abstracts with fakes for every model.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;
use scholar_core::{
    AnswerSentence, CharSpan, Explanation, Gate, GeneratorStrength, PaperId, PortErrorKind, Ranked,
    RerankScore, Retriever as _, SearchFilter, SearchMode, SearchRequest, Verdict,
};
use scholar_testing::{FakeAttributor, FakeEncoder, MemoryRetriever, ScriptedGenerator};

use super::config::{CheckRules, LineRules, PaperRules, SurveyRules, SynthesisRules};
use super::question::{Kind, Reading};
use super::terms::{Abbreviations, stem_set};
use super::*;
use crate::config::AskConfig;
use crate::event::{Event, Observer};
use crate::ports::Ports;

const QUESTION: &str = "How can low-resource neural machine translation be improved?";

/// Several papers of the corpus answer it in sentences that stand alone.
const BROAD_QUESTION: &str = "How does data augmentation help machine translation?";

#[derive(Default)]
struct Seen(Mutex<Vec<Event>>);

impl Observer for Seen {
    fn on_event(&self, event: &Event) {
        self.0.lock().push(event.clone());
    }
}

impl Seen {
    /// Names of the events, runs of one name as one, pieces of text left out.
    fn story(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for event in self.0.lock().iter() {
            let value = serde_json::to_value(event).expect("events are data");
            let name = match event {
                Event::Generating { purpose, .. } => format!("generating {purpose}"),
                _ => value["event"].as_str().expect("tagged").to_owned(),
            };
            if name != "text" && names.last() != Some(&name) {
                names.push(name);
            }
        }
        names
    }
}

fn ports() -> Ports {
    let retriever = Arc::new(MemoryRetriever::corpus());
    let mut ports = Ports::new(retriever, Arc::new(FakeAttributor::new()));
    ports.encoder = Some(Arc::new(FakeEncoder::new(256)));
    ports
}

fn small_model() -> ScriptedGenerator {
    ScriptedGenerator::new("small").with_info(|info| info.strength = GeneratorStrength::Small)
}

async fn evidence(ports: &Ports, question: &str) -> Vec<Ranked> {
    let request = SearchRequest {
        query: Query::new(question).expect("a query"),
        top_k: 30,
        mode: SearchMode::Hybrid,
        filter: SearchFilter::none(),
    };
    let found = MemoryRetriever::corpus().search(&request).await.expect("searched");
    assert!(ports.generator.is_none() || !found.is_empty());
    found
        .into_iter()
        .map(|retrieved| {
            let value = retrieved.score.value();
            let score = RerankScore::new(value).expect("finite");
            Ranked { retrieved, score, explanation: Explanation::new(value, "retrieval") }
        })
        .collect()
}

async fn ask(ports: &Ports, question: &str, config: &EvidenceConfig) -> (EvidenceAnswer, Seen) {
    let seen = Seen::default();
    let question = Question::new(question).expect("a question");
    let found = evidence(ports, question.as_str()).await;
    let config = AskConfig { evidence: config.clone(), ..AskConfig::paper() };
    let frame = Frame::new(MODE.id, ports, &question, &config, &seen);
    let answer = digest(&frame, found).await.expect("answered");
    (answer, seen)
}

/// The fakes' similarities are not those the decision was calibrated with. Surveys have a test of their own.
fn lenient() -> EvidenceConfig {
    let digest = EvidenceConfig::digest();
    let papers = PaperRules { show_from: 0.0, show_share: 0.0, ..PaperRules::digest() };
    EvidenceConfig { abstain_below: 0.0, papers, survey: None, ..digest }
}

/// With a synthesis; the fixtures are few and far from each other.
fn with_synthesis() -> EvidenceConfig {
    let rules = SynthesisRules { min_similarity: 0.2, ..SynthesisRules::short() };
    let lines = LineRules { from: 0.0, further_from: 0.0, ..LineRules::digest() };
    EvidenceConfig { synthesis: Some(rules), lines, ..lenient() }
}

#[tokio::test]
async fn every_sentence_is_cited_and_quoted_exactly() {
    let ports = ports();
    let (result, seen) = ask(&ports, QUESTION, &lenient()).await;
    let answer = &result.answer;
    assert!(!answer.abstained && answer.sentences.len() >= 3, "{answer:#?}");
    assert_eq!(result.relevance.len(), answer.sentences.len());
    let stored: BTreeMap<_, _> = scholar_testing::corpus::passages()
        .into_iter()
        .map(|(passage, _)| (passage.id, passage.text))
        .collect();
    let mut expected = 1;
    for sentence in &answer.sentences {
        assert!(sentence.verbatim && sentence.gates == [Gate::L0, Gate::L1, Gate::L2]);
        let [citation] = sentence.citations.as_slice() else { panic!("one citation") };
        assert!(citation.0 <= expected, "numbered in order of appearance");
        expected = expected.max(citation.0 + 1);
        let reference = &answer.references[citation.0 - 1];
        let [quote] = sentence.quotes.as_slice() else { panic!("one quote") };
        assert_eq!((quote.reference, &quote.passage_id.paper), (*citation, &reference.paper_id));
        let span = CharSpan::new(quote.start, quote.end);
        assert_eq!(span.slice(&stored[&quote.passage_id]), Some(quote.text.as_str()));
    }
    let shown = seen.0.lock().iter().filter(|e| matches!(e, Event::Sentence { .. })).count();
    assert_eq!(shown, answer.sentences.len());
    let mut per_paper: BTreeMap<&PaperId, usize> = BTreeMap::new();
    for reference in &answer.references {
        *per_paper.entry(&reference.paper_id).or_default() += 1;
    }
    assert!(per_paper.values().all(|n| *n == 1), "one reference per paper");
}

#[tokio::test]
async fn a_question_about_something_else_gets_no_answer_but_the_nearest_papers() {
    let ports = ports();
    let question = "What did medieval tax law say about wool exports?";
    {
        let (result, _) = ask(&ports, question, &EvidenceConfig::digest()).await;
        assert!(result.answer.abstained && result.answer.sentences.is_empty());
        let notice = result.notices.last().expect("a notice");
        assert_eq!(notice.kind, NoticeKind::InsufficientEvidence);
        assert!(notice.message.contains("medieval tax law"), "{}", notice.message);
        let (_, silent) = notice.message.split_once("none mentions").expect("what is missing");
        assert!(silent.contains("“medieval”"), "{}", notice.message);
    }
}

#[tokio::test]
async fn beside_an_abstention_stands_what_comes_nearest() {
    let ports = ports();
    // Nothing is sure enough, everything near enough.
    let papers =
        PaperRules { nearest: 2, nearest_from: 0.0, nearest_share: 0.0, ..PaperRules::digest() };
    let digest = EvidenceConfig::digest();
    let config = EvidenceConfig { abstain_below: 1.1, papers, survey: None, ..digest };
    let (result, seen) = ask(&ports, QUESTION, &config).await;
    let answer = &result.answer;
    // A second sentence of one paper fits the question, too.
    assert!(answer.abstained && answer.sentences.len() == 3, "{:#?}", answer.sentences);
    assert_eq!((answer.references.len(), result.relevance.len()), (2, 3), "papers, sentences");
    assert!(answer.sentences.iter().all(|one| one.verbatim && !one.quotes.is_empty()));
    assert_eq!(answer.abstention().map(|one| one.heading), Some("No clear answer."));
    let shown = seen.0.lock().iter().filter(|e| matches!(e, Event::Sentence { .. })).count();
    assert_eq!(shown, 3);
    let is_insufficient = |one: &&Notice| one.kind == NoticeKind::InsufficientEvidence;
    let notice = result.notices.iter().find(is_insufficient).expect("a notice");
    let (_, named) = notice.message.split_once("the nearest found: ").expect("what is near");
    let place = |title: &str| named.find(title).expect("what is quoted is named");
    assert!(place(&answer.references[0].title) < place(&answer.references[1].title), "{named}");
}

#[tokio::test]
async fn methods_that_detect_are_shown_by_a_title_or_sentence_that_says_so() {
    let ports = ports();
    let question = "How can hallucinations be detected in machine translation?";
    let (result, _) = ask(&ports, question, &lenient()).await;
    let reading = Reading::of(question, &Abbreviations::default());
    let [detect] = reading.topic.acts().collect::<Vec<_>>()[..] else { panic!("one act") };
    assert_eq!((reading.kind, detect.stem.as_str()), (Kind::Methods, "detect"));
    let answer = &result.answer;
    assert!(!answer.sentences.is_empty(), "some paper detects");
    for sentence in &answer.sentences {
        let title = &answer.references[sentence.citations[0].0 - 1].title;
        // In its own words: to classify is to detect.
        let says = |text: &str| detect.is_in(&stem_set(text));
        assert!(says(&sentence.text) || says(title), "{title}: {}", sentence.text);
    }
}

#[tokio::test]
async fn sentences_stay_on_the_topic_lean_on_nothing_and_come_from_many_papers() {
    let ports = ports();
    let (result, _) = ask(&ports, QUESTION, &lenient()).await;
    let titles: Vec<&str> =
        result.answer.references.iter().map(|reference| reference.title.as_str()).collect();
    let mut per_paper: BTreeMap<usize, usize> = BTreeMap::new();
    for sentence in &result.answer.sentences {
        let number = sentence.citations[0].0;
        let said = stem_set(&format!("{} {}", sentence.text, titles[number - 1]));
        assert!(said.contains("translat"), "{}", sentence.text);
        let opener = sentence.text.split([',', ' ']).next().unwrap_or_default();
        assert!(!["Moreover", "Furthermore", "However", "Additionally"].contains(&opener));
        *per_paper.entry(number).or_default() += 1;
    }
    assert!(per_paper.len() >= 2 && per_paper.values().all(|n| *n <= 2), "{per_paper:?}");
}

#[tokio::test]
async fn a_broad_question_gets_a_survey_of_many_papers() {
    let ports = ports();
    let question = "What are the main approaches to machine translation and their limitations?";
    let rules = SurveyRules { from: 0.0, share: 0.0, share_unsure: 0.0, ..SurveyRules::digest() };
    let config = EvidenceConfig { survey: Some(rules.clone()), ..lenient() };
    let (result, _) = ask(&ports, question, &config).await;
    let answer = &result.answer;
    assert!(answer.references.len() >= rules.fewest_papers, "{:#?}", answer.sentences);
    let mut lines: BTreeMap<(&str, usize), usize> = BTreeMap::new();
    for sentence in &answer.sentences {
        assert!(sentence.verbatim && !sentence.quotes.is_empty());
        let heading = sentence.heading.as_deref().expect("a facet");
        *lines.entry((heading, sentence.citations[0].0)).or_default() += 1;
    }
    assert!(lines.values().all(|n| *n <= 2), "{lines:?}");
    let headings: Vec<&str> = lines.keys().map(|(heading, _)| *heading).collect();
    assert!(headings.contains(&"Approaches"), "{headings:?}");
    let searched: Vec<&str> = result.searched.iter().map(Query::as_str).collect();
    assert!(searched.contains(&"What is machine translation?"), "{searched:?}");

    // Who wants no further searches gets none.
    let checks = CheckRules { rounds: 0, ..config.checks };
    let (result, _) = ask(&ports, question, &EvidenceConfig { checks, ..config.clone() }).await;
    assert_eq!(result.searched.len(), 1);

    let (plain, _) = ask(&ports, question, &EvidenceConfig { survey: None, ..config }).await;
    let is_facet = |one: &AnswerSentence| one.heading.as_deref() == Some("Approaches");
    assert!(!plain.answer.sentences.iter().any(is_facet));
    assert!(!plain.searched.iter().any(|query| query.as_str().starts_with("What is ")));
}

#[tokio::test]
async fn no_evidence_at_all_abstains() {
    let question = Question::new("Why?").expect("a question");
    let config = AskConfig::paper();
    let frame = Frame::new(MODE.id, &ports(), &question, &config, &());
    let result = digest(&frame, Vec::new()).await;
    assert!(result.expect("answered").answer.abstained);
}

#[tokio::test]
async fn a_dead_search_is_a_notice() {
    let mut ports = ports();
    let dead = MemoryRetriever::corpus().failing(PortErrorKind::Unavailable, "the disk is gone");
    ports.retriever = Arc::new(dead);
    ports.encoder = None;
    let question = "How can low-resource machine translation of zebras be improved?";
    let (result, seen) = ask(&ports, question, &lenient()).await;
    assert!(!result.answer.sentences.is_empty());
    let told = |part: &str| result.notices.iter().any(|notice| notice.message.contains(part));
    assert!(
        told("the disk is gone")
            && told("no encoder")
            && told("no paper found uses the word “zebras”")
    );
    let noticed = seen.0.lock().iter().filter(|e| matches!(e, Event::Noticed { .. })).count();
    assert_eq!(noticed, result.notices.len(), "every notice is an event");
}

#[tokio::test]
async fn the_model_adds_what_passes_and_nothing_else() {
    let mut ports = ports();
    let config = with_synthesis();
    let (plain, _) = ask(&ports, BROAD_QUESTION, &config).await;
    // Numbers that are not there, and one twice: the choice is only a choice.
    let reply = serde_json::json!({"findings": [1, 2, 2, 3, 4, 5, 6, 77]});
    let model = Arc::new(small_model().reply("synthesis", reply.to_string().as_str()));
    ports.generator = Some(model.clone());
    let (result, seen) = ask(&ports, BROAD_QUESTION, &config).await;
    let written: Vec<&AnswerSentence> =
        result.answer.sentences.iter().filter(|sentence| !sentence.verbatim).collect();
    assert!(written.iter().all(|sentence| {
        sentence.heading.as_deref() == Some("In short")
            && sentence.citations.len() >= 2
            && sentence.quotes.len() >= 2
            && sentence.support.as_ref().is_some_and(|s| s.verdict == Verdict::Supported)
    }));
    assert!(!written.is_empty(), "{:#?}", plain.answer.sentences);
    let verbatim = |answer: &Answer| -> Vec<String> {
        answer.sentences.iter().filter(|s| s.verbatim).map(|s| s.text.clone()).collect()
    };
    assert_eq!(verbatim(&result.answer), verbatim(&plain.answer), "the digest does not change");
    let story = seen.story();
    let first = |name: &str| story.iter().position(|event| event == name);
    assert!(first("sentence") < first("generating synthesis"), "evidence first: {story:?}");
    let prompt: usize =
        model.requests()[0].messages.iter().map(|m| m.content.split_whitespace().count()).sum();
    assert!(prompt <= 1_200);
}

#[tokio::test]
async fn a_model_that_fails_costs_notices_only() {
    let mut ports = ports();
    ports.generator = Some(Arc::new(small_model()));
    let (result, _) = ask(&ports, QUESTION, &with_synthesis()).await;
    assert!(!result.answer.sentences.is_empty());
    assert!(result.answer.sentences.iter().all(|sentence| sentence.verbatim));
    assert!(
        result.notices.iter().any(|notice| notice.message.starts_with("the synthesis left out"))
    );
}

#[tokio::test]
async fn the_same_evidence_gives_the_same_answer() {
    let ports = ports();
    let (first, _) = ask(&ports, QUESTION, &lenient()).await;
    let (second, _) = ask(&ports, QUESTION, &lenient()).await;
    assert_eq!(first, second);
}
