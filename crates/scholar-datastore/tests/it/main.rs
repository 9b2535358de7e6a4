//! The datastore from outside: what is stored is found, what is committed survives, what is wrong is said.
#![expect(clippy::panic, reason = "helpers of tests fail as tests do")]

mod compact;
mod damage;
mod duplicates;
mod exchange;
mod faults;
mod graph;
mod kill;
mod library;
mod merge;
mod neighbours;
mod process;
mod processes;
mod repair;
mod rewriting;
mod search;
mod store;

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use scholar_core::{
    Embeddings, Encoder, EncoderInfo, Paper, PaperId, PaperMeta, PortError, Query, SearchFilter,
    SearchMode, SearchRequest, Section, Side,
};
use scholar_datastore::{
    AddOptions, BuildRules, Datastore, DatastoreWriter, Error, HybridRetriever, SearchConfig,
    SearchPool,
};
use scholar_testing::FakeEncoder;

/// Numbers that look random and are the same every time.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn below(&mut self, most: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }
}

pub(crate) const DIM: usize = 64;

pub(crate) fn encoder() -> FakeEncoder {
    FakeEncoder::new(DIM)
}

/// Counts what it is asked to encode.
#[derive(Default)]
pub(crate) struct Counting(AtomicUsize);

impl Counting {
    pub(crate) fn new() -> Self {
        Self(AtomicUsize::new(0))
    }

    /// Texts so far.
    pub(crate) fn encoded(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

impl Encoder for Counting {
    fn info(&self) -> &EncoderInfo {
        static INFO: std::sync::OnceLock<EncoderInfo> = std::sync::OnceLock::new();
        INFO.get_or_init(|| encoder().info().clone())
    }

    fn encode(&self, side: Side, texts: &[&str]) -> Result<Embeddings, PortError> {
        self.0.fetch_add(texts.len(), Ordering::Relaxed);
        encoder().encode(side, texts)
    }
}

pub(crate) fn paper(number: u64, title: &str, text: &str) -> Paper {
    let mut meta = PaperMeta::new(PaperId::Pmid(number), title);
    meta.year = Some(2000 + i16::try_from(number % 20).expect("small"));
    Paper {
        meta,
        sections: vec![Section::new("Abstract", text)],
        references: Vec::new(),
        records: Vec::new(),
    }
}

pub(crate) fn add(writer: &mut DatastoreWriter, papers: Vec<Paper>) -> u64 {
    writer
        .add(
            papers.into_iter().map(Ok::<Paper, Error>),
            &encoder(),
            // Tests of other things write the same words often.
            &AddOptions { keep_duplicates: true, ..AddOptions::standard("test") },
            &mut |_| ControlFlow::Continue(()),
        )
        .expect("added")
        .progress
        .papers_added
}

pub(crate) fn create(root: &Path) -> Datastore {
    Datastore::create(root, encoder().info(), BuildRules::sections()).expect("created")
}

pub(crate) fn retriever(store: Datastore, config: SearchConfig) -> HybridRetriever {
    let pool = Arc::new(SearchPool::new(2, 8).expect("threads"));
    HybridRetriever::new(Arc::new(store), Arc::new(encoder()), config, pool).expect("fits")
}

pub(crate) fn request(query: &str, mode: SearchMode, top_k: usize) -> SearchRequest {
    SearchRequest {
        query: Query::new(query).expect("a query"),
        top_k,
        mode,
        filter: SearchFilter::none(),
    }
}
