//! What the scenarios stand on: papers with sections, a model that plays every part, ways to look at what happened.

use std::sync::Arc;

use async_trait::async_trait;
use parking_lot::Mutex;
use scholar_core::text::sentences::sentence_texts;
use scholar_core::{
    CharSpan, CitationGraph, Generator, NeighbourRequest, Neighbours, Paper, PaperMeta, Passage,
    PassageId, PassageKind, PortError, Retrieved, Retriever, SearchFilter, SearchRequest,
};
use scholar_pipeline::{Outcome, Ports};
use scholar_review::{Idea, Review, ReviewConfig, ReviewError, generative};
use scholar_testing::{
    FakeAttributor, FakeEncoder, MemoryGraph, MemoryRetriever, Reply, ScriptedGenerator, corpus,
};
use serde_json::{Value, json};

pub(super) const IDEA: &str = "# Research Plan: Retrieval against hallucination in translation\n\n## Problem\nNeural machine \
translation hallucinates, and it is unknown whether retrieved passages help.\n\n## Method\nWe detect hallucinations in \
translation with model probabilities, and we retrieve passages with dense passage retrieval.\n\n## Experiment Design\nWe \
compare translation with and without retrieval on four language pairs.";

pub(super) fn idea() -> Idea {
    Idea::read(IDEA).expect("an idea")
}

/// The fixture corpus in a ring, each paper with a section on methods and one on results made of its own abstract.
pub(super) fn papers() -> Vec<Paper> {
    let mut papers = corpus::papers();
    let ids: Vec<_> = papers.iter().map(|paper| paper.meta.id.clone()).collect();
    for (at, paper) in papers.iter_mut().enumerate() {
        paper.meta.citation_count = Some(20 + u32::try_from(at).expect("forty"));
        paper.references = [1, 7, 13].map(|step| ids[(at + step) % ids.len()].clone()).to_vec();
    }
    papers
}

/// The abstract as passage 0, and its sentences again as sections, so that papers have a body.
pub(super) fn passages(paper: &Paper) -> Vec<(Passage, Arc<PaperMeta>)> {
    let (mut first, meta) = corpus::whole_text_passage(paper);
    first.section = "Abstract".to_owned();
    let sentences: Vec<String> =
        sentence_texts(&first.text).into_iter().map(str::to_owned).collect();
    let half = sentences.len() / 2;
    let of = |ordinal, section: &str, sentences: &[String]| {
        let text = sentences.join(" ");
        let passage = Passage {
            id: PassageId { paper: meta.id.clone(), ordinal },
            title: meta.title.clone(),
            section: section.to_owned(),
            kind: PassageKind::Body,
            span: CharSpan::new(0, text.chars().count()),
            text,
            places: Vec::new(),
        };
        (passage, Arc::clone(&meta))
    };
    let methods = of(1, "Methods", &sentences[..half]);
    let results = of(2, "Results", &sentences[half..]);
    vec![(first, Arc::clone(&meta)), methods, results]
}

/// A small preset over which calls can be followed by eye.
pub(super) fn config() -> ReviewConfig {
    let mut config = ReviewConfig::lean();
    config.soundness.max_methods = Some(2);
    config.soundness.papers_per_method = Some(3);
    config.soundness.papers_per_summary = 2;
    config.contribution.sample = 4;
    config.contribution.papers_per_comparison = 2;
    config
}

pub(super) fn ports_over(papers: &[Paper], generator: Arc<dyn Generator>) -> Ports {
    let retriever = MemoryRetriever::new(papers.iter().flat_map(passages));
    let mut ports = Ports::new(Arc::new(retriever), Arc::new(FakeAttributor::new()));
    ports.graph = Some(Arc::new(MemoryGraph::new(papers.to_vec())));
    ports.encoder = Some(Arc::new(FakeEncoder::new(16)));
    ports.generator = Some(generator);
    ports
}

pub(super) async fn review_of(
    ports: &Ports,
    config: &ReviewConfig,
) -> Result<Outcome<Review>, ReviewError> {
    generative(ports, &idea(), config, &()).await
}

pub(super) async fn review(model: ScriptedGenerator, config: &ReviewConfig) -> Outcome<Review> {
    let ports = ports_over(&papers(), Arc::new(model));
    review_of(&ports, config).await.expect("a review")
}

/// A model that plays every part and copies sentences of the papers word for word.
pub(super) fn model() -> ScriptedGenerator {
    model_that(|_, _| None)
}

/// The same, but where `instead` has a reply to a purpose and its prompt.
pub(super) fn model_that(
    instead: impl Fn(&str, &str) -> Option<Reply> + Send + Sync + 'static,
) -> ScriptedGenerator {
    ScriptedGenerator::new("scripted").otherwise(move |request| {
        let prompt = &request.messages.last()?.content;
        instead(&request.purpose, prompt).or_else(|| usual(&request.purpose, prompt))
    })
}

#[expect(clippy::unnecessary_wraps, reason = "it stands beside arms that have no reply")]
pub(super) fn text(value: &Value) -> Option<Reply> {
    Some(Reply::Text(format!("Here it is:\n```json\n{value}\n```")))
}

fn usual(purpose: &str, prompt: &str) -> Option<Reply> {
    let step = purpose.trim_end_matches(|c: char| c.is_ascii_digit() || ". MD".contains(c));
    let papers = blocks(prompt);
    let first = papers.first().cloned().unwrap_or_default();
    match step {
        "methods" => text(&json!({"methods": [
            {"text": "Detect hallucinations in translation with model probabilities.",
             "query": "detecting hallucinations in neural machine translation"},
            {"text": "Retrieve passages with dense passage retrieval.",
             "query": "dense passage retrieval for open-domain question answering"},
        ]})),
        "summary" if purpose == "summary" => text(&json!({
            "strengths": ["The detection of hallucinations rests on earlier work [S1]."],
            "weaknesses": [],
            "suggestions": ["Compare with these detectors [S1]."],
        })),
        "summary" => {
            let of = |(key, words): &(String, String)| {
                json!({"key": key, "relevant": true,
                "method": words, "results": words, "context": ""})
            };
            text(&json!({"papers": papers.iter().map(of).collect::<Vec<_>>()}))
        }
        "method review" => text(&json!({
            "support": format!("{} [{}] This fits the plan well.", first.1, first.0),
            "contradictions": "",
            "suggested_action": "Report the variance over five seeds.",
            "score": 7,
        })),
        "dimensions" => text(&json!({"dimensions": [
            {"name": "methodology", "statements": [{"text": "Retrieval reduces hallucination in translation.",
             "queries": ["hallucination in machine translation", "retrieval for translation"]}]},
            {"name": "evaluation", "statements": [{"text": "Detection on four language pairs.",
             "queries": ["detecting hallucinations"]}]},
        ]})),
        "relevance" | "relevance of added" => {
            let of = |(key, _): &(String, String)| json!({"key": key, "score": "4", "rationale": "near"});
            text(&json!({"papers": papers.iter().map(of).collect::<Vec<_>>()}))
        }
        "compare" => {
            let of = |(key, _): &(String, String)| {
                json!({"key": key, "overall": "near",
                "dimensions": {"D1": {"comparison": "older", "score": 1}, "D2": {"comparison": "same", "score": -1}}})
            };
            text(&json!({"papers": papers.iter().map(of).collect::<Vec<_>>()}))
        }
        "appraisal" => text(&json!({"points": [
            {"kind": "data", "weight": "minor", "quotes": ["on four language pairs", "on forty language pairs"],
             "matter": "Four pairs say little of others.", "action": "Add a distant pair."},
            {"kind": "baseline", "weight": "major", "quotes": ["with and without retrieval"],
             "matter": "Retrieval is confounded with the longer input. Prior work shows that length alone helps [E1]. This hides the effect.",
             "action": "Add a control with random passages. See https://evil.example/control."},
            {"kind": "statistics", "weight": "major", "quotes": [], "matter": "No test of significance is planned.",
             "action": "Test the difference by pair."},
            {"kind": "method", "weight": "strength", "quotes": ["We detect hallucinations in translation with model probabilities"],
             "matter": "The detector needs no labels.", "action": "Keep it."},
            {"kind": "cost", "weight": "major", "quotes": ["training takes 900 hours of computation"],
             "matter": "The training is costly.", "action": ""},
            {"kind": "other", "weight": "minor", "quotes": ["on four language pairs"],
             "matter": "Smith et al. found the same.", "action": ""},
        ]})),
        "synthesis" => text(&json!({"dimensions": {
            "D1": {"strengths": "No compared paper unites zebras with quasars.", "weaknesses":
                format!("{} [{}]", first.1, first.0), "suggestions": "Set the plan apart by its data."},
            "D2": {"strengths": "", "weaknesses": format!("{} [{}].", first.1, first.0), "suggestions": ""},
        }})),
        _ => None,
    }
}

/// Keys of the papers of a prompt with the first whole sentence of their text.
pub(super) fn blocks(prompt: &str) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    for line in prompt.lines() {
        let key = line.strip_prefix('[').and_then(|rest| rest.split_once("] "));
        if let Some((key, _)) = key.filter(|(key, _)| key.starts_with(['E', 'P'])) {
            found.push((key.to_owned(), String::new()));
            continue;
        }
        let words = line.strip_prefix('(').and_then(|rest| Some(rest.split_once(") ")?.1));
        let words = words.or_else(|| line.strip_prefix("Results: "));
        if let (Some((_, first)), Some(words)) = (found.last_mut(), words)
            && first.is_empty()
        {
            let sentence = sentence_texts(words).into_iter().find(|one| one.len() > 60);
            sentence.unwrap_or(words).clone_into(first);
        }
    }
    found
}

/// Ports that forget every filter and keep what they were asked.
pub(super) struct Lawless<T> {
    pub(super) inner: T,
    pub(super) searches: Mutex<Vec<SearchRequest>>,
    pub(super) steps: Mutex<Vec<NeighbourRequest>>,
}

impl<T> Lawless<T> {
    pub(super) fn new(inner: T) -> Self {
        Self { inner, searches: Mutex::default(), steps: Mutex::default() }
    }
}

#[async_trait]
impl Retriever for Lawless<MemoryRetriever> {
    fn name(&self) -> &'static str {
        "lawless"
    }

    async fn search(&self, request: &SearchRequest) -> Result<Vec<Retrieved>, PortError> {
        self.searches.lock().push(request.clone());
        self.inner.search(&SearchRequest { filter: SearchFilter::none(), ..request.clone() }).await
    }

    async fn passage(&self, id: &PassageId) -> Result<Option<(Passage, PaperMeta)>, PortError> {
        self.inner.passage(id).await
    }
}

#[async_trait]
impl CitationGraph for Lawless<MemoryGraph> {
    fn name(&self) -> &'static str {
        "lawless"
    }

    async fn neighbours(&self, request: &NeighbourRequest) -> Result<Neighbours, PortError> {
        self.steps.lock().push(request.clone());
        let open = NeighbourRequest { filter: SearchFilter::none(), ..request.clone() };
        self.inner.neighbours(&open).await
    }
}
