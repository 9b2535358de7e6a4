use std::collections::BTreeMap;

use scholar_pipeline::retrieve::links::{LinkCount, LinkRule};

use super::*;

fn id(n: u64) -> PaperId {
    PaperId::Pmid(n)
}

/// Ten queries of 200 hits; paper 500 ought to be found and is cited by the first three hits.
fn materials() -> Vec<Material> {
    let one = |n: usize| {
        let search: Vec<PaperId> = (1..=200).map(id).collect();
        let cites = |hit: u64| (id(hit), vec![(Way::Backward, id(500)), (Way::Forward, id(600))]);
        Material {
            id: n.to_string(),
            gold: [id(500), id(5)].into(),
            reranked: search.clone(),
            search,
            links: (1..=3).map(cites).collect(),
            cited: [(id(500), 9), (id(600), 90)].into(),
            by_text: BTreeMap::new(),
        }
    };
    (0..10).map(one).collect()
}

#[test]
fn a_linked_paper_is_found_by_the_way_that_leads_to_it() {
    let materials = materials();
    let backward = tune(&materials, Way::Backward);
    assert!((backward.search - 0.5).abs() < 1e-9 && (backward.reached - 1.0).abs() < 1e-9);
    let forward = tune(&materials, Way::Forward);
    assert!((forward.reached - 0.5).abs() < 1e-9, "what cites them is not wanted");
    let rule = LinkRule { seeds: 3, count: LinkCount::Each, weight: 1.0 };
    assert_eq!(materials[0].fused(Way::Both, rule)[..3], [id(1), id(500), id(2)]);
    assert_eq!(materials[0].reached(Way::Both, 1), [id(500), id(600)].into());
    assert!(materials[0].reached(Way::CoCited, 10).is_empty());
    let by_citations = materials[0].fused_by_citations(Way::Both, rule);
    assert_eq!(by_citations[..3], [id(1), id(600), id(2)], "the more cited one first");
    let seeds = tune_by_seeds(&[&materials], Way::Backward);
    assert!(seeds.iter().all(|one| one.reached <= backward.reached) && seeds.len() == 5);
}

#[test]
fn a_rule_that_loses_on_a_set_is_not_chosen() {
    let gaining = materials();
    // The same links, but what ought to be found is what the hits have at the cuts.
    let losing: Vec<Material> =
        gaining.iter().cloned().map(|one| Material { gold: [id(20)].into(), ..one }).collect();
    let alone = tune(&gaining, Way::Backward);
    let together = tune_together(&[&gaining, &losing], Way::Backward);
    assert!(!alone.loses && alone.reached > alone.search);
    // Whatever comes before the twentieth hit costs it the first cut; links that come behind it find paper 500 later.
    assert!(!together.loses, "{together:?}");
    assert!(together.rule.weight < 1.0, "{together:?}");
    let before = LinkRule { weight: 4.0, ..together.rule };
    assert!(
        losing[0].fused(Way::Backward, before).iter().position(|one| *one == id(20)) > Some(19)
    );
}

#[test]
fn rules_are_all_different() {
    for (at, rule) in RULES.iter().enumerate() {
        assert!(!RULES[..at].contains(rule), "{rule:?}");
    }
}

#[tokio::test]
async fn a_report_says_what_links_gain() {
    let materials = materials();
    let tuned = [tune(&materials, Way::CoCited)];
    let retriever = scholar_testing::MemoryRetriever::corpus();
    let reranker = scholar_testing::FakeReranker::new();
    struct NoGraph;
    #[async_trait::async_trait]
    impl CitationGraph for NoGraph {
        fn name(&self) -> &str {
            "none"
        }

        async fn neighbours(
            &self,
            _: &scholar_core::NeighbourRequest,
        ) -> Result<scholar_core::Neighbours, scholar_core::PortError> {
            Ok(scholar_core::Neighbours::default())
        }
    }
    let engines = Engines { retriever: &retriever, graph: &NoGraph, reranker: &reranker };
    let query = ExpansionQuery {
        id: "q".to_owned(),
        query: Query::new("neural machine translation").expect("a query"),
        gold: [id(1)].into(),
        exclude: BTreeSet::new(),
    };
    let gathered = gather(engines, &query).await.expect("gathered");
    assert!(!gathered.search.is_empty() && gathered.links.values().all(Vec::is_empty));
    assert_eq!(gathered.by_text.len(), 3);
    let (systems, wide) =
        measure(engines, &[], &materials, &tuned, &mut || ()).await.expect("measured");
    assert_eq!(systems.len(), 2 + 3 + 1);
    let missed = wide.iter().find(|one| one.way == Way::Backward).expect("all ways");
    assert!((missed.missed_reached - 1.0).abs() < 1e-9 && (missed.neighbours - 1.0).abs() < 1e-9);
    let set = SetReport {
        name: "made".to_owned(),
        about: "Made.".to_owned(),
        papers: 1,
        inner_edges: 2,
        dev: 0,
        test: 10,
        gold: 2.0,
        systems,
        wide,
    };
    let text = markdown(&tuned, tuned[0], &tuned, &[set]);
    assert!(text.contains("| search, reranked | 0.500 (0.500–0.500) | +0.000"), "{text}");
}
