//! Numbers that the source names, and what holds at their edges.

use std::sync::Arc;

use scholar_core::{LinkDirection, Paper, PaperId};
use scholar_pipeline::Ports;
use scholar_review::{
    Contribution, EvidenceOrigin, MethodReview, Module, Review, ReviewConfig, ScoredPaper,
};
use scholar_testing::{MemoryGraph, MemoryRetriever};
use serde_json::json;

use crate::stage::{
    Lawless, blocks, config, model, model_that, papers, passages, ports_over, review, review_of,
    text,
};
use crate::writing::check;

fn contribution(review: &Review) -> &Contribution {
    review.contribution.as_ref().and_then(Module::done).expect("contribution")
}

fn methods(review: &Review) -> &[MethodReview] {
    &review.soundness.as_ref().and_then(Module::done).expect("soundness").reviews
}

/// 43 characters in one of three texts say nothing, 44 do; a reply that says so is obeyed.
#[tokio::test]
async fn a_summary_of_forty_three_characters_is_none() {
    let model = model_that(|purpose, prompt| {
        if !purpose.starts_with("summary M") {
            return None;
        }
        let of = |(at, (key, _)): (usize, (String, String))| match at {
            0 => {
                json!({"key": key, "relevant": true, "method": "m".repeat(43), "results": "N/A", "context": ""})
            }
            1 => {
                json!({"key": key, "relevant": true, "method": "", "results": "r".repeat(44), "context": ""})
            }
            _ => {
                json!({"key": key, "relevant": false, "method": "x".repeat(90), "results": "", "context": ""})
            }
        };
        text(&json!({"papers": blocks(prompt).into_iter().enumerate().map(of).collect::<Vec<_>>()}))
    });
    let mut own = config();
    own.soundness.papers_per_method = Some(3);
    own.soundness.papers_per_summary = 3;
    let value = review(model, &own).await.value;
    for one in methods(&value) {
        assert_eq!((one.evidence.len(), one.irrelevant), (1, 2), "{}", one.method.id);
        assert_eq!(one.evidence[0].key, "E1", "numbered anew");
        assert_eq!(one.evidence[0].summarised[0].results.len(), 44);
    }
}

struct Watched {
    ports: Ports,
    graph: Arc<Lawless<MemoryGraph>>,
}

fn watched(papers: &[Paper]) -> Watched {
    let mut ports = ports_over(papers, Arc::new(model()));
    let graph = Arc::new(Lawless::new(MemoryGraph::new(papers.to_vec())));
    let port: Arc<Lawless<MemoryGraph>> = Arc::clone(&graph);
    ports.graph = Some(port);
    ports.retriever = Arc::new(MemoryRetriever::new(papers.iter().flat_map(passages)));
    Watched { ports, graph }
}

/// Of one seed at most so many recommendations and references are taken; new papers alone are measured, the nearest are kept.
#[tokio::test]
async fn seeds_bring_eight_recommendations_and_ten_references_at_most() {
    let paper = ReviewConfig::paper().contribution;
    assert_eq!((paper.recommended_per_seed, paper.references_per_seed), (8, 10));
    assert_eq!((paper.embed_top_k, paper.sample, paper.papers_per_query), (100, 25, 20));
    // One paper cites all others: more than are taken of it.
    let mut papers = papers();
    let all: Vec<PaperId> = papers.iter().map(|paper| paper.meta.id.clone()).collect();
    for (at, paper) in papers.iter_mut().enumerate() {
        paper.references = all.iter().filter(|id| **id != all[at]).cloned().collect();
    }
    let stage = watched(&papers);
    let mut own = config();
    own.contribution.papers_per_query = 2;
    own.contribution.seeds = Some(1);
    own.contribution.recommended_per_seed = 8;
    own.contribution.references_per_seed = 10;
    own.contribution.embed_top_k = 5;
    let value = review_of(&stage.ports, &own).await.expect("a review").value;
    check(&value);
    let found = contribution(&value);
    assert!(found.funnel.added > 5 && found.funnel.added <= 18, "{:?}", found.funnel);
    let is_new = |one: &&ScoredPaper| !matches!(one.origin, EvidenceOrigin::Search { .. });
    let (new, searched): (Vec<_>, Vec<_>) = found.papers.iter().partition(is_new);
    assert_eq!(new.len(), 5, "the nearest by vectors");
    assert!(new.iter().all(|one| one.cosine.is_some()), "new papers are measured");
    assert!(searched.iter().all(|one| one.cosine.is_none()), "those of searches are not");
    let steps = stage.graph.steps.lock();
    let references = steps
        .iter()
        .find(|one| one.papers.len() == 1 && one.directions == [LinkDirection::References]);
    assert_eq!(references.map(|one| one.per_paper), Some(10), "{steps:?}");
}

/// A paper without an address gets that of a registry; one of none stays without.
#[tokio::test]
async fn papers_without_an_address_get_one_where_an_identifier_has_one() {
    let mut papers = papers();
    for (at, paper) in papers.iter_mut().enumerate() {
        paper.meta.url = None;
        paper.meta.external_ids.clear();
        if at % 2 == 0 {
            paper.meta.external_ids.push(PaperId::doi(&format!("10.1/{at}")).expect("a DOI"));
        }
        paper.meta.id = format!("local:{at}").parse().expect("an id");
        paper.references.clear();
    }
    let ports = ports_over(&papers, Arc::new(model()));
    let value = review_of(&ports, &config()).await.expect("a review").value;
    check(&value);
    let (mut with, mut without) = (0, 0);
    for paper in value.papers() {
        match (&paper.url, paper.external_ids.is_empty()) {
            (Some(url), false) => {
                assert!(url.starts_with("https://doi.org/10.1/"), "{url}");
                with += 1;
            }
            (None, true) => without += 1,
            other => panic!("{other:?}"),
        }
    }
    assert!(with > 0 && without > 0);
    for reference in &value.references {
        let paper = value.papers().find(|paper| paper.id == reference.paper_id);
        assert_eq!(reference.url, paper.expect("of the evidence").url);
    }
}

/// A search may bring a paper twice, under one identifier: it is read, compared and cited once.
#[tokio::test]
async fn a_paper_that_comes_twice_is_there_once() {
    let mut doubled = papers();
    doubled.extend(papers());
    let ports = ports_over(&doubled, Arc::new(model()));
    let value = review_of(&ports, &config()).await.expect("a review").value;
    check(&value);
    let once = |ids: Vec<&PaperId>| {
        let mut known = ids.clone();
        known.sort();
        known.dedup();
        assert_eq!(known.len(), ids.len(), "{ids:?}");
    };
    once(contribution(&value).papers.iter().map(|one| &one.paper.id).collect());
    for one in methods(&value) {
        once(one.evidence.iter().map(|evidence| &evidence.paper.id).collect());
    }
    once(value.references.iter().map(|one| &one.paper_id).collect());
}
