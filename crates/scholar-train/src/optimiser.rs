//! `AdamW` with gradient clipping and a linear learning-rate schedule.

use crate::backend::{AdamStep, Backend, Buffer, Moments};
use crate::error::TrainError;
use crate::network::{Freeze, Parameters};

/// Hyperparameters of `AdamW`, gradient clipping, and the learning-rate schedule.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct AdamWConfig {
    /// Peak learning rate.
    pub(crate) learning_rate: f64,
    pub(crate) beta1: f64,
    pub(crate) beta2: f64,
    pub(crate) epsilon: f64,
    pub(crate) weight_decay: f64,
    /// Maximum L2 norm of the gradient; 0 disables clipping.
    pub(crate) max_grad_norm: f64,
    /// Steps of linear warm-up.
    pub(crate) warmup_steps: usize,
    /// Steps of the whole training.
    pub(crate) total_steps: usize,
}

impl AdamWConfig {
    /// Learning rate of step `step`, from 0: linear warm-up from 0, then linear decay to 0 at the last step.
    pub(crate) fn rate(&self, step: usize) -> f64 {
        let fraction = if step < self.warmup_steps {
            (step + 1) as f64 / self.warmup_steps as f64
        } else {
            let rest = self.total_steps.saturating_sub(self.warmup_steps).max(1);
            self.total_steps.saturating_sub(step) as f64 / rest as f64
        };
        self.learning_rate * fraction
    }
}

/// L2 norm of the gradient of all trainable weights.
///
/// # Errors
/// When the device failed.
pub(crate) fn grad_norm(
    backend: &dyn Backend,
    parameters: &Parameters,
    freeze: Freeze,
    gradient: &Buffer,
) -> Result<f64, TrainError> {
    Ok(backend.squares(gradient, &parameters.trainable(freeze))?.sqrt())
}

/// Gradients accumulated over the passes of one step.
#[derive(Clone, Copy)]
pub(crate) struct Accumulated<'a> {
    /// Sum over the passes, laid out as the weights.
    pub(crate) sum: &'a Buffer,
    /// How many were added.
    pub(crate) passes: usize,
    /// L2 norm of their mean, before clipping.
    pub(crate) grad_norm: f64,
}

/// `AdamW` with its state.
pub(crate) struct AdamW {
    pub(crate) config: AdamWConfig,
    pub(crate) moments: Moments,
}

impl AdamW {
    /// Fresh moments for `len` weights.
    pub(crate) fn new(config: AdamWConfig, backend: &dyn Backend, len: usize) -> Self {
        Self { config, moments: Moments::new(backend, len) }
    }

    /// Clips the mean of `gradient` and takes step `step`, from 0.
    ///
    /// Source: Loshchilov and Hutter 2019; biases and normalisations do not decay, as in the Hugging Face trainer.
    pub(crate) fn step(
        &mut self,
        backend: &dyn Backend,
        parameters: &mut Parameters,
        freeze: Freeze,
        gradient: Accumulated<'_>,
        step: usize,
    ) {
        let Self { config, moments } = self;
        let Accumulated { sum, passes, grad_norm } = gradient;
        let clipped = config.max_grad_norm > 0.0 && grad_norm > config.max_grad_norm;
        let scale = if clipped { config.max_grad_norm / (grad_norm + 1e-6) } else { 1.0 };
        let rate = config.rate(step);
        let count = f64::from(u32::try_from(step + 1).unwrap_or(u32::MAX));
        let update = AdamStep {
            gradient_scale: (scale / passes as f64) as f32,
            beta1: config.beta1 as f32,
            beta2: config.beta2 as f32,
            rate: (rate / (1.0 - config.beta1.powf(count))) as f32,
            square_scale: (1.0 / (1.0 - config.beta2.powf(count)).sqrt()) as f32,
            epsilon: config.epsilon as f32,
            shrink: 1.0,
        };
        for spec in &parameters.layout.specs {
            if freeze.holds(spec.block) {
                continue;
            }
            let decay = if spec.decay { rate * config.weight_decay } else { 0.0 };
            let update = AdamStep { shrink: (1.0 - decay) as f32, ..update };
            backend.adam(&mut parameters.values, sum, moments, &spec.range, update);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_warms_up_and_decays_linearly() {
        let config = AdamWConfig {
            learning_rate: 1.0,
            beta1: 0.9,
            beta2: 0.999,
            epsilon: 1e-8,
            weight_decay: 0.0,
            max_grad_norm: 1.0,
            warmup_steps: 4,
            total_steps: 12,
        };
        let rates: Vec<f64> = [0, 3, 4, 8, 11].into_iter().map(|step| config.rate(step)).collect();
        assert_eq!(rates, [0.25, 1.0, 1.0, 0.5, 0.125]);
        let flat = AdamWConfig { warmup_steps: 0, ..config };
        assert!((flat.rate(0) - 1.0).abs() < 1e-12);
    }
}
