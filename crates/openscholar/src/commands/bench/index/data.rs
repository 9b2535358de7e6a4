//! The vectors an index is measured on: real ones, and more made from them.

use std::path::Path;

use half::f16;
use scholar_datastore::Datastore;
use scholar_datastore::dense::StandaloneIndex;

use crate::error::CommandError;

/// How far a made vector lies from the real one it starts from, as a share of the difference of two others.
const STEP: f32 = 0.4;

/// Real vectors in memory, row-major, in the 16 bits they are stored in.
pub(in crate::commands::bench) struct Real {
    pub(super) dim: usize,
    values: Vec<f16>,
}

impl Real {
    /// All vectors of the named datastores, which share one encoder.
    pub(in crate::commands::bench) fn read(stores: &[Datastore]) -> Result<Self, CommandError> {
        let dim = stores.first().map_or(0, |store| store.descriptor().encoder.dim);
        let mut values = Vec::new();
        for store in stores {
            if store.descriptor().encoder.fingerprint != stores[0].descriptor().encoder.fingerprint
            {
                return Err(CommandError::user(format!(
                    "{} has vectors of another encoder than {}",
                    store.root().display(),
                    stores[0].root().display()
                )));
            }
            store.each_vector(|vector| {
                values.extend(vector.iter().map(|value| f16::from_f32(*value)));
                Ok(())
            })?;
        }
        Ok(Self { dim, values })
    }

    pub(in crate::commands::bench) fn count(&self) -> usize {
        self.values.len() / self.dim.max(1)
    }

    fn row(&self, at: usize) -> impl Iterator<Item = f32> {
        self.values[at * self.dim..(at + 1) * self.dim].iter().map(|value| value.to_f32())
    }

    /// `count` rows spread over all of them, left out of the index and used as queries; and the rest as rows.
    pub(super) fn hold_out(
        &self,
        count: usize,
        folder: &Path,
    ) -> Result<(StandaloneIndex, Vec<Vec<f32>>), CommandError> {
        let step = (self.count() / count.max(1)).max(2);
        let is_query = |at: usize| at % step == step / 2 && at / step < count;
        let queries = (0..self.count()).filter(|at| is_query(*at)).map(|at| self.row(at).collect());
        let queries = queries.collect();
        let mut next = (0..self.count()).filter(|at| !is_query(*at));
        let index = StandaloneIndex::create(folder, self.dim, |row| {
            let Some(at) = next.next() else { return false };
            row.iter_mut().zip(self.row(at)).for_each(|(out, value)| *out = value);
            true
        })?;
        Ok((index, queries))
    }

    /// Vectors made from these, of the same dimension or twice that.
    ///
    /// A made vector is a real one moved by a share of the difference of two others and brought to its length again: near
    /// real vectors, and spread as they are. For twice the dimension two of them stand side by side, made from
    /// neighbours in the order of storing: abstracts of one volume, passages of one paper.
    pub(in crate::commands::bench) fn made(&self, seed: u64) -> Made<'_> {
        Made { real: self, random: Random(seed) }
    }

    fn moved(&self, from: usize, a: usize, b: usize, out: &mut [f32]) {
        let pairs = self.row(a).zip(self.row(b));
        for ((value, real), (a, b)) in out.iter_mut().zip(self.row(from)).zip(pairs) {
            *value = real + STEP * (a - b);
        }
        unit(out);
    }
}

/// An endless row of made vectors.
pub(in crate::commands::bench) struct Made<'a> {
    real: &'a Real,
    random: Random,
}

impl Made<'_> {
    /// A vector near the real one in row `at`.
    pub(in crate::commands::bench) fn near(&mut self, at: usize, out: &mut [f32]) {
        let Self { real, random } = self;
        let (a, b) = (random.below(real.count()), random.below(real.count()));
        real.moved(at, a, b, out);
    }

    pub(super) fn fill(&mut self, row: &mut [f32]) {
        let Self { real, random } = self;
        let start = random.below(real.count());
        for (part, out) in row.chunks_exact_mut(real.dim).enumerate() {
            let (a, b) = (random.below(real.count()), random.below(real.count()));
            real.moved((start + part) % real.count(), a, b, out);
        }
        unit(row);
    }

    /// An index of `count` of them.
    pub(super) fn index(
        &mut self,
        count: usize,
        dim: usize,
        folder: &Path,
    ) -> Result<StandaloneIndex, CommandError> {
        let mut left = count;
        Ok(StandaloneIndex::create(folder, dim, |row| {
            let more = left > 0;
            if more {
                left -= 1;
                self.fill(row);
            }
            more
        })?)
    }
}

fn unit(values: &mut [f32]) {
    let norm = values.iter().map(|value| value * value).sum::<f32>().sqrt();
    if norm > 0.0 {
        values.iter_mut().for_each(|value| *value /= norm);
    }
}

/// Knuth's linear congruential generator: enough to draw rows with.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let wide = u128::from(self.0) * end as u128;
        usize::try_from(wide >> 64).unwrap_or(0)
    }
}
