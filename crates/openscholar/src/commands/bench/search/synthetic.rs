//! A larger, synthetic datastore made of a real one, to see how searching grows.
//!
//! A synthetic passage is a run of words of a real one under the metadata of its paper, so that words, years and venues are
//! spread as they are; its vector is the real passage's moved by a share of the difference of two others, as
//! `bench index` makes them.

use scholar_bench::performance::synthetic::words;
use scholar_core::{Paper, PaperId, PaperMeta, Passage, Section};
use scholar_datastore::{BuildRules, CompactOptions, Datastore, PaperVectors};

use crate::app::App;
use crate::commands::bench::index::read_vectors;
use crate::error::{CommandError, ErrorKind};
use crate::progress;

/// What is drawn is the same in every run.
const SEED: u64 = 7;

/// The datastore of `count` passages made of `real`, built once and kept below the data folder.
pub(super) fn store(
    name: &str,
    real: &Datastore,
    count: usize,
    app: &App,
) -> Result<Datastore, CommandError> {
    let path = app.home.data().join("bench").join(format!("{name}-made-{count}"));
    let encoder = real.descriptor().encoder.clone();
    let store = Datastore::open_or_create(&path, &encoder, BuildRules::collection())?;
    if store.info()?.passages == count as u64 {
        return Ok(store);
    }
    let (mut passages, mut metas): (Vec<Passage>, Vec<PaperMeta>) = (Vec::new(), Vec::new());
    real.each_passage(|passage, meta| {
        passages.push(passage);
        metas.push(meta);
        Ok(())
    })?;
    let vectors = read_vectors(std::slice::from_ref(real))?;
    if vectors.count() != passages.len() || passages.is_empty() {
        return Err(CommandError::new(
            ErrorKind::User,
            format!("{name} has {} passages and {} vectors", passages.len(), vectors.count()),
        ));
    }
    let mut synthetic = vectors.synthetic(SEED);
    let bar =
        progress::counted(&app.printer, "passages", Some(count as u64)).with_message("making");
    let papers = (0..count).map(|number| {
        bar.inc(1);
        let (round, at) = (number / passages.len(), number % passages.len());
        let mut vector = vec![0.0; encoder.dim];
        synthetic.near(at, &mut vector);
        let paper = paper(number, &words(&passages[at].text, round), &metas[at]);
        Ok(PaperVectors { paper, vectors: vec![vector] })
    });
    let mut writer = store.writer()?;
    writer.add_with_vectors(papers, &encoder.fingerprint, name, None)?;
    bar.finish_and_clear();
    writer.compact(&CompactOptions::standard(), &mut |_| app.until_stopped())?;
    drop(writer);
    Ok(store)
}

fn paper(number: usize, text: &str, meta: &PaperMeta) -> Paper {
    let id = PaperId::Local(format!("made-{number}"));
    let meta = PaperMeta { id, external_ids: Vec::new(), ..meta.clone() };
    Paper {
        meta,
        sections: vec![Section::new("Abstract", text)],
        references: Vec::new(),
        records: Vec::new(),
    }
}
