//! Standard scores (z-scores): where a value stands among others of its kind.

use std::collections::BTreeMap;

/// By how many standard deviations each value is above the mean of all; nothing where all are alike.
pub(crate) fn standard_scores<K: Ord + Copy>(values: &BTreeMap<K, f32>) -> BTreeMap<K, f32> {
    let n = values.len() as f32;
    let mean = values.values().sum::<f32>() / n;
    let deviation = (values.values().map(|value| (value - mean).powi(2)).sum::<f32>() / n).sqrt();
    if values.is_empty() || deviation < 1e-6 {
        return BTreeMap::new();
    }
    values.iter().map(|(key, value)| (*key, (value - mean) / deviation)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_has_none_and_one_deviation_is_one() {
        let scores = standard_scores(&BTreeMap::from([(1, 0.2), (2, 0.4), (3, 0.4), (4, 0.6)]));
        let close = |a: f32, b: f32| (a - b).abs() < 1e-4;
        assert!(close(scores[&2], 0.0) && close(scores[&4], 2_f32.sqrt()));
        assert!(close(scores.values().sum::<f32>(), 0.0));
    }

    #[test]
    fn values_that_are_alike_have_none() {
        assert!(standard_scores(&BTreeMap::from([(1, 0.3), (2, 0.3)])).is_empty());
        assert!(standard_scores(&BTreeMap::<u8, f32>::new()).is_empty());
    }
}
