//! Nodes: when there are any, in which order, what they find, and what they make of it.

use std::sync::Arc;

use scholar_core::{
    DecidedBy, EvidenceOrigin, ExpansionDecision, LinkDirection, NodeState, NoticeKind,
    PortErrorKind,
};
use scholar_pipeline::Event;
use scholar_pipeline::config::scirag::{SciragConfig, SymbolicWhen};
use scholar_testing::{MemoryGraph, MemoryRetriever, ScriptedGenerator, corpus};

use super::stage::{
    COMPLETE, FIRST, Paced, QUESTION, SECOND, ask, assert_sound, calls, candidates, config, ended,
    ids, judgement, linked_papers, model, model_that, node, node_of, one_level, ports, ports_over,
    references, says, selection, step, steps, tree, user,
};

#[tokio::test]
async fn a_critic_who_misses_nothing_leaves_one_draft_that_is_still_refined() {
    let generator = Arc::new(
        model_that(|step, _| (step == "gaps").then(|| COMPLETE.into()))
            .reply("feedback", "[Response_Start]Feedback: Say more.[Response_End]"),
    );
    let papers = linked_papers();
    let mut ports = ports(&generator);
    let retriever = Arc::new(MemoryRetriever::new(papers.iter().map(corpus::whole_text_passage)));
    let graph = Arc::new(MemoryGraph::new(papers));
    ports.retriever = Arc::clone(&retriever) as _;
    ports.graph = Some(Arc::clone(&graph) as _);
    let outcome = ask(&ports, &config(one_level())).await;
    assert_eq!(generator.purposes(), ["outline", "draft", "gaps", "feedback", "edit", "feedback"]);
    let searched: Vec<String> =
        retriever.requests().iter().map(|request| request.query.as_str().to_owned()).collect();
    assert_eq!(searched, [QUESTION], "the question's own search");
    assert!(graph.requests().is_empty());
    assert_eq!(ids(&outcome), ["0"]);
    assert!(!outcome.value.abstained && outcome.value.outline.is_some());
    assert_sound(&outcome);
}

#[tokio::test]
async fn two_sub_queries_are_two_nodes_in_their_order_whichever_ends_first() {
    let run = |slow: &'static str| async move {
        let generator = Arc::new(model());
        let paced = Paced::new(
            &generator,
            move |request| {
                if node_of(&request.purpose) == slow { 40 } else { 1 }
            },
        );
        let outcome = ask(&ports_over(&linked_papers(), paced), &config(one_level())).await;
        let merge = calls(&generator, "aggregate").remove(0);
        (outcome, user(&merge))
    };
    let (first_late, prompt) = run("1").await;
    let (second_late, same_prompt) = run("2").await;
    assert_eq!((ended(&first_late), ended(&second_late)), (vec!["2", "1"], vec!["1", "2"]));
    for outcome in [&first_late, &second_late] {
        assert_eq!(ids(outcome), ["0", "1", "2"]);
        assert_eq!(node(outcome, "1").path, [QUESTION, FIRST]);
        assert_eq!(node(outcome, "2").path, [QUESTION, SECOND]);
        assert_sound(outcome);
    }
    assert_eq!(prompt, same_prompt);
    let place = |text: &str| prompt.find(text).expect("in the supplement");
    assert!(place(&format!("1. {FIRST}\n")) < place(&format!("2. {SECOND}\n")));
    assert_eq!(first_late.value, second_late.value);
    let merged = first_late.trace.iter().find_map(|event| match event {
        Event::Merged { id, children, .. } => Some((id.as_str(), *children)),
        _ => None,
    });
    assert_eq!(merged, Some(("0", 2)));
}

#[tokio::test]
async fn a_grandchild_knows_three_queries_and_its_parent_merges_it() {
    let below = "negative sampling for dense retrievers";
    let generator = Arc::new(
        model()
            .reply("gaps 1", "[Response_Start]- nothing on negatives[Response_End]")
            .reply("queries 1", format!("(1) {FIRST}\n(2) {below}").as_str()),
    );
    let config = config(SciragConfig::paper());
    let outcome = ask(&ports(&generator), &config).await;
    assert_eq!(ids(&outcome), ["0", "1", "1.1", "2"], "the parent's own query is not asked again");
    assert_eq!(node(&outcome, "1.1").path, [QUESTION, FIRST, below]);
    assert_eq!(node(&outcome, "1").gaps, ["nothing on negatives"]);
    let path = format!("{QUESTION} -> {FIRST} -> {below}");
    for step in ["tag", "analyse", "select", "answer"] {
        let of_it = calls(&generator, step).into_iter().find(|one| node_of(&one.purpose) == "1.1");
        assert!(user(&of_it.expect(step)).contains(&path), "{step}");
    }
    let purposes = generator.purposes();
    assert!(!purposes.contains(&"gaps 1.1".to_owned()), "the deepest level has no critic");
    let at = |purpose: &str| purposes.iter().position(|one| one == purpose).expect(purpose);
    assert!(at("answer 1.1") < at("merge 1") && at("merge 1") < at("aggregate"));
    assert!(!purposes.contains(&"merge 2".to_owned()), "a leaf is merged into nothing");
    assert_sound(&outcome);
}

#[tokio::test]
async fn enough_hits_ask_no_graph_and_are_not_judged_where_only_expanded_ones_are() {
    let generator = Arc::new(model_that(|step, _| {
        (step == "decide").then(|| COMPLETE.to_uppercase().as_str().into())
    }));
    let mut ports = ports(&generator);
    let graph = Arc::new(MemoryGraph::new(linked_papers()));
    ports.graph = Some(Arc::clone(&graph) as _);
    let scirag = SciragConfig { symbolic_when: SymbolicWhen::Expanded, ..one_level() };
    let outcome = ask(&ports, &config(scirag)).await;
    assert!(graph.requests().is_empty());
    assert_eq!(
        steps(&generator),
        ["outline", "draft", "gaps", "queries", "decide", "answer", "aggregate", "feedback"]
    );
    for id in ["1", "2"] {
        let node = node(&outcome, id);
        assert_eq!(node.decision, Some(ExpansionDecision::Sufficient));
        assert_eq!((node.decided_by, node.selected_by), (Some(DecidedBy::Model), None));
        assert!((1..=5).contains(&node.evidence.len()));
        let scores: Vec<f32> = node.evidence.iter().filter_map(|one| one.score).collect();
        assert!(scores.windows(2).all(|pair| pair[0] >= pair[1]), "{scores:?}");
        assert!(node.evidence.iter().all(|one| one.kept && one.origin == EvidenceOrigin::Snippet));
    }
}

#[tokio::test]
async fn too_few_hits_ask_for_both_sides_of_them_and_ten_candidates_are_judged() {
    let mut papers = linked_papers();
    for paper in papers.iter_mut().step_by(3) {
        paper.meta.citation_count = Some(9);
    }
    let rare: Vec<_> = papers.iter().step_by(3).map(|paper| paper.meta.id.clone()).collect();
    let generator = Arc::new(model());
    let mut ports = ports_over(&papers, Arc::clone(&generator) as _);
    let graph = Arc::new(MemoryGraph::new(papers));
    ports.graph = Some(Arc::clone(&graph) as _);
    let outcome = ask(&ports, &config(one_level())).await;
    let requests = graph.requests();
    assert_eq!(requests.len(), 2, "one for each node");
    for request in &requests {
        assert!((1..=5).contains(&request.papers.len()));
        assert_eq!(request.directions, [LinkDirection::References, LinkDirection::Citations]);
        assert_eq!(request.per_paper, 100);
    }
    let mut links = 0;
    for id in ["1", "2"] {
        let node = node(&outcome, id);
        assert_eq!(node.decision, Some(ExpansionDecision::Expanded));
        for evidence in &node.evidence {
            if let EvidenceOrigin::Link { of, .. } = &evidence.origin {
                links += 1;
                assert!(!rare.contains(&evidence.paper), "{} has nine citations", evidence.paper);
                assert!(requests.iter().any(|request| request.papers.contains(of)));
            }
        }
        let beyond = node.evidence.iter().filter_map(|one| one.discarded.as_deref());
        assert!(beyond.clone().all(|why| why == "not among the 10 best by score"));
        assert_eq!(node.evidence.len() - beyond.count(), 10);
        let tagged = calls(&generator, "tag").into_iter().find(|one| node_of(&one.purpose) == id);
        assert_eq!(candidates(&user(&tagged.expect("judged"))), 10);
    }
    assert!(links > 4, "{links}");
    assert_sound(&outcome);
}

#[tokio::test]
async fn a_paper_found_twice_is_shown_once_under_its_first_number() {
    // What the first node searches for is what the question was answered from.
    let again = "hallucinations in neural machine translation";
    let both = format!("(1) {again}\n(2) hallucinations of translation and chart summarization");
    let generator = Arc::new(model().reply("queries", both.as_str()));
    let outcome = ask(&ports(&generator), &config(one_level())).await;
    let drafted = references(&user(&calls(&generator, "draft")[0]));
    let merged = references(&user(&calls(&generator, "aggregate")[0]));
    assert_eq!(drafted.len(), 4);
    assert_eq!(merged[..4], drafted, "the question's own passages keep their numbers");
    let mut texts: Vec<&String> = merged.iter().map(|(_, text)| text).collect();
    texts.sort_unstable();
    texts.dedup();
    assert_eq!(texts.len(), merged.len(), "each passage once");
    let shared = node(&outcome, "1")
        .evidence
        .iter()
        .filter(|one| node(&outcome, "2").evidence.iter().any(|other| other.paper == one.paper));
    assert!(shared.count() > 2, "both nodes found them");
    // Linked to what was found, and found itself: `assert_sound` sees each paper of a node once.
    assert_sound(&outcome);
    let linked = tree(&outcome).nodes.iter().flat_map(|node| &node.evidence);
    let linked = linked.filter(|one| matches!(one.origin, EvidenceOrigin::Link { .. }));
    assert!(linked.count() > 0);
}

#[tokio::test]
async fn symbolic_replies_in_every_state_of_repair() {
    type Expected = (&'static [usize], DecidedBy, usize);
    let check = |reply: String, repaired: &'static str, expected: Expected| async move {
        let generator = model()
            .reply("queries", format!("(1) {FIRST}").as_str())
            .reply("select 1", reply.as_str())
            .reply("select repair 1", repaired);
        let generator = Arc::new(generator);
        let outcome = ask(&ports(&generator), &config(one_level())).await;
        let (kept, by, repairs) = expected;
        let node = node(&outcome, "1");
        let shown = user(&calls(&generator, "tag")[0]);
        let titles: Vec<&str> = shown
            .lines()
            .filter(|line| line.starts_with('['))
            .map(|line| line.split_once("Title: ").expect("a title").1)
            .collect();
        let placed: Vec<usize> = node
            .evidence
            .iter()
            .filter(|one| one.kept)
            .map(|one| {
                titles.iter().position(|title| title.starts_with(&one.title)).expect("shown") + 1
            })
            .collect();
        assert_eq!(placed, kept, "{reply}");
        assert_eq!(node.selected_by, Some(by), "{reply}");
        assert_eq!(calls(&generator, "select repair").len(), repairs, "{reply}");
        let fell_back = says(&outcome, NoticeKind::ModelReply, "selection 1: ");
        assert_eq!(fell_back, by == Fallback, "{reply}: {:?}", outcome.notices);
        assert_eq!(node.state, NodeState::Answered);
        assert_sound(&outcome);
    };
    use DecidedBy::{Fallback, Model};
    let two = selection(&[3, 1], &[2]);
    check(two.clone(), "", (&[3, 1], Model, 0)).await;
    check(format!("Here it is:\n```json\n{two}\n```\nDone."), "", (&[3, 1], Model, 0)).await;
    let good: &'static str = r#"{"final_selection":[{"paper_index":2,"rank":1,"justification":"It fits."}],"discarded_items":[]}"#;
    check(two[..two.len() - 4].to_owned(), good, (&[2], Model, 1)).await;
    let all: &[usize] = &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
    check(two[..two.len() - 4].to_owned(), "I cannot.", (all, Fallback, 1)).await;
    check("{}".to_owned(), "{}", (all, Fallback, 1)).await;
    check(String::new(), "[]", (all, Fallback, 1)).await;
    check(selection(&[], &[1, 2]), "", (&[1, 2, 3], Fallback, 0)).await;
    check(selection(&[0, 77, 4, 4], &[99]), "", (&[4], Model, 0)).await;
    check(selection(&[77], &[]), "", (&[1, 2, 3], Fallback, 0)).await;
}

#[tokio::test]
async fn what_a_judgement_says_stands_beside_each_paper() {
    let mut reply: serde_json::Value = serde_json::from_str(&judgement(4)).expect("JSON");
    reply["relationships"] = serde_json::json!([
        {"symbol": "[1]E -> [2]E", "rationale": "It tests it."},
        {"symbol": "[2]E -> [Q]", "rationale": "It answers."},
        {"symbol": "[3]E -> [77]E", "rationale": "Nobody knows it."},
        {"symbol": "[3]E -> [3]E", "rationale": "It is itself."},
    ]);
    let generator = Arc::new(
        model_that(move |step, _| (step == "relate").then(|| reply.to_string().as_str().into()))
            .reply("queries", format!("(1) {FIRST}").as_str())
            .reply("select 1", selection(&[2, 1], &[3]).as_str()),
    );
    let outcome = ask(&ports(&generator), &config(one_level())).await;
    let node = node(&outcome, "1");
    let said: Vec<Option<&str>> = node
        .evidence
        .iter()
        .take(3)
        .map(|one| one.rationale.as_deref().or(one.discarded.as_deref()))
        .collect();
    assert_eq!(said, [Some("Keeps 2."), Some("Keeps 1."), Some("Drops 3.")]);
    let graph = node.contributions.as_ref().expect("a graph");
    assert_eq!((graph.edges.len(), graph.dropped_edges), (2, 2));
    assert_eq!(graph.analysis.as_deref(), Some("All of them carry the answer."));
    assert!(graph.reaches_query(0) && graph.reaches_query(1) && !graph.reaches_query(2));
    let prompt = user(&calls(&generator, "answer")[0]);
    assert!(prompt.contains("Why they were kept:\n[0] Keeps 2.\n[1] Keeps 1."), "{prompt}");
}

#[tokio::test]
async fn a_search_that_fails_is_a_node_without_evidence_and_the_question_is_answered() {
    let papers = linked_papers();
    let generator = Arc::new(model());
    let mut ports = ports(&generator);
    let inner = MemoryRetriever::new(papers.iter().map(corpus::whole_text_passage));
    ports.retriever = Arc::new(super::stage::FailingFor { inner, part: FIRST.to_owned() });
    let outcome = ask(&ports, &config(one_level())).await;
    assert_eq!(node(&outcome, "1").state, NodeState::NoEvidence);
    let reason = node(&outcome, "1").reason.as_deref().expect("a reason");
    assert!(!reason.is_empty(), "{reason}");
    assert!(generator.purposes().iter().all(|purpose| node_of(purpose) != "1"), "no wasted call");
    assert_eq!(node(&outcome, "2").state, NodeState::Answered);
    let supplement = user(&calls(&generator, "aggregate")[0]);
    assert!(!supplement.contains(&format!("{FIRST}\n")) && supplement.contains(SECOND));
    assert!(!outcome.value.abstained);

    let nothing = Arc::new(model().reply("queries", "(1) xyzzy qwertz"));
    let outcome = ask(&super::stage::ports(&nothing), &config(one_level())).await;
    assert_eq!(node(&outcome, "1").state, NodeState::NoEvidence);
    assert!(says(&outcome, NoticeKind::InsufficientEvidence, "the first answer stands"));
    assert!(!outcome.value.abstained && calls(&nothing, "aggregate").is_empty());
}

#[tokio::test]
async fn a_graph_that_fails_costs_the_neighbours_only() {
    let generator = Arc::new(model());
    let mut ports = ports(&generator);
    let graph = MemoryGraph::new(linked_papers());
    ports.graph =
        Some(Arc::new(graph.failing_after(1, PortErrorKind::Unavailable, "graph is gone")));
    let scirag = SciragConfig { concurrency: 1, ..one_level() };
    let outcome = ask(&ports, &config(scirag)).await;
    let linked = |id: &str| {
        let evidence = &node(&outcome, id).evidence;
        evidence.iter().filter(|one| matches!(one.origin, EvidenceOrigin::Link { .. })).count()
    };
    assert!(linked("1") > 0);
    assert_eq!((linked("2"), node(&outcome, "2").state), (0, NodeState::Answered));
    assert!(says(&outcome, NoticeKind::SourceDown, "graph is gone"), "{:?}", outcome.notices);
}

#[tokio::test]
async fn each_step_of_a_node_is_one_call_under_its_own_name() {
    let generator: Arc<ScriptedGenerator> = Arc::new(model());
    let outcome = ask(&ports(&generator), &config(SciragConfig::paper())).await;
    let of = |id: &str| -> Vec<String> {
        let purposes = generator.purposes();
        let own = purposes.iter().filter(|purpose| node_of(purpose) == id);
        own.map(|purpose| step(purpose).to_owned()).collect()
    };
    let expected = ["decide", "tag", "relate", "analyse", "select", "answer", "gaps"];
    assert_eq!(
        (of("1"), of("2")),
        (expected.map(str::to_owned).to_vec(), expected.map(str::to_owned).to_vec())
    );
    assert_eq!(node(&outcome, "1").calls, 7);
    assert!(calls(&generator, "tag").iter().all(super::stage::is_json));
}
