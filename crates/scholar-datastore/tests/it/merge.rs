//! Joining datastores, and reading what an older version left.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use scholar_core::{Encoder as _, PaperId};
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
fn content(store: &Datastore) -> Vec<(scholar_core::Paper, Vec<scholar_core::Passage>)> {
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
