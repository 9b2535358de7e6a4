//! Estimates for 32 codes at a time by table look-ups in registers.
//!
//! | bytes of a block | content (little-endian) |
//! |---|---|
//! | 0 .. 16 G | for each of the G groups 16 bytes: the nibble of code `j` low, of code `j + 16` high |
//! | then 128 | 32 × f32 offset |
//! | then 128 | 32 × f32 slope |
//! | then 128 | 32 × u32 row; `u32::MAX` where the block's last places are empty |
//!
//! One byte shuffle looks up 16 nibbles (64 with AVX-512), so a code costs a fraction of an instruction per dimension.
//!
//! Source: André, Kermarrec and Le Scouarnec 2015 (PQ fast scan), with sign patterns for codebooks as in RaBitQ.

use super::code::{BLOCK, GROUP, Tables};

/// Bytes of offsets, of slopes, of rows.
const COLUMN: usize = BLOCK * 4;
/// An empty place of a block.
pub(crate) const NO_ROW: u32 = u32::MAX;

/// Bytes of a block for codes of `padded` dimensions.
pub(crate) fn block_bytes(padded: usize) -> usize {
    padded / GROUP * 16 + 3 * COLUMN
}

/// Puts a code into a place of a block.
pub(crate) fn put(block: &mut [u8], place: usize, code: &super::code::Code, row: u32) {
    for (group, nibble) in code.nibbles.iter().enumerate() {
        block[group * 16 + place % 16] |= if place < 16 { *nibble } else { nibble << 4 };
    }
    let columns = code.nibbles.len() * 16;
    for (column, bytes) in
        [code.offset.to_le_bytes(), code.slope.to_le_bytes(), row.to_le_bytes()].iter().enumerate()
    {
        let at = columns + column * COLUMN + place * 4;
        block[at..at + 4].copy_from_slice(bytes);
    }
}

/// Marks every place of a block as empty.
pub(crate) fn clear(block: &mut [u8]) {
    block.fill(0);
    let rows = block.len() - COLUMN;
    block[rows..].fill(0xff);
}

/// The row in a place of a block.
pub(crate) fn row(block: &[u8], place: usize) -> u32 {
    let at = block.len() - COLUMN + place * 4;
    u32::from_le_bytes([block[at], block[at + 1], block[at + 2], block[at + 3]])
}

/// The fastest scan this CPU has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scan {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Scan {
    pub(crate) fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512bw") {
                return Self::Avx512;
            }
            if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                return Self::Avx2;
            }
        }
        Self::Portable
    }

    /// Fills `estimates` for the 32 places of `block` and returns a bit for each that is above `bar`. Estimates of empty
    /// places mean nothing, their bits are never set.
    ///
    /// `near` is the inner product of the query with the list's centroid.
    pub(crate) fn block(
        self,
        block: &[u8],
        tables: &Tables,
        near: f32,
        bar: f32,
        estimates: &mut [f32; BLOCK],
    ) -> u32 {
        assert_eq!(
            block.len(),
            tables.entries.len() + 3 * COLUMN,
            "block and tables of one dimension"
        );
        match self {
            Self::Portable => {
                let sums = portable_sums(block, &tables.entries);
                finish(block, &sums, tables, near, bar, estimates)
            }
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => x86::block_avx2(block, tables, near, bar, estimates),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => x86::block_avx512(block, tables, near, bar, estimates),
        }
    }
}

fn portable_sums(block: &[u8], entries: &[u8]) -> [u16; BLOCK] {
    let mut sums = [0_u16; BLOCK];
    for (codes, table) in block.chunks_exact(16).zip(entries.chunks_exact(16)) {
        for (place, code) in codes.iter().enumerate() {
            sums[place] += u16::from(table[usize::from(code & 15)]);
            sums[place + 16] += u16::from(table[usize::from(code >> 4)]);
        }
    }
    sums
}

/// Sums to estimates; written so that the compiler uses vectors of the caller's width.
#[inline(always)]
fn finish(
    block: &[u8],
    sums: &[u16; BLOCK],
    tables: &Tables,
    near: f32,
    bar: f32,
    estimates: &mut [f32; BLOCK],
) -> u32 {
    let columns = &block[tables.entries.len()..];
    let number = |at: usize| {
        f32::from_le_bytes([columns[at], columns[at + 1], columns[at + 2], columns[at + 3]])
    };
    for (place, (estimate, sum)) in estimates.iter_mut().zip(sums).enumerate() {
        let (offset, slope) = (number(place * 4), number(COLUMN + place * 4));
        *estimate = near + offset + slope * (tables.scale * f32::from(*sum) + tables.shift);
    }
    let mut above = 0_u32;
    for (place, estimate) in estimates.iter().enumerate() {
        above |= u32::from(*estimate > bar) << place;
    }
    if above != 0 && row(block, BLOCK - 1) == NO_ROW {
        for place in 0..BLOCK {
            if row(block, place) == NO_ROW {
                above &= !(1 << place);
            }
        }
    }
    above
}

#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "CPU intrinsics, called only after detection")]
mod x86 {
    use std::arch::x86_64::{
        __m128i, __m256i, __m512i, _mm_add_epi16, _mm_slli_epi16, _mm_storeu_si128, _mm_sub_epi16,
        _mm_unpackhi_epi16, _mm_unpacklo_epi16, _mm256_add_epi16, _mm256_and_si256,
        _mm256_castsi256_si128, _mm256_extracti128_si256, _mm256_loadu_si256, _mm256_set1_epi8,
        _mm256_setzero_si256, _mm256_shuffle_epi8, _mm256_srli_epi16, _mm512_add_epi16,
        _mm512_and_si512, _mm512_castsi512_si256, _mm512_extracti64x4_epi64, _mm512_loadu_si512,
        _mm512_set1_epi8, _mm512_setzero_si512, _mm512_shuffle_epi8, _mm512_srli_epi16,
    };

    use super::{BLOCK, Tables, finish};

    pub(super) fn block_avx512(
        block: &[u8],
        tables: &Tables,
        near: f32,
        bar: f32,
        estimates: &mut [f32; BLOCK],
    ) -> u32 {
        // SAFETY: `Scan::Avx512` is only made by `detect`, after both features were found.
        unsafe { avx512(block, tables, near, bar, estimates) }
    }

    pub(super) fn block_avx2(
        block: &[u8],
        tables: &Tables,
        near: f32,
        bar: f32,
        estimates: &mut [f32; BLOCK],
    ) -> u32 {
        // SAFETY: `Scan::Avx2` is only made by `detect`, after the features were found.
        unsafe { avx2(block, tables, near, bar, estimates) }
    }

    /// Sums of bytes gathered in 16-bit lanes: `even` holds the even bytes plus 256 times the odd ones, `odd` the odd ones.
    /// Wrapping arithmetic makes the subtraction exact as long as each true sum fits 16 bits.
    #[target_feature(enable = "avx2")]
    fn untangle(even: __m128i, odd: __m128i) -> [u16; 16] {
        let even = _mm_sub_epi16(even, _mm_slli_epi16::<8>(odd));
        let mut out = [0_u16; 16];
        let (low, high) = (_mm_unpacklo_epi16(even, odd), _mm_unpackhi_epi16(even, odd));
        // SAFETY: `out` has room for two registers of eight.
        unsafe {
            _mm_storeu_si128(out.as_mut_ptr().cast(), low);
            _mm_storeu_si128(out.as_mut_ptr().add(8).cast(), high);
        }
        out
    }

    fn join(low: [u16; 16], high: [u16; 16]) -> [u16; BLOCK] {
        let mut sums = [0; BLOCK];
        sums[..16].copy_from_slice(&low);
        sums[16..].copy_from_slice(&high);
        sums
    }

    #[target_feature(enable = "avx512f,avx512bw,avx2,fma")]
    fn avx512(
        block: &[u8],
        tables: &Tables,
        near: f32,
        bar: f32,
        estimates: &mut [f32; BLOCK],
    ) -> u32 {
        let nibble = _mm512_set1_epi8(15);
        let mut sums = [_mm512_setzero_si512(); 4];
        let bytes = tables.entries.len();
        let mut at = 0;
        // 64 bytes are four groups; the padded dimension is a multiple of 16.
        while at + 64 <= bytes {
            // SAFETY: `at + 64` is within the tables, and the block is longer than the tables (asserted by the caller).
            let (codes, table): (__m512i, __m512i) = unsafe {
                (
                    _mm512_loadu_si512(block.as_ptr().add(at).cast()),
                    _mm512_loadu_si512(tables.entries.as_ptr().add(at).cast()),
                )
            };
            let low = _mm512_shuffle_epi8(table, _mm512_and_si512(codes, nibble));
            let high =
                _mm512_shuffle_epi8(table, _mm512_and_si512(_mm512_srli_epi16::<4>(codes), nibble));
            sums[0] = _mm512_add_epi16(sums[0], low);
            sums[1] = _mm512_add_epi16(sums[1], _mm512_srli_epi16::<8>(low));
            sums[2] = _mm512_add_epi16(sums[2], high);
            sums[3] = _mm512_add_epi16(sums[3], _mm512_srli_epi16::<8>(high));
            at += 64;
        }
        let folded = sums.map(|sum| {
            let half =
                _mm256_add_epi16(_mm512_castsi512_si256(sum), _mm512_extracti64x4_epi64::<1>(sum));
            _mm_add_epi16(_mm256_castsi256_si128(half), _mm256_extracti128_si256::<1>(half))
        });
        let sums = join(untangle(folded[0], folded[1]), untangle(folded[2], folded[3]));
        finish(block, &sums, tables, near, bar, estimates)
    }

    #[target_feature(enable = "avx2,fma")]
    fn avx2(
        block: &[u8],
        tables: &Tables,
        near: f32,
        bar: f32,
        estimates: &mut [f32; BLOCK],
    ) -> u32 {
        let nibble = _mm256_set1_epi8(15);
        let mut sums = [_mm256_setzero_si256(); 4];
        let bytes = tables.entries.len();
        let mut at = 0;
        while at + 32 <= bytes {
            // SAFETY: as above, with 32 bytes.
            let (codes, table): (__m256i, __m256i) = unsafe {
                (
                    _mm256_loadu_si256(block.as_ptr().add(at).cast()),
                    _mm256_loadu_si256(tables.entries.as_ptr().add(at).cast()),
                )
            };
            let low = _mm256_shuffle_epi8(table, _mm256_and_si256(codes, nibble));
            let high =
                _mm256_shuffle_epi8(table, _mm256_and_si256(_mm256_srli_epi16::<4>(codes), nibble));
            sums[0] = _mm256_add_epi16(sums[0], low);
            sums[1] = _mm256_add_epi16(sums[1], _mm256_srli_epi16::<8>(low));
            sums[2] = _mm256_add_epi16(sums[2], high);
            sums[3] = _mm256_add_epi16(sums[3], _mm256_srli_epi16::<8>(high));
            at += 32;
        }
        let folded = sums.map(|sum| {
            _mm_add_epi16(_mm256_castsi256_si128(sum), _mm256_extracti128_si256::<1>(sum))
        });
        let sums = join(untangle(folded[0], folded[1]), untangle(folded[2], folded[3]));
        finish(block, &sums, tables, near, bar, estimates)
    }
}

#[cfg(test)]
mod tests {
    use super::super::code::encode;
    use super::*;
    use scholar_core::random::SplitMix64;

    #[test]
    fn every_scan_agrees_with_plain_sums() {
        let mut random = SplitMix64::new(11);
        for padded in [16, 48, 384, 768, 1024] {
            let mut vector = || -> Vec<f32> {
                (0..padded).map(|_| random.below(2_001) as f32 / 1_000.0 - 1.0).collect()
            };
            let (query, centroid) = (vector(), vector());
            let tables = Tables::new(&query);
            let mut block = vec![0; block_bytes(padded)];
            clear(&mut block);
            for place in 0..21 {
                put(
                    &mut block,
                    place,
                    &encode(&vector(), &centroid),
                    100 + u32::try_from(place).expect("small"),
                );
            }
            let mut expect = [0.0; BLOCK];
            let bits = Scan::Portable.block(&block, &tables, 0.5, f32::NEG_INFINITY, &mut expect);
            assert_eq!(bits, (1 << 21) - 1, "empty places are never above");
            let mut sorted = expect[..21].to_vec();
            sorted.sort_by(f32::total_cmp);
            let bar = sorted[10];
            let scans = [
                #[cfg(target_arch = "x86_64")]
                is_x86_feature_detected!("avx2").then_some(Scan::Avx2),
                #[cfg(target_arch = "x86_64")]
                is_x86_feature_detected!("avx512bw").then_some(Scan::Avx512),
                Some(Scan::Portable),
            ];
            for scan in scans.into_iter().flatten() {
                let mut found = [0.0; BLOCK];
                let bits = scan.block(&block, &tables, 0.5, bar, &mut found);
                assert_eq!(bits.count_ones(), 10, "{scan:?} {padded}");
                for place in 0..21 {
                    assert!(
                        (found[place] - expect[place]).abs() < 1e-3,
                        "{scan:?} {padded} {place}"
                    );
                    assert_eq!(bits >> place & 1 == 1, found[place] > bar);
                }
            }
            assert_eq!(row(&block, 20), 120);
            assert_eq!(row(&block, 21), NO_ROW);
        }
    }
}
