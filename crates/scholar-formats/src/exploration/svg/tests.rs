use std::collections::BTreeMap;

use scholar_core::{Answer, Contribution};
use scholar_testing::{exploration, hostile};

use super::*;
use crate::xml;

fn drawn(answer: &Answer) -> String {
    svg(Exploration::of(answer).expect("an exploration"))
}

/// All text of the drawing, the texts under the pointer too.
fn words_of(svg: &str) -> String {
    let tree = xml::read(svg.as_bytes(), &crate::Bounds::default()).expect("well-formed XML");
    tree.document().expect("a document element").text()
}

/// Tags of the drawing, without `<` and `>`.
fn tags(svg: &str) -> impl Iterator<Item = &str> {
    let pieces = svg.split('<').skip(1);
    pieces.filter_map(|piece| piece.split_once('>')).map(|(tag, _)| tag.trim_end_matches('/'))
}

#[test]
fn every_kept_candidate_and_every_query_is_there() {
    let answer = exploration::sample();
    let words = words_of(&drawn(&answer));
    let nodes = &answer.tree.as_ref().expect("a tree").nodes;
    assert_eq!(nodes.iter().map(|node| node.evidence.len()).sum::<usize>(), 40);
    for node in nodes {
        assert!(words.contains(super::super::index::query(node)), "{}", node.id);
        for one in &node.evidence {
            assert!(words.contains(&one.title), "{}", one.title);
        }
    }
    for role in Contribution::ALL {
        assert!(words.contains(role.name()), "the legend names {}", role.name());
    }
    for section in &answer.outline.expect("a plan").sections {
        assert!(words.contains(&section.heading) && words.contains(&section.content));
    }
}

#[test]
fn nothing_in_it_is_obeyed_or_loaded() {
    const ELEMENTS: [&str; 9] =
        ["svg", "title", "style", "defs", "marker", "path", "rect", "g", "text"];
    const ATTRIBUTES: [&str; 27] = [
        "xmlns",
        "class",
        "width",
        "height",
        "viewBox",
        "role",
        "aria-labelledby",
        "id",
        "markerWidth",
        "markerHeight",
        "refX",
        "refY",
        "orient",
        "markerUnits",
        "d",
        "x",
        "y",
        "rx",
        "marker-end",
        "unicode-bidi",
        "fill",
        "stroke",
        "cx",
        "cy",
        "r",
        "x1",
        "x2",
    ];
    let mut answers: Vec<(&str, Answer)> = hostile::STRINGS
        .iter()
        .map(|string| (string.name, exploration::hostile(&string.text())))
        .collect();
    let script =
        "</title></text></style><script>alert(1)</script><a href=\"javascript:1\" onload='x'>";
    answers.push(("script", exploration::hostile(script)));
    answers.push(("sample", exploration::sample()));
    for (name, answer) in answers {
        let svg = drawn(&answer);
        words_of(&svg);
        assert!(hostile::obeyed(&svg).iter().all(|c| *c == '\n'), "{name}");
        for tag in tags(&svg).filter(|tag| !tag.starts_with('/')) {
            let (element, rest) = tag.split_once(' ').unwrap_or((tag, ""));
            assert!(ELEMENTS.contains(&element), "{name}: {tag}");
            let names = rest.split("=\"").map(|part| part.rsplit([' ', '"']).next().unwrap_or(""));
            let n = rest.matches("=\"").count();
            for attribute in names.take(n) {
                assert!(ATTRIBUTES.contains(&attribute), "{name}: {tag}");
            }
            assert!(!tag.contains("url(") || tag.contains("url(#x-"), "{name}: {tag}");
        }
        assert!(!canvas::CSS.contains("url(") && !canvas::CSS.contains("@import"));
    }
}

#[test]
fn everything_is_inside_the_drawing() {
    for answer in [exploration::sample(), exploration::many(40, 12)] {
        let svg = drawn(&answer);
        let number = |tag: &str, name: &str| -> Option<f64> {
            let (_, rest) = tag.split_once(&format!(" {name}=\""))?;
            rest.split('"').next()?.parse().ok()
        };
        let (width, height) = tags(&svg)
            .find_map(|tag| {
                tag.starts_with("svg").then(|| (number(tag, "width"), number(tag, "height")))
            })
            .expect("a size");
        let (width, height) = (width.expect("a width"), height.expect("a height"));
        for tag in tags(&svg).filter(|tag| tag.starts_with("text ") || tag.starts_with("rect x")) {
            let (x, y) = (number(tag, "x").expect("x"), number(tag, "y").expect("y"));
            let right = x + number(tag, "width").unwrap_or(0.0);
            let bottom = y + number(tag, "height").unwrap_or(0.0);
            assert!(x >= 0.0 && y >= 0.0 && right <= width && bottom <= height, "{tag}");
        }
    }
}

#[test]
fn a_large_tree_is_summed_up() {
    let sizes = [exploration::sample(), exploration::many(40, 1), exploration::many(40, 10)];
    for answer in &sizes {
        let svg = drawn(answer);
        assert!(svg.len() < 600_000, "{} bytes", svg.len());
    }
    assert!(!words_of(&drawn(&sizes[0])).contains("of them kept"), "forty candidates are drawn");
    let svg = drawn(&exploration::many(400, 60));
    assert!(svg.len() < 800_000, "{} bytes", svg.len());
    let words = words_of(&svg);
    for said in ["and 280 more nodes", "and 58 more, ", "more contribution graphs", "are not drawn"]
    {
        assert!(words.contains(said), "{said}");
    }
    // Nodes near the root come first: all children of the root are there.
    for query in ["Query 0", "Query 1", "Query 2", "Query 3"] {
        assert!(words.contains(query), "{query}");
    }
}

#[test]
fn places_that_are_not_there_and_shares_that_are_none_do_no_harm() {
    let mut answer = exploration::sample();
    for section in answer.outline.iter_mut().flat_map(|plan| &mut plan.sections) {
        section.share = f32::NAN;
    }
    for node in answer.tree.iter_mut().flat_map(|tree| &mut tree.nodes) {
        node.id = "9.9.9".to_owned();
        node.path.clear();
        node.evidence.truncate(1);
        let Some(graph) = &mut node.contributions else { continue };
        graph.segments[0].evidence = usize::MAX;
        graph.edges[0].from = usize::MAX;
        graph.chains[0].segments.push(usize::MAX);
    }
    let svg = drawn(&answer);
    words_of(&svg);
    assert!(!tags(&svg).any(|tag| tag.contains("NaN") || tag.contains("inf")));
}

/// Fill and stroke of each class in a part of the style.
fn colours(css: &str) -> BTreeMap<String, [Option<f64>; 2]> {
    let mut colours: BTreeMap<String, [Option<f64>; 2]> = BTreeMap::new();
    for line in css.lines() {
        let Some((selectors, body)) = line.split_once('{') else { continue };
        for selector in selectors.split(',') {
            let name = selector.trim().trim_start_matches(".exploration ").trim_start_matches('.');
            let entry = colours.entry(name.to_owned()).or_default();
            for (at, property) in ["fill: #", "stroke: #"].into_iter().enumerate() {
                if let Some((_, hex)) = body.split_once(property) {
                    entry[at] = Some(luminance(&hex[..6]));
                }
            }
        }
    }
    colours
}

/// Relative luminance as WCAG 2.2 defines it.
fn luminance(hex: &str) -> f64 {
    let part = |at: usize| {
        let value = u8::from_str_radix(&hex[at..at + 2], 16).expect("a colour");
        let value = f64::from(value) / 255.0;
        if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * part(0) + 0.7152 * part(2) + 0.0722 * part(4)
}

fn contrast(a: f64, b: f64) -> f64 {
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

/// WCAG 2.2: 4.5 for text (1.4.3), 3 for marks and lines that mean something (1.4.11).
#[test]
fn colours_can_be_told_from_the_ground_in_light_and_dark() {
    let (light, dark) = canvas::CSS.split_once("@media").expect("a dark part");
    for (theme, css) in [("light", light), ("dark", dark)] {
        let colours = colours(css);
        let of =
            |name: &str, at: usize| colours[name][at].unwrap_or_else(|| panic!("{theme} {name}"));
        let ground = of("ground", 0);
        let on =
            [("soft", "ground"), ("small", "ground"), ("small", "box"), ("dropped text", "ground")];
        let everywhere =
            ["ground", "box", "band-a", "band-b", "goal"].map(|behind| ("text", behind));
        for (text, behind) in on.into_iter().chain(everywhere) {
            let found = contrast(of(text, 0), of(behind, 0));
            assert!(found >= 4.5, "{theme}: {text} on {behind} {found:.2}");
        }
        for role in Contribution::ALL.map(Contribution::name) {
            let found = contrast(of(role, 0), ground);
            assert!(found >= 3.0, "{theme}: {role} {found:.2}");
            let found = contrast(of(role, 0), of("letter", 0));
            assert!(found >= 4.5, "{theme}: letter on {role} {found:.2}");
        }
        for line in ["edge", "box", "good", "bad", "idle", "untold", "faint-edge", "branch"] {
            let found = contrast(of(line, 1), ground);
            assert!(found >= 3.0, "{theme}: {line} {found:.2}");
        }
    }
}
