//! The tree as an indented list: a node with its state, then its kept candidates by name, then marks of the others.

use std::collections::BTreeSet;

use scholar_core::{Contribution, TreeEvidence, TreeNode};

use super::canvas::Canvas;
use super::select::Selection;
use super::{MARGIN, WIDTH, mark};
use crate::exploration::index::{self, Exploration, Papers};
use crate::exploration::shorten;
use crate::exploration::words::{self, Spent};

/// Indentation of a level.
const LEVEL: f64 = 26.0;
/// Distance of two lines of text.
const LINE: f64 = 17.0;
/// Height of a row of marks.
const ROW: f64 = 24.0;
/// Width of a mark in a row of marks.
const CELL: f64 = 25.0;
/// Marks of one candidate: it may have several roles.
const MARKS: usize = 3;
/// Room at the right for where a candidate came from.
const ORIGIN: f64 = 330.0;

/// Draws the panel and returns where it ends.
pub(super) fn draw(
    canvas: &mut Canvas,
    exploration: Exploration<'_>,
    papers: &Papers<'_>,
    selection: &Selection,
    top: f64,
) -> f64 {
    let nodes = exploration.nodes();
    canvas.text((MARGIN, top + 12.0), "panel", &format!("Tree of {}", words::summary(nodes)));
    canvas.text((MARGIN, top + 30.0), "soft", &Spent::by(nodes).words());
    let mut top = top + 44.0;
    // Where the line of each level begins, for the branches.
    let mut stems: Vec<f64> = Vec::new();
    for ((node, depth), shown) in nodes.iter().zip(exploration.depths()).zip(&selection.candidates)
    {
        let Some(shown) = shown else { continue };
        let left = MARGIN + 10.0 + LEVEL * depth as f64;
        stems.truncate(depth);
        if let Some(stem) = stems.last_mut() {
            let (x, y) = (left - LEVEL, top + 9.0);
            canvas.path(&format!("M{x:.1} {:.1}V{y:.1}H{:.1}", *stem, left - 9.0), "branch");
            *stem = y;
        }
        stems.resize(depth, top);
        stems.push(top + 19.0);
        let drawn = Drawn { node, papers, shown, left };
        top = drawn.draw(canvas, top) + 8.0;
    }
    if selection.nodes_left_out > 0 {
        let nodes = words::count(selection.nodes_left_out, "more node");
        let text = format!("and {nodes}, deeper than these or behind them");
        canvas.text((MARGIN, top + 12.0), "soft", &text);
        top += ROW;
    }
    top
}

/// One node as it is drawn.
struct Drawn<'a> {
    node: &'a TreeNode,
    papers: &'a Papers<'a>,
    /// Places of the candidates that are drawn.
    shown: &'a BTreeSet<usize>,
    left: f64,
}

impl Drawn<'_> {
    fn draw(&self, canvas: &mut Canvas, mut top: f64) -> f64 {
        let Self { node, left, .. } = *self;
        let query = index::query(node);
        let id = shorten::pixels(&node.id, 160.0, 13.0);
        let indented = left + 16.0;
        canvas.begin("node", query);
        mark::state(canvas, (left, top + 9.0), node.state);
        canvas.text((indented, top + 13.0), "strong", &id);
        let beside = indented + shorten::width(&id, 14.0) + 8.0;
        for line in shorten::wrapped(query, WIDTH - MARGIN - beside, 13.4, 2) {
            canvas.text((beside, top + 13.0), "strong", &line);
            top += LINE;
        }
        canvas.end();
        let mut facts = vec![words::state(node.state).to_owned()];
        facts.extend(words::decision(node));
        if !node.evidence.is_empty() {
            facts.push(words::kept(node));
        }
        facts.extend(node.reason.clone());
        facts.push(Spent::by(std::slice::from_ref(node)).words());
        let facts = shorten::pixels(&facts.join(" · "), WIDTH - MARGIN - indented, 11.4);
        canvas.text((indented, top + 12.0), "small", &facts);
        top += LINE + 3.0;
        for (at, evidence) in self.drawn(true) {
            top = self.row(canvas, (at, evidence), top);
        }
        self.marks(canvas, top)
    }

    /// Candidates that are drawn and kept, or not.
    fn drawn(&self, kept: bool) -> impl Iterator<Item = (usize, &TreeEvidence)> {
        let all = self.node.evidence.iter().enumerate();
        all.filter(move |(at, one)| self.shown.contains(at) && one.kept == kept)
    }

    /// A kept candidate: its marks, number and title, and where it came from.
    fn row(&self, canvas: &mut Canvas, (at, evidence): (usize, &TreeEvidence), top: f64) -> f64 {
        let mut left = self.left + 28.0;
        let middle = top + ROW / 2.0;
        canvas.begin("candidate", &self.hover(at, evidence));
        for role in self.roles(at) {
            mark::role(canvas, (left, middle), role);
            left += CELL;
        }
        left = left.max(self.left + 28.0 + CELL * 2.0) - 6.0;
        let label = index::label(self.node, at);
        canvas.text((left, middle + 4.0), "strong", &label);
        left += 38.0;
        let origin = words::short_origin(&evidence.origin, self.papers);
        let origin = shorten::pixels(&origin, ORIGIN - 10.0, 11.0);
        let year = evidence.year.map(|year| format!(" ({year})")).unwrap_or_default();
        let room = WIDTH - MARGIN - ORIGIN - left - shorten::width(&year, 12.0);
        let title = shorten::pixels(&evidence.title, room, 12.0);
        canvas.text((left, middle + 4.0), "", &format!("{title}{year}"));
        canvas.text((WIDTH - MARGIN, middle + 4.0), "small end", &origin);
        canvas.end();
        top + ROW
    }

    /// One mark for each discarded candidate, in rows, and how many more there are of both kinds.
    fn marks(&self, canvas: &mut Canvas, top: f64) -> f64 {
        let (first, right) = (self.left + 28.0, WIDTH - MARGIN - 190.0);
        let mut pen = (first, top + ROW / 2.0);
        for (at, evidence) in self.drawn(false) {
            if pen.0 > right {
                pen = (first, pen.1 + ROW);
            }
            canvas.begin("dropped", &self.hover(at, evidence));
            mark::role(canvas, pen, self.roles(at)[0]);
            canvas.end();
            pen.0 += CELL;
        }
        let left_out: Vec<&TreeEvidence> = self
            .node
            .evidence
            .iter()
            .enumerate()
            .filter_map(|(at, one)| (!self.shown.contains(&at)).then_some(one))
            .collect();
        if !left_out.is_empty() {
            let n_kept = left_out.iter().filter(|one| one.kept).count();
            let text = format!("and {} more, {n_kept} of them kept", left_out.len());
            canvas.text((pen.0 - 8.0, pen.1 + 4.0), "soft", &text);
        }
        if pen.0 > first || !left_out.is_empty() { pen.1 + ROW / 2.0 } else { top }
    }

    /// Roles of a candidate, each once; never empty.
    fn roles(&self, at: usize) -> Vec<Option<Contribution>> {
        let mut roles: Vec<Option<Contribution>> = Vec::new();
        for (_, segment) in index::segments(self.node.contributions.as_ref(), at) {
            if roles.len() < MARKS && !roles.contains(&Some(segment.role)) {
                roles.push(Some(segment.role));
            }
        }
        if roles.is_empty() { vec![None] } else { roles }
    }

    fn hover(&self, at: usize, evidence: &TreeEvidence) -> String {
        hover(self.node, at, evidence)
    }
}

/// What is told of a candidate under the pointer.
pub(super) fn hover(node: &TreeNode, at: usize, evidence: &TreeEvidence) -> String {
    let mut text = format!("{} {}", index::label(node, at), evidence.title);
    if let Some(year) = evidence.year {
        text = format!("{text} ({year})");
    }
    let why = if evidence.kept { &evidence.rationale } else { &evidence.discarded };
    let what = if evidence.kept { "kept" } else { "discarded" };
    match why {
        Some(why) => format!("{text} — {what}: {why}"),
        None => format!("{text} — {what}"),
    }
}
