//! Making an inverted index of stored rows.
//!
//! 1. A sample of the rows is rotated and clustered ([`super::cluster`]).
//! 2. Every row is rotated and assigned to its nearest list, in the order of storage; lists move to the mean of their rows.
//!    This is done [`PASSES`] times: a sample has a few dozen rows of each list, all rows say better where it lies.
//! 3. List by list, rows are encoded ([`super::code`]) and written.
//!
//! Memory: the sample, eight bytes per row, the centroids; the rows themselves are only read.

use std::io::{BufWriter, Seek as _, SeekFrom, Write as _};
use std::ops::ControlFlow;
use std::path::Path;

use half::f16;
use rayon::prelude::*;
use sha2::{Digest as _, Sha256};

use super::cluster::{Clusters, Sample, Sums};
use super::code::{BLOCK, encode};
use super::file::{Bits, HEADER_BYTES, Header, Layout};
use super::fine;
use super::rotation::Rotation;
use super::scan::{block_bytes, clear, put};
use crate::error::Error;
use scholar_core::random::SplitMix64;

/// Vectors that an index can be made of.
pub trait Rows: Sync {
    /// How many; below 2³².
    fn count(&self) -> usize;
    /// Dimension of every row.
    fn dim(&self) -> usize;
    /// Writes row `row` into `out`, which has `dim` numbers.
    fn read(&self, row: usize, out: &mut [f32]);
    /// Says that rows will be read in no order from now on, so that reading ahead is in vain.
    fn expect_no_order(&self) {}
}

/// How an index is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IvfOptions {
    /// Lists; fewer where there are fewer rows.
    pub nlist: usize,
    /// Rows per list in the sample that lists are trained on.
    pub sample_per_list: usize,
    /// Largest sample in bytes; it counts half a float per number.
    pub sample_bytes: usize,
    /// Of rotation, sample and first centroids.
    pub seed: u64,
    /// Bits per dimension of the codes.
    pub bits: Bits,
}

/// Ours: FAISS warns below 39.
const SAMPLE_PER_LIST: usize = 64;
/// 256 MiB: a third of a million vectors of 768 dimensions.
const SAMPLE_BYTES: usize = 256 << 20;
const SEED: u64 = 0x5eed;

impl IvfOptions {
    /// Two lists for the square root of `rows`. A list costs its centroid and half a block, about 5 kB with 768 numbers, and a
    /// code scanned costs a nanosecond or two, so few long lists are better than many short ones.
    pub fn for_rows(rows: usize) -> Self {
        Self {
            nlist: (rows.isqrt() * 2).max(1),
            sample_per_list: SAMPLE_PER_LIST,
            sample_bytes: SAMPLE_BYTES,
            seed: SEED,
            bits: Bits::One,
        }
    }
}

/// What a running build is at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IvfStage {
    /// Putting the rows of several segments into one, before an index is made of them.
    Copying,
    /// Clustering the sample into lists by k-means.
    Training,
    /// Finding each row's list.
    Assigning,
    /// Quantising the rows of each list and writing their codes.
    Encoding,
    /// Putting the lexical segments into one, when the dense ones are.
    Lexical,
}

/// How far a running build is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IvfProgress {
    /// What it is at.
    pub stage: IvfStage,
    /// Rows done in this stage.
    pub done: usize,
    /// Rows of this stage.
    pub total: usize,
}

/// Called after each chunk; `Break` stops the build.
pub type OnIvfProgress<'a> = &'a mut dyn FnMut(IvfProgress) -> ControlFlow<()>;

/// Rows between two calls of the progress callback.
const CHUNK: usize = 65_536;
/// Rows that one thread rotates and assigns at a time.
const PART: usize = 512;
/// Rows that are held while they are added to the sums of their lists.
const HELD: usize = 16 * PART;
/// Times that all rows are assigned.
const PASSES: usize = 2;

/// Writes the index of `rows` to `path`, durable, and returns whether it was completed. `indexed` is the digest of the
/// rows' file.
///
/// # Errors
/// [`Error::Io`]; the unfinished file is left for the caller to remove.
pub(crate) fn build(
    rows: &dyn Rows,
    indexed: [u8; 32],
    path: &Path,
    options: IvfOptions,
    progress: OnIvfProgress<'_>,
) -> Result<bool, Error> {
    let rotation = Rotation::new(rows.dim(), options.seed);
    let mut report = |stage, done, total| progress(IvfProgress { stage, done, total }).is_break();
    let sample = sample(rows, &rotation, options);
    let sampled = sample.values.len() / rotation.padded();
    if report(IvfStage::Training, 0, sampled) {
        return Ok(false);
    }
    let mut clusters = Clusters::train(&sample, options.nlist, options.seed);
    drop(sample);
    if report(IvfStage::Training, sampled, sampled) {
        return Ok(false);
    }
    let mut assigned: Vec<u32> = Vec::with_capacity(rows.count());
    for pass in 0..PASSES {
        assigned.clear();
        let mut sums = Sums::new(&clusters);
        while assigned.len() < rows.count() {
            let end = rows.count().min(assigned.len() + CHUNK);
            for start in (assigned.len()..end).step_by(HELD) {
                let range = start..end.min(start + HELD);
                assigned.extend(assign(rows, &rotation, &clusters, range, &mut sums));
            }
            if report(IvfStage::Assigning, pass * rows.count() + end, PASSES * rows.count()) {
                return Ok(false);
            }
        }
        clusters.settle(sums);
    }
    let order = ListOrder::new(&assigned, clusters.len());
    drop(assigned);
    let mut out = Out::create(path, rows, &clusters, &order, options, indexed)?;
    rows.expect_no_order();
    let mut list = 0;
    while list < clusters.len() {
        let first = order.starts[list];
        let mut end = list + 1;
        while end < clusters.len() && order.starts[end + 1] - first <= CHUNK {
            end += 1;
        }
        let parts: Vec<Vec<u8>> = (list..end)
            .into_par_iter()
            .map(|list| {
                encode_list(rows, &rotation, &clusters, order.rows(list), list, options.bits)
            })
            .collect();
        for part in &parts {
            out.write(part)?;
        }
        list = end;
        if report(IvfStage::Encoding, order.starts[list], rows.count()) {
            return Ok(false);
        }
    }
    out.finish()?;
    Ok(true)
}

/// Rows drawn without bias, rotated, in 16 bits.
fn sample(rows: &dyn Rows, rotation: &Rotation, options: IvfOptions) -> Sample {
    let IvfOptions { nlist, sample_per_list, sample_bytes, seed, bits: _ } = options;
    let most = sample_bytes / (rotation.padded() * 2);
    let wanted = nlist.saturating_mul(sample_per_list).min(most).max(nlist);
    let chosen = SplitMix64::new(seed).distinct(wanted, rows.count());
    let values = chosen
        .par_chunks(PART)
        .flat_map_iter(|chosen| {
            let (mut row, mut out) = (vec![0.0; rows.dim()], vec![0.0; rotation.padded()]);
            let mut values = Vec::with_capacity(chosen.len() * out.len());
            for at in chosen {
                rows.read(*at, &mut row);
                rotation.apply(&row, &mut out);
                values.extend(out.iter().map(|value| f16::from_f32(*value)));
            }
            values
        })
        .collect();
    Sample { dim: rotation.padded(), values }
}

/// The list of each row of `range`; adds the rows to `sums`.
fn assign(
    rows: &dyn Rows,
    rotation: &Rotation,
    clusters: &Clusters,
    range: std::ops::Range<usize>,
    sums: &mut Sums,
) -> Vec<u32> {
    let starts: Vec<usize> = range.clone().step_by(PART).collect();
    let parts: Vec<(Vec<u32>, Vec<f32>)> = starts
        .into_par_iter()
        .map(|start| {
            let x = rotated(rows, rotation, start..range.end.min(start + PART));
            (clusters.assign(&x), x)
        })
        .collect();
    let assigned: Vec<u32> = parts.iter().flat_map(|(lists, _)| lists).copied().collect();
    let order = ListOrder::new(&assigned, clusters.len());
    sums.add(|list| {
        order.rows(list).iter().map(|row| {
            let (part, at) = (*row as usize / PART, *row as usize % PART);
            &parts[part].1[at * clusters.dim..(at + 1) * clusters.dim]
        })
    });
    assigned
}

fn rotated(
    rows: &dyn Rows,
    rotation: &Rotation,
    range: impl ExactSizeIterator<Item = usize>,
) -> Vec<f32> {
    let mut row = vec![0.0; rows.dim()];
    let mut x = vec![0.0; range.len() * rotation.padded()];
    for (at, out) in range.zip(x.chunks_exact_mut(rotation.padded())) {
        rows.read(at, &mut row);
        rotation.apply(&row, out);
    }
    x
}

fn encode_list(
    rows: &dyn Rows,
    rotation: &Rotation,
    clusters: &Clusters,
    members: &[u32],
    list: usize,
    bits: Bits,
) -> Vec<u8> {
    let dim = rotation.padded();
    let size = bits.block_bytes(rows.dim());
    let coarse = block_bytes(dim);
    let mut blocks = vec![0; members.len().div_ceil(BLOCK) * size];
    let centroid = &clusters.lists.values[list * dim..(list + 1) * dim];
    for (members, block) in members.chunks(BLOCK).zip(blocks.chunks_exact_mut(size)) {
        let (block, codes) = block.split_at_mut(coarse);
        clear(block);
        let x = rotated(rows, rotation, members.iter().map(|row| *row as usize));
        for ((place, row), x) in members.iter().enumerate().zip(x.chunks_exact(dim)) {
            put(block, place, &encode(x, centroid), *row);
        }
        for (x, code) in
            x.chunks_exact(dim).zip(codes.chunks_exact_mut(fine::code_bytes(rows.dim())))
        {
            fine::encode(x, centroid, code);
        }
    }
    blocks
}

/// Rows sorted by list, ascending within each.
struct ListOrder {
    starts: Vec<usize>,
    rows: Vec<u32>,
}

impl ListOrder {
    fn new(assigned: &[u32], lists: usize) -> Self {
        let mut starts = vec![0; lists + 1];
        for list in assigned {
            starts[*list as usize + 1] += 1;
        }
        for list in 0..lists {
            starts[list + 1] += starts[list];
        }
        let mut next = starts.clone();
        let mut rows = vec![0; assigned.len()];
        for (row, list) in (0_u32..).zip(assigned) {
            rows[next[*list as usize]] = row;
            next[*list as usize] += 1;
        }
        Self { starts, rows }
    }

    fn rows(&self, list: usize) -> &[u32] {
        &self.rows[self.starts[list]..self.starts[list + 1]]
    }
}

/// The file being written.
struct Out<'a> {
    path: &'a Path,
    file: BufWriter<fs_err::File>,
    header: Header,
    digest: Sha256,
}

impl<'a> Out<'a> {
    fn create(
        path: &'a Path,
        rows: &dyn Rows,
        clusters: &Clusters,
        order: &ListOrder,
        options: IvfOptions,
        indexed: [u8; 32],
    ) -> Result<Self, Error> {
        let file = fs_err::File::create(path).map_err(Error::io("create", path))?;
        let mut out = Self {
            path,
            file: BufWriter::with_capacity(1 << 20, file),
            header: Header {
                dim: u32::try_from(rows.dim()).unwrap_or(u32::MAX),
                rows: rows.count() as u64,
                nlist: u32::try_from(clusters.len()).unwrap_or(u32::MAX),
                groups: u32::try_from(clusters.starts.len() - 1).unwrap_or(u32::MAX),
                seed: options.seed,
                bits: options.bits,
                indexed,
                body: [0; 32],
            },
            digest: Sha256::new(),
        };
        out.file.write_all(&[0; HEADER_BYTES]).map_err(Error::io("write", path))?;
        let layout = Layout::of(rows.dim(), clusters.starts.len() - 1, clusters.len());
        let mut firsts = vec![0_u64];
        for list in 0..clusters.len() {
            let blocks = order.rows(list).len().div_ceil(BLOCK) as u64;
            firsts.push(firsts[list] + blocks);
        }
        let ends = [layout.starts.start, layout.lists.start, layout.firsts.start, layout.blocks];
        let parts: [&[u8]; 4] = [
            bytemuck::cast_slice(&clusters.groups.values),
            bytemuck::cast_slice(&clusters.starts),
            bytemuck::cast_slice(&clusters.lists.values),
            bytemuck::cast_slice(&firsts),
        ];
        let mut at = HEADER_BYTES;
        for (part, end) in parts.iter().zip(ends) {
            out.write(part)?;
            out.write(&vec![0; end - at - part.len()])?;
            at = end;
        }
        Ok(out)
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.digest.update(bytes);
        self.file.write_all(bytes).map_err(Error::io("write", self.path))
    }

    fn finish(self) -> Result<(), Error> {
        let Self { path, mut file, mut header, digest } = self;
        header.body = digest.finalize().into();
        let mut finish = || {
            file.seek(SeekFrom::Start(0))?;
            file.write_all(&header.to_bytes())?;
            file.flush()?;
            file.get_ref().sync_all()
        };
        finish().map_err(Error::io("write", path))
    }
}
