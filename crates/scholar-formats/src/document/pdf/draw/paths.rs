//! Numbers, matrices and outlines as SVG writes them.

use std::fmt::{self, Write as _};

use hayro_interpret::kurbo::{Affine, BezPath, PathEl, Point};

/// A number with at most two decimals: a hundredth of a point is nothing to see.
pub(in super::super) fn number(value: f64) -> String {
    rounded(value, 2)
}

/// Appends text.
pub(in super::super) fn put(out: &mut String, text: fmt::Arguments<'_>) {
    // A string takes everything.
    let _written = out.write_fmt(text);
}

fn rounded(value: f64, decimals: usize) -> String {
    if !value.is_finite() {
        return "0".to_owned();
    }
    let mut text = format!("{value:.decimals$}");
    if text.contains('.') {
        text.truncate(text.trim_end_matches('0').trim_end_matches('.').len());
    }
    if text == "-0" || text.is_empty() { "0".to_owned() } else { text }
}

/// The attribute `transform`, with the space before it; nothing if it would change nothing.
pub(super) fn matrix(transform: Affine) -> String {
    let [a, b, c, d, x, y] = transform.as_coeffs();
    if transform == Affine::IDENTITY {
        return String::new();
    }
    if Affine::new([a, b, c, d, 0.0, 0.0]) == Affine::IDENTITY {
        return format!(r#" transform="translate({} {})""#, number(x), number(y));
    }
    format!(r#" transform="{}""#, matrix_value(transform))
}

/// `matrix(…)`.
pub(super) fn matrix_value(transform: Affine) -> String {
    let [a, b, c, d, x, y] = transform.as_coeffs();
    let [a, b, c, d] = [a, b, c, d].map(|value| rounded(value, 6));
    format!("matrix({a} {b} {c} {d} {} {})", rounded(x, 3), rounded(y, 3))
}

/// An outline.
pub(super) fn data(path: &BezPath) -> String {
    let mut out = String::new();
    let mut push = |letter: char, points: &[Point]| {
        out.push(letter);
        for (at, point) in points.iter().enumerate() {
            if at > 0 {
                out.push(' ');
            }
            out.push_str(&number(point.x));
            out.push(' ');
            out.push_str(&number(point.y));
        }
    };
    for element in path.elements() {
        match *element {
            PathEl::MoveTo(to) => push('M', &[to]),
            PathEl::LineTo(to) => push('L', &[to]),
            PathEl::QuadTo(by, to) => push('Q', &[by, to]),
            PathEl::CurveTo(by, then, to) => push('C', &[by, then, to]),
            PathEl::ClosePath => push('Z', &[]),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_never_other_than_numbers() {
        for (value, expect) in [
            (1.0, "1"),
            (-0.001, "0"),
            (12.345, "12.35"),
            (100.0, "100"),
            (f64::NAN, "0"),
            (f64::INFINITY, "0"),
        ] {
            assert_eq!(number(value), expect);
        }
        let placed = Affine::new([0.009_962_6, 0.0, 0.0, -0.009_962_6, 72.0, 700.5]);
        assert_eq!(matrix(placed), r#" transform="matrix(0.009963 0 0 -0.009963 72 700.5)""#);
        assert_eq!(matrix(Affine::IDENTITY), "");
        assert_eq!(matrix(Affine::translate((1.0, 2.5))), r#" transform="translate(1 2.5)""#);
        let mut path = BezPath::new();
        path.move_to((1.0, 2.0));
        path.curve_to((3.0, 4.0), (5.0, 6.0), (7.0, 8.0));
        path.close_path();
        assert_eq!(data(&path), "M1 2C3 4 5 6 7 8Z");
    }
}
