//! What the kernels and the memory of this machine would allow, for measurements.

use std::time::Instant;

use super::activations::{MAX_ROWS, Rounded};
use super::formats::Format;
use super::panels::{Blocks, Level, OUTPUTS, Panel};
use super::pool::Pool;
use super::rows;

/// Rounds of which the fastest counts.
const ROUNDS: usize = 5;

/// What this machine would allow.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MachineLimits {
    /// Products of quantised weights and activations in a second, weights and activations lying in the caches.
    pub products_per_s: f64,
    /// Bytes that are read from memory in a second.
    pub bytes_per_s: f64,
}

/// How fast one thread multiplies weights that lie in its caches.
#[derive(Debug, Clone, PartialEq)]
pub struct KernelSpeed {
    /// The weights' format.
    pub format: &'static str,
    /// The instructions.
    pub instructions: &'static str,
    /// Rows of activations that are multiplied together.
    pub rows: usize,
    /// Products of a weight and an activation in a second.
    pub products_per_s: f64,
}

/// Measures what `threads` threads of this machine would allow: the fastest of a few short rounds each.
///
/// # Errors
/// When no thread can be started.
pub fn machine_limits(threads: usize) -> std::io::Result<MachineLimits> {
    let pool = Pool::start(threads, "scholar-limits")?;
    let level = Level::detect();
    let (inputs, rows) = (1024, 64);
    // Codes, scales and minima of any value will do: their products take the same time.
    let bytes = vec![0x11; OUTPUTS * inputs / 256 * 144];
    let weights = Blocks { format: Format::Q4K, bytes: &bytes, outputs: OUTPUTS, inputs };
    let mut x = Rounded::default();
    x.take(&vec![1.0; rows * inputs], inputs, 256, &pool);
    let passes = 200;
    let seconds = fastest(|| {
        pool.run(pool.threads(), &|_| {
            let mut panel = Panel::new();
            let mut sum = 0.0;
            panel.repeat(level, &weights, &x, passes, &mut sum);
            std::hint::black_box(sum);
        });
    });
    let products = (OUTPUTS * inputs * rows * passes * pool.threads()) as f64;
    let mut memory = memmap2::MmapMut::map_anon(384 << 20)?;
    // In the pages that weights are mapped in at best; without them the limit would be that of looking pages up.
    #[cfg(target_os = "linux")]
    if let Err(error) = memory.advise(memmap2::Advice::HugePage) {
        tracing::debug!(%error, "memory is measured in small pages");
    }
    memory.fill(1);
    let part = memory.len() / pool.threads();
    let read = fastest(|| {
        pool.run(pool.threads(), &|i| {
            std::hint::black_box(crate::kernels::sum_bytes(
                crate::simd::SimdLevel::detect(),
                &memory[i * part..][..part],
            ));
        });
    });
    Ok(MachineLimits {
        products_per_s: products / seconds,
        bytes_per_s: (part * pool.threads()) as f64 / read,
    })
}

/// Measures the kernels of one thread, with every set of instructions of this machine but the portable one.
///
/// Up to [`MAX_ROWS`] of `rows` those that write replies are measured, with more those that read prompts, which lay weights out.
///
/// # Errors
/// When no thread can be started.
pub fn kernel_speeds(rows: &[usize]) -> std::io::Result<Vec<KernelSpeed>> {
    let pool = Pool::start(1, "scholar-limits")?;
    let (outputs, inputs) = (128, 1536);
    let levels: Vec<Level> =
        Level::all().into_iter().filter(|level| *level != Level::Portable).collect();
    let mut found = Vec::new();
    for (format, name) in [(Format::Q4K, "Q4_K"), (Format::Q6K, "Q6_K")] {
        let (numbers, bytes) = format.block();
        let bytes = vec![0x11; outputs * inputs / numbers * bytes];
        let weights = Blocks { format, bytes: &bytes, outputs, inputs };
        for (level, &rows) in levels.iter().flat_map(|level| rows.iter().map(move |n| (level, n))) {
            let mut x = Rounded::default();
            x.take(&vec![1.0; rows * inputs], inputs, 256, &pool);
            found.push(KernelSpeed {
                format: name,
                instructions: level.name(),
                rows,
                products_per_s: products_per_s(*level, &weights, &x),
            });
        }
    }
    Ok(found)
}

/// Products of all rows of `x` with all weights in a second.
fn products_per_s(level: Level, weights: &Blocks<'_>, x: &Rounded) -> f64 {
    let passes = 1 + 400 / x.rows();
    let mut panel = Panel::new();
    let mut out = vec![0.0; weights.outputs * x.rows().min(MAX_ROWS)];
    let mut sum = 0.0;
    let mut few = |sum: &mut f32| {
        rows::multiply(level, weights, 0..weights.outputs, x, &mut out);
        *sum += out[0];
    };
    let mut many = |sum: &mut f32| {
        for first in (0..weights.outputs).step_by(OUTPUTS) {
            let mut add = |_: bool, _: usize, tile: &[[f32; OUTPUTS]]| *sum += tile[0][0];
            panel.multiply(level, (weights, first), None, x, &mut add);
        }
    };
    let pass: &mut dyn FnMut(&mut f32) = if x.rows() <= MAX_ROWS { &mut few } else { &mut many };
    let seconds = fastest(|| (0..passes).for_each(|_| pass(&mut sum)));
    std::hint::black_box(sum);
    (weights.outputs * weights.inputs * x.rows() * passes) as f64 / seconds
}

/// Seconds of the fastest of a few rounds.
fn fastest(mut work: impl FnMut()) -> f64 {
    let seconds = (0..ROUNDS).map(|_| {
        let began = Instant::now();
        work();
        began.elapsed().as_secs_f64()
    });
    seconds.fold(f64::INFINITY, f64::min)
}
