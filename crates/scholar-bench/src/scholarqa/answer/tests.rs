use std::sync::Arc;

use futures::executor::block_on;
use scholar_core::text::markers::citation_groups;
use scholar_core::{Generator, Retriever};
use scholar_pipeline::proof::LexicalAttributor;
use scholar_testing::{MemoryRetriever, Reply, ScriptedGenerator};

use super::*;
use crate::scholarqa::fixed_retriever::{FixedRetriever, NoRetriever};
use crate::scholarqa::system::{Ablation, System, config_of, filter_of};
use crate::scholarqa::task::BenchTask;

fn ports(retriever: Arc<dyn Retriever>, generator: Option<ScriptedGenerator>) -> Ports {
    let mut ports = Ports::new(retriever, Arc::new(LexicalAttributor::new()));
    ports.generator = generator.map(|generator| Arc::new(generator) as Arc<dyn Generator>);
    ports
}

fn config(task: BenchTask, system: &str) -> AskConfig {
    config_of(task, System::named(system).expect(system), &Ablation::default(), false, 1)
}

fn claim() -> Item {
    let mut item = Item::new(BenchTask::SciFact, "scifact_0", "Statins lower cholesterol.");
    item.gold = Gold::Label("true".to_owned());
    item.contexts = vec![Context {
        title: "A trial".to_owned(),
        text: "In this trial statins lowered cholesterol by a third.".to_owned(),
        ..Context::default()
    }];
    item
}

#[test]
fn a_claim_over_its_own_paragraph_gets_a_label() {
    let item = claim();
    let generator = ScriptedGenerator::new("scripted").answer("draft", |request| {
        let prompt: String = request.messages.iter().map(|m| m.content.as_str()).collect();
        assert!(prompt.contains("statins lowered cholesterol by a third"), "{prompt}");
        Reply::Text("[Response_Start]True[Response_End]".to_owned())
    });
    let given = Arc::new(FixedRetriever::given(&item.id, &item.contexts));
    let config = config(BenchTask::SciFact, "gold-context");
    let prediction = block_on(answer(&ports(given, Some(generator)), &item, &config, &()));
    assert_eq!((prediction.output.as_str(), prediction.answer.as_deref()), ("true", Some("true")));
    assert_eq!(prediction.status, PredictionStatus::Answered);
    assert_eq!(prediction.ctxs.len(), 1);
    assert_eq!(prediction.usage.expect("counted").calls, 1);
}

#[test]
fn citations_are_places_among_what_was_shown() {
    let item = Item::new(
        BenchTask::Multi,
        "multi_0",
        "How can hallucinations in neural machine translation be explained and reduced?",
    );
    let mut config = config(BenchTask::Multi, "evidence");
    config.retrieval.filter = filter_of(&item, None);
    // The fakes' similarities are not those that papers were scored with.
    (config.evidence.papers.show_from, config.evidence.papers.show_share) = (0.0, 0.0);
    config.evidence.papers.max_papers = 20;
    let ports = ports(Arc::new(MemoryRetriever::corpus()), None);
    let prediction = block_on(answer(&ports, &item, &config, &()));
    assert_eq!(prediction.status, PredictionStatus::Answered, "{prediction:?}");
    let groups = citation_groups(&prediction.output);
    assert!(groups.len() >= 3, "{}", prediction.output);
    for sentence in prediction.sentences.iter().filter(|sentence| sentence.verbatim) {
        let bare = strip_citations(&sentence.text);
        let start = bare.trim_end_matches(['.', '!', '?']);
        let at = prediction.output.find(start).expect("the sentence is in the output");
        let after = &prediction.output[at + start.len()..];
        let number = citation_groups(after)[0].numbers[0];
        // Letter by letter: the sentence itself may begin with a capital that its source has not.
        assert!(prediction.ctxs[number].text.contains(&sentence.quotes[0].text), "{after}");
    }
}

#[test]
fn a_model_alone_keeps_the_references_it_lists() {
    let item = Item::new(BenchTask::Bio, "bio_0", "How do statins act?");
    let text = "They block an enzyme [1].\n\nReferences:\n[1] Statins and their enzyme";
    let generator = ScriptedGenerator::new("scripted")
        .answer("closed_book", move |_| Reply::Text(text.to_owned()));
    let ports = ports(Arc::new(NoRetriever), Some(generator));
    let prediction = block_on(answer(&ports, &item, &config(BenchTask::Bio, "model-alone"), &()));
    assert!(prediction.output.contains("enzyme [1]"), "{}", prediction.output);
    assert_eq!(prediction.listed.len(), 1);
    assert!(prediction.ctxs.is_empty());
}

/// Says what each step of a tree needs, with a verdict in front.
fn explorer() -> ScriptedGenerator {
    ScriptedGenerator::new("scripted").otherwise(|request| {
        let step = request.purpose.split(' ').next().unwrap_or_default();
        let prompt = &request.messages.last().expect("a prompt").content;
        let verdict = if prompt.contains("Judgment: Yes") { "Yes" } else { "True" };
        let text = match step {
            "outline" => "1. (100%) Findings: what was found.".to_owned(),
            "gaps" => "(1) dense passage retrieval for questions".to_owned(),
            "contributions" => r#"{"final_selection": [{"paper_index": 1, "rank": 1}]}"#.to_owned(),
            _ if prompt.contains("F1 |") => {
                "## Findings\nF1 | Exposure bias is partially to blame for hallucinations. [0]\n## Short answer\nS F1 | It is.".to_owned()
            }
            _ => format!("Judgment: {verdict} [0]. Exposure bias is partially to blame for hallucinations [0]."),
        };
        Some(Reply::Text(text))
    })
}

#[test]
fn every_task_can_be_explored() {
    for task in BenchTask::ALL {
        let question =
            "Exposure bias is to blame for hallucinations in neural machine translation?";
        let item = Item::new(task, "item_0", question);
        let mut ports = ports(Arc::new(MemoryRetriever::corpus()), Some(explorer()));
        ports.graph =
            Some(Arc::new(scholar_testing::MemoryGraph::new(scholar_testing::corpus::papers())));
        let prediction = block_on(answer(&ports, &item, &config(task, "scirag"), &()));
        assert_eq!(prediction.status, PredictionStatus::Answered, "{task:?}: {prediction:?}");
        let labels = task.labels();
        if let Some([positive, _]) = labels {
            assert!(prediction.output.starts_with(positive), "{}", prediction.output);
        }
        assert!(!citation_groups(&prediction.output).is_empty(), "{task:?}: {}", prediction.output);
        assert!(prediction.usage.expect("counted").calls >= 4, "{task:?}");
    }
}

#[test]
fn a_failure_is_told_with_its_causes() {
    let item = claim();
    let given = Arc::new(FixedRetriever::given(&item.id, &item.contexts));
    let without = ports(given, None);
    let config = config(BenchTask::SciFact, "gold-context");
    let prediction = block_on(answer(&without, &item, &config, &()));
    assert_eq!(prediction.status, PredictionStatus::Failed);
    assert!(prediction.error.expect("why").contains("needs a language model"));
    let mut long = claim();
    long.question = "x ".repeat(30_000);
    let prediction = block_on(answer(&without, &long, &config, &()));
    assert!(prediction.error.expect("why").contains("characters"));
}

#[test]
fn brackets_of_the_source_are_not_taken_for_ours() {
    assert_eq!(marked("As shown in [12], it works.", &[0, 3]), "As shown in, it works [0][3].");
    assert_eq!(marked("It works!?", &[]), "It works!?");
    assert_eq!(marked("No end", &[2]), "No end [2]");
}
