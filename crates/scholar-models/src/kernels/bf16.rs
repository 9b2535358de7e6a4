//! bf16 products, on AMX tiles or `vdpbf16ps`: same packed weights, same pass.
#![expect(unsafe_code, reason = "hands checked slices to the vector kernels as pointers")]

use half::bf16;

use super::amx::{self, BLOCK, TileRows};
use super::block::{
    Finish, PANEL, ProductArgs, ROWS, Scales, TileUnit, product_bf16, product_tiles, to_half,
};
use super::elementwise;
use super::functions::softmax_to_half;
use super::{Aligned, Attention, AttentionScratch, Engine, LayerNorm, Linear, Target, ThreadGuard};
use crate::simd::SimdLevel;

/// The bf16 back-end. Widths must be multiples of 32.
pub(crate) struct Bf16 {
    unit: Unit,
    level: SimdLevel,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Unit {
    Amx,
    Avx512,
    /// Tiles by plain loops, so that the tile path is tested on machines without AMX.
    #[cfg(test)]
    Emulated,
}

impl Bf16 {
    /// On AMX tiles; only where [`super::Machine::detect`] found `amx`.
    ///
    /// # Panics
    /// Elsewhere: running the kernels there would be undefined.
    pub(crate) fn amx() -> Self {
        assert!(super::Machine::detect().amx, "the engine is chosen by what the machine has");
        Self { unit: Unit::Amx, level: SimdLevel::detect() }
    }

    /// On `vdpbf16ps`; only where [`super::Machine::detect`] found `avx512_bf16`.
    ///
    /// # Panics
    /// Elsewhere: running the kernels there would be undefined.
    pub(crate) fn avx512() -> Self {
        assert!(
            super::Machine::detect().avx512_bf16,
            "the engine is chosen by what the machine has"
        );
        Self { unit: Unit::Avx512, level: SimdLevel::detect() }
    }

    /// As [`Bf16::amx`] with emulated tiles; `None` where the rest of the pass cannot run.
    #[cfg(test)]
    pub(crate) fn emulated() -> Option<Self> {
        let machine = super::Machine::detect();
        machine.avx512_bf16.then(|| Self { unit: Unit::Emulated, level: SimdLevel::detect() })
    }

    /// Queries whose scores are computed at a time: as many as a product takes, few enough to stay in the first-level cache.
    fn attention_rows(&self) -> usize {
        match self.unit {
            Unit::Avx512 => 2 * ROWS,
            Unit::Amx => BLOCK,
            #[cfg(test)]
            Unit::Emulated => BLOCK,
        }
    }

    /// # Safety
    /// As [`product_tiles`], the strictest of the three, apart from configured tiles: [`Engine::enter`] does that.
    pub(super) unsafe fn run(&self, work: &ProductArgs) {
        let sums = || Sums([0.0; BLOCK * BLOCK]);
        // SAFETY: the constructors checked the features; the rest is the caller's.
        unsafe {
            match self.unit {
                Unit::Amx => product_tiles::<Amx>(work, &mut sums().0),
                Unit::Avx512 => product_bf16(work),
                #[cfg(test)]
                Unit::Emulated => product_tiles::<Emulated>(work, &mut sums().0),
            }
        }
    }
}

#[repr(align(64))]
struct Sums([f32; BLOCK * BLOCK]);

struct Amx;

impl TileUnit for Amx {
    #[inline(always)]
    unsafe fn block(
        activations: TileRows<*const u16>,
        panels: [*const u16; 2],
        tiles: usize,
        out: TileRows<*mut f32>,
    ) {
        // SAFETY: passed on.
        unsafe { amx::block(activations, panels, tiles, out) }
    }
}

impl Engine for Bf16 {
    type Activation = u16;
    type Weight = Aligned<u16>;

    const SEPARATE: bool = true;

    /// Panels of 16 outputs, 16 pairs of inputs to a line: `[n / 16, k / 2, 16, 2]`, an even number of panels.
    fn pack(&self, weight: &[f32], n: usize, k: usize) -> Aligned<u16> {
        assert!(
            weight.len() == n * k && k.is_multiple_of(BLOCK),
            "a weight is [n, k] in whole tiles"
        );
        let mut packed = Aligned::default();
        packed.need(n.div_ceil(BLOCK) * BLOCK * k);
        for (output, row) in weight.chunks_exact(k).enumerate() {
            let start = output / PANEL * PANEL * k + output % PANEL * 2;
            for (input, value) in row.iter().enumerate() {
                packed[start + input / 2 * PANEL * 2 + input % 2] =
                    bf16::from_f32(*value).to_bits();
            }
        }
        packed
    }

    fn enter(&self) -> ThreadGuard {
        match self.unit {
            Unit::Amx => {
                // SAFETY: the constructor checked that the tiles may be used.
                unsafe { amx::configure() }
                ThreadGuard { tiles: true }
            }
            Unit::Avx512 => ThreadGuard::plain(),
            #[cfg(test)]
            Unit::Emulated => ThreadGuard::plain(),
        }
    }

    fn product(
        &self,
        input: &[u16],
        rows: usize,
        layer: &Linear<Aligned<u16>>,
        target: Target<'_, u16>,
    ) {
        let (n, k) = (layer.n, layer.k);
        let (finish, out, room, residual): (_, *mut u8, _, Option<&[f32]>) = match target {
            Target::Store(out) => (Finish::Bias, out.as_mut_ptr().cast(), out.len(), None),
            Target::Gelu(out) => (Finish::Gelu, out.as_mut_ptr().cast(), out.len(), None),
            Target::AddTo { residual, out } => {
                (Finish::Residual, out.as_mut_ptr().cast(), out.len(), Some(residual))
            }
        };
        assert!(
            input.len() >= rows.next_multiple_of(BLOCK) * k
                && k.is_multiple_of(BLOCK)
                && room >= rows * n
                && layer.bias.len() == n
                && layer.weight.len() >= n.div_ceil(BLOCK) * BLOCK * k
                && residual.is_none_or(|residual| residual.len() >= rows * n),
            "buffers hold [rows, k], to whole blocks, and [rows, n]"
        );
        let work = ProductArgs {
            activations: input.as_ptr().cast(),
            activation_stride: k / 2,
            panels: layer.weight.as_ptr().cast(),
            steps: k / 2,
            rows,
            columns: n,
            out,
            out_stride: n,
            half_out: residual.is_none(),
            bias: layer.bias.as_ptr(),
            residual: residual.map_or(std::ptr::null(), <[f32]>::as_ptr),
            finish,
            scales: Scales::NONE,
        };
        // SAFETY: the assertion checked the sizes; `out` was borrowed mutably until here and is not touched otherwise.
        unsafe { self.run(&work) }
    }

    fn attention(&self, work: Attention<'_, u16>, scratch: &mut AttentionScratch<u16>) {
        let Attention { qkv, context, len, heads, head_dim, bias } = work;
        let width = heads * head_dim;
        let stride = 3 * width;
        let padded = len.next_multiple_of(BLOCK);
        assert!(
            head_dim.is_multiple_of(BLOCK)
                && qkv.len() >= padded * stride
                && context.len() >= len * width,
            "buffers hold [len, 3 * width], to whole blocks, and [len, width]"
        );
        scratch.keys.need(padded * head_dim);
        scratch.values.need(padded * head_dim);
        scratch.scores.need(BLOCK * padded);
        scratch.weights.need(BLOCK * padded);
        let mut totals = [0.0; BLOCK];
        let block = self.attention_rows();
        let scale = 1.0 / (head_dim as f32).sqrt();
        for head in 0..heads {
            let at = head * head_dim;
            pack_keys(&qkv[width + at..], stride, len, head_dim, &mut scratch.keys);
            pack_values(&qkv[2 * width + at..], stride, len, head_dim, &mut scratch.values);
            for start in (0..len).step_by(block) {
                let rows = block.min(len - start);
                let scores = ProductArgs {
                    activations: qkv[start * stride + at..].as_ptr().cast(),
                    activation_stride: stride / 2,
                    panels: scratch.keys.as_ptr().cast(),
                    steps: head_dim / 2,
                    rows,
                    // Keys beyond the last are zero.
                    columns: padded,
                    out: scratch.scores.as_mut_ptr().cast(),
                    out_stride: padded,
                    half_out: false,
                    bias: std::ptr::null(),
                    residual: std::ptr::null(),
                    finish: Finish::Sum,
                    scales: Scales::NONE,
                };
                // SAFETY: `qkv` is readable to `padded` rows, keys and scores were sized above.
                unsafe { self.run(&scores) }
                let weights = scratch.weights.chunks_exact_mut(padded).zip(&mut totals);
                for (row, (scores, (weights, total))) in
                    scratch.scores.chunks_exact(padded).zip(weights).take(rows).enumerate()
                {
                    let bias = bias.map_or(&[][..], |bias| bias.row(head, start + row, len));
                    let (weights, beyond) = weights.split_at_mut(len);
                    // SAFETY: the constructors checked the features.
                    *total = unsafe { softmax_to_half(&scores[..len], scale, bias, weights) };
                    beyond.fill(0);
                }
                let weighted = ProductArgs {
                    activations: scratch.weights.as_ptr().cast(),
                    activation_stride: padded / 2,
                    panels: scratch.values.as_ptr().cast(),
                    steps: padded / 2,
                    rows,
                    columns: head_dim,
                    out: context[start * width + at..].as_mut_ptr().cast(),
                    out_stride: width,
                    half_out: true,
                    bias: std::ptr::null(),
                    residual: std::ptr::null(),
                    finish: Finish::RowScale,
                    scales: Scales { rows: totals.as_ptr(), ..Scales::NONE },
                };
                // SAFETY: weights hold a whole block; the block's rows and columns are inside `context`.
                unsafe { self.run(&weighted) }
            }
        }
    }

    fn layer_norm(
        &self,
        input: &[f32],
        rows: usize,
        norm: &LayerNorm,
        states: &mut [f32],
        activations: &mut [u16],
    ) {
        let width = norm.scale.len();
        for row in 0..rows {
            let at = row * width..(row + 1) * width;
            let states = &mut states[at.clone()];
            elementwise::layer_norm(self.level, &input[at.clone()], norm, states);
            // SAFETY: the constructors checked the features.
            unsafe { to_half(states, &mut activations[at]) }
        }
    }

    fn activations<'a>(_states: &'a [f32], activations: &'a [u16]) -> &'a [u16] {
        activations
    }

    /// Whole blocks, and one more: attention reads whole blocks from wherever a sequence starts.
    fn padded_rows(rows: usize) -> usize {
        rows.next_multiple_of(BLOCK) + BLOCK
    }
}

/// Keys as panels of 16 keys, pairs of dimensions to a line: `[len / 16, dim / 2, 16, 2]`, panels even in number.
fn pack_keys(keys: &[u16], stride: usize, len: usize, dim: usize, out: &mut [u16]) {
    let panels = len.next_multiple_of(BLOCK) / PANEL;
    for (panel, out) in out.chunks_exact_mut(PANEL * dim).take(panels).enumerate() {
        for key in 0..PANEL {
            let at = panel * PANEL + key;
            let lines = out.chunks_exact_mut(PANEL * 2);
            if at < len {
                let row = &keys[at * stride..][..dim];
                for (line, pair) in lines.zip(row.as_chunks::<2>().0) {
                    line[2 * key..2 * key + 2].copy_from_slice(pair);
                }
            } else {
                for line in lines {
                    line[2 * key..2 * key + 2].fill(0);
                }
            }
        }
    }
}

/// Values as panels of 16 dimensions, pairs of keys to a line: `[dim / 16, padded / 2, 16, 2]`.
fn pack_values(values: &[u16], stride: usize, len: usize, dim: usize, out: &mut [u16]) {
    const NONE: [u16; PANEL] = [0; PANEL];
    let padded = len.next_multiple_of(BLOCK);
    for (start, panel) in (0..dim).step_by(PANEL).zip(out.chunks_exact_mut(PANEL * padded)) {
        for (pair, line) in panel.chunks_exact_mut(PANEL * 2).enumerate() {
            let row = |key: usize| -> &[u16] {
                if key < len { &values[key * stride + start..][..PANEL] } else { &NONE }
            };
            let (even, odd) = (row(2 * pair), row(2 * pair + 1));
            for ((slot, even), odd) in line.as_chunks_mut::<2>().0.iter_mut().zip(even).zip(odd) {
                *slot = [*even, *odd];
            }
        }
    }
}

#[cfg(test)]
struct Emulated;

#[cfg(test)]
impl TileUnit for Emulated {
    unsafe fn block(
        activations: TileRows<*const u16>,
        panels: [*const u16; 2],
        tiles: usize,
        out: TileRows<*mut f32>,
    ) {
        let number = |bits: u16| bf16::from_bits(bits).to_f32();
        for row in 0..BLOCK {
            for column in 0..BLOCK {
                let mut sum = 0.0;
                for input in 0..tiles * BLOCK {
                    // SAFETY: the extents the caller vouches for.
                    unsafe {
                        let unit =
                            activations.first.byte_add(row * activations.stride).add(input).read();
                        let panel = panels[column / PANEL];
                        let at = input / 2 * PANEL * 2 + column % PANEL * 2 + input % 2;
                        sum += number(unit) * number(panel.add(at).read());
                    }
                }
                // SAFETY: as above.
                unsafe { out.first.byte_add(row * out.stride).add(column).write(sum) }
            }
        }
    }
}
