//! Four rows of activations with the units of a panel, in assembly.
//!
//! The eight sums of 16 bits stay in registers, those of 32 bits in memory. Compiled from intrinsics, the loads of several
//! steps were moved together, for which there are not enough registers: that took half as long again.

use std::arch::asm;
use std::arch::x86_64::__m256i;

use super::super::UnitRows;

/// Four products for each of 16 outputs and four rows: the weights at byte `$w`, the activations at byte `$x` of each row. The
/// first ones of a sum are stored (`first`), others are added (`next`).
macro_rules! step {
    ($kind:ident, $w:literal, $x:literal) => {
        concat!(
            "vmovdqa {left}, ymmword ptr [{w} + ", $w, "]\n",
            "vmovdqa {right}, ymmword ptr [{w} + ", $w, " + 32]\n",
            step!(@row $kind, "{a}", $x, "{a0}", "{a1}"),
            step!(@row $kind, "{b}", $x, "{b0}", "{b1}"),
            step!(@row $kind, "{c}", $x, "{c0}", "{c1}"),
            step!(@row $kind, "{d}", $x, "{d0}", "{d1}"),
        )
    };
    (@row first, $row:literal, $x:literal, $left:literal, $right:literal) => {
        concat!(
            "vpbroadcastd {x}, dword ptr [", $row, " + ", $x, "]\n",
            "vpmaddubsw ", $left, ", {left}, {x}\n",
            "vpmaddubsw ", $right, ", {right}, {x}\n",
        )
    };
    (@row next, $row:literal, $x:literal, $left:literal, $right:literal) => {
        concat!(
            "vpbroadcastd {x}, dword ptr [", $row, " + ", $x, "]\n",
            "vpmaddubsw {product}, {left}, {x}\n",
            "vpaddw ", $left, ", ", $left, ", {product}\n",
            "vpmaddubsw {product}, {right}, {x}\n",
            "vpaddw ", $right, ", ", $right, ", {product}\n",
        )
    };
}

/// Adds the sums of 16 bits, scaled, to those of 32 bits.
macro_rules! scale {
    () => {
        concat!(
            "vmovdqa {left}, ymmword ptr [{scales}]\n",
            "vmovdqa {right}, ymmword ptr [{scales} + 32]\n",
            scale!(@sum "{a0}", "{left}", "0"),
            scale!(@sum "{a1}", "{right}", "32"),
            scale!(@sum "{b0}", "{left}", "64"),
            scale!(@sum "{b1}", "{right}", "96"),
            scale!(@sum "{c0}", "{left}", "128"),
            scale!(@sum "{c1}", "{right}", "160"),
            scale!(@sum "{d0}", "{left}", "192"),
            scale!(@sum "{d1}", "{right}", "224"),
        )
    };
    (@sum $sum:literal, $scales:literal, $at:literal) => {
        concat!(
            "vpmaddwd ", $sum, ", ", $sum, ", ", $scales, "\n",
            "vpaddd ", $sum, ", ", $sum, ", ymmword ptr [{sums} + ", $at, "]\n",
            "vmovdqu ymmword ptr [{sums} + ", $at, "], ", $sum, "\n",
        )
    };
}

/// Two steps, scaled and added to sums of 32 bits in the registers that otherwise hold those of 16 bits: through memory, sums
/// would come back too late after so few products.
macro_rules! two_steps {
    ($w:literal, $x:literal) => {
        concat!(
            "vmovdqa {left}, ymmword ptr [{w} + ", $w, "]\n",
            "vmovdqa {right}, ymmword ptr [{w} + ", $w, " + 32]\n",
            "vmovdqa {next_left}, ymmword ptr [{w} + ", $w, " + 64]\n",
            "vmovdqa {next_right}, ymmword ptr [{w} + ", $w, " + 96]\n",
            two_steps!(@row "{a}", $x, "{a0}", "{a1}"),
            two_steps!(@row "{b}", $x, "{b0}", "{b1}"),
            two_steps!(@row "{c}", $x, "{c0}", "{c1}"),
            two_steps!(@row "{d}", $x, "{d0}", "{d1}"),
        )
    };
    (@row $row:literal, $x:literal, $left:literal, $right:literal) => {
        concat!(
            "vpbroadcastd {x}, dword ptr [", $row, " + ", $x, "]\n",
            "vpbroadcastd {next_x}, dword ptr [", $row, " + ", $x, " + 4]\n",
            "vpmaddubsw {product}, {left}, {x}\n",
            "vpmaddubsw {x}, {right}, {x}\n",
            "vpmaddubsw {next}, {next_left}, {next_x}\n",
            "vpmaddubsw {next_x}, {next_right}, {next_x}\n",
            "vpaddw {product}, {product}, {next}\n",
            "vpaddw {x}, {x}, {next_x}\n",
            "vpmaddwd {product}, {product}, ymmword ptr [{scales}]\n",
            "vpmaddwd {x}, {x}, ymmword ptr [{scales} + 32]\n",
            "vpaddd ", $left, ", ", $left, ", {product}\n",
            "vpaddd ", $right, ", ", $right, ", {x}\n",
        )
    };
}

/// One row of scales: `$body` computes what they apply to, `$w` bytes of weights and `$x` of each row.
macro_rules! scale_row {
    ($w:literal, $x:literal, $($body:expr),*) => {
        concat!(
            "2:\n",
            $($body),*,
            "add {w}, ", $w, "\n",
            "add {a}, ", $x, "\n",
            "add {b}, ", $x, "\n",
            "add {c}, ", $x, "\n",
            "add {d}, ", $x, "\n",
            "add {scales}, 64\n",
            "dec {left_rows}\n",
            "jnz 2b\n",
        )
    };
}

macro_rules! run {
    ($sums:ident, $rows:ident, $unit:ident, $text:expr) => {
        // SAFETY: reads what the caller vouches for, and writes the sums and registers.
        unsafe {
            asm!(
                $text,
                w = inout(reg) $unit.codes => _,
                a = inout(reg) $rows[0] => _,
                b = inout(reg) $rows[1] => _,
                c = inout(reg) $rows[2] => _,
                d = inout(reg) $rows[3] => _,
                scales = inout(reg) $unit.scales => _,
                left_rows = inout(reg) $unit.scale_rows => _,
                sums = in(reg) $sums.as_mut_ptr(),
                a0 = out(ymm_reg) _,
                a1 = out(ymm_reg) _,
                b0 = out(ymm_reg) _,
                b1 = out(ymm_reg) _,
                c0 = out(ymm_reg) _,
                c1 = out(ymm_reg) _,
                d0 = out(ymm_reg) _,
                d1 = out(ymm_reg) _,
                left = out(ymm_reg) _,
                right = out(ymm_reg) _,
                x = out(ymm_reg) _,
                product = out(ymm_reg) _,
                options(nostack),
            );
        }
    };
}

/// Adds the scaled products of a unit with four rows.
///
/// # Safety
/// The CPU has AVX2; the unit has at least one row of scales, and all that it says lies behind its pointers and `rows`.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) unsafe fn add_products<const ROWS: usize, const STEPS: usize>(
    sums: &mut [[__m256i; 2]; 4],
    rows: &[*const i8; 4],
    unit: &UnitRows<ROWS>,
) {
    match (STEPS, unit.parts) {
        (8, 1) => run!(
            sums,
            rows,
            unit,
            scale_row!(
                "512",
                "32",
                step!(first, "0", "0"),
                step!(next, "64", "4"),
                step!(next, "128", "8"),
                step!(next, "192", "12"),
                step!(next, "256", "16"),
                step!(next, "320", "20"),
                step!(next, "384", "24"),
                step!(next, "448", "28"),
                scale!()
            )
        ),
        (4, 1) => run!(
            sums,
            rows,
            unit,
            scale_row!(
                "256",
                "16",
                step!(first, "0", "0"),
                step!(next, "64", "4"),
                step!(next, "128", "8"),
                step!(next, "192", "12"),
                scale!()
            )
        ),
        (4, 2) => run!(
            sums,
            rows,
            unit,
            scale_row!(
                "512",
                "32",
                step!(first, "0", "0"),
                step!(next, "64", "4"),
                step!(next, "128", "8"),
                step!(next, "192", "12"),
                scale!(),
                step!(first, "256", "16"),
                step!(next, "320", "20"),
                step!(next, "384", "24"),
                step!(next, "448", "28"),
                scale!()
            )
        ),
        // SAFETY: as this function.
        (2, 2) => unsafe { by_two_steps(sums, rows, unit) },
        _ => unreachable!("a format has one of these numbers of steps and parts"),
    }
}

#[inline]
#[target_feature(enable = "avx2")]
unsafe fn by_two_steps<const ROWS: usize>(
    sums: &mut [[__m256i; 2]; 4],
    rows: &[*const i8; 4],
    unit: &UnitRows<ROWS>,
) {
    let [[a0, a1], [b0, b1], [c0, c1], [d0, d1]] = sums;
    // SAFETY: reads what the caller vouches for, and writes registers only.
    unsafe {
        asm!(
            scale_row!("256", "16", two_steps!("0", "0"), two_steps!("128", "8")),
            w = inout(reg) unit.codes => _,
            a = inout(reg) rows[0] => _,
            b = inout(reg) rows[1] => _,
            c = inout(reg) rows[2] => _,
            d = inout(reg) rows[3] => _,
            scales = inout(reg) unit.scales => _,
            left_rows = inout(reg) unit.scale_rows => _,
            a0 = inout(ymm_reg) *a0,
            a1 = inout(ymm_reg) *a1,
            b0 = inout(ymm_reg) *b0,
            b1 = inout(ymm_reg) *b1,
            c0 = inout(ymm_reg) *c0,
            c1 = inout(ymm_reg) *c1,
            d0 = inout(ymm_reg) *d0,
            d1 = inout(ymm_reg) *d1,
            left = out(ymm_reg) _,
            right = out(ymm_reg) _,
            next_left = out(ymm_reg) _,
            next_right = out(ymm_reg) _,
            x = out(ymm_reg) _,
            next_x = out(ymm_reg) _,
            product = out(ymm_reg) _,
            next = out(ymm_reg) _,
            options(pure, readonly, nostack),
        );
    }
}
