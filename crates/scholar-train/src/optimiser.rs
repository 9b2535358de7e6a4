//! `AdamW`, the learning rate's schedule, and clipping.

use crate::arithmetic::{AdamStep, Buffer, Device};
use crate::error::TrainError;
use crate::network::{Freeze, Parameters};

/// How weights follow gradients.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Rule {
    pub(crate) learning_rate: f64,
    pub(crate) beta1: f64,
    pub(crate) beta2: f64,
    pub(crate) epsilon: f64,
    pub(crate) weight_decay: f64,
    /// Longest gradient, 0 for any.
    pub(crate) clip: f64,
    pub(crate) warmup: usize,
    pub(crate) steps: usize,
}

impl Rule {
    /// The rate of step `step`, from 0: linear from 0 over the warm-up, then linear to 0 at the end.
    pub(crate) fn rate(&self, step: usize) -> f64 {
        let share = if step < self.warmup {
            (step + 1) as f64 / self.warmup as f64
        } else {
            let rest = self.steps.saturating_sub(self.warmup).max(1);
            self.steps.saturating_sub(step) as f64 / rest as f64
        };
        self.learning_rate * share
    }
}

/// Running means of gradients and their squares; 0 for frozen weights.
pub(crate) struct Moments {
    pub(crate) mean: Buffer,
    pub(crate) square: Buffer,
}

impl Moments {
    pub(crate) fn new(device: &dyn Device, len: usize) -> Self {
        Self { mean: device.put(vec![0.0; len]), square: device.put(vec![0.0; len]) }
    }
}

/// Length of the gradient of all weights that learn.
///
/// # Errors
/// When the device failed.
pub(crate) fn length(
    device: &dyn Device,
    parameters: &Parameters,
    freeze: Freeze,
    gradient: &Buffer,
) -> Result<f64, TrainError> {
    Ok(device.squares(gradient, &parameters.learning(freeze))?.sqrt())
}

/// One step. `gradient` holds the sum of `share` gradients, whose mean has length `length`.
///
/// Source: Loshchilov and Hutter 2019; biases and normalisations do not decay, as in the Hugging Face trainer.
pub(crate) fn step(
    device: &dyn Device,
    parameters: &mut Parameters,
    (rule, at): (&Rule, usize),
    freeze: Freeze,
    (gradient, length, share): (&Buffer, f64, f64),
    moments: &mut Moments,
) {
    let clipped = rule.clip > 0.0 && length > rule.clip;
    let scale = if clipped { rule.clip / (length + 1e-6) } else { 1.0 };
    let rate = rule.rate(at);
    let count = f64::from(u32::try_from(at + 1).unwrap_or(u32::MAX));
    let step = AdamStep {
        gradient_scale: (scale / share) as f32,
        beta1: rule.beta1 as f32,
        beta2: rule.beta2 as f32,
        rate: (rate / (1.0 - rule.beta1.powf(count))) as f32,
        square_scale: (1.0 / (1.0 - rule.beta2.powf(count)).sqrt()) as f32,
        epsilon: rule.epsilon as f32,
        shrink: 1.0,
    };
    for spec in &parameters.layout.specs {
        if freeze.holds(spec.block) {
            continue;
        }
        let decay = if spec.decay { rate * rule.weight_decay } else { 0.0 };
        device.adam(
            &mut parameters.values,
            gradient,
            (&mut moments.mean, &mut moments.square),
            &spec.range,
            AdamStep { shrink: (1.0 - decay) as f32, ..step },
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_rises_and_falls_in_straight_lines() {
        let rule = Rule {
            learning_rate: 1.0,
            beta1: 0.9,
            beta2: 0.999,
            epsilon: 1e-8,
            weight_decay: 0.0,
            clip: 1.0,
            warmup: 4,
            steps: 12,
        };
        let rates: Vec<f64> = [0, 3, 4, 8, 11].into_iter().map(|step| rule.rate(step)).collect();
        assert_eq!(rates, [0.25, 1.0, 1.0, 0.5, 0.125]);
        let flat = Rule { warmup: 0, ..rule };
        assert!((flat.rate(0) - 1.0).abs() < 1e-12);
    }
}
