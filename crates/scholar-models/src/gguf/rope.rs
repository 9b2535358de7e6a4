//! Rotary position embedding: precomputed angles, two ways of pairing.

/// Which numbers of a head turn together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pairing {
    /// `2j` with `2j + 1`: `llama` files, whose query and key rows were permuted for it when they were written.
    Neighbours,
    /// `j` with `j + dim / 2`: `qwen2` files.
    Halves,
}

/// Cosines and sines for every position and pair.
pub(super) struct Rope {
    pairing: Pairing,
    half: usize,
    /// `[position, pair]` of (cosine, sine).
    turns: Vec<(f32, f32)>,
}

impl Rope {
    /// Angles `position / (factor[j] * base^(2j / dim))` for `positions` positions. `factors`, one per pair, comes
    /// from the tensor `rope_freqs` of Llama 3 files; `scale` divides positions (linear scaling).
    pub(super) fn new(
        pairing: Pairing,
        dim: usize,
        positions: usize,
        base: f32,
        scale: f32,
        factors: Option<&[f32]>,
    ) -> Self {
        let half = dim / 2;
        let frequencies: Vec<f64> = (0..half)
            .map(|j| {
                let factor = factors.map_or(1.0, |factors| f64::from(factors[j]));
                f64::from(base).powf(-2.0 * j as f64 / dim as f64) / (factor * f64::from(scale))
            })
            .collect();
        let turns = (0..positions)
            .flat_map(|position| {
                frequencies.iter().map(move |frequency| {
                    let (sin, cos) = (position as f64 * frequency).sin_cos();
                    (cos as f32, sin as f32)
                })
            })
            .collect();
        Self { pairing, half, turns }
    }

    /// Turns the heads of rows `[n, heads * dim]` that stand at `position..position + n`; `width` is `heads * dim`.
    pub(super) fn turn(&self, rows: &mut [f32], width: usize, position: usize) {
        for (i, row) in rows.chunks_exact_mut(width).enumerate() {
            let turns = &self.turns[(position + i) * self.half..][..self.half];
            for head in row.chunks_exact_mut(2 * self.half) {
                match self.pairing {
                    Pairing::Neighbours => {
                        for (pair, (cos, sin)) in head.chunks_exact_mut(2).zip(turns) {
                            let (x, y) = (pair[0], pair[1]);
                            pair[0] = x * cos - y * sin;
                            pair[1] = y * cos + x * sin;
                        }
                    }
                    Pairing::Halves => {
                        let (low, high) = head.split_at_mut(self.half);
                        for ((x, y), (cos, sin)) in low.iter_mut().zip(high).zip(turns) {
                            let (a, b) = (*x, *y);
                            *x = a * cos - b * sin;
                            *y = b * cos + a * sin;
                        }
                    }
                }
            }
        }
    }
}
