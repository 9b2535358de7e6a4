//! Is everything that was committed still there and consistent?

use scholar_core::{Encoder, Side};
use serde::Serialize;

use super::{Datastore, alive_documents};
use crate::dense::Kernel;
use crate::dense::scan::Vectors;
use crate::error::Error;
use crate::schema::KIND_PASSAGE;

/// How much is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// Headers, lengths, and that each passage has its vector.
    Quick,
    /// Also the checksums of every file.
    Checksums,
}

/// What was checked, when nothing was wrong.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct VerifyReport {
    /// Passages whose vector was found.
    pub passages: u64,
    /// Dense files whose rows were checked.
    pub dense_files: usize,
    /// Passages encoded again.
    pub encoded: usize,
    /// Lowest cosine between a stored vector and a fresh one; 1 when none was encoded again.
    pub least_cosine: f32,
}

/// Lowest accepted cosine of a stored f16 vector with a fresh encoding.
const LEAST_COSINE: f32 = 0.995;

impl Datastore {
    /// Checks the newest commit; with `sample`, encodes that many passages spread over the store again.
    ///
    /// # Errors
    /// The first damage found, as [`Error::Corrupt`] naming the file; [`Error::EncoderMismatch`].
    pub fn verify(
        &self,
        depth: Depth,
        sample: Option<(&dyn Encoder, usize)>,
    ) -> Result<VerifyReport, Error> {
        let snapshot = self.snapshot()?;
        let failed = || Error::index("read", self.root());
        let vectors = Vectors::new(&snapshot).map_err(failed())?;
        let term = tantivy::Term::from_field_text(self.fields().kind, KIND_PASSAGE);
        let passages = alive_documents(&snapshot.searcher, &term).map_err(failed())?;
        for address in &passages {
            if vectors.row(*address)?.is_none() {
                return Err(Error::corrupt(self.root(), "a passage has no vector"));
            }
        }
        let mut report = VerifyReport {
            passages: passages.len() as u64,
            dense_files: 0,
            encoded: 0,
            least_cosine: 1.0,
        };
        if depth == Depth::Checksums {
            for segment in &snapshot.dense {
                segment.verify()?;
                report.dense_files += 1;
            }
            let mut damaged: Vec<_> = snapshot
                .searcher
                .index()
                .validate_checksum()
                .map_err(failed())?
                .into_iter()
                .collect();
            damaged.sort();
            if let Some(file) = damaged.first() {
                return Err(Error::corrupt(&self.root().join(file), "its checksum does not fit"));
            }
        }
        if let Some((encoder, count)) = sample {
            self.check_encoder(encoder.info())?;
            let step = (passages.len() / count.max(1)).max(1);
            for address in passages.iter().step_by(step).take(count) {
                let passage = self.load_passage(&snapshot, *address)?;
                let fresh = encoder
                    .encode(Side::Passage, &[&passage.encoded_text()])
                    .map_err(|source| Error::Encode { path: self.root().to_owned(), source })?;
                let row = vectors.row(*address)?.unwrap_or_default();
                let cosine = cosine_with_row(&fresh.values, row);
                if cosine < LEAST_COSINE {
                    return Err(Error::corrupt(
                        self.root(),
                        format!(
                            "the vector of {} has cosine {cosine:.4} with a fresh encoding",
                            passage.id
                        ),
                    ));
                }
                report.encoded += 1;
                report.least_cosine = report.least_cosine.min(cosine);
            }
        }
        Ok(report)
    }
}

fn cosine_with_row(fresh: &[f32], row: &[u8]) -> f32 {
    let stored: Vec<f32> = row
        .chunks_exact(2)
        .map(|bytes| half::f16::from_le_bytes([bytes[0], bytes[1]]).to_f32())
        .collect();
    let kernel = Kernel::Portable;
    let fresh_norm = fresh.iter().map(|value| value * value).sum::<f32>().sqrt();
    let norms = fresh_norm * stored.iter().map(|value| value * value).sum::<f32>().sqrt();
    if norms > 0.0 { kernel.dot(fresh, row) / norms } else { 0.0 }
}
