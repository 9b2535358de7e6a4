//! Z-scores (standard scores): where a value stands among others of its kind.

/// Values with mean 0 and variance 1; a missing one is 0, and all are where they do not differ.
pub(crate) fn z_scores(values: &[Option<f32>]) -> Vec<f32> {
    let known: Vec<f32> = values.iter().copied().flatten().collect();
    let n = (known.len() as f32).max(1.0);
    let mean = known.iter().sum::<f32>() / n;
    let variance = known.iter().map(|value| (value - mean).powi(2)).sum::<f32>() / n;
    let deviation = variance.sqrt();
    let z = |value: &Option<f32>| match value {
        Some(value) if deviation > 1e-6 => (value - mean) / deviation,
        _ => 0.0,
    };
    values.iter().map(z).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_average() {
        assert_eq!(z_scores(&[Some(1.0), None, Some(3.0)]), [-1.0, 0.0, 1.0]);
        assert_eq!(z_scores(&[Some(2.0), Some(2.0)]), [0.0, 0.0]);
    }

    #[test]
    fn the_mean_has_none_and_one_deviation_is_one() {
        let scores = z_scores(&[0.2, 0.4, 0.4, 0.6].map(Some));
        let close = |a: f32, b: f32| (a - b).abs() < 1e-4;
        assert!(close(scores[1], 0.0) && close(scores[3], 2_f32.sqrt()));
        assert!(close(scores.iter().sum::<f32>(), 0.0));
        assert!(z_scores(&[]).is_empty());
    }
}
