//! Papers that come with vectors: the starter corpus, other people's embeddings.

use std::ops::ControlFlow;

use scholar_core::{Encoder, Paper, Side};

use super::known::Standing;
use super::prepare::Prepared;
use super::{AddProgress, AddReport, DatastoreWriter};
use crate::error::Error;

/// A paper with one vector per passage, in the order in which the datastore's rules cut it.
#[derive(Debug, Clone, PartialEq)]
pub struct PaperVectors {
    /// The paper whose passages they are.
    pub paper: Paper,
    /// `[passages][dim]`, in the order of the passages.
    pub vectors: Vec<Vec<f32>>,
}

/// Lowest accepted cosine of a given vector with a fresh encoding: f16 storage and another CPU differ less.
const LEAST_COSINE: f64 = 0.995;

impl DatastoreWriter {
    /// As [`DatastoreWriter::add`] for papers that come with vectors. `fingerprint` names the encoder that made them;
    /// with `check`, the first passage of every `check_every`-th paper is encoded again and compared.
    ///
    /// # Errors
    /// [`Error::Vectors`] for another fingerprint, a wrong number of vectors, or vectors that do not fit their texts;
    /// [`Error::EncoderMismatch`] when `check` is not the datastore's encoder.
    pub fn add_with_vectors(
        &mut self,
        papers: impl IntoIterator<Item = Result<PaperVectors, Error>>,
        fingerprint: &str,
        source: &str,
        check: Option<(&dyn Encoder, usize)>,
    ) -> Result<AddReport, Error> {
        if fingerprint != self.descriptor.encoder.fingerprint {
            return Err(Error::Vectors {
                paper: source.to_owned(),
                what: format!(
                    "they were computed by an encoder with fingerprint {fingerprint}, the datastore is for {} ({})",
                    self.descriptor.encoder.name, self.descriptor.encoder.fingerprint
                ),
            });
        }
        if let Some((encoder, _)) = check {
            self.descriptor.check_encoder(&self.root, encoder.info())?;
        }
        let mut state = AddProgress::start();
        for paper in papers {
            let PaperVectors { paper, vectors } = paper?;
            let place = state.papers_read;
            state.papers_read += 1;
            let mut prepared = self.prepare(paper)?;
            // Whoever brings vectors has decided which papers there are: duplicates are kept.
            match self.standing(&prepared, true)? {
                Standing::Same => {
                    state.papers_unchanged += 1;
                    continue;
                }
                Standing::Changed(merged) => {
                    self.join(&mut prepared, None, merged)?;
                    prepared.replaces = true;
                }
                Standing::New | Standing::Duplicate { .. } | Standing::Fuller { .. } => {}
            }
            check_count(&prepared, &vectors)?;
            if let Some((encoder, every)) = check
                && place.is_multiple_of(every.max(1) as u64)
            {
                self.check_sample(&prepared, &vectors, encoder)?;
            }
            self.store(&prepared, &vectors, source)?;
            self.pending.insert(&prepared);
            state.papers_added += 1;
            state.passages_added += prepared.passages.len() as u64;
        }
        self.commit()?;
        self.settle(&mut || ControlFlow::Continue(()))?;
        Ok(AddReport { progress: state, interrupted: false })
    }

    pub(crate) fn check_sample(
        &self,
        prepared: &Prepared,
        vectors: &[Vec<f32>],
        encoder: &dyn Encoder,
    ) -> Result<(), Error> {
        let (Some(passage), Some(vector)) = (prepared.passages.first(), vectors.first()) else {
            return Ok(());
        };
        let fresh = encoder
            .encode(Side::Passage, &[&passage.encoded_text()])
            .map_err(|source| Error::Encode { path: self.root.clone(), source })?;
        let cosine = cosine(vector, &fresh.values);
        if cosine >= LEAST_COSINE {
            return Ok(());
        }
        Err(Error::Vectors {
            paper: passage.id.to_string(),
            what: format!(
                "cosine {cosine:.4} with a fresh encoding, where {LEAST_COSINE} is needed"
            ),
        })
    }
}

fn check_count(prepared: &Prepared, vectors: &[Vec<f32>]) -> Result<(), Error> {
    if vectors.len() == prepared.passages.len() {
        return Ok(());
    }
    Err(Error::Vectors {
        paper: prepared.paper.meta.id.to_string(),
        what: format!("{} vectors for {} passages", vectors.len(), prepared.passages.len()),
    })
}

/// Cosine of two vectors of one length; 0 when one of them is zero.
pub(crate) fn cosine(a: &[f32], b: &[f32]) -> f64 {
    let dot = |x: &[f32], y: &[f32]| -> f64 {
        x.iter().zip(y).map(|(x, y)| f64::from(*x) * f64::from(*y)).sum()
    };
    let norms = (dot(a, a) * dot(b, b)).sqrt();
    if norms > 0.0 { dot(a, b) / norms } else { 0.0 }
}
