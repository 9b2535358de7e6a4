//! One work under several identifiers is one paper that has them all, with the fuller text, and nothing is encoded twice.

use std::ops::ControlFlow;

use scholar_core::{Paper, PaperId, PassageId, Retriever as _, SearchFilter, SearchMode};
use scholar_datastore::store::verify::Depth;
use scholar_datastore::{
    AddOptions, AddProgress, Datastore, DuplicateReason, Error, MergeSource, SearchConfig,
};

use super::{Counting, create, paper, request, retriever};

fn doi() -> PaperId {
    PaperId::doi("10.1/A").expect("a doi")
}

fn with_ids(mut paper: Paper, ids: &[PaperId]) -> Paper {
    paper.meta.external_ids = ids.to_vec();
    paper
}

fn run(store: &Datastore, papers: Vec<Paper>, counting: &Counting) -> AddProgress {
    let options = AddOptions::standard("test");
    let mut named = Vec::new();
    let report = store
        .writer()
        .expect("writer")
        .add(papers.into_iter().map(Ok::<Paper, Error>), counting, &options, &mut |done| {
            named.extend(done.duplicates.clone());
            ControlFlow::Continue(())
        })
        .expect("added");
    let mut done = report.progress;
    done.duplicates = named;
    done
}

/// The one paper that `ids` name, with its passages and where a search finds it.
fn the_one(store: &Datastore, ids: &[PaperId], query: &str) -> Paper {
    let paper = store.paper(&ids[0]).expect("read").expect("stored");
    let passages = store.passages_of(&ids[0]).expect("read");
    for id in ids {
        assert_eq!(store.paper(id).expect("read").as_ref(), Some(&paper), "{id}");
        assert_eq!(store.passages_of(id).expect("read"), passages, "{id}");
        let filter = SearchFilter { papers: Some([id.clone()].into()), ..SearchFilter::none() };
        for mode in [SearchMode::Dense, SearchMode::Lexical, SearchMode::Hybrid] {
            let again = Datastore::open(store.root()).expect("opens");
            let mut request = request(query, mode, 100);
            request.filter = filter.clone();
            let found = retriever(again, SearchConfig::tuned());
            let found = futures::executor::block_on(found.search(&request)).expect("searched");
            assert_eq!(found.len(), passages.len(), "{id} {mode:?}");
            assert!(found.iter().all(|hit| *hit.paper == paper.meta));
        }
    }
    paper
}

#[test]
fn a_duplicate_leaves_its_identifiers_to_the_paper_that_was_there() {
    for together in [false, true] {
        let folder = tempfile::tempdir().expect("temp dir");
        let store = create(folder.path());
        let counting = Counting::new();
        let text = vec!["cell"; 600].join(" ");
        let first = paper(1, "On cells", &text);
        let more = [doi(), PaperId::Arxiv("2411.14199".to_owned())];
        let again =
            with_ids(Paper { meta: paper(2, "On Cells.", "").meta, ..first.clone() }, &more);
        let others = (10..14).map(|n| paper(n, &format!("Other {n}"), &format!("cell word{n}")));
        let (one, two) = (vec![first.clone()], others.chain([again.clone()]).collect::<Vec<_>>());
        let done = match together {
            true => run(&store, [one, two].concat(), &counting),
            false => {
                run(&store, one, &counting);
                run(&store, two, &counting)
            }
        };
        assert_eq!((done.papers_duplicate, done.identifiers_added), (1, 3));
        assert_eq!(done.duplicates[0].by, DuplicateReason::Text);
        let encoded = counting.encoded();
        assert_eq!(encoded, 3 + 4);
        let all = [PaperId::Pmid(1), PaperId::Pmid(2), more[0].clone(), more[1].clone()];
        let kept = the_one(&store, &all, "cell");
        assert_eq!(kept.meta.external_ids, all[1..]);
        assert_eq!(kept, with_ids(first.clone(), &all[1..]));

        // Nothing is left to do, nothing is encoded, and all is whole.
        let before = store.info().expect("info");
        let done = run(&store, vec![first.clone(), again.clone()], &counting);
        assert_eq!((done.papers_unchanged, done.papers_duplicate), (1, 1));
        assert_eq!((done.identifiers_added, counting.encoded()), (0, encoded));
        assert_eq!(before.vectors, 7);
        let report = store.verify(Depth::Checksums, Some((&super::encoder(), 9))).expect("whole");
        assert_eq!(report.passages, 7);
        assert!(report.least_cosine > 0.999);

        // What others brought survives a new version of the paper itself.
        run(&store, vec![paper(1, "On cells", "They divide.")], &counting);
        let changed = the_one(&store, &all, "divide");
        assert_eq!(changed.meta.external_ids, all[1..]);
        // By any of them it is removed as well.
        let mut writer = store.writer().expect("writer");
        let gone = [PaperId::Pmid(2), PaperId::Pmid(99)];
        assert_eq!(writer.remove(&gone).expect("noted"), 1);
        writer.commit().expect("committed");
        assert_eq!(store.paper(&all[0]).expect("read"), None);
    }
}

#[test]
fn the_fuller_text_of_one_work_is_kept_under_the_first_identifier() {
    for together in [false, true] {
        let folder = tempfile::tempdir().expect("temp dir");
        let store = create(folder.path());
        let counting = Counting::new();
        let abstracted = with_ids(paper(1, "On cells", "A cell divides."), &[doi()]);
        let whole = vec!["membrane"; 600].join(" ");
        let full = with_ids(paper(2, "On Cells", &whole), &[doi(), PaperId::Pmcid(7)]);
        let done = match together {
            true => run(&store, vec![abstracted.clone(), full.clone()], &counting),
            false => {
                run(&store, vec![abstracted.clone()], &counting);
                run(&store, vec![full.clone()], &counting)
            }
        };
        assert_eq!((done.papers_completed, done.papers_duplicate), (1, 0));
        let all = [PaperId::Pmid(1), PaperId::Pmid(2), doi(), PaperId::Pmcid(7)];
        let kept = the_one(&store, &all, "membrane");
        assert_eq!(kept.sections, full.sections);
        let passage: PassageId = "pmid:1#2".parse().expect("an id");
        assert!(store.passage(&passage).expect("read").is_some());
        assert_eq!(store.info().expect("info").papers, 1);

        // Both records once more, and one with less text under a third identifier.
        let encoded = counting.encoded();
        let third = with_ids(paper(3, "on cells", "Of cells."), &[PaperId::Pmcid(7)]);
        let done = run(&store, vec![abstracted, full, third.clone()], &counting);
        assert_eq!((done.papers_unchanged, done.papers_duplicate), (2, 1), "together: {together}");
        assert_eq!(done.duplicates[0].by, DuplicateReason::Identifier(PaperId::Pmcid(7)));
        assert_eq!((done.identifiers_added, counting.encoded()), (1, encoded));
        the_one(&store, &[PaperId::Pmid(3), PaperId::Pmid(1)], "membrane");
    }
}

#[test]
fn works_that_share_an_identifier_but_no_title_are_two() {
    let folder = tempfile::tempdir().expect("temp dir");
    let store = create(folder.path());
    let counting = Counting::new();
    let talks = ["On cells", "On nuclei", ""].map(|title| {
        let number = title.len() as u64;
        with_ids(paper(number, title, &format!("Abstract of talk {title}.")), &[doi()])
    });
    let done = run(&store, talks.to_vec(), &counting);
    assert_eq!((done.papers_added, done.papers_duplicate), (3, 0));
    assert_eq!(run(&store, talks.to_vec(), &counting).papers_unchanged, 3);
}

#[test]
fn what_was_merged_is_known_where_it_is_copied_to() {
    let folder = tempfile::tempdir().expect("temp dir");
    let at = |name: &str| folder.path().join(name);
    let counting = Counting::new();
    let (left, right, joined) = (create(&at("l")), create(&at("r")), create(&at("j")));
    let first = with_ids(paper(1, "On cells", "A cell divides."), &[doi()]);
    let same = with_ids(paper(2, "On cells", "A cell divides."), &[PaperId::CorpusId(5)]);
    let full = with_ids(paper(3, "On cells", &vec!["cell"; 300].join(" ")), &[doi()]);
    run(&left, vec![first.clone(), same.clone()], &counting);
    run(&right, vec![full.clone()], &counting);
    for part in [&left, &right] {
        let source = MergeSource::open(part.root()).expect("opens");
        let options = AddOptions::standard("merge");
        let mut writer = joined.writer().expect("writer");
        writer.copy_from(&source, &options, &mut |_| ControlFlow::Continue(())).expect("merged");
    }
    let all = [1, 2, 3].map(PaperId::Pmid);
    let kept = the_one(&joined, &all, "cell");
    assert_eq!(kept.sections, full.sections);
    the_one(&joined, &[doi(), PaperId::CorpusId(5)], "cell");
    let encoded = counting.encoded();
    let done = run(&joined, vec![first, same, full], &counting);
    assert_eq!((done.papers_unchanged, done.papers_duplicate, done.identifiers_added), (2, 1, 0));
    assert_eq!(counting.encoded(), encoded, "nothing was read anew");
}
