//! Readers and writers in several processes.

use scholar_datastore::{Datastore, Depth, Error};

use super::kill::Batch;
use super::process::{Other, compact};
use super::{add, create, paper};

#[test]
fn readers_in_other_processes_see_each_commit_and_survive_merges() {
    let folder = tempfile::tempdir().expect("temp dir");
    let store = create(folder.path());
    let mut readers = [Other::start(), Other::start(), Other::start()];
    for reader in &mut readers {
        assert_eq!(reader.ask(&format!("open {}", folder.path().display())), "opened");
        assert_eq!(reader.ask("papers"), "0");
    }
    let mut writer = store.writer().expect("writer");
    for n in 0..6 {
        Batch::new(n).write(&mut writer);
        let papers = store.counts().expect("read").0.to_string();
        for reader in &mut readers {
            assert_eq!(reader.ask("papers"), papers, "after commit {n}, without opening again");
        }
    }
    // Removes the files that the readers have open.
    compact(&mut writer);
    for reader in &mut readers {
        assert_eq!(reader.ask("papers"), store.counts().expect("read").0.to_string());
        assert_eq!(reader.ask("find version5 of paper16"), "pmid:16");
    }
    Batch::new(6).write(&mut writer);
    for reader in &mut readers {
        assert_eq!(reader.ask("find version6 of paper19"), "pmid:19");
    }
}

#[test]
fn a_second_writer_in_another_process_is_told_who_holds_the_lock() {
    let folder = tempfile::tempdir().expect("temp dir");
    let store = create(folder.path());
    let mut first = Other::start();
    let mut second = Other::start();
    for other in [&mut first, &mut second] {
        other.ask(&format!("open {}", folder.path().display()));
    }
    assert_eq!(first.ask("write"), "writing");
    let refusal = second.ask("write");
    assert!(refusal.contains(&format!("process {}", first.id())), "{refusal}");
    assert!(matches!(store.writer(), Err(Error::Locked { .. })));
    // The lock dies with its holder, however it dies.
    first.kill();
    assert_eq!(second.ask("write"), "writing");
}

/// Sets the time of every file in `folder`.
fn date_files(folder: &std::path::Path, time: std::time::SystemTime) {
    for entry in fs_err::read_dir(folder).expect("readable") {
        let path = entry.expect("entry").path();
        if path.is_dir() {
            date_files(&path, time);
        } else {
            let file = fs_err::OpenOptions::new().write(true).open(&path).expect("opens");
            file.file().set_modified(time).expect("dated");
        }
    }
}

#[test]
fn clocks_that_jump_change_nothing() {
    let folder = tempfile::tempdir().expect("temp dir");
    let store = create(folder.path());
    let reading = Datastore::open(folder.path()).expect("opens");
    let century = std::time::Duration::from_secs(100 * 365 * 86_400);
    let epoch = std::time::SystemTime::UNIX_EPOCH;
    // Forwards, backwards, and to the same moment for everything.
    let times = [epoch + century, epoch + century / 100, epoch, epoch + 2 * century];
    for (n, time) in (1..).zip(times) {
        let papers = || reading.counts().expect("read").0;
        add(&mut store.writer().expect("writer"), vec![paper(2 * n, "T", &format!("text {n}"))]);
        date_files(folder.path(), time);
        assert_eq!(papers(), 2 * n - 1, "{time:?}");
        assert_eq!(
            Datastore::open(folder.path()).expect("opens").counts().expect("read").0,
            papers()
        );
        let mut writer = store.writer().expect("the lock has no date");
        date_files(folder.path(), time);
        assert!(matches!(store.writer(), Err(Error::Locked { .. })));
        compact(&mut writer);
        date_files(folder.path(), time);
        add(&mut writer, vec![paper(2 * n + 1, "T", &format!("more text {n}"))]);
        assert_eq!(papers(), 2 * n, "{time:?}");
        store.verify(Depth::Checksums, None).expect("whole");
    }
}
