//! Two neighbouring blocks of 256 weights, taken apart in registers: one in each half of a vector.
//!
//! A block has eight stretches of 32 codes, the even ones of which have been packed before the odd ones or beside them. Four
//! codes of each of four stretches stand side by side in a half, so that what is added up there has one scale.

use std::arch::x86_64::{
    __m128, __m256i, _mm_cvtph_ps, _mm_cvtsi32_si128, _mm_insert_epi16, _mm_insert_epi32,
    _mm_loadu_si128, _mm_mul_ps, _mm_setr_ps, _mm_shufflelo_epi16, _mm256_add_epi32,
    _mm256_and_si256, _mm256_castsi128_si256, _mm256_inserti128_si256, _mm256_load_si256,
    _mm256_madd_epi16, _mm256_or_si256, _mm256_packs_epi16, _mm256_set1_epi8, _mm256_setr_epi32,
    _mm256_setzero_si256, _mm256_shuffle_epi8, _mm256_shuffle_epi32, _mm256_slli_epi16,
    _mm256_srai_epi16, _mm256_srli_epi16, _mm256_srli_epi32, _mm256_srlv_epi32,
    _mm256_unpackhi_epi8, _mm256_unpackhi_epi32, _mm256_unpackhi_epi64, _mm256_unpacklo_epi8,
    _mm256_unpacklo_epi32, _mm256_unpacklo_epi64,
};

use super::{HALF, VECTOR};
use crate::gguf::activations::UnitPair;
use crate::gguf::formats::{Format, Unit};

/// Which bytes of the scales of a half go where; a byte of 128 gives zero.
#[repr(C, align(32))]
pub(super) struct Tables {
    /// From scales of 8 groups of 32, at bytes 8 to 15: those of the even and of the odd stretches in 16 bits, each twice.
    wide: [[u8; VECTOR]; 2],
    /// From scales of 16 groups of 16: those of the two halves of the even and of the odd stretches, as high bytes of 16 bits,
    /// each twice.
    narrow: [[[u8; VECTOR]; 2]; 2],
}

pub(super) static TABLES: Tables = Tables { wide: wide(), narrow: narrow() };

const fn wide() -> [[u8; VECTOR]; 2] {
    let mut table = [[128; VECTOR]; 2];
    let mut at = 0;
    while at < 2 * VECTOR {
        let (odd, byte) = (at / VECTOR, at % VECTOR);
        if byte % 2 == 0 {
            table[odd][byte] = (8 + 2 * (byte % HALF / 4) + odd) as u8;
        }
        at += 1;
    }
    table
}

const fn narrow() -> [[[u8; VECTOR]; 2]; 2] {
    let mut table = [[[128; VECTOR]; 2]; 2];
    let mut at = 0;
    while at < 4 * VECTOR {
        let (odd, second, byte) = (at / (2 * VECTOR), at / VECTOR % 2, at % VECTOR);
        if byte % 2 == 1 {
            table[odd][second][byte] = (4 * (byte % HALF / 4) + 2 * odd + second) as u8;
        }
        at += 1;
    }
    table
}

/// Two blocks while they are multiplied.
///
/// # Safety
/// All functions need AVX2, FMA and F16C, and what `start` was given stays readable.
pub(super) trait Block: Copy {
    /// Bytes of a block.
    const BYTES: usize;
    /// The largest code.
    const MAX_CODE: i32;
    /// Whether both halves of a stretch have the same scale.
    const WIDE: bool;

    unsafe fn start(blocks: [*const u8; 2], room: &mut [Unit; 2], tables: &'static Tables) -> Self;
    /// Codes of the even or the odd stretches: four vectors of their first and four of their second halves, in the order of
    /// [`UnitPair::codes`].
    unsafe fn codes<const ODD: usize>(self) -> [__m256i; 8];
    /// The scales in 16 bits of the first and of the second four of these vectors.
    unsafe fn scales<const ODD: usize>(self) -> [__m256i; 2];
    /// Sums of minima times activations, without the factor `dmin`.
    unsafe fn least(self, x: &UnitPair) -> __m256i;
    /// `d` and `dmin` of the first and of the second block.
    unsafe fn factors(self) -> __m128;
}

pub(super) type Q4K = SixBits<false>;
pub(super) type Q5K = SixBits<true>;

/// The formats with six bits for each scale and minimum, whose codes have a fifth bit or not.
#[derive(Clone, Copy)]
pub(super) struct SixBits<const FIFTH: bool> {
    blocks: [*const u8; 2],
    /// Codes of even stretches in the low and of odd ones in the high four bits.
    packed: [__m256i; 8],
    /// At bytes 8 to 15 of each half the scales.
    scales: __m256i,
    /// In 16 bits.
    mins: __m256i,
    tables: &'static Tables,
}

impl<const FIFTH: bool> Block for SixBits<FIFTH> {
    const BYTES: usize = if FIFTH { 176 } else { 144 };
    const MAX_CODE: i32 = if FIFTH { 31 } else { 15 };
    const WIDE: bool = true;

    #[inline(always)]
    unsafe fn start(blocks: [*const u8; 2], _: &mut [Unit; 2], tables: &'static Tables) -> Self {
        // SAFETY: as the caller's; a block begins with 16 bytes of head.
        unsafe {
            // `d` and `dmin`; scales 0 to 3 and two bits of scales 4 to 7; the same of minima; four bits of scales and minima 4 to 7.
            let head = load(blocks, 0);
            let low = _mm256_and_si256(head, _mm256_set1_epi8(0x3f));
            let four = _mm256_srlv_epi32(
                _mm256_shuffle_epi32::<0b11_11_11_11>(head),
                _mm256_setr_epi32(0, 0, 4, 0, 0, 0, 4, 0),
            );
            let four = _mm256_and_si256(four, _mm256_set1_epi8(0x0f));
            let two = _mm256_and_si256(_mm256_srli_epi32::<2>(head), _mm256_set1_epi8(0x30));
            let high = _mm256_or_si256(four, two);
            let mins = _mm256_unpackhi_epi32(low, high);
            let mut packed = [head; 8];
            for (i, packed) in packed.iter_mut().enumerate() {
                *packed =
                    load(blocks, if FIFTH { 48 } else { HALF } + VECTOR * (i % 4) + HALF * (i / 4));
            }
            Self {
                blocks,
                packed: side_by_side(packed),
                scales: _mm256_unpacklo_epi32(low, high),
                mins: _mm256_unpacklo_epi8(mins, _mm256_setzero_si256()),
                tables,
            }
        }
    }

    #[inline(always)]
    unsafe fn codes<const ODD: usize>(self) -> [__m256i; 8] {
        // SAFETY: as the caller's; fifth bits, where there are any, are 32 bytes from 16 on.
        unsafe {
            let mask = _mm256_set1_epi8(15);
            let mut codes = self.packed;
            for code in &mut codes {
                let packed = if ODD == 0 { *code } else { _mm256_srli_epi16::<4>(*code) };
                *code = _mm256_and_si256(packed, mask);
            }
            if FIFTH {
                // Bit `2 j` of these bytes belongs to even stretch `j`, the next to the odd one: it is brought to bit 4.
                let mut fifths = codes;
                for (i, fifth) in fifths.iter_mut().enumerate() {
                    let bits = load(self.blocks, HALF + HALF * (i / 4));
                    *fifth = match i % 4 {
                        0 => _mm256_slli_epi16::<4>(bits),
                        1 => _mm256_slli_epi16::<2>(bits),
                        2 => bits,
                        _ => _mm256_srli_epi16::<2>(bits),
                    };
                }
                for (code, fifth) in codes.iter_mut().zip(side_by_side(fifths)) {
                    let fifth = if ODD == 0 { fifth } else { _mm256_srli_epi16::<1>(fifth) };
                    let fifth = _mm256_and_si256(fifth, _mm256_set1_epi8(16));
                    *code = _mm256_or_si256(*code, fifth);
                }
            }
            codes
        }
    }

    #[inline(always)]
    unsafe fn scales<const ODD: usize>(self) -> [__m256i; 2] {
        // SAFETY: the caller has the features.
        unsafe { [_mm256_shuffle_epi8(self.scales, table(&self.tables.wide[ODD])); 2] }
    }

    #[inline(always)]
    unsafe fn least(self, x: &UnitPair) -> __m256i {
        // SAFETY: the caller has the features; the sums are aligned.
        unsafe { _mm256_madd_epi16(self.mins, _mm256_load_si256(x.pair_sums.as_ptr().cast())) }
    }

    #[inline(always)]
    unsafe fn factors(self) -> __m128 {
        // SAFETY: as the caller's; a block begins with both factors.
        unsafe {
            let [first, second] = self.blocks;
            let first = first.cast::<i32>().read_unaligned();
            let second = second.cast::<i32>().read_unaligned();
            _mm_cvtph_ps(_mm_insert_epi32::<1>(_mm_cvtsi32_si128(first), second))
        }
    }
}

#[derive(Clone, Copy)]
pub(super) struct Q6K {
    blocks: [*const u8; 2],
    /// 16 of 8 bits in each half.
    scales: __m256i,
    tables: &'static Tables,
}

impl Block for Q6K {
    const BYTES: usize = 210;
    const MAX_CODE: i32 = 63;
    const WIDE: bool = false;

    #[inline(always)]
    unsafe fn start(blocks: [*const u8; 2], _: &mut [Unit; 2], tables: &'static Tables) -> Self {
        // SAFETY: as the caller's; the scales are 16 bytes from 192 on.
        Self { blocks, scales: unsafe { load(blocks, 192) }, tables }
    }

    #[inline(always)]
    unsafe fn codes<const ODD: usize>(self) -> [__m256i; 8] {
        // SAFETY: as the caller's; 128 bytes have four bits of each code and 64 the two above them.
        unsafe {
            let (lower, upper) = (_mm256_set1_epi8(15), _mm256_set1_epi8(0x30));
            let mut codes = [lower; 8];
            for (i, codes) in codes.iter_mut().enumerate() {
                // Stretches 0 to 3 are in the first half of the bytes, 4 to 7 in the second.
                let (j, at) = (i % 4, HALF * (i / 4));
                let low = load(self.blocks, 64 * (j / 2) + VECTOR * ODD + at);
                let high = load(self.blocks, 128 + VECTOR * (j / 2) + at);
                let low = if j % 2 == 0 { low } else { _mm256_srli_epi16::<4>(low) };
                let high = match (j % 2, ODD) {
                    (0, 0) => _mm256_slli_epi16::<4>(high),
                    (0, _) => _mm256_slli_epi16::<2>(high),
                    (_, 0) => high,
                    _ => _mm256_srli_epi16::<2>(high),
                };
                *codes =
                    _mm256_or_si256(_mm256_and_si256(low, lower), _mm256_and_si256(high, upper));
            }
            side_by_side(codes)
        }
    }

    #[inline(always)]
    unsafe fn scales<const ODD: usize>(self) -> [__m256i; 2] {
        // SAFETY: the caller has the features.
        unsafe { narrow_scales(self.scales, &self.tables.narrow[ODD]) }
    }

    #[inline(always)]
    unsafe fn least(self, x: &UnitPair) -> __m256i {
        // SAFETY: the caller has the features.
        unsafe {
            // Each scale in the high byte of 16 bits, then in all of them.
            let zero = _mm256_setzero_si256();
            let first = _mm256_srai_epi16::<8>(_mm256_unpacklo_epi8(zero, self.scales));
            let second = _mm256_srai_epi16::<8>(_mm256_unpackhi_epi8(zero, self.scales));
            least_of([first, second], x)
        }
    }

    #[inline(always)]
    unsafe fn factors(self) -> __m128 {
        // SAFETY: as the caller's; `d` is the last of a block.
        unsafe {
            let [first, second] = self.blocks;
            let first = i32::from(first.add(208).cast::<u16>().read_unaligned());
            let second = i32::from(second.add(208).cast::<u16>().read_unaligned());
            let d = _mm_insert_epi16::<1>(_mm_cvtsi32_si128(first), second);
            let d = _mm_cvtph_ps(_mm_shufflelo_epi16::<0b01_01_00_00>(d));
            // The minimum of a group is 32 times its scale.
            _mm_mul_ps(d, _mm_setr_ps(1.0, 32.0, 1.0, 32.0))
        }
    }
}

/// The formats without code of their own, by ggml's number: their blocks are taken apart in memory.
#[derive(Clone, Copy)]
pub(super) struct Other<const FORMAT: u32> {
    units: *const [Unit; 2],
    tables: &'static Tables,
}

impl<const FORMAT: u32> Block for Other<FORMAT> {
    const BYTES: usize = match FORMAT {
        10 => 84,
        11 => 110,
        _ => unreachable!(),
    };
    const MAX_CODE: i32 = if FORMAT == 10 { 3 } else { 7 };
    const WIDE: bool = false;

    #[inline(always)]
    unsafe fn start(blocks: [*const u8; 2], room: &mut [Unit; 2], tables: &'static Tables) -> Self {
        let format = if FORMAT == 10 { Format::Q2K } else { Format::Q3K };
        for (unit, block) in room.iter_mut().zip(blocks) {
            // SAFETY: as the caller's.
            unit.read(format, unsafe { std::slice::from_raw_parts(block, Self::BYTES) });
        }
        Self { units: room, tables }
    }

    #[inline(always)]
    unsafe fn codes<const ODD: usize>(self) -> [__m256i; 8] {
        // SAFETY: as the caller's; a unit has eight stretches of 32 codes.
        unsafe {
            let places = [(*self.units)[0].codes.as_ptr(), (*self.units)[1].codes.as_ptr()];
            let mut codes = [_mm256_setzero_si256(); 8];
            for (i, codes) in codes.iter_mut().enumerate() {
                *codes = load(places, VECTOR * (2 * (i % 4) + ODD) + HALF * (i / 4));
            }
            side_by_side(codes)
        }
    }

    #[inline(always)]
    unsafe fn scales<const ODD: usize>(self) -> [__m256i; 2] {
        // SAFETY: as the caller's.
        unsafe {
            // Scales of at most six bits stay themselves in bytes.
            let places = [(*self.units)[0].scales.as_ptr(), (*self.units)[1].scales.as_ptr()];
            let places = [places[0].cast(), places[1].cast()];
            let scales = _mm256_packs_epi16(load(places, 0), load(places, HALF));
            narrow_scales(scales, &self.tables.narrow[ODD])
        }
    }

    #[inline(always)]
    unsafe fn least(self, x: &UnitPair) -> __m256i {
        // SAFETY: as the caller's.
        unsafe {
            let places = [(*self.units)[0].mins.as_ptr(), (*self.units)[1].mins.as_ptr()];
            let places = [places[0].cast(), places[1].cast()];
            least_of([load(places, 0), load(places, HALF)], x)
        }
    }

    #[inline(always)]
    unsafe fn factors(self) -> __m128 {
        // SAFETY: the units outlive the blocks, by the contract of `start`.
        unsafe {
            let [first, second] = &*self.units;
            _mm_setr_ps(first.d, first.dmin, second.d, second.dmin)
        }
    }
}

/// Brings the first and the second halves of four stretches into the order of [`Block::codes`].
#[inline(always)]
unsafe fn side_by_side(v: [__m256i; 8]) -> [__m256i; 8] {
    // SAFETY: the caller has the features.
    unsafe {
        let [a, b, c, d] = transposed([v[0], v[1], v[2], v[3]]);
        let [e, f, g, h] = transposed([v[4], v[5], v[6], v[7]]);
        [a, b, c, d, e, f, g, h]
    }
}

/// Transposes the four by four groups of four bytes in each half: vector `k` gets the groups `k` of all vectors.
#[inline(always)]
unsafe fn transposed(v: [__m256i; 4]) -> [__m256i; 4] {
    // SAFETY: the caller has the features.
    unsafe {
        let (a, b) = (_mm256_unpacklo_epi32(v[0], v[1]), _mm256_unpacklo_epi32(v[2], v[3]));
        let (c, d) = (_mm256_unpackhi_epi32(v[0], v[1]), _mm256_unpackhi_epi32(v[2], v[3]));
        [
            _mm256_unpacklo_epi64(a, b),
            _mm256_unpackhi_epi64(a, b),
            _mm256_unpacklo_epi64(c, d),
            _mm256_unpackhi_epi64(c, d),
        ]
    }
}

/// Of 16 scales of 8 bits in each half those that `tables` name, in 16 bits.
#[inline(always)]
unsafe fn narrow_scales(scales: __m256i, tables: &'static [[u8; VECTOR]; 2]) -> [__m256i; 2] {
    // SAFETY: the caller has the features.
    unsafe {
        [
            _mm256_srai_epi16::<8>(_mm256_shuffle_epi8(scales, table(&tables[0]))),
            _mm256_srai_epi16::<8>(_mm256_shuffle_epi8(scales, table(&tables[1]))),
        ]
    }
}

/// Products of the minima of 16 groups in each half, the first and the second eight, with the sums of the activations.
#[inline(always)]
unsafe fn least_of(mins: [__m256i; 2], x: &UnitPair) -> __m256i {
    // SAFETY: the caller has the features; the sums are aligned.
    unsafe {
        let sums = x.sums.as_ptr().cast::<__m256i>();
        let first = _mm256_madd_epi16(mins[0], _mm256_load_si256(sums));
        _mm256_add_epi32(first, _mm256_madd_epi16(mins[1], _mm256_load_si256(sums.add(1))))
    }
}

/// 16 bytes of each of two places, `at` bytes behind them.
#[inline(always)]
unsafe fn load(places: [*const u8; 2], at: usize) -> __m256i {
    // SAFETY: the caller has the features, and the bytes there.
    unsafe {
        let first = _mm_loadu_si128(places[0].add(at).cast());
        let second = _mm_loadu_si128(places[1].add(at).cast());
        _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(first), second)
    }
}

#[inline(always)]
unsafe fn table(table: &'static [u8; VECTOR]) -> __m256i {
    // SAFETY: the caller has the features; the tables are aligned.
    unsafe { _mm256_load_si256(table.as_ptr().cast()) }
}
