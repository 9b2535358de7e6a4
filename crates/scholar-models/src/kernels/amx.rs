//! AMX tiles by inline assembly: the intrinsics are not stable.
#![expect(
    unsafe_code,
    reason = "tile instructions and a system call exist as inline assembly only"
)]

use std::arch::asm;
use std::arch::x86_64::__cpuid_count;

/// Rows and columns of a block: two tiles of 16 each way.
pub(super) const BLOCK: usize = 32;

/// Whether the CPU has AMX-BF16 and the kernel lets this process use the tiles.
///
/// Asks the kernel for the permission, which holds for the process and all threads started later.
pub(super) fn available() -> bool {
    const TILE: u32 = 1 << 24;
    const TILE_BF16: u32 = 1 << 22;
    #[expect(unused_unsafe, reason = "the intrinsic is safe on newer compilers")]
    // SAFETY: leaf 7 exists on every CPU with AVX2, and this is asked only where AVX-512 was found.
    let features = unsafe { __cpuid_count(7, 0) }.edx;
    features & TILE != 0 && features & TILE_BF16 != 0 && permitted()
}

#[cfg(target_os = "linux")]
fn permitted() -> bool {
    // arch_prctl(ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA)
    const ARCH_PRCTL: i64 = 158;
    const REQUEST_PERMISSION: i64 = 0x1023;
    const TILE_DATA: i64 = 18;
    let result: i64;
    // SAFETY: the call takes two numbers, touches no memory of ours and clobbers rcx and r11 as every system call does.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") ARCH_PRCTL => result,
            in("rdi") REQUEST_PERMISSION,
            in("rsi") TILE_DATA,
            lateout("rcx") _,
            lateout("r11") _,
            options(nostack),
        );
    }
    result == 0
}

#[cfg(not(target_os = "linux"))]
fn permitted() -> bool {
    false
}

#[repr(C, align(64))]
struct TileShapes {
    palette: u8,
    start_row: u8,
    reserved: [u8; 14],
    row_bytes: [u16; 16],
    rows: [u8; 16],
}

/// Gives this thread eight tiles of 16 rows of 64 bytes; undone by [`release`].
///
/// # Safety
/// [`available`] returned true.
pub(super) unsafe fn configure() {
    let mut shapes = TileShapes {
        palette: 1,
        start_row: 0,
        reserved: [0; 14],
        row_bytes: [0; 16],
        rows: [0; 16],
    };
    shapes.row_bytes[..8].fill(64);
    shapes.rows[..8].fill(16);
    // SAFETY: `shapes` is a valid configuration of 64 bytes.
    unsafe { asm!("ldtilecfg [{}]", in(reg) &raw const shapes, options(nostack, readonly)) }
}

/// Gives the tiles of this thread back; only after [`configure`] on this thread.
pub(super) fn release() {
    // SAFETY: a guard that exists only where tiles were configured calls this.
    unsafe { asm!("tilerelease", options(nostack)) }
}

/// Rows of a matrix in memory, as tiles are loaded from and stored to.
#[derive(Clone, Copy)]
pub(super) struct TileRows<P> {
    /// The first row.
    pub(super) first: P,
    /// Bytes from one row to the next.
    pub(super) stride: usize,
}

/// `out[32, 32] = activations[32, 32 * tiles] * panels`, in f32.
///
/// `activations` are bf16 rows; the two panels hold `tiles` packed tiles of 1 KiB each.
///
/// # Safety
/// This thread's tiles are configured, `tiles >= 1`, and all operands are readable or writable to these extents.
#[inline]
pub(super) unsafe fn block(
    activations: TileRows<*const u16>,
    panels: [*const u16; 2],
    tiles: usize,
    out: TileRows<*mut f32>,
) {
    let TileRows { first: rows, stride: row_stride } = activations;
    let TileRows { first: sums, stride: sum_stride } = out;
    // SAFETY: the caller's. The loop reads tile `t` of each operand for t < tiles; the stores write 2 × 2 tiles. Tile
    // registers are not known to the compiler and so cannot be clobbered by it.
    unsafe {
        asm!(
            "tilezero tmm0",
            "tilezero tmm1",
            "tilezero tmm2",
            "tilezero tmm3",
            "2:",
            "tileloadd tmm4, [{upper} + {row_stride}*1]",
            "tileloadd tmm6, [{left} + {line}*1]",
            "tdpbf16ps tmm0, tmm4, tmm6",
            "tileloadd tmm7, [{right} + {line}*1]",
            "tdpbf16ps tmm1, tmm4, tmm7",
            "tileloadd tmm5, [{lower} + {row_stride}*1]",
            "tdpbf16ps tmm2, tmm5, tmm6",
            "tdpbf16ps tmm3, tmm5, tmm7",
            "add {upper}, 64",
            "add {lower}, 64",
            "add {left}, 1024",
            "add {right}, 1024",
            "dec {tiles}",
            "jnz 2b",
            "tilestored [{sums} + {sum_stride}*1], tmm0",
            "tilestored [{sums} + {sum_stride}*1 + 64], tmm1",
            "tilestored [{lower_sums} + {sum_stride}*1], tmm2",
            "tilestored [{lower_sums} + {sum_stride}*1 + 64], tmm3",
            upper = inout(reg) rows => _,
            lower = inout(reg) rows.byte_add(16 * row_stride) => _,
            left = inout(reg) panels[0] => _,
            right = inout(reg) panels[1] => _,
            tiles = inout(reg) tiles => _,
            row_stride = in(reg) row_stride,
            line = in(reg) 64_usize,
            sums = in(reg) sums,
            lower_sums = in(reg) sums.byte_add(16 * sum_stride),
            sum_stride = in(reg) sum_stride,
            options(nostack),
        );
    }
}
