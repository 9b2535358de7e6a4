//! `kill -9` at random moments: what was acknowledged is there, what was not is there wholly or not at all.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Duration;

use scholar_core::{Paper, PaperId};
use scholar_datastore::{AddOptions, Datastore, DatastoreWriter, Depth, MergeSource};

use super::process::Other;
use super::{Dice, add, create, encoder, paper};

/// Papers of one commit: new ones, a new version of an old one, and one that goes.
pub(crate) struct Batch {
    /// Numbers of the papers put, with this batch's number as their version.
    put: Vec<u64>,
    remove: Option<u64>,
    number: u64,
}

/// Papers by number with their version.
type Model = BTreeMap<u64, u64>;

impl Batch {
    pub(crate) fn new(number: u64) -> Self {
        let before = 3 * number;
        let mut put: Vec<u64> = (before..before + 3).collect();
        let old = |factor: u64| (number > 0).then(|| number * factor % before);
        put.extend(old(7));
        let remove = old(11).filter(|id| number.is_multiple_of(3) && !put.contains(id));
        Self { put, remove, number }
    }

    fn papers(&self) -> Vec<Paper> {
        let text = |id: u64| {
            let words = format!("version{} of paper{id} ", self.number);
            // Every fourth paper has several passages.
            if id.is_multiple_of(4) { words.repeat(200) } else { words }
        };
        self.put.iter().map(|id| paper(*id, &format!("Title {id}"), &text(*id))).collect()
    }

    /// Writes it as one commit.
    pub(crate) fn write(&self, writer: &mut DatastoreWriter) {
        let gone: Vec<PaperId> = self.remove.iter().map(|id| PaperId::Pmid(*id)).collect();
        writer.remove(&gone).expect("noted");
        add(writer, self.papers());
    }

    /// The same, by way of another datastore in `part` that is merged in.
    pub(crate) fn merge(&self, writer: &mut DatastoreWriter, part: &Path) {
        let source = create(part);
        add(&mut source.writer().expect("writer"), self.papers());
        let gone: Vec<PaperId> = self.remove.iter().map(|id| PaperId::Pmid(*id)).collect();
        writer.remove(&gone).expect("noted");
        let source = MergeSource::open(part).expect("opens");
        let options = AddOptions::standard("part");
        writer.copy_from(&source, &options, &mut |_| ControlFlow::Continue(())).expect("merged");
    }

    fn apply(&self, model: &mut Model) {
        model.extend(self.put.iter().map(|id| (*id, self.number)));
        if let Some(id) = self.remove {
            model.remove(&id);
        }
    }
}

/// What the store holds, from its texts.
fn contents(store: &Datastore) -> Model {
    let mut model = Model::new();
    store
        .each_paper(|meta| {
            let PaperId::Pmid(id) = meta.id else { panic!("{} was never added", meta.id) };
            let text = &store.passages_of(&meta.id)?[0].text;
            let version = text.split(' ').next().and_then(|word| word.strip_prefix("version"));
            model.insert(id, version.and_then(|n| n.parse().ok()).expect("a version"));
            Ok(())
        })
        .expect("readable");
    model
}

/// Names of the dense files, which must be those the newest commit lists, and nothing half-written.
fn dense_files(root: &Path) -> usize {
    let entries = fs_err::read_dir(root.join("dense")).expect("readable");
    let names = entries.map(|entry| entry.expect("entry").file_name().into_string().expect("text"));
    names.inspect(|name| assert!(!name.ends_with(".partial"), "{name} was not swept")).count()
}

/// Kills a process `kills` times while it does `operation`, each time at another moment, and looks at what it left.
fn survives(operation: &str, kills: usize, seed: u64) {
    let folder = tempfile::tempdir().expect("temp dir");
    // Beside it lie the parts that are merged into it.
    let root = &folder.path().join("store");
    drop(create(root));
    let mut dice = Dice(seed);
    let mut model = Model::new();
    let mut done = 0;
    for kill in 0..kills {
        let mut other = Other::start();
        assert_eq!(other.ask(&format!("open {}", root.display())), "opened");
        assert_eq!(other.ask(&format!("{operation} {done}")), "writing", "the lock is free again");
        let mut acknowledged = 0;
        for _ in 0..dice.below(3) {
            other.hear().expect("it writes");
            acknowledged += 1;
        }
        // Somewhere within the next commit or two. Early or late makes no difference to what is asserted.
        std::thread::park_timeout(Duration::from_micros(dice.below(80_000)));
        other.kill();
        while other.hear().is_some() {
            acknowledged += 1;
        }
        for _ in 0..acknowledged {
            Batch::new(done).apply(&mut model);
            done += 1;
        }

        let store = Datastore::open(root).unwrap_or_else(|error| panic!("kill {kill}: {error}"));
        let found = contents(&store);
        if found != model {
            // The commit was durable, and its maker did not live to say so.
            Batch::new(done).apply(&mut model);
            done += 1;
            assert_eq!(found, model, "kill {kill} after batch {done}");
        }
        let report = store.verify(Depth::Checksums, Some((&encoder(), 4)));
        let report = report.unwrap_or_else(|error| panic!("kill {kill}: {error}"));
        assert!(report.passages >= found.len() as u64);
        drop(store.writer().expect("free"));
        let listed = store.info().expect("info").dense_segments;
        let files = dense_files(root);
        assert!((listed..=2 * listed).contains(&files), "{files} files for {listed} segments");
    }
    assert!(done > kills as u64 / 2, "{done} batches in {kills} lives: it hardly wrote");
}

#[test]
fn adding_survives_kills() {
    std::thread::scope(|scope| {
        for seed in [11, 12, 13] {
            scope.spawn(move || survives("add", 40, seed));
        }
    });
}

#[test]
fn merging_survives_kills() {
    std::thread::scope(|scope| {
        for seed in [31, 32] {
            scope.spawn(move || survives("merge", 20, seed));
        }
    });
}

#[test]
fn compacting_survives_kills() {
    std::thread::scope(|scope| {
        for seed in [21, 22] {
            scope.spawn(move || survives("compact", 20, seed));
        }
    });
}
