//! A large datastore of made papers, without an encoder: links are measured, not vectors.

use std::time::Instant;

use scholar_bench::performance::graph::SyntheticGraph;
use scholar_bench::performance::ingest::ConstantEncoder;
use scholar_core::{Encoder as _, Paper};
use scholar_datastore::{AddOptions, BuildRules, CompactOptions, Datastore};

use crate::app::App;
use crate::error::{CommandError, ErrorKind};
use crate::progress;

/// What is drawn is the same in every run.
const SEED: u64 = 7;
/// Numbers of a vector: as few as the files take.
const DIM: usize = 8;

/// The datastore of `count` papers, built once and kept below the data folder, and what is to be said of building it.
pub(super) fn store(count: u32, app: &App) -> Result<(Datastore, String), CommandError> {
    let path = app.home.data().join("bench").join(format!("graph-made-{count}"));
    let encoder = ConstantEncoder::new(DIM);
    let store = Datastore::open_or_create(&path, encoder.info(), BuildRules::sections())?;
    if store.counts()?.0 == u64::from(count) {
        return Ok((store, "Built before.".to_owned()));
    }
    let began = Instant::now();
    let graph = SyntheticGraph::new(count, SEED);
    let bar = progress::counted(&app.printer, "papers", Some(u64::from(count)))
        .with_message("making papers");
    let papers = graph.papers().map(Ok::<Paper, scholar_datastore::Error>);
    let mut writer = store.writer()?;
    let done = writer.add(papers, &encoder, &AddOptions::standard("synthetic"), &mut |done| {
        bar.set_position(done.papers_read);
        app.until_stopped()
    })?;
    bar.finish_and_clear();
    if done.interrupted {
        let message = "interrupted; the next start continues";
        return Err(CommandError::new(ErrorKind::Interrupted, message));
    }
    writer.compact(&CompactOptions::standard(), &mut |_| app.until_stopped())?;
    drop(writer);
    let seconds = began.elapsed().as_secs_f64();
    Ok((store, format!("Built in {seconds:.0} s, {} references drawn.", graph.edges())))
}
