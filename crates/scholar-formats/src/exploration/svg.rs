//! Outline, tree and contribution graphs as one drawing.
//!
//! Three panels, one below the other: the outline as a bar with shares; the tree as an indented list whose candidates
//! are marks, shaped and coloured by role; and for each node that has one, the contribution graph in layers toward the
//! query. Colours follow the reader's light or dark preference. There is no script, and nothing is loaded; the full
//! text of what is cut stands in `<title>`, which browsers show under the pointer. [`select`] bounds how much is drawn.

mod canvas;
mod contributions;
mod legend;
mod mark;
mod novelty;
mod outline;
mod select;
mod tree;

use super::index::{Exploration, Papers};
use canvas::Canvas;
use select::Selection;

pub use novelty::{NoveltyMap, NoveltyRow};

/// Width of the drawing, in pixels, unless a graph needs more.
const WIDTH: f64 = 1280.0;
/// Space around everything.
const MARGIN: f64 = 24.0;
/// Space between panels.
const GAP: f64 = 34.0;

/// The drawing as a whole SVG document, which can also stand within a page.
pub fn svg(exploration: Exploration<'_>) -> String {
    let papers = Papers::of(exploration);
    let selection = Selection::of(exploration);
    let mut canvas = Canvas::new(WIDTH);
    let mut top = MARGIN;
    top = heading(&mut canvas, exploration.question, top);
    top = legend::draw(&mut canvas, top) + GAP;
    if let Some(plan) = exploration.outline {
        top = outline::draw(&mut canvas, plan, top) + GAP;
    }
    if exploration.tree.is_some() {
        top = tree::draw(&mut canvas, exploration, &papers, &selection, top) + GAP;
    }
    for (at, segments) in &selection.graphs {
        if let Some(node) = exploration.nodes().get(*at) {
            top = contributions::draw(&mut canvas, node, segments, top) + GAP;
        }
    }
    if selection.graphs_left_out > 0 {
        let text = format!("and {} more contribution graphs", selection.graphs_left_out);
        canvas.text((MARGIN, top), "soft", &text);
        top += GAP;
    }
    canvas
        .finish(&format!("How the answer was found: {}", exploration.question), top - GAP + MARGIN)
}

fn heading(canvas: &mut Canvas, question: &str, top: f64) -> f64 {
    // Bold letters of 18 pixels are as wide as plain ones of 20.5.
    let lines = super::shorten::wrapped(question, WIDTH - 2.0 * MARGIN, 20.5, 3);
    for (at, line) in lines.iter().enumerate() {
        canvas.text((MARGIN, top + 16.0 + 24.0 * at as f64), "question", line);
    }
    top + 24.0 * lines.len() as f64 + 10.0
}

#[cfg(test)]
mod tests;
