//! Lists of similar vectors: two levels of k-means, trained on a sample in bounded memory.
//!
//! 1. The sample is clustered into about `√lists` groups.
//! 2. Each group is clustered by itself into its share of the lists.
//! 3. A few rounds of Lloyd's algorithm over all lists repair the borders between groups.
//!
//! Assigning a vector looks at the nearest groups only and then at their lists, so it costs about `√lists` inner products
//! instead of `lists`: what makes millions of vectors affordable on two cores. Distances are Euclidean in both
//! similarities: a list is a place, and what its centroid is good for is being near.
//!
//! Source: Lloyd 1982; the two levels are ours, because training on one level dominated the build.

use std::ops::Range;

use gemm::{Parallelism, gemm};
use half::f16;
use half::slice::HalfFloatSliceExt as _;
use rayon::prelude::*;

use scholar_core::random::SplitMix64;

/// Vectors multiplied at a time: small enough for the caches, large enough for the product to run at full speed.
const CHUNK: usize = 512;
/// Rounds on each level.
const ROUNDS: usize = 8;
/// Rounds over all lists at the end.
const FINAL_ROUNDS: usize = 2;
/// Groups whose lists are looked at when a vector is assigned.
const GROUPS_TRIED: usize = 6;
/// Below this many lists one level is enough.
const ONE_LEVEL_LISTS: usize = 128;

/// Vectors in a row-major matrix of 16-bit numbers: half the memory, more than the precision a mean needs.
#[derive(Debug)]
pub(crate) struct Sample {
    pub(crate) dim: usize,
    pub(crate) values: Vec<f16>,
}

impl Sample {
    fn len(&self) -> usize {
        self.values.len() / self.dim.max(1)
    }

    fn gather(&self, rows: &[u32], out: &mut Vec<f32>) {
        out.resize(rows.len() * self.dim, 0.0);
        for (row, out) in rows.iter().zip(out.chunks_exact_mut(self.dim)) {
            let at = *row as usize * self.dim;
            self.values[at..at + self.dim].convert_to_f32_slice(out);
        }
    }
}

/// Centroids with what a distance needs: `‖x − c‖² = ‖x‖² − 2 (⟨x, c⟩ − ‖c‖² / 2)`.
#[derive(Debug, Clone, Default)]
pub(crate) struct Centroids {
    pub(crate) values: Vec<f32>,
    half_squares: Vec<f32>,
}

impl Centroids {
    pub(crate) fn new(values: Vec<f32>, dim: usize) -> Self {
        let half_squares = values
            .chunks_exact(dim.max(1))
            .map(|c| c.iter().map(|value| value * value).sum::<f32>() / 2.0)
            .collect();
        Self { values, half_squares }
    }

    fn len(&self) -> usize {
        self.half_squares.len()
    }

    /// `scores[i][j] = ⟨x_i, c_j⟩ − ‖c_j‖² / 2` for the centroids `lists`: highest is nearest.
    fn nearness(&self, x: &[f32], dim: usize, lists: Range<usize>, scores: &mut Vec<f32>) {
        let (rows, columns) = (x.len() / dim, lists.len());
        scores.resize(rows * columns, 0.0);
        product(x, &self.values[lists.start * dim..lists.end * dim], dim, scores);
        for row in scores.chunks_exact_mut(columns.max(1)) {
            for (score, half) in row.iter_mut().zip(&self.half_squares[lists.clone()]) {
                *score -= half;
            }
        }
    }
}

/// `out = x · cᵀ` of `x` `[m, dim]` and `c` `[n, dim]`, row-major.
///
/// The crate `gemm` is wrapped here and in scholar-models, and not once in a crate below both: scholar-core is free of
/// numeric dependencies, a datastore does not know models, and a crate for one call would cost more than these lines.
#[expect(unsafe_code, reason = "the product of the gemm crate takes pointers")]
#[expect(clippy::cast_possible_wrap, reason = "strides are dimensions of matrices in memory")]
fn product(x: &[f32], c: &[f32], dim: usize, out: &mut [f32]) {
    let (m, n) = (x.len() / dim, c.len() / dim);
    assert!(x.len() == m * dim && c.len() == n * dim && out.len() == m * n, "matrices fit");
    // SAFETY: the assertion above is that all three matrices lie in their slices with the strides given.
    unsafe {
        gemm(
            m,
            n,
            dim,
            out.as_mut_ptr(),
            1,
            n as isize,
            false,
            x.as_ptr(),
            1,
            dim as isize,
            c.as_ptr(),
            dim as isize,
            1,
            0.0,
            1.0,
            false,
            false,
            false,
            Parallelism::None,
        );
    }
}

/// The trained lists in two levels.
#[derive(Debug, Clone)]
pub(crate) struct Clusters {
    pub(crate) dim: usize,
    pub(crate) groups: Centroids,
    /// `groups + 1` numbers: group `g` has the lists `starts[g]..starts[g + 1]`.
    pub(crate) starts: Vec<u32>,
    pub(crate) lists: Centroids,
}

impl Clusters {
    /// Trains `lists` lists on the sample; fewer where the sample is smaller.
    pub(crate) fn train(sample: &Sample, lists: usize, seed: u64) -> Self {
        let rows: Vec<u32> = (0_u32..).take(sample.len()).collect();
        let lists = lists.clamp(1, rows.len().max(1));
        let dim = sample.dim;
        if lists <= ONE_LEVEL_LISTS {
            let centroids = lloyd(sample, &rows, lists, seed);
            let groups = mean_of(&centroids.values, dim);
            let starts = vec![0, u32::try_from(centroids.len()).unwrap_or(u32::MAX)];
            return Self { dim, groups: Centroids::new(groups, dim), starts, lists: centroids };
        }
        let groups = lloyd(sample, &rows, lists.isqrt(), seed);
        let members = split(&nearest(sample, &rows, &groups), groups.len());
        let shares = shares(&members, lists);
        let parts: Vec<Centroids> = members
            .par_iter()
            .zip(&shares)
            .enumerate()
            .map(|(group, (members, share))| lloyd(sample, members, *share, seed ^ group as u64))
            .collect();
        let mut starts = vec![0_u32];
        for part in &parts {
            starts.push(starts[starts.len() - 1] + u32::try_from(part.len()).unwrap_or(0));
        }
        let values = parts.into_iter().flat_map(|part| part.values).collect();
        let mut clusters = Self { dim, groups, starts, lists: Centroids::new(values, dim) };
        for _ in 0..FINAL_ROUNDS {
            clusters.refine(sample, &rows);
        }
        clusters
    }

    pub(crate) fn len(&self) -> usize {
        self.lists.len()
    }

    /// The nearest list of each row of `x`.
    pub(crate) fn assign(&self, x: &[f32]) -> Vec<u32> {
        let rows = x.len() / self.dim;
        let mut best = vec![(f32::NEG_INFINITY, 0_u32); rows];
        let mut scores = Vec::new();
        let groups = self.groups.len();
        let mut tried: Vec<Vec<u32>> = vec![Vec::new(); groups];
        if groups == 1 {
            tried[0] = (0_u32..).take(rows).collect();
        } else {
            self.groups.nearness(x, self.dim, 0..groups, &mut scores);
            for (row, scores) in (0_u32..).zip(scores.chunks_exact(groups)) {
                for group in highest(scores, GROUPS_TRIED) {
                    tried[group].push(row);
                }
            }
        }
        let mut gathered = Vec::new();
        for (group, rows) in tried.iter().enumerate().filter(|(_, rows)| !rows.is_empty()) {
            let (from, to) = (self.starts[group] as usize, self.starts[group + 1] as usize);
            if from == to {
                continue;
            }
            gathered.clear();
            for row in rows {
                let at = *row as usize * self.dim;
                gathered.extend_from_slice(&x[at..at + self.dim]);
            }
            self.lists.nearness(&gathered, self.dim, from..to, &mut scores);
            for (row, scores) in rows.iter().zip(scores.chunks_exact(to - from)) {
                for (list, score) in (self.starts[group]..).zip(scores) {
                    if *score > best[*row as usize].0 {
                        best[*row as usize] = (*score, list);
                    }
                }
            }
        }
        best.into_iter().map(|(_, list)| list).collect()
    }

    /// One round of Lloyd's algorithm over all lists; groups follow their lists.
    fn refine(&mut self, sample: &Sample, rows: &[u32]) {
        let assigned: Vec<u32> = rows
            .par_chunks(CHUNK * 4)
            .flat_map_iter(|rows| {
                let mut x = Vec::new();
                sample.gather(rows, &mut x);
                self.assign(&x)
            })
            .collect();
        self.move_lists(means(sample, rows, &assigned, &self.lists.values));
    }

    /// Lists move to the mean of the rows that were assigned to them.
    pub(crate) fn settle(&mut self, sums: Sums) {
        self.move_lists(sums.means(&self.lists.values));
    }

    /// Gives the lists these centroids; groups follow them.
    fn move_lists(&mut self, values: Vec<f32>) {
        self.lists = Centroids::new(values, self.dim);
        let mut groups = Vec::with_capacity(self.groups.values.len());
        for (group, range) in self.starts.windows(2).enumerate() {
            let lists =
                &self.lists.values[range[0] as usize * self.dim..range[1] as usize * self.dim];
            if lists.is_empty() {
                groups.extend_from_slice(
                    &self.groups.values[group * self.dim..(group + 1) * self.dim],
                );
            } else {
                groups.extend(mean_of(lists, self.dim));
            }
        }
        self.groups = Centroids::new(groups, self.dim);
    }
}

/// Sums of the rows of each list.
pub(crate) struct Sums {
    dim: usize,
    values: Vec<f32>,
    counts: Vec<u32>,
}

impl Sums {
    /// Of no row yet.
    pub(crate) fn new(clusters: &Clusters) -> Self {
        let (dim, lists) = (clusters.dim, clusters.len());
        Self { dim, values: vec![0.0; lists * dim], counts: vec![0; lists] }
    }

    /// Adds the rows that `of` gives for each list, in their order: the sums are the same on any number of threads.
    pub(crate) fn add<'a, I: Iterator<Item = &'a [f32]>>(
        &mut self,
        of: impl Fn(usize) -> I + Sync,
    ) {
        let lists = self.values.par_chunks_mut(self.dim.max(1)).zip(&mut self.counts);
        lists.enumerate().for_each(|(list, (sum, count))| {
            for row in of(list) {
                *count += 1;
                for (sum, value) in sum.iter_mut().zip(row) {
                    *sum += value;
                }
            }
        });
    }

    /// A list without rows keeps its `old` centroid.
    #[expect(clippy::cast_precision_loss, reason = "rows of a list are far below 2^24 times")]
    fn means(mut self, old: &[f32]) -> Vec<f32> {
        let lists = self.values.chunks_exact_mut(self.dim.max(1)).zip(&self.counts);
        for ((sum, count), old) in lists.zip(old.chunks_exact(self.dim.max(1))) {
            if *count == 0 {
                sum.copy_from_slice(old);
            } else {
                let scale = 1.0 / *count as f32;
                sum.iter_mut().for_each(|value| *value *= scale);
            }
        }
        self.values
    }
}

/// Positions of the `most` highest scores.
pub(crate) fn highest(scores: &[f32], most: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    if most < order.len() {
        order.select_nth_unstable_by(most, |a, b| scores[*b].total_cmp(&scores[*a]).then(a.cmp(b)));
        order.truncate(most);
    }
    order
}

/// How many lists each group gets: in proportion to its members, at least one, `lists` together where that can be.
fn shares(members: &[Vec<u32>], lists: usize) -> Vec<usize> {
    let total: usize = members.iter().map(Vec::len).sum();
    let mut given = 0;
    let mut seen = 0;
    members
        .iter()
        .map(|members| {
            seen += members.len();
            // Rounding the running sum keeps the total exact.
            let until = (lists * seen + total / 2) / total.max(1);
            let share = until.saturating_sub(given).max(usize::from(!members.is_empty()));
            given += share;
            share.min(members.len())
        })
        .collect()
}

/// k-means over some rows of the sample.
fn lloyd(sample: &Sample, rows: &[u32], k: usize, seed: u64) -> Centroids {
    let dim = sample.dim;
    let mut random = SplitMix64::new(seed);
    let first: Vec<u32> = random.distinct(k, rows.len()).into_iter().map(|at| rows[at]).collect();
    let mut values = Vec::new();
    sample.gather(&first, &mut values);
    let mut centroids = Centroids::new(values, dim);
    if centroids.len() <= 1 {
        let values = means(sample, rows, &vec![0; rows.len()], &centroids.values);
        return Centroids::new(values, dim);
    }
    for _ in 0..ROUNDS {
        let assigned = nearest(sample, rows, &centroids);
        let values = means(sample, rows, &assigned, &centroids.values);
        centroids = Centroids::new(revive(values, &assigned, &mut random, dim), dim);
    }
    centroids
}

/// The nearest centroid of each of `rows`.
fn nearest(sample: &Sample, rows: &[u32], centroids: &Centroids) -> Vec<u32> {
    rows.par_chunks(CHUNK)
        .flat_map_iter(|rows| {
            let (mut x, mut scores) = (Vec::new(), Vec::new());
            sample.gather(rows, &mut x);
            centroids.nearness(&x, sample.dim, 0..centroids.len(), &mut scores);
            scores
                .chunks_exact(centroids.len())
                .map(|scores| {
                    let best =
                        (0_u32..).zip(scores).fold((0, f32::NEG_INFINITY), |best, (at, score)| {
                            if *score > best.1 { (at, *score) } else { best }
                        });
                    best.0
                })
                .collect::<Vec<u32>>()
        })
        .collect()
}

/// Mean of the rows of each cluster; a cluster without rows keeps its old centroid.
#[expect(clippy::cast_precision_loss, reason = "members of a cluster are far below 2^24 times")]
fn means(sample: &Sample, rows: &[u32], assigned: &[u32], old: &[f32]) -> Vec<f32> {
    let dim = sample.dim;
    let members = split_rows(rows, assigned, old.len() / dim);
    old.par_chunks(dim)
        .zip(members)
        .flat_map_iter(|(old, members)| {
            let mut sum = vec![0.0_f32; dim];
            let mut row = vec![0.0_f32; dim];
            for member in &members {
                let at = *member as usize * dim;
                sample.values[at..at + dim].convert_to_f32_slice(&mut row);
                for (sum, value) in sum.iter_mut().zip(&row) {
                    *sum += value;
                }
            }
            if members.is_empty() {
                return old.to_vec();
            }
            let scale = 1.0 / members.len() as f32;
            sum.iter_mut().for_each(|value| *value *= scale);
            sum
        })
        .collect()
}

/// Moves each empty cluster beside the largest one, which the next round then splits.
fn revive(mut values: Vec<f32>, assigned: &[u32], random: &mut SplitMix64, dim: usize) -> Vec<f32> {
    let mut counts = vec![0_usize; values.len() / dim];
    for cluster in assigned {
        counts[*cluster as usize] += 1;
    }
    for empty in 0..counts.len() {
        if counts[empty] > 0 {
            continue;
        }
        let Some(largest) = (0..counts.len()).max_by_key(|at| counts[*at]) else { break };
        for i in 0..dim {
            let step = if random.next_u64() >> 63 == 1 { 1.001 } else { 0.999 };
            values[empty * dim + i] = values[largest * dim + i] * step;
        }
        counts[empty] = counts[largest] / 2;
        counts[largest] -= counts[empty];
    }
    values
}

fn split(assigned: &[u32], clusters: usize) -> Vec<Vec<u32>> {
    let rows: Vec<u32> = (0_u32..).take(assigned.len()).collect();
    split_rows(&rows, assigned, clusters)
}

fn split_rows(rows: &[u32], assigned: &[u32], clusters: usize) -> Vec<Vec<u32>> {
    let mut members = vec![Vec::new(); clusters];
    for (row, cluster) in rows.iter().zip(assigned) {
        members[*cluster as usize].push(*row);
    }
    members
}

#[expect(clippy::cast_precision_loss, reason = "far below 2^24 lists")]
fn mean_of(rows: &[f32], dim: usize) -> Vec<f32> {
    let mut mean = vec![0.0; dim];
    for row in rows.chunks_exact(dim) {
        for (mean, value) in mean.iter_mut().zip(row) {
            *mean += value;
        }
    }
    let scale = 1.0 / (rows.len() / dim).max(1) as f32;
    mean.iter_mut().for_each(|value| *value *= scale);
    mean
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `clusters` tight clouds far apart.
    fn clouds(clusters: usize, each: usize, dim: usize) -> Sample {
        let mut random = SplitMix64::new(4);
        let mut values = Vec::new();
        for cluster in 0..clusters {
            let mut place = SplitMix64::new(cluster as u64);
            let centre: Vec<f32> =
                (0..dim).map(|_| place.below(200) as f32 / 10.0 - 10.0).collect();
            for _ in 0..each {
                values.extend(
                    centre.iter().map(|c| f16::from_f32(c + random.below(100) as f32 / 1_000.0)),
                );
            }
        }
        Sample { dim, values }
    }

    fn rows_of(sample: &Sample) -> Vec<f32> {
        let mut x = Vec::new();
        sample.gather(&(0_u32..).take(sample.len()).collect::<Vec<_>>(), &mut x);
        x
    }

    /// Mean squared distance of the rows of `x` from their lists.
    fn error(clusters: &Clusters, x: &[f32]) -> f32 {
        let assigned = clusters.assign(x);
        let rows = x.chunks_exact(clusters.dim).zip(&assigned);
        let distances = rows.map(|(x, list)| {
            let c = &clusters.lists.values[*list as usize * clusters.dim..][..clusters.dim];
            x.iter().zip(c).map(|(x, c)| (x - c).powi(2)).sum::<f32>()
        });
        distances.sum::<f32>() / assigned.len() as f32
    }

    #[test]
    fn lists_trained_on_few_rows_move_to_the_mean_of_all() {
        let all = rows_of(&clouds(150, 40, 16));
        let few = all.chunks_exact(16).step_by(10).flatten().map(|value| f16::from_f32(*value));
        let few = Sample { dim: 16, values: few.collect() };
        let mut trained = Clusters::train(&few, 140, 1);
        let before = error(&trained, &all);
        let (assigned, mut sums) = (trained.assign(&all), Sums::new(&trained));
        sums.add(|list| {
            let rows = all.chunks_exact(16).zip(&assigned);
            rows.filter(move |(_, of)| **of as usize == list).map(|(row, _)| row)
        });
        trained.settle(sums);
        let after = error(&trained, &all);
        assert!(after < before, "{before} to {after}");
    }

    #[test]
    fn clouds_become_lists_and_assignment_finds_them() {
        for (clusters, lists) in [(8, 8), (300, 300)] {
            let sample = clouds(clusters, 20, 16);
            let trained = Clusters::train(&sample, lists, 1);
            assert_eq!(trained.len(), lists);
            let error = error(&trained, &rows_of(&sample));
            // Clouds are 0.03 wide in a space of 20: one list for all would err by 16 · 33. Some clouds share a list.
            assert!(error < 130.0, "{clusters}: {error}");
        }
    }

    #[test]
    fn one_vector_and_equal_vectors_do_not_break_training() {
        let one = Sample { dim: 16, values: vec![f16::ONE; 16] };
        assert_eq!(Clusters::train(&one, 10, 1).len(), 1);
        let same = Sample { dim: 16, values: vec![f16::ONE; 16 * 500] };
        let trained = Clusters::train(&same, 200, 1);
        assert!(trained.lists.values.iter().all(|value| value.is_finite()));
    }
}
