//! Adding, replacing, removing, reading, describing.

use std::ops::ControlFlow;

use scholar_core::{Encoder as _, Paper, PaperId, PassageId, Retriever as _, SearchMode, Side};
use scholar_datastore::store::verify::Depth;
use scholar_datastore::{AddOptions, BuildRules, Datastore, Error, PaperVectors, SearchConfig};

use super::{Counting, add, create, encoder, paper, request, retriever};

#[test]
fn papers_come_back_whole_under_every_identifier() {
    let folder = tempfile::tempdir().expect("temp dir");
    let store = create(folder.path());
    let mut long = paper(1, "On α-helices", &vec!["helix"; 700].join(" "));
    long.meta.external_ids = vec![PaperId::doi("10.1/A").expect("a doi")];
    long.references = vec![PaperId::Pmid(2), PaperId::Pmid(9)];
    let mut other = paper(2, "Sheets", "beta sheets fold");
    other.references = vec![PaperId::doi("10.1/a").expect("a doi")];
    assert_eq!(add(&mut store.writer().expect("writer"), vec![long.clone(), other.clone()]), 2);

    assert_eq!(store.paper(&PaperId::Pmid(1)).expect("read"), Some(long.clone()));
    assert_eq!(store.paper(&long.meta.external_ids[0]).expect("read"), Some(long.clone()));
    assert_eq!(store.paper(&PaperId::Pmid(3)).expect("read"), None);
    let passages = store.passages_of(&PaperId::Pmid(1)).expect("read");
    assert_eq!(passages.len(), 3);
    for passage in &passages {
        assert_eq!(passage.span.slice(&long.text()), Some(passage.text.as_str()));
    }
    let id: PassageId = "pmid:1#1".parse().expect("an id");
    let (passage, meta) = store.passage(&id).expect("read").expect("stored");
    assert_eq!((passage.id, meta), (id, long.meta.clone()));
    assert_eq!(store.citing(&PaperId::Pmid(2)).expect("read"), [PaperId::Pmid(1)]);
    assert_eq!(store.citing(&PaperId::Pmid(1)).expect("read"), [PaperId::Pmid(2)]);

    let info = store.info().expect("info");
    assert_eq!((info.papers, info.passages, info.vectors), (2, 4, 4));
    assert_eq!(info.sources[0].source, "test");
    let report = store.verify(Depth::Checksums, Some((&encoder(), 3))).expect("intact");
    assert_eq!((report.passages, report.encoded), (4, 3));
    assert!(report.least_cosine > 0.999);
}

#[test]
fn the_same_content_is_encoded_once_and_new_content_replaces_the_old() {
    let folder = tempfile::tempdir().expect("temp dir");
    let store = create(folder.path());
    let counting = Counting::new();
    let run = |papers: Vec<Paper>| {
        let report = store
            .writer()
            .expect("writer")
            .add(papers.into_iter().map(Ok), &counting, &AddOptions::standard("test"), &mut |_| {
                ControlFlow::Continue(())
            })
            .expect("added");
        (report.progress.papers_added, report.progress.papers_unchanged)
    };
    let first = paper(1, "One", "alpha");
    let second = paper(2, "Two", "beta");
    assert_eq!(run(vec![first.clone(), second.clone(), first.clone()]), (2, 1));
    assert_eq!(run(vec![first.clone(), second.clone()]), (0, 2));
    assert_eq!(counting.encoded(), 2);

    let newer = paper(1, "One", "gamma");
    assert_eq!(run(vec![newer.clone(), second]), (1, 1));
    assert_eq!(store.paper(&PaperId::Pmid(1)).expect("read"), Some(newer.clone()));
    let info = store.info().expect("info");
    assert_eq!((info.papers, info.passages, info.vectors), (2, 2, 3));
    // Twice with different content in one batch: the last one counts.
    assert_eq!(run(vec![first, paper(1, "One", "delta")]).0, 2);
    let texts: Vec<String> = store
        .passages_of(&PaperId::Pmid(1))
        .expect("read")
        .into_iter()
        .map(|passage| passage.text)
        .collect();
    assert_eq!(texts, ["delta"]);

    let mut writer = store.writer().expect("writer");
    assert_eq!(writer.remove(&[PaperId::Pmid(1), PaperId::Pmid(77)]).expect("removed"), 1);
    assert!(store.paper(&PaperId::Pmid(1)).expect("read").is_some(), "not committed yet");
    writer.commit().expect("committed");
    assert_eq!(store.paper(&PaperId::Pmid(1)).expect("read"), None);
    let hits = futures::executor::block_on(
        retriever(store, SearchConfig::tuned()).search(&request("delta", SearchMode::Hybrid, 10)),
    )
    .expect("searched");
    assert!(hits.iter().all(|hit| hit.paper.id != PaperId::Pmid(1)));
}

#[test]
fn the_same_text_under_another_identifier_is_a_duplicate() {
    let folder = tempfile::tempdir().expect("temp dir");
    let store = create(folder.path());
    let mut named = Vec::new();
    let mut run = |papers: Vec<Paper>, keep_duplicates: bool| {
        let options = AddOptions { keep_duplicates, ..AddOptions::standard("test") };
        let done = store
            .writer()
            .expect("writer")
            .add(papers.into_iter().map(Ok), &encoder(), &options, &mut |done| {
                named.extend(done.duplicates.clone());
                ControlFlow::Continue(())
            })
            .expect("added")
            .progress;
        (done.papers_added, done.papers_unchanged, done.papers_duplicate)
    };
    let bare = |number: u64| {
        let mut bare = paper(number, "Editorial", "");
        bare.sections.clear();
        bare
    };
    let first = paper(1, "On cells", "A cell divides.");
    let again = paper(2, "On Cells.", "a cell divides");
    assert_eq!(run(vec![first.clone(), again.clone(), bare(3), bare(4)], false), (3, 0, 1));
    // Also in a later run, and the first one is still itself.
    assert_eq!(run(vec![again.clone(), first.clone()], false), (0, 1, 1));
    // The first one changes: its old text is free again, unless its title says that it is the same work.
    assert_eq!(run(vec![paper(1, "On nuclei", "Something else"), again.clone()], false), (2, 0, 0));
    // A stored paper is replaced even where its new text is another's.
    assert_eq!(run(vec![paper(1, "On cells", "A cell divides.")], false), (1, 0, 0));
    assert_eq!(run(vec![paper(9, "On cells", "A cell divides")], true), (1, 0, 0));
    let pairs: Vec<_> = named.iter().map(|found| (&found.paper, &found.first)).collect();
    let pair = (&PaperId::Pmid(2), &PaperId::Pmid(1));
    assert_eq!(pairs, [pair, pair]);
}

#[test]
fn an_interrupted_build_goes_on_where_it_was() {
    let folder = tempfile::tempdir().expect("temp dir");
    let store = create(folder.path());
    let papers: Vec<_> = (0..50).map(|n| paper(n, "T", &format!("word{n} text"))).collect();
    let options = AddOptions { commit_every: 5, buffer_words: 20, ..AddOptions::standard("t") };
    let mut calls = 0;
    let report = store
        .writer()
        .expect("writer")
        .add(papers.clone().into_iter().map(Ok), &encoder(), &options, &mut |_| {
            calls += 1;
            if calls == 4 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })
        .expect("stopped");
    assert!(report.interrupted);
    let before = report.progress.papers_added;
    assert!((5..50).contains(&before), "{before}");
    assert_eq!(store.info().expect("info").papers, before);
    assert_eq!(add(&mut store.writer().expect("writer"), papers), 50 - before);
}

#[test]
fn given_vectors_are_checked() {
    let folder = tempfile::tempdir().expect("temp dir");
    let store = create(folder.path());
    let encoder = encoder();
    let paper = paper(1, "One", "alpha beta");
    let vector = encoder.encode(Side::Passage, &["One alpha beta"]).expect("encoded").values;
    let with = |vectors: Vec<Vec<f32>>| PaperVectors { paper: paper.clone(), vectors };
    let fingerprint = encoder.info().fingerprint.clone();
    let mut writer = store.writer().expect("writer");
    let mut attempt = |vectors: Vec<Vec<f32>>, fingerprint: &str| {
        writer.add_with_vectors([Ok(with(vectors))], fingerprint, "given", Some((&encoder, 1)))
    };
    let wrong: Vec<f32> = vector.iter().rev().copied().collect();
    for (vectors, fingerprint) in [
        (vec![vector.clone()], "another"),
        (vec![], fingerprint.as_str()),
        (vec![wrong], fingerprint.as_str()),
        (vec![vec![0.5; 3]], fingerprint.as_str()),
        (vec![vec![f32::NAN; super::DIM]], fingerprint.as_str()),
    ] {
        assert!(matches!(attempt(vectors, fingerprint), Err(Error::Vectors { .. })));
    }
    assert_eq!(attempt(vec![vector], &fingerprint).expect("stored").progress.papers_added, 1);
    assert_eq!(store.info().expect("info").passages, 1);
}

#[test]
fn another_encoder_is_refused_with_the_way_out() {
    let folder = tempfile::tempdir().expect("temp dir");
    let store = create(folder.path());
    let other = encoder().renamed("other");
    let error = store
        .writer()
        .expect("writer")
        .add(Vec::<Result<Paper, Error>>::new(), &other, &AddOptions::standard("t"), &mut |_| {
            ControlFlow::Continue(())
        })
        .expect_err("refused");
    assert!(matches!(error, Error::EncoderMismatch { .. }), "{error}");
    assert!(error.hint().expect("a hint").contains("fake-encoder"));
    assert!(Datastore::open_or_create(folder.path(), other.info(), BuildRules::paper()).is_err());
}

#[test]
fn a_paper_without_text_is_found_only_where_the_rules_say_so() {
    let check = |rules: BuildRules, expect: u64| {
        let folder = tempfile::tempdir().expect("temp dir");
        let store = Datastore::create(folder.path(), encoder().info(), rules).expect("created");
        let mut bare = paper(1, "Only a title", "");
        bare.sections.clear();
        add(&mut store.writer().expect("writer"), vec![bare]);
        let info = store.info().expect("info");
        assert_eq!((info.papers, info.passages), (1, expect));
    };
    check(BuildRules::paper(), 0);
    check(BuildRules::collection(), 1);
}
