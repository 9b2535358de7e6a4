//! One bit per dimension: RaBitQ codes of what a vector adds to its list's centroid.
//!
//! With `r = P(x − c)` (rotated residual), `x̄ = sign(r) / √D` and `f = ⟨x̄, r / ‖r‖⟩`, an unbiased estimate of `⟨r, y⟩` is
//! `‖r‖ / f · ⟨x̄, y⟩`. Applied to `y = P(q − c)`, which is shorter than `Pq` and so errs less, and sorted by what is known
//! when: `⟨x, q⟩ ≈ ⟨c, q⟩ + offset + slope · ⟨x̄, Pq⟩` with `slope = ‖r‖ / f` and `offset = ⟨r, Pc⟩ − slope · ⟨x̄, Pc⟩`. The
//! last product is the same for every list, so a query needs one look-up table however many lists it visits.
//!
//! Source: Gao and Long, RaBitQ, SIGMOD 2024; the split into offset and slope is ours.

/// Vectors in a block of codes.
pub(crate) const BLOCK: usize = 32;
/// Dimensions that share a table of 16 entries.
pub(crate) const GROUP: usize = 4;

/// What the scan needs of one vector.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Code {
    /// Bit `i` of nibble `g` is dimension `4 g + i`; one nibble per byte.
    pub(crate) nibbles: Vec<u8>,
    pub(crate) offset: f32,
    pub(crate) slope: f32,
}

/// Encodes a rotated vector against its rotated centroid.
pub(crate) fn encode(vector: &[f32], centroid: &[f32]) -> Code {
    let mut nibbles = vec![0_u8; vector.len() / GROUP];
    let (mut square, mut absolute, mut with_centroid, mut signs_with_centroid) =
        (0.0_f32, 0.0_f32, 0.0_f32, 0.0_f32);
    for (i, (x, c)) in vector.iter().zip(centroid).enumerate() {
        let r = x - c;
        square += r * r;
        absolute += r.abs();
        with_centroid += r * c;
        if r >= 0.0 {
            nibbles[i / GROUP] |= 1 << (i % GROUP);
            signs_with_centroid += c;
        } else {
            signs_with_centroid -= c;
        }
    }
    // ⟨x̄, r⟩ = Σ|r| / √D, so ‖r‖ / f = ‖r‖² √D / Σ|r|; ⟨x̄, ·⟩ carries 1 / √D, which cancels in slope · ⟨x̄, Pc⟩.
    let per_sign = if absolute > 0.0 { square / absolute } else { 0.0 };
    Code { nibbles, offset: with_centroid - per_sign * signs_with_centroid, slope: per_sign }
}

/// A query as tables: for each group of four dimensions the sum over each of the 16 sign patterns, in eight bits.
#[derive(Debug, Clone)]
pub(crate) struct Tables {
    /// `[groups][16]`.
    pub(crate) entries: Vec<u8>,
    /// `Σ ±q = scale · (sum of entries) + shift`.
    pub(crate) scale: f32,
    pub(crate) shift: f32,
}

/// A sum over all groups must fit 16 bits.
const LARGEST_SUM: usize = u16::MAX as usize;

impl Tables {
    /// Of a rotated query.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "values are scaled to 0..=levels before they are cut to eight bits"
    )]
    pub(crate) fn new(query: &[f32]) -> Self {
        let groups = query.len() / GROUP;
        let levels = (LARGEST_SUM / groups.max(1)).min(255) as f32;
        let mut sums = Vec::with_capacity(groups * 16);
        let (mut floor, mut widest) = (0.0_f32, 0.0_f32);
        for group in query.chunks_exact(GROUP) {
            let lowest: f32 = group.iter().map(|q| -q.abs()).sum();
            floor += lowest;
            widest = widest.max(-2.0 * lowest);
            for pattern in 0..16_u32 {
                let signed = |(i, q): (usize, &f32)| if pattern >> i & 1 == 1 { *q } else { -q };
                sums.push(group.iter().enumerate().map(signed).sum::<f32>() - lowest);
            }
        }
        let scale = if widest > 0.0 { widest / levels } else { 1.0 };
        let entries = sums.iter().map(|sum| (sum / scale + 0.5).min(levels) as u8).collect();
        Self { entries, scale, shift: floor }
    }
}

#[cfg(test)]
mod tests {
    use super::super::rotation::Rotation;
    use super::*;
    use scholar_core::random::SplitMix64;

    fn estimate(code: &Code, tables: &Tables, near: f32) -> f32 {
        let sum: u32 = (0..code.nibbles.len())
            .map(|g| u32::from(tables.entries[g * 16 + usize::from(code.nibbles[g])]))
            .sum();
        near + code.offset + code.slope * (tables.scale * sum as f32 + tables.shift)
    }

    #[test]
    fn estimates_are_unbiased_and_close() {
        let dim = 384;
        let mut random = SplitMix64::new(3);
        // Sums of uniform numbers: near enough to normal.
        let mut vector = |scale: f32| -> Vec<f32> {
            (0..dim)
                .map(|_| {
                    (0..4).map(|_| random.below(2_001) as f32 / 1_000.0 - 1.0).sum::<f32>() * scale
                })
                .collect()
        };
        let rotation = Rotation::new(dim, 9);
        let rotate = |v: &[f32]| {
            let mut out = vec![0.0; dim];
            rotation.apply(v, &mut out);
            out
        };
        let dot = |a: &[f32], b: &[f32]| -> f32 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
        let centroid = rotate(&vector(0.04));
        let query = rotate(&vector(0.044));
        let tables = Tables::new(&query);
        let near = dot(&centroid, &query);
        let (mut bias, mut square) = (0.0_f32, 0.0_f32);
        let n = 500;
        for _ in 0..n {
            let vector: Vec<f32> =
                centroid.iter().zip(rotate(&vector(0.03))).map(|(c, r)| c + r).collect();
            let error = estimate(&encode(&vector, &centroid), &tables, near) - dot(&vector, &query);
            bias += error / n as f32;
            square += error * error / n as f32;
        }
        // The stated error is about ‖r‖ ‖q − c‖ · 0.76 / √D, here 0.68 · 1.38 · 0.76 / 19.6 = 0.036.
        assert!(square.sqrt() < 0.05, "deviation {}", square.sqrt());
        assert!(bias.abs() < 0.01, "bias {bias}");
    }

    #[test]
    fn a_vector_on_its_centroid_is_exact() {
        let point: Vec<f32> = (0..32).map(|i| i as f32 / 7.0 - 2.0).collect();
        let code = encode(&point, &point);
        assert!(code.slope.abs() < f32::EPSILON && code.offset.abs() < f32::EPSILON);
    }
}
