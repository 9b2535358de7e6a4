//! One wrong bit in any file of a datastore.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use scholar_core::PaperId;
use scholar_datastore::{Datastore, Depth, Error, RepairSource};

use super::process::compact;
use super::{Dice, add, create, encoder, paper};

/// A store with every kind of file: inverted indexes, deletions, several segments on both sides.
pub(crate) fn with_every_kind_of_file(root: &Path) {
    let store = create(root);
    let mut writer = store.writer().expect("writer");
    let papers = |from: u64, to: u64| {
        (from..to)
            .map(|n| {
                let mut paper = paper(n, &format!("Title {n}"), &format!("w{} w{n}", n % 7));
                paper.references = vec![PaperId::Pmid(n + 1), PaperId::Doi(format!("10.1/{n}"))];
                paper
            })
            .collect()
    };
    add(&mut writer, papers(0, 60));
    add(&mut writer, papers(60, 80));
    compact(&mut writer);
    add(&mut writer, papers(80, 90));
    writer.remove(&[PaperId::Pmid(5), PaperId::Pmid(70), PaperId::Pmid(85)]).expect("noted");
    writer.commit().expect("committed");
}

/// Every file but locks, whose content is for people.
pub(crate) fn files(root: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs_err::read_dir(folder).expect("readable") {
            let path = entry.expect("entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_none_or(|ending| ending != "lock") {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

/// Two places that nothing depends on: the name of a file that is gone already in tantivy's list of files to remove, and
/// the number of tantivy's release in the footer of a list of deletions.
fn means_nothing(file: &Path, whole: &[u8], at: usize) -> bool {
    let name = file.file_name().expect("a name").to_string_lossy();
    let text = String::from_utf8_lossy(&whole[whole.len().saturating_sub(200)..]).into_owned();
    let footer = text.rfind("{\"version\"").zip(text.rfind("\"crc\""));
    let from_end = |at: usize| text.len() - at;
    match footer {
        Some((start, end)) if name.ends_with(".del") => {
            (from_end(end)..=from_end(start)).contains(&(whole.len() - at))
        }
        _ => name == ".managed.json",
    }
}

fn endings(files: &[PathBuf]) -> std::collections::BTreeSet<&str> {
    files.iter().filter_map(|file| file.extension()?.to_str()).collect()
}

#[test]
fn a_wrong_bit_anywhere_is_noticed() {
    let folder = tempfile::tempdir().expect("temp dir");
    let root = folder.path();
    with_every_kind_of_file(root);
    let files = files(root);
    let kinds = endings(&files);
    for kind in ["json", "vec", "ivf", "term", "idx", "fast", "fieldnorm", "store", "del"] {
        assert!(kinds.contains(kind), "no .{kind} among {kinds:?}");
    }
    Datastore::check_files(root, &mut |_| {}).expect("whole");
    let mut dice = Dice(5);
    let mut unnoticed = Vec::new();
    for file in &files {
        let whole = fs_err::read(file).expect("read");
        let last = whole.len() - 1;
        let random: Vec<usize> = (0..6)
            .map(|_| usize::try_from(dice.below(whole.len() as u64)).expect("small"))
            .collect();
        for at in [0, last / 4, last / 2, last - last / 8, last].into_iter().chain(random) {
            let mut damaged = whole.clone();
            let bit = dice.below(8);
            damaged[at] ^= 1 << bit;
            fs_err::write(file, &damaged).expect("written");
            let checked = catch_unwind(AssertUnwindSafe(|| {
                // Opening must not fail in a way nobody handles, whether it notices or not.
                let _opened = Datastore::open(root);
                Datastore::check_files(root, &mut |_| {})
            }));
            match checked {
                Ok(Err(error)) => {
                    let text = error.to_string();
                    assert!(text.contains(&*root.to_string_lossy()), "{text}");
                    assert!(error.hint().is_some(), "{text}");
                }
                Ok(Ok(_)) if means_nothing(file, &whole, at) => {}
                Ok(Ok(_)) => unnoticed.push(format!("{} byte {at} bit {bit}", file.display())),
                Err(_) => panic!("{} byte {at} bit {bit}: a panic", file.display()),
            }
        }
        fs_err::write(file, &whole).expect("written");
    }
    assert!(unnoticed.is_empty(), "not noticed:\n{}", unnoticed.join("\n"));
    let store = Datastore::open(root).expect("whole again");
    store.verify(Depth::Checksums, Some((&encoder(), 5))).expect("whole again");
}

#[test]
fn a_missing_file_is_named() {
    let folder = tempfile::tempdir().expect("temp dir");
    let root = folder.path();
    with_every_kind_of_file(root);
    for file in files(root) {
        let name = file.file_name().expect("a name").to_string_lossy().into_owned();
        let aside = root.join("aside");
        fs_err::rename(&file, &aside).expect("moved");
        let error = Datastore::check_files(root, &mut |_| {}).expect_err(&name);
        let mut text = error.to_string();
        let mut cause: &dyn std::error::Error = &error;
        while let Some(next) = cause.source() {
            text = format!("{text}: {next}");
            cause = next;
        }
        let not_there = matches!(error, Error::NotADatastore { .. });
        assert!(not_there || text.contains(&name), "{name}: {text}");
        fs_err::rename(&aside, &file).expect("moved back");
    }
    Datastore::check_files(root, &mut |_| {}).expect("whole again");
}

#[test]
fn a_newer_version_is_said_to_be_newer() {
    let newer = |change: &dyn Fn(&Path)| {
        let folder = tempfile::tempdir().expect("temp dir");
        with_every_kind_of_file(folder.path());
        change(folder.path());
        let outcomes = [
            Datastore::open(folder.path()).map(|_| ()),
            Datastore::check_files(folder.path(), &mut |_| {}).map(|_| ()),
        ];
        for outcome in outcomes {
            let error = outcome.expect_err("refused");
            let Error::Version { found, supported, .. } = error else { panic!("{error}") };
            assert!(found > supported, "{found} for {supported}");
        }
    };
    let rewrite = |path: PathBuf, from: &str, to: &str| {
        let text = fs_err::read_to_string(&path).expect("text");
        assert!(text.contains(from), "{from} in {text}");
        fs_err::write(path, text.replacen(from, to, 1)).expect("written");
    };
    newer(&|root| rewrite(root.join("datastore.json"), "\"format\": 2", "\"format\": 9"));
    newer(&|root| {
        rewrite(root.join("lexical/meta.json"), "\\\"version\\\":2", "\\\"version\\\":9");
    });
    for ending in ["vec", "ivf"] {
        newer(&|root| {
            let files = files(root);
            let of_kind = |file: &&PathBuf| file.extension().is_some_and(|e| e == ending);
            let file = files.iter().find(of_kind).expect("there");
            let mut bytes = fs_err::read(file).expect("read");
            bytes[8] = 9;
            fs_err::write(file, bytes).expect("written");
        });
    }
}

/// tantivy panics about some ends of files; those too are damage that names its file.
#[test]
fn an_end_that_says_what_cannot_be_is_damage_of_that_file() {
    let folder = tempfile::tempdir().expect("temp dir");
    let root = folder.path().join("store");
    with_every_kind_of_file(&root);
    let ends_in_footer = |file: &PathBuf| {
        let ending = file.extension().and_then(|ending| ending.to_str());
        ending.is_some_and(|ending| ["store", "term", "fast", "idx", "del"].contains(&ending))
    };
    let all: Vec<PathBuf> = files(&root).into_iter().filter(ends_in_footer).collect();
    assert!(all.len() >= 5, "{all:?}");
    for file in all {
        let whole = fs_err::read(&file).expect("read");
        let end = whole.len();
        let lengths = [0, 1, end - 8, end - 7, end, end * 2, u32::MAX as usize];
        let mut broken: Vec<Vec<u8>> = lengths
            .into_iter()
            .map(|length| {
                let length = u32::try_from(length).expect("fits").to_le_bytes();
                [&whole[..end - 8], &length, &whole[end - 4..]].concat()
            })
            .collect();
        broken.extend((0..16).map(|left| whole[end - left..].to_vec()));
        for bytes in broken {
            fs_err::write(&file, &bytes).expect("written");
            let error = Datastore::check_files(&root, &mut |_| {}).expect_err("damaged");
            assert!(error.to_string().contains(&*file.to_string_lossy()), "{error}");
            let _refused_or_saved = RepairSource::open(&root);
        }
        fs_err::write(&file, whole).expect("written");
    }
    Datastore::check_files(&root, &mut |_| {}).expect("whole again");
}
