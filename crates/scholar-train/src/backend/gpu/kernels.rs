//! The kernels. A unit is a thread of the GPU, a cube those that share memory, a grid the cubes of a launch.
//!
//! Matrices are whole buffers with a first number, because bindings to parts of buffers must begin at round places.

use cubecl::prelude::*;

/// Rows and columns of a tile of a product, and how deep the tiles are that are read at once.
pub(super) const TILE: usize = 64;
const DEPTH: usize = 16;
/// Units along a side of a tile, and numbers of a unit along each side.
const ALONG: usize = 16;
const EACH: usize = 4;
/// Units of a cube that computes a tile.
pub(super) const PRODUCT_UNITS: usize = ALONG * ALONG;
/// Units of a cube that goes over a row; a power of two.
pub(super) const UNITS: usize = 128;
const HALVINGS: usize = 7;
/// Units of a cube that does the same to every number.
pub(super) const EACH_UNITS: usize = 256;
/// Rows that one unit sums.
pub(super) const SUMMED_ROWS: usize = 256;
/// Numbers that describe a product, and some rows.
pub(super) const PRODUCT_WORDS: usize = 11;
pub(super) const ROWS_WORDS: usize = 3;

/// One tile of one product of the plan: tiles of both factors go through shared memory, each unit sums 4 x 4 numbers.
#[cube(launch_unchecked)]
pub(super) fn product(
    left: &Array<f32>,
    right: &Array<f32>,
    out: &mut Array<f32>,
    plan: &Array<u32>,
    accumulate: u32,
) {
    let at = CUBE_POS_Z as usize * PRODUCT_WORDS;
    let m = plan[at] as usize;
    let n = plan[at + 1] as usize;
    let k = plan[at + 2] as usize;
    let left_at = plan[at + 3] as usize;
    let left_row = plan[at + 4] as usize;
    let left_column = plan[at + 5] as usize;
    let right_at = plan[at + 6] as usize;
    let right_row = plan[at + 7] as usize;
    let right_column = plan[at + 8] as usize;
    let mut lefts = SharedMemory::<f32>::new(TILE * DEPTH);
    let mut rights = SharedMemory::<f32>::new(TILE * DEPTH);
    let unit = UNIT_POS as usize;
    let x = unit % ALONG;
    let y = unit / ALONG;
    let first_row = CUBE_POS_Y as usize * TILE;
    let first_column = CUBE_POS_X as usize * TILE;
    let mut sums = Array::<f32>::new(EACH * EACH);
    #[unroll]
    for i in 0..EACH * EACH {
        sums[i] = 0.0;
    }
    if first_row < m && first_column < n {
        let steps = k.div_ceil(DEPTH);
        for step in 0..steps {
            let first_deep = step * DEPTH;
            #[unroll]
            for i in 0..EACH {
                // Neighbouring units read neighbouring numbers, whichever way the matrix lies.
                let number = unit + i * PRODUCT_UNITS;
                let mut along = number / DEPTH;
                let mut deep = number % DEPTH;
                if left_row == 1 {
                    along = number % TILE;
                    deep = number / TILE;
                }
                let mut value = 0.0f32;
                if first_row + along < m && first_deep + deep < k {
                    let row = (first_row + along) * left_row;
                    value = left[left_at + row + (first_deep + deep) * left_column];
                }
                lefts[deep * TILE + along] = value;
                let mut along = number % TILE;
                let mut deep = number / TILE;
                if right_row == 1 {
                    along = number / DEPTH;
                    deep = number % DEPTH;
                }
                let mut value = 0.0f32;
                if first_column + along < n && first_deep + deep < k {
                    let column = (first_column + along) * right_column;
                    value = right[right_at + (first_deep + deep) * right_row + column];
                }
                rights[deep * TILE + along] = value;
            }
            sync_cube();
            #[unroll]
            for deep in 0..DEPTH {
                #[unroll]
                for i in 0..EACH {
                    let value = lefts[deep * TILE + y * EACH + i];
                    #[unroll]
                    for j in 0..EACH {
                        sums[i * EACH + j] += value * rights[deep * TILE + x * EACH + j];
                    }
                }
            }
            sync_cube();
        }
        store(&sums, out, plan, at, accumulate);
    }
}

/// Puts a unit's sums into the result of the product described from `at` on, or adds them to it.
#[cube]
fn store(sums: &Array<f32>, out: &mut Array<f32>, plan: &Array<u32>, at: usize, accumulate: u32) {
    let m = plan[at] as usize;
    let n = plan[at + 1] as usize;
    let out_at = plan[at + 9] as usize;
    let out_row = plan[at + 10] as usize;
    let unit = UNIT_POS as usize;
    let first_row = CUBE_POS_Y as usize * TILE + unit / ALONG * EACH;
    let first_column = CUBE_POS_X as usize * TILE + unit % ALONG * EACH;
    #[unroll]
    for i in 0..EACH {
        #[unroll]
        for j in 0..EACH {
            let row = first_row + i;
            let column = first_column + j;
            if row < m && column < n {
                let place = out_at + row * out_row + column;
                if accumulate == 1 {
                    out[place] += sums[i * EACH + j];
                } else {
                    out[place] = sums[i * EACH + j];
                }
            }
        }
    }
}

/// The sum of `value` over the units of a cube.
#[cube]
fn total(value: f32, lanes: &mut SharedMemory<f32>) -> f32 {
    let unit = UNIT_POS as usize;
    lanes[unit] = value;
    sync_cube();
    #[unroll]
    for step in 0..HALVINGS {
        let half = UNITS >> (step + 1);
        if unit < half {
            lanes[unit] += lanes[unit + half];
        }
        sync_cube();
    }
    let sum = lanes[0];
    // Nobody writes before everybody has read.
    sync_cube();
    sum
}

/// The greatest `value` of the units of a cube.
#[cube]
fn greatest(value: f32, lanes: &mut SharedMemory<f32>) -> f32 {
    let unit = UNIT_POS as usize;
    lanes[unit] = value;
    sync_cube();
    #[unroll]
    for step in 0..HALVINGS {
        let half = UNITS >> (step + 1);
        if unit < half && lanes[unit + half] > lanes[unit] {
            lanes[unit] = lanes[unit + half];
        }
        sync_cube();
    }
    let most = lanes[0];
    sync_cube();
    most
}

/// See [`crate::backend::Backend::layer_norm`]; a cube for each row.
#[cube(launch)]
pub(super) fn layer_norm(
    values: &mut Array<f32>,
    inverse: &mut Array<f32>,
    weights: &Array<f32>,
    out: &mut Array<f32>,
    scale_at: u32,
    shift_at: u32,
    width: u32,
    rows: u32,
    epsilon: f32,
) {
    let mut lanes = SharedMemory::<f32>::new(UNITS);
    let row = CUBE_POS;
    if row < rows as usize {
        let width = width as usize;
        let start = row * width;
        let mut sum = 0.0f32;
        let mut at = UNIT_POS as usize;
        while at < width {
            sum += values[start + at];
            at += UNITS;
        }
        let mean = total(sum, &mut lanes) / width as f32;
        let mut squares = 0.0f32;
        let mut at = UNIT_POS as usize;
        while at < width {
            let value = values[start + at] - mean;
            values[start + at] = value;
            squares += value * value;
            at += UNITS;
        }
        let variance = total(squares, &mut lanes) / width as f32;
        let factor = 1.0f32 / f32::sqrt(variance + epsilon);
        let mut at = UNIT_POS as usize;
        while at < width {
            let value = values[start + at] * factor;
            values[start + at] = value;
            out[start + at] =
                value * weights[scale_at as usize + at] + weights[shift_at as usize + at];
            at += UNITS;
        }
        if UNIT_POS == 0 {
            inverse[row] = factor;
        }
    }
}

/// The part of [`crate::backend::Backend::layer_norm_backward`] that goes on to the input; a cube for each row.
#[cube(launch)]
pub(super) fn layer_norm_backward(
    gradient: &mut Array<f32>,
    normal: &Array<f32>,
    inverse: &Array<f32>,
    weights: &Array<f32>,
    scale_at: u32,
    width: u32,
    rows: u32,
) {
    let mut lanes = SharedMemory::<f32>::new(UNITS);
    let row = CUBE_POS;
    if row < rows as usize {
        let width = width as usize;
        let start = row * width;
        let mut sum = 0.0f32;
        let mut product = 0.0f32;
        let mut at = UNIT_POS as usize;
        while at < width {
            let value = gradient[start + at] * weights[scale_at as usize + at];
            gradient[start + at] = value;
            sum += value;
            product += value * normal[start + at];
            at += UNITS;
        }
        let mean = total(sum, &mut lanes) / width as f32;
        let along = total(product, &mut lanes) / width as f32;
        let factor = inverse[row];
        let mut at = UNIT_POS as usize;
        while at < width {
            let value = gradient[start + at] - normal[start + at] * along - mean;
            gradient[start + at] = value * factor;
            at += UNITS;
        }
    }
}

/// Turns scores into weights that sum to 1; a cube for each row of each matrix of the plan.
#[cube(launch)]
pub(super) fn softmax(scores: &mut Array<f32>, plan: &Array<u32>, scale: f32) {
    let mut lanes = SharedMemory::<f32>::new(UNITS);
    let at = CUBE_POS_Z as usize * ROWS_WORDS;
    let rows = plan[at + 1] as usize;
    let width = plan[at + 2] as usize;
    let row = CUBE_POS_X as usize;
    if row < rows {
        let start = plan[at] as usize + row * width;
        let mut most = f32::new(-3.0e38);
        let mut at = UNIT_POS as usize;
        while at < width {
            if scores[start + at] > most {
                most = scores[start + at];
            }
            at += UNITS;
        }
        let most = greatest(most, &mut lanes);
        let mut sum = 0.0f32;
        let mut at = UNIT_POS as usize;
        while at < width {
            let value = f32::exp((scores[start + at] - most) * scale);
            scores[start + at] = value;
            sum += value;
            at += UNITS;
        }
        let factor = 1.0f32 / total(sum, &mut lanes);
        let mut at = UNIT_POS as usize;
        while at < width {
            scores[start + at] = scores[start + at] * factor;
            at += UNITS;
        }
    }
}

/// Turns the gradient of softmax's weights into that of the unscaled scores; a cube for each row of each matrix of the plan.
#[cube(launch)]
pub(super) fn softmax_backward(
    gradient: &mut Array<f32>,
    weights: &Array<f32>,
    plan: &Array<u32>,
    scale: f32,
) {
    let mut lanes = SharedMemory::<f32>::new(UNITS);
    let at = CUBE_POS_Z as usize * ROWS_WORDS;
    let rows = plan[at + 1] as usize;
    let width = plan[at + 2] as usize;
    let row = CUBE_POS_X as usize;
    if row < rows {
        let start = plan[at] as usize + row * width;
        let mut sum = 0.0f32;
        let mut at = UNIT_POS as usize;
        while at < width {
            sum += gradient[start + at] * weights[start + at];
            at += UNITS;
        }
        let mean = total(sum, &mut lanes);
        let mut at = UNIT_POS as usize;
        while at < width {
            gradient[start + at] = (gradient[start + at] - mean) * weights[start + at] * scale;
            at += UNITS;
        }
    }
}

/// Sums of runs of rows, `[runs, width]`; of products of two matrices where `times` is 1.
#[cube(launch)]
pub(super) fn sum_runs(
    left: &Array<f32>,
    right: &Array<f32>,
    sums: &mut Array<f32>,
    width: u32,
    rows: u32,
    times: u32,
) {
    let width = width as usize;
    let rows = rows as usize;
    if ABSOLUTE_POS < rows.div_ceil(SUMMED_ROWS) * width {
        let column = ABSOLUTE_POS % width;
        let mut row = ABSOLUTE_POS / width * SUMMED_ROWS;
        let mut end = row + SUMMED_ROWS;
        if end > rows {
            end = rows;
        }
        let mut sum = 0.0f32;
        while row < end {
            let place = row * width + column;
            if times == 1 {
                sum += left[place] * right[place];
            } else {
                sum += left[place];
            }
            row += 1;
        }
        sums[ABSOLUTE_POS] = sum;
    }
}

/// Adds the runs of [`sum_runs()`] in order.
#[cube(launch)]
pub(super) fn add_runs(runs: &Array<f32>, into: &mut Array<f32>, width: u32, count: u32, at: u32) {
    let width = width as usize;
    if ABSOLUTE_POS < width {
        let mut sum = 0.0f32;
        for run in 0..count as usize {
            sum += runs[run * width + ABSOLUTE_POS];
        }
        into[at as usize + ABSOLUTE_POS] += sum;
    }
}

#[cube(launch)]
pub(super) fn add_bias(
    values: &mut Array<f32>,
    weights: &Array<f32>,
    bias_at: u32,
    width: u32,
    len: u32,
) {
    if ABSOLUTE_POS < len as usize {
        values[ABSOLUTE_POS] += weights[bias_at as usize + ABSOLUTE_POS % width as usize];
    }
}

/// `exp(-x² / 2)`.
#[cube]
fn bell(x: f32) -> f32 {
    f32::exp(x * x * f32::new(-0.5))
}

/// The normal distribution up to `x`.
///
/// Source: erf by Abramowitz and Stegun 7.1.26 (error below 1.5e-7), as on the CPU.
#[cube]
fn normal_cdf(x: f32) -> f32 {
    let a = f32::abs(x) * f32::new(0.707_106_77);
    let t = 1.0f32 / (a * f32::new(0.327_591_1) + 1.0f32);
    let mut p = t * f32::new(1.061_405_4) + f32::new(-1.453_152_1);
    p = p * t + f32::new(1.421_413_8);
    p = p * t + f32::new(-0.284_496_72);
    p = p * t + f32::new(0.254_829_6);
    let tail = p * t * bell(x) * f32::new(0.5);
    let mut cdf = 1.0f32 - tail;
    if x < 0.0f32 {
        cdf = tail;
    }
    cdf
}

#[cube(launch)]
pub(super) fn bias_gelu(
    values: &mut Array<f32>,
    weights: &Array<f32>,
    out: &mut Array<f32>,
    bias_at: u32,
    width: u32,
    len: u32,
) {
    if ABSOLUTE_POS < len as usize {
        let bias = weights[bias_at as usize + ABSOLUTE_POS % width as usize];
        let value = values[ABSOLUTE_POS] + bias;
        values[ABSOLUTE_POS] = value;
        out[ABSOLUTE_POS] = value * normal_cdf(value);
    }
}

#[cube(launch)]
pub(super) fn gelu_backward(gradient: &mut Array<f32>, input: &Array<f32>, len: u32) {
    if ABSOLUTE_POS < len as usize {
        let x = input[ABSOLUTE_POS];
        let slope = normal_cdf(x) + x * bell(x) * f32::new(0.398_942_3);
        gradient[ABSOLUTE_POS] = gradient[ABSOLUTE_POS] * slope;
    }
}

#[cube(launch)]
pub(super) fn tangent(values: &mut Array<f32>, len: u32) {
    if ABSOLUTE_POS < len as usize {
        values[ABSOLUTE_POS] = f32::tanh(values[ABSOLUTE_POS]);
    }
}

#[cube(launch)]
pub(super) fn tangent_backward(gradient: &mut Array<f32>, values: &Array<f32>, len: u32) {
    if ABSOLUTE_POS < len as usize {
        let value = values[ABSOLUTE_POS];
        gradient[ABSOLUTE_POS] = gradient[ABSOLUTE_POS] * (1.0f32 - value * value);
    }
}

#[cube(launch)]
pub(super) fn add(sums: &mut Array<f32>, values: &Array<f32>, len: u32) {
    if ABSOLUTE_POS < len as usize {
        sums[ABSOLUTE_POS] += values[ABSOLUTE_POS];
    }
}

#[cube(launch)]
pub(super) fn copy(from: &Array<f32>, to: &mut Array<f32>, len: u32) {
    if ABSOLUTE_POS < len as usize {
        to[ABSOLUTE_POS] = from[ABSOLUTE_POS];
    }
}

#[cube(launch)]
pub(super) fn clear(values: &mut Array<f32>, start: u32, len: u32) {
    if ABSOLUTE_POS < len as usize {
        values[start as usize + ABSOLUTE_POS] = 0.0f32;
    }
}

/// The mask of the CPU's dropout, bit for bit: on GPUs, products of unsigned numbers wrap.
#[cube(launch)]
pub(super) fn drop_out(
    values: &mut Array<f32>,
    len: u32,
    spread: u32,
    key: u32,
    threshold: u32,
    scale: f32,
) {
    if ABSOLUTE_POS < len as usize {
        let mut bits = (ABSOLUTE_POS as u32 * spread) ^ key;
        bits = (bits ^ (bits >> 16u32)) * 0x85eb_ca6bu32;
        bits = (bits ^ (bits >> 13u32)) * 0xc2b2_ae35u32;
        bits = bits ^ (bits >> 16u32);
        if bits >= threshold {
            values[ABSOLUTE_POS] = values[ABSOLUTE_POS] * scale;
        } else {
            values[ABSOLUTE_POS] = 0.0f32;
        }
    }
}

#[cube(launch)]
pub(super) fn gather(
    from: &Array<f32>,
    rows: &Array<u32>,
    out: &mut Array<f32>,
    width: u32,
    len: u32,
) {
    if ABSOLUTE_POS < len as usize {
        let width = width as usize;
        let row = rows[ABSOLUTE_POS / width] as usize;
        out[ABSOLUTE_POS] = from[row * width + ABSOLUTE_POS % width];
    }
}

#[cube(launch)]
pub(super) fn scatter(
    from: &Array<f32>,
    rows: &Array<u32>,
    into: &mut Array<f32>,
    width: u32,
    len: u32,
) {
    if ABSOLUTE_POS < len as usize {
        let width = width as usize;
        let row = rows[ABSOLUTE_POS / width] as usize;
        into[row * width + ABSOLUTE_POS % width] += from[ABSOLUTE_POS];
    }
}

/// Three rows of weights for each token, by their first numbers.
#[cube(launch)]
pub(super) fn embed(
    weights: &Array<f32>,
    places: &Array<u32>,
    out: &mut Array<f32>,
    width: u32,
    len: u32,
) {
    if ABSOLUTE_POS < len as usize {
        let width = width as usize;
        let token = ABSOLUTE_POS / width * 3;
        let column = ABSOLUTE_POS % width;
        let word = weights[places[token] as usize + column];
        let position = weights[places[token + 1] as usize + column];
        let kind = weights[places[token + 2] as usize + column];
        out[ABSOLUTE_POS] = word + position + kind;
    }
}

/// One row of a table after the other, its tokens in order: no two units write the same number.
#[cube(launch)]
pub(super) fn embed_backward(
    gradient: &Array<f32>,
    targets: &Array<u32>,
    starts: &Array<u32>,
    tokens: &Array<u32>,
    into: &mut Array<f32>,
    width: u32,
    len: u32,
) {
    if ABSOLUTE_POS < len as usize {
        let width = width as usize;
        let group = ABSOLUTE_POS / width;
        let column = ABSOLUTE_POS % width;
        let mut sum = 0.0f32;
        for member in starts[group]..starts[group + 1] {
            sum += gradient[tokens[member as usize] as usize * width + column];
        }
        let place = targets[group] as usize + column;
        into[place] += sum;
    }
}

/// Sum of squares of each chunk, which is a first number and how many there are; a cube for each.
#[cube(launch)]
pub(super) fn squares(values: &Array<f32>, chunks: &Array<u32>, sums: &mut Array<f32>, count: u32) {
    let mut lanes = SharedMemory::<f32>::new(UNITS);
    let chunk = CUBE_POS;
    if chunk < count as usize {
        let start = chunks[chunk * 2] as usize;
        let len = chunks[chunk * 2 + 1] as usize;
        let mut sum = 0.0f32;
        let mut at = UNIT_POS as usize;
        while at < len {
            let value = values[start + at];
            sum += value * value;
            at += UNITS;
        }
        let sum = total(sum, &mut lanes);
        if UNIT_POS == 0 {
            sums[chunk] = sum;
        }
    }
}

#[cube(launch)]
pub(super) fn adam(
    weights: &mut Array<f32>,
    gradient: &Array<f32>,
    mean: &mut Array<f32>,
    square: &mut Array<f32>,
    start: u32,
    len: u32,
    gradient_scale: f32,
    beta1: f32,
    beta2: f32,
    rate: f32,
    square_scale: f32,
    epsilon: f32,
    shrink: f32,
) {
    if ABSOLUTE_POS < len as usize {
        let at = start as usize + ABSOLUTE_POS;
        let slope = gradient[at] * gradient_scale;
        let first = (mean[at] - slope) * beta1 + slope;
        let second = square[at] * beta2 + (1.0f32 - beta2) * slope * slope;
        mean[at] = first;
        square[at] = second;
        let root = f32::sqrt(second) * square_scale + epsilon;
        weights[at] = weights[at] * shrink - rate * first / root;
    }
}

#[cube(launch)]
pub(super) fn blend(values: &mut Array<f32>, others: &Array<f32>, len: u32, keep: f32) {
    if ABSOLUTE_POS < len as usize {
        let other = (1.0f32 - keep) * others[ABSOLUTE_POS];
        values[ABSOLUTE_POS] = values[ABSOLUTE_POS] * keep + other;
    }
}
