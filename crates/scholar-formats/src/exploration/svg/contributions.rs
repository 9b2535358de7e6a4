//! The contribution graph of a node in layers, the query at the right.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use scholar_core::{ContributionEdge, ContributionGraph, ContributionTarget, TreeNode};

use super::canvas::{At, Canvas};
use super::{MARGIN, mark, tree};
use crate::exploration::index;
use crate::exploration::layers::{self, Layout, Point, Relation};
use crate::exploration::{shorten, words};

/// Size of a box.
const BOX: At = (206.0, 54.0);
/// From one row to the next, and from one layer to the next.
const STEP: At = (BOX.0 + 56.0, BOX.1 + 12.0);
/// Relations drawn of one graph.
const RELATIONS: usize = 160;
/// Lines of the query in its box.
const QUERY_LINES: usize = 5;

/// Draws the graph of `node` with the segments at these places, and returns where it ends.
pub(super) fn draw(canvas: &mut Canvas, node: &TreeNode, shown: &[usize], top: f64) -> f64 {
    let Some(graph) = &node.contributions else { return top };
    let drawn = Drawn::of(node, graph, shown);
    let title = format!("Contributions to {}", node.id);
    canvas.text((MARGIN, top + 12.0), "panel", &shorten::pixels(&title, 400.0, 14.0));
    let (counting, pruned) = index::chains(node, graph);
    let n_pruned: usize = pruned.values().sum();
    let chains = words::count(counting.len() + n_pruned, "chain");
    let mut facts = format!("{chains} to the query, {n_pruned} pruned");
    let n_left_out = graph.segments.len() - shown.len();
    if n_left_out > 0 {
        facts = format!("{facts}; {n_left_out} less relevant parts of papers are not drawn");
    }
    if drawn.n_left_out > 0 {
        facts = format!("{facts}; {} more relations are not drawn", drawn.n_left_out);
    }
    canvas.text((MARGIN, top + 30.0), "soft", &facts);
    // A layer apart has a line of its own above it.
    let top = top + if drawn.layout.apart.is_some() { 58.0 } else { 42.0 };
    let n_query_lines = drawn.query_lines().len().max(1) as f64;
    let least = (n_query_lines * 16.0 + 30.0) / STEP.1;
    // The box of the query may be taller than all layers.
    let above = ((least / 2.0) - drawn.layout.goal).max(0.0);
    let placed = Placed { drawn: &drawn, top: top + above * STEP.1 };
    let below = (drawn.layout.goal + least / 2.0).max(drawn.layout.height);
    canvas.widen(placed.goal_left() + BOX.0 + MARGIN);
    placed.draw(canvas);
    placed.top + below * STEP.1
}

/// What is drawn of a graph, and where.
struct Drawn<'a> {
    node: &'a TreeNode,
    graph: &'a ContributionGraph,
    shown: &'a [usize],
    edges: Vec<&'a ContributionEdge>,
    relations: Vec<Relation>,
    layout: Layout,
    /// Relations of drawn segments that are not drawn.
    n_left_out: usize,
}

impl<'a> Drawn<'a> {
    fn of(node: &'a TreeNode, graph: &'a ContributionGraph, shown: &'a [usize]) -> Self {
        let place = |segment: usize| shown.binary_search(&segment).ok();
        let mut edges = Vec::new();
        let mut relations: Vec<Relation> = Vec::new();
        let mut n_left_out = 0;
        for edge in &graph.edges {
            let to = match edge.to {
                ContributionTarget::Query => Some(None),
                ContributionTarget::Segment(to) => place(to).map(Some),
            };
            let (Some(from), Some(to)) = (place(edge.from), to) else { continue };
            let relation = Relation { from, to };
            if to == Some(from) || relations.contains(&relation) {
                continue;
            }
            if relations.len() >= RELATIONS {
                n_left_out += 1;
                continue;
            }
            relations.push(relation);
            edges.push(edge);
        }
        let layout = layers::layout(shown.len(), &relations);
        Self { node, graph, shown, edges, relations, layout, n_left_out }
    }

    fn query_lines(&self) -> Vec<String> {
        shorten::wrapped(index::query(self.node), BOX.0 - 20.0, 12.6, QUERY_LINES)
    }

    /// Relations on chains that count, by the places of their ends.
    fn counting(&self) -> BTreeSet<(usize, Option<usize>)> {
        let mut counting = BTreeSet::new();
        for chain in self.graph.chains.iter().filter(|chain| chain.pruned.is_none()) {
            for pair in chain.segments.windows(2) {
                counting.insert((pair[0], Some(pair[1])));
            }
            counting.extend(chain.segments.last().map(|last| (*last, None)));
        }
        counting
    }
}

/// A graph at its place in the drawing.
struct Placed<'a> {
    drawn: &'a Drawn<'a>,
    top: f64,
}

impl Placed<'_> {
    /// Left edge of a layer's boxes.
    fn left(&self, layer: usize) -> f64 {
        MARGIN + STEP.0 * (self.drawn.layout.n_layers - layer) as f64
    }

    fn goal_left(&self) -> f64 {
        self.left(0)
    }

    fn middle(&self, down: f64) -> f64 {
        self.top + down * STEP.1
    }

    fn draw(&self, canvas: &mut Canvas) {
        let Drawn { layout, shown, .. } = self.drawn;
        if let Some(apart) = layout.apart {
            let at = (self.left(apart), self.top - 6.0);
            canvas.text(at, "small", "without a way to the query");
        }
        self.relations(canvas);
        for (segment, point) in shown.iter().zip(&layout.nodes) {
            self.segment(canvas, *segment, *point);
        }
        let lines = self.drawn.query_lines();
        let height = lines.len() as f64 * 16.0 + 26.0;
        let (left, middle) = (self.goal_left(), self.middle(layout.goal));
        canvas.begin("goal-box", index::query(self.drawn.node));
        canvas.rectangle((left, middle - height / 2.0), (BOX.0, height), "goal");
        for (at, line) in std::iter::once("Q").chain(lines.iter().map(String::as_str)).enumerate() {
            let y = middle - height / 2.0 + 17.0 + 16.0 * at as f64;
            canvas.text((left + 10.0, y), if at == 0 { "strong" } else { "" }, line);
        }
        canvas.end();
    }

    fn segment(&self, canvas: &mut Canvas, at: usize, point: Point) {
        let node = self.drawn.node;
        let segment = &self.drawn.graph.segments[at];
        let evidence = node.evidence.get(segment.evidence);
        let (left, middle) = (self.left(point.layer), self.middle(point.down));
        let described = format!(
            "{}, {} relevance: {}",
            segment.role.name(),
            segment.relevance.name(),
            segment.description
        );
        let hover =
            evidence.map(|one| tree::hover(node, segment.evidence, one)).unwrap_or_default();
        let kept = evidence.is_some_and(|one| one.kept);
        canvas.begin(if kept { "kept" } else { "dropped" }, &format!("{described} — {hover}"));
        canvas.rectangle((left, middle - BOX.1 / 2.0), BOX, "box");
        mark::role(canvas, (left + 20.0, middle - 9.0), Some(segment.role));
        let label = index::label(node, segment.evidence);
        canvas.text((left + 20.0, middle + 19.0), "strong middle", &label);
        let title = evidence.map_or("?", |one| one.title.as_str());
        let lines = shorten::wrapped(title, BOX.0 - 48.0, 11.4, 2);
        for (nth, line) in lines.iter().enumerate() {
            canvas.text((left + 42.0, middle - 11.0 + 14.0 * nth as f64), "title", line);
        }
        let relevance = format!("{} relevance", segment.relevance.name());
        canvas.text((left + 42.0, middle + 19.0), "small", &relevance);
        canvas.end();
    }

    fn relations(&self, canvas: &mut Canvas) {
        let Drawn { layout, edges, relations, node, graph, shown, .. } = self.drawn;
        let counting = self.drawn.counting();
        for (nth, relation) in relations.iter().enumerate() {
            let to = relation.to.map(|to| shown[to]);
            let from = shown[relation.from];
            let label = |at: usize| {
                graph
                    .segments
                    .get(at)
                    .map_or_else(String::new, |one| index::segment_label(node, one))
            };
            let target = to.map_or_else(|| "Q".to_owned(), label);
            let hover = format!("{} → {target}: {}", label(from), edges[nth].rationale);
            canvas.begin("relation", &hover);
            let commands = self.course(*relation, &layout.bends[nth], self.arrival(nth));
            canvas.arrow(&commands, !counting.contains(&(from, to)));
            canvas.end();
        }
    }

    /// How far from the middle of its target a relation arrives: those that arrive there stand side by side by origin.
    fn arrival(&self, nth: usize) -> f64 {
        let Drawn { layout, relations, .. } = self.drawn;
        let to = relations[nth].to;
        let last = |nth: usize| {
            let before = layout.bends[nth].last();
            before.map_or(layout.nodes[relations[nth].from].down, |bend| bend.down)
        };
        let mut beside: Vec<usize> =
            (0..relations.len()).filter(|other| relations[*other].to == to).collect();
        beside.sort_by(|a, b| last(*a).total_cmp(&last(*b)));
        let rank = beside.iter().position(|other| *other == nth).unwrap_or(0) as f64;
        let n = beside.len() as f64;
        let step = (BOX.1 * 0.8 / n).min(8.0);
        (rank - (n - 1.0) / 2.0) * step
    }

    /// The curve of a relation.
    fn course(&self, relation: Relation, bends: &[Point], arrival: f64) -> String {
        let layout = &self.drawn.layout;
        let source = layout.nodes[relation.from];
        let target =
            relation.to.map_or(Point { layer: 0, down: layout.goal }, |to| layout.nodes[to]);
        let start = (self.left(source.layer) + BOX.0, self.middle(source.down));
        let y = self.middle(target.down) + arrival;
        if source.layer <= target.layer {
            // Against the direction: out and in at the right sides.
            let end = (self.left(target.layer) + BOX.0 + 2.0, y);
            let out = 34.0;
            return format!(
                "M{:.1} {:.1}C{:.1} {:.1} {:.1} {:.1} {:.1} {:.1}",
                start.0,
                start.1,
                start.0 + out,
                start.1,
                end.0 + out,
                end.1,
                end.0,
                end.1
            );
        }
        let mut commands = format!("M{:.1} {:.1}", start.0, start.1);
        let mut pen = start;
        let mut curve = |to: At| {
            let half = (to.0 - pen.0) / 2.0;
            let _infallible = write!(
                commands,
                "C{:.1} {:.1} {:.1} {:.1} {:.1} {:.1}",
                pen.0 + half,
                pen.1,
                to.0 - half,
                to.1,
                to.0,
                to.1
            );
            pen = to;
        };
        for bend in bends {
            let (left, middle) = (self.left(bend.layer), self.middle(bend.down));
            curve((left, middle));
            curve((left + BOX.0, middle));
        }
        curve((self.left(target.layer) - 1.0, y));
        commands
    }
}
