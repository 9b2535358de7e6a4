//! A dense segment by itself, without papers: what benchmarks of the index measure.

use std::path::{Path, PathBuf};

use rayon::prelude::*;
use scholar_core::{EncoderInfo, Similarity, TextPreparation};

use super::file::DenseSegment;
use super::ivf::{self, IvfOptions, OnIvfProgress, Probe, Rows as _};
use super::kernel::Kernel;
use super::segment_writer::SegmentWriter;
use crate::error::Error;
use crate::manifest::SegmentEntry;
use crate::store::checks::Checks;

/// Rows a worker compares at a time.
const BLOCK: usize = 8_192;
/// Rows that stay in the cache.
const PART: usize = 64;

/// A row and its inner product with a query.
pub type Neighbour = (u32, f32);

/// A segment in a folder of its own.
#[derive(Debug)]
pub struct StandaloneIndex {
    folder: PathBuf,
    encoder: EncoderInfo,
    entry: SegmentEntry,
    segment: DenseSegment,
    kernel: Kernel,
}

impl StandaloneIndex {
    /// Writes the rows that `fill` makes, until it says `false`, and opens them. `folder` must exist.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn create(
        folder: &Path,
        dim: usize,
        mut fill: impl FnMut(&mut [f32]) -> bool,
    ) -> Result<Self, Error> {
        let encoder = EncoderInfo {
            name: "standalone".to_owned(),
            fingerprint: "standalone".to_owned(),
            dim,
            max_tokens: 0,
            similarity: Similarity::Dot,
            preparation: TextPreparation::NONE,
        };
        let mut writer = SegmentWriter::create(folder, 0, 0, &encoder)?;
        let mut row = vec![0.0; dim];
        while fill(&mut row) {
            writer.push(&row)?;
        }
        let entry = writer.finish()?;
        let segment = DenseSegment::open(folder, &entry, &encoder, &Checks::none())?;
        Ok(Self { folder: folder.to_owned(), encoder, entry, segment, kernel: Kernel::detect() })
    }

    /// Makes the inverted index. `false` when `progress` stopped it.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn index(
        &mut self,
        options: IvfOptions,
        progress: OnIvfProgress<'_>,
    ) -> Result<bool, Error> {
        let name = "dense-000000.ivf".to_owned();
        let path = self.folder.join(&name);
        if !ivf::build(&self.segment, self.segment.data_digest(), &path, options, progress)? {
            return Ok(false);
        }
        self.entry.index = Some(name);
        self.segment =
            DenseSegment::open(&self.folder, &self.entry, &self.encoder, &Checks::none())?;
        Ok(true)
    }

    /// Number of vectors in the segment.
    pub fn rows(&self) -> usize {
        self.segment.count()
    }

    /// File of the rows, 16-bit numbers after [`super::file::HEADER_BYTES`] bytes.
    pub fn path(&self) -> PathBuf {
        self.folder.join(&self.entry.file)
    }

    /// Copies vector `row`, from 0, to `out`, which is `[dim]`.
    pub fn read(&self, row: usize, out: &mut [f32]) {
        self.segment.read(row, out);
    }

    /// Bytes of the inverted index.
    pub fn index_bytes(&self) -> u64 {
        self.segment.index_bytes()
    }

    /// For each query the `top_k` rows with the highest inner products, best first, on all threads of the pool: one pass
    /// over the rows for all queries.
    pub fn exact(&self, queries: &[Vec<f32>], top_k: usize) -> Vec<Vec<Neighbour>> {
        let starts: Vec<usize> = (0..self.rows()).step_by(BLOCK).collect();
        let none = || vec![Vec::new(); queries.len()];
        starts
            .into_par_iter()
            .map(|start| self.exact_block(start..self.rows().min(start + BLOCK), queries, top_k))
            .reduce(none, |left, right| {
                let pairs = left.into_iter().zip(right);
                pairs.map(|(left, right)| best(left.into_iter().chain(right), top_k)).collect()
            })
    }

    fn exact_block(
        &self,
        rows: std::ops::Range<usize>,
        queries: &[Vec<f32>],
        top_k: usize,
    ) -> Vec<Vec<Neighbour>> {
        let mut found: Vec<(f32, Vec<Neighbour>)> =
            vec![(f32::NEG_INFINITY, Vec::new()); queries.len()];
        // A few rows stay in the cache while all queries pass.
        for start in rows.clone().step_by(PART) {
            let part = start..rows.end.min(start + PART);
            for (query, (bar, found)) in queries.iter().zip(&mut found) {
                let scored =
                    self.scored(query, part.clone().filter_map(|row| u32::try_from(row).ok()));
                found.extend(scored.filter(|(_, score)| score > bar));
                if found.len() >= top_k * 2 + PART {
                    *found = best(std::mem::take(found).into_iter(), top_k);
                    *bar = found.last().map_or(*bar, |(_, score)| *score);
                }
            }
        }
        found.into_iter().map(|(_, found)| best(found.into_iter(), top_k)).collect()
    }

    /// The same through the inverted index, on this thread; exact where there is none.
    pub fn search(&self, query: &[f32], top_k: usize, probe: Probe) -> Vec<Neighbour> {
        match self.segment.index() {
            Some(index) => {
                let rows = index.candidates(query, probe, top_k, &|_| true);
                best(self.scored(query, rows.into_iter()), top_k)
            }
            None => best(self.scored(query, (0_u32..).take(self.rows())), top_k),
        }
    }

    /// Many queries on all threads of the pool, each as in [`StandaloneIndex::search`].
    pub fn search_batch(
        &self,
        queries: &[Vec<f32>],
        top_k: usize,
        probe: Probe,
    ) -> Vec<Vec<Neighbour>> {
        queries.par_iter().map(|query| self.search(query, top_k, probe)).collect()
    }

    /// What a search looks at unless told otherwise.
    pub fn default_probe(&self, top_k: usize) -> Option<Probe> {
        self.segment.index().map(|index| index.probe(top_k))
    }

    fn scored<'a>(
        &'a self,
        query: &'a [f32],
        rows: impl Iterator<Item = u32> + 'a,
    ) -> impl Iterator<Item = Neighbour> + 'a {
        rows.filter_map(|row| {
            let stored = self.segment.stored(row as usize)?;
            Some((row, self.kernel.dot(query, stored)))
        })
    }
}

fn best(scored: impl Iterator<Item = Neighbour>, top_k: usize) -> Vec<Neighbour> {
    let better = |a: &Neighbour, b: &Neighbour| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0));
    let mut found: Vec<Neighbour> = scored.collect();
    if top_k > 0 && top_k < found.len() {
        found.select_nth_unstable_by(top_k - 1, better);
    }
    found.truncate(top_k);
    found.sort_by(better);
    found
}
