//! Blocks of 256 weights, taken apart in registers.

use std::arch::x86_64::{
    __m128, __m256i, _mm_cvtepu8_epi16, _mm_cvtph_ps, _mm_cvtsi64_si128, _mm_loadu_si128,
    _mm_set1_epi16, _mm_setr_ps, _mm_unpacklo_epi8, _mm256_and_si256, _mm256_broadcastsi128_si256,
    _mm256_cvtepi8_epi16, _mm256_cvtepu8_epi16, _mm256_load_si256, _mm256_loadu_si256,
    _mm256_or_si256, _mm256_permute2x128_si256, _mm256_set1_epi8, _mm256_shuffle_epi8,
    _mm256_slli_epi16, _mm256_srli_epi16,
};

use super::{VECTOR, VECTORS};
use crate::gguf::formats::{Format, Unit, six_bits};

/// Which bytes of the scales, 16 bits each, go with the codes of a vector.
#[repr(C, align(32))]
pub(super) struct Tables {
    /// For vector `j`, the scale of group `j` of 32 everywhere.
    wide: [[u8; VECTOR]; VECTORS],
    /// For vector `j` of a half, the scales of groups `2j` and `2j + 1` of 16, one in each half of the vector.
    narrow: [[u8; VECTOR]; VECTORS / 2],
}

pub(super) static TABLES: Tables = Tables { wide: wide(), narrow: narrow() };

const fn wide() -> [[u8; VECTOR]; VECTORS] {
    let mut table = [[0; VECTOR]; VECTORS];
    let mut at = 0;
    while at < VECTOR * VECTORS {
        let (j, byte) = (at / VECTOR, at % VECTOR);
        table[j][byte] = (2 * j + byte % 2) as u8;
        at += 1;
    }
    table
}

const fn narrow() -> [[u8; VECTOR]; VECTORS / 2] {
    let mut table = [[0; VECTOR]; VECTORS / 2];
    let mut at = 0;
    while at < VECTOR * VECTORS / 2 {
        let (j, byte) = (at / VECTOR, at % VECTOR);
        table[j][byte] = (2 * (2 * j + byte / 16) + byte % 2) as u8;
        at += 1;
    }
    table
}

/// Two vectors of codes that are taken apart together, and their scales in 16 bits.
pub(super) struct Pair {
    pub(super) codes: [__m256i; 2],
    pub(super) scales: [__m256i; 2],
}

/// A block while it is multiplied.
///
/// # Safety
/// All functions need AVX2 and F16C, halves and pairs are below 2, and what `start` was given stays readable.
pub(super) trait Block: Copy {
    /// Bytes of a block.
    const BYTES: usize;
    /// How far the vectors of a pair are apart: a half has pairs (0, 1) and (2, 3), or (0, 2) and (1, 3).
    const APART: usize;

    unsafe fn start(block: *const u8, room: &mut Unit, tables: &'static Tables) -> Self;
    unsafe fn pair<const HALF: usize, const PAIR: usize>(self) -> Pair;
    /// The minimum of each group of 16.
    unsafe fn mins(self) -> __m256i;
    /// `d` and `dmin`, the first two of four numbers.
    unsafe fn factors(self) -> __m128;
}

/// Scales of 16 groups, each half of them in both halves of a vector.
#[derive(Clone, Copy)]
struct Narrow {
    scales: [__m256i; 2],
    tables: &'static Tables,
}

impl Narrow {
    #[inline(always)]
    unsafe fn new(scales: __m256i, tables: &'static Tables) -> Self {
        // SAFETY: the caller has the features.
        unsafe {
            let low = _mm256_permute2x128_si256::<0x00>(scales, scales);
            let high = _mm256_permute2x128_si256::<0x11>(scales, scales);
            Self { scales: [low, high], tables }
        }
    }

    /// Those of vector `j` of a half.
    #[inline(always)]
    unsafe fn of(self, half: usize, j: usize) -> __m256i {
        // SAFETY: the caller has the features; the table is aligned.
        unsafe {
            let table = _mm256_load_si256(self.tables.narrow[j].as_ptr().cast());
            _mm256_shuffle_epi8(self.scales[half], table)
        }
    }
}

pub(super) type Q4K = SixBits<false>;
pub(super) type Q5K = SixBits<true>;

/// The formats with six bits for each scale and minimum, whose codes have a fifth bit or not.
#[derive(Clone, Copy)]
pub(super) struct SixBits<const FIFTH: bool> {
    block: *const u8,
    scales: __m256i,
    mins: __m256i,
    factors: __m128,
    tables: &'static Tables,
}

impl<const FIFTH: bool> Block for SixBits<FIFTH> {
    const BYTES: usize = if FIFTH { 176 } else { 144 };
    const APART: usize = 1;

    #[inline(always)]
    unsafe fn start(block: *const u8, _: &mut Unit, tables: &'static Tables) -> Self {
        // SAFETY: as the caller's; a block begins with 16 bytes of head.
        unsafe {
            let (scales, mins) = six_bits(&block.add(4).cast::<[u8; 12]>().read());
            let scales = _mm_cvtsi64_si128(i64::from_le_bytes(scales));
            let mins = _mm_cvtsi64_si128(i64::from_le_bytes(mins));
            Self {
                block,
                scales: _mm256_broadcastsi128_si256(_mm_cvtepu8_epi16(scales)),
                mins: _mm256_cvtepu8_epi16(_mm_unpacklo_epi8(mins, mins)),
                factors: _mm_cvtph_ps(_mm_loadu_si128(block.cast())),
                tables,
            }
        }
    }

    #[inline(always)]
    unsafe fn pair<const HALF: usize, const PAIR: usize>(self) -> Pair {
        let quarter = 2 * HALF + PAIR;
        // SAFETY: as the caller's; the head has 16 bytes and the fifth bits, where there are any, 32. The tables are aligned.
        unsafe {
            let table = self.tables.wide[2 * quarter..].as_ptr().cast::<__m256i>();
            let scales = [
                _mm256_shuffle_epi8(self.scales, _mm256_load_si256(table)),
                _mm256_shuffle_epi8(self.scales, _mm256_load_si256(table.add(1))),
            ];
            if !FIFTH {
                return Pair {
                    codes: nibbles(load(self.block.add(16 + VECTOR * quarter))),
                    scales,
                };
            }
            let mut codes = nibbles(load(self.block.add(48 + VECTOR * quarter)));
            let high = load(self.block.add(16));
            // The fifth bits of vectors `2 * quarter` and the next: bit 4 of what is shifted so.
            let high = match quarter {
                0 => [_mm256_slli_epi16::<4>(high), _mm256_slli_epi16::<3>(high)],
                1 => [_mm256_slli_epi16::<2>(high), _mm256_slli_epi16::<1>(high)],
                2 => [high, _mm256_srli_epi16::<1>(high)],
                _ => [_mm256_srli_epi16::<2>(high), _mm256_srli_epi16::<3>(high)],
            };
            for (codes, high) in codes.iter_mut().zip(high) {
                *codes = _mm256_or_si256(*codes, _mm256_and_si256(high, _mm256_set1_epi8(16)));
            }
            Pair { codes, scales }
        }
    }

    #[inline(always)]
    unsafe fn mins(self) -> __m256i {
        self.mins
    }

    #[inline(always)]
    unsafe fn factors(self) -> __m128 {
        self.factors
    }
}

#[derive(Clone, Copy)]
pub(super) struct Q6K {
    block: *const u8,
    scales: Narrow,
    mins: __m256i,
    d: __m128,
}

impl Block for Q6K {
    const BYTES: usize = 210;
    const APART: usize = 2;

    #[inline(always)]
    unsafe fn start(block: *const u8, _: &mut Unit, tables: &'static Tables) -> Self {
        // SAFETY: as the caller's; the scales are 16 bytes from 192 on.
        unsafe {
            let scales = _mm256_cvtepi8_epi16(_mm_loadu_si128(block.add(192).cast()));
            let mins = _mm256_slli_epi16::<5>(scales);
            let d = i32::from(block.add(208).cast::<u16>().read_unaligned());
            let d = _mm_cvtph_ps(_mm_set1_epi16(d as i16));
            Self { block, scales: Narrow::new(scales, tables), mins, d }
        }
    }

    #[inline(always)]
    unsafe fn pair<const HALF: usize, const PAIR: usize>(self) -> Pair {
        // SAFETY: as the caller's.
        unsafe {
            let low = nibbles(load(self.block.add(64 * HALF + VECTOR * PAIR)));
            let high = load(self.block.add(128 + VECTOR * HALF));
            let high = match PAIR {
                0 => [_mm256_slli_epi16::<4>(high), high],
                _ => [_mm256_slli_epi16::<2>(high), _mm256_srli_epi16::<2>(high)],
            };
            let upper = _mm256_set1_epi8(0x30);
            Pair {
                codes: [
                    _mm256_or_si256(low[0], _mm256_and_si256(high[0], upper)),
                    _mm256_or_si256(low[1], _mm256_and_si256(high[1], upper)),
                ],
                scales: [self.scales.of(HALF, PAIR), self.scales.of(HALF, PAIR + 2)],
            }
        }
    }

    #[inline(always)]
    unsafe fn mins(self) -> __m256i {
        self.mins
    }

    #[inline(always)]
    unsafe fn factors(self) -> __m128 {
        self.d
    }
}

/// The formats without code of their own, by ggml's number: their blocks are taken apart in memory.
#[derive(Clone, Copy)]
pub(super) struct Other<const FORMAT: u32> {
    unit: *const Unit,
    scales: Narrow,
}

impl<const FORMAT: u32> Block for Other<FORMAT> {
    const BYTES: usize = match FORMAT {
        10 => 84,
        11 => 110,
        _ => unreachable!(),
    };
    const APART: usize = 1;

    #[inline(always)]
    unsafe fn start(block: *const u8, room: &mut Unit, tables: &'static Tables) -> Self {
        let format = if FORMAT == 10 { Format::Q2K } else { Format::Q3K };
        // SAFETY: as the caller's; 16 scales fill a vector.
        unsafe {
            room.read(format, std::slice::from_raw_parts(block, Self::BYTES));
            let scales = _mm256_loadu_si256(room.scales.as_ptr().cast());
            Self { unit: room, scales: Narrow::new(scales, tables) }
        }
    }

    #[inline(always)]
    unsafe fn pair<const HALF: usize, const PAIR: usize>(self) -> Pair {
        // SAFETY: as the caller's.
        unsafe {
            let codes = (*self.unit).codes.as_ptr().add(VECTOR * (4 * HALF + 2 * PAIR));
            Pair {
                codes: [load(codes), load(codes.add(VECTOR))],
                scales: [self.scales.of(HALF, 2 * PAIR), self.scales.of(HALF, 2 * PAIR + 1)],
            }
        }
    }

    #[inline(always)]
    unsafe fn mins(self) -> __m256i {
        // SAFETY: as the caller's; 16 minima fill a vector.
        unsafe { load((*self.unit).mins.as_ptr().cast()) }
    }

    #[inline(always)]
    unsafe fn factors(self) -> __m128 {
        // SAFETY: the unit outlives the block, by the contract of `start`.
        unsafe { _mm_setr_ps((*self.unit).d, (*self.unit).dmin, 0.0, 0.0) }
    }
}

#[inline(always)]
unsafe fn load(at: *const u8) -> __m256i {
    // SAFETY: the caller has the features, and 32 bytes there.
    unsafe { _mm256_loadu_si256(at.cast()) }
}

/// The 4-bit codes of two vectors, which share bytes.
#[inline(always)]
unsafe fn nibbles(bytes: __m256i) -> [__m256i; 2] {
    // SAFETY: the caller has the features.
    unsafe {
        let mask = _mm256_set1_epi8(15);
        [_mm256_and_si256(bytes, mask), _mm256_and_si256(_mm256_srli_epi16::<4>(bytes), mask)]
    }
}
