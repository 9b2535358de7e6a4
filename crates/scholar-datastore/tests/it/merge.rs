//! Joining datastores, and reading what an older version left.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use scholar_core::{Encoder as _, Paper, PaperId};
use scholar_datastore::store::verify::Depth;
use scholar_datastore::{AddOptions, BuildRules, Datastore, Error, MergeSource};

use super::{add, create, encoder, paper};

fn merge(into: &Datastore, from: &Path) -> (u64, u64, u64) {
    let source = MergeSource::open(from).expect("opens");
    let report = into
        .writer()
        .expect("writer")
        .copy_from(&source, &AddOptions::standard("merge"), &mut |_| ControlFlow::Continue(()))
        .expect("merged");
    let done = report.progress;
    (done.papers_added, done.papers_unchanged, done.papers_duplicate)
}

/// Everything that can be asked of a store, for comparison: papers with passages, counts, vectors.
fn content(store: &Datastore) -> Vec<(Paper, Vec<scholar_core::Passage>)> {
    let mut all = Vec::new();
    store
        .each_paper(|meta| {
            let paper = store.paper(&meta.id)?.expect("listed");
            all.push((paper, store.passages_of(&meta.id)?));
            Ok(())
        })
        .expect("read");
    all.sort_by(|(a, _), (b, _)| a.meta.id.cmp(&b.meta.id));
    all
}

#[test]
fn parts_are_joined_with_their_vectors_and_a_second_merge_changes_nothing() {
    let folder = tempfile::tempdir().expect("temp dir");
    let at = |name: &str| folder.path().join(name);
    let (left, right, whole) = (create(&at("l")), create(&at("r")), create(&at("w")));
    let long = paper(1, "One", &vec!["alpha beta"; 400].join(" "));
    let (second, third) = (paper(2, "Two", "gamma"), paper(3, "Three", "delta"));
    add(&mut left.writer().expect("writer"), vec![long.clone(), second.clone()]);
    add(&mut right.writer().expect("writer"), vec![second.clone(), third.clone()]);
    add(&mut whole.writer().expect("writer"), vec![long, second, third]);

    let joined = create(&at("j"));
    assert_eq!(merge(&joined, left.root()), (2, 0, 0));
    assert_eq!(merge(&joined, right.root()), (1, 1, 0));
    assert_eq!(content(&joined), content(&whole));
    assert_eq!(merge(&joined, right.root()), (0, 2, 0));
    let report = joined.verify(Depth::Checksums, Some((&encoder(), 9))).expect("whole");
    assert_eq!(report.encoded as u64, report.passages);
    assert!(report.least_cosine > 0.999);
    assert_eq!(joined.info().expect("info").sources, whole.info().expect("info").sources);
}

#[test]
fn a_stopped_merge_goes_on() {
    let folder = tempfile::tempdir().expect("temp dir");
    let at = |name: &str| folder.path().join(name);
    let from = create(&at("from"));
    let papers: Vec<_> = (0..2_500).map(|n| paper(n, "T", &format!("word{n}"))).collect();
    add(&mut from.writer().expect("writer"), papers);
    let into = create(&at("into"));
    let source = MergeSource::open(from.root()).expect("opens");
    assert_eq!(source.papers(), 2_500);
    let report = into
        .writer()
        .expect("writer")
        .copy_from(&source, &AddOptions::standard("merge"), &mut |_| ControlFlow::Break(()))
        .expect("stopped");
    assert!(report.interrupted);
    let before = into.info().expect("info").papers;
    assert!((1..2_500).contains(&before), "{before}");
    assert_eq!(merge(&into, from.root()), (2_500 - before, before, 0));
}

#[test]
fn stores_that_do_not_belong_together_are_refused() {
    let folder = tempfile::tempdir().expect("temp dir");
    let at = |name: &str| folder.path().join(name);
    let store = create(&at("a"));
    let attempt = |other: Datastore| {
        let source = MergeSource::open(other.root()).expect("opens");
        store
            .writer()
            .expect("writer")
            .copy_from(&source, &AddOptions::standard("t"), &mut |_| ControlFlow::Continue(()))
            .expect_err("refused")
    };
    let info = encoder().renamed("other").info().clone();
    let other = Datastore::create(&at("b"), &info, BuildRules::sections()).expect("created");
    assert!(matches!(attempt(other), Error::EncoderMismatch { .. }));
    let other =
        Datastore::create(&at("c"), encoder().info(), BuildRules::paper()).expect("created");
    assert!(matches!(attempt(other), Error::RulesMismatch { .. }));
}

/// A store as the first format left it: two commits, one paper replaced, one removed. How it was made stands beside it.
fn first_format(folder: &Path) -> PathBuf {
    let stored = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/compat/v1");
    let copy = folder.join("v1");
    for part in ["", "lexical", "dense"] {
        fs_err::create_dir_all(copy.join(part)).expect("created");
        for entry in fs_err::read_dir(stored.join(part)).expect("read") {
            let entry = entry.expect("read");
            if entry.path().is_file() {
                fs_err::copy(entry.path(), copy.join(part).join(entry.file_name()))
                    .expect("copied");
            }
        }
    }
    copy
}

#[test]
fn the_first_format_is_refused_with_the_way_out_and_converted() {
    let folder = tempfile::tempdir().expect("temp dir");
    let old = first_format(folder.path());
    let error = Datastore::open(&old).expect_err("another format");
    assert!(matches!(error, Error::Version { found: 1, .. }), "{error}");
    assert!(error.hint().expect("a hint").contains("openscholar datastore merge NEW v1"));

    let source = MergeSource::open(&old).expect("opens");
    let descriptor = source.descriptor();
    assert_eq!(source.papers(), 5);
    let store = Datastore::create(&folder.path().join("v2"), &descriptor.encoder, descriptor.rules)
        .expect("created");
    assert_eq!(merge(&store, &old), (5, 0, 0));

    let first = store.paper(&PaperId::CorpusId(77)).expect("read").expect("stored");
    assert_eq!(first.meta.title, "On α-helices");
    assert_eq!(first.meta.published, Some(jiff::civil::date(2001, 2, 3)));
    assert_eq!((first.sections.len(), first.references.len()), (2, 2));
    let passages = store.passages_of(&first.meta.id).expect("read");
    assert_eq!(passages.len(), 4);
    for passage in &passages {
        assert_eq!(passage.span.slice(&first.text()), Some(passage.text.as_str()));
    }
    let third = store.paper(&PaperId::Pmid(3)).expect("read").expect("stored");
    assert_eq!(third.meta.title, "New title");
    assert_eq!(store.paper(&PaperId::Pmid(4)).expect("read"), None);
    assert_eq!(store.citing(&PaperId::Pmid(1)).expect("read"), [PaperId::Pmid(3)]);
    // The stored vectors are those of the stored texts.
    let report = store.verify(Depth::Checksums, Some((&encoder(), 99))).expect("whole");
    assert_eq!((report.passages, report.encoded), (7, 7));
    assert!(report.least_cosine > 0.999);
    assert_eq!(store.info().expect("info").sources[0].source, "test");
}

/// All orders of `n` things.
fn orders(n: usize) -> Vec<Vec<usize>> {
    let mut orders = vec![Vec::new()];
    for _ in 0..n {
        let longer = orders.iter().flat_map(|order: &Vec<usize>| {
            let rest = (0..n).filter(|at| !order.contains(at));
            rest.map(|at| [order.as_slice(), &[at]].concat()).collect::<Vec<_>>()
        });
        orders = longer.collect();
    }
    orders
}

#[test]
fn merging_records_of_one_work_again_changes_nothing_in_any_order() {
    let folder = tempfile::tempdir().expect("temp dir");
    let at = |name: &str| folder.path().join(name);
    let doi = PaperId::doi("10.1/A").expect("a doi");
    let known_as = |mut paper: Paper, ids: &[PaperId]| {
        paper.meta.external_ids = ids.to_vec();
        paper
    };
    let full = vec!["membrane"; 300].join(" ");
    let records = [
        known_as(paper(1, "On cells", "A cell divides."), std::slice::from_ref(&doi)),
        // The same identifier, another version.
        paper(1, "On cells", "A cell divides, as was shown since."),
        // The same work under another identifier, with its full text.
        known_as(paper(2, "On Cells", &full), &[doi, PaperId::Pmcid(7)]),
        // The same text, and nothing else in common.
        paper(3, "On cells.", "A cell divides"),
        // Another identifier of the work, no more text.
        known_as(paper(4, "On cells", "Cells."), &[PaperId::Pmid(1)]),
    ];
    let sources: Vec<PathBuf> = (0..records.len()).map(|n| at(&format!("part-{n}"))).collect();
    for (root, record) in sources.iter().zip(&records) {
        let other = paper(9, "Another", "A word.");
        add(&mut create(root).writer().expect("writer"), vec![record.clone(), other]);
    }
    // The first three come in all orders, all five in some.
    let some = orders(3).into_iter().map(|order| [order, vec![3, 4]].concat());
    let more = orders(5).into_iter().step_by(9);
    for (number, order) in some.chain(more).enumerate() {
        let store = create(&at(&format!("joined-{number}")));
        let all = || order.iter().map(|n| merge(&store, &sources[*n])).collect::<Vec<_>>();
        let first = all();
        assert!(first.iter().any(|(added, _, _)| *added > 1), "{order:?}");
        let commit = || fs_err::read(store.root().join("lexical/meta.json")).expect("read");
        let (before, papers) = (commit(), content(&store));
        for again in 0..2 {
            let nothing = vec![(0, 2, 0); sources.len()];
            assert_eq!(all(), nothing, "{order:?}, time {again}");
        }
        assert!(commit() == before, "{order:?}: no commit without anything new");
        assert_eq!(content(&store), papers, "{order:?}");
    }
}

#[test]
fn what_a_person_changed_after_a_merge_survives_the_next_one() {
    let folder = tempfile::tempdir().expect("temp dir");
    let at = |name: &str| folder.path().join(name);
    let (source, store) = (create(&at("source")), create(&at("store")));
    let (first, second) = (paper(1, "One", "alpha"), paper(1, "One", "beta"));
    add(&mut source.writer().expect("writer"), vec![first.clone()]);
    assert_eq!(merge(&store, source.root()), (1, 0, 0));
    add(&mut store.writer().expect("writer"), vec![second.clone()]);
    assert_eq!(merge(&store, source.root()), (0, 1, 0));
    assert_eq!(store.paper(&first.meta.id).expect("read"), Some(second));
    // Adding it is another matter: the newest stays. What is new in the source comes too.
    add(&mut store.writer().expect("writer"), vec![first.clone()]);
    assert_eq!(store.paper(&first.meta.id).expect("read"), Some(first.clone()));
    let third = paper(1, "One", "gamma");
    add(&mut source.writer().expect("writer"), vec![third.clone()]);
    assert_eq!(merge(&store, source.root()), (1, 0, 0));
    assert_eq!(store.paper(&first.meta.id).expect("read"), Some(third));
    // Removed, it is new again.
    let mut writer = store.writer().expect("writer");
    writer.remove(std::slice::from_ref(&first.meta.id)).expect("noted");
    writer.commit().expect("committed");
    drop(writer);
    assert_eq!(merge(&store, source.root()), (1, 0, 0));
}
