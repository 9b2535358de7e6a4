//! Comparing floating-point numbers in tests.

/// Whether two numbers differ by at most `tolerance`, absolutely below 1 and relatively above. NaN is close to nothing.
pub fn close(actual: f32, expected: f32, tolerance: f32) -> bool {
    (actual - expected).abs() <= tolerance * expected.abs().max(1.0)
}

/// Asserts [`close`] for every pair and equal lengths; names the worst position.
///
/// # Panics
/// When the slices differ, with the first differing position.
#[track_caller]
pub fn assert_all_close(actual: &[f32], expected: &[f32], tolerance: f32) {
    assert_eq!(actual.len(), expected.len(), "lengths differ");
    let wrong = actual.iter().zip(expected).position(|(a, e)| !close(*a, *e, tolerance));
    assert!(
        wrong.is_none(),
        "values differ by more than {tolerance} first at {wrong:?}: {:?} against {:?}",
        wrong.map(|at| actual[at]),
        wrong.map(|at| expected[at]),
    );
}

/// Cosine of the angle between two vectors, computed in f64; 0 when one of them is all zeros.
///
/// # Panics
/// When the lengths differ.
#[track_caller]
pub fn cosine(a: &[f32], b: &[f32]) -> f64 {
    assert_eq!(a.len(), b.len(), "lengths differ");
    let dot = |x: &[f32], y: &[f32]| -> f64 {
        x.iter().zip(y).map(|(p, q)| f64::from(*p) * f64::from(*q)).sum()
    };
    let norms = (dot(a, a) * dot(b, b)).sqrt();
    if norms > 0.0 { dot(a, b) / norms } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tolerance_is_relative_above_one() {
        assert!(close(1000.5, 1000.0, 1e-3));
        assert!(!close(0.5, 0.0, 1e-3));
        assert!(!close(f32::NAN, 0.0, 1.0));
        assert!((cosine(&[1.0, 0.0], &[1.0, 1.0]) - 0.5_f64.sqrt()).abs() < 1e-9);
    }

    #[test]
    #[should_panic(expected = "first at Some(1)")]
    fn a_difference_is_named() {
        assert_all_close(&[1.0, 2.0], &[1.0, 3.0], 1e-3);
    }
}
