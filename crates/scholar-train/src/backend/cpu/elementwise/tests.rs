use scholar_models::simd::SimdLevel;

use super::*;

fn levels() -> [SimdLevel; 2] {
    [SimdLevel::baseline(), SimdLevel::detect()]
}

fn numbers(n: usize, seed: u64) -> Vec<f32> {
    let mut random = scholar_core::SplitMix64::new(seed);
    (0..n).map(|_| random.normal() as f32).collect()
}

/// Compares a backward function with differences of the forward one, weighted by `gradient`.
fn check_gradient(
    input: &[f32],
    gradient: &[f32],
    found: &[f32],
    forward: impl Fn(&[f32]) -> Vec<f32>,
) {
    let h = 1e-2;
    for at in 0..input.len() {
        let moved = |by: f32| {
            let mut input = input.to_vec();
            input[at] += by;
            let out = forward(&input);
            out.iter().zip(gradient).map(|(o, g)| f64::from(*o) * f64::from(*g)).sum::<f64>()
        };
        let expect = (moved(h) - moved(-h)) / f64::from(2.0 * h);
        let got = f64::from(found[at]);
        assert!((expect - got).abs() < 2e-3 * (1.0 + expect.abs()), "{at}: {got} {expect}");
    }
}

#[test]
fn gelu_has_its_values_and_its_slope() {
    let known = [(1.0, 0.841_344_7), (-1.0, -0.158_655_26), (0.5, 0.345_731_24), (3.0, 2.995_95)];
    for level in levels() {
        for (x, expect) in known {
            let (mut values, mut out) = ([x], [0.0]);
            bias_gelu(level, &mut values, &[0.0], &mut out);
            assert!((out[0] - expect).abs() < 1e-6, "{x}");
        }
        let (input, gradient) = (numbers(40, 1), numbers(40, 2));
        let mut found = gradient.clone();
        gelu_backward(level, &mut found, &input);
        check_gradient(&input, &gradient, &found, |input| {
            let (mut values, mut out) = (input.to_vec(), vec![0.0; input.len()]);
            bias_gelu(level, &mut values, &vec![0.0; input.len()], &mut out);
            out
        });
    }
}

#[test]
fn softmax_sums_to_one_and_has_its_slope() {
    for level in levels() {
        for len in [1, 5, 16, 37] {
            let (input, gradient) = (numbers(len, 3), numbers(len, 4));
            let forward = |input: &[f32]| {
                let mut scores = input.to_vec();
                softmax(level, &mut scores, 0.5);
                scores
            };
            let weights = forward(&input);
            assert!((weights.iter().sum::<f32>() - 1.0).abs() < 1e-5);
            let mut found = gradient.clone();
            softmax_backward(level, &mut found, &weights, 0.5);
            check_gradient(&input, &gradient, &found, forward);
        }
    }
}

#[test]
fn layer_norm_has_its_slope() {
    for level in levels() {
        for width in [6, 16, 33] {
            let (input, gradient) = (numbers(2 * width, 5), numbers(2 * width, 6));
            let (scale, shift) = (numbers(width, 7), numbers(width, 8));
            let forward = |input: &[f32]| {
                let (mut values, mut inverse) = (input.to_vec(), [0.0; 2]);
                let mut out = vec![0.0; input.len()];
                layer_norm(
                    level,
                    &mut values,
                    &mut inverse,
                    Norm { scale: &scale, shift: &shift, epsilon: 1e-12 },
                    &mut out,
                );
                (values, inverse, out)
            };
            let (normal, inverse, _) = forward(&input);
            let mut found = gradient.clone();
            layer_norm_backward(level, &mut found, &normal, &inverse, &scale);
            check_gradient(&input, &gradient, &found, |input| forward(input).2);
        }
    }
}

#[test]
fn dropout_keeps_the_share_and_the_expectation_and_can_be_repeated() {
    let mask = crate::backend::Dropout::new(9, 1, 0.25).expect("drops").site(3);
    let drop = |level, first| {
        let mut values = vec![1.0; 10_000];
        drop_out(level, &mut values, first, mask);
        values
    };
    let values = drop(SimdLevel::detect(), 0);
    assert_eq!(values, drop(SimdLevel::baseline(), 0));
    assert_eq!(
        values[7_000..],
        drop(SimdLevel::detect(), 7_000)[..3_000],
        "a mask knows the place"
    );
    let kept = values.iter().filter(|value| **value > 0.0).count();
    assert!((7_300..7_700).contains(&kept), "{kept}");
    let mean = values.iter().sum::<f32>() / 10_000.0;
    assert!((mean - 1.0).abs() < 0.03, "{mean}");
    assert!(crate::backend::Dropout::new(9, 1, 0.0).is_none());
}
