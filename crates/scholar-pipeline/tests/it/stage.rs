//! What every scenario stands on: the fixture corpus, fakes, and a readable form of events and answers.

use std::fmt::Write as _;
use std::sync::Arc;

use scholar_core::{Answer, AnswerMode, Notice, Question};
use scholar_pipeline::{AskConfig, Event, Outcome, Ports};
use scholar_testing::{FakeAttributor, FakeReranker, MemoryRetriever, ScriptedGenerator};

/// A question the corpus answers.
pub(crate) const QUESTION: &str =
    "How can hallucinations in neural machine translation be explained, reduced and detected?";

/// The whole loop over few passages, so that numbers can be followed by eye.
pub(crate) fn config() -> AskConfig {
    let mut config = AskConfig::paper();
    config.mode = AnswerMode::Generative.into();
    config.ranking.top_n = 2;
    config.retrieval.keywords = 2;
    config
}

/// The fixture corpus and this model.
pub(crate) fn ports(generator: &Arc<ScriptedGenerator>) -> Ports {
    let retriever = Arc::new(MemoryRetriever::corpus());
    let mut ports = Ports::new(retriever, Arc::new(FakeAttributor::new()));
    ports.reranker = Some(Arc::new(FakeReranker::new()));
    let generator: Arc<ScriptedGenerator> = Arc::clone(generator);
    ports.generator = Some(generator);
    ports
}

/// Asks [`QUESTION`]; the events are those the observer would have seen, text pieces left out.
pub(crate) async fn ask(ports: &Ports, config: &AskConfig) -> Outcome<Answer> {
    let question = Question::new(QUESTION).expect("a question");
    scholar_pipeline::ask(ports, &question, config, &()).await.expect("an answer")
}

/// Events, answer and notices, one line each.
pub(crate) fn readable(outcome: &Outcome<Answer>) -> String {
    let mut out = String::new();
    for event in &outcome.trace {
        let _ = writeln!(out, "{}", event_line(event));
    }
    let _ = write!(out, "\n{}", answer_lines(&outcome.value));
    out
}

fn event_line(event: &Event) -> String {
    match event {
        Event::Started { mode, reason } => format!("started {mode:?}: {reason}"),
        Event::Queries { queries } => {
            let queries: Vec<&str> = queries.iter().map(scholar_core::Query::as_str).collect();
            format!("queries {queries:?}")
        }
        Event::Searched { query, source, hits } => {
            format!("searched {source} for {:?}: {hits}", query.as_str())
        }
        Event::Pooled { candidates, kept } => format!("pooled {candidates} to {kept}"),
        Event::Ranked { reranker, evidence } => {
            let lines = evidence.iter().map(|e| {
                let ranked = &e.ranked;
                format!(
                    "\n    {} {:.2} {}",
                    e.number,
                    ranked.score.value(),
                    ranked.retrieved.paper.id
                )
            });
            format!("ranked by {reranker}{}", lines.collect::<String>())
        }
        Event::Generating { purpose, prompt } => {
            let file = prompt.as_deref().and_then(|p| p.split('@').next()).unwrap_or("-");
            format!("generating {purpose} with {file}")
        }
        Event::Text { purpose, .. } => format!("text of {purpose}"),
        Event::Generated { purpose, usage: _ } => format!("generated {purpose}"),
        Event::Outlined { outline } => format!("outlined {:?}", outline.sections),
        Event::NodeBegan { id, query } => format!("node {id} began: {query}"),
        Event::NodeDecided { id, papers, decision, by, neighbours } => {
            format!("node {id}: {papers} papers, {decision:?} by {by:?}, {neighbours} neighbours")
        }
        Event::NodeEnded { node } => format!("node {} ended {:?}", node.id, node.state),
        Event::Merged { id, children, passages, dropped, text } => {
            format!("merged {children} into {id} over {passages}, {dropped} dropped: {text:?}")
        }
        Event::Drafted { text } => format!("drafted {text:?}"),
        Event::Feedback { items } => format!("feedback {items:?}"),
        Event::Revised { item, accepted, reason, new_evidence, text } => {
            let verdict = if *accepted { "accepted" } else { "refused" };
            let new: String = new_evidence.iter().map(ToString::to_string).collect();
            format!("revision {item} {verdict} ({reason}), new {new:?}, text {text:?}")
        }
        Event::Sentence { sentence } => format!("sentence {:?}", sentence.text),
        Event::Verified { kept, reattributed, weakened, dropped } => {
            format!(
                "verified: {kept} kept, {reattributed} reattributed, {weakened} weakened, {dropped} dropped"
            )
        }
        Event::PaperRead { done, of, title, result } => {
            format!("read {done} of {of}, {title}: {result}")
        }
        Event::Noticed { notice: Notice { kind, message, hint } } => {
            format!("notice {kind:?}: {message} | hint: {}", hint.as_deref().unwrap_or("-"))
        }
        Event::Resolved { question, by } => format!("asked as {question} by {by:?}"),
        Event::Finished { abstained } => format!("finished, abstained: {abstained}"),
    }
}

fn answer_lines(answer: &Answer) -> String {
    let mut out = format!("answer {:?}, abstained: {}\n", answer.mode, answer.abstained);
    for sentence in &answer.sentences {
        let cited: Vec<usize> = sentence.citations.iter().map(|citation| citation.0).collect();
        let verdict = sentence.support.as_ref().map(|support| support.verdict);
        let start = if sentence.paragraph_start { "¶" } else { " " };
        let role = sentence.role.map(|role| format!(" {role:?} of {:?}", sentence.follows));
        let _ = writeln!(
            out,
            "{start} {} {cited:?} {:?} {verdict:?}{}",
            sentence.text,
            sentence.gates,
            role.unwrap_or_default()
        );
        for quote in &sentence.quotes {
            let head: String = quote.text.chars().take(60).collect();
            let _ =
                writeln!(out, "      {} {}..{} {head}", quote.passage_id, quote.start, quote.end);
        }
    }
    for reference in &answer.references {
        let _ = writeln!(out, "  {} {}", reference.number.0, reference.paper_id);
    }
    out
}
