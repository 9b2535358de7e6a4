//! A recorded run of the reference code, replayed through pooling, filtering, numbering and parsing.
//!
//! With [`AskConfig::upstream`] the candidates and numbers are upstream's; where ours differ by default,
//! `docs/deviations.md` says so and the test shows how.

use std::io::Read as _;
use std::sync::Arc;

use crate::wire::{WireItem, read_item, shown_evidence};
use async_trait::async_trait;
use scholar_core::AnswerMode;
use scholar_core::text::markers::citation_groups;
use scholar_core::{
    PaperMeta, Passage, PassageId, PortError, Query, Question, RerankScore, Reranker, RerankerInfo,
    Retrieved, Retriever, SearchRequest,
};
use scholar_pipeline::config::{CapRule, DedupRule, FeedbackParser};
use scholar_pipeline::{AskConfig, Event, Evidence, Outcome, Ports};
use scholar_testing::{FakeAttributor, ScriptedGenerator};
use serde_json::Value;

fn trace() -> Value {
    let bytes: &[u8] = include_bytes!("../data/trace_0.json.gz");
    let mut text = String::new();
    flate2::read::GzDecoder::new(bytes).read_to_string(&mut text).expect("a gzip file");
    serde_json::from_str(&text).expect("json")
}

fn strings(value: &Value) -> Vec<String> {
    let list = value.as_array().expect("a list");
    list.iter().map(|text| text.as_str().expect("text").to_owned()).collect()
}

/// Gives the recorded candidates to any query.
struct Recorded(Vec<Retrieved>);

#[async_trait]
impl Retriever for Recorded {
    fn name(&self) -> &'static str {
        "recorded candidates"
    }

    async fn search(&self, _request: &SearchRequest) -> Result<Vec<Retrieved>, PortError> {
        Ok(self.0.clone())
    }

    async fn passage(&self, id: &PassageId) -> Result<Option<(Passage, PaperMeta)>, PortError> {
        let found = self.0.iter().find(|candidate| candidate.passage.id == *id);
        Ok(found.map(|c| (c.passage.clone(), PaperMeta::clone(&c.paper))))
    }
}

/// Gives the recorded scores.
struct Scores {
    info: RerankerInfo,
    by_id: Vec<(PassageId, f32)>,
}

#[async_trait]
impl Reranker for Scores {
    fn info(&self) -> &RerankerInfo {
        &self.info
    }

    async fn rerank(
        &self,
        _query: &Query,
        passages: &[Retrieved],
    ) -> Result<Vec<RerankScore>, PortError> {
        let score = |retrieved: &Retrieved| {
            let found = self.by_id.iter().find(|(id, _)| *id == retrieved.passage.id);
            RerankScore::new(found.expect("every candidate was scored").1).expect("finite")
        };
        Ok(passages.iter().map(score).collect())
    }
}

fn ports(trace: &Value, item: &WireItem, generator: Arc<ScriptedGenerator>) -> Ports {
    let scores = trace["scores"].as_array().expect("a list");
    #[expect(clippy::cast_possible_truncation, reason = "recorded half-precision logits")]
    let by_id = item
        .contexts
        .iter()
        .zip(scores)
        .map(|(candidate, score)| {
            (candidate.passage.id.clone(), score.as_f64().expect("a number") as f32)
        })
        .collect();
    let info = RerankerInfo { name: "recorded scores".to_owned(), cross_encoder: true };
    let retriever = Arc::new(Recorded(item.contexts.clone()));
    let mut ports = Ports::new(retriever, Arc::new(FakeAttributor::new()));
    ports.reranker = Some(Arc::new(Scores { info, by_id }));
    ports.generator = Some(generator);
    ports
}

/// The recorded run's settings: 30 passages, cap 30, three feedback items, no search for them.
fn config() -> AskConfig {
    let mut config = AskConfig::upstream();
    config.mode = AnswerMode::Generative.into();
    config.ranking.top_n = 30;
    config.ranking.max_per_paper = Some(30);
    config.feedback.retrieve = false;
    config.posthoc = scholar_pipeline::config::PosthocMode::None;
    config
}

async fn run(config: &AskConfig) -> (Value, WireItem, Outcome<scholar_core::Answer>) {
    let trace = trace();
    let item = read_item(&trace).expect("an item");
    let feedback: String = trace["feedbacks"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|item| format!("Feedback: {}\n", item[0].as_str().expect("text")))
        .collect();
    let wrap = |text: &str| format!("[Response_Start]{text}[Response_End]");
    let mut generator = ScriptedGenerator::new("recorded")
        .with_info(|info| info.context_tokens = 1_000_000)
        .reply("draft", wrap(trace["initial_result"].as_str().expect("text")).as_str())
        .reply("feedback", wrap(&feedback).as_str());
    for edit in strings(&trace["edited_answers"]) {
        generator = generator.reply("edit", wrap(&edit).as_str());
    }
    let question = Question::new(&item.question).expect("a question");
    let ports = ports(&trace, &item, Arc::new(generator));
    let outcome = scholar_pipeline::ask(&ports, &question, config, &()).await.expect("an answer");
    (trace, item, outcome)
}

fn local_ids(shown: &[Evidence]) -> Vec<String> {
    shown.iter().map(|e| e.ranked.retrieved.paper.id.to_string()).collect()
}

#[tokio::test]
async fn upstreams_candidates_and_numbers() {
    let (trace, item, outcome) = run(&config()).await;
    assert_eq!((item.contexts.len(), item.dropped), (99, 0));
    let pooled = outcome.trace.iter().find_map(|event| match event {
        Event::Pooled { candidates, kept } => Some((*candidates, *kept)),
        _ => None,
    });
    assert_eq!(pooled, Some((99, 99)));
    let expected: Vec<String> =
        strings(&trace["kept_ids"]).iter().take(30).map(|id| format!("local:{id}")).collect();
    let shown = shown_evidence(&outcome.trace);
    assert_eq!(local_ids(&shown), expected);
}

/// Upstream lets 31 untitled passages through a cap of 30 (D3).
#[tokio::test]
async fn the_cap_of_upstream_is_one_too_many() {
    let mut config = config();
    config.ranking.top_n = 99;
    let (trace, _, outcome) = run(&config).await;
    let kept: Vec<String> =
        strings(&trace["kept_ids"]).iter().map(|id| format!("local:{id}")).collect();
    assert_eq!(kept.len(), 31);
    assert_eq!(local_ids(&shown_evidence(&outcome.trace)), kept);
    config.ranking.cap = CapRule::Paper;
    config.retrieval.dedup = DedupRule::Richest;
    let (_, _, ours) = run(&config).await;
    let ours = local_ids(&shown_evidence(&ours.trace));
    assert_eq!(ours.len(), 99, "ours counts by paper, and each of these is another paper");
    assert_eq!(ours[..31], kept[..], "in the same order");
}

/// The reference block line by line; upstream deletes lone brackets from passages, ours does not (D4).
#[tokio::test]
async fn the_reference_block() {
    let (trace, _, outcome) = run(&config()).await;
    let block = trace["final_passages"].as_str().expect("text");
    let shown = shown_evidence(&outcome.trace);
    let starts: Vec<usize> =
        (0..shown.len())
            .map(|nth| {
                if nth == 0 { 0 } else { block.find(&format!("\n[{nth}] ")).expect("numbered") + 1 }
            })
            .collect();
    let mut exact = 0;
    for (nth, evidence) in shown.iter().enumerate() {
        let end = starts.get(nth + 1).copied().unwrap_or(block.len());
        let theirs = block[starts[nth]..end].trim_end();
        let ours = evidence.prompt_line();
        if single_spaced(theirs) == ours {
            exact += 1;
        } else {
            let bare = |text: &str| text.replace(['[', ']', ' ', '\n'], "");
            assert_eq!(bare(theirs), bare(&ours), "passage {nth} differs by brackets only");
        }
    }
    assert!(exact >= 27, "{exact} of {} lines are upstream's", shown.len());
}

/// Ours ends where the reference list begins that upstream carries along (D9).
fn cut_at_references(theirs: &str, ours: &str) -> bool {
    let rest = theirs.trim().strip_prefix(ours);
    rest.is_some_and(|rest| rest.is_empty() || rest.trim_start().starts_with("## References"))
}

fn single_spaced(text: &str) -> String {
    scholar_core::text::normalise::single_spaced(text)
}

#[tokio::test]
async fn draft_feedback_and_revisions() {
    let (trace, _, outcome) = run(&config()).await;
    let initial = trace["initial_result"].as_str().expect("text");
    let edits = strings(&trace["edited_answers"]);
    let mut revised = Vec::new();
    for event in &outcome.trace {
        match event {
            Event::Drafted { text } => assert!(cut_at_references(initial, text)),
            Event::Feedback { items } => {
                let theirs = trace["feedbacks"].as_array().expect("a list");
                assert_eq!(items.len(), theirs.len());
                for (item, theirs) in items.iter().zip(theirs) {
                    assert_eq!(item.0, theirs[0].as_str().expect("text").trim());
                    assert_eq!(item.1, None);
                }
            }
            Event::Revised { item, accepted, text, .. } => {
                assert!(*accepted, "upstream accepted revision {item}");
                revised.push(text.clone().expect("accepted"));
            }
            _ => {}
        }
    }
    assert_eq!(revised.len(), 3, "three of five items");
    for (ours, theirs) in revised.iter().zip(&edits) {
        assert!(cut_at_references(theirs, ours));
    }
    let answer = &outcome.value;
    let numbers: Vec<usize> = citation_groups(revised.last().expect("three"))
        .into_iter()
        .flat_map(|group| group.numbers)
        .collect();
    let body = edits[2].split("## References").next().expect("a first part");
    let digits = |part: &&str| part.split(']').next().is_some_and(|n| n.parse::<usize>().is_ok());
    assert_eq!(numbers.len(), body.split('[').skip(1).filter(digits).count());
    assert!(numbers.iter().all(|number| *number < 30), "all within the shown passages");
    assert_eq!(
        answer.references.len(),
        numbers.iter().collect::<std::collections::BTreeSet<_>>().len(),
        "one reference per cited paper"
    );
    assert_eq!(config().feedback.parser, FeedbackParser::Upstream);
}
