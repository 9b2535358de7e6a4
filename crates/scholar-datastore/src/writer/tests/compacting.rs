use std::ops::ControlFlow;

use tantivy::merge_policy::NoMergePolicy;

use super::{add, create, lexical_segments, paper};
use crate::store::verify::Depth;
use crate::writer::{CompactOptions, DatastoreWriter};

/// As many lexical segments as a build leaves that commits faster than it merges.
fn in_many_segments(writer: &mut DatastoreWriter, segments: u64) {
    writer.writer.set_merge_policy(Box::new(NoMergePolicy));
    for number in 0..segments {
        // Enough words that merging them takes a while.
        let words: Vec<String> = (0..2_000).map(|n| format!("w{number}x{n}")).collect();
        add(writer, vec![paper(number, &words.join(" "))]);
    }
}

#[test]
fn a_store_of_many_small_segments_is_compacted_at_the_first_call() {
    let folder = tempfile::tempdir().expect("temp dir");
    let store = create(folder.path());
    let mut writer = store.writer().expect("writer");
    in_many_segments(&mut writer, 40);
    drop(writer);
    let mut writer = store.writer().expect("writer");
    writer
        .compact(&CompactOptions::standard(), &mut |_| ControlFlow::Continue(()))
        .expect("nothing else merges");
    assert_eq!(lexical_segments(&store), 1);
    store.verify(Depth::Checksums, None).expect("whole");
}

#[test]
fn a_merge_that_is_stopped_leaves_the_segments_and_a_writer_that_writes() {
    let folder = tempfile::tempdir().expect("temp dir");
    let store = create(folder.path());
    let mut writer = store.writer().expect("writer");
    in_many_segments(&mut writer, 10);
    writer.settle(&mut || ControlFlow::Continue(())).expect("settled");
    let segments = || lexical_segments(&store);
    for number in 10..14 {
        writer.lexical.factor = 2;
        writer.begin_lexical_due(u64::MAX).expect("begun");
        let before = segments();
        // It is stopped somewhere, or was done.
        writer.lexical.stop();
        assert!(!writer.lexical.is_running() && segments() <= before);
        writer.lexical.factor = 100;
        add(&mut writer, vec![paper(number, "after it")]);
        store.verify(Depth::Checksums, None).expect("whole");
        assert_eq!(store.counts().expect("read").0, number + 1);
    }
    writer
        .compact(&CompactOptions::standard(), &mut |_| ControlFlow::Continue(()))
        .expect("compacted");
    drop(writer);
    drop(store.writer().expect("sweeps"));
    assert_eq!(segments(), 1);
    // One list of segments, two of files, and the files of one segment.
    let files = fs_err::read_dir(folder.path().join("lexical")).expect("read").count();
    assert!(files <= 12, "{files} files of one segment");
}

#[test]
fn compacting_removes_the_files_it_replaced_and_info_counts_only_named_ones() {
    let folder = tempfile::tempdir().expect("temp dir");
    let store = create(folder.path());
    let mut writer = store.writer().expect("writer");
    in_many_segments(&mut writer, 10);
    let whole = store.info().expect("info");
    let stray = format!("lexical/{}.store", "0".repeat(32));
    fs_err::write(folder.path().join(&stray), [0; 5_000]).expect("written");
    let sizes = |folder: &str| -> u64 {
        let files = fs_err::read_dir(store.root().join(folder)).expect("read");
        files.map(|file| file.expect("entry").metadata().expect("size").len()).sum()
    };
    let before = store.info().expect("info");
    assert_eq!(before.unnamed_bytes, whole.unnamed_bytes + 5_000);
    assert_eq!(before.lexical_bytes, whole.lexical_bytes);
    fs_err::remove_file(folder.path().join(&stray)).expect("removed");
    writer
        .compact(&CompactOptions::standard(), &mut |_| ControlFlow::Continue(()))
        .expect("compacted");
    // The writer is still open, and so is a reader of the commit before.
    let after = store.info().expect("info");
    assert_eq!((after.lexical_segments, after.unnamed_bytes), (1, 0));
    assert_eq!(after.lexical_bytes, sizes("lexical"));
    assert_eq!(after.dense_bytes, sizes("dense"));
}

#[test]
fn a_commit_without_anything_new_is_none() {
    let folder = tempfile::tempdir().expect("temp dir");
    let store = create(folder.path());
    let mut writer = store.writer().expect("writer");
    let meta = || fs_err::read(folder.path().join("lexical/meta.json")).expect("read");
    let empty = meta();
    writer.commit().expect("nothing to do");
    assert!(meta() == empty);
    add(&mut writer, vec![paper(1, "a text")]);
    let first = meta();
    assert!(first != empty);
    add(&mut writer, vec![paper(1, "a text")]);
    writer.commit().expect("nothing to do");
    writer.remove(&[scholar_core::PaperId::Pmid(2)]).expect("nothing to remove");
    writer.commit().expect("nothing to do");
    assert!(meta() == first);
    writer.remove(&[scholar_core::PaperId::Pmid(1)]).expect("noted");
    writer.commit().expect("committed");
    assert!(meta() != first);
    assert_eq!(store.counts().expect("read").0, 0);
}
