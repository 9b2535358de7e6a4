//! Crashes, damage, two writers, readers beside a writer.

use std::ops::ControlFlow;

use scholar_core::{Embeddings, Encoder, EncoderInfo, PaperId, PortError, PortErrorKind, Side};
use scholar_datastore::store::verify::Depth;
use scholar_datastore::{AddOptions, Datastore, DatastoreWriter, Error};

use super::{add, create, encoder, paper};

#[test]
fn what_a_crash_leaves_is_swept_and_nothing_committed_is_lost() {
    let folder = tempfile::tempdir().expect("temp dir");
    let store = create(folder.path());
    add(&mut store.writer().expect("writer"), vec![paper(1, "One", "alpha")]);
    let dense = folder.path().join("dense");
    // As after a crash between the dense segment's rename and the commit, and in the middle of writing one.
    let committed = dense.join("dense-000000.vec");
    fs_err::copy(&committed, dense.join("dense-000001.vec")).expect("copied");
    fs_err::write(dense.join("dense-000002.vec.partial"), b"half").expect("written");
    fs_err::write(dense.join("notes.txt"), b"not ours").expect("written");

    let reopened = Datastore::open(folder.path()).expect("opens");
    assert_eq!(reopened.info().expect("info").papers, 1);
    add(&mut reopened.writer().expect("writer"), vec![paper(2, "Two", "beta")]);
    let mut names: Vec<String> = fs_err::read_dir(&dense)
        .expect("read")
        .map(|entry| entry.expect("entry").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    assert_eq!(names, ["dense-000000.vec", "dense-000001.vec", "notes.txt"]);
    store.verify(Depth::Checksums, Some((&encoder(), 10))).expect("intact");
    assert_eq!(store.info().expect("info").papers, 2);
}

#[test]
fn datastores_created_side_by_side_do_not_sweep_each_other_away() {
    let folder = tempfile::tempdir().expect("temp dir");
    std::thread::scope(|threads| {
        for thread in 0..8 {
            let folder = folder.path();
            threads.spawn(move || {
                for at in 0..25 {
                    create(&folder.join(format!("store-{thread}-{at}")));
                }
            });
        }
    });
    let left = fs_err::read_dir(folder.path()).expect("read").count();
    assert_eq!(left, 200, "every one of them, and nothing unfinished");
}

#[test]
fn a_writer_dropped_before_its_commit_leaves_the_previous_state() {
    let folder = tempfile::tempdir().expect("temp dir");
    let store = create(folder.path());
    add(&mut store.writer().expect("writer"), vec![paper(1, "One", "alpha")]);
    let mut writer = store.writer().expect("writer");
    writer.remove(&[PaperId::Pmid(1)]).expect("noted");
    drop(writer);
    assert!(store.paper(&PaperId::Pmid(1)).expect("read").is_some());
    store.verify(Depth::Checksums, None).expect("intact");
}

#[test]
fn a_second_writer_is_told_who_holds_the_lock() {
    let folder = tempfile::tempdir().expect("temp dir");
    let store = create(folder.path());
    let first = store.writer().expect("writer");
    let error = DatastoreWriter::open(folder.path()).expect_err("locked");
    let Error::Locked { holder, .. } = &error else { panic!("{error}") };
    assert!(holder.contains(&std::process::id().to_string()), "{holder}");
    assert!(error.hint().is_some());
    drop(first);
    store.writer().expect("free again");
}

#[test]
fn a_reader_sees_each_new_commit() {
    let folder = tempfile::tempdir().expect("temp dir");
    let writing = create(folder.path());
    let reading = Datastore::open(folder.path()).expect("opens");
    let mut writer = writing.writer().expect("writer");
    for n in 1..=5 {
        add(&mut writer, vec![paper(n, "T", "text")]);
        assert_eq!(reading.info().expect("info").papers, n);
        assert!(reading.paper(&PaperId::Pmid(n)).expect("read").is_some());
    }
    reading.verify(Depth::Checksums, None).expect("intact");
}

#[test]
fn readers_beside_a_writer_never_see_half_a_commit() {
    let folder = tempfile::tempdir().expect("temp dir");
    let store = create(folder.path());
    let done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut writer = store.writer().expect("writer");
            for round in 0..12_u64 {
                // Ten papers a commit, the same ten replaced each time.
                let papers =
                    (0..10).map(|n| paper(n, "T", &format!("round{round} text{n}"))).collect();
                add(&mut writer, papers);
            }
            done.store(true, std::sync::atomic::Ordering::Release);
        });
        let reading = Datastore::open(folder.path()).expect("opens");
        while !done.load(std::sync::atomic::Ordering::Acquire) {
            let info = reading.info().expect("info");
            assert!(matches!((info.papers, info.passages), (0, 0) | (10, 10)), "{info:?}");
            reading.verify(Depth::Quick, None).expect("every passage has its vector");
        }
    });
}

#[test]
fn damage_is_an_error_that_names_the_file() {
    let check = |break_it: &dyn Fn(&std::path::Path)| {
        let folder = tempfile::tempdir().expect("temp dir");
        let store = create(folder.path());
        add(&mut store.writer().expect("writer"), vec![paper(1, "One", "alpha")]);
        drop(store);
        break_it(folder.path());
        let outcome = Datastore::open(folder.path())
            .and_then(|store| store.verify(Depth::Checksums, None).map(|_| ()));
        let error = outcome.expect_err("noticed");
        assert!(error.to_string().contains(&*folder.path().to_string_lossy()), "{error}");
    };
    let dense = |root: &std::path::Path| root.join("dense/dense-000000.vec");
    check(&|root| {
        let bytes = fs_err::read(dense(root)).expect("read");
        fs_err::write(dense(root), &bytes[..bytes.len() - 7]).expect("written");
    });
    check(&|root| {
        let mut bytes = fs_err::read(dense(root)).expect("read");
        bytes[130] ^= 4;
        fs_err::write(dense(root), &bytes).expect("written");
    });
    check(&|root| fs_err::remove_file(dense(root)).expect("removed"));
    check(&|root| fs_err::write(root.join("datastore.json"), b"{").expect("written"));
    check(&|root| fs_err::write(root.join("datastore.json"), b"{\"format\":9}").expect("written"));
    check(&|root| fs_err::write(root.join("lexical/meta.json"), b"[]").expect("written"));
}

/// Fails on its third call, as a full GPU or a killed server would.
struct Failing(std::sync::atomic::AtomicUsize);

impl Encoder for Failing {
    fn info(&self) -> &EncoderInfo {
        static INFO: std::sync::OnceLock<EncoderInfo> = std::sync::OnceLock::new();
        INFO.get_or_init(|| encoder().info().clone())
    }

    fn encode(&self, side: Side, texts: &[&str]) -> Result<Embeddings, PortError> {
        if self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed) == 2 {
            return Err(PortError::new(PortErrorKind::Unavailable, "out of memory"));
        }
        encoder().encode(side, texts)
    }
}

#[test]
fn a_failing_encoder_ends_the_build_with_its_reason_and_keeps_what_was_committed() {
    let folder = tempfile::tempdir().expect("temp dir");
    let store = create(folder.path());
    let papers: Vec<_> = (0..40).map(|n| paper(n, "T", &format!("word{n} text"))).collect();
    let options = AddOptions { commit_every: 1, buffer_words: 30, ..AddOptions::standard("t") };
    let error = store
        .writer()
        .expect("writer")
        .add(
            papers.into_iter().map(Ok),
            &Failing(std::sync::atomic::AtomicUsize::new(0)),
            &options,
            &mut |_| ControlFlow::Continue(()),
        )
        .expect_err("failed");
    assert!(matches!(error, Error::Encode { .. }), "{error}");
    assert!(store.info().expect("info").papers > 0);
    store.verify(Depth::Checksums, Some((&encoder(), 5))).expect("intact");
}

#[test]
fn a_folder_that_is_something_else_is_left_alone() {
    let folder = tempfile::tempdir().expect("temp dir");
    fs_err::write(folder.path().join("thesis.tex"), b"mine").expect("written");
    use scholar_core::Encoder as _;
    let created =
        Datastore::create(folder.path(), encoder().info(), scholar_datastore::BuildRules::paper());
    assert!(matches!(created, Err(Error::Exists { .. })));
    assert!(matches!(Datastore::open(folder.path()), Err(Error::NotADatastore { .. })));
}

#[cfg(unix)]
#[test]
fn a_full_device_is_an_error_with_the_reason() {
    // `/dev/full` refuses every write as a full disk does.
    if !std::path::Path::new("/dev/full").exists() {
        eprintln!("skipped: this system has no /dev/full");
        return;
    }
    let folder = tempfile::tempdir().expect("temp dir");
    let store = create(folder.path());
    let partial = folder.path().join("dense/dense-000000.vec.partial");
    let mut writer = store.writer().expect("writer");
    std::os::unix::fs::symlink("/dev/full", &partial).expect("linked");
    let error = writer
        .add([Ok(paper(1, "One", "alpha"))], &encoder(), &AddOptions::standard("t"), &mut |_| {
            ControlFlow::Continue(())
        })
        .expect_err("full");
    assert!(matches!(error, Error::Io { .. }), "{error}");
    assert!(error.hint().expect("a hint").contains("free some disk space"));
    assert_eq!(store.info().expect("info").papers, 0);
}
