//! A drawing of one metric of several runs: a dot with its interval for each.

use plotters::prelude::*;

use super::{Measured, Shown, shown};
use crate::plot::PlotError;

const WIDTH: u32 = 760;
/// Room for the names of runs.
const LEFT: u32 = 250;
const ROW: u32 = 28;
/// Above and below the rows: title, axis.
const AROUND: u32 = 84;
const LINE: RGBColor = RGBColor(0x48, 0x78, 0xa8);
const DOT: RGBColor = RGBColor(0x1f, 0x4e, 0x79);

/// `metric` of `runs` as SVG; `None` when fewer than two have it.
pub(super) fn intervals(metric: &str, runs: &[&Measured]) -> Option<Result<String, PlotError>> {
    let rows: Vec<(String, Shown)> = runs
        .iter()
        .filter_map(|one| {
            let found = one.scores.iter().find_map(|scores| shown(scores, metric))?;
            Some((one.run.manifest.ablation.to_string(), found))
        })
        .collect();
    (rows.len() > 1).then(|| {
        let mut svg = String::new();
        draw(metric, &rows, &mut svg).map(|()| svg)
    })
}

fn draw(metric: &str, rows: &[(String, Shown)], svg: &mut String) -> Result<(), PlotError> {
    let failed = PlotError::of;
    let low = rows.iter().map(|(_, row)| row.low).fold(f64::INFINITY, f64::min);
    let high = rows.iter().map(|(_, row)| row.high).fold(f64::NEG_INFINITY, f64::max);
    let pad = ((high - low) * 0.08).max(0.5);
    let n_rows = u32::try_from(rows.len()).unwrap_or(u32::MAX);
    let size = (WIDTH, n_rows.saturating_mul(ROW).saturating_add(AROUND));
    let area = SVGBackend::with_string(svg, size).into_drawing_area();
    area.fill(&WHITE).map_err(failed)?;
    let mut chart = ChartBuilder::on(&area)
        .caption(metric, ("sans-serif", 15))
        .margin(10)
        .x_label_area_size(28)
        .y_label_area_size(LEFT)
        .build_cartesian_2d(low - pad..high + pad, f64::from(n_rows)..0.0)
        .map_err(failed)?;
    chart.configure_mesh().disable_y_mesh().disable_y_axis().y_labels(0).draw().map_err(failed)?;
    for (at, (name, row)) in rows.iter().enumerate() {
        let y = at as f64 + 0.6;
        let line = PathElement::new([(row.low, y), (row.high, y)], LINE.stroke_width(2));
        let dot = Circle::new((row.mean, y), 5, DOT.filled());
        chart.plotting_area().draw(&line).map_err(failed)?;
        chart.plotting_area().draw(&dot).map_err(failed)?;
        let (x, level) = chart.backend_coord(&(row.mean, y));
        let value = Text::new(format!("{:.1}", row.mean), (x - 9, level - 20), ("sans-serif", 11));
        area.draw(&value).map_err(failed)?;
        let name = Text::new(name.clone(), (12, level - 7), ("sans-serif", 13));
        area.draw(&name).map_err(failed)?;
    }
    area.present().map_err(failed)
}
