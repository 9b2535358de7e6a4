//! Every operation of every device against the CPU's.

use scholar_core::SplitMix64;

use super::*;

/// Rows and widths that fill tiles and cubes, and that do not.
const SIZES: [(usize, usize, usize); 4] = [(1, 3, 5), (7, 72, 24), (65, 200, 130), (300, 64, 17)];

/// The GPUs that this build computes with.
pub(crate) fn gpu_backends() -> Vec<Box<dyn Backend>> {
    vec![
        #[cfg(feature = "wgpu")]
        gpu::wgpu().expect("a GPU, or a driver that computes on the CPU"),
        #[cfg(feature = "cuda")]
        gpu::cuda().expect("a GPU, or the stand-in of the tests"),
    ]
}

fn numbers(n: usize, seed: u64) -> Vec<f32> {
    let mut random = SplitMix64::new(seed);
    (0..n).map(|_| random.normal() as f32).collect()
}

/// Runs `work` on every device with the same numbers, buffers of these lengths, and compares what it leaves in them.
fn same(what: &str, lengths: &[usize], work: impl Fn(&dyn Backend, &mut [Buffer])) {
    let run = |backend: &dyn Backend| -> Vec<Vec<f32>> {
        let mut buffers: Vec<Buffer> =
            (1..).zip(lengths).map(|(seed, len)| backend.put(numbers(*len, seed))).collect();
        work(backend, &mut buffers);
        buffers.iter().map(|buffer| backend.read(buffer).expect("numbers").into_owned()).collect()
    };
    let expect = run(&CpuBackend::new(1, Precision::F32));
    let cpu: Box<dyn Backend> = Box::new(CpuBackend::new(2, Precision::F32));
    for backend in gpu_backends().into_iter().chain([cpu]) {
        let found = run(&*backend);
        for (buffer, (found, expect)) in found.iter().zip(&expect).enumerate() {
            assert_eq!(found.len(), expect.len(), "{what}, buffer {buffer}");
            for (at, (found, expect)) in found.iter().zip(expect).enumerate() {
                assert!(
                    (found - expect).abs() <= 2e-5 * (1.0 + expect.abs()) * (1.0 + expect.abs()),
                    "{what}, buffer {buffer}[{at}] of {}: {found}, expected {expect}",
                    backend.describe()
                );
            }
        }
    }
}

#[cfg(feature = "gpu")]
#[test]
fn more_than_a_card_takes_in_one_piece_is_an_error() {
    for backend in gpu_backends() {
        let mut buffer = Buffer::default();
        backend.fit(&mut buffer, 1 << 33);
        let error = backend.read(&buffer).expect_err("too many");
        assert!(error.to_string().contains("in one piece"), "{error}");
        assert!(error.hint().is_some_and(|hint| hint.contains("smaller batch")), "{error:?}");
    }
}

fn pair(n: usize, k: usize) -> Pair {
    Pair { weight: 5..5 + n * k, bias: 5 + n * k..5 + n * k + n }
}

#[test]
fn linear_layers() {
    for (rows, n, k) in SIZES {
        let at = pair(n, k);
        let weights = at.bias.end + 3;
        same("linear", &[rows * k, weights, rows * n], |backend, buffers| {
            let [input, weights, out] = buffers else { unreachable!("three") };
            backend.linear(input, WeightRef::new(weights, &at.weight), k, out);
        });
        same("linear with bias", &[rows * k, weights, rows * n], |backend, buffers| {
            let [input, weights, out] = buffers else { unreachable!("three") };
            backend.linear_bias(input, at.of(weights), out);
        });
        for accumulate in [false, true] {
            same("input of linear", &[rows * n, weights, rows * k], |backend, buffers| {
                let [gradient, weights, out] = buffers else { unreachable!("three") };
                backend.linear_input(
                    gradient,
                    WeightRef::new(weights, &at.weight),
                    n,
                    out,
                    accumulate,
                );
            });
        }
        same("weight of linear", &[rows * n, rows * k, weights], |backend, buffers| {
            let [gradient, input, into] = buffers else { unreachable!("three") };
            backend.linear_weight(gradient, input, n, at.of_mut(into));
        });
    }
}

#[test]
fn functions_of_rows() {
    for (rows, width, _) in SIZES {
        let (len, at) = (rows * width, pair(1, width));
        let norm = Pair { weight: at.weight.clone(), bias: 9..9 + width };
        let weights = width + 20;
        same("normalisation", &[len, rows, weights, len], |backend, buffers| {
            let [values, inverse, weights, out] = buffers else { unreachable!("four") };
            backend.layer_norm(values, inverse, norm.of(weights), 1e-6, out);
        });
        same("normalisation, back", &[len, len, rows, weights, weights], |backend, buffers| {
            let [gradient, normal, inverse, weights, into] = buffers else { unreachable!("five") };
            backend.layer_norm_backward(
                gradient,
                NormTape { normal, inverse },
                norm.of(weights),
                into,
            );
        });
        same("GELU", &[len, weights, len], |backend, buffers| {
            let [values, weights, out] = buffers else { unreachable!("three") };
            backend.bias_gelu(values, WeightRef::new(weights, &norm.bias), out);
        });
        same("GELU, back", &[len, len], |backend, buffers| {
            let [gradient, input] = buffers else { unreachable!("two") };
            backend.gelu_backward(gradient, input);
        });
        same("tangent", &[len, len], |backend, buffers| {
            let [gradient, values] = buffers else { unreachable!("two") };
            backend.tanh(values);
            backend.tanh_backward(gradient, values);
        });
    }
}

#[test]
fn functions_of_numbers() {
    for (rows, width, _) in SIZES {
        let len = rows * width;
        same("sum and copy", &[len, len, 1], |backend, buffers| {
            let [sums, values, copy] = buffers else { unreachable!("three") };
            backend.add(sums, values);
            backend.copy(sums, copy);
            backend.clear(values, 1..len - 1);
        });
        let mask = Dropout::new(3, 1, 0.3).expect("drops").site(4);
        same("dropout", &[len], |backend, buffers| backend.drop_out(&mut buffers[0], mask));
        same("blend", &[len, len], |backend, buffers| {
            let [values, others] = buffers else { unreachable!("two") };
            backend.blend(values, others, 0.3);
        });
        let step = AdamStep {
            gradient_scale: 0.5,
            beta1: 0.9,
            beta2: 0.99,
            rate: 0.01,
            square_scale: 0.7,
            epsilon: 1e-3,
            shrink: 0.999,
        };
        same("AdamW", &[len, len, len, len], |backend, buffers| {
            let [weights, gradient, mean, square] = buffers else { unreachable!("four") };
            // A mean of squares is none where it is negative.
            let squares = backend.read(square).expect("numbers").iter().map(|s| s * s).collect();
            *square = backend.put(squares);
            let mut moments =
                Moments { mean: std::mem::take(mean), square: std::mem::take(square) };
            backend.adam(weights, gradient, &mut moments, &(1..len), step);
            (*mean, *square) = (moments.mean, moments.square);
        });
        same("squares", &[len, 1], |backend, buffers| {
            let [values, out] = buffers else { unreachable!("two") };
            let found = backend.squares(values, &[0..1, 2..len]).expect("a sum");
            *out = backend.put(vec![found as f32]);
        });
    }
}

#[test]
fn rows_and_tables() {
    let width = 24;
    same("rows", &[10 * width, 10 * width, 1], |backend, buffers| {
        let [from, into, out] = buffers else { unreachable!("three") };
        backend.gather(from, &[7, 0, 7, 3], width, out);
        let mut four = Buffer::default();
        backend.gather(from, &[1, 2, 3, 4], width, &mut four);
        backend.scatter(&four, &[9, 2, 0, 5], width, into);
    });
    let (words, positions, types) = (3..3 + 20 * width, 500..500 + 9 * width, 720..720 + 2 * width);
    let tables = [&words, &positions, &types];
    let tokens = Tokens {
        words: &[4, 19, 4, 0, 7, 4],
        types: &[0, 0, 1, 0, 1, 1],
        positions: &[0, 1, 2, 0, 1, 8],
    };
    same("embeddings", &[800, 6 * width, 800], |backend, buffers| {
        let [weights, out, into] = buffers else { unreachable!("three") };
        backend.embed(weights, tables, tokens, width, out);
        backend.embed_backward(out, tables, tokens, width, into);
    });
}

#[test]
fn attention_of_all_and_of_first_tokens() {
    let lengths = [3_usize, 150, 70, 1];
    let tokens: usize = lengths.iter().sum();
    for (heads, width) in [(6, 12), (2, 32)] {
        let hidden = heads * width;
        for (apart, mask) in [(false, false), (true, false), (false, true), (true, true)] {
            let mut first_key = 0;
            let sequences = lengths.iter().enumerate().map(|(at, keys)| {
                let start = first_key;
                first_key += keys;
                let (queries, first_query) = if apart { (1, at) } else { (*keys, start) };
                SequenceSpan { queries, first_query, keys: *keys, first_key: start }
            });
            let mask = mask.then(|| Dropout::new(3, 1, 0.2).expect("drops").site(4));
            let attention = Attention { sequences: sequences.collect(), heads, width, mask };
            let rows = if apart { lengths.len() } else { tokens };
            let stride = if apart { 2 * hidden } else { 3 * hidden };
            let weights = attention.sizes().sum();
            let sizes = [rows * hidden, tokens * stride, weights, rows * hidden];
            let all = [&sizes[..], &[rows * hidden, rows * hidden, tokens * stride]].concat();
            same("attention", &all, |backend, buffers| {
                let [queries, qkv, weights, context, gradient, into_queries, into] = buffers else {
                    unreachable!("seven")
                };
                backend.attend(&attention, apart.then_some(queries), qkv, weights, context);
                let forward = AttentionTape { queries: apart.then_some(&*queries), qkv, weights };
                let into = AttentionGradients { queries: apart.then_some(into_queries), qkv: into };
                backend.attend_backward(&attention, forward, gradient, into);
            });
        }
    }
}
