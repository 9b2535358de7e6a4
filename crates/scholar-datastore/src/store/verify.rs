//! Is everything that was committed still there and consistent?

mod files;

use scholar_core::{Encoder, Side};
use serde::Serialize;

use tantivy::schema::IndexRecordOption;
use tantivy::{DocAddress, DocSet as _, TERMINATED};

use super::{Datastore, Snapshot};
use crate::dense::Kernel;
use crate::dense::kernel::decoded;
use crate::dense::vectors::Vectors;
use crate::error::Error;
use crate::schema::KIND_PASSAGE;

pub use files::FilesReport;
pub(crate) use files::{check_commit, check_counts, check_lists};

/// How much is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// Headers, lengths, and that each passage has its vector.
    Quick,
    /// Also the checksum of every file.
    Checksums,
}

/// How far a check is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VerifyProgress {
    /// Bytes of the commit's files that were compared with their checksums.
    pub bytes: u64,
    /// Bytes there are to read.
    pub of_bytes: u64,
}

/// Called after each file.
pub type OnVerifyProgress<'a> = &'a mut dyn FnMut(VerifyProgress);

/// What was checked, when nothing was wrong.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct VerifyReport {
    /// Passages whose vector was found.
    pub passages: u64,
    /// Files whose checksums were compared; none with [`Depth::Quick`].
    #[serde(flatten)]
    pub files: FilesReport,
    /// Passages encoded again to compare their vectors.
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
        // First, so that nothing is believed that is not as it was written.
        let files = match depth {
            Depth::Quick => FilesReport::default(),
            Depth::Checksums => Self::check_files(self.root(), &mut |_| {})?,
        };
        self.reading(|| self.consistent(files, sample))
    }

    /// Whether every passage has its vector.
    fn consistent(
        &self,
        files: FilesReport,
        sample: Option<(&dyn Encoder, usize)>,
    ) -> Result<VerifyReport, Error> {
        let snapshot = self.snapshot()?;
        let failed = || Error::index("read", self.root());
        let vectors = Vectors::new(&snapshot).map_err(failed())?;
        let term = tantivy::Term::from_field_text(self.fields().kind, KIND_PASSAGE);
        let mut report = VerifyReport { passages: 0, files, encoded: 0, least_cosine: 1.0 };
        if let Some((encoder, _)) = sample {
            self.check_encoder(encoder.info())?;
        }
        let passages = self.counts()?.1;
        let step = sample.map(|(_, count)| (passages / count.max(1) as u64).max(1));
        for (segment, reader) in (0_u32..).zip(snapshot.searcher.segment_readers()) {
            let index = reader.inverted_index(term.field()).map_err(failed())?;
            let postings = index.read_postings(&term, IndexRecordOption::Basic);
            let Some(mut postings) = postings.map_err(Error::io("read", self.root()))? else {
                continue;
            };
            let mut doc = postings.doc();
            while doc != TERMINATED {
                if !reader.is_deleted(doc) {
                    let address = DocAddress::new(segment, doc);
                    let Some(row) = vectors.row(address)? else {
                        return Err(Error::corrupt(self.root(), "a passage has no vector"));
                    };
                    let is_sampled = step.is_some_and(|step| report.passages.is_multiple_of(step));
                    if let Some((encoder, count)) = sample.filter(|_| is_sampled)
                        && report.encoded < count
                    {
                        let cosine = self.encode_again(&snapshot, address, encoder, row)?;
                        report.encoded += 1;
                        report.least_cosine = report.least_cosine.min(cosine);
                    }
                    report.passages += 1;
                }
                doc = postings.advance();
            }
        }
        Ok(report)
    }

    /// Cosine of the stored vector of a passage with a fresh one.
    fn encode_again(
        &self,
        snapshot: &Snapshot,
        address: DocAddress,
        encoder: &dyn Encoder,
        row: &[u8],
    ) -> Result<f32, Error> {
        let passage = self.load_passage(snapshot, address)?;
        let fresh = encoder
            .encode(Side::Passage, &[&passage.encoded_text()])
            .map_err(|source| Error::Encode { path: self.root().to_owned(), source })?;
        let cosine = cosine_with_row(&fresh.values, row);
        if cosine >= LEAST_COSINE {
            return Ok(cosine);
        }
        let what = format!("the vector of {} has cosine {cosine:.4} with a fresh one", passage.id);
        Err(Error::corrupt(self.root(), what))
    }
}

fn cosine_with_row(fresh: &[f32], row: &[u8]) -> f32 {
    let stored = decoded(row);
    let kernel = Kernel::Portable;
    let fresh_norm = fresh.iter().map(|value| value * value).sum::<f32>().sqrt();
    let norms = fresh_norm * stored.iter().map(|value| value * value).sum::<f32>().sqrt();
    if norms > 0.0 { kernel.dot(fresh, row) / norms } else { 0.0 }
}
