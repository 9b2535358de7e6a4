//! Products against sums of decoded weights, for every format, with every set of instructions of this machine.

use std::sync::Arc;

use super::*;
use crate::gguf::activations::Rounded;
use crate::gguf::formats::{MAX_UNIT, Unit};
use crate::gguf::weights::Matrix;

const QUANTISED: [Format; 10] = [
    Format::Q4_0,
    Format::Q4_1,
    Format::Q5_0,
    Format::Q5_1,
    Format::Q8_0,
    Format::Q2K,
    Format::Q3K,
    Format::Q4K,
    Format::Q5K,
    Format::Q6K,
];

/// Random blocks with scales of sensible size.
fn random_blocks(format: Format, numbers: usize) -> Vec<u8> {
    let (block, bytes) = format.block();
    let mut state = 88_172_645_463_325_252_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    let mut out: Vec<u8> = (0..numbers / block * bytes).map(|_| next()).collect();
    let halves: &[usize] = match format {
        Format::F32 | Format::F16 | Format::Bf16 => &[],
        Format::Q4_0 | Format::Q5_0 | Format::Q8_0 => &[0],
        Format::Q4_1 | Format::Q5_1 | Format::Q4K | Format::Q5K => &[0, 2],
        Format::Q2K => &[80, 82],
        Format::Q3K => &[108],
        Format::Q6K => &[208],
    };
    for block in out.chunks_exact_mut(bytes) {
        for half in halves {
            block[half + 1] = 0x20 | block[half + 1] & 0x87;
        }
    }
    let dense: &dyn Fn(usize) -> f32 = &|i| ((i * 7919) % 2003) as f32 / 1000.0 - 1.0;
    match format {
        Format::F32 => (0..numbers).flat_map(|i| dense(i).to_le_bytes()).collect(),
        Format::F16 => {
            (0..numbers).flat_map(|i| half::f16::from_f32(dense(i)).to_le_bytes()).collect()
        }
        Format::Bf16 => {
            (0..numbers).flat_map(|i| half::bf16::from_f32(dense(i)).to_le_bytes()).collect()
        }
        _ => out,
    }
}

fn activations(rows: usize, width: usize) -> Vec<f32> {
    (0..rows * width).map(|i| ((i * 7919) % 1009) as f32 / 500.0 - 1.0).collect()
}

fn linear(format: Format, outputs: usize, inputs: usize) -> Linear {
    use std::io::Write as _;
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(&random_blocks(format, outputs * inputs)).unwrap();
    // SAFETY: the file is anonymous and written before it is mapped.
    let map = unsafe { memmap2::Mmap::map(&file) }.unwrap();
    let bias = Some((0..outputs).map(|i| i as f32 / 10.0).collect());
    Linear { matrix: Matrix::of(Arc::new(map), format, outputs, inputs), bias }
}

/// What exact arithmetic makes of the rounded activations.
fn expected(layer: &Linear, x: &[f32], width: usize, pool: &Pool) -> Vec<f64> {
    let format = layer.matrix.blocks().format;
    let mut seen = x.to_vec();
    if !format.is_dense() {
        let mut rounded = Rounded::default();
        rounded.take(x, width, format.unit(), pool);
        for (i, seen) in seen.iter_mut().enumerate() {
            *seen = f32::from(rounded.codes[i]) * rounded.scales[i / rounded.unit];
        }
    }
    let outputs = layer.width();
    let mut out = vec![0.0; x.len() / width * outputs];
    let mut weights = vec![0.0; width];
    for output in 0..outputs {
        layer.matrix.row(output, &mut weights);
        for (row, x) in seen.chunks_exact(width).enumerate() {
            let sum: f64 = x.iter().zip(&weights).map(|(x, w)| f64::from(*x) * f64::from(*w)).sum();
            let bias = layer.bias.as_ref().map_or(0.0, |bias| f64::from(bias[output]));
            out[row * outputs + output] = sum + bias;
        }
    }
    out
}

fn compute(machine: &Machine, layer: &Linear, x: &[f32], width: usize) -> Vec<f32> {
    let mut input = Activations::default();
    input.take(x, width, &[layer], machine);
    let mut out = vec![1.0; x.len() / width * layer.width()];
    multiply(machine, &input, &mut [Product { layer, out: &mut out, target: Target::Store }]);
    out
}

#[test]
fn products_of_all_formats_are_sums_of_decoded_weights() {
    // One output beyond two panels, more inputs than a panel has, rows for both ways of computing.
    let (outputs, inputs) = (33, 1792);
    for format in QUANTISED.into_iter().chain([Format::F32, Format::F16, Format::Bf16]) {
        let layer = linear(format, outputs, inputs);
        for rows in [1, 3, 8, 9, 29] {
            let x = activations(rows, inputs);
            for level in Level::all() {
                let machine = Machine { pool: Pool::start(2, "test").unwrap(), level };
                let expected = expected(&layer, &x, inputs, &machine.pool);
                let found = compute(&machine, &layer, &x, inputs);
                let size = expected.iter().map(|x| x * x).sum::<f64>().sqrt();
                let difference: f64 =
                    found.iter().zip(&expected).map(|(a, b)| (f64::from(*a) - b).powi(2)).sum();
                let relative = difference.sqrt() / size;
                assert!(relative < 1e-6, "{format:?} {level:?} {rows} rows: {relative}");
            }
        }
    }
}

#[test]
fn up_to_the_most_rows_of_a_reply_neighbours_threads_and_parts_change_no_bit() {
    // Three units: the kernels take two at a time.
    let (outputs, inputs) = (40, 768);
    for format in QUANTISED.into_iter().chain([Format::F16]) {
        let layer = linear(format, outputs, inputs);
        let x = activations(MAX_ROWS, inputs);
        for level in Level::all() {
            let machines = [1, 3]
                .map(|threads| Machine { pool: Pool::start(threads, "test").unwrap(), level });
            let together = compute(&machines[1], &layer, &x, inputs);
            for (row, x) in x.chunks_exact(inputs).enumerate() {
                let alone = compute(&machines[0], &layer, x, inputs);
                assert_eq!(alone, together[row * outputs..][..outputs], "{format:?} {level:?}");
            }
        }
    }
}

#[test]
fn gates_and_additions_are_those_of_separate_products() {
    let inputs = 256;
    let machine = Machine { pool: Pool::start(2, "test").unwrap(), level: Level::detect() };
    for rows in [2, 20] {
        let x = activations(rows, inputs);
        let (gate, up) = (linear(Format::Q4K, 24, inputs), linear(Format::Q6K, 24, inputs));
        let apart = [&gate, &up].map(|layer| compute(&machine, layer, &x, inputs));
        let mut input = Activations::default();
        input.take(&x, inputs, &[&gate, &up], &machine);
        let mut joined = vec![0.0; rows * 24];
        let product = |g: &mut [f32], u: &[f32]| g.iter_mut().zip(u).for_each(|(g, u)| *g *= u);
        multiply_gated(&machine, &input, (&gate, &up), &product, &mut joined);
        for ((joined, gate), up) in joined.iter().zip(&apart[0]).zip(&apart[1]) {
            assert!((joined - gate * up).abs() <= 1e-4 * joined.abs().max(1.0));
        }
        let mut added = vec![2.0; rows * 24];
        let target = Product { layer: &up, out: &mut added, target: Target::Add };
        multiply(&machine, &input, &mut [target]);
        for (added, up) in added.iter().zip(&apart[1]) {
            assert!((added - up - 2.0).abs() < 1e-4 * added.abs().max(1.0));
        }
    }
}

#[test]
fn a_part_of_a_matrix_has_its_outputs() {
    let layer = linear(Format::Q5K, 48, 256);
    let machine = Machine { pool: Pool::start(1, "test").unwrap(), level: Level::detect() };
    let x = activations(1, 256);
    let whole = compute(&machine, &layer, &x, 256);
    assert_eq!(compute(&machine, &layer.outputs(17, 20), &x, 256), whole[17..37]);
    assert_eq!(MAX_UNIT, Unit::ZERO.codes.len());
}
