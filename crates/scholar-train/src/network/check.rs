//! Whether a device computes what the processor does.
//!
//! Ours, because drivers differ, and a kernel that one of them gets wrong would make a training worse without a word.

use super::head::HeadTape;
use super::parameters::{Freeze, Parameters};
use super::pass::{Needed, Packed, Tape};
use super::{Shape, epsilon};
use crate::arithmetic::{Buffer, Cpu, Device, Noise, Precision};
use crate::error::TrainError;
use crate::optimiser::{self, Moments, Rule};

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
/// Tokens of the sequences: shorter and longer than the cubes of a graphics card.
const LENGTHS: [usize; 4] = [3, 150, 70, 1];
const LABELS: usize = 3;
/// Largest difference of numbers around 1 that rounding explains.
const TOLERANCE: f32 = 1e-3;

/// Computes a step of a small network on `device` and on the processor.
///
/// # Errors
/// When the device fails, or finds other numbers.
pub(crate) fn check(device: &dyn Device) -> Result<(), TrainError> {
    let expect = step(&Cpu::new(1, Precision::F32))?;
    let found = step(device)?;
    match first_difference(&found, &expect) {
        None => Ok(()),
        Some(at) => Err(TrainError::Device {
            device: device.describe(),
            problem: format!(
                "it computes other numbers than the processor ({} where {} is right)",
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
fn step(device: &dyn Device) -> Result<Vec<f32>, TrainError> {
    let shape = Shape { epsilon: epsilon(), ..SHAPE };
    let mut parameters = Parameters::random(shape, LABELS, 7);
    // Layers see numbers that are not all small.
    parameters.values.host_mut().iter_mut().for_each(|value| *value *= 4.0);
    parameters.move_to(device);
    let mut batch = Packed::new();
    for len in LENGTHS {
        let ids: Vec<u32> = (0..len as u32).map(|at| (at * 37 + 11) % 90).collect();
        let types: Vec<u32> = (0..len).map(|at| u32::from(at > len / 2)).collect();
        batch.push(&ids, &types);
    }
    let noise = Noise::new(3, 1, 0.1);
    let (mut tape, mut head) = (Tape::default(), HeadTape::default());
    let mut states = Buffer::default();
    let mut gradient = device.put(vec![1.0; parameters.values.len()]);
    device.clear(&mut gradient, 0..parameters.values.len());
    let mut logits = Vec::new();
    for needed in [Needed::All, Needed::First] {
        parameters.forward(device, &batch, needed, noise, &mut tape);
        let rows: Vec<usize> = match needed {
            Needed::All => batch.starts[..batch.len()].to_vec(),
            Needed::First => (0..batch.len()).collect(),
        };
        device.gather(tape.states(), &rows, SHAPE.hidden, &mut states);
        parameters.classify(device, &states, noise.map(|noise| noise.site(99)), &mut head);
        logits.extend_from_slice(&device.read(&head.logits)?);
        let slopes = device.duplicate(&head.logits);
        let mut flow = Buffer::default();
        parameters.classify_back(device, (&states, &slopes), &mut head, &mut flow, &mut gradient);
        match needed {
            Needed::First => *tape.gradient() = flow,
            Needed::All => {
                *tape.gradient() = device.put(vec![0.0; batch.tokens() * SHAPE.hidden]);
                device.scatter(&flow, &rows, SHAPE.hidden, tape.gradient());
            }
        }
        let free = Freeze { embeddings: false, layers: 0 };
        parameters.backward(device, &batch, free, &mut tape, &mut gradient);
    }
    let mut found = logits;
    found.extend_from_slice(&device.read(&gradient)?);
    found.extend(updated(device, &mut parameters, &gradient)?);
    Ok(found)
}

/// The length of the gradient, and weights between those after a step and those before it.
fn updated(
    device: &dyn Device,
    parameters: &mut Parameters,
    gradient: &Buffer,
) -> Result<Vec<f32>, TrainError> {
    let free = Freeze { embeddings: false, layers: 0 };
    let before = device.duplicate(&parameters.values);
    let length = optimiser::length(device, parameters, free, gradient)?;
    // An epsilon this large keeps the step from turning what rounding leaves of a slope of 0 into a whole one.
    let rule = Rule {
        learning_rate: 0.1,
        beta1: 0.9,
        beta2: 0.999,
        epsilon: 1e-2,
        weight_decay: 0.01,
        clip: 1.0,
        warmup: 0,
        steps: 1,
    };
    let mut moments = Moments::new(device, parameters.values.len());
    optimiser::step(device, parameters, (&rule, 0), free, (gradient, length, 1.0), &mut moments);
    device.blend(&mut parameters.values, &before, 0.75);
    let mut found = vec![length as f32];
    found.extend_from_slice(&device.read(&parameters.values)?);
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_agree_and_differences_are_found() {
        check(&Cpu::new(2, Precision::F32)).expect("the same numbers");
        let expect = step(&Cpu::new(1, Precision::F32)).expect("numbers");
        assert!(expect.iter().any(|value| value.abs() > 1.0), "numbers large enough to differ");
        for wrong in [f32::NAN, 0.5] {
            let mut found = expect.clone();
            found[40] += wrong;
            assert_eq!(first_difference(&found, &expect), Some(40));
        }
    }

    #[cfg(feature = "graphics")]
    #[test]
    fn cards_compute_what_the_processor_does() {
        for card in crate::arithmetic::cards() {
            check(&*card).expect("the same numbers");
        }
    }
}
