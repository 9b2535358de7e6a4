//! The AVX-512 product kernel of all number types.
//!
//! A weight is stored in panels of 16 outputs. A panel is a run of 64-byte lines, one per *step*: in f32 a step is one
//! input and the line holds its 16 weights; in bf16 a step is two inputs and the line holds 16 pairs, which is what
//! `vdpbf16ps` multiplies and, 16 lines at a time, what an AMX tile holds; in int8 a step is four inputs, as `vpdpbusd`
//! takes them. Activations are rows of 4-byte units, one unit per step, so that the same loop serves all: broadcast a
//! unit, multiply it with a line, add.
#![expect(
    unsafe_code,
    reason = "vector instructions on raw pointers; every caller checks the sizes"
)]

use std::arch::x86_64::{
    __m512, __m512bh, __m512i, __mmask16, _MM_HINT_T0, _mm_prefetch, _mm512_add_ps,
    _mm512_castps_si512, _mm512_castsi512_ps, _mm512_cvtepi32_ps, _mm512_dpbf16_ps,
    _mm512_dpbusd_epi32, _mm512_fmadd_ps, _mm512_loadu_ps, _mm512_loadu_si512,
    _mm512_mask_storeu_ps, _mm512_maskz_loadu_ps, _mm512_mul_ps, _mm512_set1_epi32, _mm512_set1_ps,
    _mm512_setzero_ps, _mm512_setzero_si512, _mm512_storeu_ps, _mm512_sub_ps,
};
use std::mem::MaybeUninit;
use std::ops::Range;

use super::amx::{BLOCK, TileRows};
use super::functions::{ALL, gelu, gelu_to_half, mask_of, store_half};

/// Columns of a panel.
pub(super) const PANEL: usize = 16;
/// Rows of the largest block. 12 × 2 sums, 2 lines and a broadcast fill 27 of 32 registers.
pub(super) const ROWS: usize = 12;
/// Bytes of activations that stay in the second-level cache while panels pass by.
const CACHED_BYTES: usize = 256 << 10;

/// What happens to a finished sum.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Finish {
    /// Store the bare sum as f32.
    Sum,
    /// Add the bias.
    Bias,
    /// Add the bias, apply GELU, to the precision of the result's numbers.
    Gelu,
    /// Add bias and residual; always stored as f32.
    Residual,
    /// Multiply with the row's scale.
    RowScale,
}

/// One product `out[rows, columns] = finish(activations[rows, steps] * panels)`.
pub(super) struct ProductArgs {
    pub(super) activations: *const u32,
    /// Units from one row of activations to the next.
    pub(super) activation_stride: usize,
    pub(super) panels: *const f32,
    /// Lines of a panel; also the lines from one panel to the next.
    pub(super) steps: usize,
    pub(super) rows: usize,
    pub(super) columns: usize,
    /// f32, or u16 where `half_out`.
    pub(super) out: *mut u8,
    /// Elements from one row of the result to the next.
    pub(super) out_stride: usize,
    /// Whether the result is rounded to bf16.
    pub(super) half_out: bool,
    /// `[columns]`, read where the finish adds it.
    pub(super) bias: *const f32,
    /// As `out` in f32, read for [`Finish::Residual`].
    pub(super) residual: *const f32,
    pub(super) finish: Finish,
    /// Read where the inputs are int8, those of rows for [`Finish::RowScale`] as well.
    pub(super) scales: Scales,
}

/// What sums of int8 products stand for: `(sum - offset of the column) * scale of the row * scale of the column`.
#[derive(Clone, Copy)]
pub(super) struct Scales {
    /// `[rows]`.
    pub(super) rows: *const f32,
    /// `[columns]`.
    pub(super) columns: *const f32,
    /// `[columns]`.
    pub(super) offsets: *const f32,
}

impl Scales {
    /// Of products whose sums stand for themselves.
    pub(super) const NONE: Self =
        Self { rows: std::ptr::null(), columns: std::ptr::null(), offsets: std::ptr::null() };
}

/// Runs a product with f32 numbers.
///
/// # Safety
/// AVX-512 F, BW, DQ, VL and AVX2 + FMA are present. With `r = rows - 1` and `columns` rounded up to whole panels:
/// `activations` is readable for `r * activation_stride + steps` units, `panels` for `columns * steps` floats, `out` writable
/// for `r * out_stride + columns` elements and not overlapping them, `bias` and `residual` readable where `finish` reads
/// them.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
pub(super) unsafe fn product_f32(work: &ProductArgs) {
    debug_assert!(!work.half_out, "f32 products store f32");
    // SAFETY: passed on.
    unsafe { product::<F32>(work) }
}

/// Runs a product with bf16 inputs and f32 sums.
///
/// # Safety
/// As [`product_f32`], with AVX-512-BF16 present as well.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,avx512bf16")]
pub(super) unsafe fn product_bf16(work: &ProductArgs) {
    // SAFETY: passed on.
    unsafe { product::<Half>(work) }
}

/// Runs a product with unsigned int8 activations and signed int8 weights, whose sums become f32 by their scales.
///
/// # Safety
/// As [`product_bf16`], with AVX-512-VNNI present as well, and the scales readable for the rows and columns they are of.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,avx512bf16,avx512vnni")]
pub(super) unsafe fn product_int8(work: &ProductArgs) {
    // SAFETY: passed on.
    unsafe { product::<Int8>(work) }
}

/// Something that multiplies 32 × 32 blocks of packed bf16 tiles.
pub(super) trait TileUnit {
    /// See [`super::amx::block`], the real one.
    ///
    /// # Safety
    /// As there.
    unsafe fn block(
        activations: TileRows<*const u16>,
        panels: [*const u16; 2],
        tiles: usize,
        out: TileRows<*mut f32>,
    );
}

/// Runs a product with bf16 inputs on tiles. `sums` holds one block.
///
/// # Safety
/// As [`product_bf16`]; in addition this thread's tiles are configured, `steps` is a positive multiple of 16, there is an even
/// number of panels, and `activations` is readable up to the next multiple of 32 rows.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,avx512bf16")]
pub(super) unsafe fn product_tiles<U: TileUnit>(
    work: &ProductArgs,
    sums: &mut [f32; BLOCK * BLOCK],
) {
    debug_assert!(work.steps > 0 && work.steps.is_multiple_of(PANEL), "whole tiles");
    let tiles = work.steps / PANEL;
    let rows_cached = (CACHED_BYTES / (4 * work.steps) / BLOCK).max(1) * BLOCK;
    let mut start = 0;
    while start < work.rows {
        let end = (start + rows_cached).min(work.rows);
        for column in (0..work.columns).step_by(BLOCK) {
            for row in (start..end).step_by(BLOCK) {
                // SAFETY: rows up to the next multiple of 32 are readable, panels come in pairs, and the finished rows and
                // columns are inside the work's.
                unsafe {
                    let units = work.activations.add(row * work.activation_stride);
                    let left = work.panels.add(column * work.steps).cast::<u16>();
                    let right = left.add(2 * PANEL * work.steps);
                    U::block(
                        TileRows { first: units.cast(), stride: work.activation_stride * 4 },
                        [left, right],
                        tiles,
                        TileRows { first: sums.as_mut_ptr(), stride: BLOCK * 4 },
                    );
                    finish_block::<Half>(
                        work,
                        row..end.min(row + BLOCK),
                        column,
                        true,
                        sums.as_ptr(),
                    );
                }
            }
        }
        start = end;
    }
}

/// Finishes `rows` of the sums of one panel, or a `pair`, that starts at `column`.
///
/// # Safety
/// As [`product_bf16`]; rows and column are inside the result, and `sums` is readable for as many rows of [`BLOCK`].
#[inline(always)]
unsafe fn finish_block<S: Step>(
    work: &ProductArgs,
    rows: Range<usize>,
    column: usize,
    pair: bool,
    sums: *const f32,
) {
    // Read once: as far as the compiler knows, what is stored below may change `work`.
    let ProductArgs { out, out_stride, half_out, bias, residual, finish, scales, .. } = *work;
    for column_in in (0..if pair { BLOCK } else { PANEL }).step_by(PANEL) {
        let column = column + column_in;
        if column >= work.columns {
            return;
        }
        let mask = mask_of(work.columns - column);
        // SAFETY: the mask ends at the last column; the caller vouches for the rest.
        unsafe {
            let bias = match finish {
                Finish::Sum | Finish::RowScale => _mm512_setzero_ps(),
                Finish::Bias | Finish::Gelu | Finish::Residual => {
                    _mm512_maskz_loadu_ps(mask, bias.add(column))
                }
            };
            let meaning = S::meaning(scales, column, mask);
            for row in rows.clone() {
                let sum = _mm512_loadu_ps(sums.add((row - rows.start) * BLOCK + column_in));
                let sum = _mm512_add_ps(S::value(scales, row, meaning, sum), bias);
                let at = row * out_stride + column;
                let value = match finish {
                    Finish::Sum | Finish::Bias => sum,
                    Finish::Gelu if half_out => gelu_to_half(sum),
                    Finish::Gelu => gelu(sum),
                    Finish::Residual => {
                        _mm512_add_ps(sum, _mm512_maskz_loadu_ps(mask, residual.add(at)))
                    }
                    Finish::RowScale => _mm512_mul_ps(sum, _mm512_set1_ps(*scales.rows.add(row))),
                };
                if half_out {
                    S::store(out.cast::<u16>().add(at), mask, value);
                } else if mask == ALL {
                    _mm512_storeu_ps(out.cast::<f32>().add(at), value);
                } else {
                    _mm512_mask_storeu_ps(out.cast::<f32>().add(at), mask, value);
                }
            }
        }
    }
}

/// Rounds `values` to bf16.
///
/// # Safety
/// AVX-512 F, BW, VL and BF16 are present.
///
/// # Panics
/// When the lengths differ.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,avx512bf16")]
pub(super) unsafe fn to_half(values: &[f32], out: &mut [u16]) {
    assert_eq!(values.len(), out.len(), "one half for each number");
    for (values, out) in values.chunks(PANEL).zip(out.chunks_mut(PANEL)) {
        let mask = mask_of(values.len());
        // SAFETY: the mask covers the chunk.
        unsafe {
            store_half(out.as_mut_ptr(), mask, _mm512_maskz_loadu_ps(mask, values.as_ptr()));
        }
    }
}

/// Where the sums of a block go.
#[derive(Clone, Copy)]
struct SumRows {
    first: *mut f32,
    /// Numbers from one row to the next.
    stride: usize,
}

/// Offsets and scales of 16 columns of int8 weights.
#[derive(Clone, Copy)]
struct ColumnScales {
    offsets: __m512,
    scales: __m512,
}

/// One multiply-add of a number type.
trait Step {
    /// What the sums of 16 columns have in common.
    type Meaning: Copy;

    /// Whether sums stand for themselves.
    const BARE: bool;

    /// `sum + unit * line`.
    ///
    /// # Safety
    /// The features named at [`product_f32`] or [`product_bf16`] are present.
    unsafe fn step(sum: __m512, unit: __m512i, line: __m512i) -> __m512;

    /// Of `column` and those after it where `mask` is set.
    ///
    /// # Safety
    /// As [`Step::step`]; the scales are readable there, for types that have any.
    unsafe fn meaning(scales: Scales, column: usize, mask: __mmask16) -> Self::Meaning;

    /// The numbers that 16 sums of `row` stand for.
    ///
    /// # Safety
    /// As [`Step::meaning`].
    unsafe fn value(scales: Scales, row: usize, meaning: Self::Meaning, sum: __m512) -> __m512;

    /// Stores 16 numbers rounded to bf16; only called where a product may have such a result.
    ///
    /// # Safety
    /// As [`Step::step`]; `out` is writable where `mask` is set.
    unsafe fn store(out: *mut u16, mask: __mmask16, value: __m512);
}

struct F32;
struct Half;
/// Sums are 32-bit integers in the registers of floats.
struct Int8;

impl Step for F32 {
    type Meaning = ();

    const BARE: bool = true;

    #[inline(always)]
    unsafe fn step(sum: __m512, unit: __m512i, line: __m512i) -> __m512 {
        // SAFETY: the caller has AVX-512 F.
        unsafe { _mm512_fmadd_ps(_mm512_castsi512_ps(unit), _mm512_castsi512_ps(line), sum) }
    }

    #[inline(always)]
    unsafe fn meaning(_scales: Scales, _column: usize, _mask: __mmask16) {}

    #[inline(always)]
    unsafe fn value(_scales: Scales, _row: usize, _meaning: (), sum: __m512) -> __m512 {
        sum
    }

    #[inline(always)]
    unsafe fn store(_out: *mut u16, _mask: __mmask16, _value: __m512) {}
}

impl Step for Half {
    type Meaning = ();

    const BARE: bool = true;

    #[inline(always)]
    unsafe fn step(sum: __m512, unit: __m512i, line: __m512i) -> __m512 {
        // SAFETY: the caller has AVX-512-BF16; the casts keep the bits.
        unsafe {
            _mm512_dpbf16_ps(
                sum,
                std::mem::transmute::<__m512i, __m512bh>(unit),
                std::mem::transmute::<__m512i, __m512bh>(line),
            )
        }
    }

    #[inline(always)]
    unsafe fn meaning(_scales: Scales, _column: usize, _mask: __mmask16) {}

    #[inline(always)]
    unsafe fn value(_scales: Scales, _row: usize, _meaning: (), sum: __m512) -> __m512 {
        sum
    }

    #[inline(always)]
    unsafe fn store(out: *mut u16, mask: __mmask16, value: __m512) {
        // SAFETY: the caller has AVX-512-BF16 and VL/BW, and vouches for `out`.
        unsafe { store_half(out, mask, value) }
    }
}

impl Step for Int8 {
    type Meaning = ColumnScales;

    const BARE: bool = false;

    #[inline(always)]
    unsafe fn step(sum: __m512, unit: __m512i, line: __m512i) -> __m512 {
        // SAFETY: the caller has AVX-512-VNNI; the casts keep the bits.
        unsafe { _mm512_castsi512_ps(_mm512_dpbusd_epi32(_mm512_castps_si512(sum), unit, line)) }
    }

    #[inline(always)]
    unsafe fn meaning(scales: Scales, column: usize, mask: __mmask16) -> ColumnScales {
        // SAFETY: the caller has AVX-512 F and vouches for the scales.
        unsafe {
            let offsets = _mm512_maskz_loadu_ps(mask, scales.offsets.add(column));
            let scales = _mm512_maskz_loadu_ps(mask, scales.columns.add(column));
            ColumnScales { offsets, scales }
        }
    }

    #[inline(always)]
    unsafe fn value(scales: Scales, row: usize, columns: ColumnScales, sum: __m512) -> __m512 {
        // SAFETY: the caller has AVX-512 F and vouches for the scales.
        unsafe {
            let scale = _mm512_mul_ps(columns.scales, _mm512_set1_ps(*scales.rows.add(row)));
            let sum = _mm512_cvtepi32_ps(_mm512_castps_si512(sum));
            _mm512_mul_ps(_mm512_sub_ps(sum, columns.offsets), scale)
        }
    }

    #[inline(always)]
    unsafe fn store(out: *mut u16, mask: __mmask16, value: __m512) {
        // SAFETY: passed on.
        unsafe { store_half(out, mask, value) }
    }
}

/// # Safety
/// As [`product_f32`].
#[inline(always)]
unsafe fn product<S: Step>(work: &ProductArgs) {
    let panels = work.columns.div_ceil(PANEL);
    let rows_cached = (CACHED_BYTES / (4 * work.steps.max(1)) / ROWS).max(1) * ROWS;
    // Sums that nothing is done to, in whole panels, go to where they belong at once.
    let bare = S::BARE
        && work.finish == Finish::Sum
        && !work.half_out
        && work.columns.is_multiple_of(PANEL);
    // Written before it is read: zeroing it would cost more than a small product.
    let mut sums = MaybeUninit::<[f32; BLOCK * BLOCK]>::uninit();
    let sums: *mut f32 = sums.as_mut_ptr().cast();
    let mut start = 0;
    while start < work.rows {
        let end = (start + rows_cached).min(work.rows);
        let mut panel = 0;
        while panel < panels {
            let pair = panel + 1 < panels;
            let mut row = start;
            while row < end {
                let count = (end - row).min(ROWS);
                let column = panel * PANEL;
                // SAFETY: rows and panels are inside the work's.
                unsafe {
                    if work.finish == Finish::Residual {
                        fetch_residual(work, row..row + count, column);
                    }
                    let done = if bare {
                        let at = row * work.out_stride + column;
                        SumRows { first: work.out.cast::<f32>().add(at), stride: work.out_stride }
                    } else {
                        SumRows { first: sums, stride: BLOCK }
                    };
                    if pair {
                        rows_of::<S, 2>(work, row, count, panel, done);
                    } else {
                        rows_of::<S, 1>(work, row, count, panel, done);
                    }
                    if !bare {
                        finish_block::<S>(work, row..row + count, column, pair, sums);
                    }
                }
                row += count;
            }
            panel += if pair { 2 } else { 1 };
        }
        start = end;
    }
}

/// Asks for the residual of a block while its sums are computed: rows lie too far apart for the CPU to see it coming.
///
/// # Safety
/// As [`product_f32`]; rows and column are inside the result.
#[inline(always)]
unsafe fn fetch_residual(work: &ProductArgs, rows: Range<usize>, column: usize) {
    for row in rows {
        // SAFETY: the place is inside the residual; that of the second line is only asked for.
        unsafe {
            let at = work.residual.add(row * work.out_stride + column);
            _mm_prefetch::<_MM_HINT_T0>(at.cast());
            _mm_prefetch::<_MM_HINT_T0>(at.wrapping_add(PANEL).cast());
        }
    }
}

/// Picks the block compiled for the number of rows.
///
/// # Safety
/// As [`product_f32`]; `row + count <= rows`, `count <= 12`, panels `panel .. panel + N` exist, and `done` is writable for
/// `count` rows of `N` panels.
#[inline(always)]
unsafe fn rows_of<S: Step, const N: usize>(
    work: &ProductArgs,
    row: usize,
    count: usize,
    panel: usize,
    done: SumRows,
) {
    // SAFETY: passed on.
    unsafe {
        match count {
            1 => block::<S, 1, N>(work, row, panel, done),
            2 => block::<S, 2, N>(work, row, panel, done),
            3 => block::<S, 3, N>(work, row, panel, done),
            4 => block::<S, 4, N>(work, row, panel, done),
            5 => block::<S, 5, N>(work, row, panel, done),
            6 => block::<S, 6, N>(work, row, panel, done),
            7 => block::<S, 7, N>(work, row, panel, done),
            8 => block::<S, 8, N>(work, row, panel, done),
            9 => block::<S, 9, N>(work, row, panel, done),
            10 => block::<S, 10, N>(work, row, panel, done),
            11 => block::<S, 11, N>(work, row, panel, done),
            _ => block::<S, ROWS, N>(work, row, panel, done),
        }
    }
}

/// `M` rows times `N` panels, summed over all steps in order: the order does not depend on `M`, so a row's result is the
/// same in any batch.
///
/// # Safety
/// As [`rows_of`].
#[inline(always)]
unsafe fn block<S: Step, const M: usize, const N: usize>(
    work: &ProductArgs,
    row: usize,
    panel: usize,
    done: SumRows,
) {
    // SAFETY: all offsets below are inside what the caller of the product vouches for.
    unsafe {
        let stride = work.activation_stride;
        let units = work.activations.add(row * stride);
        let lines: [*const f32; N] =
            std::array::from_fn(|p| work.panels.add((panel + p) * work.steps * PANEL));
        let mut sums = [[_mm512_setzero_ps(); N]; M];
        for step in 0..work.steps {
            let mut line = [_mm512_setzero_si512(); N];
            for (line, from) in line.iter_mut().zip(lines) {
                *line = _mm512_loadu_si512(from.add(step * PANEL).cast());
            }
            let unit = units.add(step);
            for (m, sums) in sums.iter_mut().enumerate() {
                let unit = _mm512_set1_epi32(unit.add(m * stride).read_unaligned().cast_signed());
                for (sum, line) in sums.iter_mut().zip(line) {
                    *sum = S::step(*sum, unit, line);
                }
            }
        }
        // Through memory: finishing in registers makes the compiler keep the sums on the stack inside the loop above.
        for (m, sums) in sums.iter().enumerate() {
            for (n, sum) in sums.iter().enumerate() {
                _mm512_storeu_ps(done.first.add(m * done.stride + n * PANEL), *sum);
            }
        }
    }
}
