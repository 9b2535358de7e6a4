//! Searching an inverted index: nearest lists, estimates of their codes, the best rows to be scored exactly.

use super::cluster::highest;
use super::code::{BLOCK, Tables};
use super::file::{Bits, IvfFile};
use super::fine;
use super::rotation::Rotation;
use super::scan::{Scan, block_bytes, row};
use crate::dense::kernel::Kernel;

/// How much of an index a query looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Probe {
    /// Lists that are scanned.
    pub nprobe: usize,
    /// Rows that are scored exactly afterwards.
    pub rescored: usize,
}

impl Probe {
    /// For a filter that accepts `share` of the rows. The best accepted rows lie deeper among all rows, by the inverse of
    /// the share, and so in more lists, but not in as many more: those near the query hold most of them.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "a number of lists; what is too large is cut to all of them"
    )]
    pub(crate) fn widened(self, share: f64, top_k: usize) -> Self {
        let Self { nprobe, rescored } = self;
        let nprobe = (nprobe as f64 / share.clamp(1e-6, 1.0).sqrt()).ceil() as usize;
        Self { nprobe, rescored: rescored.max(top_k) }
    }
}

/// One list in this many is scanned by default, and as many as it takes to see [`FEWEST_ROWS`]: a code costs about a
/// nanosecond, and questions unlike the papers have their nearest passages in many lists.
const LIST_SHARE: usize = 16;
const FEWEST_ROWS: usize = 48_000;
/// Rows scored exactly for each result wanted.
const RESCORED_PER_RESULT: usize = 8;
/// With fine codes, one in this many of the rows that look good by one bit is compared exactly.
const FINE_SHARE: usize = 4;
/// Up to this many lists each centroid is compared; above, those of the nearest groups.
const ALL_LISTS: usize = 1_024;
/// The share of groups that is looked into is one in this many, and no fewer than [`FEWEST_GROUPS`].
const GROUP_SHARE: usize = 3;
const FEWEST_GROUPS: usize = 24;
/// Groups are looked into until there are so many times as many lists as are scanned.
const LISTS_PER_PROBED: usize = 3;

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

    pub(crate) fn bits(&self) -> Bits {
        self.file.header.bits
    }

    /// What a search for the best `top_k` looks at unless told otherwise. Chosen on real passages: docs/results/index-real.md.
    pub(crate) fn probe(&self, top_k: usize) -> Probe {
        let nlist = self.file.header.nlist as usize;
        let rows = usize::try_from(self.file.header.rows).unwrap_or(usize::MAX).max(1);
        Probe {
            nprobe: (nlist / LIST_SHARE)
                .max(nlist.saturating_mul(FEWEST_ROWS) / rows)
                .clamp(1, nlist.max(1)),
            rescored: top_k * RESCORED_PER_RESULT,
        }
    }

    /// The rows that look best by their codes, at most `probe.rescored` and no fewer than `top_k` where there are so many,
    /// in ascending order: neighbours share pages. Where the lists of `probe` do not have as many, as with a filter whose
    /// rows lie far from the query, further lists are scanned until they have.
    /// `accepts` is asked only for rows that would be among them.
    pub(crate) fn candidates(
        &self,
        query: &[f32],
        probe: Probe,
        top_k: usize,
        accepts: &dyn Fn(u32) -> bool,
    ) -> Vec<u32> {
        let mut rotated = vec![0.0; self.rotation.padded()];
        self.rotation.apply(query, &mut rotated);
        let wanted = probe.rescored.max(top_k);
        let mut scanning =
            Scanning { tables: Tables::new(&rotated), best: Best::new(wanted), accepts };
        let mut seen = vec![false; self.file.header.nlist as usize];
        for (list, near) in self.nearest_lists(&rotated, probe.nprobe) {
            self.scan_list(list, near, &mut scanning);
            seen[list] = true;
        }
        if scanning.best.kept.len() < wanted {
            for (list, near) in self.nearest_lists(&rotated, seen.len()) {
                if scanning.best.kept.len() >= wanted {
                    break;
                }
                if !seen[list] {
                    self.scan_list(list, near, &mut scanning);
                }
            }
        }
        let best = scanning.best;
        let mut kept = best.finish();
        if self.file.header.bits == Bits::Four {
            for candidate in &mut kept {
                candidate.estimate = fine::estimate(candidate.fine, &rotated, candidate.near);
            }
            keep_highest(&mut kept, top_k.max(probe.rescored / FINE_SHARE));
        }
        let mut rows: Vec<u32> = kept.into_iter().map(|candidate| candidate.row).collect();
        rows.sort_unstable();
        rows
    }

    /// Takes in the rows of a list that look good.
    fn scan_list<'a>(&'a self, list: usize, near: f32, scanning: &mut Scanning<'a, '_>) {
        let Scanning { tables, best, accepts } = scanning;
        let mut estimates = [0.0; BLOCK];
        let coarse = block_bytes(self.rotation.padded());
        for whole in self.file.blocks(list) {
            let (block, fine) = whole.split_at(coarse);
            let mut above = self.scan.block(block, tables, near, best.bar, &mut estimates);
            while above != 0 {
                let place = above.trailing_zeros() as usize;
                above &= above - 1;
                let row = row(block, place);
                if accepts(row) {
                    best.add(Candidate {
                        estimate: estimates[place],
                        row,
                        near,
                        fine: fine_code(fine, place),
                    });
                }
            }
        }
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
            let lists = starts[starts.len() - 1] as usize;
            let enough = (scores.len() * most * LISTS_PER_PROBED).div_ceil(lists.max(1));
            highest(&scores, enough.max(scores.len() / GROUP_SHARE).max(FEWEST_GROUPS))
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

/// One search on its way through the lists.
struct Scanning<'a, 'q> {
    tables: Tables,
    best: Best<'a>,
    accepts: &'q dyn Fn(u32) -> bool,
}

/// A row that looks good.
#[derive(Clone, Copy)]
struct Candidate<'a> {
    estimate: f32,
    row: u32,
    /// Inner product of the query with the centroid of its list.
    near: f32,
    /// Its fine code, empty where there is none.
    fine: &'a [u8],
}

/// The code of a place of a block.
fn fine_code(codes: &[u8], place: usize) -> &[u8] {
    let size = codes.len() / BLOCK;
    &codes[place * size..(place + 1) * size]
}

/// Drops all but the `most` with the highest estimates, and returns the lowest of them.
fn keep_highest(kept: &mut Vec<Candidate<'_>>, most: usize) -> Option<f32> {
    if kept.len() <= most {
        return None;
    }
    let by_estimate = |a: &Candidate<'_>, b: &Candidate<'_>| {
        b.estimate.total_cmp(&a.estimate).then(a.row.cmp(&b.row))
    };
    let (_, last, _) = kept.select_nth_unstable_by(most.max(1) - 1, by_estimate);
    let lowest = last.estimate;
    kept.truncate(most.max(1));
    Some(lowest)
}

/// The highest estimates so far. Twice as many are kept and halved when full: a heap would touch memory for each.
struct Best<'a> {
    most: usize,
    bar: f32,
    kept: Vec<Candidate<'a>>,
}

impl<'a> Best<'a> {
    fn new(most: usize) -> Self {
        let most = most.max(1);
        Self { most, bar: f32::NEG_INFINITY, kept: Vec::with_capacity(most * 2) }
    }

    fn add(&mut self, candidate: Candidate<'a>) {
        self.kept.push(candidate);
        if self.kept.len() >= self.most * 2
            && let Some(lowest) = keep_highest(&mut self.kept, self.most)
        {
            self.bar = lowest;
        }
    }

    fn finish(mut self) -> Vec<Candidate<'a>> {
        keep_highest(&mut self.kept, self.most);
        self.kept
    }
}
