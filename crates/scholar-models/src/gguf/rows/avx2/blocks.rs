//! Blocks of 256 weights, taken apart in registers.

use std::arch::x86_64::{
    __m256i, _mm_cvtepu8_epi16, _mm_loadl_epi64, _mm_loadu_si128, _mm_unpacklo_epi8,
    _mm256_and_si256, _mm256_broadcastsi128_si256, _mm256_cvtepi8_epi16, _mm256_cvtepu8_epi16,
    _mm256_load_si256, _mm256_loadu_si256, _mm256_or_si256, _mm256_permute2x128_si256,
    _mm256_set1_epi8, _mm256_shuffle_epi8, _mm256_slli_epi16, _mm256_srli_epi16,
};

use super::{VECTOR, VECTORS};
use crate::gguf::formats::{Format, Unit, half_to_f32, six_bits};

#[repr(C, align(32))]
struct Table([[u8; VECTOR]; VECTORS]);

/// For vector `j`, the scale of group `j` of 32 everywhere.
static WIDE: Table = Table(table(false));
/// For vector `j`, the scales of groups `2j` and `2j + 1` of 16, one in each half; `j` counts from 0 in both halves of a unit.
static NARROW: Table = Table(table(true));

const fn table(narrow: bool) -> [[u8; VECTOR]; VECTORS] {
    let mut table = [[0; VECTOR]; VECTORS];
    let mut j = 0;
    while j < VECTORS {
        let mut at = 0;
        while at < VECTOR {
            let scale = if narrow { 2 * (j % 4) + at / 16 } else { j };
            table[j][at] = (2 * scale + at % 2) as u8;
            at += 1;
        }
        j += 1;
    }
    table
}

/// A block while it is multiplied.
///
/// # Safety
/// All functions need AVX2, `j` is below [`VECTORS`], and what `start` was given stays readable.
pub(super) trait Block: Copy {
    /// Bytes of a block.
    const BYTES: usize;

    unsafe fn start(block: *const u8, room: &mut Unit) -> Self;
    /// 32 codes.
    unsafe fn codes(self, j: usize) -> __m256i;
    /// Their scales, in 16 bits.
    unsafe fn scales(self, j: usize) -> __m256i;
    /// The minimum of each group of 16.
    unsafe fn mins(self) -> __m256i;
    /// `d` and `dmin`.
    fn factors(self) -> (f32, f32);
}

/// Scales of 16 groups.
#[derive(Clone, Copy)]
struct Narrow([__m256i; 2]);

impl Narrow {
    #[inline(always)]
    unsafe fn new(scales: __m256i) -> Self {
        // SAFETY: the caller has the features.
        unsafe {
            Self([
                _mm256_permute2x128_si256::<0x00>(scales, scales),
                _mm256_permute2x128_si256::<0x11>(scales, scales),
            ])
        }
    }

    #[inline(always)]
    unsafe fn of(self, j: usize) -> __m256i {
        // SAFETY: the caller has the features; the table is aligned.
        unsafe {
            let table = _mm256_load_si256(NARROW.0[j].as_ptr().cast());
            _mm256_shuffle_epi8(self.0[j / 4], table)
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
    factors: (f32, f32),
}

impl<const FIFTH: bool> Block for SixBits<FIFTH> {
    const BYTES: usize = if FIFTH { 176 } else { 144 };

    #[inline(always)]
    unsafe fn start(block: *const u8, _: &mut Unit) -> Self {
        // SAFETY: as the caller's; a block begins with 16 bytes of head.
        unsafe {
            let (scales, mins) = six_bits(&block.add(4).cast::<[u8; 12]>().read());
            let scales = _mm_loadl_epi64(scales.as_ptr().cast());
            let mins = _mm_loadl_epi64(mins.as_ptr().cast());
            Self {
                block,
                scales: _mm256_broadcastsi128_si256(_mm_cvtepu8_epi16(scales)),
                mins: _mm256_cvtepu8_epi16(_mm_unpacklo_epi8(mins, mins)),
                factors: (half_at(block), half_at(block.add(2))),
            }
        }
    }

    #[inline(always)]
    unsafe fn codes(self, j: usize) -> __m256i {
        // SAFETY: as the caller's; the head has 16 bytes and the fifth bits, where there are any, 32.
        unsafe {
            if !FIFTH {
                return nibbles(self.block.add(16), j);
            }
            let high = load(self.block.add(16));
            let fifth = match j {
                0 => _mm256_slli_epi16::<4>(high),
                1 => _mm256_slli_epi16::<3>(high),
                2 => _mm256_slli_epi16::<2>(high),
                3 => _mm256_slli_epi16::<1>(high),
                4 => high,
                5 => _mm256_srli_epi16::<1>(high),
                6 => _mm256_srli_epi16::<2>(high),
                _ => _mm256_srli_epi16::<3>(high),
            };
            let fifth = _mm256_and_si256(fifth, _mm256_set1_epi8(16));
            _mm256_or_si256(nibbles(self.block.add(48), j), fifth)
        }
    }

    #[inline(always)]
    unsafe fn scales(self, j: usize) -> __m256i {
        // SAFETY: as the caller's; the table is aligned.
        unsafe { _mm256_shuffle_epi8(self.scales, _mm256_load_si256(WIDE.0[j].as_ptr().cast())) }
    }

    #[inline(always)]
    unsafe fn mins(self) -> __m256i {
        self.mins
    }

    #[inline(always)]
    fn factors(self) -> (f32, f32) {
        self.factors
    }
}

#[derive(Clone, Copy)]
pub(super) struct Q6K {
    block: *const u8,
    scales: Narrow,
    mins: __m256i,
    d: f32,
}

impl Block for Q6K {
    const BYTES: usize = 210;

    #[inline(always)]
    unsafe fn start(block: *const u8, _: &mut Unit) -> Self {
        // SAFETY: as the caller's; the scales are 16 bytes from 192 on.
        unsafe {
            let scales = _mm256_cvtepi8_epi16(_mm_loadu_si128(block.add(192).cast()));
            let mins = _mm256_slli_epi16::<5>(scales);
            Self { block, scales: Narrow::new(scales), mins, d: half_at(block.add(208)) }
        }
    }

    #[inline(always)]
    unsafe fn codes(self, j: usize) -> __m256i {
        let (n, quarter) = (j / 4, j % 4);
        // SAFETY: as the caller's.
        unsafe {
            let low = load(self.block.add(64 * n + 32 * (quarter % 2)));
            let low = if quarter < 2 { low } else { _mm256_srli_epi16::<4>(low) };
            let high = load(self.block.add(128 + 32 * n));
            let high = match quarter {
                0 => _mm256_slli_epi16::<4>(high),
                1 => _mm256_slli_epi16::<2>(high),
                2 => high,
                _ => _mm256_srli_epi16::<2>(high),
            };
            _mm256_or_si256(
                _mm256_and_si256(low, _mm256_set1_epi8(15)),
                _mm256_and_si256(high, _mm256_set1_epi8(0x30)),
            )
        }
    }

    #[inline(always)]
    unsafe fn scales(self, j: usize) -> __m256i {
        // SAFETY: as the caller's.
        unsafe { self.scales.of(j) }
    }

    #[inline(always)]
    unsafe fn mins(self) -> __m256i {
        self.mins
    }

    #[inline(always)]
    fn factors(self) -> (f32, f32) {
        (self.d, self.d)
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

    #[inline(always)]
    unsafe fn start(block: *const u8, room: &mut Unit) -> Self {
        let format = if FORMAT == 10 { Format::Q2K } else { Format::Q3K };
        // SAFETY: as the caller's; 16 scales fill a vector.
        unsafe {
            room.read(format, std::slice::from_raw_parts(block, Self::BYTES));
            let scales = _mm256_loadu_si256(room.scales.as_ptr().cast());
            Self { unit: room, scales: Narrow::new(scales) }
        }
    }

    #[inline(always)]
    unsafe fn codes(self, j: usize) -> __m256i {
        // SAFETY: as the caller's.
        unsafe { load((*self.unit).codes.as_ptr().add(VECTOR * j)) }
    }

    #[inline(always)]
    unsafe fn scales(self, j: usize) -> __m256i {
        // SAFETY: as the caller's.
        unsafe { self.scales.of(j) }
    }

    #[inline(always)]
    unsafe fn mins(self) -> __m256i {
        // SAFETY: as the caller's; 16 minima fill a vector.
        unsafe { load((*self.unit).mins.as_ptr().cast()) }
    }

    #[inline(always)]
    fn factors(self) -> (f32, f32) {
        // SAFETY: the unit outlives the block, by the contract of `start`.
        unsafe { ((*self.unit).d, (*self.unit).dmin) }
    }
}

#[inline(always)]
unsafe fn load(at: *const u8) -> __m256i {
    // SAFETY: the caller has the features, and 32 bytes there.
    unsafe { _mm256_loadu_si256(at.cast()) }
}

/// Vector `j` of 4-bit codes, two of which share a byte.
#[inline(always)]
unsafe fn nibbles(codes: *const u8, j: usize) -> __m256i {
    // SAFETY: as the caller's.
    unsafe {
        let bytes = load(codes.add(VECTOR * (j / 2)));
        let bytes = if j.is_multiple_of(2) { bytes } else { _mm256_srli_epi16::<4>(bytes) };
        _mm256_and_si256(bytes, _mm256_set1_epi8(15))
    }
}

#[inline(always)]
unsafe fn half_at(at: *const u8) -> f32 {
    // SAFETY: two bytes by contract.
    half_to_f32(u16::from_le(unsafe { at.cast::<u16>().read_unaligned() }))
}
