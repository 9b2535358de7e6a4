//! Reports and explorations that a capable model wrote about real questions, answered again from their journals.
//!
//! Replies of the model are served in the order of their purposes, whatever the prompts say, so that a changed prompt does
//! not need the model again. What becomes of the replies (which citation stays, what is repaired, deleted or marked) is
//! compared with the snapshot, which `INSTA_UPDATE=always cargo test -p scholar-pipeline recorded` writes anew.

use std::io::Read as _;
use std::sync::Arc;

use flate2::read::GzDecoder;
use scholar_core::{Answer, EvidenceOrigin, GeneratorStrength, Question, TreeNode};
use scholar_pipeline::record::{Journal, Replayer};
use scholar_pipeline::{AskConfig, Ports, ask};
use scholar_testing::{FakeAttributor, MemoryRetriever, ScriptedGenerator};
use serde_json::{Value, json};

/// What a run left behind: its journal, without what the model was asked, and its question and settings.
struct Recorded {
    name: &'static str,
    journal: &'static [u8],
    run: &'static str,
}

macro_rules! recorded {
    ($name:literal) => {
        Recorded {
            name: $name,
            journal: include_bytes!(concat!("../data/recorded/", $name, ".journal.jsonl.gz")),
            run: include_str!(concat!("../data/recorded/", $name, ".run.json")),
        }
    };
}

/// The lines of a journal as values.
fn lines(journal: &[u8]) -> Vec<Value> {
    let mut text = String::new();
    GzDecoder::new(journal).read_to_string(&mut text).expect("gzip of UTF-8");
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

/// What a reader sees of an answer: sentences with headings, roles, citations, verdicts and quotations; the references; of an
/// exploration also the outline, and of each node what it asked, decided and kept.
fn seen(answer: &Answer) -> Value {
    let sentences = answer.sentences.iter().map(|one| {
        json!({
            "text": one.text,
            "heading": one.heading,
            "role": one.role,
            "citations": one.citations,
            "verdict": one.support.as_ref().map(|support| support.verdict),
            "quotes": one.quotes.iter().map(|quote| &quote.text).collect::<Vec<_>>(),
        })
    });
    let references = answer.references.iter().map(|one| one.paper_id.to_string());
    let mut seen = json!({
        "sentences": sentences.collect::<Vec<_>>(),
        "references": references.collect::<Vec<_>>(),
    });
    if let Some(outline) = &answer.outline {
        let headings = outline.sections.iter().map(|one| one.heading.as_str());
        seen["outline"] = headings.collect();
    }
    if let Some(tree) = &answer.tree {
        seen["tree"] = tree.nodes.iter().map(node).collect();
    }
    seen
}

fn node(node: &TreeNode) -> Value {
    let kept = node.evidence.iter().filter(|one| one.kept).map(|one| {
        let way = match &one.origin {
            EvidenceOrigin::Link { of, direction } => json!({"of": of, "direction": direction}),
            other => json!(other),
        };
        json!({"paper": one.paper, "origin": way, "rationale": one.rationale})
    });
    json!({
        "id": node.id,
        "query": node.path.last(),
        "state": node.state,
        "decision": node.decision,
        "kept": kept.collect::<Vec<_>>(),
        "discarded": node.evidence.iter().filter(|one| !one.kept).count(),
        "gaps": node.gaps,
        "calls": node.calls,
    })
}

async fn is_answered_as_recorded(recorded: Recorded) {
    let all = lines(recorded.journal);
    let is_reply = |line: &&Value| line["port"] == "generate";
    let mut model = ScriptedGenerator::new("recorded")
        .with_info(|info| info.strength = GeneratorStrength::Strong);
    for line in all.iter().filter(is_reply) {
        let purpose = line["purpose"].as_str().expect("a purpose");
        let text = line["result"]["reply"]["generation"]["text"].as_str().expect("a text");
        model = model.reply(purpose, text);
    }
    let others: Vec<String> =
        all.iter().filter(|line| !is_reply(line)).map(ToString::to_string).collect();
    let journal = Journal::from_json_lines(&others.join("\n")).expect("a journal");
    // What the judge of the run could do is asked of the live one.
    let judge = FakeAttributor::new();
    let read_whole = all[0]["finds_contradictions"] == true;
    let judge = if read_whole { judge.finding_contradictions() } else { judge };
    let mut live = Ports::new(Arc::new(MemoryRetriever::new([])), Arc::new(judge));
    live.generator = Some(Arc::new(model));
    let replayer = Replayer::with_live(&journal, Some(live)).expect("complete");
    let run: Value = serde_json::from_str(recorded.run).expect("JSON");
    let asked = run["question"].as_str().expect("a question");
    let question = Question::new(asked).expect("a question");
    let config: AskConfig = serde_json::from_value(run["config"].clone()).expect("settings");
    let outcome = ask(&replayer.ports(), &question, &config, &()).await.expect("answered");
    let found = serde_json::to_string_pretty(&seen(&outcome.value)).expect("serialises");
    insta::assert_snapshot!(recorded.name, found);
}

#[tokio::test]
async fn a_report_on_reranking_stands_as_it_was_proven() {
    is_answered_as_recorded(recorded!("reranking")).await;
}

#[tokio::test]
async fn a_report_on_a_drug_stands_as_it_was_proven() {
    is_answered_as_recorded(recorded!("acetylcysteine")).await;
}

#[tokio::test]
async fn a_report_on_thin_evidence_stands_as_it_was_proven() {
    is_answered_as_recorded(recorded!("emotion")).await;
}

#[tokio::test]
async fn an_exploration_of_one_level_stands_as_it_was_proven() {
    is_answered_as_recorded(recorded!("hair-cortisol")).await;
}

#[tokio::test]
async fn an_exploration_of_two_levels_stands_as_it_was_proven() {
    is_answered_as_recorded(recorded!("recognition-memory")).await;
}

/// Two calls were allowed, for outline and first answer: the best partial answer was kept.
#[tokio::test]
async fn an_exploration_that_ran_out_of_budget_keeps_its_first_answer() {
    is_answered_as_recorded(recorded!("plasticity")).await;
}
