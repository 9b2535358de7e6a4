//! What can be saved of a damaged store is, and what cannot is named.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::path::Path;

use scholar_core::{Encoder, Paper, PaperId, Passage};
use scholar_datastore::{AddOptions, Datastore, Depth, RepairReport, RepairSource};

use super::damage::{files, with_every_kind_of_file};
use super::{Dice, create, encoder};

type Content = BTreeMap<String, (Paper, Vec<Passage>)>;

fn content(store: &Datastore) -> Content {
    let mut all = Content::new();
    let mut ids = Vec::new();
    store
        .each_paper(|meta| {
            ids.push(meta.id);
            Ok(())
        })
        .expect("read");
    for id in ids {
        let paper = store.paper(&id).expect("read").expect("listed");
        all.insert(id.to_string(), (paper, store.passages_of(&id).expect("read")));
    }
    all
}

fn repair(from: &Path, to: &Path, encoder: Option<&dyn Encoder>) -> (RepairReport, Content) {
    let source = RepairSource::open(from).expect("opens");
    let store = create(to);
    let mut writer = store.writer().expect("writer");
    let options = AddOptions::standard("repaired");
    let report = writer
        .save_from(&source, encoder, &options, &mut |_| ControlFlow::Continue(()))
        .expect("saved");
    drop(writer);
    if !content(&store).is_empty() {
        store.verify(Depth::Checksums, Some((&super::encoder(), 500))).expect("whole");
    }
    let saved = content(&store);
    (report, saved)
}

/// Every paper is saved as it was, or named as lost.
fn account(whole: &Content, saved: &Content, report: &RepairReport, what: &str) {
    for (id, stored) in saved {
        assert_eq!(Some(stored), whole.get(id), "{what}: {id} is not as it was");
    }
    assert_eq!(report.papers_saved, saved.len() as u64, "{what}");
    let lost: BTreeSet<&str> = report.lost.iter().map(|lost| lost.paper.as_str()).collect();
    if report.lost_documents.is_empty() {
        let missing: BTreeSet<&str> =
            whole.keys().filter(|id| !saved.contains_key(*id)).map(String::as_str).collect();
        assert_eq!(lost, missing, "{what}");
    }
}

#[test]
fn of_a_store_with_one_wrong_bit_all_is_saved_but_what_cannot_be_shown_to_be_whole() {
    let folder = tempfile::tempdir().expect("temp dir");
    let root = folder.path().join("store");
    with_every_kind_of_file(&root);
    let whole = content(&Datastore::open(&root).expect("opens"));
    let (report, saved) = repair(&root, &folder.path().join("copy"), None);
    assert!(report.damaged.is_empty() && report.is_complete());
    assert_eq!(saved, whole);
    let mut dice = Dice(31);
    for (number, file) in files(&root).into_iter().enumerate() {
        let name = file.file_name().expect("a name").to_string_lossy().into_owned();
        // Without it nobody knows the encoder.
        if name == "datastore.json" {
            continue;
        }
        let bytes = fs_err::read(&file).expect("read");
        let at = usize::try_from(dice.below(bytes.len() as u64)).expect("small");
        let mut damaged = bytes.clone();
        damaged[at] ^= 1 << dice.below(8);
        fs_err::write(&file, &damaged).expect("written");
        let what = format!("{name} byte {at}");
        let check = Datastore::check_files(&root, &mut |_| {});
        let to = folder.path().join(format!("repaired-{number}"));
        let (report, saved) = repair(&root, &to, Some(&encoder()));
        assert_eq!(report.damaged.is_empty(), check.is_ok(), "{what}: {:?}", report.damaged);
        let ending = name.rsplit('.').next().unwrap_or_default();
        match ending {
            // Removed papers come back, and it is said from where.
            "del" => assert!(check.is_ok() || !report.without_deletions.is_empty(), "{what}"),
            "json" => {
                let all = whole.keys().all(|id| saved.contains_key(id));
                assert!(all, "{what}: {:?}", report.lost);
            }
            _ => account(&whole, &saved, &report, &what),
        }
        if !matches!(ending, "store" | "del" | "json") {
            assert_eq!(saved.len(), whole.len(), "{what}");
        }
        fs_err::write(&file, &bytes).expect("written");
    }
    let read = content(&Datastore::open(&root).expect("as it was"));
    assert_eq!(read, whole, "the damaged store is only read");
}

#[test]
fn without_the_encoder_papers_whose_vectors_are_lost_are_named() {
    let folder = tempfile::tempdir().expect("temp dir");
    let root = folder.path().join("store");
    with_every_kind_of_file(&root);
    let whole = content(&Datastore::open(&root).expect("opens"));
    let vectors = |file: &&std::path::PathBuf| file.extension().is_some_and(|e| e == "vec");
    let all = files(&root);
    let file = all.iter().rfind(vectors).expect("there");
    let mut bytes = fs_err::read(file).expect("read");
    bytes[200] ^= 1;
    fs_err::write(file, bytes).expect("written");
    let (report, saved) = repair(&root, &folder.path().join("without"), None);
    account(&whole, &saved, &report, "without an encoder");
    assert!(!report.lost.is_empty() && !saved.is_empty());
    assert!(report.lost.iter().all(|lost| lost.why.contains("encoder") && lost.title.is_some()));
    let (report, saved) = repair(&root, &folder.path().join("with"), Some(&encoder()));
    assert!(report.is_complete() && report.passages_encoded > 0);
    assert_eq!(saved, whole);
}

#[test]
fn a_wrong_block_of_records_costs_its_papers_alone() {
    let folder = tempfile::tempdir().expect("temp dir");
    let root = folder.path().join("store");
    let store = create(&root);
    let text =
        |n: u64| (0..300).map(|at| format!("word{}", at * 7 + n)).collect::<Vec<_>>().join(" ");
    let papers = (0..80).map(|n| super::paper(n, &format!("Title {n}"), &text(n))).collect();
    super::add(&mut store.writer().expect("writer"), papers);
    let whole = content(&store);
    drop(store);
    let all = files(&root);
    let of_kind = |ending: &str| {
        let found = all.iter().find(|file| file.extension().is_some_and(|e| e == ending));
        found.expect("there").clone()
    };
    let mut bytes = fs_err::read(of_kind("store")).expect("read");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x10;
    fs_err::write(of_kind("store"), &bytes).expect("written");
    let (report, saved) = repair(&root, &folder.path().join("one"), Some(&encoder()));
    account(&whole, &saved, &report, "a wrong block");
    assert!(!report.lost.is_empty() && report.lost.len() < 20, "{:?}", report.lost);
    // Nothing can be proven without the terms.
    let mut terms = fs_err::read(of_kind("term")).expect("read");
    terms[30] ^= 1;
    fs_err::write(of_kind("term"), &terms).expect("written");
    let (report, saved) = repair(&root, &folder.path().join("two"), Some(&encoder()));
    account(&whole, &saved, &report, "no terms");
    assert!(saved.is_empty());
    assert!(report.lost.iter().any(|lost| lost.title.is_some()));
    let named: BTreeSet<PaperId> =
        report.lost.iter().map(|lost| lost.paper.parse().expect("an identifier")).collect();
    assert_eq!(named.len(), 80);
}
