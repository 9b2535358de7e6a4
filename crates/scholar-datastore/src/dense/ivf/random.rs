//! Seeded numbers for sampling and rotations: the same vectors give the same index.

/// SplitMix64 (Steele, Lea and Flood 2014): one multiplication chain per number, any seed is good.
#[derive(Debug, Clone)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    /// Uniform below `end`; 0 when `end` is 0.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        let wide = u128::from(self.next()) * end as u128;
        usize::try_from(wide >> 64).unwrap_or(0)
    }

    /// `count` different numbers below `end`, ascending; all of them when there are no more.
    pub(crate) fn distinct(&mut self, count: usize, end: usize) -> Vec<usize> {
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
    fn samples_are_distinct_ascending_and_repeatable() {
        let sample = Random::new(7).distinct(50, 1_000);
        assert_eq!(sample.len(), 50);
        assert!(sample.is_sorted() && sample.windows(2).all(|pair| pair[0] < pair[1]));
        assert!(sample.iter().all(|number| *number < 1_000));
        assert_eq!(sample, Random::new(7).distinct(50, 1_000));
        assert_ne!(sample, Random::new(8).distinct(50, 1_000));
        assert_eq!(Random::new(7).distinct(9, 3), [0, 1, 2]);
    }
}
