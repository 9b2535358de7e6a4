//! Recall against latency, one curve for each engine.

use std::collections::BTreeMap;

use plotters::prelude::*;

use super::{IndexMeasurement, IndexPoint};
use crate::plot::PlotError;

const SIZE: (u32, u32) = (860, 520);

/// The best recall of each engine for the time it takes, as SVG.
///
/// # Errors
/// When the plot cannot be laid out: without points, or with times that are not positive.
pub fn recall_latency(set: &IndexMeasurement) -> Result<String, PlotError> {
    let mut svg = String::new();
    draw(set, &mut svg)?;
    Ok(svg)
}

fn draw(set: &IndexMeasurement, svg: &mut String) -> Result<(), PlotError> {
    let curves = frontiers(&set.points);
    let times = set.points.iter().map(|point| point.p50_ms);
    let (low, high) =
        times.fold((f64::INFINITY, 0.0_f64), |(low, high), t| (low.min(t), high.max(t)));
    let area = SVGBackend::with_string(svg, SIZE).into_drawing_area();
    let failed = PlotError::of;
    area.fill(&WHITE).map_err(failed)?;
    let title = format!("{} vectors of {} numbers ({}), one thread", set.rows, set.dim, set.label);
    let mut chart = ChartBuilder::on(&area)
        .caption(title, ("sans-serif", 18))
        .margin(12)
        .x_label_area_size(40)
        .y_label_area_size(56)
        .build_cartesian_2d((low * 0.8..high * 1.2).log_scale(), 0.6..1.0)
        .map_err(failed)?;
    chart.configure_mesh().x_desc("median query, ms").y_desc("recall").draw().map_err(failed)?;
    for (at, (engine, points)) in curves.into_iter().enumerate() {
        let colour = Palette99::pick(at).to_rgba();
        chart
            .draw_series(
                LineSeries::new(points.iter().copied(), colour.stroke_width(2)).point_size(3),
            )
            .map_err(failed)?
            .label(engine)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], colour.stroke_width(3)));
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::LowerRight)
        .background_style(WHITE.mix(0.8))
        .border_style(BLACK)
        .draw()
        .map_err(failed)?;
    area.present().map_err(failed)
}

/// For each engine the settings that no other of its settings beats in both, by time.
fn frontiers(points: &[IndexPoint]) -> BTreeMap<String, Vec<(f64, f64)>> {
    let mut engines: BTreeMap<String, Vec<(f64, f64)>> = BTreeMap::new();
    for point in points {
        engines.entry(point.engine.clone()).or_default().push((point.p50_ms, point.recall));
    }
    for curve in engines.values_mut() {
        curve.sort_by(|a, b| a.0.total_cmp(&b.0).then(b.1.total_cmp(&a.1)));
        let mut best = f64::NEG_INFINITY;
        curve.retain(|(_, recall)| {
            let better = *recall > best;
            best = best.max(*recall);
            better
        });
    }
    engines
}
