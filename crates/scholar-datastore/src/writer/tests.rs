//! What the writer does beside its work disturbs nothing.

mod compacting;
mod interleaving;

use std::ops::ControlFlow;
use std::path::Path;

use scholar_core::{Encoder as _, Paper, PaperId, PaperMeta, Section};
use scholar_testing::FakeEncoder;

use super::{AddOptions, DatastoreWriter};
use crate::descriptor::BuildRules;
use crate::error::Error;
use crate::store::Datastore;
use crate::store::guard::Inside;

fn encoder() -> FakeEncoder {
    FakeEncoder::new(16)
}

/// Lexical segments of the newest commit.
fn lexical_segments(store: &Datastore) -> usize {
    let _inside = Inside::enter();
    store.snapshot().expect("read").searcher.segment_readers().len()
}

fn create(root: &Path) -> Datastore {
    Datastore::create(root, encoder().info(), BuildRules::sections()).expect("created")
}

fn paper(number: u64, text: &str) -> Paper {
    let meta = PaperMeta::new(PaperId::Pmid(number), format!("Title {number}"));
    Paper {
        meta,
        sections: vec![Section::new("Abstract", text)],
        references: Vec::new(),
        records: Vec::new(),
    }
}

/// Adds papers as one commit.
fn add(writer: &mut DatastoreWriter, papers: Vec<Paper>) {
    let options = AddOptions { keep_duplicates: true, ..AddOptions::standard("test") };
    let papers = papers.into_iter().map(Ok::<Paper, Error>);
    let go_on = &mut |_: &_| ControlFlow::Continue(());
    writer.add(papers, &encoder(), &options, go_on).expect("added");
}
