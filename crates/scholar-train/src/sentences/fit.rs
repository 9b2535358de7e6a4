//! Exact gradients of a perceptron with one hidden layer, `AdamW`, and calibration.
//!
//! Source: Loshchilov and Hutter, *Decoupled weight decay regularization*, 2019; Platt, *Probabilistic outputs for support
//! vector machines*, 1999.

use scholar_core::random::SplitMix64;
use scholar_models::sentence_heads::{AnswerCalibration, Mlp, ROLES, softmax};
use scholar_models::{MatMulShape, MatMut, MatRef, matmul};

use super::settings::SentenceSettings;

const BETA1: f32 = 0.9;
const BETA2: f32 = 0.999;
const EPSILON: f32 = 1e-8;

/// Steps of warm-up, as a fraction of all.
const WARMUP: f32 = 0.05;

/// What a sentence's label is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Target {
    /// Number of the role.
    Class(usize),
    /// Whether it answers.
    Binary(bool),
}

/// Loss of a head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Loss {
    /// Cross-entropy of a softmax.
    Classes,
    /// Cross-entropy of a sigmoid.
    Binary,
}

/// Moments of one tensor.
#[derive(Debug, Clone)]
struct Moments {
    first: Vec<f32>,
    second: Vec<f32>,
}

impl Moments {
    fn of(tensor: &[f32]) -> Self {
        Self { first: vec![0.0; tensor.len()], second: vec![0.0; tensor.len()] }
    }

    /// One step of `AdamW`; `rate` and `decay` are of this step.
    fn step(&mut self, tensor: &mut [f32], gradient: &[f32], n: i32, [rate, decay]: [f32; 2]) {
        let (even1, even2) = (1.0 - BETA1.powi(n), 1.0 - BETA2.powi(n));
        let moments = self.first.iter_mut().zip(&mut self.second);
        for ((weight, gradient), (first, second)) in tensor.iter_mut().zip(gradient).zip(moments) {
            *first = BETA1 * *first + (1.0 - BETA1) * gradient;
            *second = BETA2 * *second + (1.0 - BETA2) * gradient * gradient;
            let update = (*first / even1) / ((*second / even2).sqrt() + EPSILON);
            *weight -= rate * (update + decay * *weight);
        }
    }
}

/// A head in training.
#[derive(Debug, Clone)]
pub(super) struct Fit<'a> {
    settings: &'a SentenceSettings,
    loss: Loss,
    head: Mlp,
    moments: [Moments; 4],
    steps: usize,
    done: i32,
}

impl<'a> Fit<'a> {
    /// Random initial weights for `[inputs, hidden]` units.
    pub(super) fn new(
        settings: &'a SentenceSettings,
        loss: Loss,
        [inputs, hidden]: [usize; 2],
        steps: usize,
        random: &mut SplitMix64,
    ) -> Self {
        let outputs = match loss {
            Loss::Classes => ROLES,
            Loss::Binary => 1,
        };
        let mut normal = |n: usize, fan_in: usize| -> Vec<f32> {
            let scale = (2.0 / fan_in as f64).sqrt();
            (0..n).map(|_| (random.normal() * scale) as f32).collect()
        };
        let tensors = [
            normal(inputs * hidden, inputs),
            vec![0.0; hidden],
            normal(hidden * outputs, 4 * hidden),
            vec![0.0; outputs],
        ];
        let moments = [0, 1, 2, 3].map(|n: usize| Moments::of(&tensors[n]));
        // The sizes fit by construction.
        let head = Mlp::new(hidden, tensors).unwrap_or_else(|problem| unreachable!("{problem}"));
        Self { settings, loss, head, moments, steps, done: 0 }
    }

    pub(super) fn head(&self) -> &Mlp {
        &self.head
    }

    /// Mean loss without dropout.
    pub(super) fn loss(&self, input: &[f32], targets: &[Target]) -> f64 {
        let mut logits = self.head.forward(input);
        self.loss_gradient(&mut logits, targets)
    }

    /// One optimiser step on `input` `[rows, inputs]`; the mean loss before it.
    pub(super) fn step(
        &mut self,
        input: &[f32],
        targets: &[Target],
        random: &mut SplitMix64,
    ) -> f64 {
        let (m, hidden, outputs) = (targets.len(), self.head.hidden(), self.head.outputs());
        let mut activations = self.head.activations(input);
        let keep = 1.0 - self.settings.dropout;
        let mask: Vec<f32> = (0..activations.len())
            .map(|_| if (random.unit() as f32) < keep { 1.0 / keep } else { 0.0 })
            .collect();
        for (value, mask) in activations.iter_mut().zip(&mask) {
            *value *= mask;
        }
        let mut d_logits = self.head.logits(&activations);
        let loss = self.loss_gradient(&mut d_logits, targets);
        let d_output_weight = outer(&activations, &d_logits, [m, hidden, outputs]);
        let mut d_hidden = vec![0.0; m * hidden];
        matmul(
            MatMulShape { m, n: hidden, k: outputs },
            MatRef::rows(&d_logits, outputs),
            MatRef::rows(&self.head.output_weight, outputs).transposed(),
            &mut MatMut { data: &mut d_hidden, row: hidden },
            false,
            1,
        );
        for ((d, value), mask) in d_hidden.iter_mut().zip(&activations).zip(&mask) {
            *d = if *value > 0.0 { *d * mask } else { 0.0 };
        }
        let d_hidden_weight = outer(input, &d_hidden, [m, self.head.inputs(), hidden]);
        let gradients = [
            d_hidden_weight,
            columns(&d_hidden, hidden),
            d_output_weight,
            columns(&d_logits, outputs),
        ];
        self.update(&gradients);
        loss
    }

    fn update(&mut self, gradients: &[Vec<f32>; 4]) {
        self.done += 1;
        let progress = self.done as f32 / self.steps.max(1) as f32;
        let share = if progress < WARMUP {
            progress / WARMUP
        } else {
            f32::midpoint(1.0, (std::f32::consts::PI * progress.min(1.0)).cos())
        };
        let rate = self.settings.learning_rate * share;
        let decay = self.settings.weight_decay;
        let Mlp { hidden_weight, hidden_bias, output_weight, output_bias, .. } = &mut self.head;
        let tensors = [
            (hidden_weight, decay),
            (hidden_bias, 0.0),
            (output_weight, decay),
            (output_bias, 0.0),
        ];
        for (((tensor, decay), moments), gradient) in
            tensors.into_iter().zip(&mut self.moments).zip(gradients)
        {
            moments.step(tensor, gradient, self.done, [rate, decay]);
        }
    }

    /// Mean loss; the logits become its gradient.
    fn loss_gradient(&self, logits: &mut [f32], targets: &[Target]) -> f64 {
        let outputs = self.head.outputs();
        let scale = 1.0 / targets.len().max(1) as f32;
        let mut sum = 0.0_f64;
        for (row, target) in logits.chunks_exact_mut(outputs).zip(targets) {
            let (probabilities, wanted): (Vec<f32>, Vec<f32>) = match (self.loss, target) {
                (Loss::Classes, Target::Class(class)) => {
                    let logits = std::array::from_fn(|n| row[n]);
                    let wanted = (0..ROLES).map(|n| f32::from(u8::from(n == *class))).collect();
                    (softmax(logits).to_vec(), wanted)
                }
                (Loss::Binary, Target::Binary(answers)) => {
                    (vec![sigmoid(row[0])], vec![f32::from(u8::from(*answers))])
                }
                (Loss::Classes, Target::Binary(_)) | (Loss::Binary, Target::Class(_)) => {
                    unreachable!("examples of a head have its targets")
                }
            };
            for ((logit, p), y) in row.iter_mut().zip(&probabilities).zip(&wanted) {
                sum -= match self.loss {
                    Loss::Classes => f64::from(*y) * log(*p),
                    Loss::Binary => f64::from(*y) * log(*p) + f64::from(1.0 - y) * log(1.0 - p),
                };
                *logit = (p - y) * scale;
            }
        }
        sum / targets.len().max(1) as f64
    }
}

fn log(p: f32) -> f64 {
    f64::from(p.max(1e-9)).ln()
}

fn sigmoid(z: f32) -> f32 {
    1.0 / (1.0 + (-z).exp())
}

/// `left[m, k]ᵀ * right[m, n]`.
fn outer(left: &[f32], right: &[f32], [m, k, n]: [usize; 3]) -> Vec<f32> {
    let mut out = vec![0.0; k * n];
    matmul(
        MatMulShape { m: k, n, k: m },
        MatRef::rows(left, k).transposed(),
        MatRef::rows(right, n),
        &mut MatMut { data: &mut out, row: n },
        false,
        1,
    );
    out
}

/// Sums of the columns.
fn columns(rows: &[f32], width: usize) -> Vec<f32> {
    let mut out = vec![0.0; width];
    for row in rows.chunks_exact(width) {
        for (sum, value) in out.iter_mut().zip(row) {
            *sum += value;
        }
    }
    out
}

/// The temperature of least loss, by golden-section search between 0.3 and 5 on a logarithmic scale.
pub(super) fn temperature(logits: &[f32], targets: &[Target]) -> f32 {
    let (rows, _) = logits.as_chunks::<ROLES>();
    let loss = |log_t: f32| -> f64 {
        let t = log_t.exp();
        let pairs = rows.iter().zip(targets);
        pairs
            .map(|(row, target)| match target {
                Target::Class(class) => -log(softmax(row.map(|z| z / t))[*class]),
                Target::Binary(_) => 0.0,
            })
            .sum()
    };
    let golden = 0.618_034_f32;
    let (mut low, mut high) = (0.3_f32.ln(), 5.0_f32.ln());
    for _ in 0..24 {
        let (a, b) = (high - golden * (high - low), low + golden * (high - low));
        if loss(a) < loss(b) { high = b } else { low = a }
    }
    f32::midpoint(low, high).exp()
}

/// Scale and shift of least loss, by Newton's method with a little ridge; the scale stays above 0.
pub(super) fn platt(logits: &[f32], targets: &[Target]) -> AnswerCalibration {
    let (mut scale, mut shift) = (1.0_f64, 0.0_f64);
    for _ in 0..50 {
        let (mut g, mut h) = ([0.0_f64; 2], [0.0_f64, 0.0, 0.0]);
        for (logit, target) in logits.iter().zip(targets) {
            let z = f64::from(*logit);
            let p = 1.0 / (1.0 + (-(scale * z + shift)).exp());
            let y = f64::from(u8::from(*target == Target::Binary(true)));
            let (d, w) = (p - y, p * (1.0 - p));
            g = [g[0] + d * z, g[1] + d];
            h = [h[0] + w * z * z, h[1] + w * z, h[2] + w];
        }
        let (a, b, c) = (h[0] + 1e-6, h[1], h[2] + 1e-6);
        let determinant = a * c - b * b;
        let step = [(c * g[0] - b * g[1]) / determinant, (a * g[1] - b * g[0]) / determinant];
        scale = (scale - step[0]).clamp(0.05, 20.0);
        shift = (shift - step[1]).clamp(-20.0, 20.0);
    }
    AnswerCalibration { scale: scale as f32, shift: shift as f32 }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    fn settings() -> SentenceSettings {
        SentenceSettings { dropout: 0.0, weight_decay: 0.0, ..SentenceSettings::paper() }
    }

    /// Gradients against differences of the loss.
    #[test]
    fn gradients_are_exact() {
        let settings = settings();
        for (loss, targets) in [
            (Loss::Classes, [Target::Class(0), Target::Class(3), Target::Class(4)]),
            (Loss::Binary, [Target::Binary(true), Target::Binary(false), Target::Binary(true)]),
        ] {
            let mut random = SplitMix64::new(5);
            let input: Vec<f32> = (0..3 * 6).map(|_| random.normal() as f32).collect();
            let mut fit = Fit::new(&settings, loss, [6, 4], 10, &mut random);
            let before = fit.clone();
            fit.step(&input, &targets, &mut random);
            // After the first step of AdamW the first moment is a tenth of the gradient.
            for n in 0..6 * 4 {
                let gradient = fit.moments[0].first[n] / (1.0 - BETA1);
                let mut shifted = before.clone();
                shifted.head.hidden_weight[n] += 1e-2;
                let above = shifted.loss(&input, &targets);
                shifted.head.hidden_weight[n] -= 2e-2;
                let below = shifted.loss(&input, &targets);
                let expected = ((above - below) / 2e-2) as f32;
                assert!((gradient - expected).abs() < 2e-3, "{n}: {gradient} {expected}");
            }
        }
    }

    #[test]
    fn calibration_recovers_what_was_distorted() {
        let mut random = SplitMix64::new(9);
        let (mut logits, mut targets) = (Vec::new(), Vec::new());
        for _ in 0..20_000 {
            let z = random.normal() * 2.0;
            let p = 1.0 / (1.0 + (-(0.5 * z - 1.0)).exp());
            logits.push(z as f32);
            targets.push(Target::Binary(random.unit() < p));
        }
        let AnswerCalibration { scale, shift } = platt(&logits, &targets);
        assert!((scale - 0.5).abs() < 0.05 && (shift + 1.0).abs() < 0.06, "{scale} {shift}");
        let (mut logits, mut targets) = (Vec::new(), Vec::new());
        for _ in 0..4000 {
            let row: [f32; ROLES] = std::array::from_fn(|_| random.normal() as f32);
            let sure = softmax(row);
            let mut left = random.unit() as f32;
            let class = sure.iter().position(|p| {
                left -= p;
                left <= 0.0
            });
            targets.push(Target::Class(class.unwrap_or(0)));
            logits.extend(row.map(|z| z * 2.0));
        }
        assert!((temperature(&logits, &targets) - 2.0).abs() < 0.2);
    }
}
