//! How near earlier papers are to what an idea claims: one row a paper, one column a claim.
//!
//! Marks are shaped, filled and coloured by how near the nearest sentence of the paper is to the claim; a bar shows how near the
//! paper is to the whole idea. All of it is what was measured, and the legend says so.

use super::canvas::{At, Canvas};
use super::{MARGIN, heading};
use crate::exploration::shorten;

/// Papers drawn. More are counted.
const ROWS: usize = 40;
/// Claims drawn.
const COLUMNS: usize = 12;
/// Height of a row, and of a claim in the list above the rows.
const ROW: f64 = 24.0;
/// Width of the papers' names, of a column and of the longest bar.
const NAMES: f64 = 470.0;
const COLUMN: f64 = 44.0;
const BAR: f64 = 150.0;
/// Cosines from which a sentence is very near, and near.
const VERY_NEAR: f32 = 0.65;
const NEAR: f32 = 0.5;

/// Papers against claims.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NoveltyMap {
    /// What the idea is called.
    pub title: String,
    /// The claims, each with the short name of its column.
    pub columns: Vec<(String, String)>,
    /// The nearest paper first.
    pub rows: Vec<NoveltyRow>,
}

/// One paper.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NoveltyRow {
    /// `Li et al. (2021)`.
    pub name: String,
    /// Its title.
    pub title: String,
    /// Its number among the references, where it is cited.
    pub number: Option<usize>,
    /// Cosine with the whole idea, in `[-1, 1]`, where it was measured.
    pub whole: Option<f32>,
    /// Cosine of its nearest sentence with each claim; `None` where the paper is not among the nearest.
    pub cells: Vec<Option<f32>>,
}

impl NoveltyMap {
    /// The drawing as a whole SVG document, which can also stand within a page.
    pub fn svg(&self) -> String {
        let columns = self.columns.len().min(COLUMNS);
        let width = 2.0 * MARGIN + NAMES + COLUMN * columns as f64 + BAR + 60.0;
        let mut canvas = Canvas::new(width);
        let mut top = heading(&mut canvas, &format!("What is near: {}", self.title), MARGIN);
        top = legend(&mut canvas, top) + 8.0;
        for (name, claim) in &self.columns[..columns] {
            canvas.begin("claim", claim);
            canvas.text((MARGIN, top + 12.0), "strong", &shorten::chars(name, 6));
            let shown = shorten::pixels(claim, width - 2.0 * MARGIN - 40.0, 12.0);
            canvas.text((MARGIN + 40.0, top + 12.0), "soft", &shown);
            canvas.end();
            top += 18.0;
        }
        top += 16.0;
        for (at, (name, _)) in self.columns[..columns].iter().enumerate() {
            canvas.text((column(at), top), "middle", &shorten::chars(name, 6));
        }
        canvas.text((bar_left(columns), top), "soft", "the whole idea");
        top += 10.0;
        for row in self.rows.iter().take(ROWS) {
            draw(&mut canvas, row, columns, top);
            top += ROW;
        }
        let left_out = self.rows.len().saturating_sub(ROWS);
        if left_out > 0 {
            canvas.text((MARGIN, top + 14.0), "soft", &format!("and {left_out} more papers"));
            top += ROW;
        }
        canvas.finish(&format!("Nearest earlier work: {}", self.title), top + MARGIN)
    }
}

fn column(at: usize) -> f64 {
    MARGIN + NAMES + COLUMN * (at as f64 + 0.5)
}

fn bar_left(columns: usize) -> f64 {
    MARGIN + NAMES + COLUMN * columns as f64 + 16.0
}

fn draw(canvas: &mut Canvas, row: &NoveltyRow, columns: usize, top: f64) {
    let middle = top + ROW / 2.0;
    canvas.path(&format!("M{MARGIN} {:.1}H{:.1}", top + ROW, bar_left(columns) + BAR), "rule");
    canvas.begin("paper", &format!("{}: {}", row.name, row.title));
    let number = row.number.map(|number| format!("[{number}] ")).unwrap_or_default();
    let name = shorten::pixels(&format!("{number}{}", row.name), 190.0, 12.6);
    canvas.text((MARGIN, middle + 4.0), "strong", &name);
    let left = MARGIN + 200.0;
    let title = shorten::pixels(&row.title, NAMES - 210.0, 11.4);
    canvas.text((left, middle + 4.0), "title", &title);
    canvas.end();
    for (at, cell) in row.cells.iter().take(columns).enumerate() {
        match cell.filter(|cell| cell.is_finite()) {
            Some(cosine) => {
                canvas.begin("cell", &format!("cosine {cosine:.2}: {}", row.title));
                mark(canvas, (column(at), middle), cosine);
                canvas.end();
            }
            None => canvas.path(&format!("M{:.1} {middle:.1}h6", column(at) - 3.0), "branch"),
        }
    }
    if let Some(whole) = row.whole.filter(|whole| whole.is_finite()) {
        let share = f64::from(whole.clamp(0.0, 1.0));
        let (left, size) = (bar_left(columns), (BAR * share, 10.0));
        canvas.rectangle((left, middle - 5.0), size, "bar");
        canvas.text((left + size.0 + 6.0, middle + 4.0), "small", &format!("{whole:.2}"));
    }
}

/// The mark of a cosine: a filled square, a diamond, an open circle.
fn mark(canvas: &mut Canvas, (x, y): At, cosine: f32) {
    if cosine >= VERY_NEAR {
        canvas.path(&format!("M{:.1} {:.1}h14v14h-14z", x - 7.0, y - 7.0), "very-near");
    } else if cosine >= NEAR {
        canvas.path(&format!("M{x:.1} {:.1}l7 7l-7 7l-7 -7z", y - 7.0), "near");
    } else {
        canvas.path(&format!("M{:.1} {y:.1}a5 5 0 1 0 10 0a5 5 0 1 0 -10 0z", x - 5.0), "further");
    }
}

fn legend(canvas: &mut Canvas, top: f64) -> f64 {
    let mut pen = (MARGIN + 8.0, top + 10.0);
    let entries = [
        (VERY_NEAR, format!("cosine {VERY_NEAR:.2} or more")),
        (NEAR, format!("{NEAR:.2} to {VERY_NEAR:.2}")),
        (0.0, format!("below {NEAR:.2}")),
    ];
    for (cosine, name) in entries {
        mark(canvas, pen, cosine);
        canvas.text((pen.0 + 14.0, pen.1 + 4.0), "soft", &name);
        pen.0 += 14.0 + shorten::width(&name, 12.0) + 24.0;
    }
    canvas.path(&format!("M{:.1} {:.1}h6", pen.0 - 3.0, pen.1), "branch");
    canvas.text((pen.0 + 12.0, pen.1 + 4.0), "soft", "not among the nearest read for it");
    let text = "Each mark: the sentence of the paper nearest to the claim. What no mark shows may exist elsewhere.";
    canvas.text((MARGIN, pen.1 + 24.0), "soft", text);
    pen.1 + 34.0
}

#[cfg(test)]
mod tests;
