//! A drawing of one metric of several runs: a dot with its interval for each.

use std::fmt::Write as _;

use scholar_core::text::untrusted::escape_html;

use super::{Measured, shown};

const WIDTH: f64 = 760.0;
const LEFT: f64 = 260.0;
const RIGHT: f64 = 30.0;
const ROW: f64 = 28.0;
const TOP: f64 = 40.0;

/// `metric` of `runs` as SVG; `None` when fewer than two have it.
pub(super) fn intervals(metric: &str, runs: &[&Measured]) -> Option<String> {
    let rows: Vec<(String, super::Shown)> = runs
        .iter()
        .filter_map(|one| {
            let found = one.scores.iter().find_map(|scores| shown(scores, metric))?;
            Some((one.run.manifest.ablation.to_string(), found))
        })
        .collect();
    if rows.len() < 2 {
        return None;
    }
    let low = rows.iter().map(|(_, row)| row.low).fold(f64::INFINITY, f64::min);
    let high = rows.iter().map(|(_, row)| row.high).fold(f64::NEG_INFINITY, f64::max);
    let pad = ((high - low) * 0.08).max(0.5);
    let (low, high) = (low - pad, high + pad);
    let x = |value: f64| LEFT + (value - low) / (high - low) * (WIDTH - LEFT - RIGHT);
    let height = rows.iter().fold(TOP + 34.0, |height, _| height + ROW);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" role=\"img\" font-family=\"sans-serif\" font-size=\"13\"><rect width=\"100%\" height=\"100%\" fill=\"#fff\"/><text x=\"12\" y=\"22\" font-size=\"15\">{}</text>",
        escape_html(metric)
    );
    let mut y = TOP + ROW / 2.0;
    for (name, row) in &rows {
        let [left, dot, right] = [row.low, row.mean, row.high].map(x);
        let _infallible = write!(
            svg,
            "<text x=\"12\" y=\"{:.1}\">{}</text><line x1=\"{left:.1}\" x2=\"{right:.1}\" y1=\"{y:.1}\" y2=\"{y:.1}\" stroke=\"#4878a8\" stroke-width=\"2\"/><circle cx=\"{dot:.1}\" cy=\"{y:.1}\" r=\"5\" fill=\"#1f4e79\"/><text x=\"{:.1}\" y=\"{:.1}\" font-size=\"11\" text-anchor=\"middle\">{:.1}</text>",
            y + 4.0,
            escape_html(name),
            dot,
            y - 8.0,
            row.mean
        );
        y += ROW;
    }
    for share in [0.0, 0.25, 0.5, 0.75, 1.0] {
        let value = low + share * (high - low);
        let at = x(value);
        let _infallible = write!(
            svg,
            "<line x1=\"{at:.1}\" x2=\"{at:.1}\" y1=\"{TOP}\" y2=\"{:.1}\" stroke=\"#ddd\"/><text x=\"{at:.1}\" y=\"{:.1}\" font-size=\"11\" text-anchor=\"middle\">{value:.1}</text>",
            height - 30.0,
            height - 12.0
        );
    }
    svg.push_str("</svg>\n");
    Some(svg)
}
