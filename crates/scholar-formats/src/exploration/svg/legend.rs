//! What shapes, lines and signs mean.

use scholar_core::{Contribution, NodeState};

use super::canvas::Canvas;
use super::{MARGIN, mark};
use crate::exploration::{shorten, words};

/// Height of a row.
const ROW: f64 = 26.0;
/// Space behind an entry.
const BEHIND: f64 = 22.0;

/// Draws the legend and returns where it ends.
pub(super) fn draw(canvas: &mut Canvas, top: f64) -> f64 {
    let mut pen = (MARGIN + 12.0, top + 12.0);
    for role in Contribution::ALL.into_iter().map(Some).chain([None]) {
        mark::role(canvas, pen, role);
        pen.0 = entry(canvas, pen, role.map_or("role not asked", Contribution::name));
    }
    canvas.begin("dropped", "discarded candidates have dashed lines and no filling");
    mark::role(canvas, pen, Some(Contribution::Experiment));
    canvas.end();
    entry(canvas, pen, "discarded");
    pen = (MARGIN + 12.0, pen.1 + ROW);
    let states =
        [NodeState::Answered, NodeState::NoEvidence, NodeState::Failed, NodeState::Skipped];
    for state in states {
        mark::state(canvas, pen, state);
        pen.0 = entry(canvas, pen, words::state(state));
    }
    for (is_faint, name) in
        [(false, "contributes, on a chain to the query (Q)"), (true, "on no chain that counts")]
    {
        let (from, to) = (pen.0 - 10.0, pen.0 + 18.0);
        canvas.arrow(&format!("M{from:.1} {y:.1}L{to:.1} {y:.1}", y = pen.1), is_faint);
        pen.0 = entry(canvas, (pen.0 + 10.0, pen.1), name);
    }
    pen.1 + ROW / 2.0
}

/// Names what was drawn at the pen, and returns where the next is drawn.
fn entry(canvas: &mut Canvas, (x, y): (f64, f64), name: &str) -> f64 {
    canvas.text((x + 15.0, y + 4.0), "soft", name);
    x + 15.0 + shorten::width(name, 12.0) + BEHIND
}
