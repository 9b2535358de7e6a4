//! Reports that a capable model wrote about real questions, answered again from their journals.
//!
//! Replies of the model are served in the order of their purposes, whatever the prompts say, so that a changed prompt does
//! not need the model again. What becomes of the replies (which citation stays, what is repaired, deleted or marked) is
//! compared with what was answered then. `OPENSCHOLAR_BLESS=1 cargo test -p scholar-pipeline recorded` writes the new answers
//! down, to be read in the diff.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use flate2::read::GzDecoder;
use scholar_core::{Answer, GeneratorStrength, Question};
use scholar_pipeline::record::{Journal, Replayer};
use scholar_pipeline::{AskConfig, Ports, ask};
use scholar_testing::{FakeAttributor, MemoryRetriever, ScriptedGenerator};
use serde_json::{Value, json};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/recorded")
}

/// The lines of a journal as values.
fn lines(name: &str) -> Vec<Value> {
    let file = fs_err_read(&folder().join(format!("{name}.journal.jsonl.gz")));
    let mut text = String::new();
    GzDecoder::new(file.as_slice()).read_to_string(&mut text).expect("gzip of UTF-8");
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

fn fs_err_read(path: &Path) -> Vec<u8> {
    std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// What a reader sees of an answer: sentences with headings, roles, citations, verdicts and quotations; the references.
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
    json!({
        "sentences": sentences.collect::<Vec<_>>(),
        "references": references.collect::<Vec<_>>(),
    })
}

async fn is_answered_as_recorded(name: &str) {
    let all = lines(name);
    let is_reply = |line: &&Value| line["port"] == "generate";
    let mut model = ScriptedGenerator::new("recorded")
        .with_info(|info| info.strength = GeneratorStrength::Strong);
    for line in all.iter().filter(is_reply) {
        let purpose = line["purpose"].as_str().expect("a purpose");
        let text =
            line["result"]["reply"]["generation"]["text"].as_str().expect("a reply with a text");
        model = model.reply(purpose, text);
    }
    let others: Vec<String> =
        all.iter().filter(|line| !is_reply(line)).map(ToString::to_string).collect();
    let journal = Journal::from_json_lines(&others.join("\n")).expect("a journal");
    let mut live = Ports::new(Arc::new(MemoryRetriever::new([])), Arc::new(FakeAttributor::new()));
    live.generator = Some(Arc::new(model));
    let replayer = Replayer::with_live(&journal, Some(live)).expect("complete");
    let run: Value =
        serde_json::from_slice(&fs_err_read(&folder().join(format!("{name}.run.json"))))
            .expect("JSON");
    let question =
        Question::new(run["question"].as_str().expect("a question")).expect("a question");
    let config: AskConfig = serde_json::from_value(run["config"].clone()).expect("settings");
    let outcome = ask(&replayer.ports(), &question, &config, &()).await.expect("answered");
    let found = seen(&outcome.value);
    let path = folder().join(format!("{name}.answer.json"));
    if std::env::var_os("OPENSCHOLAR_BLESS").is_some() {
        let text = serde_json::to_string_pretty(&found).expect("serialises");
        std::fs::write(&path, text + "\n").expect("written");
        return;
    }
    let expected: Value = serde_json::from_slice(&fs_err_read(&path)).expect("JSON");
    assert_eq!(found, expected, "{name}: OPENSCHOLAR_BLESS=1 writes the new answer down");
}

#[tokio::test]
async fn a_report_on_reranking_stands_as_it_was_proven() {
    is_answered_as_recorded("reranking").await;
}

#[tokio::test]
async fn a_report_on_a_drug_stands_as_it_was_proven() {
    is_answered_as_recorded("acetylcysteine").await;
}

#[tokio::test]
async fn a_report_on_thin_evidence_stands_as_it_was_proven() {
    is_answered_as_recorded("emotion").await;
}
