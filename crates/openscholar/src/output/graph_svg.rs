//! A citation neighbourhood as a drawing: an SVG without script, in light and dark.
//!
//! The paper stands in the middle; what it cites is to the left, what cites it to the right, one column for each citation
//! between. Within a column the newest stand first. What differs in colour differs in shape or line too.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use scholar_core::text::untrusted::escape_html;

/// Between two columns.
const COLUMN: usize = 360;
/// Between two papers of a column.
const ROW: usize = 26;
/// Around the drawing, and for the legend below it.
const MARGIN: usize = 30;
const LEGEND: usize = 90;
/// Half of the middle column, whose title stands below its paper.
const MIDDLE: usize = 160;
/// Characters of a title beside its paper, and of the one in the middle.
const TITLE_CHARS: usize = 50;
const MIDDLE_CHARS: usize = 46;

/// A paper of the drawing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DrawnPaper {
    pub(crate) id: String,
    /// Empty where nothing is known but the identifier.
    pub(crate) title: String,
    pub(crate) year: Option<i16>,
    /// Citations between it and the paper in the middle.
    pub(crate) hops: u32,
    /// Whether it is in the library.
    pub(crate) stored: bool,
}

/// What is drawn.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Drawing<'a> {
    /// The one in the middle first, then by their distance.
    pub(crate) papers: &'a [DrawnPaper],
    /// Places of citing and cited paper.
    pub(crate) edges: &'a [(usize, usize)],
    /// Papers some of whose links were not followed.
    pub(crate) cut: usize,
}

/// On which side of the paper in the middle a paper stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Side {
    Middle,
    References,
    Citing,
}

/// Where a paper stands.
#[derive(Debug, Clone, Copy)]
struct Spot {
    side: Side,
    x: usize,
    y: usize,
}

/// The drawing as an SVG document.
pub(crate) fn svg(drawing: Drawing<'_>) -> String {
    let sides = sides(drawing);
    let (spots, width, height) = spots(drawing, &sides);
    let mut body = String::new();
    for (from, to) in drawing.edges {
        if let (Some(from_spot), Some(to_spot)) = (spots.get(*from), spots.get(*to)) {
            let is_direct = *from == 0 || *to == 0;
            edge(*from_spot, *to_spot, is_direct, &mut body);
        }
    }
    for (paper, spot) in drawing.papers.iter().zip(&spots) {
        node(paper, *spot, &mut body);
    }
    legend(drawing, height - LEGEND, &mut body);
    let title = drawing.papers.first().map(caption).unwrap_or_default();
    let title = escape_html(&title);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" role=\"img\">\n\
         <title>Citations around {title}</title>\n<style>{STYLE}</style>\n\
         <defs><marker id=\"cited\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\">\
         <path class=\"tip\" d=\"M0 0 8 4 0 8z\"/></marker></defs>\n\
         <rect class=\"page\" width=\"{width}\" height=\"{height}\"/>\n{body}</svg>\n"
    )
}

const STYLE: &str = "text{font:12px system-ui,sans-serif;fill:#222;paint-order:stroke;stroke:#fff;stroke-width:3px}\
    .page{fill:#fff}.middle{fill:#222}.reference{fill:#0072b2}.citing{fill:#d55e00}.strong{font-weight:600}\
    .absent{fill:#fff;stroke-width:1.5;stroke-dasharray:3 2}.absent.reference{stroke:#0072b2}.absent.citing{stroke:#d55e00}\
    .edge{fill:none;stroke:#999;stroke-width:1.2}.far{stroke-dasharray:2 3}.tip{fill:#999}.faint{fill:#666}\
    @media(prefers-color-scheme:dark){text{fill:#eee;stroke:#16181c}.page{fill:#16181c}.middle{fill:#eee}.reference{fill:#56b4e9}\
    .citing{fill:#e69f00}.absent{fill:#16181c}.absent.reference{stroke:#56b4e9}.absent.citing{stroke:#e69f00}.edge{stroke:#777}.tip{fill:#777}\
    .faint{fill:#aaa}}";

/// The side of each paper: that of the paper nearer to the middle which it is linked to; beside the middle, what is cited
/// goes to the references, also if it cites in turn.
fn sides(drawing: Drawing<'_>) -> Vec<Side> {
    let Drawing { papers, edges, cut: _ } = drawing;
    let mut sides = vec![Side::Middle; papers.len()];
    for at in 1..papers.len() {
        let hops = papers[at].hops;
        let is_nearer = |other: usize| papers.get(other).is_some_and(|one| one.hops < hops);
        let cites = edges.iter().filter(|(from, to)| *to == at && is_nearer(*from));
        let cited_by = edges.iter().filter(|(from, to)| *from == at && is_nearer(*to));
        let by_cites = cites.map(|(from, _)| (*from, Side::References));
        let nearer = by_cites.chain(cited_by.map(|(_, to)| (*to, Side::Citing)));
        sides[at] = nearer
            .map(|(other, own)| if other == 0 { own } else { sides[other] })
            .min()
            .filter(|side| *side != Side::Middle)
            .unwrap_or(Side::Citing);
    }
    sides
}

/// Where papers stand, and width and height of all.
fn spots(drawing: Drawing<'_>, sides: &[Side]) -> (Vec<Spot>, usize, usize) {
    let papers = drawing.papers;
    let mut columns: BTreeMap<(Side, usize), Vec<usize>> = BTreeMap::new();
    for (at, (paper, side)) in papers.iter().zip(sides).enumerate().skip(1) {
        columns.entry((*side, paper.hops as usize)).or_default().push(at);
    }
    let deepest = |of: Side| {
        columns.keys().filter(|(side, _)| *side == of).map(|(_, hops)| *hops).max().unwrap_or(0)
    };
    let (left, right) = (deepest(Side::References), deepest(Side::Citing));
    let rows = columns.values().map(Vec::len).max().unwrap_or(0).max(3);
    let (width, drawn) = (2 * (MARGIN + MIDDLE) + (left + right) * COLUMN, rows * ROW);
    let middle = MARGIN + left * COLUMN + MIDDLE;
    let mut spots =
        vec![Spot { side: Side::Middle, x: middle, y: MARGIN + drawn / 2 }; papers.len()];
    for ((side, hops), mut column) in columns {
        column.sort_by_key(|at| (std::cmp::Reverse(papers[*at].year), &papers[*at].id));
        let away = hops.saturating_sub(1) * COLUMN + MIDDLE + COLUMN / 8;
        let x = if side == Side::References { middle - away } else { middle + away };
        let top = MARGIN + (drawn - column.len() * ROW) / 2 + ROW / 2;
        for (row, at) in column.into_iter().enumerate() {
            spots[at] = Spot { side, x, y: top + row * ROW };
        }
    }
    (spots, width, drawn + 2 * MARGIN + LEGEND)
}

/// From the citing to the cited paper.
fn edge(from: Spot, to: Spot, is_direct: bool, out: &mut String) {
    let class = if is_direct { "edge" } else { "edge far" };
    let bend = usize::midpoint(from.x, to.x);
    // Within a column the line bows out, so that it does not run through what is between.
    let bend = if from.x == to.x { from.x + COLUMN / 8 } else { bend };
    let Spot { x, y, .. } = from;
    let end = if to.x < from.x { to.x + 8 } else { to.x.saturating_sub(8) };
    let _infallible = writeln!(
        out,
        "<path class=\"{class}\" marker-end=\"url(#cited)\" d=\"M{x} {y}C{bend} {y} {bend} {} {end} {}\"/>",
        to.y, to.y
    );
}

fn node(paper: &DrawnPaper, spot: Spot, out: &mut String) {
    let Spot { side, x, y } = spot;
    let absent = if paper.stored { "" } else { " absent" };
    let shape = shape(side, x, y, absent);
    let tooltip = escape_html(&format!("{} ({})", caption(paper), paper.id));
    let _infallible = writeln!(out, "<g><title>{tooltip}</title>{shape}{}</g>", label(paper, spot));
}

fn shape(side: Side, x: usize, y: usize, absent: &str) -> String {
    match side {
        Side::Middle => format!(
            "<path class=\"middle{absent}\" d=\"M{x} {}l9 9-9 9-9-9z\"/>",
            y.saturating_sub(9)
        ),
        Side::References => {
            format!("<circle class=\"reference{absent}\" cx=\"{x}\" cy=\"{y}\" r=\"5.5\"/>")
        }
        Side::Citing => format!(
            "<rect class=\"citing{absent}\" x=\"{}\" y=\"{}\" width=\"10\" height=\"10\"/>",
            x.saturating_sub(5),
            y.saturating_sub(5)
        ),
    }
}

fn label(paper: &DrawnPaper, spot: Spot) -> String {
    let Spot { side, x, y } = spot;
    let chars = if side == Side::Middle { MIDDLE_CHARS } else { TITLE_CHARS };
    let text = escape_html(&shortened(paper, chars));
    match side {
        Side::Middle => {
            let y = y + 26;
            format!(
                "<text class=\"strong\" x=\"{x}\" y=\"{y}\" text-anchor=\"middle\">{text}</text>"
            )
        }
        Side::References => {
            let (x, y) = (x.saturating_sub(11), y + 4);
            format!("<text x=\"{x}\" y=\"{y}\" text-anchor=\"end\">{text}</text>")
        }
        Side::Citing => format!("<text x=\"{}\" y=\"{}\">{text}</text>", x + 11, y + 4),
    }
}

/// `2019 Title`, as far as it is known, on one line.
fn caption(paper: &DrawnPaper) -> String {
    let title = if paper.title.is_empty() { &paper.id } else { &paper.title };
    let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
    paper.year.map_or_else(|| title.clone(), |year| format!("{year} {title}"))
}

fn shortened(paper: &DrawnPaper, chars: usize) -> String {
    let whole = caption(paper);
    match whole.char_indices().nth(chars) {
        Some((end, _)) => format!("{}…", whole[..end].trim_end()),
        None => whole,
    }
}

fn legend(drawing: Drawing<'_>, top: usize, out: &mut String) {
    let y = top + 20;
    let mut x = MARGIN + 10;
    for (side, absent, words) in [
        (Side::Middle, "", "the paper"),
        (Side::References, "", "cited (left)"),
        (Side::Citing, "", "citing (right)"),
        (Side::References, " absent", "not in this library"),
    ] {
        let _infallible = writeln!(
            out,
            "<g>{}<text x=\"{}\" y=\"{}\">{words}</text></g>",
            shape(side, x, y, absent),
            x + 14,
            y + 4
        );
        x += 24 + 8 * words.chars().count();
    }
    let y = y + 26;
    let x = MARGIN + 4;
    let _infallible = writeln!(
        out,
        "<path class=\"edge\" marker-end=\"url(#cited)\" d=\"M{x} {y}h34\"/><text x=\"{}\" y=\"{}\">cites</text>\
         <path class=\"edge far\" marker-end=\"url(#cited)\" d=\"M{} {y}h34\"/><text x=\"{}\" y=\"{}\">among the others</text>",
        x + 42,
        y + 4,
        x + 90,
        x + 132,
        y + 4
    );
    let others = drawing.papers.len().saturating_sub(1);
    let mut words = format!("{others} papers, the newest of each column first");
    if drawing.cut > 0 {
        let _infallible = write!(words, "; not every link of {} papers was followed", drawing.cut);
    }
    let y = y + 26;
    let _infallible = writeln!(out, "<text class=\"faint\" x=\"{x}\" y=\"{y}\">{words}</text>");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paper(id: &str, title: &str, year: Option<i16>, hops: u32) -> DrawnPaper {
        let (id, title) = (id.to_owned(), title.to_owned());
        DrawnPaper { id, title, year, hops, stored: year.is_some() }
    }

    fn drawn() -> (Vec<DrawnPaper>, Vec<(usize, usize)>) {
        let papers = vec![
            paper("doi:10.1/a", "The paper & its <friends>", Some(2010), 0),
            paper("doi:10.1/b", "Cited", Some(2001), 1),
            paper("doi:10.1/c", "Citing", Some(2015), 1),
            paper("doi:10.1/d", "", None, 2),
            paper("doi:10.1/e", "Cites what cites", Some(2020), 2),
        ];
        // The last one also cites what the first cites: it stands where the nearest link is, and that is a tie.
        (papers, vec![(0, 1), (2, 0), (1, 3), (4, 2)])
    }

    #[test]
    fn references_stand_on_one_side_and_citing_papers_on_the_other() {
        let (papers, edges) = drawn();
        let drawing = Drawing { papers: &papers, edges: &edges, cut: 0 };
        let sides = sides(drawing);
        use Side::{Citing, Middle, References};
        assert_eq!(sides, [Middle, References, Citing, References, Citing]);
        let (spots, width, height) = spots(drawing, &sides);
        assert!(spots[3].x < spots[1].x && spots[1].x < spots[0].x);
        assert!(spots[0].x < spots[2].x && spots[2].x < spots[4].x && spots[4].x < width);
        assert!(spots.iter().all(|spot| spot.y < height - LEGEND));
    }

    #[test]
    fn titles_are_escaped_and_nothing_is_run() {
        let (papers, edges) = drawn();
        let text = svg(Drawing { papers: &papers, edges: &edges, cut: 2 });
        assert!(text.contains("The paper &amp; its &lt;friends&gt; (doi:10.1/a)"), "{text}");
        assert!(!text.contains("<friends>") && !text.contains("<script"), "{text}");
        assert!(text.contains("not every link of 2 papers was followed"));
        assert!(text.contains("class=\"reference absent\""), "{text}");
        assert_eq!(text.matches("<path class=\"edge\"").count(), 2 + 1, "and one of the legend");
        assert_eq!(text.matches("<path class=\"edge far\"").count(), 2 + 1);
        assert_eq!(text.matches("<g>").count(), text.matches("</g>").count());
    }

    #[test]
    fn long_columns_do_not_overlap_and_long_titles_are_cut() {
        let mut papers = vec![paper("doi:10.1/a", "Middle", Some(2000), 0)];
        let title = "word ".repeat(40);
        papers.extend((1..=40).map(|n| paper(&format!("doi:10.1/{n}"), &title, Some(2000 + n), 1)));
        let edges: Vec<(usize, usize)> = (1..=40).map(|at| (at, 0)).collect();
        let drawing = Drawing { papers: &papers, edges: &edges, cut: 0 };
        let (spots, _, height) = spots(drawing, &sides(drawing));
        let mut rows: Vec<usize> = spots[1..].iter().map(|spot| spot.y).collect();
        assert!(rows.is_sorted_by(|a, b| a > b), "the newest first");
        rows.sort_unstable();
        assert!(rows.windows(2).all(|pair| pair[1] - pair[0] >= ROW) && rows[39] < height);
        let text = label(&papers[1], spots[1]);
        assert!(text.contains('…') && text.len() < 140, "{text}");
    }
}
