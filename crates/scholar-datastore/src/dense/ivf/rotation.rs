//! A random rotation that spreads what a vector says evenly over its dimensions.
//!
//! Sign bits keep most when no dimension dominates. A dense random matrix would do it in `dim²` steps; rounds of random
//! signs and Walsh–Hadamard transforms do it in `dim · log dim` and need no matrix. A dimension that is no power of two
//! is covered by transforming its first and its last power of two in turn and mixing the halves.
//!
//! Source: Ailon and Chazelle 2009 (fast Johnson–Lindenstrauss transform); RaBitQ (Gao and Long 2024) needs any rotation.

use scholar_core::random::SplitMix64;

/// Rounds of signs and transform; the test of evenness below passes with three.
const ROUNDS: usize = 4;

/// An orthogonal map of vectors of `dim` numbers to vectors of `padded` numbers.
#[derive(Debug, Clone)]
pub(crate) struct Rotation {
    dim: usize,
    padded: usize,
    /// Largest power of two within `padded`.
    power: usize,
    /// `ROUNDS` times `padded` factors of +1 or -1.
    signs: Vec<f32>,
}

impl Rotation {
    pub(crate) fn new(dim: usize, seed: u64) -> Self {
        let padded = padded(dim);
        let mut random = SplitMix64::new(seed);
        let signs = (0..ROUNDS * padded)
            .map(|_| if random.next_u64() >> 63 == 1 { -1.0 } else { 1.0 })
            .collect();
        Self { dim, padded, power: 1 << padded.ilog2(), signs }
    }

    /// Length of what comes out: `dim` rounded up to a multiple of 16.
    pub(crate) fn padded(&self) -> usize {
        self.padded
    }

    /// Rotates `vector` of `dim` numbers into `out` of `padded` numbers.
    pub(crate) fn apply(&self, vector: &[f32], out: &mut [f32]) {
        assert_eq!((vector.len(), out.len()), (self.dim, self.padded));
        out[..self.dim].copy_from_slice(vector);
        out[self.dim..].fill(0.0);
        for (round, signs) in self.signs.chunks_exact(self.padded).enumerate() {
            for (value, sign) in out.iter_mut().zip(signs) {
                *value *= sign;
            }
            if self.power == self.padded {
                hadamard(out);
                continue;
            }
            let start = if round % 2 == 0 { 0 } else { self.padded - self.power };
            hadamard(&mut out[start..start + self.power]);
            mix_halves(out);
        }
    }
}

/// `dim` rounded up to what the scan works in: 16 dimensions are 4 groups of 4.
pub(crate) fn padded(dim: usize) -> usize {
    dim.next_multiple_of(16)
}

/// Normalised Walsh–Hadamard transform in place; the length is a power of two.
fn hadamard(values: &mut [f32]) {
    let mut half = 1;
    while half < values.len() {
        for pair in values.chunks_exact_mut(half * 2) {
            let (left, right) = pair.split_at_mut(half);
            for (a, b) in left.iter_mut().zip(right) {
                (*a, *b) = (*a + *b, *a - *b);
            }
        }
        half *= 2;
    }
    #[expect(clippy::cast_precision_loss, reason = "dimensions are far below 2^24")]
    let scale = 1.0 / (values.len() as f32).sqrt();
    for value in values {
        *value *= scale;
    }
}

/// Rotates each pair of the two halves by 45 degrees.
fn mix_halves(values: &mut [f32]) {
    let (left, right) = values.split_at_mut(values.len() / 2);
    for (a, b) in left.iter_mut().zip(right) {
        let (sum, difference) = (*a + *b, *a - *b);
        (*a, *b) =
            (sum * std::f32::consts::FRAC_1_SQRT_2, difference * std::f32::consts::FRAC_1_SQRT_2);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dot(a: &[f32], b: &[f32]) -> f32 {
        a.iter().zip(b).map(|(a, b)| a * b).sum()
    }

    #[test]
    fn lengths_and_angles_stay() {
        let mut random = SplitMix64::new(1);
        for dim in [3, 16, 64, 100, 384, 768, 1024] {
            let mut vector = || -> Vec<f32> {
                (0..dim).map(|_| random.below(2_000) as f32 / 1_000.0 - 1.0).collect()
            };
            let (a, b) = (vector(), vector());
            let rotation = Rotation::new(dim, 5);
            let (mut ra, mut rb) = (vec![0.0; padded(dim)], vec![0.0; padded(dim)]);
            rotation.apply(&a, &mut ra);
            rotation.apply(&b, &mut rb);
            assert!((dot(&a, &b) - dot(&ra, &rb)).abs() < 1e-3, "{dim}");
            assert!((dot(&a, &a) - dot(&ra, &ra)).abs() < 1e-3 * dot(&a, &a), "{dim}");
        }
    }

    #[test]
    fn one_dimension_is_spread_over_all() {
        for dim in [384, 768] {
            let rotation = Rotation::new(dim, 5);
            for axis in [0, dim / 2, dim - 1] {
                let mut unit = vec![0.0; dim];
                unit[axis] = 1.0;
                let mut out = vec![0.0; dim];
                rotation.apply(&unit, &mut out);
                let largest = out.iter().fold(0.0_f32, |most, value| most.max(value.abs()));
                // A random direction's largest coordinate is about sqrt(2 ln dim / dim).
                assert!(largest < 6.0 / (dim as f32).sqrt(), "{dim}/{axis}: {largest}");
            }
        }
    }
}
