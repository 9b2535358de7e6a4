//! Products of strided f32 matrices: the one place that calls the `gemm` crate.
#![expect(unsafe_code, reason = "the gemm crate takes raw pointers")]

/// A matrix in a slice: element (i, j) at `i * row + j * column`.
#[derive(Debug, Clone, Copy)]
pub struct MatRef<'a> {
    /// The slice, from element (0, 0) on.
    pub data: &'a [f32],
    /// Distance of rows, in elements.
    pub row: usize,
    /// Distance of columns, in elements.
    pub column: usize,
}

/// Sizes of a product `[m, k] * [k, n]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MatMulShape {
    /// Rows of the left operand and of the result.
    pub m: usize,
    /// Columns of the right operand and of the result.
    pub n: usize,
    /// Columns of the left operand, rows of the right one.
    pub k: usize,
}

impl<'a> MatRef<'a> {
    /// A row-major matrix of `width` columns.
    pub fn rows(data: &'a [f32], width: usize) -> Self {
        Self { data, row: width, column: 1 }
    }

    /// The transposed view of the same slice.
    pub fn transposed(self) -> Self {
        Self { data: self.data, row: self.column, column: self.row }
    }
}

/// A row-major matrix to write to.
#[derive(Debug)]
pub struct MatMut<'a> {
    /// The slice, from element (0, 0) on.
    pub data: &'a mut [f32],
    /// Distance of rows, in elements; at least the number of columns.
    pub row: usize,
}

/// `out[m, n] = left[m, k] * right[k, n]`, or `+=` where `accumulate`.
///
/// Each element is summed over `k` in an order that depends on the sizes and `threads` only.
///
/// # Panics
/// When an operand does not hold its matrix.
pub fn matmul(
    shape: MatMulShape,
    left: MatRef<'_>,
    right: MatRef<'_>,
    out: &mut MatMut<'_>,
    accumulate: bool,
    threads: usize,
) {
    let MatMulShape { m, n, k } = shape;
    let last = |rows: usize, columns: usize, row: usize, column: usize| {
        (rows - 1) * row + (columns - 1) * column
    };
    if m == 0 || n == 0 || k == 0 {
        return;
    }
    assert!(last(m, k, left.row, left.column) < left.data.len(), "left operand covers [m, k]");
    assert!(last(k, n, right.row, right.column) < right.data.len(), "right operand covers [k, n]");
    assert!(out.row >= n && last(m, n, out.row, 1) < out.data.len(), "result covers [m, n]");
    let parallelism =
        if threads > 1 { gemm::Parallelism::Rayon(threads) } else { gemm::Parallelism::None };
    // SAFETY: the assertions above put the last element of each operand inside its slice; `out` is borrowed mutably and
    // so overlaps neither operand, and its rows do not overlap each other. Strides of slices fit isize.
    unsafe {
        gemm::gemm(
            m,
            n,
            k,
            out.data.as_mut_ptr(),
            1,
            out.row.cast_signed(),
            accumulate,
            left.data.as_ptr(),
            left.column.cast_signed(),
            left.row.cast_signed(),
            right.data.as_ptr(),
            right.column.cast_signed(),
            right.row.cast_signed(),
            1.0,
            1.0,
            false,
            false,
            false,
            parallelism,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_with_strides_and_accumulation_are_sums_of_products() {
        let (m, n, k) = (5, 7, 3);
        let left: Vec<f32> = (0..m * k).map(|i| (i % 11) as f32 - 4.0).collect();
        let right: Vec<f32> = (0..n * k).map(|i| (i % 7) as f32 - 2.0).collect();
        // `right` is stored as [n, k] and read as [k, n].
        let right_view = MatRef::rows(&right, k).transposed();
        for threads in [1, 2] {
            let mut out = vec![1.0; m * n];
            let mut target = MatMut { data: &mut out, row: n };
            matmul(
                MatMulShape { m, n, k },
                MatRef::rows(&left, k),
                right_view,
                &mut target,
                true,
                threads,
            );
            for i in 0..m {
                for j in 0..n {
                    let sum: f32 = (0..k).map(|l| left[i * k + l] * right[j * k + l]).sum();
                    assert!((out[i * n + j] - sum - 1.0).abs() < 1e-5, "{i} {j}");
                }
            }
        }
    }
}
