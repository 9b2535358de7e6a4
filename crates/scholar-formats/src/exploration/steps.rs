//! The lines that are shown while a tree grows: one when a node begins, one when it ends.

use scholar_core::{Outline, TreeNode};

use super::shorten;
use super::words::{self, count};

/// Characters of a query.
const QUERY: usize = 100;

/// A plan, one line a section.
pub fn outlined(outline: &Outline) -> Vec<String> {
    let mut lines = vec![format!(
        "outline of {}, planned {}",
        count(outline.sections.len(), "section"),
        words::by(outline.by)
    )];
    lines.extend(outline.sections.iter().enumerate().map(|(at, section)| {
        let heading = shorten::chars(&section.heading, QUERY);
        format!("  {:>2}. {heading} ({:.0} %)", at + 1, section.share)
    }));
    lines
}

/// A node that begins: its id and query, indented by its depth.
pub fn began(id: &str, query: &str) -> String {
    format!("{}{} {}", indent(id), shorten::chars(id, QUERY), shorten::chars(query, QUERY))
}

/// A search of a node, for a status line: what is being done, and how many papers there are so far.
pub fn searched(id: &str, n_papers: usize) -> String {
    format!("{}: {} found", shorten::chars(id, QUERY), count(n_papers, "paper"))
}

/// A node that ended: state, decision, papers kept of those found, and why where it has no answer.
pub fn ended(node: &TreeNode) -> String {
    let n_kept = node.evidence.iter().filter(|one| one.kept).count();
    let papers = count(node.evidence.len(), "paper");
    let mut line = format!(
        "{}{} {}: {n_kept} of {papers} kept",
        indent(&node.id),
        shorten::chars(&node.id, QUERY),
        words::state(node.state),
    );
    if let Some(decision) = words::decision(node) {
        line = format!("{line}; {decision}");
    }
    if let Some(why) = &node.reason {
        line = format!("{line}; {}", shorten::chars(why, QUERY));
    }
    line
}

/// Two spaces a level: `0` has one, `2` and `2.1` are below it.
fn indent(id: &str) -> String {
    let depth = if id == "0" { 1 } else { 2 + id.matches('.').count().min(10) };
    "  ".repeat(depth)
}

#[cfg(test)]
mod tests {
    use super::super::index;
    use scholar_testing::{exploration, hostile};

    use super::*;

    #[test]
    fn a_tree_grows_line_by_line() {
        let answer = exploration::sample();
        let outline = answer.outline.as_ref().expect("a plan");
        let nodes = &answer.tree.as_ref().expect("a tree").nodes;
        let mut lines = outlined(outline);
        lines.extend(nodes.iter().take(4).flat_map(|node| {
            [began(&node.id, index::query(node)), searched(&node.id, 12), ended(node)]
        }));
        let expected = include_str!("steps/sample.txt");
        assert_eq!(lines.join("\n"), expected.trim_end(), "exploration/steps/sample.txt");
    }

    #[test]
    fn a_step_is_one_line_that_obeys_nothing() {
        for string in hostile::STRINGS {
            let answer = exploration::hostile(&string.text());
            let nodes = &answer.tree.as_ref().expect("a tree").nodes;
            for line in nodes.iter().flat_map(|node| {
                [began(&node.id, index::query(node)), searched(&node.id, 1), ended(node)]
            }) {
                assert!(!line.contains('\n') && hostile::obeyed(&line).is_empty(), "{line}");
                assert!(line.chars().count() < 500, "{line}");
            }
        }
    }
}
