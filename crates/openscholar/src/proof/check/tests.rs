//! Edits of a run folder that a check must find: of one file, and of all files alike with every digest taken anew.

mod consistent;
mod edits;

use scholar_core::{AnswerMode, Citation};
use scholar_pipeline::proof::UNBOUND_PROOF_SCHEMA;
use scholar_testing::MemoryRetriever;
use serde_json::Value;

use super::*;
use crate::proof::derive;
use crate::proof::describe;
use crate::proof::sample::{self, Kind};

/// Checks against the papers of the tests, at the commit that the proof names.
async fn checked(files: &RunFiles) -> Result<Checked, CommandError> {
    let store = MemoryRetriever::corpus();
    check(files, Some(Sources { passages: &store, same_commit: true })).await
}

/// Everything that is told of a run.
async fn told_of(files: &RunFiles) -> Vec<String> {
    match checked(files).await {
        Ok(checked) => {
            let proof = checked.report.problems.iter().map(describe::problem);
            proof.chain(checked.files.iter().map(describe::file_problem)).collect()
        }
        Err(error) => vec![told(&error)],
    }
}

/// Whether the edit is found, and whether it changed nothing that is read: bytes of white space.
async fn is_caught(files: &RunFiles) -> bool {
    checked(files).await.map_or(true, |checked| !checked.holds())
}

fn text(files: &RunFiles, name: &str) -> String {
    String::from_utf8(files.0[name].clone()).expect("UTF-8")
}

fn put(files: &mut RunFiles, name: &str, text: impl Into<Vec<u8>>) {
    files.0.insert(name.to_owned(), text.into());
}

fn json(files: &RunFiles, name: &str) -> Value {
    files.json(name).expect("JSON")
}

fn put_json(files: &mut RunFiles, name: &str, value: &Value) {
    put(files, name, derive::pretty(value).expect("serialises"));
}

#[tokio::test]
async fn untouched_runs_of_every_kind_hold() {
    for kind in [Kind::Evidence, Kind::Generative, Kind::NoRetrieval, Kind::Abstained] {
        let files = sample::of(kind).await.expect("a run");
        let checked = checked(&files).await.expect("checked");
        assert!(checked.holds() && checked.bound && checked.derived, "{kind:?} {checked:#?}");
        assert!(checked.file_remarks.is_empty(), "{checked:?}");
        let document: AnswerDocument = files.json(ANSWER_FILE).expect("an answer");
        let quoted = matches!(kind, Kind::Evidence | Kind::Generative);
        assert_eq!(checked.report.quotes > 0, quoted, "{kind:?}");
        assert_eq!(document.answer.abstained, kind == Kind::Abstained);
        assert_eq!(document.answer.mode == AnswerMode::NoRetrieval, kind == Kind::NoRetrieval);

        let gone = check(&files, None).await.expect("checked");
        assert!(gone.holds(), "without its datastore: {gone:?}");
        assert_eq!(gone.report.quotes_compared, 0);
        let (_, replayed) = crate::commands::runs::replay::replay(&files).await.expect("replayed");
        let replayed = serde_json::to_value(replayed).expect("serialises");
        assert!(replayed.as_array().expect("files").iter().all(|one| one["identical"] == true));
    }
}

/// The cases that once passed: each is named in words.
#[tokio::test]
async fn the_edits_that_went_unnoticed_are_named() {
    let good = sample::of(Kind::Generative).await.expect("a run");
    let document: AnswerDocument = good.json(ANSWER_FILE).expect("an answer");
    let old = "partially to blame";
    assert!(text(&good, MARKDOWN_FILE).contains(old), "{}", text(&good, MARKDOWN_FILE));
    let named = async |files: RunFiles, says: &[&str]| {
        let told = told_of(&files).await.join("\n");
        for words in says {
            assert!(told.contains(words), "{words:?} is missing in\n{told}");
        }
    };

    // A sentence changed in the proof and the answer for people.
    let mut changed = good.clone();
    for file in [PROOF_FILE, MARKDOWN_FILE] {
        let text = text(&changed, file).replace(old, "not at all to blame");
        put(&mut changed, file, text);
    }
    named(changed, &["proof.json, sentence 1: “partially” → “not at all”", "answer.md, line 3"])
        .await;

    let mut deleted = good.clone();
    let mut value = json(&deleted, ANSWER_FILE);
    value["sentences"].as_array_mut().expect("a list").remove(1);
    put_json(&mut deleted, ANSWER_FILE, &value);
    named(deleted, &["answer.json, sentence 2: deleted: “Training with Minimum Risk"]).await;

    let mut added = good.clone();
    let mut value = json(&added, PROOF_FILE);
    let mut sentence = value["sentences"][0].clone();
    sentence["text"] = "Lead is good for children.".into();
    value["sentences"].as_array_mut().expect("a list").insert(1, sentence);
    put_json(&mut added, PROOF_FILE, &value);
    named(added, &["proof.json, sentence 2: added, nothing proves it: “Lead is good"]).await;

    let mut cited = good.clone();
    let mut value = json(&cited, PROOF_FILE);
    value["sentences"][0]["citations"].as_array_mut().expect("a list").push(999.into());
    put_json(&mut cited, PROOF_FILE, &value);
    let says = [
        "proof.json, sentence 1: citation “[999]” added",
        "sentence 1: there is no reference [999]",
    ];
    named(cited, &says).await;

    let mut appended = good.clone();
    let longer = text(&appended, MARKDOWN_FILE) + "Everything above is wrong.\n";
    put(&mut appended, MARKDOWN_FILE, longer);
    named(appended, &["answer.md, line", "line added: “Everything above is wrong.”"]).await;

    let mut relisted = good.clone();
    let mut value = json(&relisted, ANSWER_FILE);
    value["references"][0]["title"] = "A paper that never was".into();
    put_json(&mut relisted, ANSWER_FILE, &value);
    named(relisted, &["answer.json, reference 1.title:", "A paper that never was"]).await;
    assert_eq!(document.answer.references[0].number, Citation(1));
}

#[tokio::test]
async fn white_space_is_harmless_and_notation_is_not() {
    let good = sample::of(Kind::Evidence).await.expect("a run");
    for file in [ANSWER_FILE, PROOF_FILE] {
        let mut spaced = good.clone();
        let value = json(&spaced, file);
        put(&mut spaced, file, serde_json::to_string(&value).expect("serialises"));
        let checked = checked(&spaced).await.expect("checked");
        assert!(checked.holds(), "{:?}", checked.files);
        let file_name = file.to_owned();
        assert_eq!(checked.file_remarks, [FileRemark::WhiteSpace { file: file_name }]);

        // Readers differ in which of two keys they take.
        let mut twice = good.clone();
        let repeated = text(&twice, file).replacen('{', "{\"question\": \"Is it so?\",", 1);
        put(&mut twice, file, repeated);
        assert!(is_caught(&twice).await);
    }
}

/// Without its journal the proof still says what the other files should be.
#[tokio::test]
async fn a_run_without_its_journal_is_compared_with_its_proof() {
    let mut files = sample::of(Kind::Evidence).await.expect("a run");
    files.0.remove(JOURNAL_FILE);
    let told = told_of(&files).await;
    assert!(told[0].contains("cannot be derived") && told.len() == 2, "{told:?}");
    assert!(told[1].contains("the digest of journal.jsonl"), "{told:?}");
    let changed = text(&files, ANSWER_FILE).replacen("translation", "transduction", 3);
    put(&mut files, ANSWER_FILE, changed);
    let told = told_of(&files).await.join("\n");
    assert!(told.contains("transduction") && told.contains("digest of answer.json"), "{told}");
}

/// A run as the version before wrote it: checked as far as it goes, and said to be not bound.
#[tokio::test]
async fn a_run_of_an_earlier_version_is_not_bound() {
    let mut files = sample::of(Kind::Evidence).await.expect("a run");
    let mut proof = json(&files, PROOF_FILE);
    let fields = proof.as_object_mut().expect("an object");
    fields.retain(|key, _| {
        ["question", "sentences", "references", "passages"].contains(&key.as_str())
    });
    fields.insert("schema".to_owned(), UNBOUND_PROOF_SCHEMA.into());
    for sentence in proof["sentences"].as_array_mut().expect("a list") {
        sentence.as_object_mut().expect("an object").retain(|key, _| {
            ["index", "text", "quotes", "support", "gates"].contains(&key.as_str())
        });
    }
    for passage in proof["passages"].as_array_mut().expect("a list") {
        passage
            .as_object_mut()
            .expect("an object")
            .retain(|key, _| ["passage_id", "text_sha256"].contains(&key.as_str()));
    }
    put_json(&mut files, PROOF_FILE, &proof);
    let checked = checked(&files).await.expect("checked");
    assert!(!checked.bound && checked.derived && checked.holds(), "{checked:?}");
    assert!(checked.report.quotes_hold > 0, "{:?}", checked.report);
    let mut changed = files.clone();
    proof["sentences"][0]["text"] = "Something that no paper says.".into();
    put_json(&mut changed, PROOF_FILE, &proof);
    let told = told_of(&changed).await.join("\n");
    assert!(told.contains("proof.json, sentence"), "{told}");
}
