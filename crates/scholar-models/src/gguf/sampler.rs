//! Drawing a token from logits.

use scholar_core::Sampling;

/// Draws tokens as a [`Sampling`] asks. Equal seeds and logits give equal tokens on every machine; without a seed the
/// seed is 0, so that a request always has the same answer.
pub(super) struct Sampler {
    temperature: f32,
    top_p: f32,
    state: u64,
}

impl Sampler {
    /// For one reply.
    pub(super) fn new(sampling: &Sampling) -> Self {
        Self {
            temperature: sampling.temperature,
            top_p: sampling.top_p,
            state: sampling.seed.unwrap_or(0),
        }
    }

    /// The next token; `None` when no logit is finite. Ties go to the smaller number.
    pub(super) fn draw(&mut self, logits: &[f32]) -> Option<u32> {
        if self.temperature > 0.0 { self.draw_random(logits) } else { most_likely(logits) }
    }

    fn draw_random(&mut self, logits: &[f32]) -> Option<u32> {
        let best = logits[most_likely(logits)? as usize];
        // Tokens e^-20 below the best together weigh less than a thousandth of a percent of any vocabulary.
        let floor = best - 20.0 * self.temperature;
        let mut candidates: Vec<(f64, u32)> = (0u32..)
            .zip(logits)
            .filter(|(_, logit)| **logit >= floor)
            .map(|(token, logit)| (f64::from((logit - best) / self.temperature).exp(), token))
            .collect();
        candidates.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let total: f64 = candidates.iter().map(|(weight, _)| weight).sum();
        let nucleus = total * f64::from(self.top_p.clamp(0.0, 1.0));
        let mut kept = 0.0;
        let n = candidates
            .iter()
            .take_while(|(weight, _)| {
                let open = kept < nucleus;
                kept += weight;
                open
            })
            .count()
            .max(1);
        let candidates = &candidates[..n];
        let mut point = self.uniform() * candidates.iter().map(|(weight, _)| weight).sum::<f64>();
        for (weight, token) in candidates {
            point -= weight;
            if point < 0.0 {
                return Some(*token);
            }
        }
        candidates.last().map(|(_, token)| *token)
    }

    /// Uniform in `[0, 1)`, by the `SplitMix64` generator.
    fn uniform(&mut self) -> f64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^= z >> 31;
        (z >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// The token of the largest finite logit, the smallest number among equals.
pub(super) fn most_likely(logits: &[f32]) -> Option<u32> {
    let mut best: Option<(f32, u32)> = None;
    for (token, logit) in (0u32..).zip(logits) {
        if logit.is_finite() && best.is_none_or(|(most, _)| *logit > most) {
            best = Some((*logit, token));
        }
    }
    best.map(|(_, token)| token)
}

/// The logarithm of the sum of exponentials, with which a logit becomes a log-probability.
pub(super) fn log_sum_exp(logits: impl Iterator<Item = f64> + Clone) -> f64 {
    let best = logits.clone().fold(f64::NEG_INFINITY, f64::max);
    if best == f64::NEG_INFINITY {
        return best;
    }
    best + logits.map(|logit| (logit - best).exp()).sum::<f64>().ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sampler(temperature: f32, top_p: f32, seed: u64) -> Sampler {
        let sampling = Sampling { temperature, top_p, seed: Some(seed), ..Sampling::greedy(1) };
        Sampler::new(&sampling)
    }

    #[test]
    fn greedy_takes_the_first_of_equals_and_skips_what_is_not_finite() {
        let draw = |logits: &[f32]| sampler(0.0, 1.0, 7).draw(logits);
        assert_eq!(draw(&[0.0, 2.0, 2.0]), Some(1));
        assert_eq!(draw(&[f32::NAN, -3.0, f32::NEG_INFINITY]), Some(1));
        assert_eq!(draw(&[f32::NAN, f32::NEG_INFINITY]), None);
    }

    #[test]
    fn draws_follow_the_distribution() {
        let logits = [0.0f32, 0.0, 3.0f32.ln(), f32::NEG_INFINITY];
        let mut sampler = sampler(1.0, 1.0, 1);
        let mut counts = [0u32; 4];
        for _ in 0..10_000 {
            counts[sampler.draw(&logits).unwrap() as usize] += 1;
        }
        assert_eq!(counts[3], 0);
        // Expected 2000, 2000, 6000; five standard deviations are 200 and 245.
        assert!(counts[0].abs_diff(2000) < 200 && counts[2].abs_diff(6000) < 245, "{counts:?}");
    }

    #[test]
    fn nucleus_drops_the_tail_and_seeds_repeat() {
        let logits = [2.0f32, 1.0, -4.0, -5.0];
        let run = |seed| {
            let mut sampler = sampler(1.0, 0.9, seed);
            (0..64).map(|_| sampler.draw(&logits).unwrap()).collect::<Vec<_>>()
        };
        assert_eq!(run(3), run(3));
        assert_ne!(run(3), run(4));
        assert!(run(3).iter().all(|token| *token < 2), "tokens beyond the nucleus were drawn");
    }

    #[test]
    fn log_probabilities_sum_to_one() {
        let logits = [1.0, -2.0, 700.0, 699.0];
        let norm = log_sum_exp(logits.iter().copied());
        let total: f64 = logits.iter().map(|logit: &f64| (logit - norm).exp()).sum();
        assert!((total - 1.0).abs() < 1e-12);
    }
}
