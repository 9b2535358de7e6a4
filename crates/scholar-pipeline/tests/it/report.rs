//! The report as a story: marked sentences, gaps that are searched for, one repair, sections and a table.

use std::sync::Arc;

use scholar_core::{AnswerRole, OutputShape, SectionKind, Verdict};
use scholar_pipeline::config::{AnswerLength, WritingConfig, WritingPlan};
use scholar_pipeline::record::{Journal, Recorder, Replayer};
use scholar_pipeline::{AskConfig, AskError};
use scholar_testing::{Reply, ScriptedGenerator};

use crate::stage::{ask, config, ports, readable};

const DRAFT: &str = "[Response_Start]## Causes
X | Two questions arise about such systems.
F1 | Exposure bias is partially to blame for hallucinations in neural machine translation. [0]
X | Minimum Risk Training reduces hallucinations by half in every setting.
F2 | Zebras rule Burgundy from Mars. [1]

S1 F1 F2 | Training that avoids exposure bias may therefore help.
S F2 | On WMT22 this is worth 3 points.

## Limits
G | No study reports how hallucinations in neural machine translation are detected.
G | No study reports the price of bicycles on the Moon.

## Short answer
F3 | Training with Minimum Risk Training avoids exposure bias and can mitigate hallucinations. [0]
S S1 | Exposure bias is the cause with most evidence.[Response_End]";

fn report() -> AskConfig {
    let mut config = config();
    config.writing = WritingConfig::report();
    config
}

/// Rewrites the framing that was none, gives up the zebras, keeps what it is asked about a gap.
fn repaired() -> &'static str {
    "[Response_Start]1 | Training with Minimum Risk Training avoids exposure bias. [0]
2 | DELETE
3 | DELETE
4 | DELETE[Response_End]"
}

#[tokio::test]
async fn a_report_from_draft_to_answer() {
    let generator = Arc::new(
        ScriptedGenerator::new("scripted")
            .reply("keywords", "hallucination detection translation, exposure bias")
            .reply("draft", DRAFT)
            .reply("feedback", "[Response_Start]\nFeedback: Name a remedy. Question: How can hallucinations in chart summarization be mitigated?\n[Response_End]")
            .reply("edit", "[Response_Start]F1 | Too little. [0][Response_End]")
            .reply("repair", repaired()),
    );
    let outcome = ask(&ports(&generator), &report()).await;
    insta::assert_snapshot!(readable(&outcome));
    assert!(generator.unused().is_empty(), "{:?}", generator.unused());

    let answer = &outcome.value;
    let kinds: Vec<SectionKind> = answer.sections.iter().map(|one| one.kind).collect();
    assert_eq!(kinds, [SectionKind::ShortAnswer, SectionKind::Facet, SectionKind::Limits]);
    let end = answer.sections.iter().fold(0, |from, part| {
        assert!(part.start == from && part.end > from, "{part:?}");
        part.end
    });
    assert_eq!(end, answer.sentences.len());
    for sentence in &answer.sentences {
        let text = &sentence.text;
        assert!(!text.contains("unverified") && !text.contains("Zebras"), "{text}");
        match sentence.role.expect("a role") {
            AnswerRole::Finding => assert!(!sentence.citations.is_empty(), "{text}"),
            AnswerRole::Synthesis => {
                assert!(sentence.citations.is_empty() && !sentence.follows.is_empty(), "{text}");
                assert!(
                    sentence.follows.iter().all(|at| !answer.sentences[*at].citations.is_empty())
                );
            }
            AnswerRole::Framing | AnswerRole::Gap => {
                assert!(sentence.citations.is_empty() && sentence.follows.is_empty(), "{text}");
            }
        }
    }
    let gaps = answer.sentences.iter().filter(|one| one.role == Some(AnswerRole::Gap));
    assert_eq!(gaps.count(), 1, "what a passage is about is not claimed to be unreported");
}

#[tokio::test]
async fn without_a_repair_nothing_is_decorated() {
    let generator = Arc::new(ScriptedGenerator::new("scripted").reply("draft", DRAFT));
    let mut config = report();
    config.retrieval.keywords = 0;
    config.feedback.items = 0;
    config.writing.repair_sentences = 0;
    let outcome = ask(&ports(&generator), &config).await;
    assert_eq!(generator.purposes(), ["draft"]);
    let zebras = outcome.value.sentences.iter().find(|one| one.text.contains("Zebras"));
    let zebras = zebras.expect("kept with its verdict");
    assert_eq!(zebras.text, "Zebras rule Burgundy from Mars.");
    assert_ne!(zebras.support.as_ref().map(|support| support.verdict), Some(Verdict::Supported));
}

#[tokio::test]
async fn quotations_come_first_and_only_those_that_are_there() {
    let generator = Arc::new(
        ScriptedGenerator::new("scripted")
            .answer("quotes", |request| {
                let prompt = &request.messages[1].content;
                let line = prompt.lines().find(|line| line.starts_with("[0]")).expect("a reference");
                let text = line.split(" Text: ").nth(1).expect("a text");
                let first = text.split_inclusive(". ").next().expect("a sentence").trim();
                Reply::Text(format!("[0] \"{first}\"\n[0] \"Nobody ever wrote this.\""))
            })
            .reply("outline", "## Causes\nQ1 Q2")
            .answer("draft", |request| {
                let prompt = &request.messages[1].content;
                assert!(prompt.contains("## Causes: [0]") && !prompt.contains("Nobody ever"), "{prompt}");
                Reply::Text("## Short answer\nF1 | Exposure bias is partially to blame for hallucinations in neural machine translation. [0]".to_owned())
            }),
    );
    let mut config = report();
    config.retrieval.keywords = 0;
    config.writing.plan = WritingPlan::Quotes;
    config.writing.length = AnswerLength::Short;
    let recorder = Recorder::new(&ports(&generator));
    let outcome = ask(recorder.ports(), &config).await;
    assert_eq!(generator.purposes()[..3], ["quotes", "outline", "draft"]);
    let said = outcome.notices.iter().any(|notice| notice.message.starts_with("1 of 2 quotations"));
    assert!(said, "{:?}", outcome.notices);
    let lines = recorder.journal().to_json_lines();
    let journal = Journal::from_json_lines(&lines).expect("reads what it writes");
    let replayer = Replayer::new(&journal).expect("complete");
    let again = ask(&replayer.ports(), &config).await;
    assert_eq!((again.value, again.notices), (outcome.value, outcome.notices));
}

#[tokio::test]
async fn a_model_of_this_process_is_held_to_its_sentences_and_its_outline() {
    let generator = Arc::new(
        ScriptedGenerator::new("scripted")
            .with_info(|info| info.local = true)
            .answer("quotes", |request| {
                let OutputShape::Json { schema, .. } = &request.shape else {
                    panic!("quotations are asked for as JSON")
                };
                let prompt = &request.messages[1].content;
                let passages = &schema["properties"]["quotations"]["items"]["anyOf"];
                let passages = passages.as_array().expect("passages");
                for passage in passages {
                    let number = &passage["properties"]["reference"]["const"];
                    let line = prompt.lines().find(|line| line.starts_with(&format!("[{number}]")));
                    let line = line.expect("a passage that is shown");
                    for sentence in
                        passage["properties"]["sentence"]["enum"].as_array().expect("sentences")
                    {
                        assert!(
                            line.contains(sentence.as_str().expect("text")),
                            "{sentence}: {line}"
                        );
                    }
                }
                let properties = &passages[0]["properties"];
                let (reference, sentence) =
                    (&properties["reference"]["const"], &properties["sentence"]["enum"][0]);
                let choice = serde_json::json!({"reference": reference, "sentence": sentence});
                Reply::Text(serde_json::json!({"quotations": [choice, choice]}).to_string())
            })
            .answer("outline", |request| {
                let OutputShape::Json { schema, .. } = &request.shape else {
                    panic!("the outline is asked for as JSON")
                };
                let part = &schema["properties"]["parts"]["items"]["properties"];
                assert_eq!(part["quotations"]["items"]["enum"], serde_json::json!([1]));
                Reply::Text(r#"{"parts": [{"heading": "Causes", "quotations": [1]}]}"#.to_owned())
            })
            .answer("draft", |request| {
                let prompt = &request.messages[1].content;
                assert!(prompt.contains("## Causes: ["), "{prompt}");
                Reply::Text(BLAMED.to_owned())
            }),
    );
    let outcome = ask(&ports(&generator), &quotes_first()).await;
    assert_eq!(generator.purposes()[..3], ["quotes", "outline", "draft"]);
    let dropped = outcome.notices.iter().filter(|notice| notice.message.contains("were dropped"));
    assert_eq!(dropped.count(), 0, "{:?}", outcome.notices);
}

#[tokio::test]
async fn an_outline_that_is_not_whole_is_left_out_and_said() {
    let generator = Arc::new(
        ScriptedGenerator::new("scripted")
            .with_info(|info| info.local = true)
            .answer("quotes", |request| {
                let OutputShape::Json { schema, .. } = &request.shape else {
                    panic!("quotations are asked for as JSON")
                };
                let properties =
                    &schema["properties"]["quotations"]["items"]["anyOf"][0]["properties"];
                let (reference, sentence) =
                    (&properties["reference"]["const"], &properties["sentence"]["enum"][0]);
                let choice = serde_json::json!({"reference": reference, "sentence": sentence});
                Reply::Text(serde_json::json!({"quotations": [choice]}).to_string())
            })
            .reply("outline", r#"{"parts": [{"heading": "Cau"#)
            .reply("draft", BLAMED),
    );
    let outcome = ask(&ports(&generator), &quotes_first()).await;
    assert_eq!(generator.purposes()[..3], ["quotes", "outline", "draft"]);
    let said = outcome.notices.iter().any(|notice| notice.message.contains("the outline"));
    assert!(said, "{:?}", outcome.notices);
}

const BLAMED: &str = "## Short answer\nF1 | Exposure bias is partially to blame for hallucinations in neural machine translation. [0]";

fn quotes_first() -> AskConfig {
    let mut config = report();
    config.retrieval.keywords = 0;
    config.writing.plan = WritingPlan::Quotes;
    config
}

#[tokio::test]
async fn a_table_has_cells_that_stand_in_their_papers_or_is_left_out() {
    let generator = Arc::new(ScriptedGenerator::new("scripted").answer("draft", |request| {
        let prompt = &request.messages[1].content;
        let mut rows = String::from("T | First words | Colour\n");
        for line in prompt.lines().filter(|line| line.starts_with('[') && line.contains(" Text: ")) {
            let number = &line[..=line.find(']').expect("numbered")];
            let text = line.split(" Text: ").nth(1).expect("a text");
            let words: Vec<&str> = text.split_whitespace().take(3).collect();
            rows.extend(["T ", number, " | ", &words.join(" "), " | mauve and puce\n"]);
        }
        Reply::Text(format!("## Causes\nF1 | Exposure bias is partially to blame for hallucinations in neural machine translation. [0]\n{rows}## Limits\nG | No study reports the price of bicycles on the Moon."))
    }));
    let mut config = report();
    config.retrieval.keywords = 0;
    config.feedback.items = 0;
    config.ranking.top_n = 6;
    let outcome = ask(&ports(&generator), &config).await;
    let table = outcome.value.table.as_ref().expect("six passages of four papers or more");
    assert_eq!(table.columns, ["First words"], "nobody says mauve");
    assert!(table.rows.len() >= 4);
    for row in &table.rows {
        let quote = row.cells[0].quote.as_ref().expect("located");
        assert_eq!(quote.reference, row.reference);
        assert!(outcome.value.references.iter().any(|one| one.number == row.reference));
    }
    assert_eq!(outcome.value.table_place(), 1);
    config.ranking.top_n = 3;
    let outcome = ask(&ports(&generator), &config).await;
    assert!(outcome.value.table.is_none());
    assert!(
        outcome.notices.iter().any(|notice| notice.message.starts_with("the table is left out"))
    );
}

#[tokio::test]
async fn a_report_without_a_draft_is_an_error() {
    let generator = Arc::new(ScriptedGenerator::new("scripted").reply("draft", "[]"));
    let mut config = report();
    config.retrieval.keywords = 0;
    let question = scholar_core::Question::new(crate::stage::QUESTION).expect("a question");
    let error = scholar_pipeline::ask(&ports(&generator), &question, &config, &())
        .await
        .expect_err("no draft, no answer");
    assert!(matches!(error, AskError::Generate { .. }));
}
