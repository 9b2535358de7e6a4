//! Small dense linear systems: Gaussian elimination with partial pivoting.

/// The solution of `a·x = b` for each column of `b`, and the logarithm of the absolute determinant of `a`.
///
/// Where `a` is singular the determinant's logarithm is −∞ and the solution is not finite.
pub(super) fn solve<const N: usize, const M: usize>(
    mut a: [[f64; N]; N],
    mut b: [[f64; M]; N],
) -> ([[f64; M]; N], f64) {
    let mut ln_det = 0.0;
    for col in 0..N {
        let pivot =
            (col..N).max_by(|i, j| a[*i][col].abs().total_cmp(&a[*j][col].abs())).unwrap_or(col);
        a.swap(col, pivot);
        b.swap(col, pivot);
        ln_det += a[col][col].abs().ln();
        for row in 0..N {
            if row != col {
                let factor = a[row][col] / a[col][col];
                let (pivot_row, pivot_side) = (a[col], b[col]);
                for (value, above) in a[row].iter_mut().zip(pivot_row) {
                    *value -= factor * above;
                }
                for (value, above) in b[row].iter_mut().zip(pivot_side) {
                    *value -= factor * above;
                }
            }
        }
    }
    (std::array::from_fn(|n| b[n].map(|value| value / a[n][n])), ln_det)
}

/// The identity matrix.
pub(super) fn identity<const N: usize>() -> [[f64; N]; N] {
    std::array::from_fn(|row| std::array::from_fn(|col| f64::from(u8::from(row == col))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_inverse_times_its_matrix_is_one_and_the_determinant_is_known() {
        let a = [[0.0, 2.0, 1.0], [3.0, 1.0, -1.0], [1.0, 0.0, 4.0]];
        let (inverse, ln_det) = solve(a, identity());
        for (line, expected) in a.iter().zip(identity::<3>()) {
            for (col, expected) in expected.iter().enumerate() {
                let sum: f64 = line.iter().zip(&inverse).map(|(value, row)| value * row[col]).sum();
                assert!((sum - expected).abs() < 1e-12);
            }
        }
        // det = -2 * (3 * 4 + 1) + 1 * (0 - 1) = -27.
        assert!((ln_det - 27.0_f64.ln()).abs() < 1e-12);
        let (_, singular) = solve([[1.0, 2.0], [2.0, 4.0]], [[1.0], [2.0]]);
        assert!(singular.is_infinite());
    }
}
