//! Merged and indexed segments answer as the small ones did, filters and removals included.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Arc;

use scholar_core::{Paper, PaperId, Retrieved, Retriever as _, SearchFilter, SearchMode};
use scholar_datastore::{
    AddOptions, Bits, CompactOptions, CompactReport, Datastore, DatastoreWriter, DenseSearch,
    Depth, Error, HybridRetriever, MergePolicy, Probe, SearchConfig, SearchPool,
};

use super::{add, create, encoder, paper, request, retriever};

/// Two hundred papers in forty topics; papers of a topic share most words.
fn papers(range: std::ops::Range<u64>) -> Vec<Paper> {
    range
        .map(|n| {
            let topic = n % 40;
            let text =
                format!("t{topic} t{topic}a t{topic}b t{topic}c u{} v{} w{n}", n % 7, n % 11);
            paper(n, &format!("Topic {topic}"), &text)
        })
        .collect()
}

fn options(lists: usize) -> CompactOptions {
    let policy = MergePolicy { indexed_from: 50, ..MergePolicy::standard() };
    CompactOptions { policy, nlist: Some(lists), bits: None }
}

fn compact(writer: &mut DatastoreWriter, options: &CompactOptions) -> CompactReport {
    writer.compact(options, &mut |_| ControlFlow::Continue(())).expect("compacted")
}

fn config(dense: DenseSearch) -> SearchConfig {
    SearchConfig { dense, ..SearchConfig::tuned() }
}

fn found(
    root: &std::path::Path,
    dense: DenseSearch,
    query: &str,
    filter: &SearchFilter,
) -> Vec<Retrieved> {
    found_with(root, config(dense), query, filter)
}

fn found_with(
    root: &std::path::Path,
    config: SearchConfig,
    query: &str,
    filter: &SearchFilter,
) -> Vec<Retrieved> {
    let mut request = request(query, SearchMode::Dense, 10);
    request.filter = filter.clone();
    let retriever = retriever(Datastore::open(root).expect("opens"), config);
    futures::executor::block_on(retriever.search(&request)).expect("searched")
}

fn keys(hits: &[Retrieved]) -> Vec<(String, String)> {
    hits.iter()
        .map(|hit| (hit.passage.id.to_string(), format!("{:.4}", hit.score.value())))
        .collect()
}

/// Every list is probed and every row may be rescored: what is missed then is missed by a mistake.
const ALL: DenseSearch =
    DenseSearch::Indexed { probe: Some(Probe { nprobe: 1_000, rescored: 400 }) };

#[test]
fn an_index_finds_what_the_exact_scan_finds_after_removals_and_updates() {
    let folder = tempfile::tempdir().expect("temp dir");
    let store = create(folder.path());
    let mut writer = store.writer().expect("writer");
    for start in [0, 70, 140] {
        add(&mut writer, papers(start..start + 70));
    }
    let gone: Vec<PaperId> = (0..200).step_by(9).map(PaperId::Pmid).collect();
    assert_eq!(writer.remove(&gone).expect("removed"), gone.len());
    let mut changed = papers(33..34);
    changed[0].sections[0].text.push_str(" changed");
    add(&mut writer, changed);
    let report = compact(&mut writer, &options(12));
    assert_eq!((report.segments_before, report.segments), (4, 1));
    assert_eq!(report.rows_dropped, gone.len() as u64 + 1);
    assert_eq!(report.rows_indexed, 211 - report.rows_dropped);
    // More papers after it: one large segment and a small one together.
    add(&mut writer, papers(300..320));
    store.verify(Depth::Checksums, None).expect("intact");
    let few = SearchFilter {
        papers: Some(BTreeSet::from([3, 43, 44, 9].map(PaperId::Pmid))),
        ..SearchFilter::none()
    };
    let years = SearchFilter { year_from: Some(2003), year_to: Some(2003), ..SearchFilter::none() };
    for filter in [SearchFilter::none(), few, years] {
        for query in ["topic 3 t3a u3", "t17b w17 v6", "changed t33c", "t20 w300"] {
            let exact = found(folder.path(), DenseSearch::Exact, query, &filter);
            let indexed = found(folder.path(), ALL, query, &filter);
            assert_eq!(keys(&indexed), keys(&exact), "{query} {filter:?}");
            assert!(exact.iter().all(|hit| filter.accepts(&hit.paper)));
            assert!(!exact.iter().any(|hit| gone.contains(&hit.paper.id)));
        }
    }
}

#[test]
fn fine_codes_find_the_same_and_are_kept_by_later_merges() {
    let folder = tempfile::tempdir().expect("temp dir");
    let store = create(folder.path());
    let mut writer = store.writer().expect("writer");
    add(&mut writer, papers(0..200));
    compact(&mut writer, &options(8));
    let index_bytes = || store.info().expect("info").index_bytes;
    let one = index_bytes();
    let four = CompactOptions { bits: Some(Bits::Four), ..options(8) };
    compact(&mut writer, &four);
    let many = index_bytes();
    assert!(many > one * 2, "{one} bytes with one bit, {many} with four");
    add(&mut writer, papers(200..260));
    compact(&mut writer, &options(8));
    assert!(index_bytes() > many, "merging kept four bits");
    for query in ["topic 3 t3a u3", "t17b w17 v6", "w255 t15"] {
        let exact = found(folder.path(), DenseSearch::Exact, query, &SearchFilter::none());
        let indexed = found(folder.path(), ALL, query, &SearchFilter::none());
        assert_eq!(keys(&indexed), keys(&exact), "{query}");
    }
    store.verify(Depth::Checksums, None).expect("intact");
}

#[test]
fn a_filter_always_fills_the_results() {
    let folder = tempfile::tempdir().expect("temp dir");
    let store = create(folder.path());
    let mut writer = store.writer().expect("writer");
    add(&mut writer, papers(0..400));
    compact(&mut writer, &options(20));
    drop(writer);
    // One list is probed by default here at least; the filter leaves a twentieth of the papers, and ten are wanted.
    let narrow = DenseSearch::Indexed { probe: Some(Probe { nprobe: 1, rescored: 10 }) };
    let filter = SearchFilter { year_from: Some(2019), ..SearchFilter::none() };
    for query in ["topic 3 t3a", "nothing known"] {
        assert_eq!(found(folder.path(), narrow, query, &filter).len(), 10, "{query}");
        // Compared each, or marked and looked for in the lists: the same passages.
        let exact = found(folder.path(), DenseSearch::Exact, query, &filter);
        let marked = SearchConfig { compared: 0, ..config(ALL) };
        assert_eq!(
            keys(&found_with(folder.path(), marked, query, &filter)),
            keys(&exact),
            "{query}"
        );
    }
}

#[test]
fn segments_are_merged_beside_the_work_and_at_its_end() {
    let folder = tempfile::tempdir().expect("temp dir");
    let store = create(folder.path());
    // As many commits as batches, and as many batches as papers.
    let options = AddOptions { commit_every: 1, buffer_words: 1, ..AddOptions::standard("t") };
    let every = papers(0..45).into_iter().map(Ok::<Paper, Error>);
    let mut writer = store.writer().expect("writer");
    let report = writer.add(every, &encoder(), &options, &mut |_| ControlFlow::Continue(()));
    let added = report.expect("added").progress.papers_added;
    let info = store.info().expect("info");
    assert_eq!((info.papers, info.vectors), (added, added));
    // Ten of a kind are merged, whenever that happened.
    assert!((1..10).contains(&info.dense_segments), "{} segments", info.dense_segments);
    let files = fs_err::read_dir(folder.path().join("dense")).expect("read").count();
    assert_eq!(files, info.dense_segments, "nothing else lies there");
    store.verify(Depth::Checksums, Some((&encoder(), 50))).expect("whole");
}

#[test]
fn threads_and_segments_change_no_result() {
    let folder = tempfile::tempdir().expect("temp dir");
    let store = create(folder.path());
    let mut writer = store.writer().expect("writer");
    add(&mut writer, papers(0..300));
    // Several segments with an index, and several without one.
    let policy = MergePolicy { factor: 2, smallest: 8, largest: 60, indexed_from: 24 };
    for start in (300..500).step_by(50) {
        add(&mut writer, papers(start..start + 50));
        compact(&mut writer, &CompactOptions { policy, nlist: Some(5), bits: None });
    }
    add(&mut writer, papers(500..510));
    add(&mut writer, papers(510..520));
    drop(writer);
    let info = store.info().expect("info");
    assert!(info.indexed_segments > 2 && info.dense_segments > info.indexed_segments + 1);
    let narrow = SearchFilter { year_from: Some(2018), ..SearchFilter::none() };
    for (mode, filter) in [SearchMode::Dense, SearchMode::Lexical, SearchMode::Hybrid]
        .into_iter()
        .flat_map(|mode| [SearchFilter::none(), narrow.clone()].map(|filter| (mode, filter)))
    {
        let with = |threads: usize| {
            let pool = Arc::new(SearchPool::new(threads, 8).expect("threads"));
            let store = Arc::new(Datastore::open(folder.path()).expect("opens"));
            let retriever =
                HybridRetriever::new(store, Arc::new(encoder()), SearchConfig::tuned(), pool)
                    .expect("fits");
            let found = ["t3 u3 v5", "t17b w17", "nothing known", "topic u1"].map(|query| {
                let mut request = request(query, mode, 12);
                request.filter = filter.clone();
                let found = futures::executor::block_on(retriever.search(&request));
                found.expect("searched")
            });
            format!("{found:?}")
        };
        let one = with(1);
        for threads in [2, 4] {
            assert_eq!(with(threads), one, "{mode:?} {filter:?} on {threads} threads");
        }
    }
}

#[test]
fn readers_move_on_and_a_second_compaction_has_nothing_to_do() {
    let folder = tempfile::tempdir().expect("temp dir");
    let store = create(folder.path());
    let mut writer = store.writer().expect("writer");
    for start in [0, 50] {
        add(&mut writer, papers(start..start + 50));
    }
    let reader = retriever(Datastore::open(folder.path()).expect("opens"), config(ALL));
    let search =
        || futures::executor::block_on(reader.search(&request("t7 w7", SearchMode::Hybrid, 5)));
    let before = keys(&search().expect("searched"));
    let policy = MergePolicy { indexed_from: 50, ..MergePolicy::standard() };
    let options = CompactOptions { policy, nlist: None, bits: None };
    assert_eq!(compact(&mut writer, &options).segments, 1);
    assert_eq!(keys(&search().expect("searched")), before);
    let files = |store: &Datastore| -> BTreeSet<String> {
        fs_err::read_dir(store.root().join("dense"))
            .expect("read")
            .map(|entry| entry.expect("entry").file_name().to_string_lossy().into_owned())
            .collect()
    };
    let first = files(&store);
    assert_eq!(first.len(), 2, "one segment and its index: {first:?}");
    compact(&mut writer, &options);
    assert_eq!(files(&store), first);
    // Stopped before anything is written: nothing changes.
    let stop = CompactOptions { nlist: Some(3), ..options };
    let report = writer.compact(&stop, &mut |_| ControlFlow::Break(())).expect("stopped");
    assert!(report.interrupted);
    store.verify(Depth::Checksums, None).expect("intact");
    drop(writer);
    drop(store.writer().expect("sweeps"));
    assert_eq!(files(&store), first);
}

#[test]
fn a_budget_that_is_always_exceeded_changes_no_result() {
    let folder = tempfile::tempdir().expect("temp dir");
    let store = create(folder.path());
    let mut writer = store.writer().expect("writer");
    add(&mut writer, papers(0..150));
    compact(&mut writer, &options(6));
    add(&mut writer, papers(150..170));
    let search = |memory_bytes| {
        let store = Datastore::open(folder.path()).expect("opens");
        let retriever = retriever(store, SearchConfig { memory_bytes, ..config(ALL) });
        let found = (0..20).map(|n| {
            let request = request(&format!("t{n} w{n}"), SearchMode::Hybrid, 5);
            keys(&futures::executor::block_on(retriever.search(&request)).expect("searched"))
        });
        found.collect::<Vec<_>>()
    };
    assert_eq!(search(Some(1)), search(None));
}

#[test]
fn a_damaged_index_is_noticed() {
    let folder = tempfile::tempdir().expect("temp dir");
    let store = create(folder.path());
    let mut writer = store.writer().expect("writer");
    add(&mut writer, papers(0..100));
    compact(&mut writer, &options(4));
    drop(writer);
    drop(store);
    let path = fs_err::read_dir(folder.path().join("dense"))
        .expect("read")
        .map(|entry| entry.expect("entry").path())
        .find(|path| path.extension().is_some_and(|ending| ending == "ivf"))
        .expect("an index");
    let bytes = fs_err::read(&path).expect("read");
    for at in [0, 9, 13, 30, 60, 105, 130, bytes.len() / 2, bytes.len() - 1] {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x10;
        fs_err::write(&path, &damaged).expect("written");
        let checked =
            Datastore::open(folder.path()).and_then(|store| store.verify(Depth::Checksums, None));
        assert!(checked.is_err(), "byte {at}");
    }
    for length in [0, 100, 200, bytes.len() - 1] {
        fs_err::write(&path, &bytes[..length]).expect("written");
        assert!(Datastore::open(folder.path()).is_err(), "cut to {length}");
    }
}
