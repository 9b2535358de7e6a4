//! All engines against plain loops.

use proptest::prelude::*;

use super::*;

/// Numbers in -1..1 that depend on a seed only.
fn numbers(count: usize, seed: u32) -> Vec<f32> {
    let mut state = seed.wrapping_mul(2_654_435_761).wrapping_add(1);
    (0..count)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as f32 / 8_388_608.0 - 1.0
        })
        .collect()
}

/// Number types an engine's products take.
trait Number: Copy + Default + 'static {
    fn from(value: f32) -> Self;
    fn to(self) -> f32;
}

impl Number for f32 {
    fn from(value: f32) -> Self {
        value
    }

    fn to(self) -> f32 {
        self
    }
}

impl Number for u16 {
    fn from(value: f32) -> Self {
        half::bf16::from_f32(value).to_bits()
    }

    fn to(self) -> f32 {
        half::bf16::from_bits(self).to_f32()
    }
}

#[derive(Debug, Clone, Copy)]
struct Shape {
    rows: usize,
    n: usize,
    k: usize,
}

fn check_product<E: Engine>(engine: &E, shape: Shape, seed: u32, tolerance: f32)
where
    E::Activation: Number,
{
    let Shape { rows, n, k } = shape;
    let scale = 1.0 / (k as f32).sqrt();
    let weight: Vec<f32> = numbers(n * k, seed).iter().map(|value| value * scale).collect();
    let bias = numbers(n, seed + 1);
    let mut input: Vec<E::Activation> =
        numbers(rows * k, seed + 2).into_iter().map(Number::from).collect();
    input.resize(E::padded_rows(rows) * k, E::Activation::default());
    let residual = numbers(E::padded_rows(rows) * n, seed + 3);
    let packed = engine.pack(&weight, n, k);
    let layer = Linear { weight: packed, bias, n, k };
    let _guard = engine.enter();
    let mut plain = vec![E::Activation::default(); E::padded_rows(rows) * n];
    let mut bent = plain.clone();
    let mut added = vec![0.0; E::padded_rows(rows) * n];
    engine.product(&input, rows, &layer, Target::Store(&mut plain));
    engine.product(&input, rows, &layer, Target::Gelu(&mut bent));
    let target = Target::AddTo { residual: &residual, out: &mut added };
    engine.product(&input, rows, &layer, target);
    for row in 0..rows {
        for column in 0..n {
            let sum: f64 = (0..k)
                .map(|i| f64::from(input[row * k + i].to()) * f64::from(weight[column * k + i]))
                .sum();
            let sum = sum as f32 + layer.bias[column];
            let gelu = 0.5 * sum * (1.0 + erf(sum / std::f32::consts::SQRT_2));
            let at = row * n + column;
            let pairs =
                [(plain[at].to(), sum), (bent[at].to(), gelu), (added[at], sum + residual[at])];
            for (got, expect) in pairs {
                assert!(
                    (got - expect).abs() <= tolerance * expect.abs().max(1.0),
                    "{shape:?} at {row}, {column}: {got} instead of {expect}"
                );
            }
        }
    }
}

/// erf by its series: slow and exact enough for arguments below 4.
fn erf(x: f32) -> f32 {
    let x = f64::from(x.clamp(-4.0, 4.0));
    let (mut term, mut sum) = (x, x);
    for n in 1..80 {
        let n = f64::from(n);
        term *= -x * x / n;
        sum += term / (2.0 * n + 1.0);
    }
    (sum * std::f64::consts::FRAC_2_SQRT_PI) as f32
}

#[derive(Debug, Clone, Copy)]
struct Sequence {
    len: usize,
    heads: usize,
    head_dim: usize,
    biased: bool,
}

fn check_attention<E: Engine>(engine: &E, sequence: Sequence, seed: u32, tolerance: f32)
where
    E::Activation: Number,
{
    let Sequence { len, heads, head_dim, biased } = sequence;
    let width = heads * head_dim;
    let mut qkv: Vec<E::Activation> =
        numbers(len * 3 * width, seed).into_iter().map(Number::from).collect();
    qkv.resize(E::padded_rows(len) * 3 * width, E::Activation::default());
    let reach = len + 3;
    let table = numbers(heads * (2 * reach + 1), seed + 1);
    let mut context = vec![E::Activation::default(); E::padded_rows(len) * width];
    let work = Attention {
        qkv: &qkv,
        context: &mut context,
        len,
        heads,
        head_dim,
        bias: biased.then_some(DistanceBias { table: &table, reach }),
    };
    let _guard = engine.enter();
    engine.attention(work, &mut AttentionScratch::default());
    let part = |row: usize, which: usize, head: usize, dim: usize| -> f64 {
        f64::from(qkv[row * 3 * width + which * width + head * head_dim + dim].to())
    };
    for head in 0..heads {
        for query in 0..len {
            let scores: Vec<f64> = (0..len)
                .map(|key| {
                    let dot: f64 = (0..head_dim)
                        .map(|d| part(query, 0, head, d) * part(key, 1, head, d))
                        .sum();
                    let distance = reach + key - query;
                    let bias = if biased { table[head * (2 * reach + 1) + distance] } else { 0.0 };
                    (dot / (head_dim as f64).sqrt() + f64::from(bias)).exp()
                })
                .collect();
            let total: f64 = scores.iter().sum();
            for dim in 0..head_dim {
                let expect: f64 =
                    (0..len).map(|key| scores[key] / total * part(key, 2, head, dim)).sum();
                let got = context[query * width + head * head_dim + dim].to();
                assert!(
                    (f64::from(got) - expect).abs() < f64::from(tolerance),
                    "{sequence:?} head {head} query {query}: {got} instead of {expect}"
                );
            }
        }
    }
}

fn shapes(step: usize) -> impl Strategy<Value = Shape> {
    (1_usize..70, 1_usize..5, 1_usize..5, 0_usize..step).prop_map(move |(rows, n, k, odd)| Shape {
        rows,
        n: n * step - odd.min(step - 1),
        k: k * step,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn f32_engines_compute_products(shape in shapes(19), seed in 0_u32..1000) {
        check_product(&Portable::new(), shape, seed, 1e-5);
        check_product(&Portable::plain(), shape, seed, 1e-5);
        #[cfg(target_arch = "x86_64")]
        if Machine::detect().avx512 {
            check_product(&Avx512::new(), shape, seed, 1e-5);
        }
    }

    #[test]
    fn f32_engines_compute_attention(
        len in 1_usize..60, heads in 1_usize..4, head_dim in 1_usize..40, biased: bool, seed in 0_u32..1000,
    ) {
        let sequence = Sequence { len, heads, head_dim, biased };
        check_attention(&Portable::new(), sequence, seed, 1e-5);
        check_attention(&Portable::plain(), sequence, seed, 1e-5);
        #[cfg(target_arch = "x86_64")]
        if Machine::detect().avx512 {
            check_attention(&Avx512::new(), sequence, seed, 1e-5);
        }
    }
}

#[cfg(target_arch = "x86_64")]
proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    /// The tile path runs with emulated tiles here, so that everything of it but the instructions is tested anywhere.
    #[test]
    fn bf16_engines_compute_products(shape in shapes(32), seed in 0_u32..1000) {
        for engine in bf16_engines() {
            check_product(&engine, shape, seed, 2e-2);
        }
    }

    #[test]
    fn the_int8_engine_computes_products(shape in shapes(32), seed in 0_u32..1000) {
        if Machine::detect().avx512_vnni {
            check_product(&Int8::new(), shape, seed, 3e-2);
        } else {
            eprintln!("skipped: this CPU has no AVX-512-VNNI");
        }
    }

    #[test]
    fn bf16_engines_compute_attention(
        len in 1_usize..70, heads in 1_usize..3, wide: bool, biased: bool, seed in 0_u32..1000,
    ) {
        let sequence = Sequence { len, heads, head_dim: if wide { 64 } else { 32 }, biased };
        for engine in bf16_engines() {
            check_attention(&engine, sequence, seed, 2e-2);
        }
    }
}

#[cfg(target_arch = "x86_64")]
fn bf16_engines() -> Vec<Bf16> {
    let machine = Machine::detect();
    let mut engines = Vec::new();
    engines.extend(Bf16::emulated());
    if machine.avx512_bf16 {
        engines.push(Bf16::avx512());
    }
    if machine.amx {
        engines.push(Bf16::amx());
    }
    if engines.is_empty() {
        eprintln!("skipped: this CPU has no AVX-512-BF16");
    }
    engines
}
