//! Searching an inverted index: nearest lists, estimates of their codes, the best rows to be scored exactly.

use super::cluster::highest;
use super::code::{BLOCK, Tables};
use super::file::IvfFile;
use super::rotation::Rotation;
use super::scan::{Scan, row};
use crate::dense::kernel::Kernel;

/// How much of an index a query looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Probe {
    /// Lists that are scanned.
    pub lists: usize,
    /// Rows that are scored exactly afterwards.
    pub rescored: usize,
}

impl Probe {
    /// For a filter that accepts `share` of the rows: as many more lists as it takes to see as many accepted rows.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "a number of lists; what is too large is cut to all of them"
    )]
    pub(crate) fn widened(self, share: f64, top_k: usize) -> Self {
        let Self { lists, rescored } = self;
        let lists = (lists as f64 / share.clamp(1e-6, 1.0)).ceil() as usize;
        Self { lists, rescored: rescored.max(top_k) }
    }
}

/// One list in this many is scanned by default, and no fewer than [`FEWEST_LISTS`].
const LIST_SHARE: usize = 32;
const FEWEST_LISTS: usize = 48;
/// Rows scored exactly for each result wanted.
const RESCORED_PER_RESULT: usize = 6;
/// Up to this many lists each centroid is compared; above, those of the nearest groups.
const ALL_LISTS: usize = 1_024;
/// The share of groups that is looked into is one in this many, and no fewer than [`FEWEST_GROUPS`].
const GROUP_SHARE: usize = 3;
const FEWEST_GROUPS: usize = 24;

/// An inverted index with what searching needs in memory.
#[derive(Debug)]
pub(crate) struct IvfSearch {
    file: IvfFile,
    rotation: Rotation,
    scan: Scan,
    kernel: Kernel,
}

impl IvfSearch {
    pub(crate) fn new(file: IvfFile) -> Self {
        let rotation = Rotation::new(file.header.dim as usize, file.header.seed);
        Self { file, rotation, scan: Scan::detect(), kernel: Kernel::detect() }
    }

    pub(crate) fn file(&self) -> &IvfFile {
        &self.file
    }

    /// What a search for the best `top_k` looks at unless told otherwise. Chosen on real passages: docs/results/index.md.
    pub(crate) fn probe(&self, top_k: usize) -> Probe {
        let lists = self.file.header.lists as usize;
        Probe {
            lists: (lists / LIST_SHARE).max(FEWEST_LISTS),
            rescored: top_k * RESCORED_PER_RESULT,
        }
    }

    /// The rows that look best by their codes, at most `probe.rescored`, in no particular order. `accepts` is asked only
    /// for rows that would be among them.
    pub(crate) fn candidates(
        &self,
        query: &[f32],
        probe: Probe,
        accepts: &dyn Fn(u32) -> bool,
    ) -> Vec<u32> {
        let mut rotated = vec![0.0; self.rotation.padded()];
        self.rotation.apply(query, &mut rotated);
        let tables = Tables::new(&rotated);
        let mut best = Best::new(probe.rescored);
        let mut estimates = [0.0; BLOCK];
        for (list, near) in self.nearest_lists(&rotated, probe.lists) {
            for block in self.file.blocks(list) {
                let mut above = self.scan.block(block, &tables, (near, best.bar), &mut estimates);
                while above != 0 {
                    let place = above.trailing_zeros() as usize;
                    above &= above - 1;
                    let row = row(block, place);
                    if accepts(row) {
                        best.add(estimates[place], row);
                    }
                }
            }
        }
        best.finish()
    }

    /// Lists with the highest inner products, best first.
    fn nearest_lists(&self, query: &[f32], most: usize) -> Vec<(usize, f32)> {
        let (groups, starts, lists) = (self.file.groups(), self.file.starts(), self.file.lists());
        let dim = query.len();
        let among: Vec<usize> = if starts[starts.len() - 1] as usize <= ALL_LISTS.max(most * 2) {
            (0..starts.len() - 1).collect()
        } else {
            let scores: Vec<f32> = groups
                .chunks_exact(dim)
                .map(|centroid| self.kernel.dot_f32(query, centroid))
                .collect();
            highest(&scores, (scores.len() / GROUP_SHARE).max(FEWEST_GROUPS))
        };
        let mut found: Vec<(usize, f32)> = among
            .into_iter()
            .flat_map(|group| starts[group] as usize..starts[group + 1] as usize)
            .map(|list| (list, self.kernel.dot_f32(query, &lists[list * dim..(list + 1) * dim])))
            .collect();
        let better = |a: &(usize, f32), b: &(usize, f32)| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0));
        if most < found.len() {
            found.select_nth_unstable_by(most, better);
            found.truncate(most);
        }
        found.sort_by(better);
        found
    }
}

/// The highest estimates so far. Twice as many are kept and halved when full: a heap would touch memory for each.
struct Best {
    most: usize,
    bar: f32,
    kept: Vec<(f32, u32)>,
}

impl Best {
    fn new(most: usize) -> Self {
        let most = most.max(1);
        Self { most, bar: f32::NEG_INFINITY, kept: Vec::with_capacity(most * 2) }
    }

    fn add(&mut self, estimate: f32, row: u32) {
        self.kept.push((estimate, row));
        if self.kept.len() >= self.most * 2 {
            self.shrink();
        }
    }

    fn shrink(&mut self) {
        if self.kept.len() <= self.most {
            return;
        }
        let by_estimate = |a: &(f32, u32), b: &(f32, u32)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
        let (_, last, _) = self.kept.select_nth_unstable_by(self.most - 1, by_estimate);
        self.bar = last.0;
        self.kept.truncate(self.most);
    }

    /// Rows in ascending order: neighbours share pages.
    fn finish(mut self) -> Vec<u32> {
        self.shrink();
        let mut rows: Vec<u32> = self.kept.into_iter().map(|(_, row)| row).collect();
        rows.sort_unstable();
        rows
    }
}
