//! The papers shipped with the program, and their vectors.

use std::io::{BufRead as _, BufReader};

use flate2::read::GzDecoder;
use scholar_core::text::PassageRules;
use scholar_core::text::passages::cut;
use scholar_core::{EncoderInfo, Paper};
use scholar_datastore::PaperVectors;
use serde::{Deserialize, Serialize};
use sha2::Digest as _;

use crate::error::{CommandError, Context as _, ErrorKind};

/// Name of the datastore built from them.
pub(crate) const NAME: &str = "starter";

/// Marks a datastore that holds all of them.
pub(crate) const COMPLETE_FILE: &str = "starter.complete";

/// The shipped vectors are compared with a fresh encoding of every this-manieth paper when they are used.
pub(crate) const CHECK_EVERY: usize = 400;

/// JSON lines of [`Paper`], gzip.
pub(crate) const PAPERS: &[u8] = include_bytes!("../../../starter/papers.jsonl.gz");

/// What [`VECTORS`] are.
const VECTORS_INFO: &str = include_str!("../../../starter/vectors.json");

/// Little-endian f16 `[passages, dim]`, in the order of the papers and their passages.
const VECTORS: &[u8] = include_bytes!("../../../starter/vectors.f16");

/// `starter/vectors.json`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct VectorsInfo {
    /// Catalog name of the encoder.
    pub(crate) encoder: String,
    /// Its fingerprint.
    pub(crate) fingerprint: String,
    /// Length of a vector.
    pub(crate) dim: usize,
    /// Number of vectors.
    pub(crate) passages: usize,
    /// SHA-256 of `papers.jsonl.gz`: vectors of other papers are not used.
    pub(crate) papers_sha256: String,
}

/// All starter papers in shipped order.
pub(crate) fn papers() -> Result<Vec<Paper>, CommandError> {
    BufReader::new(GzDecoder::new(PAPERS))
        .lines()
        .enumerate()
        .map(|(idx, line)| {
            let broken = || format!("the shipped papers are damaged at line {}", idx + 1);
            let line = line.user(broken)?;
            serde_json::from_str(&line).user(broken)
        })
        .collect()
}

/// Digest of the shipped papers.
pub(crate) fn papers_sha256() -> String {
    scholar_core::text::hex(&sha2::Sha256::digest(PAPERS))
}

/// The shipped vectors as rows, if they are of `encoder` and of the shipped papers.
pub(crate) fn vectors(encoder: &EncoderInfo) -> Result<Option<Vec<Vec<f32>>>, CommandError> {
    let bug = |what: &str| CommandError::new(ErrorKind::Bug, format!("the shipped vectors {what}"));
    let info: VectorsInfo = serde_json::from_str(VECTORS_INFO)
        .map_err(|source| bug("have no description").with_source(source))?;
    let VectorsInfo { encoder: _, fingerprint, dim, passages, papers_sha256: papers } = info;
    if fingerprint != encoder.fingerprint || papers != papers_sha256() {
        return Ok(None);
    }
    if VECTORS.len() != passages * dim * 2 || dim != encoder.dim {
        return Err(bug("have the wrong length"));
    }
    let rows = VECTORS
        .chunks_exact(dim * 2)
        .map(|row| {
            row.chunks_exact(2)
                .map(|pair| half::f16::from_le_bytes([pair[0], pair[1]]).to_f32())
                .collect()
        })
        .collect();
    Ok(Some(rows))
}

/// Deals `vectors` out to `papers`, as many as [`PassageRules::sections`] cuts passages from each.
pub(crate) fn pair(
    papers: Vec<Paper>,
    vectors: Vec<Vec<f32>>,
) -> Result<Vec<PaperVectors>, CommandError> {
    let mut rows = vectors.into_iter();
    let paired: Vec<PaperVectors> = papers
        .into_iter()
        .map(|paper| {
            let count = cut(&paper, PassageRules::sections()).len();
            PaperVectors { vectors: rows.by_ref().take(count).collect(), paper }
        })
        .collect();
    let left = rows.count();
    if left > 0 {
        return Err(CommandError::new(
            ErrorKind::Bug,
            format!("{left} shipped vectors belong to no passage"),
        ));
    }
    Ok(paired)
}
