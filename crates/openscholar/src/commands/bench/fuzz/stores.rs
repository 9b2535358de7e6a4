//! The reader of datastores: a small store with every kind of file, one of which is broken at a time.
//!
//! What is broken is opened, asked, checked, and repaired. It may be refused. It may not be called whole when what is in it
//! has changed.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use scholar_core::{Encoder as _, Paper, PaperId, PaperMeta, Query, SearchFilter, SearchMode};
use scholar_core::{SearchRequest, Section};
use scholar_datastore::{
    AddOptions, BuildRules, CompactOptions, Datastore, DatastoreWriter, Error, HybridRetriever,
    MergePolicy, RepairSource, SearchConfig, SearchPool,
};
use scholar_testing::FakeEncoder;
use scholar_testing::mutate::{Random, mutate, overwrite};

use super::files::{folder, subject};
use super::{Reader, Subject};

/// Length of its vectors.
const DIM: usize = 64;
/// Every so many inputs what is broken is repaired as well, which writes another store.
const REPAIRED_EACH: u64 = 16;

pub(super) fn subjects() -> Vec<Subject> {
    vec![subject("files of a datastore", Store::new)]
}

struct Store {
    folder: tempfile::TempDir,
    files: Vec<(PathBuf, Vec<u8>)>,
    encoder: Arc<FakeEncoder>,
    pool: Arc<SearchPool>,
    whole: BTreeMap<PaperId, Paper>,
}

impl Store {
    fn new() -> Result<Self, String> {
        let folder = folder()?;
        let encoder = Arc::new(FakeEncoder::new(DIM));
        let root = folder.path().join("store");
        let built = build(&root, &encoder).and_then(|()| content(&root));
        let whole = built.map_err(|error| error.to_string())?;
        let pool = SearchPool::new(1, 4).map_err(|error| error.to_string())?;
        let mut files = Vec::new();
        for part in ["", "lexical", "dense"] {
            let entries = fs_err::read_dir(root.join(part)).map_err(|error| error.to_string())?;
            for path in entries.flatten().map(|entry| entry.path()) {
                let is_lock = path.extension().is_some_and(|ending| ending == "lock");
                if path.is_file() && !is_lock {
                    let bytes = fs_err::read(&path).map_err(|error| error.to_string())?;
                    files.push((path, bytes));
                }
            }
        }
        files.sort();
        Ok(Self { folder, files, encoder, pool: Arc::new(pool), whole })
    }

    fn root(&self) -> PathBuf {
        self.folder.path().join("store")
    }

    /// Opens and asks.
    fn ask(&self) -> Result<(), Error> {
        // Opened as a person's is: checked, because it is small. Without that, a wrong length in a column may make the index
        // library ask for terabytes, and a failed allocation ends the process.
        let store = Datastore::open(&self.root())?;
        store.info()?;
        store.each_paper(|_| Ok(()))?;
        store.each_passage(|_, _| Ok(()))?;
        store.papers_titled("Title 7")?;
        let id = PaperId::Pmid(7);
        store.paper(&id)?;
        let graph = store.graph()?;
        graph.related(&id, 3)?;
        graph.size()?;
        let encoder = self.encoder.clone();
        let (config, pool) = (SearchConfig::tuned(), self.pool.clone());
        let retriever = HybridRetriever::new(Arc::new(store), encoder, config, pool)?;
        let Some(query) = Query::new("w1 w7 title") else { return Ok(()) };
        let filter = SearchFilter { year_from: Some(2003), ..SearchFilter::none() };
        for filter in [SearchFilter::none(), filter] {
            let mode = SearchMode::Hybrid;
            let (query, filter) = (query.clone(), filter);
            retriever.search_blocking(&SearchRequest { query, top_k: 5, mode, filter })?;
        }
        Ok(())
    }

    #[expect(clippy::panic_in_result_fn, reason = "a panic is what is counted")]
    fn repair(&self) -> Result<(), Error> {
        let source = RepairSource::open(&self.root())?;
        let to = self.folder.path().join("repaired");
        let _none_there = fs_err::remove_dir_all(&to);
        let store = Datastore::create(&to, self.encoder.info(), BuildRules::sections())?;
        let options = AddOptions::standard("repaired");
        let go_on = &mut |_: &_| ControlFlow::Continue(());
        let report =
            store.writer()?.save_from(&source, Some(self.encoder.as_ref()), &options, go_on)?;
        drop(store);
        Datastore::check_files(&to, &mut |_| {})?;
        let trusted = report.without_deletions.is_empty()
            && !report.damaged.iter().any(|damage| damage.file.ends_with("meta.json"));
        for (id, paper) in content(&to)? {
            let is_there = self.whole.get(&id).is_some_and(|stored| *stored == paper);
            assert!(is_there || !trusted, "{id} was saved as something else");
        }
        Ok(())
    }
}

impl Reader for Store {
    fn read(&mut self, number: u64) -> bool {
        let mut random = Random::new(number);
        let (path, bytes) = &self.files[random.below(self.files.len())];
        let broken = match random.below(4) {
            0 => mutate(std::slice::from_ref(bytes), &mut random),
            1 => overwrite(bytes, &mut random),
            _ => {
                let mut flipped = bytes.clone();
                let at = random.below(flipped.len());
                flipped[at] ^= 1 << random.below(8);
                flipped
            }
        };
        // A new file: what is mapped of the old one stays as it is.
        if !put(path, &broken) {
            return false;
        }
        let asked = self.ask();
        let is_whole = Datastore::check_files(&self.root(), &mut |_| {}).is_ok();
        if is_whole {
            let content = content(&self.root()).ok();
            assert!(content.as_ref() == Some(&self.whole), "changed, and called whole");
        }
        if let Err(error) = &asked {
            assert!(!matches!(error, Error::Panicked { .. }) || is_whole, "{error}");
        }
        if number.is_multiple_of(REPAIRED_EACH) {
            let _refused = self.repair();
        }
        put(path, bytes) && is_whole
    }
}

fn put(path: &Path, bytes: &[u8]) -> bool {
    let _none_there = fs_err::remove_file(path);
    fs_err::write(path, bytes).is_ok()
}

fn content(root: &Path) -> Result<BTreeMap<PaperId, Paper>, Error> {
    let store = Datastore::open_unchecked(root)?;
    let mut ids = Vec::new();
    store.each_paper(|meta| {
        ids.push(meta.id);
        Ok(())
    })?;
    let mut all = BTreeMap::new();
    for id in ids {
        if let Some(paper) = store.paper(&id)? {
            all.insert(id, paper);
        }
    }
    Ok(all)
}

/// Inverted indexes, deletions, several segments on both sides.
fn build(root: &Path, encoder: &FakeEncoder) -> Result<(), Error> {
    let store = Datastore::create(root, encoder.info(), BuildRules::sections())?;
    let mut writer = store.writer()?;
    add(&mut writer, 0..40, encoder)?;
    add(&mut writer, 40..50, encoder)?;
    let policy = MergePolicy { factor: 2, smallest: 8, largest: 1 << 20, indexed_from: 24 };
    let options = CompactOptions { policy, nlist: Some(3), bits: None };
    writer.compact(&options, &mut |_| ControlFlow::Continue(()))?;
    add(&mut writer, 50..56, encoder)?;
    writer.remove(&[PaperId::Pmid(5), PaperId::Pmid(52)])?;
    writer.commit()
}

fn add(
    writer: &mut DatastoreWriter,
    numbers: std::ops::Range<u64>,
    encoder: &FakeEncoder,
) -> Result<(), Error> {
    let papers = numbers.map(|number| {
        let mut meta = PaperMeta::new(PaperId::Pmid(number), format!("Title {number}"));
        meta.year = i16::try_from(2000 + number % 20).ok();
        let text = format!("w{} w{number}", number % 7);
        let references = vec![PaperId::Pmid(number + 1), PaperId::Doi(format!("10.1/{number}"))];
        Ok::<_, Error>(Paper {
            meta,
            sections: vec![Section::new("Abstract", text)],
            references,
            records: Vec::new(),
        })
    });
    let options = AddOptions { keep_duplicates: true, ..AddOptions::standard("fuzz") };
    writer.add(papers, encoder, &options, &mut |_| ControlFlow::Continue(())).map(|_| ())
}
