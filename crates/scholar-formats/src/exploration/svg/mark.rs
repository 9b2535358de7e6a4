//! Marks for roles and states: each has a shape of its own besides its colour.

use scholar_core::{Contribution, NodeState};

use super::canvas::{At, Canvas};

/// Half the size of a mark.
pub(super) const RADIUS: f64 = 9.0;

/// What a candidate contributes, as its shape with a letter; `None` where roles were not asked.
pub(super) fn role(canvas: &mut Canvas, (x, y): At, role: Option<Contribution>) {
    let r = RADIUS;
    let points = |points: &[At]| -> String {
        let points = points.iter().map(|(dx, dy)| format!("{:.1} {:.1}", x + dx, y + dy));
        format!("M{}z", points.collect::<Vec<_>>().join("L"))
    };
    let circle = |r: f64| {
        format!("M{} {y:.1}a{r} {r} 0 1 0 {} 0a{r} {r} 0 1 0 {} 0z", x - r, 2.0 * r, -2.0 * r)
    };
    let (shape, class, letter, lower) = match role {
        Some(Contribution::Theory) => (circle(r), "mark theory", "T", 0.0),
        Some(Contribution::Experiment) => {
            let s = r - 1.0;
            (points(&[(-s, -s), (s, -s), (s, s), (-s, s)]), "mark experiment", "E", 0.0)
        }
        Some(Contribution::Application) => (
            points(&[(0.0, -r - 1.0), (r + 2.0, r - 1.0), (-r - 2.0, r - 1.0)]),
            "mark application",
            "A",
            2.5,
        ),
        Some(Contribution::Method) => {
            let s = r + 2.0;
            (points(&[(0.0, -s), (s, 0.0), (0.0, s), (-s, 0.0)]), "mark method", "M", 0.0)
        }
        Some(Contribution::Other) => {
            let (h, s) = (r * 0.5, r * 0.87);
            (
                points(&[(-h, -s), (h, -s), (r, 0.0), (h, s), (-h, s), (-r, 0.0)]),
                "mark other",
                "o",
                0.0,
            )
        }
        None => (circle(r - 2.0), "mark untold", "", 0.0),
    };
    canvas.path(&shape, class);
    if !letter.is_empty() {
        canvas.text((x, y + 3.6 + lower), "letter", letter);
    }
}

/// What became of a node.
pub(super) fn state(canvas: &mut Canvas, (x, y): At, state: NodeState) {
    let r = 6.0;
    match state {
        NodeState::Answered => {
            canvas.path(&format!("M{:.1} {y:.1}l4 4l7 -9", x - 5.0), "good");
        }
        NodeState::NoEvidence => {
            let round = format!(
                "M{:.1} {y:.1}a{r} {r} 0 1 0 {d} 0a{r} {r} 0 1 0 -{d} 0",
                x - r,
                d = 2.0 * r
            );
            canvas.path(&format!("{round}M{:.1} {:.1}l9 -9", x - 4.5, y + 4.5), "idle");
        }
        NodeState::Failed => {
            canvas.path(&format!("M{0:.1} {1:.1}l10 10m0 -10l-10 10", x - 5.0, y - 5.0), "bad");
        }
        NodeState::Skipped => {
            canvas.path(&format!("M{:.1} {:.1}l5 5l-5 5m6 -10l5 5l-5 5", x - 6.0, y - 5.0), "idle");
        }
    }
}
