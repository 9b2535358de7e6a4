//! Rotary position embedding: two ways of pairing, and the ways in which models stretch their positions.

use std::f64::consts::PI;

use super::error::GgufError;
use super::file::GgufFile;
use super::pool::Pool;
use super::weights::vector;

/// Which numbers of a head turn together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pairing {
    /// `2j` with `2j + 1`: `llama` files, whose query and key rows were permuted for it when they were written.
    Neighbours,
    /// `j` with `j + width / 2`: all other families.
    Halves,
}

/// The angle by which each pair turns from one position to the next.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Rope {
    pairing: Pairing,
    frequencies: Vec<f64>,
    /// Factor of cosine and sine.
    magnitude: f64,
}

/// What a file says about rotary positions.
pub(super) struct RopeShape<'a> {
    /// The prefix of its keys.
    pub(super) architecture: &'a str,
    pub(super) pairing: Pairing,
    /// Numbers of a head.
    pub(super) head: usize,
    /// Positions that will be used.
    pub(super) positions: usize,
}

impl Rope {
    /// Angles `base^(-2j / width)`, without any stretching.
    pub(super) fn plain(pairing: Pairing, width: usize, base: f32) -> Self {
        let frequencies =
            (0..width / 2).map(|j| f64::from(base).powf(-2.0 * j as f64 / width as f64)).collect();
        Self { pairing, frequencies, magnitude: 1.0 }
    }

    /// As the file says: `linear` and `yarn` scaling, the frequency factors of Llama 3 in the tensor `rope_freqs`, and the
    /// short and long ones of Phi 3.
    ///
    /// Source: Su et al. 2021; Peng et al. 2023 (`YaRN`) as in ggml's `rope_yarn`; Ding et al. 2024 (`LongRoPE`) as in transformers.
    pub(super) fn read(file: &GgufFile, shape: &RopeShape<'_>) -> Result<Self, GgufError> {
        let RopeShape { architecture, pairing, head, positions } = *shape;
        let key = |name: &str| format!("{architecture}.rope.{name}");
        let unsupported = |what: String| GgufError::Unsupported { path: file.path.clone(), what };
        let width = file.count_opt(&key("dimension_count"), head)?.unwrap_or(head);
        if !width.is_multiple_of(2) {
            return Err(unsupported(format!("rotary positions of {width} numbers")));
        }
        let base = file.float_opt(&key("freq_base"))?.unwrap_or(10_000.0);
        let mut rope = Self::plain(pairing, width, base);
        let factor = f64::from(file.float_opt(&key("scaling.factor"))?.unwrap_or(1.0));
        let original = file.count_opt(&key("scaling.original_context_length"), 1 << 24)?;
        match file.text_opt(&key("scaling.type")) {
            None | Some("none" | "longrope") => {}
            Some("linear") => rope.frequencies.iter_mut().for_each(|f| *f /= factor),
            Some("yarn") => {
                let original = original.unwrap_or(positions);
                rope.stretch_by_yarn(f64::from(base), factor, original as f64);
            }
            Some(other) => {
                return Err(unsupported(format!(
                    "rope scaling `{other}` (read are linear, yarn and longrope)"
                )));
            }
        }
        if let Some(magnitude) = file.float_opt(&key("scaling.attn_factor"))? {
            rope.magnitude *= f64::from(magnitude);
        }
        let long = original.is_some_and(|original| positions > original);
        let factors = [
            "rope_freqs.weight",
            if long { "rope_factors_long.weight" } else { "rope_factors_short.weight" },
        ];
        for name in factors.into_iter().filter(|name| file.tensors.contains_key(*name)) {
            let factors = vector(file, name, width / 2)?;
            for (frequency, factor) in rope.frequencies.iter_mut().zip(factors) {
                *frequency /= f64::from(factor);
            }
        }
        Ok(rope)
    }

    /// Leaves what turns often within the `original` positions, divides the rest by `factor`, and goes over between.
    fn stretch_by_yarn(&mut self, base: f64, factor: f64, original: f64) {
        const FAST: f64 = 32.0;
        const SLOW: f64 = 1.0;
        let width = 2.0 * self.frequencies.len() as f64;
        let pair_of = |turns: f64| width * (original / (turns * 2.0 * PI)).ln() / (2.0 * base.ln());
        let low = pair_of(FAST).floor().max(0.0);
        let high = pair_of(SLOW).ceil().min(width - 1.0);
        for (j, frequency) in self.frequencies.iter_mut().enumerate() {
            let slow = ((j as f64 - low) / (high - low).max(0.001)).clamp(0.0, 1.0);
            *frequency *= slow / factor + (1.0 - slow);
        }
        self.magnitude *= 0.1 * factor.ln() + 1.0;
    }

    /// Cosine and sine of each pair at positions `position..position + n`.
    pub(super) fn angles(&self, position: usize, n: usize) -> Angles {
        let turns = (position..position + n)
            .flat_map(|position| {
                self.frequencies.iter().map(move |frequency| {
                    let (sin, cos) = (position as f64 * frequency).sin_cos();
                    ((cos * self.magnitude) as f32, (sin * self.magnitude) as f32)
                })
            })
            .collect();
        Angles { pairing: self.pairing, half: self.frequencies.len(), turns }
    }
}

/// The turns of some positions, the same for all layers that read them.
pub(super) struct Angles {
    pairing: Pairing,
    half: usize,
    /// `[position, pair]` of (cosine, sine).
    turns: Vec<(f32, f32)>,
}

impl Angles {
    /// Turns heads of `head` numbers in rows `[n, width]` that stand at the positions. What is beyond the turning numbers of a
    /// head stays.
    pub(super) fn turn(&self, rows: &mut [f32], width: usize, head: usize, pool: &Pool) {
        pool.chunks(rows, width, |i, row| {
            let turns = &self.turns[i * self.half..][..self.half];
            for head in row.chunks_exact_mut(head) {
                self.turn_head(&mut head[..2 * self.half], turns);
            }
        });
    }

    fn turn_head(&self, head: &mut [f32], turns: &[(f32, f32)]) {
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
