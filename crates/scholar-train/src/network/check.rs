//! Whether a device computes what the CPU does.
//!
//! Ours, because drivers differ, and a kernel that one of them gets wrong would make a training worse without a word.

use super::head::HeadTape;
use super::packed::Packed;
use super::parameters::{Freeze, Parameters};
use super::pass::{Needed, Tape};
use super::{Shape, epsilon};
use crate::backend::{Backend, Buffer, CpuBackend, Dropout, Precision};
use crate::error::TrainError;
use crate::optimiser::{Accumulated, AdamW, AdamWConfig, grad_norm};

/// Sizes that fill no tile evenly.
const SHAPE: Shape = Shape {
    vocabulary: 90,
    hidden: 72,
    layers: 2,
    heads: 6,
    intermediate: 200,
    positions: 160,
    segments: 2,
    epsilon: 0.0,
};
/// Tokens of the sequences: shorter and longer than the cubes of a GPU.
const LENGTHS: [usize; 4] = [3, 150, 70, 1];
const LABELS: usize = 3;
/// Largest difference of numbers around 1 that rounding explains.
const TOLERANCE: f32 = 1e-3;

/// Computes a step of a small network on `device` and on the CPU.
///
/// # Errors
/// When the device fails, or finds other numbers.
pub(crate) fn check(backend: &dyn Backend) -> Result<(), TrainError> {
    let expect = step(&CpuBackend::new(1, Precision::F32))?;
    let found = step(backend)?;
    match first_difference(&found, &expect) {
        None => Ok(()),
        Some(at) => Err(TrainError::Device {
            device: backend.describe(),
            problem: format!(
                "it computes other numbers than the CPU ({} where {} is right)",
                found[at], expect[at]
            ),
        }),
    }
}

fn first_difference(found: &[f32], expect: &[f32]) -> Option<usize> {
    let is_alike = |(found, expect): (&f32, &f32)| {
        // Not a number is alike to nothing.
        (found - expect).abs() <= TOLERANCE * (1.0 + expect.abs())
    };
    found.iter().zip(expect).position(|pair| !is_alike(pair))
}

/// Logits, gradient and the weights after a step, with dropout, every operation of a training being called.
fn step(backend: &dyn Backend) -> Result<Vec<f32>, TrainError> {
    let shape = Shape { epsilon: epsilon(), ..SHAPE };
    let mut parameters = Parameters::random(shape, LABELS, 7);
    // Layers see numbers that are not all small.
    parameters.values.host_mut().iter_mut().for_each(|value| *value *= 4.0);
    parameters.move_to(backend);
    let mut batch = Packed::new();
    for len in LENGTHS {
        let ids: Vec<u32> = (0..len as u32).map(|at| (at * 37 + 11) % 90).collect();
        let types: Vec<u32> = (0..len).map(|at| u32::from(at > len / 2)).collect();
        batch.push(&ids, &types);
    }
    let dropout = Dropout::new(3, 1, 0.1);
    let (mut tape, mut head) = (Tape::default(), HeadTape::default());
    let mut states = Buffer::default();
    let mut gradient = backend.put(vec![1.0; parameters.values.len()]);
    backend.clear(&mut gradient, 0..parameters.values.len());
    let mut logits = Vec::new();
    for needed in [Needed::All, Needed::First] {
        parameters.forward(backend, &batch, needed, dropout, &mut tape);
        let rows: Vec<usize> = match needed {
            Needed::All => batch.starts[..batch.len()].to_vec(),
            Needed::First => (0..batch.len()).collect(),
        };
        backend.gather(tape.states(), &rows, SHAPE.hidden, &mut states);
        parameters.classify(backend, &states, dropout.map(|dropout| dropout.site(99)), &mut head);
        logits.extend_from_slice(&backend.read(&head.logits)?);
        let grad_logits = backend.duplicate(&head.logits);
        parameters.classify_back(backend, &states, &grad_logits, &mut head, &mut gradient);
        match needed {
            Needed::First => std::mem::swap(tape.gradient(), &mut head.grad_states),
            Needed::All => {
                *tape.gradient() = backend.put(vec![0.0; batch.tokens() * SHAPE.hidden]);
                backend.scatter(&head.grad_states, &rows, SHAPE.hidden, tape.gradient());
            }
        }
        let free = Freeze { embeddings: false, layers: 0 };
        parameters.backward(backend, &batch, free, &mut tape, &mut gradient);
    }
    let mut found = logits;
    found.extend_from_slice(&backend.read(&gradient)?);
    found.extend(updated(backend, &mut parameters, &gradient)?);
    Ok(found)
}

/// The norm of the gradient, and weights between those after a step and those before it.
fn updated(
    backend: &dyn Backend,
    parameters: &mut Parameters,
    gradient: &Buffer,
) -> Result<Vec<f32>, TrainError> {
    let free = Freeze { embeddings: false, layers: 0 };
    let before = backend.duplicate(&parameters.values);
    let norm = grad_norm(backend, parameters, free, gradient)?;
    // An epsilon this large keeps the step from turning what rounding leaves of a gradient of 0 into a whole one.
    let config = AdamWConfig {
        learning_rate: 0.1,
        beta1: 0.9,
        beta2: 0.999,
        epsilon: 1e-2,
        weight_decay: 0.01,
        max_grad_norm: 1.0,
        warmup_steps: 0,
        total_steps: 1,
    };
    let accumulated = Accumulated { sum: gradient, passes: 1, grad_norm: norm };
    let mut optimiser = AdamW::new(config, backend, parameters.values.len());
    optimiser.step(backend, parameters, free, accumulated, 0);
    backend.blend(&mut parameters.values, &before, 0.75);
    let mut found = vec![norm as f32];
    found.extend_from_slice(&backend.read(&parameters.values)?);
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpus_agree_and_differences_are_found() {
        check(&CpuBackend::new(2, Precision::F32)).expect("the same numbers");
        let expect = step(&CpuBackend::new(1, Precision::F32)).expect("numbers");
        assert!(expect.iter().any(|value| value.abs() > 1.0), "numbers large enough to differ");
        for wrong in [f32::NAN, 0.5] {
            let mut found = expect.clone();
            found[40] += wrong;
            assert_eq!(first_difference(&found, &expect), Some(40));
        }
    }

    #[cfg(feature = "gpu")]
    #[test]
    fn gpus_compute_what_the_cpu_does() {
        for gpu in crate::backend::gpu_backends() {
            check(&*gpu).expect("the same numbers");
        }
    }
}
