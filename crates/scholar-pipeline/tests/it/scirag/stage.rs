//! What the scenarios of the tree stand on: linked papers, a model that plays every part, and ways to look at what happened.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

use async_trait::async_trait;
use parking_lot::Mutex;
use scholar_core::{
    Answer, Generation, GenerationRequest, Generator, GeneratorInfo, Message, NoticeKind, OnText,
    OutputShape, Paper, PaperMeta, Passage, PassageId, PortError, PortErrorKind, Question,
    Retrieved, Retriever, SearchRequest, Tree, TreeNode,
};
use scholar_pipeline::config::scirag::SciragConfig;
use scholar_pipeline::config::{PosthocMode, Task, WritingConfig};
use scholar_pipeline::{AskConfig, Event, Outcome, Ports};
use scholar_testing::{
    FakeAttributor, FakeReranker, MemoryGraph, MemoryRetriever, Reply, ScriptedGenerator, corpus,
};

pub(super) use crate::stage::QUESTION;

/// What the critic of the first answer asks for unless a test says otherwise.
pub(super) const FIRST: &str = "dense passage retrieval for open-domain questions";
/// Its second sub-query.
pub(super) const SECOND: &str = "gender bias in word embeddings";
/// What says that nothing is missing.
pub(super) const COMPLETE: &str = "[end]terminate";

/// The fixture corpus, every paper cited often enough, linked in a ring of neighbours by topic.
pub(super) fn linked_papers() -> Vec<Paper> {
    let mut papers = corpus::papers();
    let ids: Vec<_> = papers.iter().map(|paper| paper.meta.id.clone()).collect();
    for (at, paper) in papers.iter_mut().enumerate() {
        paper.meta.citation_count = Some(20 + u32::try_from(at).expect("forty"));
        let next = |step: usize| ids[(at + step) % ids.len()].clone();
        paper.references = vec![next(1), next(7), next(13)];
    }
    papers
}

/// Retriever, reranker, judge, graph and this model, over `papers`.
pub(super) fn ports_over(papers: &[Paper], generator: Arc<dyn Generator>) -> Ports {
    let retriever = MemoryRetriever::new(papers.iter().map(corpus::whole_text_passage));
    let mut ports = Ports::new(Arc::new(retriever), Arc::new(FakeAttributor::new()));
    ports.reranker = Some(Arc::new(FakeReranker::new()));
    ports.graph = Some(Arc::new(MemoryGraph::new(papers.to_vec())));
    ports.generator = Some(generator);
    ports
}

/// [`ports_over`] the linked corpus.
pub(super) fn ports(generator: &Arc<ScriptedGenerator>) -> Ports {
    let generator: Arc<ScriptedGenerator> = Arc::clone(generator);
    ports_over(&linked_papers(), generator)
}

/// `scirag` in prose, with four passages for the first answer and no insertion of citations, so that calls can be counted by eye.
pub(super) fn config(scirag: SciragConfig) -> AskConfig {
    let mut config = AskConfig::scirag(scirag, Task::Default);
    config.writing = WritingConfig::paper();
    config.posthoc = PosthocMode::None;
    config.ranking.top_n = 4;
    config
}

/// The paper's preset, one level deep.
pub(super) fn one_level() -> SciragConfig {
    SciragConfig { max_depth: 1, ..SciragConfig::paper() }
}

/// The step that a purpose names, without its node: `tag repair` of `tag repair 1.2`.
pub(super) fn step(purpose: &str) -> &str {
    purpose.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.').trim_end()
}

/// The node that a purpose names; empty for calls of the whole answer.
pub(super) fn node_of(purpose: &str) -> &str {
    purpose[step(purpose).len()..].trim_start()
}

/// A model that plays every part: it finds two things missing, wants the graph asked, keeps every candidate, and writes
/// sentences that stand in the references word for word.
pub(super) fn model() -> ScriptedGenerator {
    model_that(|_, _| None)
}

/// The same, but where `instead` has a reply to a step and its request.
pub(super) fn model_that(
    instead: impl Fn(&str, &GenerationRequest) -> Option<Reply> + Send + Sync + 'static,
) -> ScriptedGenerator {
    ScriptedGenerator::new("scripted").otherwise(move |request| {
        let step = step(&request.purpose);
        instead(step, request).or_else(|| usual(step, request))
    })
}

fn usual(step: &str, request: &GenerationRequest) -> Option<Reply> {
    let prompt = user(request);
    let node = node_of(&request.purpose);
    let text = match step {
        "outline" => "[Response_Start]1. (60%) Causes: why translations hallucinate.\n2. (40%) Retrieval: what retrieval changes.[Response_End]".to_owned(),
        "gaps" if !node.is_empty() => COMPLETE.to_owned(),
        "gaps" if prompt.contains("One query a line") => format!("(1) {FIRST}\n(2) {SECOND}"),
        "gaps" => "[Response_Start]1. nothing on retrieval\n2. nothing on bias[Response_End]".to_owned(),
        "queries" => format!("(1) {FIRST}\n(2) {SECOND}"),
        "decide" => "[expansion]".to_owned(),
        "tag" | "relate" | "select" | "contributions" => judgement(candidates(&prompt)),
        "analyse" => "All of them carry the answer.".to_owned(),
        "draft" | "answer" | "merge" | "aggregate" | "edit" => {
            format!("[Response_Start]{}[Response_End]", verbatim(&prompt, written(step)))
        }
        "compress" => verbatim(&prompt, 1),
        "feedback" => "[Response_Start][terminate][Response_End]".to_owned(),
        "repair" => "[Response_Start]1 | DELETE[Response_End]".to_owned(),
        _ => return None,
    };
    Some(Reply::Text(text))
}

/// References that a text of a step is made of.
fn written(step: &str) -> usize {
    match step {
        "draft" | "answer" => 2,
        "merge" => 4,
        _ => 6,
    }
}

/// The user's part of a request, demonstrations included.
pub(super) fn user(request: &GenerationRequest) -> String {
    request
        .messages
        .iter()
        .skip(1)
        .map(|message| message.content.as_str())
        .collect::<Vec<_>>()
        .join("\n")
}

/// The greatest number that begins a line of a prompt.
pub(super) fn candidates(prompt: &str) -> usize {
    let number = |line: &str| line.strip_prefix('[')?.split_once(']')?.0.parse::<usize>().ok();
    prompt.lines().filter_map(number).max().unwrap_or(0)
}

/// Every part of a judgement at once: tags, relations to the question, all `n` candidates kept in their order.
pub(super) fn judgement(n: usize) -> String {
    let list = |one: &dyn Fn(usize) -> serde_json::Value| (1..=n).map(one).collect::<Vec<_>>();
    let papers = list(
        &|at| serde_json::json!({"paper_index": at, "segments": [{"label": "E", "description": format!("What {at} found."), "relevance": "High"}]}),
    );
    let relations = list(
        &|at| serde_json::json!({"symbol": format!("[{at}]E -> [Q]"), "rationale": "It answers."}),
    );
    let kept = list(
        &|at| serde_json::json!({"paper_index": at, "rank": at, "justification": format!("Gives part {at}.")}),
    );
    serde_json::json!({"papers": papers, "relationships": relations, "final_selection": kept, "discarded_items": []}).to_string()
}

/// A reply that keeps these candidates and discards others.
pub(super) fn selection(kept: &[usize], discarded: &[usize]) -> String {
    let mut all: serde_json::Value = serde_json::from_str(&judgement(9)).expect("JSON");
    all["final_selection"] = kept
        .iter()
        .enumerate()
        .map(|(rank, at)| serde_json::json!({"paper_index": at, "rank": rank + 1, "justification": format!("Keeps {at}.")}))
        .collect();
    all["discarded_items"] = discarded
        .iter()
        .map(|at| serde_json::json!({"paper_index": at, "reason": format!("Drops {at}.")}))
        .collect();
    all.to_string()
}

/// References of a prompt: number and first sentence.
pub(super) fn references(prompt: &str) -> Vec<(usize, String)> {
    let read = |line: &str| {
        let (number, rest) = line.strip_prefix('[')?.split_once(']')?;
        let (_, text) = rest.split_once(" Text: ")?;
        let sentence = text.split_inclusive(". ").next()?.trim().trim_end_matches('.');
        Some((number.parse().ok()?, sentence.to_owned()))
    };
    prompt.lines().filter_map(read).collect()
}

/// First sentences of the first `n` references with their numbers: prose, a verdict in front where one is wanted, or the marked
/// lines of a report.
pub(super) fn verbatim(prompt: &str, n: usize) -> String {
    let all = references(prompt);
    let shown = all.iter().take(n);
    if prompt.contains("F1 |") {
        let findings: String = shown
            .enumerate()
            .map(|(at, (number, text))| format!("F{} | {text}. [{number}]\n", at + 1))
            .collect();
        let gap = "G | No paper found here prices bicycles on the Moon.";
        return format!(
            "## Causes\n{findings}\n## Limits\n{gap}\n\n## Short answer\nS F1 | Such causes matter."
        );
    }
    let verdict =
        [("Judgment: True", "Judgment: True [0]. "), ("Judgment: Yes", "Judgment: Yes [0]. ")];
    let verdict =
        verdict.iter().find(|(wanted, _)| prompt.contains(wanted)).map_or("", |(_, said)| said);
    let sentences: Vec<String> =
        shown.map(|(number, text)| format!("{text} [{number}].")).collect();
    format!("{verdict}{}", sentences.join(" "))
}

/// Asks [`QUESTION`].
pub(super) async fn ask(ports: &Ports, config: &AskConfig) -> Outcome<Answer> {
    crate::stage::ask(ports, config).await
}

/// Asks `text`.
pub(super) async fn ask_about(ports: &Ports, config: &AskConfig, text: &str) -> Outcome<Answer> {
    let question = Question::new(text).expect("a question");
    scholar_pipeline::ask(ports, &question, config, &()).await.expect("an answer")
}

pub(super) fn tree(outcome: &Outcome<Answer>) -> &Tree {
    outcome.value.tree.as_ref().expect("a tree")
}

pub(super) fn ids(outcome: &Outcome<Answer>) -> Vec<&str> {
    tree(outcome).nodes.iter().map(|node| node.id.as_str()).collect()
}

pub(super) fn node<'a>(outcome: &'a Outcome<Answer>, id: &str) -> &'a TreeNode {
    tree(outcome).nodes.iter().find(|node| node.id == id).expect("a node")
}

/// Calls whose step is `wanted`.
pub(super) fn calls(generator: &ScriptedGenerator, wanted: &str) -> Vec<GenerationRequest> {
    let all = generator.requests();
    all.into_iter().filter(|request| step(&request.purpose) == wanted).collect()
}

/// The steps of the calls that were made, in order, each once.
pub(super) fn steps(generator: &ScriptedGenerator) -> Vec<String> {
    let mut steps: Vec<String> = Vec::new();
    for purpose in generator.purposes() {
        let step = step(&purpose).to_owned();
        if !steps.contains(&step) {
            steps.push(step);
        }
    }
    steps
}

/// Whether a notice of this kind says `part`.
pub(super) fn says(outcome: &Outcome<Answer>, kind: NoticeKind, part: &str) -> bool {
    outcome.notices.iter().any(|notice| notice.kind == kind && notice.message.contains(part))
}

/// Nodes in the order in which they ended.
pub(super) fn ended(outcome: &Outcome<Answer>) -> Vec<&str> {
    outcome
        .trace
        .iter()
        .filter_map(|event| match event {
            Event::NodeEnded { node } => Some(node.id.as_str()),
            _ => None,
        })
        .collect()
}

/// What every outcome has to keep to, whatever the model replied.
pub(super) fn assert_sound(outcome: &Outcome<Answer>) {
    let answer = &outcome.value;
    for sentence in &answer.sentences {
        for citation in &sentence.citations {
            assert!(
                answer.references.iter().any(|one| one.number == *citation),
                "{citation:?} of {:?} is no reference",
                sentence.text
            );
        }
    }
    let Some(tree) = &answer.tree else { return };
    let place = |id: &str| -> Vec<usize> {
        id.split('.').map(|part| part.parse().expect("a number")).collect()
    };
    let places: Vec<Vec<usize>> = tree.nodes.iter().map(|node| place(&node.id)).collect();
    assert!(places.windows(2).all(|pair| pair[0] < pair[1]), "{places:?}");
    for node in &tree.nodes {
        let depth = if node.id == "0" { 0 } else { place(&node.id).len() };
        assert_eq!(node.path.len(), depth + 1, "{:?}", node.path);
        let mut papers: Vec<_> = node.evidence.iter().map(|one| &one.paper).collect();
        papers.sort_unstable();
        papers.dedup();
        assert_eq!(papers.len(), node.evidence.len(), "node {} has a paper twice", node.id);
        for evidence in &node.evidence {
            assert_ne!(evidence.kept, evidence.discarded.is_some(), "{evidence:?}");
            assert!(!evidence.passages.is_empty());
            if let Some(number) = evidence.reference {
                let reference = answer.references.iter().find(|one| one.number == number);
                assert_eq!(reference.map(|one| &one.paper_id), Some(&evidence.paper));
            }
        }
        if let Some(graph) = &node.contributions {
            assert!(graph.segments.iter().all(|one| one.evidence < node.evidence.len()));
            let n = graph.segments.len();
            let is_there = |at: &usize| *at < n;
            assert!(graph.chains.iter().all(|chain| chain.segments.iter().all(is_there)));
        }
    }
}

/// A generator that lets others go first: it answers a request after as many turns as `pace` says of it.
pub(super) struct Paced {
    inner: Arc<ScriptedGenerator>,
    /// Requests in work, and the most that ever were.
    at_once: Mutex<(usize, usize)>,
    pace: Box<dyn Fn(&GenerationRequest) -> usize + Send + Sync>,
}

impl Paced {
    pub(super) fn new(
        inner: &Arc<ScriptedGenerator>,
        pace: impl Fn(&GenerationRequest) -> usize + Send + Sync + 'static,
    ) -> Arc<Self> {
        Arc::new(Self { inner: Arc::clone(inner), at_once: Mutex::default(), pace: Box::new(pace) })
    }

    /// The most requests that waited side by side.
    pub(super) fn most_at_once(&self) -> usize {
        self.at_once.lock().1
    }
}

/// Gives up its turn `n` times.
pub(super) async fn turns(n: usize) {
    let mut left = n;
    poll_fn(|context| {
        if left == 0 {
            return Poll::Ready(());
        }
        left -= 1;
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

#[async_trait]
impl Generator for Paced {
    fn info(&self) -> &GeneratorInfo {
        self.inner.info()
    }

    fn count_tokens(&self, text: &str) -> usize {
        self.inner.count_tokens(text)
    }

    async fn generate(
        &self,
        request: &GenerationRequest,
        on_text: &OnText<'_>,
    ) -> Result<Generation, PortError> {
        {
            let mut at_once = self.at_once.lock();
            at_once.0 += 1;
            at_once.1 = at_once.1.max(at_once.0);
        }
        turns((self.pace)(request)).await;
        self.at_once.lock().0 -= 1;
        self.inner.generate(request, on_text).await
    }

    async fn choose(
        &self,
        purpose: &str,
        messages: &[Message],
        choices: &[&str],
    ) -> Result<Vec<f32>, PortError> {
        self.inner.choose(purpose, messages, choices).await
    }
}

/// Whether a request asked for JSON.
pub(super) fn is_json(request: &GenerationRequest) -> bool {
    matches!(request.shape, OutputShape::Json { .. })
}

/// A retriever that fails for queries with a given part.
pub(super) struct FailingFor {
    pub(super) inner: MemoryRetriever,
    pub(super) part: String,
}

#[async_trait]
impl Retriever for FailingFor {
    fn name(&self) -> &str {
        self.inner.name()
    }

    async fn search(&self, request: &SearchRequest) -> Result<Vec<Retrieved>, PortError> {
        if request.query.as_str().contains(&self.part) {
            return Err(PortError::new(PortErrorKind::Unavailable, "told to fail"));
        }
        self.inner.search(request).await
    }

    async fn passage(&self, id: &PassageId) -> Result<Option<(Passage, PaperMeta)>, PortError> {
        self.inner.passage(id).await
    }
}
