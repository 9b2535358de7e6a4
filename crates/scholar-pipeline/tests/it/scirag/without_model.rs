//! The mode without a strong model: the same tree by code, and sentences of the sources word for word.

use std::sync::Arc;

use scholar_core::{
    AnswerMode, DecidedBy, EvidenceOrigin, GeneratorStrength, NodeState, NoticeKind,
};
use scholar_pipeline::config::Task;
use scholar_pipeline::config::scirag::SciragConfig;
use scholar_testing::{MemoryGraph, ScriptedGenerator, corpus};

use super::stage::{
    ask_about, assert_sound, config, ids, linked_papers, node, one_level, ports, says, tree,
};

const TWO_PARTS: &str =
    "What are the benefits and the harms of retrieval augmentation for captioning of images?";

fn small() -> Arc<ScriptedGenerator> {
    let info = |info: &mut scholar_core::GeneratorInfo| info.strength = GeneratorStrength::Small;
    Arc::new(ScriptedGenerator::new("tiny").with_info(info))
}

#[tokio::test]
async fn without_a_model_facets_are_the_outline_and_sentences_are_quotations() {
    let generator = small();
    let mut bare = ports(&generator);
    bare.generator = None;
    let outcome = ask_about(&bare, &config(one_level()), TWO_PARTS).await;
    let answer = &outcome.value;
    assert_eq!(answer.mode, AnswerMode::Scirag);
    let outline = answer.outline.as_ref().expect("two facets");
    let headings: Vec<&str> = outline.sections.iter().map(|one| one.heading.as_str()).collect();
    assert_eq!((headings.len(), outline.by), (2, DecidedBy::Rule), "{headings:?}");
    assert!(!answer.sentences.is_empty() && outcome.spent.calls == 0);
    let passages = corpus::passages();
    for quote in answer.sentences.iter().flat_map(|one| &one.quotes) {
        let (passage, _) = passages
            .iter()
            .find(|(passage, _)| passage.id == quote.passage_id)
            .expect("a passage of the corpus");
        assert!(passage.text.contains(quote.text.as_str()), "{}", quote.text);
    }
    assert!(answer.sentences.iter().any(|one| !one.quotes.is_empty()));
    for node in &tree(&outcome).nodes {
        assert_eq!((node.calls, node.answer.as_ref()), (0, None));
        assert_ne!(node.decided_by, Some(DecidedBy::Model));
    }
    assert_sound(&outcome);
}

#[tokio::test]
async fn a_small_model_is_not_asked_to_explore() {
    let generator = small();
    let outcome = ask_about(&ports(&generator), &config(one_level()), TWO_PARTS).await;
    let asked = generator.purposes();
    assert!(
        asked.iter().all(|purpose| !purpose.starts_with("outline") && purpose != "gaps"),
        "{asked:?}"
    );
    assert_eq!(outcome.value.mode, AnswerMode::Scirag);
    assert!(outcome.value.tree.is_some());
}

#[tokio::test]
async fn thin_evidence_asks_the_graph_and_its_papers_are_linked_to_what_was_found() {
    let generator = small();
    let mut ports = ports(&generator);
    ports.generator = None;
    let graph = Arc::new(MemoryGraph::new(linked_papers()));
    ports.graph = Some(Arc::clone(&graph) as _);
    // Fewer than three papers have most of its words.
    let question = "Does quantum zebra grammar improve machine translation of Guarani on Mars?";
    let outcome = ask_about(&ports, &config(one_level()), question).await;
    assert_eq!(ids(&outcome), ["0", "1"]);
    let node = node(&outcome, "1");
    assert_eq!(node.state, NodeState::Answered);
    assert_eq!(graph.requests().len(), 1, "{node:?}");
    let links =
        node.evidence.iter().filter(|one| matches!(one.origin, EvidenceOrigin::Link { .. }));
    assert!(links.count() > 0);
    let contributions = node.contributions.as_ref().expect("roles and chains");
    assert!(!contributions.edges.is_empty() && !contributions.chains.is_empty());
    assert_sound(&outcome);
    let flat =
        ask_about(&ports, &config(SciragConfig { max_depth: 0, ..one_level() }), question).await;
    assert_eq!(ids(&flat), ["0"], "no level, no node");
}

#[tokio::test]
async fn enough_evidence_needs_no_node_and_none_at_all_is_no_answer() {
    let generator = small();
    let mut bare = ports(&generator);
    bare.generator = None;
    let outcome = ask_about(&bare, &config(one_level()), "dense passage retrieval").await;
    assert_eq!(ids(&outcome), ["0"]);
    assert!(!outcome.value.abstained);
    let outcome = ask_about(&bare, &config(one_level()), "xyzzy qwertz?").await;
    assert!(outcome.value.abstained && outcome.value.references.is_empty());
    assert_sound(&outcome);
    let mut claim = config(one_level());
    claim.task = Task::ClaimFull;
    let outcome =
        ask_about(&bare, &claim, "Dense passage retrieval improves question answering.").await;
    assert!(says(&outcome, NoticeKind::Weak, "no label"), "{:?}", outcome.notices);
}
