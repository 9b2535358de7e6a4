//! Whatever is done in whatever order: the store holds what a map holds, and answers as one that was built in one go.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use proptest::collection::vec;
use proptest::prelude::{ProptestConfig, Strategy};
use proptest::{prop_oneof, proptest};
use scholar_core::{Paper, PaperId, Query, SearchFilter, SearchMode, SearchRequest};

use super::{add, create, encoder, lexical_segments, paper};
use crate::dense::merge::MergePolicy;
use crate::dense::scan::DenseSearch;
use crate::merge::MergeSource;
use crate::search::pool::SearchPool;
use crate::search::{HybridRetriever, SearchConfig};
use crate::store::Datastore;
use crate::store::verify::Depth;
use crate::writer::{AddOptions, CompactOptions, DatastoreWriter};

/// Enough for every pair of neighbouring steps; `PROPTEST_CASES=1000` tries more.
const CASES: u32 = 8;
/// Papers there may be.
const PAPERS: u64 = 24;
/// What merges at every step in stores of a few papers.
const EAGER: MergePolicy =
    MergePolicy { factor: 2, smallest: 4, largest: 1 << 20, indexed_from: 12 };

/// A paper's version by its number.
type Model = BTreeMap<u64, u64>;

#[derive(Debug, Clone)]
enum Step {
    /// Papers put as one commit, with a merge beside.
    Add(Vec<u64>),
    /// The same, by way of another datastore.
    Merge(Vec<u64>),
    Remove(Vec<u64>),
    /// Removed, and closed before the commit.
    Abandon(Vec<u64>),
    /// Waits for the merges that run.
    Settle,
    Compact,
    Reopen,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let some = || vec(0..PAPERS, 1..5);
    let step = prop_oneof![
        6 => some().prop_map(Step::Add),
        2 => some().prop_map(Step::Merge),
        2 => some().prop_map(Step::Remove),
        1 => some().prop_map(Step::Abandon),
        1 => proptest::strategy::Just(Step::Settle),
        2 => proptest::strategy::Just(Step::Compact),
        2 => proptest::strategy::Just(Step::Reopen),
    ];
    vec(step, 4..14)
}

fn open(root: &Path) -> DatastoreWriter {
    let mut writer = DatastoreWriter::open(root).expect("opens");
    writer.merge_policy = EAGER;
    writer.lexical.factor = 2;
    writer
}

fn compact(writer: &mut DatastoreWriter) {
    let options = CompactOptions { policy: EAGER, nlist: Some(2), bits: None };
    writer.compact(&options, &mut |_| ControlFlow::Continue(())).expect("compacted");
}

/// One passage each, of words that other papers and versions share.
fn papers(numbers: &[u64], version: u64) -> Vec<Paper> {
    let text = |id: u64| {
        format!("version{version} of paper{id} about topic{} and topic{}", id % 5, version % 3)
    };
    numbers.iter().map(|id| paper(*id, &text(*id))).collect()
}

fn ids(numbers: &[u64]) -> Vec<PaperId> {
    numbers.iter().map(|number| PaperId::Pmid(*number)).collect()
}

/// Does what a step says to the store at `root`, and to `model`.
fn take(
    mut writer: DatastoreWriter,
    (step, version): (&Step, u64),
    model: &mut Model,
) -> DatastoreWriter {
    let root = writer.root.clone();
    match step {
        Step::Add(numbers) => {
            add(&mut writer, papers(numbers, version));
            model.extend(numbers.iter().map(|id| (*id, version)));
        }
        Step::Merge(numbers) => {
            let part = root.with_file_name(format!("part-{version}"));
            add(&mut create(&part).writer().expect("writer"), papers(numbers, version));
            let source = MergeSource::open(&part).expect("opens");
            let options = AddOptions::standard("part");
            let go_on = &mut |_: &_| ControlFlow::Continue(());
            writer.copy_from(&source, &options, go_on).expect("merged");
            model.extend(numbers.iter().map(|id| (*id, version)));
        }
        Step::Remove(numbers) => {
            writer.remove(&ids(numbers)).expect("noted");
            writer.commit().expect("committed");
            model.retain(|id, _| !numbers.contains(id));
        }
        Step::Abandon(numbers) => {
            writer.remove(&ids(numbers)).expect("noted");
            drop(writer);
            writer = open(&root);
        }
        Step::Settle => writer.settle(&mut || ControlFlow::Continue(())).expect("settled"),
        Step::Compact => compact(&mut writer),
        Step::Reopen => {
            drop(writer);
            writer = open(&root);
        }
    }
    writer
}

/// Papers of a store by their texts.
fn content(store: &Datastore) -> Model {
    let mut content = Model::new();
    store
        .each_paper(|meta| {
            let PaperId::Pmid(id) = meta.id else { panic!("{} was never added", meta.id) };
            let passages = store.passages_of(&meta.id)?;
            assert_eq!(passages.len(), 1);
            let version = passages[0].text.split(' ').next().expect("words");
            let version = version.strip_prefix("version").and_then(|n| n.parse().ok());
            assert!(content.insert(id, version.expect("a version")).is_none(), "{id} twice");
            Ok(())
        })
        .expect("readable");
    content
}

/// What searches find, with scores to four digits.
fn found(root: &Path, modes: &[SearchMode]) -> Vec<String> {
    let store = Arc::new(Datastore::open(root).expect("opens"));
    let pool = Arc::new(SearchPool::new(1, 4).expect("threads"));
    let config = SearchConfig { dense: DenseSearch::Exact, ..SearchConfig::tuned() };
    let retriever = HybridRetriever::new(store, Arc::new(encoder()), config, pool).expect("fits");
    let mut found = Vec::new();
    for query in ["topic1", "about topic3 paper8", "version2 of paper3 topic0", "Title 5"] {
        for mode in modes {
            let query = Query::new(query).expect("a query");
            let filter = SearchFilter::none();
            let request = SearchRequest { query, top_k: 50, mode: *mode, filter };
            let hits = retriever.search_blocking(&request).expect("searched").into_iter();
            found.extend(
                hits.map(|hit| format!("{mode:?} {} {:.4}", hit.passage.id, hit.score.value())),
            );
        }
    }
    found
}

/// Cases: what the environment asks of proptest, where it asks.
fn cases() -> u32 {
    let usual = 256;
    Some(ProptestConfig::default().cases).filter(|cases| *cases != usual).unwrap_or(CASES)
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        cases: cases(),
        ..ProptestConfig::default()
    })]

    #[test]
    fn any_interleaving_ends_as_a_store_built_in_one_go(steps in steps()) {
        let folder = tempfile::tempdir().expect("temp dir");
        let (root, whole) = (folder.path().join("store"), folder.path().join("whole"));
        drop(create(&root));
        let mut writer = open(&root);
        let mut model = Model::new();
        for (version, step) in (0..).zip(&steps) {
            writer = take(writer, (step, version), &mut model);
            let store = Datastore::open(&root).expect("opens");
            assert_eq!(content(&store), model, "after step {version}");
        }
        drop(create(&whole));
        let versions = model.iter().flat_map(|(id, version)| papers(&[*id], *version));
        add(&mut open(&whole), versions.collect());

        let dense = [SearchMode::Dense];
        assert_eq!(found(&root, &dense), found(&whole, &dense));
        // Frequencies of words count removed passages until they are left behind.
        compact(&mut writer);
        let all = [SearchMode::Dense, SearchMode::Lexical, SearchMode::Hybrid];
        assert_eq!(found(&root, &all), found(&whole, &all));
        let store = Datastore::open(&root).expect("opens");
        assert_eq!(content(&store), model);
        assert!(lexical_segments(&store) <= 1);
        let report = store.verify(Depth::Checksums, Some((&encoder(), 4))).expect("whole");
        assert_eq!(report.passages, model.len() as u64);
    }
}
