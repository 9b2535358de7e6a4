//! Four bits per dimension beside the one: estimates close enough that far fewer exact vectors are read.
//!
//! A residual is divided into 16 levels with a step of its own, the one of a few that keeps its direction best. As with
//! one bit, `⟨x, q⟩ ≈ ⟨c, q⟩ + offset + slope · ⟨û, Pq⟩` is unbiased with `slope = ‖r‖² / ⟨r, û⟩`, where `û` are the levels
//! `−7.5 … 7.5`. A code is `dim / 2 + 8` bytes, stands behind its block, and is read only for rows that look good by one bit.
//!
//! Source: Gao et al., extended RaBitQ, 2025; the search over steps is a coarse form of theirs.

use super::rotation::padded;

/// The middle of the levels.
const CENTRE: f32 = 7.5;
/// Steps tried, as shares of the one that just covers the largest value: most values are far smaller.
const STEPS: [f32; 8] = [1.0, 0.85, 0.72, 0.61, 0.52, 0.44, 0.37, 0.31];

/// Bytes of a fine code.
pub(crate) fn code_bytes(dim: usize) -> usize {
    padded(dim) / 2 + 8
}

/// Writes the fine code of a rotated vector: levels two to a byte, the lower dimension low; then offset and slope.
pub(crate) fn encode(vector: &[f32], centroid: &[f32], out: &mut [u8]) {
    let residual: Vec<f32> = vector.iter().zip(centroid).map(|(x, c)| x - c).collect();
    let largest = residual.iter().fold(0.0_f32, |most, r| most.max(r.abs()));
    let square: f32 = residual.iter().map(|r| r * r).sum();
    let step = STEPS
        .iter()
        .map(|share| share * largest / CENTRE)
        .max_by(|a, b| cosine(&residual, *a).total_cmp(&cosine(&residual, *b)))
        .unwrap_or_default();
    let (levels, factors) = out.split_at_mut(vector.len() / 2);
    let (mut along, mut with_centroid, mut levels_with_centroid) = (0.0_f32, 0.0_f32, 0.0_f32);
    levels.fill(0);
    for (i, (r, c)) in residual.iter().zip(centroid).enumerate() {
        let level = level(*r, step);
        levels[i / 2] |= level << (4 * (i % 2));
        let value = f32::from(level) - CENTRE;
        along += r * value;
        with_centroid += r * c;
        levels_with_centroid += value * c;
    }
    let slope = if along > 0.0 { square / along } else { 0.0 };
    let offset = with_centroid - slope * levels_with_centroid;
    factors[..4].copy_from_slice(&offset.to_le_bytes());
    factors[4..8].copy_from_slice(&slope.to_le_bytes());
}

/// The estimate of `⟨x, q⟩` for a rotated query and its product with the centroid.
pub(crate) fn estimate(code: &[u8], query: &[f32], near: f32) -> f32 {
    let (levels, factors) = code.split_at(query.len() / 2);
    let number = |at: usize| {
        f32::from_le_bytes([factors[at], factors[at + 1], factors[at + 2], factors[at + 3]])
    };
    // Two sums, low and high nibbles: the compiler turns each into wide multiplications.
    let (mut low, mut high, mut all) = (0.0_f32, 0.0_f32, 0.0_f32);
    for (byte, pair) in levels.iter().zip(query.chunks_exact(2)) {
        low += f32::from(byte & 15) * pair[0];
        high += f32::from(byte >> 4) * pair[1];
        all += pair[0] + pair[1];
    }
    near + number(0) + number(4) * (low + high - CENTRE * all)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "clamped to 0..=15 before it is cut"
)]
fn level(value: f32, step: f32) -> u8 {
    if step > 0.0 { (value / step + CENTRE).round().clamp(0.0, 15.0) as u8 } else { 8 }
}

/// Cosine of a residual with its levels.
fn cosine(residual: &[f32], step: f32) -> f32 {
    let (mut along, mut square) = (0.0_f32, 0.0_f32);
    for r in residual {
        let value = f32::from(level(*r, step)) - CENTRE;
        along += r * value;
        square += value * value;
    }
    if square > 0.0 { along / square.sqrt() } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scholar_core::random::SplitMix64;

    #[test]
    fn four_bits_err_far_less_than_one() {
        let dim = 128;
        let mut random = SplitMix64::new(8);
        let mut vector = |scale: f32| -> Vec<f32> {
            (0..dim)
                .map(|_| {
                    (0..4).map(|_| random.below(2_001) as f32 / 1_000.0 - 1.0).sum::<f32>() * scale
                })
                .collect()
        };
        let dot = |a: &[f32], b: &[f32]| -> f32 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
        let (centroid, query) = (vector(0.05), vector(0.08));
        let near = dot(&centroid, &query);
        let tables = super::super::code::Tables::new(&query);
        let (mut fine, mut coarse) = (0.0_f32, 0.0_f32);
        for _ in 0..200 {
            let x: Vec<f32> = centroid.iter().zip(vector(0.05)).map(|(c, r)| c + r).collect();
            let mut code = vec![0; code_bytes(dim)];
            encode(&x, &centroid, &mut code);
            let exact = dot(&x, &query);
            fine += (estimate(&code, &query, near) - exact).powi(2);
            let one = super::super::code::encode(&x, &centroid);
            let sum: u32 = (0..one.nibbles.len())
                .map(|g| u32::from(tables.entries[g * 16 + usize::from(one.nibbles[g])]))
                .sum();
            let estimate =
                near + one.offset + one.slope * (tables.scale * sum as f32 + tables.shift);
            coarse += (estimate - exact).powi(2);
        }
        assert!(fine * 25.0 < coarse, "{fine} against {coarse}");
    }

    #[test]
    fn a_vector_on_its_centroid_is_exact() {
        let point: Vec<f32> = (0..32).map(|i| i as f32 / 7.0 - 2.0).collect();
        let mut code = vec![0xff; code_bytes(32)];
        encode(&point, &point, &mut code);
        assert!((estimate(&code, &point, 3.0) - 3.0).abs() < 1e-5);
    }
}
