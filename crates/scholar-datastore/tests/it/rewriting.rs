//! Damaged files are not rewritten with checksums that fit, and reading them is an error, not a panic.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use scholar_core::{PaperId, SearchFilter, SearchMode, SearchRequest};
use scholar_datastore::export::ExportPart;
use scholar_datastore::graph::{Direction, Limits};
use scholar_datastore::{
    AddOptions, Datastore, Depth, Error, MergeSource, SearchConfig, WriterCheck,
};

use super::damage::{files, with_every_kind_of_file};
use super::process::compact_with;
use super::{Dice, add, create, encoder, paper, request, retriever};

/// What is in every file.
fn contents(root: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    files(root).into_iter().map(|file| (file.clone(), fs_err::read(file).expect("read"))).collect()
}

fn flip(file: &Path, at: usize, bit: u64) -> Vec<u8> {
    let whole = fs_err::read(file).expect("read");
    let mut damaged = whole.clone();
    damaged[at] ^= 1 << bit;
    fs_err::write(file, damaged).expect("written");
    whole
}

fn is_of_a_commit(file: &Path) -> bool {
    let ending = file.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    ending != "json"
}

/// Of a list of deletions the footer names a release that nothing depends on.
fn bytes_that_matter(file: &Path) -> u64 {
    let length = fs_err::metadata(file).expect("there").len();
    if file.extension().is_some_and(|ending| ending == "del") { 8 } else { length }
}

/// Merges, exports, and adds a paper.
fn rewrite_each_way(root: &Path, aside: &Path) -> Vec<(&'static str, Result<(), Error>)> {
    let go_on = &mut |_: u64| ControlFlow::Continue(());
    let merged = MergeSource::open(root).and_then(|source| {
        let into = create(&aside.join("merged"));
        let options = AddOptions::standard("merge");
        let mut writer = into.writer()?;
        writer.copy_from(&source, &options, &mut |_| ControlFlow::Continue(())).map(|_| ())
    });
    let exported = MergeSource::open(root)
        .and_then(|source| source.export(&aside.join("exported"), &ExportPart::ALL, go_on))
        .map(|_| ());
    let compacted = Datastore::open_unchecked(root)
        .and_then(|store| store.writer())
        .and_then(|mut writer| compact_with(&mut writer).map(|_| ()));
    let added =
        Datastore::open_unchecked(root).and_then(|store| store.writer()).and_then(|mut w| {
            let papers = [Ok::<_, Error>(paper(900, "New", "new"))];
            let options = AddOptions::standard("t");
            w.add(papers, &encoder(), &options, &mut |_| ControlFlow::Continue(())).map(|_| ())
        });
    vec![("merge", merged), ("export", exported), ("compact", compacted), ("add", added)]
}

#[test]
fn nothing_damaged_is_rewritten_as_good() {
    let folder = tempfile::tempdir().expect("temp dir");
    let root = folder.path().join("store");
    with_every_kind_of_file(&root);
    let mut dice = Dice(11);
    for file in files(&root).into_iter().filter(|file| is_of_a_commit(file)) {
        let at = usize::try_from(dice.below(bytes_that_matter(&file))).expect("small");
        let whole = flip(&file, at, dice.below(8));
        let before = contents(&root);
        let aside = tempfile::tempdir().expect("temp dir");
        let name = file.file_name().expect("a name").to_string_lossy().into_owned();
        for (what, outcome) in rewrite_each_way(&root, aside.path()) {
            let error = outcome.expect_err(&format!("{what} over {name}, byte {at}"));
            let text = error.to_string();
            assert!(text.contains(&name), "{what}: {text}");
            assert!(text.contains("(commit "), "{what}: {text}");
            let hint = error.hint().expect("a way out");
            assert!(
                hint.contains("datastore repair") && hint.contains("--to store-repaired"),
                "{hint}"
            );
            assert_eq!(contents(&root), before, "{what} over {name} wrote");
        }
        fs_err::write(&file, whole).expect("written");
    }
    let aside = tempfile::tempdir().expect("temp dir");
    for (what, outcome) in rewrite_each_way(&root, aside.path()) {
        outcome.expect(what);
    }
    Datastore::open(&root).expect("opens").verify(Depth::Checksums, None).expect("whole");
}

#[test]
fn a_writer_that_does_not_check_first_checks_what_it_rewrites() {
    let folder = tempfile::tempdir().expect("temp dir");
    let root = folder.path().join("store");
    with_every_kind_of_file(&root);
    for ending in ["store", "idx"] {
        let of_kind = |file: &PathBuf| file.extension().is_some_and(|e| e == ending);
        let file = files(&root).into_iter().find(of_kind).expect("there");
        let whole = flip(&file, 40, 3);
        let unchecked = || {
            let store = Datastore::open_unchecked(&root).expect("opens");
            store.writer_with(WriterCheck::WhenRewritten).expect("opens")
        };
        // What is new is written beside what is there.
        let number = if ending == "store" { 901 } else { 902 };
        assert_eq!(add(&mut unchecked(), vec![paper(number, "New", "new words")]), 1);
        let error = Datastore::check_files(&root, &mut |_| {}).expect_err("still damaged");
        assert!(error.to_string().contains(ending), "{error}");
        // A removal, and a merge of all there is.
        let mut writer = unchecked();
        let removed = writer.remove(&[PaperId::Pmid(7)]).and_then(|_| writer.commit());
        let error = removed.expect_err("refused").to_string();
        assert!(error.contains(&format!(".{ending}")), "{error}");
        drop(writer);
        let error = compact_with(&mut unchecked()).expect_err("refused").to_string();
        assert!(error.contains(&format!(".{ending}")), "{error}");
        Datastore::check_files(&root, &mut |_| {}).expect_err("still damaged");
        fs_err::write(&file, whole).expect("written");
    }
    Datastore::check_files(&root, &mut |_| {}).expect("whole again");
}

/// Everything that can be asked of a store.
fn ask_everything(root: &Path) -> Result<(), Error> {
    let store = Datastore::open_unchecked(root)?;
    store.info()?;
    store.counts()?;
    store.papers_titled("Title 12")?;
    store.each_paper(|_| Ok(()))?;
    store.each_passage(|_, _| Ok(()))?;
    store.each_vector(|_| Ok(()))?;
    for number in [3, 65, 83] {
        let id = PaperId::Pmid(number);
        store.paper(&id)?;
        store.passages_of(&id)?;
        let graph = store.graph()?;
        graph.counts(&id)?;
        graph.citers(&id)?;
        graph.related(&id, 3)?;
        graph.neighbourhood(&id, Direction::Both, Limits { hops: 2, links: 9, papers: 30 })?;
    }
    store.graph()?.size()?;
    let retriever = retriever(store, SearchConfig::tuned());
    let filter = SearchFilter { year_from: Some(2003), ..SearchFilter::none() };
    for mode in [SearchMode::Lexical, SearchMode::Dense, SearchMode::Hybrid] {
        let plain = request("w1 w12 title", mode, 5);
        let filtered = SearchRequest { filter: filter.clone(), ..plain.clone() };
        for outcome in retriever.search_batch_blocking(&[plain, filtered]) {
            outcome?;
        }
    }
    Ok(())
}

#[test]
fn damage_met_while_reading_is_an_error_that_names_the_file() {
    let folder = tempfile::tempdir().expect("temp dir");
    let root = folder.path();
    with_every_kind_of_file(root);
    ask_everything(root).expect("whole");
    let mut dice = Dice(23);
    let (mut errors, mut tried) = (0, 0);
    // Names are drawn anew each time; the same bytes are flipped.
    let mut files = files(root);
    files.sort_by_cached_key(|file| {
        let ending = file.extension().map(ToOwned::to_owned);
        (ending, fs_err::metadata(file).expect("there").len())
    });
    for file in files {
        let length = fs_err::metadata(&file).expect("there").len();
        for _ in 0..12 {
            let at = usize::try_from(dice.below(length)).expect("small");
            let bit = dice.below(8);
            let whole = flip(&file, at, bit);
            let name = file.file_name().expect("a name").to_string_lossy().into_owned();
            let asked = catch_unwind(AssertUnwindSafe(|| ask_everything(root)));
            let outcome = asked.unwrap_or_else(|_| panic!("{name} byte {at} bit {bit}: a panic"));
            tried += 1;
            if let Err(error) = outcome {
                errors += 1;
                assert!(
                    !matches!(error, Error::Panicked { .. }),
                    "{name} byte {at} bit {bit}: {error}"
                );
                let text = error.to_string();
                let lists = ["datastore.json", "meta.json", ".managed.json"];
                let names_it = text.contains(&name) || lists.contains(&name.as_str());
                assert!(names_it, "{name} byte {at} bit {bit}: {error:?}");
            }
            fs_err::write(&file, whole).expect("written");
        }
    }
    assert!(errors * 10 > tried, "{errors} of {tried} were noticed");
    ask_everything(root).expect("whole again");
}

#[test]
fn a_small_store_is_checked_when_it_is_opened() {
    let folder = tempfile::tempdir().expect("temp dir");
    let root = folder.path();
    with_every_kind_of_file(root);
    for file in files(root).into_iter().filter(|file| is_of_a_commit(file)) {
        let length = bytes_that_matter(&file);
        let whole = flip(&file, usize::try_from(length).expect("small") / 3, 2);
        let error = Datastore::open(root).expect_err("noticed").to_string();
        let name = file.file_name().expect("a name").to_string_lossy().into_owned();
        assert!(error.contains(&name) && error.contains("(commit "), "{error}");
        fs_err::write(&file, whole).expect("written");
    }
    Datastore::open(root).expect("whole again");
}
