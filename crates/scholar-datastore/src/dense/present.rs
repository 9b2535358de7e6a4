//! Which ordinals of a merged segment still have a row: one bit each, with counts that make both directions cheap.

/// Words of 64 bits between two counts.
const STRIDE: usize = 8;

/// The bits of a segment with counts over them.
#[derive(Debug)]
pub(crate) struct Present {
    words: Vec<u64>,
    /// Bits set before each stride of words.
    before: Vec<u32>,
    rows: u32,
}

impl Present {
    pub(crate) fn new(words: Vec<u64>) -> Self {
        let mut before = Vec::with_capacity(words.len() / STRIDE + 1);
        let mut rows = 0;
        for (at, word) in words.iter().enumerate() {
            if at % STRIDE == 0 {
                before.push(rows);
            }
            rows += word.count_ones();
        }
        Self { words, before, rows }
    }

    /// Bits set.
    pub(crate) fn rows(&self) -> u32 {
        self.rows
    }

    /// The row of the ordinal `offset` places after the segment's first; `None` where it was removed.
    pub(crate) fn row(&self, offset: usize) -> Option<u32> {
        let word = *self.words.get(offset / 64)?;
        if word >> (offset % 64) & 1 == 0 {
            return None;
        }
        let stride = offset / 64 / STRIDE;
        let whole: u32 =
            self.words[stride * STRIDE..offset / 64].iter().map(|word| word.count_ones()).sum();
        let below = (1_u64 << (offset % 64)) - 1;
        Some(self.before[stride] + whole + (word & below).count_ones())
    }

    /// The offset of a row's ordinal; `None` beyond the last row.
    pub(crate) fn offset(&self, row: u32) -> Option<usize> {
        if row >= self.rows {
            return None;
        }
        let stride = self.before.partition_point(|before| *before <= row) - 1;
        let mut left = row - self.before[stride];
        for (at, word) in self.words.iter().enumerate().skip(stride * STRIDE) {
            let count = word.count_ones();
            if left < count {
                let mut word = *word;
                for _ in 0..left {
                    word &= word - 1;
                }
                return Some(at * 64 + word.trailing_zeros() as usize);
            }
            left -= count;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn rows_and_offsets_are_each_others_inverse(bits in prop::collection::vec(any::<bool>(), 0..2_000)) {
            let mut words = vec![0_u64; bits.len().div_ceil(64)];
            for (at, bit) in bits.iter().enumerate() {
                words[at / 64] |= u64::from(*bit) << (at % 64);
            }
            let present = Present::new(words);
            let set: Vec<usize> = (0..bits.len()).filter(|at| bits[*at]).collect();
            prop_assert_eq!(present.rows() as usize, set.len());
            for (row, offset) in (0_u32..).zip(&set) {
                prop_assert_eq!(present.row(*offset), Some(row));
                prop_assert_eq!(present.offset(row), Some(*offset));
            }
            prop_assert_eq!(present.offset(present.rows()), None);
            for offset in (0..bits.len() + 70).filter(|at| !bits.get(*at).copied().unwrap_or(false)) {
                prop_assert_eq!(present.row(offset), None);
            }
        }
    }
}
