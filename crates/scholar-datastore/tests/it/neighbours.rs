//! The citation graph as a port: which neighbours come back, in which order, with which text.

use std::sync::Arc;

use futures::executor::block_on;
use scholar_core::{
    CitationGraph as _, LinkDirection, NeighbourRequest, Neighbours, Paper, PaperId, PassageKind,
    SearchFilter, Section,
};
use scholar_datastore::graph::{GraphMember, StoredGraph};
use scholar_datastore::{Datastore, SearchPool};

use super::{Dice, add, create, paper};

const BOTH: [LinkDirection; 2] = [LinkDirection::References, LinkDirection::Citations];

fn ask(papers: &[PaperId], directions: &[LinkDirection], per_paper: usize) -> NeighbourRequest {
    NeighbourRequest {
        papers: papers.to_vec(),
        directions: directions.to_vec(),
        per_paper,
        filter: SearchFilter::none(),
    }
}

fn found(neighbours: &Neighbours) -> Vec<String> {
    neighbours.found.iter().map(|one| one.found.paper.id.to_string()).collect()
}

fn citing(number: u64, cited: &[u64], count: Option<u32>) -> Paper {
    let mut paper = paper(number, &format!("Title {number}"), &format!("words {number}"));
    paper.references = cited.iter().map(|n| PaperId::Pmid(*n)).collect();
    paper.meta.citation_count = count;
    paper
}

fn stored(papers: Vec<Paper>) -> (tempfile::TempDir, Datastore) {
    let folder = tempfile::tempdir().expect("temp dir");
    let store = create(folder.path());
    let mut writer = store.writer().expect("writer");
    add(&mut writer, papers);
    (folder, store)
}

#[test]
fn the_most_cited_of_very_many_citing_papers_come_first() {
    const CITERS: u64 = 10_000;
    let mut dice = Dice(3);
    let mut papers = vec![citing(1, &[], None)];
    for n in 2..2 + CITERS {
        let count = (n % 10 != 0).then(|| u32::try_from(dice.below(500)).expect("small"));
        papers.push(citing(n, &[1], count));
    }
    let mut model: Vec<(u32, PaperId)> = papers[1..]
        .iter()
        .map(|paper| (paper.meta.citation_count.unwrap_or(0), paper.meta.id.clone()))
        .collect();
    model.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    let (_folder, store) = stored(papers);
    let seed = PaperId::Pmid(1);
    let top = |most: usize| -> Vec<String> {
        model.iter().take(most).map(|(_, id)| id.to_string()).collect()
    };
    for most in [0, 1, 100, 9_500] {
        let request = ask(std::slice::from_ref(&seed), &[LinkDirection::Citations], most);
        let got = block_on(store.neighbours(&request)).expect("read");
        assert_eq!(found(&got), top(most), "{most}");
        let cut = usize::try_from(CITERS).expect("small") - most;
        assert_eq!((got.cut, got.left_out), (cut, 0), "{most}");
        assert!(got.found.iter().all(|one| {
            one.of == seed
                && one.direction == LinkDirection::Citations
                && one.found.explanation.reason == "cites pmid:1"
                && one.found.passage.kind == PassageKind::Abstract
                && one.found.passage.id.paper == one.found.paper.id
        }));
    }
}

#[test]
fn cycles_aliases_and_removed_papers_are_no_trouble() {
    let mut one = citing(1, &[2, 1, 9], Some(1));
    one.meta.external_ids.push(PaperId::Doi("10.1/one".to_owned()));
    let two = citing(2, &[1], Some(2));
    let mut three = citing(3, &[], Some(3));
    three.references = vec![PaperId::Doi("10.1/one".to_owned()), PaperId::Pmid(1)];
    let gone = citing(4, &[1], Some(9));
    let (_folder, store) = stored(vec![one, two, three, gone]);
    let mut writer = store.writer().expect("writer");
    writer.remove(&[PaperId::Pmid(4)]).expect("removed");
    writer.commit().expect("committed");
    for seed in [PaperId::Pmid(1), PaperId::Doi("10.1/one".to_owned())] {
        let got = block_on(store.neighbours(&ask(&[seed], &BOTH, 10))).expect("read");
        assert_eq!(found(&got), ["pmid:2", "pmid:3", "pmid:2"]);
        let directions: Vec<LinkDirection> = got.found.iter().map(|one| one.direction).collect();
        assert_eq!(directions, [BOTH[0], BOTH[1], BOTH[1]]);
        // The reference that nobody stored; the paper itself is no link.
        assert_eq!((got.left_out, got.cut), (1, 0));
    }
    let nobody = block_on(store.neighbours(&ask(&[PaperId::Pmid(77)], &BOTH, 10))).expect("read");
    assert_eq!(nobody, Neighbours::default());
    let unstored = block_on(store.neighbours(&ask(&[PaperId::Pmid(9)], &BOTH, 10))).expect("read");
    assert_eq!(found(&unstored), ["pmid:1"], "cited, but not stored");
}

#[test]
fn the_filter_refuses_and_papers_without_text_are_counted() {
    let mut bare = citing(5, &[1], Some(50));
    bare.sections.clear();
    let mut listed = citing(6, &[1], Some(40));
    listed.sections = vec![Section::new("References", "Smith J. A title. 2010.")];
    let papers = vec![
        citing(1, &[], None),
        citing(2, &[1], Some(3)),
        citing(3, &[1], None),
        citing(4, &[1], Some(30)),
        bare,
        listed,
    ];
    let (_folder, store) = stored(papers.clone());
    let filters = [
        SearchFilter::none(),
        SearchFilter { min_citations: Some(4), ..SearchFilter::none() },
        SearchFilter { year_from: Some(2003), ..SearchFilter::none() },
        SearchFilter { exclude: [PaperId::Pmid(4)].into(), ..SearchFilter::none() },
        SearchFilter { papers: Some([PaperId::Pmid(3)].into()), ..SearchFilter::none() },
    ];
    for filter in filters {
        let mut request = ask(&[PaperId::Pmid(1)], &[LinkDirection::Citations], 10);
        request.filter = filter.clone();
        let got = block_on(store.neighbours(&request)).expect("read");
        let accepted =
            |n: &u64| filter.accepts(&papers[usize::try_from(*n - 1).expect("few")].meta);
        let expect: Vec<String> =
            [4_u64, 2, 3].into_iter().filter(accepted).map(|n| format!("pmid:{n}")).collect();
        assert_eq!(found(&got), expect, "{filter:?}");
        assert_eq!(got.left_out, 5 - expect.len(), "{filter:?}");
    }
}

#[test]
fn a_paper_speaks_by_its_abstract_else_by_its_first_prose() {
    let mut late = citing(2, &[1], Some(2));
    late.sections = vec![
        Section::new("References", "Smith J. A title. 2010."),
        Section::new("Introduction", "the introduction"),
        Section::new("Abstract", "the abstract"),
    ];
    let mut none = citing(3, &[1], Some(1));
    none.sections = vec![
        Section::new("Figure 1", "a caption"),
        Section::new("Methods", "the methods"),
        Section::new("Results", "the results"),
    ];
    let (_folder, store) = stored(vec![citing(1, &[], None), late, none]);
    let request = ask(&[PaperId::Pmid(1)], &BOTH, 10);
    let got = block_on(store.neighbours(&request)).expect("read");
    let texts: Vec<&str> = got.found.iter().map(|one| one.found.passage.text.as_str()).collect();
    assert_eq!(texts, ["the abstract", "the methods"]);
}

#[test]
fn neighbours_equal_a_model_after_rewriting() {
    let folder = tempfile::tempdir().expect("temp dir");
    let store = create(folder.path());
    let mut writer = store.writer().expect("writer");
    let mut dice = Dice(11);
    let made = |dice: &mut Dice| -> Vec<Paper> {
        (0..40)
            .map(|n| {
                let mut cited: Vec<u64> = (0..dice.below(8)).map(|_| dice.below(50)).collect();
                cited.sort_unstable();
                cited.dedup();
                citing(n, &cited, u32::try_from(dice.below(5)).ok())
            })
            .collect()
    };
    add(&mut writer, made(&mut dice));
    let papers = made(&mut dice);
    for part in papers.chunks(7) {
        add(&mut writer, part.to_vec());
    }
    let seeds: Vec<PaperId> = (0..50).map(PaperId::Pmid).collect();
    let got = block_on(store.neighbours(&ask(&seeds, &BOTH, 3))).expect("read");
    let mut expect = Vec::new();
    for seed in &seeds {
        for direction in BOTH {
            let is_linked = |other: &&Paper| match direction {
                LinkDirection::Citations => other.references.contains(seed),
                LinkDirection::References => papers
                    .iter()
                    .any(|one| one.meta.id == *seed && one.references.contains(&other.meta.id)),
            };
            let mut linked: Vec<&Paper> =
                papers.iter().filter(|other| other.meta.id != *seed).filter(is_linked).collect();
            linked.sort_by_key(|p| (std::cmp::Reverse(p.meta.citation_count), p.meta.id.clone()));
            linked.truncate(3);
            expect.extend(linked.iter().map(|p| (seed.clone(), direction, p.meta.id.clone())));
        }
    }
    let got: Vec<_> = got
        .found
        .iter()
        .map(|one| (one.of.clone(), one.direction, one.found.paper.id.clone()))
        .collect();
    assert_eq!(got, expect);
    assert!(got.len() > 150);
}

#[test]
fn links_lead_from_one_datastore_into_another() {
    let doi = PaperId::Doi("10.1/one".to_owned());
    let mut here = citing(1, &[2, 3], None);
    here.meta.external_ids.push(doi.clone());
    let mut citing_by_doi = citing(5, &[], Some(4));
    citing_by_doi.references = vec![doi];
    let (_a, first) = stored(vec![here, citing(2, &[], Some(7)), citing(4, &[1], Some(1))]);
    let there = vec![citing(3, &[], Some(9)), citing(4, &[1], Some(1)), citing_by_doi];
    let (_b, second) = stored(there);
    let member = |name: &str, store| GraphMember { name: name.to_owned(), store: Arc::new(store) };
    let members = vec![member("first", first), member("second", second)];
    let pool = Arc::new(SearchPool::new(1, 4).expect("threads"));
    let graph = StoredGraph::new(members, pool);
    let got = block_on(graph.neighbours(&ask(&[PaperId::Pmid(1)], &BOTH, 10))).expect("read");
    assert_eq!(found(&got), ["pmid:3", "pmid:2", "pmid:5", "pmid:4"]);
    let from: Vec<&str> = got.found.iter().map(|one| one.found.found_by[0].as_str()).collect();
    assert_eq!(from, ["second", "first", "second", "first"], "each paper once");
    assert_eq!((got.left_out, got.cut), (0, 0));
}
