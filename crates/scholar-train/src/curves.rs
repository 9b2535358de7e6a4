//! Curves of a training: CSV for programs, SVG for people.
//!
//! `steps.csv` has a row for each step, `evaluations.csv` one for each evaluation, `curves.svg` shows both.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use plotters::prelude::*;

use crate::error::TrainError;
use crate::files;
use crate::task::Evaluation;

const SIZE: (u32, u32) = (860, 720);
/// Steps that the drawn loss is averaged over, as a fraction of all.
const SMOOTHED: usize = 50;

/// A row of `steps.csv`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct StepRow {
    pub(crate) step: usize,
    pub(crate) epoch: usize,
    pub(crate) tokens: u64,
    pub(crate) loss: f64,
    pub(crate) learning_rate: f64,
    /// L2 norm of the gradient before clipping.
    pub(crate) grad_norm: f64,
    pub(crate) seconds: f64,
}

/// The curves so far.
#[derive(Debug, Default)]
pub(crate) struct Curves {
    folder: PathBuf,
    steps: Vec<StepRow>,
    names: Vec<String>,
    evaluations: Vec<(usize, Vec<f64>)>,
}

impl Curves {
    /// Takes up the curves in `folder` up to `step`; what a killed process wrote after its last checkpoint is forgotten.
    ///
    /// # Errors
    /// When files that are there cannot be read.
    pub(crate) fn open(folder: &Path, step: usize) -> Result<Self, TrainError> {
        let mut curves = Self { folder: folder.to_owned(), ..Self::default() };
        if step == 0 {
            return Ok(curves);
        }
        for line in lines(&folder.join("steps.csv"))?.iter().skip(1) {
            let numbers = numbers(line);
            if let [at, epoch, tokens, loss, learning_rate, grad_norm, seconds] = numbers[..] {
                curves.steps.push(StepRow {
                    step: at as usize,
                    epoch: epoch as usize,
                    tokens: tokens as u64,
                    loss,
                    learning_rate,
                    grad_norm,
                    seconds,
                });
            }
        }
        curves.steps.retain(|row| row.step <= step);
        let lines = lines(&folder.join("evaluations.csv"))?;
        if let Some(head) = lines.first() {
            curves.names = head.split(',').skip(1).map(str::to_owned).collect();
        }
        for line in lines.iter().skip(1) {
            if let [at, values @ ..] = &numbers(line)[..] {
                curves.evaluations.push((*at as usize, values.to_vec()));
            }
        }
        curves.evaluations.retain(|row| row.0 <= step);
        Ok(curves)
    }

    pub(crate) fn step(&mut self, row: StepRow) {
        self.steps.push(row);
    }

    pub(crate) fn evaluation(&mut self, step: usize, evaluation: &Evaluation) {
        self.names = evaluation.values.iter().map(|(name, _)| name.clone()).collect();
        let values = evaluation.values.iter().map(|(_, value)| *value).collect();
        self.evaluations.retain(|row| row.0 != step);
        self.evaluations.push((step, values));
    }

    /// Writes all three files.
    ///
    /// # Errors
    /// When the disk does not take them.
    pub(crate) fn save(&self) -> Result<(), TrainError> {
        let mut text = "step,epoch,tokens,loss,learning_rate,grad_norm,seconds\n".to_owned();
        for row in &self.steps {
            let StepRow { step, epoch, tokens, loss, learning_rate, grad_norm, seconds } = row;
            let _infallible = writeln!(
                text,
                "{step},{epoch},{tokens},{loss:.6},{learning_rate:.4e},{grad_norm:.4},{seconds:.2}"
            );
        }
        files::replace(&self.folder.join("steps.csv"), text.as_bytes())?;
        let mut text = format!("step,{}\n", self.names.join(","));
        for (step, values) in &self.evaluations {
            let values: Vec<String> = values.iter().map(|value| format!("{value:.6}")).collect();
            let _infallible = writeln!(text, "{step},{}", values.join(","));
        }
        files::replace(&self.folder.join("evaluations.csv"), text.as_bytes())?;
        let path = self.folder.join("curves.svg");
        let mut svg = String::new();
        self.draw(&mut svg).map_err(|problem| TrainError::write(&path, problem))?;
        files::replace(&path, svg.as_bytes())
    }

    /// Loss above, measures below.
    fn draw(&self, svg: &mut String) -> Result<(), String> {
        let area = SVGBackend::with_string(svg, SIZE).into_drawing_area();
        area.fill(&WHITE).map_err(|e| e.to_string())?;
        let (above, below) = area.split_vertically(SIZE.1 / 2);
        let window = (self.steps.len() / SMOOTHED).max(1);
        let loss: Vec<(f64, f64)> = self
            .steps
            .chunks(window)
            .map(|rows| {
                let mean = rows.iter().map(|row| row.loss).sum::<f64>() / rows.len() as f64;
                (rows[rows.len() - 1].step as f64, mean)
            })
            .collect();
        panel(&above, "loss", &[("training", loss)])?;
        let mut series: Vec<(&str, Vec<(f64, f64)>)> = Vec::new();
        for (at, name) in self.names.iter().enumerate() {
            let points = self
                .evaluations
                .iter()
                .filter_map(|(step, values)| values.get(at).map(|value| (*step as f64, *value)));
            series.push((name.as_str(), points.collect()));
        }
        panel(&below, "held-out rows", &series)?;
        area.present().map_err(|e| e.to_string())
    }
}

/// A chart of some named series.
fn panel(
    area: &DrawingArea<SVGBackend<'_>, plotters::coord::Shift>,
    title: &str,
    series: &[(&str, Vec<(f64, f64)>)],
) -> Result<(), String> {
    let points = || series.iter().flat_map(|(_, points)| points);
    let last = points().map(|point| point.0).fold(1.0, f64::max);
    let (low, high) = points()
        .fold((0.0_f64, 0.1_f64), |(low, high), point| (low.min(point.1), high.max(point.1)));
    let mut chart = ChartBuilder::on(area)
        .caption(title, ("sans-serif", 16))
        .margin(10)
        .x_label_area_size(32)
        .y_label_area_size(48)
        .build_cartesian_2d(0.0..last, low..high * 1.05)
        .map_err(|e| e.to_string())?;
    chart.configure_mesh().x_desc("step").draw().map_err(|e| e.to_string())?;
    for (at, (name, points)) in series.iter().enumerate() {
        let colour = Palette99::pick(at).to_rgba();
        let line = LineSeries::new(points.iter().copied(), colour.stroke_width(2));
        let drawn = chart.draw_series(line).map_err(|e| e.to_string())?;
        drawn
            .label(*name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 16, y)], colour.stroke_width(2)));
    }
    chart
        .configure_series_labels()
        .background_style(WHITE.mix(0.8))
        .draw()
        .map_err(|e| e.to_string())
}

fn lines(path: &Path) -> Result<Vec<String>, TrainError> {
    match fs_err::read_to_string(path) {
        Ok(text) => Ok(text.lines().map(str::to_owned).collect()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(TrainError::read(path, error)),
    }
}

/// The numbers of a line; a line that a killed process left half-written has fewer.
fn numbers(line: &str) -> Vec<f64> {
    line.split(',').map_while(|cell| cell.parse().ok()).collect()
}
