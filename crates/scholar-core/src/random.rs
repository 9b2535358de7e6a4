//! Seeded numbers that are the same on every machine.

/// `SplitMix64`: small, seedable, and any seed is good; not for secrets.
///
/// The state is one number, so a run that was interrupted continues with [`SplitMix64::state`].
///
/// Source: Steele, Lea and Flood, *Fast splittable pseudorandom number generators*, 2014.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// The sequence of `seed`.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A sequence of its own for part `stream` of what `seed` drives: the parts do not overlap in practice, and drawing
    /// from one does not move another.
    pub fn stream(seed: u64, stream: u64) -> Self {
        let mut mixed = Self(seed);
        let first = mixed.next_u64();
        let mut mixed = Self(first ^ stream.wrapping_mul(0xd6e8_feb8_6659_fd93));
        Self(mixed.next_u64())
    }

    /// What [`SplitMix64::new`] takes to continue from here.
    pub fn state(&self) -> u64 {
        self.0
    }

    /// The next number of the sequence, uniform over all 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    /// Uniform below `end`; 0 when `end` is 0.
    pub fn below(&mut self, end: usize) -> usize {
        let wide = u128::from(self.next_u64()) * end as u128;
        usize::try_from(wide >> 64).unwrap_or(0)
    }

    /// Uniform in `[0, 1)`, with 53 random bits.
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Normally distributed with mean 0 and variance 1 (Box and Muller).
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.unit()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.unit()).cos()
    }

    /// Puts `items` into random order (Fisher and Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }

    /// `count` different numbers below `end`, ascending; all of them when there are no more.
    pub fn distinct(&mut self, count: usize, end: usize) -> Vec<usize> {
        if count >= end {
            return (0..end).collect();
        }
        // Floyd's sampling: exactly `count` draws.
        let mut chosen = std::collections::BTreeSet::new();
        for top in end - count..end {
            let draw = self.below(top + 1);
            if !chosen.insert(draw) {
                chosen.insert(top);
            }
        }
        chosen.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sequence_is_the_published_one() {
        // First numbers of seed 1234567 in the authors' test vector.
        let mut random = SplitMix64::new(1_234_567);
        let expect = [6_457_827_717_110_365_317, 3_203_168_211_198_807_973];
        assert_eq!([random.next_u64(), random.next_u64()], expect);
    }

    #[test]
    fn samples_are_distinct_ascending_and_repeatable() {
        let sample = SplitMix64::new(7).distinct(50, 1_000);
        assert_eq!(sample.len(), 50);
        assert!(sample.windows(2).all(|pair| pair[0] < pair[1]));
        assert!(sample.iter().all(|number| *number < 1_000));
        assert_eq!(sample, SplitMix64::new(7).distinct(50, 1_000));
        assert_ne!(sample, SplitMix64::new(8).distinct(50, 1_000));
        assert_eq!(SplitMix64::new(7).distinct(9, 3), [0, 1, 2]);
    }

    #[test]
    fn numbers_are_uniform_and_normal_enough() {
        let mut random = SplitMix64::stream(3, 4);
        let n = 20_000;
        let mean = (0..n).map(|_| random.unit()).sum::<f64>() / f64::from(n);
        assert!((mean - 0.5).abs() < 0.01, "{mean}");
        let squares = (0..n).map(|_| random.normal().powi(2)).sum::<f64>() / f64::from(n);
        assert!((squares - 1.0).abs() < 0.05, "{squares}");
        let mut counts = [0_usize; 3];
        for _ in 0..n {
            counts[random.below(3)] += 1;
        }
        assert!(counts.iter().all(|count| (6_300..7_000).contains(count)), "{counts:?}");
    }

    #[test]
    fn shuffling_keeps_every_item() {
        let mut items: Vec<u32> = (0..100).collect();
        SplitMix64::new(1).shuffle(&mut items);
        assert!(!items.is_sorted());
        items.sort_unstable();
        assert!(items.iter().copied().eq(0..100));
    }

    #[test]
    fn streams_differ_from_each_other() {
        let draw = |stream| SplitMix64::stream(5, stream).next_u64();
        assert_ne!(draw(0), draw(1));
        assert_eq!(draw(1), draw(1));
    }
}
