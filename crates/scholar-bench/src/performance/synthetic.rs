//! Synthetic data made of real data, to see how an index and a search grow.

use half::f16;

/// How far a synthetic vector lies from the real one it starts from, as a share of the difference of two others.
const STEP: f32 = 0.4;
/// Words of a synthetic passage: five of a full passage of 256.
const WORDS: usize = 50;

/// Real vectors in memory, row-major, in the 16 bits they are stored in.
#[derive(Debug)]
pub struct RealVectors {
    dim: usize,
    values: Vec<f16>,
}

/// Which rows are queries, so that they are left out of the index.
#[derive(Debug, Clone, Copy)]
pub struct HoldOut {
    step: usize,
    count: usize,
}

impl HoldOut {
    /// Whether row `at` is a query.
    pub fn is_query(self, at: usize) -> bool {
        at % self.step == self.step / 2 && at / self.step < self.count
    }
}

impl RealVectors {
    /// None yet, of `dim` numbers each.
    pub const fn new(dim: usize) -> Self {
        Self { dim, values: Vec::new() }
    }

    /// Adds a row of as many numbers as the others.
    pub fn push(&mut self, vector: &[f32]) {
        self.values.extend(vector.iter().map(|value| f16::from_f32(*value)));
    }

    /// Numbers of a vector.
    pub const fn dim(&self) -> usize {
        self.dim
    }

    /// Number of vectors, one per row.
    pub fn count(&self) -> usize {
        self.values.len() / self.dim.max(1)
    }

    /// The numbers of row `at`.
    pub fn row(&self, at: usize) -> impl Iterator<Item = f32> {
        self.values[at * self.dim..(at + 1) * self.dim].iter().map(|value| value.to_f32())
    }

    /// `count` rows spread over all of them, to be used as queries.
    pub fn hold_out(&self, count: usize) -> HoldOut {
        HoldOut { step: (self.count() / count.max(1)).max(2), count }
    }

    /// Vectors made from these, of the same dimension or twice that.
    ///
    /// A synthetic vector is a real one moved by a share of the difference of two others and brought to its length again:
    /// near real vectors, and spread as they are. For twice the dimension two of them stand side by side, made from
    /// neighbours in the order of storing: abstracts of one volume, passages of one paper.
    pub const fn synthetic(&self, seed: u64) -> SyntheticVectors<'_> {
        SyntheticVectors { real: self, random: Random(seed) }
    }

    fn moved(&self, from: usize, a: usize, b: usize, out: &mut [f32]) {
        let pairs = self.row(a).zip(self.row(b));
        for ((value, real), (a, b)) in out.iter_mut().zip(self.row(from)).zip(pairs) {
            *value = real + STEP * (a - b);
        }
        unit(out);
    }
}

/// An endless row of synthetic vectors, the same for the same seed.
#[derive(Debug)]
pub struct SyntheticVectors<'a> {
    real: &'a RealVectors,
    random: Random,
}

impl SyntheticVectors<'_> {
    /// Writes a vector near the real one in row `at`.
    pub fn near(&mut self, at: usize, out: &mut [f32]) {
        let Self { real, random } = self;
        let (a, b) = (random.below(real.count()), random.below(real.count()));
        real.moved(at, a, b, out);
    }

    /// Writes the next one; `row` has the real dimension or a multiple of it.
    pub fn fill(&mut self, row: &mut [f32]) {
        let Self { real, random } = self;
        let start = random.below(real.count());
        for (part, out) in row.chunks_exact_mut(real.dim).enumerate() {
            let (a, b) = (random.below(real.count()), random.below(real.count()));
            real.moved((start + part) % real.count(), a, b, out);
        }
        unit(row);
    }
}

/// The `round`-th run of words of `text`, from the beginning again behind the end.
pub fn words(text: &str, round: usize) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let runs = words.len().div_ceil(WORDS).max(1);
    let start = (round % runs) * WORDS;
    words[start.min(words.len())..(start + WORDS).min(words.len())].join(" ")
}

fn unit(values: &mut [f32]) {
    let norm = values.iter().map(|value| value * value).sum::<f32>().sqrt();
    if norm > 0.0 {
        values.iter_mut().for_each(|value| *value /= norm);
    }
}

/// Knuth's linear congruential generator: enough to draw rows with.
#[derive(Debug)]
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let wide = u128::from(self.0) * end as u128;
        usize::try_from(wide >> 64).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn real() -> RealVectors {
        let mut real = RealVectors::new(2);
        for vector in [[1.0, 0.0], [0.0, 1.0], [0.6, 0.8], [0.8, 0.6]] {
            real.push(&vector);
        }
        real
    }

    #[test]
    fn synthetic_vectors_have_length_one_and_follow_the_seed() {
        let real = real();
        let draw = |seed| {
            let mut row = [0.0_f32; 4];
            real.synthetic(seed).fill(&mut row);
            row
        };
        let row = draw(7);
        assert!((row.iter().map(|value| value * value).sum::<f32>() - 1.0).abs() < 1e-5);
        assert_eq!(row.map(f32::to_bits), draw(7).map(f32::to_bits));
        assert_ne!(row.map(f32::to_bits), draw(8).map(f32::to_bits));
    }

    #[test]
    fn queries_are_spread_over_the_rows() {
        let held = real().hold_out(2);
        let queries: Vec<usize> = (0..4).filter(|at| held.is_query(*at)).collect();
        assert_eq!(queries, [1, 3]);
    }

    #[test]
    fn runs_of_words_begin_again() {
        let text: Vec<String> = (0..60).map(|word| word.to_string()).collect();
        let text = text.join(" ");
        assert!(words(&text, 0).starts_with("0 1 "));
        assert_eq!(words(&text, 1), "50 51 52 53 54 55 56 57 58 59");
        assert_eq!(words(&text, 2), words(&text, 0));
        assert_eq!(words("", 3), "");
    }
}
