//! Every switch has an effect that can be seen from outside: in calls, in prompts, in the tree.

use std::collections::BTreeSet;
use std::sync::Arc;

use scholar_core::{Answer, EvidenceOrigin, ExpansionDecision, LinkDirection, TreeEvidence};
use scholar_pipeline::Outcome;
use scholar_pipeline::config::scirag::{
    CandidateRanking, Expansion, FollowedLinks, SciragConfig, SymbolicSteps, TreeShape,
};
use scholar_pipeline::retrieve::links::{LinkCount, LinkRule};
use scholar_testing::{MemoryGraph, Reply, ScriptedGenerator};

use super::stage::{
    COMPLETE, FIRST, Paced, SECOND, ask, assert_sound, calls, candidates, config, ids, judgement,
    linked_papers, model, model_that, node, node_of, one_level, ports, ports_over, references,
    selection, steps, user,
};

/// A model whose critics always want two more things, each asked for nowhere else.
fn insatiable() -> ScriptedGenerator {
    model_that(|step, request| {
        let node = node_of(&request.purpose).replace('.', " point ");
        match step {
            "gaps" => Some("- more\n- and more".into()),
            "queries" => Some(Reply::Text(format!(
                "(1) dense passage retrieval, part {node} one\n(2) gender bias, part {node} two"
            ))),
            _ => None,
        }
    })
}

async fn run(
    generator: ScriptedGenerator,
    scirag: SciragConfig,
) -> (Arc<ScriptedGenerator>, Outcome<Answer>) {
    let generator = Arc::new(generator);
    let outcome = ask(&ports(&generator), &config(scirag)).await;
    assert_sound(&outcome);
    (generator, outcome)
}

#[tokio::test]
async fn without_a_planner_no_prompt_has_an_outline() {
    let (with, planned) = run(model(), one_level()).await;
    let (without, unplanned) = run(model(), SciragConfig { planner: false, ..one_level() }).await;
    assert!(planned.value.outline.is_some() && unplanned.value.outline.is_none());
    assert_eq!((calls(&with, "outline").len(), calls(&without, "outline").len()), (1, 0));
    for step in ["draft", "gaps", "aggregate", "feedback"] {
        let first = |generator: &ScriptedGenerator| user(&calls(generator, step)[0]);
        assert!(first(&with).contains("1. (60%) Causes"), "{step}");
        assert!(!first(&without).contains("(60%)"), "{step}");
        assert!(first(&without).contains("judge by the question alone"), "{step}");
    }
}

#[tokio::test]
async fn dense_reranking_judges_nothing_and_gives_no_reasons() {
    let scirag = SciragConfig { rerank: CandidateRanking::Dense, ..one_level() };
    let (generator, outcome) = run(model(), scirag).await;
    for step in ["tag", "relate", "analyse", "select", "contributions"] {
        assert!(calls(&generator, step).is_empty(), "{step}");
    }
    let node = node(&outcome, "1");
    assert_eq!((node.selected_by, node.contributions.as_ref()), (None, None));
    let kept: Vec<_> = node.evidence.iter().filter(|one| one.kept).collect();
    assert!(kept.len() == 10 && kept.iter().all(|one| one.rationale.is_none()));
    let scores: Vec<f32> = kept.iter().filter_map(|one| one.score).collect();
    assert!(scores.windows(2).all(|pair| pair[0] >= pair[1]), "{scores:?}");
    assert!(!user(&calls(&generator, "answer")[0]).contains("Why they were kept"));
    assert_eq!(references(&user(&calls(&generator, "answer")[0])).len(), 10);
}

#[tokio::test]
async fn shapes_of_trees() {
    let of = |tree, max_depth| SciragConfig { tree, max_depth, ..SciragConfig::paper() };
    let (generator, outcome) = run(insatiable(), of(TreeShape::Sequential, 3)).await;
    assert_eq!(ids(&outcome), ["0", "1", "1.1", "1.1.1"], "a chain");
    assert!(user(&calls(&generator, "queries")[0]).contains("at most 1:"));
    let (_, outcome) = run(insatiable(), of(TreeShape::Parallel, 3)).await;
    assert_eq!(ids(&outcome), ["0", "1", "2"], "one level");
    let (_, outcome) = run(insatiable(), of(TreeShape::Adaptive, 2)).await;
    assert_eq!(ids(&outcome), ["0", "1", "1.1", "1.2", "2", "2.1", "2.2"]);
}

#[tokio::test]
async fn depth_is_levels_below_the_first_answer() {
    let mut before = 0;
    for max_depth in 0..=5 {
        let scirag = SciragConfig { max_depth, ..SciragConfig::paper() };
        let (generator, outcome) = run(insatiable(), scirag).await;
        let deepest =
            ids(&outcome).iter().filter(|id| **id != "0").map(|id| id.split('.').count()).max();
        assert_eq!(deepest.unwrap_or(0), max_depth.min(4), "four at most");
        let nodes = ids(&outcome).len() - 1;
        assert_eq!(nodes, (1..=max_depth.min(4)).map(|level| 1 << level).sum::<usize>());
        let n_calls = generator.requests().len();
        assert!(n_calls > before || max_depth == 5, "{max_depth}: {n_calls} calls");
        before = n_calls;
        if max_depth == 0 {
            assert_eq!(steps(&generator), ["outline", "draft", "feedback"], "first answer only");
        }
    }
}

#[tokio::test]
async fn the_graph_is_asked_always_never_or_when_the_model_says() {
    let asked = |expansion, reply: &'static str| async move {
        let generator =
            Arc::new(model_that(move |step, _| (step == "decide").then(|| reply.into())));
        let mut ports = ports(&generator);
        let graph = Arc::new(MemoryGraph::new(linked_papers()));
        ports.graph = Some(Arc::clone(&graph) as _);
        let scirag = SciragConfig { expansion, ..one_level() };
        let outcome = ask(&ports, &config(scirag)).await;
        let linked = node(&outcome, "1").evidence.iter();
        let linked = linked.filter(|one| matches!(one.origin, EvidenceOrigin::Link { .. })).count();
        (graph.requests().len(), calls(&generator, "decide").len(), linked > 0)
    };
    assert_eq!(asked(Expansion::Always, COMPLETE).await, (2, 0, true));
    assert_eq!(asked(Expansion::Never, "[expansion]").await, (0, 0, false));
    assert_eq!(asked(Expansion::Adaptive, "[expansion]").await, (2, 2, true));
    assert_eq!(asked(Expansion::Adaptive, "Enough. [END]terminate").await, (0, 2, false));
    assert_eq!(asked(Expansion::Adaptive, "").await, (2, 2, true), "whatever does not say enough");
    let generator = Arc::new(model());
    let mut bare = ports(&generator);
    bare.graph = None;
    let outcome = ask(&bare, &config(one_level())).await;
    assert_eq!(node(&outcome, "1").decision, Some(ExpansionDecision::Sufficient));
    assert!(calls(&generator, "decide").is_empty(), "there is nothing to decide");
}

#[tokio::test]
async fn presets_take_the_steps_that_they_name() {
    let paper = [
        "outline",
        "draft",
        "gaps",
        "queries",
        "decide",
        "tag",
        "relate",
        "analyse",
        "select",
        "answer",
        "aggregate",
        "feedback",
    ];
    let (generator, _) = run(model(), SciragConfig::paper()).await;
    assert_eq!(steps(&generator), paper);
    let upstream = [
        "outline",
        "draft",
        "gaps",
        "decide",
        "tag",
        "relate",
        "select",
        "answer",
        "aggregate",
        "feedback",
    ];
    let (generator, _) = run(model(), SciragConfig::upstream()).await;
    assert_eq!(steps(&generator), upstream);
    let (generator, outcome) = run(insatiable_in_one_stage(), SciragConfig::upstream()).await;
    assert_eq!(ids(&outcome), ["0", "1", "2"], "one level");
    assert_eq!(calls(&generator, "gaps").len(), 1);
    let (generator, outcome) = run(model(), SciragConfig::lean()).await;
    assert_eq!(steps(&generator), ["outline", "draft", "gaps", "contributions", "aggregate"]);
    assert!(node(&outcome, "1").answer.is_none());
    let prompt = user(&calls(&generator, "aggregate")[0]);
    assert!(prompt.contains(&format!("1. {FIRST}\nWhy they were kept:\n")), "{prompt}");
    let mentioned = prompt.split_once("What the sub-questions found:").expect("a supplement").1;
    let cited = scholar_core::text::markers::citation_groups(mentioned);
    let shown: Vec<usize> = references(&prompt).into_iter().map(|(number, _)| number).collect();
    assert!(!cited.is_empty());
    assert!(cited.iter().flat_map(|group| &group.numbers).all(|number| shown.contains(number)));
}

fn insatiable_in_one_stage() -> ScriptedGenerator {
    model_that(|step, _| {
        (step == "gaps").then(|| Reply::Text(format!("(1) {FIRST}\n(2) {SECOND}")))
    })
}

#[tokio::test]
async fn a_gate_of_chains_discards_what_leads_nowhere_but_for_the_first_three() {
    let kept = |chain_gate| async move {
        let mut related: serde_json::Value = serde_json::from_str(&judgement(9)).expect("JSON");
        related["relationships"] = serde_json::json!([{"symbol": "[5]E -> [Q]", "rationale": "r"}]);
        let related = related.to_string();
        let generator = model_that(move |step, _| match step {
            "relate" => Some(Reply::Text(related.clone())),
            "select" => Some(Reply::Text(selection(&[1, 2, 3, 4, 5], &[6]))),
            _ => None,
        });
        let scirag = SciragConfig { chain_gate, ..one_level() };
        let (_, outcome) = run(generator, scirag).await;
        let node = node(&outcome, "1");
        let kept = node.evidence.iter().filter(|one| one.kept);
        let gated = node.evidence.iter().filter(|one| {
            one.discarded.as_deref()
                == Some("no chain of contributions leads from it to the question")
        });
        (kept.filter_map(|one| one.rationale.clone()).collect::<Vec<_>>(), gated.count())
    };
    let reasons =
        |places: &[usize]| places.iter().map(|at| format!("Keeps {at}.")).collect::<Vec<_>>();
    assert_eq!(kept(false).await, (reasons(&[1, 2, 3, 4, 5]), 0));
    assert_eq!(kept(true).await, (reasons(&[1, 2, 3, 5]), 1));
}

#[tokio::test]
async fn numbers_bound_what_they_name() {
    let whole = one_level();
    let (generator, _) = run(model(), SciragConfig { merged_passages: 6, ..whole.clone() }).await;
    let few = references(&user(&calls(&generator, "aggregate")[0])).len();
    let (generator, _) = run(model(), whole.clone()).await;
    let many = references(&user(&calls(&generator, "aggregate")[0])).len();
    assert!(few <= 8 && many > 12, "{few} and {many}: what is cited is shown beyond the limit");
    let (generator, outcome) = run(model(), SciragConfig { dense_keep: 3, ..whole.clone() }).await;
    assert_eq!(candidates(&user(&calls(&generator, "tag")[0])), 3);
    let beyond = node(&outcome, "1").evidence.iter().filter(|one| !one.kept);
    assert!(beyond.count() > 0);
    let of_search = |outcome: &Outcome<Answer>| {
        node(outcome, "1")
            .evidence
            .iter()
            .filter(|one| one.origin == EvidenceOrigin::Snippet)
            .count()
    };
    let (_, outcome) = run(model(), SciragConfig { snippets: 2, ..whole.clone() }).await;
    assert_eq!(of_search(&outcome), 2);
    let (_, outcome) = run(insatiable(), SciragConfig { max_subqueries: 1, ..whole.clone() }).await;
    assert_eq!(ids(&outcome), ["0", "1"]);
    let three = SciragConfig { symbolic: SymbolicSteps::Three, ..whole.clone() };
    let (generator, _) = run(model(), three).await;
    assert!(calls(&generator, "analyse").is_empty() && !calls(&generator, "select").is_empty());
    let linked = |outcome: &Outcome<Answer>| {
        node(outcome, "1")
            .evidence
            .iter()
            .filter(|one| matches!(one.origin, EvidenceOrigin::Link { .. }))
            .count()
    };
    let (_, outcome) = run(model(), SciragConfig { reranked_neighbours: 2, ..whole.clone() }).await;
    assert_eq!(linked(&outcome), 2);
    let (_, outcome) = run(model(), SciragConfig { neighbours: 1, ..whole }).await;
    assert!(linked(&outcome) <= 2 * 5, "one each way of five papers");
}

#[tokio::test]
async fn links_are_followed_the_way_that_is_chosen() {
    let directions = |links| async move {
        let (_, outcome) = run(model(), SciragConfig { links, ..one_level() }).await;
        let of = |one: &TreeEvidence| match one.origin {
            EvidenceOrigin::Link { direction, .. } => Some(direction),
            _ => None,
        };
        node(&outcome, "1").evidence.iter().filter_map(of).collect::<BTreeSet<LinkDirection>>()
    };
    assert_eq!(directions(FollowedLinks::References).await, [LinkDirection::References].into());
    assert_eq!(directions(FollowedLinks::Citations).await, [LinkDirection::Citations].into());
    let both = [LinkDirection::References, LinkDirection::Citations];
    assert_eq!(directions(FollowedLinks::Both).await, both.into());
}

#[tokio::test]
async fn a_rule_lets_links_count_beside_the_search() {
    let ordered = |link_rule| async move {
        let dense = CandidateRanking::Dense;
        let config = SciragConfig { link_rule, rerank: dense, dense_keep: 4, ..one_level() };
        let (_, outcome) = run(model(), config).await;
        node(&outcome, "1").evidence.clone()
    };
    let rule = |weight| Some(LinkRule { seeds: 10, count: LinkCount::Each, weight });
    let is_link = |one: &&TreeEvidence| matches!(one.origin, EvidenceOrigin::Link { .. });
    let heavy = ordered(rule(100.0)).await;
    assert!(heavy[..4].iter().all(|one| one.kept));
    let most_linked = heavy[..4].iter().find(is_link).expect("a neighbour among the best");
    let light = ordered(rule(0.0)).await;
    assert!(light[..4].iter().all(|one| !is_link(&one)), "hits stand before neighbours");
    let lost = light.iter().find(|one| one.paper == most_linked.paper).expect("a candidate");
    let reason = lost.discarded.as_deref().unwrap_or_default();
    assert!(
        reason.starts_with("not among the 4 best (") && reason.contains("to the best hits"),
        "{reason}"
    );
    let by_score = ordered(None).await;
    let scores: Vec<_> = by_score[..4].iter().map(|one| one.score).collect();
    assert!(scores.is_sorted_by(|a, b| a >= b), "{scores:?}");
    let reasons = by_score.iter().filter_map(|one| one.discarded.as_deref());
    assert!(reasons.into_iter().all(|reason| reason == "not among the 4 best by score"));
}

#[tokio::test]
async fn no_more_nodes_are_explored_at_once_than_configured() {
    let widest = |concurrency| async move {
        let generator = Arc::new(insatiable());
        let paced =
            Paced::new(
                &generator,
                |request| if node_of(&request.purpose).is_empty() { 0 } else { 5 },
            );
        let ports = ports_over(&linked_papers(), Arc::clone(&paced) as _);
        let scirag = SciragConfig { concurrency, ..SciragConfig::paper() };
        ask(&ports, &config(scirag)).await;
        paced.most_at_once()
    };
    assert_eq!((widest(1).await, widest(2).await, widest(4).await), (1, 2, 4));
    assert_eq!(widest(0).await, 1, "none at once is one at once");
}
