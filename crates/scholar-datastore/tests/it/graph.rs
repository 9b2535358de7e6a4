//! The citation graph against a model of it: sets and loops over the same papers.

use std::collections::{BTreeMap, BTreeSet};

use scholar_core::{Catalog as _, Paper, PaperId};
use scholar_datastore::Datastore;
use scholar_datastore::graph::{Direction, Limits};

use super::{Dice, add, create, paper};

const PAPERS: u64 = 60;

/// Every third paper is also known by a DOI.
fn alias(n: u64) -> Option<PaperId> {
    n.is_multiple_of(3).then(|| PaperId::Doi(format!("10.1/{n}")))
}

/// Papers that cite each other by either name, and papers nobody stored.
fn papers() -> Vec<Paper> {
    let mut dice = Dice(7);
    (0..PAPERS)
        .map(|n| {
            let mut paper = paper(n, &format!("Paper {n}"), &format!("text {n}"));
            paper.meta.external_ids.extend(alias(n));
            for _ in 0..dice.below(12) {
                let cited = dice.below(PAPERS + 15);
                let name = match alias(cited) {
                    Some(alias) if dice.below(2) == 0 && cited < PAPERS => alias,
                    _ => PaperId::Pmid(cited),
                };
                if !paper.references.iter().any(|known| canonical(known) == canonical(&name)) {
                    paper.references.push(name);
                }
            }
            paper
        })
        .collect()
}

fn canonical(id: &PaperId) -> PaperId {
    match id {
        PaperId::Doi(doi) => PaperId::Pmid(doi[5..].parse().expect("a number")),
        other => other.clone(),
    }
}

struct Model {
    references: BTreeMap<PaperId, Vec<PaperId>>,
    citers: BTreeMap<PaperId, BTreeSet<PaperId>>,
}

fn model(papers: &[Paper]) -> Model {
    let mut references = BTreeMap::new();
    let mut citers: BTreeMap<PaperId, BTreeSet<PaperId>> = BTreeMap::new();
    for paper in papers {
        let mut cited: Vec<PaperId> = Vec::new();
        for id in paper.references.iter().map(canonical) {
            if !cited.contains(&id) {
                cited.push(id.clone());
            }
            citers.entry(id).or_default().insert(paper.meta.id.clone());
        }
        references.insert(paper.meta.id.clone(), cited);
    }
    Model { references, citers }
}

fn stored() -> (tempfile::TempDir, Datastore, Model) {
    let folder = tempfile::tempdir().expect("temp dir");
    let store = create(folder.path());
    let mut writer = store.writer().expect("writer");
    let papers = papers();
    // Old versions with other references first, so that there are deleted documents and several segments.
    let mut old = papers[..20].to_vec();
    for paper in &mut old {
        paper.references = vec![PaperId::Pmid(1), PaperId::Pmid(2)];
    }
    add(&mut writer, old);
    for part in papers.chunks(25) {
        add(&mut writer, part.to_vec());
    }
    (folder, store, model(&papers))
}

#[test]
fn references_and_citers_are_those_of_the_papers() {
    let (_folder, store, model) = stored();
    let graph = store.graph().expect("opens");
    let mut n_edges = 0;
    for n in 0..PAPERS + 15 {
        let id = PaperId::Pmid(n);
        let citers: Vec<PaperId> = model.citers.get(&id).into_iter().flatten().cloned().collect();
        assert_eq!(graph.citers(&id).expect("read"), citers, "{id}");
        if let Some(alias) = alias(n).filter(|_| n < PAPERS) {
            assert_eq!(graph.citers(&alias).expect("read"), citers, "{alias}");
        }
        let references = graph.references(&id).expect("read");
        let expected = model.references.get(&id);
        assert_eq!(references.is_some(), expected.is_some(), "{id}");
        let references = references.unwrap_or_default();
        n_edges += references.len();
        for (linked, cited) in references.iter().zip(expected.into_iter().flatten()) {
            assert_eq!((&linked.id, linked.stored), (cited, model.references.contains_key(cited)));
        }
        let counts = graph.counts(&id).expect("read");
        assert_eq!((counts.references, counts.citers), (references.len(), citers.len()), "{id}");
        let catalog = futures::executor::block_on(store.citations(&id)).expect("read");
        assert_eq!(catalog, citers);
    }
    assert_eq!(n_edges, model.references.values().map(Vec::len).sum::<usize>());
    assert!(n_edges > 200);
}

#[test]
fn a_neighbourhood_holds_what_is_within_its_hops() {
    let (_folder, store, model) = stored();
    let graph = store.graph().expect("opens");
    let start = PaperId::Pmid(4);
    for (direction, hops) in [
        (Direction::References, 2),
        (Direction::CitedBy, 2),
        (Direction::Both, 1),
        (Direction::Both, 3),
    ] {
        let mut expected = BTreeMap::from([(start.clone(), 0)]);
        for hop in 1..=hops {
            let known: Vec<PaperId> = expected.keys().cloned().collect();
            for id in known {
                let mut next: Vec<&PaperId> = Vec::new();
                if direction != Direction::CitedBy {
                    next.extend(model.references.get(&id).into_iter().flatten());
                }
                if direction != Direction::References {
                    next.extend(model.citers.get(&id).into_iter().flatten());
                }
                for id in next {
                    expected.entry(id.clone()).or_insert(hop);
                }
            }
        }
        let limits = Limits { hops, links: 1_000, papers: 1_000 };
        let found = graph.neighbourhood(&start, direction, limits).expect("read").expect("there");
        let got: BTreeMap<PaperId, u32> =
            found.papers.iter().map(|paper| (paper.linked.id.clone(), paper.hops)).collect();
        assert_eq!(got, expected, "{direction:?} {hops}");
        assert_eq!((found.papers[0].linked.id.clone(), found.cut), (start.clone(), 0));
        for edge in &found.edges {
            assert!(model.references[&edge.from].contains(&edge.to), "{edge:?}");
        }
    }
    let limits = Limits { hops: 3, links: 3, papers: 12 };
    let found = graph.neighbourhood(&start, Direction::Both, limits).expect("read").expect("there");
    assert!(found.papers.len() <= 12 && found.cut > 0, "{found:?}");
    let known: BTreeSet<_> = found.papers.iter().map(|paper| &paper.linked.id).collect();
    assert!(found.edges.iter().all(|edge| known.contains(&edge.from) && known.contains(&edge.to)));
    let nobody = PaperId::Pmid(9_999);
    assert!(graph.neighbourhood(&nobody, Direction::Both, limits).expect("read").is_none());
}

#[test]
fn relatives_are_ranked_by_what_they_share() {
    let (_folder, store, model) = stored();
    let graph = store.graph().expect("opens");
    let empty = BTreeSet::new();
    let set = |id: &PaperId| model.references[id].iter().cloned().collect::<BTreeSet<_>>();
    let citers = |id: &PaperId| model.citers.get(id).unwrap_or(&empty);
    for n in 0..PAPERS {
        let id = PaperId::Pmid(n);
        let mut expected: Vec<(f32, PaperId)> = Vec::new();
        for other in model.references.keys().filter(|other| **other != id) {
            let cosine = |shared: usize, own: usize, other: usize| {
                if shared == 0 { 0.0 } else { shared as f64 / ((own * other) as f64).sqrt() }
            };
            let (own, others) = (set(&id), set(other));
            let coupling = cosine(own.intersection(&others).count(), own.len(), others.len());
            let together = cosine(
                citers(&id).intersection(citers(other)).count(),
                citers(&id).len(),
                citers(other).len(),
            );
            if coupling + together > 0.0 {
                expected.push(((coupling + together) as f32, other.clone()));
            }
        }
        expected.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        let found = graph.related(&id, 10).expect("read");
        assert_eq!((found.common_references, found.citers_sampled), (0, false));
        assert_eq!(found.related.len(), expected.len().min(10), "{id}");
        for (related, (score, _)) in found.related.iter().zip(&expected) {
            assert!((related.score - score).abs() < 1e-5, "{id}: {related:?} for {score}");
            let sum: f32 = related.explanation.details.iter().map(|part| part.value).sum();
            assert!((related.score - sum).abs() < 1e-6, "{related:?}");
            let own = expected.iter().find(|(_, other)| *other == related.id);
            assert!(own.is_some_and(|(own, _)| (own - score).abs() < 1e-5), "{related:?}");
        }
    }
}

#[test]
fn totals_are_those_of_the_papers() {
    let (_folder, store, model) = stored();
    let totals = store.graph().expect("opens").totals().expect("read");
    let size = store.graph().expect("opens").size().expect("read");
    assert_eq!((totals.references, totals.inner), (size.edges, size.inner_edges));
    let citing = model.references.values().filter(|cited| !cited.is_empty()).count();
    let cited = model.citers.keys().filter(|id| model.references.contains_key(*id)).count();
    assert_eq!((totals.citing, totals.cited), (citing as u64, cited as u64));
    assert!(totals.cited > 20 && totals.inner < totals.references, "{totals:?}");
}
